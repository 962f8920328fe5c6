// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdbool.h>

#include "base/macro.h"
#include "measure/judge.h"

static struct launch_report sound_report(void)
{
	return (struct launch_report){
		.start_ns = 1000,
		.end_ns = 10 * NSEC_PER_MSEC,
		.max_rss_kib = 1000,
		.window = {
			.exec_ns = 2000,
			.exit_ns = 10 * NSEC_PER_MSEC - 50000,
			.n_exec = 1,
			.n_exit = 1,
		},
	};
}

static enum window_verdict judge(const struct launch_report *report, int64_t floor_reap_ns)
{
	const struct window_floor floor = { .reap_ns = floor_reap_ns };

	return judge_window(report, &floor);
}

static void test_window(void **state)
{
	struct launch_report r = sound_report();

	(void)state;
	assert_int_equal(judge(&r, 50000), WINDOW_SOUND);

	r = sound_report();
	r.window.n_exec = 3;
	assert_int_equal(judge(&r, 50000), WINDOW_SOUND);

	r = sound_report();
	r.window.n_exec = 0;
	assert_int_equal(judge(&r, 50000), WINDOW_MISSING);
	r = sound_report();
	r.window.n_exit = 0;
	assert_int_equal(judge(&r, 50000), WINDOW_MISSING);
	r = sound_report();
	r.window.n_exit = 2;
	assert_int_equal(judge(&r, 50000), WINDOW_MISSING);
	r = sound_report();
	/* The exit record is among the lost ones: the launcher's stamp is the end. */
	r.window.n_lost = 1;
	r.window.n_exit = 0;
	r.window.exit_ns = 0;
	assert_int_equal(judge(&r, 50000), WINDOW_DOUBTFUL);
	assert_int_equal(judge_window_end(&r), r.end_ns);

	/* Impossible orders of stamps and records. */
	r = sound_report();
	r.window.exec_ns = 999;
	assert_int_equal(judge(&r, 50000), WINDOW_MISSING);
	r = sound_report();
	r.window.exit_ns = r.window.exec_ns;
	assert_int_equal(judge(&r, 50000), WINDOW_MISSING);
	r = sound_report();
	r.window.exit_ns = r.end_ns + 1;
	assert_int_equal(judge(&r, 50000), WINDOW_MISSING);
}

static void test_life_after_the_exit_record(void **state)
{
	struct launch_report r = sound_report();

	(void)state;
	/* 3 ms: a delay that may happen with a single thread, but is too long when a thread may
	 * live on. */
	r.window.exit_ns = r.end_ns - 3 * NSEC_PER_MSEC;
	assert_int_equal(judge(&r, 50000), WINDOW_SOUND);
	r.window.n_threads = 1;
	assert_int_equal(judge(&r, 50000), WINDOW_DOUBTFUL);
	/* If the empty program already takes that long on a machine, it proves nothing. */
	assert_int_equal(judge(&r, NSEC_PER_MSEC), WINDOW_SOUND);

	/* 1 GiB takes 100 ms to be freed; without so much memory there is no other reason for the
	 * delay. */
	r = sound_report();
	r.end_ns = NSEC_PER_SEC;
	r.window.exit_ns = r.end_ns - 100 * NSEC_PER_MSEC;
	assert_int_equal(judge(&r, 50000), WINDOW_DOUBTFUL);
	r.max_rss_kib = 1024 * 1024;
	assert_int_equal(judge(&r, 50000), WINDOW_SOUND);
}

/* On a busy machine the launcher waits for its CPU before it can see that the program has ended,
 * and the program before its memory is freed. */
