// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "judge/report/compare.h"
#include "judge/report/repeats.h"
#include "judge/report/wording.h"
#include "judge/result/metadata.h"
#include "judge/stats/multiple.h"

#include "random.h"

enum {
	DAY = 86400,
	REPEATS_MAX = 40,
	TOGETHER_MAX = 19,
};

/* A sitting: runs of a program that takes exp(level). */
struct plan {
	double level;
	double noise; /* of a run */
	size_t runs;
	int64_t date; /* 0: unknown */
};

static struct benchmark *new_sitting(const struct plan *plan, uint64_t *random)
{
	struct benchmark *b = calloc(1, sizeof(*b));

	assert_non_null(b);
	b->name = strdup("x");
	b->n_values = plan->runs;
	b->values = calloc(plan->runs, sizeof(*b->values));
	b->runs = calloc(plan->runs, sizeof(*b->runs));
	assert_non_null(b->values);
	assert_non_null(b->runs);
	b->series = series_new(true, NULL);
	for (size_t i = 0; i < plan->runs; i++) {
		assert_int_equal(
			series_append(b->series, &(struct sample){ .user_ns = 1 }, NULL, NULL), 0);
		b->series->samples[i].start_ns = plan->date > 0 ? 0 : -1;
		b->runs[i] = (struct benchmark_run){ .end = i + 1, .loops = 1, .inner_loops = 1 };
		b->values[i] = 0.02 * exp(plan->level + plan->noise * random_normal(random));
	}
	b->has_dates = plan->date > 0;
	b->first_date = b->last_date = plan->date;
	return b;
}

/* Results that have one benchmark each. */
struct results {
	struct suite suites[REPEATS_MAX];
	struct suite *list[REPEATS_MAX];
	struct benchmark *benchmarks[REPEATS_MAX];
	char names[REPEATS_MAX][16];
	char *name_list[REPEATS_MAX];
	struct repeats repeats;
};

static void results_add(struct results *results, struct benchmark *benchmark)
{
	size_t at = results->repeats.n++;

	results->benchmarks[at] = benchmark;
	results->suites[at] = (struct suite){ .benchmarks = &results->benchmarks[at], .n = 1 };
	results->list[at] = &results->suites[at];
	snprintf(results->names[at], sizeof(results->names[at]), "%zu.json", at);
	results->name_list[at] = results->names[at];
	results->repeats.suites = results->list;
	results->repeats.names = results->name_list;
	results->repeats.n_together = 1;
}

/* Adds n sittings, each so many seconds after the one before, and moves the plan behind them. */
static void add_sittings(
	struct results *results, struct plan *plan, size_t n, int64_t every, uint64_t *random)
{
	for (size_t i = 0; i < n; i++, plan->date += every)
		results_add(results, new_sitting(plan, random));
}

static void results_clear(struct results *results)
{
	for (size_t i = 0; i < results->repeats.n; i++)
		benchmark_free(results->benchmarks[i]);
	repeats_clear(&results->repeats);
	*results = (struct results){ 0 };
}

/* Applies them to a comparison of which the new program is judged. */
static void apply(struct results *results, struct comparison *c)
{
	const struct benchmark *const judged[] = { c->new };

	assert_int_equal(repeats_apply(&results->repeats, c, judged, ARRAY_SIZE(judged)), 0);
}

/* A machine whose sittings vary by `sitting`, and its runs by `noise`. */
struct machine {
	double sitting;
	double noise;
	size_t runs;
	size_t repeats;
	bool with_old; /* OLD is one of the repeats */
};

static struct comparison *compare_once(
	const struct machine *machine, double slower, bool is_learnt, uint64_t *random)
{
	struct results results = { 0 };
	struct plan plan = { 0, machine->noise, machine->runs, 100 * DAY };
	struct benchmark *old, *new;
	struct comparison *c;

	plan.level = machine->sitting * random_normal(random);
	old = new_sitting(&plan, random);
	plan.level = machine->sitting * random_normal(random) + log1p(slower);
	plan.date += 7 * DAY;
	new = new_sitting(&plan, random);
	assert_int_equal(comparison_new(old, new, &c), 0);
	for (size_t i = machine->with_old; is_learnt && i < machine->repeats; i++) {
		plan.level = machine->sitting * random_normal(random);
		plan.date = (int64_t)(i + 1) * DAY;
		results_add(&results, new_sitting(&plan, random));
	}
	if (is_learnt && machine->with_old)
		results_add(&results, old);
	if (is_learnt) {
		apply(&results, c);
		assert_int_equal(c->learnt.n, machine->repeats);
		assert_int_equal(results.repeats.n_remarks, 0);
	}
	comparison_settle(&c, 1);
	/* They outlive the comparison's need of them, which is its words. */
	if (is_learnt && machine->with_old)
		results.repeats.n--;
	results_clear(&results);
	return c;
}

