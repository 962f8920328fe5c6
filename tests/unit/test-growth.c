// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <math.h>

#include "library/growth.h"

enum {
	SIZES = 8,
};

static void make(
	const char *what, double once, double each, double noise, double *sizes, double *times)
{
	for (size_t i = 0; i < SIZES; i++) {
		double n = sizes[i] = (double)(8 << 2 * i), f = 0;

		if (what[0] == 'l')
			f = log2(n + 1);
		else if (what[0] == 'n')
			f = pow(n, what[1] == '^' ? what[2] - '0' : 1) *
				(what[1] == ' ' ? log2(n + 1) : 1);
		times[i] = (once + each * f) * (1 + (i % 2 ? noise : -noise));
	}
}

/* Each kind is found again, exactly, and with values that are off by 2 %. */
static void test_kinds(void **state)
{
	static const char *const kinds[] = { "1", "log n", "n", "n log n", "n^2", "n^3" };
	double sizes[SIZES], times[SIZES];
	struct growth growth[GROWTH_KINDS];

	(void)state;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		make(kinds[i], 3e-9, 2e-9, 0, sizes, times);
		assert_int_equal(growth_fit(sizes, times, SIZES, growth), 0);
		assert_string_equal(growth[0].what, kinds[i]);
		assert_true(fabs(growth[0].once - 3e-9) < 1e-12);
		assert_true(i == 0 || fabs(growth[0].each - 2e-9) < 1e-12);
		assert_true(growth[0].error < 1e-6);
		assert_true(growth[1].error >= growth[0].error);

		make(kinds[i], 3e-9, 2e-9, 0.02, sizes, times);
		assert_int_equal(growth_fit(sizes, times, SIZES, growth), 0);
		assert_string_equal(growth[0].what, kinds[i]);
		assert_true(growth[0].error > 0.015 && growth[0].error < 0.03);
	}
}

/* Neither part is ever negative: less than no time is nonsense. */
static void test_no_negative_part(void **state)
{
	const double sizes[] = { 1, 2, 4, 8 }, falling[] = { 8, 6, 3, 1 },
		     steep[] = { 1, 3, 9, 27 };
	struct growth growth[GROWTH_KINDS];

	(void)state;
	assert_int_equal(growth_fit(sizes, falling, 4, growth), 0);
	for (size_t i = 0; i < GROWTH_KINDS; i++)
		assert_true(growth[i].each == 0 && growth[i].once > 0);
	assert_int_equal(growth_fit(sizes, steep, 4, growth), 0);
	for (size_t i = 0; i < GROWTH_KINDS; i++)
		assert_true(growth[i].each >= 0 && growth[i].once >= 0);
}

/* Times that are equal but for the last digit of a double do not grow, however they were rounded.
 */
static void test_rounding(void **state)
{
	double sizes[SIZES], times[SIZES];
	struct growth growth[GROWTH_KINDS];

	(void)state;
	for (unsigned pattern = 0; pattern < 1 << SIZES; pattern++) {
		make("1", 3e-9, 2e-9, 0, sizes, times);
		for (size_t i = 0; i < SIZES; i++)
			if (pattern >> i & 1)
				times[i] = nextafter(times[i], 1);
		assert_int_equal(growth_fit(sizes, times, SIZES, growth), 0);
		assert_string_equal(growth[0].what, "1");
	}
}

static void test_too_few(void **state)
{
	const double sizes[] = { 1, 2, 2, 1 }, times[] = { 1, 2, 2, 1 };
	struct growth growth[GROWTH_KINDS];

	(void)state;
	assert_int_equal(growth_fit(sizes, times, 4, growth), -ENODATA);
	assert_int_equal(growth_fit(sizes, times, 0, growth), -ENODATA);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kinds),
		cmocka_unit_test(test_no_negative_part),
		cmocka_unit_test(test_rounding),
		cmocka_unit_test(test_too_few),
	};

	return cmocka_run_group_tests_name("growth", tests, NULL, NULL);
}
