// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "basic/macro.h"
#include "basic/text.h"
#include "basic/units.h"
#include "report/carryover.h"
#include "stats/inference.h"
#include "stats/shift.h"
#include "stats/stats.h"

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

/* The runs of a benchmark whose runs have one value each; 0 where one does not tell its start, or
 * has no logarithm. */
static size_t list_starts(const struct benchmark *benchmark, size_t side, struct start *ret)
{
	const struct series *series = benchmark->series;
	size_t n_values = 0;

	for (size_t i = 0; i < series->n_samples; i++) {
		const struct sample *sample = &series->samples[i];
		double value = NAN;

		if (!sample->warmup) {
			if (n_values >= benchmark->n_values)
				return 0;
			value = log(benchmark->values[n_values++]);
		}
		if (sample->start_ns < 0 || (!sample->warmup && !isfinite(value)))
			return 0;
		ret[i] =
			(struct start){ series->start_realtime_ns + sample->start_ns, side, value };
	}
	return n_values == benchmark->n_values ? series->n_samples : 0;
}

/* The runs of one program by the program that ran before them. */
struct after {
	double *values[2];
	size_t n[2];
};

/* Signed, positive where runs after NEW take longer. */
static int find_z(const struct after *after, double *ret)
{
	struct mann_whitney found;
	int r = mann_whitney_test(
		after->values[0], after->n[0], after->values[1], after->n[1], &found);

	if (r < 0)
		return r;
	/* A p of 1, of samples that are alike, has no quantile. */
	*ret = found.p < 1 ? student_quantile(1 - fmax(found.p, 1e-15), INFINITY) : 0;
	if (found.u < (double)after->n[0] * (double)after->n[1] / 2)
		*ret = -*ret;
	return 0;
}

static int judge(struct after after[2], struct carryover *ret)
{
	double z = 0, change = 0, part[2];

	for (size_t side = 0; side < 2; side++) {
		double *const *values = after[side].values, this_z;
		const size_t *n = after[side].n;
		int r;

		if (n[0] < AFTER_MIN || n[1] < AFTER_MIN)
			return 0;
		stats_sort(values[0], n[0]);
		stats_sort(values[1], n[1]);
		r = find_z(&after[side], &this_z);
		if (r < 0)
			return r;
		z += this_z;
		change += shift_estimate(values[0], n[0], values[1], n[1]) / 2;
		part[side] = (double)n[1] / (double)(n[0] + n[1]);
	}
	if (2 * normal_upper_tail(fabs(z) / sqrt(2)) <= CARRYOVER_SIGNIFICANCE)
		*ret = (struct carryover){ change, change * (part[1] - part[0]) };
	return 0;
}

/* Sorts out the runs by what came before them. *ret_values is their memory. 0 where the runs do not
 * tell when they began, else 1. */
static int find_after(const struct benchmark *old, const struct benchmark *new,
	const struct benchmark *others, size_t n_others, double **ret_values, struct after ret[2])
{
	_cleanup_free_ struct start *starts = NULL;
	_cleanup_free_ double *values = NULL;
	size_t n = old->series->n_samples + new->series->n_samples, at = 0;

	for (size_t i = 0; i < n_others; i++)
		n += others[i].series->n_samples;
	starts = reallocarray(NULL, MAX(n, (size_t)1), sizeof(*starts));
	values = reallocarray(NULL, MAX(n, (size_t)1), 4 * sizeof(*values));
	if (!starts || !values)
		return -ENOMEM;
	if (old->metric || new->metric)
		return 0;
	for (size_t side = 0; side < 2 + n_others; side++) {
		const struct benchmark *benchmark = side == 0 ? old
			: side == 1			      ? new
							      : &others[side - 2];
		size_t n_listed = list_starts(benchmark, side, starts + at);

		if (n_listed == 0)
			return 0;
		at += n_listed;
	}
	qsort(starts, n, sizeof(*starts), compare_starts);
	for (size_t side = 0; side < 2; side++)
		ret[side] = (struct after){
			.values = { values + 2 * side * n, values + (2 * side + 1) * n },
		};
	for (size_t i = 1; i < n; i++) {
		size_t side = starts[i].side, before = starts[i - 1].side;

		/* Which one came first is not known, as of dates in whole seconds. */
		if (starts[i].ns == starts[i - 1].ns)
			return 0;
		if (side < 2 && before < 2 && !isnan(starts[i].value))
			ret[side].values[before][ret[side].n[before]++] = starts[i].value;
	}
	*ret_values = TAKE_PTR(values);
	return 1;
}

/* Changes the values of the old program. */
static int compare_alone(struct after after[2], double limit, struct carryover_alone *ret)
{
	double *of_old = after[0].values[0], *of_new = after[1].values[1];
	size_t n_old = after[0].n[0], n_new = after[1].n[1];
	struct mann_whitney found;
	bool is_above;
	int r;

	*ret = (struct carryover_alone){ NAN, 1, 1 };
	if (n_old == 0 || n_new == 0)
		return 0;
	for (size_t i = 0; i < n_old; i++)
		of_old[i] += log(limit);
	stats_sort(of_old, n_old);
	stats_sort(of_new, n_new);
	r = mann_whitney_test(of_old, n_old, of_new, n_new, &found);
	if (r < 0)
		return r;
	is_above = found.u > (double)n_old * (double)n_new / 2;
	*ret = (struct carryover_alone){
		.ratio = limit * exp(shift_estimate(of_old, n_old, of_new, n_new)),
		.p_above = is_above ? found.p / 2 : 1 - found.p / 2,
		.p_below = is_above ? 1 - found.p / 2 : found.p / 2,
	};
	return 0;
}

int carryover_find(const struct benchmark *old, const struct benchmark *new,
	const struct benchmark *others, size_t n_others, double limit, struct carryover *ret,
	struct carryover_alone *ret_alone)
{
	_cleanup_free_ double *values = NULL;
	struct after after[2];
	int r = find_after(old, new, others, n_others, &values, after);

	if (r < 0)
		return r;
	*ret = (struct carryover){ 0 };
	if (r == 0)
		return 0;
	r = judge(after, ret);
	if (r >= 0 && ret_alone)
		r = compare_alone(after, limit, ret_alone);
	return r < 0 ? r : 1;
}

bool carryover_explains(
	const struct carryover *carryover, double bound, double limit, bool is_above)
{
	/* Its size is known to a factor of about 2. */
	double most = 2 * carryover->bias, far = log(bound / limit);

	return is_above ? most > 0 && far <= most : most < 0 && far >= most;
}

void carryover_append(struct text *t, double change, const char *old, const char *new)
{
	char text[UNITS_TEXT_SIZE];

	text_appendf(t, "a run takes %s longer after one of %s",
		units_format_percent(expm1(fabs(change)), text), change > 0 ? new : old);
}
