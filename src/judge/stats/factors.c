// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/macro.h"
#include "base/random.h"
#include "base/xalloc.h"
#include "judge/stats/factors.h"
#include "judge/stats/multiple.h"
#include "judge/stats/stats.h"

#define TAIL 0.025 /* at each end of an interval; and where winsorising begins to count, */
/* Differences of equal numbers after some arithmetic, as a part of these, are less than this. */
#define ROUNDING 1e-12
#define REACH 2 /* from so many times as far from the median */

enum {
	HELD,
	DRAWN,
	HALVES,
	EXCHANGES = 1999,
	EXCHANGES_LEAST = 499, /* 1 / 500 is below 0.05 for any factor of FACTORS_MAX */
	RESAMPLES = 999,
	RESAMPLES_LEAST = 199,
	WORK_MAX = 20 * 1000 * 1000, /* numbers that are exchanged in one test, about a second */
	FREE_LEAST = 20,	     /* degrees of freedom of the rest in each half */
	ROUNDS_MAX = 100,	     /* of the fit; a few are enough */
	SEED = 1,
	NO_FACTOR = FACTORS_MAX,
};

/* The numbers in their halves: those of a half follow each other. */
struct table {
	double *values;
	unsigned *levels[FACTORS_MAX];
	size_t n_levels[FACTORS_MAX];
	size_t n_factors;
	size_t n;
	size_t from[HALVES + 1]; /* where each half begins */
	/* How many numbers of the half have the level, and how many levels are there. */
	size_t counts[HALVES][FACTORS_MAX][FACTOR_LEVELS_MAX];
	size_t n_seen[HALVES][FACTORS_MAX];
	double freedom[HALVES]; /* of the rest; 0 of a half that is not there */
};

struct fit {
	double means[HALVES];
	double effects[HALVES][FACTORS_MAX][FACTOR_LEVELS_MAX];
	double *rest; /* of each number */
};

/* The parts of the variance. */
struct parts {
	double factors[FACTORS_MAX];
	double of_half[HALVES][FACTORS_MAX]; /* the same, within the half */
	double held;
	double draw;
	double rest; /* with the draw */
	double total;
	double rests[HALVES]; /* variances */
};

static size_t half_size(const struct table *t, int half)
{
	return t->from[half + 1] - t->from[half];
}

static double proportion(const struct table *t, int half)
{
	return (double)half_size(t, half) / (double)t->n;
}

static void table_clear(struct table *t)
{
	free(t->values);
	for (size_t f = 0; f < t->n_factors; f++)
		free(t->levels[f]);
}
#define _cleanup_table_ __attribute__((cleanup(table_clear)))

/* With `together`, all numbers are in one half. */
static void table_fill(const struct factors_input *input, bool together, struct table *t)
{
	size_t n = 0;

	*t = (struct table){ .n = input->n, .n_factors = input->n_factors };
	t->values = xptr(calloc(t->n, sizeof(*t->values)));
	for (size_t f = 0; f < t->n_factors; f++) {
		t->n_levels[f] = input->factors[f].n_levels;
		t->levels[f] = xptr(calloc(t->n, sizeof(*t->levels[f])));
	}
	for (int half = HELD; half < HALVES; half++) {
		for (size_t i = 0; i < input->n; i++) {
			bool drawn = input->drawn && input->drawn[i];

			if ((together ? HELD : drawn) != half)
				continue;
			t->values[n] = input->values[i];
			for (size_t f = 0; f < t->n_factors; f++)
				t->levels[f][n] = input->factors[f].levels[i];
			n++;
		}
		t->from[half + 1] = n;
	}
}

static void table_count(struct table *t)
{
	memset(t->counts, 0, sizeof(t->counts));
	memset(t->n_seen, 0, sizeof(t->n_seen));
	for (int half = HELD; half < HALVES; half++) {
		double used = 1;

		for (size_t f = 0; f < t->n_factors; f++) {
			for (size_t i = t->from[half]; i < t->from[half + 1]; i++)
				t->n_seen[half][f] += t->counts[half][f][t->levels[f][i]]++ == 0;
			used += (double)MAX(t->n_seen[half][f], (size_t)1) - 1;
		}
		t->freedom[half] = half_size(t, half) > 0 ? (double)half_size(t, half) - used : 0;
	}
}

