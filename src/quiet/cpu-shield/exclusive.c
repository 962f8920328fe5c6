// SPDX-License-Identifier: GPL-2.0-or-later
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/machine/tasks.h"
#include "base/macro.h"
#include "base/parse.h"
#include "base/text.h"
#include "base/wait.h"
#include "base/where/reserved.h"
#include "quiet/cpu-shield/cgroup.h"
#include "quiet/cpu-shield/exclusive.h"
#include "quiet/engine/thread.h"
#include "quiet/engine/threads.h"

#define INCOMPLETE "incomplete"

enum {
	TASKS_MAX = 64 * 1024 * 1024, /* bytes: eight for each of 4 million threads */
	DOOR_OPEN = 0666,
	DOOR_SHUT = 0644,
	/* Until a thread that has ended has left its cpuset. */
	REMOVE_SECONDS = 5,
	STEP_NS = 2 * 1000 * 1000,
	LAST_STEP_NS = 100 * 1000 * 1000,
};

int exclusive_made_by_kernel(const char *which _unused_, const char *old _unused_,
	const char *set _unused_, const char *now _unused_)
{
	return 1;
}

/* Whether the path is there: 1, 0, or the error of looking. */
static int is_there(const char *path)
{
	return access(path, F_OK) == 0 ? 1 : errno == ENOENT ? 0 : -errno;
}

/* 1 with the path of one of the two cpusets that is there, 0 where neither is. */
static int find_cpuset(const char **ret)
{
	static const char *const paths[] = { RESERVED_CPUSET, RESERVED_OTHERS };
	int r = 0;

	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(paths); i++) {
		*ret = paths[i];
		r = is_there(paths[i]);
	}
	return r;
}

int exclusive_read(const char *which _unused_, char **ret)
{
	_cleanup_(cpumask) struct cpumask *cpus = NULL;
	const char *path;
	char *text;
	int r;

	r = reserved_read_cpus(&cpus);
	if (r == -ENOENT)
		r = find_cpuset(&path);
	if (r < 0)
		return r;
	text = cpus ? cpumask_format_list(cpus) : strdup(r > 0 ? INCOMPLETE : EXCLUSIVE_NONE);
	if (!text)
		return -ENOMEM;
	*ret = text;
	return 0;
}

/* --- Moving threads. --- */

/* What became of the threads of a cpuset in one walk. */
struct moved {
	bool any;
	bool any_refused; /* did not move */
};

/* 1 for a thread of a program, 0 for one of the kernel's or one that is gone. */
static int is_of_program(const char *tid)
{
	char path[64], text[FILE_ATTR_SIZE];
	struct task task = { 0 };
	int r;

	/* That of the process would add up all its threads each time. */
	snprintf(path, sizeof(path), "/proc/%.16s/task/%.16s/stat", tid, tid);
	r = file_read_attr(AT_FDCWD, path, text, sizeof(text));
	if (r == -ENOENT || r == -ESRCH)
		return 0;
	if (r >= 0)
		r = tasks_parse_stat(text, &task);
	return r < 0 ? r : !task.kernel && !task.dead;
}

/* Moves the threads of programs in one cpuset to another one. */
static int move_once(const char *from, const char *to, struct moved *moved)
{
	_cleanup_free_ char *source = NULL, *target = NULL, *tids = NULL;
	char *rest;
	int r;

	if (text_format(&source, "%s/tasks", from) < 0 || text_format(&target, "%s/tasks", to) < 0)
		return -ENOMEM;
	r = file_read_all(source, TASKS_MAX, &tids, NULL);
	if (r < 0)
		return r == -ENOENT || r == -ENODEV ? 0 : r;
	for (const char *tid = strtok_r(tids, "\n", &rest); tid;
		tid = strtok_r(NULL, "\n", &rest)) {
		r = is_of_program(tid);
		if (r == 0)
			continue;
		if (r > 0)
			r = knob_write(NULL, target, tid);
		if (r < 0 && errno_is_ours(-r))
			return r;
		moved->any = moved->any || r == 0;
		moved->any_refused = moved->any_refused || (r < 0 && r != -ESRCH);
	}
	return 0;
}

/* Moves the programs of cpusets to another one, until for some time none is left there: a program
 * that was being started may have come to where its parent was. -EINVAL if one does not move in
 * several seconds. */
static int move_all(const char *const from[], size_t n, const char *to)
{
	struct threads_walks walks = threads_walks_begin();
	struct moved moved;
	int r = 0;

	do {
		moved = (struct moved){ 0 };
		for (size_t i = 0; r == 0 && i < n; i++)
			r = move_once(from[i], to, &moved);
	} while (r == 0 && threads_walks_go_on(&walks, moved.any || moved.any_refused));
	return r < 0 ? r : moved.any_refused ? -EINVAL : 0;
}

/* --- The two cpusets. --- */

static int set_door(mode_t mode)
{
	return chmod(RESERVED_DOOR, mode) < 0 ? -errno : 0;
}

static int write_cpus(const char *path, const struct cpumask *cpus)
{
	_cleanup_free_ char *list = cpumask_format_list(cpus);

	return list ? knob_write(NULL, path, list) : -ENOMEM;
}

