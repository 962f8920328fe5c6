/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where the values of a process settle. A program that warms up, by a compiler that works while it
 * runs or by caches that fill, has other values first; the level is what it has from then on. It is
 * found by the changes of level.h: the values are settled from the first place on behind which
 * there is one level, and no drift, up to the last value.
 *
 * A level has to last for a quarter of the values, and for STEADY_MIN_LEVEL: what is shorter may
 * be left again, and says nothing of what comes. The quarter is that of Barrett and others, Virtual
 * Machine Warmup Blows Hot and Cold (OOPSLA 2017): 500 of 2000 values. bench/steady compares the
 * outcome with theirs.
 */
#ifndef QUIESCE_JUDGE_STATS_STEADY_H
#define QUIESCE_JUDGE_STATS_STEADY_H

#include <stdbool.h>
#include <stddef.h>

#include "judge/stats/level.h"

/* Of fewer values nothing is known: three at the beginning that are clearly apart from all others
 * could be chance (level.h). */
#define STEADY_MIN_VALUES 14
/* So many have to be on the level, or a quarter of all if that is more. */
#define STEADY_MIN_LEVEL LEVEL_MIN_VALUES

enum steady_kind {
	STEADY_FLAT,  /* on one level from the first value on */
	STEADY_FALLS, /* down to the level: all values before it are on higher ones */
	STEADY_RISES, /* up to it, from some level that is lower */
	STEADY_NONE,  /* the values do not settle */
};

struct steady {
	enum steady_kind kind;
	size_t first; /* the index of the level's first value; the number of values without one */
};

/* values are in their order, and not changed. -ENODATA for fewer than STEADY_MIN_VALUES, -EDOM
 * where one is not finite. */
int steady_find(const double *values, size_t n, struct steady *ret);

/* The values of a process, and what steady_find() has said of them. */
struct steady_process {
	const double *values;
	size_t n;
	struct steady steady;
};

/*
 * A few slow values at the beginning of a process can be chance, and too few for a level of their
 * own (level.h). They are no chance where many processes have them: this compares the fifth value
 * of each process with all behind it, then the fourth one, and so on. Where in more of the
 * processes than chance allows (all together: 1 of 100) the value is larger, or smaller, than all
 * those, by as much as makes a level, the level of these processes begins behind it.
 */
void steady_compare_first(struct steady_process *processes, size_t n);

#endif
