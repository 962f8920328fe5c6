// SPDX-License-Identifier: GPL-2.0-or-later
/* Searches among many tries, and the file that counts them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "base/macro.h"
#include "judge/report/decision.h"
#include "measure/tries.h"
#include "random.h"

/* A search among fifty patches that change nothing, each at the bound itself, finds none; and a
 * good one is found, also late. */
static void test_searches(void **state)
{
	size_t fooled = 0, found = 0;

	(void)state;
	for (uint64_t search = 0; search < 100; search++) {
		uint64_t random = search * 104729 + 11;
		unsigned n_found = 0;

		for (unsigned t = 1; t <= 50; t++) {
			double change = t == 50 ? -0.05 : -0.01;
			struct decision d;

			decision_begin(&d, 2, 1);
			d.is_for_better = true;
			d.wanted = tries_wanted(t, n_found);
			while (d.n_pairs < 100 && d.verdict == DECISION_NOT_SETTLED)
				decision_add(&d, exp(0.005 * random_normal(&random)),
					(1 + change) * exp(0.005 * random_normal(&random)));
			if (d.verdict == DECISION_FASTER && t < 50)
				n_found++;
			found += t == 50 && d.verdict == DECISION_FASTER;
		}
		fooled += n_found > 0;
	}
	/* Of 100 searches at most one is promised to be fooled. */
	assert_in_range(fooled, 0, 2);
	assert_in_range(found, 95, 100);
}

/* The file of a session. */
static void test_tries(void **state)
{
	static const struct {
		const char *text;
		size_t wrong;
		struct tries_count count;
	} cases[] = {
		{ "", 0, { 0, 0 } },
		{ "quiesce session 1\n", 0, { 0, 0 } },
		{ "quiesce session 1\nbegin 1 t 200 a b\nbegin 2 t 600 x\nend 2 faster\n"
		  "end 1 not faster\n",
			0, { 2, 1 } },
		{ "quiesce session 1\nbegin 1 t 200 a\nend 1 slower\n", 0, { 1, 1 } },
		{ "quiesce session 1\nbegin 1 t 200 a\nend 1 not settled\n", 0, { 1, 0 } },
		{ "quiesce session 2\n", 1, { 0, 0 } },
		{ "{}\n", 1, { 0, 0 } },
		{ "quiesce session 1", 1, { 0, 0 } },
		{ "quiesce session 1\nbegin 2 t 200 a\n", 2, { 0, 0 } },
		{ "quiesce session 1\nbegin 1 t 200 a\nend 2 faster\n", 3, { 0, 0 } },
		{ "quiesce session 1\nbegin 1 t 200 a\nend 1 quicker\n", 3, { 0, 0 } },
		{ "quiesce session 1\nbegin 1 t 200 a\nend 1 faster\nend 1 faster\n", 4, { 0, 0 } },
		{ "quiesce session 1\nbegin -1 t 200 a\n", 2, { 0, 0 } },
		{ "quiesce session 1\nbegin  1 t 200 a\n", 2, { 0, 0 } },
		{ "quiesce session 1\nbegin 1\n", 2, { 0, 0 } },
		{ "quiesce session 1\nbegin 99999999999 t 200 a\n", 2, { 0, 0 } },
		{ "quiesce session 1\n\n", 2, { 0, 0 } },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct tries_count count = { 0, 0 };

		assert_int_equal(tries_parse(cases[i].text, &count), cases[i].wrong);
		assert_int_equal(count.n, cases[i].count.n);
		assert_int_equal(count.found, cases[i].count.found);
	}
	assert_true(tries_wanted(1, 0) == 200 && tries_wanted(50, 0) == 255000);
	assert_true(tries_wanted(2, 1) == 300);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_searches),
		cmocka_unit_test(test_tries),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
