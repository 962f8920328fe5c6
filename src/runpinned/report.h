/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a person reads when the runs are over. */
#ifndef QUIESCE_RUNPINNED_REPORT_H
#define QUIESCE_RUNPINNED_REPORT_H

#include <stdbool.h>
#include <stdio.h>

#include "result/benchmark.h"
#include "result/series.h"

struct report_input {
	const char *name;
	const char *cpus;	 /* "3" or "2-3" */
	const char *cpus_reason; /* why these; NULL when they were asked for */
	const struct series *series;
	/* NULL: the series itself; else what the program measured itself. */
	const struct benchmark *by_program;
	double floor_seconds; /* the empty program by the same clock; NAN when unknown */
	bool one_of_several;  /* warnings say which benchmark they are about */
	bool verbose;
};

/*
 * Writes the summary, the histogram and the disturbed runs to `stream` (NULL: nowhere), and what
 * speaks against the result to standard error. 0, or a negative errno: -ENODATA when no run counts.
 */
int report_print(FILE *stream, const struct report_input *input);

#endif
