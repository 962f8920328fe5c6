// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "basic/macro.h"
#include "bench-report/export.h"
#include "result/csv.h"

/* --- Markdown --- */

/* A vertical bar would end the cell, and other characters would make HTML, code, emphasis or a
 * link: __init__ would be bold, and ~~x~~ struck out. */
static void append_markdown_cell(struct text *row, const char *text)
{
	text_append(row, " ");
	for (; *text; text++) {
		if (strchr("<>&", *text)) {
			text_append(row, text_entity(*text));
			continue;
		}
		if (strchr("|\\`*_~[", *text))
			text_append(row, "\\");
		text_append_n(row, text, 1);
	}
	text_append(row, " |");
}

int markdown_print_row(const char *const *cells, size_t n)
{
	_cleanup_text_ struct text row = { 0 };

	text_append(&row, "|");
	for (size_t i = 0; i < n; i++)
		append_markdown_cell(&row, cells[i]);
	return row.failed ? -ENOMEM : print(stdout, "%s\n", row.data);
}

int markdown_print_head(const struct table_column *columns, size_t n)
{
	_cleanup_text_ struct text names = { 0 };

	text_append(&names, "|");
	for (size_t i = 0; i < n; i++)
		append_markdown_cell(&names, columns[i].name);
	text_append(&names, "\n|");
	for (size_t i = 0; i < n; i++)
		text_append(&names, columns[i].flags & TABLE_RIGHT ? " ---: |" : " --- |");
	return names.failed ? -ENOMEM : print(stdout, "%s\n", names.data);
}

/* --- CSV --- */

void csv_text(const char *text, bool first)
{
	if (!first)
		fputs(",", stdout);
	csv_put_field(stdout, text);
}

void csv_real(double value)
{
	char text[TEXT_REAL_SIZE] = "";

	print(stdout, ",%s", isfinite(value) ? text_format_real(value, text) : text);
}

void csv_integer(int64_t value)
{
	print(stdout, ",%" PRId64, value);
}

void csv_end(void)
{
	fputs("\r\n", stdout);
}

/* --- The figures of benchmarks --- */

struct sheet {
	const struct request *request;
	const struct reports *reports;
	struct emit emit;
};

struct figures {
	struct stats stats; /* for several machines, with the interval of their mean */
	double runs_median; /* for one machine, the median that the interval holds; struct analysis
			     * calls it unit_median */
};

/* -ENODATA where the benchmark has no values. */
static int find_figures(const struct benchmark *benchmark, struct figures *ret)
{
	_cleanup_(analysis) struct analysis *analysis = NULL;
	int r = analysis_new(benchmark, &analysis);

	if (r < 0)
		return r;
	*ret = (struct figures){ analysis->stats, analysis->unit_median };
	if (analysis->fleet.n_groups > 0) {
		ret->stats.has_interval = true;
		ret->stats.interval_low = exp(analysis->fleet.low);
		ret->stats.interval_high = exp(analysis->fleet.high);
	}
	return 0;
}

#define FIGURE(name) #name, offsetof(struct figures, stats.name)
static const struct {
	const char *name;
	size_t offset;
} figures[] = {
	{ FIGURE(min) },
	{ FIGURE(p5) },
	{ FIGURE(q1) },
	{ FIGURE(median) },
	{ FIGURE(q3) },
	{ FIGURE(p95) },
	{ FIGURE(max) },
	{ FIGURE(mad) },
	{ FIGURE(mean) },
	{ FIGURE(stdev) },
	{ FIGURE(spread) },
	{ FIGURE(interval_low) },
	{ FIGURE(interval_high) },
	{ "runs_median", offsetof(struct figures, runs_median) },
};

static int add_csv_head(void)
{
	fputs("file,name,unit,metric,runs,values", stdout);
	for (size_t i = 0; i < ARRAY_SIZE(figures); i++)
		csv_text(figures[i].name, false);
	csv_end();
	return 0;
}

static int add_csv(const char *file, const struct benchmark *b, void *context _unused_)
{
	struct figures f;
	int r = find_figures(b, &f);

	if (r < 0 && r != -ENODATA)
		return r;
	csv_text(file, true);
	csv_text(b->name, false);
	csv_text(unit_name(b->unit), false);
	csv_text(b->metric ? b->metric : "", false);
	csv_integer((int64_t)benchmark_counted_runs(b));
	csv_integer((int64_t)b->n_values);
	for (size_t i = 0; i < ARRAY_SIZE(figures); i++) {
		const char *figure = (const char *)&f + figures[i].offset;

		csv_real(r < 0 ? NAN : *(const double *)figure);
	}
	csv_end();
	return 0;
}

