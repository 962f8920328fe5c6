// SPDX-License-Identifier: GPL-2.0-or-later
/* Histories by a control that the machine slows down less than the program, or more. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "judge/report/trend.h"

#include "random.h"

enum {
	DAYS_MAX = 60,
	ROUNDS = 12,
	DAY = 86400,
};

/* A machine whose level changes from day to day, and moves within each day, as logarithms. */
struct machine {
	double slope;  /* by so many times as much as the control the program is slowed down */
	double level;  /* slower by so much */
	double stays;  /* at a level, for so many days on average */
	double daily;  /* moves by so much each day */
	double within; /* moves by so much from round to round */
	double noise;  /* of a run */
};

struct history {
	struct suite suites[DAYS_MAX];
	struct benchmark *benchmarks[DAYS_MAX][2];
	struct suite *list[DAYS_MAX];
	char *names[DAYS_MAX];
	size_t n;
};

static struct benchmark *new_result(
	const char *name, const char *control, const double *values, size_t day)
{
	struct benchmark *b = calloc(1, sizeof(*b));
	bool is_control = strcmp(name, "control") == 0;

	assert_non_null(b);
	b->name = strdup(name);
	b->n_values = ROUNDS;
	b->values = calloc(ROUNDS, sizeof(*b->values));
	b->runs = calloc(ROUNDS, sizeof(*b->runs));
	assert_non_null(b->values);
	assert_non_null(b->runs);
	b->series = series_new(true, NULL);
	for (size_t i = 0; i < ROUNDS; i++) {
		struct sample sample = { .user_ns = 1, .start_ns = (int64_t)i };

		assert_int_equal(series_append(b->series, &sample, NULL, NULL), 0);
		b->runs[i] = (struct benchmark_run){ .end = i + 1, .loops = 1, .inner_loops = 1 };
		b->values[i] = values[i];
	}
	b->has_dates = true;
	b->first_date = b->last_date = (int64_t)(day + 1) * DAY;
	if (is_control)
		facts_set_string(&b->metadata, "quiesce_role", "control");
	facts_set_string(&b->metadata, "quiesce_control", control);
	facts_set_string(&b->metadata, "quiesce_control_hash", "ab12");
	facts_set_string(&b->metadata, "quiesce_clock", "kernel");
	facts_set_string(&b->metadata, "cpu_model_name", "EPYC");
	facts_set_integer(&b->metadata, "quiesce_order_seed", (int64_t)day);
	return b;
}

/* From that day on the program takes `change` longer. */
static void measure(const struct machine *machine, const char *control, size_t n, size_t from,
	double change, uint64_t *random, struct history *ret)
{
	static char name[] = "x.json";
	bool up = random_unit(random) < 0.5;

	*ret = (struct history){ .n = n };
	for (size_t day = 0; day < n; day++) {
		double values[2][ROUNDS], level = machine->daily * random_normal(random);

		if (machine->stays > 0 && random_unit(random) < 1 / machine->stays)
			up = !up;
		level += up ? machine->level : 0;
		for (size_t i = 0; i < ROUNDS; i++) {
			double moved = level + machine->within * random_normal(random);

			values[0][i] = 0.01 *
				exp(machine->slope * moved +
					machine->noise * random_normal(random) +
					(day >= from ? log1p(change) : 0));
			values[1][i] = 0.012 * exp(moved + machine->noise * random_normal(random));
		}
		ret->benchmarks[day][0] = new_result("x", control, values[0], day);
		ret->benchmarks[day][1] = new_result("control", control, values[1], day);
		ret->suites[day] = (struct suite){ .benchmarks = ret->benchmarks[day], .n = 2 };
		ret->list[day] = &ret->suites[day];
		ret->names[day] = name;
	}
}

static void forget(struct history *history)
{
	for (size_t i = 0; i < history->n; i++) {
		benchmark_free(history->benchmarks[i][0]);
		benchmark_free(history->benchmarks[i][1]);
	}
}

/* Histories of so many trials that have a change, and that have the one that is there. */
struct counts {
	int any, found;
};

