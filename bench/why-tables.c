// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * How far are the shares of `runpinned --vary` from the truth, and how often does a table name a
 * factor that does nothing? Many experiments are made up from a seed, with the factors and levels
 * that runpinned draws, and are taken apart by the code that it uses.
 *
 *	why-tables [--trials N] [--runs N] [--seed N]
 *
 * The first table: nothing moves the program. Of so many experiments, in how many is any row found
 * (wished for: at most 5 %)? The rest of a run is normal, log-normal, heavy-tailed, of two modes,
 * drifts by three times its deviation, or is like that of the run before.
 *
 * The second one: programs that are moved by what is known, by so much of their variance. Columns:
 * the true share of each factor that moves it, the mean of the shares that are found, how many of
 * them are within 10 % (of the whole variance) of the truth, how often the factor is found, how
 * many intervals hold the truth, and how often a factor is found that does nothing.
 */
#include <err.h>
#include <getopt.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "base/parse.h"
#include "base/random.h"
#include "judge/stats/factors.h"

enum {
	RUNS_MAX = 10000,
	RUNS = 300,
	TRIALS = 400,
};

/* As runpinned --vary draws them: environment, argv0, directory, file, two hash seeds. */
static const size_t n_levels[] = { 8, 4, 4, 4, 8, 8 };
static const char *const names[] = { "environment", "argv0", "directory", "file", "hash",
	"other hash", "switch", "draw" };
#define N_FACTORS ARRAY_SIZE(n_levels)
enum {
	SWITCH = N_FACTORS,
	DRAW,
	N_ROWS,
};

static uint64_t state;

/* --- What is left of a run without the factors, with a variance of 1 --- */

enum kind {
	NORMAL,
	SKEWED,
	TAILS,
	MODES,
	DRIFT,
	ALIKE,
	N_KINDS,
};

static const char *const kind_names[] = { "normal", "log-normal", "heavy tails", "two modes",
	"drift", "like the run before" };

static double draw_rest(enum kind kind, size_t i, size_t n, double *before)
{
	double z = random_normal(&state);

	switch (kind) {
	case SKEWED:
		return (exp(z) - exp(0.5)) / sqrt((exp(1) - 1) * exp(1));
	case TAILS: /* Student's t of 3 degrees of freedom */
		for (int k = 0; k < 3; k++) {
			double y = random_normal(&state);

			before[1] = k == 0 ? y * y : before[1] + y * y;
		}
		return z / sqrt(before[1] / 3) / sqrt(3);
	case MODES:
		return (z * 0.2 + (random_unit(&state) < 0.3 ? 2 : 0) - 0.6) / sqrt(0.84 + 0.04);
	case DRIFT:
		return (z + 3 * ((double)i / (double)n - 0.5)) / sqrt(1 + 9.0 / 12);
	case ALIKE:
		*before = 0.9 * *before + sqrt(1 - 0.81) * z;
		return *before;
	default:
		return z;
	}
}

/* --- Experiments --- */

/* The variances of what moves a program, the rest having the remainder of 1. */
struct program {
	const char *name;
	double shares[N_ROWS];
	bool only_held; /* the factors act only where addresses are held */
	bool steps; /* a level is slow or not, as one in four; else each has a place of its own */
	enum kind kind;
};

struct experiment {
	double values[RUNS_MAX];
	unsigned levels[N_FACTORS][RUNS_MAX];
	bool drawn[RUNS_MAX];
	struct factor factors[N_FACTORS];
};

static struct experiment experiment;

static double draw_place(bool steps, size_t level)
{
	return steps ? (level % 4 == 0 ? 1 : 0) : random_normal(&state);
}

/* Effects of the levels, with a mean of 0 and this variance. */
static void draw_effects(const struct program *program, size_t f, double variance, double *ret)
{
	double sum = 0, squares = 0;

	for (size_t k = 0; k < n_levels[f]; k++) {
		ret[k] = draw_place(program->steps, k);
		sum += ret[k] / (double)n_levels[f];
	}
	for (size_t k = 0; k < n_levels[f]; k++) {
		ret[k] -= sum;
		squares += ret[k] * ret[k] / (double)n_levels[f];
	}
	for (size_t k = 0; k < n_levels[f]; k++)
		ret[k] *= sqrt(variance / squares);
}

/* Makes one of n runs, each of which draws all factors. */
static void make_experiment(const struct program *program, size_t n)
{
	double effects[N_FACTORS][FACTOR_LEVELS_MAX], rest = 1, before[2] = { 0 };

	for (size_t row = 0; row < N_ROWS; row++)
		rest -= program->shares[row];
	before[0] = random_normal(&state);
	for (size_t f = 0; f < N_FACTORS; f++) {
		draw_effects(
			program, f, program->shares[f] * (program->only_held ? 2 : 1), effects[f]);
		experiment.factors[f] = (struct factor){ experiment.levels[f], n_levels[f] };
	}
	for (size_t i = 0; i < n; i++) {
		bool drawn = random_next(&state) % 2;
		double value = sqrt(rest) * draw_rest(program->kind, i, n, before);

		for (size_t f = 0; f < N_FACTORS; f++) {
			unsigned level = (unsigned)(random_next(&state) % n_levels[f]);

			experiment.levels[f][i] = level;
			if (!(program->only_held && drawn))
				value += effects[f][level];
		}
		if (drawn)
			value += 2 * sqrt(program->shares[SWITCH]) +
				sqrt(2 * program->shares[DRAW]) *
					(program->steps ? (random_unit(&state) < 0.25 ? 3 : -1) /
								sqrt(3)
							: random_normal(&state));
		experiment.values[i] = value;
		experiment.drawn[i] = drawn;
	}
}

