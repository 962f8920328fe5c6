/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Output in the forms that other programs read: Markdown, CSV, the formats of services that keep a
 * history of benchmarks, and JUnit's XML, which continuous integration shows. */
#ifndef QUIESCE_JUDGE_BENCH_REPORT_EXPORT_H
#define QUIESCE_JUDGE_BENCH_REPORT_EXPORT_H

#include "base/text.h"
#include "judge/bench-report/bench-report.h"
#include "judge/bench-report/column.h"

/* How many values and runs there are; the statistics of the values; the same and the interval
 * of the median, or for several machines, that of their mean. */
void put_counts(struct sheet *sheet, const struct benchmark *benchmark);
void put_stats(struct sheet *sheet, const struct stats *stats);
void put_figures(struct sheet *sheet, const struct analysis *analysis);

/* The whole of show and of stats: reads the files into *reports, which is the caller's, and prints
 * the figures of all benchmarks for --csv, --markdown and --format, else each benchmark as
 * reports_each_emit() does. */
enum exit_status figures_print_or_each(const struct request *request, struct reports *reports,
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

#endif
