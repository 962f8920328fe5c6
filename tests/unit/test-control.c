// SPDX-License-Identifier: GPL-2.0-or-later
/* Results that are compared by a control, and the length of the control that ships. */
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
#include <unistd.h>

#include "base/macro.h"
#include "judge/report/compare.h"
#include "judge/report/control.h"
#include "judge/report/turns.h"
#include "judge/report/wording.h"
#include "judge/result/metadata.h"
#include "judge/stats/multiple.h"
#include "measure/calibrate.h"
#include "measure/program.h"

#include "random.h"

enum {
	ROUNDS_MAX = 100
};

/* A result: a program and its control. */
struct result {
	struct series *series[2];
	struct benchmark program;
	struct benchmark control;
};

static void make_benchmark(struct benchmark *benchmark, struct series **series, const char *name,
	const double *values, size_t n, int64_t seed)
{
	*series = series_new(false, NULL);
	for (size_t i = 0; i < n; i++) {
		struct sample sample = { .user_ns = llround(values[i] * 1e9) };

		assert_int_equal(series_append(*series, &sample, NULL, NULL), 0);
	}
	(*series)->clock = WINDOW_USER;
	assert_int_equal(benchmark_view(name, *series, benchmark), 0);
	facts_set_string(&benchmark->metadata, "quiesce_interleaved", "program, control");
	facts_set_integer(&benchmark->metadata, "quiesce_order_seed", seed);
	facts_set_string(&benchmark->metadata, "quiesce_clock", "user");
	facts_set_string(&benchmark->metadata, "cpu_model_name", "A CPU");
	facts_set_string(&benchmark->metadata, "quiesce_control", "runpinned-control 64");
	facts_set_string(&benchmark->metadata, "quiesce_control_hash", "cafe");
}

static void make_result(
	struct result *result, const double *program, const double *control, size_t n, int64_t seed)
{
	make_benchmark(&result->program, &result->series[0], "program", program, n, seed);
	make_benchmark(&result->control, &result->series[1], "control", control, n, seed);
	facts_set_string(&result->control.metadata, "quiesce_role", "control");
}

static void clear_result(struct result *result)
{
	facts_clear(&result->program.metadata);
	facts_clear(&result->control.metadata);
	benchmark_clear_view(&result->program);
	benchmark_clear_view(&result->control);
	series_free(result->series[0]);
	series_free(result->series[1]);
}

/* Rounds on a machine that is `level` times as slow as it could be, jumps by 15 % and wanders; the
 * two runs of a round meet nearly the same. */
static void measure(
	uint64_t *random, double length, double level, size_t n, double *program, double *control)
{
	double jump = 0;

	for (size_t i = 0; i < n; i++) {
		double machine;

		if (random_unit(random) < 0.1)
			jump = 0.15 - jump;
		machine = level * exp(jump + 0.01 * random_normal(random));
		program[i] = length * machine * exp(0.01 * random_normal(random));
		control[i] = 0.012 * machine * exp(0.01 * random_normal(random));
	}
}

/* The comparison of a program with one that takes `change` more, hours later when the machine is 8
 * % slower. */
static struct comparison *compare(uint64_t random, double change, size_t n)
{
	double program[ROUNDS_MAX], control[ROUNDS_MAX];
	struct comparison *c;
	struct result old, new;
	char *why = NULL;

	measure(&random, 0.01, 1, n, program, control);
	make_result(&old, program, control, n, 1);
	measure(&random, 0.01 * (1 + change), 1.08, n, program, control);
	make_result(&new, program, control, n, 2);
	/* A control that the user chose. */
	for (size_t i = 0; i < 2; i++) {
		struct result *result = i == 0 ? &old : &new;

		facts_set_string(&result->program.metadata, "quiesce_control", "./prog-1.0");
		facts_set_string(&result->control.metadata, "quiesce_control", "./prog-1.0");
	}
	assert_int_equal(comparison_new(&old.program, &new.program, &c), 0);
	assert_int_equal(control_apply(c, &old.control, &new.control, &why), 0);
	assert_null(why);
	comparison_settle(&c, 1);
	clear_result(&old);
	clear_result(&new);
	return c;
}

