/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Does what a program leaves behind slow down the next run? A program that writes much leaves dirty
 * pages, and whoever runs after it waits for them. The order of programs that are run in turn is
 * drawn anew for each round, so each of them is mostly followed by another one, which seems slower
 * than it is. But the order tells, too: a program runs now after itself and now after the other,
 * by chance.
 *
 * For each of the two, the runs after one of NEW are compared with those after one of OLD (Mann and
 * Whitney's test), and both are taken together, so that an effect of the place in the round
 * cancels: the second run of a round mostly follows the other program, whichever that is.
 */
#ifndef QUIESCE_REPORT_CARRYOVER_H
#define QUIESCE_REPORT_CARRYOVER_H

#include <stdbool.h>

#include "basic/text.h"
#include "result/benchmark.h"

/* Found where there is none in 1 % of all comparisons. */
#define CARRYOVER_SIGNIFICANCE 0.01

struct carryover {
	/* By how much a run takes longer after one of NEW than after one of OLD, as a logarithm; 0
	 * where that is not found. */
	double change;
	/* What this does to the logarithm of NEW / OLD. */
	double bias;
};

/*
 * The two programs as each is alone: of all runs those that follow one of the same program. They
 * are few, but nothing that the other program leaves behind is in them, also where it slows down
 * only one of the two.
 */
struct carryover_alone {
	double ratio;	/* NEW / OLD; NAN where one of the two never follows itself */
	double p_above; /* of a ratio that is not above the limit (Mann and Whitney, one-sided) */
	double p_below; /* of one that is not below it */
};

/*
 * `change` and `bias` are 0 where nothing is found. `others`: programs whose runs came in between.
 * `limit` is that of *ret_alone, which may be NULL. Returns 1, 0 where the runs do not tell when
 * they began, so that nothing is known of each alone, or -ENOMEM.
 */
int carryover_find(const struct benchmark *old, const struct benchmark *new,
	const struct benchmark *others, size_t n_others, double limit, struct carryover *ret,
	struct carryover_alone *ret_alone);
/* Whether the carry-over, whose size is not exactly known, may be why this bound of NEW / OLD is
 * above a limit, or below it. */
bool carryover_explains(
	const struct carryover *carryover, double bound, double limit, bool is_above);
/* "a run takes 5.1 % longer after one of NAME". */
void carryover_append(struct text *t, double change, const char *old, const char *new);

#endif
