/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The private part of a sampler. */
#ifndef QUIESCE_SAMPLER_RING_H
#define QUIESCE_SAMPLER_RING_H

#include <stddef.h>
#include <stdint.h>

#include "quiesce/sampler.h"
#include "sampler/clock.h"
#include "sampler/counters.h"

enum {
	/* Bits of qs_sampler.outside. */
	OUTSIDE_CLOCK = 1 << 0,
	OUTSIDE_COUNTERS = 1 << 1,
};

/* Begins the mapping that also contains the samples, so that everything is touched and locked
 * together. */
struct ring {
	struct qs_sampler sampler;
	size_t mapped; /* bytes */
	struct qs_sample *first;
	size_t capacity;
	int lock_error;
	int cpu_known;	      /* qs_end() can tell the CPU */
	uint32_t cpu_unknown; /* sampler.cpu points here where it cannot */

	struct clock clock;
	struct clock_pair opened;
	uint64_t clock_began; /* with OUTSIDE_CLOCK */
	double ns_per_tick;   /* 0 before it is known */
	int clock_changed;
	uint64_t resolution;
	uint64_t empty_min;
	uint64_t empty_median;

	struct counters counters;
	uint64_t counts_began[QS_MAX_COUNTERS];
	uint64_t empty_counts[QS_MAX_COUNTERS];
};

/* Samples an empty region, stamped only by CLOCK_MONOTONIC_RAW, as in a program with
 * QS_NO_COUNTER. */
void ring_sample_empty_by_clock(struct qs_sampler *sampler);

static inline struct ring *ring_of(struct qs_sampler *sampler)
{
	return (struct ring *)sampler;
}

static inline const struct ring *ring_of_const(const struct qs_sampler *sampler)
{
	return (const struct ring *)sampler;
}

#endif
