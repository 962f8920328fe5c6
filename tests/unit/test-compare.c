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

#include "base/macro.h"
#include "judge/report/analysis.h"
#include "judge/report/compare.h"
#include "judge/report/resolution.h"
#include "judge/report/wording.h"
#include "judge/result/metadata.h"
#include "judge/stats/multiple.h"

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
	b->series = series_new(true, NULL);
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

/* A comparison by itself, with its verdict. */
static int compare_alone(
	const struct benchmark *old, const struct benchmark *new, struct comparison **ret)
{
	int r = comparison_new(old, new, ret);

	if (r == 0)
		comparison_settle(ret, 1);
	return r;
}

static enum verdict compare(struct benchmark *old, struct benchmark *new)
{
	struct comparison *c;
	enum verdict verdict;

	assert_int_equal(compare_alone(old, new, &c), 0);
	verdict = c->verdict;
	comparison_free(c);
	benchmark_free(old);
	benchmark_free(new);
	return verdict;
}

static struct comparison *compare_results(
	struct benchmark **old, size_t n_old, struct benchmark **new, size_t n_new)
{
	struct comparison *c;

	assert_int_equal(comparison_new_of_results((const struct benchmark *const *)old, n_old,
				 (const struct benchmark *const *)new, n_new, &c),
		0);
	comparison_settle(&c, 1);
	return c;
}

static void fill_levels(struct benchmark *b, size_t first, double from, double to, uint64_t seed)
{
	for (size_t i = 0; i < b->n_values; i++)
		b->values[i] = (i < first ? from : to) * (1 + 0.002 * random_normal(&seed));
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

static void set_own_machine(struct benchmark *b)
{
	facts_set_string(&b->metadata, "quiesce_virtualization", "none");
	facts_set_string(&b->metadata, "quiesce_smt", "off, inactive");
	facts_set_string(&b->metadata, "quiesce_boost", "off");
}

/*
 * Two results that were measured one after the other. However little their runs vary, small changes
 * may be the machine's: such are unclear, and large ones are found. bench/gate has more kinds of
 * machines, and tests/unit/test-pairs.c programs that were run in turn.
 */
static void test_one_after_the_other(void **state)
{
	static const struct {
		double factor;
		bool own;
		enum verdict verdict;
	} cases[] = {
		{ 1.01, false, VERDICT_UNCLEAR },
		{ 0.99, true, VERDICT_UNCLEAR },
		{ 1.15, false, VERDICT_UNCLEAR },
		{ 0.87, false, VERDICT_UNCLEAR },
		{ 1.5, false, VERDICT_SLOWER },
		{ 0.67, false, VERDICT_FASTER },
		{ 1.08, true, VERDICT_SLOWER },
		{ 0.92, true, VERDICT_FASTER },
	};
	uint64_t random = 1;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		for (size_t t = 0; t < 50; t++) {
			struct benchmark *old = make_benchmark(make_normal, 25, 1, &random);
			struct benchmark *new =
				make_benchmark(make_normal, 25, cases[i].factor, &random);
			struct comparison *c;
			double least;

			if (cases[i].own) {
				set_own_machine(old);
				set_own_machine(new);
			}
			assert_int_equal(compare_alone(old, new, &c), 0);
			assert_int_equal(c->design, COMPARED_IN_SEQUENCE);
			assert_int_equal(c->verdict, cases[i].verdict);
			/* Neighbours that are alike by chance add something, but not much with so
			 * little noise. */
			least = cases[i].own ? RESOLUTION_OWN : RESOLUTION_SHARED;
			assert_true(c->resolution.share >= least);
			assert_true(c->resolution.share < least + 0.015);
			if (c->verdict == VERDICT_UNCLEAR) {
				assert_non_null(strstr(c->unclear,
					"measured one after the other, which shows nothing below "
					"about "));
				assert_non_null(comparison_remedy(c));
				assert_true(c->ratio.low < 1 && c->ratio.high > 1);
			} else {
				assert_true(c->ratio.low > 1 || c->ratio.high < 1);
			}
			comparison_free(c);
			benchmark_free(old);
			benchmark_free(new);
		}
	}
}

/* Counts and sizes do not depend on what the machine does. */
static void test_not_times(void **state)
{
	uint64_t random = 1;

	(void)state;
	for (size_t t = 0; t < 50; t++) {
		struct benchmark *old = make_benchmark(make_normal, 25, 1e6, &random);
		struct benchmark *new = make_benchmark(make_normal, 25, 1.01e6, &random);

		old->unit = new->unit = &unit_byte;
		assert_int_equal(compare(old, new), VERDICT_SLOWER);
	}
}

