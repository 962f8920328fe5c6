// SPDX-License-Identifier: GPL-2.0-or-later
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "base/text.h"
#include "base/units.h"
#include "base/xalloc.h"
#include "judge/report/sense.h"
#include "judge/report/waiting.h"
#include "judge/report/wording.h"
#include "judge/result/metric.h"
#include "judge/stats/multiple.h"

/* With more degrees of freedom, further repeats narrow the interval by a tenth at most. */
#define REPEATS_ENOUGH 9
/* Smaller steps are said only where they matter. */
#define STEP_SHOWN 0.005

const char *comparison_remedy(const struct comparison *comparison)
{
	/* By turns is told by dates alone, which hyperfine 1 and nanobench do not write. */
	bool dated = comparison->old->has_dates && comparison->new->has_dates;

	switch (comparison->design) {
	case COMPARED_IN_TURN:
		return comparison->is_carried
			? "have a hook remove what a program leaves (runpinned --prepare sync), or "
			  "make more runs"
			: NULL;
	case COMPARED_IN_SEQUENCE:
		if (comparison_is_learnt(comparison) && comparison->resolution.df < REPEATS_ENOUGH)
			return "give results of more sittings (--repeats), or measure both in turn "
			       "(runpinned --baseline)";
		return dated ? "measure both in turn (runpinned --baseline), each beside a control "
			       "(runpinned --control), or several results by turns (--old, --new)"
			     : "measure both in turn (runpinned --baseline), or each beside a "
			       "control (runpinned --control)";
	case COMPARED_RESULTS_IN_SEQUENCE:
		return dated ? "measure old and new by turns"
			     : "results without dates do not tell that they were measured by "
			       "turns: measure both in turn (runpinned --baseline)";
	default:
		return NULL;
	}
}

void comparison_append_verdict(struct text *t, const struct comparison *comparison)
{
	const struct comparison *c = comparison;
	bool is_worse = c->verdict == VERDICT_SLOWER;
	struct sense sense;

	sense_find(c->old, &sense);
	switch (c->verdict) {
	case VERDICT_FASTER:
	case VERDICT_SLOWER:
		if (sense.is_known)
			text_append(t, is_worse ? "worse: " : "better: ");
		sense_append(t, &sense, is_worse);
		break;
	case VERDICT_UNCLEAR:
		text_append(t, "unclear");
		break;
	default:
		text_append(t, "no difference found");
	}
	text_append(t, comparison_where_text(c));
}

static void append_p(struct text *t, double p)
{
	if (p < 0.0001)
		text_append(t, "p < 0.0001");
	else
		text_appendf(t, "p = %.2g", p);
}

/* " (of all compared: p = 0.07)" */
static void append_adjusted_p(struct text *t, const struct comparison *c)
{
	text_append(t, " (of all compared: ");
	append_p(t, c->adjusted_p);
	text_append(t, ")");
}

void comparison_append_correction(struct text *t, const struct comparison *comparison)
{
	const struct ratio *ratio = &comparison->ratio;

	/* Without an interval both ends are NAN, which is neither above nor below 1. */
	if (comparison->verdict == VERDICT_SAME && (ratio->low > 1 || ratio->high < 1))
		append_adjusted_p(t, comparison);
}

const char *comparison_where_text(const struct comparison *comparison)
{
	bool decided =
		comparison->verdict == VERDICT_FASTER || comparison->verdict == VERDICT_SLOWER;

	return decided && comparison->ratio.ratio == 1 ? ", where they differ" : "";
}

char *comparison_verdict_text(const struct comparison *comparison)
{
	struct text t = { 0 };

	comparison_append_verdict(&t, comparison);
	if (comparison->verdict == VERDICT_UNCLEAR)
		text_appendf(&t, ": %s", comparison->unclear);
	comparison_append_correction(&t, comparison);
	return xptr(text_steal(&t));
}

/* With enough decimals to tell the ends of an interval of this width apart. */
static const char *format_change(double ratio, double width, char buf[static UNITS_TEXT_SIZE])
{
	double percent = (ratio - 1) * 100;
	int decimals = 0;

	width *= 100;
	/* Logarithms of equal values differ by less than that after some arithmetic. */
	if (!(width > 1e-9) || fabs(percent) > 1e6)
		return units_format_change(ratio - 1, buf);
	/* Where hardly anything varies, six digits say enough. */
	while (decimals < 6 && width < 2 && fabs(percent) * pow(10, decimals) < 1e5) {
		decimals++;
		width *= 10;
	}
	/* Zero is printed without a sign. */
	if (fabs(percent) < 0.5 * pow(10, -decimals))
		snprintf(buf, UNITS_TEXT_SIZE, "%.*f %%", decimals, 0.0);
	else
		snprintf(buf, UNITS_TEXT_SIZE, "%+.*f %%", decimals, percent);
	return buf;
}

