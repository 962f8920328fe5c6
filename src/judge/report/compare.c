// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "judge/report/analysis.h"
#include "judge/report/compare.h"
#include "judge/report/differences.h"
#include "judge/report/fixedtime.h"
#include "judge/report/turns.h"
#include "judge/result/metric.h"
#include "judge/stats/level.h"
#include "judge/stats/multiple.h"
#include "judge/stats/shift.h"

static char *explain_unstable(const struct range ranges[2], const struct unit *unit)
{
	char shown[2][2][UNITS_TEXT_SIZE];

	for (int i = 0; i < 2; i++) {
		struct scale scale = scale_refine(scale_choose_unit(unit, ranges[i].high), 1);

		(void)scale_format_shown(scale, unit, ranges[i].low, shown[i][0]);
		(void)scale_format_shown(scale, unit, ranges[i].high, shown[i][1]);
	}
	return resolution_explain_ranges(ranges, "ones", shown);
}

static double *copy_units(const double *units, size_t n, bool as_logarithms)
{
	double *copy = xptr(reallocarray(NULL, n, sizeof(*copy)));

	for (size_t i = 0; i < n; i++)
		copy[i] = as_logarithms ? log(units[i]) : units[i];
	return copy;
}

static void set_shift(struct comparison *c)
{
	struct shift shift;

	shift_test_find(c->test, SIGNIFICANCE, &shift);
	c->ratio = ratio_of_shift(&shift);
	c->p = shift.p;
	c->least_p = shift.least_p;
}

/* "the data are not stable: the changes of the pairs jump between -1.5 % and +9.3 %"; NULL in *ret
 * when they are stable. */
static int explain_unstable_pairs(const double *ratios, size_t n, char **ret)
{
	_cleanup_(levels) struct levels *levels = NULL;
	char low[UNITS_TEXT_SIZE], high[UNITS_TEXT_SIZE];
	struct range range;
	int r;

	*ret = NULL;
	r = levels_find(ratios, n, &levels);
	if (r < 0)
		return r;
	range = resolution_find_range(levels);
	/* If the whole range is on one side of 1, the verdict does not depend on the time of the
	 * measurement. */
	if (!range.how || range.low > 1 || range.high < 1)
		return 0;
	units_format_change(range.low - 1, low);
	units_format_change(range.high - 1, high);
	*ret = xformat("the data are not stable: the changes of the pairs %s between %s and %s",
		range.how, low, high);
	return 0;
}

/* Without an interval. Medians below 0 have no ratio: that of -1 to -2 is a half, although -1 is
 * more. */
static struct ratio ratio_of_medians(double old, double new)
{
	return (struct ratio){ old < 0 || new < 0 ? NAN : new / old, NAN, NAN };
}

/* Pairs that have ratios, of which the change is the median. `a` and `b` are logarithms. */
static int compare_ratios(
	struct comparison *c, const double *a, const double *b, const double *ratios, size_t n)
{
	int r = shift_test_of_pairs(a, b, n, &c->test);

	if (r >= 0)
		r = explain_unstable_pairs(ratios, n, &c->doubt);
	if (r >= 0)
		set_shift(c);
	return r;
}

/* Other pairs. Ranks are the same with and without logarithms. Sorts the values. */
static int compare_ranks(struct comparison *c, double *a, double *b, size_t n)
{
	struct shift shift;
	int r = shift_of_pairs(a, b, n, &shift);

	if (r < 0)
		return r;
	stats_sort(a, n);
	stats_sort(b, n);
	c->ratio = ratio_of_medians(stats_median(a, n), stats_median(b, n));
	c->p = shift.p;
	c->least_p = shift.least_p;
	return 0;
}

/* Compares the units in pairs, which are in the order of the runs. Where a value is not above 0, or
 * a ratio is no double, the change is that of the medians. */
