/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The shield with cpusets of cgroup v1 (Documentation/admin-guide/cgroup-v1/cpusets.rst): one for
 * the system, with all tasks of the root in it, one for benchmarks, and no load balancing over the
 * whole machine. Other cpusets lose the quiet CPUs.
 */
#ifndef QUIESCE_CPU_SHIELD_LEGACY_H
#define QUIESCE_CPU_SHIELD_LEGACY_H

#include <stdbool.h>

#include "knob/knob.h"

/* Groups, of which LEGACY_GROUPS are used from `first` on. */
enum {
	LEGACY_DEPTH_MAX = 16,
	LEGACY_GROUPS = LEGACY_DEPTH_MAX + 4,
};

/*
 * "tasks:/sys/fs/cgroup/cpuset": where the programs of the root cpuset are: "root", "system", or
 * "both", some here and some there. Written "root", all that is in the cpusets `system` and
 * `benchmark` goes there, whoever put it there and whatever was born there.
 */
#define TASKS_SCHEME "tasks"
int legacy_read_tasks(const char *root, char **ret);
int legacy_write_tasks(const char *root, const char *text);
bool legacy_is_ours(const char *root);

/* The knobs, in the order of turning. Says what keeps it from being done, and then returns
 * -ECANCELED.
 */
int legacy_add(struct knob_plan *plan, unsigned first, const struct cpumask *online,
	const struct cpumask *quiet);

#endif
