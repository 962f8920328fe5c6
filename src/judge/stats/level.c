// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "base/random.h"
#include "base/xalloc.h"
#include "judge/stats/inference.h"
#include "judge/stats/level.h"
#include "judge/stats/multiple.h"
#include "judge/stats/stats.h"

/*
 * The algorithm has four stages:
 *
 * 1. A long series is divided into at most 1024 blocks, each represented by its median: this bounds
 *    the work, and a level that is shorter than five blocks is not of interest.
 * 2. Optimal partitioning of the ranks (Jackson et al. 2005) proposes steps: the partition with the
 *    least sum of squares of the ranks around the means of the pieces, plus a penalty for each
 *    piece. Ranks are used because neither outliers nor skew affect them. The penalty is low on
 *    purpose: it proposes too many steps.
 * 3. The weakest proposal is dropped until all remaining ones are significant and large enough. A
 *    proposal is significant when the midpoint between the medians of its two pieces separates
 *    them: the likelihood ratio (G) of this 2 x 2 table. Unlike the rank sum, G is correct for
 *    heavily tied values too, where a short burst of the rarer value has a huge rank sum and no
 *    meaning.
 * 4. Stages 2 and 3 are repeated on the series without its slope. The result is whichever explains
 *    the series better: steps, or a line (with or without steps).
 */
enum {
	BLOCKS_MAX = 1024,
	PIECE_MIN = 5, /* blocks */
	END_MIN = 3,   /* runs at either end of a series whose blocks are runs */
	REFITS = 4,
	ORDERS = 2000, /* random orders of the ranks */
};

/* Ranks are compared where the sum of their squares is at least this part of what it is without
 * equal values: where a value is less than some 58 % of all. */
static const double least_ranks = 0.8;

/* The penalty of a piece in stage 2, in variances of the ranks. */
static const double piece_penalty = 4;
/* What makes a proposal a step. */
struct rule {
	/* Stage 3 compares the ranks of the two pieces, and not only on which side of the midpoint
	 * their values are. Finds smaller steps; where most values are equal, G alone counts. */
	bool by_ranks;
	/* A proposal is significant from a G of g + g_log * log(m) on, or from a squared rank sum
	 * of ranks + ranks_log * log(m) on. */
	double g;
	double g_log;
	double ranks;
	double ranks_log;
	/* The least effects that are reported. */
	double least_relative;
	double least_deviations;
	bool no_drift; /* steps alone: without stage 4 */
};

/* Less than 1 % of all series without a step have a significant proposal, by simulation: see
 * tests/unit/test-level.c. */
static const struct rule rule_of_runs = {
	.g = 8,
	.g_log = 2.4,
	.least_relative = 0.01,
	.least_deviations = 2,
};
/* Less than 5 % of all histories without a change have one at any look after each of their results,
 * however long they become (bench/trend-looks.c). With m results there are about m ways to divide
 * those of a history, of which those of a doubled one are mostly new: what a look may add has to
 * fall by more than 1 / m, which 2 * log(m) alone does not do. */
static const struct rule rule_of_results = {
	.by_ranks = true,
	.g = 10,
	.g_log = 3.1,
	.ranks = 1.5,
	.ranks_log = 3.1,
	.no_drift = true,
};
/* The least |z| of Spearman's rank correlation with the run number: 0.3 % of all series without a
 * drift exceed it. */
static const double drift_z = 3.0;
/* How much better than steps a line has to be, in log likelihood. */
static const double line_margin = 5;

/* Up to so many median absolute deviations a step is placed by ranks. */
static const double small_step = 3;

/* The working memory of all stages. Arrays have m elements unless noted. */
struct work {
	const struct rule *rule;
	double stricter; /* is added to what is significant */
	size_t m;
	bool begins;   /* the first of the m blocks is the first block of the series, */
	bool ends;     /* the last of the m blocks is the last block of the series */
	double *y;     /* medians of the blocks, in stage 4 without the slope */
	double *noise; /* median absolute deviation inside each block; NULL when blocks are runs */
	double *scratch;  /* 2 * m: for sorting */
	double *ranks;	  /* the ranks of the pieces that are compared */
	double *prefix;	  /* m + 1: prefix sums of the centered ranks */
	double *inverse;  /* m + 1: 1 / i, to save a division per pair of blocks */
	double *best;	  /* m + 1: value of the best partition of the first i blocks */
	uint16_t *before; /* m + 1: where the last piece of this partition begins */
};