static void forget(struct comparison *c)
{
	benchmark_free((struct benchmark *)c->old);
	benchmark_free((struct benchmark *)c->new);
	comparison_free(c);
}

static bool is_claim(const struct comparison *c)
{
	return c->verdict == VERDICT_FASTER || c->verdict == VERDICT_SLOWER;
}

static int count_claims(const struct machine *machine, double slower, int trials, uint64_t seed)
{
	int n = 0;

	for (int i = 0; i < trials; i++) {
		struct comparison *c = compare_once(machine, slower, true, &seed);

		n += is_claim(c);
		forget(c);
	}
	return n;
}

static const size_t numbers[] = { 2, 3, 5, 10 };

/* Two results of one program are called different in at most 5 %, however few repeats there are,
 * and whether it is the sittings or the runs that vary. */
static void test_false_claims(void **state)
{
	static const struct machine machines[] = {
		{ .sitting = 0.01, .noise = 0.003, .runs = 20 },
		{ .sitting = 0.1, .noise = 0.003, .runs = 20 },
		{ .sitting = 0.003, .noise = 0.01, .runs = 10 },
		{ .sitting = 0, .noise = 0.01, .runs = 10 },
		{ .sitting = 0.01, .noise = 0.003, .runs = 20, .with_old = true },
	};
	const int trials = 600 / TRIALS_PART;

	(void)state;
	for (size_t m = 0; m < ARRAY_SIZE(machines); m++) {
		for (size_t i = 0; i < ARRAY_SIZE(numbers); i++) {
			struct machine machine = machines[m];
			int n;

			machine.repeats = numbers[i];
			n = count_claims(&machine, 0, trials, 17 * m + i);
			print_message(
				"# sittings %g %%, runs %g %%%s, %zu repeats: %.1f %% claims\n",
				100 * machine.sitting, 100 * machine.noise,
				machine.with_old ? ", with OLD" : "", machine.repeats,
				100.0 * n / trials);
			/* 10,000 trials are 4.8 to 5.1 % (bench/gate); the rest is chance. */
			assert_true(rate_is_between(n, 0, 7, trials));
		}
	}
}

/* What 20 % hides is found, the more of it the more repeats there are. */
static void test_power(void **state)
{
	const struct machine machine = { .sitting = 0.005, .noise = 0.003, .runs = 20 };
	static const int least[] = { 20, 80, 95, 99 };
	const int trials = 300 / TRIALS_PART;
	uint64_t seed = 5;

	(void)state;
	for (int i = 0; i < trials; i++) {
		struct comparison *c = compare_once(&machine, 0.05, false, &seed);

		assert_int_equal(c->verdict, VERDICT_UNCLEAR);
		assert_float_equal(resolution_size(&c->resolution), RESOLUTION_SHARED, 0.01);
		forget(c);
	}
	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++) {
		struct machine with = machine;
		int n;

		with.repeats = numbers[i];
		n = count_claims(&with, 0.05, trials, i);
		print_message("# 5 %% slower, %zu repeats: %.1f %% found\n", with.repeats,
			100.0 * n / trials);
		assert_true(rate_is_between(n, least[i], 100, trials));
	}
}

/* Of several benchmarks that are judged together, any is told in at most 5 %, and where all are
 * slower by exactly the limit, a gate fails in at most 2.5 %. */
static void test_together(void **state)
{
	static const size_t together[] = { 1, 4, TOGETHER_MAX };
	const struct machine machine = {
		.sitting = 0.01, .noise = 0.003, .runs = 12, .repeats = 3
	};
	const int trials = 250 / TRIALS_PART;
	uint64_t seed = 3;

	(void)state;
	for (size_t k = 0; k < 2 * ARRAY_SIZE(together); k++) {
		size_t n = together[k / 2];
		bool is_gate = k % 2;
		int n_wrong = 0;

		for (int i = 0; i < trials; i++) {
			struct comparison *all[TOGETHER_MAX];
			bool any = false;
			double level;

			for (size_t j = 0; j < n; j++)
				all[j] = compare_once(&machine, is_gate ? 0.02 : 0, true, &seed);
			comparison_settle(all, n);
			level = comparison_gate_level(all, n, 2);
			for (size_t j = 0; j < n; j++) {
				any = any ||
					(is_gate ? comparison_gate(all[j], 2, level) == GATE_FAILS
						 : is_claim(all[j]));
				forget(all[j]);
			}
			n_wrong += any;
		}
		print_message("# %zu together, %s: %.1f %% wrong\n", n,
			is_gate ? "a gate at the limit" : "all the same", 100.0 * n_wrong / trials);
		assert_true(rate_is_between(n_wrong, 0, is_gate ? 4 : 7, trials));
	}
}

