/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where cpusets are mounted: /proc/PID/mountinfo (proc(5)). */
#ifndef QUIESCE_MACHINE_MOUNTINFO_H
#define QUIESCE_MACHINE_MOUNTINFO_H

#include <stdbool.h>

/* A mounted hierarchy of cpusets of cgroup v1. */
struct mountinfo_cpuset {
	char *point; /* in the line */
	bool whole;  /* its directory is the root of the hierarchy, which nobody can write */
};

/* A line, which is cut up; false when it is no such mount. */
bool mountinfo_parse_cpuset(char *line, struct mountinfo_cpuset *ret);

#endif
