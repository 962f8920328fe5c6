// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "basic/macro.h"
#include "report/analysis.h"

/* Finds the levels of the units, in their order. *ret_stats are the statistics of the units; n is 0
 * in it when each value is a unit. */
static int analyse_units(
	const struct benchmark *benchmark, struct analysis *analysis, struct stats *ret_stats)
{
	_cleanup_free_ double *units = NULL;
	int r;

	ret_stats->n = 0;
	if (!benchmark->runs || !benchmark_units_are_runs(benchmark)) {
		analysis->n_units = benchmark->n_values;
		return levels_find(benchmark->values, benchmark->n_values, &analysis->levels);
	}
	r = benchmark_units(benchmark, &units, &analysis->n_units);
	if (r >= 0)
		r = levels_find(units, analysis->n_units, &analysis->levels);
	if (r >= 0)
		r = stats_compute(units, analysis->n_units, ret_stats);
	return r;
}

static int analyse_values(const struct benchmark *benchmark, struct analysis *analysis)
{
	analysis->n = benchmark->n_values;
	analysis->sorted = reallocarray(NULL, analysis->n, sizeof(*analysis->sorted));
	if (!analysis->sorted)
		return -ENOMEM;
	memcpy(analysis->sorted, benchmark->values, analysis->n * sizeof(*analysis->sorted));
	return stats_compute(analysis->sorted, analysis->n, &analysis->stats);
}

int analysis_new(const struct benchmark *benchmark, struct analysis **ret)
{
	_cleanup_(analysis) struct analysis *analysis = NULL;
	struct stats unit_stats;
	int r;

	if (benchmark->n_values == 0)
		return -ENODATA;
	analysis = calloc(1, sizeof(*analysis));
	if (!analysis)
		return -ENOMEM;
	/* One after the other, so that their temporary memory does not add up. */
	r = analyse_units(benchmark, analysis, &unit_stats);
	if (r >= 0)
		r = analyse_values(benchmark, analysis);
	if (r < 0)
		return r;
	if (unit_stats.n > 0) {
		analysis->stats.has_interval = unit_stats.has_interval;
		analysis->stats.interval_low = unit_stats.interval_low;
		analysis->stats.interval_high = unit_stats.interval_high;
	}
	/* Of such intervals, from the values of a single run, 1.4 % held the median. */
	if (!benchmark_units_are_runs(benchmark)) {
		analysis->stats.has_interval = false;
		analysis->stats.interval_low = analysis->stats.interval_high = NAN;
	}
	r = stability_assess(benchmark, &analysis->stats, analysis->levels, &analysis->stability);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(analysis);
	return 0;
}

void analysis_free(struct analysis *analysis)
{
	if (!analysis)
		return;
	free(analysis->sorted);
	levels_free(analysis->levels);
	stability_free(analysis->stability);
	free(analysis);
}
