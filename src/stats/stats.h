/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Descriptive statistics of an array of doubles. Where pyperf computes the same figure, ours is the
 * same to the printed digit (pyperf 2.10: _utils.py, _cli.py, _bench.py).
 */
#ifndef QUIESCE_STATS_STATS_H
#define QUIESCE_STATS_STATS_H

#include <stdbool.h>
#include <stddef.h>

struct stats {
	size_t n;
	double min;
	double max;
	double sum; /* infinite where it overflows; the mean does not */
	double mean;
	double stdev;  /* of the sample: divided by n - 1; NAN for a single value */
	double median; /* mean of the two in the middle for an even n */
	double mad;    /* median of |value - median|, without a factor that makes it a sigma */
	double spread; /* (max - min) / mean; NAN when the mean is 0 */

	/* Percentiles, interpolated linearly between the neighbours of rank (n - 1) * p. */
	double p5;
	double q1;
	double q3;
	double p95;

	/* Tukey: outside q1 - 1.5 * (q3 - q1) .. q3 + 1.5 * (q3 - q1). */
	double fence_low;
	double fence_high;
	size_t n_outliers_low;
	size_t n_outliers_high;

	/* The 95 % confidence interval of the median, by order statistics: for any distribution, it
	 * holds the median with at least that probability when the values are independent. Fewer
	 * than 6 values have none, for even min..max holds it in only 93.75 % of all cases then. */
	bool has_interval;
	double interval_low;
	double interval_high;
};

/* Sorts values (that is how the figures are found without a copy) and computes everything, in
 * O(n log n). -EINVAL when n is 0, -EDOM when a value is not finite: nothing is sorted then. */
int stats_compute(double *values, size_t n, struct stats *ret);

/* Half the interval's width as a part of the median: 0.01 is "1 %". NAN without an interval or with
 * a median of 0. */
double stats_median_error(const struct stats *stats);

/* In place, ascending, O(n log n) for any input, no allocation. Values must not be NAN. */
void stats_sort(double *values, size_t n);
/* p in 0..1 of n >= 1 sorted values. */
double stats_percentile(const double *sorted, size_t n, double p);
double stats_median(const double *sorted, size_t n);
/* Median of |value - center| of n >= 1 sorted values, O(n), no allocation. */
double stats_deviation(const double *sorted, size_t n, double center);

#endif
