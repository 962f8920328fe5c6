// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "base/xalloc.h"
#include "judge/report/analysis.h"

/* Finds the levels of the units, in their order. *ret_stats are the statistics of the units; their
 * n is 0 when each value is a unit. */
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
	analysis->sorted =
		xptr((double *)reallocarray(NULL, analysis->n, sizeof(*analysis->sorted)));
	memcpy(analysis->sorted, benchmark->values, analysis->n * sizeof(*analysis->sorted));
	return stats_compute(analysis->sorted, analysis->n, &analysis->stats);
}

/* Computes the figures of all values after the values of each run were multiplied as the median of
 * the run was, from `units` to `levelled`. */
static int analyse_levelled(const struct benchmark *benchmark, const double *units,
	const double *levelled, size_t n, struct stats *ret)
{
	_cleanup_free_ double *values =
		xptr(reallocarray(NULL, benchmark->n_values, sizeof(*values)));
	size_t at = 0;

	memcpy(values, benchmark->values, benchmark->n_values * sizeof(*values));
	for (size_t run = 0; run < benchmark->series->n_samples && at < n; run++) {
		size_t first, n_values;
		double factor;

		benchmark_run_values(benchmark, run, &first, &n_values);
		if (n_values == 0)
			continue;
		factor = levelled[at] / units[at];
		at++;
		for (size_t k = first; isfinite(factor) && k < first + n_values; k++)
			values[k] *= factor;
	}
	return stats_compute(values, benchmark->n_values, ret);
}

/* Computes what several machines tell together, and the levels of the runs and the figures of the
 * values without the steps from sitting to sitting. *ret_within is NULL for one machine, and
 * *ret_stats is untouched. */
static int analyse_fleet(const struct benchmark *benchmark, struct analysis *analysis,
	struct levels **ret_within, struct stats *ret_stats)
{
	_cleanup_(fleet) struct fleet *fleet = NULL;
	_cleanup_free_ double *units = NULL, *levelled = NULL;
	enum fleet_level level = fleet_find_level(&benchmark, 1);
	size_t n;
	int r;

	*ret_within = NULL;
	if (level == FLEET_NONE)
		return 0;
	r = fleet_new(&benchmark, 1, level, &fleet);
	if (r >= 0)
		r = fleet_estimate(fleet, &analysis->fleet);
	if (r < 0)
		return 0;
	r = benchmark_units(benchmark, &units, &n);
	if (r < 0)
		return r;
	levelled = xptr(reallocarray(NULL, n, sizeof(*levelled)));
	memcpy(levelled, units, n * sizeof(*levelled));
	fleet_level_units(benchmark, levelled, n);
	r = analyse_levelled(benchmark, units, levelled, n, ret_stats);
	return r < 0 ? r : levels_find(levelled, n, ret_within);
}

int analysis_new(const struct benchmark *benchmark, struct analysis **ret)
{
	_cleanup_(analysis) struct analysis *analysis = NULL;
	_cleanup_(levels) struct levels *within = NULL;
	struct stats unit_stats, within_stats;
	int r;

	if (benchmark->n_values == 0)
		return -ENODATA;
	analysis = xptr(calloc(1, sizeof(*analysis)));
	/* One after the other, so that their temporary memory does not add up. */
	r = analyse_units(benchmark, analysis, &unit_stats);
	if (r >= 0)
		r = analyse_values(benchmark, analysis);
	if (r < 0)
		return r;
	analysis->unit_median = analysis->stats.median;
	if (unit_stats.n > 0) {
		analysis->unit_median = unit_stats.median;
		analysis->stats.has_interval = unit_stats.has_interval;
		analysis->stats.interval_low = unit_stats.interval_low;
		analysis->stats.interval_high = unit_stats.interval_high;
	}
	r = analyse_fleet(benchmark, analysis, &within, &within_stats);
	if (r < 0)
		return r;
	/* Only 1.4 % of the intervals from the values of a single run held the median. Intervals
	 * from the pooled runs of several machines are as wrong. */
	if (!benchmark_units_are_runs(benchmark) || fleet_is_needed(&benchmark, 1)) {
		analysis->stats.has_interval = false;
		analysis->stats.interval_low = analysis->stats.interval_high = NAN;
	}
	r = stability_assess(benchmark, within ? &within_stats : &analysis->stats,
		within ? within : analysis->levels, &analysis->stability);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(analysis);
	return 0;
}

bool analysis_is_sound(const struct analysis *analysis)
{
	return analysis->n > 1 && analysis->stability->stable &&
		!analysis->stability->mostly_disturbed;
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