/* What the machine has a part in is as unclear as times are, in whatever way the results were
 * measured that did not take turns. */
static void test_metrics(void **state)
{
	static const struct {
		const char *name;
		const struct unit *unit;
		bool of_program;
	} cases[] = {
		{ "cycles", &unit_integer, false },
		{ "cache-misses", &unit_integer, false },
		{ "instructions-retired", &unit_integer, false },
		{ "involuntary_switches", &unit_integer, false },
		{ "irq_device", &unit_integer, false },
		{ "migrations", &unit_integer, false },
		{ "user_cpu", UNIT_SECOND, false },
		{ "max_rss", &unit_byte, true },
		{ "minor_faults", &unit_integer, true },
		{ "instructions", &unit_integer, true },
		{ "instructions:u", &unit_integer, true },
	};
	uint64_t random = 9;

	(void)state;
	for (size_t i = 0; i < 2 * ARRAY_SIZE(cases); i++) {
		bool of_program = cases[i / 2].of_program;
		struct benchmark *sides[2][5];
		struct comparison *c;

		for (size_t k = 0; k < 10; k++) {
			struct benchmark *b =
				make_benchmark(make_normal, 25, k < 5 ? 1e6 : 1.1e6, &random);

			b->unit = cases[i / 2].unit;
			b->metric = cases[i / 2].name;
			sides[k / 5][k % 5] = b;
		}
		if (i % 2)
			c = compare_results(sides[0], 5, sides[1], 5);
		else
			assert_int_equal(compare_alone(sides[0][0], sides[1][0], &c), 0);
		assert_int_equal(
			c->design, i % 2 ? COMPARED_RESULTS_IN_SEQUENCE : COMPARED_IN_SEQUENCE);
		assert_int_equal(c->verdict, of_program ? VERDICT_SLOWER : VERDICT_UNCLEAR);
		assert_int_equal(comparison_gate(c, 2, SIGNIFICANCE),
			of_program ? GATE_FAILS : GATE_UNCLEAR);
		comparison_free(c);
		for (size_t k = 0; k < 10; k++)
			benchmark_free(sides[k / 5][k % 5]);
	}
}

/* Of medians below 0 there is no change that could be told in per cent, up or down. */
static void test_below_zero(void **state)
{
	static const double sides[][2] = {
		{ -2, -1 },
		{ -1, -2 },
		{ -1, 1 },
		{ 1, -1 },
		{ 0, -1 },
	};
	uint64_t random = 4;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(sides); i++) {
		struct benchmark *b[2];
		struct comparison *c;
		_cleanup_free_ char *text = NULL;
		char change[128];

		for (size_t side = 0; side < 2; side++) {
			b[side] = make_benchmark(make_normal, 25, 50 * sides[i][side], &random);
			b[side]->unit = &unit_integer;
			b[side]->metric = "counter";
		}
		assert_int_equal(compare_alone(b[0], b[1], &c), 0);
		assert_true(isnan(c->ratio.ratio) && isnan(c->ratio.low) && isnan(c->ratio.high));
		assert_int_equal(c->verdict, VERDICT_UNCLEAR);
		assert_string_equal(c->unclear,
			"they differ, but the medians do not tell how, and a value that is not "
			"above 0 has no ratio");
		assert_int_equal(comparison_gate(c, 2, SIGNIFICANCE), GATE_UNCLEAR);
		text = comparison_render(c);
		snprintf(change, sizeof(change), "  change     %.3g -> %.3g    measured",
			c->old_stats.median, c->new_stats.median);
		assert_non_null(strstr(text, change));
		assert_null(strstr(text, "of each alone"));
		comparison_free(c);
		benchmark_free(b[0]);
		benchmark_free(b[1]);
	}
}

/* Of what was not counted once there is no more, whatever the machine did. */
static void test_nothing_counted(void **state)
{
	struct benchmark *old = new_benchmark(25, 1), *new = new_benchmark(25, 1);
	struct comparison *c;

	(void)state;
	old->unit = new->unit = &unit_integer;
	old->metric = new->metric = "migrations";
	for (size_t some = 0; some < 2; some++) {
		_cleanup_free_ char *why = NULL;

		new->values[3] = (double)some;
		assert_int_equal(compare_alone(old, new, &c), 0);
		assert_int_equal(c->verdict, VERDICT_SAME);
		assert_int_equal(
			comparison_gate(c, 2, SIGNIFICANCE), some ? GATE_UNCLEAR : GATE_PASSES);
		why = comparison_gate_reason(c, 2);
		assert_non_null(strstr(why, "so the change has no interval"));
		comparison_free(c);
	}
	benchmark_free(old);
	benchmark_free(new);
}

