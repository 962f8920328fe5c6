// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/macro.h"
#include "judge/stats/steady.h"

#include "random.h"

enum {
	N_MAX = 2000,
};

/* The value at `at` of n, without noise. */
struct shape {
	const char *name;
	double (*make)(double at, double n);
	enum steady_kind kind;
	double first; /* where the level begins, as a part of n */
	int least; /* per cent of the series of which both are found, the place within 2 % of n */
};

static double make_flat(double at, double n)
{
	(void)at, (void)n;
	return 100;
}

static double make_step_down(double at, double n)
{
	return at < 0.1 * n ? 120 : 100;
}

static double make_stairs_down(double at, double n)
{
	return at < 0.05 * n ? 300 : at < 0.2 * n ? 130 : at < 0.4 * n ? 108 : 100;
}

static double make_step_up(double at, double n)
{
	return at < 0.3 * n ? 90 : 100;
}

/* Faster at first, then slower, then as it stays. */
static double make_hump(double at, double n)
{
	return at < 0.2 * n ? 90 : at < 0.4 * n ? 120 : 100;
}

static double make_late_step(double at, double n)
{
	return at < 0.85 * n ? 120 : 100;
}

static double make_drift(double at, double n)
{
	return 100 + 30 * at / n;
}

static double make_cycle(double at, double n)
{
	return fmod(at, n / 4) < n / 8 ? 100 : 115;
}

static const struct shape shapes[] = {
	{ "flat", make_flat, STEADY_FLAT, 0, 98 },
	{ "step down", make_step_down, STEADY_FALLS, 0.1, 97 },
	{ "stairs down", make_stairs_down, STEADY_FALLS, 0.4, 97 },
	{ "step up", make_step_up, STEADY_RISES, 0.3, 97 },
	{ "hump", make_hump, STEADY_RISES, 0.4, 97 },
	{ "late step", make_late_step, STEADY_NONE, 1, 97 },
	{ "drift", make_drift, STEADY_NONE, 1, 97 },
	{ "cycle", make_cycle, STEADY_NONE, 1, 97 },
};

/* A value with noise of one per cent, and one in a hundred that is far above. */
static double add_noise(double value, uint64_t *random)
{
	value *= 1 + 0.01 * random_normal(random);
	return random_unit(random) < 0.01 ? value * (1.2 + random_unit(random)) : value;
}

static void make_series(const struct shape *shape, size_t n, uint64_t *random, double *ret)
{
	for (size_t i = 0; i < n; i++)
		ret[i] = add_noise(shape->make((double)i, (double)n), random);
}

static void test_shapes(void **state)
{
	static const size_t sizes[] = { 100, 400, 2000 };
	static double values[N_MAX];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(shapes); i++) {
		for (size_t k = 0; k < ARRAY_SIZE(sizes); k++) {
			const struct shape *shape = &shapes[i];
			size_t n = sizes[k];
			int trials = (n > 1000 ? 20 : 150) / TRIALS_PART, found = 0;
			uint64_t random = 1000 * i + k;

			for (int t = 0; t < trials; t++) {
				struct steady steady;
				double miss;

				make_series(shape, n, &random, values);
				assert_int_equal(steady_find(values, n, &steady), 0);
				miss = fabs((double)steady.first - shape->first * (double)n);
				found += steady.kind == shape->kind && miss <= 0.02 * (double)n;
			}
			if (!rate_is_between(found, shape->least, 100, trials))
				fprintf(stderr, "%s, n = %zu: %d of %d\n", shape->name, n, found,
					trials);
			assert_true(rate_is_between(found, shape->least, 100, trials));
		}
	}
}

/* One that falls less and less ends nowhere: what is left of it in front of the level, which is
 * found, and behind it, is less than a level may differ by. */
static void test_decay(void **state)
{
	static double values[N_MAX];
	uint64_t random = 5;

	(void)state;
	for (int t = 0; t < 20 / TRIALS_PART; t++) {
		struct steady steady;

		for (size_t i = 0; i < N_MAX; i++)
			values[i] = add_noise(100 + 80 * exp(-(double)i / 100), &random);
		assert_int_equal(steady_find(values, N_MAX, &steady), 0);
		assert_int_equal(steady.kind, STEADY_FALLS);
		assert_true(steady.first > 150 && steady.first < 700);
	}
}

static void test_few_values(void **state)
{
	double values[STEADY_MIN_VALUES] = { 0 };
	struct steady steady;

	(void)state;
	assert_int_equal(steady_find(values, STEADY_MIN_VALUES - 1, &steady), -ENODATA);
	assert_int_equal(steady_find(values, STEADY_MIN_VALUES, &steady), 0);
	assert_int_equal(steady.kind, STEADY_FLAT);
	values[3] = NAN;
	assert_int_equal(steady_find(values, STEADY_MIN_VALUES, &steady), -EDOM);
}

/* Makes processes of n values whose first n_slow ones are slower, and compares them. Returns how
 * many of them begin behind these. */
static size_t count_first(size_t n_processes, size_t n, size_t n_slow, uint64_t *random)
{
	struct steady_process *processes = calloc(n_processes, sizeof(*processes));
	double *values = calloc(n_processes * n, sizeof(*values));
	size_t found = 0;

	assert_non_null(processes);
	assert_non_null(values);
	for (size_t i = 0; i < n_processes; i++) {
		double *own = values + i * n;

		for (size_t k = 0; k < n; k++)
			own[k] = (k < n_slow ? 130 : 100) * (1 + 0.01 * random_normal(random));
		processes[i] = (struct steady_process){ .values = own, .n = n };
		assert_int_equal(steady_find(own, n, &processes[i].steady), 0);
	}
	steady_compare_first(processes, n_processes);
	for (size_t i = 0; i < n_processes; i++) {
		const struct steady *steady = &processes[i].steady;

		found += n_slow > 0 ? steady->kind == STEADY_FALLS && steady->first == n_slow
				    : steady->kind != STEADY_FLAT;
	}
	free(processes);
	free(values);
	return found;
}

static void test_first_values(void **state)
{
	uint64_t random = 3;
	size_t wrong = 0, trials = 400 / TRIALS_PART;

	(void)state;
	for (size_t n_slow = 1; n_slow <= 4; n_slow++)
		assert_int_equal(count_first(20, 16, n_slow, &random), 20);
	/* Alone it can be chance. */
	assert_int_equal(count_first(1, 16, 1, &random), 0);
	/* Each of ten processes adds what levels_find() is wrong in, which is less than 1 %. */
	for (size_t t = 0; t < trials; t++)
		wrong += count_first(10, 30, 0, &random) > 1;
	assert_true(
		(double)wrong <= 0.02 * (double)trials + few_trials_slack(0.02 * (double)trials));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shapes),
		cmocka_unit_test(test_decay),
		cmocka_unit_test(test_few_values),
		cmocka_unit_test(test_first_values),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
