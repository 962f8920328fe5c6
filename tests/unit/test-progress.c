// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "base/macro.h"
#include "measure/progress.h"

static void test_estimates_what_is_left(void **state)
{
	static const struct {
		uint64_t done, total;
		double elapsed, least, most, left;
	} cases[] = {
		{ 5, 25, 10, 0, INFINITY, 40 },
		{ 25, 25, 10, 0, INFINITY, 0 },
		/* More than was expected: nothing is known of the rest. */
		{ 30, 25, 10, 0, INFINITY, 0 },
		/* --min-time: longer than the runs need. */
		{ 5, 25, 10, 60, INFINITY, 50 },
		{ 5, 25, 10, 20, INFINITY, 40 },
		/* --max-time: shorter than the runs need, or over. */
		{ 5, 25, 10, 0, 30, 20 },
		{ 5, 25, 10, 0, 60, 40 },
		{ 5, 25, 10, 0, 8, 0 },
		{ 5, 25, 10, 20, 30, 20 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct progress_box box = { cases[i].least, cases[i].most };

		assert_float_equal(
			progress_estimate(cases[i].done, cases[i].total, cases[i].elapsed, &box),
			cases[i].left, 1e-9);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_estimates_what_is_left),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
