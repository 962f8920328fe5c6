// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>

#include "base/macro.h"
#include "base/parse.h"

#define TOO_LONG "99999999999999999999999999999999999999999"

/* A failing assertion names only the line; the last of these names the row. */
static void name_case(const char *text)
{
	fprintf(stderr, "case '%s'\n", text);
}

static void test_u64(_unused_ void **state)
{
	static const struct {
		const char *text;
		uint64_t min, max;
		int r;
		uint64_t value;
	} cases[] = {
		{ "0", 0, UINT64_MAX, 0, 0 },
		{ "25", 0, 100, 0, 25 },
		{ "007", 0, 100, 0, 7 },
		{ "18446744073709551615", 0, UINT64_MAX, 0, UINT64_MAX },
		{ "1", 1, 1, 0, 1 },
		{ "18446744073709551616", 0, UINT64_MAX, -ERANGE, 0 },
		/* Wraps to 0 in 32 and in 64 bits. */
		{ "4294967296", 0, 100, -ERANGE, 0 },
		{ "36893488147419103232", 0, 100, -ERANGE, 0 },
		{ TOO_LONG, 0, UINT64_MAX, -ERANGE, 0 },
		{ "0", 1, 100, -ERANGE, 0 },
		{ "101", 1, 100, -ERANGE, 0 },
		{ "", 0, 100, -EINVAL, 0 },
		{ "x", 0, 100, -EINVAL, 0 },
		{ "5x", 0, 100, -EINVAL, 0 },
		{ "101x", 0, 100, -EINVAL, 0 },
		{ TOO_LONG "x", 0, UINT64_MAX, -EINVAL, 0 },
		{ " 5", 0, 100, -EINVAL, 0 },
		{ "5 ", 0, 100, -EINVAL, 0 },
		{ "5\n", 0, 100, -EINVAL, 0 },
		{ "+5", 0, 100, -EINVAL, 0 },
		{ "-5", 0, 100, -EINVAL, 0 },
		{ "-0", 0, 100, -EINVAL, 0 },
		{ "0x10", 0, 100, -EINVAL, 0 },
		{ "1.0", 0, 100, -EINVAL, 0 },
		{ "1e2", 0, 100, -EINVAL, 0 },
		/* Arabic-Indic digit one: no digit here. */
		{ "\xd9\xa1", 0, 100, -EINVAL, 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		uint64_t value = 4711;

		name_case(cases[i].text);
		assert_int_equal(
			parse_u64(cases[i].text, cases[i].min, cases[i].max, &value), cases[i].r);
		assert_true(value == (cases[i].r < 0 ? 4711 : cases[i].value));
	}
}

static void test_hex(_unused_ void **state)
{
	static const struct {
		const char *text;
		uint64_t max;
		int r;
		uint64_t value;
	} cases[] = {
		{ "0", 0, 0, 0 },
		{ "1f", 255, 0, 31 },
		{ "00FF", 255, 0, 255 },
		{ "aBcDeF", UINT64_MAX, 0, 0xabcdef },
		{ "ffffffffffffffff", UINT64_MAX, 0, UINT64_MAX },
		{ "0000000000000000000000000000001", UINT64_MAX, 0, 1 },
		{ "10000000000000000", UINT64_MAX, -ERANGE, 0 },
		{ "100", 255, -ERANGE, 0 },
		{ "ffffffffffffffffffffffffffx", UINT64_MAX, -EINVAL, 0 },
		{ "", 255, -EINVAL, 0 },
		{ "0x1", 255, -EINVAL, 0 },
		{ "g", 255, -EINVAL, 0 },
		{ "1 ", 255, -EINVAL, 0 },
		{ " 1", 255, -EINVAL, 0 },
		{ "-1", 255, -EINVAL, 0 },
		{ "1\n", 255, -EINVAL, 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		uint64_t value = 4711;

		name_case(cases[i].text);
		assert_int_equal(parse_hex_u64(cases[i].text, cases[i].max, &value), cases[i].r);
		assert_int_equal(value, cases[i].r == 0 ? cases[i].value : 4711);
	}
}

static void test_uint(_unused_ void **state)
{
	unsigned value = 4711;

	assert_int_equal(parse_uint("4294967295", 0, UINT_MAX, &value), 0);
	assert_true(value == UINT_MAX);
	value = 4711;
	assert_int_equal(parse_uint("4294967296", 0, UINT_MAX, &value), -ERANGE);
	assert_int_equal(parse_uint("0", 1, UINT_MAX, &value), -ERANGE);
	assert_int_equal(parse_uint("-1", 0, UINT_MAX, &value), -EINVAL);
	assert_int_equal(parse_uint("", 0, UINT_MAX, &value), -EINVAL);
	assert_true(value == 4711);
}

static void test_version(_unused_ void **state)
{
	static const char *const wrong[] = { "", "6", "6.", "6.x", ".12", "x6.12",
		"99999999999999999999.1", "6.99999999999999999999" };
	uint64_t major = 1, minor = 2;

	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++)
		assert_true(parse_version(wrong[i], &major, &minor) < 0);
	assert_true(major == 1 && minor == 2);
	assert_int_equal(parse_version("6.12.5-amd64", &major, &minor), 0);
	assert_true(major == 6 && minor == 12);
	assert_int_equal(parse_version("7.0", &major, &minor), 0);
	assert_true(major == 7 && minor == 0);
}

static void test_int(_unused_ void **state)
{
	static const struct {
		const char *text;
		int min, max;
		int r;
		int value;
	} cases[] = {
		{ "-5", -20, 19, 0, -5 },
		{ "19", -20, 19, 0, 19 },
		{ "-0", -20, 19, 0, 0 },
		{ "2147483647", INT_MIN, INT_MAX, 0, INT_MAX },
		{ "-2147483648", INT_MIN, INT_MAX, 0, INT_MIN },
		{ "2147483648", INT_MIN, INT_MAX, -ERANGE, 0 },
		{ "-2147483649", INT_MIN, INT_MAX, -ERANGE, 0 },
		{ "-" TOO_LONG, INT_MIN, INT_MAX, -ERANGE, 0 },
		{ "20", -20, 19, -ERANGE, 0 },
		{ "-21", -20, 19, -ERANGE, 0 },
		{ "", -20, 19, -EINVAL, 0 },
		{ "-", -20, 19, -EINVAL, 0 },
		{ "--5", -20, 19, -EINVAL, 0 },
		{ "+5", -20, 19, -EINVAL, 0 },
		{ "- 5", -20, 19, -EINVAL, 0 },
		{ "5-", -20, 19, -EINVAL, 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		int value = 4711;

		name_case(cases[i].text);
		assert_int_equal(
			parse_int(cases[i].text, cases[i].min, cases[i].max, &value), cases[i].r);
		assert_int_equal(value, cases[i].r < 0 ? 4711 : cases[i].value);
	}
}

static void test_double(_unused_ void **state)
{
	static const struct {
		const char *text;
		double min, max;
		int r;
		double value;
	} cases[] = {
		{ "0.5", 0, 100, 0, 0.5 },
		{ "3", 0, 100, 0, 3 },
		{ "-2.25", -10, 10, 0, -2.25 },
		{ "0.1", 0, 100, 0, 0.1 },
		{ "4.35", 0, 100, 0, 4.35 },
		{ "0.000000000000000001", 0, 1, 0, 1e-18 },
		/* Digits of the fraction beyond the 18th do not overflow anything. */
		{ "0.3333333333333333333333333333333333", 0, 1, 0, 0.333333333333333333 },
		{ "-0", 0, 1, 0, 0 },
		{ "-0.0", 0, 1, 0, 0 },
		{ "1.5", 0, 1, -ERANGE, 0 },
		{ "-0.5", 0, 1, -ERANGE, 0 },
		{ TOO_LONG, 0, 1e300, -ERANGE, 0 },
		{ TOO_LONG ".5", 0, 1e300, -ERANGE, 0 },
		{ TOO_LONG ".", 0, 1e300, -EINVAL, 0 },
		{ TOO_LONG "x", 0, 1e300, -EINVAL, 0 },
		{ "", 0, 1, -EINVAL, 0 },
		{ ".", 0, 1, -EINVAL, 0 },
		{ ".5", 0, 1, -EINVAL, 0 },
		{ "1.", 0, 1, -EINVAL, 0 },
		{ "-", 0, 1, -EINVAL, 0 },
		{ "-.5", -1, 1, -EINVAL, 0 },
		{ "0,5", 0, 1, -EINVAL, 0 },
		{ "1.2.3", 0, 10, -EINVAL, 0 },
		{ "1e0", 0, 10, -EINVAL, 0 },
		{ "0x1", 0, 10, -EINVAL, 0 },
		{ "nan", 0, 10, -EINVAL, 0 },
		{ "inf", 0, 10, -EINVAL, 0 },
		{ " 1", 0, 10, -EINVAL, 0 },
		{ "1 ", 0, 10, -EINVAL, 0 },
		{ "1%", 0, 10, -EINVAL, 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		double value = 4711;

		name_case(cases[i].text);
		assert_int_equal(parse_double(cases[i].text, cases[i].min, cases[i].max, &value),
			cases[i].r);
		assert_true(value == (cases[i].r < 0 ? 4711 : cases[i].value));
		assert_false(signbit(value) && value == 0);
	}
}

static void test_seconds(_unused_ void **state)
{
	static const struct {
		const char *text;
		double min, max;
		int r;
		double value;
	} cases[] = {
		{ "1.5", 0, 10, 0, 1.5 },
		{ "1.5s", 0, 10, 0, 1.5 },
		{ "300ms", 0, 10, 0, 0.3 },
		{ "7us", 0, 10, 0, 7e-6 },
		/* 3 * 1e-9 is not 3e-9. */
		{ "3ns", 3e-9, 3e-9, 0, 3e-9 },
		{ "2min", 0, 120, 0, 120 },
		{ "0.5h", 0, 3600, 0, 1800 },
		{ "0", 0, 10, 0, 0 },
		{ "11s", 0, 10, -ERANGE, 0 },
		{ "1min", 0, 10, -ERANGE, 0 },
		{ "-1s", 0, 10, -ERANGE, 0 },
		{ TOO_LONG "s", 0, 10, -ERANGE, 0 },
		{ TOO_LONG "x", 0, 10, -EINVAL, 0 },
		{ "", 0, 10, -EINVAL, 0 },
		{ "s", 0, 10, -EINVAL, 0 },
		{ "1 s", 0, 10, -EINVAL, 0 },
		{ "1m", 0, 10, -EINVAL, 0 },
		{ "1S", 0, 10, -EINVAL, 0 },
		{ "1sec", 0, 10, -EINVAL, 0 },
		{ "1min30s", 0, 100, -EINVAL, 0 },
		{ "1s\n", 0, 10, -EINVAL, 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		double value = 4711;

		name_case(cases[i].text);
		assert_int_equal(parse_seconds(cases[i].text, cases[i].min, cases[i].max, &value),
			cases[i].r);
		assert_true(value == (cases[i].r < 0 ? 4711 : cases[i].value));
	}
}

static void test_attr_u64(_unused_ void **state)
{
	static const struct {
		const char *text;
		int r;
		uint64_t value;
	} cases[] = {
		{ "1\n", 0, 1 },
		{ "1", 0, 1 },
		{ "  42\n", 0, 42 },
		{ "42 \t\n", 0, 42 },
		{ "18446744073709551615\n", 0, UINT64_MAX },
		{ "18446744073709551616\n", -ERANGE, 0 },
		{ TOO_LONG " x", -EINVAL, 0 },
		{ "", -EINVAL, 0 },
		{ "\n", -EINVAL, 0 },
		{ "1\n\n", -EINVAL, 0 },
		{ "1\n ", -EINVAL, 0 },
		{ "\n1", -EINVAL, 0 },
		{ "1 2", -EINVAL, 0 },
		{ "-1\n", -EINVAL, 0 },
		{ "<unknown>\n", -EINVAL, 0 },
		{ "ff\n", -EINVAL, 0 },
		{ "0x1\n", -EINVAL, 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		uint64_t value = 4711;

		name_case(cases[i].text);
		assert_int_equal(parse_attr_u64(cases[i].text, &value), cases[i].r);
		assert_true(value == (cases[i].r < 0 ? 4711 : cases[i].value));
	}
}

static void test_attr_s64(_unused_ void **state)
{
	static const struct {
		const char *text;
		int r;
		int64_t value;
	} cases[] = {
		{ "-1\n", 0, -1 },
		{ " -1 \n", 0, -1 },
		{ "45000\n", 0, 45000 },
		{ "-0\n", 0, 0 },
		{ "9223372036854775807", 0, INT64_MAX },
		{ "-9223372036854775808", 0, INT64_MIN },
		{ "9223372036854775808", -ERANGE, 0 },
		{ "-9223372036854775809", -ERANGE, 0 },
		{ TOO_LONG, -ERANGE, 0 },
		{ "-" TOO_LONG, -ERANGE, 0 },
		{ "", -EINVAL, 0 },
		{ "-", -EINVAL, 0 },
		{ "- 1", -EINVAL, 0 },
		{ "--1", -EINVAL, 0 },
		{ "+1", -EINVAL, 0 },
		{ "1-", -EINVAL, 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		int64_t value = 4711;

		name_case(cases[i].text);
		assert_int_equal(parse_attr_s64(cases[i].text, &value), cases[i].r);
		assert_true(value == (cases[i].r < 0 ? 4711 : cases[i].value));
	}
}

static void test_next_u64(_unused_ void **state)
{
	const char *row = " 16:\t 42 0  7x \n9";
	const char *cursor = row;
	uint64_t value = 4711;

	assert_int_equal(parse_next_u64(&cursor, &value), 0);
	assert_true(value == 16);
	assert_int_equal(*cursor, ':');
	/* A character that no number starts with stays where it is. */
	assert_int_equal(parse_next_u64(&cursor, &value), -ENODATA);
	assert_int_equal(*cursor, ':');
	assert_true(value == 16);
	cursor++;
	assert_int_equal(parse_next_u64(&cursor, &value), 0);
	assert_true(value == 42);
	assert_int_equal(parse_next_u64(&cursor, &value), 0);
	assert_true(value == 0);
	assert_int_equal(parse_next_u64(&cursor, &value), 0);
	assert_true(value == 7);
	assert_int_equal(*cursor, 'x');
	cursor++;
	/* A newline is no blank: a row ends there. */
	assert_int_equal(parse_next_u64(&cursor, &value), -ENODATA);

	cursor = "";
	assert_int_equal(parse_next_u64(&cursor, &value), -ENODATA);
	cursor = "   ";
	assert_int_equal(parse_next_u64(&cursor, &value), -ENODATA);
	cursor = "-1";
	assert_int_equal(parse_next_u64(&cursor, &value), -ENODATA);
	row = "  " TOO_LONG " 3";
	cursor = row;
	assert_int_equal(parse_next_u64(&cursor, &value), -ERANGE);
	assert_true(cursor == row);
	assert_true(value == 7);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_u64),
		cmocka_unit_test(test_hex),
		cmocka_unit_test(test_uint),
		cmocka_unit_test(test_version),
		cmocka_unit_test(test_int),
		cmocka_unit_test(test_double),
		cmocka_unit_test(test_seconds),
		cmocka_unit_test(test_attr_u64),
		cmocka_unit_test(test_attr_s64),
		cmocka_unit_test(test_next_u64),
	};

	return cmocka_run_group_tests_name("parse", tests, NULL, NULL);
}
