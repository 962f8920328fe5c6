// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "judge/bench-report/column.h"
#include "judge/bench-report/export.h"
#include "judge/bench-report/files.h"
#include "judge/result/settling.h"

/* --- The figures of benchmarks --- */

void put_counts(struct sheet *sheet, const struct benchmark *b)
{
	put_text(sheet, unit_name(b->unit), "unit", .csv = 3);
	put_text(sheet, b->metric, "metric", .csv = 4);
	put_text(sheet, better_name(b->better), "better");
	put_integer(sheet, b->n_values, "values", .csv = 6);
	put_integer(
		sheet, benchmark_counted_runs(b), "runs", .csv = 5, .heading = "RUNS", .cell = 9);
	put_integer(sheet, b->series->n_samples - b->series->n_counted, "calibrations");
	put_integer(sheet, b->n_warmups, "warmups");
	put_real(sheet, b->total_seconds > 0 ? b->total_seconds : NAN, "total_seconds");
}

void put_stats(struct sheet *sheet, const struct stats *s)
{
	put_real(sheet, s->min, "min", .csv = 7, .heading = "MIN", .cell = 7);
	put_real(sheet, s->p5, "p5", .csv = 8);
	put_real(sheet, s->q1, "q1", .csv = 9);
	put_real(sheet, s->median, "median", .csv = 10);
	put_real(sheet, s->q3, "q3", .csv = 11);
	put_real(sheet, s->p95, "p95", .csv = 12);
	put_real(sheet, s->max, "max", .csv = 13, .heading = "MAX", .cell = 8);
	put_real(sheet, s->mad, "mad", .csv = 14);
	put_real(sheet, s->mean, "mean", .csv = 15, .heading = "MEAN", .cell = 5);
	put_real(sheet, s->stdev, "stdev", .csv = 16, .heading = "STDEV", .cell = 6);
	put_real(sheet, s->spread, "spread", .csv = 17);
	put_real(sheet, s->fence_low, "fence_low");
	put_real(sheet, s->fence_high, "fence_high");
	put_integer(sheet, s->n_outliers_low, "outliers_low");
	put_integer(sheet, s->n_outliers_high, "outliers_high");
}

/* The interval of the median, or for several machines, that of their mean. */
static bool find_interval(const struct analysis *analysis, double *ret_low, double *ret_high)
{
	*ret_low = analysis->stats.interval_low;
	*ret_high = analysis->stats.interval_high;
	if (analysis->fleet.level == FLEET_NONE)
		return analysis->stats.has_interval;
	*ret_low = exp(analysis->fleet.nested.low);
	*ret_high = exp(analysis->fleet.nested.high);
	return true;
}

void put_figures(struct sheet *sheet, const struct analysis *analysis)
{
	double middle = analysis->unit_median, low, high;

	(void)find_interval(analysis, &low, &high);
	put_stats(sheet, &analysis->stats);
	put_real(sheet, middle, "runs_median", .csv = 20, .heading = "MEDIAN", .cell = 3);
	put_real(sheet, low, "interval_low", .csv = 18);
	put_real(sheet, high, "interval_high", .csv = 19);
}

/* Lines of benchfmt. */
struct benchfmt {
	struct text text;
	/* Of the lines that may get further figures; NULL: there are none. */
	const struct series *series;
	char *name;
	struct text *lines;
	size_t n;
};

struct exporter {
	const struct request *request;
	const struct reports *reports;
	struct sheet sheet;
	struct emit emit;
	struct benchfmt benchfmt;
	/* `analysis` is NULL without values, which only CSV has a row for. */
	int (*add)(struct exporter *export, const char *file, const struct benchmark *b,
		const struct analysis *analysis);
};

static struct scale choose_scale(const struct benchmark *b, const struct stats *s)
{
	struct scale scale = scale_choose_unit(b->unit, s->median > 0 ? s->median : s->max);

	return scale_resolve(scale_refine(scale, 1), s->mad > 0 ? s->mad : s->stdev);
}

