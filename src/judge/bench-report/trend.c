// SPDX-License-Identifier: GPL-2.0-or-later
/* trend: one benchmark's results over time or commits, and where their level changed. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "judge/bench-report/bench-report.h"
#include "judge/bench-report/column.h"
#include "judge/bench-report/earlier.h"
#include "judge/bench-report/export.h"
#include "judge/bench-report/files.h"
#include "judge/report/sense.h"
#include "judge/report/trend.h"
#include "judge/result/metadata.h"

enum {
	DATE_SHOWN = 10,   /* the day */
	COMMIT_SHOWN = 12, /* as git abbreviates it in large repositories */
};

/* --- What is printed --- */

static const char *shorten(const char *text, size_t most, char *buf)
{
	snprintf(buf, most + 1, "%.*s", (int)most, text ? text : "");
	return buf;
}

static int add_level(struct sheet *sheet, const struct trend *trend, size_t at)
{
	const struct level *level = &trend->levels->items[at];
	const struct trend_point *point = &trend->points[level->first];
	char date[DATE_SHOWN + 1], commit[COMMIT_SHOWN + 1], median[UNITS_TEXT_SIZE] = "";

	if (!sheet->emit)
		scale_format_shown(sheet->scale, trend->unit, level->median, median);
	sheet_begin(sheet);
	put_cell(sheet, shorten(point->date, DATE_SHOWN, date), "FROM");
	put_cell(sheet, shorten(point->commit, COMMIT_SHOWN, commit), "COMMIT");
	put_integer(sheet, level->first, "first");
	put_integer(sheet, level->n, "results", .heading = "RESULTS");
	put_real(sheet, level->median, "median");
	put_cell(sheet, median, "MEDIAN", TABLE_RIGHT);
	put_real(sheet, at > 0 ? trend_change(trend, at) : NAN, "change", .heading = "CHANGE",
		.show = units_format_change);
	put_cell(sheet, point->file, "FILE", TABLE_WRAP | TABLE_BREAK);
	return sheet_end_row(sheet);
}

static int print_levels(const struct trend *trend)
{
	const struct level *levels = trend->levels->items;
	struct sheet sheet = { .scale = scale_choose_unit(trend->unit, levels[0].median) };
	int r = 0;

	for (size_t i = 1; i < trend->levels->n; i++)
		sheet.scale = scale_resolve(sheet.scale, levels[i].median - levels[i - 1].median);
	for (size_t i = 0; r >= 0 && i < trend->levels->n; i++)
		r = add_level(&sheet, trend, i);
	return sheet_end(&sheet, r);
}

/* Whoever measures as root for the first time changes the values by that. */
static void print_stampers(const struct trend *trend)
{
	for (size_t i = 1; i < trend->n; i++) {
		const char *before =
			metadata_get_stamper(&trend->points[i - 1].benchmark->metadata);
		const char *now = metadata_get_stamper(&trend->points[i].benchmark->metadata);

		if (!trend->points[i].benchmark->metric && *trend->clock && before && now &&
			strcmp(before, now) != 0)
			xprint_report(stdout, "note: stamped by %s from %s on, by %s before\n", now,
				trend->points[i].file, before);
	}
}

static void print_control(const struct trend *trend)
{
	size_t n = trend->n_by_machine;

	if (trend->by_control && trend->control_slope != 1)
		xprint_report(stdout,
			"note: the machine slows it down %.2g times as much as its control, as the "
			"history shows\n",
			trend->control_slope);
	if (n > 0)
		xprint_report(stdout,
			"note: %zu change%s left out, which may be what a change of the control "
			"leaves\n",
			n, n == 1 ? " is" : "s are");
}

/* The machine may wander from day to day, and then a change may be no more than that. */
static void print_alike(const struct trend *trend)
{
	const struct levels *levels = trend->levels;

	if (levels->n > 1 && levels->autocorrelation_p <= LEVELS_ALIKE_P)
		xprint_report(stdout,
			"note: beyond its levels each result is like the one before (correlation "
			"%.1f): some of the changes may be those of a machine that wanders, which a "
			"control tells (runpinned --control)\n",
			levels->autocorrelation);
}

