// SPDX-License-Identifier: GPL-2.0-or-later
/* compare: is NEW faster or slower than OLD? Benchmarks are matched by name. If there is only one
 * file, programs that were run in turn are compared with the first of them. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "base/terminal.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "judge/bench-report/bench-report.h"
#include "judge/bench-report/column.h"
#include "judge/bench-report/export.h"
#include "judge/bench-report/files.h"
#include "judge/bench-report/pairs.h"
#include "judge/report/brief.h"
#include "judge/report/decision.h"
#include "judge/report/rank.h"
#include "judge/report/repeats.h"
#include "judge/report/sense.h"
#include "judge/report/served.h"
#include "judge/report/wording.h"
#include "judge/result/metadata.h"
#include "judge/result/metric.h"
#include "judge/stats/multiple.h"

enum {
	SIDES_MAX = 4, /* comparisons whose programs have a line each */
};

static bool equal_differences(const struct comparison *x, const struct comparison *y)
{
	if (x->n_differences != y->n_differences)
		return false;
	for (size_t i = 0; i < x->n_differences; i++)
		if (strcmp(x->differences[i], y->differences[i]) != 0)
			return false;
	return true;
}

static char *join_differences(const struct comparison *c, const char *between)
{
	struct text t = { 0 };

	for (size_t i = 0; i < c->n_differences; i++)
		text_appendf(&t, "%s%s", i > 0 ? between : "", c->differences[i]);
	return xptr(text_steal(&t));
}

/* Printed before any verdict, because two different machines, or ways to measure, make the verdicts
 * meaningless. */
static void print_differences(const struct pairs *pairs)
{
	bool any = false;

	for (size_t i = 0; i < pairs->n; i++) {
		const struct comparison *c = pairs->comparisons[i];
		_cleanup_free_ char *name = NULL, *differences = NULL;

		/* Most often the differences are the same for all benchmarks of a file. */
		if (c->n_differences == 0 ||
			(i > 0 && pairs->files[i] == pairs->files[i - 1] &&
				equal_differences(c, pairs->comparisons[i - 1])))
			continue;
		name = pairs_name(c);
		differences = join_differences(c, "\n  ");
		xprint_report(stdout, "Measured differently (%s%s%s):\n  %s\n",
			pairs_have_several_new(pairs) ? pairs->labels[pairs->files[i]] : "",
			pairs_have_several_new(pairs) ? ": " : "", name, differences);
		any = true;
	}
	if (any)
		xprint_report(stdout, "\n");
}

/* A line for each file with several benchmarks, malloc'd. */
static char *make_means(const struct pairs *pairs)
{
	size_t first = 0, n = 0, n_known;
	char change[UNITS_TEXT_SIZE];
	struct text t = { 0 };

	while (pairs_next_file(pairs, &first, &n)) {
		double mean = comparison_geometric_mean(pairs->comparisons + first, n, &n_known);

		if (n < 2 || n_known == 0)
			continue;
		text_appendf(&t, "%s%sgeometric mean of %zu%s: %s\n",
			pairs_have_several_new(pairs) ? pairs->labels[pairs->files[first]] : "",
			pairs_have_several_new(pairs) ? ": " : "", n_known,
			n_known < n ? ", without those that have no ratio" : "",
			units_format_change(mean - 1, change));
	}
	return xptr(text_steal(&t));
}

static void print_means(const struct pairs *pairs)
{
	_cleanup_free_ char *means = make_means(pairs);

	xprint_report(stdout, "%s", means);
}

static const char *names_remark(const struct pairs *pairs, size_t at)
{
	const struct comparison *c = pairs->comparisons[at];

	if (pairs->reports->n == 1 || metadata_equal_strings(c->old->name, c->new->name))
		return "";
	return pairs_are_one_each(pairs)
		? "  names      differ: they are compared because each file has one benchmark\n"
		: "  names      differ: they are compared because of --rename\n";
}

static int print_ranking(const struct benchmark *const *programs, size_t n, bool by_speed,
	struct emit *emit _unused_)
{
	_cleanup_free_ char *text = NULL;
	int r = rank_render(programs, n, by_speed, &text);

