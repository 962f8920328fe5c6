// SPDX-License-Identifier: GPL-2.0-or-later
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "base/text.h"
#include "base/units.h"
#include "base/xalloc.h"
#include "judge/report/comparison.h"
#include "judge/report/sense.h"
#include "judge/stats/inference.h"
#include "judge/stats/multiple.h"

void comparison_free(struct comparison *comparison)
{
	if (!comparison)
		return;
	shift_test_free(comparison->test);
	carryover_clear(&comparison->carryover);
	free(comparison->doubt);
	free(comparison->unclear);
	for (size_t i = 0; i < comparison->n_differences; i++)
		free(comparison->differences[i]);
	free(comparison->differences);
	for (size_t i = 0; i < comparison->n_objections; i++)
		free(comparison->objections[i]);
	free(comparison->objections);
	free(comparison->learnt.why);
	free(comparison->learnt.steps);
	free(comparison);
}

struct ratio ratio_of_shift(const struct shift *shift)
{
	struct ratio ratio = {
		.ratio = exp(shift->estimate),
		.low = isfinite(shift->low) ? exp(shift->low) : NAN,
		.high = isfinite(shift->high) ? exp(shift->high) : NAN,
	};

	/* An end that is the double next to 0 would become 1 as a ratio, but the interval must not
	 * hold 1. */
	if (shift->low > 0) {
		ratio.low = fmax(ratio.low, nextafter(1, 2));
		ratio.high = fmax(ratio.high, ratio.low);
	}
	if (shift->high < 0) {
		ratio.high = fmin(ratio.high, nextafter(1, 0));
		ratio.low = fmin(ratio.low, ratio.high);
	}
	/* If one end is not known, neither is shown. */
	if (isnan(ratio.low) || isnan(ratio.high))
		ratio.low = ratio.high = NAN;
	return ratio;
}

/* Where there is no test of values, the error is that of a t distribution: of the machines' mean,
 * or, with as many degrees of freedom as make it normal, of the ratios to a control. */
static double get_df(const struct comparison *c)
{
	return comparison_is_of_machines(c) ? c->fleet.nested.df : INFINITY;
}

/* The standard error of the estimate because of the runs, on one side. */
static double find_error(const struct comparison *c, bool is_above)
{
	const struct shift *runs = &c->learnt.runs;

	return (is_above ? runs->high - runs->estimate : runs->estimate - runs->low) /
		student_quantile(1 - SIGNIFICANCE, INFINITY);
}

/* Widens the interval of the runs, which is at this level, by what was learnt. */
static void widen_by_repeats(const struct comparison *c, double level, struct ratio *ratio)
{
	double z = student_quantile(1 - level, INFINITY);
	double t = student_quantile(1 - level, c->resolution.df) * c->resolution.deviation;

	if (isnan(ratio->low))
		return;
	ratio->low = fmin(ratio->low, ratio->ratio * exp(-hypot(z * find_error(c, false), t)));
	ratio->high = fmax(ratio->high, ratio->ratio * exp(hypot(z * find_error(c, true), t)));
}

/* The two-sided p of a change by `d`, as a logarithm, with what was learnt: the level at which an
 * end of the interval is there. */
static double find_learnt_p(const struct comparison *c, double d)
{
	double far = log(c->ratio.ratio) - d, error = find_error(c, far < 0);
	double of_runs = shift_test_p(c->test, d), deviation = c->resolution.deviation;
	double df = c->resolution.df, low = 0, high = fabs(far) / deviation;

	if (!(deviation > 0))
		return fmax(of_runs, error > 0 ? student_two_sided(far / error, INFINITY) : 0);
	/* t, whose p has a z of its own. */
	for (double t = high / 2; t > low && t < high; t = low + (high - low) / 2) {
		double z = student_quantile(1 - student_two_sided(t, df), INFINITY);

		*(hypot(z * error, t * deviation) < fabs(far) ? &low : &high) = t;
	}
	return fmax(of_runs, student_two_sided(high, df));
}

void comparison_learn(struct comparison *comparison, double deviation, double df)
{
	struct comparison *c = comparison;

	c->resolution = c->of_levels;
	c->resolution.deviation = sqrt(2) * deviation;
	c->resolution.df = df;
	shift_test_find(c->test, SIGNIFICANCE, &c->learnt.runs);
	c->ratio = ratio_of_shift(&c->learnt.runs);
	c->p = find_learnt_p(c, 0);
	widen_by_repeats(c, SIGNIFICANCE, &c->ratio);
	resolution_widen_interval(&c->resolution, &c->ratio.low, &c->ratio.high);
}

