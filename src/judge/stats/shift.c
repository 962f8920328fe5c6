// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/macro.h"
#include "base/xalloc.h"
#include "judge/stats/inference.h"
#include "judge/stats/multiple.h"
#include "judge/stats/shift.h"
#include "judge/stats/stats.h"

enum {
	EXACT_PAIRS_MAX = 12, /* pairs whose values differ */
	BISECTIONS = 100,     /* enough to reach neighbouring doubles, except for extremely small
			       * shifts */
};

/* --- The estimate --- */

/* How many of all differences b - a are at most d, or below it. Both samples are sorted. */
static size_t count_differences(
	const double *a, size_t n_a, const double *b, size_t n_b, double d, bool equal_too)
{
	size_t count = 0, k = 0;

	for (size_t i = 0; i < n_a; i++) {
		while (k < n_b && (equal_too ? b[k] - a[i] <= d : b[k] - a[i] < d))
			k++;
		count += k;
	}
	return count;
}

/* The smallest of all differences b - a that is above d. */
static double next_difference(const double *a, size_t n_a, const double *b, size_t n_b, double d)
{
	double next = INFINITY;
	size_t k = 0;

	for (size_t i = 0; i < n_a; i++) {
		while (k < n_b && b[k] - a[i] <= d)
			k++;
		if (k < n_b)
			next = MIN(next, b[k] - a[i]);
	}
	return next;
}

/* The difference of that rank, from 1, among all n_a * n_b. */
static double find_difference(const double *a, size_t n_a, const double *b, size_t n_b, size_t rank)
{
	/* At most `rank` - 1 differences are <= low, at least `rank` are <= high. */
	double low = nextafter(b[0] - a[n_a - 1], -INFINITY), high = b[n_b - 1] - a[0];

	for (int i = 0; i < BISECTIONS; i++) {
		double middle = low + (high - low) / 2;

		if (!(middle > low && middle < high))
			break;
		if (count_differences(a, n_a, b, n_b, middle, true) >= rank)
			high = middle;
		else
			low = middle;
	}
	return next_difference(a, n_a, b, n_b, low);
}

double shift_estimate(const double *a, size_t n_a, const double *b, size_t n_b)
{
	size_t n = n_a * n_b;
	double upper = find_difference(a, n_a, b, n_b, n / 2 + 1);

	if (n % 2 == 1 || count_differences(a, n_a, b, n_b, upper, false) < n / 2)
		return upper;
	return (find_difference(a, n_a, b, n_b, n / 2) + upper) / 2;
}

/* --- The interval --- */

struct shift_test {
	double (*find_p)(const struct shift_test *test, double d);
	size_t n_a;
	size_t n_b;
	double *a; /* sorted */
	double *b;
	double *shifted; /* room for b - d */
	double *tails;	 /* of Mann and Whitney's test, or NULL */
	/* Only for pairs: the number of the pair that each value of a and b belongs to, and room
	 * for ranks, in the order of the pairs. */
	size_t *pair_a;
	size_t *pair_b;
	double *rank_a;
	double *rank_b;
};

void shift_test_free(struct shift_test *test)
{
	if (!test)
		return;
	free(test->a);
	free(test->tails);
	free(test->pair_a);
	free(test);
}

/* The last shift that is not excluded on the way from `inside`, which is not excluded, to
 * `outside`. */
static double find_end(const struct shift_test *test, double level, double inside, double outside)
{
	if (test->find_p(test, outside) > level)
		return outside > inside ? INFINITY : -INFINITY;
	for (int i = 0; i < BISECTIONS; i++) {
		double middle = inside + (outside - inside) / 2;

		if (middle == inside || middle == outside)
			break;
		if (test->find_p(test, middle) > level)
			inside = middle;
		else
			outside = middle;
	}
	return inside;
}

/* The smallest p: all differences of rank have the same sign. With many pairs all but two of them
 * have the same size, and those two, n - 1 and n + 1, make the steps small. */
static double least_pairs_p(size_t n)
{
	double m = (double)n;

	return n <= EXACT_PAIRS_MAX ? MIN(2 / (double)((size_t)1 << n), 1)
				    : 2 * normal_upper_tail((m * m - 1) / sqrt(m * m * m + 2));
}

/* Whether b is larger in more pairs of values than it is smaller; this is the direction of both
 * tests. With many equal values the estimate may be 0 nevertheless. */
static bool is_above(const struct shift_test *test)
{
	size_t below = count_differences(test->a, test->n_a, test->b, test->n_b, 0, false);
	size_t above = test->n_a * test->n_b -
		count_differences(test->a, test->n_a, test->b, test->n_b, 0, true);

	return above > below;
}

