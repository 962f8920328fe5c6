// SPDX-License-Identifier: GPL-2.0-or-later
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/file.h"
#include "base/machine/tasks.h"
#include "base/macro.h"
#include "base/parse.h"

enum {
	/* include/linux/sched.h, unchanged from 2.6.37 to 7.2. */
	PF_WQ_WORKER = 0x00000020,
	PF_KTHREAD = 0x00200000,
	PF_NO_SETAFFINITY = 0x04000000,

	STATUS_MAX = 64 * 1024,

	/* Fields after the name, counted from the state, which is field 3 of proc(5). */
	FIELD_PARENT = 4 - 3,
	FIELD_FLAGS = 9 - 3,
	FIELD_TIMES = 14 - 3, /* utime, stime, cutime, cstime */
	FIELD_THREADS = 20 - 3,
	FIELD_START = 22 - 3,
	FIELD_PROCESSOR = 39 - 3,

	TASKS_MAX = 4 * 1024 * 1024,
};

/* The number in a field after the name; fields before it may be signed. */
static int parse_field(const char *at, int field, uint64_t *ret)
{
	for (int i = 0; i < field; i++) {
		at = strchr(at, ' ');
		if (!at)
			return -EBADMSG;
		at++;
	}
	return parse_next_u64(&at, ret) < 0 ? -EBADMSG : 0;
}

/* Two numbers from a field on, added. The kernel prints those of children as signed. */
static int parse_sum(const char *at, int field, uint64_t *ret)
{
	uint64_t first, second;

	if (parse_field(at, field, &first) < 0 || parse_field(at, field + 1, &second) < 0)
		return -EBADMSG;
	*ret = first + second;
	return 0;
}

int tasks_parse_stat(const char *text, struct task *ret)
{
	/* The name may contain blanks and parentheses. */
	const char *open = strchr(text, '('), *close = strrchr(text, ')');
	const char *tid_at = text;
	struct task task = *ret;
	uint64_t tid, parent, flags, threads, start, cpu;
	size_t length;

	if (!open || !close || close < open || close[1] != ' ' || !close[2] ||
		parse_next_u64(&tid_at, &tid) < 0 || tid > INT_MAX)
		return -EBADMSG;
	length = MIN((size_t)(close - open - 1), sizeof(task.comm) - 1);
	memcpy(task.comm, open + 1, length);
	task.comm[length] = '\0';
	task.state = close[2];
	if (parse_field(close + 2, FIELD_PARENT, &parent) < 0 || parent > INT_MAX ||
		parse_field(close + 2, FIELD_FLAGS, &flags) < 0 ||
		parse_sum(close + 2, FIELD_TIMES, &task.ran_ticks) < 0 ||
		parse_field(close + 2, FIELD_TIMES + 1, &task.system_ticks) < 0 ||
		parse_sum(close + 2, FIELD_TIMES + 2, &task.children_ticks) < 0 ||
		parse_field(close + 2, FIELD_THREADS, &threads) < 0 ||
		parse_field(close + 2, FIELD_START, &start) < 0 ||
		parse_field(close + 2, FIELD_PROCESSOR, &cpu) < 0 || cpu > INT_MAX)
		return -EBADMSG;
	task.tid = (pid_t)tid;
	task.parent = (pid_t)parent;
	task.is_single = threads == 1;
	task.start = start;
	task.cpu = (int)cpu;
	/* proc(5); 'x' until 3.13. */
	task.dead = strchr("ZXx", task.state) != NULL;
	task.kernel = flags & PF_KTHREAD;
	task.bound = flags & PF_NO_SETAFFINITY;
	task.worker = flags & PF_WQ_WORKER;
	*ret = task;
	return 0;
}

struct reading {
	struct tasks *tasks;
	size_t capacity;
	bool all_threads;
	bool first_threads; /* the set is empty: no other thread may run on it */
	unsigned long set[CPUMASK_BYTES / sizeof(unsigned long)];
};

/* Maps an error to -ESRCH when the process has ended, and to -ENODATA when it is closed to an
 * ordinary user; any other error is our own and is returned as it is. */
static int map_task_error(int r)
{
	if ((r == -EACCES || r == -EPERM) && geteuid() != 0)
		return -ENODATA;
	return r == -ENOENT || r == -EINVAL ? -ESRCH : r;
}

/* Whether the error concerns the process and not this program: then the process is left out. */
static bool is_task_error(int r)
{
	return r == -ESRCH || r == -ENODATA;
}

/* Reads the affinity of a thread; errors of map_task_error(). */
static int read_affinity(const struct reading *reading, pid_t tid, struct task *task)
{
	unsigned long mask[CPUMASK_BYTES / sizeof(unsigned long)] = { 0 };
	unsigned long in = 0, out = 0;

	if (sched_getaffinity(tid, sizeof(mask), (cpu_set_t *)mask) < 0)
		return map_task_error(-errno);
	for (size_t i = 0; i < ARRAY_SIZE(mask); i++) {
		in |= mask[i] & reading->set[i];
		out |= mask[i] & ~reading->set[i];
	}
	task->may = in != 0;
	task->only = in != 0 && out == 0;
	return 0;
}

