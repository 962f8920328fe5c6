/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Statistical inference from samples: two-sample tests, the bootstrap, and the correction for
 * multiple tests. Every function takes independent numbers (benchmark_units()), sorted and finite.
 */
#ifndef QUIESCE_STATS_INFERENCE_H
#define QUIESCE_STATS_INFERENCE_H

#include <stddef.h>

/* P(Z > z) for a standard normal Z. */
double normal_upper_tail(double z);
/* P(|T| > |t|) for Student's t with df > 0 degrees of freedom, which need not be an integer. */
double student_two_sided(double t, double df);

struct welch {
	double t; /* of mean(b) - mean(a); positive when b is larger */
	double df;
	double p; /* two-sided */
};

/* Welch's t test (1947): do the means differ? The variances may differ. -ENODATA when a sample has
 * fewer than 2 values, -EDOM when neither sample varies. */
int welch_test(const double *a, size_t n_a, const double *b, size_t n_b, struct welch *ret);

struct mann_whitney {
	double u; /* pairs in which b is larger, plus half of the equal pairs */
	double p; /* two-sided */
};

/*
 * Mann and Whitney's U test (1947): is a value of one sample larger than a value of the other more
 * often than not? It makes no assumption about the distributions: outliers and skew do no harm. p
 * is exact where no two values are equal and n_a * n_b is at most 1000; else it is the normal
 * approximation with the corrections for ties and for continuity. p is 1 when all values are equal.
 * -ENODATA when a sample is empty.
 */
int mann_whitney_test(
	const double *a, size_t n_a, const double *b, size_t n_b, struct mann_whitney *ret);

struct signed_rank {
	double w; /* sum of the ranks of the positive differences */
	double p; /* two-sided */
};

/*
 * Wilcoxon's signed-rank test (1945) of n paired differences, in any order: is a positive
 * difference as likely as a negative one of the same size? Differences of 0 are left out. p is
 * exact for up to 60 other differences when no two have the same size, else it is the normal
 * approximation with the corrections for ties and for continuity. p is 1 when all differences are
 * 0. -ENODATA when n is 0, -ENOMEM.
 */
int signed_rank_test(const double *differences, size_t n, struct signed_rank *ret);

/* The least number of values for which the interval below has 95 % coverage. */
#define RATIO_LEAST_VALUES 5

/*
 * The ratio median(b) / median(a) with its 95 % bootstrap interval.
 *
 * The median of a resample of n values is the quantile of the sample at an order statistic of n
 * uniform numbers, which is distributed as Beta((n + 1) / 2, (n + 1) / 2). Drawing from this
 * distribution instead of drawing n values gives the same result at a cost that does not grow with
 * n. The quantile is interpolated between values, which removes the steps of small samples (Efron
 * and Tibshirani, An Introduction to the Bootstrap, 16.5: smoothed bootstrap). The interval is from
 * the 2.5th to the 97.5th percentile of the ratios: percentiles are correct for a median on any
 * scale, while the acceleration of BCa would come from a jackknife, which fails for a median (the
 * same book, 10.6).
 *
 * Simulated with 2000 pairs of samples of each distribution (normal, log-normal, exponential,
 * barely above a floor, and heavily tied), this interval contained the true ratio in 95.3 to 98.3 %
 * with 5 to 15 values per sample, in 96.2 to 98.8 % with 25, in 95.1 to 98.2 % with 10 and 40. With
 * 4 values it is 92.6 %: -ENODATA for fewer than RATIO_LEAST_VALUES. -EDOM unless all values are
 * above 0.
 *
 * The random numbers are the same in every call, so the result is reproducible.
 */
struct ratio {
	double ratio;
	double low;
	double high;
};
int ratio_of_medians(const double *a, size_t n_a, const double *b, size_t n_b, struct ratio *ret);

/* The median of n sorted ratios of pairs, with its interval computed in the same way: a disturbance
 * that affects both values of a pair alike cancels out. */
int ratio_of_pairs(const double *sorted, size_t n, struct ratio *ret);

/*
 * Benjamini and Hochberg (1995), in place: among the tests whose adjusted p is at most 0.05, on
 * average at most 5 % report a difference that does not exist, however many tests there are. An
 * entry of NAN is not a test and stays NAN. -ENOMEM.
 */
int adjust_false_discoveries(double *p, size_t n);

#endif
