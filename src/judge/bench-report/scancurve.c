// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "base/random.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "judge/bench-report/scancurve.h"
#include "judge/report/analysis.h"
#include "judge/report/fleet.h"
#include "judge/result/scan.h"
#include "judge/stats/stats.h"

enum {
	POINTS_MIN = GROWTH_MIN_SIZES,
	RESAMPLES = 400,
	DRAWS_MAX = 1000, /* of more units, so many tell how much their median may vary */
};

/* A difference below this is not worth mentioning. */
static const double NEGLIGIBLE = 0.01;

/* The benchmarks of the request. */
struct found {
	struct scan_point *items;
	size_t n;
};

static int add_found(const char *file, const struct benchmark *benchmark, void *context)
{
	struct found *found = context;

	if (benchmark->n_values == 0 || benchmark_is_control(benchmark))
		return 0;
	found->items = xptr(reallocarray(found->items, found->n + 1, sizeof(*found->items)));
	found->items[found->n++] = (struct scan_point){ .file = file, .benchmark = benchmark };
	return 0;
}

static int compare_points(const void *a, const void *b)
{
	const struct scan_point *x = a, *y = b;

	return (x->x > y->x) - (x->x < y->x);
}

static void curve_clear(struct scan_curve *curve)
{
	for (size_t i = 0; i < curve->n; i++)
		free(curve->points[i].units);
	free(curve->points);
	free(curve->name);
}

void scan_clear(struct scan *scan)
{
	for (size_t i = 0; i < scan->n; i++)
		curve_clear(&scan->curves[i]);
	*scan = (struct scan){ 0 };
}

static int find_curve(struct scan *scan, const struct request *request,
	const struct scan_point *point, struct scan_curve **ret)
{
	_cleanup_free_ char *name = scan_family(point->benchmark, scan->parameter);

	if (request->n_files > 1) {
		_cleanup_free_ char *family = TAKE_PTR(name);

		name = xformat("%s: %s", file_label(point->file), family);
	}
	for (size_t i = 0; i < scan->n; i++) {
		if (strcmp(scan->curves[i].name, name) == 0) {
			*ret = &scan->curves[i];
			return 0;
		}
	}
	if (scan->n == CHART_MAX_SERIES)
		return -E2BIG;
	*ret = &scan->curves[scan->n++];
	**ret = (struct scan_curve){ .name = TAKE_PTR(name) };
	return 0;
}

/* The figures are those of the other verbs, which know of what there is no interval. */
static int fill_point(struct scan_point *point)
{
	_cleanup_(analysis) struct analysis *analysis = NULL;
	int r = analysis_new(point->benchmark, &analysis);

	if (r >= 0)
		r = benchmark_units(point->benchmark, &point->units, &point->n);
	if (r < 0)
		return r;
	stats_sort(point->units, point->n);
	point->has_runs = point->n > 1 && benchmark_units_are_runs(point->benchmark) &&
		!fleet_is_needed(&point->benchmark, 1);
	point->median = analysis->unit_median;
	point->low = analysis->stats.has_interval ? analysis->stats.interval_low : NAN;
	point->high = analysis->stats.has_interval ? analysis->stats.interval_high : NAN;
	return 0;
}

/* Adds the benchmarks that have the parameter as a number. *ret_left: the number of benchmarks
 * without such a number, or in another unit. */
static int make_curves(struct scan *scan, const struct request *request, const struct found *found,
	size_t *ret_left)
{
	const struct benchmark *first = NULL;

	*ret_left = 0;
	for (size_t i = 0; i < found->n; i++) {
		struct scan_point point = found->items[i];
		struct scan_curve *curve = NULL;
		int r = scan_number(point.benchmark, scan->parameter, &point.x);

		first = first ? first : r >= 0 ? point.benchmark : NULL;
		if (r < 0 || !unit_is_same(point.benchmark->unit, first->unit)) {
			++*ret_left;
			continue;
		}
		r = find_curve(scan, request, &point, &curve);
		if (r < 0)
			return r;
		curve->points =
			xptr(reallocarray(curve->points, curve->n + 1, sizeof(*curve->points)));
		r = fill_point(&point);
		if (r < 0) {
			free(point.units);
			return r;
		}
		curve->points[curve->n++] = point;
	}
	for (size_t i = 0; i < scan->n; i++)
		qsort(scan->curves[i].points, scan->curves[i].n, sizeof(struct scan_point),
			compare_points);
	return 0;
}