/* The change is printed as exactly as the runs tell it, even where the machine limits the
 * interval. */
const char *comparison_format_change(
	const struct comparison *comparison, char buf[static UNITS_TEXT_SIZE])
{
	const struct ratio *ratio = &comparison->ratio;
	double share = comparison->resolution.share;
	struct ratio of_runs = { ratio->ratio, ratio->low * (1 + share),
		ratio->high / (1 + share) };

	/* Nothing is so many per cent of 0, which errors and allocations often are. */
	if (!isfinite(ratio->ratio)) {
		snprintf(buf, UNITS_TEXT_SIZE, "%.3g -> %.3g", comparison->old_stats.median,
			comparison->new_stats.median);
		return buf;
	}
	if (comparison_is_learnt(comparison))
		of_runs = ratio_of_shift(&comparison->learnt.runs);
	return format_change(ratio->ratio, of_runs.high - of_runs.low, buf);
}

/* An interval that does not hold 0 % is not printed as if it did, unless it nearly does. */
static double find_width(const struct ratio *ratio)
{
	double width = ratio->high - ratio->low;
	double far = fmax(ratio->low - 1, 1 - ratio->high);

	return far > 0 ? fmax(fmin(width, 4 * far), width / 100) : width;
}

const char *comparison_format_interval(
	const struct comparison *comparison, char buf[static COMPARISON_INTERVAL_SIZE])
{
	const struct ratio *ratio = &comparison->ratio;
	double width = find_width(ratio);
	char low[UNITS_TEXT_SIZE], high[UNITS_TEXT_SIZE];

	if (isnan(ratio->low) || !isfinite(ratio->ratio) || comparison_is_exact(comparison))
		snprintf(buf, COMPARISON_INTERVAL_SIZE, "%s", "");
	else
		snprintf(buf, COMPARISON_INTERVAL_SIZE, "%s .. %s",
			format_change(ratio->low, width, low),
			format_change(ratio->high, width, high));
	return buf;
}

const char *comparison_format_both(
	const struct comparison *comparison, char buf[static COMPARISON_BOTH_SIZE])
{
	char change[UNITS_TEXT_SIZE], interval[COMPARISON_INTERVAL_SIZE];

	comparison_format_change(comparison, change);
	if (*comparison_format_interval(comparison, interval))
		snprintf(buf, COMPARISON_BOTH_SIZE, "%s (%s)", change, interval);
	else
		snprintf(buf, COMPARISON_BOTH_SIZE, "%s", change);
	return buf;
}

static bool is_of_layouts(const struct comparison *c)
{
	return c->fleet.level == FLEET_LAYOUTS;
}

const char *comparison_median_remark(const struct comparison *comparison, bool of_any)
{
	const struct comparison *c = comparison;
	double ratio = c->new_stats.median / c->old_stats.median;
	char of_medians[UNITS_TEXT_SIZE], change[UNITS_TEXT_SIZE];

	if (!isfinite(ratio) || isnan(c->ratio.ratio) || comparison_is_exact(c))
		return "";
	units_format_change(ratio - 1, of_medians);
	units_format_change(c->ratio.ratio - 1, change);
	if (of_any ? strcmp(of_medians, change) == 0
		   : (ratio > 1) == (c->ratio.ratio > 1) || ratio == 1 || c->ratio.ratio == 1)
		return "";
	if (comparison_is_of_machines(c))
		return is_of_layouts(c) ? "of each alone; the change is the layouts' mean"
					: "of each alone; the change is the machines' mean";
	return c->n_pairs > 0 ? "of each alone; the change is that of the pairs"
			      : "of each alone; the change is that of all against all";
}