/* An end of the interval at a level is where p is this level, and the interval is never narrower
 * than that of the runs. */
static void test_consistent(void **state)
{
	static const double levels[] = { 0.2, SIGNIFICANCE, 0.01, 0.001 };
	uint64_t seed = 11;

	(void)state;
	for (size_t k = 0; k < 40; k++) {
		const struct machine machine = { .sitting = k % 4 * 0.004,
			.noise = 0.004,
			.runs = 8 + k % 5 * 8,
			.repeats = numbers[k % 3] };
		struct comparison *c = compare_once(&machine, 0.01, true, &seed);
		bool has_levels = k % 2;

		if (has_levels) {
			c->of_levels.share = 0.02;
			comparison_learn(c, c->learnt.deviation, c->resolution.df);
		}
		for (size_t i = 0; i < ARRAY_SIZE(levels); i++) {
			struct ratio at = comparison_interval_at(c, levels[i]);
			struct shift shift;

			shift_test_find(c->test, levels[i], &shift);
			if (isnan(at.low))
				continue;
			assert_true(at.low <= exp(shift.low) * (1 + 1e-9));
			assert_true(at.high >= exp(shift.high) * (1 - 1e-9));
			assert_true(comparison_p_above(c, at.low * 0.9999) <= levels[i] * 1.001);
			assert_true(comparison_p_above(c, at.low * 1.0001) >= levels[i] * 0.97);
		}
		if (!has_levels)
			assert_int_equal(
				c->p <= SIGNIFICANCE, c->ratio.low > 1 || c->ratio.high < 1);
		forget(c);
	}
}

/* With equal levels in all repeats, the runs' own error remains. */
static void test_nothing_varies(void **state)
{
	struct results results = { 0 };
	struct plan plan = { 0, 0, 10, DAY };
	struct benchmark *old, *new;
	struct comparison *c;
	uint64_t seed = 1;

	(void)state;
	add_sittings(&results, &plan, 4, DAY, &seed);
	plan.noise = 0.01;
	old = new_sitting(&plan, &seed);
	plan.level = 0.1;
	new = new_sitting(&plan, &seed);
	assert_int_equal(comparison_new(old, new, &c), 0);
	apply(&results, c);
	comparison_settle(&c, 1);
	assert_float_equal(resolution_size(&c->resolution), 0, 1e-12);
	assert_true(c->ratio.high / c->ratio.low > 1.005);
	assert_int_equal(c->verdict, VERDICT_SLOWER);
	/* Still one after the other: a gate passes only where all of the interval is below it. */
	assert_int_equal(comparison_gate(c, 10.6, SIGNIFICANCE), GATE_UNCLEAR);
	forget(c);
	results_clear(&results);
}

/* --- Which count --- */

struct sample_case {
	const char *name;
	void (*change)(struct benchmark *repeat, size_t at);
	size_t n; /* that count, of 4 */
	const char *remark;
};

static void set_text(struct benchmark *b, const char *key, const char *value)
{
	facts_set_string(&b->metadata, key, value);
}

static void leave(struct benchmark *repeat, size_t at)
{
	(void)repeat;
	(void)at;
}

static void set_governor(struct benchmark *repeat, size_t at)
{
	set_text(repeat, "quiesce_governor", at == 1 ? "powersave" : "performance");
}

static void set_host(struct benchmark *repeat, size_t at)
{
	set_text(repeat, "hostname", at == 2 ? "other" : "this");
}

static void set_isolated(struct benchmark *repeat, size_t at)
{
	set_text(repeat, "quiesce_isolated", at == 0 ? "2-3" : "3");
}

static void set_unit(struct benchmark *repeat, size_t at)
{
	repeat->unit = at == 3 ? &unit_byte : UNIT_SECOND;
}

static void set_unit_of_figure(struct benchmark *repeat, size_t at)
{
	static const struct unit rate = { .name = "1/s", .kind = UNIT_IS_OTHER };

	repeat->unit = at == 3 ? &rate : UNIT_SECOND;
}