	return r < 0 ? r : xprint_report(stdout, "\n%s", text);
}

/* print_ranking() or emit_ranking(). */
typedef int ranking_writer(
	const struct benchmark *const *programs, size_t n, bool by_speed, struct emit *emit);

/* Shows the ranking of the programs of one file that were run in turn with `first`. */
static int show_ranking(const struct pairs *pairs, const struct benchmark *first,
	ranking_writer *show, struct emit *emit)
{
	_cleanup_free_ const struct benchmark **programs =
		xptr(calloc(pairs->n + 1, sizeof(*programs)));
	size_t n = 0;

	programs[n++] = first;
	for (size_t i = 0; i < pairs->n; i++)
		if (pairs->comparisons[i]->old == first)
			programs[n++] = pairs->comparisons[i]->new;
	return show(programs, n, pairs->request->sort == SORT_NONE, emit);
}

/* Shows the rankings of the programs of one file, unless --decide compared them. `show` writes to
 * `emit`. */
static int show_rankings(const struct pairs *pairs, ranking_writer *show, struct emit *emit)
{
	int r = 0;

	for (size_t i = 0; r >= 0 && pairs->reports->n == 1 && i < pairs->n; i++) {
		const struct comparison *c = pairs->comparisons[i];
		struct decision decision;
		bool known = false;

		for (size_t k = 0; k < i; k++)
			known = known || pairs->comparisons[k]->old == c->old;
		if (!known && !benchmark_is_by_program(c->old) && !find_decision(c->new, &decision))
			r = show_ranking(pairs, c->old, show, emit);
	}
	return r;
}

/* As pairs_title(), in the short report: no name is longer than a line. */
static char *make_brief_title(const struct brief *brief, const struct pairs *pairs, size_t at)
{
	const struct comparison *c = pairs->comparisons[at];
	_cleanup_free_ char *old_name = served_name(c->old), *new_name = served_name(c->new);
	bool is_same = metadata_equal_strings(old_name, new_name);
	_cleanup_free_ char *own = is_same ? NULL : brief_own_part(old_name, new_name);
	_cleanup_free_ char *old = brief_cut(brief, own ? own : old_name),
			    *new = brief_cut(brief, new_name);
	_cleanup_free_ char *label = pairs_have_several_new(pairs)
		? brief_cut(brief, pairs->labels[pairs->files[at]])
		: NULL;
	struct text t = { 0 };

	text_append(&t, old);
	if (!is_same)
		text_appendf(&t, " -> %s", new);
	if (c->old->metric && !c->old->is_figure)
		text_appendf(&t, " (%s)", c->old->metric);
	if (label)
		text_appendf(&t, ": %s", label);
	return xptr(text_steal(&t));
}

/* All that is known of each (-v). */
static int print_texts(const struct pairs *pairs)
{
	print_differences(pairs);
	for (size_t i = 0; i < pairs->n; i++) {
		_cleanup_free_ char *title = pairs_title(pairs, i), *decision = NULL;
		_cleanup_free_ char *text = comparison_render(pairs->comparisons[i]);

		xprint_report(stdout, "%s%s\n%s%s", i > 0 ? "\n" : "", title,
			names_remark(pairs, i), text);
		if (pairs->reports->n > 1)
			continue;
		decision = decision_line(pairs->comparisons[i]->new, true);
		xprint_report(stdout, "%s", decision);
	}
	if (pairs->n > 1)
		xprint_report(stdout, "\n");
	print_means(pairs);
	return show_rankings(pairs, print_ranking, NULL);
}

