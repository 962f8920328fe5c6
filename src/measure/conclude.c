// SPDX-License-Identifier: GPL-2.0-or-later
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/say.h"
#include "base/terminal.h"
#include "base/units.h"
#include "base/xalloc.h"
#include "judge/report/brief.h"
#include "judge/report/why.h"
#include "judge/result/metadata.h"
#include "judge/result/metric.h"
#include "judge/result/settling.h"
#include "measure/conclude.h"
#include "measure/decide.h"
#include "measure/describe.h"
#include "measure/judge.h"
#include "measure/measure.h"
#include "measure/notice.h"
#include "measure/ranking.h"
#include "measure/report.h"
#include "measure/rounds.h"
#include "measure/tries.h"
#include "measure/wholecore.h"

/* The time of the empty program, by the clock of the values. */
static double floor_seconds(const struct measurement *m, const struct floor_time *floor)
{
	return m->series->clock == WINDOW_KERNEL ? floor->kernel_seconds : floor->user_seconds;
}

static void describe_one(struct command *command, const struct place *place,
	const struct evidence_reader *evidence, struct facts *now, bool is_first)
{
	_cleanup_free_ char *changes = NULL;

	judge_frequencies(command->measurement->series);
	describe_outcome(command->measurement, evidence, now, &command->facts);
	changes = describe_changes(place, now, command);
	/* This is about the machine, so it is the same for all commands. */
	if (is_first && *changes)
		say("warning: the machine was changed meanwhile: %s", changes);
}

static void report_runs(const struct options *options, const struct place *place,
	const struct command *command, const struct benchmark *by_program, FILE *stream,
	struct brief *brief)
{
	const struct measurement *m = command->measurement;
	int r;

	r = report_print(stream, brief,
		&(struct report_input){
			.name = by_program ? by_program->name : command->name,
			.cpus = place->cpus_text,
			.cpus_reason = place->reason,
			.series = m->series,
			.facts = &command->facts,
			.by_program = by_program,
			.unit = options->unit,
			.metric = command->is_control ? METRIC_TIME : options->metric,
			.floor_seconds = by_program ? NAN : floor_seconds(m, &m->floor),
			.shell_seconds = by_program ? NAN : floor_seconds(m, &m->shell),
			.decided = options->decide > 0,
			.settling = hosted_get_settling(m->hosted),
			.one_of_several = by_program || options->n_commands > 1,
		});
	if (r < 0)
		say_errno(r, "cannot report");
}

/* That --rel-error was not reached, malloc'd; NULL where it was, or was not asked for. */
static char *explain_uncertain(
	const struct options *options, const struct command *command, const char *metric)
{
	const struct measurement *m = command->measurement;
	_cleanup_free_ char *why = NULL;
	char step[UNITS_TEXT_SIZE];

	if (!(options->rel_error > 0) || command->is_control || m->end != MEASURE_COMPLETE ||
		m->reached_rel_error)
		return NULL;
	if (m->step > 0)
		why = xformat("it is counted in steps of %s", units_format_percent(m->step, step));
	return xformat("the median%s%s%s%s is not known to %g %% after %zu runs (%s)",
		options->n_commands > 1 || metric ? " of " : "",
		options->n_commands > 1 ? command->name : "",
		options->n_commands > 1 && metric ? ": " : "", metric ? metric : "",
		options->rel_error, m->n_runs,
		why			 ? why
			: m->out_of_time ? "--max-time"
					 : options->max_runs_option);
}

static void report_uncertain(const struct options *options, const struct command *command,
	const char *metric, struct brief *brief)
{
	_cleanup_free_ char *uncertain = explain_uncertain(options, command, metric);

	if (uncertain && brief)
		brief_add(brief, BRIEF_DOUBT, "  warning    %s", uncertain);
	else if (uncertain)
		say("warning: %s", uncertain);
}

/* A result with runs is saved. One with warm-ups only is saved when the user asked for no more than
 * that. */
static bool is_worth_saving(const struct measurement *m)
{
	return m->n_runs > 0 || (m->n_warmups > 0 && m->end == MEASURE_COMPLETE);
}

/* The benchmarks of the result; the array grows. */
struct parts {
	struct document_part *items;
	size_t n;
};

static void parts_add(struct parts *parts, const struct series *series, const struct facts *facts,
	const struct benchmark *by_program)
{
	parts->items = xptr(reallocarray(parts->items, parts->n + 1, sizeof(parts->items[0])));
	parts->items[parts->n++] = (struct document_part){ series, facts, by_program };
}

