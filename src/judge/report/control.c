// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "judge/report/compare.h"
#include "judge/report/control.h"
#include "judge/report/sense.h"
#include "judge/report/turns.h"
#include "judge/result/metadata.h"
#include "judge/stats/inference.h"
#include "judge/stats/level.h"
#include "judge/stats/multiple.h"
#include "judge/stats/shift.h"
#include "judge/stats/stats.h"

/* 2.5 % of the standard normal distribution lie above this value. */
#define NORMAL_975 1.959963984540054

static bool have_equal(const struct benchmark *a, const struct benchmark *b, const char *key)
{
	const struct fact *x = facts_find(&a->metadata, key);
	const struct fact *y = facts_find(&b->metadata, key);

	return x && y && metadata_equal_facts(x, y);
}

const struct benchmark *control_find(
	struct benchmark *const *benchmarks, size_t n, const struct benchmark *of)
{
	/* It measures the speed of the machine, and says nothing about what does not depend on
	 * that. */
	if (benchmark_is_control(of) ||
		(of->metric && !(of->is_figure && sense_follows_machine(of))))
		return NULL;
	for (size_t i = 0; i < n; i++)
		if (benchmark_is_control(benchmarks[i]) && benchmarks[i]->n_values > 0 &&
			(of->metric || benchmarks[i]->unit == of->unit) &&
			have_equal(benchmarks[i], of, BENCHMARK_CONTROL) &&
			turns_are_common(benchmarks[i], of))
			return benchmarks[i];
	return NULL;
}

/* The rounds of a program and its control, in their order. A program that has a rate counts with
 * its costs, 1 / rate, which grow as the control's time does when the machine is slower. */
struct rounds {
	double *program; /* logarithms */
	double *control;
	double *ratios;
	size_t n;
	struct shift shift; /* of the logarithms */
};

static void rounds_clear(struct rounds *rounds)
{
	free(rounds->program);
	free(rounds->control);
	free(rounds->ratios);
}

static int find_rounds(
	const struct benchmark *of, const struct benchmark *control, struct rounds *ret)
{
	size_t n_a, n_c;
	int r;

	r = benchmark_units(of, &ret->program, &n_a);
	if (r >= 0)
		r = benchmark_units(control, &ret->control, &n_c);
	if (r < 0)
		return r;
	ret->n = turns_pick_pairs(of, control, ret->program, ret->control);
	if (ret->n == 0)
		return -ENODATA;
	ret->ratios = xptr((double *)reallocarray(NULL, ret->n, sizeof(*ret->ratios)));
	for (size_t i = 0; i < ret->n; i++) {
		double ratio;

		if (benchmark_is_gain(of))
			ret->program[i] = 1 / ret->program[i];
		ratio = ret->program[i] / ret->control[i];
		ret->program[i] = log(ret->program[i]);
		ret->control[i] = log(ret->control[i]);
		if (!isfinite(ratio) || !isfinite(ret->program[i]) || !isfinite(ret->control[i]))
			return -ERANGE;
	}
	return 0;
}

/* Sets the ratios of a program that is slowed down `slope` times as much as its control, which they
 * are to have where that one takes exp(`base`). */
static int rounds_compare(struct rounds *rounds, double slope, double base)
{
	_cleanup_free_ double *control = xptr(reallocarray(NULL, rounds->n, sizeof(*control)));

	for (size_t i = 0; i < rounds->n; i++) {
		control[i] = base + slope * (rounds->control[i] - base);
		rounds->ratios[i] = exp(rounds->program[i] - control[i]);
	}
	return shift_of_pairs(control, rounds->program, rounds->n, &rounds->shift);
}

int control_measure(
	const struct benchmark *of, const struct benchmark *control, struct control_ratio *ret)
{
	struct rounds rounds = { 0 };
	int r = fleet_is_needed(&of, 1) ? -ENODATA : find_rounds(of, control, &rounds);

	if (r >= 0)
		r = rounds_compare(&rounds, 1, 0);
	if (r >= 0) {
		struct ratio costs = ratio_of_shift(&rounds.shift);

		ret->is_rate = benchmark_is_gain(of);
		ret->ratio = ret->is_rate ? ratio_inverse(costs) : costs;
		ret->n_rounds = rounds.n;
	}
	rounds_clear(&rounds);
	return r;
}

