// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <stdlib.h>

#include "library/core.h"

enum {
	READINGS = 50
};

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/*
 * How busy this machine is decides on single readings, so the test is about the best ones: a core
 * has a clock, does more than one addition per cycle, and never more than it has units for. Under
 * an emulator, and with a coarse clock, there is nothing to read.
 */
static void test_readings(void **state)
{
	double adds[READINGS], hertz[READINGS];
	struct core_reading reading;
	struct core core;
	size_t n = 0;
	int r;

	(void)state;
	r = core_open(&core);
	if (r < 0) {
		assert_true(r == -EOPNOTSUPP || r == -EPERM);
		skip();
	}
	assert_true(core.rounds > 0 && core.least_ns > 0);
	for (size_t i = 0; i < READINGS; i++) {
		core_read(&core, i % 2 == 0 ? 0 : 100000, &reading);
		/* Both are known, or none. */
		assert_true((reading.adds > 0) == (reading.hertz > 0));
		assert_true(reading.adds < 16);
		if (reading.adds > 0) {
			adds[n] = reading.adds;
			hertz[n++] = reading.hertz;
		}
	}
	assert_true(n > 0);
	qsort(adds, n, sizeof(adds[0]), compare);
	qsort(hertz, n, sizeof(hertz[0]), compare);
	assert_true(adds[n - 1] > 0.9);
	assert_true(hertz[n / 2] > 1e8 && hertz[n / 2] < 1e10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_readings),
	};

	return cmocka_run_group_tests_name("core", tests, NULL, NULL);
}
