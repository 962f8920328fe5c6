/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who measures on a CPU: the holder of a lock (flock(2)) on its directory in sysfs,
 * /sys/devices/system/cpu/cpuN, which runpinned takes. Found in /proc/locks, without touching the
 * lock: to try it would make another runpinned wait.
 */
#ifndef QUIESCE_STATE_CPUHOLDER_H
#define QUIESCE_STATE_CPUHOLDER_H

#include <sys/stat.h>
#include <sys/types.h>

struct cpuholder {
	int cpu;   /* -1: the file that is locked is none of a CPU */
	pid_t pid; /* 0 when it cannot be seen from here */
	uid_t uid;
	char comm[32];
};

/* -ENOENT when nobody holds it, or nobody of this PID namespace; another errno where the kernel
 * does not tell. */
int cpuholder_find(int cpu, struct cpuholder *ret);
/* The same of such a lock on any other file; cpu is -1. */
int cpuholder_find_file(const char *file, struct cpuholder *ret);

/* The process that has a lock on that file, 0 for none, by the text of /proc/locks, which is cut
 * up. */
pid_t cpuholder_parse_locks(char *text, const struct stat *st);

#endif
