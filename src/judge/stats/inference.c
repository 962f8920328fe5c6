// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/macro.h"
#include "base/xalloc.h"
#include "judge/stats/inference.h"
#include "judge/stats/stats.h"

enum {
	EXACT_SIGNS_MAX = 60,
};

/* The level at which a ratio of means is beyond others. */
#define BEYOND 0.01

double normal_upper_tail(double z)
{
	return erfc(z / sqrt(2)) / 2;
}

/* --- Student's t --- */

/* The continued fraction of the incomplete beta function, by Lentz's method (Press et al.,
 * Numerical Recipes, 6.4). */
static double beta_fraction(double a, double b, double x)
{
	double c = 1, d = 1 - (a + b) * x / (a + 1), h;

	d = 1 / (fabs(d) < 1e-300 ? 1e-300 : d);
	h = d;
	for (int m = 1; m <= 100000; m++) {
		for (int half = 0; half < 2; half++) {
			double step = half == 0
				? m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
				: -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));

			d = 1 + step * d;
			d = 1 / (fabs(d) < 1e-300 ? 1e-300 : d);
			c = 1 + step / c;
			c = fabs(c) < 1e-300 ? 1e-300 : c;
			h *= c * d;
		}
		if (fabs(c * d - 1) < 1e-15)
			break;
	}
	return h;
}

static double log_gamma(double x)
{
	int sign;

	return lgamma_r(x, &sign);
}

/* I_x(a, b); y = 1 - x is passed separately so that a small y keeps its digits. */
static double incomplete_beta(double a, double b, double x, double y)
{
	double front;

	if (x <= 0 || y <= 0)
		return x <= 0 ? 0 : 1;
	front = exp(log_gamma(a + b) - log_gamma(a) - log_gamma(b) + a * log(x) + b * log(y));
	/* The continued fraction converges fast only in this range. */
	if (x < (a + 1) / (a + b + 2))
		return front * beta_fraction(a, b, x) / a;
	return 1 - front * beta_fraction(b, a, y) / b;
}

double student_two_sided(double t, double df)
{
	double square = t * t;

	if (isinf(t))
		return 0;
	/* For such large df the t distribution is the normal distribution, and lgamma() of large
	 * numbers loses digits. */
	if (df > 1e8)
		return 2 * normal_upper_tail(fabs(t));
	return incomplete_beta(df / 2, 0.5, df / (df + square), square / (df + square));
}

double student_quantile(double inside, double df)
{
	double low = 0, high = 1;

	while (student_two_sided(high, df) > 1 - inside)
		high *= 2;
	for (double t = high / 2; t > low && t < high; t = low + (high - low) / 2)
		*(student_two_sided(t, df) > 1 - inside ? &low : &high) = t;
	return high;
}

struct moments {
	double mean;
	double variance; /* of the mean */
};

static void find_moments(const double *values, size_t n, struct moments *ret)
{
	double sum = 0, squares = 0;

	for (size_t i = 0; i < n; i++)
		sum += values[i] / (double)n;
	for (size_t i = 0; i < n; i++)
		squares += (values[i] - sum) * (values[i] - sum);
	ret->mean = sum;
	ret->variance = squares / (double)(n - 1) / (double)n;
}

/* The degrees of freedom of a sum of these variances, by the Welch-Satterthwaite equation, with
 * proportions because squares of small variances underflow. */
static double find_df(double x, double n_x, double y, double n_y)
{
	double sum = x + y;

	return 1 / (x / sum * (x / sum) / (n_x - 1) + y / sum * (y / sum) / (n_y - 1));
}

static int compare_moments(
	const struct moments *x, size_t n_x, const struct moments *y, size_t n_y, struct welch *ret)
{
	double variance = x->variance + y->variance;

	if (!(variance > 0) || !isfinite(variance))
		return -EDOM;
	ret->t = (y->mean - x->mean) / sqrt(variance);
	ret->df = find_df(x->variance, (double)n_x, y->variance, (double)n_y);
	ret->p = student_two_sided(ret->t, ret->df);
	return 0;
}

int welch_test(const double *a, size_t n_a, const double *b, size_t n_b, struct welch *ret)
{
	struct moments x, y;

	if (n_a < 2 || n_b < 2)
		return -ENODATA;
	/* The mean of equal values is rounded and may differ from them. */
	if (a[0] == a[n_a - 1] && b[0] == b[n_b - 1])
		return -EDOM;
	find_moments(a, n_a, &x);
	find_moments(b, n_b, &y);
	return compare_moments(&x, n_a, &y, n_b, ret);
}

