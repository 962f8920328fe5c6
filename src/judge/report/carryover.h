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
#ifndef QUIESCE_JUDGE_REPORT_CARRYOVER_H
#define QUIESCE_JUDGE_REPORT_CARRYOVER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/text.h"
#include "judge/result/benchmark.h"
#include "judge/stats/shift.h"

/* A carry-over is said to be found where there is none in 1 % of all comparisons. */
#define CARRYOVER_SIGNIFICANCE 0.01
/* One-sided: what confirms a difference, or refutes it (carryover_may_be_all()). */
#define CARRYOVER_ALONE 0.05

struct carryover {
	bool is_known; /* the runs tell what they came after */

	/* By how much a run takes longer after one of NEW than after one of OLD, as a logarithm,
	 * and what this does to the logarithm of NEW / OLD; two-sided p. 0, 0 and 1 where too few
	 * runs come after one of the two. */
	double change;
	double bias;
	double p;

	/*
	 * The two programs as each is alone: all runs but those that follow one of the other
	 * program. Where only the two are run, they are few, but nothing that the other program
	 * leaves behind is in them, also where it slows down only one of the two. Further programs,
	 * as the other benchmarks of a suite, run before each of the two equally often. The test is
	 * of logarithms; NULL where there are no such runs of one of the two.
	 */
	struct shift_test *alone;
	double alone_change; /* its estimate of log(NEW / OLD), or NAN */
};

void carryover_clear(struct carryover *carryover);
/* `others`: programs whose runs came in between. *ret is for carryover_clear(). */
void carryover_find(const struct benchmark *old, const struct benchmark *new,
	const struct benchmark *const *others, size_t n_others, struct carryover *ret);
bool carryover_is_found(const struct carryover *carryover);
/* The one-sided p of each program alone: of a ratio that is not above the limit, or not below it. 1
 * where nothing is known. */
double carryover_alone_p(const struct carryover *carryover, double limit, bool is_above);
/* Whether the carry-over, whose size is not exactly known, may be why this bound of NEW / OLD is
 * above a limit, or below it. Where there is none, it seems so in `level` of all cases at most. */
bool carryover_explains(
	const struct carryover *carryover, double level, double bound, double limit, bool is_above);
/*
 * Whether a difference that a fixed number of runs shows may be nothing but carry-over. `bound` is
 * the end of its interval next to the limit. It holds where each program alone shows, too, that it
 * is beyond the limit. Else it does not where, each at 5 %, one-sided, the order tells of a
 * carry-over in that direction, or the runs of each alone exclude that the difference is as large
 * as the bound. Without carry-over, the order is independent of what all runs show (Hausman,
 * Specification tests in econometrics, 1978), so that little more than 5 % of the differences that
 * are there are lost, and none that are large.
 */
bool carryover_may_be_all(
	const struct carryover *carryover, double bound, double limit, bool is_above);
/* "a run takes 5.1 % longer after one of NAME", or "is 5.1 % higher" of what is no time. */
void carryover_append(
	struct text *t, double change, bool is_speed, const char *old, const char *new);

#endif
