// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

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

static void run_too_often(struct qs_run *run)
{
	for (int i = 0; i < 100; i++)
		qs_end(run->sampler, qs_begin(run->sampler));
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
		/* Long enough in two of two: these loops. In the first: once more. Else 1, 2, 5,
		 * 10, 20, 50 ... */
		long_enough = value->picoseconds >= 500000000 ? long_enough + 1 : 0;
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

static void test_failures(void **state)
{
	struct qs_benchmark benchmark = { .name = "none", .run = run_nothing };
	const struct qs_plan plan = { .loops = 1, .values = 1 };
	struct qs_values *values = (struct qs_values *)1;

	(void)state;
	assert_int_equal(qs_measure(sampler, &benchmark, &plan, &values), -ENODATA);
	benchmark.run = run_too_often;
	assert_int_equal(qs_measure(sampler, &benchmark, &plan, &values), -ENOBUFS);
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
		cmocka_unit_test(test_failures),
		cmocka_unit_test(test_collector),
	};

	return cmocka_run_group_tests_name("benchmark", tests, open_one, close_one);
}