/* False claims at 5 %, intervals that hold the truth in 95 %, and enough power. */
static void test_rates(void **state)
{
	static const struct {
		size_t n;
		double change;
		int least_found, most_found; /* per cent */
	} cases[] = {
		{ 8, 0, 0, 4 },
		{ 25, 0, 0, 7 },
		{ 25, 0.05, 85, 100 },
		{ 25, 0.1, 99, 100 },
		{ 100, 0, 0, 7 },
		{ 100, 0.02, 40, 100 },
		{ 100, 0.05, 99, 100 },
	};
	enum {
		TRIALS = 600 / TRIALS_PART
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		int found = 0, held = 0, unclear = 0;

		for (uint64_t k = 0; k < TRIALS; k++) {
			struct comparison *c =
				compare(k * 977 + i * 31, cases[i].change, cases[i].n);
			double truth = 1 + cases[i].change;

			found += c->verdict == VERDICT_SLOWER || c->verdict == VERDICT_FASTER;
			unclear += c->verdict == VERDICT_UNCLEAR;
			held += c->ratio.low <= truth && truth <= c->ratio.high;
			/* The interval is that of p, and wider by what the control left over. */
			assert_true(c->p <= 0.05 || (c->ratio.low <= 1 && c->ratio.high >= 1));
			assert_true((c->verdict == VERDICT_SAME) <=
				(c->ratio.low <= 1 && c->ratio.high >= 1));
			assert_true(fabs(c->control_ratio / 1.08 - 1) < 0.25);
			assert_int_equal(c->n_rounds[0], cases[i].n);
			comparison_free(c);
		}
		assert_true(
			rate_is_between(found, cases[i].least_found, cases[i].most_found, TRIALS));
		/* The machine moves both alike here, so what the interval is wider for is not
		 * there, and it holds more than 95 %. Of what is found by p, the rest is unclear.
		 */
		assert_true(rate_is_between(held, 97, 100, TRIALS));
		assert_true(rate_is_between(unclear, 0, cases[i].change > 0 ? 100 : 8, TRIALS));
	}
}

/* A program that the machine slows down more, or less, than its control: where it moves while they
 * are measured, the rounds tell by how much. Where it does not, the difference may be all of the
 * control's change. */
static void test_slopes(void **state)
{
	static const struct {
		double slope;
		double within; /* how much the machine moves from round to round */
		double change;
		int least_found, most_found; /* per cent */
	} cases[] = {
		{ 1, 0.03, 0, 0, 2 },
		{ 1.3, 0.03, 0, 0, 2 },
		{ 0.5, 0.03, 0, 0, 2 },
		{ 1.3, 0.003, 0, 0, 2 },
		{ 0.5, 0.003, 0, 0, 2 },
		{ 1, 0.03, 0.05, 98, 100 },
		{ 1.3, 0.03, 0.05, 98, 100 },
		{ 0.5, 0.03, 0.05, 95, 100 },
	};
	enum {
		TRIALS = 400 / TRIALS_PART,
		ROUNDS = 25,
	};
	uint64_t random = 11;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		int found = 0, held = 0;
		double slope = 0;

		for (int trial = 0; trial < TRIALS; trial++) {
			struct result results[2];
			struct comparison *c;
			char *why = NULL;

			for (int which = 0; which < 2; which++) {
				double program[ROUNDS], control[ROUNDS];
				double level = 0.03 * random_normal(&random), wander = 0;

				for (size_t round = 0; round < ROUNDS; round++) {
					double machine, longer = which ? 1 + cases[i].change : 1;

					wander = 0.7 * wander + 0.71 * random_normal(&random);
					machine = level + cases[i].within * wander;
					program[round] = 0.01 * longer *
						exp(cases[i].slope * machine +
							0.005 * random_normal(&random));
					control[round] = 0.012 *
						exp(machine + 0.005 * random_normal(&random));
				}
				make_result(&results[which], program, control, ROUNDS, 1 + which);
				facts_set_string(&results[which].program.metadata,
					"quiesce_control", "./prog-1.0");
				facts_set_string(&results[which].control.metadata,
					"quiesce_control", "./prog-1.0");
			}
			assert_int_equal(
				comparison_new(&results[0].program, &results[1].program, &c), 0);
			assert_int_equal(
				control_apply(c, &results[0].control, &results[1].control, &why),
				0);
			comparison_settle(&c, 1);
			found += c->verdict == VERDICT_SLOWER || c->verdict == VERDICT_FASTER;
			held += c->ratio.low <= 1 + cases[i].change &&
				c->ratio.high >= 1 + cases[i].change;
			slope += c->control_slope / TRIALS;
			comparison_free(c);
			clear_result(&results[0]);
			clear_result(&results[1]);
		}
		assert_true(
			rate_is_between(found, cases[i].least_found, cases[i].most_found, TRIALS));
		assert_true(rate_is_between(held, 97, 100, TRIALS));
		if (cases[i].within > 0.01)
			assert_true(fabs(slope - cases[i].slope) < 0.1);
	}
}