static struct counts count(const struct machine *machine, const char *control, double change,
	int trials, uint64_t seed)
{
	const size_t n = DAYS_MAX, from = n / 2;
	struct counts counts = { 0 };

	for (int trial = 0; trial < trials; trial++) {
		struct history history;
		struct trends *trends;

		measure(machine, control, n, from, change, &seed, &history);
		assert_int_equal(trends_new(history.list, history.names, n, NULL, &trends), 0);
		assert_int_equal(trends->n, 1);
		assert_true(trends->items[0].by_control);
		counts.any += trends->items[0].levels->n > 1;
		for (size_t i = 1; i < trends->items[0].levels->n; i++) {
			size_t first = trends->items[0].levels->items[i].first;

			counts.found += first + 2 >= from && first <= from + 2;
		}
		trends_free(trends);
		forget(&history);
	}
	return counts;
}

/* Where the level of the machine stays for days, a control that is slowed down less than the
 * program, or more, leaves steps in the ratios: taken for as sensitive as the program, 64 % of the
 * histories that do not change had a change (0 % of those whose control is, and of a change of 2 %,
 * 55 % were found in place of 100). */
static void test_sensitive(void **state)
{
	static const struct {
		struct machine machine;
		const char *control;
		double change;
		int least_any, most_any; /* per cent */
		int least_found;
	} cases[] = {
#define LEVELS .level = 0.08, .stays = 10, .daily = 0.002, .within = 0.003, .noise = 0.005
#define DAILY .daily = 0.03, .within = 0.003, .noise = 0.005
		{ { .slope = 0.5, LEVELS }, "./old", 0, 0, 5, 0 },
		{ { .slope = 1, LEVELS }, "./old", 0, 0, 5, 0 },
		{ { .slope = 1.3, LEVELS }, "./old", 0, 0, 5, 0 },
		{ { .slope = 0.5, LEVELS }, "runpinned-control 64", 0, 0, 5, 0 },
		{ { .slope = 0.5, DAILY }, "./old", 0, 0, 5, 0 },
		{ { .slope = 0.5, LEVELS }, "./old", 0.02, 0, 100, 85 },
		{ { .slope = 1, LEVELS }, "./old", 0.02, 0, 100, 90 },
		{ { .slope = 1.3, LEVELS }, "./old", 0.02, 0, 100, 90 },
		{ { .slope = 0.5, DAILY }, "./old", 0.02, 0, 100, 95 },
	};
	const int trials = 50 / TRIALS_PART;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct counts counts =
			count(&cases[i].machine, cases[i].control, cases[i].change, trials, 3 + i);

		print_message(
			"# %g times as sensitive as %s%s, %+g %%: %d of %d change, %d found\n",
			cases[i].machine.slope, cases[i].control,
			cases[i].machine.stays > 0 ? ", levels" : "", 100 * cases[i].change,
			counts.any, trials, counts.found);
		assert_true(
			rate_is_between(counts.any, cases[i].least_any, cases[i].most_any, trials));
		assert_true(rate_is_between(counts.found, cases[i].least_found, 100, trials));
	}
}

/* What is learnt, and that a change of both at once is left out and counted. */
static void test_learnt(void **state)
{
	const struct machine moving = { .slope = 1.3, DAILY }, still = { .noise = 0.005 };
	struct history history;
	struct trends *trends;
	uint64_t random = 2;

	(void)state;
	measure(&moving, "./old", DAYS_MAX, DAYS_MAX, 0, &random, &history);
	assert_int_equal(trends_new(history.list, history.names, history.n, NULL, &trends), 0);
	assert_float_equal(trends->items[0].control_slope, 1.3, 0.1);
	assert_true(trends->items[0].slope_error < 0.2);
	assert_int_equal(trends->items[0].n_by_machine, 0);
	trends_free(trends);
	forget(&history);
	/* The program takes 2 % more from the day on from which the machine is 8 % slower, and its
	 * control with it: that nobody can tell from a program that is slowed down 0.8 times. */
	measure(&still, "./old", DAYS_MAX, 30, 0.06, &random, &history);
	for (size_t day = 30; day < DAYS_MAX; day++)
		for (size_t i = 0; i < ROUNDS; i++)
			history.benchmarks[day][1]->values[i] *= 1.08;
	assert_int_equal(trends_new(history.list, history.names, history.n, NULL, &trends), 0);
	assert_int_equal(trends->items[0].levels->n, 1);
	assert_int_equal(trends->items[0].n_by_machine, 1);
	assert_int_equal(trends->items[0].levels->items[0].n, DAYS_MAX);
	trends_free(trends);
	forget(&history);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sensitive),
		cmocka_unit_test(test_learnt),
	};

	return cmocka_run_group_tests_name("trend", tests, NULL, NULL);
}
