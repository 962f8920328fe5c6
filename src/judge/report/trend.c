// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/lookup.h"
#include "base/macro.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "judge/report/control.h"
#include "judge/report/fleet.h"
#include "judge/report/resolution.h"
#include "judge/report/trend.h"
#include "judge/result/metadata.h"
#include "judge/result/metric.h"
#include "judge/stats/stats.h"

enum {
	CONTAINER_ID = 12, /* digits */
};

/* Whether it is the name that a container has when nobody gives it one: the start of its number.
 * Each container has another. */
static bool is_container(const char *node)
{
	return strlen(node) == CONTAINER_ID && strspn(node, "0123456789abcdef") == CONTAINER_ID;
}

static char *name_machine(const struct benchmark *benchmark)
{
	struct fleet_sitting sitting;
	size_t n = fleet_count_machines(benchmark);
	bool has_both;

	if (n > 1)
		return xformat("%zu machines", n);
	(void)fleet_describe_sitting(benchmark, 0, &sitting);
	if (is_container(sitting.node))
		sitting.node = "containers";
	has_both = *sitting.model && *sitting.node;
	return xformat(
		"%s%s%s%s", sitting.model, has_both ? " (" : "", sitting.node, has_both ? ")" : "");
}

/* The clock that stamped the values; "" when it is unknown or no clock did. */
static const char *find_clock(const struct benchmark *benchmark)
{
	const char *clock = benchmark->metric || benchmark_is_by_program(benchmark)
		? NULL
		: facts_find_string(&benchmark->metadata, METADATA_CLOCK);

	return clock ? clock : "";
}

/* The environment of asv, which measures a commit in several; "" where there is none. */
static const char *find_environment(const struct benchmark *benchmark)
{
	const char *environment = facts_find_string(&benchmark->metadata, METADATA_ASV_ENVIRONMENT);

	return environment ? environment : "";
}

/* The history that the benchmark belongs to, perhaps a new one. */
static struct trend *find_trend(
	struct trends *trends, const struct benchmark *benchmark, struct lookup *by_name)
{
	_cleanup_free_ char *machine = name_machine(benchmark);
	const char *clock = find_clock(benchmark), *environment = find_environment(benchmark);
	uint64_t hash = metadata_hash_string(benchmark->name);
	size_t step = 0, at;

	while ((at = lookup_next(by_name, hash, &step)) != SIZE_MAX) {
		struct trend *trend = &trends->items[at];

		if (unit_is_same(trend->unit, benchmark->unit) &&
			strcmp(trend->machine, machine) == 0 && strcmp(trend->clock, clock) == 0 &&
			strcmp(trend->environment, environment) == 0 &&
			metadata_equal_strings(trend->name, benchmark->name))
			return trend;
	}
	trends->items = xptr(reallocarray(trends->items, trends->n + 1, sizeof(*trends->items)));
	trends->items[trends->n] = (struct trend){
		.name = benchmark->name,
		.machine = TAKE_PTR(machine),
		.clock = clock,
		.environment = environment,
		.unit = benchmark->unit,
	};
	xcheck(lookup_add(by_name, hash, trends->n));
	return &trends->items[trends->n++];
}

static bool has_controls(const struct suite *suite)
{
	for (size_t i = 0; i < suite->n; i++)
		if (benchmark_is_control(suite->benchmarks[i]))
			return true;
	return false;
}

static void add_point(struct trends *trends, const struct benchmark *benchmark,
	const struct benchmark *control, const char *file, size_t order, struct lookup *by_name)
{
	struct trend *trend;
	double value;

	if (benchmark_median(benchmark, &value) < 0)
		return;
	trend = find_trend(trends, benchmark, by_name);
	trend->points = xptr(reallocarray(trend->points, trend->n + 1, sizeof(*trend->points)));
	trend->points[trend->n++] = (struct trend_point){
		.benchmark = benchmark,
		.control = control,
		.file = file,
		.commit = facts_find_string(&benchmark->metadata, METADATA_COMMIT),
		.value = value,
		.order = order,
	};
}

static const char *find_commit_date(const struct trend_point *point)
{
	return facts_find_string(&point->benchmark->metadata, METADATA_COMMIT_DATE);
}

static int compare_points(const void *a, const void *b)
{
	const struct trend_point *x = a, *y = b;
	int order = strcmp(x->date, y->date);

	return order != 0 ? order : (x->order > y->order) - (x->order < y->order);
}

/* Gives all points the date of their commit. Returns false when one has none, or none that can be
 * read. */
static bool date_by_commit(struct trend *trend)
{
	for (size_t i = 0; i < trend->n; i++)
		if (!find_commit_date(&trend->points[i]))
			return false;
	for (size_t i = 0; i < trend->n; i++) {
		struct trend_point *point = &trend->points[i];
		const char *text = find_commit_date(point);
		int64_t date;

		if (metadata_parse_date(text, &date) < 0) {
			trend->unreadable_date = text;
			trend->unreadable_file = point->file;
			return false;
		}
		(void)benchmark_format_date(date, point->date);
	}
	return true;
}

