/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which of some numbers do not belong to the others: the generalized extreme Studentized deviate
 * test (Rosner, Percentage points for a generalized ESD many-outlier procedure, Technometrics 25,
 * 1983). The probability to find any where all are of one normal distribution is 5 %, whatever
 * their number; several that lie apart do not hide each other, up to a third of all.
 */
#ifndef QUIESCE_STATS_ESD_H
#define QUIESCE_STATS_ESD_H

#include <stdbool.h>
#include <stddef.h>

/* With fewer, nothing can be told. */
#define ESD_MIN 4

/* ret_odd[i] says of values[i] whether it does not belong to the others. A value of NAN is not
 * known, and belongs to them. -ENOMEM. */
int esd_find(const double *values, size_t n, bool *ret_odd);

#endif