/* Runs that are alike may be worth so few that more than a fifth may be chance. */
static void test_resolution(void **state)
{
	double values[100], more[25];
	struct resolution none, jump;
	double white, alike, jumping;
	uint64_t random = 5;
	struct levels *levels;
	double at = 0;

	(void)state;
	for (size_t i = 0; i < 100; i++)
		values[i] = 10 * exp(0.1 * random_normal(&random));
	assert_int_equal(levels_find(values, 100, &levels), 0);
	none = resolution_of_units(values, 100, levels, &white);
	levels_free(levels);
	for (size_t i = 0; i < 100; i++) {
		at = 0.6 * at + 0.8 * random_normal(&random);
		values[i] = 10 * exp(0.1 * at);
	}
	assert_int_equal(levels_find(values, 100, &levels), 0);
	assert_int_equal(levels->n, 1);
	none = resolution_of_units(values, 100, levels, &alike);
	levels_free(levels);
	/* The error of the difference of two medians of 100 such values is 3 %, and 6 % with this
	 * correlation. */
	assert_true(white < 0.015);
	assert_true(alike > 0.03 && alike < 0.1);
	assert_true(none.share == 0);
	for (size_t i = 0; i < 25; i++)
		more[i] = (i < 10 ? 1.0 : 1.4) * exp(0.003 * random_normal(&random));
	assert_int_equal(levels_find(more, 25, &levels), 0);
	jump = resolution_of_units(more, 25, levels, &jumping);
	levels_free(levels);
	assert_true(fabs(jump.share - 0.4) < 0.02);
	assert_string_equal(jump.why, "a machine with such levels");
	assert_true(jumping < 0.01);
	resolution_widen(&none, &jump);
	assert_true(none.share == jump.share);
	resolution_widen(&none, &(struct resolution){ 0.1, "less" });
	assert_true(none.share == jump.share);
	resolution_add_excess(&none, 0.5);
	assert_true(fabs(none.share - 1.5 * (1 + jump.share) + 1) < 1e-12);
	assert_string_equal(none.why, "runs whose neighbours may be as much alike");
}

/* --- Several results of each --- */

/* n results of 10 runs each, the first measured at `date`, the others `step` later each. */
static void make_results(struct benchmark **ret, size_t n, double factor, int64_t date,
	int64_t step, uint64_t *random)
{
	for (size_t i = 0; i < n; i++) {
		/* What differs from result to result. */
		double own = 1 + 0.005 * random_normal(random);

		ret[i] = make_benchmark(make_normal, 10, factor * own, random);
		ret[i]->has_dates = true;
		ret[i]->first_date = ret[i]->last_date = date + (int64_t)i * step;
	}
}

static void test_results(void **state)
{
	size_t wrong = 0, found = 0, trials = 200;
	uint64_t random = 8;

	(void)state;
	for (size_t t = 0; t < trials; t++) {
		double factor = t % 2 ? 1.02 : 1;
		struct benchmark *old[5], *new[5], *later[5];
		struct comparison *c;

		make_results(old, 5, 1, 1000, 100, &random);
		make_results(new, 5, factor, 1050, 100, &random);
		make_results(later, 5, factor, 1500, 100, &random);
		c = compare_results(old, 5, new, 5);
		assert_int_equal(c->design, COMPARED_RESULTS);
		assert_int_equal(c->n_old_results, 5);
		assert_true(c->resolution.share == 0);
		if (t % 2)
			found += c->verdict == VERDICT_SLOWER;
		else
			wrong += c->verdict != VERDICT_SAME;
		comparison_free(c);
		c = compare_results(old, 5, later, 5);
		assert_int_equal(c->design, COMPARED_RESULTS_IN_SEQUENCE);
		assert_true(c->verdict == VERDICT_SAME || c->verdict == VERDICT_UNCLEAR);
		assert_int_equal(comparison_gate(c, 2, SIGNIFICANCE), GATE_UNCLEAR);
		comparison_free(c);
		c = compare_results(old, 3, new, 3);
		assert_string_equal(c->unclear,
			"too few results: 3 and 3, and at least 4 each are needed to find any "
			"difference");
		comparison_free(c);
		new[2]->has_dates = false;
		c = compare_results(old, 5, new, 5);
		assert_int_equal(c->design, COMPARED_RESULTS_IN_SEQUENCE);
		comparison_free(c);
		new[4]->unit = &unit_byte;
		assert_int_equal(comparison_new_of_results((const struct benchmark *const *)old, 5,
					 (const struct benchmark *const *)new, 5, &c),
			-EINVAL);
		for (size_t i = 0; i < 5; i++) {
			benchmark_free(old[i]);
			benchmark_free(new[i]);
			benchmark_free(later[i]);
		}
	}
	/* 3.2 % of A/A, as 5 and 5 different numbers allow, and of 2 % nearly all. */
	assert_true(wrong <= most_wrong(trials / 2));
	assert_true(found >= trials / 2 * 90 / 100);
}

