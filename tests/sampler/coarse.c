// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A clock that advances in large steps, as that of arm64 does with 24 MHz. It is the program's own:
 * it goes on by as much as the program says, so that all that is measured is known before. A TAP
 * test.
 */
#define QS_NO_COUNTER
#include <errno.h>
#include <quiesce/benchmark.h>
#include <stdio.h>
#include <time.h>

enum {
	READING_NS = 7, /* what it takes to read the clock, in the mean: an empty region */
	WORK_NS = 3,
	TRIES = 10000,
};

static uint64_t now, step = 1;

/* In place of the C library's, for libquiesce too. */
__attribute__((visibility("default"))) int clock_gettime(clockid_t id, struct timespec *ret)
{
	static uint32_t random = 1;
	uint64_t shown;

	(void)id;
	random = random * 1664525 + 1013904223;
	now += READING_NS - 2 + (random >> 16) % 5;
	shown = now / step * step;
	ret->tv_sec = (time_t)(shown / 1000000000);
	ret->tv_nsec = (long)(shown % 1000000000);
	return 0;
}

static void work(struct qs_run *run)
{
	uint64_t began = qs_begin(run->sampler);

	now += WORK_NS * run->loops;
	qs_end(run->sampler, began);
}

static void ignore_loops(struct qs_run *run)
{
	qs_end(run->sampler, qs_begin(run->sampler));
}

static unsigned slow_calls;

/* The first call alone takes about as long as a value is to take, as with caches that are cold. */
static void begin_slowly(struct qs_run *run)
{
	uint64_t began = qs_begin(run->sampler);

	now += slow_calls++ == 0 ? 48500 : run->loops * 26 / 10;
	qs_end(run->sampler, began);
}

static int failed, count;

static void report(int ok, const char *what)
{
	printf("%sok %d - in steps of %u ns: %s\n", ok ? "" : "not ", ++count, (unsigned)step,
		what);
	failed |= !ok;
}

static void test_step(uint64_t ns)
{
	const struct qs_benchmark good = { .name = "work", .run = work },
				  bad = { .name = "none", .run = ignore_loops };
	const struct qs_options options = { .samples = 1 };
	const struct qs_plan plan = { .values = 3 };
	struct qs_sampler *sampler;
	struct qs_values *values;
	struct qs_facts facts;
	char text[160];
	int r;

	step = ns;
	if (qs_open(&options, &sampler) < 0) {
		report(0, "a sampler");
		return;
	}
	qs_get_facts(sampler, &facts);
	printf("# an empty region takes %g ns\n", facts.empty_mean_ticks);
	report(facts.empty_mean_ticks > 0.6 * READING_NS &&
			facts.empty_mean_ticks < 1.4 * READING_NS,
		"the mean of empty regions is what one takes");
	r = qs_measure(sampler, &good, &plan, &values);
	if (r == 0) {
		double seconds = qs_value_seconds(values, values->n_values - 1);

		printf("# %llu loops of %g ns\n", (unsigned long long)values->loops, seconds * 1e9);
		report(seconds > 0.95e-9 * WORK_NS && seconds < 1.05e-9 * WORK_NS,
			"a benchmark of some nanoseconds is measured");
		qs_values_free(values);
	} else {
		printf("# %s\n", qs_error_text(r, text, sizeof(text)));
		report(0, "a benchmark of some nanoseconds is measured");
	}
	report(qs_measure(sampler, &bad, &plan, &values) == -ERANGE,
		"one that ignores its loops is refused");
	qs_close(sampler);
}

/* The kernel's clock is not the program's own: where another program had the CPU, the value counts
 * as one that waited all the time, and the calibration goes on, as it has to.
 */
static int has_waited(const struct qs_values *values)
{
	for (size_t i = 0; i < values->n_values; i++)
		if (values->values[i].waiting > 0)
			return 1;
	return 0;
}

/* The last value of the calibration is of as many loops as it found. */
static void test_calibration(void)
{
	const struct qs_benchmark slow = { .name = "slow", .run = begin_slowly };
	const struct qs_options options = { .samples = 1 };
	const struct qs_plan plan = { 0 };
	struct qs_sampler *sampler;
	int is_quiet = 0, ok = 0;

	step = 1;
	if (qs_open(&options, &sampler) < 0) {
		report(0, "a calibration");
		return;
	}
	for (int i = 0; i < TRIES && !is_quiet; i++) {
		struct qs_values *values;

		slow_calls = 0;
		if (qs_measure(sampler, &slow, &plan, &values) < 0)
			break;
		is_quiet = !has_waited(values);
		ok = values->values[values->n_values - 1].loops == values->loops &&
			values->loops == 20000;
		qs_values_free(values);
	}
	report(is_quiet && ok, "the calibration ends with the loops that it found");
	qs_close(sampler);
}

int main(void)
{
	static const uint64_t steps[] = { 1, 19, 41, 60, 100, 280 };

	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++)
		test_step(steps[i]);
	test_calibration();
	printf("1..%d\n", count);
	return failed;
}
