/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A benchmark that grows by the values of runs: those that a program measured itself
 * (progvalues.h), or that its harness gave (hosted.h). Its runs are those of the program, also
 * where one has no value. Functions that return something return 0 or -ENOMEM.
 */
#ifndef QUIESCE_MEASURE_RUNVALUES_H
#define QUIESCE_MEASURE_RUNVALUES_H

#include <stddef.h>
#include <stdint.h>

#include "base/facts.h"
#include "judge/result/benchmark.h"

/* All zero, but for inner_loops: nothing was added yet. */
struct runvalues {
	struct benchmark benchmark; /* metadata and series are set by runvalues_conclude() */
	uint32_t inner_loops;	    /* of each run */
	size_t values_room;
	size_t warmups_room;
	size_t n_runs;
	size_t runs_room;
};

/* Frees all but the benchmark's name. */
void runvalues_clear(struct runvalues *v);
/* Adds records of runs up to and including the one whose sample has this index: they are empty, and
 * this one is until runvalues_end_run(). Runs must be added in their order. */
int runvalues_reach_run(struct runvalues *v, size_t run);
/* Adds a value, in seconds, of the run that was reached last. */
int runvalues_add(struct runvalues *v, double seconds);
/* The same that does not count. loops: that it was measured by. */
int runvalues_add_warmup(struct runvalues *v, uint64_t loops, double seconds);
/* All that was added since the run was reached is of that run. loops: that its values were measured
 * by. */
void runvalues_end_run(struct runvalues *v, size_t run, uint64_t loops);
/* When all runs were made: each sample of the series gets its record, and the metadata become those
 * of the program, but for the time of an empty one, which is no part of these values. Without
 * memory their `failed` is set, or the command is ended. */
void runvalues_conclude(struct runvalues *v, struct series *series, const struct facts *metadata);

#endif
