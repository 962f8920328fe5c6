// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "measure/counting.h"

enum {
	TASK_CLOCK,
	APERF,
	MPERF,
	TSC,
	N_OWN,
};

static const struct counting counting = {
	.n = N_OWN,
	.task_clock = TASK_CLOCK,
	.migrations = -1,
	.n_cpu_counters = 3,
	.first_event = N_OWN,
};

static int64_t find_frequency(const struct launch_report *report)
{
	struct evidence evidence;

	evidence_clear(&evidence);
	counting_fill_evidence(&counting, report, &evidence);
	return evidence.frequency_khz;
}

/* A run of 2 ms on a CPU whose TSC has 2 GHz, and which was at work for half of it at 3 GHz. */
static void test_frequency(void **state)
{
	struct launch_report report = {
		.n_cpu_counters = 3,
		.cpu_counters = {
			{ .value = 3000000, .enabled_ns = 2000000, .running_ns = 2000000 },
			{ .value = 2000000, .enabled_ns = 2000000, .running_ns = 2000000 },
			{ .value = 4000000, .enabled_ns = 2000000, .running_ns = 2000000 },
		},
	};

	(void)state;
	assert_int_equal(find_frequency(&report), 3000000);
	/* With records it is known of the program alone. */
	report.n_counters = N_OWN;
	for (int i = APERF; i <= TSC; i++)
		report.counters[i] = report.cpu_counters[i - APERF];
	report.counters[APERF].value = 2500000;
	assert_int_equal(find_frequency(&report), 2500000);
	/* These did not count in this run. */
	report.counters[TSC].running_ns = 0;
	assert_int_equal(find_frequency(&report), 3000000);
	report.cpu_counters[1].value = 0;
	assert_int_equal(find_frequency(&report), -1);
	report.n_cpu_counters = 0;
	assert_int_equal(find_frequency(&report), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_frequency),
	};

	return cmocka_run_group_tests_name("counting", tests, NULL, NULL);
}
