/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Changes of level in a series: a run of samples that jumps from one duration to another, and a
 * slow drift, told apart.
 *
 * A change is reported when all of this holds:
 * - both levels last at least 5 runs (5 blocks of n / 1024 runs in a series of more than 1024);
 * - the middle between their medians parts them better than chance does in 99 % of all series of
 *   this length without a change, whatever the distribution of their values;
 * - their medians differ by at least 1 % of the smaller one, and by at least 2 median absolute
 *   deviations of the runs from their own level. A step that is smaller than the noise of single
 *   runs or too small to matter is no finding, however many runs prove it.
 *
 * A drift is reported when the order of the values goes with the order of the runs by more than
 * chance (the same 99 % for both together) and the change along the fitted line is as large as
 * above. Steps are reported where steps explain the series better than a line, and a line where it
 * does.
 */
#ifndef QUIESCE_STATS_LEVEL_H
#define QUIESCE_STATS_LEVEL_H

#include <stdbool.h>
#include <stddef.h>

#include "basic/cleanup.h"

/* Fewer values than this answer nothing. */
#define LEVEL_MIN_VALUES 10

struct level {
	size_t first; /* index into the values */
	size_t n;
	double median;
};

struct levels {
	struct level *items; /* in the order of the runs */
	size_t n;	     /* at least 1; 1 is a series without a change */

	/* The change from the first run to the last, without the steps; 0 when there is no drift.
	 */
	double drift;
	/* Where the fitted line begins and ends, when there is a drift and no step (n == 1). */
	double drift_from;
	double drift_to;

	/*
	 * How much alike neighbours are when levels and drift are taken away: the correlation of a
	 * value with the next one, by their signs around the middle, which neither outliers nor
	 * skew move (Gaussian values of correlation r have signs of correlation 2 / pi * asin(r)).
	 * 0 with fewer than LEVEL_MIN_VALUES. likeness_z is in standard deviations of what
	 * independent values have.
	 */
	double likeness;
	double likeness_z;
	size_t n_values;
};

/* values in the order of the runs; they are not changed. -EINVAL when n is 0, -EDOM when a value is
 * not finite. O(n log n); 8 bytes a value for a moment. */
int levels_find(const double *values, size_t n, struct levels **ret);
void levels_free(struct levels *levels);
DEFINE_CLEANUP(levels, levels_free);

#endif
