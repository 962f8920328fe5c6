// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "base/file.h"
#include "base/machine/tasks.h"
#include "base/parse.h"
#include "base/where/cpuholder.h"

enum {
	LOCKS_MAX = 1 << 24,
	ANCESTORS_MAX = 1 << 16,
};

/* The process in a line of /proc/locks about this file, 0 for a line about another file: "3: FLOCK
 * ADVISORY WRITE 812 00:16:1234 0 EOF" (Documentation/filesystems/proc.rst). The line is split into
 * words. */
static pid_t lock_line_holder(char *line, const struct stat *st)
{
	enum {
		KIND = 1,
		PID = 4,
		FILE_ID = 5,
		N_WORDS = 6
	};
	char *words[N_WORDS], *save = NULL, want[64];
	unsigned pid;

	for (size_t i = 0; i < N_WORDS; i++) {
		words[i] = strtok_r(i == 0 ? line : NULL, " ", &save);
		if (!words[i])
			return 0;
	}
	snprintf(want, sizeof(want), "%02x:%02x:%llu", major(st->st_dev), minor(st->st_dev),
		(unsigned long long)st->st_ino);
	/* The kind of a waiting process is "->"; the number of a process of another PID namespace
	 * is 0. */
	if (strcmp(words[KIND], "FLOCK") != 0 || strcmp(words[FILE_ID], want) != 0 ||
		parse_uint(words[PID], 1, INT_MAX, &pid) < 0)
		return 0;
	return (pid_t)pid;
}

pid_t cpuholder_parse_locks(char *text, const struct stat *st)
{
	pid_t pid = 0;
	char *save = NULL;

	for (char *line = strtok_r(text, "\n", &save); line && pid <= 0;
		line = strtok_r(NULL, "\n", &save))
		pid = lock_line_holder(line, st);
	return pid;
}

int cpuholder_find_file(const char *file, struct cpuholder *ret)
{
	struct cpuholder holder = { .cpu = -1 };
	_cleanup_free_ char *locks = NULL;
	char path[64];
	struct stat st;
	int r;

	if (stat(file, &st) < 0)
		return -errno;
	r = file_read_all("/proc/locks", LOCKS_MAX, &locks, NULL);
	if (r < 0)
		return r;
	holder.pid = cpuholder_parse_locks(locks, &st);
	if (holder.pid <= 0)
		return -ENOENT;
	snprintf(path, sizeof(path), "/proc/%d", holder.pid);
	if (stat(path, &st) == 0)
		holder.uid = st.st_uid;
	snprintf(path, sizeof(path), "/proc/%d/comm", holder.pid);
	if (file_read_attr(AT_FDCWD, path, holder.comm, sizeof(holder.comm)) < 0)
		holder.comm[0] = '\0';
	*ret = holder;
	return 0;
}

int cpuholder_find(int cpu, struct cpuholder *ret)
{
	char path[64];
	int r;

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d", cpu);
	r = cpuholder_find_file(path, ret);
	if (r == 0)
		ret->cpu = cpu;
	return r;
}

bool cpuholder_is_ancestor(const struct cpuholder *holder)
{
	/* The numbers in /proc/locks are those of the PID namespace that /proc belongs to, which
	 * need not be ours: getppid(2) would not fit. */
	char path[64] = "/proc/self/stat", text[FILE_ATTR_SIZE];

	for (int i = 0; holder->pid > 0 && i < ANCESTORS_MAX; i++) {
		struct task task = { 0 };

		if (file_read_attr(AT_FDCWD, path, text, sizeof(text)) < 0 ||
			tasks_parse_stat(text, &task) < 0 || task.parent <= 0)
			return false;
		if (task.parent == holder->pid)
			return true;
		snprintf(path, sizeof(path), "/proc/%d/stat", task.parent);
	}
	return false;
}