/* Results that were not measured by turns are as little comparable as the worst of them is,
 * whatever the order in which they are given. */
static void test_worst_result(void **state)
{
	enum {
		N_RESULTS = 5
	};
	enum {
		NOTHING,
		NEIGHBOURS,
		GOVERNOR,
		DISTURBED,
		LEVELS,
		CLOCK,
		N_WORSE
	};
	static const char *const reasons[] = {
		[NOTHING] = "a machine without neighbours, SMT and boost",
		[NEIGHBOURS] = "a machine that may be shared",
		[GOVERNOR] = "machines or measurements that differ",
		[DISTURBED] = "runs that were mostly disturbed",
		[LEVELS] = "a machine with such levels",
		[CLOCK] = "machines or measurements that differ",
	};
	uint64_t random = 3;

	(void)state;
	for (size_t i = 0; i < (size_t)N_WORSE * 2 * N_RESULTS; i++) {
		struct benchmark *sides[2][N_RESULTS];
		size_t worse = i / (2 * N_RESULTS), at = i % (2 * N_RESULTS);
		struct benchmark *bad;
		struct comparison *c;

		for (size_t side = 0; side < 2; side++) {
			make_results(sides[side], N_RESULTS, side ? 1.1 : 1, side ? 100000 : 1000,
				100, &random);
			for (size_t k = 0; k < N_RESULTS; k++) {
				struct benchmark *b = sides[side][k];

				if (worse != NEIGHBOURS || at != side * N_RESULTS + k)
					set_own_machine(b);
				facts_set_string(&b->metadata, "quiesce_governor", "performance");
				for (size_t run = 0; run < b->series->n_samples; run++)
					b->series->evidence[run].core_khz = 3600000;
			}
		}
		bad = sides[at / N_RESULTS][at % N_RESULTS];
		if (worse == GOVERNOR)
			facts_set_string(&bad->metadata, "quiesce_governor", "powersave");
		for (size_t run = 0; run < bad->series->n_samples; run++) {
			if (worse == DISTURBED)
				bad->series->samples[run].flags |= SAMPLE_PREEMPTED;
			if (worse == CLOCK)
				bad->series->evidence[run].core_khz = 2600000;
		}
		if (worse == LEVELS)
			fill_levels(bad, 5, 0.92 * bad->values[0], 1.08 * bad->values[0], 4);
		c = compare_results(sides[0], N_RESULTS, sides[1], N_RESULTS);
		assert_int_equal(c->design, COMPARED_RESULTS_IN_SEQUENCE);
		assert_string_equal(c->resolution.why, reasons[worse]);
		assert_int_equal(c->verdict, worse == NOTHING ? VERDICT_SLOWER : VERDICT_UNCLEAR);
		assert_int_equal(c->n_differences, worse == GOVERNOR || worse == CLOCK);
		comparison_free(c);
		for (size_t k = 0; k < N_RESULTS; k++) {
			benchmark_free(sides[0][k]);
			benchmark_free(sides[1][k]);
		}
	}
}

/* Which orders in time are by turns. */
static void test_alternation(void **state)
{
	static const struct {
		const char *order; /* of results of old (o) and new (n) */
		bool by_turns;
	} cases[] = {
		{ "onononon", true },
		{ "onnoonno", true },
		{ "nonononono", true },
		{ "oooonnnn", false },
		{ "nnnnoooo", false },
		/* Changes enough, and most of old is earlier all the same. */
		{ "oooonononnn", false },
		{ "oononnnnnnnnnnnn", false },
		/* One that stands at an end, or in the middle. */
		{ "onnnnnnnnnnnnnnnnnnn", false },
		{ "nnnnnnnnnonnnnnnnnnn", true },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct benchmark *sides[2][32];
		size_t n[2] = { 0 };
		uint64_t random = 1;
		struct comparison *c;

		for (size_t k = 0; cases[i].order[k]; k++) {
			size_t side = cases[i].order[k] == 'n';

			make_results(&sides[side][n[side]++], 1, 1, (int64_t)k, 0, &random);
		}
		c = compare_results(sides[0], n[0], sides[1], n[1]);
		assert_int_equal(c->design,
			cases[i].by_turns ? COMPARED_RESULTS : COMPARED_RESULTS_IN_SEQUENCE);
		comparison_free(c);
		for (size_t side = 0; side < 2; side++)
			for (size_t k = 0; k < n[side]; k++)
				benchmark_free(sides[side][k]);
	}
}

