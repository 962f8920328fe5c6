/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Threads with an affinity of their own.
 *
 * Kernels up to 6.1 forget what sched_setaffinity(2) was asked for as soon as a thread's cpuset
 * changes its CPUs, and so does one that is moved into another cpuset, which is what handing down
 * the controller means (cpuset_attach(), update_tasks_cpumask() in kernel/cgroup/cpuset.c; from 6.2
 * on: user_cpus_ptr in kernel/sched/core.c). All others follow their cpuset there and back.
 */
#ifndef QUIESCE_CPU_SHIELD_THREADS_H
#define QUIESCE_CPU_SHIELD_THREADS_H

#include "knob/knob.h"

/*
 * "thread:TID@START": the CPUs that it may run on, as a list; START is when it began (field 22 of
 * /proc/PID/stat), because numbers are used again. -ENOENT when it is gone.
 */
#define THREAD_SCHEME "thread"
int thread_read(const char *which, char **ret);
int thread_write(const char *which, const char *text);

/* A knob for each thread that may run on fewer CPUs than its cpuset allows, and that may be moved:
 * without the quiet CPUs, and merely kept where nothing would be left. Not the caller's. */
int threads_add(struct knob_plan *plan, unsigned group, const struct cpumask *online,
	const struct cpumask *quiet);

/* The threads of the kernel that may be moved and may still run on a quiet CPU: "a, b and 3 more",
 * malloc'd; NULL for none. */
int threads_name_left(const struct cpumask *quiet, char **ret);

#endif