/* needed: so many results it takes to find a change. */
static int print_trend(const struct trend *trend, size_t needed)
{
	_cleanup_free_ char *line = trend_headline(trend, needed);

	xprint_report(stdout, "%s\n", line);
	if (trend->n_late > 0)
		xprint_report(stdout,
			"note: %zu result%s measured after one that follows, the last of them %s: "
			"earlier looks did not have %s there\n",
			trend->n_late, trend->n_late == 1 ? " was" : "s were", trend->late_file,
			trend->n_late == 1 ? "it" : "them");
	print_alike(trend);
	print_control(trend);
	print_stampers(trend);
	return print_levels(trend);
}

static void emit_trend(struct sheet *sheet, const struct trend *trend, size_t needed)
{
	sheet_begin(sheet);
	put_text(sheet, trend->name, "name");
	put_text(sheet, *trend->machine ? trend->machine : NULL, "machine");
	put_text(sheet, *trend->clock ? trend->clock : NULL, "clock");
	put_text(sheet, *trend->environment ? trend->environment : NULL, "environment");
	put_text(sheet, unit_name(trend->unit), "unit");
	put_text(sheet, trend->points[0].benchmark->metric, "metric");
	put_text(sheet, better_name(trend->points[0].benchmark->better), "better");
	put_bool(sheet, trend->by_control, "by_control");
	put_real(sheet, trend->by_control ? trend->control_slope : NAN, "control_slope");
	put_integer(sheet, trend->n_by_machine, "left_out");
	put_bool(sheet, trend->n >= needed, "enough");
	put_integer(sheet, trend->n_late, "late");
	sheet_begin_rows(sheet, "points");
	for (size_t i = 0; i < trend->n; i++) {
		const struct trend_point *point = &trend->points[i];

		sheet_begin(sheet);
		put_text(sheet, point->file, "file");
		put_text(sheet, *point->date ? point->date : NULL, "date");
		put_text(sheet, point->commit, "commit");
		put_real(sheet, point->value, "value");
		(void)sheet_end_row(sheet);
	}
	emit_close(sheet->emit, ']');
	sheet_begin_rows(sheet, "levels");
	for (size_t i = 0; i < trend->levels->n; i++)
		(void)add_level(sheet, trend, i);
	emit_close(sheet->emit, ']');
	(void)sheet_end_row(sheet);
}

/* What has become of the results of an earlier look, after which the levels are others. */
static void print_earlier(const struct earlier *earlier)
{
	if (earlier->n_gone > 0)
		xprint_report(stdout,
			"note: %zu of the results of the earlier look %s gone: %s%s\n",
			earlier->n_gone, earlier->n_gone == 1 ? "is" : "are", earlier->gone[0],
			earlier->n_gone > 1 ? " and others" : "");
	if (earlier->n_between > 0)
		xprint_report(stdout,
			"note: %zu result%s in between since the earlier look: %s%s\n",
			earlier->n_between, earlier->n_between == 1 ? " came" : "s came",
			earlier->between[0], earlier->n_between > 1 ? " and others" : "");
	if (earlier->n_gone + earlier->n_between > 0)
		xprint_report(stdout,
			"note: the levels are found anew, as if that look had not been\n\n");
}

/* --- The gate --- */

/* Whether a change for the worse of more than --fail-worse begins at --since or later. Says so. */
static bool fails(const struct request *request, const struct trend *trend, const char *since)
{
	bool failed = false;

	for (size_t i = 1; !isnan(request->fail_worse) && i < trend->levels->n; i++) {
		const struct trend_point *point = &trend->points[trend->levels->items[i].first];
		_cleanup_free_ char *worse = NULL;
		struct text t = { 0 };
		char text[UNITS_TEXT_SIZE];
		struct sense sense;

		if (!trend_is_worse(trend, i, request->fail_worse) ||
			(*point->date && strcmp(point->date, since) < 0))
			continue;
		sense_find(point->benchmark, &sense);
		if (sense.is_known) {
			text_append(&t, " (worse: ");
			sense_append(&t, &sense, true);
			text_append(&t, ")");
		}
		worse = xptr(text_steal(&t));
		say("%s: %s%s at %s, %s", trend->name,
			units_format_change(trend_change(trend, i), text), worse,
			*point->date ? point->date : "an unknown date",
			point->commit ? point->commit : point->file);
		failed = true;
	}
	return failed;
}

/* Writes --since as the dates of points are, or nothing when it was not given. -EINVAL, after
 * saying so, when it is not of use. */
