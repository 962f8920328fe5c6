/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where the shield is, which CPUs it has, and how this machine can make it: by a partition of
 * cgroup v2, an exclusive cpuset of cgroup v1, or else by affinities.
 */
#ifndef QUIESCE_QUIET_CPU_SHIELD_SHIELD_H
#define QUIESCE_QUIET_CPU_SHIELD_SHIELD_H

#include <stdbool.h>

#include "base/cleanup.h"
#include "base/machine/cpumask.h"
#include "base/where/running.h"
#include "quiet/engine/knob.h"

#define SHIELD_UNIT TARGET_SLICE
#define CGROUP_ROOT "/sys/fs/cgroup"
#define SHIELD_CGROUP TARGET_CGROUP
#define SHIELD_CPUS SHIELD_CGROUP "/cpuset.cpus"
#define SHIELD_EXCLUSIVE SHIELD_CGROUP "/cpuset.cpus.exclusive"
#define SHIELD_EFFECTIVE SHIELD_CGROUP "/cpuset.cpus.effective"
#define SHIELD_PARTITION SHIELD_CGROUP "/cpuset.cpus.partition"

enum shield_kind {
	SHIELD_BY_SYSTEMD,    /* a partition of cgroup v2, which systemd manages */
	SHIELD_BY_CGROUP,     /* a partition of cgroup v2, which we make */
	SHIELD_BY_CPUSET,     /* an exclusive cpuset of cgroup v1 */
	SHIELD_BY_AFFINITIES, /* this machine has neither */
};

struct shield_way {
	enum shield_kind kind;
	const char *why; /* for SHIELD_BY_AFFINITIES: the reason, for a person */
};

/*
 * Cgroup v2 is mounted at /sys/fs/cgroup if `cgroup.controllers` exists there. In a container this
 * may be a cgroup of the host rather than the root: then it has `cgroup.type`, which only the root
 * lacks (Documentation/admin-guide/cgroup-v2.rst).
 */
int shield_find_way(struct shield_way *ret);

/* The CPUs that are shielded now, in whatever way. -ENOENT when there are
 * none; other errors of reading. */
int shield_read_cpus(struct cpumask **ret);

/* 0 if no program runs in the shield's cgroup, nor in a cgroup below it (v2 only); -EBUSY if one
 * does, or the error of reading that. */
int shield_check_empty(void);

#endif