void comparison_append_design(struct text *t, const struct comparison *comparison)
{
	const struct comparison *c = comparison;

	if (comparison_is_exact(c)) {
		text_append(t, "exact: a single run tells");
		return;
	}
	switch (c->design) {
	case COMPARED_IN_TURN:
		text_appendf(
			t, "measured in turn, %zu pair%s", c->n_pairs, c->n_pairs == 1 ? "" : "s");
		break;
	case COMPARED_BY_CONTROL:
		text_appendf(t, "by the ratios to the control, %zu and %zu rounds", c->n_rounds[0],
			c->n_rounds[1]);
		break;
	case COMPARED_RESULTS:
		text_append(t, "results measured by turns");
		break;
	case COMPARED_RESULTS_IN_SEQUENCE:
		text_append(t, "results not measured by turns, or of unknown dates");
		break;
	case COMPARED_WITHIN_MACHINES:
		text_appendf(t, "on each of %zu machines, and their mean", c->fleet.n_machines[0]);
		break;
	case COMPARED_WITHIN_LAYOUTS:
		text_appendf(t, "in each of %zu layouts of both, and their mean",
			c->fleet.n_machines[0]);
		break;
	case COMPARED_BETWEEN_LAYOUTS:
		text_append(t, "of layouts that were not measured in turn");
		break;
	case COMPARED_BETWEEN_MACHINES:
		text_append(t, "of different machines");
		break;
	default:
		text_append(t, "measured one after the other");
	}
}

/* Appends nothing if there are too few machines for a test. */
static void append_tests(struct text *t, const struct comparison *c)
{
	if ((isnan(c->p) && comparison_is_of_machines(c)) || comparison_is_exact(c))
		return;
	text_appendf(t, "  tests      %s ",
		is_of_layouts(c)		       ? "Student's t of the layouts"
			: comparison_is_of_machines(c) ? "Student's t of the machines"
			: c->n_pairs > 0	       ? "rank differences"
			: comparison_is_learnt(c)      ? "repeats"
			: c->control_ratio > 0	       ? "ratios to the control"
			: c->p > c->ranks.p	       ? "Brunner-Munzel"
						       : "Mann-Whitney");
	append_p(t, c->p);
	if (!isnan(c->adjusted_p) && c->adjusted_p != c->p)
		append_adjusted_p(t, c);
	if (c->n_pairs > 0) {
		text_append(t, ", Wilcoxon ");
		append_p(t, c->signs.p);
	}
	if (comparison_is_learnt(c)) {
		text_append(t, ", Mann-Whitney ");
		append_p(t, c->learnt.runs.p);
	}
	if (!isnan(c->welch.t) && !comparison_is_of_machines(c)) {
		text_appendf(t,
			fabs(c->welch.t) < 1e6 ? ", Welch t = %.2f, " : ", Welch t = %.2g, ",
			c->welch.t);
		append_p(t, c->welch.p);
	}
	if (c->design == COMPARED_IN_SEQUENCE)
		text_append(t,
			comparison_is_learnt(c)
				? "; but for the repeats as if runs were independent"
				: "; as if runs were independent");
	text_append(t, "\n");
}

/* Where nothing was found because of it. */
static void append_waiting(struct text *t, const struct comparison *c)
{
	struct waiting old, new;
	char of_values[UNITS_TEXT_SIZE], of_processor[UNITS_TEXT_SIZE];

	if (c->verdict == VERDICT_FASTER || c->verdict == VERDICT_SLOWER ||
		waiting_find(c->old, &old) < 0 || waiting_find(c->new, &new) < 0)
		return;
	text_appendf(t,
		"  waiting    makes the time vary by %s, the processor time by %s: --metric " METRIC_PROCESSOR_TIME
		"\n",
		units_format_percent(MAX(old.of_values, new.of_values), of_values),
		units_format_percent(MAX(old.of_processor, new.of_processor), of_processor));
}

void comparison_append_resolution(struct text *t, const struct comparison *comparison)
{
	const struct resolution *resolution = &comparison->resolution;
	char a[UNITS_TEXT_SIZE];

	if (resolution_is_there(resolution))
		text_appendf(t, "  resolution %s    two results of %s may differ by this much\n",
			units_format_percent(resolution_size(resolution), a), resolution->why);
}

