// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "base/xalloc.h"
#include "judge/report/turns.h"
#include "judge/result/metadata.h"

/* The seed that all runs have in common; NULL if each run has its own, or if there is none. */
static const struct fact *find_seed(const struct benchmark *benchmark)
{
	const struct fact *fact = facts_find(&benchmark->metadata, "quiesce_order_seed");

	return fact && fact->type == FACT_INTEGER ? fact : NULL;
}

/* The number of stretches of runs that have one seed, or none. */
static size_t count_stretches(const struct benchmark *benchmark)
{
	return MAX(benchmark->series->n_sittings, (size_t)1);
}

/* Finds the index behind the last run of stretch `at`, and its seed in *ret; false where the
 * stretch has no seed. */
static bool get_stretch(
	const struct benchmark *benchmark, size_t at, size_t *ret_end, int64_t *ret_seed)
{
	const struct series *series = benchmark->series;
	const struct fact *fact = find_seed(benchmark);

	*ret_end = series->n_sittings > 0 ? series->sittings[at].end : series->n_samples;
	if (series->n_sittings > 0 && series->sittings[at].provenance.has_order_seed)
		*ret_seed = series->sittings[at].provenance.order_seed;
	else if (fact)
		*ret_seed = fact->integer;
	else
		return false;
	return true;
}

/* Values of a single run are not turns. Runs are, even if the chosen metric is not known for any of
 * them. */
static bool has_turns(const struct benchmark *benchmark)
{
	size_t n_unknown = 0;

	if (benchmark_units_are_runs(benchmark))
		return true;
	for (size_t i = 0; i < benchmark->series->n_samples; i++)
		n_unknown += benchmark->series->samples[i].left_out;
	return benchmark->n_values == 0 && n_unknown > 1;
}

/* The user may give the same seed to measurements on different days. */
static bool could_be_together(const struct benchmark *old, const struct benchmark *new)
{
	if (!has_turns(old) || !has_turns(new))
		return false;
	return !old->has_dates || !new->has_dates ||
		(old->first_date <= new->last_date &&new->first_date <= old->last_date);
}

/* Whether a stretch of runs before the one at `end` has this seed. */
static bool is_seen(const struct benchmark *benchmark, size_t end, int64_t wanted)
{
	size_t run_end;
	int64_t seed;

	for (size_t i = 0; i < end; i++)
		if (get_stretch(benchmark, i, &run_end, &seed) && seed == wanted)
			return true;
	return false;
}

bool turns_are_common(const struct benchmark *old, const struct benchmark *new)
{
	size_t end;
	int64_t seed;

	if (!could_be_together(old, new))
		return false;
	for (size_t i = 0; i < count_stretches(old); i++)
		if (get_stretch(old, i, &end, &seed) && is_seen(new, count_stretches(new), seed))
			return true;
	return false;
}

/* The unit of a run, and the numbers that its partner has too: the number of the stretch among
 * those with the seed, and the number of the run in it. */
struct turn {
	size_t stretch;
	size_t number;
	double unit;
};

/* Whether the run has a unit: benchmark_units() has no unit of a run that handed over no values. */
static bool has_unit(const struct benchmark *benchmark, size_t run)
{
	size_t first, n = 1;

	if (benchmark->runs)
		benchmark_run_values(benchmark, run, &first, &n);
	return sample_counts(&benchmark->series->samples[run]) && n > 0;
}

/* Whether the run has a turn, also without a unit: the program handed over no values, or the chosen
 * metric is not known for it. */
static bool takes_turn(const struct benchmark *benchmark, size_t run)
{
	return !benchmark->series->samples[run].warmup;
}

/* The runs of that seed that have a unit, in their order. */
static size_t list_turns(
	const struct benchmark *benchmark, const double *units, int64_t wanted, struct turn *ret)
{
	size_t n = 0, unit = 0, run = 0, stretch = 0, end;

	for (size_t i = 0; i < count_stretches(benchmark); i++) {
		int64_t seed;
		bool is_wanted = get_stretch(benchmark, i, &end, &seed) && seed == wanted;
		size_t number = 0;

		for (; run < end; run++) {
			if (benchmark->runs && benchmark->runs[run].has_turn)
				number = benchmark->runs[run].turn;
			if (has_unit(benchmark, run)) {
				if (is_wanted)
					ret[n++] = (struct turn){ stretch, number, units[unit] };
				unit++;
			}
			number += takes_turn(benchmark, run);
		}
		stretch += is_wanted;
	}
	return n;
}