/* A partition of the m blocks: piece i is [first[i], first[i + 1]), first[n] is m. */
struct pieces {
	size_t n;
	uint16_t first[BLOCKS_MAX / PIECE_MIN + 3];
	double median[BLOCKS_MAX / PIECE_MIN + 2];
};

/* Stores the centered ranks of n values in ret; equal values share the mean of their ranks. Returns
 * the sum of the squares. */
static double compute_ranks(double *scratch, const double *values, size_t n, double *ret)
{
	double mean = (double)(n - 1) / 2, squares = 0;

	memcpy(scratch, values, n * sizeof(*values));
	stats_sort(scratch, n);
	for (size_t i = 0; i < n; i++) {
		size_t first = stats_count_below(scratch, n, values[i], false);
		size_t end = stats_count_below(scratch, n, values[i], true);

		ret[i] = (double)(first + end - 1) / 2 - mean;
		squares += ret[i] * ret[i];
	}
	return squares;
}

/* Prefix sums of the centered ranks, in standard deviations. False when all values are equal. */
static bool compute_prefix(struct work *w)
{
	double squares = compute_ranks(w->scratch, w->y, w->m, w->prefix + 1);
	double deviation = sqrt(squares / (double)w->m);

	if (squares <= 0)
		return false;
	w->prefix[0] = 0;
	for (size_t i = 1; i <= w->m; i++)
		w->prefix[i] = w->prefix[i - 1] + w->prefix[i] / deviation;
	return true;
}

/* Whether [s, t) is long enough for a piece. A level of three runs can be told from chance only at
 * an end of the series, because there are only two ends but many places between them. */
static bool is_piece(const struct work *w, size_t s, size_t t)
{
	bool at_end = (w->begins && s == 0) || (w->ends && t == w->m);

	return t - s >= (at_end && !w->noise ? (size_t)END_MIN : (size_t)PIECE_MIN);
}

/* Stage 2. The sum of squares within the pieces is the total less sum^2 / length of each piece. */
static void propose_steps(struct work *w, struct pieces *ret)
{
	size_t n = 0;

	for (size_t i = 1; i <= w->m; i++)
		w->inverse[i] = 1 / (double)i;
	w->best[0] = 0;
	for (size_t t = 1; t <= w->m; t++) {
		double best = -INFINITY;
		size_t before = 0;

		for (size_t s = 0; s + END_MIN <= t; s++) {
			double sum = w->prefix[t] - w->prefix[s];
			double value = w->best[s] + sum * sum * w->inverse[t - s] - piece_penalty;

			if (value > best && is_piece(w, s, t)) {
				best = value;
				before = s;
			}
		}
		w->best[t] = best;
		w->before[t] = (uint16_t)before;
	}
	for (size_t t = w->m; t > 0; t = w->before[t])
		n++;
	ret->n = n;
	ret->first[n] = (uint16_t)w->m;
	for (size_t t = w->m; t > 0; t = w->before[t])
		ret->first[--n] = w->before[t];
}

static double entropy_term(double part, double whole)
{
	return part > 0 ? part * log(part / whole) : 0;
}

/* How well the midpoint between the medians of pieces i - 1 and i separates these two. */
static double compute_g(const struct work *w, const struct pieces *p, size_t i)
{
	double middle = (p->median[i - 1] + p->median[i]) / 2;
	double above[2] = { 0 }, n[2], all;

	for (size_t side = 0; side < 2; side++) {
		size_t first = p->first[i - 1 + side], end = p->first[i + side];

		n[side] = (double)(end - first);
		for (size_t k = first; k < end; k++)
			above[side] += w->y[k] > middle;
	}
	all = n[0] + n[1];
	return 2 *
		(entropy_term(above[0], n[0]) + entropy_term(n[0] - above[0], n[0]) +
			entropy_term(above[1], n[1]) + entropy_term(n[1] - above[1], n[1]) -
			entropy_term(above[0] + above[1], all) -
			entropy_term(all - above[0] - above[1], all));
}

