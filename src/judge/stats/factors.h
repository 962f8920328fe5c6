/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which of several factors moves a number, and how much of its variance is each one's. The
 * factors were drawn at random for each number, independently of one another and of all else,
 * so whatever else happened meanwhile, such as a drift, was there for all levels alike (Fisher,
 * The Design of Experiments, 1935; of layouts of programs: Curtsinger and Berger, Stabilizer,
 * ASPLOS 2013).
 *
 * A factor has some levels, which come again and again. What cannot be held at a level, but
 * only be switched off, such as the random draw of addresses, divides the numbers into two
 * halves: drawn and held. There it counts in two ways: the means of the halves may differ (the
 * switch), and the numbers of the half that is drawn may vary by more (the draw).
 *
 * The model. In each half, a number is a mean, plus an effect of the level of each factor, plus
 * a rest; the effects are fitted by least squares, separately in each half, because a factor
 * may act only where addresses are held (the size of the environment moves the stack, which
 * otherwise lies at a place that is drawn) or only where they are not. The parts of the
 * variance are
 *
 *	factor	the mean over all numbers of its squared effects, less what the rest alone would
 *		give them: (levels - 1) times the variance of the rest, per number of the half
 *	switch	the squared difference of the two means, times both proportions, less the same
 *	draw	the variance of the rest in the drawn half less that in the other one, times the
 *		proportion of the drawn half
 *	rest	what is left
 *
 * which are the moment estimators of variance components (Searle, Casella, McCulloch, Variance
 * Components, 1992, chapters 2 and 4; as parts of all variance: omega squared, Hays 1963). They
 * are about the levels that were drawn: of eight hash seeds the share is that of these eight.
 * What several factors do only together is in the rest. Where it is in the held half only, the
 * draw appears to be smaller than it is.
 *
 * Of 95 % of the numbers all count as they are. One that is beyond them by more than they reach
 * from the median counts as if it stood there (winsorised: Tukey, The Future of Data Analysis,
 * 1962): a single run that was disturbed for half a second would otherwise be most of the
 * variance.
 *
 * The tests, one for each factor, the switch and the draw, exchange the levels of the factor
 * between the numbers of a half, and ask how often its effects become as large by that. The
 * effects of the other factors are removed before, by a fit without this one: that fit does not
 * depend on the levels that are exchanged, so the test is exact for any distribution (Freedman
 * and Lane 1983, for data that were only observed; here the levels were really drawn like
 * that). For the switch the statistic is Welch's t, so that halves that vary differently are
 * not taken for halves with different means (Janssen 1997; Chung and Romano, Exact and
 * asymptotically robust permutation tests, Ann. Statist. 41, 2013). For the draw it is that of
 * the distances of the rest from its median (Brown and Forsythe, Robust tests for the equality
 * of variances, 1974), which is not exact, but right for skewed numbers and for those with
 * tails as well. Holm's method (1979) corrects for the number of tests: where nothing moves the
 * number, any row is found in at most 5 %.
 *
 * The intervals hold a share in about 95 %. They are those of a bootstrap of levels and rest,
 * around effects that are reduced until their variance is the estimated one (Carpenter,
 * Goldstein, Rasbash, A novel bootstrap procedure for assessing the relationship between class
 * size and achievement, J. R. Stat. Soc. C 52, 2003): a bootstrap of the numbers themselves
 * would count the noise of the effects twice. bench/why tells how often all of this is right.
 */
#ifndef QUIESCE_JUDGE_STATS_FACTORS_H
#define QUIESCE_JUDGE_STATS_FACTORS_H

#include <stdbool.h>
#include <stddef.h>

#define FACTORS_MAX 24
#define FACTOR_LEVELS_MAX 16

struct factor {
	const unsigned *levels; /* of each number: below n_levels */
	size_t n_levels;	/* from 1 to FACTOR_LEVELS_MAX */
};

struct factors_input {
	const double *values; /* finite; logarithms, where an effect is a ratio */
	size_t n;
	const struct factor *factors;
	size_t n_factors;  /* at most FACTORS_MAX */
	const bool *drawn; /* of each number: in which half it is; NULL: there is but one half */
};

/* Where an effect shows. */
enum factor_where {
	FACTOR_EVERYWHERE,
	FACTOR_WHERE_HELD, /* in this half, and not in the other one */
	FACTOR_WHERE_DRAWN,
};

struct factor_effect {
	double share; /* of the variance of the numbers, 0 to 1 */
	double low;   /* the 95 % interval */
	double high;
	double p;   /* corrected for the number of tests */
	bool found; /* p is at most 0.05 */
	/* Of a factor: the levels with the smallest and the largest mean, and by how much they
	 * differ, reduced by what chance gives the extremes of several means. Of the switch, the
	 * drawn half less the other one, which may be negative. Of the draw, its standard
	 * deviation.
	 */
	enum factor_where where;
	size_t lowest;
	size_t highest;
	double difference;
};

struct factors {
	struct factor_effect effects[FACTORS_MAX];
	bool has_halves;	   /* the next two are known */
	struct factor_effect held; /* of the switch */
	struct factor_effect draw;
	struct factor_effect rest; /* its share and interval */
	double deviation;	   /* the standard deviation of the numbers, winsorised */
};

/* How many numbers it takes at least; with fewer, factors_compute() returns -ENODATA. Some more are
 * needed where the levels are not spread evenly. */
size_t factors_least(const struct factor *factors, size_t n_factors, bool has_halves);
/* The same numbers always give the same result. -ENODATA: too few. */
int factors_compute(const struct factors_input *input, struct factors *ret);

#endif
