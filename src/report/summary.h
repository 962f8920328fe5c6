/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a person reads of one benchmark: right after it was measured, and from a file later on. */
#ifndef QUIESCE_REPORT_SUMMARY_H
#define QUIESCE_REPORT_SUMMARY_H

#include <stdbool.h>

#include "report/analysis.h"
#include "result/benchmark.h"

struct summary_input {
	const struct benchmark *benchmark;
	const struct analysis *analysis;
	const char *cpus;	 /* "3" or "2-3"; NULL when unknown */
	const char *cpus_reason; /* why these; NULL when they were asked for or it is unknown */
	double floor_seconds;	 /* the empty program by the same clock; NAN when unknown */
	bool warnings;		 /* what speaks against it */
	bool notes;		 /* findings that are no warnings */
	int width;		 /* of the terminal, in columns */
};

/* Figures, counted events, histogram and disturbed runs: lines, malloc'd, NULL when memory is
 * short. The warnings are not in there. */
char *summary_render(const struct summary_input *input);
/* What summary_input wants of a benchmark from a file; texts are borrowed from its metadata. */
void summary_fill(const struct benchmark *benchmark, struct summary_input *ret);
/* The figures in there that are no benchmark's own. Both -ENODATA where there is nothing to tell:
 * what the counted runs counted of one event of -e; */
int summary_count_event(const struct series *series, size_t event, struct stats *ret);
/* how much of each counted run went by with the program ready and somebody else on its CPU, as a
 * part of the run. */
int summary_find_waiting(const struct series *series, struct stats *ret);
/* How the values were stamped, a static text; NULL where the file does not say. */
const char *summary_clock_text(const struct benchmark *benchmark);
/* The first line of it: "sort: 25 runs on CPU 3, from exec to exit, stamped by the kernel\n". */
char *summary_render_head(const struct summary_input *input);

#endif