static int compare_pairs(struct comparison *c, const double *old, const double *new, size_t n)
{
	_cleanup_free_ double *ratios = xptr(reallocarray(NULL, n, sizeof(*ratios)));
	_cleanup_free_ double *differences = xptr(reallocarray(NULL, n, sizeof(*differences)));
	_cleanup_free_ double *a = NULL, *b = NULL;
	bool have_ratios = true;
	int r;

	for (size_t i = 0; i < n; i++) {
		ratios[i] = new[i] / old[i];
		have_ratios = have_ratios && isfinite(ratios[i]) && ratios[i] > 0;
	}
	a = copy_units(old, n, have_ratios);
	b = copy_units(new, n, have_ratios);
	for (size_t i = 0; i < n; i++)
		differences[i] = b[i] - a[i];
	r = signed_rank_test(differences, n, &c->signs);
	if (r >= 0 && have_ratios)
		r = compare_ratios(c, a, b, ratios, n);
	else if (r >= 0)
		r = compare_ranks(c, a, b, n);
	if (r < 0)
		return r;
	c->design = COMPARED_IN_TURN;
	c->n_pairs = n;
	return 0;
}

/* Compares sorted units. Units that are not times may be 0 or less, and have no ratio then. */
static int compare_samples(struct comparison *c, const double *old, const double *new)
{
	size_t n_old = c->old_stats.n, n_new = c->new_stats.n;
	_cleanup_free_ double *a = NULL, *b = NULL;
	int r;

	c->ratio = ratio_of_medians(c->old_stats.median, c->new_stats.median);
	c->p = MAX(c->ranks.p, c->ranks.p_unequal);
	c->least_p = mann_whitney_least_p(n_old, n_new);
	if (!(old[0] > 0) || !(new[0] > 0))
		return 0;
	a = copy_units(old, n_old, true);
	b = copy_units(new, n_new, true);
	r = shift_test_of_samples(a, n_old, b, n_new, &c->test);
	if (r >= 0)
		set_shift(c);
	return r;
}

/* Whether the values depend on what the machine does while they are measured: times do, and counts
 * such as cycles, cache misses and switches. Sizes and counts that the program gives itself are
 * taken for its own. */
static bool depends_on_machine(const struct benchmark *benchmark)
{
	if (benchmark->metric)
		return !metric_is_of_program(benchmark->metric);
	return unit_is_time(benchmark->unit);
}

/* Finds how far the machine may have changed between two results that were not measured in turn. */
static void resolve_machines(
	struct comparison *c, const struct benchmark *old, const struct benchmark *new)
{
	const struct resolution found = differences_find_resolution(c, old, new);

	if (depends_on_machine(c->old))
		resolution_widen(&c->of_machine, &found);
}

/* One benchmark by itself: the numbers to compare, and what `check` has to say of them. */
struct side {
	double *units;
	size_t n;
	struct range range;
	struct resolution resolution;
	double excess; /* what is added to the resolution */
	struct analysis *analysis;
};

static void side_clear(struct side *side)
{
	free(side->units);
	analysis_free(side->analysis);
}

/* The analysis that only results that were measured one after the other need. The order of the
 * units does not matter. */
static int side_analyze(struct side *side, const struct benchmark *benchmark)
{
	bool above_zero = true;
	int r;

	r = analysis_new(benchmark, &side->analysis);
	if (r < 0)
		return r;
	side->range = resolution_find_range(side->analysis->levels);
	for (size_t i = 0; i < side->n; i++)
		above_zero = above_zero && side->units[i] > 0;
	if (above_zero)
		side->resolution = resolution_of_units(
			side->units, side->n, side->analysis->levels, &side->excess);
	return 0;
}

/* What `check` objects to in a side. */
static void object_to(struct comparison *c, const char *name, const struct stability *stability)
{
	c->objections = xptr(reallocarray(c->objections,
		c->n_objections + stability->n_concerns + 1, sizeof(*c->objections)));
	for (size_t i = 0; i < stability->n_concerns; i++)
		if (stability->concerns[i].warning)
			c->objections[c->n_objections++] =
				xformat("%s: %s", name, stability->concerns[i].text);
	if (stability->mostly_disturbed) {
		_cleanup_free_ char *disturbed = stability_disturbed_text(stability);

		c->objections[c->n_objections++] = xformat("%s: %s", name, disturbed);
	}
}

