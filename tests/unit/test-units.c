// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/macro.h"
#include "base/units.h"

/* As pyperf 2.10 prints them (format_timedelta), but for "s" instead of "sec". */
static void test_seconds(void **state)
{
	static const struct {
		double seconds;
		const char *text;
	} cases[] = {
		{ 0, "0.00 ns" },
		{ 1e-12, "0.00 ns" },
		{ 1.234e-9, "1.23 ns" },
		{ 12.34e-9, "12.3 ns" },
		{ 123.4e-9, "123 ns" },
		{ 1.234e-6, "1.23 us" },
		{ 12.34e-6, "12.3 us" },
		{ 123.4e-6, "123 us" },
		{ 1e-3, "1.00 ms" },
		{ 1.234e-3, "1.23 ms" },
		{ 12.34e-3, "12.3 ms" },
		{ 20.3e-3, "20.3 ms" },
		{ 123.4e-3, "123 ms" },
		{ 0.9999, "1000 ms" },
		{ 1, "1.00 s" },
		{ 1.234, "1.23 s" },
		{ 12.34, "12.3 s" },
		{ 123.4, "123 s" },
		{ 12345, "12345 s" },
		{ -12.34e-3, "-12.3 ms" },
	};
	char buf[UNITS_TEXT_SIZE];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		assert_string_equal(units_format_seconds(cases[i].seconds, buf), cases[i].text);
}

static void test_one_scale(void **state)
{
	struct scale scale = scale_choose(12.3e-3);
	char buf[UNITS_TEXT_SIZE];

	(void)state;
	assert_string_equal(scale.unit, "ms");
	assert_string_equal(scale_format(scale, 0.04e-3, buf), "0.0 ms");
	assert_string_equal(scale_format(scale, 1.5, buf), "1500.0 ms");
	assert_string_equal(scale_format_bare(scale, 12.34e-3, buf), "12.3");
	assert_string_equal(scale_format(scale_refine(scale, 1), 12.345678e-3, buf), "12.35 ms");
	assert_string_equal(scale_format(scale_refine(scale, -1), 12.345678e-3, buf), "12 ms");
}

static void test_resolve(void **state)
{
	static const struct {
		double value, difference;
		const char *shown, *difference_shown;
	} cases[] = {
		{ 12.34e-3, 0.5e-3, "12.3 ms", "0.5 ms" },
		{ 1, 0.0002, "1.0000 s", "0.0002 s" },
		{ 1, -0.0002, "1.0000 s", "-0.0002 s" },
		{ 1, 0.00097, "1.000 s", "0.001 s" },
		{ 1, 0, "1.00 s", "0.00 s" },
		{ 1, 1e-30, "1.000000000 s", "0.000000000 s" },
		{ 1, NAN, "1.00 s", "nan s" },
	};
	char a[UNITS_TEXT_SIZE], b[UNITS_TEXT_SIZE];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct scale scale =
			scale_resolve(scale_choose(cases[i].value), cases[i].difference);

		assert_string_equal(scale_format(scale, cases[i].value, a), cases[i].shown);
		assert_string_equal(
			scale_format(scale, cases[i].difference, b), cases[i].difference_shown);
	}
}

/* Whatever is printed fits, ends and is no cut number. */
static void test_extremes(void **state)
{
	static const double values[] = { 1e300, -1e300, 1e18, INFINITY, -INFINITY, NAN, 5e-324 };
	char buf[UNITS_TEXT_SIZE];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(values); i++) {
		for (size_t k = 0; k < ARRAY_SIZE(values); k++) {
			struct scale scale = scale_choose(values[k]);

			memset(buf, 'x', sizeof(buf));
			scale_format(scale, values[i], buf);
			assert_non_null(memchr(buf, '\0', sizeof(buf)));
			assert_string_equal(strrchr(buf, ' ') + 1, scale.unit);
		}
		memset(buf, 'x', sizeof(buf));
		units_format_percent(values[i], buf);
		assert_non_null(memchr(buf, '\0', sizeof(buf)));
		assert_string_equal(strrchr(buf, ' '), " %");
	}
	assert_string_equal(units_format_seconds(1e300, buf), "1e+300 s");
}