static int compare_turns(const struct turn *a, const struct turn *b)
{
	if (a->stretch != b->stretch)
		return a->stretch < b->stretch ? -1 : 1;
	return (a->number > b->number) - (a->number < b->number);
}

/* Adds the units of turns that are in both lists, and returns their number. */
static size_t add_pairs(
	const struct turn *a, size_t n_a, const struct turn *b, size_t n_b, double *pairs)
{
	size_t n = 0;

	for (size_t i = 0, k = 0; i < n_a && k < n_b;) {
		int order = compare_turns(&a[i], &b[k]);

		if (order == 0) {
			pairs[2 * n] = a[i].unit;
			pairs[2 * n++ + 1] = b[k].unit;
		}
		i += order <= 0;
		k += order >= 0;
	}
	return n;
}

size_t turns_pick_pairs(const struct benchmark *old, const struct benchmark *new, double *old_units,
	double *new_units)
{
	size_t n_old = old->series->n_samples, n_new = new->series->n_samples;
	_cleanup_free_ struct turn *a = xptr(reallocarray(NULL, n_old, sizeof(*a)));
	_cleanup_free_ struct turn *b = xptr(reallocarray(NULL, n_new, sizeof(*b)));
	_cleanup_free_ double *pairs =
		xptr(reallocarray(NULL, MIN(n_old, n_new), 2 * sizeof(*pairs)));
	size_t n = 0, n_stretches, end;
	int64_t seed;

	n_stretches = could_be_together(old, new) ? count_stretches(old) : 0;
	for (size_t i = 0; i < n_stretches; i++) {
		if (!get_stretch(old, i, &end, &seed) || is_seen(old, i, seed))
			continue;
		n += add_pairs(a, list_turns(old, old_units, seed, a), b,
			list_turns(new, new_units, seed, b), pairs + 2 * n);
	}
	for (size_t i = 0; i < n; i++) {
		old_units[i] = pairs[2 * i];
		new_units[i] = pairs[2 * i + 1];
	}
	return n;
}

/* The part "VALUE" of a name such as "PROGRAM: VALUE"; NULL when the values are not of this
 * program. */
static const char *find_value_name(const struct benchmark *program, const struct benchmark *values)
{
	size_t n = strlen(program->name);

	return strncmp(values->name, program->name, n) == 0 &&
			strncmp(values->name + n, ": ", 2) == 0
		? values->name + n + 2
		: NULL;
}

/* The program that measured these values. If both "a" and "a: b" are programs, the values "a: b: c"
 * belong to the longer name. */
static const struct benchmark *find_program(
	struct benchmark *const *benchmarks, size_t n, const struct benchmark *values)
{
	const struct benchmark *found = NULL;

	for (size_t i = 0; i < n; i++) {
		if (benchmark_is_by_program(benchmarks[i]) ||
			!find_value_name(benchmarks[i], values))
			continue;
		if (!found || strlen(benchmarks[i]->name) > strlen(found->name))
			found = benchmarks[i];
	}
	return found;
}

const struct benchmark *turns_find_first(struct benchmark *const *benchmarks, size_t n,
	const struct benchmark *new, const struct benchmark **ret_old)
{
	const struct benchmark *program = new, *first = NULL;
	const char *name;

	if (benchmark_is_by_program(new))
		program = find_program(benchmarks, n, new);
	if (program && benchmark_is_control(program))
		return NULL;
	name = program ? facts_find_string(&program->metadata, METADATA_BASELINE) : NULL;
	for (size_t i = 0; program && i < n && !first; i++)
		if (!benchmark_is_by_program(benchmarks[i]) &&
			(!program->is_figure || benchmark_is_same_metric(benchmarks[i], program)) &&
			!benchmark_is_control(benchmarks[i]) &&
			(!name || metadata_equal_strings(benchmarks[i]->name, name)) &&
			turns_are_common(benchmarks[i], program))
			first = benchmarks[i];
	if (!first || first == program)
		return NULL;
	*ret_old = program == new ? first : NULL;
	for (size_t i = 0; program != new &&i < n; i++) {
		name = find_value_name(first, benchmarks[i]);
		if (name && benchmark_is_by_program(benchmarks[i]) &&
			strcmp(name, find_value_name(program, new)) == 0)
			*ret_old = benchmarks[i];
	}
	return first;
}