/* Whether program values cannot have that name: names in a result file are unique, and not blank.
 * The names of programs come first, also of those that are added later. */
static bool is_taken(const struct parts *parts, const struct commands *commands, const char *name)
{
	if (metadata_equal_strings(name, ""))
		return true;
	for (size_t i = 0; i < commands->n; i++) {
		if (metadata_equal_strings(commands->items[i].name, name))
			return true;
	}
	for (size_t i = 0; i < parts->n; i++) {
		const char *other = facts_find_string(parts->items[i].metadata, "name");

		if (other && metadata_equal_strings(other, name))
			return true;
	}
	return false;
}

/* Finds where the values of each run settle; with --warmup auto, those before become warm-ups. */
static void settle(const struct options *options, struct benchmark *benchmark)
{
	/* All of them are finite. */
	(void)settling_find(benchmark);
	if (!options->warmup_auto || benchmark->settling.n_runs == 0)
		return;
	settling_leave_out(benchmark);
	facts_set_string(&benchmark->metadata, METADATA_WARMUP, "in each run");
	if (benchmark->metadata.failed)
		xalloc_fail();
}

/* Each name of the program values becomes a benchmark of its own. The program's name is put in
 * front where the name alone would not be unique. */
static void add_progvalues(const struct options *options, const struct commands *commands,
	struct command *command, struct parts *parts)
{
	struct measurement *m = command->measurement;
	bool several = options_count_programs(options) > 1 || command->is_control;

	for (size_t i = 0; i < progvalues_count(m->progvalues); i++) {
		struct benchmark *benchmark = progvalues_get_benchmark(m->progvalues, i, m->series,
			&command->facts, several ? command->name : NULL);

		if (benchmark && is_taken(parts, commands, benchmark->name))
			benchmark = progvalues_get_benchmark(
				m->progvalues, i, m->series, &command->facts, command->name);
		if (!benchmark)
			continue;
		if (is_taken(parts, commands, benchmark->name))
			say("warning: %s: values that it calls '%s' are left out, because another "
			    "benchmark has that name",
				command->name, benchmark->name);
		else {
			settle(options, benchmark);
			parts_add(parts, m->series, &benchmark->metadata, benchmark);
		}
	}
}

/* Puts the result together. */
static void add_command(const struct options *options, const struct commands *commands,
	struct command *command, struct parts *parts)
{
	struct measurement *m = command->measurement;
	struct benchmark *hosted =
		m->hosted ? hosted_get_benchmark(m->hosted, m->series, &command->facts) : NULL;
	const struct rounds *rounds = commands->rounds;

	if (hosted) {
		if (options->warmup_auto)
			hosted_restore_figure(m->hosted, m->series);
		settle(options, hosted);
		parts_add(parts, m->series, &hosted->metadata, hosted);
	} else if (is_worth_saving(m)) {
		parts_add(parts, m->series, &command->facts,
			rounds ? rounds->inside(rounds, (size_t)(command - commands->items))
			       : NULL);
	}
	if (m->n_runs > 0)
		add_progvalues(options, commands, command, parts);
}

/* The report about a program, and about each of the values that it measured itself. */
static void report_command(const struct options *options, const struct place *place,
	const struct command *command, const char *metric, const struct parts *parts, FILE *stream,
	struct brief *brief)
{
	if (command->measurement->n_runs > 0)
		report_runs(options, place, command, NULL, stream, brief);
	report_uncertain(options, command, metric, brief);
	for (size_t i = 0; i < parts->n; i++) {
		const struct document_part *part = &parts->items[i];

		/* A hosted harness is reported by its figures. */
		if (part->series != command->measurement->series || !part->inside || command->typed)
			continue;
		if (stream && !brief)
			print(stream, "\n");
		report_runs(options, place, command, part->inside, stream, brief);
	}
}

/* What moves the times, or the figure by which the program is judged. */
static int compute_why(
	const struct commands *commands, const struct document_part *part, struct why **ret)
{
	struct benchmark view;
	int r;

	if (part->inside && !commands->metric)
		return why_compute(part->inside, ret);
	r = benchmark_view_metric("", part->series, commands->metric, &view);
	if (r < 0)
		return r;
	view.metadata = *part->metadata;
	r = why_compute(&view, ret);
	benchmark_clear_view(&view);
	return r;
}

