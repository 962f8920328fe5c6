// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <limits.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/macro.h"
#include "measure/attach.h"
#include "measure/records.h"
#include "measure/tree.h"
#include "measure/window.h"

enum {
	/* The rings of records, which the kernel allocates for each run: about 500 records of the
	 * main thread, and 250 switches. After a run that did not fit, the next runs get the large
	 * rings, which an ordinary user may have for each CPU of the machine (perf_event_mlock_kb,
	 * Documentation/admin-guide/sysctl/kernel.rst). */
	WINDOW_RING = 32 * 1024,
	TREE_RING = 16 * 1024,
	LARGE_RING = 512 * 1024,
	/* The records of all tasks of one CPU during a run. */
	CPU_RING = 64 * 1024,
};

static size_t ring_pages(size_t size)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	return MAX(size / page, (size_t)1);
}

static int event_open(struct perf_event_attr *attr, pid_t pid, int cpu)
{
	int fd = (int)syscall(SYS_perf_event_open, attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

static int ring_map(int fd, size_t pages, void **ret)
{
	void *map = mmap(NULL, records_map_size(pages), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (map == MAP_FAILED)
		return -errno;
	*ret = map;
	return 0;
}

/* --- Attached to the tasks of a run --- */

/* Opens an event on the waiting child and maps its records. `cpu` is -1 for all CPUs. */
static int side_band_attach(
	struct side_band *band, struct perf_event_attr *attr, pid_t pid, int cpu)
{
	int fd = event_open(attr, pid, cpu), r;

	if (fd < 0)
		return fd;
	r = ring_map(fd, band->pages, &band->maps[band->n]);
	if (r == 0)
		band->n++;
	/* The event lives as long as the mapping. */
	close(fd);
	return r;
}

static void side_band_unmap(struct side_band *band)
{
	for (size_t i = 0; i < band->n; i++)
		munmap(band->maps[i], records_map_size(band->pages));
	band->n = 0;
}

/* Gives up the rings of this run. When they have lost records, the next ones are larger. */
static void side_band_end(struct side_band *band, bool lost)
{
	side_band_unmap(band);
	if (lost && !band->refused)
		band->pages = MAX(band->pages, ring_pages(LARGE_RING));
}

/* The larger rings are too large for this user: goes back to the smaller ones. Returns false when
 * they are the smaller ones. */
static bool side_band_shrink(struct side_band *band, size_t size)
{
	side_band_unmap(band);
	if (band->pages <= ring_pages(size))
		return false;
	band->pages = ring_pages(size);
	band->refused = true;
	return true;
}

static int window_attach(struct attach *a, pid_t pid)
{
	struct perf_event_attr attr;
	int r;

	window_event_attr(a->plan->clockid, &attr);
	do
		r = side_band_attach(&a->window, &attr, pid, -1);
	while (r < 0 && side_band_shrink(&a->window, WINDOW_RING));
	return r;
}

static void tree_attach(struct attach *a, pid_t pid)
{
	struct perf_event_attr attr;
	int r;

	tree_event_attr(a->plan->clockid, &attr);
	do {
		r = 0;
		for (size_t i = 0; r == 0 && i < a->n_cpus; i++)
			r = side_band_attach(&a->tree, &attr, pid, a->cpus[i]);
	} while (r < 0 && side_band_shrink(&a->tree, TREE_RING));
}

/* What a counter of the plan is opened with; it is read as a struct launch_counter. */
static struct perf_event_attr counter_attr(const struct attach *a, uint32_t index)
{
	struct perf_event_attr attr = a->plan->counters[index];

	attr.size = sizeof(attr);
	attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	return attr;
}

/* Opens a counter of the plan on a task, and on what it starts; it counts from execve(2) on. */
static int counter_open(const struct attach *a, uint32_t index, pid_t pid)
{
	struct perf_event_attr attr = counter_attr(a, index);

	attr.disabled = 1;
	attr.inherit = 1;
	attr.enable_on_exec = 1;
	return event_open(&attr, pid, -1);
}

/* What the CPUs have counted until now, together. A CPU that cannot be read counts nothing: it is
 * offline, and its counter is gone. */
static void sum_cpu_counters(const struct attach *a, struct launch_counter *ret)
{
	memset(ret, 0, LAUNCH_MAX_CPU_COUNTERS * sizeof(*ret));
	for (size_t cpu = 0; cpu < a->n_cpus; cpu++) {
		for (uint32_t i = 0; i < a->plan->n_cpu_counters; i++) {
			struct launch_counter counter;

			if (read(a->cpu_counters[cpu][i], &counter, sizeof(counter)) !=
				(ssize_t)sizeof(counter))
				continue;
			ret[i].value += counter.value;
			ret[i].enabled_ns += counter.enabled_ns;
			ret[i].running_ns += counter.running_ns;
		}
	}
}

/* Forgets what all tasks of the machine have done until now. */
static void empty_cpu_rings(const struct attach *a)
{
	for (size_t i = 0; i < a->n_cpu_events; i++)
		records_discard(a->cpu_maps[i]);
}

int attach_begin(struct attach *a, pid_t pid, uint32_t attachments)
{
	bool records = attachments & LAUNCH_ATTACH_RECORDS;
	int r = 0;

	empty_cpu_rings(a);
	if (a->has_cpu_counters)
		sum_cpu_counters(a, a->counted_before);
	for (uint32_t i = records ? 0 : a->plan->n_evidence_counters; i < a->plan->n_counters; i++)
		a->counters[i] = counter_open(a, i, pid);
	if (attachments & LAUNCH_ATTACH_WINDOW)
		r = window_attach(a, pid);
	if (records)
		tree_attach(a, pid);
	return -r;
}

static void read_tree(struct attach *a, pid_t pid, struct launch_report *report)
{
	struct records records[TREE_MAX_CPUS];

	for (size_t i = 0; i < a->tree.n; i++)
		records_open(a->tree.maps[i], a->tree.pages, &records[i]);
	tree_parse(records, a->tree.n, pid, &report->window, &report->tree);
	report->tree_tried = 1;
}

/* The rings are emptied before each run, so what they hold is from this run. */
static void read_cpu_events(struct attach *a, pid_t pid, struct launch_report *report)
{
	for (size_t i = 0; i < a->n_cpu_events; i++)
		records_open(a->cpu_maps[i], ring_pages(CPU_RING), &a->cpu_records[i]);
	window_parse(a->cpu_records, a->n_cpu_events, pid, &report->window);
	/* The events see the ends of all threads. */
	report->window.is_last = report->window.n_lost == 0 && report->window.exit_ns > 0;
}

static void read_cpu_counters(struct attach *a, struct launch_report *report)
{
	struct launch_counter now[LAUNCH_MAX_CPU_COUNTERS];

	sum_cpu_counters(a, now);
	for (uint32_t i = 0; i < a->plan->n_cpu_counters; i++)
		report->cpu_counters[i] = (struct launch_counter){
			.value = now[i].value - a->counted_before[i].value,
			.enabled_ns = now[i].enabled_ns - a->counted_before[i].enabled_ns,
			.running_ns = now[i].running_ns - a->counted_before[i].running_ns,
		};
	report->n_cpu_counters = a->plan->n_cpu_counters;
}

void attach_read(struct attach *a, pid_t pid, struct launch_report *report)
{
	if (a->has_cpu_counters)
		read_cpu_counters(a, report);
	if (report->stamper == STAMPER_CPU_EVENTS) {
		read_cpu_events(a, pid, report);
	} else if (a->window.n > 0) {
		struct records records;

		records_open(a->window.maps[0], a->window.pages, &records);
		window_parse(&records, 1, pid, &report->window);
	}
	if (a->tree.n > 0 && report->window.exec_ns > 0)
		read_tree(a, pid, report);
	side_band_end(&a->window, report->window.n_lost > 0);
	side_band_end(&a->tree, report->tree.n_lost > 0);
}

void attach_read_counters(struct attach *a, struct launch_report *report)
{
	struct launch_counter counter;

	for (uint32_t i = 0; i < a->plan->n_counters; i++) {
		if (a->counters[i] >= 0 &&
			read(a->counters[i], &counter, sizeof(counter)) == (ssize_t)sizeof(counter))
			report->counters[i] = counter;
	}
	report->n_counters = a->plan->n_counters;
}

void attach_end(struct attach *a)
{
	side_band_end(&a->window, false);
	side_band_end(&a->tree, false);
	for (uint32_t i = 0; i < a->plan->n_counters; i++) {
		if (a->counters[i] >= 0)
			close(a->counters[i]);
		a->counters[i] = -EBADF;
	}
}

/* --- Of all CPUs --- */

static int cpu_event_open(struct attach *a, struct perf_event_attr *attr, int cpu)
{
	int fd = event_open(attr, -1, cpu), r;

	if (fd < 0)
		return fd;
	r = ring_map(fd, ring_pages(CPU_RING), &a->cpu_maps[a->n_cpu_events]);
	if (r < 0) {
		close(fd);
		return r;
	}
	a->cpu_fds[a->n_cpu_events++] = fd;
	return 0;
}

static void cpu_events_close(struct attach *a)
{
	for (size_t i = 0; i < a->n_cpu_events; i++) {
		munmap(a->cpu_maps[i], records_map_size(ring_pages(CPU_RING)));
		close(a->cpu_fds[i]);
	}
	a->n_cpu_events = 0;
	free(TAKE_PTR(a->cpu_fds));
	free(TAKE_PTR(a->cpu_maps));
	free(TAKE_PTR(a->cpu_records));
}

/* On all CPUs and not only on those of the plan, because a program can leave these. */
static void cpu_events_open(struct attach *a)
{
	/* As many bytes as the kernel has CPUs for, in whole words. Without /sys, the C library
	 * knows only the CPUs that this process is bound to. */
	unsigned long mask[LAUNCH_CPU_BYTES / sizeof(unsigned long)];
	long size = syscall(SYS_sched_getaffinity, 0, sizeof(mask), mask);
	size_t n = (size_t)MAX(size, 0L) * CHAR_BIT;
	struct perf_event_attr attr;
	int r = 0;

	a->cpu_fds = calloc(n, sizeof(*a->cpu_fds));
	a->cpu_maps = calloc(n, sizeof(*a->cpu_maps));
	a->cpu_records = calloc(n, sizeof(*a->cpu_records));
	if (!a->cpu_fds || !a->cpu_maps || !a->cpu_records)
		n = 0;
	window_event_attr(a->plan->clockid, &attr);
	attr.disabled = 1;
	for (size_t i = 0; i < n && r == 0; i++) {
		r = cpu_event_open(a, &attr, (int)i);
		if (r == -ENODEV) /* an offline CPU */
			r = 0;
	}
	/* That was the first number beyond those of all CPUs. */
	if (r == -EINVAL)
		r = 0;
	if (r < 0 || a->n_cpu_events == 0)
		cpu_events_close(a);
}

bool attach_has_cpu_events(const struct attach *a)
{
	return a->n_cpu_events > 0;
}

void attach_enable_cpu_events(const struct attach *a, bool enable)
{
	for (size_t i = 0; i < a->n_cpu_events; i++)
		(void)ioctl(
			a->cpu_fds[i], enable ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, 0);
}

static void cpu_counters_close(struct attach *a)
{
	for (size_t cpu = 0; cpu < a->n_cpus; cpu++) {
		for (uint32_t i = 0; i < a->plan->n_cpu_counters; i++) {
			if (a->cpu_counters[cpu][i] >= 0)
				close(a->cpu_counters[cpu][i]);
			a->cpu_counters[cpu][i] = -EBADF;
		}
	}
	a->has_cpu_counters = false;
}

/* Those of one CPU without those of the others would tell of a part of the run. */
static void cpu_counters_open(struct attach *a)
{
	uint32_t first = a->plan->n_evidence_counters - a->plan->n_cpu_counters;

	a->has_cpu_counters = a->plan->n_cpu_counters > 0 && a->n_cpus > 0;
	for (size_t cpu = 0; cpu < a->n_cpus && a->has_cpu_counters; cpu++) {
		for (uint32_t i = 0; i < a->plan->n_cpu_counters; i++) {
			struct perf_event_attr attr = counter_attr(a, first + i);

			a->cpu_counters[cpu][i] = event_open(&attr, -1, a->cpus[cpu]);
			a->has_cpu_counters = a->has_cpu_counters && a->cpu_counters[cpu][i] >= 0;
		}
	}
	if (!a->has_cpu_counters)
		cpu_counters_close(a);
}

/* --- All of them --- */

/* Numbers the CPUs of the plan, if they are not too many. */
static void take_cpus(struct attach *a)
{
	size_t n = 0;

	for (int cpu = 0; cpu < LAUNCH_CPU_BYTES * CHAR_BIT; cpu++) {
		if (!CPU_ISSET_S(cpu, sizeof(a->plan->cpus), (const cpu_set_t *)a->plan->cpus))
			continue;
		if (n == TREE_MAX_CPUS)
			return;
		a->cpus[n++] = cpu;
	}
	a->n_cpus = n;
}

static int try_counters(struct attach *a, int *ret_index)
{
	for (uint32_t i = a->plan->n_evidence_counters; i < a->plan->n_counters; i++) {
		int fd = counter_open(a, i, 0);

		if (fd < 0) {
			*ret_index = (int)i;
			return fd;
		}
		close(fd);
	}
	return 0;
}

int attach_open(const struct launch_plan *plan, struct attach *ret, int *ret_index)
{
	int r;

	*ret = (struct attach){
		.plan = plan,
		.window.pages = ring_pages(WINDOW_RING),
		.tree.pages = ring_pages(TREE_RING),
	};
	for (size_t i = 0; i < ARRAY_SIZE(ret->counters); i++)
		ret->counters[i] = -EBADF;
	memset(ret->cpu_counters, 0xff, sizeof(ret->cpu_counters));
	take_cpus(ret);
	cpu_counters_open(ret);
	r = try_counters(ret, ret_index);
	if (r == 0 && plan->flags & LAUNCH_CPU_EVENTS)
		cpu_events_open(ret);
	return r;
}

void attach_close(struct attach *a)
{
	if (!a->plan)
		return;
	cpu_counters_close(a);
	cpu_events_close(a);
}
