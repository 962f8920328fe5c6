/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Descriptive statistics of an array of doubles. A figure that pyperf has too is equal to pyperf's
 * to the printed digit (pyperf 2.10: _utils.py, _cli.py, _bench.py).
 */
#ifndef QUIESCE_JUDGE_STATS_STATS_H
#define QUIESCE_JUDGE_STATS_STATS_H

#include <stdbool.h>
#include <stddef.h>

struct stats {
	size_t n;
	double min;
	double max;
	double sum; /* infinite on overflow; the mean does not overflow */
	double mean;
	double stdev;  /* of the sample: divided by n - 1; NAN for a single value */
	double median; /* the mean of the two middle values for an even n */
	double mad;    /* median of |value - median|, not scaled to a sigma */
	double spread; /* (max - min) / |mean|; NAN when the mean is 0 */

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

	/* The 95 % confidence interval of the median, by order statistics: for any distribution of
	 * independent values it contains the median with at least this probability. Fewer than 6
	 * values have no interval, because even min..max contains the median in only 93.75 % of all
	 * cases. */
	bool has_interval;
	double interval_low;
	double interval_high;
};

/* Sorts values in place, so that no copy is needed, and computes everything in O(n log n). -EINVAL
 * when n is 0, -EDOM when a value is not finite: then nothing is sorted. */
int stats_compute(double *values, size_t n, struct stats *ret);

/* Half the width of the interval relative to the median: 0.01 is "1 %". NAN without an interval or
 * with a median of 0. */
double stats_median_error(const struct stats *stats);

/* Sorts in place, ascending, O(n log n) for any input, no allocation. Values must not be NAN. */
void stats_sort(double *values, size_t n);
/* How many of n sorted values are below `value`, or with `equal`, not above it. */
size_t stats_count_below(const double *sorted, size_t n, double value, bool equal);
/* The largest number of which both are multiples, for numbers with few digits: 0.5 for 3.5 and 1, a
 * for a and 0. */
double stats_common_divisor(double a, double b);
/* The step in which a coarse clock seems to have counted these values of two samples, each sorted:
 * the least distance of two of them, where all are multiples of it, and each is there four times in
 * the mean. 0 where they do not look like that. */
double stats_find_step(const double *a, size_t n_a, const double *b, size_t n_b);
/* The percentile of n >= 1 sorted values; p is 0..1. */
double stats_percentile(const double *sorted, size_t n, double p);
double stats_median(const double *sorted, size_t n);
/* The mean of n >= 1 values. */
double stats_mean(const double *values, size_t n);
/* The median of n >= 1 unsorted values, which are not changed; `scratch` has room for n values. */
double stats_find_median(const double *values, size_t n, double *scratch);
/* The maximum of n >= 1 values; from 20 values on it is the 95th percentile, so that one lucky
 * value cannot set it. Sorts the values. */
double stats_best(double *values, size_t n);
/* Median of |value - center| of n >= 1 sorted values, O(n), no allocation. */
double stats_deviation(const double *sorted, size_t n, double center);

#endif
