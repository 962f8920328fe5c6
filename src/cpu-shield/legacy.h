/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The shield with cpusets of cgroup v1 (Documentation/admin-guide/cgroup-v1/cpusets.rst): the
 * cpuset `system` gets all tasks of the root, the cpuset `benchmark` gets the quiet CPUs, load
 * balancing in the root is switched off, and the quiet CPUs are taken out of all other cpusets.
 */
#ifndef QUIESCE_CPU_SHIELD_LEGACY_H
#define QUIESCE_CPU_SHIELD_LEGACY_H

#include <stdbool.h>

#include "knob/knob.h"

/* LEGACY_GROUPS: how many groups legacy_add() uses, from `first` on. */
enum {
	LEGACY_DEPTH_MAX = 16,
	LEGACY_GROUPS = LEGACY_DEPTH_MAX + 4,
};

/*
 * "tasks:/sys/fs/cgroup/cpuset": the cpuset that has the programs: "root", "system", or "both" if
 * some are in the one and some in the other. Writing "root" moves all tasks of the cpusets `system`
 * and `benchmark` there, also those that somebody else put or started there.
 */
#define TASKS_SCHEME "tasks"
int legacy_read_tasks(const char *root, char **ret);
int legacy_write_tasks(const char *root, const char *text);
bool legacy_is_ours(const char *root);

/* Adds the knobs, in the order of turning. -ECANCELED when the shield cannot be made; says why. */
int legacy_add(struct knob_plan *plan, unsigned first, const struct cpumask *online,
	const struct cpumask *quiet);

#endif
