// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <math.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/macro.h"
#include "base/xalloc.h"
#include "judge/report/fleet.h"
#include "judge/report/machines.h"
#include "judge/report/sense.h"
#include "judge/result/metadata.h"
#include "judge/stats/esd.h"
#include "judge/stats/stats.h"

/* A machine is reported if it differs from the middle of all machines by at least this much. */
#define LEVEL_LEAST 0.01
#define NOISE_LEAST 2.0
#define SHARED_LEAST 0.3
#define CLOCK_LEAST 0.01
#define HEAT_LEAST 5.0

/* The standard deviation of a normal distribution divided by the difference of its quartiles. */
#define QUARTILES_TO_DEVIATION 0.7413

/* One sitting of one benchmark. */
struct cell {
	size_t benchmark;
	size_t machine;
	double level; /* logarithm of the median */
	double noise; /* NAN of fewer than 4 runs */
};

/* The sum of a figure over runs, and the number of these runs. */
struct mean {
	double sum;
	size_t n;
};

/* Sums over the runs of a machine. */
struct evidence_sums {
	struct mean shared;
	struct mean clock;
	struct mean temperature;
};

struct key {
	const char *node;
	const char *model;
	size_t index;
};

struct machine_cells {
	struct cell *items;
	size_t n;
	size_t capacity;
	char **names; /* of the benchmarks */
	struct evidence_sums *sums;
	size_t n_machines_capacity;
	void *tree; /* of struct key */
};

const char *oddity_name(enum oddity oddity)
{
	switch (oddity) {
	case ODD_SLOWER:
		return "slower";
	case ODD_FASTER:
		return "faster";
	case ODD_NOISIER:
		return "noisier";
	case ODD_SHARED:
		return "shared";
	case ODD_CLOCK:
		return "clock";
	case ODD_HOTTER:
		return "hotter";
	}
	return "";
}

struct machines *machines_new(void)
{
	struct machines *machines = xptr(calloc(1, sizeof(*machines)));

	machines->cells = xptr(calloc(1, sizeof(*machines->cells)));
	return machines;
}

void machines_free(struct machines *machines)
{
	if (!machines)
		return;
	for (size_t i = 0; i < machines->n; i++) {
		free(machines->items[i].node);
		free(machines->items[i].model);
	}
	if (machines->cells) {
		tdestroy(machines->cells->tree, free);
		for (size_t i = 0; i < machines->n_benchmarks; i++)
			free(machines->cells->names[i]);
		free(machines->cells->names);
		free(machines->cells->items);
		free(machines->cells->sums);
	}
	free(machines->cells);
	free(machines->items);
	free(machines);
}

/* --- What is added --- */

static int compare_keys(const void *a, const void *b)
{
	const struct key *x = a, *y = b;
	int order = strcmp(x->node, y->node);

	return order != 0 ? order : strcmp(x->model, y->model);
}

static void grow_machines(struct machines *machines)
{
	struct machine_cells *cells = machines->cells;
	size_t capacity = cells->n_machines_capacity;

	/* Both arrays have room for as many as the smaller one. */
	xcheck(array_grow(&machines->items, sizeof(*machines->items), machines->n, &capacity));
	xcheck(array_grow(
		&cells->sums, sizeof(*cells->sums), machines->n, &cells->n_machines_capacity));
}

/* The machine of a sitting, perhaps a new one. */
static size_t find_machine(struct machines *machines, const struct fleet_sitting *sitting)
{
	struct key wanted = { sitting->node, sitting->model, 0 }, *key;
	struct key *const *found = tfind(&wanted, &machines->cells->tree, compare_keys);
	struct machine_figures *item;

	if (found)
		return (*found)->index;
	grow_machines(machines);
	item = &machines->items[machines->n];
	*item = (struct machine_figures){ .node = xptr(strdup(sitting->node)),
		.model = xptr(strdup(sitting->model)) };
	machines->cells->sums[machines->n] = (struct evidence_sums){ 0 };
	key = xptr(malloc(sizeof(*key)));
	*key = (struct key){ item->node, item->model, machines->n++ };
	(void)xptr(tsearch(key, &machines->cells->tree, compare_keys));
	return key->index;
}

/* Most often, files have the same benchmarks in the same order. */
static size_t find_benchmark(struct machines *machines, const char *name, size_t guess)
{
	struct machine_cells *cells = machines->cells;

	if (guess < machines->n_benchmarks && metadata_equal_strings(cells->names[guess], name))
		return guess;
	for (size_t i = 0; i < machines->n_benchmarks; i++)
		if (metadata_equal_strings(cells->names[i], name))
			return i;
	cells->names = xptr(
		(char **)reallocarray(cells->names, machines->n_benchmarks + 1, sizeof(char *)));
	cells->names[machines->n_benchmarks] = xptr(strdup(name));
	return machines->n_benchmarks++;
}

static void add_to(struct mean *mean, double value)
{
	if (isnan(value))
		return;
	mean->sum += value;
	mean->n++;
}

static double mean_of(const struct mean *mean)
{
	return mean->n > 0 ? mean->sum / (double)mean->n : NAN;
}