/* A gate of 2 % on two results of one program, one after the other, fails in none, and says so. */
static void test_gate(void **state)
{
	uint64_t random = 21;

	(void)state;
	for (size_t t = 0; t < 100; t++) {
		struct benchmark *old = make_benchmark(make_normal, 25, 1, &random);
		struct benchmark *same = make_benchmark(make_normal, 25, 1, &random);
		struct benchmark *half = make_benchmark(make_normal, 25, 1.5, &random);
		struct comparison *c;
		char *why;

		assert_int_equal(compare_alone(old, same, &c), 0);
		assert_int_equal(comparison_gate(c, 2, SIGNIFICANCE), GATE_UNCLEAR);
		why = comparison_gate_reason(c, 2);
		assert_string_equal(
			why, "measured one after the other, which shows nothing below about 20 %");
		free(why);
		/* All of the interval is below. */
		assert_int_equal(comparison_gate(c, 30, SIGNIFICANCE), GATE_PASSES);
		comparison_free(c);
		assert_int_equal(compare_alone(old, half, &c), 0);
		assert_int_equal(comparison_gate(c, 2, SIGNIFICANCE), GATE_FAILS);
		assert_int_equal(comparison_gate(c, 45, SIGNIFICANCE), GATE_UNCLEAR);
		assert_int_equal(comparison_gate(c, 90, SIGNIFICANCE), GATE_PASSES);
		comparison_free(c);
		assert_int_equal(compare_alone(half, old, &c), 0);
		assert_int_equal(comparison_gate(c, 2, SIGNIFICANCE), GATE_PASSES);
		comparison_free(c);
		benchmark_free(old);
		benchmark_free(same);
		benchmark_free(half);
	}
}

/* The core had another clock, or somebody else on it, on what looks like the same machine in the
 * same state. */
static void test_cores(void **state)
{
	static const struct {
		int64_t khz[2];
		size_t shared[2]; /* so many runs had a quarter of the core */
		const char *difference;
	} cases[] = {
		{ { -1, -1 }, { 0, 0 }, NULL },
		{ { 3600000, -1 }, { 0, 0 }, NULL },
		{ { 3600000, 3610000 }, { 3, 8 }, NULL },
		{ { 3600000, 2600000 }, { 0, 0 }, "clock of the core: 3600 MHz -> 2600 MHz" },
		{ { 3600000, 3600000 }, { 0, 18 }, "runs on a shared core: 0 % -> 75 %" },
	};
	uint64_t random = 4;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct benchmark *sides[2];
		struct comparison *c;

		for (int side = 0; side < 2; side++) {
			sides[side] = make_benchmark(make_normal, 25, side ? 1.08 : 1, &random);
			set_own_machine(sides[side]);
			/* Of one run it is not known. */
			for (size_t k = 1; k < 25; k++) {
				struct evidence *evidence = &sides[side]->series->evidence[k];
				bool shared = k <= cases[i].shared[side];

				evidence->core_khz = cases[i].khz[side];
				if (cases[i].khz[side] < 0)
					continue;
				evidence->core_shares[0] = EVIDENCE_SHARE_PER / (shared ? 4 : 1);
				if (shared)
					sides[side]->series->samples[k].flags |= SAMPLE_SHARED;
			}
		}
		assert_int_equal(compare_alone(sides[0], sides[1], &c), 0);
		assert_int_equal(c->n_differences, cases[i].difference ? 1 : 0);
		if (cases[i].difference)
			assert_string_equal(c->differences[0], cases[i].difference);
		assert_int_equal(
			c->verdict, cases[i].difference ? VERDICT_UNCLEAR : VERDICT_SLOWER);
		comparison_free(c);
		benchmark_free(sides[0]);
		benchmark_free(sides[1]);
	}
}

/* On a shared machine, the core was whole in nearly all runs of both, and the same core: the
 * machine is known for as long as the runs took. */
