// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "judge/stats/inference.h"
#include "judge/stats/multiple.h"
#include "judge/stats/stats.h"

#include "inference-figures.h"
#include "random.h"

/* To so many parts of the larger one, or both NAN. */
static void assert_close(const char *what, double value, double wish, double tolerance)
{
	if (isnan(wish) ? isnan(value) : fabs(value - wish) <= tolerance * fabs(wish))
		return;
	fprintf(stderr, "%s: %.17g instead of %.17g\n", what, value, wish);
	fail();
}

static void test_against_scipy(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(figures); i++) {
		struct welch welch = { NAN, NAN, NAN };
		struct mann_whitney ranks;

		assert_int_equal(mann_whitney_test(figures[i].old, figures[i].n_old, figures[i].new,
					 figures[i].n_new, &ranks),
			0);
		assert_close(figures[i].name, ranks.u, figures[i].u, 0);
		assert_close(figures[i].name, ranks.p, figures[i].ranks_p, 1e-11);
		(void)welch_test(
			figures[i].old, figures[i].n_old, figures[i].new, figures[i].n_new, &welch);
		assert_close(figures[i].name, welch.t, figures[i].welch_t, 1e-11);
		assert_close(figures[i].name, welch.p, figures[i].welch_p, 1e-10);
	}
}

static void test_distributions_against_scipy(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(student); i++) {
		assert_close("Student's t", student_two_sided(student[i][0], student[i][1]),
			student[i][2], 1e-6 * (student[i][1] > 1e4) + 1e-10);
		assert_close("Student's t", student_two_sided(-student[i][0], student[i][1]),
			student[i][2], 1e-6 * (student[i][1] > 1e4) + 1e-10);
	}
	for (size_t i = 0; i < ARRAY_SIZE(normal); i++)
		assert_close("normal", normal_upper_tail(normal[i][0]), normal[i][1], 1e-12);
	assert_true(student_two_sided(INFINITY, 5) == 0);
}

/* Student's table as it is printed in any textbook: 5 % two-sided. */
static void test_table_of_student(void **state)
{
	static const double table[][2] = { { 1, 12.706 }, { 2, 4.303 }, { 3, 3.182 }, { 4, 2.776 },
		{ 5, 2.571 }, { 10, 2.228 }, { 20, 2.086 }, { 30, 2.042 }, { 60, 2.000 },
		{ 120, 1.980 } };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		assert_true(student_two_sided(table[i][1] - 0.0006, table[i][0]) > 0.05);
		assert_true(student_two_sided(table[i][1] + 0.0006, table[i][0]) < 0.05);
	}
}

/* Two samples without ties in which b is larger in u of all pairs. */
static void make_u(double *a, size_t n_a, double *b, size_t n_b, size_t u)
{
	for (size_t i = 0; i < n_a; i++)
		a[i] = (double)(i + 1);
	/* Each of b has as many of a below it as are left to give. */
	for (size_t k = n_b; k-- > 0;) {
		size_t below = MIN(u, n_a);

		u -= below;
		b[k] = (double)below + 0.5 + (double)(k + 1) / 1000;
	}
}

/* Critical values of U at 5 % two-sided (Mann and Whitney 1947; Milton 1964; any textbook). */
static void test_table_of_mann_whitney(void **state)
{
	static const size_t table[][3] = { { 4, 4, 0 }, { 5, 5, 2 }, { 6, 6, 5 }, { 7, 7, 8 },
		{ 8, 8, 13 }, { 10, 10, 23 }, { 5, 10, 8 }, { 12, 15, 49 }, { 20, 20, 127 } };
	double a[20], b[20];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		struct mann_whitney ranks;

		make_u(a, table[i][0], b, table[i][1], table[i][2]);
		assert_int_equal(mann_whitney_test(a, table[i][0], b, table[i][1], &ranks), 0);
		assert_true(ranks.u == (double)table[i][2]);
		assert_true(ranks.p <= 0.05);
		make_u(a, table[i][0], b, table[i][1], table[i][2] + 1);
		assert_int_equal(mann_whitney_test(a, table[i][0], b, table[i][1], &ranks), 0);
		assert_true(ranks.p > 0.05);
	}
}