/* At the estimate both tests are at their middle, because the sum of the ranks of b - d is U plus a
 * constant. */
void shift_test_find(const struct shift_test *test, double level, struct shift *ret)
{
	double least = test->b[0] - test->a[test->n_a - 1];
	double most = test->b[test->n_b - 1] - test->a[0];
	/* The interval is searched a margin beyond all differences, where no value of b - d is
	 * among those of a. If all values are equal, the margin must not vanish by rounding. */
	double largest = MAX(MAX(fabs(test->a[0]), fabs(test->a[test->n_a - 1])),
		MAX(fabs(test->b[0]), fabs(test->b[test->n_b - 1])));
	double margin = MAX(most - least, largest * 1e-6 + 1e-300);
	struct shift *shift = ret;

	shift->estimate = shift_estimate(test->a, test->n_a, test->b, test->n_b);
	shift->p = test->find_p(test, 0);
	shift->least_p = test->pair_a ? least_pairs_p(test->n_a)
				      : mann_whitney_least_p(test->n_a, test->n_b);
	shift->low = find_end(test, level, shift->estimate, least - margin);
	shift->high = find_end(test, level, shift->estimate, most + margin);
	/* Where an end of the interval is 0 to the last bit, p decides on which side of 0 it is.
	 * With many equal values the estimate and both ends may be 0. */
	if (shift->p <= level && shift->low <= 0 && shift->high >= 0) {
		if (is_above(test)) {
			shift->low = nextafter(0, 1);
			shift->estimate = MAX(shift->estimate, shift->low);
			shift->high = MAX(shift->high, shift->low);
		} else {
			shift->high = nextafter(0, -1);
			shift->estimate = MIN(shift->estimate, shift->high);
			shift->low = MIN(shift->low, shift->high);
		}
	} else if (shift->p > level) {
		shift->low = MIN(shift->low, 0);
		shift->high = MAX(shift->high, 0);
	}
}

double shift_test_p(const struct shift_test *test, double d)
{
	return test->find_p(test, d);
}

static void shift_values(const struct shift_test *test, double d)
{
	for (size_t i = 0; i < test->n_b; i++)
		test->shifted[i] = test->b[i] - d;
}

/* --- Independent samples --- */

static double find_samples_p(const struct shift_test *test, double d)
{
	struct mann_whitney found;

	shift_values(test, d);
	mann_whitney_find(test->a, test->n_a, test->shifted, test->n_b, test->tails, &found);
	return MAX(found.p, found.p_unequal);
}

int shift_test_of_samples(
	const double *a, size_t n_a, const double *b, size_t n_b, struct shift_test **ret)
{
	struct shift_test *test;

	if (n_a == 0 || n_b == 0)
		return -ENODATA;
	test = xptr(calloc(1, sizeof(*test)));
	*test = (struct shift_test){
		.find_p = find_samples_p,
		.n_a = n_a,
		.n_b = n_b,
		.a = xptr((double *)reallocarray(NULL, n_a + 2 * n_b, sizeof(double))),
		.tails = mann_whitney_tails(n_a, n_b),
	};
	test->b = test->a + n_a;
	test->shifted = test->b + n_b;
	memcpy(test->a, a, n_a * sizeof(*a));
	memcpy(test->b, b, n_b * sizeof(*b));
	*ret = test;
	return 0;
}

/* --- Pairs --- */

/* Ranks of a and b - d, taken together, for each pair. Equal values share their mean rank. */
static void rank_together(const struct shift_test *test)
{
	size_t n = test->n_a, i = 0, k = 0;

	while (i < n || k < n) {
		size_t from_a = i, from_b = k;
		double value, rank;

		value = i < n && (k >= n || test->a[i] <= test->shifted[k]) ? test->a[i]
									    : test->shifted[k];
		while (i < n && test->a[i] == value)
			i++;
		while (k < n && test->shifted[k] == value)
			k++;
		rank = ((double)(from_a + from_b) + 1 + (double)(i + k)) / 2;
		for (size_t at = from_a; at < i; at++)
			test->rank_a[test->pair_a[at]] = rank;
		for (size_t at = from_b; at < k; at++)
			test->rank_b[test->pair_b[at]] = rank;
	}
}

/* How likely a sum as far from 0 is when each of these differences of ranks has a random sign, by
 * trying all signs: the ranks are multiples of 1/2, and their sums exact. */