static void winsorise(double *values, size_t n)
{
	_cleanup_free_ double *sorted = xptr(calloc(n, sizeof(*sorted)));
	double low, high, median;

	memcpy(sorted, values, n * sizeof(*sorted));
	stats_sort(sorted, n);
	median = stats_median(sorted, n);
	low = median - REACH * (median - stats_percentile(sorted, n, TAIL));
	high = median + REACH * (stats_percentile(sorted, n, 1 - TAIL) - median);
	for (size_t i = 0; i < n; i++)
		values[i] = high - low > ROUNDING * fabs(median) ? CLAMP(values[i], low, high) : 0;
}

/* --- The fit --- */

/* Fits one factor to what the others leave. Returns the largest change of an effect. */
static double refit(const struct table *t, int half, size_t f, struct fit *fit)
{
	const unsigned *levels = t->levels[f];
	double *effects = fit->effects[half][f], sums[FACTOR_LEVELS_MAX] = { 0 }, most = 0;

	for (size_t i = t->from[half]; i < t->from[half + 1]; i++)
		sums[levels[i]] += fit->rest[i];
	for (size_t k = 0; k < t->n_levels[f]; k++) {
		sums[k] = t->counts[half][f][k] > 0 ? sums[k] / (double)t->counts[half][f][k] : 0;
		effects[k] += sums[k];
		most = MAX(most, fabs(sums[k]));
	}
	for (size_t i = t->from[half]; i < t->from[half + 1]; i++)
		fit->rest[i] -= sums[levels[i]];
	return most;
}

/* Least squares, one factor after the other until nothing changes (backfitting: Hastie and
 * Tibshirani 1990). The levels were drawn independently, so a few rounds are enough. `without`: a
 * factor that is left out, or NO_FACTOR. */
static void fit_table(const struct table *t, size_t without, double scale, struct fit *fit)
{
	memset(fit->effects, 0, sizeof(fit->effects));
	for (int half = HELD; half < HALVES; half++) {
		double sum = 0, change = INFINITY;

		for (size_t i = t->from[half]; i < t->from[half + 1]; i++)
			sum += t->values[i];
		fit->means[half] = half_size(t, half) > 0 ? sum / (double)half_size(t, half) : 0;
		for (size_t i = t->from[half]; i < t->from[half + 1]; i++)
			fit->rest[i] = t->values[i] - fit->means[half];
		for (int round = 0; round < ROUNDS_MAX && change > 1e-6 * scale; round++) {
			change = 0;
			for (size_t f = 0; f < t->n_factors; f++) {
				double by = f == without ? 0 : refit(t, half, f, fit);

				change = MAX(change, by);
			}
		}
	}
}

static double sum_squares(const struct table *t, int half, const double *rest)
{
	double sum = 0;

	for (size_t i = t->from[half]; i < t->from[half + 1]; i++)
		sum += rest[i] * rest[i];
	return sum;
}

/* The mean square of the effects over the numbers of the half. */
static double mean_square(const struct table *t, int half, size_t f, const struct fit *fit)
{
	double sum = 0;

	for (size_t k = 0; k < t->n_levels[f]; k++)
		sum += (double)t->counts[half][f][k] * fit->effects[half][f][k] *
			fit->effects[half][f][k];
	return half_size(t, half) > 0 ? sum / (double)half_size(t, half) : 0;
}

static void take_apart(const struct table *t, const struct fit *fit, struct parts *ret)
{
	bool has_halves = half_size(t, HELD) > 0 && half_size(t, DRAWN) > 0;

	*ret = (struct parts){ 0 };
	for (int half = HELD; half < HALVES; half++) {
		double part = proportion(t, half), n = (double)half_size(t, half);

		if (t->freedom[half] <= 0)
			continue;
		ret->rests[half] = sum_squares(t, half, fit->rest) / t->freedom[half];
		ret->rest += part * ret->rests[half];
		for (size_t f = 0; f < t->n_factors; f++) {
			double by_chance = ((double)t->n_seen[half][f] - 1) * ret->rests[half] / n;

			ret->of_half[half][f] = mean_square(t, half, f, fit) - by_chance;
			ret->factors[f] += part * ret->of_half[half][f];
		}
	}
	if (has_halves) {
		double difference = fit->means[DRAWN] - fit->means[HELD];
		double by_chance = ret->rests[DRAWN] / (double)half_size(t, DRAWN) +
			ret->rests[HELD] / (double)half_size(t, HELD);

		ret->held = proportion(t, DRAWN) * proportion(t, HELD) *
			(difference * difference - by_chance);
		ret->draw = proportion(t, DRAWN) * (ret->rests[DRAWN] - ret->rests[HELD]);
	}
	ret->total = ret->rest + ret->held;
	for (size_t f = 0; f < t->n_factors; f++)
		ret->total += ret->factors[f];
}

