// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <math.h>

#include "sampler/growth.h"

enum {
	CLEAR = 3, /* times the error */
};

static double constant(double n)
{
	(void)n;
	return 0;
}

/* Of 1, logarithms would be 0, and times of that size without an influence on `each`. */
static double logarithm(double n)
{
	return log2(n + 1);
}

static double linear(double n)
{
	return n;
}

static double linearithmic(double n)
{
	return n * log2(n + 1);
}

static double square(double n)
{
	return n * n;
}

static double cube(double n)
{
	return n * n * n;
}

static const struct kind {
	const char *what;
	double (*of)(double n);
} kinds[GROWTH_KINDS] = {
	{ "1", constant },
	{ "log n", logarithm },
	{ "n", linear },
	{ "n log n", linearithmic },
	{ "n^2", square },
	{ "n^3", cube },
};

static double find_error(const struct kind *kind, const double *sizes, const double *times,
	size_t n, const struct growth *growth)
{
	size_t parameters = kind->of == constant ? 1 : 2;
	double squares = 0;

	for (size_t i = 0; i < n; i++) {
		double distance = 1 - (growth->once + growth->each * kind->of(sizes[i])) / times[i];

		squares += distance * distance;
	}
	return sqrt(squares / (double)(n - parameters));
}

/* How much of the largest time lies between the smallest and the largest size. */
static double find_grown(
	const struct kind *kind, const double *sizes, size_t n, const struct growth *growth)
{
	double least = kind->of(sizes[0]), most = least;

	for (size_t i = 1; i < n; i++) {
		double f = kind->of(sizes[i]);

		least = f < least ? f : least;
		most = f > most ? f : most;
	}
	return growth->each * (most - least) / (growth->once + growth->each * most);
}

/* Least squares of 1 - once / t - each * f / t. */
static void fit(const struct kind *kind, const double *sizes, const double *times, size_t n,
	struct growth *ret)
{
	double aa = 0, ab = 0, bb = 0, a1 = 0, b1 = 0, determinant;

	*ret = (struct growth){ .what = kind->what };
	for (size_t i = 0; i < n; i++) {
		double a = 1 / times[i], b = kind->of(sizes[i]) / times[i];

		aa += a * a;
		ab += a * b;
		bb += b * b;
		a1 += a;
		b1 += b;
	}
	determinant = aa * bb - ab * ab;
	if (determinant > 0) {
		ret->once = (a1 * bb - b1 * ab) / determinant;
		ret->each = (aa * b1 - ab * a1) / determinant;
	}
	if (ret->once < 0 && ret->each > 0) {
		ret->once = 0;
		ret->each = b1 / bb;
	}
	ret->error = find_error(kind, sizes, times, n, ret);
	/* What is not clearly more than chance is no growth. */
	if (ret->each <= 0 || find_grown(kind, sizes, n, ret) < CLEAR * ret->error) {
		ret->each = 0;
		ret->once = a1 / aa;
		ret->error = find_error(kind, sizes, times, n, ret);
	}
}

int growth_fit(const double *sizes, const double *times, size_t n, struct growth ret[GROWTH_KINDS])
{
	size_t different = 0;

	for (size_t i = 0; i < n; i++) {
		size_t before = 0;

		while (before < i && sizes[before] != sizes[i])
			before++;
		different += before == i;
	}
	if (different < GROWTH_MIN_SIZES)
		return -ENODATA;
	/* Where two are equal, the slower growth comes first. */
	for (size_t i = 0; i < GROWTH_KINDS; i++) {
		struct growth growth;
		size_t at = i;

		fit(&kinds[i], sizes, times, n, &growth);
		for (; at > 0 && ret[at - 1].error > growth.error; at--)
			ret[at] = ret[at - 1];
		ret[at] = growth;
	}
	return 0;
}
