/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where cgroups are mounted: /proc/PID/mountinfo (proc(5)). */
#ifndef QUIESCE_BASE_MACHINE_MOUNTINFO_H
#define QUIESCE_BASE_MACHINE_MOUNTINFO_H

#include <stdbool.h>

enum {
	/* What is read of the file at most. */
	MOUNTINFO_MAX = 16 * 1024 * 1024,
};

/* A mount of a hierarchy of cgroups. Both texts are parts of the line. */
struct mountinfo_cgroup {
	char *point;
	char *root; /* the cgroup that is seen at `point`: "/" for the root of the hierarchy */
};

/* Parses a line of mountinfo, which is modified; false when it is no mount of the hierarchy of
 * cgroup v1 that has this controller, or, for NULL, of cgroup v2. */
bool mountinfo_parse_cgroup(char *line, const char *controller, struct mountinfo_cgroup *ret);

#endif