/* Collects all doubts about two benchmarks that were measured one after the other. */
static int doubt_sequence(struct comparison *c, struct side *old, struct side *new)
{
	int r;

	c->had_core = differences_find_of_cores(c, c->old, c->new);
	r = side_analyze(old, c->old);
	if (r >= 0)
		r = side_analyze(new, c->new);
	if (r < 0)
		return r;
	c->is_disturbed = old->analysis->stability->mostly_disturbed ||
		new->analysis->stability->mostly_disturbed;
	resolve_machines(c, c->old, c->new);
	resolution_widen(&c->of_levels, &old->resolution);
	resolution_widen(&c->of_levels, &new->resolution);
	c->resolution = c->of_machine;
	resolution_widen(&c->resolution, &c->of_levels);
	resolution_add_excess(&c->resolution, MAX(old->excess, new->excess));
	resolution_widen_interval(&c->resolution, &c->ratio.low, &c->ratio.high);
	object_to(c, "old", old->analysis->stability);
	object_to(c, "new", new->analysis->stability);
	if (c->doubt)
		return 0;
	if ((old->range.how || new->range.how) &&
		old->range.low <= new->range.high &&new->range.low <= old->range.high) {
		const struct range ranges[] = { old->range, new->range };

		c->doubt = explain_unstable(ranges, c->old->unit);
	}
	return 0;
}

/* The figures of both, and those that are for information only. Sorts the units. */
static int compute_figures(
	struct comparison *c, double *old, size_t n_old, double *new, size_t n_new)
{
	int r;

	r = stats_compute(old, n_old, &c->old_stats);
	if (r >= 0)
		r = stats_compute(new, n_new, &c->new_stats);
	if (r >= 0)
		r = mann_whitney_test(old, n_old, new, n_new, &c->ranks);
	if (r < 0)
		return r;
	c->welch = (struct welch){ NAN, NAN, NAN };
	(void)welch_test(old, n_old, new, n_new, &c->welch);
	return 0;
}

/* Whether each run of one is a run of the other, too: values that a program measured have its runs.
 */
static bool is_part_of(const struct series *part, const struct series *whole)
{
	size_t at = 0;

	for (size_t i = 0; i < part->n_samples; i++) {
		int64_t start = part->start_realtime_ns + part->samples[i].start_ns;

		while (at < whole->n_samples &&
			whole->start_realtime_ns + whole->samples[at].start_ns != start)
			at++;
		if (at == whole->n_samples)
			return false;
	}
	return true;
}

/* Looks at what the two do to each other's runs; `all` are the benchmarks of their file. */
static void look_at_order(struct comparison *c, const struct benchmark *const *all, size_t n_all)
{
	_cleanup_free_ const struct benchmark **others =
		xptr(reallocarray(NULL, MAX(n_all, (size_t)1), sizeof(*others)));
	size_t n_others = 0;

	for (size_t i = 0; i < n_all; i++)
		/* Of the figures of another program one is enough: they are of the same runs. */
		if (!benchmark_is_by_program(all[i]) && turns_are_common(all[i], c->old) &&
			(!all[i]->is_figure || benchmark_is_same_metric(all[i], c->old)) &&
			!is_part_of(c->old->series, all[i]->series) &&
			!is_part_of(c->new->series, all[i]->series))
			others[n_others++] = all[i];
	carryover_find(c->old, c->new, others, n_others, &c->carryover);
}

/* Finds in which steps the figures are counted, after their medians; of times, where nothing else
 * tells them, by the values. */
static void find_step(struct comparison *c, const struct side *old, const struct side *new)
{
	const double medians[] = { c->old_stats.median, c->new_stats.median };
	double steps[] = { c->old->step, c->new->step };

	if (unit_is_time(c->old->unit) && steps[0] <= 0 && steps[1] <= 0)
		steps[0] = steps[1] = stats_find_step(old->units, old->n, new->units, new->n);
	for (size_t i = 0; i < ARRAY_SIZE(steps); i++)
		if (medians[i] > 0)
			c->step = MAX(c->step, steps[i] / medians[i]);
}