/* --- The tests --- */

static size_t choose_number(size_t n, size_t most, size_t least)
{
	return MAX(MIN(most, WORK_MAX / n), least);
}

static void exchange(uint64_t *random, unsigned *levels, size_t n)
{
	for (size_t i = n; i > 1; i--) {
		size_t k = (size_t)(random_next(random) % i);
		unsigned other = levels[k];

		levels[k] = levels[i - 1];
		levels[i - 1] = other;
	}
}

/* How large the means of the levels are, in the numbers of a half, per variance of these. */
static double measure_levels(
	const struct table *t, int half, size_t f, const unsigned *levels, const double *rest)
{
	double sums[FACTOR_LEVELS_MAX] = { 0 }, ret = 0;

	for (size_t i = t->from[half]; i < t->from[half + 1]; i++)
		sums[levels[i]] += rest[i];
	for (size_t k = 0; k < t->n_levels[f]; k++)
		if (t->counts[half][f][k] > 0)
			ret += sums[k] * sums[k] / (double)t->counts[half][f][k];
	return ret;
}

struct tested {
	double p;
	double of_half[HALVES];
};

/* Whether one is as large as the other, but for rounding: sums in another order. */
static bool reaches(double value, double wanted)
{
	return value >= wanted - 1e-9 * fabs(wanted);
}

static struct tested test_factor(const struct table *t, size_t f, double scale, uint64_t *random)
{
	_cleanup_free_ unsigned *levels = xptr(calloc(t->n, sizeof(*levels)));
	_cleanup_free_ double *rest = xptr(calloc(t->n, sizeof(*rest)));
	size_t n = choose_number(t->n, EXCHANGES, EXCHANGES_LEAST), reached = 1;
	size_t reached_of[HALVES] = { 1, 1 };
	double found[HALVES], weights[HALVES] = { 0 };
	struct fit fit = { .rest = rest };
	struct tested ret;

	fit_table(t, f, scale, &fit);
	memcpy(levels, t->levels[f], t->n * sizeof(*levels));
	for (int half = HELD; half < HALVES; half++) {
		double squares = sum_squares(t, half, rest);

		weights[half] = squares > 0 ? (double)half_size(t, half) / squares : 0;
		found[half] = weights[half] * measure_levels(t, half, f, levels, rest);
	}
	for (size_t i = 0; i < n; i++) {
		double sum = 0;

		for (int half = HELD; half < HALVES; half++) {
			double value;

			exchange(random, levels + t->from[half], half_size(t, half));
			value = weights[half] * measure_levels(t, half, f, levels, rest);
			reached_of[half] += reaches(value, found[half]);
			sum += value;
		}
		reached += reaches(sum, found[HELD] + found[DRAWN]);
	}
	ret.p = (double)reached / (double)(n + 1);
	for (int half = HELD; half < HALVES; half++)
		ret.of_half[half] = (double)reached_of[half] / (double)(n + 1);
	return ret;
}

/* Welch's t of the numbers that are marked less the others. */
static double compare_means(const double *values, const unsigned *marks, size_t n)
{
	double sums[HALVES] = { 0 }, squares[HALVES] = { 0 }, counts[HALVES] = { 0 };
	double means[HALVES], error = 0;

	for (size_t i = 0; i < n; i++) {
		counts[marks[i]]++;
		sums[marks[i]] += values[i];
		squares[marks[i]] += values[i] * values[i];
	}
	for (int half = HELD; half < HALVES; half++) {
		means[half] = sums[half] / counts[half];
		error += (squares[half] / counts[half] - means[half] * means[half]) /
			(counts[half] - 1);
	}
	return error > 0 ? (means[DRAWN] - means[HELD]) / sqrt(error) : 0;
}

