// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "quiesce/benchmark.h"

struct seen {
	int setups;
	int runs;
	int teardowns;
};

static void wait_ns(uint64_t ns)
{
	struct timespec now, end;

	clock_gettime(CLOCK_MONOTONIC_RAW, &end);
	end.tv_nsec += (long)(ns % 1000000000);
	end.tv_sec += (time_t)(ns / 1000000000) + end.tv_nsec / 1000000000;
	end.tv_nsec %= 1000000000;
	do
		clock_gettime(CLOCK_MONOTONIC_RAW, &now);
	while (now.tv_sec < end.tv_sec || (now.tv_sec == end.tv_sec && now.tv_nsec < end.tv_nsec));
}

static int setup(const struct qs_benchmark *benchmark, void **ret_state)
{
	struct seen *seen = (struct seen *)benchmark->argument;

	seen->setups++;
	*ret_state = seen;
	return 0;
}

static int setup_in_vain(const struct qs_benchmark *benchmark, void **ret_state)
{
	(void)benchmark;
	(void)ret_state;
	return -ENOENT;
}

static void teardown(void *state)
{
	((struct seen *)state)->teardowns++;
}

/* A microsecond a loop, and what lies between two regions is not measured. */
static void run_in_two(struct qs_run *run)
{
	struct seen *seen = run->state;
	uint64_t half = run->loops / 2, began;

	seen->runs++;
	began = qs_begin(run->sampler);
	for (uint64_t i = 0; i < half; i++)
		wait_ns(1000);
	qs_end(run->sampler, began);
	wait_ns(1000000);
	began = qs_begin(run->sampler);
	for (uint64_t i = half; i < run->loops; i++)
		wait_ns(1000);
	qs_end(run->sampler, began);
}

static void run_nothing(struct qs_run *run)
{
	(void)run;
}

/* A microsecond and a region for each loop. */
static void run_in_many(struct qs_run *run)
{
	for (uint64_t i = 0; i < run->loops; i++) {
		uint64_t began = qs_begin(run->sampler);

		wait_ns(1000);
		qs_end(run->sampler, began);
	}
}

static void run_without_loops(struct qs_run *run)
{
	uint64_t began = qs_begin(run->sampler);

	wait_ns(*(const uint64_t *)run->benchmark->argument);
	qs_end(run->sampler, began);
}

static struct qs_sampler *sampler;

static int open_one(void **state)
{
	struct qs_options options = { .samples = 16 };

	(void)state;
	return qs_open(&options, &sampler);
}

static int close_one(void **state)
{
	(void)state;
	qs_close(sampler);
	return 0;
}

static void test_loops_are_found(void **state)
{
	struct seen seen = { 0 };
	const struct qs_benchmark benchmark = {
		.name = "wait",
		.run = run_in_two,
		.argument = (uintptr_t)&seen,
		.inner_loops = 10,
		.setup = setup,
		.teardown = teardown,
	};
	const struct qs_plan plan = { .min_time = 0.0005, .warmups = 2, .values = 3 };
	struct qs_values *values;
	size_t n;
	uint64_t expected = 1;
	unsigned step = 0, long_enough = 0;

	(void)state;
	assert_int_equal(qs_measure(sampler, &benchmark, &plan, &values), 0);
	n = values->n_values;
	assert_true(n > 5);
	assert_int_equal(seen.setups, 1);
	assert_int_equal(seen.teardowns, 1);
	assert_int_equal(seen.runs, n);
	assert_string_equal(values->name, "wait");
	for (size_t i = 0; i < n; i++) {
		const struct qs_value *value = &values->values[i];
		bool calibration = i < n - 5;
		double took;

		assert_int_equal(value->kind,
			calibration	    ? QS_VALUE_CALIBRATION
				: i < n - 3 ? QS_VALUE_WARMUP
					    : QS_VALUE_COUNTED);
		/* At least what it waits, in picoseconds. */
		assert_true((double)value->picoseconds >= (double)value->loops * 1e6 * 0.999);
		assert_true(qs_value_seconds(values, i) ==
			(double)value->picoseconds / 1e12 / (double)value->loops / 10);
		assert_int_equal(value->interrupts, -1);
		if (!calibration) {
			assert_int_equal(value->loops, values->loops);
			continue;
		}
		assert_int_equal(value->loops, expected);
		/* Long enough in two of two, without waiting for the CPU: these loops. In the
		 * first: once more. Else 1, 2, 5, 10, 20, 50 ... */
		took = (double)value->picoseconds * (value->waiting > 0 ? 1 - value->waiting : 1);
		long_enough = took >= 500000000 ? long_enough + 1 : 0;
		assert_int_equal(long_enough == 2, i == n - 6);
		if (long_enough == 0) {
			expected = step % 3 == 1 ? expected / 2 * 5 : expected * 2;
			step++;
		}
	}
	assert_int_equal(values->loops, expected);
	qs_values_free(values);
}

