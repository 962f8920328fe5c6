/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Is one benchmark faster or slower than another one, and how certain is that?
 *
 * The runs are compared, each represented by the median of its values; values of the same run are
 * never treated as independent (judge/result/benchmark.h). The effect is the median of the ratios
 * of all new runs to all old ones, the estimate of Hodges and Lehmann for logarithms. Its interval
 * and the p value are of one test and cannot contradict each other (judge/stats/shift.h): Mann and
 * Whitney's, or, for programs that runpinned ran in turn, that of the differences of rank within
 * pairs, run i of one program with run i of the other one (judge/report/turns.h). The machine had
 * hardly any time to change between the two runs of a pair. Where a value is not above 0, and has
 * no ratio, the change is that of the medians, without an interval, and none where one of these is
 * below 0.
 *
 * A difference is reported when p is at most 5 % after the correction for the number of benchmarks
 * that are compared. With so few runs that no difference could reach that, the verdict is unclear.
 *
 * Of two results that were measured one after the other, p says only whether their runs differ. The
 * interval is then widened by what the machine may have done meanwhile (judge/report/resolution.h),
 * and where it holds 1 although the runs differ, the verdict is unclear. Several results of each
 * that were measured by turns need no such thing: each result counts as one number, the median of
 * its runs, so that what differs from result to result is in the interval.
 *
 * Of programs that were run in turn, a difference that may be nothing but what one of them leaves
 * to the next run (judge/report/carryover.h) is unclear.
 *
 * Of several machines, each is one number, whatever the number of its runs (judge/report/fleet.h).
 *
 * Data that jump or drift are not stable: which program is faster then depends on when it is
 * measured. Nothing is concluded from such data, unless each level of one benchmark is on the same
 * side of each level of the other one. With pairs, it is the ratios that must not jump or drift
 * across 1.
 */
#ifndef QUIESCE_JUDGE_REPORT_COMPARE_H
#define QUIESCE_JUDGE_REPORT_COMPARE_H

#include <stddef.h>

#include "judge/report/comparison.h"
#include "judge/result/benchmark.h"

/* Without a verdict: comparison_settle() gives it, to all that are made together. -ENODATA when one
 * of them has no values, -EINVAL when their units differ. */
int comparison_new(
	const struct benchmark *old, const struct benchmark *new, struct comparison **ret);
/* The same where both may be of programs that were run in turn with others: `all` are the
 * benchmarks of their file. */
int comparison_new_among(const struct benchmark *old, const struct benchmark *new,
	const struct benchmark *const *all, size_t n_all, struct comparison **ret);
/* The same as comparison_new() for n_old >= 1 and n_new >= 1 results of two benchmarks, each result
 * being one number.
 */
int comparison_new_of_results(const struct benchmark *const *old, size_t n_old,
	const struct benchmark *const *new, size_t n_new, struct comparison **ret);

#endif
