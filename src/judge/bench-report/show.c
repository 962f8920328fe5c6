// SPDX-License-Identifier: GPL-2.0-or-later
/* show: a benchmark in short, or all of it (-v), as runpinned prints it, and its metadata. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "base/table.h"
#include "base/terminal.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "judge/bench-report/bench-report.h"
#include "judge/bench-report/export.h"
#include "judge/bench-report/files.h"
#include "judge/report/brief.h"
#include "judge/report/control.h"
#include "judge/report/summary.h"
#include "judge/report/turns.h"

struct show {
	const struct request *request;
	const struct reports *reports;
	struct emit emit;
	bool first;
};

static int compare_names(const void *a, const void *b)
{
	return strcmp(((const struct fact *)a)->name, ((const struct fact *)b)->name);
}

static int print_metadata(const struct benchmark *benchmark)
{
	static const struct table_column columns[] = { { "NAME", 0 },
		{ "VALUE", TABLE_WRAP | TABLE_BREAK } };
	_cleanup_(table) struct table *table = NULL;
	int r;

	r = xcheck(table_new("metadata", columns, ARRAY_SIZE(columns), false, stdout, &table));
	for (size_t i = 0; r >= 0 && i < benchmark->metadata.n; i++) {
		const char *name = benchmark->metadata.items[i].name;
		_cleanup_free_ char *text = benchmark_metadata_text(benchmark, name);

		r = xcheck(table_add(table, (const char *const[]){ name, text }));
	}
	return r < 0 ? r : xcheck(table_print(table));
}

/* Writes the counts of each event of -e. */
static void emit_events(struct emit *emit, const struct series *series)
{
	emit_array(emit, "events");
	for (size_t i = 0; i < series->n_events; i++) {
		struct stats stats;
		int r = summary_count_event(series, i, &stats);

		emit_object(emit, NULL);
		emit_string(emit, "name", series->event_names[i]);
		emit_real(emit, "median", r < 0 ? NAN : stats.median);
		emit_real(emit, "mad", r < 0 ? NAN : stats.mad);
		emit_close(emit, '}');
	}
	emit_close(emit, ']');
}

/* Writes the share of a run in which the program waited for its CPU. */
static void emit_waiting(struct emit *emit, const struct series *series)
{
	struct stats stats;
	int r = summary_find_waiting(series, &stats);

	emit_real(emit, "waiting_median", r < 0 ? NAN : stats.median);
	emit_real(emit, "waiting_max", r < 0 ? NAN : stats.max);
}

static void emit_histogram(struct emit *emit, const struct analysis *analysis)
{
	_cleanup_(histogram) struct histogram *histogram = NULL;
	int r = histogram_new(analysis->sorted, analysis->n, 0, &histogram);

	if (r < 0)
		emit_fail(emit, r);
	emit_bins(emit, histogram);
}

/* The ratio of a benchmark to its control. -ENODATA when it has no control. */
static int measure_control(const struct reports *reports, const struct benchmark *benchmark,
	const struct benchmark **ret_control, struct control_ratio *ret)
{
	const struct benchmark *control = NULL;
	int r = -ENODATA;

	for (size_t i = 0; i < reports->n; i++)
		for (size_t k = 0; k < reports->suites[i]->n; k++)
			if (reports->suites[i]->benchmarks[k] == benchmark)
				control = control_find(reports->suites[i]->benchmarks,
					reports->suites[i]->n, benchmark);
	if (control)
		r = control_measure(benchmark, control, ret);
	if (r >= 0)
		*ret_control = control;
	return r;
}

/* Writes the ratio as the object "control", or null. */
static void emit_control(
	struct emit *emit, const struct reports *reports, const struct benchmark *benchmark)
{
	const struct benchmark *control;
	struct control_ratio ratio;
	int r = measure_control(reports, benchmark, &control, &ratio);

	if (r < 0) {
		emit_string(emit, "control", NULL);
		return;
	}
	emit_object(emit, "control");
	emit_string(emit, "command", facts_find_string(&control->metadata, BENCHMARK_CONTROL));
	emit_string(emit, "hash", facts_find_string(&control->metadata, BENCHMARK_CONTROL_HASH));
	emit_real(emit, "ratio", ratio.ratio.ratio);
	emit_real(emit, "ratio_low", ratio.ratio.low);
	emit_real(emit, "ratio_high", ratio.ratio.high);
	emit_integer(emit, "rounds", (int64_t)ratio.n_rounds);
	emit_close(emit, '}');
}

/* The same as a line of text, malloc'd; "" without a control. */
static char *make_control_line(const struct reports *reports, const struct benchmark *benchmark)
{
	_cleanup_free_ char *text = NULL;
	const struct benchmark *control;
	struct control_ratio ratio;

	if (measure_control(reports, benchmark, &control, &ratio) < 0)
		return xptr(strdup(""));
	text = control_text(control, &ratio);
	return xformat("  control    %s\n", text);
}

/* Writes the median of the runs that had the core to themselves. */
static void emit_whole_core(struct emit *emit, const struct benchmark *benchmark)
{
	size_t n_whole, n_known;
	double median;

	if (summary_find_whole_core(benchmark, &median, &n_whole, &n_known) < 0) {
		emit_string(emit, "whole_core", NULL);
		return;
	}
	emit_object(emit, "whole_core");
	emit_real(emit, "median", median);
	emit_integer(emit, "runs", (int64_t)n_whole);
	emit_integer(emit, "known_runs", (int64_t)n_known);
	emit_close(emit, '}');
}

