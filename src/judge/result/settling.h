/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where the values of each run of a benchmark settle, if its runs have many values in their order
 * (judge/stats/steady.h). Nothing is left out by itself: settling_leave_out() does that where a
 * person has asked for it.
 */
#ifndef QUIESCE_JUDGE_RESULT_SETTLING_H
#define QUIESCE_JUDGE_RESULT_SETTLING_H

#include "judge/result/benchmark.h"

/* Looks at all runs that count, and sets `before_level` of each of them and the `settling` of the
 * benchmark. Of runs with fewer than STEADY_MIN_VALUES values nothing is known. -EDOM when a value
 * is not finite. */
int settling_find(struct benchmark *benchmark);
/* After that: makes warm-ups of what comes before the level of its run, and notes how much that is.
 * A run without a level keeps all its values. Figures of a harness that are the means of these
 * values become those of the rest. */
void settling_leave_out(struct benchmark *benchmark);

enum settling_kind {
	SETTLING_UNKNOWN, /* no run has as many values */
	SETTLING_FLAT,	  /* most runs are on one level from their first value on */
	SETTLING_WARMS,	  /* half of the runs that have a level, or more, get there first */
	SETTLING_NONE,	  /* more than half of the runs have no level */
};

enum settling_kind settling_kind(const struct settling *settling);
/* "warm-up", ...; NULL for SETTLING_UNKNOWN. */
const char *settling_kind_name(enum settling_kind kind);

#endif
