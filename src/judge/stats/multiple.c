// SPDX-License-Identifier: GPL-2.0-or-later
#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/macro.h"
#include "base/xalloc.h"
#include "judge/stats/multiple.h"
#include "judge/stats/stats.h"

/* The share of false ones among the claims of comparisons that are decided together. */
#define DECISION_ERROR 0.01

void adjust_false_discoveries(double *p, size_t n, size_t n_silent)
{
	_cleanup_free_ double *sorted = NULL, *adjusted = NULL;
	size_t n_asked = 0, n_all;
	double least = 1;

	if (n == 0)
		return;
	sorted = xptr(reallocarray(NULL, n, sizeof(*sorted)));
	adjusted = xptr(reallocarray(NULL, n, sizeof(*adjusted)));
	for (size_t i = 0; i < n; i++)
		if (!isnan(p[i]))
			sorted[n_asked++] = p[i];
	stats_sort(sorted, n_asked);
	n_all = n_asked + n_silent;
	/* The minimum of p * n / rank over this rank and all higher ranks; for the highest rank it
	 * is at most 1. */
	for (size_t i = n_asked; i-- > 0;) {
		least = MIN(least, sorted[i] * (double)n_all / (double)(i + 1));
		adjusted[i] = least;
	}
	for (size_t i = 0; i < n; i++)
		if (!isnan(p[i]))
			p[i] = adjusted[stats_count_below(sorted, n_asked, p[i], false)];
}

double adjust_changed_discovery(
	const double *sorted, size_t n, size_t n_silent, double from, double to)
{
	size_t gone = stats_count_below(sorted, n, from, false), below = 0;
	double adjusted = 1, n_all = (double)(n + n_silent);

	for (size_t i = 0; i < n; i++) {
		/* The rank after `from` is removed and the smaller `to` inserted. */
		size_t rank = i - (gone < i) + 2;

		if (i == gone)
			continue;
		if (sorted[i] < to)
			below++;
		else
			adjusted = MIN(adjusted, sorted[i] * n_all / (double)rank);
	}
	return MIN(adjusted, to * n_all / (double)(below + 1));
}

double level_of_discoveries(const double *p, size_t n)
{
	for (size_t n_found = n; n_found > 1; n_found--) {
		double level = SIGNIFICANCE * (double)n_found / (double)n;
		size_t n_below = 0;

		for (size_t i = 0; i < n; i++)
			n_below += p[i] <= level;
		if (n_below >= n_found)
			return level;
	}
	return SIGNIFICANCE / (double)MAX(n, (size_t)1);
}

size_t count_pairs_of(size_t n)
{
	return n * (n - 1) / 2;
}

double decision_evalue(size_t n)
{
	return (double)n / DECISION_ERROR;
}

double find_evalue_discoveries(const double *e, size_t n)
{
	for (size_t n_found = n; n_found > 1; n_found--) {
		double wanted = decision_evalue(n) / (double)n_found;
		size_t n_enough = 0;

		for (size_t i = 0; i < n; i++)
			n_enough += e[i] >= wanted;
		if (n_enough >= n_found)
			return wanted;
	}
	return decision_evalue(n);
}

/* Small stakes win against a coin that is nearly fair, in the long run; large ones win quickly
 * against a coin that nearly always shows heads. */
static const double stakes[] = { .02, .05, .1, .17, .27, .4, .55, .7, .85, .97 };

double sign_evalue(size_t k, size_t n)
{
	const size_t n_stakes = ARRAY_SIZE(stakes);
	double sum = 0;

	for (size_t i = 0; i < n_stakes; i++)
		sum += exp((double)k * log1p(stakes[i]) + (double)(n - k) * log1p(-stakes[i]));
	return MIN(sum / (double)n_stakes, DBL_MAX);
}

size_t sign_evalue_least(size_t n, double wanted)
{
	size_t low = 0, high = n + 1;

	/* e(k, n) grows with k, because each of its terms does. */
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (sign_evalue(middle, n) >= wanted)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

double stricter_chi_square(size_t n)
{
	/* Its upper tail falls by more than exp(-x / 2). */
	return 2 * log((double)MAX(n, (size_t)1));
}