/* A row of CSV or of Markdown. */
static int add_row(struct exporter *export, const char *file, const struct benchmark *b,
	const struct analysis *analysis)
{
	struct sheet *sheet = &export->sheet;
	char from[UNITS_TEXT_SIZE], to[UNITS_TEXT_SIZE], both[2 * UNITS_TEXT_SIZE + 4] = "";
	_cleanup_free_ char *name = xptr(text_escape_control(b->name));
	_cleanup_free_ char *label = xptr(text_escape_control(file_label(file)));
	double low, high;

	put_cell(sheet, name, "BENCHMARK", .cell = 1);
	if (export->reports->n > 1)
		put_cell(sheet, label, "FILE", .cell = 2);
	put_text(sheet, file, "file", .csv = 1);
	put_text(sheet, b->name, "name", .csv = 2);
	put_counts(sheet, b);
	if (analysis) {
		put_figures(sheet, analysis);
		sheet->scale = choose_scale(b, &analysis->stats);
	}
	if (analysis && find_interval(analysis, &low, &high))
		snprintf(both, sizeof(both), "%s .. %s", scale_format_bare(sheet->scale, low, from),
			scale_format(sheet->scale, high, to));
	put_cell(sheet, both, "INTERVAL", TABLE_RIGHT, .cell = 4);
	return sheet_end_row(sheet);
}

/* The figures of either direction: the first one of each. */
struct directions {
	char *titles[2]; /* by benchmark_is_gain(); NULL: there is none */
	const struct request *request;
};

static int note_direction(const char *file, const struct benchmark *b, void *context)
{
	struct directions *directions = context;
	char **title = &directions->titles[benchmark_is_gain(b)];

	if (!*title && b->n_values > 0)
		*title = reports_title(directions->request, file, b);
	return 0;
}

/* Nothing in a list tells which way its figures are better: the workflow does, for all of them.
 * Says what cannot be, and which tool of the action it is that nobody has named. */
static int check_directions(const struct request *request, const struct reports *reports)
{
	struct directions directions = { .request = request };
	int r = reports_each(request, reports, note_direction, &directions);
	_cleanup_free_ char *less = directions.titles[0], *more = directions.titles[1];

	if (r < 0)
		return r;
	if (request->form == FORM_GITHUB && less && more) {
		say("--format github-action-benchmark: less is better of '%s', and more of '%s': write two "
		    "lists, --format " SMALLER_TOOL " and --format " BIGGER_TOOL,
			less, more);
		return -ENOENT; /* said: request_conclude() */
	}
	if ((request->form == FORM_SMALLER && !less) || (request->form == FORM_BIGGER && !more)) {
		say("--format %s: %s is better of all figures",
			request->form == FORM_SMALLER ? SMALLER_TOOL : BIGGER_TOOL,
			request->form == FORM_SMALLER ? "more" : "less");
		return -ENOENT;
	}
	if (request->form == FORM_GITHUB && more)
		say("note: more is better of these figures: the tool of the action is " BIGGER_TOOL);
	return 0;
}

/* https://github.com/benchmark-action/github-action-benchmark, customSmallerIsBetter and
 * customBiggerIsBetter: a list of objects with name, unit and value; range and extra are texts that
 * are shown beside them. */
static int add_github(struct exporter *export, const char *file, const struct benchmark *b,
	const struct analysis *analysis)
{
	enum form form = export->request->form;
	_cleanup_free_ char *title = reports_title(export->request, file, b), *extra = NULL;
	/* One unit for all days, whatever the values: nanoseconds lose no digits. */
	struct scale scale = unit_is_time(b->unit) ? (struct scale){ "ns", 1e9, 0 }
						   : (struct scale){ unit_name(b->unit), 1, 0 };
	double middle = analysis->unit_median, low, high;
	size_t n = benchmark_counted_runs(b);
	char share[UNITS_TEXT_SIZE];

	if (form != FORM_GITHUB && benchmark_is_gain(b) != (form == FORM_BIGGER))
		return 0;
	if (benchmark_units_are_runs(b))
		extra = xformat("median of %zu run%s", n, n == 1 ? "" : "s");
	else
		extra = xformat("median of %zu values of one run", b->n_values);
	emit_object(&export->emit, NULL);
	emit_string(&export->emit, "name", title);
	emit_string(&export->emit, "unit", scale.unit);
	emit_real(&export->emit, "value", middle * scale.factor);
	if (find_interval(analysis, &low, &high))
		emit_string(&export->emit, "range",
			units_format_percent((high - low) / 2 / fabs(middle), share));
	emit_string(&export->emit, "extra", extra);
	emit_close(&export->emit, '}');
	return 0;
}