static void test_wait_after_the_exit_record(void **state)
{
	struct launch_report r = sound_report();

	(void)state;
	r.end_ns = NSEC_PER_SEC;
	r.window.exit_ns = r.end_ns - 60 * NSEC_PER_MSEC;
	assert_int_equal(judge(&r, 50000), WINDOW_DOUBTFUL);
	r.launcher_delay_ns = -1;
	assert_int_equal(judge(&r, 50000), WINDOW_DOUBTFUL);
	r.launcher_delay_ns = 58 * NSEC_PER_MSEC;
	assert_int_equal(judge(&r, 50000), WINDOW_SOUND);
	r.launcher_delay_ns = 40 * NSEC_PER_MSEC;
	assert_int_equal(judge(&r, 50000), WINDOW_DOUBTFUL);
	/* The main thread waited for 23 ms, of which the records up to its end know 3 ms. */
	r.run_delay_ns = 23 * NSEC_PER_MSEC;
	assert_int_equal(judge(&r, 50000), WINDOW_DOUBTFUL);
	r.tree_tried = 1;
	r.tree = (struct tree){
		.n_tasks = 1,
		.n_ended = 1,
		.exit_ns = r.window.exit_ns,
		.leader_waited_ns = 3 * NSEC_PER_MSEC,
	};
	assert_int_equal(judge(&r, 50000), WINDOW_SOUND);
	r.tree.leader_waited_ns = 13 * NSEC_PER_MSEC;
	assert_int_equal(judge(&r, 50000), WINDOW_DOUBTFUL);
}

/* The kernel drops the event of a program that gains privileges 10 us after its exec, and the time
 * until it has ended is explained by its waiting. */
static void test_dropped_in_execve(void **state)
{
	struct window_floor floor = { .reap_ns = 50000, .run_ns = 200000 };
	struct launch_report r = sound_report();

	(void)state;
	r.launcher_delay_ns = r.end_ns;
	r.window.n_exec = 2;
	r.window.last_exec_ns = 1000000;
	r.window.exit_ns = r.window.last_exec_ns + 10000;
	assert_int_equal(judge_window(&r, &floor), WINDOW_MISSING);
	r.window.exit_ns = r.window.last_exec_ns + 50000;
	assert_int_equal(judge_window(&r, &floor), WINDOW_SOUND);
}

/* A process with 1 GiB of memory, whose main thread ended 50 ms before another one. */
static void test_end_of_all_threads(void **state)
{
	struct launch_report r = sound_report();

	(void)state;
	r.end_ns = NSEC_PER_SEC;
	r.max_rss_kib = 1024 * 1024;
	r.window.exit_ns = r.end_ns - 150 * NSEC_PER_MSEC;
	r.window.n_threads = 1;
	r.tree_tried = 1;
	r.tree = (struct tree){
		.n_tasks = 2,
		.n_ended = 2,
		.exit_ns = r.end_ns - 100 * NSEC_PER_MSEC,
	};
	assert_int_equal(judge(&r, 50000), WINDOW_SOUND);
	assert_int_equal(judge_window_end(&r), r.tree.exit_ns);
	/* Where records of the other threads were lost, these may have lived on while the memory
	 * seems to be freed. */
	r.tree.n_lost = 1;
	assert_int_equal(judge(&r, 50000), WINDOW_DOUBTFUL);
	assert_int_equal(judge_window_end(&r), r.window.exit_ns);
	r.tree.n_lost = 0;
	/* All ended, and yet the process lived on: the kernel had dropped the event. */
	r.max_rss_kib = 1024;
	assert_int_equal(judge(&r, 50000), WINDOW_DOUBTFUL);
	/* The exit records of all threads make up for the one that was lost. */
	r = sound_report();
	r.window.n_lost = 1;
	r.window.n_exit = 0;
	r.window.exit_ns = 0;
	r.tree_tried = 1;
	r.tree.exit_ns = r.end_ns - 50000;
	assert_int_equal(judge(&r, 50000), WINDOW_SOUND);
	/* A thread has not ended, or records of the other threads were lost, too. */
	r.tree.n_threads = 1;
	assert_int_equal(judge(&r, 50000), WINDOW_DOUBTFUL);
	r.tree.n_threads = 0;
	r.tree.n_lost = 1;
	assert_int_equal(judge(&r, 50000), WINDOW_DOUBTFUL);
}

