// SPDX-License-Identifier: GPL-2.0-or-later
/* What moves a number: known shares are found, and what does nothing is not. bench/why-tables.c
 * counts how often. */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/macro.h"
#include "judge/stats/factors.h"
#include "random.h"

enum {
	RUNS = 300,
	LEVELS = 4,
	N = 3, /* factors: 0 moves what is to be moved, the others do nothing */
};

static double values[RUNS];
static unsigned levels[N][RUNS];
static bool drawn[RUNS];
static const struct factor factors[N] = {
	{ levels[0], LEVELS },
	{ levels[1], LEVELS },
	{ levels[2], LEVELS },
};

/* The levels have the values -1.5, -0.5, 0.5 and 1.5 times this: their variance is 1.25. */
#define LEVEL_VARIANCE 1.25

struct truth {
	double factor; /* variances */
	double held;
	double draw;
	double rest;
	bool only_held; /* the factor acts only where nothing is drawn */
};

static void make(uint64_t *state, const struct truth *truth)
{
	double effect = sqrt(truth->factor / LEVEL_VARIANCE * (truth->only_held ? 2 : 1));

	for (size_t i = 0; i < RUNS; i++) {
		for (size_t f = 0; f < N; f++)
			levels[f][i] = (unsigned)(random_next(state) % LEVELS);
		drawn[i] = random_next(state) % 2;
		values[i] = 7 + sqrt(truth->rest) * random_normal(state);
		if (!truth->only_held || !drawn[i])
			values[i] += effect * ((double)levels[0][i] - 1.5);
		if (drawn[i])
			values[i] += 2 * sqrt(truth->held) +
				sqrt(2 * truth->draw) * random_normal(state);
	}
}

static int compute(const bool *halves, struct factors *ret)
{
	return factors_compute(
		&(struct factors_input){
			.values = values,
			.n = RUNS,
			.factors = factors,
			.n_factors = N,
			.drawn = halves,
		},
		ret);
}

/* The mean share of some experiments is the true one, and each is within 10 %, or of a draw within
 * 25 %; the interval holds most of them. */
static void check_truth(const struct truth *truth, uint64_t seed)
{
	const int n = MAX(24 / TRIALS_PART, 8);
	uint64_t state = seed;
	double sums[3] = { 0 };
	int held = 0, n_intervals = 0, n_where = 0;

	for (int trial = 0; trial < n; trial++) {
		const double truths[] = { truth->factor, truth->held, truth->draw };
		struct factors found;

		make(&state, truth);
		assert_int_equal(compute(drawn, &found), 0);
		assert_true(found.has_halves);
		for (size_t i = 0; i < ARRAY_SIZE(truths); i++) {
			const struct factor_effect *effect = i == 0 ? &found.effects[0]
				: i == 1			    ? &found.held
								    : &found.draw;

			sums[i] += effect->share / n;
			if (truths[i] == 0)
				continue;
			assert_true(effect->found);
			assert_true(fabs(effect->share - truths[i]) < (i == 2 ? 0.25 : 0.13));
			assert_true(effect->low <= effect->share && effect->share <= effect->high);
			held += effect->low <= truths[i] && truths[i] <= effect->high;
			n_intervals++;
		}
		if (truth->factor > 0) {
			assert_int_equal(found.effects[0].lowest, 0);
			assert_int_equal(found.effects[0].highest, 3);
		}
		/* In the other half it may seem to act by chance. */
		n_where += found.effects[0].where == FACTOR_WHERE_HELD;
	}
	assert_true(fabs(sums[0] - truth->factor) < 0.04);
	assert_true(fabs(sums[1] - truth->held) < 0.04);
	assert_true(fabs(sums[2] - truth->draw) < 0.06);
	assert_true(!truth->only_held || n_where >= 0.8 * n);
	assert_true(held >= 0.85 * n_intervals - 2);
}