/* https://bencher.dev/docs/reference/bencher-metric-format: an object by names of objects by names
 * of measures. Its measure "latency" is in nanoseconds. */
static int add_bencher(struct exporter *export, const char *file, const struct benchmark *b,
	const struct analysis *analysis)
{
	_cleanup_free_ char *title = reports_title(export->request, file, b);
	double factor = unit_is_time(b->unit) ? 1e9 : 1, low, high;
	const char *measure = unit_is_time(b->unit) ? "latency" : unit_name(b->unit);

	emit_object(&export->emit, title);
	emit_object(&export->emit, b->metric ? b->metric : measure);
	emit_real(&export->emit, "value", analysis->unit_median * factor);
	if (find_interval(analysis, &low, &high)) {
		emit_real(&export->emit, "lower_value", low * factor);
		emit_real(&export->emit, "upper_value", high * factor);
	}
	emit_close(&export->emit, '}');
	emit_close(&export->emit, '}');
	return 0;
}

/* --- benchfmt --- */

/* A text without blanks, which separate words there, malloc'd. */
static char *make_word(const char *text)
{
	char *word = xptr(text_escape_control(text));

	for (char *p = word; *p; p++)
		if (*p == ' ')
			*p = '_';
	return word;
}

/* The unit, malloc'd; Go has ns/op for times, and B for bytes. */
static char *make_benchfmt_unit(const struct benchmark *b)
{
	const char *name = b->own_unit		    ? b->own_unit->name
		: unit_is_time(b->unit)		    ? "ns/op"
		: unit_is_same(b->unit, &unit_byte) ? "B"
						    : unit_name(b->unit);

	return make_word(*name ? name : "number");
}

/* "BenchmarkR/p99" of "r: p99", malloc'd. A figure that is called as its unit needs no name of its
 * own. A small letter behind "Benchmark" is none of a benchmark's in Go. */
static char *make_benchfmt_name(const struct benchmark *b, const char *unit)
{
	static const char prefix[] = "Benchmark";
	_cleanup_free_ char *end = xformat(": %s", unit), *name = xptr(strdup(b->name));
	_cleanup_free_ char *word = NULL;

	if (b->is_figure && text_ends_with(name, end))
		name[strlen(name) - strlen(end)] = '\0';
	for (char *p = name; (p = strstr(p, ": "));) {
		*p++ = '/';
		memmove(p, p + 1, strlen(p));
	}
	word = make_word(text_starts_with(name, prefix) ? name + strlen(prefix) : name);
	if (*word >= 'a' && *word <= 'z')
		*word = (char)(*word - 'a' + 'A');
	return xformat("%s%s", prefix, word);
}

/* Says once which way a unit is better. */
static void append_unit(struct text *t, const char *unit, enum better better)
{
	_cleanup_free_ char *line = NULL;

	if (better == BETTER_UNKNOWN)
		return;
	line = xformat("Unit %s better=%s\n", unit, better_name(better));
	if (!t->data || !strstr(t->data, line))
		text_append(t, line);
}

/* Ends the lines that are being written. */
static void end_lines(struct benchfmt *benchfmt)
{
	for (size_t i = 0; i < benchfmt->n; i++) {
		text_appendf(&benchfmt->text, "%s\n", benchfmt->lines[i].data);
		text_clear(&benchfmt->lines[i]);
	}
	free(TAKE_PTR(benchfmt->lines));
	free(TAKE_PTR(benchfmt->name));
	benchfmt->series = NULL;
	benchfmt->n = 0;
}

/* golang.org/x/perf/benchfmt: a line for each number that conclusions are drawn from, because
 * benchstat takes lines for independent; further figures of the same runs stand behind it. */
static int add_benchfmt(struct exporter *export, const char *file _unused_,
	const struct benchmark *b, const struct analysis *analysis _unused_)
{
	_cleanup_free_ char *unit = make_benchfmt_unit(b), *name = make_benchfmt_name(b, unit);
	double factor = strcmp(unit, "ns/op") == 0 ? 1e9 : 1;
	struct benchfmt *benchfmt = &export->benchfmt;
	_cleanup_free_ double *values = NULL;
	size_t n;
	int r = benchmark_units(b, &values, &n);

	if (r < 0)
		return r;
	if (benchfmt->series != b->series || strcmp(benchfmt->name, name) != 0 ||
		benchfmt->n != n) {
		end_lines(benchfmt);
		benchfmt->lines = xptr((struct text *)calloc(n, sizeof(*benchfmt->lines)));
		benchfmt->n = n;
		benchfmt->series = b->series;
		benchfmt->name = TAKE_PTR(name);
	}
	append_unit(&benchfmt->text, unit, b->better);
	for (size_t i = 0; i < n; i++) {
		if (benchfmt->lines[i].length == 0)
			text_appendf(&benchfmt->lines[i], "%s 1", benchfmt->name);
		text_appendf(&benchfmt->lines[i], " %.15g %s", values[i] * factor, unit);
		if (benchfmt->lines[i].failed)
			xalloc_fail();
	}
	return 0;
}

