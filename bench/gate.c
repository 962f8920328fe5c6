// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * How often are the verdicts of `bench-report compare` wrong, and a gate (--fail-slower 2) too?
 * Many series like those of real machines are made from a seed, and compared by the code
 * that bench-report and runpinned use.
 *
 *	gate [--trials N] [--seed N] [--only WORD]
 *
 * The machine has levels (a neighbour comes and goes), a drift, neighbours that are alike, tails,
 * two modes, something that comes back every 25 runs or so, or a clock that counts in steps.
 * B is the same program as A (A/A), or slower by a factor. Both are measured
 *
 *	one after the other	on a machine of which nothing is known
 *	hours later		the same, but what the machine does is drawn anew for B
 *	own machine		one after the other, on a machine that no other uses
 *	in turn			run by run, the order being drawn for each pair
 *	by turns, 5 + 5		five results of each, each of them hours after the one before
 *
 * Columns, in per cent of the trials: A/A that are called faster or slower; A/A that fail a gate
 * of 2 %; A/A intervals that hold 0, of those that have a verdict, and those of 5 % that hold 5 %;
 * A/A that are unclear, and 2 % that are; and how many are called slower that take 1, 2, 5 and
 * 50 % longer. What is wished for: at most 5, at most 1, and at least 93.
 *
 * Then gates of 1, 9 and 19 programs that are judged together, in turn, 25 pairs each: how many
 * fail where all are slower by exactly the 2 % of the gate (wished for: at most 2.5), where one is
 * slower by 2.5, 3 or 5 % and the others are the same, and where all are slower by 2.5 %; with the
 * intervals that each one would have alone, and with those of judge/stats/multiple.h.
 *
 * Then two results of 20 runs, days apart, whose sittings vary, and what is learnt of that from
 * 2 to 10 repeats of the program on other days (bench-report compare --repeats): the median
 * resolution, and how many are called faster or slower that are the same (wished for: at most 5),
 * or take 1, 2, 5 and 10 % longer. Rows of 0 repeats have the resolution of a machine of which
 * nothing is known.
 */
#include <err.h>
#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "base/parse.h"
#include "base/random.h"
#include "judge/report/compare.h"
#include "judge/report/repeats.h"
#include "judge/stats/multiple.h"
#include "judge/stats/stats.h"

enum {
	RUNS_MAX = 100,
	RESULTS = 5,
	TOGETHER_MAX = 19,
	REPEATS_MAX = 10,
	DAY = 86400,
	START_EVERY_NS = 20 * 1000 * 1000,
};

/* --- Machines --- */

/* Of the random numbers. */
static uint64_t state;

/* All in parts of 1 of the time of a run; what is 0 is not there. */
struct machine {
	const char *name;
	double noise;	     /* of single runs, normal */
	double level;	     /* a level that is so much higher, */
	double dwell;	     /* held for so many runs on average */
	double drift;	     /* over the runs of A, and the same over those of B */
	double alike;	     /* AR(1): the correlation of neighbours, */
	double alike_spread; /* and their deviation */
	double skew;	     /* a log-normal delay, median */
	double tail;	     /* 5 % of all runs take so much longer */
	double mode;	     /* 30 % of all runs take so much longer */
	double heavy;  /* Student's t with 2 degrees of freedom, in place of the normal noise */
	double period; /* one run in so many */
	double hit;    /* takes so much longer */
	double step;   /* in which the clock counts */
	bool mild;     /* as a machine of its own may be, too */
};

