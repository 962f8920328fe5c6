/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The order of several programs that were run in turn: the fastest one, and how much faster it ran
 * than each of the others. */
#ifndef QUIESCE_REPORT_RANK_H
#define QUIESCE_REPORT_RANK_H

#include <stdbool.h>
#include <stddef.h>

#include "result/benchmark.h"

/*
 * "new ran 1.25 times faster than old, 1.22 .. 1.28": a line for each program but the one with the
 * lowest median, with the interval that holds the proportion with 95 % certainty; malloc'd, and
 * safe for a terminal. All are compared with that one, in pairs (report/compare.h); the verdicts
 * are corrected for the number of all pairs of programs. by_speed: the next fastest one first, else
 * in the order of `programs`. "" for less than two programs. -ENODATA when one has no values,
 * -EINVAL when units differ.
 */
int rank_render(const struct benchmark *const *programs, size_t n, bool by_speed, char **ret);

#endif