static int add_one(const char *file, const struct benchmark *b, void *context)
{
	struct exporter *export = context;
	_cleanup_(analysis) struct analysis *analysis = NULL;
	int r = analysis_new(b, &analysis);

	if (r == -ENODATA && export->request->form != FORM_CSV)
		return 0;
	return r < 0 && r != -ENODATA ? r : export->add(export, file, b, analysis);
}

/* The figures of all benchmarks. A negative errno, said or to be said by request_conclude(). */
static int print_figures(const struct request *request, const struct reports *reports)
{
	static const struct analysis none;
	bool is_list = request->form == FORM_GITHUB || request->form == FORM_SMALLER ||
		request->form == FORM_BIGGER;
	struct exporter export = {
		.request = request,
		.reports = reports,
		.sheet = { .form = request->form, .is_head = true },
		.emit.stream = stdout,
		.add = is_list ? add_github : add_bencher,
	};
	_cleanup_free_ char *lines = NULL;
	int r = 0;

	if (request->form == FORM_CSV || request->form == FORM_MARKDOWN) {
		export.add = add_row;
		if (reports->suites[0]->n > 0)
			r = add_row(&export, "", reports->suites[0]->benchmarks[0], &none);
		return r < 0 ? r : reports_each(request, reports, add_one, &export);
	}
	if (request->form == FORM_BENCHFMT) {
		export.add = add_benchfmt;
		r = reports_each(request, reports, add_one, &export);
		end_lines(&export.benchfmt);
		lines = xptr(text_steal(&export.benchfmt.text));
		return r < 0 ? r : xprint(stdout, "%s", lines);
	}
	if (is_list)
		r = check_directions(request, reports);
	if (r < 0)
		return r;
	if (is_list)
		emit_array(&export.emit, NULL);
	else
		emit_object(&export.emit, NULL);
	r = reports_each(request, reports, add_one, &export);
	emit_close(&export.emit, is_list ? ']' : '}');
	return r < 0 ? r : emit_finish(&export.emit);
}

enum exit_status figures_print_or_each(const struct request *request, const struct reports *reports,
	int (*each)(const char *file, const struct benchmark *benchmark, void *context),
	void *context, struct emit *emit)
{
	int r;

	if (request->form > FORM_TABLE)
		r = print_figures(request, reports);
	else
		r = reports_each_emit(request, reports, each, context, emit, "benchmarks");
	return request_conclude(request, r);
}

/* --- JUnit --- */

static void append_attribute(struct text *t, const char *name, const char *value)
{
	_cleanup_free_ char *plain = xptr(text_escape_control(value));

	text_appendf(t, " %s=\"", name);
	text_append_markup(t, plain);
	text_append(t, "\"");
}

static void append_element(struct text *t, const char *name, const char *content)
{
	_cleanup_free_ char *plain = xptr(text_escape_lines(content));

	text_appendf(t, "      <%s>", name);
	text_append_markup(t, plain);
	text_appendf(t, "</%s>\n", name);
}

void junit_add(struct junit *junit, const char *file, const char *name, enum junit_outcome outcome,
	const char *message, const char *output)
{
	struct text *t = &junit->cases;

	junit->n++;
	junit->n_failed += outcome == JUNIT_FAILED;
	junit->n_skipped += outcome == JUNIT_SKIPPED;
	text_append(t, "    <testcase");
	append_attribute(t, "classname", file);
	append_attribute(t, "name", name);
	text_append(t, ">\n");
	if (outcome != JUNIT_PASSED) {
		text_appendf(t, "      <%s", outcome == JUNIT_FAILED ? "failure" : "skipped");
		append_attribute(t, "message", message ? message : "");
		text_append(t, "/>\n");
	}
	if (output)
		append_element(t, "system-out", output);
	text_append(t, "    </testcase>\n");
}