static const struct machine machines[] = {
	{ .name = "white 0.3 %", .noise = 0.003, .mild = true },
	{ .name = "white 1 %", .noise = 0.01, .mild = true },
	{ .name = "+15 %, 5 runs", .noise = 0.005, .level = 0.15, .dwell = 5 },
	{ .name = "+15 %, 15 runs", .noise = 0.005, .level = 0.15, .dwell = 15 },
	{ .name = "+15 %, 60 runs", .noise = 0.005, .level = 0.15, .dwell = 60 },
	{ .name = "+2 %, 5 runs", .noise = 0.005, .level = 0.02, .dwell = 5, .mild = true },
	{ .name = "+2 %, 15 runs", .noise = 0.005, .level = 0.02, .dwell = 15, .mild = true },
	{ .name = "+2 %, 60 runs", .noise = 0.005, .level = 0.02, .dwell = 60, .mild = true },
	{ .name = "drift of 1 %", .noise = 0.005, .drift = 0.01, .mild = true },
	{ .name = "AR(1) 0.3, 1 %", .alike = 0.3, .alike_spread = 0.01, .mild = true },
	{ .name = "AR(1) 0.6, 1 %", .alike = 0.6, .alike_spread = 0.01, .mild = true },
	{ .name = "AR(1) 0.9, 1 %", .alike = 0.9, .alike_spread = 0.01, .mild = true },
	{ .name = "AR(1) 0.6, 5 %", .alike = 0.6, .alike_spread = 0.05, .mild = true },
	{ .name = "AR(1) 0.9, 5 %", .alike = 0.9, .alike_spread = 0.05, .mild = true },
	{ .name = "skewed 1 %", .skew = 0.01, .mild = true },
	{ .name = "tails +50 %", .noise = 0.003, .tail = 0.5, .mild = true },
	{ .name = "modes +10 %", .noise = 0.003, .mode = 0.1, .mild = true },
	{ .name = "AR(1) 0.98, 5 %", .alike = 0.98, .alike_spread = 0.05, .mild = true },
	{ .name = "heavy tails 1 %", .heavy = 0.01, .mild = true },
	{ .name = "+20 % at times", .noise = 0.001, .period = 24.7, .hit = 0.2, .mild = true },
	{ .name = "steps, noise 3 %", .noise = 0.03, .step = 0.1, .mild = true },
	{ .name = "steps, noise 1 %", .noise = 0.01, .step = 0.1, .mild = true },
};

/* What a machine does now. */
struct now {
	bool up;
	double alike;
	double drift;
	double phase;
};

static struct now begin(const struct machine *m)
{
	return (struct now){ .up = m->dwell > 0 && random_unit(&state) < 0.5,
		.alike = random_normal(&state),
		.phase = m->period > 0 ? m->period * random_unit(&state) : 0 };
}

/* Student's t with 2 degrees of freedom. */
static double random_heavy(void)
{
	double u = 2 * random_unit(&state) - 1;

	return u * sqrt(2 / (1 - u * u));
}

/* The next run of a program that takes 1 by itself, of `n` for which the machine drifts once. */
static double run(const struct machine *m, struct now *now, size_t n)
{
	double value = 1 + m->noise * random_normal(&state);

	if (m->dwell > 0 && random_unit(&state) < 1 / m->dwell)
		now->up = !now->up;
	now->alike = m->alike * now->alike + sqrt(1 - m->alike * m->alike) * random_normal(&state);
	now->drift += m->drift / (double)n;
	value *= exp(m->alike_spread * now->alike) * (1 + now->drift);
	if (now->up)
		value *= 1 + m->level;
	if (m->skew > 0)
		value += m->skew * exp(random_normal(&state));
	if (random_unit(&state) < 0.05)
		value *= 1 + m->tail;
	if (random_unit(&state) < 0.3)
		value *= 1 + m->mode;
	if (m->heavy > 0)
		value *= exp(m->heavy * random_heavy());
	if (m->period > 0 && fmod(now->phase++, m->period) < 1)
		value *= 1 + m->hit;
	return value;
}

/* How long it takes by the clock, in seconds. */
static double time_run(const struct machine *m, struct now *now, size_t n, double factor)
{
	double value = factor * run(m, now, n);

	return 0.01 * (m->step > 0 ? m->step * round(value / m->step) : value);
}

