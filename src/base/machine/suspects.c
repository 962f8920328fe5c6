// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/machine/interrupts.h"
#include "base/machine/schedstat.h"
#include "base/machine/suspects.h"
#include "base/machine/tasks.h"
#include "base/macro.h"
#include "base/text.h"

enum {
	TABLE_MAX = 64 * 1024 * 1024,
};

static int read_table(const char *path, char **ret, size_t *ret_length)
{
	int r = file_read_all(path, TABLE_MAX, ret, ret_length);

	return r == -ENOMEM ? r : 0;
}

static int read_interrupts(struct suspects_reading *reading)
{
	return read_table("/proc/interrupts", &reading->interrupts, &reading->interrupts_length);
}

static int read_times(struct suspects_reading *reading)
{
	int r;

	r = read_table("/proc/stat", &reading->stat, &reading->stat_length);
	if (r == 0)
		r = read_table("/proc/softirqs", &reading->softirqs, &reading->softirqs_length);
	return r;
}

/* How long a task has run; -ENODATA where the kernel does not keep that, or the task has ended. */
static int read_ran(const struct task *task, uint64_t *ret)
{
	char path[64], text[128];
	struct schedstat schedstat;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/schedstat", task->pid, task->tid);
	if (file_read_attr(AT_FDCWD, path, text, sizeof(text)) < 0 ||
		schedstat_parse(text, &schedstat) < 0)
		return -ENODATA;
	*ret = (uint64_t)schedstat.ran_ns;
	return 0;
}

static int compare_tids(const void *a, const void *b)
{
	const struct suspect_task *x = a, *y = b;

	return (x->tid > y->tid) - (x->tid < y->tid);
}

/* This process, its children, and their descendants. */
struct family {
	pid_t *pids;
	size_t n;
};

static bool is_family(const struct family *family, pid_t pid)
{
	for (size_t i = 0; i < family->n; i++)
		if (family->pids[i] == pid)
			return true;
	return false;
}

/* The caller frees the numbers. */
static int find_family(const struct tasks *tasks, struct family *ret)
{
	struct family family = { .pids = reallocarray(NULL, tasks->n + 1, sizeof(pid_t)) };
	size_t n_before;

	if (!family.pids)
		return -ENOMEM;
	family.pids[family.n++] = getpid();
	/* A child may be listed before its parent. */
	do {
		n_before = family.n;
		for (size_t i = 0; i < tasks->n; i++) {
			const struct task *task = &tasks->items[i];

			if (is_family(&family, task->parent) && !is_family(&family, task->pid))
				family.pids[family.n++] = task->pid;
		}
	} while (family.n > n_before);
	*ret = family;
	return 0;
}

/* The time of children that this process itself has waited for is not added: they ran on the CPUs
 * of this process. */
static void add_family(struct suspects_reading *reading, const struct task *task)
{
	uint64_t ticks = task->may ? task->ran_ticks : 0;

	if (task->tid != task->pid)
		return;
	if (task->pid != getpid()) {
		ticks += task->children_ticks;
		reading->n_family++;
	}
	reading->family_ns += (int64_t)(ticks * NSEC_PER_SEC / (uint64_t)sysconf(_SC_CLK_TCK));
}

static int read_tasks(const struct cpumask *mask, struct suspects_reading *reading)
{
	_cleanup_(tasks) struct tasks *tasks = NULL;
	struct family family;
	int r;

	reading->read_ticks = (uint64_t)clock_now_ns(CLOCK_BOOTTIME) /
		(NSEC_PER_SEC / (uint64_t)sysconf(_SC_CLK_TCK));
	r = tasks_read(mask, &tasks);
	if (r < 0 || tasks->n == 0)
		return r == -ENOMEM ? r : 0;
	reading->tasks = calloc(tasks->n, sizeof(*reading->tasks));
	if (!reading->tasks)
		return -ENOMEM;
	r = find_family(tasks, &family);
	if (r < 0)
		return r;
	for (size_t i = 0; i < tasks->n; i++) {
		const struct task *task = &tasks->items[i];
		struct suspect_task *suspect = &reading->tasks[reading->n_tasks];

		if (is_family(&family, task->pid)) {
			add_family(reading, task);
			continue;
		}
		if (read_ran(task, &suspect->ran_ns) < 0)
			continue;
		suspect->tid = task->tid;
		suspect->start = task->start;
		suspect->cpu = task->cpu;
		snprintf(suspect->comm, sizeof(suspect->comm), "%s", task->comm);
		reading->n_tasks++;
	}
	free(family.pids);
	if (reading->n_tasks > 0)
		qsort(reading->tasks, reading->n_tasks, sizeof(*reading->tasks), compare_tids);
	return 0;
}

