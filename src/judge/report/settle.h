/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Verdicts: what can be concluded from comparisons, given the number of comparisons that are made
 * together and possible changes of the machine between results; and whether a benchmark is slower
 * than a limit allows.
 */
#ifndef QUIESCE_JUDGE_REPORT_SETTLE_H
#define QUIESCE_JUDGE_REPORT_SETTLE_H

#include <stddef.h>

#include "judge/report/comparison.h"

/* Decides the verdicts of all comparisons that are made together, and corrects for their number. */
void comparison_settle(struct comparison **comparisons, size_t n);
/* The same for comparisons that were selected out of n_all by their results. The rest count as
 * tests with p = 1, which makes the correction as large as it can be. */
void comparison_settle_chosen(struct comparison **comparisons, size_t n, size_t n_all);

/* Is a benchmark slower by more than a limit? */
enum gate {
	GATE_PASSES,  /* there is no sign of it */
	GATE_FAILS,   /* yes, at the level of the gate */
	GATE_UNCLEAR, /* these data cannot tell */
};

/*
 * Whether `new` is slower by more than `percent` even at the lower end of the interval, which is as
 * certain as 1 - level: SIGNIFICANCE for one comparison, comparison_gate_level() for several that
 * are judged together (judge/stats/multiple.h). Results that were measured one after the other pass
 * only where the whole interval of 95 % is below the limit. It is unclear where carry-over may be
 * all that is beyond the limit (carryover_may_be_all()).
 */
enum gate comparison_gate(const struct comparison *comparison, double percent, double level);
double comparison_gate_level(struct comparison *const *comparisons, size_t n, double percent);
/* Why it is unclear, malloc'd. */
char *comparison_gate_reason(const struct comparison *comparison);
/* "passes", "fails", "unclear": the words used in JSON. */
const char *comparison_gate_name(enum gate gate);

#endif