int junit_print(struct junit *junit, const char *suite)
{
	_cleanup_free_ char *cases = xptr(text_steal(&junit->cases));
	int r;

	r = xprint(stdout,
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n"
		"  <testsuite name=\"%s\" tests=\"%zu\" failures=\"%zu\" errors=\"0\" "
		"skipped=\"%zu\">\n",
		suite, junit->n, junit->n_failed, junit->n_skipped);
	if (r >= 0)
		r = xprint(stdout, "%s", cases);
	return r < 0 ? r : xprint(stdout, "  </testsuite>\n</testsuites>\n");
}

/* --- Members of JSON that several verbs write --- */

void emit_counts(struct emit *emit, const struct benchmark *benchmark)
{
	struct sheet sheet = { .emit = emit };

	put_counts(&sheet, benchmark);
}

void emit_texts(struct emit *emit, const char *name, char *const *texts, size_t n)
{
	emit_array(emit, name);
	for (size_t i = 0; i < n; i++)
		emit_string(emit, NULL, texts[i]);
	emit_close(emit, ']');
}

void emit_fleet(struct emit *emit, enum fleet_level level, const struct nested *nested,
	const struct fleet_change *change)
{
	bool of_layouts = level == FLEET_LAYOUTS;
	const char *name = fleet_plural(level);
	struct nested_advice advice;

	if (level == FLEET_NONE || of_layouts)
		emit_string(emit, "machines", NULL);
	if (level == FLEET_NONE || !of_layouts)
		emit_string(emit, "layouts", NULL);
	if (level == FLEET_NONE)
		return;
	fleet_advice(nested, change, &advice);
	emit_object(emit, name);
	emit_integer(emit, name, (int64_t)nested->n_groups);
	emit_integer(emit, "sittings",
		(int64_t)(change && change->is_split ? change->n_sittings[0] + change->n_sittings[1]
						     : nested->n_values));
	emit_real(emit, "runs_each", fleet_runs_each(nested, change));
	emit_bool(emit, "within", !change || change->within);
	emit_real(emit, of_layouts ? "spread_layouts" : "spread_machines", nested->spread.groups);
	emit_real(emit, "spread_sittings", nested->spread.values);
	emit_real(emit, "spread_runs", nested->spread.runs);
	emit_object(emit, "plan");
	emit_real(emit, "interval", advice.wanted);
	emit_real(emit, name, isnan(advice.wanted) ? NAN : (double)advice.groups);
	emit_real(emit, "sittings", isnan(nested->spread.values) ? NAN : (double)advice.values);
	emit_real(emit, "runs", isnan(nested->spread.runs) ? NAN : (double)advice.runs);
	emit_real(
		emit, "runs_enough", isnan(nested->spread.runs) ? NAN : (double)advice.runs_enough);
	emit_close(emit, '}');
	emit_close(emit, '}');
}

void emit_bins(struct emit *emit, const struct histogram *histogram)
{
	emit_array(emit, "bins");
	for (size_t i = 0; histogram && i < histogram->n_bins; i++) {
		emit_object(emit, NULL);
		emit_real(emit, "low", histogram->bins[i].low);
		emit_real(emit, "high", histogram->bins[i].high);
		emit_integer(emit, "count", (int64_t)histogram->bins[i].n);
		emit_close(emit, '}');
	}
	emit_close(emit, ']');
}

void emit_settling(struct emit *emit, const struct benchmark *benchmark)
{
	const struct settling *s = &benchmark->settling;

	if (s->n_runs == 0) {
		emit_string(emit, "settling", NULL);
		return;
	}
	emit_object(emit, "settling");
	emit_string(emit, "kind", settling_kind_name(settling_kind(s)));
	emit_integer(emit, "runs", (int64_t)s->n_runs);
	emit_integer(emit, "flat", (int64_t)s->n_flat);
	emit_integer(emit, "falls", (int64_t)s->n_falls);
	emit_integer(emit, "rises", (int64_t)s->n_rises);
	emit_integer(emit, "none", (int64_t)s->n_none);
	emit_integer(emit, "values", (int64_t)s->n_values);
	emit_integer(emit, "before", (int64_t)s->before);
	emit_integer(emit, "before_least", (int64_t)s->before_least);
	emit_integer(emit, "before_most", (int64_t)s->before_most);
	emit_real(emit, "change", s->change);
	emit_integer(emit, "left_out", (int64_t)s->n_left_out);
	emit_close(emit, '}');
}

