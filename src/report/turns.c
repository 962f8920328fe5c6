// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "basic/macro.h"
#include "report/turns.h"

enum {
	SEEDS_MAX = UINT8_MAX + 1,
};

/* The seeds of the orders in which runs of a benchmark were made, each of them once. All runs of
 * one measurement have the same; runs that were appended to a file have another one, or none. */
struct seeds {
	int64_t items[SEEDS_MAX];
	size_t n;
};

static void collect_seeds(const struct benchmark *benchmark, struct seeds *ret)
{
	const struct series *series = benchmark->series;
	const struct fact *fact = facts_find(&benchmark->metadata, "quiesce_order_seed");

	for (ret->n = 0; ret->n < series->n_order_seeds; ret->n++)
		ret->items[ret->n] = series->order_seeds[ret->n];
	/* A benchmark that was just measured has it in its metadata alone. */
	if (ret->n == 0 && fact && fact->type == FACT_INTEGER)
		ret->items[ret->n++] = fact->integer;
}

static bool has_seed(const struct benchmark *benchmark, size_t run, int64_t seed)
{
	const struct series *series = benchmark->series;
	const struct fact *fact;

	if (series->n_order_seeds > 0)
		return series->samples[run].turn > 0 &&
			series->order_seeds[series->samples[run].turn - 1] == seed;
	fact = facts_find(&benchmark->metadata, "quiesce_order_seed");
	return fact && fact->type == FACT_INTEGER && fact->integer == seed;
}

/* The user may give the same seed to measurements on different days. */
static bool could_be_together(const struct benchmark *old, const struct benchmark *new)
{
	if (!benchmark_units_are_runs(old) || !benchmark_units_are_runs(new))
		return false;
	return !old->has_dates || !new->has_dates ||
		(old->first_date <= new->last_date &&new->first_date <= old->last_date);
}

/* The seeds that runs of both have. */
static void find_common_seeds(
	const struct benchmark *old, const struct benchmark *new, struct seeds *ret)
{
	struct seeds a, b;

	ret->n = 0;
	if (!could_be_together(old, new))
		return;
	collect_seeds(old, &a);
	collect_seeds(new, &b);
	for (size_t i = 0; i < a.n; i++)
		for (size_t k = 0; k < b.n; k++)
			if (a.items[i] == b.items[k])
				ret->items[ret->n++] = a.items[i];
}

bool turns_are_common(const struct benchmark *old, const struct benchmark *new)
{
	struct seeds seeds;

	find_common_seeds(old, new, &seeds);
	return seeds.n > 0;
}

/* Copies the units of runs of that seed to the front of ret. */
static size_t pick_units(
	const struct benchmark *benchmark, const double *units, int64_t seed, double *ret)
{
	size_t n = 0, unit = 0;

	for (size_t i = 0; i < benchmark->series->n_samples; i++) {
		if (benchmark->series->samples[i].warmup)
			continue;
		if (has_seed(benchmark, i, seed))
			ret[n++] = units[unit];
		unit++;
	}
	return n;
}

int turns_pick_pairs(const struct benchmark *old, const struct benchmark *new, double *old_units,
	double *new_units, size_t *ret_n)
{
	_cleanup_free_ double *a = reallocarray(NULL, old->n_values, sizeof(*a));
	_cleanup_free_ double *b = reallocarray(NULL, new->n_values, sizeof(*b));
	struct seeds seeds;
	size_t n = 0;

	if (!a || !b)
		return -ENOMEM;
	find_common_seeds(old, new, &seeds);
	for (size_t i = 0; i < seeds.n; i++) {
		size_t n_a = pick_units(old, old_units, seeds.items[i], a + n);
		size_t n_b = pick_units(new, new_units, seeds.items[i], b + n);

		n += MIN(n_a, n_b);
	}
	memcpy(old_units, a, n * sizeof(*a));
	memcpy(new_units, b, n * sizeof(*b));
	*ret_n = n;
	return 0;
}
