/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where the marks of an axis stand: round numbers (1, 2 or 5 times a power of ten apart). */
#ifndef QUIESCE_BENCH_REPORT_TICKS_H
#define QUIESCE_BENCH_REPORT_TICKS_H

#include <stddef.h>

struct ticks {
	double first; /* at or above the axis' low end */
	double step;
	size_t n;     /* first + i * step for i < n */
	int decimals; /* that tell them apart */
};

/* At most max_n (2 or more) marks in low..high. -EINVAL unless low < high and both are
 * finite, and when the range is less than a billionth of what its ends are. */
int ticks_find(double low, double high, size_t max_n, struct ticks *ret);
double ticks_at(const struct ticks *ticks, size_t index);

#endif
