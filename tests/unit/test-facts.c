// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/facts.h"
#include "base/macro.h"

static void test_types(void **state)
{
	struct facts facts = { 0 };
	char name[] = "name", value[] = "value";

	(void)state;
	facts_set_string(&facts, name, value);
	facts_set_stringf(&facts, "made", "%s-%d", "x", 5);
	facts_set_integer(&facts, "low", INT64_MIN);
	facts_set_integer(&facts, "high", INT64_MAX);
	facts_set_real(&facts, "real", -0.25);
	/* Both were copied. */
	memset(name, 'x', sizeof(name) - 1);
	memset(value, 'x', sizeof(value) - 1);

	assert_int_equal(facts.n, 5);
	assert_false(facts.failed);
	assert_int_equal(facts_find(&facts, "name")->type, FACT_STRING);
	assert_string_equal(facts_find(&facts, "name")->string, "value");
	assert_string_equal(facts_find(&facts, "made")->string, "x-5");
	assert_int_equal(facts_find(&facts, "low")->type, FACT_INTEGER);
	assert_true(facts_find(&facts, "low")->integer == INT64_MIN);
	assert_true(facts_find(&facts, "high")->integer == INT64_MAX);
	assert_int_equal(facts_find(&facts, "real")->type, FACT_REAL);
	assert_true(facts_find(&facts, "real")->real == -0.25);
	assert_true(facts_find_real(&facts, "real") == -0.25);
	assert_true(facts_find_real(&facts, "high") == (double)INT64_MAX);
	assert_true(isnan(facts_find_real(&facts, "made")));
	assert_true(isnan(facts_find_real(&facts, "nam")));
	assert_null(facts_find(&facts, "nam"));
	assert_null(facts_find(&facts, ""));
	facts_clear(&facts);
	assert_null(facts_find(&facts, "name"));
	assert_int_equal(facts.n, 0);
}

/* What a list says already it goes on to say. */
static void test_add(void **state)
{
	struct facts facts = { 0 }, more = { 0 };

	(void)state;
	facts_set_integer(&facts, "a", 1);
	facts_set_string(&more, "b", "two");
	facts_set_integer(&more, "a", 2);
	facts_set_real(&more, "c", 0.5);
	facts_add(&facts, &more);
	facts_clear(&more);
	assert_int_equal(facts.n, 3);
	assert_int_equal(facts_find(&facts, "a")->integer, 1);
	assert_string_equal(facts_find_string(&facts, "b"), "two");
	assert_true(facts_find_real(&facts, "c") == 0.5);
	facts_clear(&facts);
}

/* What is not known is not set, and does not delete what was known. */
static void test_nothing(void **state)
{
	struct facts facts = { 0 };

	(void)state;
	facts_set_string(&facts, "a", NULL);
	facts_set_real(&facts, "a", NAN);
	facts_set_real(&facts, "a", INFINITY);
	facts_set_real(&facts, "a", -INFINITY);
	assert_int_equal(facts.n, 0);
	assert_false(facts.failed);
	facts_set_real(&facts, "a", 1);
	facts_set_real(&facts, "a", NAN);
	facts_set_string(&facts, "a", NULL);
	assert_true(facts_find(&facts, "a")->real == 1);
	facts_clear(&facts);
}

/* A new value takes the old place, whatever the types. */
static void test_replace(void **state)
{
	struct facts facts = { 0 };

	(void)state;
	facts_set_string(&facts, "first", "old");
	facts_set_integer(&facts, "second", 2);
	facts_set_string(&facts, "first", "new");
	assert_string_equal(facts.items[0].string, "new");
	facts_set_integer(&facts, "first", 7);
	assert_int_equal(facts.items[0].type, FACT_INTEGER);
	facts_set_string(&facts, "first", "text");
	facts_set_real(&facts, "first", 0.5);
	facts_set_string(&facts, "second", "two");
	assert_int_equal(facts.n, 2);
	assert_string_equal(facts.items[0].name, "first");
	assert_true(facts.items[0].real == 0.5);
	assert_string_equal(facts.items[1].name, "second");
	assert_string_equal(facts.items[1].string, "two");
	/* From itself. */
	facts_set_string(&facts, "second", facts_find(&facts, "second")->string);
	assert_string_equal(facts.items[1].string, "two");
	facts_clear(&facts);
}

static void test_order(void **state)
{
	struct facts facts = { 0 };
	char name[32];

	(void)state;
	for (int i = 0; i < 500; i++) {
		snprintf(name, sizeof(name), "fact %d", (i * 7) % 500);
		facts_set_integer(&facts, name, i);
	}
	assert_int_equal(facts.n, 500);
	for (int i = 0; i < 500; i++) {
		snprintf(name, sizeof(name), "fact %d", (i * 7) % 500);
		assert_string_equal(facts.items[i].name, name);
		assert_int_equal(facts.items[i].integer, i);
	}
	facts_clear(&facts);
	facts_clear(&facts);
}

/* As Python: datetime.fromtimestamp(...).isoformat(' '). */
static void test_date(void **state)
{
	static const struct {
		struct timespec time;
		const char *text;
	} cases[] = {
		{ { 0, 0 }, "1970-01-01 00:00:00" },
		{ { 1780000000, 0 }, "2026-05-28 20:26:40" },
		{ { 1780000000, 999 }, "2026-05-28 20:26:40" },
		{ { 1780000000, 1000 }, "2026-05-28 20:26:40.000001" },
		{ { 1780000000, 999999999 }, "2026-05-28 20:26:40.999999" },
	};
	struct facts facts = { 0 };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		facts_set_date(&facts, "date", &cases[i].time);
		assert_string_equal(facts_find_string(&facts, "date"), cases[i].text);
	}
	/* The year does not fit into an int, where a time has 64 bits. */
	if (sizeof(time_t) > sizeof(int32_t)) {
		facts_set_date(&facts, "never", &(struct timespec){ (time_t)INT64_MAX, 0 });
		assert_null(facts_find(&facts, "never"));
	}
	facts_clear(&facts);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_types),
		cmocka_unit_test(test_add),
		cmocka_unit_test(test_nothing),
		cmocka_unit_test(test_replace),
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_date),
	};

	setenv("TZ", "UTC0", 1);
	tzset();
	return cmocka_run_group_tests_name("facts", tests, NULL, NULL);
}
