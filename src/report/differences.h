/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How the machines of two benchmarks, and the ways in which these were measured, differ: by what
 * the results say of the machines, of the options and the tool, and of the cores. */
#ifndef QUIESCE_REPORT_DIFFERENCES_H
#define QUIESCE_REPORT_DIFFERENCES_H

#include <stdbool.h>

#include "report/comparison.h"
#include "result/benchmark.h"

/* Adds to `differences` each setting that differs, unless it is listed already: for several pairs
 * of results each setting is listed once. -ENOMEM. */
int differences_find(
	struct comparison *c, const struct benchmark *old, const struct benchmark *new);
/* After differences_find(), adds in the same way differences that the settings do not show: the
 * real clock of the core, and how often somebody else used the core. *ret_had_core: nearly all runs
 * of both had the same whole core. -ENOMEM. */
int differences_find_of_cores(struct comparison *c, const struct benchmark *old,
	const struct benchmark *new, bool *ret_had_core);

/* The median number of minor page faults of the runs that count; NAN where it is not known for all.
 * -ENOMEM. */
int differences_find_faults(const struct benchmark *benchmark, double *ret);

#endif
