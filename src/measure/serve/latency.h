/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Durations of many requests, counted in classes. A class is at most 1/1024 of its durations wide,
 * so that a quantile is right to 0.1 %, whatever the number of requests: memory does not grow while
 * a service is under load, and a count touches one word.
 */
#ifndef QUIESCE_MEASURE_SERVE_LATENCY_H
#define QUIESCE_MEASURE_SERVE_LATENCY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LATENCY_MANTISSA_BITS 10
#define LATENCY_MAX_BITS 44 /* 2^44 ns, more than four hours: what is longer counts as that */
#define LATENCY_CLASSES \
	((LATENCY_MAX_BITS - LATENCY_MANTISSA_BITS + 1) * (1 << LATENCY_MANTISSA_BITS))

/* All zero is empty. */
struct latency {
	uint64_t n;
	int64_t max_ns;
	uint64_t counts[LATENCY_CLASSES];
};

void latency_add(struct latency *latency, int64_t ns);
/*
 * The shortest duration that the part `quantile` of all requests does not exceed, in ns: the upper
 * end of its class, or the longest duration if that is less. False where fewer than ten requests
 * took longer, because chance alone decides such a quantile.
 */
bool latency_quantile(const struct latency *latency, double quantile, int64_t *ret_ns);

#endif
