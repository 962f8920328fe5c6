/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The values that a hosted harness (host.h) gave in each run: those of the result's runs, as pyperf
 * has them. The figure of a run is their mean, which is what is judged.
 */
#ifndef QUIESCE_MEASURE_HOSTED_H
#define QUIESCE_MEASURE_HOSTED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "base/facts.h"
#include "judge/result/benchmark.h"

struct hosted;

struct hosted *hosted_new(void);
void hosted_free(struct hosted *hosted);
DEFINE_CLEANUP(hosted, hosted_free);

/* Adds the values of the run whose sample has this index; runs must be added in their order.
 * loops: that the harness was told, 0 where it was told none. -ENOMEM: see measure(). */
int hosted_add(struct hosted *hosted, size_t run, bool warmup, uint64_t loops, const double *values,
	size_t n);
/* The first figure that is a time becomes the mean of all values of its run again, of which
 * --warmup auto had left out some when the run ended: settling_leave_out() does so for all runs
 * together. */
void hosted_restore_figure(const struct hosted *hosted, struct series *series);
/* Where the values settle; NULL for NULL. */
const struct settling *hosted_get_settling(const struct hosted *hosted);
/* The values as a benchmark, with the metadata of the program. Valid as long as `hosted` and the
 * series live. NULL where no run that counts has any. */
struct benchmark *hosted_get_benchmark(
	struct hosted *hosted, struct series *series, const struct facts *metadata);

#endif