enum {
	N_CELLS = 9,
};

static int add_markdown_head(const struct reports *reports)
{
	static const struct table_column columns[N_CELLS] = {
		{ "BENCHMARK", 0 },
		{ "FILE", 0 },
		{ "MEDIAN", TABLE_RIGHT },
		{ "INTERVAL", TABLE_RIGHT },
		{ "MEAN", TABLE_RIGHT },
		{ "STDEV", TABLE_RIGHT },
		{ "MIN", TABLE_RIGHT },
		{ "MAX", TABLE_RIGHT },
		{ "RUNS", TABLE_RIGHT },
	};
	struct table_column used[N_CELLS];
	size_t n = 0;

	for (size_t i = 0; i < N_CELLS; i++)
		if (i != 1 || reports->n > 1)
			used[n++] = columns[i];
	return markdown_print_head(used, n);
}

static int add_markdown(const char *file, const struct benchmark *b, void *context)
{
	const struct sheet *sheet = context;
	char median[UNITS_TEXT_SIZE], low[UNITS_TEXT_SIZE], high[UNITS_TEXT_SIZE];
	char mean[UNITS_TEXT_SIZE], stdev[UNITS_TEXT_SIZE], min[UNITS_TEXT_SIZE];
	char max[UNITS_TEXT_SIZE], interval[2 * UNITS_TEXT_SIZE + 4] = "", runs[32];
	_cleanup_free_ char *name = text_escape_control(b->name);
	_cleanup_free_ char *label = text_escape_control(file_label(file));
	const char *cells[N_CELLS];
	struct scale scale;
	struct figures f;
	struct stats *s = &f.stats;
	size_t n = 0;
	int r = find_figures(b, &f);

	if (r < 0)
		return r == -ENODATA ? 0 : r;
	if (!name || !label)
		return -ENOMEM;
	scale = scale_refine(scale_choose_unit(b->unit, s->median > 0 ? s->median : s->max), 1);
	scale = scale_resolve(scale, s->mad > 0 ? s->mad : s->stdev);
	if (s->has_interval)
		snprintf(interval, sizeof(interval), "%s .. %s",
			scale_format_bare(scale, s->interval_low, low),
			scale_format(scale, s->interval_high, high));
	snprintf(runs, sizeof(runs), "%zu", benchmark_counted_runs(b));
	cells[n++] = name;
	if (sheet->reports->n > 1)
		cells[n++] = label;
	cells[n++] = scale_format(scale, f.runs_median, median);
	cells[n++] = interval;
	cells[n++] = scale_format(scale, s->mean, mean);
	cells[n++] = s->n > 1 ? scale_format(scale, s->stdev, stdev) : "";
	cells[n++] = scale_format(scale, s->min, min);
	cells[n++] = scale_format(scale, s->max, max);
	cells[n++] = runs;
	return markdown_print_row(cells, n);
}

/* https://github.com/benchmark-action/github-action-benchmark, customSmallerIsBetter: a list of
 * objects with name, unit and value; range and extra are texts that are shown beside them. */
static int add_github(const char *file, const struct benchmark *b, void *context)
{
	struct sheet *sheet = context;
	_cleanup_free_ char *title = reports_title(sheet->request, file, b), *extra = NULL;
	char range[UNITS_TEXT_SIZE], share[UNITS_TEXT_SIZE];
	struct scale scale;
	struct figures f;
	int r = find_figures(b, &f);

	if (r < 0)
		return r == -ENODATA ? 0 : r;
	/* One unit for all days, whatever the values: nanoseconds lose no digits. */
	scale = unit_is_time(b->unit) ? (struct scale){ "ns", 1e9, 0 }
				      : (struct scale){ unit_name(b->unit), 1, 0 };
	snprintf(range, sizeof(range), "%s",
		f.stats.has_interval
			? units_format_percent((f.stats.interval_high - f.stats.interval_low) / 2 /
					  fabs(f.runs_median),
				  share)
			: "");
	if (benchmark_units_are_runs(b))
		r = text_format(&extra, "median of %zu run%s", benchmark_counted_runs(b),
			benchmark_counted_runs(b) == 1 ? "" : "s");
	else
		r = text_format(&extra, "median of %zu values of one run", b->n_values);
	if (!title || r < 0)
		return -ENOMEM;
	emit_object(&sheet->emit, NULL);
	emit_string(&sheet->emit, "name", title);
	emit_string(&sheet->emit, "unit", scale.unit);
	emit_real(&sheet->emit, "value", f.runs_median * scale.factor);
	if (*range)
		emit_string(&sheet->emit, "range", range);
	emit_string(&sheet->emit, "extra", extra);
	emit_close(&sheet->emit, '}');
	return 0;
}