/* The square of the rank sum's deviation from its mean, in standard deviations, between pieces
 * i - 1 and i. Like G, it has a chi-square distribution with one degree of freedom. It is 0 where
 * so many of the values are equal that a few others, close together, would decide. */
static double compare_ranks(struct work *w, const struct pieces *p, size_t i)
{
	size_t first = p->first[i - 1], n = (size_t)(p->first[i + 1] - first);
	double n_before = p->first[i] - p->first[i - 1], n_all = (double)n, sum = 0, squares;
	double *ranks = w->ranks;

	squares = compute_ranks(w->scratch, w->y + first, n, ranks);
	if (squares < least_ranks * n_all * (n_all * n_all - 1) / 12)
		return 0;
	for (size_t k = 0; k < p->first[i] - first; k++)
		sum += ranks[k];
	/* The variance of the sum of n_before of these ranks, drawn at random. */
	return sum * sum / (squares * n_before * (n_all - n_before) / (n_all * (n_all - 1)));
}

/* How significant the step between the pieces i - 1 and i is; from 1 on it is significant. The form
 * of the limits is a union bound over the possible beginnings of a piece. The ranks of three values
 * at an end can never be significant, because ranks do not grow with the distance of the levels;
 * their G can. */
static double compute_significance(struct work *w, const struct pieces *p, size_t i)
{
	const struct rule *rule = w->rule;
	double log_m = log((double)w->m);
	double by_g = compute_g(w, p, i) / (rule->g + rule->g_log * log_m + w->stricter);

	if (!rule->by_ranks)
		return by_g;
	return MAX(by_g,
		compare_ranks(w, p, i) / (rule->ranks + rule->ranks_log * log_m + w->stricter));
}

/* The noise of single runs in the pieces [first, last]. */
static double compute_noise(const struct work *w, const struct pieces *p, size_t first, size_t last)
{
	size_t begin = p->first[first], end = p->first[last + 1];

	if (w->noise)
		return stats_find_median(w->noise + begin, end - begin, w->scratch);
	for (size_t i = first; i <= last; i++)
		for (size_t k = p->first[i]; k < p->first[i + 1]; k++)
			w->scratch[w->m + k - begin] = fabs(w->y[k] - p->median[i]);
	return stats_find_median(w->scratch + w->m, end - begin, w->scratch);
}

/* The size of a change from a to b, in units of the least change that matters. */
static double compute_effect(const struct rule *rule, double a, double b, double noise, double base)
{
	double least = MAX(rule->least_relative * base, rule->least_deviations * noise);

	if (least <= 0)
		return a == b ? 0 : INFINITY;
	return fabs(a - b) / least;
}

static void drop_piece(struct work *w, struct pieces *p, size_t i)
{
	memmove(&p->first[i], &p->first[i + 1], (p->n - i) * sizeof(p->first[0]));
	memmove(&p->median[i], &p->median[i + 1], (p->n - i - 1) * sizeof(p->median[0]));
	p->n--;
	p->median[i - 1] = stats_find_median(
		w->y + p->first[i - 1], (size_t)(p->first[i] - p->first[i - 1]), w->scratch);
}

/* Stage 3, first half. */
static void drop_insignificant(struct work *w, struct pieces *p)
{
	while (p->n > 1) {
		size_t weakest = 0;
		double weakest_value = 1;

		for (size_t i = 1; i < p->n; i++) {
			double value = compute_significance(w, p, i);

			if (value < weakest_value) {
				weakest_value = value;
				weakest = i;
			}
		}
		if (weakest == 0)
			return;
		drop_piece(w, p, weakest);
	}
}

/* Stage 3, second half. A merge changes the neighbouring pieces, so significance is checked
 * again. */
static void drop_small(struct work *w, struct pieces *p)
{
	while (p->n > 1) {
		size_t smallest = 0;
		double smallest_effect = 1;

		for (size_t i = 1; i < p->n; i++) {
			double a = p->median[i - 1], b = p->median[i];
			double effect = compute_effect(w->rule, a, b, compute_noise(w, p, i - 1, i),
				MIN(fabs(a), fabs(b)));

			if (effect < smallest_effect) {
				smallest_effect = effect;
				smallest = i;
			}
		}
		if (smallest == 0)
			return;
		drop_piece(w, p, smallest);
		drop_insignificant(w, p);
	}
}