int suspects_read_before(const struct cpumask *mask, struct suspects_reading *ret)
{
	struct suspects_reading reading = { 0 };
	int r;

	r = read_tasks(mask, &reading);
	if (r == 0)
		r = read_times(&reading);
	if (r == 0)
		r = read_interrupts(&reading);
	if (r < 0) {
		suspects_reading_clear(&reading);
		return r;
	}
	*ret = reading;
	return 0;
}

int suspects_read_after(const struct cpumask *mask, struct suspects_reading *ret)
{
	struct suspects_reading reading = { 0 };
	int r;

	r = read_interrupts(&reading);
	if (r == 0)
		r = read_times(&reading);
	if (r == 0)
		r = read_tasks(mask, &reading);
	if (r < 0) {
		suspects_reading_clear(&reading);
		return r;
	}
	*ret = reading;
	return 0;
}

void suspects_reading_clear(struct suspects_reading *reading)
{
	free(reading->stat);
	free(reading->softirqs);
	free(reading->interrupts);
	free(reading->tasks);
	*reading = (struct suspects_reading){ 0 };
}

static int compare_suspects(const void *a, const void *b)
{
	const struct suspect *x = a, *y = b;

	return x->count != y->count ? (x->count < y->count) - (x->count > y->count)
				    : strcmp(x->name, y->name);
}

static int add_interrupt(struct suspects *suspects, const struct interrupt_delta *delta)
{
	struct suspect *items =
		reallocarray(suspects->interrupts, suspects->n_interrupts + 1, sizeof(*items));

	if (!items)
		return -ENOMEM;
	suspects->interrupts = items;
	items[suspects->n_interrupts] =
		(struct suspect){ .name = strdup(delta->name), .count = delta->delta };
	if (!items[suspects->n_interrupts].name)
		return -ENOMEM;
	suspects->n_interrupts++;
	return 0;
}

static int compare_interrupts(const struct cpumask *cpu, const struct suspects_reading *before,
	const struct suspects_reading *after, struct suspects *suspects)
{
	_cleanup_(interrupts) struct interrupts *interrupts = NULL;
	struct interrupt_delta delta;
	size_t cursor = 0;
	int r;

	if (!before->interrupts || !after->interrupts)
		return 0;
	r = interrupts_new(cpu, &interrupts);
	if (r < 0)
		return r;
	r = interrupts_read_text(interrupts, before->interrupts, before->interrupts_length);
	if (r == 0)
		r = interrupts_read_text(interrupts, after->interrupts, after->interrupts_length);
	if (r < 0)
		return r == -ENOMEM ? r : 0;
	while (interrupts_diff(interrupts, &cursor, &delta)) {
		r = add_interrupt(suspects, &delta);
		if (r < 0)
			return r;
	}
	if (suspects->n_interrupts > 0)
		qsort(suspects->interrupts, suspects->n_interrupts, sizeof(*suspects->interrupts),
			compare_suspects);
	return 0;
}

static void compare_softirqs(const struct cpumask *cpu, const struct suspects_reading *before,
	const struct suspects_reading *after, struct suspects *suspects)
{
	struct procstat_softirqs first, last;

	if (!before->softirqs || !after->softirqs ||
		procstat_parse_softirqs(cpu, before->softirqs, before->softirqs_length, &first) <
			0 ||
		procstat_parse_softirqs(cpu, after->softirqs, after->softirqs_length, &last) < 0)
		return;
	for (size_t i = 0; i < PROCSTAT_N_SOFTIRQS; i++)
		suspects->softirqs[i] = last.counts[i] - first.counts[i];
}