/* Each case has one sign in the report or in the evidence, and the only flag that it causes. */
static void test_flags(void **state)
{
	const struct launch_report sound = sound_report();
	struct launch_report report = sound;
	struct run_facts facts = { .report = &report, .window = WINDOW_SOUND, .hot = 90 };
	struct evidence nothing, evidence;

	(void)state;
	assert_int_equal(judge_run(&facts), 0);
	/* Without evidence nothing is known of the waiting. */
	report.involuntary_switches = 1;
	assert_int_equal(judge_run(&facts), 0);
	report = sound;
	report.leftover = 1;
	assert_int_equal(judge_run(&facts), SAMPLE_LEFTOVER);
	report = sound;
	report.status = 256;
	assert_int_equal(judge_run(&facts), SAMPLE_FAILED);

	report = sound;
	facts.window = WINDOW_DOUBTFUL;
	assert_int_equal(judge_run(&facts), 0);
	report.stamper = STAMPER_TASK_EVENT;
	assert_int_equal(judge_run(&facts), SAMPLE_WINDOW);
	report.window_error = 13;
	assert_int_equal(judge_run(&facts), 0);

	report = sound;
	facts.window = WINDOW_SOUND;
	facts.evidence = &evidence;
	evidence_clear(&nothing);
	evidence = nothing;
	assert_int_equal(judge_run(&facts), 0);
	/* However often it was taken off its CPU, what counts is how long: 1 % of 10 ms. */
	report.involuntary_switches = 9;
	evidence.run_delay_ns = 99000;
	assert_int_equal(judge_run(&facts), 0);
	evidence.run_delay_ns = 100000;
	assert_int_equal(judge_run(&facts), SAMPLE_PREEMPTED);
	/* On a kernel that does not tell how long, the count has to do, for a single task. */
	evidence = nothing;
	assert_int_equal(judge_run(&facts), SAMPLE_PREEMPTED);
	report.window.n_children = 1;
	assert_int_equal(judge_run(&facts), 0);
	report = sound;
	evidence.migrations = 1;
	assert_int_equal(judge_run(&facts), SAMPLE_MIGRATED);
	evidence = nothing;
	evidence.cpu_first = 2;
	assert_int_equal(judge_run(&facts), 0);
	evidence.cpu_last = 3;
	assert_int_equal(judge_run(&facts), SAMPLE_MIGRATED);
	evidence = nothing;
	evidence.irq_device = 1;
	evidence.irq_timer = evidence.irq_ipi = evidence.irq_other = 9;
	assert_int_equal(judge_run(&facts), SAMPLE_IRQ);
	evidence = nothing;
	evidence.steal_ns = 1;
	assert_int_equal(judge_run(&facts), SAMPLE_STEAL);
	evidence = nothing;
	evidence.quota_throttled_ns = 1;
	assert_int_equal(judge_run(&facts), 0);
	evidence.quota_throttled_ns = NSEC_PER_SEC;
	assert_int_equal(judge_run(&facts), SAMPLE_QUOTA);
	/* It is the quota that took the CPU, as far as it is known. */
	report.involuntary_switches = 1;
	assert_int_equal(judge_run(&facts), SAMPLE_QUOTA);
	report = sound;
	evidence = nothing;
	evidence.throttles = 1;
	assert_int_equal(judge_run(&facts), SAMPLE_THROTTLED);
	evidence = nothing;
	facts.thermal = true;
	assert_int_equal(judge_run(&facts), SAMPLE_THROTTLED);
	facts.thermal = false;
	evidence.temperature_before = 95;
	evidence.temperature_after = 89;
	assert_int_equal(judge_run(&facts), 0);
	evidence.temperature_after = 90;
	assert_int_equal(judge_run(&facts), SAMPLE_HOT);
}

