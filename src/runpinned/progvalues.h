/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a program measured inside, by libquiesce, and handed over: a benchmark for each name, whose
 * runs are those of the program, with the evidence of these.
 *
 * The program may have written anything. What is no block of values (sampler/values.h) is refused
 * with all that follows it in the run; what was taken of the same run before stays.
 */
#ifndef QUIESCE_RUNPINNED_PROGVALUES_H
#define QUIESCE_RUNPINNED_PROGVALUES_H

#include <stdbool.h>
#include <stddef.h>

#include "basic/cleanup.h"
#include "basic/facts.h"
#include "result/benchmark.h"

enum {
	PROGVALUES_MAX_NAMES = 1000,
	PROGVALUES_MAX_VALUES = 1 << 22, /* of all names and runs together: 64 MiB */
};

struct progvalues;

int progvalues_new(struct progvalues **ret);
void progvalues_free(struct progvalues *progvalues);
DEFINE_CLEANUP(progvalues, progvalues_free);

/*
 * Takes what was handed over in the run that is sample `run` of its series; runs come in their
 * order. All values of a warm-up are warm-ups. -EBADMSG where something was refused: *ret_why says
 * what, malloc'd. -ENOMEM.
 */
int progvalues_take(struct progvalues *progvalues, size_t run, bool warmup, const char *text,
	size_t size, char **ret_why);

size_t progvalues_count(const struct progvalues *progvalues);
/*
 * Benchmark i, in the order in which names were seen: for as long as `progvalues` and the series
 * live. Its metadata are those of the program's own benchmark, with its own name (behind `prefix`,
 * where that is not NULL, and ": "). NULL where no run that counts has a value of it, or memory is
 * short.
 */
const struct benchmark *progvalues_benchmark(struct progvalues *progvalues, size_t i,
	struct series *series, const struct facts *metadata, const char *prefix);

#endif
