/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The order of several programs that were run in turn: the fastest one, and how much faster it ran
 * than each of the others. For other values the lowest wins; for rates the highest. */
#ifndef QUIESCE_JUDGE_REPORT_RANK_H
#define QUIESCE_JUDGE_REPORT_RANK_H

#include <stdbool.h>
#include <stddef.h>

#include "judge/report/comparison.h"
#include "judge/result/benchmark.h"

/*
 * Compares each program in pairs (judge/report/compare.h) with the best one, which has the lowest
 * median, or for a rate (benchmark_is_gain()) the highest, and is OLD; the verdicts are corrected
 * for the number of all pairs of programs. by_speed: the fastest of the other programs comes first;
 * else they are in the order of `programs`. *ret has n - 1 of them, malloc'd, each to be freed by
 * comparison_free(). -ENODATA when one has no values, -EINVAL when units differ.
 */
int rank_compare(
	const struct benchmark *const *programs, size_t n, bool by_speed, struct comparison ***ret);
/* Which of the two is the faster one, or has the higher rate, and how many times: the program with
 * the better median is not always the one that is better in most pairs. */
void rank_orient(const struct comparison *comparison, const struct benchmark **ret_fast,
	const struct benchmark **ret_slow, struct ratio *ret_times);

/*
 * "new ran 1.25 times faster than old, 1.22 .. 1.28": a line for each program but the one with the
 * best median, with the interval that holds the proportion with 95 % certainty; malloc'd, and
 * safe for a terminal. "" for less than two programs. Arguments and errors as of rank_compare().
 */
int rank_render(const struct benchmark *const *programs, size_t n, bool by_speed, char **ret);

#endif