/* Tracepoints and events of the CPUs see the end of the last thread, whatever the program is. */
static void test_stamps_that_are_the_last(void **state)
{
	struct launch_report r = sound_report();

	(void)state;
	r.window.is_last = 1;
	r.window.n_threads = 3;
	r.window.n_exec = 2;
	r.window.exit_ns = r.end_ns - 9 * NSEC_PER_MSEC;
	assert_int_equal(judge(&r, 50000), WINDOW_SOUND);
	assert_int_equal(judge_window_end(&r), r.window.exit_ns);
	r.window.exit_ns = r.end_ns + 1;
	assert_int_equal(judge(&r, 50000), WINDOW_MISSING);
}

/* A wrapper executes a setuid program: the event is gone, and its exit record lies at that exec. */
static void test_event_that_is_dropped_by_exec(void **state)
{
	const struct window_floor floor = { .reap_ns = 50000, .gap_ns = 75000, .one_cpu = true };
	struct launch_report r = sound_report();

	(void)state;
	r.window.n_exec = 2;
	r.window.exit_ns = r.end_ns - 4 * NSEC_PER_MSEC;
	assert_int_equal(judge(&r, 50000), WINDOW_DOUBTFUL);
	r.window.n_exec = 1;
	assert_int_equal(judge(&r, 50000), WINDOW_SOUND);
	/* However the end came to be so early: the run used more CPU time than the window has. What
	 * lies outside may take several times as long as that of the empty program. */
	r.user_cpu_ns = 6 * NSEC_PER_MSEC + 500000;
	assert_int_equal(judge_window(&r, &floor), WINDOW_SOUND);
	r.user_cpu_ns = 5 * NSEC_PER_MSEC;
	r.system_cpu_ns = 4 * NSEC_PER_MSEC;
	assert_int_equal(judge_window(&r, &floor), WINDOW_DOUBTFUL);
	r.system_cpu_ns = NSEC_PER_MSEC;
	assert_int_equal(judge_window(&r, &floor), WINDOW_SOUND);
	/* Several CPUs give more CPU time than there is time. */
	r.system_cpu_ns = 8 * NSEC_PER_MSEC;
	assert_int_equal(judge(&r, 50000), WINDOW_SOUND);
}

static void test_waiting(void **state)
{
	const struct window_floor floor = { .reap_ns = 50000, .gap_ns = 70000, .one_cpu = true };
	const struct window_floor many = { .reap_ns = 50000, .gap_ns = 70000 };
	struct launch_report r = sound_report();
	int64_t window_ns = r.window.exit_ns - r.window.exec_ns;

	(void)state;
	/* A single task that had its CPU for all but 2 ms. What the kernel does before exec and
	 * after the exit is CPU time outside of the window. */
	r.max_rss_kib = 0;
	r.run_delay_ns = 2 * NSEC_PER_MSEC;
	r.leader_ran_ns = window_ns - 2 * NSEC_PER_MSEC + 51000;
	r.user_cpu_ns = r.leader_ran_ns;
	assert_int_equal(judge_waiting(&r, &floor), 2 * NSEC_PER_MSEC);
	assert_int_equal(judge_off_cpu(&r, &floor), 2 * NSEC_PER_MSEC);
	assert_int_equal(judge_waiting(&r, &many), 2 * NSEC_PER_MSEC);
	assert_int_equal(judge_off_cpu(&r, &many), -1);
	/* It waited for 5 ms more after its end, while its memory was to be freed. */
	r.run_delay_ns += 5 * NSEC_PER_MSEC;
	assert_int_equal(judge_waiting(&r, &floor), 2 * NSEC_PER_MSEC);
	/* It slept for the rest. */
	r.run_delay_ns = 300000;
	assert_int_equal(judge_waiting(&r, &floor), 300000);
	/* Not known is not 0. */
	r.run_delay_ns = -1;
	assert_int_equal(judge_waiting(&r, &floor), -1);
	/* Tasks of one program wait for each other: without records nobody can tell. */
	r.run_delay_ns = 2 * NSEC_PER_MSEC;
	r.window.n_children = 1;
	assert_int_equal(judge_waiting(&r, &floor), -1);
	assert_int_equal(judge_off_cpu(&r, &floor), 2 * NSEC_PER_MSEC);
	r.tree_tried = 1;
	r.tree = (struct tree){ .n_tasks = 2, .n_ended = 2, .waited_ns = NSEC_PER_MSEC };
	assert_int_equal(judge_waiting(&r, &floor), NSEC_PER_MSEC);
	/* The records took time at each switch, in which nobody ran. */
	r.tree.waited_ns = 3 * NSEC_PER_MSEC;
	assert_int_equal(judge_waiting(&r, &floor), 2 * NSEC_PER_MSEC);

	/* What it waited for the reader of its output is none of it. */
	r.reader_cpu_ns = 2 * NSEC_PER_MSEC - NSEC_PER_MSEC / 2;
	assert_int_equal(judge_waiting(&r, &floor), 3 * NSEC_PER_MSEC / 2);
	r.reader_cpu_ns = 4 * NSEC_PER_MSEC;
	assert_int_equal(judge_waiting(&r, &floor), 0);

	/* Without any stamps of the kernel: a single task is one that used all the CPU time. */
	r = sound_report();
	r.window = (struct window){ 0 };
	r.run_delay_ns = NSEC_PER_MSEC;
	r.leader_ran_ns = r.user_cpu_ns = 5 * NSEC_PER_MSEC;
	assert_int_equal(judge_waiting(&r, &floor), NSEC_PER_MSEC);
	r.user_cpu_ns = 5 * NSEC_PER_MSEC + 20000;
	assert_int_equal(judge_waiting(&r, &floor), -1);
}