/* Exact figures are the same in all runs of a program: then a difference is one. */
static int compute_exact(struct comparison *c, struct side *old, struct side *new)
{
	int r = compute_figures(c, old->units, old->n, new->units, new->n);
	double ratio;

	if (r < 0)
		return r;
	ratio = ratio_of_medians(c->old_stats.median, c->new_stats.median).ratio;
	c->ratio = (struct ratio){ ratio, ratio, ratio };
	c->p = c->old_stats.median == c->new_stats.median ? 1 : 0;
	if (c->old_stats.min != c->old_stats.max || c->new_stats.min != c->new_stats.max)
		c->doubt = xformat("it is to be exact, and differs between the runs of %s",
			c->old_stats.min != c->old_stats.max ? c->old->name : c->new->name);
	return 0;
}

/* One result of each, of one machine. Pairs need the units in the order of the runs, so they come
 * first: stats_compute() sorts them. */
static int compute(struct comparison *c, struct side *old, struct side *new,
	const struct benchmark *const *all, size_t n_all)
{
	bool is_single;
	char *doubt;
	size_t n_pairs = 0;
	int r;

	r = benchmark_units(c->old, &old->units, &old->n);
	if (r >= 0)
		r = benchmark_units(c->new, &new->units, &new->n);
	if (r >= 0 && comparison_is_exact(c))
		return compute_exact(c, old, new);
	if (r >= 0 && turns_are_common(c->old, c->new))
		n_pairs = turns_pick_pairs(c->old, c->new, old->units, new->units);
	/* Without a pair all units are used, which were measured one after the other. */
	if (r >= 0 && n_pairs > 0) {
		old->n = new->n = n_pairs;
		r = compare_pairs(c, old->units, new->units, n_pairs);
		if (r >= 0)
			look_at_order(c, all, n_all);
	}
	if (r >= 0)
		r = compute_figures(c, old->units, old->n, new->units, new->n);
	if (r >= 0 && n_pairs == 0)
		r = compare_samples(c, old->units, new->units);
	if (r < 0)
		return r;
	find_step(c, old, new);
	c->has_step = comparison_widen_by_step(c, &c->ratio);
	if (n_pairs > 0)
		c->mean_ratio = welch_ratio_beyond(
			old->units, old->n, new->units, new->n, c->ratio.low, c->ratio.high);
	/* Values of one run tell nothing of other runs. */
	is_single = !benchmark_units_are_runs(c->old) || c->old_stats.n < 2 ||
		!benchmark_units_are_runs(c->new) || c->new_stats.n < 2;
	doubt = fixedtime_find(c->old, c->new, c->ratio.low, c->ratio.high);
	c->is_fixed_time = doubt;
	if (!doubt && is_single)
		doubt = xptr(strdup("how much runs differ is not known from a single one"));
	if (doubt) {
		free(c->doubt);
		c->doubt = doubt;
	}
	if (is_single)
		c->ratio.low = c->ratio.high = NAN;
	return n_pairs == 0 ? doubt_sequence(c, old, new) : 0;
}

static int comparison_begin(const struct benchmark *const *old, size_t n_old,
	const struct benchmark *const *new, size_t n_new, struct comparison **ret)
{
	_cleanup_(comparison) struct comparison *c = xptr(calloc(1, sizeof(*c)));

	c->old = old[0];
	c->new = new[0];
	c->faults[0] = c->faults[1] = NAN;
	c->mean_ratio = NAN;
	c->carryover = (struct carryover){ .p = 1, .alone_change = NAN };
	for (size_t i = 0; i < n_old + n_new; i++) {
		const struct benchmark *b = i < n_old ? old[i] : new[i - n_old];

		if (!unit_is_same(b->unit, c->old->unit))
			return -EINVAL;
		c->n_runs[i >= n_old] += benchmark_counted_runs(b);
		c->n_values[i >= n_old] += b->n_values;
	}
	*ret = TAKE_PTR(c);
	return 0;
}

/* --- Several machines --- */

/* Sets the reason why nothing can be concluded about machines, or layouts. */
static void explain_machines(struct comparison *c, enum fleet_level level, const char *why)
{
	c->design = level == FLEET_LAYOUTS ? COMPARED_BETWEEN_LAYOUTS : COMPARED_BETWEEN_MACHINES;
	c->doubt = xptr(strdup(why));
	c->ratio = ratio_of_medians(c->old_stats.median, c->new_stats.median);
	if (!isfinite(c->ratio.ratio))
		c->ratio.ratio = NAN;
	c->p = NAN;
}

