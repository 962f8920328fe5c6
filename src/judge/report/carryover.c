// SPDX-License-Identifier: GPL-2.0-or-later
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/macro.h"
#include "base/text.h"
#include "base/units.h"
#include "base/xalloc.h"
#include "judge/report/carryover.h"
#include "judge/stats/inference.h"
#include "judge/stats/shift.h"
#include "judge/stats/stats.h"

enum {
	AFTER_MIN = 2, /* runs of a program after each of the two */
};

struct start {
	int64_t ns;
	size_t side;
	double value; /* NAN: a warm-up, which only comes before others */
};

static int compare_starts(const void *a, const void *b)
{
	int64_t x = ((const struct start *)a)->ns, y = ((const struct start *)b)->ns;

	return (x > y) - (x < y);
}

/* Whether the run has the next value. A chosen metric may not be known for it, which then only
 * comes before others, like a warm-up. */
static bool has_value(const struct benchmark *benchmark, size_t run)
{
	size_t first, n = 1;

	if (benchmark->runs)
		benchmark_run_values(benchmark, run, &first, &n);
	return sample_counts(&benchmark->series->samples[run]) && n > 0;
}

/* The runs of a benchmark whose runs have one value each; 0 where one does not tell its start, or
 * has no logarithm. */
static size_t list_starts(const struct benchmark *benchmark, size_t side, struct start *ret)
{
	const struct series *series = benchmark->series;
	size_t n_values = 0;

	for (size_t i = 0; i < series->n_samples; i++) {
		const struct sample *sample = &series->samples[i];
		bool has = has_value(benchmark, i);
		double value = NAN;

		if (has) {
			if (n_values >= benchmark->n_values)
				return 0;
			value = log(benchmark->values[n_values++]);
		}
		if (sample->start_ns < 0 || (has && !isfinite(value)))
			return 0;
		ret[i] =
			(struct start){ series->start_realtime_ns + sample->start_ns, side, value };
	}
	return n_values == benchmark->n_values ? series->n_samples : 0;
}

/* The runs of one program by the program that ran before them: OLD, NEW, or any but the other one
 * of the two. */
struct after {
	double *values[2];
	size_t n[2];
	double *alone;
	size_t n_alone;
};

/* Signed, positive where runs after NEW take longer. */
static double find_z(const struct after *after)
{
	struct mann_whitney found;
	double z;

	/* A p of 1, of samples that are alike, has no quantile. */
	if (mann_whitney_test(
		    after->values[0], after->n[0], after->values[1], after->n[1], &found) < 0 ||
		!(found.p < 1))
		return 0;
	z = student_quantile(1 - fmax(found.p, 1e-15), INFINITY);
	return found.u < (double)after->n[0] * (double)after->n[1] / 2 ? -z : z;
}

static void compare_orders(struct after after[2], struct carryover *ret)
{
	double z = 0, change = 0, part[2];

	for (size_t side = 0; side < 2; side++) {
		double *const *values = after[side].values;
		const size_t *n = after[side].n;

		if (n[0] < AFTER_MIN || n[1] < AFTER_MIN)
			return;
		z += find_z(&after[side]);
		change += shift_estimate(values[0], n[0], values[1], n[1]) / 2;
		part[side] = (double)n[1] / (double)(n[0] + n[1]);
	}
	ret->change = change;
	ret->bias = change * (part[1] - part[0]);
	ret->p = 2 * normal_upper_tail(fabs(z) / sqrt(2));
}

/* Sorts out the runs by what came before them. *ret_values is their memory. Whether the runs tell
 * when they began. */
static bool find_after(const struct benchmark *old, const struct benchmark *new,
	const struct benchmark *const *others, size_t n_others, double **ret_values,
	struct after ret[2])
{
	_cleanup_free_ struct start *starts = NULL;
	double *values;
	size_t n = old->series->n_samples + new->series->n_samples, at = 0;