static void report_why(const struct commands *commands, const struct parts *parts, FILE *stream)
{
	for (size_t i = 0; i < parts->n; i++) {
		const char *name = facts_find_string(parts->items[i].metadata, "name");
		_cleanup_(why) struct why *why = NULL;
		_cleanup_free_ char *text = NULL;
		int r = compute_why(commands, &parts->items[i], &why);

		if (r < 0) {
			say("%s: %s", name, why_explain(r));
			continue;
		}
		text = why_render(why);
		print_report(stream, "\n%s: %s", name, text);
	}
}

/* `brief` is NULL for all lines (-v). */
static void report_programs(const struct options *options, const struct place *place,
	const struct commands *commands, const struct parts *parts, FILE *stream,
	struct brief *brief)
{
	int r = 0;

	for (size_t i = 0; i < commands->n; i++) {
		if (i > 0 && stream && !brief)
			print(stream, "\n");
		report_command(options, place, &commands->items[i], commands->metric, parts, stream,
			brief);
	}
	if (commands->n < 2)
		notice_print(stream, brief, options, commands);
	else if (brief)
		r = options->decide > 0 ? decide_add(brief, options, commands)
					: ranking_add(brief, options, commands);
	else if (stream)
		r = options->decide > 0 ? decide_print(stream, commands)
					: ranking_print(stream, options, commands);
	if (r < 0)
		say_errno(r, "cannot compare");
}

/* `stream` is NULL where warnings alone are wanted, `saved` where nothing is. */
static void report_all(const struct options *options, const struct place *place,
	const struct commands *commands, const struct parts *parts, const char *saved, FILE *stream)
{
	_cleanup_(brief) struct brief *brief = NULL;
	_cleanup_free_ char *text = NULL;
	int r = 0;

	if (stream && options->verbose == 0)
		brief = brief_new(terminal_width(fileno(stream)), options->decide > 0);
	if (!commands->rounds)
		report_programs(options, place, commands, parts, stream, brief);
	else if (stream)
		r = commands->rounds->report(
			commands->rounds, commands, options, place, stream, brief);
	if (r < 0)
		say_errno(r, "cannot report");
	for (size_t i = 0; commands->rounds && i < commands->n; i++)
		report_uncertain(options, &commands->items[i], commands->metric, brief);
	if (saved && brief)
		brief_add(brief, BRIEF_PATH, "saved in %s", saved);
	else if (saved && stream)
		print(stream, "saved in %s\n", saved);
	text = brief ? brief_render(brief) : NULL;
	if (text)
		xprint_report(stream, "%s", text);
	if (options->vary && stream)
		report_why(commands, parts, stream);
}

int conclude(const struct options *options, const struct place *place, struct commands *commands,
	struct evidence_reader *evidence, struct save *save)
{
	struct parts parts = { 0 };
	_cleanup_free_ struct document_part *items = NULL;
	_cleanup_free_ char *saved = NULL;
	_cleanup_facts_ struct facts now = { 0 };
	/* With --json, standard output is for the JSON text alone. */
	FILE *stream = options->json ? stderr : stdout;
	int r = 0;

	commands_settle_clocks(commands, save_wants_user_clock(save));
	for (size_t i = 0; evidence && i < commands->n; i++) {
		const struct measurement *m = commands->items[i].measurement;

		if (inspections_have_left(&m->inspections))
			evidence_forget_cpus(evidence, m->series);
	}
	/* What is learnt is kept with the user. */
	user_enter(options->user);
	wholecore_settle(place, commands);
	user_leave(options->user);
	if (options->decide > 0)
		decide_conclude(options, commands);
	if (commands->tries)
		tries_end(commands->tries, commands);
	if (commands->rounds)
		commands->rounds->conclude(commands->rounds, commands);
	describe_machine_again(place, &now);
	for (size_t i = 0; i < commands->n; i++) {
		describe_one(&commands->items[i], place, evidence, &now, i == 0);
		if (commands->rounds)
			commands->rounds->describe(commands->rounds, i, &commands->items[i].facts);
		add_command(options, commands, &commands->items[i], &parts);
	}
	items = parts.items;
	/* The runs are kept also where there is no memory for a report. */
	if (parts.n > 0)
		r = save_commit(save, parts.items, parts.n, &saved);
	report_all(options, place, commands, &parts, saved, options->quiet ? NULL : stream);
	if (parts.n == 0)
		return 0;
	if (r == 0) {
		r = print_finish(stream);
		if (r < 0)
			say_errno(r, "cannot write to standard %s",
				options->json ? "error" : "output");
	}
	return r;
}
