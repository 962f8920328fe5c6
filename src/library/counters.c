// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "library/counters.h"
#include "library/digits.h"

static const struct {
	const char *name;
	uint32_t type;
	uint64_t config;
} portable[] = {
	{ "cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES },
	{ "instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS },
	{ "cache-references", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES },
	{ "cache-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES },
	{ "branches", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS },
	{ "branch-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES },
	{ "bus-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BUS_CYCLES },
	{ "ref-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_REF_CPU_CYCLES },
	{ "stalled-cycles-frontend", PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_FRONTEND },
	{ "stalled-cycles-backend", PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_BACKEND },
	{ "task-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK },
	{ "page-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS },
	{ "context-switches", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES },
	{ "cpu-migrations", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS },
};

int counter_parse(const char *name, uint32_t *ret_type, uint64_t *ret_config)
{
	uint64_t type = PERF_TYPE_RAW, config;
	const char *p = name;
	int r;

	for (size_t i = 0; i < sizeof(portable) / sizeof(portable[0]); i++) {
		if (strcmp(portable[i].name, name) == 0) {
			*ret_type = portable[i].type;
			*ret_config = portable[i].config;
			return 0;
		}
	}
	if (*p == 'r') {
		p++;
	} else {
		r = digits_read(&p, 10, UINT32_MAX, &type);
		if (r < 0)
			return r;
		if (*p++ != ':')
			return -EINVAL;
	}
	r = digits_read(&p, 16, UINT64_MAX, &config);
	if (r < 0)
		return r;
	if (*p != '\0')
		return -EINVAL;
	*ret_type = (uint32_t)type;
	*ret_config = config;
	return 0;
}

static void open_one(struct counter *counter, uint32_t type, uint64_t config)
{
	struct perf_event_attr attr = {
		.type = type,
		.size = sizeof(attr),
		.config = config,
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
		/* Permitted to ordinary users at perf_event_paranoid 2, the kernel's default. */
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};

	/* Context switches and migrations happen in kernel mode: with exclude_kernel these counts
	 * stay 0. */
	if (type == PERF_TYPE_SOFTWARE &&
		(config == PERF_COUNT_SW_CONTEXT_SWITCHES ||
			config == PERF_COUNT_SW_CPU_MIGRATIONS))
		attr.exclude_kernel = 0;
	counter->fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (counter->fd < 0) {
		counter->error = errno;
		return;
	}
#if defined(__x86_64__)
	{
		void *page = mmap(
			NULL, (size_t)sysconf(_SC_PAGESIZE), PROT_READ, MAP_SHARED, counter->fd, 0);

		if (page == MAP_FAILED)
			return;
		counter->page = page;
		if (counter->page->cap_user_rdpmc)
			return;
		munmap(page, (size_t)sysconf(_SC_PAGESIZE));
		counter->page = NULL;
	}
#endif
}

int counters_open(const char *const *names, struct counters *ret)
{
	struct counters counters = { 0 };
	uint32_t types[QS_MAX_COUNTERS];
	uint64_t configs[QS_MAX_COUNTERS];
	int r;

	for (; names && names[counters.n]; counters.n++) {
		struct counter *counter = &counters.list[counters.n];
		size_t length = strlen(names[counters.n]);

		if (counters.n == QS_MAX_COUNTERS || length >= sizeof(counter->name))
			return -EINVAL;
		r = counter_parse(names[counters.n], &types[counters.n], &configs[counters.n]);
		if (r < 0)
			return r;
		memcpy(counter->name, names[counters.n], length + 1);
		counter->fd = -1;
	}
	for (size_t i = 0; i < counters.n; i++)
		open_one(&counters.list[i], types[i], configs[i]);
	*ret = counters;
	return 0;
}

void counters_close(struct counters *counters)
{
	for (size_t i = 0; i < counters->n; i++) {
		struct counter *counter = &counters->list[i];

		if (counter->page)
			munmap((void *)counter->page, (size_t)sysconf(_SC_PAGESIZE));
		if (counter->fd >= 0)
			close(counter->fd);
	}
	counters->n = 0;
}

static int read_by_syscall(const struct counter *counter, uint64_t ret[3])
{
	return read(counter->fd, ret, 3 * sizeof(ret[0])) == 3 * sizeof(ret[0]) ? 0 : -EIO;
}

#if defined(__x86_64__)
/* The protocol of struct perf_event_mmap_page in <linux/perf_event.h>. Returns 0 where the event is
 * not on a hardware counter at this moment. */
static int read_by_rdpmc(const struct counter *counter, uint64_t *ret)
{
	volatile struct perf_event_mmap_page *page = counter->page;
	uint32_t sequence, low, high, index;
	uint64_t count;

	do {
		sequence = page->lock;
		__asm__ volatile("" : : : "memory");
		index = page->index;
		count = (uint64_t)page->offset;
		if (index == 0 || !page->cap_user_rdpmc)
			return 0;
		__asm__ volatile("rdpmc" : "=a"(low), "=d"(high) : "c"(index - 1));
		{
			unsigned unused = 64 - page->pmc_width;
			uint64_t pmc = (uint64_t)high << 32 | low;

			/* Sign-extended from the width of the counter. */
			count += (uint64_t)((int64_t)(pmc << unused) >> unused);
		}
		__asm__ volatile("" : : : "memory");
	} while (page->lock != sequence);
	*ret = count;
	return 1;
}
#endif

void counters_read(const struct counters *counters, uint64_t *ret)
{
	for (size_t i = 0; i < QS_MAX_COUNTERS; i++) {
		const struct counter *counter = &counters->list[i];
		uint64_t values[3];

		ret[i] = 0;
		if (i >= counters->n || counter->fd < 0)
			continue;
#if defined(__x86_64__)
		if (counter->page && read_by_rdpmc(counter, &ret[i]))
			continue;
#endif
		if (read_by_syscall(counter, values) == 0)
			ret[i] = values[0];
	}
}

void counters_settle(struct counters *counters)
{
	for (size_t i = 0; i < counters->n; i++) {
		struct counter *counter = &counters->list[i];
		uint64_t values[3];

		if (counter->fd >= 0 && read_by_syscall(counter, values) == 0)
			counter->shared = values[2] < values[1];
	}
}
