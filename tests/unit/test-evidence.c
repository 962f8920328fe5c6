// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "basic/clock.h"
#include "basic/macro.h"
#include "machine/procstat.h"
#include "runpinned/evidence.h"

/* A reading serves for the next run as long as it is new. It may have waited in the run log for
 * long before it is taken. */
static void test_age(void **state)
{
	const struct window_floor floor = { 0 };
	struct evidence_reader *reader;
	struct runlog_reading after = { 0 };
	struct runlog_run run = { .after = &after };
	struct evidence evidence;
	struct cpumask *cpus;
	struct series *series;
	size_t n;

	(void)state;
	assert_int_equal(cpumask_new(&cpus), 0);
	assert_int_equal(cpumask_set(cpus, 0), 0);
	assert_int_equal(evidence_open(cpus, false, &reader), 0);
	assert_int_equal(series_new(true, NULL, &series), 0);
	(void)evidence_files(reader, &n);
	after.texts = calloc(n, sizeof(*after.texts));
	assert_non_null(after.texts);
	for (size_t i = 0; i < n; i++)
		after.texts[i].size = -ENODATA;

	assert_true(evidence_begin(reader));
	run.report.end_ns = clock_now_ns(CLOCK_MONOTONIC_RAW) - 5 * NSEC_PER_MSEC;
	(void)evidence_take(reader, &run, &floor, series, &evidence);
	assert_true(evidence_begin(reader));
	/* Of a time to come, however slow this test is. */
	run.report.end_ns = clock_now_ns(CLOCK_MONOTONIC_RAW) + 3600 * NSEC_PER_SEC;
	(void)evidence_take(reader, &run, &floor, series, &evidence);
	assert_false(evidence_begin(reader));

	free(after.texts);
	series_free(series);
	evidence_free(reader);
	cpumask_free(cpus);
}

/* A result's names of softirqs are those of the kernel that they were counted by. */
static void test_softirq_names(void **state)
{
	(void)state;
	for (size_t i = 0; i < EVIDENCE_N_SOFTIRQS; i++)
		assert_string_equal(series_softirq_name(i), procstat_softirq_name(i));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_age),
		cmocka_unit_test(test_softirq_names),
	};

	return cmocka_run_group_tests_name("evidence", tests, NULL, NULL);
}
