/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The positions of the marks on an axis: round numbers (1, 2 or 5 times a power of ten apart). */
#ifndef QUIESCE_JUDGE_BENCH_REPORT_TICKS_H
#define QUIESCE_JUDGE_BENCH_REPORT_TICKS_H

#include <stddef.h>

struct ticks {
	double first; /* the first mark, at or above the lower end of the axis */
	double step;
	size_t n;     /* first + i * step for i < n */
	int decimals; /* how many decimals are needed to tell the marks apart */
};

/* Widens the range of some values, so that there is room around them on an axis. If all values are
 * (nearly) equal, it becomes one in which they look like a line. */
void ticks_make_room(double *low, double *high);
/* Finds at most max_n (2 or more) marks in low..high. -EINVAL unless low < high and both are
 * finite, and when the range is smaller than a billionth of its ends. */
int ticks_find(double low, double high, size_t max_n, struct ticks *ret);
double ticks_at(const struct ticks *ticks, size_t index);

#endif