/* --- Measuring --- */

enum design {
	SEQUENCE,
	LATER,
	OWN_MACHINE,
	IN_TURN,
	BY_TURNS,
	N_DESIGNS
};

static const char *const design_names[N_DESIGNS] = { "one after the other", "hours later",
	"own machine", "in turn", "by turns, 5 + 5" };

struct result {
	struct series *series;
	struct benchmark view;
};

/* Those of one comparison with its repeats, or two of each program of a gate. */
static struct result all_results[2 * MAX(RESULTS, TOGETHER_MAX)];
_Static_assert(2 + REPEATS_MAX <= 2 * TOGETHER_MAX, "room for all repeats");

static void set_runs(struct result *result, const double *seconds, size_t n)
{
	if (!result->series)
		result->series = series_new(false, NULL);
	result->series->clock = WINDOW_USER;
	while (result->series->n_samples < n)
		if (series_append(result->series, &(struct sample){ 0 }, NULL, NULL) < 0)
			errx(EXIT_FAILURE, "no memory");
	result->series->n_samples = result->series->n_counted = n;
	for (size_t i = 0; i < n; i++)
		result->series->samples[i].user_ns = llround(seconds[i] * 1e9);
	if (benchmark_view("x", result->series, &result->view) < 0)
		errx(EXIT_FAILURE, "no memory");
}

static void set_metadata(struct benchmark *b, enum design design, size_t at)
{
	if (design == IN_TURN) {
		facts_set_string(&b->metadata, "quiesce_interleaved", "a, b");
		facts_set_integer(&b->metadata, "quiesce_order_seed", 1);
	} else if (design == OWN_MACHINE) {
		facts_set_string(&b->metadata, "quiesce_virtualization", "none");
		facts_set_string(&b->metadata, "quiesce_smt", "off, inactive");
		facts_set_string(&b->metadata, "quiesce_boost", "off");
	} else if (design == BY_TURNS) {
		b->has_dates = true;
		b->first_date = b->last_date = (int64_t)at;
	}
}

/* Makes the runs of A in results[0], those of B in results[1]; of several results, by turns. */
static void measure(struct result *results, const struct machine *m, enum design design, size_t n,
	double factor)
{
	size_t n_results = design == BY_TURNS ? 2 * RESULTS : 2;
	size_t places[2][RUNS_MAX] = { 0 };
	double seconds[2][RUNS_MAX] = { 0 };
	struct now now = begin(m);

	if (design == IN_TURN) {
		for (size_t i = 0; i < n; i++) {
			size_t first = random_unit(&state) < 0.5;

			for (size_t k = 0; k < 2; k++) {
				size_t side = k ^ first;

				seconds[side][i] = time_run(m, &now, n, side ? factor : 1);
				places[side][i] = 2 * i + k;
			}
		}
		for (size_t side = 0; side < 2; side++) {
			set_runs(&results[side], seconds[side], n);
			for (size_t i = 0; i < n; i++)
				results[side].series->samples[i].start_ns =
					(int64_t)places[side][i] * START_EVERY_NS;
		}
	}
	for (size_t at = 0; design != IN_TURN && at < n_results; at++) {
		if (at > 0 && (design == LATER || design == BY_TURNS))
			now = begin(m);
		for (size_t i = 0; i < n; i++)
			seconds[0][i] = time_run(m, &now, n, at % 2 ? factor : 1);
		set_runs(&results[at], seconds[0], n);
	}
	for (size_t at = 0; at < n_results; at++)
		set_metadata(&results[at].view, design, at);
}

/* Borrows the results. */
static struct comparison *compare(const struct result *results, enum design design)
{
	const struct benchmark *old[RESULTS], *new[RESULTS];
	struct comparison *c;
	int r;

