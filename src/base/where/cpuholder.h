/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the process that measures on a CPU: the holder of a lock (flock(2)) on the CPU's directory
 * in sysfs, /sys/devices/system/cpu/cpuN, which runpinned takes. The holder is read from
 * /proc/locks: trying to take the lock would make another runpinned wait.
 */
#ifndef QUIESCE_BASE_WHERE_CPUHOLDER_H
#define QUIESCE_BASE_WHERE_CPUHOLDER_H

#include <stdbool.h>
#include <sys/stat.h>
#include <sys/types.h>

struct cpuholder {
	int cpu;   /* -1: the locked file does not belong to a CPU */
	pid_t pid; /* 0 when it is not visible from here */
	uid_t uid;
	char comm[32];
};

/* -ENOENT when nobody in this PID namespace holds the lock; another errno where the kernel does not
 * tell. */
int cpuholder_find(int cpu, struct cpuholder *ret);
/* The same for such a lock on any other file; cpu is -1. */
int cpuholder_find_file(const char *file, struct cpuholder *ret);

/* Whether this process has been started by the holder, directly or by way of others. False where
 * /proc does not tell. */
bool cpuholder_is_ancestor(const struct cpuholder *holder);

/* The process that holds a lock on the file, 0 for none, from the text of /proc/locks, which is
 * modified. */
pid_t cpuholder_parse_locks(char *text, const struct stat *st);

#endif