char *control_text(const struct benchmark *control, const struct control_ratio *ratio)
{
	const char *command = facts_find_string(&control->metadata, BENCHMARK_CONTROL);
	_cleanup_free_ char *name = xptr(text_escape_control(command ? command : control->name));
	const struct ratio *x = &ratio->ratio;
	struct text t = { 0 };

	text_appendf(&t, "%.4g %s %s", x->ratio, ratio->is_rate ? "in the time of" : "of", name);
	if (!isnan(x->low))
		text_appendf(&t, " (%.4g .. %.4g with 95 %% certainty)", x->low, x->high);
	text_appendf(&t, ", %zu round%s", ratio->n_rounds, ratio->n_rounds == 1 ? "" : "s");
	return xptr(text_steal(&t));
}

/* Ours is like no program in particular. */
static const struct control_slope slope_of_ours = { 1, 1 };

/* --- Two results --- */

static bool is_ours(const struct benchmark *control)
{
	const char *command = facts_find_string(&control->metadata, BENCHMARK_CONTROL);

	return command && text_starts_with(command, BENCHMARK_CONTROL_OURS " ");
}

/* The length in the old control's command, if both controls are ours: the length is their only
 * argument. Else NULL. */
static const char *find_length(const char *old, const char *new)
{
	const char *blank = old ? strchr(old, ' ') : NULL;

	if (!blank || !new || strncmp(old, BENCHMARK_CONTROL_OURS " ", blank + 1 - old) != 0 ||
		strncmp(old, new, (size_t)(blank + 1 - old)) != 0)
		return NULL;
	return blank + 1;
}

char *control_explain_different(const struct benchmark *old, const struct benchmark *old_control,
	const struct benchmark *new, const struct benchmark *new_control)
{
	const char *commands[2] = {
		facts_find_string(&old_control->metadata, BENCHMARK_CONTROL),
		facts_find_string(&new_control->metadata, BENCHMARK_CONTROL),
	};
	const char *length = find_length(commands[0], commands[1]);
	_cleanup_free_ char *text = NULL;

	if (!have_equal(old_control, new_control, BENCHMARK_CONTROL))
		text = xformat("the controls are not the same: %s and %s%s%s",
			commands[0] ? commands[0] : "unknown",
			commands[1] ? commands[1] : "unknown",
			length ? "; measure again with --control-length " : "",
			length ? length : "");
	else if (!facts_find(&old_control->metadata, BENCHMARK_CONTROL_HASH) ||
		!facts_find(&new_control->metadata, BENCHMARK_CONTROL_HASH))
		text = xformat("it is not known whether the controls are the same file");
	else if (!have_equal(old_control, new_control, BENCHMARK_CONTROL_HASH))
		text = xformat("the controls are not the same: two files, each of them called %s",
			commands[0]);
	else if (!have_equal(old, new, METADATA_CLOCK) && !benchmark_is_by_program(old))
		text = xformat("the controls are not the same: their clocks differ");
	else if (!have_equal(old, new, "cpu_model_name"))
		text = xformat("a control is of use between processors of one model alone");
	return text ? xptr(text_escape_control(text)) : NULL;
}

/* --- The slope --- */

/* Sums of squares and of products about the means of each result. */
struct products {
	double program;
	double control;
	double both;
};

/* Adds those of the rounds without [from, to). */
static void add_products(const struct rounds *rounds, size_t from, size_t to, struct products *sums)
{
	double a = 0, c = 0, n = (double)(rounds->n - (to - from));

	for (size_t i = 0; i < rounds->n; i++) {
		if (i >= from && i < to)
			continue;
		a += rounds->program[i] / n;
		c += rounds->control[i] / n;
	}
	for (size_t i = 0; i < rounds->n; i++) {
		double x = rounds->program[i] - a, y = rounds->control[i] - c;

		if (i >= from && i < to)
			continue;
		sums->program += x * x;
		sums->control += y * y;
		sums->both += x * y;
	}
}

