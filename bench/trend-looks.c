// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Histories that are looked at after each new result, as every night: how often does one that does
 * not change ever have a change, and how soon is a change found? bench/trend runs it.
 *
 *	trend-looks [--trials N] [--looks N] [--seed N]
 *
 * Each result is one number with a noise of 1 %: normal, skewed, with outliers, or like its
 * neighbour (AR(1), as on a machine that wanders from day to day). 1 or 20 of such histories are
 * looked at together, and a trial is wrong when any of them has a change at any look. Then one of
 * them changes after half of its results: found at the last look, and at any look until then,
 * which takes so many results of the new level (the median, of those that are found).
 */
#include <err.h>
#include <getopt.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/macro.h"
#include "base/parse.h"
#include "base/random.h"
#include "judge/stats/level.h"
#include "judge/stats/stats.h"

enum {
	LOOKS_MAX = 2000,
	TOGETHER_MAX = 20,
};

static uint64_t state;

static double draw_normal(void)
{
	return random_normal(&state);
}

static double draw_skewed(void)
{
	return -log(1 - random_unit(&state));
}

static double draw_outliers(void)
{
	double value = random_normal(&state);

	return random_unit(&state) < 0.03 ? value + 5 + 25 * random_unit(&state) : value;
}

static double draw_alike(double correlation)
{
	static double at;

	at = correlation * at + sqrt(1 - correlation * correlation) * random_normal(&state);
	return at;
}

static double draw_a_little_alike(void)
{
	return draw_alike(0.3);
}

static double draw_more_alike(void)
{
	return draw_alike(0.6);
}

static const struct {
	const char *name;
	double (*draw)(void);
} kinds[] = { { "normal", draw_normal }, { "skewed", draw_skewed }, { "outliers", draw_outliers },
	{ "alike 0.3", draw_a_little_alike }, { "alike 0.6", draw_more_alike } };

static bool has_change(const double *values, size_t n, size_t n_together)
{
	struct levels *levels;
	bool found;

	if (levels_find_changes(values, n, n_together, &levels) < 0)
		errx(EXIT_FAILURE, "no memory");
	found = levels->n > 1;
	levels_free(levels);
	return found;
}

/* The number of results at the first look that finds a change, from `first` on; 0 when none does.
 */
static size_t look(
	size_t kind, double step, size_t first, size_t looks, size_t n_together, bool *ret_last)
{
	double values[LOOKS_MAX];
	size_t found = 0;

	for (size_t i = 0; i < looks; i++)
		values[i] = 100 + kinds[kind].draw() + (i >= looks / 2 ? step : 0);
	for (size_t n = first; found == 0 && n <= looks; n++)
		if (has_change(values, n, n_together))
			found = n;
	*ret_last = has_change(values, looks, n_together);
	return found;
}

static void try_kind(size_t kind, size_t n_together, size_t looks, size_t trials)
{
	static const double steps[] = { 1, 2, 3, 5 };
	size_t n_wrong = 0;
	bool last;

	for (size_t t = 0; t < trials; t++) {
		bool any = false;

		for (size_t i = 0; !any && i < n_together; i++)
			any = look(kind, 0, 1, looks, n_together, &last) > 0;
		n_wrong += any;
	}
	printf("%-10s%9zu%8.1f %%", kinds[kind].name, n_together,
		100 * (double)n_wrong / (double)trials);
	for (size_t i = 0; i < ARRAY_SIZE(steps); i++) {
		double *delays = calloc(trials, sizeof(*delays));
		size_t n_found = 0, n_last = 0;

		if (!delays)
			errx(EXIT_FAILURE, "no memory");
		for (size_t t = 0; t < trials; t++) {
			size_t at = look(kind, steps[i], looks / 2 + 1, looks, n_together, &last);

			n_last += last;
			if (at > 0)
				delays[n_found++] = (double)(at - looks / 2);
		}
		stats_sort(delays, n_found);
		printf("   %3.0f %3.0f", 100 * (double)n_last / (double)trials,
			100 * (double)n_found / (double)trials);
		if (n_found > 0)
			printf(" %3.0f", stats_median(delays, n_found));
		else
			printf(" %3s", "-");
		free(delays);
	}
	printf("\n");
	fflush(stdout);
}

int main(int argc, char *argv[])
{
	static const struct option options[] = {
		{ "trials", required_argument, NULL, 't' },
		{ "looks", required_argument, NULL, 'l' },
		{ "seed", required_argument, NULL, 's' },
		{ 0 },
	};
	static const size_t numbers[] = { 1, TOGETHER_MAX };
	unsigned trials = 500, looks = 120, seed = 1;
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) >= 0)
		if (option == '?' ||
			parse_uint(optarg, 1, option == 'l' ? LOOKS_MAX : 1000 * 1000,
				option == 't'		? &trials
					: option == 'l' ? &looks
							: &seed) < 0)
			errx(2, "[--trials N] [--looks N] [--seed N]");
	state = seed;
	printf("%u trials of %u looks, seed %u\n%-10s%9s%10s", trials, looks, seed, "noise",
		"together", "ever");
	printf("%14s%14s%14s%14s\n%-29s", "step of 1 %", "2 %", "3 %", "5 %", "");
	for (int i = 0; i < 4; i++)
		printf("  last ever in");
	printf("\n");
	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
		for (size_t kind = 0; kind < ARRAY_SIZE(kinds); kind++)
			try_kind(kind, numbers[i], looks, trials);
	return EXIT_SUCCESS;
}
