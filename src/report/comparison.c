// SPDX-License-Identifier: GPL-2.0-or-later
#include <math.h>
#include <stdlib.h>

#include "report/comparison.h"

void comparison_free(struct comparison *comparison)
{
	if (!comparison)
		return;
	free(comparison->unclear);
	for (size_t i = 0; i < comparison->n_differences; i++)
		free(comparison->differences[i]);
	free(comparison->differences);
	for (size_t i = 0; i < comparison->n_objections; i++)
		free(comparison->objections[i]);
	free(comparison->objections);
	free(comparison);
}

bool comparison_is_of_speed(const struct comparison *comparison)
{
	return unit_is_time(comparison->old->unit) && !comparison->old->metric;
}

bool comparison_is_of_machines(const struct comparison *comparison)
{
	return comparison->design == COMPARED_WITHIN_MACHINES ||
		comparison->design == COMPARED_BETWEEN_MACHINES;
}

bool comparison_is_of_results(const struct comparison *comparison)
{
	return comparison->design == COMPARED_RESULTS ||
		comparison->design == COMPARED_RESULTS_IN_SEQUENCE;
}

double comparison_geometric_mean(struct comparison *const *comparisons, size_t n, size_t *ret_n)
{
	double sum = 0;

	*ret_n = 0;
	for (size_t i = 0; i < n; i++) {
		double ratio = comparisons[i]->ratio.ratio;

		if (!isfinite(ratio) || !(ratio > 0))
			continue;
		sum += log(ratio);
		++*ret_n;
	}
	return *ret_n > 0 ? exp(sum / (double)*ret_n) : NAN;
}

static const char *const verdict_names[] = {
	[VERDICT_SAME] = "same",
	[VERDICT_FASTER] = "faster",
	[VERDICT_SLOWER] = "slower",
	[VERDICT_UNCLEAR] = "unclear",
};

const char *comparison_verdict_name(enum verdict verdict)
{
	return verdict_names[verdict];
}

const char *comparison_design_name(enum comparison_design design)
{
	static const char *const names[] = {
		[COMPARED_IN_SEQUENCE] = "in sequence",
		[COMPARED_IN_TURN] = "in turn",
		[COMPARED_BY_CONTROL] = "by a control",
		[COMPARED_RESULTS] = "results by turns",
		[COMPARED_RESULTS_IN_SEQUENCE] = "results in sequence",
		[COMPARED_WITHIN_MACHINES] = "within machines",
		[COMPARED_BETWEEN_MACHINES] = "between machines",
	};

	return names[design];
}
