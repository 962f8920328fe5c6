// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "basic/file.h"
#include "basic/parse.h"
#include "runpinned/cpulock.h"

struct cpulock {
	size_t n;
	int *fds;
};

/* The process in a line of /proc/locks that is about this file, 0 when it is about another:
 * "3: FLOCK  ADVISORY  WRITE 812 00:16:1234 0 EOF" (Documentation/filesystems/proc.rst). The line
 * is cut into its words. */
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
	/* A process that waits has "->" for its kind; one of another PID namespace the number 0. */
	if (strcmp(words[KIND], "FLOCK") != 0 || strcmp(words[FILE_ID], want) != 0 ||
		parse_uint(words[PID], 1, INT_MAX, &pid) < 0)
		return 0;
	return (pid_t)pid;
}

static void holder_find(int fd, struct cpulock_holder *holder)
{
	_cleanup_free_ char *locks = NULL;
	char path[64];
	struct stat st;
	char *save = NULL;

	if (fstat(fd, &st) < 0 || file_read_all(AT_FDCWD, "/proc/locks", 1 << 24, &locks, NULL) < 0)
		return;
	for (char *line = strtok_r(locks, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		holder->pid = lock_line_holder(line, &st);
		if (holder->pid > 0)
			break;
	}
	if (holder->pid <= 0)
		return;
	snprintf(path, sizeof(path), "/proc/%d", holder->pid);
	if (stat(path, &st) == 0)
		holder->uid = st.st_uid;
	snprintf(path, sizeof(path), "/proc/%d/comm", holder->pid);
	(void)file_read_attr(AT_FDCWD, path, holder->comm, sizeof(holder->comm));
}

int cpulock_try(const struct cpumask *cpus, struct cpulock **ret, struct cpulock_holder *ret_holder)
{
	_cleanup_(cpulock) struct cpulock *lock = NULL;

	lock = calloc(1, sizeof(*lock));
	if (!lock)
		return -ENOMEM;
	lock->fds = calloc(cpumask_weight(cpus), sizeof(*lock->fds));
	if (!lock->fds)
		return -ENOMEM;
	cpumask_for_each (cpu, cpus) {
		char path[64];
		int fd;

		snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d", cpu);
		fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (fd < 0)
			return -errno;
		lock->fds[lock->n++] = fd;
		if (flock(fd, LOCK_EX | LOCK_NB) == 0)
			continue;
		if (errno != EWOULDBLOCK)
			return -errno;
		*ret_holder = (struct cpulock_holder){ .cpu = cpu };
		holder_find(fd, ret_holder);
		return -EAGAIN;
	}
	*ret = TAKE_PTR(lock);
	return 0;
}

void cpulock_free(struct cpulock *lock)
{
	if (!lock)
		return;
	for (size_t i = 0; i < lock->n; i++)
		close(lock->fds[i]);
	free(lock->fds);
	free(lock);
}
