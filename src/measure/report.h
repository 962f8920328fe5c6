/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The report that is printed after the last run. */
#ifndef QUIESCE_MEASURE_REPORT_H
#define QUIESCE_MEASURE_REPORT_H

#include <stdbool.h>
#include <stdio.h>

#include "judge/report/brief.h"
#include "judge/result/benchmark.h"
#include "judge/result/series.h"

struct report_input {
	const char *name;
	const char *cpus;	 /* "3" or "2-3" */
	const char *cpus_reason; /* why these CPUs; NULL when the user gave them */
	const struct series *series;
	const struct facts *facts; /* the metadata */
	/* NULL: the values are those of the series; else the values that the program measured
	 * itself. */
	const struct benchmark *by_program;
	const struct unit *unit; /* of the times that are shown */
	const char *metric;	 /* that of --metric; NULL: all figures, or else the time */
	/* The time of the empty program by the same clock; NAN when unknown. */
	double floor_seconds;
	double shell_seconds; /* the time of the shell of --shell with nothing to do, in the same
			       * way */
	/* Of the values of a hosted harness, whose means are figures; NULL without. */
	const struct settling *settling;
	bool decided; /* --decide: it made as many runs as it took, so their number is no reason for
		       * a warning */
	bool one_of_several; /* warnings name the benchmark */
};

/*
 * Adds what is to be said to `brief`, or where that is NULL, writes the summary, the histogram and
 * the disturbed runs to `stream` (NULL: they are not written), and the warnings about the result to
 * standard error. 0 or a negative errno: -ENODATA
 * when no run counts.
 */
int report_print(FILE *stream, struct brief *brief, const struct report_input *input);

#endif
