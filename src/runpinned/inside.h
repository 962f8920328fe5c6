/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a program measured inside, by libquiesce, and handed over: a benchmark for each name, whose
 * runs are those of the program, with the evidence of these.
 *
 * The program may have written anything. What is no block of values (sampler/values.h) is refused
 * with all that follows it in the run; what was taken of the same run before stays.
 */
#ifndef QUIESCE_RUNPINNED_INSIDE_H
#define QUIESCE_RUNPINNED_INSIDE_H

#include <stdbool.h>
#include <stddef.h>

#include "basic/cleanup.h"
#include "basic/facts.h"
#include "result/benchmark.h"

enum {
	INSIDE_MAX_NAMES = 1000,
	INSIDE_MAX_VALUES = 1 << 22, /* of all names and runs together: 64 MiB */
};

struct inside;

int inside_new(struct inside **ret);
void inside_free(struct inside *inside);
DEFINE_CLEANUP(inside, inside_free);

/*
 * Takes what was handed over in the run that is sample `run` of its series; runs come in their
 * order. All values of a warm-up are warm-ups. -EBADMSG where something was refused: *ret_why says
 * what, malloc'd. -ENOMEM.
 */
int inside_take(struct inside *inside, size_t run, bool warmup, const char *text, size_t size,
	char **ret_why);

size_t inside_count(const struct inside *inside);
/*
 * Benchmark i, in the order in which names were seen: for as long as `inside` and the series live.
 * Its metadata are those of the program's own benchmark, with its own name (behind `prefix`, where
 * that is not NULL, and ": "). NULL where no run that counts has a value of it, or memory is short.
 */
const struct benchmark *inside_benchmark(struct inside *inside, size_t i, struct series *series,
	const struct facts *metadata, const char *prefix);

#endif
