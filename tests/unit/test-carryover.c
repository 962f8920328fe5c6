// SPDX-License-Identifier: GPL-2.0-or-later
/* Programs that were run in turn for a fixed number of rounds, and what one leaves to the next run.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/macro.h"
#include "judge/report/compare.h"
#include "judge/report/wording.h"
#include "judge/stats/multiple.h"

#include "random.h"

enum {
	PROGRAMS_MAX = 40,
	ROUNDS_MAX = 60,
	TRIALS = 400 / TRIALS_PART,
};

/* How programs take longer, as logarithms. */
struct machine {
	double noise;				  /* of a run */
	double shared;				  /* of a round: the same for all its runs */
	double slower;				  /* the second program */
	double place;				  /* each but the first run of a round */
	double after[PROGRAMS_MAX][PROGRAMS_MAX]; /* [a][b]: a run of b after one of a */
	bool is_rate;				  /* what is compared is 1 / time */
};

/* As if the programs had said how much they do in a time. */
static void invert(struct benchmark *view)
{
	view->metric = "rps";
	view->better = BETTER_HIGHER;
	for (size_t i = 0; i < view->n_values; i++)
		view->values[i] = 1 / view->values[i];
}

struct measured {
	struct series *series[PROGRAMS_MAX];
	struct benchmark views[PROGRAMS_MAX];
	const struct benchmark *list[PROGRAMS_MAX];
	size_t n;
};

static void measure(const struct machine *machine, size_t n_programs, size_t rounds,
	uint64_t *random, struct measured *ret)
{
	static const char *const names[] = { "old", "new", "third", "further" };
	size_t before = n_programs, order[PROGRAMS_MAX];
	int64_t now_ns = 0;

	*ret = (struct measured){ .n = n_programs };
	for (size_t i = 0; i < n_programs; i++) {
		order[i] = i;
		ret->series[i] = series_new(false, NULL);
		ret->series[i]->clock = WINDOW_USER;
	}
	for (size_t round = 0; round < rounds; round++) {
		double shared = machine->shared * random_normal(random);

		/* As runpinned draws it (src/measure/measure.c, shuffle()). */
		random_shuffle(random, order, n_programs);
		for (size_t i = 0; i < n_programs; i++) {
			size_t which = order[i];
			double change = shared + machine->noise * random_normal(random);
			struct sample sample = { .start_ns = now_ns += 20 * NSEC_PER_MSEC };

			change += which == 1 ? machine->slower : 0;
			change += i > 0 ? machine->place : 0;
			change += before < n_programs ? machine->after[before][which] : 0;
			sample.user_ns = llround(1e7 * exp(change));
			assert_int_equal(series_append(ret->series[which], &sample, NULL, NULL), 0);
			before = which;
		}
	}
	for (size_t i = 0; i < n_programs; i++) {
		struct benchmark *view = &ret->views[i];

		assert_int_equal(
			benchmark_view(names[MIN(i, ARRAY_SIZE(names) - 1)], ret->series[i], view),
			0);
		if (machine->is_rate)
			invert(view);
		facts_set_string(&view->metadata, "quiesce_interleaved", "all");
		facts_set_integer(&view->metadata, "quiesce_order_seed", 7);
		ret->list[i] = view;
	}
}

static void forget(struct measured *measured)
{
	for (size_t i = 0; i < measured->n; i++) {
		facts_clear(&measured->views[i].metadata);
		benchmark_clear_view(&measured->views[i]);
		series_free(measured->series[i]);
	}
}

/* Of so many trials, the verdicts about the second program. */
struct counts {
	int slower, faster, failed;
};

/* Where the others are not known, the third program is taken for nothing. */
static struct counts count(const struct machine *machine, size_t n_programs, bool is_other_known,
	size_t rounds, uint64_t seed)
{
	struct counts counts = { 0 };

	for (int trial = 0; trial < TRIALS; trial++) {
		struct measured measured;
		struct comparison *c;

		measure(machine, n_programs, rounds, &seed, &measured);
		assert_int_equal(comparison_new_among(measured.list[0], measured.list[1],
					 measured.list, is_other_known ? n_programs : 2, &c),
			0);
		comparison_settle(&c, 1);
		counts.slower += c->verdict == VERDICT_SLOWER;
		counts.faster += c->verdict == VERDICT_FASTER;
		counts.failed += comparison_gate(c, 2, SIGNIFICANCE) == GATE_FAILS;
		assert_int_equal(comparison_remedy(c) != NULL, c->is_carried);
		comparison_free(c);
		forget(&measured);
	}
	return counts;
}

/* The innocent is called slower in few trials, and who is slower still in nearly all. When a
 * carry-over had to be found at 1 %, the innocent was in 58, 67, 87, 94 and 93 % (1, 2, 5, 10 and
 * 20 % of a run, 25 rounds), and who is slower by 1 % in 91 %. */