bool comparison_widen_by_step(const struct comparison *comparison, struct ratio *ratio)
{
	double step = 1 + comparison->step;
	bool is_above = ratio->low > 1, is_below = ratio->high < 1;

	/* Without an interval its ends are NAN. */
	if (!(ratio->high / ratio->low < step))
		return false;
	ratio->low = is_above ? fmax(ratio->low / step, nextafter(1, 2)) : ratio->low / step;
	ratio->high = is_below ? fmin(ratio->high * step, nextafter(1, 0)) : ratio->high * step;
	return true;
}

struct ratio comparison_interval_at(const struct comparison *comparison, double level)
{
	const struct comparison *c = comparison;
	double share = 1 + c->resolution.share, wider, df = get_df(c);
	struct ratio ratio = c->ratio;
	struct shift shift;

	if (isnan(c->ratio.low) || level == SIGNIFICANCE)
		return c->ratio;
	if (c->test) {
		shift_test_find(c->test, level, &shift);
		ratio = ratio_of_shift(&shift);
		(void)comparison_widen_by_step(c, &ratio);
		if (comparison_is_learnt(c))
			widen_by_repeats(c, level, &ratio);
	} else {
		wider = student_quantile(1 - level, df) / student_quantile(1 - SIGNIFICANCE, df);
		ratio.low = ratio.ratio * pow(ratio.low * share / ratio.ratio, wider);
		ratio.high = ratio.ratio * pow(ratio.high / share / ratio.ratio, wider);
	}
	resolution_widen_interval(&c->resolution, &ratio.low, &ratio.high);
	return ratio;
}

struct ratio ratio_inverse(struct ratio ratio)
{
	return (struct ratio){ 1 / ratio.ratio, 1 / ratio.high, 1 / ratio.low };
}

struct ratio comparison_cost(const struct comparison *comparison, struct ratio ratio)
{
	return benchmark_is_gain(comparison->old) ? ratio_inverse(ratio) : ratio;
}

double comparison_p_above(const struct comparison *comparison, double ratio)
{
	const struct comparison *c = comparison;
	struct ratio cost = comparison_cost(c, c->ratio);
	double share = 1 + c->resolution.share, error, df = get_df(c);
	double far = log(cost.ratio / (ratio * share));
	double d = benchmark_is_gain(c->old) ? -log(ratio * share) : log(ratio * share);

	if (!(far > 0))
		return 1;
	if (c->test)
		return comparison_is_learnt(c) ? find_learnt_p(c, d) : shift_test_p(c->test, d);
	if (isnan(cost.low))
		return 1;
	error = log(cost.ratio / (cost.low * share)) / student_quantile(1 - SIGNIFICANCE, df);
	return error > 0 ? student_two_sided(far / error, df) : 0;
}

bool comparison_may_be_faults(const struct comparison *comparison)
{
	const struct comparison *c = comparison;
	double more = c->faults[1] - c->faults[0];
	double longer = c->old_stats.median * (c->ratio.ratio - 1);

	/* Of values that the program measures itself, the faults of the whole run say nothing. */
	return (c->verdict == VERDICT_FASTER || c->verdict == VERDICT_SLOWER) &&
		comparison_is_of_speed(c) && !benchmark_is_by_program(c->old) && fabs(more) >= 1 &&
		longer / more > 0 && longer / more <= COMPARISON_SLOWEST_FAULT;
}

bool comparison_is_learnt(const struct comparison *comparison)
{
	return comparison->learnt.n > 0;
}

bool comparison_is_of_speed(const struct comparison *comparison)
{
	return benchmark_is_of_speed(comparison->old);
}

bool comparison_is_exact(const struct comparison *comparison)
{
	return comparison->old->is_exact && comparison->new->is_exact &&
		!comparison_is_of_machines(comparison) && !comparison_is_of_results(comparison);
}

bool comparison_is_of_machines(const struct comparison *comparison)
{
	return comparison->design == COMPARED_WITHIN_MACHINES ||
		comparison->design == COMPARED_BETWEEN_MACHINES ||
		comparison->design == COMPARED_WITHIN_LAYOUTS ||
		comparison->design == COMPARED_BETWEEN_LAYOUTS;
}

bool comparison_is_of_results(const struct comparison *comparison)
{
	return comparison->design == COMPARED_RESULTS ||
		comparison->design == COMPARED_RESULTS_IN_SEQUENCE;
}

