// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/machine/procstat.h"
#include "base/macro.h"
#include "measure/evidence.h"

/* A run on CPU 0, and what was read after it: nothing. */
struct fixture {
	struct cpumask *cpus;
	struct evidence_reader *reader;
	struct series *series;
	size_t n_files;
	struct runlog_reading after;
	struct runlog_run run;
};

static const struct window_floor no_floor;

static struct runlog_text *make_texts(size_t n)
{
	struct runlog_text *texts = calloc(n, sizeof(*texts));

	assert_non_null(texts);
	for (size_t i = 0; i < n; i++)
		texts[i].size = -ENODATA;
	return texts;
}

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	assert_int_equal(cpumask_new(&f->cpus), 0);
	assert_int_equal(cpumask_set(f->cpus, 0), 0);
	f->reader = evidence_open(f->cpus, false, false);
	f->series = series_new(true, NULL);
	(void)evidence_files(f->reader, &f->n_files);
	f->after.texts = make_texts(f->n_files);
	f->run.after = &f->after;
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	free(f->after.texts);
	series_free(f->series);
	evidence_free(f->reader);
	cpumask_free(f->cpus);
	free(f);
	return 0;
}

/* A reading serves for the next run as long as it is new. It may have waited in the run log for
 * long before it is taken. */
static void test_age(void **state)
{
	struct fixture *f = *state;
	struct evidence evidence;

	assert_true(evidence_begin(f->reader));
	f->run.report.end_ns = clock_now_ns(CLOCK_MONOTONIC_RAW) - 5 * NSEC_PER_MSEC;
	(void)evidence_take(f->reader, &f->run, &no_floor, f->series, &evidence);
	assert_true(evidence_begin(f->reader));
	/* Of a time to come, however slow this test is. */
	f->run.report.end_ns = clock_now_ns(CLOCK_MONOTONIC_RAW) + 3600 * NSEC_PER_SEC;
	(void)evidence_take(f->reader, &f->run, &no_floor, f->series, &evidence);
	assert_false(evidence_begin(f->reader));
}

static struct runlog_text text_of(const char *text)
{
	return (struct runlog_text){ text, (ssize_t)strlen(text) };
}

/* What the launcher did not read again, because it has not changed, is as it was. */
static void test_unchanged(void **state)
{
	struct fixture *f = *state;
	struct runlog_text *texts = f->after.texts;
	struct evidence evidence;

	texts[0] = text_of("cpu0 0 0 0 0 0 0 0 0\nprocs_running 3\n");
	texts[2] = text_of("      CPU0\n  TIMER: 7\n");
	texts[3] = text_of("0.25 0 0 1/2 3\n");
	(void)evidence_take(f->reader, &f->run, &no_floor, f->series, &evidence);
	assert_true(evidence.load1 == 0.25F);
	assert_int_equal(evidence.runnable, 3);

	texts[0] = text_of("cpu0 0 0 0 0 0 0 0 0\nprocs_running 2\n");
	texts[2].size = texts[3].size = RUNLOG_UNCHANGED;
	(void)evidence_take(f->reader, &f->run, &no_floor, f->series, &evidence);
	assert_true(evidence.load1 == 0.25F);
	assert_int_equal(evidence.runnable, 2);
	for (size_t i = 0; i < EVIDENCE_N_SOFTIRQS; i++)
		assert_int_equal(evidence.softirqs[i], 0);
	(void)evidence_ask_temperature(f->reader);
	(void)evidence_take(f->reader, &f->run, &no_floor, f->series, &evidence);
	assert_true(evidence.load1 == 0.25F);

	/* What cannot be read is not known. */
	for (size_t i = 0; i < 4; i++)
		texts[i].size = -EIO;
	(void)evidence_take(f->reader, &f->run, &no_floor, f->series, &evidence);
	assert_true(isnan(evidence.load1));
	assert_int_equal(evidence.runnable, -1);
	assert_int_equal(evidence.softirqs[1], -1);
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
	struct fixture *f = *state;
	struct runlog_reading before = { .texts = make_texts(f->n_files) };
	struct runlog_run *run = &f->run;
	struct evidence evidence;
	char stat[64];

	run->before = &before;
	before.texts[0] = (struct runlog_text){ "cpu0 0 0 0 0 0 0 0 0\nintr 1\n", 28 };
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		f->after.texts[0].size = snprintf(stat, sizeof(stat),
			"cpu0 0 0 0 %d 0 0 0 1\nintr 1\n", (int)cases[i].idle_ticks);
		f->after.texts[0].data = stat;
		run->report = (struct launch_report){
			.end_ns = 400 * NSEC_PER_MSEC,
			.around_ns = cases[i].around_ms * NSEC_PER_MSEC,
			.user_cpu_ns = cases[i].cpu_ms * NSEC_PER_MSEC,
			.run_delay_ns = -1,
			.leader_ran_ns = -1,
			.window = { .cpu_exec = -1, .cpu_exit = -1 },
			.only_cpu = -1,
			.core_after = { .hertz = 1e9, .adds = 2 },
		};
		(void)evidence_take(f->reader, run, &no_floor, f->series, &evidence);
		assert_int_equal(run->report.left, cases[i].elsewhere);
		assert_int_equal(evidence.elsewhere, cases[i].elsewhere ? 1 : -1);
		/* Nothing that was read of the CPU is known then. */
		assert_int_equal(evidence.steal_ns < 0, cases[i].elsewhere);
		assert_int_equal(evidence.core_khz < 0, cases[i].elsewhere);
		assert_int_equal(evidence.core_shares[EVIDENCE_AFTER] < 0, cases[i].elsewhere);
		assert_true(evidence.user_cpu_ns >= 0);
	}
	/* What an inspection shows of the program counts for the runs before it, too. */
	run->report.left = 0;
	run->report.user_cpu_ns = 0;
	(void)evidence_take(f->reader, run, &no_floor, f->series, &evidence);
	assert_int_equal(series_append(f->series,
				 &(struct sample){ .user_ns = 1,
					 .flags = SAMPLE_FAILED | SAMPLE_SHARED | SAMPLE_STEAL |
						 SAMPLE_QUOTA },
				 &evidence, NULL),
		0);
	evidence_forget_cpus(f->reader, f->series);
	/* The quota is that of its cgroup, on whatever CPUs. */
	assert_int_equal(
		f->series->samples[0].flags, SAMPLE_FAILED | SAMPLE_MIGRATED | SAMPLE_QUOTA);
	assert_int_equal(f->series->evidence[0].elsewhere, 1);
	assert_int_equal(f->series->evidence[0].steal_ns, -1);

	free(before.texts);
}

