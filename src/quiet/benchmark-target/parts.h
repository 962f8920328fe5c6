/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the running target has achieved, a line for each part, as the setters see it now. */
#ifndef QUIESCE_QUIET_BENCHMARK_TARGET_PARTS_H
#define QUIESCE_QUIET_BENCHMARK_TARGET_PARTS_H

#include <stdbool.h>

#include "quiet/benchmark-target/setters.h"

struct part {
	char *line;    /* "shield: an isolated partition of cgroup v2" */
	char *now;     /* what of it the setter says; NULL where it is not to run */
	char *why;     /* why less is to be done than benchmark.conf asks for; NULL: it is all */
	bool complete; /* all is done that benchmark.conf asks for */
	bool kept;     /* all is as the setter sets it, but for what only the host can change */
};

/* Asks one setter by `status --brief`. Needs no root. A setter that fails has a line that says why,
 * and is not kept. */
int part_read(const struct target_setter *setter, struct part *ret);
void part_clear(struct part *part);
#define _cleanup_part_ __attribute__((cleanup(part_clear)))

/*
 * *ret: the malloc'd lines of all parts, in the order of the setters. *ret_complete: whether all
 * are complete.
 */
int parts_read(char **ret, bool *ret_complete);

#endif