/* The example of Benjamini and Hochberg (1995), section 3.2: 4 of 15 are found at 5 %. */
static void test_false_discoveries(void **state)
{
	double p[] = { 0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459,
		0.3240, 0.4262, 0.5719, 0.6528, 0.7590, 1.0000 };
	double odd[] = { 0.04, NAN, 0.01, 0.03 };
	size_t found = 0;

	(void)state;
	adjust_false_discoveries(p, ARRAY_SIZE(p), 0);
	for (size_t i = 0; i < ARRAY_SIZE(p); i++)
		found += p[i] <= 0.05;
	assert_int_equal(found, 4);
	assert_close("first", p[0], 0.0015, 1e-12);
	assert_close("fourth", p[3], 0.0095 * 15 / 4, 1e-12);
	adjust_false_discoveries(odd, ARRAY_SIZE(odd), 0);
	assert_close("of 3", odd[0], 0.04, 1e-12);
	assert_true(isnan(odd[1]));
	assert_close("of 3", odd[2], 0.03, 1e-12);
	assert_close("of 3", odd[3], 0.04, 1e-12);
	adjust_false_discoveries(NULL, 0, 0);
}

/* The level finds what the adjusted p find. */
static void test_level_of_discoveries(void **state)
{
	uint64_t seed = 2;

	(void)state;
	assert_true(level_of_discoveries(NULL, 0) == SIGNIFICANCE);
	for (size_t trial = 0; trial < 2000; trial++) {
		size_t n = 1 + trial % 9;
		double p[9], adjusted[9], level;

		for (size_t i = 0; i < n; i++)
			adjusted[i] = p[i] = random_unit(&seed) / (double)(1 + trial % 30);
		level = level_of_discoveries(p, n);
		assert_true(n > 1 || level == SIGNIFICANCE);
		adjust_false_discoveries(adjusted, n, 0);
		for (size_t i = 0; i < n; i++)
			assert_int_equal(p[i] <= level, adjusted[i] <= SIGNIFICANCE);
	}
}

/* One p that is another one, and all others as they are: as if all were adjusted once more. Many of
 * them are equal, and a few more are 1. */
static void test_changed_discovery(void **state)
{
	uint64_t seed = 1;

	(void)state;
	for (size_t trial = 0; trial < 2000; trial++) {
		size_t n = 1 + trial % 7, at = trial % n;
		size_t n_silent = trial % 4;
		double p[10], sorted[7], adjusted, to = floor(random_unit(&seed) * 6) / 20;

		for (size_t i = 0; i < n; i++)
			sorted[i] = p[i] = floor(random_unit(&seed) * 6) / 20;
		for (size_t i = n; i < n + n_silent; i++)
			p[i] = 1;
		stats_sort(sorted, n);
		adjusted = adjust_changed_discovery(sorted, n, n_silent, p[at], to);
		p[at] = to;
		memcpy(sorted, p, n * sizeof(*p));
		adjust_false_discoveries(p, n + n_silent, 0);
		assert_close("changed", adjusted, p[at], 1e-12);
		adjust_false_discoveries(sorted, n, n_silent);
		for (size_t i = 0; i < n; i++)
			assert_close("silent", sorted[i], p[i], 1e-12);
	}
}

static void test_too_little(void **state)
{
	static const double one[] = { 1 }, equal[] = { 2, 2, 2, 2, 2 };
	struct mann_whitney ranks;
	struct welch welch = { 7, 7, 7 };

	(void)state;
	assert_int_equal(mann_whitney_test(one, 0, one, 1, &ranks), -ENODATA);
	assert_int_equal(welch_test(one, 1, equal, 5, &welch), -ENODATA);
	assert_int_equal(welch_test(equal, 5, equal, 5, &welch), -EDOM);
	assert_true(welch.t == 7);
	assert_int_equal(mann_whitney_test(equal, 5, equal, 5, &ranks), 0);
	assert_true(ranks.p == 1);
}

static double make_normal(uint64_t *random)
{
	return 10 + 0.3 * random_normal(random);
}

static void test_many_values(void **state)
{
	size_t n = 1000000;
	double *a = calloc(n, sizeof(*a)), *b = calloc(n, sizeof(*b));
	struct mann_whitney ranks;
	struct welch welch;
	uint64_t random = 5;

	(void)state;
	assert_non_null(a);
	assert_non_null(b);
	for (size_t i = 0; i < n; i++) {
		a[i] = make_normal(&random);
		b[i] = make_normal(&random) * 1.001;
	}
	stats_sort(a, n);
	stats_sort(b, n);
	assert_int_equal(mann_whitney_test(a, n, b, n, &ranks), 0);
	assert_true(ranks.p < 1e-50);
	assert_int_equal(welch_test(a, n, b, n, &welch), 0);
	assert_true(welch.t > 15 && welch.p < 1e-50);
	free(a);
	free(b);
}