double comparison_geometric_mean(struct comparison *const *comparisons, size_t n, size_t *ret_n)
{
	double sum = 0;

	*ret_n = 0;
	/* A mean of requests and latencies says nothing. */
	for (size_t i = 1; i < n; i++)
		if (!benchmark_is_same_metric(comparisons[0]->old, comparisons[i]->old))
			return NAN;
	for (size_t i = 0; i < n; i++) {
		double ratio = comparisons[i]->ratio.ratio;

		if (!isfinite(ratio) || !(ratio > 0))
			continue;
		sum += log(ratio);
		++*ret_n;
	}
	return *ret_n > 0 ? exp(sum / (double)*ret_n) : NAN;
}

static const char *const verdict_names[] = {
	[VERDICT_SAME] = "same",
	[VERDICT_FASTER] = "faster",
	[VERDICT_SLOWER] = "slower",
	[VERDICT_UNCLEAR] = "unclear",
};

const char *comparison_verdict_name(enum verdict verdict)
{
	return verdict_names[verdict];
}

const char *comparison_design_name(enum comparison_design design)
{
	static const char *const names[] = {
		[COMPARED_IN_SEQUENCE] = "in sequence",
		[COMPARED_IN_TURN] = "in turn",
		[COMPARED_BY_CONTROL] = "by a control",
		[COMPARED_RESULTS] = "results by turns",
		[COMPARED_RESULTS_IN_SEQUENCE] = "results in sequence",
		[COMPARED_WITHIN_MACHINES] = "within machines",
		[COMPARED_BETWEEN_MACHINES] = "between machines",
		[COMPARED_WITHIN_LAYOUTS] = "within layouts",
		[COMPARED_BETWEEN_LAYOUTS] = "between layouts",
	};

	return names[design];
}

/* --- The verdict --- */

/* Whether a difference could have been found: with the smallest p that so many runs can reach, and
 * with the actual p of all other comparisons. */
static bool is_decidable(
	const struct comparison *c, const double *sorted, size_t n, size_t n_silent)
{
	/* The correction multiplies p by at most the number of tests. */
	return c->least_p * (double)(n + n_silent) <= SIGNIFICANCE ||
		adjust_changed_discovery(sorted, n, n_silent, c->p, c->least_p) <= SIGNIFICANCE;
}

/* "too few runs: 5 pairs, and at least 6 are needed to find any difference" */
static char *explain_too_few(const struct comparison *c, size_t n_compared)
{
	double wanted = SIGNIFICANCE / (double)n_compared;

	if (c->n_pairs > 0)
		return xformat("too few runs: %zu pairs, and at least %zu are needed to find any "
			       "difference",
			c->n_pairs, shift_pairs_needed(wanted));
	return xformat(
		"too few %s: %zu and %zu, and at least %zu each are needed to find any difference",
		comparison_is_of_results(c) ? "results" : "runs", c->old_stats.n, c->new_stats.n,
		shift_values_needed(wanted));
}

/* Whether the change is beyond what the machine may do between two results. */
static bool is_resolved(const struct comparison *c)
{
	if (c->resolution.share <= 0)
		return true;
	if (isnan(c->ratio.low))
		return fabs(log(c->ratio.ratio)) > log1p(c->resolution.share);
	return c->ratio.low > 1 || c->ratio.high < 1;
}

/* Whether the runs differ, but no more than sittings of the machine do, as its repeats show. */
static bool is_of_sittings(const struct comparison *c)
{
	return comparison_is_learnt(c) && c->learnt.runs.p <= SIGNIFICANCE &&
		c->adjusted_p > SIGNIFICANCE;
}

/* "measured one after the other, which shows nothing below about 20 %" */
static char *explain_unresolved(const struct comparison *c)
{
	char share[UNITS_TEXT_SIZE], control[UNITS_TEXT_SIZE];

	units_format_percent(resolution_size(&c->resolution), share);
	if (c->design == COMPARED_BY_CONTROL)
		return xformat("the control itself changed by %s, so nothing shows below about %s",
			units_format_change(c->control_ratio - 1, control), share);
	return xformat("measured one after the other, which shows nothing below about %s", share);
}

/* Whether new is larger than old in more pairs of units than it is smaller, which is the direction
 * of the tests. */
static bool is_more_often(const struct comparison *c)
{
	return c->ranks.u > (double)c->old_stats.n * (double)c->new_stats.n / 2;
}

/* Where a value has no ratio, the change is that of the medians. The medians need not tell which of
 * two different samples is larger. */
