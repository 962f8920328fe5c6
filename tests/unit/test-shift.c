// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "judge/stats/inference.h"
#include "judge/stats/multiple.h"
#include "judge/stats/shift.h"
#include "judge/stats/stats.h"

#include "random.h"

enum {
	VALUES_MAX = 100,
};

static double brute_force_median(const double *a, size_t n_a, const double *b, size_t n_b)
{
	double differences[VALUES_MAX * VALUES_MAX];
	size_t n = 0;

	for (size_t i = 0; i < n_a; i++)
		for (size_t k = 0; k < n_b; k++)
			differences[n++] = b[k] - a[i];
	stats_sort(differences, n);
	return stats_median(differences, n);
}

static int shift_of_samples(
	const double *a, size_t n_a, const double *b, size_t n_b, struct shift *ret)
{
	_cleanup_(shift_test) struct shift_test *test = NULL;
	int r = shift_test_of_samples(a, n_a, b, n_b, &test);

	if (r >= 0)
		shift_test_find(test, SIGNIFICANCE, ret);
	return r;
}

/* The estimate is the median of all differences, of values with ties and without. */
static void test_estimate(void **state)
{
	uint64_t seed = 1;

	(void)state;
	for (size_t n_a = 1; n_a <= 20; n_a++) {
		for (size_t n_b = 1; n_b <= 20; n_b++) {
			double a[VALUES_MAX], b[VALUES_MAX];
			struct shift shift;

			for (size_t i = 0; i < 20; i++) {
				a[i] = n_b % 2 ? random_normal(&seed)
					       : floor(random_unit(&seed) * 5);
				b[i] = n_b % 2 ? random_normal(&seed)
					       : floor(random_unit(&seed) * 5);
			}
			stats_sort(a, n_a);
			stats_sort(b, n_b);
			assert_int_equal(shift_of_samples(a, n_a, b, n_b, &shift), 0);
			assert_true(shift.estimate == brute_force_median(a, n_a, b, n_b));
			if (n_a != n_b)
				continue;
			assert_int_equal(shift_of_pairs(a, b, n_a, &shift), 0);
			assert_true(shift.estimate == brute_force_median(a, n_a, b, n_b));
		}
	}
}

static void test_known_interval(void **state)
{
	const double a[] = { 0.73, 0.80, 0.83, 1.04, 1.38, 1.45, 1.46, 1.64, 1.89, 1.91 };
	const double b[] = { 0.74, 0.88, 0.90, 1.15, 1.21 };
	struct shift shift;

	/* Hollander and Wolfe, Nonparametric Statistical Methods (1973), table 4.1, of tritium:
	 * p = 0.2544 and the estimate -0.305; the 95 % interval is from -0.76 to 0.15. */
	(void)state;
	assert_int_equal(shift_of_samples(a, ARRAY_SIZE(a), b, ARRAY_SIZE(b), &shift), 0);
	assert_true(fabs(shift.p - 0.2544) < 0.0001);
	assert_true(fabs(shift.estimate + 0.305) < 1e-9);
	assert_true(fabs(shift.low + 0.76) < 1e-9);
	assert_true(fabs(shift.high - 0.15) < 1e-9);
}

/* All ways to sign the differences of ranks of n pairs. */
static double brute_force_p(const double *a, const double *b, size_t n)
{
	double differences[VALUES_MAX], sum = 0;
	size_t as_far = 0;

	for (size_t i = 0; i < n; i++) {
		differences[i] = 0;
		for (size_t k = 0; k < n; k++)
			differences[i] += (a[k] < b[i]) + (b[k] < b[i]) - (a[k] < a[i]) -
				(b[k] < a[i]) +
				((a[k] == b[i]) + (b[k] == b[i]) - (a[k] == a[i]) -
					(b[k] == a[i])) /
					2.0;
		sum += differences[i];
	}
	for (size_t signs = 0; signs < (size_t)1 << n; signs++) {
		double other = 0;

		for (size_t i = 0; i < n; i++)
			other += signs >> i & 1 ? differences[i] : -differences[i];
		as_far += fabs(other) >= fabs(sum);
	}
	return (double)as_far / (double)((size_t)1 << n);
}

static void test_exact_pairs(void **state)
{
	uint64_t seed = 2;

	(void)state;
	for (size_t n = 1; n <= 12; n++) {
		for (int round = 0; round < 20; round++) {
			double a[VALUES_MAX], b[VALUES_MAX];
			struct shift shift;

			for (size_t i = 0; i < n; i++) {
				a[i] = round % 2 ? random_normal(&seed)
						 : floor(random_unit(&seed) * 4);
				b[i] = round % 2 ? random_normal(&seed) + 1
						 : floor(random_unit(&seed) * 6);
			}
			assert_int_equal(shift_of_pairs(a, b, n, &shift), 0);
			assert_true(fabs(shift.p - brute_force_p(a, b, n)) < 1e-12);
			assert_true(shift.p >= shift.least_p - 1e-12);
		}
	}
}