	for (size_t i = 0; i < n_others; i++)
		n += others[i]->series->n_samples;
	/* What a program leaves behind slows the next one down, or lowers its figures. */
	if (old->metric && old->better == BETTER_UNKNOWN)
		return false;
	starts = xptr(reallocarray(NULL, MAX(n, (size_t)1), sizeof(*starts)));
	*ret_values = values = xptr(reallocarray(NULL, MAX(n, (size_t)1), 6 * sizeof(*values)));
	for (size_t side = 0; side < 2 + n_others; side++) {
		const struct benchmark *benchmark = side == 0 ? old
			: side == 1			      ? new
							      : others[side - 2];
		size_t n_listed = list_starts(benchmark, side, starts + at);

		if (n_listed == 0)
			return false;
		at += n_listed;
	}
	qsort(starts, n, sizeof(*starts), compare_starts);
	for (size_t side = 0; side < 2; side++)
		ret[side] = (struct after){
			.values = { values + 3 * side * n, values + (3 * side + 1) * n },
			.alone = values + (3 * side + 2) * n,
		};
	for (size_t i = 1; i < n; i++) {
		size_t side = starts[i].side, before = starts[i - 1].side;

		/* Which one came first is not known, as of dates in whole seconds. */
		if (starts[i].ns == starts[i - 1].ns)
			return false;
		if (side >= 2 || isnan(starts[i].value))
			continue;
		if (before < 2)
			ret[side].values[before][ret[side].n[before]++] = starts[i].value;
		if (before == side || before >= 2)
			ret[side].alone[ret[side].n_alone++] = starts[i].value;
	}
	return true;
}

void carryover_clear(struct carryover *carryover)
{
	shift_test_free(TAKE_PTR(carryover->alone));
}

void carryover_find(const struct benchmark *old, const struct benchmark *new,
	const struct benchmark *const *others, size_t n_others, struct carryover *ret)
{
	struct carryover found = { .p = 1, .alone_change = NAN };
	_cleanup_free_ double *values = NULL;
	struct after after[2];

	found.is_known = find_after(old, new, others, n_others, &values, after);
	for (size_t side = 0; found.is_known && side < 2; side++) {
		for (size_t i = 0; i < 2; i++)
			stats_sort(after[side].values[i], after[side].n[i]);
		stats_sort(after[side].alone, after[side].n_alone);
	}
	if (found.is_known)
		compare_orders(after, &found);
	if (found.is_known && after[0].n_alone > 0 && after[1].n_alone > 0) {
		found.alone_change = shift_estimate(
			after[0].alone, after[0].n_alone, after[1].alone, after[1].n_alone);
		(void)shift_test_of_samples(after[0].alone, after[0].n_alone, after[1].alone,
			after[1].n_alone, &found.alone);
	}
	*ret = found;
}

bool carryover_is_found(const struct carryover *carryover)
{
	return carryover->p <= CARRYOVER_SIGNIFICANCE;
}

double carryover_alone_p(const struct carryover *carryover, double limit, bool is_above)
{
	double d = log(limit), p;

	if (!carryover->alone || !isfinite(d))
		return 1;
	p = shift_test_p(carryover->alone, d);
	return (carryover->alone_change > d) == is_above ? p / 2 : 1 - p / 2;
}

bool carryover_explains(
	const struct carryover *carryover, double level, double bound, double limit, bool is_above)
{
	/* Its size is known to a factor of about 2, and all of it may be one program's. */
	double most = 4 * fabs(carryover->change), far = fabs(log(bound / limit));

	return carryover->p <= 2 * level &&
		(is_above ? carryover->bias > 0 : carryover->bias < 0) && far <= most;
}

bool carryover_may_be_all(
	const struct carryover *carryover, double bound, double limit, bool is_above)
{
	if (carryover_alone_p(carryover, limit, is_above) <= CARRYOVER_ALONE)
		return false;
	return carryover_alone_p(carryover, bound, !is_above) <= CARRYOVER_ALONE ||
		carryover_explains(carryover, CARRYOVER_ALONE, bound, limit, is_above);
}

void carryover_append(
	struct text *t, double change, bool is_speed, const char *old, const char *new)
{
	char text[UNITS_TEXT_SIZE];

	text_appendf(t,
		is_speed ? "a run takes %s longer after one of %s"
			 : "it is %s higher in a run after one of %s",
		units_format_percent(expm1(fabs(change)), text), change > 0 ? new : old);
}