double welch_ratio_beyond(
	const double *a, size_t n_a, const double *b, size_t n_b, double low, double high)
{
	struct moments x, y;
	struct welch welch;
	double ratio, end;

	if (n_a < 2 || n_b < 2 || isnan(low) || isnan(high))
		return NAN;
	find_moments(a, n_a, &x);
	find_moments(b, n_b, &y);
	ratio = y.mean / x.mean;
	if (!(x.mean > 0) || !(ratio > high || ratio < low))
		return NAN;
	end = ratio > high ? high : low;
	x.mean *= end;
	x.variance *= end * end;
	return compare_moments(&x, n_a, &y, n_b, &welch) < 0 || !(welch.p <= BEYOND) ? NAN : ratio;
}

/* --- Mann and Whitney --- */

double *mann_whitney_tails(size_t n, size_t m)
{
	size_t width = n * m + 1;
	_cleanup_free_ double *table = NULL;
	double *tails;

	if (n * m > MANN_WHITNEY_EXACT_MAX)
		return NULL;
	table = xptr(calloc((m + 1) * width, sizeof(*table)));
	tails = xptr(calloc(width, sizeof(*tails)));
	/* Row j holds f(i, j, .) and overwrites f(i - 1, j, .). */
	for (size_t j = 0; j <= m; j++)
		table[j * width] = 1;
	for (size_t i = 1; i <= n; i++) {
		for (size_t j = 1; j <= m; j++) {
			double *row = table + j * width, *previous = row - width;
			double from_n = (double)i / (double)(i + j);

			/* Downwards, because row[k - j] must still be the value of i - 1. */
			for (size_t k = i * j + 1; k-- > 0;)
				row[k] = (k >= j ? row[k - j] * from_n : 0) +
					previous[k] * (1 - from_n);
		}
	}
	for (size_t k = 0; k < width; k++)
		tails[k] = table[m * width + k] + (k > 0 ? tails[k - 1] : 0);
	return tails;
}

double mann_whitney_least_p(size_t n, size_t m)
{
	double orders = 1;

	for (size_t i = 1; i <= m && orders < 1e300; i++)
		orders *= (double)(n + i) / (double)i;
	return MIN(2 / orders, 1);
}

struct counted {
	double u;
	double ties; /* the sum of t^3 - t over the groups of t equal values */
	/* Exchanging values between the samples changes U only by multiples of half of this. 2
	 * where no values are equal. */
	double step;
	/* Of the values of a, and of b: the sum of how many of the other sample are below each, and
	 * the sum of the squares. */
	double places[2];
	double squares[2];
};

/* So many values have this place among those of the other sample. */
static void add_places(struct counted *counted, size_t side, size_t n, double place)
{
	counted->places[side] += (double)n * place;
	counted->squares[side] += (double)n * place * place;
}

/* Both samples are sorted. */
static void count_pairs(
	const double *a, size_t n_a, const double *b, size_t n_b, struct counted *ret)
{
	size_t i = 0, k = 0, group, before = 0;

	*ret = (struct counted){ 0 };
	for (; i < n_a || k < n_b; before = group) {
		double value = i < n_a && (k >= n_b || a[i] <= b[k]) ? a[i] : b[k];
		size_t from_a = i, from_b = k;

		while (i < n_a && a[i] == value)
			i++;
		while (k < n_b && b[k] == value)
			k++;
		add_places(ret, 0, i - from_a, (double)from_b + (double)(k - from_b) / 2);
		add_places(ret, 1, k - from_b, (double)from_a + (double)(i - from_a) / 2);
		group = i - from_a + k - from_b;
		ret->ties += (double)group * ((double)group * (double)group - 1);
		/* The mean ranks of two neighbouring groups differ by half the sum of their sizes.
		 */
		if (before > 0)
			ret->step = stats_common_divisor(ret->step, (double)(before + group));
	}
	ret->u = ret->places[1];
}

static double find_p_unequal(const struct counted *counted, const double n[2])
{
	double variances[2], variance;

	if (n[0] < 2 || n[1] < 2)
		return 0;
	for (size_t i = 0; i < 2; i++)
		variances[i] = n[i] / (n[i] - 1) *
			(counted->squares[i] - counted->places[i] * counted->places[i] / n[i]);
	variance = variances[0] + variances[1];
	/* The samples do not overlap, or in one value. */
	if (!(variance > 1e-9 * n[0] * n[1]))
		return 0;
	return student_two_sided((counted->u - n[0] * n[1] / 2) / sqrt(variance),
		find_df(variances[0], n[0], variances[1], n[1]));
}

