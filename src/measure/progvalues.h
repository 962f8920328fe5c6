/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Program values: the values that a program measured itself, by libquiesce, and handed over to
 * runpinned. Each name that the program uses becomes a benchmark. Its runs are the runs of the
 * program, with their evidence.
 *
 * The program may have written anything. When something is not a valid block of values
 * (library/values.h), it is refused together with all that follows it in the same run; the blocks
 * before it are kept.
 */
#ifndef QUIESCE_MEASURE_PROGVALUES_H
#define QUIESCE_MEASURE_PROGVALUES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/cleanup.h"
#include "base/facts.h"
#include "judge/result/benchmark.h"

enum {
	PROGVALUES_MAX_NAMES = 1000,
	PROGVALUES_MAX_VALUES = 1 << 22, /* for all names and runs together: 64 MiB */
};

struct progvalues;

struct progvalues *progvalues_new(void);
void progvalues_free(struct progvalues *progvalues);
DEFINE_CLEANUP(progvalues, progvalues_free);

/*
 * Adds the values that the program handed over in one run. `run` is the index of that run's sample
 * in its series; runs must be added in their order. All values of a warm-up run are warm-up values.
 * -EBADMSG when something was refused; *ret_why then says what (malloc'd). -ENOMEM: see measure().
 */
int progvalues_take(struct progvalues *progvalues, size_t run, bool warmup, const char *text,
	size_t size, char **ret_why);

/* What the program saw of its core in the run that was taken last: independent additions per cycle,
 * in the mean of all counted values. 0 when nothing is known. */
double progvalues_core_adds(const struct progvalues *progvalues);

/* How many values there are of all names and runs together. */
size_t progvalues_count_values(const struct progvalues *progvalues);
size_t progvalues_count(const struct progvalues *progvalues);
/*
 * Benchmark number i, in the order in which the names appeared. Valid as long as `progvalues` and
 * the series live. Its metadata are those of the program's own benchmark, except for the name: that
 * is the name of the values, with `prefix` and ": " in front when `prefix` is not NULL. NULL when
 * no run that counts has such a value.
 */
struct benchmark *progvalues_get_benchmark(struct progvalues *progvalues, size_t i,
	struct series *series, const struct facts *metadata, const char *prefix);

#endif
