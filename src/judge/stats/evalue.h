/* SPDX-License-Identifier: GPL-2.0-or-later */
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
#ifndef QUIESCE_JUDGE_STATS_EVALUE_H
#define QUIESCE_JUDGE_STATS_EVALUE_H

#include <stddef.h>

/* e(k, n), for k <= n; DBL_MAX instead of a larger number. */
double sign_evalue(size_t k, size_t n);
/* The smallest k whose e(k, n) is at least `wanted`; n + 1 when no k has that. */
size_t sign_evalue_least(size_t n, double wanted);

#endif