/* The verdicts first, in no more lines than that takes. */
static int print_brief(const struct pairs *pairs)
{
	_cleanup_(brief) struct brief *brief = brief_new(terminal_width(fileno(stdout)), false);
	/* The benchmarks of one file have names of their own. */
	bool with_sides = pairs->n == 1 || (pairs->reports->n == 1 && pairs->n <= SIDES_MAX);
	_cleanup_free_ char *text = NULL, *means = make_means(pairs);
	int r = 0;

	for (size_t i = 0; r >= 0 && i < pairs->n; i++) {
		const struct comparison *c = pairs->comparisons[i];
		_cleanup_free_ char *title = make_brief_title(brief, pairs, i);
		struct decision decision;

		if (pairs_is_decided(pairs, c, &decision))
			brief_add_decision(brief, title, &decision, NULL,
				served_is(c->new) ? "--max-sittings" : "--max-runs");
		else
			brief_add_comparison(brief, title, c, !with_sides);
		brief_add(brief, BRIEF_DOUBT, "%s", names_remark(pairs, i));
		if (with_sides)
			r = brief_add_sides(brief, c);
	}
	if (*means)
		brief_add(brief, BRIEF_VERDICT, "%s", means);
	text = brief_render(brief);
	return r < 0 ? r : xprint_report(stdout, "%s", text);
}

/* "slower", "decided: not slower by 2 %: ...", malloc'd. */
static char *make_verdict(const struct pairs *pairs, const struct comparison *c)
{
	_cleanup_free_ char *said = NULL;
	struct text t = { 0 };
	struct decision decision;
	bool decided = pairs_is_decided(pairs, c, &decision);

	said = decided ? decision_text(&decision, false) : comparison_verdict_text(c);
	text_appendf(&t, "%s%s", decided ? "decided: " : "", said);
	if (comparison_may_be_faults(c))
		text_appendf(&t, " (%g -> %g page faults may be why)", c->faults[0], c->faults[1]);
	return xptr(text_steal(&t));
}

/* "-3.7 % (-4.4 % .. -2.9 %)", malloc'd, with the interval of the gate; of a decision, its verdict,
 * which has a change of its own. */
static char *make_change(const struct pairs *pairs, const struct comparison *c)
{
	struct comparison shown = *c;
	char both[COMPARISON_BOTH_SIZE];
	struct decision decision;

	if (pairs_is_decided(pairs, c, &decision))
		return make_verdict(pairs, c);
	shown.ratio = comparison_interval_at(c, pairs->gate_level);
	return xformat("%s%s", comparison_format_both(&shown, both),
		pairs->gate_level < SIGNIFICANCE ? ", of all compared" : "");
}

static bool is_unclear(const struct pairs *pairs, const struct comparison *c)
{
	struct decision decision;

	return pairs_is_decided(pairs, c, &decision) ? decision.verdict == DECISION_NOT_SETTLED
						     : c->verdict == VERDICT_UNCLEAR;
}

/* --- Tables --- */

/* The unit is chosen so that the largest median of a time has 4 digits. All other times use the
 * same unit, except those that would be printed as zero. Sizes and numbers have units of their own.
 */
static struct scale choose_scale(const struct pairs *pairs)
{
	const struct unit *unit = UNIT_SECOND;
	double largest = 0;

	for (size_t i = 0; i < pairs->n; i++) {
		const struct comparison *c = pairs->comparisons[i];

		if (!unit_is_time(c->old->unit))
			continue;
		/* --unit holds for all times. */
		unit = c->old->unit;
		largest = MAX(largest, MAX(c->old_stats.median, c->new_stats.median));
	}
	return scale_refine(scale_choose_unit(unit, largest), 1);
}