/* --- Growth --- */

/* The median of as many units as there are, drawn with replacement. */
static double draw_median(const struct scan_point *point, uint64_t *random, double *scratch)
{
	size_t n = MIN(point->n, (size_t)DRAWS_MAX);

	for (size_t i = 0; i < n; i++)
		scratch[i] = point->units[random_next(random) % point->n];
	stats_sort(scratch, n);
	return stats_median(scratch, n);
}

static void judge_draws(struct scan_growth *growth, const char *const *best, double *each)
{
	size_t n_same = 0, n_other = 0;

	for (size_t i = 0; i < RESAMPLES; i++) {
		size_t n = 0;

		if (best[i] == growth->best.what) {
			each[n_same++] = each[i];
			continue;
		}
		for (size_t k = 0; k < RESAMPLES; k++)
			n += best[k] == best[i];
		if (n > n_other) {
			n_other = n;
			growth->other = best[i];
		}
	}
	growth->share = (double)n_same / RESAMPLES;
	growth->other_share = (double)n_other / RESAMPLES;
	stats_sort(each, n_same);
	growth->each_low = growth->each_high = NAN;
	if (n_same > 0 && each[0] < each[n_same - 1]) {
		growth->each_low = stats_percentile(each, n_same, 0.025);
		growth->each_high = stats_percentile(each, n_same, 0.975);
	}
}

static bool is_constant_kind(const struct growth *growth)
{
	return strcmp(growth->what, "1") == 0;
}

/* Whether all points may have the same time: there is a time in the intervals of all points, or the
 * intervals miss this by a negligible difference. */
static bool may_be_constant(const struct scan_curve *curve)
{
	double low = 0, high = INFINITY;

	for (size_t i = 0; i < curve->n; i++) {
		const struct scan_point *point = &curve->points[i];
		bool known = !isnan(point->low);

		/* Sorted by fill_point(). */
		low = MAX(low, known ? point->low : point->units[0]);
		high = MIN(high, known ? point->high : point->units[point->n - 1]);
	}
	return low <= high * (1 + NEGLIGIBLE);
}

/* How sure the growth is, by runs that are drawn anew. `times` is scratch. */
static int draw_anew(struct scan_curve *curve, const double *sizes, double *times)
{
	double scratch[DRAWS_MAX], each[RESAMPLES];
	const char *best[RESAMPLES];
	struct growth fits[GROWTH_KINDS];
	uint64_t random = 1;

	for (size_t k = 0; k < RESAMPLES; k++) {
		for (size_t i = 0; i < curve->n; i++)
			times[i] = draw_median(&curve->points[i], &random, scratch);
		if (growth_fit(sizes, times, curve->n, fits) < 0)
			return -EINVAL;
		best[k] = fits[0].what;
		each[k] = fits[0].each;
	}
	judge_draws(&curve->growth, best, each);
	return 0;
}

static int estimate_growth(struct scan_curve *curve)
{
	_cleanup_free_ double *sizes = xptr(reallocarray(NULL, curve->n, sizeof(*sizes)));
	_cleanup_free_ double *times = xptr(reallocarray(NULL, curve->n, sizeof(*times)));
	struct growth fits[GROWTH_KINDS];
	bool has_runs = true;

	for (size_t i = 0; i < curve->n; i++) {
		sizes[i] = curve->points[i].x;
		times[i] = curve->points[i].median;
		has_runs = has_runs && curve->points[i].has_runs;
		/* Sorted by fill_point(): the first is the least one. */
		if (!(sizes[i] > 0) || !(curve->points[i].units[0] > 0))
			return 0;
	}
	if (growth_fit(sizes, times, curve->n, fits) < 0)
		return 0;
	/* All kinds of growth rise or stay constant, so falling times fit "constant" best. */
	if (is_constant_kind(&fits[0]) && !may_be_constant(curve))
		return 0;
	curve->growth = (struct scan_growth){
		.known = true,
		.best = fits[0],
		.share = NAN,
		.other_share = NAN,
		.each_low = NAN,
		.each_high = NAN,
	};
	return has_runs ? draw_anew(curve, sizes, times) : 0;
}