static void test_left(void **state)
{
	const struct window_floor floor = { .reap_ns = 50000, .gap_ns = 70000, .one_cpu = true };
	struct launch_report r = sound_report();
	int64_t window_ns = r.window.exit_ns - r.window.exec_ns;
	struct cpumask *cpus;

	(void)state;
	assert_int_equal(cpumask_new(&cpus), 0);
	assert_int_equal(cpumask_set(cpus, 1), 0);
	r.max_rss_kib = 0;
	r.window.cpu_exec = r.window.cpu_exit = 1;
	assert_false(judge_left(&r, &floor, cpus));
	/* The last thread has ended on another CPU; or the main thread was allowed on another. */
	r.window.cpu_exit = 0;
	assert_true(judge_left(&r, &floor, cpus));
	r.window.cpu_exit = -1;
	assert_false(judge_left(&r, &floor, cpus));
	r.left = 1;
	assert_true(judge_left(&r, &floor, cpus));
	/* All the time of a CPU, and what the kernel needs before and after; and more than that. */
	r.left = 0;
	r.user_cpu_ns = window_ns + 500000;
	assert_false(judge_left(&r, &floor, cpus));
	r.user_cpu_ns = window_ns + window_ns / 2;
	assert_true(judge_left(&r, &floor, cpus));
	assert_int_equal(cpumask_set(cpus, 3), 0);
	assert_false(judge_left(&r, &floor, cpus));
	r.user_cpu_ns = 3 * window_ns;
	assert_true(judge_left(&r, &floor, cpus));
	cpumask_free(cpus);

	/* Of one task everything is known, wherever it was: the kernel's sums follow it. */
	r = sound_report();
	r.left = 1;
	r.run_delay_ns = 2 * NSEC_PER_MSEC;
	r.leader_ran_ns = r.user_cpu_ns = window_ns - 2 * NSEC_PER_MSEC;
	r.tree_tried = 1;
	r.tree = (struct tree){ .n_tasks = 1, .n_ended = 1 };
	assert_int_equal(judge_waiting(&r, &floor), 2 * NSEC_PER_MSEC);
	assert_true(judge_off_cpu(&r, &floor) >= 2 * NSEC_PER_MSEC);
	/* Of several, the records know but those on the CPUs that were given. */
	r.window.n_children = 1;
	assert_int_equal(judge_waiting(&r, &floor), -1);
	assert_int_equal(judge_off_cpu(&r, &floor), -1);
}