static void test_whole_cores(void **state)
{
	static const struct {
		double whole[2]; /* additions per cycle */
		int64_t khz;
		size_t n_shared; /* runs of the new ones */
		size_t n_preempted;
		bool known;
		bool without_flags; /* as in results of qs_main() */
	} cases[] = {
		{ { 4.0, 4.0 }, 3600000, 0, 0, true },
		{ { 4.0, 4.02 }, 3600000, 2, 5, true },
		/* One of them had a neighbour all the time, and did not know a whole core. */
		{ { 2.2, 4.0 }, 3600000, 0, 0, false },
		{ { 0, 4.0 }, 3600000, 0, 0, false },
		{ { 4.0, 4.0 }, -1, 0, 0, false },
		{ { 4.0, 4.0 }, 3600000, 4, 0, false },
		{ { 4.0, 4.0 }, 3600000, 0, 20, false },
		{ { 4.0, 4.0 }, 3600000, 4, 0, false, true },
	};
	uint64_t random = 6;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct benchmark *sides[2];
		struct comparison *c;

		for (int side = 0; side < 2; side++) {
			sides[side] = make_benchmark(make_normal, 25, side ? 1.1 : 1, &random);
			facts_set_string(&sides[side]->metadata, "quiesce_virtualization", "kvm");
			if (cases[i].whole[side] > 0)
				facts_set_real(&sides[side]->metadata, "quiesce_whole_core",
					cases[i].whole[side]);
			for (size_t k = 0; k < 25; k++) {
				struct series *series = sides[side]->series;
				bool shared = side == 1 && k < cases[i].n_shared;

				series->evidence[k].core_khz = cases[i].khz;
				series->evidence[k].core_shares[0] =
					EVIDENCE_SHARE_PER / (shared ? 2 : 1);
				series->samples[k].flags |=
					shared && !cases[i].without_flags ? SAMPLE_SHARED : 0;
				series->samples[k].flags |= side == 0 && k < cases[i].n_preempted
					? SAMPLE_PREEMPTED
					: 0;
			}
		}
		assert_int_equal(compare_alone(sides[0], sides[1], &c), 0);
		assert_int_equal(c->verdict, cases[i].known ? VERDICT_SLOWER : VERDICT_UNCLEAR);
		assert_true((c->resolution.share < RESOLUTION_SHARED) == cases[i].known);
		comparison_free(c);
		benchmark_free(sides[0]);
		benchmark_free(sides[1]);
	}
}