static void test_loops_are_given(void **state)
{
	struct seen seen = { 0 };
	const struct qs_benchmark benchmark = {
		.name = "wait", .run = run_in_two, .argument = (uintptr_t)&seen, .setup = setup
	};
	const struct qs_plan plan = { .loops = 7, .values = 2 };
	struct qs_values *values;

	(void)state;
	assert_int_equal(qs_measure(sampler, &benchmark, &plan, &values), 0);
	assert_int_equal(values->n_values, 2);
	assert_int_equal(values->loops, 7);
	assert_int_equal(values->inner_loops, 1);
	assert_int_equal(values->values[0].kind, QS_VALUE_COUNTED);
	qs_values_free(values);
}

/* More regions than any ring holds. */
static void test_regions_add_up(void **state)
{
	const struct qs_benchmark benchmark = { .name = "many", .run = run_in_many };
	const struct qs_plan plan = { .loops = 5000, .values = 2 };
	struct qs_values *values;
	struct qs_facts facts;

	(void)state;
	assert_int_equal(qs_measure(sampler, &benchmark, &plan, &values), 0);
	assert_int_equal(qs_count(sampler), 0);
	assert_int_equal(qs_dropped(sampler), 0);
	qs_get_facts(sampler, &facts);
	for (size_t i = 0; i < 2; i++) {
		const struct qs_value *value = &values->values[i];
		double share = (double)value->regions * facts.empty_mean_ticks /
			facts.ticks_per_second * 1e12 / (double)value->picoseconds;

		assert_int_equal(value->regions, 5000);
		assert_true(value->picoseconds >= 5000 * UINT64_C(999000));
		assert_true(qs_value_empty_share(values, i) > 0.99 * share);
		assert_true(qs_value_empty_share(values, i) < 1.01 * share);
	}
	qs_values_free(values);
	/* The sampler keeps samples again. */
	qs_end(sampler, qs_begin(sampler));
	assert_int_equal(qs_count(sampler), 1);
	qs_reset(sampler);
}

static void test_loops_are_ignored(void **state)
{
	static const uint64_t durations[] = { 0, 1000, 300000 };
	const struct qs_plan plan = { .min_time = 0.001, .values = 1 };

	(void)state;
	for (size_t i = 0; i < sizeof(durations) / sizeof(durations[0]); i++) {
		const struct qs_benchmark benchmark = { .name = "once",
			.run = run_without_loops,
			.argument = (uintptr_t)&durations[i] };
		struct qs_values *values;

		assert_int_equal(qs_measure(sampler, &benchmark, &plan, &values), -ERANGE);
	}
}

enum {
	THREADS = 3,
};

struct together {
	_Atomic int calls[THREADS];
	_Atomic int at_start; /* how many have come to the start, over all calls */
	_Atomic int too_early;
	bool without_region;
};

static int setup_together(const struct qs_benchmark *benchmark, void **ret_state)
{
	*ret_state = (void *)benchmark->argument;
	return 0;
}

/* Each takes as many microseconds for a loop as its number, and one more. */
static void run_together(struct qs_run *run)
{
	struct together *together = run->state;
	int call = ++together->calls[run->thread];
	uint64_t began;

	/* The last one comes late. */
	if (run->thread == THREADS - 1)
		wait_ns(2000000);
	together->at_start++;
	qs_start_together(run);
	if (together->at_start < THREADS * call)
		together->too_early++;
	if (together->without_region && run->thread == 1)
		return;
	began = qs_begin(run->sampler);
	for (uint64_t i = 0; i < run->loops; i++)
		wait_ns(1000 * (run->thread + 1));
	qs_end(run->sampler, began);
	assert_int_equal(run->threads, THREADS);
	assert_int_equal(qs_set_figure(run, "number", QS_FIGURE_PLAIN, run->thread), 0);
}

