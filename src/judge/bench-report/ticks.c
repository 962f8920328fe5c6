// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <math.h>

#include "base/macro.h"
#include "judge/bench-report/ticks.h"

/* A share of the step: a mark at an end of the range must not be lost by rounding. */
#define SLACK 1e-6
/* Marks that differ only in the tenth digit are of no use, and rounding would move them. */
#define MOST_STEPS_FROM_ZERO 1e9

void ticks_make_room(double *low, double *high)
{
	double room = (*high - *low) * 0.05;

	if (!(room > fabs(*high) * 1e-6))
		room = *high != 0 ? fabs(*high) * 0.01 : 1;
	*low -= room;
	*high += room;
}

int ticks_find(double low, double high, size_t max_n, struct ticks *ret)
{
	static const double factors[] = { 1, 2, 5, 10 };
	double power, step = 0, first;
	size_t n = 0;

	if (!isfinite(low) || !isfinite(high) || !(low < high) || !isfinite(high - low) ||
		max_n < 2)
		return -EINVAL;
	/* The step that gives at most max_n - 1 intervals is between this power of ten and the next
	 * one. */
	power = pow(10, floor(log10((high - low) / (double)(max_n - 1))));
	for (size_t i = 0; i < ARRAY_SIZE(factors); i++) {
		step = power * factors[i];
		first = ceil(low / step - SLACK) * step;
		n = high < first ? 0 : (size_t)floor((high - first) / step + SLACK) + 1;
		if (n <= max_n)
			break;
	}
	if (MAX(fabs(low), fabs(high)) / step > MOST_STEPS_FROM_ZERO)
		return -EINVAL;
	*ret = (struct ticks){
		.first = first,
		.step = step,
		.n = n,
		.decimals = MAX(0, (int)-floor(log10(step) + 1e-9)),
	};
	return 0;
}

double ticks_at(const struct ticks *ticks, size_t index)
{
	double at = ticks->first + (double)index * ticks->step;

	/* Exactly 0, not a rounding error. */
	return fabs(at) < ticks->step * SLACK ? 0 : at;
}
