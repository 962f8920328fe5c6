/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the outliers among numbers by the generalized extreme Studentized deviate test (Rosner,
 * Percentage points for a generalized ESD many-outlier procedure, Technometrics 25, 1983). When all
 * numbers are of one normal distribution, the probability to find any outlier is 5 %, whatever
 * their number. Several outliers do not hide each other, up to a third of all numbers.
 */
#ifndef QUIESCE_JUDGE_STATS_ESD_H
#define QUIESCE_JUDGE_STATS_ESD_H

#include <stdbool.h>
#include <stddef.h>

/* With fewer values no outlier can be found. */
#define ESD_MIN 4

/* ret_odd[i] tells whether values[i] is an outlier. NAN is an unknown value and is never an
 * outlier. */
void esd_find(const double *values, size_t n, bool *ret_odd);

#endif