/* Adds the runs from `first` to the one before `end`. */
static void add_runs(
	const struct series *series, size_t first, size_t end, struct evidence_sums *sums)
{
	for (size_t i = first; series->with_evidence && i < end; i++) {
		const struct evidence *evidence = &series->evidence[i];

		if (!sample_counts(&series->samples[i]))
			continue;
		if (!isnan(evidence_core_share(evidence)))
			add_to(&sums->shared, evidence_is_shared(evidence));
		add_to(&sums->clock,
			evidence->core_khz > 0 ? (double)evidence->core_khz * 1e3
				: evidence->frequency_khz > 0
				? (double)evidence->frequency_khz * 1e3
				: NAN);
		add_to(&sums->temperature, (double)evidence->temperature_after);
	}
}

/* The evidence of all runs of a benchmark, each for the machine on which it was made. */
static void add_evidence(struct machines *machines, const struct benchmark *benchmark)
{
	size_t first = 0;

	for (size_t i = 0; i < fleet_count_sittings(benchmark); i++) {
		struct fleet_sitting sitting;
		size_t end = fleet_describe_sitting(benchmark, i, &sitting);
		size_t machine = find_machine(machines, &sitting);

		add_runs(benchmark->series, first, end, &machines->cells->sums[machine]);
		first = end;
	}
}

/* Adds a sitting of a benchmark, of which `index` is the number. A rate counts with its costs,
 * which are larger on a slower machine. */
static int add_cell(struct machines *machines, const struct benchmark *benchmark, size_t index,
	const struct fleet_sitting *sitting)
{
	bool is_of_speed = sense_follows_machine(benchmark);
	_cleanup_free_ double *sorted = xptr(reallocarray(NULL, sitting->n, sizeof(*sorted)));
	struct machine_cells *cells = machines->cells;
	size_t machine = find_machine(machines, sitting);
	struct stats stats;
	int r;

	xcheck(array_grow(&cells->items, sizeof(*cells->items), cells->n, &cells->capacity));
	memcpy(sorted, sitting->logarithms, sitting->n * sizeof(*sorted));
	r = stats_compute(sorted, sitting->n, &stats);
	if (r < 0)
		return r;
	cells->items[cells->n++] = (struct cell){
		.benchmark = index,
		.machine = machine,
		.level = !is_of_speed		       ? NAN
			: benchmark_is_gain(benchmark) ? -stats.median
						       : stats.median,
		.noise = !is_of_speed || sitting->n < 4
			? NAN
			: (stats.q3 - stats.q1) * QUARTILES_TO_DEVIATION,
	};
	return 0;
}

/* The runs and their evidence; another figure of the same runs adds nothing. */
static void add_runs_of(struct machines *machines, const struct benchmark *benchmark,
	const struct fleet *fleet, const struct benchmark *before)
{
	if (before && before->series == benchmark->series)
		return;
	add_evidence(machines, benchmark);
	for (size_t i = 0; i < fleet->n; i++)
		machines->items[find_machine(machines, &fleet->sittings[i])].n_runs +=
			fleet->sittings[i].n;
}

int machines_add(struct machines *machines, const struct suite *suite, const char *name)
{
	const struct benchmark *before = NULL;

	for (size_t i = 0; i < suite->n; i++) {
		const struct benchmark *benchmark = suite->benchmarks[i];
		_cleanup_(fleet) struct fleet *fleet = NULL;
		size_t index;
		int r;

		if (name ? !metadata_equal_strings(benchmark->name, name)
			 : suite->n > 1 && benchmark_is_control(benchmark))
			continue;
		r = fleet_new(&benchmark, 1, FLEET_MACHINES, &fleet);
		if (r == -ENODATA || r == -ERANGE)
			continue;
		if (r < 0)
			return r;
		index = find_benchmark(machines, benchmark->name, i);
		add_runs_of(machines, benchmark, fleet, before);
		before = benchmark;
		for (size_t k = 0; r >= 0 && k < fleet->n; k++)
			r = add_cell(machines, benchmark, index, &fleet->sittings[k]);
		if (r < 0)
			return r;
	}
	return 0;
}

/* --- Figures --- */

static int compare_cells(const void *a, const void *b)
{
	const struct cell *x = a, *y = b;

	if (x->benchmark != y->benchmark)
		return x->benchmark < y->benchmark ? -1 : 1;
	return (x->machine > y->machine) - (x->machine < y->machine);
}

static int compare_by_machine(const void *a, const void *b)
{
	const struct cell *x = a, *y = b;

	return (x->machine > y->machine) - (x->machine < y->machine);
}

/* Joins a machine's sittings of a benchmark to one cell. The machine has as many sittings as its
 * benchmark that was measured most often. */
