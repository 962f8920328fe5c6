// SPDX-License-Identifier: GPL-2.0-or-later
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/macro.h"
#include "base/xalloc.h"
#include "judge/stats/esd.h"
#include "judge/stats/inference.h"

/*
 * The probability that one of the tests finds something by chance. Rosner takes it as the
 * probability for all tests together, because with many values all tests nearly always find
 * something in the same sets. With few values they do not: of 20,000 sets of 6 to 40 normal values,
 * 5.4 to 8.9 % had an outlier. With the levels here it is 4.2 to 5.4 %.
 */
static double choose_level(size_t n)
{
	/* There is only one test. */
	if (n < 6)
		return 0.05;
	return n < 20 ? 0.028 : n < 40 ? 0.038 : 0.05;
}

/* The largest deviation from the mean, in standard deviations, that n values have by chance. */
static double find_limit(size_t n, double level)
{
	double t = student_quantile(1 - level / (double)n, (double)(n - 2));

	return (double)(n - 1) * t / sqrt(((double)(n - 2) + t * t) * (double)n);
}

/* The value that is farthest from the mean of the remaining values, and its distance. SIZE_MAX
 * where all remaining values are equal. */
static size_t find_farthest(
	const double *values, size_t n, const bool *gone, size_t *ret_left, double *ret_far)
{
	double mean = 0, squares = 0, far = 0;
	size_t left = 0, found = SIZE_MAX;

	for (size_t i = 0; i < n; i++) {
		double delta = values[i] - mean;

		if (gone[i])
			continue;
		mean += delta / (double)++left;
		squares += delta * (values[i] - mean);
	}
	for (size_t i = 0; i < n; i++) {
		if (gone[i] || !(fabs(values[i] - mean) > far))
			continue;
		far = fabs(values[i] - mean);
		found = i;
	}
	*ret_left = left;
	*ret_far = squares > 0 ? far / sqrt(squares / (double)(left - 1)) : 0;
	return squares > 0 ? found : SIZE_MAX;
}

void esd_find(const double *values, size_t n, bool *ret_odd)
{
	_cleanup_free_ bool *gone = xptr(calloc(MAX(n, (size_t)1), sizeof(*gone)));
	_cleanup_free_ size_t *order = xptr(calloc(MAX(n, (size_t)1), sizeof(*order)));
	size_t known = 0, n_gone = 0, n_odd = 0;

	for (size_t i = 0; i < n; i++) {
		ret_odd[i] = false;
		gone[i] = isnan(values[i]);
		known += !gone[i];
	}
	if (known < ESD_MIN)
		return;
	/* If a value is beyond its limit, all values that were removed before it are odd too, even
	 * if none was beyond its own limit: outliers hide each other. */
	while (n_gone < MAX(known / 3, (size_t)1)) {
		size_t left;
		double far;
		size_t at = find_farthest(values, n, gone, &left, &far);

		if (at == SIZE_MAX || left < ESD_MIN)
			break;
		gone[at] = true;
		order[n_gone++] = at;
		if (far > find_limit(left, choose_level(known)))
			n_odd = n_gone;
	}
	for (size_t i = 0; i < n_odd; i++)
		ret_odd[order[i]] = true;
}