static void sort_points(struct trend *trend)
{
	bool by_commit = date_by_commit(trend), by_date = true;

	for (size_t i = 0; i < trend->n; i++) {
		struct trend_point *point = &trend->points[i];

		if (!by_commit)
			point->date[0] = '\0';
		if (!by_commit && point->benchmark->has_dates)
			(void)benchmark_format_date(point->benchmark->first_date, point->date);
		by_date = by_date && point->date[0];
	}
	/* Without its date, the place of a result in time is unknown. */
	if (by_date)
		qsort(trend->points, trend->n, sizeof(*trend->points), compare_points);
}

/* Whether all results can be compared by their controls with the first one. */
static bool are_comparable(const struct trend *trend)
{
	const struct trend_point *first = &trend->points[0];

	for (size_t i = 0; i < trend->n; i++) {
		const struct trend_point *point = &trend->points[i];
		_cleanup_free_ char *why = NULL;

		if (!point->control)
			return false;
		why = control_explain_different(
			first->benchmark, first->control, point->benchmark, point->control);
		if (why)
			return false;
	}
	return true;
}

/* Takes the control's own changes out of the values. */
static int apply_control(struct trend *trend)
{
	_cleanup_free_ const struct benchmark **of = NULL, **controls = NULL;
	_cleanup_free_ double *values = NULL;
	struct control_slope slope;
	int r;

	if (!are_comparable(trend))
		return 0;
	of = xptr(calloc(trend->n, sizeof(*of)));
	controls = xptr(calloc(trend->n, sizeof(*controls)));
	values = xptr(calloc(trend->n, sizeof(*values)));
	trend->control_values = xptr(calloc(trend->n, sizeof(*values)));
	for (size_t i = 0; i < trend->n; i++) {
		of[i] = trend->points[i].benchmark;
		controls[i] = trend->points[i].control;
		values[i] = trend->points[i].value;
	}
	r = control_correct(of, controls, trend->n, values, trend->control_values, &slope);
	/* A result without a common round is comparable by its values alone. */
	if (r < 0)
		return r == -ENODATA ? 0 : r;
	for (size_t i = 0; i < trend->n; i++)
		trend->points[i].value = values[i];
	trend->by_control = true;
	trend->control_slope = slope.slope;
	trend->slope_error = slope.error;
	return 0;
}

/* Finds the results that came in between after a later one had been measured. */
static void find_late(struct trend *trend)
{
	int64_t first = INT64_MAX;

	for (size_t i = trend->n; i-- > 0;) {
		const struct benchmark *benchmark = trend->points[i].benchmark;

		if (!benchmark->has_dates)
			continue;
		if (benchmark->first_date > first && trend->n_late++ == 0)
			trend->late_file = trend->points[i].file;
		first = MIN(first, benchmark->first_date);
	}
}

/* The share of all pairs of a result of this level and one of the level before it in which this
 * level has the larger value, where the machine slows down the program `slope` times as much as its
 * control. */
static double find_larger(const struct trend *trend, size_t level, double slope)
{
	const struct level *old = &trend->levels->items[level - 1], *new = old + 1;
	bool is_gain = benchmark_is_gain(trend->points[0].benchmark);
	/* The control's time grows where a rate falls. */
	const double more = (slope - trend->control_slope) * (is_gain ? -1 : 1);
	double n_larger = 0;

	for (size_t i = old->first; i < old->first + old->n; i++)
		for (size_t k = new->first; k < new->first + new->n; k++) {
			double change = log(trend->points[k].value / trend->points[i].value) -
				more * log(trend->control_values[k] / trend->control_values[i]);

			n_larger += change > 0 ? 1 : change == 0 ? 0.5 : 0;
		}
	return n_larger / (double)old->n / (double)new->n;
}

/* How far the level differs from the one before it in the same direction, whichever slope it is of
 * those that are not excluded: above 0.5 where it does. */
static double find_reach(const struct trend *trend, size_t level)
{
	double error = MAX(trend->slope_error, RESOLUTION_OF_CONTROL);
	double low = find_larger(trend, level, trend->control_slope - error);
	double high = find_larger(trend, level, trend->control_slope + error);

	return find_larger(trend, level, trend->control_slope) > 0.5 ? fmin(low, high)
								     : 1 - fmax(low, high);
}

/* Makes one level of this one and the one before it. */
static void join_levels(struct trend *trend, size_t level, const double *values, double *scratch)
{
	struct levels *levels = trend->levels;
	struct level *before = &levels->items[level - 1];

	before->n += levels->items[level].n;
	before->median = stats_find_median(values + before->first, before->n, scratch);
	levels->n--;
	memmove(&levels->items[level], &levels->items[level + 1],
		(levels->n - level) * sizeof(*levels->items));
}

