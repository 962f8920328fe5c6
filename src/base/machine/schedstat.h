/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * /proc/PID/schedstat and /proc/PID/task/TID/schedstat: "281 1405 3", the time in ns that a task
 * ran, the time in ns that it was runnable and waited for a CPU, and how often it began to run
 * (Documentation/scheduler/sched-stats.rst).
 *
 * This file uses only basic/parse, because it is linked into the launcher.
 */
#ifndef QUIESCE_BASE_MACHINE_SCHEDSTAT_H
#define QUIESCE_BASE_MACHINE_SCHEDSTAT_H

#include <stdint.h>

struct schedstat {
	int64_t ran_ns;
	int64_t waited_ns;
};

/* -ENODATA or -ERANGE for another text. -ENODATA, too, where the kernel does not keep these
 * figures: it writes "0 0 0" then (fs/proc/base.c: proc_pid_schedstat()), and a task that can be
 * asked has run at least once. */
int schedstat_parse(const char *text, struct schedstat *ret);

#endif