static bool has_direction(const struct comparison *c)
{
	if (!isnan(c->ratio.low) || comparison_is_of_machines(c))
		return true;
	return is_more_often(c) ? c->ratio.ratio > 1 : c->ratio.ratio < 1;
}

/* With many equal values most ratios, and so their median, may be 1. */
static bool is_less(const struct comparison *c)
{
	return c->ratio.ratio == 1 ? !is_more_often(c) : c->ratio.ratio < 1;
}

static char *explain_no_direction(const struct comparison *c)
{
	bool are_zero = c->old_stats.median == 0 && c->new_stats.median == 0;

	return xptr(strdup(are_zero
			? "they differ, but both medians are 0, which have no ratio"
			: "they differ, but the medians do not tell how, and a value that is not "
			  "above 0 has no ratio"));
}

static char *explain_carryover(const struct comparison *c, bool is_above)
{
	struct text t = { 0 };
	char alone[UNITS_TEXT_SIZE];

	if (carryover_is_found(&c->carryover)) {
		carryover_append(&t, c->carryover.change, comparison_is_of_speed(c), c->old->name,
			c->new->name);
		text_append(&t, ", which may be all of the difference");
	} else {
		text_appendf(&t,
			"of the runs that do not follow one of the other program the change is %s, "
			"so what another one leaves behind may %s %s",
			units_format_change(expm1(c->carryover.alone_change), alone),
			comparison_is_of_speed(c) ? "slow down" : "change",
			is_above ? c->new->name : c->old->name);
	}
	return xptr(text_steal(&t));
}

/* Why nothing can be concluded from the test; NULL where something can. sorted: the p of all n
 * comparisons that are asked for; n_silent more say nothing. */
static char *explain(struct comparison *c, const double *sorted, size_t n, size_t n_silent)
{
	bool is_above;

	if (!is_decidable(c, sorted, n, n_silent))
		return explain_too_few(c, n + n_silent);
	c->is_unresolved = is_of_sittings(c);
	if (c->is_unresolved)
		return explain_unresolved(c);
	if (!(c->adjusted_p <= SIGNIFICANCE))
		return NULL;
	if (!has_direction(c))
		return explain_no_direction(c);
	c->is_unresolved = !is_resolved(c);
	if (c->is_unresolved)
		return explain_unresolved(c);
	is_above = !is_less(c);
	c->is_carried = carryover_may_be_all(
		&c->carryover, is_above ? c->ratio.low : c->ratio.high, 1, is_above);
	return c->is_carried ? explain_carryover(c, is_above) : NULL;
}

static void decide(struct comparison *c, const double *sorted, size_t n, size_t n_silent)
{
	free(TAKE_PTR(c->unclear));
	c->is_unresolved = c->is_carried = false;
	c->unclear = c->doubt ? xptr(strdup(c->doubt)) : explain(c, sorted, n, n_silent);
	if (c->unclear)
		c->verdict = VERDICT_UNCLEAR;
	else if (c->adjusted_p > SIGNIFICANCE)
		c->verdict = VERDICT_SAME;
	else
		c->verdict =
			is_less(c) != benchmark_is_gain(c->old) ? VERDICT_FASTER : VERDICT_SLOWER;
}

void comparison_settle_chosen(struct comparison **comparisons, size_t n, size_t n_all)
{
	_cleanup_free_ double *p = xptr(reallocarray(NULL, MAX(n, (size_t)1), sizeof(*p)));
	_cleanup_free_ double *adjusted = xptr(reallocarray(NULL, MAX(n, (size_t)1), sizeof(*p)));
	size_t n_asked = 0, n_others = n_all - n;

	for (size_t i = 0; i < n; i++)
		if (!comparisons[i]->doubt)
			p[n_asked++] = comparisons[i]->p;
	memcpy(adjusted, p, n_asked * sizeof(*p));
	adjust_false_discoveries(adjusted, n_asked, n_others);
	stats_sort(p, n_asked);
	for (size_t i = 0, at = 0; i < n; i++) {
		comparisons[i]->adjusted_p = comparisons[i]->doubt ? NAN : adjusted[at++];
		decide(comparisons[i], p, n_asked, n_others);
	}
}

void comparison_settle(struct comparison **comparisons, size_t n)
{
	comparison_settle_chosen(comparisons, n, n);
}

/* From which cost on something is worse by that much: a rate that falls by half costs twice as
 * much. */
static double find_limit(const struct comparison *c, double percent)
{
	struct sense sense;

	sense_find(c->old, &sense);
	return sense_worse_by(&sense, percent / 100);
}

