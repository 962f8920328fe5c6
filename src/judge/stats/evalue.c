// SPDX-License-Identifier: GPL-2.0-or-later
#include <float.h>
#include <math.h>

#include "base/macro.h"
#include "judge/stats/evalue.h"

/* Small stakes win against a coin that is nearly fair, in the long run; large ones win quickly
 * against a coin that nearly always shows heads. */
static const double stakes[] = { .02, .05, .1, .17, .27, .4, .55, .7, .85, .97 };

double sign_evalue(size_t k, size_t n)
{
	const size_t n_stakes = ARRAY_SIZE(stakes);
	double sum = 0;

	for (size_t i = 0; i < n_stakes; i++)
		sum += exp((double)k * log1p(stakes[i]) + (double)(n - k) * log1p(-stakes[i]));
	return MIN(sum / (double)n_stakes, DBL_MAX);
}

size_t sign_evalue_least(size_t n, double wanted)
{
	size_t low = 0, high = n + 1;

	/* e(k, n) grows with k, because each of its terms does. */
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (sign_evalue(middle, n) >= wanted)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}
