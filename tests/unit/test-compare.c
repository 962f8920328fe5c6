// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "basic/macro.h"
#include "report/analysis.h"
#include "report/compare.h"

#include "random.h"

/* A benchmark of n runs of k values each. */
static struct benchmark *new_benchmark(size_t n, size_t k)
{
	struct benchmark *b = calloc(1, sizeof(*b));

	assert_non_null(b);
	b->name = strdup("x");
	b->n_values = n * k;
	b->values = calloc(n * k, sizeof(*b->values));
	b->runs = calloc(n, sizeof(*b->runs));
	assert_non_null(b->values);
	assert_non_null(b->runs);
	assert_int_equal(series_new(true, NULL, &b->series), 0);
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(
			series_append(b->series, &(struct sample){ .user_ns = 1 }, NULL, NULL), 0);
		b->runs[i] =
			(struct benchmark_run){ .end = (i + 1) * k, .loops = 1, .inner_loops = 1 };
	}
	return b;
}

static double make_normal(uint64_t *random)
{
	return 0.02 * (1 + 0.003 * random_normal(random));
}

/* Values with a minimum, and random delays above it. */
static double make_skewed(uint64_t *random)
{
	return 0.02 * (1 - 0.01 * log(1 - random_unit(random)));
}

static double make_outliers(uint64_t *random)
{
	return make_normal(random) * (random_unit(random) < 0.05 ? 1.5 : 1);
}

static double make_two_modes(uint64_t *random)
{
	return make_normal(random) * (random_unit(random) < 0.4 ? 1.02 : 1);
}

static double (*const makes[])(
	uint64_t *random) = { make_normal, make_skewed, make_outliers, make_two_modes };

static struct benchmark *make_benchmark(
	double (*make)(uint64_t *random), size_t n, double factor, uint64_t *random)
{
	struct benchmark *b = new_benchmark(n, 1);

	for (size_t i = 0; i < n; i++)
		b->values[i] = factor * make(random);
	return b;
}

static enum verdict compare(struct benchmark *old, struct benchmark *new)
{
	struct comparison *c;
	enum verdict verdict;

	assert_int_equal(comparison_new(old, new, &c), 0);
	verdict = c->verdict;
	comparison_free(c);
	benchmark_free(old);
	benchmark_free(new);
	return verdict;
}

/* 5 % of the trials, plus three standard deviations. bench/compare has more trials. */
static size_t most_wrong(size_t trials)
{
	return (size_t)(0.05 * (double)trials + 3 * sqrt(0.05 * 0.95 * (double)trials));
}

/* Without a difference, one is reported in at most 5 % of the trials. */
static void test_no_difference(void **state)
{
	static const size_t sizes[][2] = { { 5, 5 }, { 25, 25 }, { 25, 40 } };
	size_t trials = 150;

	(void)state;
	for (size_t d = 0; d < ARRAY_SIZE(makes); d++) {
		for (size_t s = 0; s < ARRAY_SIZE(sizes); s++) {
			uint64_t random = 10 * d + s;
			size_t wrong = 0;

			for (size_t t = 0; t < trials; t++) {
				enum verdict verdict =
					compare(make_benchmark(makes[d], sizes[s][0], 1, &random),
						make_benchmark(makes[d], sizes[s][1], 1, &random));

				wrong += verdict == VERDICT_FASTER || verdict == VERDICT_SLOWER;
			}
			if (wrong > most_wrong(trials))
				fprintf(stderr, "%zu, %zu: %zu\n", d, s, wrong);
			assert_true(wrong <= most_wrong(trials));
		}
	}
}

/* A difference of one per cent with 25 runs and a noise of 0.3 % is found in at least 95 %. */
static void test_one_percent(void **state)
{
	uint64_t random = 1;
	size_t faster = 0, slower = 0, trials = 100;

	(void)state;
	for (size_t t = 0; t < trials; t++) {
		faster += compare(make_benchmark(make_normal, 25, 1, &random),
				  make_benchmark(make_normal, 25, 0.99, &random)) == VERDICT_FASTER;
		slower += compare(make_benchmark(make_normal, 25, 1, &random),
				  make_benchmark(make_normal, 25, 1.01, &random)) == VERDICT_SLOWER;
	}
	assert_true(faster >= trials * 95 / 100);
	assert_true(slower >= trials * 95 / 100);
}