/* Where the old value is 0, every new value is more by any percentage. */
static double find_gate_p(const struct comparison *c, double limit)
{
	if (c->verdict != VERDICT_SLOWER)
		return 1;
	return isinf(comparison_cost(c, c->ratio).ratio) ? c->p : comparison_p_above(c, limit);
}

double comparison_gate_level(struct comparison *const *comparisons, size_t n, double percent)
{
	_cleanup_free_ double *p = xptr(reallocarray(NULL, MAX(n, (size_t)1), sizeof(*p)));
	size_t n_asked = 0;

	for (size_t i = 0; i < n; i++)
		if (!comparisons[i]->doubt)
			p[n_asked++] =
				find_gate_p(comparisons[i], find_limit(comparisons[i], percent));
	return level_of_discoveries(p, n_asked);
}

/* Whether a carry-over, which is one of the values, may be why the cost is above the limit. */
static bool is_gate_carried(const struct comparison *c, double limit, double level)
{
	struct ratio ratio = comparison_interval_at(c, level);
	bool is_gain = benchmark_is_gain(c->old);

	return carryover_may_be_all(&c->carryover, is_gain ? ratio.high : ratio.low,
		is_gain ? 1 / limit : limit, !is_gain);
}

/* Whether the steps in which the figure is counted are why it seems to be beyond the limit, or
 * within it. */
static bool is_coarse(const struct comparison *c, double percent, double level)
{
	double limit = find_limit(c, percent);

	if (!(c->step > percent / 100) || comparison_is_exact(c))
		return false;
	if (find_gate_p(c, limit) <= level)
		return find_gate_p(c, limit * (1 + c->step)) > level;
	return !(comparison_cost(c, c->ratio).high * (c->has_step ? 1 : 1 + c->step) <= limit);
}

enum gate comparison_gate(const struct comparison *comparison, double percent, double level)
{
	const struct comparison *c = comparison;
	struct ratio cost = comparison_cost(c, c->ratio);
	double limit = find_limit(c, percent);

	if (is_coarse(c, percent, level))
		return GATE_UNCLEAR;
	if (find_gate_p(c, limit) <= level)
		return is_gate_carried(c, limit, level) ? GATE_UNCLEAR : GATE_FAILS;
	if (c->unclear && !c->is_unresolved)
		return GATE_UNCLEAR;
	if (c->verdict == VERDICT_SLOWER && isnan(cost.low) && cost.ratio > limit)
		return GATE_UNCLEAR;
	/* Where nothing was counted, it is no more than before, whatever the machine did. */
	if (c->new_stats.max == 0 && c->old_stats.min >= 0 && !benchmark_is_gain(c->old))
		return GATE_PASSES;
	if ((resolution_is_there(&c->resolution) || c->design == COMPARED_WITHIN_LAYOUTS) &&
		!(cost.high <= limit))
		return GATE_UNCLEAR;
	return GATE_PASSES;
}

/* "8 layouts allow -0.8 % .. +2.4 %" */
static char *explain_layouts(const struct comparison *c)
{
	char low[UNITS_TEXT_SIZE], high[UNITS_TEXT_SIZE];

	return xformat("%zu layouts allow %s .. %s", c->fleet.n_machines[0],
		units_format_change(c->ratio.low - 1, low),
		units_format_change(c->ratio.high - 1, high));
}

char *comparison_gate_reason(const struct comparison *comparison, double percent)
{
	char step[UNITS_TEXT_SIZE];

	if (comparison->unclear)
		return xptr(strdup(comparison->unclear));
	if (comparison->step > percent / 100)
		return xformat("it is counted in steps of %s, so smaller changes do not show",
			units_format_percent(comparison->step, step));
	if (comparison->design == COMPARED_WITHIN_LAYOUTS && !isnan(comparison->ratio.low))
		return explain_layouts(comparison);
	if (comparison->n_pairs > 0 && !isnan(comparison->ratio.low))
		return explain_carryover(comparison, !benchmark_is_gain(comparison->old));
	if (!resolution_is_there(&comparison->resolution) || isnan(comparison->ratio.high))
		return xptr(strdup("a value that is not above 0 has no ratio, so the change has no "
				   "interval"));
	return explain_unresolved(comparison);
}

const char *comparison_gate_name(enum gate gate)
{
	static const char *const names[] = {
		[GATE_PASSES] = "passes",
		[GATE_FAILS] = "fails",
		[GATE_UNCLEAR] = "unclear",
	};

	return names[gate];
}