/* Writes what the runs have used beside their time, and what an empty program uses. */
static void emit_usage(struct emit *emit, const struct benchmark *benchmark)
{
	struct summary_usage usage;

	if (summary_find_usage(benchmark, &usage) < 0)
		return;
	emit_real(emit, "cpu", usage.cpu);
	emit_real(emit, "user_cpu", usage.user_cpu);
	emit_real(emit, "system_cpu", usage.system_cpu);
	emit_real(emit, "reader_cpu", usage.reader_cpu);
	emit_real(emit, "max_rss", usage.max_rss);
	emit_real(emit, "floor_user_cpu", usage.floor_user_cpu);
	emit_real(emit, "floor_system_cpu", usage.floor_system_cpu);
	emit_real(emit, "floor_max_rss", usage.floor_max_rss);
}

/* `analysis` is NULL without values. */
static void emit_benchmark(struct show *show, const char *file, const struct benchmark *benchmark,
	const struct analysis *analysis)
{
	struct emit *emit = &show->emit;
	struct sheet sheet = { .emit = emit };
	struct summary_input about;

	summary_fill(benchmark, &about);
	sheet_begin(&sheet);
	put_text(&sheet, file, "file");
	put_text(&sheet, benchmark->name, "name");
	put_text(&sheet, about.cpus, "cpus");
	put_text(&sheet, about.cpus_reason, "cpus_reason");
	put_text(&sheet, about.meanwhile, "meanwhile");
	put_text(&sheet, summary_clock_text(benchmark), "stamps");
	put_real(&sheet, about.floor, "floor");
	put_real(&sheet, about.shell_seconds, "shell");
	put_counts(&sheet, benchmark);
	if (analysis) {
		put_figures(&sheet, analysis);
		emit_fleet(emit, analysis->fleet.level, &analysis->fleet.nested, NULL);
	}
	put_bool(&sheet, !analysis || analysis_is_sound(analysis), "sound");
	if (analysis) {
		emit_stability(emit, analysis->stability);
		emit_whole_core(emit, benchmark);
		emit_usage(emit, benchmark);
		emit_events(emit, benchmark->series);
		emit_waiting(emit, benchmark->series);
		emit_histogram(emit, analysis);
	}
	emit_settling(emit, benchmark);
	emit_control(emit, show->reports, benchmark);
	emit_decision(emit, benchmark);
	if (show->request->metadata)
		emit_facts(emit, "metadata", &benchmark->metadata);
	(void)sheet_end_row(&sheet);
}

/* What runpinned prints of a benchmark, malloc'd. */
static char *make_text(const struct show *show, const struct summary_input *input)
{
	bool verbose = show->request->verbose;
	_cleanup_free_ char *decision = decision_line(input->benchmark, verbose);
	_cleanup_free_ char *control = make_control_line(show->reports, input->benchmark);
	_cleanup_free_ char *text = NULL;
	_cleanup_(brief) struct brief *brief = NULL;

	if (!verbose && input->analysis) {
		brief = brief_new((unsigned)input->width, false);
		brief_add_benchmark(brief, input);
		brief_add(brief, BRIEF_PROGRAM, "%s", control);
		brief_add(brief, BRIEF_PROGRAM, "%s", decision);
		return brief_render(brief);
	}
	text = input->analysis ? summary_render(input) : summary_render_head(input);
	return xformat("%s%s%s", text, control, decision);
}

static int print_summary(const char *file, const struct benchmark *benchmark,
	const struct analysis *analysis, struct show *show)
{
	struct summary_input input = {
		.warnings = true,
		.notes = true,
		.width = (int)terminal_width(fileno(stdout)),
	};
	_cleanup_free_ char *text = NULL, *title = NULL;

	if (!show->first)
		xprint_report(stdout, "\n");
	if (show->request->n_files > 1) {
		title = xptr(text_escape_control(file));
		xprint_report(stdout, "[%s]\n", title);
	}
	summary_fill(benchmark, &input);
	input.analysis = analysis;
	text = make_text(show, &input);
	xprint_report(stdout, "%s", text);
	if (!show->request->metadata)
		return 0;
	xprint_report(stdout, "\n");
	return print_metadata(benchmark);
}

static int show_one(const char *file, const struct benchmark *benchmark, void *context)
{
	_cleanup_(analysis) struct analysis *analysis = NULL;
	struct show *show = context;
	int r;

	/* A benchmark that was only calibrated has no values. */
	r = analysis_new(benchmark, &analysis);
	if (r < 0 && r != -ENODATA)
		return r;
	/* The metadata come from several levels of the file, so they are not sorted yet. */
	if (benchmark->metadata.n > 0)
		qsort(benchmark->metadata.items, benchmark->metadata.n, sizeof(struct fact),
			compare_names);
	r = 0;
	if (show->request->json)
		emit_benchmark(show, file, benchmark, analysis);
	else
		r = print_summary(file, benchmark, analysis, show);
	show->first = false;
	return r;
}

/* Whether programs were measured in turn, and nothing of a single one is asked for: then what
 * runpinned has printed is a comparison. */
static bool is_comparison(const struct request *request, const struct reports *reports)
{
	const struct suite *suite = reports->suites[0];
	const struct benchmark *old;

	if (request->n_files > 1 || request->form != FORM_TEXT || request->verbose ||
		request->metadata || request->benchmark)
		return false;
	for (size_t i = 0; i < suite->n; i++)
		if (turns_find_first(suite->benchmarks, suite->n, suite->benchmarks[i], &old) &&
			old)
			return true;
	return false;
}

enum exit_status verb_show(const struct request *request)
{
	_cleanup_reports_ struct reports reports = { 0 };
	struct show show = {
		.request = request, .reports = &reports, .emit.stream = stdout, .first = true
	};

	if (reports_read(request, true, &reports) < 0)
		return EXIT_FAILED;
	if (is_comparison(request, &reports))
		return compare_reports(request, &reports);
	return figures_print_or_each(request, &reports, show_one, &show, &show.emit);
}
