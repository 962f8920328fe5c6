// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/macro.h"
#include "base/random.h"
#include "measure/decide.h"
#include "random.h"

enum {
	PROGRAMS_MAX = 3,
	TRIALS = 200 / TRIALS_PART,
};

/* A measurement of two or three programs, of which the first is the baseline. */
struct measuring {
	struct measurement *measurements[PROGRAMS_MAX];
	struct commands commands;
	uint64_t random;
	size_t before;
	int64_t now_ns;
};

static void begin(struct measuring *m, size_t n, uint64_t seed)
{
	*m = (struct measuring){ .random = seed, .before = n };
	m->commands.n = n;
	for (size_t i = 0; i < n; i++) {
		m->measurements[i] = calloc(1, sizeof(*m->measurements[i]));
		assert_non_null(m->measurements[i]);
		m->measurements[i]->series = series_new(false, NULL);
		m->commands.items[i].measurement = m->measurements[i];
	}
}

static void end(struct measuring *m)
{
	for (size_t i = 0; i < m->commands.n; i++)
		measurement_free(m->measurements[i]);
}

/* How the programs take longer, as logarithms. */
struct machine {
	double noise;
	double slower;	  /* the second program */
	double after;	  /* a run of the second program after one of the first */
	double any_after; /* a run of any program after one of the first */
};

static void run(struct measuring *m, const struct machine *machine, size_t which)
{
	double change = machine->noise * random_normal(&m->random);
	struct sample sample = { .status = 0 };

	change += which == 1 ? machine->slower : 0;
	change += which == 1 && m->before == 0 ? machine->after : 0;
	change += m->before == 0 ? machine->any_after : 0;
	sample.user_ns = llround(1e7 * exp(change));
	m->now_ns += 2 * 10 * NSEC_PER_MSEC;
	sample.start_ns = m->now_ns;
	assert_int_equal(series_append(m->measurements[which]->series, &sample, NULL, NULL), 0);
	m->measurements[which]->n_runs++;
	m->before = which;
}

/* A round in an order that is drawn, and that begins with the program that ran last where runs of
 * each alone are wanted (as in measure.c: shuffle()). */
static void run_round(struct measuring *m, const struct machine *machine)
{
	size_t order[PROGRAMS_MAX], n = m->commands.n;

	for (size_t i = 0; i < n; i++)
		order[i] = i;
	random_shuffle(&m->random, order, n);
	decide_order(&m->commands, m->before, order, n);
	for (size_t i = 0; i < n; i++)
		run(m, machine, order[i]);
}

/* Until it is settled, or for so many rounds. The verdict about the second program. */
static enum decision_verdict decide(const struct machine *machine, size_t n_programs, size_t rounds,
	uint64_t seed, struct decision *ret)
{
	const struct options options = { .decide = 2 };
	struct measuring m;
	bool settled = false;

	begin(&m, n_programs, seed);
	for (size_t i = 0; i < rounds && !settled; i++) {
		run_round(&m, machine);
		settled = decide_look(&options, &m.commands);
	}
	decide_conclude(&options, &m.commands);
	*ret = m.measurements[1]->decision;
	end(&m);
	return ret->verdict;
}

/* How often a program is found slower, when it is and when the one before it makes it so. */
static void test_who_is_slower(void **state)
{
	static const struct {
		const char *what;
		struct machine machine;
		size_t n_programs;
		int least_slower, most_slower; /* per cent */
	} cases[] = {
		{ "nothing", { .noise = 0.02 }, 2, 0, 1 },
		{ "slower", { .noise = 0.01, .slower = 0.03 }, 2, 98, 100 },
		{ "slower by less than the noise", { .noise = 0.03, .slower = 0.03 }, 2, 96, 100 },
		{ "slower by far", { .noise = 0.01, .slower = 1 }, 2, 100, 100 },
		{ "slower than another", { .noise = 0.01, .slower = 0.03 }, 3, 98, 100 },
		{ "slowed down", { .noise = 0.15, .after = 0.2 }, 2, 0, 18 },
		{ "slowed down in little noise", { .noise = 0.02, .after = 0.1 }, 2, 0, 4 },
		{ "slowed down beside another", { .noise = 0.1, .after = 0.2 }, 3, 0, 15 },
		{ "all slowed down", { .noise = 0.1, .any_after = 0.2 }, 2, 0, 2 },
		{ "slowed down, and slower", { .noise = 0.05, .after = 0.1, .slower = 0.2 }, 2, 99,
			100 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		int slower = 0;

		for (uint64_t trial = 0; trial < TRIALS; trial++) {
			struct decision d;

			slower += decide(&cases[i].machine, cases[i].n_programs, 300, 1 + trial,
					  &d) == DECISION_SLOWER;
		}
		if (!rate_is_between(slower, cases[i].least_slower, cases[i].most_slower, TRIALS))
			print_error("%s: %d of %d\n", cases[i].what, slower, TRIALS);
		assert_true(rate_is_between(
			slower, cases[i].least_slower, cases[i].most_slower, TRIALS));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_who_is_slower),
	};

	return cmocka_run_group_tests_name("decide", tests, NULL, NULL);
}