/* Whether the mean of the drawn half is larger; `two_sided`: or smaller. What is found counts as so
 * many times as large. */
static double test_halves(
	const struct table *t, const double *values, bool two_sided, double times, uint64_t *random)
{
	_cleanup_free_ unsigned *marks = xptr(calloc(t->n, sizeof(*marks)));
	size_t n = choose_number(t->n, EXCHANGES, EXCHANGES_LEAST), reached = 1;
	double found;

	for (size_t i = t->from[DRAWN]; i < t->n; i++)
		marks[i] = DRAWN;
	found = times * compare_means(values, marks, t->n);
	for (size_t i = 0; i < n; i++) {
		double value;

		exchange(random, marks, t->n);
		value = compare_means(values, marks, t->n);
		reached += two_sided ? reaches(fabs(value), fabs(found)) : reaches(value, found);
	}
	return (double)reached / (double)(n + 1);
}

/* Of the numbers without the effects of the factors, which are those of both halves together: a fit
 * of its own for each half would depend on what is exchanged. */
static double test_held(
	const struct factors_input *input, const struct table *t, double scale, uint64_t *random)
{
	_cleanup_table_ struct table together;
	_cleanup_free_ double *rest = xptr(calloc(t->n, sizeof(*rest)));
	struct fit fit = { .rest = rest };

	table_fill(input, true, &together);
	/* In the order of the halves, and winsorised. */
	memcpy(together.values, t->values, t->n * sizeof(*t->values));
	for (size_t f = 0; f < t->n_factors; f++)
		memcpy(together.levels[f], t->levels[f], t->n * sizeof(*t->levels[f]));
	table_count(&together);
	fit_table(&together, NO_FACTOR, scale, &fit);
	return test_halves(t, rest, true, 1, random);
}

/* Of the distances of the rest from its median in each half, enlarged by what the fit has taken of
 * them. They are known as well as those of fewer numbers, as many as there are degrees of freedom.
 */
static double test_draw(const struct table *t, const struct fit *fit, uint64_t *random)
{
	_cleanup_free_ double *rest = xptr(calloc(t->n, sizeof(*rest)));
	_cleanup_free_ double *scratch = xptr(calloc(t->n, sizeof(*scratch)));
	double freedom = t->freedom[HELD] + t->freedom[DRAWN];

	for (int half = HELD; half < HALVES; half++) {
		size_t from = t->from[half], n = half_size(t, half);
		double median = stats_find_median(&fit->rest[from], n, scratch);
		double factor = sqrt((double)n / t->freedom[half]);

		for (size_t i = from; i < from + n; i++)
			rest[i] = factor * fabs(fit->rest[i] - median);
	}
	return test_halves(t, rest, false, sqrt(freedom / (double)t->n), random);
}

/* Holm's method, in place: the smallest p counts n times, the next n - 1 times, and none less than
 * one before. */
static void correct(double *p, size_t n)
{
	double corrected[FACTORS_MAX + 2], least = 0;
	bool done[FACTORS_MAX + 2] = { false };

	for (size_t rank = 0; rank < n; rank++) {
		size_t next = n;

		for (size_t i = 0; i < n; i++)
			if (!done[i] && (next == n || p[i] < p[next]))
				next = i;
		least = MAX(least, MIN(p[next] * (double)(n - rank), 1.0));
		corrected[next] = least;
		done[next] = true;
	}
	memcpy(p, corrected, n * sizeof(*p));
}

/* --- The intervals --- */

/* In which order the shares stand in an array. */
struct shares {
	double factors[FACTORS_MAX];
	double held;
	double draw;
	double rest;
};
#define N_SHARES (sizeof(struct shares) / sizeof(double))

/* The rest is without the draw, which is no less than nothing. */
static void find_shares(const struct parts *parts, struct shares *ret)
{
	double total = parts->total;

	for (size_t f = 0; f < FACTORS_MAX; f++)
		ret->factors[f] = total > 0 ? parts->factors[f] / total : 0;
	ret->held = total > 0 ? parts->held / total : 0;
	ret->draw = total > 0 ? parts->draw / total : 0;
	ret->rest = total > 0 ? (parts->rest - MAX(parts->draw, 0.0)) / total : 0;
}