	for (size_t i = 0; i < (design == BY_TURNS ? RESULTS : 1); i++) {
		old[i] = &results[2 * i].view;
		new[i] = &results[2 * i + 1].view;
	}
	r = design == BY_TURNS ? comparison_new_of_results(old, RESULTS, new, RESULTS, &c)
			       : comparison_new(old[0], new[0], &c);
	if (r < 0)
		errx(EXIT_FAILURE, "cannot compare: %s", strerror(-r));
	comparison_settle(&c, 1);
	return c;
}

static void forget(struct result *results, enum design design)
{
	for (size_t i = 0; i < (design == BY_TURNS ? 2 * RESULTS : 2); i++) {
		facts_clear(&results[i].view.metadata);
		benchmark_clear_view(&results[i].view);
	}
}

/* --- Counting --- */

static const double changes[] = { 0, 0.01, 0.02, 0.05, 0.5 };

struct counts {
	size_t verdicts;
	size_t alarms;
	size_t clear[2]; /* without a change, and with 5 % */
	size_t held[2];
	size_t unclear[2]; /* without a change, and with 2 % */
	size_t found[ARRAY_SIZE(changes)];
};

static void count(const struct comparison *c, size_t change, struct counts *counts)
{
	bool decided = c->verdict == VERDICT_FASTER || c->verdict == VERDICT_SLOWER;

	counts->found[change] += c->verdict == VERDICT_SLOWER;
	if (c->verdict != VERDICT_UNCLEAR && (changes[change] == 0 || changes[change] == 0.05)) {
		double ratio = 1 + changes[change];

		counts->clear[change != 0]++;
		counts->held[change != 0] += c->ratio.low <= ratio && c->ratio.high >= ratio;
	}
	if (change == 2)
		counts->unclear[1] += c->verdict == VERDICT_UNCLEAR;
	if (change != 0)
		return;
	counts->verdicts += decided;
	counts->alarms += comparison_gate(c, 2, SIGNIFICANCE) == GATE_FAILS;
	counts->unclear[0] += c->verdict == VERDICT_UNCLEAR;
}

static void print_share(size_t n, size_t of)
{
	if (of == 0)
		printf("%7s", "-");
	else
		printf("%7.1f", 100 * (double)n / (double)of);
}

static void try_all(const struct machine *m, enum design design, size_t n, size_t trials)
{
	struct counts counts = { 0 };

	for (size_t t = 0; t < trials; t++) {
		for (size_t change = 0; change < ARRAY_SIZE(changes); change++) {
			struct comparison *c;

			measure(all_results, m, design, n, 1 + changes[change]);
			c = compare(all_results, design);
			count(c, change, &counts);
			comparison_free(c);
			forget(all_results, design);
		}
	}
	printf("%-20s %-16s %3zu", design_names[design], m->name, n);
	print_share(counts.verdicts, trials);
	print_share(counts.alarms, trials);
	print_share(counts.held[0], counts.clear[0]);
	print_share(counts.held[1], counts.clear[1]);
	print_share(counts.unclear[0], trials);
	print_share(counts.unclear[1], trials);
	for (size_t change = 1; change < ARRAY_SIZE(changes); change++)
		print_share(counts.found[change], trials);
	printf("\n");
	fflush(stdout);
}

/* --- Gates of several programs --- */

static const struct {
	const char *name;
	double first; /* of the first program */
	double others;
} margins[] = {
	{ "all +2 %", 0.02, 0.02 },
	{ "one +2.5 %", 0.025, 0 },
	{ "one +3 %", 0.03, 0 },
	{ "one +5 %", 0.05, 0 },
	{ "all +2.5 %", 0.025, 0.025 },
};