static void check_agreement(const struct shift *shift)
{
	assert_int_equal(shift->p <= 0.05, shift->low > 0 || shift->high < 0);
	assert_true(shift->low <= shift->estimate && shift->estimate <= shift->high);
}

/* Of pairs with many equal values, all signs of the differences that are not 0 are tried; and where
 * these are too many, p is still about what it would be then. */
static void test_equal_pairs(void **state)
{
	double a[VALUES_MAX], b[VALUES_MAX];
	struct shift shift;

	(void)state;
	for (size_t n = 13; n <= 25; n++) {
		for (size_t n_above = 0; n_above <= n; n_above++) {
			double p = 1;

			for (size_t i = 0; i < n; i++) {
				a[i] = 10;
				b[i] = i < n_above ? 11 : 10;
			}
			for (size_t i = 1; i < n_above; i++)
				p /= 2;
			assert_int_equal(shift_of_pairs(a, b, n, &shift), 0);
			if (n_above <= 12)
				assert_true(shift.p == p);
			else
				assert_true(shift.p > p && shift.p < 0.001);
			assert_int_equal(shift.p <= 0.05, n_above >= 6);
			check_agreement(&shift);
			assert_true(shift.estimate >= 0 && shift.high < 1 + 1e-9);
		}
	}
	/* 11 of 15 signs are of one side: p is 2 * 1941 / 2^15 = 0.118. */
	for (size_t i = 0; i < 25; i++) {
		a[i] = i < 4 ? 11 : 10;
		b[i] = i >= 4 && i < 15 ? 11 : 10;
	}
	assert_int_equal(shift_of_pairs(a, b, 25, &shift), 0);
	assert_true(fabs(shift.p - 2 * 1941 / 32768.0) < 0.005);
}

/* What can be found at most: five pairs never reach 5 %, six do. */
static void test_least_p(void **state)
{
	double a[VALUES_MAX], b[VALUES_MAX];
	struct shift shift;

	(void)state;
	for (size_t n = 1; n <= 40; n++) {
		for (size_t i = 0; i < n; i++) {
			a[i] = (double)i;
			b[i] = 1000 + (double)i;
		}
		/* Otherwise all differences of rank are n, whose sums have large steps. */
		if (n > 12) {
			b[0] = 1001;
			b[1] = 1000;
		}
		assert_int_equal(shift_of_pairs(a, b, n, &shift), 0);
		assert_true(fabs(shift.p - shift.least_p) < 1e-12);
		assert_int_equal(shift.p <= 0.05, n >= 6);
		assert_int_equal(isinf(shift.low) != 0, n < 6);
		assert_int_equal(isinf(shift.high) != 0, n < 6);
		if (n <= 31) {
			assert_int_equal(shift_of_samples(a, n, b, n, &shift), 0);
			assert_true(fabs(shift.p - shift.least_p) < 1e-12);
			assert_int_equal(shift.p <= 0.05, n >= 4);
		}
	}
	assert_int_equal(shift_pairs_needed(0.05), 6);
	assert_int_equal(shift_pairs_needed(0.005), 9);
	assert_int_equal(shift_pairs_needed(1), 1);
}

/* The interval and p say the same thing, and adding something to b adds it to all but p. */
static void test_agreement(void **state)
{
	uint64_t seed = 3;

	(void)state;
	for (int trial = 0; trial < 3000 / TRIALS_PART; trial++) {
		double a[VALUES_MAX], b[VALUES_MAX], c[VALUES_MAX];
		size_t n = 6 + (size_t)trial % 40;
		struct shift shift, shifted;
		double step = trial % 3 == 0 ? 0.25 : 0;

		for (size_t i = 0; i < n; i++) {
			a[i] = random_normal(&seed);
			b[i] = random_normal(&seed) + 1;
			if (step > 0) {
				a[i] = round(a[i] / step) * step;
				b[i] = round(b[i] / step) * step;
			}
			c[i] = b[i] + 4;
		}
		assert_int_equal(shift_of_pairs(a, b, n, &shift), 0);
		assert_int_equal(shift_of_pairs(a, c, n, &shifted), 0);
		check_agreement(&shift);
		assert_true(fabs(shift.estimate + 4 - shifted.estimate) < 1e-9);
		assert_true(fabs(shift.low + 4 - shifted.low) < 1e-9);
		assert_true(fabs(shift.high + 4 - shifted.high) < 1e-9);
		stats_sort(a, n);
		stats_sort(b, n);
		assert_int_equal(shift_of_samples(a, n, b, n, &shift), 0);
		check_agreement(&shift);
	}
}