/* Without the control, the same two results differ by 8 %. */
static void test_taken_out(void **state)
{
	double program[25], control[25];
	struct result old, new;
	struct comparison *c;
	uint64_t random = 5;
	char *why = NULL, *text;

	(void)state;
	for (size_t i = 0; i < 25; i++) {
		program[i] = 0.01 * exp(0.002 * random_normal(&random));
		control[i] = 0.02 * exp(0.002 * random_normal(&random));
	}
	make_result(&old, program, control, 25, 1);
	for (size_t i = 0; i < 25; i++) {
		program[i] *= 1.08 * exp(0.001 * random_normal(&random));
		control[i] *= 1.08;
	}
	make_result(&new, program, control, 25, 2);
	assert_int_equal(comparison_new(&old.program, &new.program, &c), 0);
	assert_true(fabs(c->ratio.ratio - 1.08) < 0.003);
	assert_int_equal(c->design, COMPARED_IN_SEQUENCE);
	assert_true(c->resolution.share > 0);
	assert_int_equal(control_apply(c, &old.control, &new.control, &why), 0);
	comparison_settle(&c, 1);
	assert_int_equal(c->verdict, VERDICT_SAME);
	assert_int_equal(c->design, COMPARED_BY_CONTROL);
	/* All of it may be the doing of runpinned-control alone. */
	assert_true(fabs(c->resolution.share - 0.08) < 1e-6);
	assert_int_equal(c->n_objections, 0);
	assert_int_equal(comparison_gate(c, 2, SIGNIFICANCE), GATE_UNCLEAR);
	assert_int_equal(comparison_gate(c, 6, SIGNIFICANCE), GATE_UNCLEAR);
	assert_int_equal(comparison_gate(c, 9, SIGNIFICANCE), GATE_PASSES);
	assert_true(fabs(c->ratio.ratio - 1) < 0.002 && fabs(c->control_ratio - 1.08) < 1e-6);
	text = comparison_render(c);
	assert_non_null(strstr(text, "by the ratios to the control, 25 and 25 rounds\n"));
	assert_non_null(strstr(text, "  control    +8.0 %    its own change"));
	assert_non_null(strstr(text, "  tests      ratios to the control p = "));
	free(text);
	comparison_free(c);
	clear_result(&old);
	clear_result(&new);
}

/* A time that says nothing of the work says nothing beside a control, and a gate says why. */
static void test_fixed_time(void **state)
{
	static const char why_not[] = "wrk reports its own figures; --harness wrk compares them";
	double program[25], control[25];
	struct result old, new;
	struct comparison *c;
	uint64_t random = 7;
	char *why, *reason;

	(void)state;
	for (size_t i = 0; i < 25; i++) {
		program[i] = 0.01 * exp(0.001 * random_normal(&random));
		control[i] = 0.02 * exp(0.001 * random_normal(&random));
	}
	make_result(&old, program, control, 25, 1);
	make_result(&new, program, control, 25, 2);
	facts_set_string(&new.program.metadata, METADATA_OWN_FIGURES, "wrk");
	assert_int_equal(comparison_new(&old.program, &new.program, &c), 0);
	assert_int_equal(control_apply(c, &old.control, &new.control, &why), 0);
	comparison_settle(&c, 1);
	assert_int_equal(c->design, COMPARED_BY_CONTROL);
	assert_int_equal(c->verdict, VERDICT_UNCLEAR);
	assert_string_equal(c->unclear, why_not);
	assert_int_equal(comparison_gate(c, 5, SIGNIFICANCE), GATE_UNCLEAR);
	reason = comparison_gate_reason(c, 5);
	assert_string_equal(reason, why_not);
	free(reason);
	comparison_free(c);
	clear_result(&old);
	clear_result(&new);
}