/* Stage 2 for each of the pieces by itself. Beside large steps elsewhere in the series, small ones
 * hardly change the ranks of their values. */
static void propose_within(struct work *w, const struct pieces *p, struct pieces *ret)
{
	struct pieces inner;

	ret->n = 0;
	for (size_t i = 0; i < p->n; i++) {
		struct work part = *w;

		part.y += p->first[i];
		part.m = (size_t)(p->first[i + 1] - p->first[i]);
		part.begins = p->first[i] == 0;
		part.ends = p->first[i + 1] == w->m;
		inner.n = 1;
		inner.first[0] = 0;
		if (compute_prefix(&part))
			propose_steps(&part, &inner);
		for (size_t k = 0; k < inner.n && ret->n < ARRAY_SIZE(ret->median); k++)
			ret->first[ret->n++] = (uint16_t)(p->first[i] + inner.first[k]);
	}
	ret->first[ret->n] = (uint16_t)w->m;
	for (size_t i = 0; i < ret->n; i++)
		ret->median[i] = stats_find_median(w->y + ret->first[i],
			(size_t)(ret->first[i + 1] - ret->first[i]), w->scratch);
	drop_insignificant(w, ret);
}

/* Finds all significant steps, including small ones. */
static void find_significant_steps(struct work *w, struct pieces *ret)
{
	struct pieces whole = { .n = 1, .first = { 0, (uint16_t)w->m } }, more;

	propose_within(w, &whole, ret);
	if (!w->rule->by_ranks)
		return;
	for (int i = 0; i < REFITS; i++) {
		propose_within(w, ret, &more);
		if (more.n <= ret->n)
			return;
		*ret = more;
	}
}

struct slope {
	double value;
	double weight;
};

static int compare_slopes(const void *a, const void *b)
{
	double x = ((const struct slope *)a)->value, y = ((const struct slope *)b)->value;

	return (x > y) - (x < y);
}

/* The slope inside the pieces: a weighted median of the slopes between values that are half a piece
 * apart. Steps between pieces do not affect it, and outliers do so only little. */
static double compute_slope(struct work *w, const double *values, const struct pieces *p)
{
	struct slope *slopes = (struct slope *)w->scratch;
	double total = 0, sum = 0;
	size_t n = 0;

	for (size_t i = 0; i < p->n; i++) {
		size_t half = (size_t)(p->first[i + 1] - p->first[i]) / 2;

		for (size_t k = p->first[i]; k + half < p->first[i + 1]; k++) {
			slopes[n].value = (values[k + half] - values[k]) / (double)half;
			slopes[n].weight = (double)half;
			total += slopes[n++].weight;
		}
	}
	qsort(slopes, n, sizeof(*slopes), compare_slopes);
	for (size_t i = 0; i < n; i++) {
		sum += slopes[i].weight;
		if (sum >= total / 2)
			return slopes[i].value;
	}
	return 0;
}

/* Sets w->y to the values without a line of this slope through the middle of the series. */
static void remove_slope(struct work *w, const double *values, double slope)
{
	double middle = (double)(w->m - 1) / 2;

	for (size_t i = 0; i < w->m; i++)
		w->y[i] = values[i] - slope * ((double)i - middle);
}

/* Twice the negative log likelihood of w->y around the medians of the pieces, for errors with a
 * Laplace distribution (robust), plus the penalty for the parameters (Schwarz 1978). */
static double compute_misfit(const struct work *w, const struct pieces *p, size_t n_parameters)
{
	double sum = 0, size = 0, m = (double)w->m;

	for (size_t i = 0; i < p->n; i++) {
		for (size_t k = p->first[i]; k < p->first[i + 1]; k++) {
			sum += fabs(w->y[k] - p->median[i]);
			size += fabs(p->median[i]);
		}
	}
	/* Even in a perfect fit the residuals are not more exact than this. */
	sum = MAX(sum, size * 1e-9);
	if (sum <= 0)
		return -INFINITY;
	return 2 * m * log(sum / m) + (double)n_parameters * log(m);
}

/* Whether the values increase or decrease with the run number inside the pieces, by more than
 * chance. With one piece this is Spearman's correlation. */