/* What check says of either side stands in the report. */
static void test_objections(void **state)
{
	struct benchmark *old = new_benchmark(40, 1), *new = new_benchmark(40, 1);
	struct comparison *c;
	char *text;

	(void)state;
	fill_levels(old, 40, 0.02, 0.02, 1);
	fill_levels(new, 20, 0.0205, 0.0210, 2);
	assert_int_equal(compare_alone(old, new, &c), 0);
	assert_int_equal(c->n_objections, 1);
	assert_string_equal(
		c->objections[0], "new: the values jump: runs 1-20 at 20.49 ms, 21-40 at 21.00 ms");
	text = comparison_render(c);
	assert_non_null(strstr(text, "  check      new: the values jump: "));
	assert_non_null(strstr(text, "measured one after the other\n"));
	assert_non_null(strstr(text, "\n  resolution 20 %    two results of "));
	free(text);
	comparison_free(c);
	benchmark_free(old);
	benchmark_free(new);
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

static void test_unstable(void **state)
{
	struct benchmark *old = new_benchmark(60, 1), *new = new_benchmark(60, 1);
	struct comparison *c;
	char *text;

	(void)state;
	fill_levels(old, 20, 0.0203, 0.011, 1);
	fill_levels(new, 60, 0.0150, 0.0150, 2);
	assert_int_equal(compare_alone(old, new, &c), 0);
	assert_int_equal(c->verdict, VERDICT_UNCLEAR);
	text = comparison_verdict_text(c);
	assert_non_null(
		strstr(text, "unclear: the data are not stable: the old ones jump between "));
	free(text);
	comparison_free(c);
	/* The old ones jump by 85 %: all new values are lower than the lowest old level by more. */
	fill_levels(new, 60, 0.0050, 0.0050, 3);
	assert_int_equal(compare_alone(old, new, &c), 0);
	assert_int_equal(c->verdict, VERDICT_FASTER);
	assert_int_equal(comparison_gate(c, 0, SIGNIFICANCE), GATE_PASSES);
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
	assert_int_equal(compare_alone(old, few, &c), 0);
	assert_int_equal(c->verdict, VERDICT_UNCLEAR);
	assert_string_equal(c->unclear,
		"too few runs: 2 and 5, and at least 4 each are needed to find any difference");
	assert_true(isnan(c->ratio.low) && isnan(c->ratio.high));
	comparison_free(c);
	assert_int_equal(compare_alone(old, new, &c), 0);
	assert_int_equal(c->verdict, VERDICT_SLOWER);
	comparison_free(c);
	fill_levels(single, 1000, 0.02, 0.02, 1);
	assert_int_equal(compare_alone(single, new, &c), 0);
	assert_int_equal(c->verdict, VERDICT_UNCLEAR);
	assert_string_equal(c->unclear, "how much runs differ is not known from a single one");
	assert_true(c->ratio.ratio > 1.9 && c->ratio.ratio < 2.1);
	assert_true(isnan(c->ratio.low) && isnan(c->ratio.high));
	comparison_free(c);
	single->unit = &unit_byte;
	assert_int_equal(compare_alone(single, new, &c), -EINVAL);
	benchmark_free(old);
	benchmark_free(few);
	benchmark_free(new);
	benchmark_free(single);
}

/* A value of 0 has no ratio, and decides nothing about how much so few values can tell. */
static void test_too_few_zeros(void **state)
{
	static const struct {
		double old[4], new[4];
		size_t n;
		enum verdict verdict;
	} cases[] = {
		{ { 0, 0, 0 }, { 5, 5, 5 }, 3, VERDICT_UNCLEAR },
		{ { 0, 0, 0 }, { 0, 7, 9 }, 3, VERDICT_UNCLEAR },
		{ { 0, 1, 2, 3 }, { 7, 8, 9, 10 }, 4, VERDICT_SLOWER },
		{ { 0, 1, 2, 3 }, { 0, 1, 2, 3 }, 4, VERDICT_SAME },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct benchmark *old = new_benchmark(cases[i].n, 1);
		struct benchmark *new = new_benchmark(cases[i].n, 1);
		struct comparison *c;

		old->unit = new->unit = &unit_integer;
		for (size_t k = 0; k < cases[i].n; k++) {
			old->values[k] = cases[i].old[k];
			new->values[k] = cases[i].new[k];
		}
		assert_int_equal(compare_alone(old, new, &c), 0);
		assert_int_equal(c->verdict, cases[i].verdict);
		if (c->verdict == VERDICT_UNCLEAR)
			assert_string_equal(c->unclear,
				"too few runs: 3 and 3, and at least 4 each are needed to find any "
				"difference");
		comparison_free(c);
		benchmark_free(old);
		benchmark_free(new);
	}
}

static void test_differences(void **state)
{
	uint64_t random = 1;
	struct benchmark *old = make_benchmark(make_normal, 25, 1, &random);
	struct benchmark *new = make_benchmark(make_normal, 25, 1.5, &random);
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
		/* A reading of one moment. */
		facts_set_string(facts, "cpu_freq", side == 0 ? "3=2893 MHz" : "3=2912 MHz");
	}
	facts_set_string(&new->metadata, "quiesce_isolated", "2-3");
	facts_set_string(&new->metadata, "python_version", "3.13");
	assert_int_equal(compare_alone(old, new, &c), 0);
	assert_int_equal(c->n_differences, 3);
	assert_string_equal(c->differences[0], "cpu_count: 4 -> 8");
	assert_string_equal(c->differences[1], "quiesce_governor: powersave -> performance");
	assert_string_equal(c->differences[2], "quiesce_isolated: none -> 2-3");
	assert_int_equal(c->verdict, VERDICT_SLOWER);
	assert_int_equal(comparison_gate(c, 2, SIGNIFICANCE), GATE_FAILS);
	assert_string_equal(c->resolution.why, "machines or measurements that differ");
	comparison_free(c);
	benchmark_free(old);
	benchmark_free(new);
}