/* Compares machines: each one counts as a single value. */
static int compute_machines(struct comparison *c, const struct fleet *old, const struct fleet *new)
{
	_cleanup_free_ double *a = fleet_machine_values(old), *b = fleet_machine_values(new);
	const struct nested *nested = &c->fleet.nested;
	int r = compute_figures(c, a, old->n_machines, b, new->n_machines);

	if (r >= 0)
		r = fleet_compare(old, new, &c->fleet);
	if (new->level == FLEET_LAYOUTS && (r == -ENODATA || (r >= 0 && c->fleet.is_split))) {
		c->fleet = (struct fleet_change){ 0 };
		explain_machines(c, new->level,
			"layouts are compared where at least two of them have both programs, run "
			"in turn, since a change of the machine is in all layouts alike");
		return 0;
	}
	if (r == -ENODATA) {
		explain_machines(c, new->level,
			"fewer than two machines have both programs, and one of the programs is on "
			"fewer than two machines");
		return 0;
	}
	if (r < 0)
		return r;
	c->design = COMPARED_BETWEEN_MACHINES;
	c->ratio = (struct ratio){ exp(nested->mean), exp(nested->low), exp(nested->high) };
	c->p = nested->p;
	if (c->fleet.within)
		c->design = new->level == FLEET_LAYOUTS ? COMPARED_WITHIN_LAYOUTS
							: COMPARED_WITHIN_MACHINES;
	return 0;
}

/* The units of all results together; *ret is malloc'd. */
static int collect_units(
	const struct benchmark *const *results, size_t n, double **ret, size_t *ret_n)
{
	_cleanup_free_ double *all = NULL;
	size_t n_all = 0;

	for (size_t i = 0; i < n; i++) {
		_cleanup_free_ double *units = NULL;
		size_t n_units;
		int r = benchmark_units(results[i], &units, &n_units);

		if (r < 0)
			return r;
		all = xptr(reallocarray(all, n_all + n_units, sizeof(*all)));
		memcpy(all + n_all, units, n_units * sizeof(*all));
		n_all += n_units;
	}
	*ret = TAKE_PTR(all);
	*ret_n = n_all;
	return 0;
}

/* The medians are then those of all runs. */
static int explain_zeros(struct comparison *c, enum fleet_level level,
	const struct benchmark *const *old, size_t n_old, const struct benchmark *const *new,
	size_t n_new)
{
	_cleanup_free_ double *a = NULL, *b = NULL;
	size_t n_a, n_b;
	int r = collect_units(old, n_old, &a, &n_a);

	if (r >= 0)
		r = collect_units(new, n_new, &b, &n_b);
	if (r >= 0)
		r = compute_figures(c, a, n_a, b, n_b);
	if (r >= 0)
		explain_machines(c, level,
			"machines and layouts are compared by ratios, and a value that is not "
			"above 0 has none");
	return r;
}

static int compare_machines(const struct benchmark *const *old, size_t n_old,
	const struct benchmark *const *new, size_t n_new, enum fleet_level level,
	struct comparison *c)
{
	_cleanup_(fleet) struct fleet *a = NULL, *b = NULL;
	int r = fleet_new(old, n_old, level, &a);

	if (r >= 0)
		r = fleet_new(new, n_new, level, &b);
	if (r == -ERANGE)
		return explain_zeros(c, level, old, n_old, new, n_new);
	return r < 0 ? r : compute_machines(c, a, b);
}

/* What has to be counted of the two together, if anything of either. */
static enum fleet_level find_level(const struct benchmark *const *old, size_t n_old,
	const struct benchmark *const *new, size_t n_new)
{
	const struct benchmark *const firsts[] = { old[0], new[0] };
	enum fleet_level a = fleet_find_level(old, n_old), b = fleet_find_level(new, n_new);

	if (a == FLEET_NONE && b == FLEET_NONE)
		return FLEET_NONE;
	return MAX(MAX(a, b), fleet_find_level(firsts, ARRAY_SIZE(firsts)));
}

