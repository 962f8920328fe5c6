/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How the time of a family of benchmarks grows with their size. */
#ifndef QUIESCE_LIBRARY_GROWTH_H
#define QUIESCE_LIBRARY_GROWTH_H

#include <stddef.h>

#include "library/private.h"

enum {
	GROWTH_MIN_SIZES = 3,
	GROWTH_KINDS = 6,
};

/* time = once + each * what(size) */
struct growth {
	const char *what; /* "1", "log n", "n", "n log n", "n^2", "n^3" */
	double each;
	double once;
	double error; /* 0.1: by a factor of 1.1, root mean square */
};

/*
 * Fits each kind of growth to the times of these sizes, both above 0, so that the sum of the
 * squared logarithms of the ratios is least and neither part is negative. Ratios are compared,
 * because with differences the largest size alone would decide. The best comes first. -ENODATA with
 * less than GROWTH_MIN_SIZES different sizes.
 */
int growth_fit(const double *sizes, const double *times, size_t n, struct growth ret[GROWTH_KINDS]);
/* The time that a growth has for a size. */
double growth_predict(const struct growth *growth, double size);

#endif