static void compare_steal(const struct cpumask *cpu, const struct suspects_reading *before,
	const struct suspects_reading *after, struct suspects *suspects)
{
	int64_t tick_ns = NSEC_PER_SEC / sysconf(_SC_CLK_TCK);
	struct procstat_times first, last;

	suspects->steal_ns = -1;
	if (!before->stat || !after->stat ||
		procstat_parse_times(cpu, before->stat, before->stat_length, tick_ns, &first) < 0 ||
		procstat_parse_times(cpu, after->stat, after->stat_length, tick_ns, &last) < 0)
		return;
	/* The counter can go back by a tick: fs/proc/stat.c prevents that only for idle time. */
	suspects->steal_ns = MAX(last.steal_ns - first.steal_ns, (int64_t)0);
}

static int add_task(struct suspects *suspects, const struct suspect_task *task, uint64_t ran_ns)
{
	_cleanup_free_ char *comm = NULL;
	struct suspect *items =
		reallocarray(suspects->tasks, suspects->n_tasks + 1, sizeof(*items));

	if (!items)
		return -ENOMEM;
	suspects->tasks = items;
	/* The name of a task may have control characters. */
	comm = text_escape_control(task->comm);
	if (!comm || asprintf(&items[suspects->n_tasks].name, "%s (%d)", comm, task->tid) < 0)
		return -ENOMEM;
	items[suspects->n_tasks].count = ran_ns;
	suspects->n_tasks++;
	return 0;
}

static int compare_tasks(int cpu, const struct suspects_reading *before,
	const struct suspects_reading *after, struct suspects *suspects)
{
	for (size_t i = 0; i < after->n_tasks; i++) {
		const struct suspect_task *task = &after->tasks[i], *former;
		uint64_t ran = task->ran_ns;
		int r;

		former = before->n_tasks > 0
			? bsearch(task, before->tasks, before->n_tasks, sizeof(*task), compare_tids)
			: NULL;
		if (former && (former->start != task->start || former->ran_ns > ran))
			former = NULL;
		if (former)
			ran -= former->ran_ns;
		/* It is not known how long an older task had run before: the first reading lacks
		 * it, because it may not have been allowed on these CPUs then. */
		if (task->cpu != cpu || ran == 0 || (!former && task->start < before->read_ticks))
			continue;
		r = add_task(suspects, task, ran);
		if (r < 0)
			return r;
	}
	if (suspects->n_tasks > 0)
		qsort(suspects->tasks, suspects->n_tasks, sizeof(*suspects->tasks),
			compare_suspects);
	return 0;
}

int suspects_compare(int cpu, const struct suspects_reading *before,
	const struct suspects_reading *after, struct suspects *ret)
{
	_cleanup_(cpumask) struct cpumask *mask = NULL;
	struct suspects suspects = { 0 };
	int r;

	r = cpumask_new(&mask);
	if (r == 0)
		r = cpumask_set(mask, cpu);
	if (r < 0)
		return r;
	r = compare_interrupts(mask, before, after, &suspects);
	if (r == 0)
		r = compare_tasks(cpu, before, after, &suspects);
	if (r < 0) {
		suspects_clear(&suspects);
		return r;
	}
	compare_softirqs(mask, before, after, &suspects);
	compare_steal(mask, before, after, &suspects);
	*ret = suspects;
	return 0;
}

void suspects_clear(struct suspects *suspects)
{
	for (size_t i = 0; i < suspects->n_interrupts; i++)
		free(suspects->interrupts[i].name);
	free(suspects->interrupts);
	for (size_t i = 0; i < suspects->n_tasks; i++)
		free(suspects->tasks[i].name);
	free(suspects->tasks);
	*suspects = (struct suspects){ 0 };
}
