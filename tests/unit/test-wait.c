// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/wait.h"

static int64_t now(void)
{
	return clock_now_ns(CLOCK_MONOTONIC);
}

/* One look is enough where there is no time for more. */
static void test_passed(void **state)
{
	struct wait wait = wait_until(now() - 1, NSEC_PER_SEC, NSEC_PER_SEC);

	(void)state;
	assert_false(wait_step(&wait));
	wait = wait_until(now(), NSEC_PER_SEC, NSEC_PER_SEC);
	assert_false(wait_step(&wait));
}

/* The last look comes at the deadline or after it, and no step leads far beyond. */
static void test_last_look(void **state)
{
	int64_t deadline = now() + 20 * NSEC_PER_MSEC, looked;
	struct wait wait = wait_until(deadline, 3 * NSEC_PER_MSEC, 3600 * NSEC_PER_SEC);
	unsigned looks = 0;

	(void)state;
	do {
		looked = now();
		looks++;
	} while (wait_step(&wait));
	assert_true(looked >= deadline);
	assert_true(looks >= 2);
	assert_false(wait_step(&wait));
}

static void test_steps(void **state)
{
	struct wait wait = wait_until(now() + 3600 * NSEC_PER_SEC, 1000, 3000);
	static const int64_t steps[] = { 1000, 2000, 3000, 3000 };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(steps); i++) {
		assert_true(wait.step_ns == steps[i]);
		assert_true(wait_step(&wait));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_passed),
		cmocka_unit_test(test_last_look),
		cmocka_unit_test(test_steps),
	};

	return cmocka_run_group_tests_name("wait", tests, NULL, NULL);
}