/* Runs differ, but the ten values of a run hardly do: these are not 250 independent values. */
static void test_runs_are_units(void **state)
{
	uint64_t random = 7;
	size_t wrong = 0, trials = 150;

	(void)state;
	for (size_t t = 0; t < trials; t++) {
		struct benchmark *sides[2];
		enum verdict verdict;

		for (int side = 0; side < 2; side++) {
			sides[side] = new_benchmark(25, 10);
			for (size_t i = 0; i < 25; i++) {
				double run = 0.02 * (1 + 0.01 * random_normal(&random));

				for (size_t k = 0; k < 10; k++)
					sides[side]->values[10 * i + k] =
						run * (1 + 0.0005 * random_normal(&random));
			}
		}
		verdict = compare(sides[0], sides[1]);
		wrong += verdict == VERDICT_FASTER || verdict == VERDICT_SLOWER;
	}
	assert_true(wrong <= most_wrong(trials));
}

static void fill_levels(struct benchmark *b, size_t first, double from, double to, uint64_t seed)
{
	for (size_t i = 0; i < b->n_values; i++)
		b->values[i] = (i < first ? from : to) * (1 + 0.002 * random_normal(&seed));
}

static void test_unstable(void **state)
{
	struct benchmark *old = new_benchmark(60, 1), *new = new_benchmark(60, 1);
	struct comparison *c;
	char *text;

	(void)state;
	fill_levels(old, 20, 0.0203, 0.011, 1);
	fill_levels(new, 60, 0.0150, 0.0150, 2);
	assert_int_equal(comparison_new(old, new, &c), 0);
	assert_int_equal(c->verdict, VERDICT_UNCLEAR);
	text = comparison_verdict_text(c);
	assert_non_null(
		strstr(text, "unclear: the data are not stable: the old ones jump between "));
	free(text);
	comparison_free(c);
	/* All new values are lower than the lowest old level: that is clear. */
	fill_levels(new, 60, 0.0090, 0.0090, 3);
	assert_int_equal(comparison_new(old, new, &c), 0);
	assert_int_equal(c->verdict, VERDICT_FASTER);
	assert_false(comparison_is_slower_by(c, 0));
	comparison_free(c);
	benchmark_free(old);
	benchmark_free(new);
}

static void test_too_few(void **state)
{
	uint64_t random = 1;
	struct benchmark *old = make_benchmark(make_normal, 2, 1, &random);
	struct benchmark *few = make_benchmark(make_normal, 5, 2, &random);
	struct benchmark *new = make_benchmark(make_normal, 25, 2, &random);
	struct benchmark *single = new_benchmark(1, 1000);
	struct comparison *c;

	(void)state;
	/* All new values are twice the old ones; by chance that happens in 2 of 21 cases. */
	assert_int_equal(comparison_new(old, few, &c), 0);
	assert_int_equal(c->verdict, VERDICT_UNCLEAR);
	assert_string_equal(c->unclear,
		"too few runs: 2 and 5, and at least 4 each are needed to find any difference");
	assert_true(isnan(c->ratio.low) && isnan(c->ratio.high));
	comparison_free(c);
	assert_int_equal(comparison_new(old, new, &c), 0);
	assert_int_equal(c->verdict, VERDICT_SLOWER);
	comparison_free(c);
	fill_levels(single, 1000, 0.02, 0.02, 1);
	assert_int_equal(comparison_new(single, new, &c), 0);
	assert_int_equal(c->verdict, VERDICT_UNCLEAR);
	assert_string_equal(c->unclear, "how much runs differ is not known from a single one");
	assert_true(c->ratio.ratio > 1.9 && c->ratio.ratio < 2.1);
	assert_true(isnan(c->ratio.low) && isnan(c->ratio.high));
	comparison_free(c);
	single->unit = UNIT_BYTE;
	assert_int_equal(comparison_new(single, new, &c), -EINVAL);
	benchmark_free(old);
	benchmark_free(few);
	benchmark_free(new);
	benchmark_free(single);
}

