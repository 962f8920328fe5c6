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
	assert_int_equal(evidence_open(cpus, false, false, &reader), 0);
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

/* Runs of 400 ms, in which the program used so much CPU time, on a CPU that was idle for so much of
 * it. */
static void test_elsewhere(void **state)
{
	static const struct {
		int64_t cpu_ms, idle_ticks, around_ms;
		bool elsewhere;
	} cases[] = {
		{ 300, 10, 0, false }, /* it had the CPU for all of the time that it used */
		{ 300, 13, 0, false }, /* some ticks do not count */
		{ 300, 30, 0, true }, { 0, 40, 0, false }, { 200, 40, 0, true },
		{ 0, 60, 200, false }, /* the launcher slept before or after */
		{ 300, 30, 250, false }, { 300, 99999, 0, false }, /* no such time has passed */
	};
	const struct window_floor floor = { 0 };
	struct evidence_reader *reader;
	struct runlog_reading before = { 0 }, after = { 0 };
	struct runlog_run run = { .before = &before, .after = &after };
	struct evidence evidence;
	struct cpumask *cpus;
	struct series *series;
	char stat[64];
	size_t n;

	(void)state;
	assert_int_equal(cpumask_new(&cpus), 0);
	assert_int_equal(cpumask_set(cpus, 0), 0);
	assert_int_equal(evidence_open(cpus, false, false, &reader), 0);
	assert_int_equal(series_new(true, NULL, &series), 0);
	(void)evidence_files(reader, &n);
	before.texts = calloc(n, sizeof(*before.texts));
	after.texts = calloc(n, sizeof(*after.texts));
	assert_non_null(before.texts);
	assert_non_null(after.texts);
	for (size_t i = 0; i < n; i++)
		before.texts[i].size = after.texts[i].size = -ENODATA;
	before.texts[0] = (struct runlog_text){ "cpu0 0 0 0 0 0 0 0 0\nintr 1\n", 28 };
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		after.texts[0].size = snprintf(stat, sizeof(stat),
			"cpu0 0 0 0 %d 0 0 0 1\nintr 1\n", (int)cases[i].idle_ticks);
		after.texts[0].data = stat;
		run.report = (struct launch_report){
			.end_ns = 400 * NSEC_PER_MSEC,
			.around_ns = cases[i].around_ms * NSEC_PER_MSEC,
			.user_cpu_ns = cases[i].cpu_ms * NSEC_PER_MSEC,
			.run_delay_ns = -1,
			.leader_ran_ns = -1,
			.window = { .cpu_exec = -1, .cpu_exit = -1 },
			.only_cpu = -1,
			.core_after = { .hertz = 1e9, .adds = 2 },
		};
		(void)evidence_take(reader, &run, &floor, series, &evidence);
		assert_int_equal(run.report.left, cases[i].elsewhere);
		assert_int_equal(evidence.elsewhere, cases[i].elsewhere ? 1 : -1);
		/* Nothing that was read of the CPU is known then. */
		assert_int_equal(evidence.steal_ns < 0, cases[i].elsewhere);
		assert_int_equal(evidence.core_khz < 0, cases[i].elsewhere);
		assert_int_equal(evidence.core_shares[EVIDENCE_AFTER] < 0, cases[i].elsewhere);
		assert_true(evidence.user_cpu_ns >= 0);
	}
	/* What an inspection shows of the program counts for the runs before it, too. */
	run.report.left = 0;
	run.report.user_cpu_ns = 0;
	(void)evidence_take(reader, &run, &floor, series, &evidence);
	assert_int_equal(series_append(series,
				 &(struct sample){ .user_ns = 1,
					 .flags = SAMPLE_FAILED | SAMPLE_SHARED | SAMPLE_STEAL },
				 &evidence, NULL),
		0);
	evidence_forget_cpus(reader, series);
	assert_int_equal(series->samples[0].flags, SAMPLE_FAILED | SAMPLE_MIGRATED);
	assert_int_equal(series->evidence[0].elsewhere, 1);
	assert_int_equal(series->evidence[0].steal_ns, -1);

	free(before.texts);
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
		cmocka_unit_test(test_elsewhere),
		cmocka_unit_test(test_softirq_names),
	};

	return cmocka_run_group_tests_name("evidence", tests, NULL, NULL);
}
