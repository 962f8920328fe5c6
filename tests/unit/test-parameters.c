// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "base/say.h"
#include "base/text.h"
#include "measure/parameters.h"

static void test_values(void **state)
{
	static const struct {
		int (*add)(struct parameters *, const char *);
		const char *text, *values;
	} cases[] = {
		{ parameters_add_list, "x=a", "a" },
		{ parameters_add_list, "x=a,b c,d=e", "a b c d=e" },
		{ parameters_add_list, "x=-O0,-O2", "-O0 -O2" },
		{ parameters_add_range, "x=1..3", "1 2 3" },
		{ parameters_add_range, "x=5..5", "5" },
		{ parameters_add_range, "x=-1..1", "-1 0 1" },
		{ parameters_add_range, "x=1..10:4", "1 5 9" },
		{ parameters_add_range, "x=0.1..0.5:0.2", "0.1 0.3 0.5" },
		{ parameters_add_range, "x=0..1:0.25", "0.00 0.25 0.50 0.75 1.00" },
		{ parameters_add_range, "x=0.1..0.3:0.1", "0.1 0.2 0.3" },
		{ parameters_add_range, "x=999999998..1000000000",
			"999999998 999999999 1000000000" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct parameters parameters = { 0 };
		_cleanup_text_ struct text values = { 0 };

		assert_int_equal(cases[i].add(&parameters, cases[i].text), 0);
		assert_int_equal(parameters.n, 1);
		assert_string_equal(parameters.items[0].name, "x");
		for (size_t k = 0; k < parameters.items[0].n; k++)
			text_appendf(
				&values, "%s%s", k > 0 ? " " : "", parameters.items[0].values[k]);
		assert_string_equal(values.data, cases[i].values);
		parameters_clear(&parameters);
	}
}

/* An empty value is one: a flag that is given or is not. */
static void test_empty_value(void **state)
{
	struct parameters parameters = { 0 };

	(void)state;
	assert_int_equal(parameters_add_list(&parameters, "flag=,-v"), 0);
	assert_int_equal(parameters.items[0].n, 2);
	assert_string_equal(parameters.items[0].values[0], "");
	assert_string_equal(parameters.items[0].values[1], "-v");
	parameters_clear(&parameters);
}

/* Ten values of a list, each with a comma. */
#define TEN(x) x "0," x "1," x "2," x "3," x "4," x "5," x "6," x "7," x "8," x "9,"

static void test_refuses(void **state)
{
	static const struct {
		int (*add)(struct parameters *, const char *);
		const char *text, *word;
	} cases[] = {
		{ parameters_add_list, "", "NAME=" },
		{ parameters_add_list, "x", "NAME=" },
		{ parameters_add_list, "=a", "NAME=" },
		{ parameters_add_list, "1x=a", "NAME=" },
		{ parameters_add_list, "x-y=a", "NAME=" },
		{ parameters_add_list, "known=a", "two parameters" },
		{ parameters_add_list, "x=a,b,a", "'a' of 'x' is given twice" },
		{ parameters_add_list, "x=,", "twice" },
		{ parameters_add_list,
			"x=" TEN("a") TEN("b") TEN("c") TEN("d") TEN("e") TEN("f") TEN("g") TEN("h")
				TEN("i") TEN("j") TEN("k") TEN("l") TEN("m") TEN("n") TEN("o")
					TEN("p") TEN("q") TEN("r") TEN("s") TEN("t") TEN("u")
						TEN("v") TEN("w") TEN("x") TEN("y") TEN("z") "0",
			"too many" },
		{ parameters_add_range, "x=1", "FROM..TO" },
		{ parameters_add_range, "x=1-3", "FROM..TO" },
		{ parameters_add_range, "x=..3", "no range" },
		{ parameters_add_range, "x=1..", "no range" },
		{ parameters_add_range, "x=3..1", "no range" },
		{ parameters_add_range, "x=1..3:", "no range" },
		{ parameters_add_range, "x=1..3:0", "no range" },
		{ parameters_add_range, "x=1..3:-1", "no range" },
		{ parameters_add_range, "x=a..b", "no range" },
		{ parameters_add_range, "x=0..1:0.0000001", "no range" },
		{ parameters_add_range, "x=0..1e3", "no range" },
		{ parameters_add_range, "x=0..99999999999", "no range" },
		{ parameters_add_range, "x=1..257", "too many" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct parameters parameters = { 0 };

		assert_int_equal(parameters_add_list(&parameters, "known=a"), 0);
		assert_int_equal(cases[i].add(&parameters, cases[i].text), -EINVAL);
		assert_non_null(strstr(say_last(), cases[i].word));
		parameters_clear(&parameters);
	}
}

static void test_fills_in(void **state)
{
	static const struct {
		const char *text, *filled;
	} cases[] = {
		{ "", "" },
		{ "sleep {t}", "sleep 0.1" },
		{ "{n}{n} {t}x", "22 0.1x" },
		{ "{} {nn} {N} {n {{n}} n}", "{} {nn} {N} {n {2} n}" },
	};
	static const size_t choice[] = { 1, 0 };
	struct parameters parameters = { 0 };

	(void)state;
	assert_int_equal(parameters_add_range(&parameters, "n=1..2"), 0);
	assert_int_equal(parameters_add_list(&parameters, "t=0.1,{n}"), 0);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char *filled = parameters_fill_in(&parameters, choice, cases[i].text);

		assert_non_null(filled);
		assert_string_equal(filled, cases[i].filled);
		free(filled);
	}
	/* A value is a value, not a text with places of its own. */
	{
		static const size_t other[] = { 0, 1 };
		char *filled = parameters_fill_in(&parameters, other, "{t}");

		assert_non_null(filled);
		assert_string_equal(filled, "{n}");
		free(filled);
	}
	assert_true(parameter_is_in(&parameters.items[0], "a{n}"));
	assert_false(parameter_is_in(&parameters.items[0], "a{t} n"));
	assert_false(parameter_is_in(&parameters.items[0], NULL));
	parameters_clear(&parameters);
}

static void test_all_combinations(void **state)
{
	struct parameters parameters = { 0 };
	size_t choice[PARAMETERS_MAX] = { 0 };
	_cleanup_text_ struct text seen = { 0 };

	(void)state;
	assert_int_equal(parameters_add_range(&parameters, "a=1..2"), 0);
	assert_int_equal(parameters_add_list(&parameters, "b=x,y,z"), 0);
	do {
		char *filled = parameters_fill_in(&parameters, choice, "{a}{b} ");

		assert_non_null(filled);
		text_append(&seen, filled);
		free(filled);
	} while (parameters_choose_next(&parameters, choice));
	assert_string_equal(seen.data, "1x 1y 1z 2x 2y 2z ");
	assert_int_equal(choice[0] + choice[1], 0);
	parameters_clear(&parameters);
	/* Without a parameter there is one choice. */
	assert_false(parameters_choose_next(&parameters, choice));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_empty_value),
		cmocka_unit_test(test_refuses),
		cmocka_unit_test(test_fills_in),
		cmocka_unit_test(test_all_combinations),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
