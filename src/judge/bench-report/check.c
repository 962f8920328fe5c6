// SPDX-License-Identifier: GPL-2.0-or-later
/* check: is the result stable enough to be used? */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/macro.h"
#include "base/xalloc.h"
#include "judge/bench-report/bench-report.h"
#include "judge/bench-report/export.h"
#include "judge/bench-report/files.h"

struct check {
	const struct request *request;
	struct emit emit;
	struct junit junit;
	bool found;
};

static const char single_value[] = "one value tells nothing of how the next one differs";

/* A line for each concern, behind `indent`; malloc'd. */
static char *make_concerns(
	const struct benchmark *benchmark, const struct stability *stability, const char *indent)
{
	_cleanup_free_ char *disturbed = stability_disturbed_text(stability);
	struct text t = { 0 };

	if (benchmark->n_values == 1)
		text_appendf(&t, "%swarning: %s\n", indent, single_value);
	for (size_t i = 0; i < stability->n_concerns; i++)
		text_appendf(&t, "%s%s: %s\n", indent,
			stability->concerns[i].warning ? "warning" : "note",
			stability->concerns[i].text);
	if (*disturbed)
		text_appendf(&t, "%s%s: %s%s\n", indent,
			stability->mostly_disturbed ? "warning" : "note", disturbed,
			stability->mostly_disturbed ? "; the median is one of them" : "");
	return xptr(text_steal(&t));
}

static void print_concerns(const char *title, const struct benchmark *benchmark,
	const struct stability *stability, bool sound)
{
	_cleanup_free_ char *concerns = make_concerns(benchmark, stability, "  ");

	xprint_report(stdout, "%s: %s\n%s", title, sound ? "stable" : "not stable", concerns);
}

static void add_case(struct junit *junit, const char *file, const struct benchmark *benchmark,
	const struct stability *stability, bool sound)
{
	_cleanup_free_ char *concerns = make_concerns(benchmark, stability, "");
	const char *why =
		benchmark->n_values == 1 ? single_value : "most of the runs were disturbed";

	for (size_t i = stability->n_concerns; i-- > 0;)
		if (stability->concerns[i].warning)
			why = stability->concerns[i].text;
	junit_add(junit, file, benchmark->name, sound ? JUNIT_PASSED : JUNIT_FAILED, why, concerns);
}

/* `stability` is NULL when there are no values. */
static void emit_check(struct emit *emit, const char *file, const struct benchmark *benchmark,
	const struct stability *stability, bool sound)
{
	emit_object(emit, NULL);
	emit_string(emit, "file", file);
	emit_string(emit, "name", benchmark->name);
	emit_counts(emit, benchmark);
	emit_bool(emit, "sound", sound);
	emit_settling(emit, benchmark);
	if (stability)
		emit_stability(emit, stability);
	emit_close(emit, '}');
}

static int check_one(const char *file, const struct benchmark *benchmark, void *context)
{
	struct check *check = context;
	_cleanup_free_ char *title = reports_title(check->request, file, benchmark);
	_cleanup_(analysis) struct analysis *analysis = NULL;
	bool sound;
	int r;

	r = analysis_new(benchmark, &analysis);
	/* Like in pyperf, a benchmark that was only calibrated raises no concern. */
	if (r == -ENODATA) {
		if (check->request->json)
			emit_check(&check->emit, file, benchmark, NULL, true);
		else if (check->request->form == FORM_JUNIT)
			junit_add(&check->junit, file_label(file), benchmark->name, JUNIT_SKIPPED,
				"no values", NULL);
		else
			xprint_report(stdout, "%s: no values\n", title);
		return 0;
	}
	if (r < 0)
		return r;
	sound = analysis_is_sound(analysis);
	check->found = check->found || !sound;
	if (check->request->form == FORM_JUNIT)
		add_case(&check->junit, file_label(file), benchmark, analysis->stability, sound);
	else if (check->request->json)
		emit_check(&check->emit, file, benchmark, analysis->stability, sound);
	else
		print_concerns(title, benchmark, analysis->stability, sound);
	return 0;
}

enum exit_status verb_check(const struct request *request)
{
	_cleanup_reports_ struct reports reports = { 0 };
	struct check check = { .request = request, .emit.stream = stdout };
	enum exit_status status;
	int r;

	if (reports_read(request, true, &reports) < 0)
		return EXIT_FAILED;
	r = reports_each_emit(request, &reports, check_one, &check, &check.emit, "benchmarks");
	if (r >= 0 && request->form == FORM_JUNIT)
		r = junit_print(&check.junit, "bench-report check");
	text_clear(&check.junit.cases);
	status = request_conclude(request, r);
	return status == EXIT_DONE && check.found ? EXIT_FINDING : status;
}
