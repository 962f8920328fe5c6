// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/machine/kernelversion.h"
#include "base/parse.h"
#include "base/text.h"
#include "quiet/engine/thread.h"

enum {
	STATUS_MAX = 64 * 1024,
};

struct affinity {
	unsigned long bits[CPUMASK_BYTES / sizeof(unsigned long)];
};

bool thread_is_hidden(int r)
{
	return r == -ENOENT || r == -ESRCH || r == -ENODATA;
}

/* user_cpus_ptr is from 6.2 (include/linux/sched.h). */
int thread_is_forgotten(void)
{
	return kernelversion_is_before(6, 2);
}

int thread_get_cpus(pid_t tid, struct cpumask *ret)
{
	struct affinity affinity = { 0 };

	if (sched_getaffinity(tid, sizeof(affinity), (cpu_set_t *)&affinity) < 0)
		return errno == ESRCH ? -ENOENT : -errno;
	return cpumask_import(ret, &affinity, sizeof(affinity));
}

int thread_get_cpus_with_offline(pid_t tid, struct cpumask *ret)
{
	static const char key[] = "\nCpus_allowed_list:";
	_cleanup_free_ char *text = NULL;
	char path[64], *list;
	int r;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/status", (int)tid, (int)tid);
	r = file_read_all(path, STATUS_MAX, &text, NULL);
	if (r < 0)
		return r == -ESRCH ? -ENOENT : r;
	list = strstr(text, key);
	if (!list)
		return -ENOENT;
	list += strlen(key);
	list += strspn(list, " \t");
	list[strcspn(list, "\n")] = '\0';
	return cpumask_parse_list(list, 0, ret, NULL);
}

int thread_set_cpus(pid_t tid, const struct cpumask *cpus)
{
	struct affinity affinity;
	int r = 0;

	if (cpus)
		r = cpumask_export(cpus, &affinity, sizeof(affinity));
	else
		memset(&affinity, 0xff, sizeof(affinity));
	if (r < 0)
		return r;
	if (sched_setaffinity(tid, sizeof(affinity), (const cpu_set_t *)&affinity) < 0)
		return errno == ESRCH ? -ENOENT : -errno;
	return 0;
}

struct thread_paths thread_name_knobs(const struct task *task)
{
	unsigned long long start = task->start;
	struct thread_paths paths;

	snprintf(paths.follower, sizeof(paths.follower), FOLLOWER_SCHEME ":%d@%llu", (int)task->tid,
		start);
	snprintf(paths.chooser, sizeof(paths.chooser), THREAD_SCHEME ":%d@%llu", (int)task->tid,
		start);
	return paths;
}

int thread_parse(const char *which, pid_t *ret_tid, uint64_t *ret_start)
{
	const char *cursor = which;
	uint64_t tid, start;

	if (parse_next_u64(&cursor, &tid) < 0 || tid > INT_MAX || *cursor++ != '@' ||
		parse_u64(cursor, 0, UINT64_MAX, &start) < 0)
		return -EINVAL;
	*ret_tid = (pid_t)tid;
	*ret_start = start;
	return 0;
}

bool thread_is_movable(const struct task *task)
{
	return !task->dead && !task->bound && task->pid != getpid();
}

bool thread_is_of_interrupt(const struct task *task)
{
	return task->kernel && text_starts_with(task->comm, "irq/");
}

const struct task *thread_find_parent(const struct tasks *tasks, const struct task *task)
{
	pid_t wanted = task->tid != task->pid ? task->pid : task->parent;

	for (size_t i = 0; i < tasks->n; i++)
		if (tasks->items[i].tid == wanted && tasks->items[i].pid == wanted)
			return &tasks->items[i];
	return NULL;
}
