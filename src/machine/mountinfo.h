/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where cgroups are mounted: /proc/PID/mountinfo (proc(5)). */
#ifndef QUIESCE_MACHINE_MOUNTINFO_H
#define QUIESCE_MACHINE_MOUNTINFO_H

#include <stdbool.h>

/* A mount of a hierarchy of cgroups. Both texts are parts of the line. */
struct mountinfo_cgroup {
	char *point;
	char *root; /* the cgroup that is seen at `point`: "/" for the root of the hierarchy */
};

/* Parses a line of mountinfo, which is modified; false when it is no mount of the hierarchy of
 * cgroup v1 that has this controller, or, for NULL, of cgroup v2. */
bool mountinfo_parse_cgroup(char *line, const char *controller, struct mountinfo_cgroup *ret);

/* A mount of a cpuset hierarchy of cgroup v1. */
struct mountinfo_cpuset {
	char *point;  /* points into the line */
	bool is_root; /* the mount shows the root of the hierarchy, whose files nobody can write */
};

/* Parses a line of mountinfo, which is modified; false when it is not such a mount. */
bool mountinfo_parse_cpuset(char *line, struct mountinfo_cpuset *ret);

#endif
