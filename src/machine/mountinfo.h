/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where cpusets are mounted: /proc/PID/mountinfo (proc(5)). */
#ifndef QUIESCE_MACHINE_MOUNTINFO_H
#define QUIESCE_MACHINE_MOUNTINFO_H

#include <stdbool.h>

/* A mount of a cpuset hierarchy of cgroup v1. */
struct mountinfo_cpuset {
	char *point;  /* points into the line */
	bool is_root; /* the mount shows the root of the hierarchy, whose files nobody can write */
};

/* Parses a line of mountinfo, which is modified; false when it is not such a mount. */
bool mountinfo_parse_cpuset(char *line, struct mountinfo_cpuset *ret);

#endif