static const char *format_value(
	const struct scan_curve *curve, double value, double reference, char *buf)
{
	return scale_format(
		scale_choose_unit(curve->points[0].benchmark->unit, reference), value, buf);
}

char *scan_growth_text(const struct scan *scan, const struct scan_curve *curve)
{
	const struct scan_growth *g = &curve->growth;
	char a[UNITS_TEXT_SIZE], b[UNITS_TEXT_SIZE];
	struct text t = { 0 };
	bool is_constant = g->known && is_constant_kind(&g->best);

	if (!g->known)
		return xptr(text_steal(&t));
	if (is_constant)
		text_appendf(&t, "the same for all %s", scan->parameter);
	else
		text_appendf(&t, "%s%s%s * %s",
			g->best.once > 0 ? format_value(curve, g->best.once, g->best.once, a) : "",
			g->best.once > 0 ? " + " : "",
			format_value(curve, g->best.each, g->best.each, b), g->best.what);
	if (!is_constant && !isnan(g->each_low))
		text_appendf(&t, " (%s .. %s)", format_value(curve, g->each_low, g->each_high, a),
			format_value(curve, g->each_high, g->each_high, b));
	if (isnan(g->share))
		text_append(&t, ", how runs differ is not known");
	else if (isnan(g->each_low) && g->share == 1 && !is_constant)
		text_append(&t, ", of runs that do not differ");
	else if (g->share > 0.99)
		text_appendf(&t, ", in %s of resamples", g->share < 1 ? "over 99 %" : "all");
	else
		text_appendf(&t, ", in %.0f %% of resamples", g->share * 100);
	if (g->other && g->share <= 0.99)
		text_appendf(&t, "; %s in %.0f %%", g->other, g->other_share * 100);
	return xptr(text_steal(&t));
}

/* --- All of it --- */

static bool has_curves(const struct scan *scan, size_t points)
{
	for (size_t i = 0; i < scan->n; i++)
		if (scan->curves[i].n < points ||
			!(scan->curves[i].points[0].x <
				scan->curves[i].points[scan->curves[i].n - 1].x))
			return false;
	return scan->n > 0;
}

static int choose_parameter(
	const struct request *request, const struct found *found, struct scan *scan)
{
	const char *parameter;

	for (size_t i = 0;
		found->n > 0 && (parameter = scan_parameter(found->items[0].benchmark, i)); i++) {
		size_t n_left;

		scan->parameter = parameter;
		if (make_curves(scan, request, found, &n_left) >= 0 && n_left == 0 &&
			has_curves(scan, POINTS_MIN))
			return 0;
		scan_clear(scan);
	}
	return -ENODATA;
}

static int take_parameter(
	const struct request *request, const struct found *found, struct scan *scan)
{
	size_t n_left;
	int r;

	scan->parameter = request->by;
	r = make_curves(scan, request, found, &n_left);
	if (r == -E2BIG)
		say("more than %d curves belong into one picture: give fewer files",
			CHART_MAX_SERIES);
	if (r < 0)
		return r;
	if (!has_curves(scan, 2)) {
		say("--by: no benchmark was measured with several numbers as '%s'", request->by);
		return -ENOENT;
	}
	if (n_left > 0)
		say("warning: not drawn: %zu benchmark%s without a number as '%s', or in another unit",
			n_left, n_left == 1 ? "" : "s", request->by);
	return 0;
}

int scan_new(const struct request *request, const struct reports *reports, struct scan *ret)
{
	struct found found = { 0 };
	struct scan scan = { 0 };
	int r = reports_each(request, reports, add_found, &found);

	if (r >= 0)
		r = request->by ? take_parameter(request, &found, &scan)
				: choose_parameter(request, &found, &scan);
	for (size_t i = 0; r >= 0 && i < scan.n; i++)
		r = estimate_growth(&scan.curves[i]);
	free(found.items);
	if (r < 0)
		scan_clear(&scan);
	else
		*ret = scan;
	return r;
}