static size_t draw_index(uint64_t *random, size_t from, size_t n)
{
	return from + (size_t)(random_next(random) % n);
}

/* How much of the effects of a factor is left when their variance is the estimated one. */
static double reduction(
	const struct table *t, int half, size_t f, const struct fit *fit, const struct parts *parts)
{
	double square = mean_square(t, half, f, fit);

	return square > 0 ? sqrt(MAX(parts->of_half[half][f], 0.0) / square) : 0;
}

/* Draws numbers as they might have come: their levels anew, the reduced effects of these, and the
 * rest. */
static void resample(const struct table *t, const struct fit *fit, const struct parts *parts,
	uint64_t *random, struct table *ret)
{
	double middle =
		proportion(t, HELD) * fit->means[HELD] + proportion(t, DRAWN) * fit->means[DRAWN];
	double difference = fit->means[DRAWN] - fit->means[HELD];
	double square = proportion(t, HELD) * proportion(t, DRAWN) * difference * difference;
	double of_means = square > 0 ? sqrt(MAX(parts->held, 0.0) / square) : 0;

	for (int half = HELD; half < HALVES; half++) {
		double reduced[FACTORS_MAX], grow;
		size_t from = t->from[half], n = half_size(t, half);

		if (n == 0)
			continue;
		grow = sqrt((double)n / t->freedom[half]);
		for (size_t f = 0; f < t->n_factors; f++)
			reduced[f] = reduction(t, half, f, fit, parts);
		for (size_t i = from; i < from + n; i++) {
			ret->values[i] = middle + of_means * (fit->means[half] - middle) +
				grow * fit->rest[draw_index(random, from, n)];
			for (size_t f = 0; f < t->n_factors; f++) {
				unsigned level = t->levels[f][draw_index(random, from, n)];

				ret->levels[f][i] = level;
				ret->values[i] += reduced[f] * fit->effects[half][f][level];
			}
		}
	}
	table_count(ret);
}

static double clip(double share)
{
	return MIN(MAX(share, 0.0), 1.0);
}

static void set_share(double share, double *resampled, size_t n, struct factor_effect *ret)
{
	stats_sort(resampled, n);
	ret->share = clip(share);
	ret->low = clip(stats_percentile(resampled, n, TAIL));
	ret->high = clip(stats_percentile(resampled, n, 1 - TAIL));
}

static void find_intervals(const struct factors_input *input, const struct table *t,
	const struct fit *fit, const struct parts *parts, double scale, uint64_t *random,
	struct factors *ret)
{
	_cleanup_table_ struct table drawn;
	size_t n = choose_number(t->n * MAX(t->n_factors, (size_t)1), RESAMPLES, RESAMPLES_LEAST);
	_cleanup_free_ double *rest = xptr(calloc(t->n, sizeof(*rest)));
	_cleanup_free_ double *all = xptr(calloc(n * N_SHARES, sizeof(*all)));
	struct fit *again = xptr(calloc(1, sizeof(*again)));
	union {
		struct shares shares;
		double items[N_SHARES];
	} u;
	struct shares found;
	struct parts of;

	again->rest = rest;
	table_fill(input, false, &drawn);
	for (size_t i = 0; i < n; i++) {
		resample(t, fit, parts, random, &drawn);
		fit_table(&drawn, NO_FACTOR, scale, again);
		take_apart(&drawn, again, &of);
		find_shares(&of, &u.shares);
		for (size_t k = 0; k < N_SHARES; k++)
			all[k * n + i] = u.items[k];
	}
	free(again);
	find_shares(parts, &found);
	for (size_t f = 0; f < t->n_factors; f++)
		set_share(found.factors[f], &all[f * n], n, &ret->effects[f]);
	set_share(found.held, &all[FACTORS_MAX * n], n, &ret->held);
	set_share(found.draw, &all[(FACTORS_MAX + 1) * n], n, &ret->draw);
	set_share(found.rest, &all[(FACTORS_MAX + 2) * n], n, &ret->rest);
}

/* --- The largest effects --- */

static enum factor_where find_where(const struct table *t, const struct tested *tested)
{
	bool held = tested->of_half[HELD] <= SIGNIFICANCE;
	bool drawn = tested->of_half[DRAWN] <= SIGNIFICANCE;