/* The probability that k of n values are the larger one of two numbers. */
static double binomial(size_t n, size_t k, double q)
{
	double p = pow(q, (double)k) * pow(1 - q, (double)(n - k));

	for (size_t i = 1; i <= k; i++)
		p *= (double)(n - k + i) / (double)i;
	return p;
}

static double p_of_two_values(size_t n, size_t in_a, size_t m, size_t in_b)
{
	struct mann_whitney ranks;
	double a[20], b[20];

	for (size_t i = 0; i < n; i++)
		a[i] = i < n - in_a ? 5 : 6;
	for (size_t i = 0; i < m; i++)
		b[i] = i < m - in_b ? 5 : 6;
	assert_int_equal(mann_whitney_test(a, n, b, m, &ranks), 0);
	return ranks.p;
}

/* Of values that are one of two numbers U has large steps; all samples there are, by how likely
 * they are. */
static void test_two_values(void **state)
{
	static const double shares[] = { 0.5, 0.2, 0.1, 0.05 };

	(void)state;
	for (size_t n = 2; n <= 14; n++) {
		for (size_t m = n; m <= 14; m++) {
			for (size_t i = 0; i < ARRAY_SIZE(shares); i++) {
				double found = 0;

				for (size_t x = 0; x <= n; x++)
					for (size_t y = 0; y <= m; y++)
						found += p_of_two_values(n, x, m, y) <= 0.05
							? binomial(n, x, shares[i]) *
								binomial(m, y, shares[i])
							: 0;
				if (found > 0.05)
					fprintf(stderr, "%zu and %zu, %g: %g\n", n, m, shares[i],
						found);
				assert_true(found <= 0.05);
			}
		}
	}
	/* Of all orders of these values, 10.3 % are as far apart. */
	assert_true(p_of_two_values(7, 1, 7, 5) > 0.103);
	assert_true(p_of_two_values(7, 1, 7, 5) < 0.13);
	/* It can be found, where there are enough of them. */
	assert_true(p_of_two_values(12, 0, 12, 12) < 0.001);
	/* Whatever is equal, 2 of 20 orders are as far apart as these. */
	assert_true(p_of_two_values(3, 0, 3, 3) >= 0.1);
	assert_true(mann_whitney_least_p(3, 3) == 0.1);
}

/* The smaller sample scatters 10 times as much, around the same middle: Mann and Whitney's p alone
 * is too small in a fifth. Where both scatter alike, hardly anything is lost. */
static void test_unequal_scatter(void **state)
{
	static const struct {
		size_t n, m;
		double scatter, shift;
		int least[2], most[2]; /* per cent found, by p alone, and by both */
	} cases[] = {
		{ 10, 60, 10, 0, { 15, 0 }, { 100, 6 } },
		{ 25, 25, 10, 0, { 6, 0 }, { 100, 7 } },
		{ 25, 25, 1, 0, { 2, 2 }, { 7, 7 } },
		{ 25, 25, 1, 1, { 88, 87 }, { 96, 96 } },
		{ 10, 60, 1, 1, { 75, 70 }, { 85, 81 } },
	};
	int trials = 1000 / TRIALS_PART;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		uint64_t random = i;
		int found[2] = { 0 };

		for (int t = 0; t < trials; t++) {
			double a[60], b[60];
			struct mann_whitney ranks;

			for (size_t k = 0; k < cases[i].n; k++)
				a[k] = cases[i].scatter * random_normal(&random);
			for (size_t k = 0; k < cases[i].m; k++)
				b[k] = cases[i].shift + random_normal(&random);
			stats_sort(a, cases[i].n);
			stats_sort(b, cases[i].m);
			assert_int_equal(
				mann_whitney_test(a, cases[i].n, b, cases[i].m, &ranks), 0);
			found[0] += ranks.p <= 0.05;
			found[1] += MAX(ranks.p, ranks.p_unequal) <= 0.05;
		}
		for (int k = 0; k < 2; k++)
			assert_true(rate_is_between(
				found[k], cases[i].least[k], cases[i].most[k], trials));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_against_scipy),
		cmocka_unit_test(test_distributions_against_scipy),
		cmocka_unit_test(test_table_of_student),
		cmocka_unit_test(test_table_of_mann_whitney),
		cmocka_unit_test(test_two_values),
		cmocka_unit_test(test_unequal_scatter),
		cmocka_unit_test(test_false_discoveries),
		cmocka_unit_test(test_level_of_discoveries),
		cmocka_unit_test(test_changed_discovery),
		cmocka_unit_test(test_too_little),
		cmocka_unit_test(test_many_values),
	};

	return cmocka_run_group_tests_name("inference", tests, NULL, NULL);
}