/* A program that jumps by itself is not stable, whatever its control says. */
static void test_unstable(void **state)
{
	double program[40], control[40];
	struct result old, new;
	struct comparison *c;
	uint64_t random = 5;
	char *why = NULL;

	(void)state;
	for (size_t i = 0; i < 40; i++) {
		program[i] = 0.01 * exp(0.001 * random_normal(&random));
		control[i] = 0.02 * exp(0.001 * random_normal(&random));
	}
	make_result(&old, program, control, 40, 1);
	for (size_t i = 20; i < 40; i++)
		program[i] *= 1.1;
	for (size_t i = 0; i < 40; i++)
		program[i] *= 0.97;
	make_result(&new, program, control, 40, 2);
	assert_int_equal(comparison_new(&old.program, &new.program, &c), 0);
	assert_int_equal(control_apply(c, &old.control, &new.control, &why), 0);
	comparison_settle(&c, 1);
	assert_int_equal(c->verdict, VERDICT_UNCLEAR);
	assert_non_null(strstr(c->unclear, "the new ratios to the control jump between 0.48"));
	comparison_free(c);
	clear_result(&old);
	clear_result(&new);
}

static void test_too_few(void **state)
{
	struct comparison *c;

	(void)state;
	c = compare(3, 0.5, 5);
	assert_int_equal(c->verdict, VERDICT_UNCLEAR);
	assert_string_equal(c->unclear,
		"too few rounds with the control: 5 and 5, and at least 6 each are needed to find any "
		"difference");
	assert_true(isnan(c->ratio.low) && c->p > 0.05);
	comparison_free(c);
}

static void assert_refused(const char *key, const char *value, bool of_both, const char *wanted)
{
	static const double values[] = { .01, .011, .012, .011, .01, .012, .013 };
	struct result old, new;
	struct comparison *c;
	char *why = NULL;

	make_result(&old, values, values, ARRAY_SIZE(values), 1);
	make_result(&new, values, values, ARRAY_SIZE(values), 2);
	facts_set_string(&new.control.metadata, key, value);
	if (of_both)
		facts_set_string(&new.program.metadata, key, value);
	assert_int_equal(comparison_new(&old.program, &new.program, &c), 0);
	assert_int_equal(control_apply(c, &old.control, &new.control, &why), 0);
	assert_string_equal(why, wanted);
	assert_true(c->control_ratio == 0);
	free(why);
	comparison_free(c);
	clear_result(&old);
	clear_result(&new);
}

static void test_not_the_same(void **state)
{
	(void)state;
	assert_refused("quiesce_control", "./x\n", true,
		"the controls are not the same: runpinned-control 64 and ./x\\x0a");
	assert_refused("quiesce_control", "runpinned-control 256", true,
		"the controls are not the same: runpinned-control 64 and runpinned-control 256; "
		"measure again with --control-length 64");
	assert_refused("quiesce_control_hash", "beef", true,
		"the controls are not the same: two files, each of them called runpinned-control 64");
	assert_refused("quiesce_clock", "kernel", true,
		"the controls are not the same: their clocks differ");
	assert_refused("cpu_model_name", "Another CPU", true,
		"a control is of use between processors of one model alone");
}

