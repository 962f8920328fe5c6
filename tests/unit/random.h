/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How often simulations in tests draw from distributions (base/random.h).
 */
#ifndef QUIESCE_UNIT_RANDOM_H
#define QUIESCE_UNIT_RANDOM_H

#include <math.h>
#include <stdbool.h>

#include "base/random.h"

/*
 * Simulations count how often a statistic is wrong. That is a property of the method, and is looked
 * at with all trials in the build that people use. A sanitizer, and a build for another machine,
 * look for other defects, which show in a part of the trials, too (FEW_TRIALS, meson.build).
 */
#ifdef FEW_TRIALS
enum {
	TRIALS_PART = 5
};
#else
enum {
	TRIALS_PART = 1
};
#endif

/* By how much a count of those few trials may miss the one that is expected: three standard
 * deviations. Of all trials, which come from known seeds, the count is known. */
static inline double few_trials_slack(double expected)
{
	return TRIALS_PART > 1 ? 3 * sqrt(expected) : 0;
}

/* Whether so many of n trials are between two per cents. Of few of them, it may be too many or too
 * few by chance. */
static inline bool rate_is_between(int found, int least, int most, int n)
{
	double lowest = least * n / 100.0, highest = most * n / 100.0;

	return found >= lowest - few_trials_slack(fmin(lowest, n - lowest)) &&
		found <= highest + few_trials_slack(highest);
}

#endif