void mann_whitney_find(const double *a, size_t n_a, const double *b, size_t n_b,
	const double *tails, struct mann_whitney *ret)
{
	double n = (double)n_a, m = (double)n_b, variance, distance;
	struct counted counted;

	count_pairs(a, n_a, b, n_b, &counted);
	ret->u = counted.u;
	ret->p_unequal = find_p_unequal(&counted, (const double[]){ n, m });
	if (counted.ties == 0 && tails) {
		ret->p = MIN(2 * tails[(size_t)MIN(ret->u, n * m - ret->u)], 1);
		return;
	}
	variance = n * m / 12 * (n + m + 1 - counted.ties / ((n + m) * (n + m - 1)));
	/* The normal distribution has no steps, so it is evaluated in the middle between two steps
	 * of U. */
	distance = fabs(ret->u - n * m / 2) - MAX(counted.step / 4, 0.5);
	ret->p =
		variance > 0 && distance > 0 ? 2 * normal_upper_tail(distance / sqrt(variance)) : 1;
	ret->p = MAX(ret->p, mann_whitney_least_p(n_a, n_b));
}

int mann_whitney_test(
	const double *a, size_t n_a, const double *b, size_t n_b, struct mann_whitney *ret)
{
	_cleanup_free_ double *tails = NULL;

	if (n_a == 0 || n_b == 0)
		return -ENODATA;
	tails = mann_whitney_tails(n_a, n_b);
	mann_whitney_find(a, n_a, b, n_b, tails, ret);
	return 0;
}

/* --- Wilcoxon --- */

struct difference {
	double size;
	bool above;
};

static int compare_sizes(const void *a, const void *b)
{
	double x = ((const struct difference *)a)->size, y = ((const struct difference *)b)->size;

	return (x > y) - (x < y);
}

/* P(W <= w) when each combination of signs of n ranks is equally likely. */
static double exact_signed_tail(size_t n, size_t w)
{
	size_t most = n * (n + 1) / 2;
	_cleanup_free_ double *row = xptr(calloc(most + 1, sizeof(*row)));
	double tail = 0;

	row[0] = 1;
	/* Downwards, because row[sum - rank] must still be the value without this rank. */
	for (size_t rank = 1; rank <= n; rank++)
		for (size_t sum = rank * (rank + 1) / 2 + 1; sum-- > 0;)
			row[sum] = (row[sum] + (sum >= rank ? row[sum - rank] : 0)) / 2;
	for (size_t sum = 0; sum <= w && sum <= most; sum++)
		tail += row[sum];
	return tail;
}

/* Returns W of n sorted differences, and in *ret_ties the sum of t^3 - t over the groups of t
 * differences of the same size. */
static double sum_ranks(const struct difference *sorted, size_t n, double *ret_ties)
{
	double w = 0, ties = 0;

	for (size_t from = 0, to; from < n; from = to) {
		double group;

		for (to = from; to < n && sorted[to].size == sorted[from].size; to++)
			;
		group = (double)(to - from);
		ties += group * (group * group - 1);
		/* The group shares the mean of the ranks from + 1 to `to`. */
		for (size_t i = from; i < to; i++)
			w += sorted[i].above ? ((double)from + 1 + (double)to) / 2 : 0;
	}
	*ret_ties = ties;
	return w;
}

int signed_rank_test(const double *differences, size_t n, struct signed_rank *ret)
{
	_cleanup_free_ struct difference *items = NULL;
	double ties, count, most, variance, distance;
	size_t n_nonzero = 0;

	if (n == 0)
		return -ENODATA;
	items = xptr(reallocarray(NULL, n, sizeof(*items)));
	for (size_t i = 0; i < n; i++)
		if (differences[i] != 0)
			items[n_nonzero++] =
				(struct difference){ fabs(differences[i]), differences[i] > 0 };
	qsort(items, n_nonzero, sizeof(*items), compare_sizes);
	ret->w = sum_ranks(items, n_nonzero, &ties);
	count = (double)n_nonzero;
	most = count * (count + 1) / 2;
	if (ties == 0 && n_nonzero <= EXACT_SIGNS_MAX) {
		double tail = exact_signed_tail(n_nonzero, (size_t)MIN(ret->w, most - ret->w));

		ret->p = MIN(2 * tail, 1);
		return 0;
	}
	variance = count * (count + 1) * (2 * count + 1) / 24 - ties / 48;
	distance = fabs(ret->w - most / 2) - 0.5;
	ret->p =
		variance > 0 && distance > 0 ? 2 * normal_upper_tail(distance / sqrt(variance)) : 1;
	return 0;
}
