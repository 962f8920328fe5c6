// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/machine/cpumask.h"
#include "base/machine/isolation.h"
#include "base/machine/tasks.h"
#include "base/text.h"
#include "quiet/engine/strays.h"
#include "quiet/engine/thread.h"

/* A thread that stays within its cpuset. */
struct inside {
	pid_t tid;
	uint64_t start;
};

struct strays {
	struct inside *items; /* sorted by tid */
	size_t n;
	size_t capacity;
};

/* What is looked at of one thread after the other. */
struct look {
	char *cgroup;		/* the text of /proc/TID/cgroup that was read last */
	bool is_visible;	/* its cpuset was found */
	struct cpumask *cpuset; /* the CPUs of that */
	struct cpumask *cpus;	/* those of the thread */
};

static void cleanup_look(struct look *look)
{
	free(look->cgroup);
	cpumask_free(look->cpuset);
	cpumask_free(look->cpus);
}

static int look_begin(struct look *ret)
{
	*ret = (struct look){ 0 };
	return cpumask_new(&ret->cpuset) < 0 || cpumask_new(&ret->cpus) < 0 ? -ENOMEM : 0;
}

/* Reads the CPUs of a thread and of its cpuset: most kernel threads are in the same one. -ENOENT
 * where the thread is gone, or its cpuset cannot be seen. */
static int look_at(struct look *look, pid_t tid)
{
	_cleanup_free_ char *cgroup = NULL;
	int r;

	r = isolation_read_cgroup(tid, &cgroup);
	if (r == 0 && (!look->cgroup || strcmp(cgroup, look->cgroup) != 0)) {
		r = isolation_read_cpuset_of(cgroup, look->cpuset, NULL);
		look->is_visible = r == 0;
		free(look->cgroup);
		look->cgroup = TAKE_PTR(cgroup);
	}
	if (r == 0)
		r = look->is_visible ? thread_get_cpus(tid, look->cpus) : -ENOENT;
	return thread_is_hidden(r) ? -ENOENT : r;
}

static bool may_stray(const struct task *task)
{
	return task->kernel && thread_is_movable(task) && !thread_is_of_interrupt(task);
}

static int compare_inside(const void *a, const void *b)
{
	const struct inside *x = a, *y = b;

	return (x->tid > y->tid) - (x->tid < y->tid);
}

int strays_note(struct strays **ret)
{
	_cleanup_(strays) struct strays *strays = calloc(1, sizeof(*strays));
	__attribute__((cleanup(cleanup_look))) struct look look;
	_cleanup_(tasks) struct tasks *tasks = NULL;
	int r = look_begin(&look);

	if (!strays || r < 0)
		return -ENOMEM;
	r = tasks_read(NULL, &tasks);
	for (size_t i = 0; r == 0 && i < tasks->n; i++) {
		const struct task *task = &tasks->items[i];

		if (!may_stray(task))
			continue;
		r = look_at(&look, task->tid);
		if (r == -ENOENT || (r == 0 && !cpumask_subset(look.cpus, look.cpuset))) {
			r = 0;
			continue;
		}
		if (r == 0)
			r = array_grow(&strays->items, sizeof(*strays->items), strays->n,
				&strays->capacity);
		if (r == 0)
			strays->items[strays->n++] =
				(struct inside){ .tid = task->tid, .start = task->start };
	}
	if (r < 0)
		return r;
	if (strays->n > 0)
		qsort(strays->items, strays->n, sizeof(*strays->items), compare_inside);
	*ret = TAKE_PTR(strays);
	return 0;
}

void strays_free(struct strays *strays)
{
	if (!strays)
		return;
	free(strays->items);
	free(strays);
}

static bool was_inside(const struct strays *strays, const struct task *task)
{
	const struct inside key = { .tid = task->tid };
	const struct inside *found = strays->n == 0
		? NULL
		: bsearch(&key, strays->items, strays->n, sizeof(key), compare_inside);

	return found && found->start == task->start;
}

int strays_call_back(const struct strays *strays)
{
	__attribute__((cleanup(cleanup_look))) struct look look;
	_cleanup_(tasks) struct tasks *tasks = NULL;
	int r = look_begin(&look);

	if (r == 0)
		r = tasks_read(NULL, &tasks);
	for (size_t i = 0; r == 0 && i < tasks->n; i++) {
		const struct task *task = &tasks->items[i];

		if (!may_stray(task) || (strays && !was_inside(strays, task)))
			continue;
		r = look_at(&look, task->tid);
		if (r == 0 && !cpumask_subset(look.cpus, look.cpuset))
			r = thread_set_cpus(task->tid, NULL);
		/* It is gone, or does not let itself be moved. */
		if (r == -ENOENT || r == -EINVAL || r == -EPERM)
			r = 0;
	}
	return r;
}
