/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How the machines of two benchmarks differ, by what the results say of them and of their cores. */
#ifndef QUIESCE_REPORT_DIFFERENCES_H
#define QUIESCE_REPORT_DIFFERENCES_H

#include <stdbool.h>

#include "report/comparison.h"
#include "result/benchmark.h"

/* Adds the settings that are not the same in both to `differences`, but those that are in it: of
 * several pairs of results each setting is told once. -ENOMEM. */
int differences_find(
	struct comparison *c, const struct benchmark *old, const struct benchmark *new);
/* After it, adds in the same way what no settings tell: the clock that the core had, whatever
 * governor and limits say, and how often somebody else used it. *ret_had_core: nearly all runs of
 * both had the same whole core. -ENOMEM. */
int differences_find_of_cores(struct comparison *c, const struct benchmark *old,
	const struct benchmark *new, bool *ret_had_core);

#endif