/* What the options of runpinned say, which it records, and which tool it was. */
static void test_options_differ(void **state)
{
	static const struct {
		const char *key, *old, *new, *difference;
	} cases[] = {
		{ "quiesce_output", "/dev/null", "pipe", "quiesce_output: /dev/null -> pipe" },
		{ "quiesce_output", NULL, "pipe", "quiesce_output: none -> pipe" },
		{ "quiesce_input", "/dev/null", "x", "quiesce_input: /dev/null -> x" },
		{ "quiesce_drop_caches", NULL, "yes", "quiesce_drop_caches: none -> yes" },
		{ "quiesce_shell", "sh", NULL, "quiesce_shell: sh -> none" },
		{ "quiesce_nice", NULL, "5", "quiesce_nice: none -> 5" },
		{ "quiesce_user", NULL, "me", "quiesce_user: none -> me" },
		{ "quiesce_cooldown", NULL, "1", "quiesce_cooldown: none -> 1" },
		{ "quiesce_prepare", "sync", "make", "quiesce_prepare: sync -> make" },
		{ "quiesce_evidence", "none", "all", "quiesce_evidence: none -> all" },
		{ "cpu_quota", NULL, "0.2 CPUs", "cpu_quota: none -> 0.2 CPUs" },
		{ METADATA_TOOL, NULL, "hyperfine", "tool: runpinned -> hyperfine" },
		{ METADATA_TOOL, "google-benchmark", "hyperfine",
			"tool: google-benchmark -> hyperfine" },
		{ METADATA_TOOL, "hyperfine", "hyperfine", NULL },
	};
	uint64_t random = 1;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct benchmark *old = make_benchmark(make_normal, 5, 1, &random);
		struct benchmark *new = make_benchmark(make_normal, 5, 1, &random);
		struct comparison *c;

		facts_set_string(&old->metadata, "quiesce_version", "1");
		facts_set_string(&new->metadata, "quiesce_version", "1");
		if (cases[i].old)
			facts_set_string(&old->metadata, cases[i].key, cases[i].old);
		if (cases[i].new)
			facts_set_string(&new->metadata, cases[i].key, cases[i].new);
		assert_int_equal(compare_alone(old, new, &c), 0);
		assert_int_equal(c->n_differences, cases[i].difference ? 1 : 0);
		if (cases[i].difference)
			assert_string_equal(c->differences[0], cases[i].difference);
		comparison_free(c);
		benchmark_free(old);
		benchmark_free(new);
	}
}

/* Of 40 benchmarks without a difference, two would be reported at 5 %. Compared together, at most 5
 * % of the reported differences may be wrong. */
static void test_many(void **state)
{
	struct comparison *all[40];
	struct benchmark *sides[40][2];
	uint64_t random = 3;
	size_t trials = 8, wrong = 0, n_known;

	(void)state;
	for (size_t t = 0; t < trials; t++) {
		bool any = false;

		for (size_t i = 0; i < 40; i++) {
			for (int side = 0; side < 2; side++)
				sides[i][side] = make_benchmark(make_normal, 25, 1, &random);
			assert_int_equal(compare_alone(sides[i][0], sides[i][1], &all[i]), 0);
		}
		comparison_settle(all, 40);
		assert_true(fabs(comparison_geometric_mean(all, 40, &n_known) - 1) < 0.001);
		assert_int_equal(n_known, 40);
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
 * Series of 400 values without any effect: our concerns appear in at most 1 % of 1000 series, and
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
		for (size_t i = 0; i < analysis->stability->n_concerns; i++)
			found += analysis->stability->concerns[i].code == CONCERN_AUTOCORRELATION;
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
	for (size_t i = 0; i < analysis->stability->n_concerns; i++) {
		const struct concern *concern = &analysis->stability->concerns[i];

		if (concern->code != CONCERN_AUTOCORRELATION)
			continue;
		found = true;
		assert_true(concern->warning);
		assert_non_null(strstr(concern->text, "neighbouring runs are alike"));
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
		cmocka_unit_test(test_one_after_the_other),
		cmocka_unit_test(test_not_times),
		cmocka_unit_test(test_metrics),
		cmocka_unit_test(test_below_zero),
		cmocka_unit_test(test_nothing_counted),
		cmocka_unit_test(test_resolution),
		cmocka_unit_test(test_results),
		cmocka_unit_test(test_worst_result),
		cmocka_unit_test(test_alternation),
		cmocka_unit_test(test_gate),
		cmocka_unit_test(test_cores),
		cmocka_unit_test(test_whole_cores),
		cmocka_unit_test(test_objections),
		cmocka_unit_test(test_runs_are_units),
		cmocka_unit_test(test_unstable),
		cmocka_unit_test(test_too_few),
		cmocka_unit_test(test_too_few_zeros),
		cmocka_unit_test(test_differences),
		cmocka_unit_test(test_options_differ),
		cmocka_unit_test(test_many),
		cmocka_unit_test(test_nothing_found),
		cmocka_unit_test(test_autocorrelation),
	};

	return cmocka_run_group_tests_name("compare", tests, NULL, NULL);
}
