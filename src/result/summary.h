/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a person reads of one benchmark: right after it was measured, and from a file later on. */
#ifndef QUIESCE_RESULT_SUMMARY_H
#define QUIESCE_RESULT_SUMMARY_H

#include <stdbool.h>

#include "result/analysis.h"
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
/* The first line of it: "sort: 25 runs on CPU 3, from exec to exit, stamped by the kernel\n". */
char *summary_render_head(const struct summary_input *input);

#endif