/* A change that another slope makes none of, or one in the other direction, is none that is known
 * to be the program's. The one that is least beyond that comes first, as the levels beside it are
 * others then. */
static void join_uncertain(struct trend *trend, const double *values, double *scratch)
{
	while (trend->levels->n > 1) {
		double least = 0.5;
		size_t at = 0;

		for (size_t i = 1; i < trend->levels->n; i++) {
			double reach = find_reach(trend, i);

			if (reach <= least) {
				least = reach;
				at = i;
			}
		}
		if (at == 0)
			return;
		join_levels(trend, at, values, scratch);
		trend->n_by_machine++;
	}
}

static int find_levels(struct trend *trend, size_t n_together)
{
	_cleanup_free_ double *values = xptr(calloc(trend->n, 2 * sizeof(*values)));
	int r;

	for (size_t i = 0; i < trend->n; i++)
		values[i] = trend->points[i].value;
	r = levels_find_changes(values, trend->n, n_together, &trend->levels);
	if (r >= 0 && trend->by_control)
		join_uncertain(trend, values, values + trend->n);
	return r;
}

static void clear_trend(struct trend *trend)
{
	free(trend->machine);
	free(trend->points);
	free(trend->control_values);
	levels_free(trend->levels);
}

static void keep_named(struct trends *trends, const char *name)
{
	size_t n = 0;

	for (size_t i = 0; i < trends->n; i++)
		if (metadata_equal_strings(trends->items[i].name, name))
			trends->items[n++] = trends->items[i];
		else
			clear_trend(&trends->items[i]);
	trends->n = n;
}

int trends_new(struct suite *const *suites, char *const *files, size_t n, const char *name,
	struct trends **ret)
{
	_cleanup_(trends) struct trends *trends = xptr(calloc(1, sizeof(*trends)));
	_cleanup_lookup_ struct lookup by_name = { 0 };
	int r;

	for (size_t i = 0; i < n; i++) {
		const struct suite *suite = suites[i];
		bool any_control = has_controls(suite);

		for (size_t k = 0; k < suite->n; k++) {
			const struct benchmark *benchmark = suite->benchmarks[k];
			const struct benchmark *control = any_control
				? control_find(suite->benchmarks, suite->n, benchmark)
				: NULL;

			if (!benchmark_is_control(benchmark))
				add_point(trends, benchmark, control, files[i], i, &by_name);
		}
	}
	trends->n_together = trends->n;
	if (name)
		keep_named(trends, name);
	for (size_t i = 0; i < trends->n; i++) {
		sort_points(&trends->items[i]);
		find_late(&trends->items[i]);
		r = apply_control(&trends->items[i]);
		if (r == 0)
			r = find_levels(&trends->items[i], trends->n_together);
		if (r < 0)
			return r;
	}
	*ret = TAKE_PTR(trends);
	return 0;
}

void trends_free(struct trends *trends)
{
	if (!trends)
		return;
	for (size_t i = 0; i < trends->n; i++)
		clear_trend(&trends->items[i]);
	free(trends->items);
	free(trends);
}

double trend_change(const struct trend *trend, size_t i)
{
	double old = trend->levels->items[i - 1].median;

	/* Medians below 0 rise towards 0. */
	return (trend->levels->items[i].median - old) / fabs(old);
}

bool trend_is_worse(const struct trend *trend, size_t i, double percent)
{
	double change = 100 * trend_change(trend, i);

	return (benchmark_is_gain(trend->points[0].benchmark) ? -change : change) > percent;
}

char *trend_headline(const struct trend *trend, size_t needed)
{
	_cleanup_free_ char *name = xptr(text_escape_control(trend->name));
	_cleanup_free_ char *machine = xptr(text_escape_control(trend->machine));
	_cleanup_free_ char *clock = xptr(text_escape_control(trend->clock));
	_cleanup_free_ char *environment = xptr(text_escape_control(trend->environment));
	size_t n_changes = trend->levels->n - 1;
	struct text t = { 0 };

	text_append(&t, name);
	if (trend->points[0].benchmark->metric && !trend->points[0].benchmark->is_figure)
		text_appendf(&t, " (%s)", trend->points[0].benchmark->metric);
	text_appendf(&t, "%s%s", *machine ? " on " : "", machine);
	if (*clock)
		text_appendf(&t, ", clock %s", clock);
	if (*environment)
		text_appendf(&t, ", in %s", environment);
	text_appendf(&t, ": %zu result%s%s, ", trend->n, trend->n == 1 ? "" : "s",
		trend->by_control ? " by their control" : "");
	if (trend->n < needed)
		text_appendf(&t, "too few to find changes: that takes %zu", needed);
	else
		text_appendf(&t, "%zu change%s", n_changes, n_changes == 1 ? "" : "s");
	return xptr(text_steal(&t));
}