enum {
	SLOPE_BLOCKS = 10,	 /* of each result */
	SLOPE_RESULTS_MANY = 20, /* so many results are a block each */
	SLOPE_ROUNDS_MIN = 20,	 /* of each result, where they are not so many */
};

/* Between which two values a slope is. */
struct slope_bounds {
	double low;
	double high;
};

/* A mean, and the sum of the squared deviations from it (Welford 1962). */
struct deviations {
	double n;
	double mean;
	double squares;
};

static void deviations_add(struct deviations *d, double value)
{
	double from = value - d->mean;

	d->mean += from / ++d->n;
	d->squares += from * (value - d->mean);
}

/* Of the estimate of which these are the values without one block after the other. */
static double jackknife_deviation(const struct deviations *d)
{
	return sqrt(d->squares * (d->n - 1) / d->n);
}

/*
 * Finds by how many times as much as the control the machine moves the program, as logarithms, and
 * by how much that may be wrong. Noise of the control's own makes the regression of the
 * program on the control flatter than the slope is, and noise of the program's own makes that of
 * the control on the program steeper, so that the slope is between the two (Frisch, Statistical
 * confluence analysis, 1934), widened by two of their deviations, which come from leaving out one
 * block of rounds after the other: rounds that follow each other are alike. It may be from 0 to 2
 * where the rounds do not tell, because the machine hardly moved while they were measured.
 */
static struct slope_bounds bound_slope(const struct rounds *results, size_t n)
{
	const struct slope_bounds unknown = { 0, 2 };
	size_t n_blocks = n >= SLOPE_RESULTS_MANY ? 1 : SLOPE_BLOCKS;
	struct deviations flat = { 0 }, steep = { 0 };
	struct slope_bounds bounds;
	struct products all = { 0 };

	for (size_t i = 0; i < n; i++) {
		if (n_blocks > 1 && results[i].n < SLOPE_ROUNDS_MIN)
			return unknown;
		add_products(&results[i], 0, 0, &all);
	}
	if (!(all.both > 0))
		return unknown;
	for (size_t i = 0; i < n; i++) {
		struct products own = { 0 }, others;

		add_products(&results[i], 0, 0, &own);
		others = (struct products){ all.program - own.program, all.control - own.control,
			all.both - own.both };
		for (size_t block = 0; block < n_blocks; block++) {
			struct products part = others;

			if (n_blocks > 1)
				add_products(&results[i], block * results[i].n / n_blocks,
					(block + 1) * results[i].n / n_blocks, &part);
			if (!(part.both > 0))
				return unknown;
			deviations_add(&flat, part.both / part.control);
			deviations_add(&steep, part.program / part.both);
		}
	}
	bounds.low = fmin(fmax(all.both / all.control - 2 * jackknife_deviation(&flat), 0), 2);
	bounds.high = fmin(all.program / all.both + 2 * jackknife_deviation(&steep), 2);
	bounds.high = fmax(bounds.high, bounds.low);
	return bounds;
}

/* It is taken for 1, as whoever chose the control did, unless the bounds exclude that; then for the
 * middle. */
static struct control_slope choose_slope(struct slope_bounds bounds)
{
	double slope = bounds.low <= 1 && bounds.high >= 1 ? 1 : (bounds.low + bounds.high) / 2;

	return (struct control_slope){ slope, fmax(bounds.high - slope, slope - bounds.low) };
}

