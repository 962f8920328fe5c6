/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The summary of one benchmark that is printed after measuring it, and later from a file. */
#ifndef QUIESCE_JUDGE_REPORT_SUMMARY_H
#define QUIESCE_JUDGE_REPORT_SUMMARY_H

#include <stdbool.h>

#include "base/text.h"
#include "judge/report/analysis.h"
#include "judge/result/benchmark.h"

struct summary_input {
	const struct benchmark *benchmark;
	const struct analysis *analysis;
	const char *cpus;	 /* "3" or "2-3"; NULL when unknown */
	const char *cpus_reason; /* why these CPUs; NULL when the user gave them or when unknown */
	/* What else ran on these CPUs meanwhile; NULL when unknown. */
	const char *meanwhile;
	/* The empty program's time by the same clock, in seconds, or its figure of the metric, in
	 * the unit of the benchmark; NAN when unknown. */
	double floor;
	/* The time of the shell with nothing to do (--shell), in the same way. */
	double shell_seconds;
	bool warnings; /* whether to include the concerns that are warnings */
	bool notes;    /* whether to include the other concerns */
	int width;     /* width of the terminal in columns */
};

/* The figures, counted events, histogram and disturbed runs as lines of text, malloc'd. */
char *summary_render(const struct summary_input *input);
/* Fills the fields that describe a benchmark from a file; texts are borrowed from its metadata. */
void summary_fill(const struct benchmark *benchmark, struct summary_input *ret);
/* The scale in which the median and the deviation of a benchmark are shown. */
struct scale summary_choose_scale(const struct benchmark *benchmark, const struct stats *stats);
/* "25 runs on CPU 3"; the counts of the events of -e: a line of each, or "cycles 1 234, faults 5".
 */
void summary_append_runs(struct text *t, const struct summary_input *input);
/* The interval of several machines, and rows about them. */
void summary_append_fleet(
	struct text *t, const struct fleet_estimate *fleet, const struct scale *scale);
void summary_append_events(struct text *t, const struct benchmark *benchmark, bool as_lines);
/* The next two functions compute figures of the summary that are not the benchmark's values. Both
 * return -ENODATA when nothing is known. This one: the statistics of the counts of one event of
 * -e. */
int summary_count_event(const struct series *series, size_t event, struct stats *ret);
/* The share of each counted run in which the program was runnable, but another task had its CPU. */
int summary_find_waiting(const struct series *series, struct stats *ret);
/*
 * The median and the number of the runs that had the core to themselves; NAN and 0 without such a
 * run. *ret_known is the number of runs for which this is known. -ENODATA when it is known for
 * none, or when the benchmark has only one run.
 */
int summary_find_whole_core(const struct benchmark *benchmark, double *ret_median,
	size_t *ret_whole, size_t *ret_known);
/* What the runs have used beside their time, and what the empty program uses: the medians; NAN
 * where unknown. */
struct summary_usage {
	double cpu; /* seconds, the sum of these: */
	double user_cpu;
	double system_cpu;
	double reader_cpu; /* of a reader of the output on the same CPUs, not in the sum */
	double max_rss;	   /* bytes */
	double floor_user_cpu;
	double floor_system_cpu;
	double floor_max_rss;
};
/* -ENODATA where values are not the times of whole runs. */
int summary_find_usage(const struct benchmark *benchmark, struct summary_usage *ret);
/* How the values were measured, a static text; NULL when the file does not say. */
const char *summary_clock_text(const struct benchmark *benchmark);
/* The first line of the summary: "sort: 25 runs on CPU 3, from exec to exit, stamped by the
 * kernel\n". */
char *summary_render_head(const struct summary_input *input);

#endif