static void lose_dates(struct benchmark *repeat, size_t at)
{
	repeat->has_dates = at != 1;
}

static void set_commits(struct benchmark *repeat, size_t at)
{
	set_text(repeat, METADATA_COMMIT, at % 2 ? "b" : "a");
	for (size_t i = 0; at % 2 && i < repeat->n_values; i++)
		repeat->values[i] *= 2;
}

static void set_all_commits(struct benchmark *repeat, size_t at)
{
	set_text(repeat, METADATA_COMMIT, (const char *[]){ "a", "b", "c", "d" }[at]);
}

static void bring_near(struct benchmark *repeat, size_t at)
{
	repeat->first_date = at < 3 ? DAY + (int64_t)at * 3600 : 3 * DAY;
}

static void repeat_first(struct benchmark *repeat, size_t at)
{
	static double first[10];

	for (size_t i = 0; i < 10 && at == 0; i++)
		first[i] = repeat->values[i];
	for (size_t i = 0; i < 10 && at == 3; i++)
		repeat->values[i] = first[i];
	repeat->first_date = at == 3 ? DAY : repeat->first_date;
}

static void set_name(struct benchmark *repeat, size_t at)
{
	repeat->name[0] = at == 0 ? 'y' : 'x';
}

static void set_zero(struct benchmark *repeat, size_t at)
{
	repeat->values[0] = at == 0 ? 0 : repeat->values[0];
}

static const struct sample_case cases[] = {
	{ "all", leave, 4, NULL },
	{ "governor", set_governor, 3,
		"1.json does not count: it was measured differently, quiesce_governor: performance "
		"-> powersave" },
	{ "host", set_host, 3,
		"2.json does not count: it was measured differently, hostname: this -> other" },
	{ "isolated", set_isolated, 3,
		"0.json does not count: it was measured differently, quiesce_isolated: 3 -> 2-3" },
	{ "unit", set_unit, 3, "3.json does not count: it is in bytes" },
	{ "unit of a figure", set_unit_of_figure, 3, "3.json does not count: it is in 1/s" },
	{ "dates", lose_dates, 3, "1.json does not count: it does not tell when it was measured" },
	{ "commits", set_commits, 4, NULL },
	{ "all commits", set_all_commits, 4, NULL },
	{ "near", bring_near, 2,
		"2 sittings do not count: they began less than 12 hours after another one, and "
		"what is compared is farther apart" },
	{ "twice", repeat_first, 3, NULL },
	{ "name", set_name, 3, NULL },
	{ "zero", set_zero, 3, NULL },
};

static void test_which_count(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct results results = { 0 };
		struct plan plan = { 0, 0.002, 10, DAY };
		struct benchmark *old, *new;
		struct comparison *c;
		uint64_t seed = 2;

		add_sittings(&results, &plan, 4, DAY, &seed);
		for (size_t k = 0; k < 4; k++)
			cases[i].change(results.benchmarks[k], k);
		plan.date = 20 * DAY;
		old = new_sitting(&plan, &seed);
		plan.date = 27 * DAY;
		new = new_sitting(&plan, &seed);
		for (int side = 0; side < 2; side++) {
			struct benchmark *b = side ? new : old;

			if (cases[i].change == set_governor)
				set_text(b, "quiesce_governor", "performance");
			if (cases[i].change == set_host)
				set_text(b, "hostname", "this");
			if (cases[i].change == set_isolated)
				set_text(b, "quiesce_isolated", "3");
			if (cases[i].change == set_commits)
				set_text(b, METADATA_COMMIT, side ? "new" : "old");
		}
		assert_int_equal(comparison_new(old, new, &c), 0);
		apply(&results, c);
		if (c->learnt.n != cases[i].n)
			fail_msg("%s: %zu", cases[i].name, c->learnt.n);
		assert_int_equal(results.repeats.n_remarks, cases[i].remark ? 1 : 0);
		if (cases[i].remark)
			assert_string_equal(results.repeats.remarks[0], cases[i].remark);
		assert_int_equal(results.repeats.n_asked, 1);
		/* What two programs differ by is not what sittings do. */
		if (cases[i].n > 0)
			assert_true(c->learnt.deviation < 0.005);
		else
			assert_float_equal(c->resolution.df, 0, 0);
		if (cases[i].change == set_commits)
			assert_float_equal(c->resolution.df, 2, 0);
		if (cases[i].change == set_all_commits) {
			assert_float_equal(c->resolution.df, 3, 0);
			assert_string_equal(c->learnt.why,
				"this machine, by 4 repeats of 4 programs over 3 days,");
		}
		forget(c);
		results_clear(&results);
	}
}

