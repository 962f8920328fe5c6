// SPDX-License-Identifier: GPL-2.0-or-later
/* Needs the permission to count and to record on a CPU: root, or kernel.perf_event_paranoid at 0.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/macro.h"
#include "measure/attach.h"

static int chosen_cpu;

/* One counter of -e, and one that the CPUs count as evidence. */
static struct launch_plan make_plan(uint32_t flags)
{
	struct launch_plan plan = {
		.flags = flags,
		.clockid = CLOCK_MONOTONIC_RAW,
		.n_counters = 2,
		.n_evidence_counters = 1,
		.n_cpu_counters = 1,
	};

	plan.counters[0] = (struct perf_event_attr){
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK,
	};
	plan.counters[1] = (struct perf_event_attr){
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_PAGE_FAULTS,
	};
	plan.cpus[chosen_cpu / 8] = (uint8_t)(1 << chosen_cpu % 8);
	return plan;
}

/* A child that waits until it may execute /bin/true. */
static pid_t start(int *ret_go)
{
	int fds[2];
	pid_t pid;

	assert_int_equal(pipe(fds), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		char go;

		close(fds[1]);
		if (read(fds[0], &go, 1) == 1)
			execl("/bin/true", "true", NULL);
		_exit(1);
	}
	close(fds[0]);
	*ret_go = fds[1];
	return pid;
}

static void await_end(pid_t pid, int go)
{
	siginfo_t info;

	assert_int_equal(write(go, "", 1), 1);
	close(go);
	assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
}

static struct launch_report run(struct attach *attach, uint32_t attachments, enum stamper stamper)
{
	struct launch_report report = { .stamper = stamper };
	int go;
	pid_t pid = start(&go);

	report.start_ns = clock_now_ns(CLOCK_MONOTONIC_RAW);
	assert_int_equal(attach_begin(attach, pid, attachments), 0);
	await_end(pid, go);
	report.end_ns = clock_now_ns(CLOCK_MONOTONIC_RAW);
	attach_read(attach, pid, &report);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	attach_read_counters(attach, &report);
	attach_end(attach);
	return report;
}

/* What is not asked for is not attached, and what the CPUs count is counted in any case. */
static void test_counters(void **state)
{
	const struct launch_plan plan = make_plan(0);
	struct launch_report report;
	struct attach attach;
	int index = -1;

	(void)state;
	assert_int_equal(attach_open(&plan, &attach, &index), 0);
	assert_false(attach_has_cpu_events(&attach));
	for (int i = 0; i < 3; i++) {
		int64_t elapsed_ns;

		report = run(&attach, i == 1 ? LAUNCH_ATTACH_RECORDS : 0, STAMPER_LAUNCHER);
		elapsed_ns = report.end_ns - report.start_ns;
		assert_int_equal(report.n_counters, 2);
		assert_int_equal(report.counters[0].running_ns > 0, i == 1);
		assert_true(report.counters[1].value > 0);
		assert_int_equal(report.n_cpu_counters, 1);
		/* In this run only: the clock of a CPU never stops. */
		assert_true((int64_t)report.cpu_counters[0].value >= elapsed_ns / 2);
		assert_true((int64_t)report.cpu_counters[0].enabled_ns >= elapsed_ns / 2);
		assert_true((int64_t)report.cpu_counters[0].enabled_ns < 1000 * NSEC_PER_SEC);
	}
	attach_close(&attach);
}

static void test_cpu_events(void **state)
{
	const struct launch_plan plan = make_plan(LAUNCH_CPU_EVENTS);
	struct launch_report report;
	struct attach attach;
	int index = -1;

	(void)state;
	assert_int_equal(attach_open(&plan, &attach, &index), 0);
	assert_true(attach_has_cpu_events(&attach));
	/* Nothing is recorded between two requests. */
	report = run(&attach, 0, STAMPER_CPU_EVENTS);
	assert_int_equal(report.window.n_exec, 0);
	for (int i = 0; i < 2; i++) {
		attach_enable_cpu_events(&attach, true);
		report = run(&attach, 0, STAMPER_CPU_EVENTS);
		attach_enable_cpu_events(&attach, false);
		assert_int_equal(report.window.n_exec, 1);
		assert_int_equal(report.window.is_last, 1);
		assert_true(report.start_ns < report.window.exec_ns);
		assert_true(report.window.exec_ns < report.window.exit_ns);
		assert_true(report.window.exit_ns < report.end_ns);
	}
	attach_close(&attach);
}

/* A counter that this machine does not have is found before the runs. */
static void test_unknown_counter(void **state)
{
	struct launch_plan plan = make_plan(0);
	struct attach attach;
	int index = -1;

	(void)state;
	plan.counters[1].config = PERF_COUNT_SW_MAX + 1000;
	assert_true(attach_open(&plan, &attach, &index) < 0);
	assert_int_equal(index, 1);
	attach_close(&attach);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_counters),
		cmocka_unit_test(test_cpu_events),
		cmocka_unit_test(test_unknown_counter),
	};
	struct launch_plan plan;
	struct attach attach;
	int index;
	bool allowed;

	chosen_cpu = sched_getcpu();
	plan = make_plan(LAUNCH_CPU_EVENTS);
	allowed = attach_open(&plan, &attach, &index) == 0 && attach_has_cpu_events(&attach);
	attach_close(&attach);
	if (!allowed) {
		printf("1..0 # SKIP events of CPUs are not allowed here\n");
		return 0;
	}
	return cmocka_run_group_tests_name("attach", tests, NULL, NULL);
}
