/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which version of cgroups has the cpusets of this machine, and whether systemd manages them.
 */
#ifndef QUIESCE_CPU_SHIELD_PLACE_H
#define QUIESCE_CPU_SHIELD_PLACE_H

#include <stdbool.h>

#include "basic/cleanup.h"
#include "knob/knob.h"
#include "machine/cpumask.h"
#include "state/running.h"

#define SHIELD_UNIT TARGET_SLICE
#define CGROUP_ROOT "/sys/fs/cgroup"
#define SHIELD_CGROUP TARGET_CGROUP
#define SHIELD_CPUS SHIELD_CGROUP "/cpuset.cpus"
#define SHIELD_EXCLUSIVE SHIELD_CGROUP "/cpuset.cpus.exclusive"
#define SHIELD_EFFECTIVE SHIELD_CGROUP "/cpuset.cpus.effective"
#define SHIELD_PARTITION SHIELD_CGROUP "/cpuset.cpus.partition"

/* The mount point of systemd and Debian for cpusets of cgroup v1, also on hybrids (v1 and v2). */
#define LEGACY_ROOT CGROUP_ROOT "/cpuset"
#define LEGACY_SYSTEM LEGACY_ROOT "/system"
#define LEGACY_SHIELD TARGET_CPUSET

enum place_kind {
	PLACE_UNIT,   /* cgroup v2, managed by systemd */
	PLACE_CGROUP, /* cgroup v2 without systemd */
	PLACE_LEGACY, /* cgroup v1, also on hybrids, where v2 has no cpusets */
	PLACE_NONE,
};

struct place {
	enum place_kind kind;
	const char *why; /* for PLACE_NONE: the reason, for a person */
};

/*
 * Cgroup v2 is mounted at /sys/fs/cgroup if `cgroup.controllers` exists there. In a container this
 * may be a cgroup of the host rather than the root: then it has `cgroup.type`, which only the root
 * lacks (Documentation/admin-guide/cgroup-v2.rst). In v1 only the root has
 * `cpuset.memory_pressure_enabled` (cgroup-v1/cpusets.rst).
 */
int place_find(struct place *ret);

/* The CPUs that are shielded now, with cgroup v2 or v1, or by affinities. -ENOENT when there are
 * none; other errors of reading. */
int place_read_shielded(struct cpumask **ret);

/* Whether a program runs in the shield's cgroup, or in a cgroup below it (v2 only). */
bool place_is_populated(void);

#endif
