/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which runs of two benchmarks were made in turn? runpinned shuffles the order of the programs in
 * each round, and writes the seed of that order (quiesce_order_seed) into the result of each of
 * them. Runs of the same seed are of one measurement, and run i of one program and run i of the
 * other one are a pair. Runs that were appended to a file later have another seed, or none.
 */
#ifndef QUIESCE_JUDGE_REPORT_TURNS_H
#define QUIESCE_JUDGE_REPORT_TURNS_H

#include <stdbool.h>
#include <stddef.h>

#include "judge/result/benchmark.h"

/* Whether runs of both were made in turn. Results of different times are not, even if the user gave
 * both the same seed. */
bool turns_are_common(const struct benchmark *old, const struct benchmark *new);

/*
 * Reduces the units of both (benchmark_units()) to those of runs that were made in turn, pair by
 * pair, and returns the number of pairs. Runs that were not measured in turn are left out, and runs
 * without a partner, because the last round was not finished or the chosen metric is not known for
 * both.
 */
size_t turns_pick_pairs(const struct benchmark *old, const struct benchmark *new, double *old_units,
	double *new_units);

/*
 * Among benchmarks of one file, the first program of those that were run in turn with `new`, or
 * with the program that measured `new` itself; of a scan of several programs, the first program's
 * benchmark with the same parameters (`quiesce_baseline` in the metadata). NULL where there is none
 * before it. *ret_old is what `new` is to be compared with: the whole runs of the first program, or
 * its values of the same name (runpinned calls them "PROGRAM: VALUE"); NULL where it has no such
 * values.
 */
const struct benchmark *turns_find_first(struct benchmark *const *benchmarks, size_t n,
	const struct benchmark *new, const struct benchmark **ret_old);

#endif