static int add_cells(struct sheet *sheet, const struct pairs *pairs, size_t at)
{
	const struct comparison *c = pairs->comparisons[at];
	_cleanup_free_ char *name = pairs_name(c), *verdict = make_verdict(pairs, c), *both = NULL;
	const char *remark = comparison_median_remark(c, false);
	const struct unit *unit = c->old->unit;
	char old[UNITS_TEXT_SIZE], new[UNITS_TEXT_SIZE], change[UNITS_TEXT_SIZE];
	char interval[COMPARISON_INTERVAL_SIZE];
	struct scale scale = sheet->scale;

	if (*remark)
		both = xformat("%s (medians %s)", verdict, remark);
	if (!unit_is_time(unit))
		scale = scale_refine(scale_choose_unit(unit, c->old_stats.median), 1);
	scale_format_shown(scale, unit, c->old_stats.median, old);
	scale_format_shown(scale, unit, c->new_stats.median, new);
	comparison_format_change(c, change);
	comparison_format_interval(c, interval);
	put_cell(sheet, name, "BENCHMARK", TABLE_WRAP | TABLE_BREAK);
	if (pairs_have_several_new(pairs))
		put_cell(sheet, pairs->labels[pairs->files[at]], "FILE", TABLE_WRAP | TABLE_BREAK);
	put_cell(sheet, old, "OLD", TABLE_RIGHT);
	put_cell(sheet, new, "NEW", TABLE_RIGHT);
	put_cell(sheet, change, "CHANGE", TABLE_RIGHT);
	put_cell(sheet, interval, "INTERVAL", TABLE_RIGHT);
	put_cell(sheet, both ? both : verdict, "VERDICT", TABLE_WRAP);
	return sheet_end_row(sheet);
}

static int print_table(const struct pairs *pairs, enum form form)
{
	struct sheet sheet = { .form = form, .scale = choose_scale(pairs) };
	int r = 0;

	for (size_t i = 0; r >= 0 && i < pairs->n; i++)
		r = add_cells(&sheet, pairs, i);
	r = sheet_end(&sheet, r);
	if (r < 0)
		return r;
	xprint_report(stdout, "\n");
	print_means(pairs);
	return 0;
}

/* --- JSON and CSV --- */

static void put_files(struct sheet *sheet, const struct pairs *pairs, size_t at)
{
	const struct request *request = pairs->request;
	size_t n_old = request->n_old;

	if (sheet->emit && n_old > 0) {
		emit_texts(sheet->emit, "old_files", request->files, n_old);
		emit_texts(
			sheet->emit, "new_files", request->files + n_old, request->n_files - n_old);
		return;
	}
	/* If a side has several results, a row of CSV names the file of the first one. */
	put_text(sheet, request->files[0], "old_file", .csv = 1);
	put_text(sheet, request->files[pairs->files[at]], "new_file", .csv = 2);
}

/* side: 0 for the old one, 1 for the new one. */
static void put_side(struct sheet *sheet, const struct comparison *c, unsigned side)
{
	const struct stats *stats = side == 0 ? &c->old_stats : &c->new_stats;
	const struct benchmark *benchmark = side == 0 ? c->old : c->new;
	static const char *const as[2][3] = { { "old_name", "old_runs", "old_median" },
		{ "new_name", "new_runs", "new_median" } };

	if (sheet->emit)
		emit_object(sheet->emit, side == 0 ? "old" : "new");
	put_text(sheet, benchmark->name, "name", .csv = 3 + side, .as = as[side][0]);
	put_integer(sheet, c->n_runs[side], "runs", .csv = 8 + side, .as = as[side][1]);
	put_integer(sheet, c->n_values[side], "values");
	put_real(sheet, stats->median, "median", .csv = 10 + side, .as = as[side][2]);
	put_real(sheet, stats->mad, "mad");
	put_real(sheet, stats->mean, "mean");
	put_real(sheet, stats->stdev, "stdev");
	put_real(sheet, c->faults[side], "minor_faults");
	if (sheet->emit)
		emit_close(sheet->emit, '}');
}

/* The numbers of rounds with the control, of OLD and of NEW. */
static void emit_rounds(struct emit *emit, const struct comparison *c)
{
	if (!(c->control_ratio > 0)) {
		emit_string(emit, "control_rounds", NULL);
		return;
	}
	emit_array(emit, "control_rounds");
	for (size_t i = 0; i < ARRAY_SIZE(c->n_rounds); i++)
		emit_integer(emit, NULL, (int64_t)c->n_rounds[i]);
	emit_close(emit, ']');
}