static bool is_ordered(struct work *w, const double *values, const struct pieces *p)
{
	double *ranks = w->scratch + w->m;
	double sum = 0, variance = 0;

	for (size_t i = 0; i < p->n; i++) {
		size_t first = p->first[i], n = (size_t)(p->first[i + 1] - p->first[i]);
		double squares = compute_ranks(w->scratch, values + first, n, ranks);
		double middle = (double)(n - 1) / 2;

		for (size_t k = 0; k < n; k++)
			sum += ranks[k] * ((double)k - middle);
		/* The variance over all permutations of the ranks is squares * sum((k - middle)^2)
		 * / (n - 1). */
		variance += squares * (double)n * (double)(n + 1) / 12;
	}
	return variance > 0 && fabs(sum) / sqrt(variance) >= drift_z;
}

static bool is_drift_large(const struct work *w, const struct pieces *p, double slope)
{
	double from = p->median[0] - slope * (double)(w->m - 1) / 2;
	double to = p->median[p->n - 1] + slope * (double)(w->m - 1) / 2;
	double base = p->n == 1 ? MIN(fabs(from), fabs(to)) : fabs(p->median[0]);

	return compute_effect(w->rule, 0, slope * (double)(w->m - 1),
		       compute_noise(w, p, 0, p->n - 1), base) >= 1;
}

/* Stage 4: steps, a line, or steps on a line. Returns the slope per block. The line has to beat all
 * significant steps, including those that are too small to be reported: a small step is not a
 * drift. */
static double fit_steps_or_line(struct work *w, const double *values, struct pieces *ret)
{
	struct pieces steps, line;
	double slope = 0, misfit;

	remove_slope(w, values, 0);
	find_significant_steps(w, &steps);
	misfit = compute_misfit(w, &steps, 2 * steps.n - 1);
	*ret = line = steps;
	/* Almost all series end here. */
	if (steps.n == 1 && !is_ordered(w, values, &steps))
		return 0;
	drop_small(w, ret);
	if (w->rule->no_drift)
		return 0;

	for (int i = 0; i < REFITS; i++) {
		slope = compute_slope(w, values, &line);
		remove_slope(w, values, slope);
		find_significant_steps(w, &line);
		drop_small(w, &line);
	}
	if (compute_misfit(w, &line, 2 * line.n) + line_margin >= misfit ||
		!is_ordered(w, values, &line) || !is_drift_large(w, &line, slope))
		return 0;
	*ret = line;
	return slope;
}

/* Stage 1: blocks of `size` values; the last block is longer. */
static void make_blocks(const double *values, size_t n, size_t size, struct work *w, double *blocks,
	double *scratch)
{
	if (size == 1) {
		memcpy(blocks, values, n * sizeof(*values));
		return;
	}
	for (size_t i = 0; i < w->m; i++) {
		size_t length = i + 1 < w->m ? size : n - i * size;

		memcpy(scratch, values + i * size, length * sizeof(*values));
		stats_sort(scratch, length);
		blocks[i] = stats_median(scratch, length);
		w->noise[i] = stats_deviation(scratch, length, blocks[i]);
	}
}

/* The index between the middles of two pieces at which the values change from level a to level b. A
 * value that is far from both levels is ignored, so that an outlier near the step does not move
 * it. */
static size_t find_step(const double *values, size_t begin, size_t end, double a, double b,
	double slope, double middle)
{
	double sum = 0, least = INFINITY;
	size_t best = begin + 1;

	/* Strictly inside, so that no level is empty. */
	for (size_t k = begin; k + 1 < end; k++) {
		double value = values[k] - slope * ((double)k - middle);
		double from_a = fabs(value - a), from_b = fabs(value - b);

		if (MIN(from_a, from_b) <= fabs(a - b))
			sum += from_a - from_b;
		if (sum < least) {
			least = sum;
			best = k + 1;
		}
	}
	return best;
}

/* The same for a step that may be smaller than the noise, where one value hardly tells to which
 * level it belongs: where the rank sum of pieces i - 1 and i deviates most from its mean, as in
 * compare_ranks(). It places about 80 % of the steps of one standard deviation in bench/trend
 * within 5 results of their true place, find_step() about 72 %. It is unfit for large steps: ranks
 * do not tell how far the levels are apart, and where the levels do not overlap, the rank sum
 * deviates most at a place nearer to the middle, so that values of the longer level would go to the
 * shorter one. */
