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

int carryover_find(const struct benchmark *old, const struct benchmark *new, struct carryover *ret)
{
	size_t n_old = old->series->n_samples, n_new = new->series->n_samples, n = n_old + n_new;
	_cleanup_free_ struct start *starts =
		reallocarray(NULL, MAX(n, (size_t)1), sizeof(*starts));
	_cleanup_free_ double *values = reallocarray(NULL, MAX(n, (size_t)1), 4 * sizeof(*values));
	struct after after[2];

	if (!starts || !values)
		return -ENOMEM;
	*ret = (struct carryover){ 0 };
	if (old->metric || new->metric || list_starts(old, 0, starts) == 0 ||
		list_starts(new, 1, starts + n_old) == 0)
		return 0;
	qsort(starts, n, sizeof(*starts), compare_starts);
	for (size_t side = 0; side < 2; side++)
		after[side] = (struct after){
			.values = { values + 2 * side * n, values + (2 * side + 1) * n },
		};
	for (size_t i = 1; i < n; i++) {
		struct after *of = &after[starts[i].side];
		size_t before = starts[i - 1].side;

		/* Which one came first is not known, as of dates in whole seconds. */
		if (starts[i].ns == starts[i - 1].ns)
			return 0;
		if (!isnan(starts[i].value))
			of->values[before][of->n[before]++] = starts[i].value;
	}
	return judge(after, ret);
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