/* The change, its interval and p, from the two shifts. */
static void set_change(struct comparison *c, const struct shift *old, const struct shift *new)
{
	double change = new->estimate - old->estimate;
	double low = change - hypot(new->estimate - new->low, old->high - old->estimate);
	double high = change + hypot(new->high - new->estimate, old->estimate - old->low);
	double to_zero = change > 0 ? change - low : high - change;

	if (benchmark_is_gain(c->old))
		c->ratio = ratio_of_shift(
			&(struct shift){ .estimate = -change, .low = -high, .high = -low });
	else
		c->ratio = ratio_of_shift(
			&(struct shift){ .estimate = change, .low = low, .high = high });
	c->p = to_zero > 0 ? 2 * normal_upper_tail(NORMAL_975 * fabs(change) / to_zero)
			   : (change == 0 ? 1 : 0);
	c->least_p = 0;
}

/* The ratios to the controls have to be as stable as times must be without a control; NULL in *ret
 * where they are. */
static int explain_unstable_ratios(const struct rounds rounds[2], char **ret)
{
	struct range ranges[2];
	char shown[2][2][UNITS_TEXT_SIZE];

	for (int i = 0; i < 2; i++) {
		_cleanup_(levels) struct levels *levels = NULL;
		int r = levels_find(rounds[i].ratios, rounds[i].n, &levels);

		if (r < 0)
			return r;
		ranges[i] = resolution_find_range(levels);
		snprintf(shown[i][0], UNITS_TEXT_SIZE, "%.4g", ranges[i].low);
		snprintf(shown[i][1], UNITS_TEXT_SIZE, "%.4g", ranges[i].high);
	}
	if ((!ranges[0].how && !ranges[1].how) || ranges[0].low > ranges[1].high ||
		ranges[1].low > ranges[0].high)
		return 0;
	*ret = resolution_explain_ranges(ranges, "ratios to the control", shown);
	return 0;
}

static char *explain_too_few(const struct rounds rounds[2])
{
	return xformat(
		"too few rounds with the control: %zu and %zu, and at least %zu each are needed "
		"to find any difference",
		rounds[0].n, rounds[1].n, shift_pairs_needed(SIGNIFICANCE));
}

static int apply(struct comparison *c, struct rounds rounds[2], const struct benchmark *old_control,
	const struct benchmark *new_control)
{
	_cleanup_(comparison) struct comparison *controls = NULL;
	char *doubt = NULL;
	struct control_slope slope = slope_of_ours;
	double base = rounds[0].control[0];
	int r;

	if (!is_ours(old_control))
		slope = choose_slope(bound_slope(rounds, 2));
	r = comparison_new(old_control, new_control, &controls);
	for (size_t i = 0; r >= 0 && i < 2; i++)
		r = rounds_compare(&rounds[i], slope.slope, base);
	if (r < 0)
		return r;
	set_change(c, &rounds[0].shift, &rounds[1].shift);
	if (isnan(c->ratio.low))
		doubt = explain_too_few(rounds);
	else
		r = explain_unstable_ratios(rounds, &doubt);
	if (r < 0)
		return r;
	/* A time that says nothing of the work does not in proportion to a control either. */
	if (c->is_fixed_time) {
		free(doubt);
	} else {
		free(c->doubt);
		c->doubt = doubt;
	}
	/* Objections to results that were measured one after the other do not apply to these
	 * ratios. */
	c->resolution = resolution_of_control(controls->ratio.ratio, slope.error);
	if (!isnan(c->ratio.low))
		resolution_widen_interval(&c->resolution, &c->ratio.low, &c->ratio.high);
	while (c->n_objections > 0)
		free(c->objections[--c->n_objections]);
	shift_test_free(TAKE_PTR(c->test));
	c->design = COMPARED_BY_CONTROL;
	c->control_ratio = controls->ratio.ratio;
	c->control_slope = slope.slope;
	c->n_rounds[0] = rounds[0].n;
	c->n_rounds[1] = rounds[1].n;
	return 0;
}