/* NEW is judged by others, and OLD is one of them. */
static void test_own(void **state)
{
	struct results results = { 0 };
	struct plan plan = { 0, 0.002, 10, DAY };
	struct comparison *c;
	uint64_t seed = 2;

	(void)state;
	add_sittings(&results, &plan, 4, DAY, &seed);
	assert_int_equal(comparison_new(results.benchmarks[0], results.benchmarks[3], &c), 0);
	assert_int_equal(repeats_apply(&results.repeats, c,
				 (const struct benchmark *const[]){ results.benchmarks[3] }, 1),
		0);
	assert_int_equal(c->learnt.n, 3);
	assert_int_equal(c->learnt.seconds, 2 * DAY);
	assert_string_equal(c->learnt.why, "this machine, by 3 repeats over 2 days,");
	assert_int_equal(results.repeats.n_remarks, 1);
	assert_string_equal(
		results.repeats.remarks[0], "3.json does not count: it is what is judged");
	comparison_free(c);
	results_clear(&results);
}

/* Results that were measured within minutes need repeats that are as near. */
static void test_minutes(void **state)
{
	struct results results = { 0 };
	struct plan plan = { 0, 0.002, 10, DAY };
	struct benchmark *old, *new;
	struct comparison *c;
	uint64_t seed = 2;

	(void)state;
	add_sittings(&results, &plan, 4, 600, &seed);
	old = new_sitting(&plan, &seed);
	plan.date += 300;
	new = new_sitting(&plan, &seed);
	assert_int_equal(comparison_new(old, new, &c), 0);
	apply(&results, c);
	assert_int_equal(c->learnt.n, 4);
	assert_string_equal(c->learnt.why, "this machine, by 4 repeats over 30 minutes,");
	forget(c);
	results_clear(&results);
}

/* A program that was changed between two repeats makes the resolution larger, and is said where
 * there are enough of them. */
static void test_steps(void **state)
{
	struct results results = { 0 };
	struct plan plan = { 0, 0.002, 10, DAY };
	struct benchmark *old, *new;
	struct comparison *c;
	uint64_t seed = 2;

	(void)state;
	add_sittings(&results, &plan, 10, DAY, &seed);
	plan.level = 0.03;
	add_sittings(&results, &plan, 10, DAY, &seed);
	old = new_sitting(&plan, &seed);
	plan.date += DAY;
	new = new_sitting(&plan, &seed);
	assert_int_equal(comparison_new(old, new, &c), 0);
	apply(&results, c);
	assert_true(c->learnt.is_steady_known);
	assert_non_null(c->learnt.steps);
	assert_non_null(strstr(c->learnt.steps, "+3"));
	assert_non_null(strstr(c->learnt.steps, " from 1970-01-12 on"));
	assert_true(c->learnt.deviation > 0.015);
	forget(c);
	results_clear(&results);
}

/* Nothing is learnt for what was measured in other ways than one after the other, or differently.
 */
static void test_not_learnt(void **state)
{
	struct results results = { 0 };
	struct plan plan = { 0, 0.002, 10, DAY };
	struct benchmark *old, *new;
	struct comparison *c;
	uint64_t seed = 2;

	(void)state;
	add_sittings(&results, &plan, 4, DAY, &seed);
	old = new_sitting(&plan, &seed);
	new = new_sitting(&plan, &seed);
	set_text(old, "quiesce_kernel", "6.1");
	set_text(new, "quiesce_kernel", "6.12");
	assert_int_equal(comparison_new(old, new, &c), 0);
	apply(&results, c);
	assert_int_equal(c->learnt.n, 0);
	assert_float_equal(c->resolution.share, RESOLUTION_SHARED, 0.01);
	assert_int_equal(results.repeats.n_remarks, 1);
	assert_string_equal(results.repeats.remarks[0],
		"nothing is learnt for x: the two were measured differently");
	c->design = COMPARED_BY_CONTROL;
	apply(&results, c);
	assert_int_equal(results.repeats.n_asked, 1);
	forget(c);
	results_clear(&results);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_false_claims),
		cmocka_unit_test(test_power),
		cmocka_unit_test(test_together),
		cmocka_unit_test(test_consistent),
		cmocka_unit_test(test_nothing_varies),
		cmocka_unit_test(test_which_count),
		cmocka_unit_test(test_own),
		cmocka_unit_test(test_minutes),
		cmocka_unit_test(test_steps),
		cmocka_unit_test(test_not_learnt),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
