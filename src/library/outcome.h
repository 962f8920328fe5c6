/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The results of qs_main(), and how they are shown and saved. main.c, runner.c, report.c and save.c
 * include this header; they are the part of the library that acts as a program.
 */
#ifndef QUIESCE_LIBRARY_OUTCOME_H
#define QUIESCE_LIBRARY_OUTCOME_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#include "library/private.h"
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
	uint64_t loops;	 /* per value; 0 before the calibration */
	int failed;	 /* a process has failed: the benchmark is not run again */
	int out_of_time; /* --max-time: there are fewer processes or values than was asked for */
	size_t n_runs;
	struct outcome_run *runs; /* room for all requested runs and the calibration */
};

/* The values of the first process that has counted ones; NULL where there is none. */
const struct qs_values *outcome_first_counted(const struct outcome *outcome);
/* The figures that run() set, each the mean over the processes that set a figure of this name.
 * Returns their number. */
size_t outcome_figures(const struct outcome *outcome, struct qs_figure ret[QS_MAX_FIGURES]);

/* Prints a line for each benchmark, and notes about the measurement. -ENOMEM. */
int outcome_report(FILE *stream, const struct outcome *outcomes, size_t n);
/* Whether the file can be created there, as far as can be checked in advance. A negative errno. */
int outcome_try_save(const char *path);
/*
 * Saves pyperf's JSON, version 1.0 (pyperf 2.10, _bench.py): each benchmark has a run for each
 * process, the first of which is the calibration. Benchmarks without a value are left out. The file
 * is written whole or not at all: a temporary file beside it, fsync, rename. Of a symbolic link,
 * the file that it points to is replaced. A negative errno; -ENODATA where there is no value at
 * all, -ENOTSUP where the path is that of a device or a pipe, which is not replaced.
 */
int outcome_save(const char *path, const struct outcome *outcomes, size_t n);

#endif
