// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "base/xalloc.h"
#include "judge/stats/level.h"
#include "judge/stats/stats.h"
#include "judge/stats/steady.h"

enum {
	STEPS = 8,     /* along a drift: so many to the end of the values */
	FIRST_MAX = 5, /* so many values can be too few for a level */
};

/* What makes a level, as in level.c. */
static const double least_relative = 0.01;
static const double least_deviations = 2;
/* So much of a drift that does not go on may still be seen in what comes behind it. */
static const double drift_part = 0.5;
/* How often chance may look like first values that are larger, or smaller, than all others. */
static const double chance = 0.01;

/* What has been found so far. */
struct search {
	const double *values;
	size_t n;
	double *scratch;      /* n: for sorting */
	double slope;	      /* a value, of the drift that was found last; 0: there was none */
	struct levels *whole; /* those of all values, which are looked at first */
};

static double find_median(const struct search *s, size_t first, size_t end)
{
	return stats_find_median(s->values + first, end - first, s->scratch);
}

/* Whether the drift that was found in front of `first` goes on behind it, where it is too small to
 * be one by itself. */
static bool is_still_drifting(const struct search *s, size_t first)
{
	size_t middle = (first + s->n) / 2;
	double expected = s->slope * (double)(s->n - first) / 2;
	double change = find_median(s, middle, s->n) - find_median(s, first, middle);

	return expected != 0 && change / expected > drift_part;
}

/* Looks at the values from `first` on. *ret_next: where the next look begins; `first` itself where
 * they are settled. */
static int look(struct search *s, size_t first, size_t *ret_next)
{
	_cleanup_(levels) struct levels *levels = NULL;
	size_t n = s->n - first;
	int r = levels_find_alone(s->values + first, n, &levels);

	if (r < 0)
		return r;
	if (levels->n > 1) {
		*ret_next = first + levels->items[levels->n - 1].first;
	} else {
		if (levels->drift != 0)
			s->slope = levels->drift / (double)(n - 1);
		*ret_next = levels->drift != 0 || is_still_drifting(s, first)
			? first + (n + STEPS - 1) / STEPS
			: first;
	}
	if (first == 0)
		s->whole = TAKE_PTR(levels);
	return 0;
}

/* The first place behind `unsettled`, up to `settled`, from which on the values are settled. */
static int narrow(struct search *s, size_t unsettled, size_t settled, size_t *ret)
{
	while (settled - unsettled > 1) {
		size_t middle = unsettled + (settled - unsettled) / 2, next;
		int r = look(s, middle, &next);

		if (r < 0)
			return r;
		if (next == middle)
			settled = middle;
		else
			unsettled = middle;
	}
	*ret = settled;
	return 0;
}

static int find_first(struct search *s, size_t *ret)
{
	size_t least = MAX((size_t)STEADY_MIN_LEVEL, (s->n + 3) / 4);
	size_t first = 0, before = 0, next = 0;

	while (s->n - first >= least) {
		int r = look(s, first, &next);

		if (r < 0)
			return r;
		if (next == first) {
			*ret = first;
			/* Along a drift, the steps were wide. */
			return s->slope != 0 ? narrow(s, before, first, ret) : 0;
		}
		before = first;
		first = next;
	}
	*ret = s->n;
	return 0;
}

/* Whether some level before `first` is below the one that begins there. */
static enum steady_kind find_kind(const struct search *s, size_t first)
{
	const struct levels *levels = s->whole;
	double level = find_median(s, first, s->n);

	if (levels->n == 1)
		return levels->drift > 0 ? STEADY_RISES : STEADY_FALLS;
	for (size_t i = 0; i + 1 < levels->n && levels->items[i].first < first; i++)
		if (levels->items[i].median < level - least_relative * fabs(level))
			return STEADY_RISES;
	return STEADY_FALLS;
}

int steady_find(const double *values, size_t n, struct steady *ret)
{
	struct search s = { .values = values, .n = n };
	size_t first = 0;
	int r;

	if (n < STEADY_MIN_VALUES)
		return -ENODATA;
	s.scratch = xptr(reallocarray(NULL, n, sizeof(*s.scratch)));
	r = find_first(&s, &first);
	if (r == 0)
		*ret = (struct steady){
			.kind = first == 0   ? STEADY_FLAT
				: first == n ? STEADY_NONE
					     : find_kind(&s, first),
			.first = first,
		};
	levels_free(s.whole);
	free(s.scratch);
	return r;
}

/* 1 where the value at `at` is above all behind it, -1 where it is below all, by as much as makes a
 * level; else 0. */
static int compare_rest(const struct steady_process *p, size_t at, double *scratch)
{
	const double *rest = p->values + at + 1;
	size_t n = p->n - at - 1;
	double value = p->values[at], median, least;
	int sign;

	memcpy(scratch, rest, n * sizeof(*scratch));
	stats_sort(scratch, n);
	median = stats_median(scratch, n);
	sign = value > scratch[n - 1] ? 1 : value < scratch[0] ? -1 : 0;
	least = MAX(least_relative * fabs(median),
		least_deviations * stats_deviation(scratch, n, median));
	return sign * (value - median) >= least ? sign : 0;
}

/* The probability of k or more of n, each with probability p. */
static double binomial_upper_tail(size_t k, size_t n, double p)
{
	double sum = 0;

	for (size_t i = k; i <= n; i++)
		sum += exp(lgamma((double)n + 1) - lgamma((double)i + 1) -
			lgamma((double)(n - i) + 1) + (double)i * log(p) +
			(double)(n - i) * log1p(-p));
	return sum;
}

/* Compares the values at `at`. Returns which way they differ together; 0 where they do not. */
static int compare_at(
	const struct steady_process *processes, size_t n, size_t at, int *signs, double *scratch)
{
	size_t n_looked = 0, n_above = 0, n_below = 0, shortest = SIZE_MAX;

	for (size_t i = 0; i < n; i++) {
		const struct steady_process *p = &processes[i];

		signs[i] = 0;
		if (p->steady.kind == STEADY_NONE || p->n < STEADY_MIN_VALUES)
			continue;
		n_looked++;
		shortest = MIN(shortest, p->n - at);
		/* What is before the level for other reasons counts as well. */
		if (p->steady.first > at)
			signs[i] = p->steady.kind == STEADY_RISES ? -1 : 1;
		else
			signs[i] = compare_rest(p, at, scratch);
		n_above += signs[i] > 0;
		n_below += signs[i] < 0;
	}
	if (n_looked == 0)
		return 0;
	if (binomial_upper_tail(MAX(n_above, n_below), n_looked, 1 / (double)shortest) >
		chance / 2 / FIRST_MAX)
		return 0;
	return n_above > n_below ? 1 : -1;
}

void steady_compare_first(struct steady_process *processes, size_t n)
{
	_cleanup_free_ double *scratch = NULL;
	_cleanup_free_ int *signs = xptr(calloc(MAX(n, (size_t)1), sizeof(*signs)));
	size_t longest = 1;

	for (size_t i = 0; i < n; i++)
		longest = MAX(longest, processes[i].n);
	scratch = xptr(reallocarray(NULL, longest, sizeof(*scratch)));
	for (size_t at = FIRST_MAX; at-- > 0;) {
		int sign = compare_at(processes, n, at, signs, scratch);

		for (size_t i = 0; sign != 0 && i < n; i++) {
			struct steady *steady = &processes[i].steady;

			if (signs[i] != sign || steady->first > at)
				continue;
			steady->first = at + 1;
			steady->kind = sign > 0 ? STEADY_FALLS : STEADY_RISES;
		}
	}
}