/* What was learnt of the machine, or null. */
static void emit_repeats(struct emit *emit, const struct comparison *c)
{
	const struct learnt *learnt = &c->learnt;

	if (learnt->n == 0) {
		emit_string(emit, "repeats", NULL);
		return;
	}
	emit_object(emit, "repeats");
	emit_integer(emit, "sittings", (int64_t)learnt->n);
	emit_integer(emit, "programs", (int64_t)learnt->n_programs);
	emit_integer(emit, "seconds", learnt->seconds);
	emit_real(emit, "deviation", learnt->deviation);
	emit_real(emit, "df", c->resolution.df);
	emit_real(emit, "runs_p", learnt->runs.p);
	if (learnt->is_steady_known)
		emit_bool(emit, "steady", !learnt->steps);
	else
		emit_string(emit, "steady", NULL);
	emit_string(emit, "steps", learnt->steps);
	emit_close(emit, '}');
}

static void put_pair(struct sheet *sheet, const struct pairs *pairs, size_t at)
{
	const struct comparison *c = pairs->comparisons[at];
	bool in_pairs = c->n_pairs > 0, by_control = c->control_ratio > 0;
	bool is_resolved = resolution_is_there(&c->resolution);

	put_files(sheet, pairs, at);
	put_text(sheet, comparison_design_name(c->design), "design", .csv = 5);
	put_text(sheet, unit_name(c->old->unit), "unit", .csv = 6);
	put_text(sheet, c->old->metric, "metric", .csv = 7);
	put_side(sheet, c, 0);
	put_side(sheet, c, 1);
	put_real(sheet, c->ratio.ratio, "ratio", .csv = 12);
	put_real(sheet, c->ratio.low, "ratio_low", .csv = 13);
	put_real(sheet, c->ratio.high, "ratio_high", .csv = 14);
	put_real(sheet, c->p, "p", .csv = 15);
	put_real(sheet, c->ranks.u, "mann_whitney_u");
	put_real(sheet, c->ranks.p, "mann_whitney_p");
	put_integer(sheet, c->n_pairs, "pairs");
	put_real(sheet, in_pairs ? c->signs.w : NAN, "signed_rank_w");
	put_real(sheet, in_pairs ? c->signs.p : NAN, "signed_rank_p");
	put_real(sheet, c->adjusted_p, "adjusted_p", .csv = 16);
	put_real(sheet, c->welch.t, "welch_t");
	put_real(sheet, c->welch.df, "welch_df");
	put_real(sheet, c->welch.p, "welch_p");
	put_real(sheet, is_resolved ? resolution_size(&c->resolution) : NAN, "resolution",
		.csv = 17);
	put_text(sheet, is_resolved ? c->resolution.why : NULL, "resolution_why");
	if (sheet->emit)
		emit_repeats(sheet->emit, c);
	put_real(sheet, c->step > 0 ? c->step : NAN, "step");
	put_real(sheet, c->mean_ratio, "ratio_mean");
	put_text(sheet, better_name(c->old->better), "better", .csv = 21);
	put_text(sheet, comparison_verdict_name(c->verdict), "verdict", .csv = 18);
	put_text(sheet, c->unclear, "unclear", .csv = 19);
	put_real(sheet, carryover_is_found(&c->carryover) ? exp(c->carryover.change) : NAN,
		"carryover");
	put_bool(sheet, comparison_may_be_faults(c), "may_be_faults");
	put_text(sheet, c->verdict == VERDICT_UNCLEAR ? comparison_remedy(c) : NULL, "remedy");
	put_real(sheet, by_control ? c->control_ratio : NAN, "control_ratio");
	put_real(sheet, by_control ? c->control_slope : NAN, "control_slope");
}

static void emit_pair(struct emit *emit, const struct pairs *pairs, size_t at)
{
	const struct comparison *c = pairs->comparisons[at];
	struct sheet sheet = { .emit = emit };

	emit_object(emit, NULL);
	put_pair(&sheet, pairs, at);
	emit_rounds(emit, c);
	emit_fleet(emit, c->fleet.level, &c->fleet.nested, &c->fleet);
	emit_decision(emit, pairs->reports->n == 1 ? c->new : NULL);
	emit_texts(emit, "differences", c->differences, c->n_differences);
	emit_texts(emit, "objections", c->objections, c->n_objections);
	if (!isnan(pairs->request->fail_slower)) {
		enum gate gate = pairs_gate(pairs, c);
		struct ratio interval = comparison_interval_at(c, pairs->gate_level);

		put_bool(&sheet, gate == GATE_FAILS, "fails");
		put_text(&sheet, comparison_gate_name(gate), "gate");
		put_real(&sheet, benchmark_is_gain(c->old) ? interval.high : interval.low,
			"gate_low");
	}
	emit_close(emit, '}');
}

