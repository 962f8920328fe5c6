/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Statistical inference from samples: two-sample tests and a test of pairs (judge/stats/multiple.h:
 * several tests together). The two-sample tests take independent numbers (benchmark_units()),
 * sorted and finite.
 */
#ifndef QUIESCE_JUDGE_STATS_INFERENCE_H
#define QUIESCE_JUDGE_STATS_INFERENCE_H

#include <stddef.h>

/* P(Z > z) for a standard normal Z. */
double normal_upper_tail(double z);
/* P(|T| > |t|) for Student's t with df > 0 degrees of freedom, which need not be an integer. */
double student_two_sided(double t, double df);
/* The t > 0 with P(|T| <= t) = `inside`, which is above 0 and below 1. */
double student_quantile(double inside, double df);

struct welch {
	double t; /* of mean(b) - mean(a); positive when b is larger */
	double df;
	double p; /* two-sided */
};

/* Welch's t test (1947): do the means differ? The variances may differ. -ENODATA when a sample has
 * fewer than 2 values, -EDOM when neither sample varies, or their squares are too large. */
int welch_test(const double *a, size_t n_a, const double *b, size_t n_b, struct welch *ret);

/* mean(b) / mean(a) where it lies beyond the ratios `low` .. `high`, by Welch's test at 1 %; else
 * NAN. So do the means of values that scatter in different ways, where the interval is that of a
 * median. The values are in any order. */
double welch_ratio_beyond(
	const double *a, size_t n_a, const double *b, size_t n_b, double low, double high);

struct mann_whitney {
	double u; /* pairs in which b is larger, plus half of the equal pairs */
	double p; /* two-sided */
	/* The same for samples that may scatter differently (Brunner and Munzel, Biometrical
	 * Journal 42, 2000); 0 where it cannot be told. Of 10 values that scatter 10 times as much
	 * as 60 others, p is below 0.05 in 22 % where neither sample is the larger one, of 25 and
	 * 25 in 10 %, and the larger one of both p in 3.6 and 5 %. This one alone is too small for
	 * small samples. */
	double p_unequal;
};

/*
 * Mann and Whitney's U test (1947): is a value of one sample larger than a value of the other more
 * often than not? It makes no assumption about the distributions: outliers and skew do no harm. p
 * is exact where no two values are equal and n_a * n_b is at most 1000; else it is the normal
 * approximation with the corrections for ties and for continuity. The correction for continuity is
 * half of the step between two values of U, which is large where there are few different values.
 * For 12 and 12 values, each of them one of two numbers, the test finds a difference that does not
 * exist in 6.4 % with the usual 0.5, and in 2.3 % with half the step. p is 1 when all values are
 * equal. -ENODATA when a sample is empty.
 */
int mann_whitney_test(
	const double *a, size_t n_a, const double *b, size_t n_b, struct mann_whitney *ret);

#define MANN_WHITNEY_EXACT_MAX 1000
/*
 * P(U <= u) for u from 0 to n * m, malloc'd, over all orders of n and m different values. The
 * orders with a given U are counted by which sample the largest value is of: f(n, m, u) = f(n - 1,
 * m, u - m) + f(n, m - 1, u); as probabilities, so that nothing overflows. NULL when n * m is above
 * MANN_WHITNEY_EXACT_MAX.
 */
double *mann_whitney_tails(size_t n, size_t m);
/* The test of two samples that are not empty, by the tails from mann_whitney_tails(); NULL: by the
 * normal approximation. */
void mann_whitney_find(const double *a, size_t n_a, const double *b, size_t n_b,
	const double *tails, struct mann_whitney *ret);

/* The smallest p that samples of these sizes can have: all values of one sample are above all
 * values of the other. */
double mann_whitney_least_p(size_t n, size_t m);

struct signed_rank {
	double w; /* sum of the ranks of the positive differences */
	double p; /* two-sided */
};

/*
 * Wilcoxon's signed-rank test (1945) of n paired differences, in any order: is a positive
 * difference as likely as a negative one of the same size? Differences of 0 are left out. p is
 * exact for up to 60 other differences when no two have the same size, else it is the normal
 * approximation with the corrections for ties and for continuity. p is 1 when all differences are
 * 0. -ENODATA when n is 0.
 */
int signed_rank_test(const double *differences, size_t n, struct signed_rank *ret);

#endif
