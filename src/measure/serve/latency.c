// SPDX-License-Identifier: GPL-2.0-or-later
#include <math.h>

#include "base/macro.h"
#include "measure/serve/latency.h"

enum {
	MANTISSA = 1 << LATENCY_MANTISSA_BITS,
	BEYOND_MIN = 10, /* requests behind a quantile */
};

/* Up to 2 * MANTISSA each duration has a class of its own; from there on the classes of each power
 * of two are twice as wide as those of the one before. */
static size_t class_of(int64_t ns)
{
	uint64_t value = (uint64_t)MAX(ns, (int64_t)0);
	int shift;

	value = MIN(value, (UINT64_C(1) << LATENCY_MAX_BITS) - 1);
	if (value < 2 * MANTISSA)
		return (size_t)value;
	shift = 63 - __builtin_clzll(value) - LATENCY_MANTISSA_BITS;
	return (size_t)shift * MANTISSA + (size_t)(value >> shift);
}

/* The longest duration of the class. */
static int64_t class_end(size_t class)
{
	size_t shift;

	if (class < (size_t)2 * MANTISSA)
		return (int64_t) class;
	shift = class / MANTISSA - 1;
	return (int64_t)((((uint64_t) class - shift * MANTISSA + 1) << shift) - 1);
}

void latency_add(struct latency *latency, int64_t ns)
{
	latency->counts[class_of(ns)]++;
	latency->n++;
	latency->max_ns = MAX(latency->max_ns, ns);
}

bool latency_quantile(const struct latency *latency, double quantile, int64_t *ret_ns)
{
	uint64_t rank = (uint64_t)ceil(quantile * (double)latency->n), seen = 0;

	if (rank + BEYOND_MIN > latency->n)
		return false;
	rank = MAX(rank, (uint64_t)1);
	for (size_t i = 0; i < LATENCY_CLASSES; i++) {
		seen += latency->counts[i];
		if (seen >= rank) {
			*ret_ns = MIN(class_end(i), latency->max_ns);
			return true;
		}
	}
	return false;
}