static void test_threads(void **state)
{
	struct together together = { 0 };
	struct qs_benchmark benchmark = {
		.name = "together",
		.run = run_together,
		.argument = (uintptr_t)&together,
		.setup = setup_together,
		.threads = THREADS,
	};
	const struct qs_plan plan = { .loops = 100, .warmups = 1, .values = 4 };
	struct qs_values *values;

	(void)state;
	assert_int_equal(qs_measure(sampler, &benchmark, &plan, &values), 0);
	assert_int_equal(together.too_early, 0);
	assert_int_equal(values->n_values, 5 * THREADS);
	for (size_t i = 0; i < values->n_values; i++) {
		assert_int_equal(
			values->values[i].kind, i < THREADS ? QS_VALUE_WARMUP : QS_VALUE_COUNTED);
		assert_true((double)values->values[i].picoseconds >=
			100 * 0.999e6 * (double)(i % THREADS + 1));
	}
	for (size_t i = 0; i < THREADS; i++)
		assert_int_equal(together.calls[i], 5);
	/* The mean over the threads. */
	assert_int_equal(values->n_figures, 1);
	assert_string_equal(values->figures[0].name, "number");
	assert_true(values->figures[0].value == (THREADS - 1) / 2.0);
	qs_values_free(values);

	together = (struct together){ .without_region = true };
	assert_int_equal(qs_measure(sampler, &benchmark, &plan, &values), -ENODATA);
	benchmark.threads = QS_MAX_THREADS + 1;
	assert_int_equal(qs_measure(sampler, &benchmark, &plan, &values), -EINVAL);
}

static void run_with_figures(struct qs_run *run)
{
	int *calls = (int *)run->benchmark->argument;

	++*calls;
	run_in_many(run);
	assert_int_equal(qs_set_figure(run, "bytes", QS_FIGURE_AMOUNT, 64), 0);
	/* Once more in the same call: the last counts. */
	assert_int_equal(qs_set_figure(run, "calls", QS_FIGURE_PLAIN, 1e9), 0);
	assert_int_equal(qs_set_figure(run, "calls", QS_FIGURE_PLAIN, *calls), 0);
	assert_int_equal(qs_set_figure(run, "a\nb", QS_FIGURE_PLAIN, 1), -EINVAL);
	assert_int_equal(qs_set_figure(run, "not a number", QS_FIGURE_PLAIN, 0.0 / 0.0), -EINVAL);
	assert_int_equal(qs_set_figure(run, "no kind", (enum qs_figure_kind)7, 1), -EINVAL);
	assert_int_equal(
		qs_set_figure(run, "a name of forty bytes, which is too long", QS_FIGURE_PLAIN, 1),
		-EINVAL);
	if (*calls > 4) {
		char name[] = "a";

		for (int i = 2; i < QS_MAX_FIGURES; i++, name[0]++)
			assert_int_equal(qs_set_figure(run, name, QS_FIGURE_PLAIN, 1), 0);
		assert_int_equal(qs_set_figure(run, "more", QS_FIGURE_PLAIN, 1), -E2BIG);
	}
}

static void test_figures(void **state)
{
	int calls = 0;
	const struct qs_benchmark benchmark = {
		.name = "figures", .run = run_with_figures, .argument = (uintptr_t)&calls
	};
	const struct qs_plan plan = { .loops = 3, .warmups = 1, .values = 3 };
	struct qs_values *values;

	(void)state;
	assert_int_equal(qs_measure(sampler, &benchmark, &plan, &values), 0);
	assert_int_equal(values->n_figures, 2);
	assert_string_equal(values->figures[0].name, "bytes");
	assert_int_equal(values->figures[0].kind, QS_FIGURE_AMOUNT);
	assert_true(values->figures[0].value == 64);
	/* Calls 2, 3 and 4 count. */
	assert_true(values->figures[1].value == 3);
	qs_values_free(values);
	assert_int_equal(qs_measure(sampler, &benchmark, &plan, &values), 0);
	assert_int_equal(values->n_figures, QS_MAX_FIGURES);
	qs_values_free(values);
}

static pid_t start_rival(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			wait_ns(1000000);
	}
	return pid;
}

/* Values are taken until one has waited for its CPU, on which another process is at work as well.
 */
static void test_waiting(void **state)
{
	const struct qs_benchmark benchmark = { .name = "many", .run = run_in_many };
	const struct qs_plan plan = { .loops = 20000, .values = 1 };
	cpu_set_t allowed, one;
	double waiting = 0;
	pid_t pid;

	(void)state;
	assert_int_equal(sched_getaffinity(0, sizeof(allowed), &allowed), 0);
	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
	pid = start_rival();
	assert_true(pid > 0);
	for (int i = 0; i < 100 && waiting == 0; i++) {
		struct qs_values *values;

		assert_int_equal(qs_measure(sampler, &benchmark, &plan, &values), 0);
		waiting = values->values[0].waiting;
		qs_values_free(values);
	}
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_int_equal(sched_setaffinity(0, sizeof(allowed), &allowed), 0);
	if (waiting < 0) {
		print_message("# this kernel does not tell how long a thread waits\n");
		skip();
	}
	assert_true(waiting > 0 && waiting <= 1);
}