	if (held == drawn || half_size(t, HELD) == 0 || half_size(t, DRAWN) == 0)
		return FACTOR_EVERYWHERE;
	return held ? FACTOR_WHERE_HELD : FACTOR_WHERE_DRAWN;
}

static void find_extremes(const struct table *t, size_t f, const struct fit *fit,
	const struct parts *parts, struct factor_effect *ret)
{
	double lowest = INFINITY, highest = -INFINITY;

	for (size_t k = 0; k < t->n_levels[f]; k++) {
		double sum = 0, n = 0;

		for (int half = HELD; half < HALVES; half++) {
			double count = (double)t->counts[half][f][k], reduced;

			if (ret->where != FACTOR_EVERYWHERE &&
				(ret->where == FACTOR_WHERE_HELD) != (half == HELD))
				continue;
			reduced = reduction(t, half, f, fit, parts);
			/* Of the effects of several levels, the best prediction is reduced by the
			 * square (Robinson, That BLUP is a good thing, 1991). */
			sum += count * reduced * reduced * fit->effects[half][f][k];
			n += count;
		}
		if (n == 0)
			continue;
		if (sum / n < lowest) {
			lowest = sum / n;
			ret->lowest = k;
		}
		if (sum / n > highest) {
			highest = sum / n;
			ret->highest = k;
		}
	}
	ret->difference = highest > lowest ? highest - lowest : 0;
}

static void find_effects(const struct factors_input *input, const struct table *t,
	const struct fit *fit, const struct parts *parts, double scale, uint64_t *random,
	struct factors *ret)
{
	double p[FACTORS_MAX + 2];
	size_t n = t->n_factors;

	for (size_t f = 0; f < t->n_factors; f++) {
		struct tested tested = test_factor(t, f, scale, random);

		p[f] = tested.p;
		ret->effects[f].where = find_where(t, &tested);
		find_extremes(t, f, fit, parts, &ret->effects[f]);
	}
	if (ret->has_halves) {
		p[n++] = test_held(input, t, scale, random);
		p[n++] = test_draw(t, fit, random);
		ret->held.difference = fit->means[DRAWN] - fit->means[HELD];
		ret->draw.difference = sqrt(MAX(parts->rests[DRAWN] - parts->rests[HELD], 0.0));
	}
	correct(p, n);
	for (size_t i = 0; i < n; i++) {
		struct factor_effect *effect = i < t->n_factors ? &ret->effects[i]
			: i == t->n_factors			? &ret->held
								: &ret->draw;

		effect->p = p[i];
		effect->found = p[i] <= SIGNIFICANCE;
	}
}

size_t factors_least(const struct factor *factors, size_t n_factors, bool has_halves)
{
	size_t n = 1 + FREE_LEAST;

	for (size_t f = 0; f < n_factors; f++)
		n += factors[f].n_levels - 1;
	return has_halves ? 2 * n : n;
}

int factors_compute(const struct factors_input *input, struct factors *ret)
{
	_cleanup_table_ struct table t;
	_cleanup_free_ double *rest = xptr(calloc(input->n + 1, sizeof(*rest)));
	_cleanup_free_ struct fit *fit = xptr(calloc(1, sizeof(*fit)));
	struct factors found = { 0 };
	struct parts parts;
	uint64_t random = SEED;
	double scale;

	table_fill(input, false, &t);
	table_count(&t);
	if (input->n < factors_least(input->factors, input->n_factors, false))
		return -ENODATA;
	for (int half = HELD; half < HALVES; half++)
		if (half_size(&t, half) > 0 && t.freedom[half] < FREE_LEAST)
			return -ENODATA;
	winsorise(t.values, t.n);
	fit->rest = rest;
	/* The scale of the first fit is unknown: it is that of numbers around 0. */
	fit_table(&t, NO_FACTOR, 0, fit);
	take_apart(&t, fit, &parts);
	scale = sqrt(MAX(parts.total, 0.0));
	found.has_halves = half_size(&t, HELD) > 0 && half_size(&t, DRAWN) > 0;
	found.deviation = scale;
	find_intervals(input, &t, fit, &parts, scale, &random, &found);
	find_effects(input, &t, fit, &parts, scale, &random, &found);
	*ret = found;
	return 0;
}