/* Whether a gate of n programs fails, [0] as if each one were alone, and [1] judged together. */
static void judge_gate(const struct machine *m, size_t n, size_t margin, size_t ret_failed[2])
{
	struct comparison *compared[TOGETHER_MAX];
	bool failed[2] = { false, false };
	double level;

	for (size_t i = 0; i < n; i++) {
		double change = i ? margins[margin].others : margins[margin].first;

		measure(&all_results[2 * i], m, IN_TURN, 25, 1 + change);
		compared[i] = compare(&all_results[2 * i], IN_TURN);
	}
	comparison_settle(compared, n);
	level = comparison_gate_level(compared, n, 2);
	for (size_t i = 0; i < n; i++) {
		failed[0] =
			failed[0] || comparison_gate(compared[i], 2, SIGNIFICANCE) == GATE_FAILS;
		failed[1] = failed[1] || comparison_gate(compared[i], 2, level) == GATE_FAILS;
		comparison_free(compared[i]);
		forget(&all_results[2 * i], IN_TURN);
	}
	ret_failed[0] += failed[0];
	ret_failed[1] += failed[1];
}

static void try_gates(const struct machine *m, const char *only, size_t trials)
{
	static const size_t numbers[] = { 1, 9, TOGETHER_MAX };

	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
		for (size_t margin = 0; margin < ARRAY_SIZE(margins); margin++) {
			size_t failed[2] = { 0 };
			char row[96];

			snprintf(row, sizeof(row), "gate of %zu, %s, %s", numbers[i], m->name,
				margins[margin].name);
			if (!strstr(row, only))
				continue;
			for (size_t t = 0; t < trials; t++)
				judge_gate(m, numbers[i], margin, failed);
			printf("gate of %-12zu %-16s %-12s", numbers[i], m->name,
				margins[margin].name);
			print_share(failed[0], trials);
			print_share(failed[1], trials);
			printf("\n");
			fflush(stdout);
		}
}

/* --- Repeats --- */

static const double slower[] = { 0, 0.01, 0.02, 0.05, 0.1 };

/* Makes the result of a sitting that takes exp(level), on that day. */
static void measure_sitting(size_t at, double level, int64_t day)
{
	enum {
		RUNS = 20
	};
	double seconds[RUNS];

	for (size_t i = 0; i < RUNS; i++)
		seconds[i] = 0.01 * exp(level + 0.003 * random_normal(&state));
	set_runs(&all_results[at], seconds, RUNS);
	all_results[at].view.has_dates = true;
	all_results[at].view.first_date = all_results[at].view.last_date = day * DAY;
}

static bool is_told(size_t n, double sitting, double change, double *ret_resolution)
{
	struct benchmark *benchmarks[REPEATS_MAX];
	struct suite items[REPEATS_MAX], *suites[REPEATS_MAX];
	char *names[REPEATS_MAX];
	struct repeats repeats = { suites, names, n, 1, NULL, 0, 0 };
	struct comparison *c;
	bool told;

	for (size_t i = 0; i < 2 + n; i++)
		measure_sitting(i, sitting * random_normal(&state) + (i == 1 ? log1p(change) : 0),
			1 + (int64_t)i);
	for (size_t i = 0; i < n; i++) {
		static char name[] = "repeat";

		benchmarks[i] = &all_results[2 + i].view;
		items[i] = (struct suite){ .benchmarks = &benchmarks[i], .n = 1 };
		suites[i] = &items[i];
		names[i] = name;
	}
	if (comparison_new(&all_results[0].view, &all_results[1].view, &c) < 0 ||
		repeats_apply(&repeats, c, (const struct benchmark *const[]){ c->new }, 1) < 0)
		errx(EXIT_FAILURE, "no memory");
	comparison_settle(&c, 1);
	told = c->verdict == VERDICT_FASTER || c->verdict == VERDICT_SLOWER;
	*ret_resolution = resolution_size(&c->resolution);
	comparison_free(c);
	repeats_clear(&repeats);
	for (size_t i = 0; i < 2 + n; i++)
		benchmark_clear_view(&all_results[i].view);
	return told;
}

