// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <math.h>

#include "library/growth.h"

enum {
	STEPS = 50,
};

/* A growing curve must fit better than a constant by this factor, else its growth is chance. */
static const double CLEARLY = 0.7;
/* Distances below this are the rounding of doubles, which differs from one processor to another: a
 * curve that is as close as this goes through the times. */
static const double EXACTLY = 1e-9;

static double constant(double n)
{
	(void)n;
	return 0;
}

/* log2(n + 1), because log2(1) = 0 would give size 1 no influence on `each`. */
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

static double predict(const struct kind *kind, const struct growth *growth, double size)
{
	return growth->once + growth->each * kind->of(size);
}

/* Least squares of the distances, where each distance is relative to the geometric mean of the time
 * and of what `ret` predicts. */
static void improve(const struct kind *kind, const double *sizes, const double *times, size_t n,
	struct growth *ret)
{
	double w1 = 0, wf = 0, wff = 0, wt = 0, wtf = 0, determinant;

	for (size_t i = 0; i < n; i++) {
		double w = 1 / (times[i] * predict(kind, ret, sizes[i])), f = kind->of(sizes[i]);

		w1 += w;
		wf += w * f;
		wff += w * f * f;
		wt += w * times[i];
		wtf += w * times[i] * f;
	}
	determinant = w1 * wff - wf * wf;
	if (determinant > 0) {
		ret->once = (wt * wff - wtf * wf) / determinant;
		ret->each = (w1 * wtf - wf * wt) / determinant;
	}
	if (determinant <= 0 || ret->each < 0) {
		ret->each = 0;
		ret->once = wt / w1;
	} else if (ret->once < 0) {
		ret->once = 0;
		ret->each = wtf / wff;
	}
}

static void fit(const struct kind *kind, const double *sizes, const double *times, size_t n,
	struct growth *ret)
{
	size_t parameters = kind->of == constant ? 1 : 2;
	double squares = 0;

	*ret = (struct growth){ .what = kind->what };
	for (size_t i = 0; i < n; i++)
		ret->once += times[i] / (double)n;
	for (size_t i = 0; i < STEPS; i++)
		improve(kind, sizes, times, n, ret);
	for (size_t i = 0; i < n; i++) {
		double distance = log(times[i] / predict(kind, ret, sizes[i]));

		squares += distance * distance;
	}
	ret->error = exp(sqrt(squares / (double)(n - parameters))) - 1;
	if (ret->error < EXACTLY)
		ret->error = 0;
}

static int is_better(const struct growth *a, const struct growth *b)
{
	return a->error < b->error * (b->what == kinds[0].what ? CLEARLY : 1);
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
	/* The first kind is constant. Where two are equal, the slower growth comes first. */
	for (size_t i = 0; i < GROWTH_KINDS; i++) {
		struct growth growth;
		size_t at = i;

		fit(&kinds[i], sizes, times, n, &growth);
		for (; at > 0 && is_better(&growth, &ret[at - 1]); at--)
			ret[at] = ret[at - 1];
		ret[at] = growth;
	}
	return 0;
}

double growth_predict(const struct growth *growth, double size)
{
	for (size_t i = 0; i < GROWTH_KINDS; i++)
		if (kinds[i].what == growth->what)
			return predict(&kinds[i], growth, size);
	return growth->once;
}