int comparison_new_among(const struct benchmark *old, const struct benchmark *new,
	const struct benchmark *const *all, size_t n_all, struct comparison **ret)
{
	enum fleet_level level = find_level(&old, 1, &new, 1);
	_cleanup_(comparison) struct comparison *c = NULL;
	struct side sides[2] = { 0 };
	int r;

	r = comparison_begin(&old, 1, &new, 1, &c);
	if (r < 0)
		return r;
	differences_find(c, old, new);
	c->faults[0] = differences_find_faults(old);
	c->faults[1] = differences_find_faults(new);
	r = level ? compare_machines(&old, 1, &new, 1, level, c)
		  : compute(c, &sides[0], &sides[1], all, n_all);
	side_clear(&sides[0]);
	side_clear(&sides[1]);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(c);
	return 0;
}

int comparison_new(
	const struct benchmark *old, const struct benchmark *new, struct comparison **ret)
{
	return comparison_new_among(old, new, NULL, 0, ret);
}

/* --- Several results of each --- */

/* The median of the units of each result. */
static int make_medians(const struct benchmark *const *results, size_t n, double **ret)
{
	_cleanup_free_ double *medians = xptr(reallocarray(NULL, n, sizeof(*medians)));

	for (size_t i = 0; i < n; i++) {
		int r = benchmark_median(results[i], &medians[i]);

		if (r < 0)
			return r;
	}
	*ret = TAKE_PTR(medians);
	return 0;
}

struct dated {
	int64_t date;
	bool is_new;
};

static int compare_dates(const void *a, const void *b)
{
	const struct dated *x = a, *y = b;

	if (x->date != y->date)
		return x->date < y->date ? -1 : 1;
	return (int)x->is_new - (int)y->is_new;
}

/*
 * Were old and new results measured by turns? A long stretch of results of one side has no partners
 * in time, so the number of changes between the sides must be at least the number of results of the
 * smaller side; half of all random orders have that many. And neither side may be mostly the
 * earlier one: in a quarter to three quarters of all pairs of an old and a new result, the old one
 * must have come first.
 */
static bool find_alternation(const struct benchmark *const *old, size_t n_old,
	const struct benchmark *const *new, size_t n_new)
{
	_cleanup_free_ struct dated *dates =
		xptr(reallocarray(NULL, n_old + n_new, sizeof(*dates)));
	size_t n_changes = 0, n_old_before = 0, n_earlier = 0;
	double earlier;

	for (size_t i = 0; i < n_old + n_new; i++) {
		const struct benchmark *b = i < n_old ? old[i] : new[i - n_old];

		if (!b->has_dates)
			return false;
		dates[i] = (struct dated){ b->first_date, i >= n_old };
	}
	qsort(dates, n_old + n_new, sizeof(*dates), compare_dates);
	for (size_t i = 0; i < n_old + n_new; i++) {
		n_changes += i > 0 && dates[i].is_new != dates[i - 1].is_new;
		n_earlier += dates[i].is_new ? n_old_before : 0;
		n_old_before += !dates[i].is_new;
	}
	earlier = (double)n_earlier / (double)n_old / (double)n_new;
	return n_changes >= MIN(n_old, n_new) && earlier >= 0.25 && earlier <= 0.75;
}

/* Widens the part of the resolution that comes from the levels and the drift within one of the
 * results. The correlation of its runs adds nothing here, because the spread of the results'
 * medians already contains its effect. */
static int resolve_levels(struct comparison *c, const struct benchmark *result)
{
	struct side side = { 0 };
	int r;

	r = benchmark_units(result, &side.units, &side.n);
	if (r >= 0)
		r = side_analyze(&side, result);
	if (r >= 0) {
		resolution_widen(&c->of_levels, &side.resolution);
		c->is_disturbed = c->is_disturbed || side.analysis->stability->mostly_disturbed;
	}
	side_clear(&side);
	return r;
}

/* Collects the doubts about results that were not measured by turns: the worst of any of them
 * counts, whatever their order. */