/* The cpusets with their memory and their CPUs, the first of them exclusive. */
static int make_cpusets(const struct cpumask *cpus)
{
	_cleanup_(cpumask) struct cpumask *others = NULL;
	char mems[FILE_ATTR_SIZE];
	int r;

	r = cpumask_new(&others);
	if (r == 0)
		r = cpumask_read_list(AT_FDCWD, RESERVED_ROOT "/cpuset.cpus", others);
	if (r < 0)
		return r;
	cpumask_andnot(others, others, cpus);
	r = file_read_attr(AT_FDCWD, RESERVED_ROOT "/cpuset.mems", mems, sizeof(mems));
	if (r >= 0)
		r = folder_write(RESERVED_CPUSET, "present");
	if (r == 0)
		r = folder_write(RESERVED_OTHERS, "present");
	if (r == 0)
		r = knob_write(NULL, RESERVED_CPUSET "/cpuset.mems", mems);
	if (r == 0)
		r = knob_write(NULL, RESERVED_OTHERS "/cpuset.mems", mems);
	/* An earlier shield has other CPUs. */
	if (r == 0)
		r = set_door(DOOR_SHUT);
	if (r == 0)
		r = knob_write(NULL, RESERVED_CPUSET "/cpuset.cpu_exclusive", "0");
	if (r == 0)
		r = write_cpus(RESERVED_OTHERS "/cpuset.cpus", others);
	if (r == 0)
		r = write_cpus(RESERVED_CPUSET "/cpuset.cpus", cpus);
	if (r == 0)
		r = knob_write(NULL, RESERVED_CPUSET "/cpuset.cpu_exclusive", "1");
	return r;
}

static int put_up(const char *list)
{
	static const char *const from[] = { RESERVED_ROOT };
	_cleanup_(cpumask) struct cpumask *cpus = NULL;
	int r;

	r = cpumask_from_list(list, &cpus);
	if (r == 0)
		r = make_cpusets(cpus);
	if (r == 0)
		r = move_all(from, ARRAY_SIZE(from), RESERVED_OTHERS);
	return r < 0 ? r : set_door(DOOR_OPEN);
}

static int remove_folder(const char *path)
{
	struct wait wait = wait_until(clock_now_ns(CLOCK_MONOTONIC) + REMOVE_SECONDS * NSEC_PER_SEC,
		STEP_NS, LAST_STEP_NS);
	int r;

	do
		r = folder_write(path, "absent");
	while (r == -EBUSY && wait_step(&wait));
	return r;
}

static int take_down(void)
{
	static const char *const from[] = { RESERVED_OTHERS, RESERVED_CPUSET };
	int r = set_door(DOOR_SHUT);

	if (r == 0 || r == -ENOENT)
		r = move_all(from, ARRAY_SIZE(from), RESERVED_ROOT);
	if (r == 0)
		r = remove_folder(RESERVED_CPUSET);
	return r == 0 ? remove_folder(RESERVED_OTHERS) : r;
}

int exclusive_write(const char *which _unused_, const char *text)
{
	return strcmp(text, EXCLUSIVE_NONE) == 0 ? take_down() : put_up(text);
}

/* --- What is in the way. --- */

/* Whether the root cpuset has a thread that cannot be seen from here: 0 stands for those outside of
 * this PID namespace, and /proc may be mounted with hidepid. */
static int has_unseen(void)
{
	_cleanup_(cpumask) struct cpumask *scratch = NULL;
	_cleanup_free_ char *tids = NULL;
	char *rest;
	int r;

	r = cpumask_new(&scratch);
	if (r == 0)
		r = file_read_all(RESERVED_ROOT "/tasks", TASKS_MAX, &tids, NULL);
	if (r < 0)
		return r;
	for (const char *tid = strtok_r(tids, "\n", &rest); tid;
		tid = strtok_r(NULL, "\n", &rest)) {
		char path[64];
		int number;

		r = parse_int(tid, 0, INT_MAX, &number);
		if (r < 0)
			return r;
		snprintf(path, sizeof(path), "/proc/%d/stat", number);
		if (number == 0)
			return 1;
		r = is_there(path);
		if (r == 0)
			r = thread_get_cpus((pid_t)number, scratch) == -ENOENT;
		if (r <= 0)
			return r < 0 ? r : 1;
	}
	return 0;
}

/* Whether a cpuset right below the root has some of the CPUs; those below it have no others. */
static int find_other(const struct cpumask *cpus, char **ret_why)
{
	_cleanup_(cpumask) struct cpumask *theirs = NULL;
	_cleanup_closedir_ DIR *dir = opendir(RESERVED_ROOT);
	const struct dirent *entry;
	int r;

	if (!dir)
		return -errno;
	r = cpumask_new(&theirs);
	while (r == 0 && (errno = 0, entry = readdir(dir))) {
		_cleanup_free_ char *path = NULL;

		if (entry->d_name[0] == '.')
			continue;
		if (text_format(&path, RESERVED_ROOT "/%s/cpuset.cpus", entry->d_name) < 0)
			return -ENOMEM;
		r = cpumask_read_list(AT_FDCWD, path, theirs);
		/* A file of the root cpuset; or the cpuset has just been removed. */
		if (r == -ENOTDIR || r == -ENOENT || r == -ENODEV)
			r = 0;
		else if (r == 0 && cpumask_intersects(theirs, cpus))
			return text_format(ret_why,
				"the cpuset /%s of cgroup v1 has some of these CPUs, too",
				entry->d_name);
	}
	return r < 0 ? r : -errno;
}

int exclusive_find_obstacle(const struct cpumask *cpus, char **ret_why)
{
	const char *path;
	int r;

	/* As often in containers that may have all CPUs. */
	if (access(RESERVED_ROOT "/tasks", W_OK) < 0 && errno == EROFS)
		return text_format(ret_why, RESERVED_ROOT " is read-only");
	r = has_unseen();
	if (r < 0)
		return r;
	if (r > 0)
		return text_format(
			ret_why, "programs that cannot be seen from here cannot be moved");
	r = find_cpuset(&path);
	if (r > 0)
		return text_format(ret_why, "somebody else has made %s", path);
	return r < 0 ? r : find_other(cpus, ret_why);
}
