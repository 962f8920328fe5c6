/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From samples to what may be said of where they come from: two-sample tests, the bootstrap, and
 * how to ask many questions at once. Every function takes independent numbers (benchmark_units()),
 * sorted and finite.
 */
#ifndef QUIESCE_STATS_INFERENCE_H
#define QUIESCE_STATS_INFERENCE_H

#include <stddef.h>

/* P(Z > z) for a standard normal Z. */
double normal_upper_tail(double z);
/* P(|T| > |t|) for Student's t with df > 0 degrees of freedom, which need not be an integer. */
double student_two_sided(double t, double df);

struct welch {
	double t; /* of the mean of b less that of a; positive when b is larger */
	double df;
	double p; /* two-sided */
};

/* Welch's t test (1947): do the means differ, whatever the variances? -ENODATA when a sample has
 * fewer than 2 values, -EDOM when both do not vary at all. */
int welch_test(const double *a, size_t n_a, const double *b, size_t n_b, struct welch *ret);

struct mann_whitney {
	double u; /* pairs in which b is larger, and half of those that are equal */
	double p; /* two-sided */
};

/*
 * Mann and Whitney's U test (1947): is a value of the one larger than a value of the other more
 * often than not? Whatever the distributions: outliers and skew do no harm. p is exact where no two
 * values are equal and n_a * n_b is at most 1000; else by the normal approximation with the
 * corrections for ties and for continuity. All values equal: p is 1. -ENODATA when a sample is
 * empty.
 */
int mann_whitney_test(
	const double *a, size_t n_a, const double *b, size_t n_b, struct mann_whitney *ret);

struct signed_rank {
	double w; /* the sum of the ranks of the differences above 0 */
	double p; /* two-sided */
};

/*
 * Wilcoxon's signed-rank test (1945) of n differences in pairs, in any order: is a difference above
 * 0 as likely as the same below 0? Differences of 0 say nothing and are left out; p is exact for up
 * to 60 others when no two are of one size, else by the normal approximation with the corrections
 * for ties and for continuity. 1 when none is left. -ENODATA when n is 0, -ENOMEM.
 */
int signed_rank_test(const double *differences, size_t n, struct signed_rank *ret);

/* How many values a sample needs for the interval below to hold what it says. */
#define RATIO_LEAST_VALUES 5

/*
 * The ratio median(b) / median(a) with its 95 % bootstrap interval.
 *
 * The median of a resample of n values is an order statistic of n uniform numbers looked up in the
 * sample: Beta((n + 1) / 2, (n + 1) / 2). Drawing that instead of n values gives the same
 * distribution at a cost that does not grow with n. Between values it is interpolated, which takes
 * away the steps of small samples (Efron and Tibshirani, An Introduction to the Bootstrap, 16.5:
 * smoothed bootstrap). The interval is from the 2.5th to the 97.5th percentile of the ratios:
 * percentiles are right for a median in any scale, while the acceleration of BCa would be taken
 * from a jackknife, which fails for a median (the same book, 10.6).
 *
 * Of 2000 pairs of samples each, normal, log-normal, exponential, barely above a floor, and heavily
 * tied, this interval held the true ratio in 95.3 to 98.3 % with 5 to 15 values a sample, in 96.2
 * to 98.8 % with 25, in 95.1 to 98.2 % with 10 and 40. With 4 it is 92.6 %: -ENODATA for fewer than
 * RATIO_LEAST_VALUES. -EDOM unless all values are above 0.
 *
 * The random numbers are the same in every call: so is the result.
 */
struct ratio {
	double ratio;
	double low;
	double high;
};
int ratio_of_medians(const double *a, size_t n_a, const double *b, size_t n_b, struct ratio *ret);

/* The median of n sorted ratios of pairs, with its interval in the same way: what hits both of a
 * pair alike is in neither. */
int ratio_of_pairs(const double *sorted, size_t n, struct ratio *ret);

/*
 * Benjamini and Hochberg (1995), in place: of those questions whose adjusted p is at most 0.05, at
 * most 5 % on average are answered "there is a difference" wrongly, however many are asked. An
 * entry that is NAN is no question and stays.  -ENOMEM.
 */
int adjust_false_discoveries(double *p, size_t n);

#endif