static const struct factor_effect *get_row(const struct factors *found, size_t row)
{
	return row < N_FACTORS ? &found->effects[row] : row == SWITCH ? &found->held : &found->draw;
}

static void compute(size_t n, struct factors *ret)
{
	const struct factors_input input = {
		.values = experiment.values,
		.n = n,
		.factors = experiment.factors,
		.n_factors = N_FACTORS,
		.drawn = experiment.drawn,
	};

	if (factors_compute(&input, ret) < 0)
		errx(1, "too few runs");
}

static void print_nothing(size_t n, size_t trials)
{
	printf("%-22s %12s\n", "nothing moves it", "a row found");
	for (enum kind kind = 0; kind < N_KINDS; kind++) {
		const struct program program = { .kind = kind };
		size_t n_found = 0;

		for (size_t i = 0; i < trials; i++) {
			struct factors found;
			bool any = false;

			make_experiment(&program, n);
			compute(n, &found);
			for (size_t row = 0; row < N_ROWS; row++)
				any = any || get_row(&found, row)->found;
			n_found += any;
		}
		printf("  %-20s %10.1f %%\n", kind_names[kind],
			100 * (double)n_found / (double)trials);
		fflush(stdout);
	}
}

static const struct program programs[] = {
	{ "a hash seed, 80 %", { [4] = 0.8 }, .kind = NORMAL },
	{ "a hash seed, 30 %", { [4] = 0.3 }, .kind = NORMAL },
	{ "a hash seed, 10 %", { [4] = 0.1 }, .kind = NORMAL },
	{ "one place in four", { [0] = 0.45, [DRAW] = 0.45 }, .only_held = true, .steps = true },
	{ "the same, half noise", { [0] = 0.25, [DRAW] = 0.25 }, .only_held = true, .steps = true },
	{ "switch", { [SWITCH] = 0.5 }, .kind = NORMAL },
	{ "draw", { [DRAW] = 0.4 }, .kind = NORMAL },
	{ "draw and hash, skewed", { [4] = 0.3, [DRAW] = 0.3 }, .kind = SKEWED },
	{ "file, drift", { [3] = 0.4 }, .kind = DRIFT },
	{ "three of them", { [1] = 0.2, [3] = 0.2, [5] = 0.2 }, .kind = NORMAL },
	{ "hash, heavy tails", { [4] = 0.5 }, .kind = TAILS },
};

static void print_program(const struct program *program, size_t n, size_t trials)
{
	size_t within[N_ROWS] = { 0 }, found_of[N_ROWS] = { 0 }, held[N_ROWS] = { 0 }, n_false = 0;
	double sums[N_ROWS] = { 0 };

	for (size_t i = 0; i < trials; i++) {
		struct factors found;
		bool is_false = false;

		make_experiment(program, n);
		compute(n, &found);
		for (size_t row = 0; row < N_ROWS; row++) {
			const struct factor_effect *effect = get_row(&found, row);
			double truth = program->shares[row];

			sums[row] += effect->share / (double)trials;
			within[row] += fabs(effect->share - truth) <= 0.1;
			found_of[row] += effect->found;
			held[row] += effect->low <= truth && truth <= effect->high;
			is_false = is_false || (effect->found && truth == 0);
		}
		n_false += is_false;
	}
	for (size_t row = 0, line = 0; row < N_ROWS; row++) {
		double per = 100 / (double)trials;

		if (program->shares[row] == 0)
			continue;
		printf("  %-22s %-12s %5.0f %% %7.1f %% %7.1f %% %7.1f %% %7.1f %%",
			line++ == 0 ? program->name : "", names[row], 100 * program->shares[row],
			100 * sums[row], per * (double)within[row], per * (double)found_of[row],
			per * (double)held[row]);
		printf(line == 1 ? " %6.1f %%\n" : "\n", per * (double)n_false);
	}
	fflush(stdout);
}

int main(int argc, char *argv[])
{
	static const struct option options[] = {
		{ "trials", required_argument, NULL, 't' },
		{ "runs", required_argument, NULL, 'n' },
		{ "seed", required_argument, NULL, 's' },
		{ 0 },
	};
	unsigned trials = TRIALS, runs = RUNS, seed = 1;
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) >= 0) {
		unsigned *into = option == 't' ? &trials : option == 'n' ? &runs : &seed;

		if (option == '?' || parse_uint(optarg, 1, RUNS_MAX, into) < 0)
			errx(2, "usage: why-tables [--trials N] [--runs N] [--seed N]");
	}
	state = seed;
	print_nothing(runs, trials);
	printf("\n%-24s %-12s %7s %9s %9s %9s %9s %8s\n", "it is moved by", "factor", "share",
		"found", "within", "named", "interval", "false");
	for (size_t i = 0; i < ARRAY_SIZE(programs); i++)
		print_program(&programs[i], runs, trials);
	return 0;
}