/* What tells of the quota: files of one cgroup or of several, with the time in either unit. */
static void test_quota(void **state)
{
	enum {
		FILES = 2,
	};
	static const struct {
		const char *before[FILES], *after[FILES];
		int64_t ns;
	} cases[] = {
		{ { NULL }, { NULL }, -1 },
		{ { "throttled_usec 5\n" }, { "throttled_usec 12\n" }, 7000 },
		{ { "throttled_time 5\n" }, { "throttled_time 5\n" }, 0 },
		/* The levels of a hierarchy. */
		{ { "nr_throttled 1\nthrottled_usec 5\n", "throttled_usec 1\n" },
			{ "nr_throttled 2\nthrottled_usec 6\n", "throttled_usec 3\n" }, 3000 },
		/* Of another cgroup, or of none. */
		{ { "throttled_usec 12\n" }, { "throttled_usec 5\n" }, -1 },
		{ { "throttled_usec 12\n" }, { "nr_periods 5\n" }, -1 },
		{ { "throttled_usec x\n" }, { "throttled_usec 5\n" }, -1 },
		{ { "throttled_usec 1\n" }, { "throttled_usec 18446744073709551615\n" }, -1 },
		{ { "throttled_time 1\n", "throttled_time 1\n" },
			{ "throttled_time 9223372036854775807\n", "throttled_time 9\n" }, -1 },
		{ { "throttled_usec 1\n", "throttled_usec 1\n" }, { "throttled_usec 2\n", "" },
			-1 },
	};
	struct fixture *f = *state;
	struct runlog_reading before = { .texts = make_texts(f->n_files) };
	const struct evidence_file *files = evidence_files(f->reader, &f->n_files);
	struct evidence evidence;
	size_t first = 0;

	while (files[first].path)
		assert_true(++first < f->n_files);
	f->run.before = &before;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		for (size_t k = 0; first + k < f->n_files && !files[first + k].path; k++) {
			const char *a = k < FILES ? cases[i].before[k] : NULL;
			const char *b = k < FILES ? cases[i].after[k] : NULL;

			before.texts[first + k] =
				(struct runlog_text){ a, a ? (ssize_t)strlen(a) : -ENOENT };
			f->after.texts[first + k] =
				(struct runlog_text){ b, b ? (ssize_t)strlen(b) : -ENOENT };
		}
		(void)evidence_take(f->reader, &f->run, &no_floor, f->series, &evidence);
		assert_int_equal(evidence.quota_throttled_ns, cases[i].ns);
	}
	/* A file that cannot be read any more. */
	before.texts[first] = f->after.texts[first] =
		(struct runlog_text){ "throttled_usec 1\n", 17 };
	f->after.texts[first + 1].size = -EACCES;
	(void)evidence_take(f->reader, &f->run, &no_floor, f->series, &evidence);
	assert_int_equal(evidence.quota_throttled_ns, -1);
	free(before.texts);
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
		cmocka_unit_test_setup_teardown(test_age, setup, teardown),
		cmocka_unit_test_setup_teardown(test_unchanged, setup, teardown),
		cmocka_unit_test_setup_teardown(test_elsewhere, setup, teardown),
		cmocka_unit_test_setup_teardown(test_quota, setup, teardown),
		cmocka_unit_test(test_softirq_names),
	};

	return cmocka_run_group_tests_name("evidence", tests, NULL, NULL);
}