/* https://bencher.dev/docs/reference/bencher-metric-format: an object by names of objects by names
 * of measures. Its measure "latency" is in nanoseconds. */
static int add_bencher(const char *file, const struct benchmark *b, void *context)
{
	struct sheet *sheet = context;
	_cleanup_free_ char *title = reports_title(sheet->request, file, b);
	double factor = unit_is_time(b->unit) ? 1e9 : 1;
	const char *measure = unit_is_time(b->unit) ? "latency" : unit_name(b->unit);
	struct figures f;
	int r = find_figures(b, &f);

	if (r < 0)
		return r == -ENODATA ? 0 : r;
	if (!title)
		return -ENOMEM;
	emit_object(&sheet->emit, title);
	emit_object(&sheet->emit, b->metric ? b->metric : measure);
	emit_real(&sheet->emit, "value", f.runs_median * factor);
	if (f.stats.has_interval) {
		emit_real(&sheet->emit, "lower_value", f.stats.interval_low * factor);
		emit_real(&sheet->emit, "upper_value", f.stats.interval_high * factor);
	}
	emit_close(&sheet->emit, '}');
	emit_close(&sheet->emit, '}');
	return 0;
}

/* The figures of all benchmarks. A negative errno, said or to be said by request_conclude(). */
static int print_figures(const struct request *request, const struct reports *reports)
{
	struct sheet sheet = { .request = request, .reports = reports, .emit.stream = stdout };
	bool is_list = request->form == FORM_GITHUB;
	int r;

	if (request->form == FORM_CSV || request->form == FORM_MARKDOWN) {
		bool is_csv = request->form == FORM_CSV;

		r = is_csv ? add_csv_head() : add_markdown_head(reports);
		return r < 0
			? r
			: reports_each(request, reports, is_csv ? add_csv : add_markdown, &sheet);
	}
	if (is_list)
		emit_array(&sheet.emit, NULL);
	else
		emit_object(&sheet.emit, NULL);
	r = reports_each(request, reports, is_list ? add_github : add_bencher, &sheet);
	emit_close(&sheet.emit, is_list ? ']' : '}');
	return r < 0 ? r : emit_finish(&sheet.emit);
}

enum exit_status figures_print_or_each(const struct request *request, struct reports *reports,
	int (*each)(const char *file, const struct benchmark *benchmark, void *context),
	void *context, struct emit *emit)
{
	int r;

	if (reports_read(request, true, reports) < 0)
		return EXIT_FAILED;
	if (request->form > FORM_TABLE)
		r = print_figures(request, reports);
	else
		r = reports_each_emit(request, reports, each, context, emit, "benchmarks");
	return request_conclude(request, r);
}

/* --- JUnit --- */

static void append_attribute(struct text *t, const char *name, const char *value)
{
	_cleanup_free_ char *plain = text_escape_control(value);

	t->failed = t->failed || !plain;
	text_appendf(t, " %s=\"", name);
	text_append_markup(t, plain ? plain : "");
	text_append(t, "\"");
}

static void append_element(struct text *t, const char *name, const char *content)
{
	_cleanup_free_ char *plain = text_escape_lines(content);

	t->failed = t->failed || !plain;
	text_appendf(t, "      <%s>", name);
	text_append_markup(t, plain ? plain : "");
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
	_cleanup_text_ struct text cases = junit->cases;
	int r;

	junit->cases = (struct text){ 0 };
	if (cases.failed)
		return -ENOMEM;
	r = print(stdout,
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n"
		"  <testsuite name=\"%s\" tests=\"%zu\" failures=\"%zu\" errors=\"0\" "
		"skipped=\"%zu\">\n",
		suite, junit->n, junit->n_failed, junit->n_skipped);
	if (r >= 0 && cases.data)
		r = print(stdout, "%s", cases.data);
	return r < 0 ? r : print(stdout, "  </testsuite>\n</testsuites>\n");
}
