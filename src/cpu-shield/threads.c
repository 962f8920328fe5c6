// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "basic/file.h"
#include "basic/parse.h"
#include "basic/text.h"
#include "cpu-shield/place.h"
#include "cpu-shield/threads.h"
#include "knob/journal.h"
#include "machine/isolation.h"
#include "machine/tasks.h"

enum {
	PROC_CGROUP_MAX = 256 * 1024,
	NAMES_SHOWN = 3,
};

struct affinity {
	unsigned long bits[CPUMASK_BYTES / sizeof(unsigned long)];
};

static int read_affinity(pid_t tid, struct cpumask *ret)
{
	struct affinity affinity = { 0 };

	if (sched_getaffinity(tid, sizeof(affinity), (cpu_set_t *)&affinity) < 0)
		return errno == ESRCH ? -ENOENT : -errno;
	return cpumask_import(ret, &affinity, sizeof(affinity));
}

/* The thread of "TID@START"; -ENOENT when it is gone. */
static int find_thread(const char *which, pid_t *ret)
{
	char path[64], text[FILE_ATTR_SIZE];
	const char *cursor = which;
	struct task task = { 0 };
	uint64_t tid, start;

	if (parse_next_u64(&cursor, &tid) < 0 || tid > INT_MAX || *cursor++ != '@' ||
		parse_u64(cursor, 0, UINT64_MAX, &start) < 0)
		return -ENOENT;
	snprintf(path, sizeof(path), "/proc/%d/stat", (int)tid);
	if (file_read_attr(AT_FDCWD, path, text, sizeof(text)) < 0 ||
		tasks_parse_stat(text, &task) < 0 || task.start != start)
		return -ENOENT;
	*ret = (pid_t)tid;
	return 0;
}

int thread_read(const char *which, char **ret)
{
	_cleanup_(cpumask) struct cpumask *cpus = NULL;
	char *list;
	pid_t tid;
	int r;

	r = find_thread(which, &tid);
	if (r == 0)
		r = cpumask_new(&cpus);
	if (r == 0)
		r = read_affinity(tid, cpus);
	if (r < 0)
		return r;
	list = cpumask_format_list(cpus);
	if (!list)
		return -ENOMEM;
	*ret = list;
	return 0;
}

int thread_write(const char *which, const char *text)
{
	_cleanup_(cpumask) struct cpumask *cpus = NULL, *now = NULL;
	struct affinity affinity;
	pid_t tid;
	int r;

	r = find_thread(which, &tid);
	if (r == 0)
		r = cpumask_new(&cpus);
	if (r == 0)
		r = cpumask_new(&now);
	if (r == 0)
		r = cpumask_parse_list(text, 0, cpus, NULL);
	if (r == 0)
		r = cpumask_export(cpus, &affinity, sizeof(affinity));
	if (r == 0)
		r = read_affinity(tid, now);
	/* Kernels that remember what was asked for would forget it for what it is now. */
	if (r < 0 || cpumask_equal(cpus, now))
		return r;
	if (sched_setaffinity(tid, sizeof(affinity), (const cpu_set_t *)&affinity) < 0)
		return errno == ESRCH ? -ENOENT : -errno;
	return 0;
}

/* The CPUs of the nearest cpuset upwards; -ENODATA where that cannot be seen. */
static int read_cpuset(pid_t tid, struct cpumask *ret)
{
	static const char *const files[] = { "cpuset.cpus.effective", "cpuset.effective_cpus" };
	struct isolation_cpuset cpuset = { 0 };
	_cleanup_free_ char *text = NULL;
	char proc[64];
	int r;

	snprintf(proc, sizeof(proc), "/proc/%d/cgroup", (int)tid);
	r = file_read_all(AT_FDCWD, proc, PROC_CGROUP_MAX, &text, NULL);
	if (r == 0)
		r = isolation_parse_cgroup(text, &cpuset);
	if (r < 0)
		return r;
	for (bool over = false; !over;) {
		_cleanup_free_ char *path = NULL;
		char list[FILE_ATTR_SIZE], *slash = strrchr(cpuset.path, '/');

		over = !slash;
		if (asprintf(&path, "%s%s/%s", cpuset.v1 ? LEGACY_ROOT : CGROUP_ROOT, cpuset.path,
			    files[cpuset.v1]) < 0) {
			path = NULL;
			r = -ENOMEM;
			break;
		}
		r = file_read_attr(AT_FDCWD, path, list, sizeof(list));
		if (r >= 0)
			r = cpumask_parse_list(list, 0, ret, NULL);
		if (r == 0)
			break;
		r = -ENODATA;
		if (slash)
			*slash = '\0';
	}
	isolation_cpuset_clear(&cpuset);
	return r;
}