void emit_stability(struct emit *emit, const struct stability *stability)
{
	const struct disturbances *disturbances = &stability->disturbances;

	emit_bool(emit, "stable", stability->stable);
	emit_real(emit, "runs_needed", stability->runs_needed);
	emit_integer(emit, "disturbed", (int64_t)disturbances->n_disturbed);
	emit_bool(emit, "mostly_disturbed", stability->mostly_disturbed);
	emit_real(emit, "disturbed_from", disturbances->threshold);
	emit_real(emit, "typical_lost", disturbances->typical);
	emit_object(emit, "causes");
	for (size_t bit = 0; bit < SAMPLE_N_FLAGS; bit++) {
		if (disturbances->n_by[bit] == 0)
			continue;
		emit_object(emit, sample_flag_name((enum sample_flag)(1 << bit)));
		emit_integer(emit, "runs", (int64_t)disturbances->n_by[bit]);
		emit_real(emit, "worst", disturbances->worst[bit]);
		emit_close(emit, '}');
	}
	emit_close(emit, '}');
	emit_object(emit, "flags");
	for (size_t bit = 0; bit < SAMPLE_N_FLAGS; bit++)
		if (disturbances->n_flagged[bit] > 0)
			emit_integer(emit, sample_flag_name((enum sample_flag)(1 << bit)),
				(int64_t)disturbances->n_flagged[bit]);
	emit_close(emit, '}');
	emit_array(emit, "findings");
	for (size_t i = 0; i < stability->n_concerns; i++) {
		const struct concern *concern = &stability->concerns[i];

		emit_object(emit, NULL);
		emit_string(emit, "code", concern_code_name(concern->code));
		emit_bool(emit, "warning", concern->warning);
		emit_string(emit, "text", concern->text);
		emit_close(emit, '}');
	}
	emit_close(emit, ']');
}

bool find_decision(const struct benchmark *benchmark, struct decision *ret)
{
	const char *figure = facts_find_string(&benchmark->metadata, DECISION_FIGURE);

	if ((benchmark->metric || figure) &&
		(!benchmark->metric || !figure || strcmp(benchmark->metric, figure) != 0))
		return false;
	if (decision_read(&benchmark->metadata, ret) < 0)
		return false;
	sense_find(benchmark, &ret->sense);
	return true;
}

void emit_decision(struct emit *emit, const struct benchmark *benchmark)
{
	struct decision d;

	if (!benchmark || !find_decision(benchmark, &d)) {
		emit_string(emit, "decision", NULL);
		return;
	}
	emit_object(emit, "decision");
	emit_real(emit, "percent", d.percent);
	emit_string(emit, "figure", *d.sense.metric ? d.sense.metric : NULL);
	emit_string(emit, "asked",
		decision_verdict_name(d.is_for_better ? DECISION_FASTER : DECISION_SLOWER));
	emit_string(emit, "verdict", decision_verdict_name(d.verdict));
	emit_integer(emit, "pairs", (int64_t)d.n_pairs);
	emit_real(emit, "settled_after", d.settled_after > 0 ? (double)d.settled_after : NAN);
	emit_real(emit, "ratio", d.ratio);
	emit_real(emit, "ratio_low", d.low);
	emit_real(emit, "ratio_high", d.high);
	emit_real(emit, "ratio_mean", d.mean_ratio);
	emit_real(emit, "carried", d.carried);
	emit_real(emit, "alone", d.alone);
	emit_real(emit, "step", d.coarse);
	emit_real(emit, "e_wanted", d.wanted);
	emit_real(emit, "e_slower", d.slower.e);
	emit_real(emit, "e_not_slower", d.not_slower.e);
	emit_real(emit, "e_faster", d.faster.e);
	emit_real(emit, "e_not_faster", d.not_faster.e);
	emit_close(emit, '}');
}

char *decision_line(const struct benchmark *benchmark, bool with_evalues)
{
	_cleanup_free_ char *text = NULL;
	struct decision d;

	if (!find_decision(benchmark, &d))
		return xptr(strdup(""));
	text = decision_text(&d, with_evalues);
	return xformat("  decided    %s\n", text);
}