static size_t find_step_by_ranks(struct work *w, const double *values, const struct pieces *p,
	size_t i, size_t begin, size_t end)
{
	size_t first = p->first[i - 1], n = (size_t)(p->first[i + 1] - first), best = begin + 1;
	double sum = 0, most = -1;

	(void)compute_ranks(w->scratch, values + first, n, w->ranks);
	for (size_t k = 1; first + k < end; k++) {
		double deviation;

		sum += w->ranks[k - 1];
		deviation = sum * sum / ((double)k * (double)(n - k));
		if (first + k > begin && deviation > most) {
			most = deviation;
			best = first + k;
		}
	}
	return best;
}

/* Whether find_step_by_ranks() is to place the step between pieces i - 1 and i. */
static bool is_small_step(struct work *w, const struct pieces *p, size_t i)
{
	return fabs(p->median[i] - p->median[i - 1]) < small_step * compute_noise(w, p, i - 1, i);
}

/* Where a step is put is not quite where it was found first, so that the medians of its sides may
 * have become equal. */
static void drop_equal(const double *values, double *scratch, struct levels *levels)
{
	for (size_t i = 1; i < levels->n;) {
		struct level *level = &levels->items[i];

		if (level->median != level[-1].median) {
			i++;
			continue;
		}
		level[-1].n += level->n;
		level[-1].median =
			stats_find_median(values + level[-1].first, level[-1].n, scratch);
		memmove(level, level + 1, (levels->n - i - 1) * sizeof(*level));
		levels->n--;
	}
}

static struct levels *make_levels(const double *values, size_t n, size_t size,
	const struct pieces *p, double slope, struct work *w, double *scratch)
{
	struct levels *levels = xptr(calloc(1, sizeof(*levels)));
	double middle = ((double)(p->first[p->n]) - 1) / 2 * (double)size + (double)(size - 1) / 2;
	double run_slope = slope / (double)size;

	levels->items = xptr(calloc(p->n, sizeof(*levels->items)));
	levels->n = p->n;
	for (size_t i = 1; i < p->n; i++) {
		size_t begin = (size_t)(p->first[i - 1] + p->first[i]) / 2 * size;
		size_t end = (size_t)(p->first[i] + p->first[i + 1]) / 2 * size;

		levels->items[i].first = w->rule->by_ranks && size == 1 && is_small_step(w, p, i)
			? find_step_by_ranks(w, values, p, i, begin, end)
			: find_step(values, begin, end, p->median[i - 1], p->median[i], run_slope,
				  middle);
	}
	for (size_t i = 0; i < p->n; i++) {
		struct level *level = &levels->items[i];

		level->n = (i + 1 < p->n ? level[1].first : n) - level->first;
		level->median = stats_find_median(values + level->first, level->n, scratch);
	}
	/* Of levels on a line, equal medians are not the same level. */
	if (slope == 0)
		drop_equal(values, scratch, levels);
	if (slope != 0) {
		levels->drift = run_slope * (double)(n - 1);
		if (p->n == 1) {
			levels->drift_from = p->median[0] - levels->drift / 2;
			levels->drift_to = p->median[0] + levels->drift / 2;
		}
	}
	return levels;
}

static int sign_of(double value)
{
	return (value > 0) - (value < 0);
}

/* A value without its level and the drift. */
static double residual_of(const struct level *level, double slope, const double *values, size_t k)
{
	double center = (double)level->first + (double)(level->n - 1) / 2;

	return values[k] - level->median - slope * ((double)k - center);
}

/* Products of the signs of neighbours, and what they are without a correlation. */
struct products {
	double pairs;
	double sum; /* of signs less their mean */
	double squares;
	double variance; /* of the sum */
	/* Neighbours with the same sign, but for the usual one of the level. */
	double n_rare;
	double expected_rare;
	double usual; /* the pairs that have one of the usual sign, as the second */
};

