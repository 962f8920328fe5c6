/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What qs_main() has measured, and how it shows and saves it. This and what includes it is the part
 * of the library that is a program: main.c, runner.c, report.c, save.c.
 */
#ifndef QUIESCE_SAMPLER_OUTCOME_H
#define QUIESCE_SAMPLER_OUTCOME_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#include "quiesce/benchmark.h"

/* One process. */
struct outcome_run {
	struct qs_values *values;
	time_t began;
	double seconds;
};

/* One benchmark. */
struct outcome {
	const struct qs_benchmark *benchmark;
	uint64_t loops; /* of a value, 0 before they are found out */
	int failed;	/* a process of it failed: it is not run again */
	size_t n_runs;
	struct outcome_run *runs; /* room for all that were asked for, and one for calibration */
};

/* Medians and extremes of all counted values, in seconds; n is 0 where there is none. */
struct summary {
	size_t n;
	double median;
	double deviation; /* median of the absolute deviations from the median */
	double min;
	double max;
};
/* -ENOMEM. */
int outcome_summarize(const struct outcome *outcome, struct summary *ret);

/* A line for each benchmark, and what there is to say about how it was measured. -ENOMEM. */
int outcome_report(FILE *stream, const struct outcome *outcomes, size_t n);
/*
 * As pyperf's JSON, version 1.0 (pyperf 2.10, _bench.py): one benchmark with a run for each
 * process, the first of which is the calibration. Benchmarks without a value are left out. The file
 * is there as a whole or not at all: written beside, synced, renamed. A negative errno; -ENODATA
 * where there is no value at all.
 */
int outcome_save(const char *path, const struct outcome *outcomes, size_t n);

#endif
