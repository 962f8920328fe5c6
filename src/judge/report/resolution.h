/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * By how much may two results of one program differ that were measured one after the other? No test
 * of their runs can know: what the machine does for minutes or hours (a neighbour on the same core,
 * another frequency, another layout of memory) moves all runs of a result alike. On a shared
 * virtual machine whose cores had two levels 15 to 20 % apart, medians of 25 runs of one program
 * had a coefficient of variation of 3.2 to 6.2 %, and by a test at 5 % two of them differed in 28
 * to 59 % of all cases. So a change between two such results counts only beyond a resolution, which
 * is the largest of:
 *
 * - what is known of the machine: RESOLUTION_OWN where the same core was whole in nearly all runs
 * of both results (library/core.h), or where it has no hypervisor, no second thread a core and no
 * boost; in the same state both times, and most runs undisturbed. Where the core had been whole,
 * 0.1 to 2 % of all pairs of results that were measured hours apart differed by more. Else, and
 * where nothing is known of the machine, RESOLUTION_SHARED, which is more than twice the deviation
 * of the ratio of two results there;
 * - the range of the levels, and the drift, within each result.
 *
 * On top comes what neighbouring runs that are alike add to the error of a median: with the largest
 * correlation r that the runs do not exclude at the 5 % level, n runs tell as much as n (1 - r) /
 * (1 + r) independent ones; at most the range of the middle 80 % of the runs.
 *
 * Where the machine's own repeats tell how its sittings differ (judge/report/repeats.h), that takes
 * the place of what is known of the machine, and of the neighbours, whose effect it contains.
 *
 * All are shares: 0.05 is 5 %. bench/gate shows how often verdicts are right by this.
 */
#ifndef QUIESCE_JUDGE_REPORT_RESOLUTION_H
#define QUIESCE_JUDGE_REPORT_RESOLUTION_H

#include <stdbool.h>
#include <stddef.h>

#include "base/units.h"
#include "judge/stats/level.h"

#define RESOLUTION_OWN 0.05
#define RESOLUTION_SHARED 0.20

/*
 * Results that are compared by a control (judge/report/control.h): a change of the machine moves
 * program and control by different factors. What is not known of the slope between the two leaves
 * as large a share of the control's change, as a logarithm, in the result; and at least this share
 * of it, because what moves the machine from one day to another need not be what moves it from
 * round to round. On a shared virtual machine the change of two results varied by 2.7 % without and
 * by 0.53 % with a control that was the program itself. With runpinned-control, whose slope is not
 * learnt, it varied by 8.6 % without and by 5.0 % with the control, and the control alone may have
 * changed: with a share of 60 %, a gate of 2 % failed for 2 of 1000 pairs of results of one
 * program.
 */
#define RESOLUTION_OF_CONTROL 0.2

/* The range from the lowest to the highest level of a series, with its drift. */
struct range {
	double low;
	double high;
	const char *how; /* "jump", "drift", "jump and drift"; NULL when there is one level */
};

struct range resolution_find_range(const struct levels *levels);
/* "the data are not stable: the old ones jump between 11.0 ms and 20.3 ms, and the new ones drift
 * between ...", for the sides that are not stable. `what` is the noun: "ones". `shown` are the
 * lowest and the highest value of each side. malloc'd. */
char *resolution_explain_ranges(
	const struct range ranges[2], const char *what, char shown[2][2][UNITS_TEXT_SIZE]);

struct resolution {
	double share; /* 0 when there is none */
	/* The reason why two results may differ by that much, "a machine with such levels"; or
	 * NULL. */
	const char *why;
	/* Learnt from repeats: the standard deviation of the difference between two sittings, as a
	 * logarithm, and its degrees of freedom; 0 where nothing was learnt. `share` comes on top.
	 */
	double deviation;
	double df;
};

static inline bool resolution_is_there(const struct resolution *resolution)
{
	return resolution->share > 0 || resolution->df > 0;
}

/* The difference that two results may have with 95 % certainty, from both parts. */
double resolution_size(const struct resolution *resolution);

/* The resolution from the units of one result (benchmark_units()), which are above 0 and in their
 * order, and from their levels; and the excess, because neighbours are alike. */
struct resolution resolution_of_units(
	const double *units, size_t n, const struct levels *levels, double *ret_excess);
/* `change` is new / old of the control; slope_error: by so much the slope may be another one. */
struct resolution resolution_of_control(double change, double slope_error);
/* Widens the interval of a ratio by the resolution. */
void resolution_widen_interval(const struct resolution *resolution, double *low, double *high);
/* Keeps the larger of two resolutions. */
void resolution_widen(struct resolution *resolution, const struct resolution *by);
/* Adds the larger excess of both results. */
void resolution_add_excess(struct resolution *resolution, double excess);

#endif