/* Warm-ups go on until they have taken their time. */
static void test_warmup_time(void **state)
{
	const struct qs_benchmark benchmark = { .name = "many", .run = run_in_many };
	const struct qs_plan plan = {
		.loops = 1000, .warmups = 1, .values = 1, .warmup_time = 0.02
	};
	struct qs_values *values;
	uint64_t picoseconds = 0;

	(void)state;
	assert_int_equal(qs_measure(sampler, &benchmark, &plan, &values), 0);
	for (size_t i = 0; i + 1 < values->n_values; i++) {
		assert_int_equal(values->values[i].kind, QS_VALUE_WARMUP);
		picoseconds += values->values[i].picoseconds;
	}
	assert_true(values->n_values >= 2);
	assert_int_equal(values->values[values->n_values - 1].kind, QS_VALUE_COUNTED);
	/* What lies between them takes time as well, but no warm-up began too late. */
	assert_true(picoseconds - values->values[values->n_values - 2].picoseconds <
		UINT64_C(20000000000));
	qs_values_free(values);
}

static void test_failures(void **state)
{
	struct qs_benchmark benchmark = { .name = "none", .run = run_nothing };
	const struct qs_plan plan = { .loops = 1, .values = 1 };
	struct qs_values *values = (struct qs_values *)1;

	(void)state;
	assert_int_equal(qs_measure(sampler, &benchmark, &plan, &values), -ENODATA);
	benchmark.setup = setup_in_vain;
	assert_int_equal(qs_measure(sampler, &benchmark, &plan, &values), -ENOENT);
	benchmark.name = "a\nb";
	assert_int_equal(qs_measure(sampler, &benchmark, &plan, &values), -EINVAL);
	assert_true(values == (struct qs_values *)1);
}

static void test_collector(void **state)
{
	struct seen seen = { 0 };
	const struct qs_benchmark benchmark = {
		.name = "wait", .run = run_in_two, .argument = (uintptr_t)&seen, .setup = setup
	};
	struct qs_plan plan = { .loops = 20000, .values = 3 };
	struct qs_collector *collector;
	struct qs_reading first, second;
	struct qs_values *values;
	cpu_set_t allowed, one;
	int cpu, r;

	(void)state;
	assert_int_equal(qs_collector_open(-1, &collector), -EINVAL);
	assert_int_equal(sched_getaffinity(0, sizeof(allowed), &allowed), 0);
	for (cpu = 0; !CPU_ISSET(cpu, &allowed); cpu++)
		;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
	r = qs_collector_open(cpu, &collector);
	if (r == -ENXIO) {
		print_message("# there is no other CPU\n");
		assert_int_equal(sched_setaffinity(0, sizeof(allowed), &allowed), 0);
		skip();
	}
	assert_int_equal(r, 0);
	qs_collector_read(collector, &first);
	qs_collector_read(collector, &second);
	assert_true(second.interrupts >= first.interrupts);
	plan.collector = collector;
	assert_int_equal(qs_measure(sampler, &benchmark, &plan, &values), 0);
	for (int i = 0; i < 3; i++) {
		if (first.interrupts >= 0)
			assert_true(values->values[i].interrupts >= 0);
		if (first.frequency_khz >= 0)
			assert_true(values->values[i].frequency_khz > 0);
	}
	qs_values_free(values);
	qs_collector_close(collector);
	qs_collector_close(NULL);
	assert_int_equal(sched_setaffinity(0, sizeof(allowed), &allowed), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_loops_are_found),
		cmocka_unit_test(test_loops_are_given),
		cmocka_unit_test(test_regions_add_up),
		cmocka_unit_test(test_loops_are_ignored),
		cmocka_unit_test(test_threads),
		cmocka_unit_test(test_figures),
		cmocka_unit_test(test_waiting),
		cmocka_unit_test(test_warmup_time),
		cmocka_unit_test(test_failures),
		cmocka_unit_test(test_collector),
	};

	return cmocka_run_group_tests_name("benchmark", tests, open_one, close_one);
}
