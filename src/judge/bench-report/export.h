/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Output in the forms that other programs read: Markdown, CSV, the formats of services that keep a
 * history of benchmarks, and JUnit's XML, which continuous integration shows. */
#ifndef QUIESCE_JUDGE_BENCH_REPORT_EXPORT_H
#define QUIESCE_JUDGE_BENCH_REPORT_EXPORT_H

#include "base/text.h"
#include "judge/bench-report/bench-report.h"
#include "judge/bench-report/column.h"
#include "judge/bench-report/files.h"
#include "judge/report/analysis.h"
#include "judge/report/decision.h"
#include "judge/result/emit.h"
#include "judge/stats/histogram.h"

/* How many values and runs there are; the statistics of the values; the same and the interval
 * of the median, or for several machines, that of their mean. */
void put_counts(struct sheet *sheet, const struct benchmark *benchmark);
void put_stats(struct sheet *sheet, const struct stats *stats);
void put_figures(struct sheet *sheet, const struct analysis *analysis);

/* What show and stats print of results: the figures of all benchmarks for --csv, --markdown and
 * --format, else each benchmark as reports_each_emit() does. */
enum exit_status figures_print_or_each(const struct request *request, const struct reports *reports,
	int (*each)(const char *file, const struct benchmark *benchmark, void *context),
	void *context, struct emit *emit);

/* JUnit's XML: a case for each benchmark. All zero to begin with. */
struct junit {
	struct text cases;
	size_t n;
	size_t n_failed;
	size_t n_skipped;
};

enum junit_outcome {
	JUNIT_PASSED,
	JUNIT_FAILED,
	JUNIT_SKIPPED, /* it cannot be told */
};

/* `message` is the reason in one line, `output` the whole text about it; either may be NULL. */
void junit_add(struct junit *junit, const char *file, const char *name, enum junit_outcome outcome,
	const char *message, const char *output);
/* Prints it as the suite of that name, and empties it. */
int junit_print(struct junit *junit, const char *suite);

/* The following write members into the JSON object that is open, in the same way for all verbs.
 * This one: how many values and runs there are, also when there are no values. */
void emit_counts(struct emit *emit, const struct benchmark *benchmark);
/* An array of texts. */
void emit_texts(struct emit *emit, const char *name, char *const *texts, size_t n);
/* The objects "machines" and "layouts" of a change, or of one program's level (change is NULL), of
 * which the other one than `level` is null. */
void emit_fleet(struct emit *emit, enum fleet_level level, const struct nested *nested,
	const struct fleet_change *change);
/* The array "bins", which is empty where `histogram` is NULL. */
void emit_bins(struct emit *emit, const struct histogram *histogram);
/* Where the values of the runs settle, or null. */
void emit_settling(struct emit *emit, const struct benchmark *benchmark);
/* The concerns and the disturbed runs. */
void emit_stability(struct emit *emit, const struct stability *stability);

/* The verdict of runpinned --decide on this benchmark; false when there is none. It is about the
 * values, or about one figure (DECISION_FIGURE), so that any other metric has none. */
bool find_decision(const struct benchmark *benchmark, struct decision *ret);
/* The same as the object "decision", or null; `benchmark` may be NULL. */
void emit_decision(struct emit *emit, const struct benchmark *benchmark);
/* The same as a line of text, malloc'd; "" when there is no decision. */
char *decision_line(const struct benchmark *benchmark, bool with_evalues);

#endif