int control_apply(struct comparison *comparison, const struct benchmark *old_control,
	const struct benchmark *new_control, char **ret_why)
{
	struct rounds rounds[2] = { 0 };
	int r;

	*ret_why = comparison_is_of_machines(comparison)
		? xptr(strdup("the results are of several machines"))
		: control_explain_different(
			  comparison->old, old_control, comparison->new, new_control);
	if (*ret_why)
		return 0;
	r = find_rounds(comparison->old, old_control, &rounds[0]);
	if (r >= 0)
		r = find_rounds(comparison->new, new_control, &rounds[1]);
	if (r >= 0)
		r = apply(comparison, rounds, old_control, new_control);
	rounds_clear(&rounds[0]);
	rounds_clear(&rounds[1]);
	/* Values without a partner, or without a logarithm, are compared as if there were no
	 * control. */
	if (r != -ENODATA && r != -ERANGE)
		return r;
	*ret_why =
		xptr(strdup(r == -ENODATA ? "a program and its control have no round in common"
					  : "a value that is not above 0 has no ratio to another"));
	return 0;
}

/* --- A history --- */

/* The changes of the medians from each result to the next one, which tell how the machine moves
 * both from day to day. A change of the program is noise among them. */
static struct rounds find_steps(const double *programs, const double *controls, size_t n)
{
	struct rounds steps = {
		.program = xptr((double *)reallocarray(NULL, n, sizeof(*steps.program))),
		.control = xptr((double *)reallocarray(NULL, n, sizeof(*steps.control))),
	};

	for (; steps.n + 1 < n; steps.n++) {
		steps.program[steps.n] = log(programs[steps.n + 1] / programs[steps.n]);
		steps.control[steps.n] = log(controls[steps.n + 1] / controls[steps.n]);
	}
	return steps;
}

/* What both the rounds and the days allow; where these contradict, the days are what matters. */
static struct control_slope learn_slope(
	const struct rounds *results, const double *programs, const double *controls, size_t n)
{
	struct rounds steps = find_steps(programs, controls, n);
	struct slope_bounds bounds = bound_slope(results, n), by_day = bound_slope(&steps, 1);

	rounds_clear(&steps);
	if (by_day.low > bounds.high || by_day.high < bounds.low)
		bounds = by_day;
	bounds.low = fmax(bounds.low, by_day.low);
	bounds.high = fmin(bounds.high, by_day.high);
	return choose_slope(bounds);
}

/* Sets the values by the slope, and returns it. */
static int correct(const struct benchmark *const *controls, struct rounds *results, size_t n,
	bool is_gain, double *values, double *control_values, struct control_slope *ret)
{
	struct control_slope slope = slope_of_ours;
	_cleanup_free_ double *scratch = xptr(reallocarray(NULL, n, sizeof(*scratch)));
	double base;
	int r = 0;

	for (size_t i = 0; r >= 0 && i < n; i++)
		r = benchmark_median(controls[i], &control_values[i]);
	if (r < 0)
		return r;
	for (size_t i = 0; is_gain && i < n; i++)
		values[i] = 1 / values[i];
	if (!is_ours(controls[0]))
		slope = learn_slope(results, values, control_values, n);
	base = log(stats_find_median(control_values, n, scratch));
	for (size_t i = 0; r >= 0 && i < n; i++)
		r = rounds_compare(&results[i], slope.slope, base);
	if (r < 0)
		return r;
	for (size_t i = 0; i < n; i++) {
		double log_cost = results[i].shift.estimate + base;

		values[i] = exp(is_gain ? -log_cost : log_cost);
	}
	*ret = slope;
	return 0;
}

int control_correct(const struct benchmark *const *of, const struct benchmark *const *controls,
	size_t n, double *values, double *control_values, struct control_slope *ret)
{
	struct rounds *results = xptr(calloc(n, sizeof(*results)));
	int r = 0;

	for (size_t i = 0; r >= 0 && i < n; i++)
		r = fleet_is_needed(&of[i], 1) ? -ENODATA
					       : find_rounds(of[i], controls[i], &results[i]);
	if (r >= 0)
		r = correct(controls, results, n, benchmark_is_gain(of[0]), values, control_values,
			ret);
	for (size_t i = 0; i < n; i++)
		rounds_clear(&results[i]);
	free(results);
	return r;
}