static void join_sittings(struct machines *machines)
{
	struct machine_cells *cells = machines->cells;
	size_t n = 0;

	if (cells->n > 0)
		qsort(cells->items, cells->n, sizeof(*cells->items), compare_cells);
	for (size_t i = 0, end; i < cells->n; i = end) {
		struct mean level = { 0 }, noise = { 0 };
		struct cell joined = cells->items[i];

		for (end = i; end < cells->n && compare_cells(&cells->items[end], &joined) == 0;
			end++) {
			add_to(&level, cells->items[end].level);
			add_to(&noise, cells->items[end].noise);
		}
		machines->items[joined.machine].n_sittings =
			MAX(machines->items[joined.machine].n_sittings, end - i);
		joined.level = mean_of(&level);
		joined.noise = mean_of(&noise);
		cells->items[n++] = joined;
	}
	cells->n = n;
}

/* The median of the known ones among n values; sorts `scratch`. */
static double middle(const double *values, size_t n, double *scratch)
{
	size_t known = 0;

	for (size_t i = 0; i < n; i++)
		if (!isnan(values[i]))
			scratch[known++] = values[i];
	if (known == 0)
		return NAN;
	stats_sort(scratch, known);
	return stats_median(scratch, known);
}

/* Replaces the figures of each machine for a benchmark by their differences from the middle of all
 * machines. The middle of too few machines does not tell which of them is odd. */
static void compare_machines(struct machines *machines, double *values, double *scratch)
{
	struct machine_cells *cells = machines->cells;

	for (size_t i = 0, end; i < cells->n; i = end) {
		double level;

		for (end = i;
			end < cells->n && cells->items[end].benchmark == cells->items[i].benchmark;
			end++)
			values[end - i] = cells->items[end].level;
		level = end - i < MIN(machines->n, (size_t)ESD_MIN)
			? NAN
			: middle(values, end - i, scratch);
		for (size_t k = i; k < end; k++)
			cells->items[k].level -= level;
	}
}

/* The median over a machine's benchmarks. */
static void set_figures(struct machines *machines, double *values, double *scratch)
{
	struct machine_cells *cells = machines->cells;

	if (cells->n > 0)
		qsort(cells->items, cells->n, sizeof(*cells->items), compare_by_machine);
	for (size_t i = 0, end; i < cells->n; i = end) {
		struct machine_figures *item = &machines->items[cells->items[i].machine];
		const struct evidence_sums *sums = &cells->sums[cells->items[i].machine];

		for (end = i;
			end < cells->n && cells->items[end].machine == cells->items[i].machine;
			end++)
			values[end - i] = cells->items[end].level;
		item->level = expm1(middle(values, end - i, scratch));
		for (size_t k = i; k < end; k++)
			values[k - i] = cells->items[k].noise;
		item->noise = middle(values, end - i, scratch);
		item->shared = mean_of(&sums->shared);
		item->clock_hz = mean_of(&sums->clock);
		item->temperature = mean_of(&sums->temperature);
	}
}

/* --- Who is odd --- */

struct question {
	size_t offset;	  /* of the figure */
	bool is_ratio;	  /* its logarithm is looked at */
	double least;	  /* difference from the middle, as a ratio for ratios */
	unsigned if_more; /* enum oddity, 0 for none */
	unsigned if_less;
};

static const struct question questions[] = {
	{ offsetof(struct machine_figures, level), false, LEVEL_LEAST, ODD_SLOWER, ODD_FASTER },
	{ offsetof(struct machine_figures, noise), true, NOISE_LEAST - 1, ODD_NOISIER, 0 },
	{ offsetof(struct machine_figures, shared), false, SHARED_LEAST, ODD_SHARED, 0 },
	{ offsetof(struct machine_figures, clock_hz), true, CLOCK_LEAST, ODD_CLOCK, ODD_CLOCK },
	{ offsetof(struct machine_figures, temperature), false, HEAT_LEAST, ODD_HOTTER, 0 },
};

static void ask(struct machines *machines, const struct question *question, double *values,
	double *scratch, bool *odd)
{
	double least = question->is_ratio ? log1p(question->least) : question->least, center;

	for (size_t i = 0; i < machines->n; i++) {
		double figure =
			*(const double *)((const char *)&machines->items[i] + question->offset);

		values[i] = !question->is_ratio ? figure : figure > 0 ? log(figure) : NAN;
	}
	esd_find(values, machines->n, odd);
	center = middle(values, machines->n, scratch);
	for (size_t i = 0; i < machines->n; i++) {
		if (odd[i] && values[i] - center >= least)
			machines->items[i].odd |= question->if_more;
		if (odd[i] && center - values[i] >= least)
			machines->items[i].odd |= question->if_less;
	}
}

void machines_settle(struct machines *machines)
{
	size_t n = MAX(machines->cells->n, machines->n) + 1;
	_cleanup_free_ double *values = xptr(calloc(n, sizeof(*values)));
	_cleanup_free_ double *scratch = xptr(calloc(n, sizeof(*scratch)));
	_cleanup_free_ bool *odd = xptr(calloc(machines->n + 1, sizeof(*odd)));

	join_sittings(machines);
	compare_machines(machines, values, scratch);
	set_figures(machines, values, scratch);
	for (size_t i = 0; i < ARRAY_SIZE(questions); i++)
		ask(machines, &questions[i], values, scratch, odd);
}