static void test_differences(void **state)
{
	uint64_t random = 1;
	struct benchmark *old = make_benchmark(make_normal, 25, 1, &random);
	struct benchmark *new = make_benchmark(make_normal, 25, 1.05, &random);
	struct comparison *c;

	(void)state;
	for (int side = 0; side < 2; side++) {
		struct facts *facts = side == 0 ? &old->metadata : &new->metadata;

		facts_set_string(facts, "quiesce_version", "1");
		facts_set_string(facts, "hostname", "same");
		facts_set_string(
			facts, "quiesce_governor", side == 0 ? "powersave" : "performance");
		facts_set_integer(facts, "cpu_count", side == 0 ? 4 : 8);
		facts_set_string(facts, "command", side == 0 ? "a" : "b");
	}
	facts_set_string(&new->metadata, "quiesce_isolated", "2-3");
	facts_set_string(&new->metadata, "python_version", "3.13");
	assert_int_equal(comparison_new(old, new, &c), 0);
	assert_int_equal(c->n_differences, 3);
	assert_string_equal(c->differences[0], "cpu_count: 4 -> 8");
	assert_string_equal(c->differences[1], "quiesce_governor: powersave -> performance");
	assert_string_equal(c->differences[2], "quiesce_isolated: none -> 2-3");
	assert_int_equal(c->verdict, VERDICT_SLOWER);
	assert_true(comparison_is_slower_by(c, 2));
	assert_false(comparison_is_slower_by(c, 5.5));
	comparison_free(c);
	benchmark_free(old);
	benchmark_free(new);
}

/* Of 40 benchmarks without a difference, two would be reported at 5 %. Compared together, at most 5
 * % of the reported differences may be wrong. */
static void test_many(void **state)
{
	struct comparison *all[40];
	struct benchmark *sides[40][2];
	uint64_t random = 3;
	size_t trials = 8, wrong = 0;

	(void)state;
	for (size_t t = 0; t < trials; t++) {
		bool any = false;

		for (size_t i = 0; i < 40; i++) {
			for (int side = 0; side < 2; side++)
				sides[i][side] = make_benchmark(make_normal, 25, 1, &random);
			assert_int_equal(comparison_new(sides[i][0], sides[i][1], &all[i]), 0);
		}
		assert_int_equal(comparison_settle(all, 40), 0);
		assert_true(fabs(comparison_geometric_mean(all, 40) - 1) < 0.001);
		for (size_t i = 0; i < 40; i++) {
			any = any || all[i]->verdict != VERDICT_SAME;
			comparison_free(all[i]);
			benchmark_free(sides[i][0]);
			benchmark_free(sides[i][1]);
		}
		wrong += any;
	}
	assert_true(wrong <= most_wrong(trials));
}

/*
 * Series of 400 values without any effect: our findings appear in at most 1 % of 1000 series, and
 * those of pyperf in none, because the values vary little.
 */
static void test_nothing_found(void **state)
{
	uint64_t random = 400;
	size_t found = 0, trials = 1000;

	(void)state;
	for (size_t t = 0; t < trials; t++) {
		struct benchmark *b = make_benchmark(makes[t % ARRAY_SIZE(makes)], 400, 1, &random);
		struct analysis *analysis;

		assert_int_equal(analysis_new(b, &analysis), 0);
		found += analysis->levels->n > 1 || analysis->levels->drift != 0;
		for (size_t i = 0; i < analysis->stability->n_findings; i++)
			found += analysis->stability->findings[i].code == FINDING_AUTOCORRELATION;
		analysis_free(analysis);
		benchmark_free(b);
	}
	assert_true(found * 100 <= trials);
}

static void test_autocorrelation(void **state)
{
	struct benchmark *b = new_benchmark(400, 1);
	struct analysis *analysis;
	uint64_t random = 9;
	double at = 0;
	bool found = false;

	(void)state;
	for (size_t i = 0; i < 400; i++) {
		at = 0.6 * at + 0.8 * random_normal(&random);
		b->values[i] = 0.02 * (1 + 0.003 * at);
	}
	assert_int_equal(analysis_new(b, &analysis), 0);
	assert_true(fabs(analysis->levels->autocorrelation - 0.6) < 0.15);
	for (size_t i = 0; i < analysis->stability->n_findings; i++) {
		const struct finding *finding = &analysis->stability->findings[i];

		if (finding->code != FINDING_AUTOCORRELATION)
			continue;
		found = true;
		assert_true(finding->warning);
		assert_non_null(strstr(finding->text, "neighbouring runs are alike"));
	}
	assert_true(found);
	assert_false(analysis->stability->stable);
	analysis_free(analysis);
	benchmark_free(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_difference),
		cmocka_unit_test(test_one_percent),
		cmocka_unit_test(test_runs_are_units),
		cmocka_unit_test(test_unstable),
		cmocka_unit_test(test_too_few),
		cmocka_unit_test(test_differences),
		cmocka_unit_test(test_many),
		cmocka_unit_test(test_nothing_found),
		cmocka_unit_test(test_autocorrelation),
	};

	return cmocka_run_group_tests_name("compare", tests, NULL, NULL);
}