void comparison_append_doubts(struct text *t, const struct comparison *comparison)
{
	const struct comparison *c = comparison;
	char a[UNITS_TEXT_SIZE];

	if (c->step >= STEP_SHOWN)
		text_appendf(t,
			"  step       %s    in which it is counted: smaller changes do not show\n",
			units_format_percent(c->step, a));
	if (c->mean_ratio > 0)
		text_appendf(t,
			"  mean       %s, which the interval does not hold: the runs of both scatter "
			"differently\n",
			units_format_change(c->mean_ratio - 1, a));
	if (c->learnt.steps)
		text_appendf(t,
			"  repeats    %s: if the program was another one before, leave those out\n",
			c->learnt.steps);
	if (carryover_is_found(&c->carryover)) {
		text_append(t, "  carry-over ");
		carryover_append(t, c->carryover.change, comparison_is_of_speed(c), c->old->name,
			c->new->name);
		text_append(t, "\n");
	}
	if (comparison_may_be_faults(c))
		text_appendf(t,
			"  faults     %g -> %g minor page faults may be all of the change, as of "
			"files that were written in different ways\n",
			c->faults[0], c->faults[1]);
	append_waiting(t, c);
}

void comparison_append_medians(struct text *t, const struct comparison *comparison)
{
	const struct comparison *c = comparison;
	struct scale scale = scale_refine(
		scale_choose_unit(c->old->unit, MAX(c->old_stats.median, c->new_stats.median)), 1);
	char a[UNITS_TEXT_SIZE], b[UNITS_TEXT_SIZE];

	scale = scale_resolve(scale, c->new_stats.median - c->old_stats.median);
	text_appendf(t, "%s -> %s", scale_format_shown(scale, c->old->unit, c->old_stats.median, a),
		scale_format_shown(scale, c->old->unit, c->new_stats.median, b));
}

char *comparison_headline(const char *title, const struct comparison *comparison, bool with_medians)
{
	char both[COMPARISON_BOTH_SIZE];
	struct text t = { 0 };

	text_appendf(&t, "%s: ", title);
	comparison_append_verdict(&t, comparison);
	text_appendf(&t, ", %s", comparison_format_both(comparison, both));
	comparison_append_correction(&t, comparison);
	if (with_medians) {
		text_append(&t, ", medians ");
		comparison_append_medians(&t, comparison);
	} else if (comparison->verdict != VERDICT_UNCLEAR) {
		text_append(&t, ", ");
		comparison_append_design(&t, comparison);
	}
	return xptr(text_steal(&t));
}

char *comparison_render(const struct comparison *comparison)
{
	const struct comparison *c = comparison;
	_cleanup_free_ char *verdict = comparison_verdict_text(c);
	struct text t = { 0 };
	const char *remark = comparison_median_remark(c, true);
	char a[UNITS_TEXT_SIZE];
	char interval[COMPARISON_INTERVAL_SIZE];

	text_appendf(&t, "  change     %s    ", comparison_format_change(c, a));
	comparison_append_design(&t, c);
	text_append(&t, "\n");
	if (*comparison_format_interval(c, interval))
		text_appendf(
			&t, "  interval   %s    holds the change with 95 %% certainty\n", interval);
	text_append(&t, "  median     ");
	comparison_append_medians(&t, c);
	text_appendf(&t, "%s%s\n", *remark ? "    " : "", remark);
	if (c->control_ratio > 0) {
		text_appendf(&t,
			"  control    %s    its own change, already removed from the change above",
			units_format_change(c->control_ratio - 1, a));
		if (c->control_slope != 1)
			text_appendf(&t, "; the rounds show %.2g times as much in the program",
				c->control_slope);
		text_append(&t, "\n");
	}
	comparison_append_resolution(&t, c);
	if (c->fleet.n_machines[0] > 0)
		fleet_append_rows(&t, c->fleet.level, &c->fleet.nested, &c->fleet);
	else if (comparison_is_of_results(c))
		text_appendf(&t, "  results    %zu, %zu\n", c->n_old_results, c->n_new_results);
	else
		text_appendf(&t, "  runs       %zu, %zu\n", c->n_runs[0], c->n_runs[1]);
	append_tests(&t, c);
	comparison_append_doubts(&t, c);
	for (size_t i = 0; i < c->n_objections; i++)
		text_appendf(&t, "  %-10s %s\n", i == 0 ? "check" : "", c->objections[i]);
	text_appendf(&t, "  verdict    %s\n", verdict);
	if (c->verdict == VERDICT_UNCLEAR && comparison_remedy(c))
		text_appendf(&t, "  instead    %s\n", comparison_remedy(c));
	return xptr(text_steal(&t));
}
