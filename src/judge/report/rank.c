// SPDX-License-Identifier: GPL-2.0-or-later
#include <math.h>
#include <stdlib.h>

#include "base/macro.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "judge/report/compare.h"
#include "judge/report/rank.h"
#include "judge/report/sense.h"
#include "judge/report/wording.h"
#include "judge/result/metric.h"
#include "judge/stats/multiple.h"

static bool is_of_rate(const struct comparison *c)
{
	return benchmark_is_gain(c->old);
}

/* The program with the lowest median, or with the highest rate. */
static int find_fastest(const struct benchmark *const *programs, size_t n, size_t *ret)
{
	double least = INFINITY;

	*ret = 0;
	for (size_t i = 0; i < n; i++) {
		double median;
		int r = benchmark_median(programs[i], &median);

		if (r < 0)
			return r;
		if (benchmark_is_gain(programs[i]))
			median = -median;
		if (median < least)
			*ret = i;
		least = MIN(least, median);
	}
	return 0;
}

/* Two medians of 0 have no ratio, and are alike. */
static double ratio_or_one(const struct comparison *c)
{
	return isnan(c->ratio.ratio) ? 1 : c->ratio.ratio;
}

static int compare_ratios(const void *a, const void *b)
{
	const struct comparison *c = *(struct comparison *const *)a;
	double x = ratio_or_one(c), y = ratio_or_one(*(struct comparison *const *)b);
	int order = (x > y) - (x < y);

	return is_of_rate(c) ? -order : order;
}

/* With as many decimals as it takes to tell the ends of the interval apart. */
static int choose_decimals(const struct ratio *ratio)
{
	double width = ratio->high - ratio->low;

	/* Of exact figures, which have no interval. */
	if (width == 0 && ratio->ratio != 1)
		width = fabs(ratio->ratio - 1);
	return width > 1e-9 ? (int)MIN(MAX(1 - floor(log10(width)), 0.0), 6.0) : 2;
}

/* " 1.25 times", or nothing where there is no ratio. */
static void append_times(struct text *t, const struct ratio *ratio)
{
	if (isfinite(ratio->ratio))
		text_appendf(t, " %.*f times", choose_decimals(ratio), ratio->ratio);
}

static void append_interval(struct text *t, const struct ratio *ratio)
{
	int decimals = choose_decimals(ratio);

	if (isfinite(ratio->low) && isfinite(ratio->high))
		text_appendf(t, ", %.*f .. %.*f", decimals, ratio->low, decimals, ratio->high);
}

void rank_orient(const struct comparison *c, const struct benchmark **ret_fast,
	const struct benchmark **ret_slow, struct ratio *ret_times)
{
	bool is_rate = is_of_rate(c);
	bool swapped = c->verdict == VERDICT_FASTER;

	*ret_fast = swapped ? c->new : c->old;
	*ret_slow = swapped ? c->old : c->new;
	/* How many times faster: slow / fast for times, fast / slow for rates. */
	*ret_times = swapped != is_rate ? ratio_inverse(c->ratio) : c->ratio;
}

static void append_line(struct text *t, const struct comparison *c)
{
	_cleanup_free_ char *fast = NULL, *slow = NULL;
	const struct benchmark *fast_one, *slow_one;
	struct sense sense;
	struct ratio ratio;

	sense_find(c->old, &sense);
	rank_orient(c, &fast_one, &slow_one, &ratio);
	fast = xptr(text_escape_control(fast_one->name));
	slow = xptr(text_escape_control(slow_one->name));
	if (c->verdict == VERDICT_UNCLEAR) {
		text_appendf(t, "unclear whether %s %s ", fast, sense.has);
		sense_append(t, &sense, false);
		text_appendf(t, " than %s: %s\n", slow, c->unclear);
		return;
	}
	if (c->verdict == VERDICT_SAME) {
		text_appendf(t, "no difference found between %s and %s%s", fast, slow,
			isfinite(ratio.ratio) ? ":" : "");
		append_times(t, &ratio);
	} else {
		text_appendf(t, "%s %s", fast, sense.is_speed ? "ran" : sense.has);
		if (ratio.ratio != 1)
			append_times(t, &ratio);
		text_append(t, " ");
		sense_append(t, &sense, false);
		text_appendf(t, " than %s%s", slow, comparison_where_text(c));
	}
	if (c->verdict == VERDICT_SAME || ratio.ratio != 1)
		append_interval(t, &ratio);
	comparison_append_correction(t, c);
	text_append(t, "\n");
}

static int compare_all(
	const struct benchmark *const *programs, size_t n, struct comparison **comparisons)
{
	size_t fastest, at = 0;
	int r = find_fastest(programs, n, &fastest);

	for (size_t i = 0; r >= 0 && i < n; i++)
		if (i != fastest)
			r = comparison_new_among(
				programs[fastest], programs[i], programs, n, &comparisons[at++]);
	/* This program was chosen by its median, which is also what is compared: its differences
	 * from the others are among the largest of all pairs of programs. */
	if (r >= 0)
		comparison_settle_chosen(comparisons, n - 1, count_pairs_of(n));
	return r;
}

int rank_compare(
	const struct benchmark *const *programs, size_t n, bool by_speed, struct comparison ***ret)
{
	struct comparison **comparisons = xptr(calloc(n + 1, sizeof(*comparisons)));
	int r = 0;

	if (n > 1)
		r = compare_all(programs, n, comparisons);
	if (r < 0) {
		for (size_t i = 0; i + 1 < n; i++)
			comparison_free(comparisons[i]);
		free(comparisons);
		return r;
	}
	if (n > 1 && by_speed)
		qsort(comparisons, n - 1, sizeof(*comparisons), compare_ratios);
	*ret = comparisons;
	return 0;
}

int rank_render(const struct benchmark *const *programs, size_t n, bool by_speed, char **ret)
{
	_cleanup_free_ struct comparison **comparisons = NULL;
	struct text t = { 0 };
	int r;

	r = rank_compare(programs, n, by_speed, &comparisons);
	if (r < 0)
		return r;
	for (size_t i = 0; i + 1 < n; i++) {
		append_line(&t, comparisons[i]);
		comparison_free(comparisons[i]);
	}
	*ret = xptr(text_steal(&t));
	return 0;
}
