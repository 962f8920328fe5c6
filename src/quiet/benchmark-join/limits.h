/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The resource limits of a cgroup. They also hold for its processes when these move onto the CPUs
 * of benchmark.target.
 */
#ifndef QUIESCE_QUIET_BENCHMARK_JOIN_LIMITS_H
#define QUIESCE_QUIET_BENCHMARK_JOIN_LIMITS_H

#include <stdint.h>

enum limit {
	LIMIT_TASKS,
	LIMIT_MEMORY,
	LIMIT_MEMORY_HIGH,
	LIMIT_SWAP,
	LIMIT_CPU, /* microseconds of CPU time in each second */
	LIMIT_COUNT,
};

#define LIMIT_NONE UINT64_MAX

struct limits {
	uint64_t values[LIMIT_COUNT];
};

extern const struct limits limits_none;

/* The property of systemd units for a limit (systemd.resource-control(5)): "TasksMax". */
const char *limits_property(enum limit limit);
/* Lowers a limit to `value`; never raises it. */
void limits_narrow(struct limits *limits, enum limit limit, uint64_t value);

/*
 * Reads the limits that are in force in a cgroup v2: for each, the lowest of the cgroup and of all
 * its ancestors (Documentation/admin-guide/cgroup-v2.rst). root: the mount point of the hierarchy;
 * path: as in /proc/PID/cgroup. A limit whose file does not exist, since its controller is not
 * enabled, is LIMIT_NONE. -ENOENT when there is no such cgroup, -EINVAL for a file that makes no
 * sense; -ENAMETOOLONG.
 */
int limits_read(const char *root, const char *path, struct limits *ret);

#endif