static int print_csv(const struct pairs *pairs)
{
	struct sheet sheet = { .form = FORM_CSV };
	int r = 0;

	for (size_t i = 0; r >= 0 && i < pairs->n; i++) {
		const struct comparison *c = pairs->comparisons[i];
		_cleanup_free_ char *differences = join_differences(c, "; ");
		struct decision d;

		put_pair(&sheet, pairs, i);
		put_text(&sheet, differences, "differences", .csv = 20);
		put_text(&sheet,
			pairs_is_decided(pairs, c, &d) ? decision_verdict_name(d.verdict) : NULL,
			"decision", .csv = 22);
		r = sheet_end_row(&sheet);
	}
	return r;
}

static int emit_ranking(
	const struct benchmark *const *programs, size_t n, bool by_speed, struct emit *emit)
{
	_cleanup_free_ struct comparison **comparisons = NULL;
	int r = rank_compare(programs, n, by_speed, &comparisons);

	if (r < 0)
		return r;
	for (size_t i = 0; i + 1 < n; i++) {
		const struct benchmark *fast, *slow;
		const struct comparison *c = comparisons[i];
		struct ratio times;

		rank_orient(c, &fast, &slow, &times);
		emit_object(emit, NULL);
		emit_string(emit, "fast", fast->name);
		emit_string(emit, "slow", slow->name);
		emit_real(emit, "times", times.ratio);
		emit_real(emit, "times_low", times.low);
		emit_real(emit, "times_high", times.high);
		emit_string(emit, "verdict",
			comparison_verdict_name(
				c->verdict == VERDICT_SLOWER ? VERDICT_FASTER : c->verdict));
		emit_string(emit, "unclear", c->unclear);
		emit_close(emit, '}');
		comparison_free(comparisons[i]);
	}
	return 0;
}

static int emit_pairs(const struct pairs *pairs)
{
	struct emit emit = { .stream = stdout };
	size_t first = 0, n = 0, n_known;
	int r;

	emit_object(&emit, NULL);
	emit_array(&emit, "comparisons");
	for (size_t i = 0; i < pairs->n; i++)
		emit_pair(&emit, pairs, i);
	emit_close(&emit, ']');
	emit_array(&emit, "geometric_means");
	while (pairs_next_file(pairs, &first, &n)) {
		emit_object(&emit, NULL);
		emit_string(&emit, "new_file", pairs->request->files[pairs->files[first]]);
		emit_real(&emit, "ratio",
			comparison_geometric_mean(pairs->comparisons + first, n, &n_known));
		emit_integer(&emit, "benchmarks", (int64_t)n_known);
		emit_close(&emit, '}');
	}
	emit_close(&emit, ']');
	emit_array(&emit, "ranking");
	r = show_rankings(pairs, emit_ranking, &emit);
	emit_close(&emit, ']');
	emit_close(&emit, '}');
	return r < 0 ? r : emit_finish(&emit);
}

/* --- JUnit --- */

/* Whether the comparison fails the gate, is unclear, or neither. */
static enum junit_outcome find_outcome(const struct pairs *pairs, const struct comparison *c)
{
	enum gate gate = is_unclear(pairs, c) ? GATE_UNCLEAR : GATE_PASSES;

	if (!isnan(pairs->request->fail_slower))
		gate = pairs_gate(pairs, c);
	if (gate == GATE_FAILS || (gate == GATE_UNCLEAR && pairs->request->fail_unclear))
		return JUNIT_FAILED;
	return gate == GATE_UNCLEAR ? JUNIT_SKIPPED : JUNIT_PASSED;
}