static void try_repeats(double sitting, size_t n, const char *only, size_t trials)
{
	double *resolutions = calloc(trials, sizeof(*resolutions));
	size_t told[ARRAY_SIZE(slower)] = { 0 };
	char row[96];

	snprintf(row, sizeof(row), "repeats, %g %%, %zu", 100 * sitting, n);
	if (!resolutions)
		errx(EXIT_FAILURE, "no memory");
	if (strstr(row, only)) {
		for (size_t t = 0; t < trials; t++)
			for (size_t i = 0; i < ARRAY_SIZE(slower); i++)
				told[i] += is_told(n, sitting, slower[i], &resolutions[t]);
		stats_sort(resolutions, trials);
		printf("sittings of %-5.3g %%  %7zu%10.1f %%", 100 * sitting, n,
			100 * stats_median(resolutions, trials));
		for (size_t i = 0; i < ARRAY_SIZE(slower); i++)
			print_share(told[i], trials);
		printf("\n");
		fflush(stdout);
	}
	free(resolutions);
}

static void usage(void)
{
	fputs("Usage: gate [--trials N] [--seed N] [--only WORD]\n"
	      "How often verdicts of bench-report compare are right, on made-up series.\n"
	      "--only: rows of which the first columns have WORD: \"in turn, white 1 %, 25\", and of\n"
	      "several programs \"gate of 9, white 1 %, one +3 %\", of repeats \"repeats, 1 %, 5\".\n",
		stdout);
}

int main(int argc, char *argv[])
{
	static const struct option options[] = {
		{ "trials", required_argument, NULL, 't' },
		{ "seed", required_argument, NULL, 's' },
		{ "only", required_argument, NULL, 'o' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	static const size_t sizes[] = { 5, 10, 25, 100 }, numbers[] = { 0, 2, 3, 5, REPEATS_MAX };
	static const double sittings[] = { 0, 0.003, 0.01, 0.03, 0.1 };
	unsigned trials = 500, seed = 1;
	const char *only = "";
	int option;

	while ((option = getopt_long(argc, argv, "h", options, NULL)) >= 0) {
		if (option == 'h') {
			usage();
			return EXIT_SUCCESS;
		}
		if (option == 'o')
			only = optarg;
		else if (option == '?' ||
			parse_uint(optarg, 1, 1000 * 1000, option == 't' ? &trials : &seed) < 0)
			errx(2, "--trials and --seed take a number from 1 to 1000000");
	}
	state = seed;
	printf("seed %u, %u trials of each\n", seed, trials);
	printf("%-20s %-16s %3s%7s%7s%7s%7s%7s%7s%7s%7s%7s%7s\n", "measured", "machine", "n", "A/A",
		"gate", "holds", "5 %", "uncl.", "at 2 %", "1 %", "2 %", "5 %", "50 %");
	for (size_t d = 0; d < N_DESIGNS; d++)
		for (size_t m = 0; m < ARRAY_SIZE(machines); m++)
			for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
				char row[96];

				snprintf(row, sizeof(row), "%s, %s, %zu", design_names[d],
					machines[m].name, sizes[i]);
				if (!strstr(row, only))
					continue;
				if (d == OWN_MACHINE && !machines[m].mild)
					continue;
				try_all(&machines[m], (enum design)d, sizes[i], trials);
			}
	printf("\n%-20s %-16s %-12s%7s%7s\n", "fails", "machine", "programs", "alone", "all");
	for (size_t m = 0; m < 2; m++)
		try_gates(&machines[m], only, trials);
	printf("\n%-20s%9s%12s%7s%7s%7s%7s%7s\n", "vary", "repeats", "resolution", "A/A", "1 %",
		"2 %", "5 %", "10 %");
	for (size_t m = 0; m < ARRAY_SIZE(sittings); m++)
		for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
			try_repeats(sittings[m], numbers[i], only, trials);
	for (size_t i = 0; i < ARRAY_SIZE(all_results); i++)
		series_free(all_results[i].series);
	return EXIT_SUCCESS;
}