static void add_products(
	const double *values, const struct level *level, double slope, struct products *products)
{
	double counts[3] = { 0 }, n = (double)level->n, mean, of_one;
	size_t end = level->first + level->n;
	int usual = 0, previous = 0;

	for (size_t k = level->first; k < end; k++)
		counts[1 + sign_of(residual_of(level, slope, values, k))]++;
	mean = (counts[2] - counts[0]) / n;
	of_one = (counts[2] + counts[0]) / n - mean * mean;
	for (int sign = -1; sign <= 1; sign++)
		if (counts[1 + sign] > counts[1 + usual])
			usual = sign;
	/* Values on both sides of a step are not neighbours. */
	for (size_t k = level->first; k < end; k++) {
		int sign = sign_of(residual_of(level, slope, values, k));

		if (k > level->first) {
			products->sum += (sign - mean) * (previous - mean);
			products->n_rare += sign == previous && sign != usual;
		}
		previous = sign;
	}
	products->pairs += n - 1;
	products->squares += (n - 1) * of_one;
	products->variance += (n - 1) * of_one * of_one;
	products->usual += (n - 1) * counts[1 + usual] / n;
	for (int sign = -1; sign <= 1; sign++)
		if (sign != usual)
			products->expected_rare +=
				(n - 1) * counts[1 + sign] / n * counts[1 + sign] / n;
}

/* Correlates the signs of the residuals, for long series: it needs no memory. Where many values are
 * equal to the median, the signs are no fair coins. Where few are not, that neighbours are among
 * them has the distribution of Poisson, and the root of such a number a variance of 1/4. */
static void correlate_signs(const double *values, double slope, struct levels *levels)
{
	struct products p = { 0 };
	double z, of_rare;

	for (size_t i = 0; i < levels->n; i++)
		add_products(values, &levels->items[i], slope, &p);
	if (!(p.variance > 0))
		return;
	z = p.sum / sqrt(p.variance);
	of_rare = 2 * (sqrt(p.n_rare) - sqrt(p.expected_rare)) * p.pairs / p.usual;
	levels->autocorrelation_p = normal_upper_tail(MIN(z, of_rare));
	levels->autocorrelation = sin(acos(-1) / 2 * MIN(MAX(p.sum / p.squares, -1.0), 1.0));
}

static double sum_products(const double *ranks, const struct levels *levels)
{
	double product = 0;

	for (size_t i = 0; i < levels->n; i++) {
		const struct level *level = &levels->items[i];

		for (size_t k = level->first + 1; k < level->first + level->n; k++)
			product += ranks[k - 1] * ranks[k];
	}
	return product;
}

/* The share of random orders in which neighbours are at least as much alike as measured. Shuffles
 * the ranks, always in the same way. */
static double try_orders(double *ranks, size_t n, const struct levels *levels, double product)
{
	size_t alike = 1; /* the measured order itself */
	uint64_t random = 0;

	for (size_t i = 0; i < ORDERS; i++) {
		for (size_t k = n; k > 1; k--) {
			size_t other = (size_t)(random_next(&random) % k);
			double rank = ranks[k - 1];

			ranks[k - 1] = ranks[other];
			ranks[other] = rank;
		}
		alike += sum_products(ranks, levels) >= product;
	}
	return (double)alike / (ORDERS + 1);
}

/*
 * Correlates ranks: computes the sum of the products of neighbouring ranks, and its mean and
 * variance over all orders of these ranks (Wald and Wolfowitz 1943; here the ends of the series are
 * no neighbours, and nor are values on both sides of a step). With ranks that add up to 0, the
 * means of x1 x2, x1^2 x2^2, x1 x2^2 x3 and x1 x2 x3 x4 over all orders follow from the sums of
 * squares and fourth powers. Where many values are equal, the sum is not normally distributed: a
 * small p is counted in random orders instead.
 */
