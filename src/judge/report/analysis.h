/* SPDX-License-Identifier: GPL-2.0-or-later */
/* All figures and concerns about one benchmark by itself, computed at once. */
#ifndef QUIESCE_JUDGE_REPORT_ANALYSIS_H
#define QUIESCE_JUDGE_REPORT_ANALYSIS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/cleanup.h"
#include "judge/report/fleet.h"
#include "judge/report/stability.h"
#include "judge/result/benchmark.h"
#include "judge/stats/level.h"
#include "judge/stats/stats.h"

struct analysis {
	double *sorted; /* all values that count, sorted */
	size_t n;
	/* The statistics of all values. But the interval of the median is computed from the runs,
	 * because values of the same run are not independent; there is no interval where only one
	 * run has values. */
	struct stats stats;
	size_t n_units;
	/* The median of the units, which the interval holds and by which benchmarks are compared.
	 * Where runs have several values, it differs from the median of all values, which the
	 * interval need not hold. */
	double unit_median;
	struct levels *levels; /* the levels of the units */
	/* For several machines, or layouts: what they tell about such machines. Then there is no
	 * interval in `stats`, and concerns are about changes within a sitting. Its level is
	 * FLEET_NONE for one machine, and where values have no logarithms. */
	struct fleet_estimate fleet;
	struct stability *stability;
};

/* -ENODATA without values, -EDOM when a value is not finite. Takes 16 bytes for each value while it
 * works and 8 as long as it lives, and 24 more for each run if runs have several values. */
int analysis_new(const struct benchmark *benchmark, struct analysis **ret);
/* Nothing speaks against the result: what `bench-report check` calls stable. A single value is not
 * stable, because it does not tell how much the next one would differ. */
bool analysis_is_sound(const struct analysis *analysis);
void analysis_free(struct analysis *analysis);
DEFINE_CLEANUP(analysis, analysis_free);

#endif
