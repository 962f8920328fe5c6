/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The private part of a sampler. */
#ifndef QUIESCE_LIBRARY_RING_H
#define QUIESCE_LIBRARY_RING_H

#include <stddef.h>
#include <stdint.h>

#include "library/clock.h"
#include "library/counters.h"
#include "library/private.h"
#include "quiesce/sampler.h"

enum {
	/* Bits of qs_sampler.outside. */
	OUTSIDE_CLOCK = 1 << 0,
	OUTSIDE_COUNTERS = 1 << 1,
	OUTSIDE_SUM = 1 << 2,
};

/* All regions since ring_begin_sum(), added up. */
struct ring_sum {
	uint64_t regions;
	uint64_t ticks;
	uint64_t counts[QS_MAX_COUNTERS];
	uint32_t cpu_begin; /* of the first region, as qs_sample.cpu_begin */
	uint32_t cpu_end;   /* of the last */
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

	int stamps; /* as qs_open_as() was called */
	struct clock clock;
	struct clock_pair opened;
	uint64_t clock_began; /* with OUTSIDE_CLOCK */
	double ns_per_tick;   /* 0 before it is known */
	int clock_changed;
	uint64_t resolution;
	uint64_t empty_min;
	uint64_t empty_median;
	double empty_mean;

	struct counters counters;
	uint64_t counts_began[QS_MAX_COUNTERS];
	uint64_t empty_counts[QS_MAX_COUNTERS];

	struct ring_sum sum; /* with OUTSIDE_SUM */
};

/* Samples an empty region, stamped only by CLOCK_MONOTONIC_RAW, as in a program with
 * QS_NO_COUNTER. */
void ring_sample_empty_by_clock(struct qs_sampler *sampler);

/*
 * Until ring_end_sum(), regions are added up after their end stamps instead of being kept: any
 * number of regions takes no memory and disturbs the caches no more than one sample.
 */
void ring_begin_sum(struct qs_sampler *sampler);
void ring_end_sum(struct qs_sampler *sampler, struct ring_sum *ret);

static inline struct ring *ring_of(struct qs_sampler *sampler)
{
	return (struct ring *)sampler;
}

static inline const struct ring *ring_of_const(const struct qs_sampler *sampler)
{
	return (const struct ring *)sampler;
}

#endif