static void test_who_is_blamed(void **state)
{
	static const struct {
		const char *what;
		struct machine machine;
		size_t rounds;
		int least_slower, most_slower; /* per cent */
		int least_faster, most_faster;
	} cases[] = {
		{ "the same", { .noise = 0.01 }, 25, 0, 4, 0, 4 },
		{ "slower by 1 %", { .noise = 0.01, .slower = 0.01 }, 25, 80, 100, 0, 0 },
		{ "slower by 2 %", { .noise = 0.01, .slower = 0.02 }, 25, 94, 100, 0, 0 },
		{ "slower by 5 %", { .noise = 0.01, .slower = 0.05 }, 25, 99, 100, 0, 0 },
		{ "faster by 2 %", { .noise = 0.01, .slower = -0.02 }, 25, 0, 0, 94, 100 },
		{ "new after old +1 %", { .noise = 0.01, .after = { { 0, 0.01 } } }, 25, 0, 46, 0,
			0 },
		{ "new after old +2 %", { .noise = 0.01, .after = { { 0, 0.02 } } }, 25, 0, 28, 0,
			0 },
		{ "new after old +5 %", { .noise = 0.01, .after = { { 0, 0.05 } } }, 25, 0, 8, 0,
			0 },
		{ "new after old +10 %", { .noise = 0.01, .after = { { 0, 0.1 } } }, 25, 0, 8, 0,
			0 },
		{ "new after old +20 %", { .noise = 0.01, .after = { { 0, 0.2 } } }, 25, 0, 8, 0,
			0 },
		{ "old after new +1 %", { .noise = 0.01, .after = { { 0 }, { 0.01 } } }, 25, 0, 0,
			0, 46 },
		{ "old after new +2 %", { .noise = 0.01, .after = { { 0 }, { 0.02 } } }, 25, 0, 0,
			0, 28 },
		{ "old after new +5 %", { .noise = 0.01, .after = { { 0 }, { 0.05 } } }, 25, 0, 0,
			0, 8 },
		{ "old after new +10 %", { .noise = 0.01, .after = { { 0 }, { 0.1 } } }, 25, 0, 0,
			0, 8 },
		{ "old after new +20 %", { .noise = 0.01, .after = { { 0 }, { 0.2 } } }, 25, 0, 0,
			0, 8 },
		{ "both after old +1 %", { .noise = 0.01, .after = { { 0.01, 0.01 } } }, 25, 0, 9,
			0, 1 },
		{ "both after old +2 %", { .noise = 0.01, .after = { { 0.02, 0.02 } } }, 25, 0, 2,
			0, 1 },
		{ "both after old +5 %", { .noise = 0.01, .after = { { 0.05, 0.05 } } }, 25, 0, 2,
			0, 1 },
		{ "both after old +10 %", { .noise = 0.01, .after = { { 0.1, 0.1 } } }, 25, 0, 2, 0,
			1 },
		{ "both after old +20 %", { .noise = 0.01, .after = { { 0.2, 0.2 } } }, 25, 0, 2, 0,
			1 },
		{ "new after old +1 %", { .noise = 0.01, .after = { { 0, 0.01 } } }, 60, 0, 34, 0,
			0 },
		{ "new after old +2 %", { .noise = 0.01, .after = { { 0, 0.02 } } }, 60, 0, 8, 0,
			0 },
		{ "new after old +5 %", { .noise = 0.01, .after = { { 0, 0.05 } } }, 60, 0, 8, 0,
			0 },
		{ "new after old +20 %", { .noise = 0.01, .after = { { 0, 0.2 } } }, 60, 0, 8, 0,
			0 },
		{ "slower by 1 %", { .noise = 0.01, .slower = 0.01 }, 60, 93, 100, 0, 0 },
		{ "slower by 2 %, each after the other +1 %",
			{ .noise = 0.01, .slower = 0.02, .after = { { 0, 0.01 }, { 0.01 } } }, 25,
			95, 100, 0, 0 },
		{ "slower by 2 %, second in the round +2 %",
			{ .noise = 0.01, .slower = 0.02, .place = 0.02 }, 25, 90, 100, 0, 0 },
		{ "slower by 2 %, rounds that differ by 2 %",
			{ .noise = 0.01, .shared = 0.02, .slower = 0.02 }, 25, 90, 100, 0, 0 },
		{ "slower by 20 %, and after old +5 %",
			{ .noise = 0.01, .slower = 0.2, .after = { { 0, 0.05 } } }, 25, 98, 100, 0,
			0 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct counts counts = count(&cases[i].machine, 2, true, cases[i].rounds, 1 + i);

		print_message("# %s, %zu rounds: %.1f %% slower, %.1f %% faster\n", cases[i].what,
			cases[i].rounds, 100.0 * counts.slower / TRIALS,
			100.0 * counts.faster / TRIALS);
		assert_true(rate_is_between(
			counts.slower, cases[i].least_slower, cases[i].most_slower, TRIALS));
		assert_true(rate_is_between(
			counts.faster, cases[i].least_faster, cases[i].most_faster, TRIALS));
	}
}

/* A program that is slower by less than the limit of a gate, and by more because of what the other
 * one leaves behind. */
static void test_gate(void **state)
{
	const struct machine carried = { .noise = 0.01, .slower = 0.01, .after = { { 0, 0.05 } } };
	const struct machine slower = { .noise = 0.01, .slower = 0.05 };

	(void)state;
	for (int is_rate = 0; is_rate <= 1; is_rate++) {
		struct machine machines[] = { carried, slower };
		struct counts counts[2];

		for (size_t i = 0; i < ARRAY_SIZE(machines); i++) {
			machines[i].is_rate = is_rate;
			counts[i] = count(&machines[i], 2, true, 40, 3 + i);
		}
		print_message("# gate of 2 %% of a %s: %.1f %% fail by carry-over, %.1f %% of the "
			      "slower ones\n",
			is_rate ? "rate" : "time", 100.0 * counts[0].failed / TRIALS,
			100.0 * counts[1].failed / TRIALS);
		assert_true(rate_is_between(counts[0].failed, 0, 2, TRIALS));
		assert_true(rate_is_between(counts[1].failed, 98, 100, TRIALS));
	}
}

/* Who ran before may be a third program: when it was left out, what ran before that one was taken
 * for it. */
static void test_third(void **state)
{
	static const struct {
		const char *what;
		struct machine machine;
		int least_slower, most_slower; /* per cent */
	} cases[] = {
		{ "the same", { .noise = 0.01 }, 0, 4 },
		{ "slower by 2 %", { .noise = 0.01, .slower = 0.02 }, 97, 100 },
		{ "new after old +10 %", { .noise = 0.01, .after = { { 0, 0.1 } } }, 0, 10 },
		{ "both after old +10 %", { .noise = 0.01, .after = { { 0.1, 0.1 } } }, 0, 2 },
		{ "all after third +10 %", { .noise = 0.01, .after = { [2] = { 0.1, 0.1 } } }, 0,
			4 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct counts known = count(&cases[i].machine, 3, true, 60, 5 + i);
		struct counts unknown = count(&cases[i].machine, 3, false, 60, 5 + i);

		print_message("# of three, %s: %.1f %% slower, %.1f %% without the third\n",
			cases[i].what, 100.0 * known.slower / TRIALS,
			100.0 * unknown.slower / TRIALS);
		assert_true(rate_is_between(
			known.slower, cases[i].least_slower, cases[i].most_slower, TRIALS));
	}
}

/* Of a suite, hardly any run follows one of its own program, and hardly any one of the program that
 * it is compared with. So the runs tell as soon as all others do what each of the two is alone. */
static void test_suite(void **state)
{
	const struct machine machine = { .noise = 0.01, .slower = 0.03 };
	size_t n_shown = 0;
	uint64_t random = 11;

	(void)state;
	for (size_t trial = 0; trial < 40; trial++) {
		struct measured measured;
		struct carryover carryover;

		measure(&machine, PROGRAMS_MAX, 25, &random, &measured);
		carryover_find(measured.list[0], measured.list[1], measured.list + 2,
			measured.n - 2, &carryover);
		assert_true(carryover.is_known);
		n_shown += carryover_alone_p(&carryover, 1.015, true) <= CARRYOVER_ALONE;
		carryover_clear(&carryover);
		forget(&measured);
	}
	assert_true(n_shown > 36);
}

static void test_words(void **state)
{
	const struct machine machine = { .noise = 0.01, .after = { { 0, 0.02 } } };
	size_t n_found = 0, n_alone = 0;
	uint64_t random = 9;

	(void)state;
	for (int trial = 0; trial < 40; trial++) {
		_cleanup_free_ char *text = NULL;
		struct measured measured;
		struct comparison *c;

		measure(&machine, 2, 25, &random, &measured);
		assert_int_equal(comparison_new(measured.list[0], measured.list[1], &c), 0);
		comparison_settle(&c, 1);
		text = comparison_render(c);
		assert_non_null(text);
		if (c->is_carried && carryover_is_found(&c->carryover)) {
			assert_non_null(
				strstr(text, " longer after one of old, which may be all of"));
			assert_non_null(strstr(text, "\n  carry-over a run takes "));
			n_found++;
		} else if (c->is_carried) {
			assert_non_null(strstr(text,
				"unclear: of the runs that do not follow one of the "
				"other program the change is "));
			assert_non_null(strstr(text,
				", so what another one leaves behind may slow "
				"down new\n"));
			assert_null(strstr(text, "\n  carry-over "));
			n_alone++;
		}
		if (c->is_carried)
			assert_non_null(strstr(text,
				"  instead    have a hook remove what a program leaves (runpinned "
				"--prepare sync), or make more runs\n"));
		comparison_free(c);
		forget(&measured);
	}
	assert_true(n_found > 5 && n_alone > 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_who_is_blamed),
		cmocka_unit_test(test_gate),
		cmocka_unit_test(test_third),
		cmocka_unit_test(test_suite),
		cmocka_unit_test(test_words),
	};

	return cmocka_run_group_tests_name("carryover", tests, NULL, NULL);
}