static int check_since(const struct request *request, char since[static BENCHMARK_DATE_SIZE])
{
	int64_t date;

	since[0] = '\0';
	if (!request->since)
		return 0;
	if (metadata_parse_date(request->since, &date) < 0) {
		say("--since: a date is written 2026-11-20 or \"2026-11-20 10:14:10\"");
		return -EINVAL;
	}
	if (isnan(request->fail_worse)) {
		say("--since needs --fail-worse: it says which changes that counts");
		return -EINVAL;
	}
	(void)benchmark_format_date(date, since);
	return 0;
}

static void warn_of_date(const struct trend *trend)
{
	if (trend->unreadable_date)
		say("warning: %s: in the order of the first runs, for the " METADATA_COMMIT_DATE
		    " of %s cannot be read: %s",
			trend->name, trend->unreadable_file, trend->unreadable_date);
}

/* A benchmark of that name, or any if it is NULL: a control only where there is no other. NULL when
 * there is none. */
static const struct benchmark *find_any(const struct reports *reports, const char *name)
{
	const struct benchmark *found = NULL;

	for (size_t i = 0; i < reports->n; i++)
		for (size_t k = 0; k < reports->suites[i]->n; k++) {
			const struct benchmark *b = reports->suites[i]->benchmarks[k];

			if (name && !metadata_equal_strings(b->name, name))
				continue;
			found = b;
			if (!benchmark_is_control(b))
				return b;
		}
	return found;
}

/* Why there is no history at all: a gate that looked at nothing must not pass. */
static void say_nothing(const struct request *request, const struct reports *reports)
{
	const struct benchmark *any = find_any(reports, request->benchmark);

	if (any && benchmark_is_control(any))
		say("trend: '%s' is a control, which has no history", any->name);
	else if (request->benchmark && !any)
		reports_say_none(request, reports);
	else
		say("the files have no values");
}

enum exit_status verb_trend(const struct request *request)
{
	_cleanup_reports_ struct reports reports = { 0 };
	_cleanup_folders_ struct file_names files = { 0 };
	_cleanup_(trends) struct trends *trends = NULL;
	_cleanup_(earlier) struct earlier *earlier = NULL;
	struct emit emit = { .stream = stdout };
	struct sheet sheet = { .emit = request->json ? &emit : NULL };
	struct request all = *request;
	enum exit_status status;
	char since[BENCHMARK_DATE_SIZE];
	bool failed = false;
	size_t needed = 0;
	int r;

	if (check_since(request, since) < 0)
		return EXIT_USAGE;
	if (folders_expand(request, &files) < 0)
		return EXIT_FAILED;
	all.files = files.items;
	all.n_files = files.n;
	if (request->earlier && earlier_read(request->earlier, &earlier) < 0)
		return EXIT_FAILED;
	if (reports_read_history(&all, &reports) < 0)
		return EXIT_FAILED;
	r = trends_new(reports.suites, files.items, reports.n, request->benchmark, &trends);
	if (r == 0 && trends->n == 0) {
		say_nothing(request, &reports);
		r = -ENOENT;
	}
	if (r == 0)
		needed = levels_changes_needed(trends->n_together);
	if (r == 0 && earlier)
		earlier_compare(earlier, trends, files.items, reports.n);
	if (r == 0 && earlier && !request->json)
		print_earlier(earlier);
	if (r == 0) {
		sheet_begin(&sheet);
		put_integer(&sheet, trends->n_together, "together");
		if (earlier && request->json) {
			emit_texts(&emit, "gone", earlier->gone, earlier->n_gone);
			emit_texts(&emit, "between", earlier->between, earlier->n_between);
		}
		sheet_begin_rows(&sheet, "trends");
	}
	for (size_t i = 0; r == 0 && i < trends->n; i++) {
		warn_of_date(&trends->items[i]);
		if (request->json) {
			emit_trend(&sheet, &trends->items[i], needed);
		} else {
			if (i > 0)
				xprint(stdout, "\n");
			r = print_trend(&trends->items[i], needed);
		}
		failed = fails(request, &trends->items[i], since) || failed;
	}
	r = r == 0 ? sheet_end(&sheet, r) : r;
	status = request_conclude(request, r);
	return status == EXIT_DONE && failed ? EXIT_FINDING : status;
}
