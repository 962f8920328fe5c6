/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The shield by an exclusive cpuset of cgroup v1 (Documentation/admin-guide/cgroup-v1/cpusets.rst;
 * kernel/cgroup/cpuset.c, from 6.12 on cpuset-v1.c).
 *
 * An exclusive cpuset shares its CPUs with no other cpuset but its ancestors: every program of the
 * root cpuset may still use them. So all of these programs are moved to another cpuset, which has
 * the other CPUs, and which none of them can leave: sched_setaffinity(2) takes only what the cpuset
 * has. Cpusets of others are left alone: where one has some of the CPUs, there is no such shield.
 *
 * Kernel threads stay in the root cpuset, which kthreadd and those that are bound cannot leave, and
 * in which all are born (cgroup_procs_write_start() in kernel/cgroup/cgroup.c). They are moved by
 * their affinities.
 *
 * Only programs that were in the root cpuset, and what they have started, are in the two cpusets.
 * So all of them go back to the root when the shield ends, and nothing has to be known of each.
 */
#ifndef QUIESCE_QUIET_CPU_SHIELD_EXCLUSIVE_H
#define QUIESCE_QUIET_CPU_SHIELD_EXCLUSIVE_H

#include "base/machine/cpumask.h"

/*
 * "exclusive:benchmark.slice": the CPUs of the shield, as a list; "none" where there is none, and
 * "incomplete" for a part of one. A write makes it, gives it other CPUs, or ends it. -EINVAL where
 * another cpuset has some of the CPUs, or a program does not move, such as one with a deadline;
 * -EBUSY where somebody has made cpusets below these two.
 */
#define EXCLUSIVE_SCHEME "exclusive"
#define EXCLUSIVE_NONE "none"
int exclusive_read(const char *which, char **ret);
int exclusive_write(const char *which, const char *text);
/* Always: the two cpusets are ours, and whatever becomes of them ends with them. */
int exclusive_made_by_kernel(const char *which, const char *old, const char *set, const char *now);

/* Why no such shield of these CPUs can be made, as a phrase, malloc'd; *ret_why is left alone where
 * it can. */
int exclusive_find_obstacle(const struct cpumask *cpus, char **ret_why);

#endif