static int add_task(struct reading *reading, const struct task *task)
{
	struct tasks *tasks = reading->tasks;
	int r;

	r = array_grow(&tasks->items, sizeof(*task), tasks->n, &reading->capacity);
	if (r == 0)
		tasks->items[tasks->n++] = *task;
	return r;
}

/* 1 when the task was added, 0 when it may not run on the mask, -ESRCH when it has ended, -ENODATA
 * when it cannot be read. */
static int read_task(struct reading *reading, int proc, pid_t pid, pid_t tid)
{
	struct task task = { .pid = pid };
	char path[64], text[FILE_ATTR_SIZE];
	int r;

	r = read_affinity(reading, tid, &task);
	if (r < 0)
		return r;
	if (tid != pid && !task.may && !reading->all_threads)
		return 0;
	/* For the first thread, the process's own file has the same fields, and the kernel has to
	 * create only half of the directories. */
	if (tid == pid)
		snprintf(path, sizeof(path), "%d/stat", pid);
	else
		snprintf(path, sizeof(path), "%d/task/%d/stat", pid, tid);
	r = file_read_attr(proc, path, text, sizeof(text));
	if (r < 0)
		return map_task_error(r);
	if (tasks_parse_stat(text, &task) < 0)
		return -ENODATA;
	r = add_task(reading, &task);
	return r < 0 ? r : 1;
}

/* All threads of a process but the first. */
static int read_threads(struct reading *reading, int proc, pid_t pid)
{
	_cleanup_closedir_ DIR *dir = NULL;
	const struct dirent *entry;
	char path[32];
	int fd, r = 0;

	snprintf(path, sizeof(path), "%d/task", pid);
	fd = openat(proc, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0) {
		r = map_task_error(-errno);
		return is_task_error(r) ? 0 : r;
	}
	dir = fdopendir(fd);
	if (!dir) {
		close(fd);
		return -ENOMEM;
	}
	while (errno = 0, (entry = readdir(dir))) {
		int tid;

		if (parse_int(entry->d_name, 1, INT_MAX, &tid) < 0 || tid == pid)
			continue;
		r = read_task(reading, proc, pid, tid);
		if (r < 0 && !is_task_error(r))
			return r;
	}
	/* A process that ends during the loop has no more threads. */
	r = map_task_error(-errno);
	return is_task_error(r) ? 0 : r;
}

static int read_processes(struct reading *reading, DIR *dir)
{
	const struct dirent *entry;

	while (errno = 0, (entry = readdir(dir)) && reading->tasks->n < TASKS_MAX) {
		const struct task *last;
		int pid, r;

		if (parse_int(entry->d_name, 1, INT_MAX, &pid) < 0)
			continue;
		r = read_task(reading, dirfd(dir), pid, pid);
		if (r < 0 && !is_task_error(r))
			return r;
		if (r < 0) {
			reading->tasks->n_hidden += r == -ENODATA;
			continue;
		}
		last = &reading->tasks->items[reading->tasks->n - 1];
		if (last->is_single || reading->first_threads)
			continue;
		r = read_threads(reading, dirfd(dir), pid);
		if (r < 0)
			return r;
	}
	return -errno;
}

int tasks_read(const struct cpumask *mask, struct tasks **ret)
{
	_cleanup_(tasks) struct tasks *tasks = NULL;
	_cleanup_closedir_ DIR *dir = opendir("/proc");
	struct reading reading = { 0 };
	int r;

	if (!dir)
		return -errno;
	tasks = calloc(1, sizeof(*tasks));
	if (!tasks)
		return -ENOMEM;
	reading.tasks = tasks;
	reading.all_threads = !mask;
	reading.first_threads = mask && cpumask_is_empty(mask);
	r = mask ? cpumask_export(mask, reading.set, sizeof(reading.set)) : 0;
	if (r == 0)
		r = read_processes(&reading, dir);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(tasks);
	return 0;
}

void tasks_free(struct tasks *tasks)
{
	if (!tasks)
		return;
	free(tasks->items);
	free(tasks);
}

bool tasks_status_is_of(const char *status, uid_t uid)
{
	const char *cursor = strstr(status, "\nUid:");

	if (!cursor)
		return false;
	cursor += strlen("\nUid:");
	for (size_t i = 0; i < 3; i++) {
		uint64_t id;

		cursor += strspn(cursor, "\t");
		if (parse_next_u64(&cursor, &id) < 0 || id != uid)
			return false;
	}
	return true;
}

int tasks_is_of(pid_t pid, uid_t uid)
{
	_cleanup_free_ char *status = NULL;
	char path[64];
	int r;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	r = file_read_all(path, STATUS_MAX, &status, NULL);
	return r < 0 ? r : tasks_status_is_of(status, uid);
}
