/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Changes of level in a series, drift, and how much neighbours are alike. Steps, where the duration
 * jumps from one level to another, are distinguished from a slow drift.
 *
 * A step is reported when all of these conditions hold:
 * - both levels last at least 5 runs (5 blocks of n / 1024 runs in a series of more than 1024), or
 *   3 runs at an end of a series of at most 1024;
 * - the midpoint between the medians of the two levels separates them better than in 99 % of all
 *   series of this length without a step, whatever the distribution of the values;
 * - the medians differ by at least 1 % of the smaller one, and by at least 2 median absolute
 *   deviations of the runs from their own level. A step that is smaller than the noise of single
 *   runs, or too small to matter, is not reported, however many runs prove it.
 *
 * A drift is reported when the values correlate with the run number by more than chance (the same
 * 99 % for both tests together) and the change along the fitted line is as large as above. Steps
 * are reported where they explain the series better than a line, and a line where it explains the
 * series better.
 */
#ifndef QUIESCE_JUDGE_STATS_LEVEL_H
#define QUIESCE_JUDGE_STATS_LEVEL_H

#include <stdbool.h>
#include <stddef.h>

#include "base/cleanup.h"

/* Shorter series are not analysed. */
#define LEVEL_MIN_VALUES 10
/* Neighbours are said to be alike if independent values are as much so with at most this
 * probability. */
#define LEVELS_ALIKE_P 0.005

struct level {
	size_t first; /* index into the values */
	size_t n;
	double median;
};

struct levels {
	struct level *items; /* in the order of the runs */
	size_t n;	     /* at least 1, which means a series without a step */

	/* The change by drift from the first run to the last, without the steps; 0 when there is no
	 * drift. */
	double drift;
	/* The values at both ends of the fitted line, when there is a drift and no step. */
	double drift_from;
	double drift_to;

	/*
	 * The lag-1 autocorrelation after levels and drift have been removed, and the probability
	 * that neighbours are as much alike when independent values are in a random order. Neither
	 * outliers nor skew affect them: up to 1024 values they are computed from ranks (Gaussian
	 * values with correlation r have ranks with correlation 6 / pi * asin(r / 2)), beyond that
	 * from the signs of the residuals (2 / pi * asin(r)). 0 and 1 with fewer than
	 * LEVEL_MIN_VALUES. tests/unit/test-level.c tests how often p is how small.
	 */
	double autocorrelation;
	double autocorrelation_p;
	size_t n_values;
};

/* values are in the order of the runs, and not changed. -EINVAL when n is 0, -EDOM when a value is
 * not finite. O(n log n); needs 8 bytes of memory per value. */
int levels_find(const double *values, size_t n, struct levels **ret);
/* The same without the autocorrelation, which can take longer than all else. */
int levels_find_alone(const double *values, size_t n, struct levels **ret);
/*
 * The same for the history of a benchmark, of different commits and days, where small steps matter
 * and a drift is a sequence of steps. A history is looked at again after each result: of n_together
 * histories that are looked at together, and in none of which there is a step, any ever has one in
 * at most 5 %, at all looks of their lives. A step is reported when the ranks of the values on its
 * sides differ by so much, however small it is, or when the midpoint separates the sides so well:
 * ranks cannot tell a level of 3 values at an end, and are not compared where more than half of the
 * values are equal. Each other level is found in at least 5 values; one of them may then be
 * assigned to the neighbouring level if it is closer to that. bench/trend compares this function
 * with Apache Otava, and counts the histories that ever have a step.
 */
int levels_find_changes(const double *values, size_t n, size_t n_together, struct levels **ret);
/* How many values it takes to find a step that is as clear as can be. */
size_t levels_changes_needed(size_t n_together);
void levels_free(struct levels *levels);
DEFINE_CLEANUP(levels, levels_free);

#endif