/* What was measured differently, and all lines of the comparison, malloc'd. */
static char *make_whole_text(const struct pairs *pairs, const struct comparison *c)
{
	_cleanup_free_ char *differences = join_differences(c, "\n  ");
	_cleanup_free_ char *lines = comparison_render(c), *decision = NULL;
	struct text t = { 0 };

	if (c->n_differences > 0)
		text_appendf(&t, "Measured differently:\n  %s\n\n", differences);
	text_append(&t, lines);
	if (pairs->reports->n == 1) {
		decision = decision_line(c->new, true);
		text_append(&t, decision);
	}
	return xptr(text_steal(&t));
}

static int print_junit(const struct pairs *pairs)
{
	struct junit junit = { 0 };

	for (size_t i = 0; i < pairs->n; i++) {
		const struct comparison *c = pairs->comparisons[i];
		_cleanup_free_ char *name = pairs_name(c), *text = make_whole_text(pairs, c);
		_cleanup_free_ char *verdict = make_verdict(pairs, c), *message = NULL;
		char both[COMPARISON_BOTH_SIZE];
		struct decision decision;

		/* A decision has a change of its own. */
		message = pairs_is_decided(pairs, c, &decision)
			? TAKE_PTR(verdict)
			: xformat("%s, %s", comparison_format_both(c, both), verdict);
		junit_add(&junit, pairs->labels[pairs->files[i]], name, find_outcome(pairs, c),
			message, text);
	}
	for (size_t i = 0; i < pairs->n_omissions; i++)
		junit_add(&junit, pairs->labels[pairs->omissions[i].file], pairs->omissions[i].name,
			pairs->request->fail_unclear ? JUNIT_FAILED : JUNIT_SKIPPED,
			pairs->omissions[i].why, NULL);
	return junit_print(&junit, "bench-report compare");
}

/* --- All output. --- */

static int print_pairs(const struct pairs *pairs)
{
	if (pairs->request->json)
		return emit_pairs(pairs);
	if (pairs->request->form == FORM_CSV)
		return print_csv(pairs);
	if (pairs->request->form == FORM_JUNIT)
		return print_junit(pairs);
	if (pairs->request->table || pairs->request->markdown) {
		print_differences(pairs);
		return print_table(pairs, pairs->request->markdown ? FORM_MARKDOWN : FORM_TABLE);
	}
	return pairs->request->verbose ? print_texts(pairs) : print_brief(pairs);
}

/* --- The gate --- */

/* "slower by more than 2 %", "longer by ...", "worse by more than 2 % (fewer requests/s)",
 * malloc'd. */
static char *make_worse(const struct comparison *c, double limit)
{
	struct sense sense;
	struct text t = { 0 };

	sense_find(c->old, &sense);
	text_appendf(&t, "%s by more than %g %%",
		sense.is_speed || sense.is_length ? sense.worse
			: *sense.of		  ? "worse"
			: sense.is_gain		  ? "lower"
						  : "higher",
		limit);
	if (*sense.of) {
		text_append(&t, " (");
		sense_append(&t, &sense, true);
		text_append(&t, ")");
	}
	return xptr(text_steal(&t));
}

/* Says which benchmarks fail --fail-slower, and by how much, and why the first unclear benchmark is
 * unclear. Counts both kinds. */
