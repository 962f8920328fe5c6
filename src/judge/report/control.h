/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Results of different hours, compared by a control: a program that stays the same and was run in
 * turn with what was measured (runpinned --control). A change of the whole machine is in both times
 * and cancels in their ratio.
 *
 * With the old program A1 and its control C1, the new one A2 and its control C2, the change is (A2
 * / C2) / (A1 / C1). Each of the two ratios is estimated from the rounds of its own result with an
 * interval (shift_of_pairs() of judge/stats/shift.h: Hodges and Lehmann's estimate, and the rank
 * differences within the rounds). The two results are independent, so the interval of the change is
 * put together from these two by the method of Zou and Donner (Construction of confidence limits
 * about effect measures: a general approach, 2008). p is that of the same interval: it is 5 % where
 * the interval ends at no change. A control that the user chose may be slowed down less by a
 * machine than the program, or more: by how many times is learnt from the rounds of both results,
 * and where these do not exclude it, it is taken for 1. The interval is then widened by what the
 * control's own change may have left in the ratios (resolution_of_control()). Before that, in
 * simulations where the machine moves program and control alike, the interval held the true change
 * in 94 to 97 % (6 to 10 rounds: up to 99 %), and on a shared virtual machine the change of two
 * results of 25 rounds varied by 0.5 % (standard deviation) where the ratio of the medians varied
 * by 2.4 to 3.1 %.
 *
 * Of a figure of which more is better, such as a rate, A1 and A2 are costs, 1 / value, and the
 * change is one of values again.
 */
#ifndef QUIESCE_JUDGE_REPORT_CONTROL_H
#define QUIESCE_JUDGE_REPORT_CONTROL_H

#include <stddef.h>

#include "judge/report/comparison.h"
#include "judge/result/benchmark.h"

/* The control that was run in turn with this benchmark, among the benchmarks of the same file. NULL
 * when there is none, when it is the benchmark itself, or a metric that does not depend on how fast
 * the machine is. */
const struct benchmark *control_find(
	struct benchmark *const *benchmarks, size_t n, const struct benchmark *of);

/* Why two results cannot be compared by their controls: the controls are not the same program with
 * the same length, the clocks differ, or the models of the processors do. malloc'd; NULL where
 * they can be compared. */
char *control_explain_different(const struct benchmark *old, const struct benchmark *old_control,
	const struct benchmark *new, const struct benchmark *new_control);

/*
 * Makes this a comparison by the controls of its two sides, before comparison_settle(): sets
 * `ratio`, `p`, `doubt` and the other members of struct comparison for controls; the doubt stays
 * where it is that the time says nothing of the work (judge/report/fixedtime.h). The comparison
 * is unchanged, and *ret_why (malloc'd, NULL otherwise) says why, where the controls cannot be
 * compared, a program has no round in common with its control, a value is not above 0, or there are
 * several machines, of which each counts as one number (judge/report/fleet.h). Errors
 * as of comparison_new() for the controls.
 */
int control_apply(struct comparison *comparison, const struct benchmark *old_control,
	const struct benchmark *new_control, char **ret_why);

/* By how many times as much as the control the machine moves the program, as logarithms. */
struct control_slope {
	double slope;
	double error; /* it may be another one by so much */
};

/*
 * The results of one program in their order, each with its control, which
 * control_explain_different() has to allow for all of them: replaces the values, which are their
 * medians, by what the program would take where the control takes the median of all, by the slope
 * that the rounds within the results and the changes from each result to the next one show.
 * `control_values` are the medians of the controls. -ENODATA where one has no round in common with
 * its control, or is of several machines; -ERANGE when a value is not above 0; the values are then
 * as they were.
 */
int control_correct(const struct benchmark *const *of, const struct benchmark *const *controls,
	size_t n, double *values, double *control_values, struct control_slope *ret);

/* How long a benchmark takes in proportion to its control; of a rate, how much is done in the time
 * of the control. */
struct control_ratio {
	struct ratio ratio; /* low and high are NAN with too few rounds */
	bool is_rate;
	size_t n_rounds;
};
/* -ENODATA without a round, or when the rounds are of several machines and so not independent;
 * -ERANGE when a value is not above 0. */
int control_measure(
	const struct benchmark *of, const struct benchmark *control, struct control_ratio *ret);
/* "1.234 of runpinned-control 64 (1.221 .. 1.246 with 95 % certainty), 25 rounds", or "1234 in the
 * time of ...", malloc'd. */
char *control_text(const struct benchmark *control, const struct control_ratio *ratio);

#endif