static void test_percents(void **state)
{
	static const struct {
		double proportion;
		const char *text;
		const char *change;
	} cases[] = {
		{ 0, "0 %", "0 %" },
		{ -0.0, "0 %", "0 %" },
		{ -1e-15, "0 %", "0 %" },
		{ 0.5, "50 %", "+50 %" },
		{ 0.123, "12 %", "+12 %" },
		{ 0.0994, "9.9 %", "+9.9 %" },
		{ 0.0996, "10 %", "+10 %" },
		{ 0.0123, "1.2 %", "+1.2 %" },
		{ 0.00994, "0.99 %", "+0.99 %" },
		{ 0.00996, "1.0 %", "+1.0 %" },
		{ 0.00012, "0.012 %", "+0.012 %" },
		{ -0.042, "-4.2 %", "-4.2 %" },
		{ 12.5, "1250 %", "+1250 %" },
		{ 1e-30, "0 %", "0 %" },
		{ 1e12, "1e+14 %", "+1e+14 %" },
		{ INFINITY, "inf %", "from 0" },
	};
	char buf[UNITS_TEXT_SIZE];

	(void)state;
	assert_string_equal(units_format_percent(NAN, buf), "? %");
	assert_string_equal(units_format_change(-NAN, buf), "? %");
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		assert_string_equal(units_format_percent(cases[i].proportion, buf), cases[i].text);
		assert_string_equal(units_format_change(cases[i].proportion, buf), cases[i].change);
	}
}

static void test_shows(void **state)
{
	const struct scale seconds = { "s", 1, 3 };
	char buf[UNITS_TEXT_SIZE];

	(void)state;
	assert_string_equal(scale_format_shown(seconds, UNIT_SECOND, 0.010, buf), "0.010 s");
	assert_string_equal(scale_format_shown(seconds, UNIT_SECOND, 306e-9, buf), "306.0 ns");
	assert_string_equal(scale_format_shown(seconds, UNIT_SECOND, 0, buf), "0.000 s");
	assert_true(scale_shows(seconds, 0.010));
	assert_true(scale_shows(seconds, -2));
	assert_true(scale_shows(seconds, 0));
	assert_false(scale_shows(seconds, 0.009));
	assert_false(scale_shows(seconds, -1e-9));
	assert_true(scale_shows((struct scale){ "ms", 1e3, 1 }, 0.001));
	assert_false(scale_shows((struct scale){ "ms", 1e3, 1 }, 0.0009));
}

static void test_shown(void **state)
{
	static const struct {
		const char *unit;
		double seconds;
		const char *text;
	} cases[] = {
		{ "s", 0.0115, "0.0115 s" },
		{ "ms", 0.0115, "11.5 ms" },
		{ "us", 0.0115, "11500 us" },
		{ "ns", 0.0115, "11500000 ns" },
		{ "s", 1e-30, "0.000000000 s" },
		{ "ms", 0, "0 ms" },
		{ "ms", -0.5, "-500 ms" },
	};
	const struct unit *unit = &unit_byte;
	char buf[UNITS_TEXT_SIZE];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		double seconds = cases[i].seconds;

		assert_int_equal(unit_parse_shown(cases[i].unit, &unit), 0);
		assert_true(unit_is_time(unit));
		assert_string_equal(unit_name(unit), "second");
		assert_string_equal(scale_format(scale_choose_unit(unit, seconds), seconds, buf),
			cases[i].text);
	}
	unit = &unit_byte;
	assert_int_equal(unit_parse_shown("min", &unit), -EINVAL);
	assert_int_equal(unit_parse_shown("", &unit), -EINVAL);
	assert_ptr_equal(unit, &unit_byte);
	assert_true(unit_is_time(UNIT_SECOND));
	assert_false(unit_is_time(&unit_byte));
	assert_false(unit_is_time(&unit_integer));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_seconds),
		cmocka_unit_test(test_one_scale),
		cmocka_unit_test(test_resolve),
		cmocka_unit_test(test_extremes),
		cmocka_unit_test(test_percents),
		cmocka_unit_test(test_shows),
		cmocka_unit_test(test_shown),
	};

	return cmocka_run_group_tests_name("units", tests, NULL, NULL);
}
