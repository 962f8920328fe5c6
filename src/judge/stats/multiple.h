/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How often may a verdict be wrong when several are given together? There is one rule for each
 * question, and all programs take theirs from here.
 *
 * - Which of these benchmarks differ? Of those that are told, on average at most 5 % do not differ;
 *   where none differs, any is told in at most 5 %: adjust_false_discoveries().
 * - Which programs differ from the best one? The same, but each pair of programs counts as a test,
 *   because the best one was chosen by what is compared: count_pairs_of().
 * - Is any of them beyond a limit (a gate)? The same, one-sided, for tests at the limit: where none
 *   is beyond it, the gate fails in at most 2.5 %: level_of_discoveries(). That all are within it
 *   is said where each one is by itself, which needs no correction.
 * - Is it decided (runpinned --decide)? Of a single comparison a false claim, at any look, is made
 *   in at most 1 %. Of the claims that are made of several, on average at most 1 % are false; where
 *   none of them is true, any is made in at most 1 %: find_evalue_discoveries().
 * - Did a history change (bench-report trend)? A change in any of the histories that are looked at
 *   together, at any look of their lives, is told in at most 5 % where there is none:
 *   levels_find_changes() of judge/stats/level.h, with stricter_chi_square() for their number.
 */
#ifndef QUIESCE_JUDGE_STATS_MULTIPLE_H
#define QUIESCE_JUDGE_STATS_MULTIPLE_H

#include <stddef.h>

/* How often a difference is told where there is none; intervals hold the truth in all other cases.
 */
#define SIGNIFICANCE 0.05

/*
 * Benjamini and Hochberg (1995), in place: among the tests whose adjusted p is at most 0.05, on
 * average at most 5 % report a difference that does not exist, however many tests there are. An
 * entry of NAN is not a test and stays NAN. n_silent further tests count with p = 1.
 */
void adjust_false_discoveries(double *p, size_t n, size_t n_silent);

/* The adjusted p of one of n tests if its p were `to` instead of `from`. `sorted` holds the p of
 * all n tests, `from` among them, and no NAN. */
double adjust_changed_discovery(
	const double *sorted, size_t n, size_t n_silent, double from, double to);

/*
 * The level at which each of n tests alone tells what adjust_false_discoveries() finds among all: a
 * test is found there exactly where its p is at most this level. The intervals of the tests that
 * are found, at this level, hold the truth as often (Benjamini and Yekutieli, False discovery
 * rate-adjusted multiple confidence intervals for selected parameters, 2005). Where none is found,
 * the level of the first that could be. SIGNIFICANCE for one test.
 */
double level_of_discoveries(const double *p, size_t n);

/* The tests among which the differences of the best of n programs from the others are chosen. */
size_t count_pairs_of(size_t n);

/*
 * Wang and Ramdas, False discovery rate control with e-values (2022), for n comparisons of which
 * e[0] .. e[n - 1] are the e-values for one claim: returns the e-value from which on the claim is
 * made, which is n * 100 / k where k claims are made, and n * 100 where none is. The comparisons
 * may depend on each other in any way. Each e has to be the value at a moment that was chosen
 * without looking ahead, not the largest so far, except where that is as large as n * 100.
 */
double find_evalue_discoveries(const double *e, size_t n);
/* The largest of these: it settles a claim whatever else is found. */
double decision_evalue(size_t n);

/*
 * Evidence that may be looked at after every observation: e-values for the signs of differences.
 *
 * A bettor who owns 1 bets on each of n tosses of a coin that shows heads with a probability of at
 * most 1/2, and spreads the money over ten stakes g. When k tosses have shown heads, the bettor
 * owns on average
 *
 *	e(k, n) = 1/10 * sum over g of (1 + g)^k * (1 - g)^(n - k)
 *
 * The game is fair or worse, so by Ville's inequality (1939; Ramdas and others, Game-theoretic
 * statistics and safe anytime-valid inference, 2023) the probability that e ever reaches 100, after
 * however many tosses and looks, is at most 1 %. So an e of 100 refutes at the 1 % level that heads
 * are not the more likely side. Tosses need not be independent, as long as each one is at most fair
 * given all earlier ones. For pairs of runs, that is what a fresh random order of each pair gives,
 * whatever the machine does over time.
 */
/* e(k, n), for k <= n; DBL_MAX instead of a larger number. */
double sign_evalue(size_t k, size_t n);
/* The smallest k whose e(k, n) is at least `wanted`; n + 1 when no k has that. */
size_t sign_evalue_least(size_t n, double wanted);

/* By how much a statistic with a chi-square distribution of one degree of freedom has to be larger
 * to be reached n times more seldom. */
double stricter_chi_square(size_t n);

#endif
