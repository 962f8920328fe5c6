/* SPDX-License-Identifier: GPL-2.0-or-later */
/* All figures and findings about one benchmark by itself, computed at once. */
#ifndef QUIESCE_REPORT_ANALYSIS_H
#define QUIESCE_REPORT_ANALYSIS_H

#include <stdbool.h>
#include <stddef.h>

#include "basic/cleanup.h"
#include "report/fleet.h"
#include "report/stability.h"
#include "result/benchmark.h"
#include "stats/level.h"
#include "stats/stats.h"

struct analysis {
	double *sorted; /* all values that count, sorted */
	size_t n;
	/* Of all values. But the interval of the median is that of the runs, because values of the
	 * same run are not independent; there is none where only one run has values. */
	struct stats stats;
	size_t n_units;
	/* The median of the units: the one that the interval holds, and that benchmarks are
	 * compared by. Where runs have several values, it is another one than that of all values,
	 * and the interval may hold the one and not the other. */
	double unit_median;
	struct levels *levels; /* the levels of the units */
	/* Of several machines: what they say of such machines, as logarithms. There is no interval
	 * in `stats` then, and findings are about what happens within a sitting. n_groups is 0 for
	 * one machine, and where values have no logarithms. */
	struct nested fleet;
	struct stability *stability;
};

/* -ENODATA without values, -EDOM when a value is not finite. Takes 16 bytes for each value while it
 * works and 8 as long as it lives, and 24 more for each run if runs have several values. */
int analysis_new(const struct benchmark *benchmark, struct analysis **ret);
/* Nothing speaks against the result: what `bench-report check` calls stable. A single value is not,
 * for it tells nothing of how the next one differs. */
bool analysis_is_sound(const struct analysis *analysis);
void analysis_free(struct analysis *analysis);
DEFINE_CLEANUP(analysis, analysis_free);

#endif
