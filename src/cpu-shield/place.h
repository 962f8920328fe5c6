/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where this machine keeps its cpusets, and who manages them.
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

/* cgroup v1, where systemd and Debian mount it; the same on hybrids. */
#define LEGACY_ROOT CGROUP_ROOT "/cpuset"
#define LEGACY_SYSTEM LEGACY_ROOT "/system"
#define LEGACY_SHIELD TARGET_CPUSET

enum place_kind {
	PLACE_UNIT,   /* cgroup v2, and systemd manages it */
	PLACE_CGROUP, /* cgroup v2, and nobody does */
	PLACE_LEGACY, /* cgroup v1, also on hybrids, where v2 has no cpusets */
	PLACE_NONE,
};

struct place {
	enum place_kind kind;
	/* For PLACE_NONE: why, for a person, and which of the words that is. */
	enum knob_word word;
	const char *why;
};

/*
 * The root of cgroup v2 is at /sys/fs/cgroup where `cgroup.controllers` is there. A container sees
 * a cgroup of its host there instead, which has `cgroup.type` as all but the root have
 * (Documentation/admin-guide/cgroup-v2.rst); in v1 the root alone has
 * `cpuset.memory_pressure_enabled` (cgroup-v1/cpusets.rst).
 */
int place_find(struct place *ret);

/* The CPUs that are shielded now, by either means; -ENOENT when there are none, and else the errno
 * of asking. */
int place_read_shielded(struct cpumask **ret);

/* Whether a program runs in the cgroup of the shield, or below it (v2). */
bool place_is_populated(void);

#endif
