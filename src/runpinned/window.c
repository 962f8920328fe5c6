// SPDX-License-Identifier: GPL-2.0-or-later
#include <string.h>
#include <unistd.h>

#include "runpinned/window.h"

enum {
	RING_PAGES = 8, /* a power of two; 32 KiB with pages of 4 KiB, within perf_event_mlock_kb */
	RECORD_MAX = 512,
};

/* With sample_id_all, each record ends with these fields, in this order (perf_event_open(2)). */
struct sample_id {
	uint32_t pid, tid;
	uint64_t time;
	uint32_t cpu, reserved;
};

/* PERF_RECORD_FORK and PERF_RECORD_EXIT begin with these fields. */
struct task_record {
	uint32_t pid, ppid;
	uint32_t tid, ptid;
};

void window_event_attr(int clockid, struct perf_event_attr *ret)
{
	*ret = (struct perf_event_attr){
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(*ret),
		.config = PERF_COUNT_SW_DUMMY,
		.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU,
		.sample_id_all = 1,
		.comm = 1,
		.comm_exec = 1,
		.task = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
		.use_clockid = 1,
		.clockid = clockid,
		/* No process may be woken inside the window. */
		.watermark = 1,
		.wakeup_watermark = UINT32_MAX,
	};
}

size_t window_map_size(void)
{
	return (size_t)sysconf(_SC_PAGESIZE) * (RING_PAGES + 1);
}

static void ring_copy(const uint8_t *ring, size_t size, uint64_t at, void *ret, size_t n)
{
	uint8_t *out = ret;

	for (size_t i = 0; i < n; i++)
		out[i] = ring[(at + i) & (size - 1)];
}

static void take_record(const struct perf_event_header *header, const uint8_t *record, int32_t pid,
	struct window *w)
{
	struct sample_id id;
	struct task_record task;
	size_t body = header->size - sizeof(*header);

	if (header->type == PERF_RECORD_LOST) {
		uint64_t lost[2]; /* id, lost */

		if (body >= sizeof(lost)) {
			memcpy(lost, record + sizeof(*header), sizeof(lost));
			w->n_lost += lost[1] > UINT32_MAX ? UINT32_MAX : (uint32_t)lost[1];
		} else {
			w->n_lost++;
		}
		return;
	}
	if (body < sizeof(id))
		return;
	memcpy(&id, record + header->size - sizeof(id), sizeof(id));

	switch (header->type) {
	case PERF_RECORD_COMM:
		/* prctl(PR_SET_NAME) writes such a record, too, but without the exec bit. */
		if (!(header->misc & PERF_RECORD_MISC_COMM_EXEC))
			return;
		if (w->n_exec++ == 0) {
			w->exec_ns = (int64_t)id.time;
			w->cpu_exec = (int32_t)id.cpu;
		}
		return;
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		if (body < sizeof(task) + sizeof(id))
			return;
		memcpy(&task, record + sizeof(*header), sizeof(task));
		if (header->type == PERF_RECORD_FORK) {
			if (task.pid == (uint32_t)pid)
				w->n_threads++;
			else
				w->n_children++;
		} else if (task.pid == (uint32_t)pid && task.tid == (uint32_t)pid) {
			w->n_exit++;
			w->exit_ns = (int64_t)id.time;
			w->cpu_exit = (int32_t)id.cpu;
		}
		return;
	default:
		return;
	}
}

void window_parse(const uint8_t *ring, size_t size, uint64_t tail, uint64_t head, int32_t pid,
	struct window *ret)
{
	struct window w = { .cpu_exec = -1, .cpu_exit = -1 };
	uint8_t record[RECORD_MAX];

	while (tail < head) {
		struct perf_event_header header;

		if (head - tail < sizeof(header)) {
			w.n_lost++;
			break;
		}
		ring_copy(ring, size, tail, &header, sizeof(header));
		if (header.size < sizeof(header) || header.size > head - tail) {
			w.n_lost++;
			break;
		}
		if (header.size <= sizeof(record)) {
			ring_copy(ring, size, tail, record, header.size);
			take_record(&header, record, pid, &w);
		}
		tail += header.size;
	}
	*ret = w;
}

void window_read(void *map, int32_t pid, struct window *ret)
{
	struct perf_event_mmap_page *page = map;
	size_t page_size = (size_t)sysconf(_SC_PAGESIZE);
	/* Pairs with the barrier that the kernel uses after it has written the records
	 * (perf_output_put_handle). */
	uint64_t head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);

	window_parse((const uint8_t *)map + page_size, page_size * RING_PAGES, page->data_tail,
		head, pid, ret);
}
