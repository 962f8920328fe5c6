/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a cgroup may use, and with it each process in it: the limits that a process takes along onto
 * the CPUs of benchmark.target.
 */
#ifndef QUIESCE_BENCHMARK_JOIN_LIMITS_H
#define QUIESCE_BENCHMARK_JOIN_LIMITS_H

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

/* The property of units that sets and tells it (systemd.resource-control(5)): "TasksMax". */
const char *limits_property(enum limit limit);
/* Makes a limit narrower, and never wider. */
void limits_narrow(struct limits *limits, enum limit limit, uint64_t value);

/*
 * Those that hold in a cgroup of cgroup v2: the least of its own and of those of all cgroups above
 * (Documentation/admin-guide/cgroup-v2.rst). root is where the hierarchy is mounted, path as in
 * /proc/PID/cgroup. A file that is not there, for want of its controller, limits nothing.
 * -ENOENT when there is no such cgroup, -EINVAL for a file that makes no sense; -ENAMETOOLONG.
 */
int limits_read(const char *root, const char *path, struct limits *ret);

#endif
