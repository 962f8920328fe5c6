/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How the machines of two benchmarks differ, by what the results say of them and of their cores. */
#ifndef QUIESCE_REPORT_DIFFERENCES_H
#define QUIESCE_REPORT_DIFFERENCES_H

#include "report/comparison.h"
#include "result/benchmark.h"

/* Sets `differences` to the settings that are not the same in both. -ENOMEM. */
int differences_find(
	struct comparison *c, const struct benchmark *old, const struct benchmark *new);
/* After it, adds what no settings tell: the clock that the core had, whatever governor and limits
 * say, and how often somebody else used it. Sets `had_core`. -ENOMEM. */
int differences_find_of_cores(struct comparison *c);

#endif