static void test_shares(void **state)
{
	(void)state;
	check_truth(&(struct truth){ .factor = 0.8, .rest = 0.2 }, 1);
	check_truth(&(struct truth){ .factor = 0.3, .rest = 0.7 }, 2);
	check_truth(&(struct truth){ .factor = 0.5, .rest = 0.5, .only_held = true }, 3);
	check_truth(&(struct truth){ .held = 0.4, .rest = 0.6 }, 4);
	check_truth(&(struct truth){ .draw = 0.5, .rest = 0.5 }, 5);
	check_truth(&(struct truth){ .factor = 0.3, .held = 0.2, .draw = 0.4, .rest = 0.1 }, 6);
}

/* Where nothing moves the number, any row is found in at most 5 % of the tables: of 240 in no more
 * than 20, which is 2.5 deviations above that. Normal, skewed, and drifting numbers. */
static void test_nothing(void **state)
{
	const int n = 240 / TRIALS_PART;
	uint64_t random = 11;
	int n_found = 0;

	(void)state;
	for (int trial = 0; trial < n; trial++) {
		struct factors found;
		bool any;

		make(&random, &(struct truth){ .rest = 1 });
		for (size_t i = 0; i < RUNS && trial % 3 > 0; i++)
			values[i] =
				trial % 3 == 1 ? exp(values[i] - 7) : values[i] + (double)i / 50;
		assert_int_equal(compute(drawn, &found), 0);
		any = found.held.found || found.draw.found;
		for (size_t f = 0; f < N; f++)
			any = any || found.effects[f].found;
		n_found += any;
	}
	assert_true(n_found <= 20.0 / TRIALS_PART + few_trials_slack(12.0 / TRIALS_PART));
}

/* A run that was disturbed is not what moves the number, and hides nothing. */
static void test_disturbed(void **state)
{
	uint64_t random = 21;
	struct factors found;

	(void)state;
	make(&random, &(struct truth){ .factor = 0.5, .rest = 0.5 });
	values[17] += 1000;
	values[170] += 100;
	assert_int_equal(compute(drawn, &found), 0);
	assert_true(found.effects[0].found);
	assert_true(found.effects[0].share > 0.3);
}

static void test_one_half(void **state)
{
	uint64_t random = 31;
	struct factors found, again;

	(void)state;
	make(&random, &(struct truth){ .factor = 0.6, .rest = 0.4 });
	assert_int_equal(compute(NULL, &found), 0);
	assert_false(found.has_halves);
	assert_true(found.effects[0].found);
	assert_int_equal(found.effects[0].where, FACTOR_EVERYWHERE);
	/* Three standard deviations of LEVELS, reduced a little. */
	assert_true(fabs(found.effects[0].difference - 3 * sqrt(0.6 / LEVEL_VARIANCE)) < 0.3);
	assert_int_equal(compute(NULL, &again), 0);
	assert_memory_equal(&found, &again, sizeof(found));
}

/* Nothing varies, or there are too few numbers. */
static void test_odd(void **state)
{
	uint64_t random = 41;
	struct factors found;
	struct factors_input input = {
		.values = values,
		.n = factors_least(factors, N, true) - 1,
		.factors = factors,
		.n_factors = N,
		.drawn = drawn,
	};

	(void)state;
	make(&random, &(struct truth){ .rest = 1 });
	assert_int_equal(factors_compute(&input, &found), -ENODATA);
	for (size_t i = 0; i < RUNS; i++)
		values[i] = 3;
	assert_int_equal(compute(drawn, &found), 0);
	for (size_t f = 0; f < N; f++) {
		assert_false(found.effects[f].found);
		assert_true(found.effects[f].share == 0);
	}
	assert_false(found.held.found || found.draw.found);
	/* All numbers are in one half. */
	for (size_t i = 0; i < RUNS; i++)
		drawn[i] = true;
	assert_int_equal(compute(drawn, &found), 0);
	assert_false(found.has_halves);
	/* No factor, but two halves. */
	make(&random, &(struct truth){ .draw = 0.6, .rest = 0.4 });
	input.n = RUNS;
	input.n_factors = 0;
	assert_int_equal(factors_compute(&input, &found), 0);
	assert_true(found.draw.found);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shares),
		cmocka_unit_test(test_nothing),
		cmocka_unit_test(test_disturbed),
		cmocka_unit_test(test_one_half),
		cmocka_unit_test(test_odd),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