static void judge_gate(const struct pairs *pairs, size_t *ret_failed, size_t *ret_unclear)
{
	const struct comparison *unclear = NULL;
	double limit = pairs->request->fail_slower;
	size_t n_failed = 0, n_unclear = 0;

	for (size_t i = 0; i < pairs->n; i++) {
		const struct comparison *c = pairs->comparisons[i];
		enum gate gate = pairs_gate(pairs, c);
		_cleanup_free_ char *name = NULL, *change = NULL, *worse = NULL;

		if (gate == GATE_UNCLEAR && n_unclear++ == 0)
			unclear = c;
		if (gate != GATE_FAILS)
			continue;
		n_failed++;
		name = pairs_name(c);
		change = make_change(pairs, c);
		worse = make_worse(c, limit);
		say("%s%s%s is %s: %s",
			pairs_have_several_new(pairs) ? pairs->labels[pairs->files[i]] : "",
			pairs_have_several_new(pairs) ? ": " : "", name, worse, change);
	}
	if (unclear) {
		struct decision decision;
		bool decided = pairs_is_decided(pairs, unclear, &decision);
		_cleanup_free_ char *why = decided ? make_verdict(pairs, unclear)
						   : comparison_gate_reason(unclear, limit);
		_cleanup_free_ char *name = pairs_name(unclear);
		_cleanup_free_ char *worse = make_worse(unclear, limit);
		/* What a decision says of itself has its remedy. */
		const char *remedy = decided ? NULL : comparison_remedy(unclear);

		say("unclear for %zu of %zu benchmarks whether they are %s: %s: %s%s%s", n_unclear,
			pairs->n, worse, name, why, remedy ? "; " : "", remedy ? remedy : "");
	}
	*ret_failed = n_failed;
	*ret_unclear = n_unclear;
}

static size_t count_unclear(const struct pairs *pairs)
{
	size_t n = 0;

	for (size_t i = 0; i < pairs->n; i++)
		n += is_unclear(pairs, pairs->comparisons[i]);
	return n;
}

/* --- Repeats --- */

/* Reads --repeats. Says what is wrong. */
static int read_repeats(const struct request *request, struct file_names *files,
	struct reports *reports, struct repeats *ret)
{
	struct request all = *request;
	int r;

	if (request->n_repeats == 0)
		return 0;
	all.files = request->repeats;
	all.n_files = request->n_repeats;
	r = folders_expand(&all, files);
	all.files = files->items;
	all.n_files = files->n;
	if (r >= 0)
		r = reports_read(&all, false, reports);
	if (r < 0)
		return r;
	for (size_t i = 0; i < files->n; i++) {
		char *label = xptr(strdup(file_label(files->items[i])));

		free(files->items[i]);
		files->items[i] = label;
	}
	*ret = (struct repeats){
		.suites = reports->suites, .names = files->items, .n = reports->n
	};
	return 0;
}

/* Says what does not count, and why. */
static void say_repeats(const struct pairs *pairs)
{
	for (size_t i = 0; i < pairs->repeats.n_remarks; i++)
		say("warning: --repeats: %s", pairs->repeats.remarks[i]);
	if (pairs->repeats.n > 0 && pairs->repeats.n_asked == 0)
		say("warning: --repeats changes nothing: it is for what was measured one after the "
		    "other");
}

enum exit_status compare_reports(const struct request *request, const struct reports *reports)
{
	_cleanup_folders_ struct file_names repeated = { 0 };
	_cleanup_reports_ struct reports repeats = { 0 };
	struct pairs pairs = { .request = request, .reports = reports };
	bool has_gate = !isnan(request->fail_slower);
	size_t n_failed = 0, n_unclear = 0;
	enum exit_status status;
	int r;

	if (read_repeats(request, &repeated, &repeats, &pairs.repeats) < 0)
		return EXIT_FAILED;
	pairs.repeats.n_together = reports->suites[0]->n;
	r = pairs_make(&pairs);
	if (r >= 0) {
		say_repeats(&pairs);
		pairs_sort(&pairs);
		pairs_settle(&pairs);
		r = print_pairs(&pairs);
	}
	if (r >= 0 && has_gate)
		judge_gate(&pairs, &n_failed, &n_unclear);
	else if (r >= 0)
		n_unclear = count_unclear(&pairs);
	/* Benchmarks that could not be compared are unclear too. */
	n_unclear += pairs.n_omissions;
	status = request_conclude(request, r);
	if (status == EXIT_DONE && (n_failed > 0 || (request->fail_unclear && n_unclear > 0)))
		status = EXIT_FINDING;
	pairs_clear(&pairs);
	return status;
}

enum exit_status verb_compare(const struct request *request)
{
	_cleanup_reports_ struct reports reports = { 0 };

	/* The objections of check, and the clock of the core, need the evidence. */
	if (reports_read(request, true, &reports) < 0)
		return EXIT_FAILED;
	return compare_reports(request, &reports);
}