static double find_exact_p(const double *differences, size_t n, double sum)
{
	double sums[1 << EXACT_PAIRS_MAX];
	size_t n_sums = 1, n_far = 0;

	sums[0] = 0;
	for (size_t i = 0; i < n; i++) {
		if (differences[i] == 0)
			continue;
		for (size_t k = 0; k < n_sums; k++) {
			sums[n_sums + k] = sums[k] + differences[i];
			sums[k] -= differences[i];
		}
		n_sums *= 2;
	}
	for (size_t k = 0; k < n_sums; k++)
		n_far += fabs(sums[k]) >= fabs(sum);
	return (double)n_far / (double)n_sums;
}

/* The largest number of which all of these differences of ranks are multiples. The search ends when
 * the number is at most `small`, so that some differences may not have been looked at. */
static double find_common_factor(const double *differences, size_t n, double small)
{
	double common = 0;

	for (size_t i = 0; i < n && (common == 0 || common > small); i++)
		common = stats_common_divisor(common, fabs(differences[i]));
	return common;
}

/* The same by the normal distribution. Other signs change the sum by at least twice the common
 * factor. With many equal values these steps are large, so the normal distribution, which has no
 * steps, is evaluated in the middle between two of them. */
static double find_normal_p(const double *differences, size_t n, double sum, double squares)
{
	double deviation = sqrt(squares);
	double far = fabs(sum) - find_common_factor(differences, n, deviation / 1000);

	return MIN(2 * normal_upper_tail(MAX(far, 0.0) / deviation), 1.0);
}

static double find_pairs_p(const struct shift_test *test, double d)
{
	double *differences = test->rank_b, sum = 0, squares = 0;
	size_t n = test->n_a, n_different = 0;

	shift_values(test, d);
	rank_together(test);
	for (size_t i = 0; i < n; i++) {
		differences[i] -= test->rank_a[i];
		sum += differences[i];
		squares += differences[i] * differences[i];
		n_different += differences[i] != 0;
	}
	return n_different <= EXACT_PAIRS_MAX ? find_exact_p(differences, n, sum)
					      : find_normal_p(differences, n, sum, squares);
}

struct paired {
	double value;
	size_t pair;
};

static int compare_paired(const void *a, const void *b)
{
	double x = ((const struct paired *)a)->value, y = ((const struct paired *)b)->value;

	return (x > y) - (x < y);
}

/* Sorts values and keeps the number of the pair that each value belongs to. */
static void sort_paired(const double *values, size_t n, double *ret_sorted, size_t *ret_pairs)
{
	_cleanup_free_ struct paired *items = xptr(reallocarray(NULL, n, sizeof(*items)));

	for (size_t i = 0; i < n; i++)
		items[i] = (struct paired){ values[i], i };
	qsort(items, n, sizeof(*items), compare_paired);
	for (size_t i = 0; i < n; i++) {
		ret_sorted[i] = items[i].value;
		ret_pairs[i] = items[i].pair;
	}
}

int shift_test_of_pairs(const double *a, const double *b, size_t n, struct shift_test **ret)
{
	struct shift_test *test;

	if (n == 0)
		return -ENODATA;
	test = xptr(calloc(1, sizeof(*test)));
	*test = (struct shift_test){
		.find_p = find_pairs_p,
		.n_a = n,
		.n_b = n,
		.a = xptr((double *)reallocarray(NULL, n, 5 * sizeof(double))),
		.pair_a = xptr((size_t *)reallocarray(NULL, n, 2 * sizeof(size_t))),
	};
	test->b = test->a + n;
	test->shifted = test->b + n;
	test->rank_a = test->shifted + n;
	test->rank_b = test->rank_a + n;
	test->pair_b = test->pair_a + n;
	sort_paired(a, n, test->a, test->pair_a);
	sort_paired(b, n, test->b, test->pair_b);
	*ret = test;
	return 0;
}

int shift_of_pairs(const double *a, const double *b, size_t n, struct shift *ret)
{
	_cleanup_(shift_test) struct shift_test *test = NULL;
	int r = shift_test_of_pairs(a, b, n, &test);

	if (r >= 0)
		shift_test_find(test, SIGNIFICANCE, ret);
	return r;
}

size_t shift_pairs_needed(double p)
{
	size_t n = 1;

	while (least_pairs_p(n) > p && n < 1000)
		n++;
	return n;
}

size_t shift_values_needed(double p)
{
	size_t n = 1;

	while (mann_whitney_least_p(n, n) > p && n < 1000)
		n++;
	return n;
}