static void correlate_ranks(
	const double *values, size_t n_values, double slope, struct work *w, struct levels *levels)
{
	double n = (double)n_values, s2, s4 = 0, product, pairs = 0, triples = 0;
	double two, squares, chain, four, mean, variance, r;
	double *ranks = w->prefix;

	for (size_t i = 0; i < levels->n; i++)
		for (size_t k = 0; k < levels->items[i].n; k++)
			w->y[levels->items[i].first + k] = residual_of(
				&levels->items[i], slope, values, levels->items[i].first + k);
	s2 = compute_ranks(w->scratch, w->y, n_values, ranks);
	for (size_t k = 0; k < n_values; k++)
		s4 += ranks[k] * ranks[k] * ranks[k] * ranks[k];
	for (size_t i = 0; i < levels->n; i++) {
		pairs += (double)(levels->items[i].n - 1);
		triples += levels->items[i].n > 2 ? (double)(levels->items[i].n - 2) : 0;
	}
	product = sum_products(ranks, levels);
	two = -s2 / (n * (n - 1));
	squares = (s2 * s2 - s4) / (n * (n - 1));
	chain = (2 * s4 - s2 * s2) / (n * (n - 1) * (n - 2));
	four = (3 * s2 * s2 - 6 * s4) / (n * (n - 1) * (n - 2) * (n - 3));
	mean = pairs * two;
	variance = pairs * squares + 2 * triples * chain +
		(pairs * pairs - pairs - 2 * triples) * four - mean * mean;
	if (!(s2 > 0) || !(variance > 0))
		return;
	levels->autocorrelation_p = normal_upper_tail((product - mean) / sqrt(variance));
	r = (product - mean) / pairs / (s2 / n);
	levels->autocorrelation = 2 * sin(acos(-1) / 6 * MIN(MAX(r, -1.0), 1.0));
	if (levels->autocorrelation_p < 0.01)
		levels->autocorrelation_p = try_orders(ranks, n_values, levels, product);
}

static void compute_autocorrelation(
	const double *values, size_t n, struct work *w, struct levels *levels)
{
	double slope = n > 1 ? levels->drift / (double)(n - 1) : 0;

	if (n < LEVEL_MIN_VALUES)
		return;
	if (n == w->m)
		correlate_ranks(values, n, slope, w, levels);
	else
		correlate_signs(values, slope, levels);
}

static int find_levels(const double *values, size_t n, const struct rule *rule, double stricter,
	bool correlates, struct levels **ret)
{
	_cleanup_free_ double *memory = NULL, *scratch = NULL;
	struct pieces p = { .n = 1 };
	struct work w = { .rule = rule, .stricter = stricter };
	double slope = 0, *blocks;
	size_t size;

	if (n == 0)
		return -EINVAL;
	for (size_t i = 0; i < n; i++)
		if (!isfinite(values[i]))
			return -EDOM;
	size = (n + BLOCKS_MAX - 1) / BLOCKS_MAX;
	w.m = n / size;
	scratch = xptr(reallocarray(NULL, n, sizeof(*scratch)));
	memory = xptr(calloc(11 * (w.m + 1), sizeof(*memory)));
	w.y = memory;
	w.scratch = w.y + w.m;
	w.prefix = w.scratch + 2 * w.m;
	w.inverse = w.prefix + w.m + 1;
	w.best = w.inverse + w.m + 1;
	w.before = (uint16_t *)(w.best + w.m + 1);
	blocks = w.best + 2 * (w.m + 1);
	w.ranks = blocks + w.m;
	if (size > 1)
		w.noise = w.ranks + w.m;

	p.first[1] = (uint16_t)w.m;
	make_blocks(values, n, size, &w, blocks, scratch);
	if (n >= LEVEL_MIN_VALUES)
		slope = fit_steps_or_line(&w, blocks, &p);
	*ret = make_levels(values, n, size, &p, slope, &w, scratch);
	(*ret)->n_values = n;
	(*ret)->autocorrelation_p = 1;
	if (correlates)
		compute_autocorrelation(values, n, &w, *ret);
	return 0;
}

int levels_find(const double *values, size_t n, struct levels **ret)
{
	return find_levels(values, n, &rule_of_runs, 0, true, ret);
}

int levels_find_alone(const double *values, size_t n, struct levels **ret)
{
	return find_levels(values, n, &rule_of_runs, 0, false, ret);
}

int levels_find_changes(const double *values, size_t n, size_t n_together, struct levels **ret)
{
	return find_levels(values, n, &rule_of_results, stricter_chi_square(n_together), true, ret);
}

size_t levels_changes_needed(size_t n_together)
{
	const struct rule *rule = &rule_of_results;
	size_t m = LEVEL_MIN_VALUES;

	/* The G of two halves that a midpoint separates. */
	while (2 * (double)m * log(2) <
		rule->g + rule->g_log * log((double)m) + stricter_chi_square(n_together))
		m++;
	return m;
}

void levels_free(struct levels *levels)
{
	if (!levels)
		return;
	free(levels->items);
	free(levels);
}
