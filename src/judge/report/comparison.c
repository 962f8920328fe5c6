// SPDX-License-Identifier: GPL-2.0-or-later
#include <math.h>
#include <stdlib.h>

#include "judge/report/comparison.h"
#include "judge/stats/inference.h"
#include "judge/stats/multiple.h"

void comparison_free(struct comparison *comparison)
{
	if (!comparison)
		return;
	shift_test_free(comparison->test);
	carryover_clear(&comparison->carryover);
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

struct ratio comparison_cost(const struct comparison *comparison, struct ratio ratio)
{
	return benchmark_is_gain(comparison->old)
		? (struct ratio){ 1 / ratio.ratio, 1 / ratio.high, 1 / ratio.low }
		: ratio;
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
	return unit_is_time(comparison->old->unit) && !comparison->old->metric;
}

bool comparison_is_of_machines(const struct comparison *comparison)
{
	return comparison->design == COMPARED_WITHIN_MACHINES ||
		comparison->design == COMPARED_BETWEEN_MACHINES;
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
	};

	return names[design];
}