static void test_find(void **state)
{
	static const double values[] = { .01, .011, .012 };
	struct result a, b;
	struct benchmark *all[4];
	const struct benchmark *old;

	(void)state;
	make_result(&a, values, values, ARRAY_SIZE(values), 1);
	make_result(&b, values, values, ARRAY_SIZE(values), 2);
	all[0] = &a.control;
	all[1] = &a.program;
	all[2] = &b.program;
	all[3] = &b.control;
	assert_ptr_equal(control_find(all, 4, &a.program), &a.control);
	assert_ptr_equal(control_find(all, 4, &b.program), &b.control);
	assert_null(control_find(all, 4, &a.control));
	/* That of another measurement will not do. */
	assert_null(control_find(all, 2, &b.program));
	/* A control is no rival, neither as the first one nor as another. */
	assert_null(turns_find_first(all, 4, &a.control, &old));
	assert_null(turns_find_first(all, 4, &a.program, &old));
	/* What it measured itself is not the control. */
	facts_set_string(&b.control.metadata, "quiesce_stamps", "tsc");
	assert_false(benchmark_is_control(&b.control));
	assert_null(control_find(all, 4, &b.program));
	clear_result(&a);
	clear_result(&b);
}

static void test_ratio(void **state)
{
	double program[30], control[30];
	struct control_ratio ratio;
	struct result result;
	uint64_t random = 1;
	char *text;

	(void)state;
	for (size_t i = 0; i < 30; i++) {
		control[i] = 0.01 * exp(0.1 * random_normal(&random));
		program[i] = 2 * control[i] * exp(0.001 * random_normal(&random));
	}
	make_result(&result, program, control, 30, 1);
	assert_int_equal(control_measure(&result.program, &result.control, &ratio), 0);
	assert_int_equal(ratio.n_rounds, 30);
	assert_true(ratio.ratio.low < 2 && 2 < ratio.ratio.high);
	ratio.ratio = (struct ratio){ 2.0004, 1.9, 2.1 };
	text = control_text(&result.control, &ratio);
	assert_string_equal(
		text, "2 of runpinned-control 64 (1.9 .. 2.1 with 95 % certainty), 30 rounds");
	free(text);
	ratio.ratio.low = ratio.ratio.high = NAN;
	ratio.n_rounds = 1;
	text = control_text(&result.control, &ratio);
	assert_string_equal(text, "2 of runpinned-control 64, 1 round");
	free(text);
	clear_result(&result);
}

static void test_lengths(void **state)
{
	static const struct {
		double program;
		unsigned trial_rounds;
		double trial;
		unsigned length;
	} cases[] = {
		{ 0.01, 64, 0.01, 64 },
		{ 0.0055, 64, 0.01, 64 },
		{ 0.0045, 64, 0.01, 16 },
		{ 0.019, 64, 0.01, 64 },
		{ 0.021, 64, 0.01, 256 },
		{ 0.0001, 64, 0.01, 1 },
		{ 0, 64, 0.01, 1 },
		{ 1, 64, 0.01, 4096 },
		{ 3600, 64, 0.01, 16777216 },
		{ 1e9, 64, 0.01, 1 << 28 },
		{ NAN, 64, 0.01, 1 },
		{ 1, 64, NAN, 1 },
		{ 1, 64, 0, 1 << 28 },
		{ 0, 64, 0, 1 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		assert_int_equal(calibrate_choose_length(
					 cases[i].program, cases[i].trial_rounds, cases[i].trial),
			cases[i].length);
}

/* Figures of draft-eastlake-fnv. */
static void test_hash(void **state)
{
	static const struct {
		const char *text;
		uint64_t hash;
	} cases[] = {
		{ "", 0xcbf29ce484222325 },
		{ "a", 0xaf63dc4c8601ec8c },
		{ "foobar", 0x85944171f73967e8 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char path[] = "/tmp/test-control-XXXXXX";
		size_t length = strlen(cases[i].text);
		uint64_t hash = 0;
		int fd = mkstemp(path);

		assert_true(fd >= 0);
		assert_int_equal(write(fd, cases[i].text, length), length);
		close(fd);
		assert_int_equal(program_hash(path, &hash), 0);
		assert_true(hash == cases[i].hash);
		unlink(path);
		assert_int_equal(program_hash(path, &hash), -ENOENT);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rates),
		cmocka_unit_test(test_slopes),
		cmocka_unit_test(test_taken_out),
		cmocka_unit_test(test_fixed_time),
		cmocka_unit_test(test_unstable),
		cmocka_unit_test(test_too_few),
		cmocka_unit_test(test_not_the_same),
		cmocka_unit_test(test_find),
		cmocka_unit_test(test_ratio),
		cmocka_unit_test(test_lengths),
		cmocka_unit_test(test_hash),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