/* Where there is no difference, one is found in 5 %; what both of a pair share does no harm. */
static void test_level(void **state)
{
	static const size_t sizes[] = { 6, 8, 12, 13, 25, 50 };
	uint64_t seed = 4;

	(void)state;
	for (size_t k = 0; k < ARRAY_SIZE(sizes); k++) {
		size_t n = sizes[k], found[3] = { 0 };
		const size_t rounds = 2000 / TRIALS_PART;
		double slack = few_trials_slack(0.05 * (double)rounds);

		for (size_t round = 0; round < rounds; round++) {
			double a[VALUES_MAX], b[VALUES_MAX], c[VALUES_MAX], d[VALUES_MAX];
			struct shift shift;

			for (size_t i = 0; i < n; i++) {
				double shared = 5 * random_normal(&seed);

				a[i] = exp(random_normal(&seed));
				b[i] = exp(random_normal(&seed));
				c[i] = a[i] + shared;
				d[i] = b[i] + shared;
			}
			assert_int_equal(shift_of_pairs(a, b, n, &shift), 0);
			found[0] += shift.p <= 0.05;
			assert_int_equal(shift_of_pairs(c, d, n, &shift), 0);
			found[1] += shift.p <= 0.05;
			stats_sort(a, n);
			stats_sort(b, n);
			assert_int_equal(shift_of_samples(a, n, b, n, &shift), 0);
			found[2] += shift.p <= 0.05;
		}
		for (size_t i = 0; i < 3; i++) {
			print_message("# n %zu, kind %zu: %.2f %%\n", n, i,
				100.0 * (double)found[i] / (double)rounds);
			assert_true((double)found[i] >= 0.02 * (double)rounds - slack);
			assert_true((double)found[i] <= 0.065 * (double)rounds + slack);
		}
	}
}

/* Samples of different sizes, and of ratios of 1.25. */
static double make_normal(uint64_t *random)
{
	return 10 + 0.3 * random_normal(random);
}

static double make_log_normal(uint64_t *random)
{
	return exp(0.5 * random_normal(random));
}

static double make_floor(uint64_t *random)
{
	return 10 - 0.03 * log(1 - random_unit(random));
}

static void test_coverage(void **state)
{
	static double (*const make[])(
		uint64_t * random) = { make_normal, make_log_normal, make_floor };
	static const size_t sizes[][2] = { { 5, 5 }, { 10, 40 }, { 25, 25 } };
	double a[40], b[40];

	(void)state;
	for (size_t d = 0; d < ARRAY_SIZE(make); d++) {
		for (size_t s = 0; s < ARRAY_SIZE(sizes); s++) {
			uint64_t random = 100 * d + s;
			size_t held = 0, trials = 150;

			for (size_t t = 0; t < trials; t++) {
				struct shift shift;

				for (size_t i = 0; i < sizes[s][0]; i++)
					a[i] = log(make[d](&random));
				for (size_t i = 0; i < sizes[s][1]; i++)
					b[i] = log(1.25 * make[d](&random));
				stats_sort(a, sizes[s][0]);
				stats_sort(b, sizes[s][1]);
				assert_int_equal(
					shift_of_samples(a, sizes[s][0], b, sizes[s][1], &shift),
					0);
				check_agreement(&shift);
				held += shift.low <= log(1.25) && log(1.25) <= shift.high;
			}
			/* 95 % less three standard deviations of so many trials, and not all. */
			assert_true(held >= trials * 90 / 100);
			assert_true(held < trials);
		}
	}
}

static void test_odd_samples(void **state)
{
	const double same[] = { 2, 2, 2, 2, 2, 2, 2 }, other[] = { 3, 3, 3, 3, 3, 3, 3 };
	const double huge[] = { -1e308, -1e300, 1, 2, 3, 1e300, 1e308 };
	struct shift shift;

	(void)state;
	assert_int_equal(shift_of_pairs(same, same, 0, &shift), -ENODATA);
	assert_int_equal(shift_of_samples(same, 0, same, 7, &shift), -ENODATA);
	assert_int_equal(shift_of_samples(same, 7, same, 0, &shift), -ENODATA);
	assert_int_equal(shift_of_pairs(same, same, 7, &shift), 0);
	assert_true(shift.p == 1 && shift.estimate == 0);
	/* To the rounding of the values. */
	assert_true(fabs(shift.low) < 1e-12 && fabs(shift.high) < 1e-12);
	assert_int_equal(shift_of_pairs(same, other, 7, &shift), 0);
	assert_true(shift.p < 0.05 && shift.estimate == 1);
	assert_true(fabs(shift.low - 1) < 1e-9 && fabs(shift.high - 1) < 1e-9);
	assert_int_equal(shift_of_samples(same, 7, other, 7, &shift), 0);
	assert_true(shift.p < 0.05 && shift.estimate == 1);
	assert_int_equal(shift_of_pairs(same, same, 1, &shift), 0);
	assert_true(shift.p == 1 && isinf(shift.low) && isinf(shift.high));
	/* Differences beyond a double: no crash and no endless loop. */
	assert_int_equal(shift_of_samples(huge, 7, huge, 7, &shift), 0);
	assert_int_equal(shift_of_pairs(huge, huge, 7, &shift), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_estimate),
		cmocka_unit_test(test_known_interval),
		cmocka_unit_test(test_exact_pairs),
		cmocka_unit_test(test_equal_pairs),
		cmocka_unit_test(test_least_p),
		cmocka_unit_test(test_agreement),
		cmocka_unit_test(test_level),
		cmocka_unit_test(test_coverage),
		cmocka_unit_test(test_odd_samples),
	};

	return cmocka_run_group_tests_name("shift", tests, NULL, NULL);
}
