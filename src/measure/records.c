// SPDX-License-Identifier: GPL-2.0-or-later
#include <string.h>
#include <unistd.h>

#include "base/macro.h"
#include "measure/records.h"

enum {
	/* Records of interest are smaller than this. */
	RECORD_MAX = 128,
};

/* With sample_id_all, each record ends with these fields, in this order (perf_event_open(2)). */
struct sample_id {
	uint32_t pid, tid;
	uint64_t time;
	uint32_t cpu, reserved;
};

/* PERF_RECORD_FORK and PERF_RECORD_EXIT begin with these fields. */
struct task_fields {
	uint32_t pid, ppid;
	uint32_t tid, ptid;
};

void records_event_attr(int clockid, struct perf_event_attr *ret)
{
	*ret = (struct perf_event_attr){
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(*ret),
		.config = PERF_COUNT_SW_DUMMY,
		.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU,
		.sample_id_all = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
		.use_clockid = 1,
		.clockid = clockid,
		/* No process may be woken inside the window. */
		.watermark = 1,
		.wakeup_watermark = UINT32_MAX,
	};
}

size_t records_map_size(size_t pages)
{
	return (size_t)sysconf(_SC_PAGESIZE) * (pages + 1);
}

void records_open(const void *map, size_t pages, struct records *ret)
{
	const struct perf_event_mmap_page *page = map;
	size_t page_size = (size_t)sysconf(_SC_PAGESIZE);

	*ret = (struct records){
		.ring = (const uint8_t *)map + page_size,
		.size = page_size * pages,
		.tail = page->data_tail,
		/* Pairs with the barrier that the kernel uses after it has written the records
		 * (perf_output_put_handle). */
		.head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE),
	};
	if (ret->head - ret->tail + RECORD_MAX > ret->size)
		ret->n_lost = 1;
}

void records_discard(void *map)
{
	struct perf_event_mmap_page *page = map;

	__atomic_store_n(&page->data_tail, __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE),
		__ATOMIC_RELEASE);
}

static void ring_copy(const struct records *records, void *ret, size_t n)
{
	uint8_t *out = ret;

	for (size_t i = 0; i < n; i++)
		out[i] = records->ring[(records->tail + i) & (records->size - 1)];
}

static uint32_t saturate(uint64_t n)
{
	return (uint32_t)MIN(n, (uint64_t)UINT32_MAX);
}

/* Returns whether the record is of interest. */
static bool take_record(struct records *records, const struct perf_event_header *header,
	const uint8_t *bytes, struct record *ret)
{
	struct sample_id id;
	struct task_fields task = { 0 };
	size_t body = header->size - sizeof(*header);

	if (header->type == PERF_RECORD_LOST) {
		uint64_t lost[2] = { 0, 1 }; /* id, lost */

		if (body >= sizeof(lost))
			memcpy(lost, bytes + sizeof(*header), sizeof(lost));
		records->n_lost = saturate(records->n_lost + lost[1]);
		return false;
	}
	if (body < sizeof(id))
		return false;
	memcpy(&id, bytes + header->size - sizeof(id), sizeof(id));
	switch (header->type) {
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		if (body < sizeof(task) + sizeof(id))
			return false;
		memcpy(&task, bytes + sizeof(*header), sizeof(task));
		break;
	case PERF_RECORD_COMM:
	case PERF_RECORD_SWITCH:
		break;
	default:
		return false;
	}
	*ret = (struct record){
		.type = header->type,
		.misc = header->misc,
		.pid = (int32_t)id.pid,
		.tid = (int32_t)id.tid,
		.cpu = (int32_t)id.cpu,
		.time_ns = (int64_t)id.time,
		.task_pid = (int32_t)task.pid,
		.task_tid = (int32_t)task.tid,
	};
	return true;
}

bool records_next(struct records *records, struct record *ret)
{
	while (records->tail < records->head) {
		struct perf_event_header header = { 0 };
		uint64_t left = records->head - records->tail;
		uint8_t bytes[RECORD_MAX];
		bool taken = false;

		if (left >= sizeof(header))
			ring_copy(records, &header, sizeof(header));
		if (header.size < sizeof(header) || header.size > left) {
			records->n_lost = saturate((uint64_t)records->n_lost + 1);
			records->tail = records->head;
			return false;
		}
		if (header.size <= sizeof(bytes)) {
			ring_copy(records, bytes, header.size);
			taken = take_record(records, &header, bytes, ret);
		}
		records->tail += header.size;
		if (taken)
			return true;
	}
	return false;
}