struct scene {
	const struct cpumask *online;
	const struct cpumask *quiet;
	struct journal *journal; /* NULL for none */
	struct cpumask *own;	 /* where the thread may run by its own choice */
	struct cpumask *cpuset;
	struct cpumask *wanted;
};

/* Fills scene->own: 1, or 0 for a thread that goes where its cpuset says. What an earlier apply has
 * written down of it was its choice, whatever came of that since. */
static int read_choice(const struct scene *s, pid_t tid, const char *path)
{
	const struct journal_entry *entry = s->journal ? journal_find(s->journal, path) : NULL;
	int r;

	if (entry && !entry->left)
		return cpumask_parse_list(entry->old, 0, s->own, NULL) == 0;
	if (read_affinity(tid, s->own) < 0 || cpumask_equal(s->own, s->online))
		return 0;
	r = read_cpuset(tid, s->cpuset);
	if (r == -ENOMEM)
		return r;
	return r < 0 || !cpumask_subset(s->cpuset, s->own);
}

static int add_thread(
	struct knob_plan *plan, unsigned group, const struct task *task, const struct scene *s)
{
	_cleanup_free_ char *wanted = NULL;
	struct knob *knob;
	char path[64];
	int r;

	if (task->bound || task->pid == getpid())
		return 0;
	snprintf(path, sizeof(path), THREAD_SCHEME ":%d@%llu", (int)task->tid,
		(unsigned long long)task->start);
	r = read_choice(s, task->tid, path);
	if (r <= 0)
		return r;
	cpumask_andnot(s->wanted, s->own, s->quiet);
	if (!cpumask_is_empty(s->wanted)) {
		wanted = cpumask_format_list(s->wanted);
		if (!wanted)
			return -ENOMEM;
	}
	r = knob_plan_add(plan, group, KNOB_LIST, path, wanted, &knob, "affinity of %s (%d)",
		task->comm, (int)task->tid);
	if (r < 0)
		return r;
	knob->fold = "affinities of threads";
	/* It may end at any moment, or be put into a cpuset without these CPUs. */
	knob->may_be_refused = true;
	return 0;
}

int threads_add(struct knob_plan *plan, unsigned group, const struct cpumask *online,
	const struct cpumask *quiet)
{
	_cleanup_(cpumask) struct cpumask *own = NULL, *cpuset = NULL, *wanted = NULL;
	_cleanup_(journal) struct journal *journal = NULL;
	_cleanup_(tasks) struct tasks *tasks = NULL;
	_cleanup_free_ char *why = NULL;
	struct scene scene;
	int r;

	r = cpumask_new(&own);
	if (r == 0)
		r = cpumask_new(&cpuset);
	if (r == 0)
		r = cpumask_new(&wanted);
	if (r == 0)
		r = tasks_read(online, &tasks);
	if (r < 0)
		return r;
	/* What is wrong with a journal, the engine says. */
	(void)journal_load("cpu-shield", &journal, &why);
	scene = (struct scene){
		.online = online,
		.quiet = quiet,
		.journal = journal,
		.own = own,
		.cpuset = cpuset,
		.wanted = wanted,
	};
	for (size_t i = 0; r == 0 && i < tasks->n; i++)
		r = add_thread(plan, group, &tasks->items[i], &scene);
	return r;
}

int threads_name_left(const struct cpumask *quiet, char **ret)
{
	_cleanup_(tasks) struct tasks *tasks = NULL;
	_cleanup_text_ struct text names = { 0 };
	size_t n = 0;
	int r;

	r = tasks_read(quiet, &tasks);
	if (r < 0)
		return r;
	for (size_t i = 0; i < tasks->n; i++) {
		const struct task *task = &tasks->items[i];

		if (!task->kernel || task->bound || !task->may)
			continue;
		if (n < NAMES_SHOWN)
			text_appendf(&names, "%s%s", n > 0 ? ", " : "", task->comm);
		n++;
	}
	if (n > NAMES_SHOWN)
		text_appendf(&names, " and %zu more", n - NAMES_SHOWN);
	if (names.failed)
		return -ENOMEM;
	*ret = n > 0 ? text_steal(&names) : NULL;
	return 0;
}
