/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether this machine has partitions of cgroup v2, and whether systemd manages them.
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

enum place_kind {
	PLACE_UNIT,   /* cgroup v2, managed by systemd */
	PLACE_CGROUP, /* cgroup v2 without systemd */
	PLACE_NONE,
};

struct place {
	enum place_kind kind;
	const char *why; /* for PLACE_NONE: the reason, for a person */
};

/*
 * Cgroup v2 is mounted at /sys/fs/cgroup if `cgroup.controllers` exists there. In a container this
 * may be a cgroup of the host rather than the root: then it has `cgroup.type`, which only the root
 * lacks (Documentation/admin-guide/cgroup-v2.rst).
 */
int place_find(struct place *ret);

/* The CPUs that are shielded now, by a partition or by affinities. -ENOENT when there are
 * none; other errors of reading. */
int place_read_shielded(struct cpumask **ret);

/* Whether a program runs in the shield's cgroup, or in a cgroup below it (v2 only). */
bool place_is_populated(void);

#endif