static void test_frequencies(void **state)
{
	/* The first run is a warm-up, which would change the median if it counted. */
	static const int64_t khz[] = { 900000, 3000000, 3000000, 3029000, 2971000, 3031000, 2969000,
		-1, 0, 3000000 };
	static const bool flagged[] = { 0, 0, 0, 0, 0, 1, 1, 0, 0, 0 };
	struct series *series;

	(void)state;
	series = series_new(true, NULL);
	for (size_t i = 0; i < ARRAY_SIZE(khz); i++) {
		struct sample sample = { .user_ns = 1, .warmup = i == 0, .flags = SAMPLE_IRQ };
		struct evidence evidence;

		evidence_clear(&evidence);
		evidence.frequency_khz = khz[i];
		assert_int_equal(series_append(series, &sample, &evidence, NULL), 0);
	}
	judge_frequencies(series);
	for (size_t i = 0; i < ARRAY_SIZE(khz); i++)
		assert_int_equal(series->samples[i].flags,
			flagged[i] ? SAMPLE_IRQ | SAMPLE_FREQ : SAMPLE_IRQ);
	series_free(series);
}

/* A program of several tasks was off its CPU for 2 ms of each run, and in one for 1.2 % longer. */
static void test_estimated_waiting(void **state)
{
	static const int64_t off_cpu_us[] = { 100, 2000, 2050, 2120, 2099, -1 };
	struct series *series;

	(void)state;
	series = series_new(true, NULL);
	for (size_t i = 0; i < ARRAY_SIZE(off_cpu_us); i++) {
		/* The first one is a warm-up, and no measure for the others. */
		struct sample sample = { .kernel_ns = 10 * NSEC_PER_MSEC, .warmup = i == 0 };
		struct evidence evidence;

		sample.user_ns = sample.kernel_ns;
		evidence_clear(&evidence);
		evidence.off_cpu_ns = off_cpu_us[i] < 0 ? -1 : off_cpu_us[i] * 1000;
		assert_int_equal(series_append(series, &sample, &evidence, NULL), 0);
	}
	judge_frequencies(series);
	for (size_t i = 0; i < ARRAY_SIZE(off_cpu_us); i++)
		assert_int_equal(series->samples[i].flags, i == 3 ? SAMPLE_PREEMPTED : 0);
	series_free(series);
}

/* The core's clock is judged in the same way, by a flag of its own. */
static void test_core_clocks(void **state)
{
	static const int64_t khz[] = { 3000000, 3000000, 3029000, 3031000, -1, 3000000 };
	struct series *series;

	(void)state;
	series = series_new(true, NULL);
	for (size_t i = 0; i < ARRAY_SIZE(khz); i++) {
		struct sample sample = { .user_ns = 1 };
		struct evidence evidence;

		evidence_clear(&evidence);
		evidence.frequency_khz = 2000000;
		evidence.core_khz = khz[i];
		assert_int_equal(series_append(series, &sample, &evidence, NULL), 0);
	}
	judge_frequencies(series);
	for (size_t i = 0; i < ARRAY_SIZE(khz); i++)
		assert_int_equal(series->samples[i].flags, i == 3 ? SAMPLE_CLOCK : 0);
	series_free(series);
}

static void add_core(struct series *series, double before, double after)
{
	struct sample sample = { .user_ns = 1 };
	struct evidence evidence;

	evidence_clear(&evidence);
	evidence.core_shares[EVIDENCE_BEFORE] =
		before < 0 ? -1 : (int32_t)(before * EVIDENCE_SHARE_PER);
	evidence.core_shares[EVIDENCE_AFTER] =
		after < 0 ? -1 : (int32_t)(after * EVIDENCE_SHARE_PER);
	assert_int_equal(series_append(series, &sample, &evidence, NULL), 0);
}