static int doubt_results(struct comparison *c, const struct benchmark *const *old, size_t n_old,
	const struct benchmark *const *new, size_t n_new)
{
	bool had_core = true;

	for (size_t i = 0; i < n_old + n_new; i++) {
		const struct benchmark *a = i < n_old ? old[i] : old[0];
		const struct benchmark *b = i < n_old ? new[0] : new[i - n_old];
		int r = resolve_levels(c, i < n_old ? a : b);

		if (r < 0)
			return r;
		had_core = differences_find_of_cores(c, a, b) && had_core;
	}
	c->design = COMPARED_RESULTS_IN_SEQUENCE;
	c->had_core = had_core;
	for (size_t i = 0; i < n_old; i++)
		resolve_machines(c, old[i], new[0]);
	for (size_t i = 0; i < n_new; i++)
		resolve_machines(c, old[0], new[i]);
	c->resolution = c->of_machine;
	resolution_widen(&c->resolution, &c->of_levels);
	resolution_widen_interval(&c->resolution, &c->ratio.low, &c->ratio.high);
	return 0;
}

static int compute_results(struct comparison *c, const struct benchmark *const *old, size_t n_old,
	const struct benchmark *const *new, size_t n_new)
{
	_cleanup_free_ double *a = NULL, *b = NULL;
	int r;

	c->design = COMPARED_RESULTS;
	c->n_old_results = n_old;
	c->n_new_results = n_new;
	r = make_medians(old, n_old, &a);
	if (r >= 0)
		r = make_medians(new, n_new, &b);
	if (r >= 0)
		r = compute_figures(c, a, n_old, b, n_new);
	if (r >= 0)
		r = compare_samples(c, a, b);
	if (r < 0 || find_alternation(old, n_old, new, n_new))
		return r;
	return doubt_results(c, old, n_old, new, n_new);
}

static bool is_same_machine(const struct benchmark *old, const struct benchmark *new)
{
	struct fleet_sitting a, b;

	(void)fleet_describe_sitting(old, 0, &a);
	(void)fleet_describe_sitting(new, 0, &b);
	return fleet_is_same_machine(&a, &b);
}

/* Finds the differences between each result and the first one of the other side: every difference
 * between any two results shows in one of these pairs. Where a side has several machines, only
 * results of the same machine are paired, because two machines always differ. */
static void find_differences_of_results(struct comparison *c, const struct benchmark *const *old,
	size_t n_old, const struct benchmark *const *new, size_t n_new)
{
	bool one_each = !fleet_is_needed(old, n_old) && !fleet_is_needed(new, n_new);

	for (size_t i = 0; i < n_old + n_new; i++) {
		bool is_old = i < n_old;
		const struct benchmark *result = is_old ? old[i] : new[i - n_old];
		const struct benchmark *const *others = is_old ? new : old;
		size_t at = 0, n_others = is_old ? n_new : n_old;

		while (!one_each && at < n_others && !is_same_machine(result, others[at]))
			at++;
		if (at < n_others)
			differences_find(
				c, is_old ? result : others[at], is_old ? others[at] : result);
	}
}

/* Machines also where all old results are of one machine and all new ones of another. */
static enum fleet_level find_level_of_results(const struct benchmark *const *old, size_t n_old,
	const struct benchmark *const *new, size_t n_new)
{
	const struct benchmark *const firsts[] = { old[0], new[0] };

	return MAX(
		find_level(old, n_old, new, n_new), fleet_find_level(firsts, ARRAY_SIZE(firsts)));
}

int comparison_new_of_results(const struct benchmark *const *old, size_t n_old,
	const struct benchmark *const *new, size_t n_new, struct comparison **ret)
{
	_cleanup_(comparison) struct comparison *c = NULL;
	enum fleet_level level;
	int r;

	if (n_old == 0 || n_new == 0)
		return -EINVAL;
	r = comparison_begin(old, n_old, new, n_new, &c);
	if (r < 0)
		return r;
	find_differences_of_results(c, old, n_old, new, n_new);
	level = find_level_of_results(old, n_old, new, n_new);
	r = level ? compare_machines(old, n_old, new, n_new, level, c)
		  : compute_results(c, old, n_old, new, n_new);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(c);
	return 0;
}