static void test_core_shares(void **state)
{
	/* Additions per cycle, and shares of a whole core with 4. */
	static const struct {
		double before, after;
		int32_t share_before, share_after;
		bool flagged;
	} runs[] = {
		{ 4.0, 4.0, 10000, 10000, false },
		{ 4.0, 3.21, 10000, 8025, false },
		{ 4.0, 3.19, 10000, 7975, true },
		{ 2.4, 2.4, 6000, 6000, true },
		/* More than a whole core is a whole one. */
		{ 4.04, 3.8, 10000, 9500, false },
		/* The other end of the run is not known, or both are not. */
		{ -1, 3.4, -1, 8500, true },
		{ 3.7, -1, 9250, -1, false },
		{ -1, -1, -1, -1, false },
	};
	struct series *series;

	(void)state;
	series = series_new(true, NULL);
	for (size_t i = 0; i < ARRAY_SIZE(runs); i++)
		add_core(series, runs[i].before, runs[i].after);
	judge_core_shares(series, 4);
	for (size_t i = 0; i < ARRAY_SIZE(runs); i++) {
		assert_int_equal(
			series->evidence[i].core_shares[EVIDENCE_BEFORE], runs[i].share_before);
		assert_int_equal(
			series->evidence[i].core_shares[EVIDENCE_AFTER], runs[i].share_after);
		assert_int_equal(series->samples[i].flags, runs[i].flagged ? SAMPLE_SHARED : 0);
	}
	series_free(series);
}

static void test_whole_core(void **state)
{
	struct series *series;

	(void)state;
	series = series_new(true, NULL);
	assert_true(judge_whole_core(series) == 0);
	add_core(series, -1, -1);
	assert_true(judge_whole_core(series) == 0);
	/* Of few readings the best one. */
	add_core(series, 2.5, 4.0);
	add_core(series, 3.5, -1);
	assert_true(judge_whole_core(series) == 4.0);
	/* Of many, one that is far better than all others is an error. */
	for (size_t i = 0; i < 20; i++)
		add_core(series, 3.0, 4.0);
	add_core(series, 9.0, 3.0);
	assert_true(judge_whole_core(series) == 4.0);
	series_free(series);

	series = series_new(false, NULL);
	assert_int_equal(series_append(series, &(struct sample){ .user_ns = 1 }, NULL, NULL), 0);
	assert_true(judge_whole_core(series) == 0);
	judge_core_shares(series, 4);
	assert_int_equal(series->samples[0].flags, 0);
	series_free(series);
}

/* There is no frequency to compare with. */
static void test_no_frequencies(void **state)
{
	for (int with_evidence = 0; with_evidence <= 1; with_evidence++) {
		struct sample warmup = { .user_ns = 1, .warmup = true };
		struct series *series;

		(void)state;
		series = series_new(with_evidence, NULL);
		judge_frequencies(series);
		assert_int_equal(series_append(series, &warmup, NULL, NULL), 0);
		judge_frequencies(series);
		assert_int_equal(series->samples[0].flags, 0);
		series_free(series);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_window),
		cmocka_unit_test(test_life_after_the_exit_record),
		cmocka_unit_test(test_wait_after_the_exit_record),
		cmocka_unit_test(test_dropped_in_execve),
		cmocka_unit_test(test_end_of_all_threads),
		cmocka_unit_test(test_flags),
		cmocka_unit_test(test_stamps_that_are_the_last),
		cmocka_unit_test(test_event_that_is_dropped_by_exec),
		cmocka_unit_test(test_waiting),
		cmocka_unit_test(test_estimated_waiting),
		cmocka_unit_test(test_left),
		cmocka_unit_test(test_frequencies),
		cmocka_unit_test(test_core_clocks),
		cmocka_unit_test(test_core_shares),
		cmocka_unit_test(test_whole_core),
		cmocka_unit_test(test_no_frequencies),
	};

	return cmocka_run_group_tests_name("judge", tests, NULL, NULL);
}
