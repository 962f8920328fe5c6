/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Gaps in the time of a program that does nothing but read the clock: where two readings lie
 * further apart than the loop between them takes, somebody else had the CPU. Times are nanoseconds.
 *
 * All numbers are counted on the way, whatever their number; besides, the gaps themselves are kept
 * as long as there is room for them. Nothing here is a system call, and nothing but gaps_new() and
 * gaps_free() touches memory that was not touched before.
 */
#ifndef QUIESCE_ISOL_CHECK_GAPS_H
#define QUIESCE_ISOL_CHECK_GAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "basic/cleanup.h"
#include "basic/macro.h"

enum {
	/* Bin k holds gaps of 2^k us and longer, below 2^(k+1) us; the last one all that are
	 * longer (a second). */
	GAPS_BINS = 21,
	GAPS_KEPT_MAX = 16384,
	/* Readings by which the loop is measured. */
	GAPS_CALIBRATION = 4096,
	/* No gap is shorter: a cache miss is no disturbance. */
	GAPS_SHORTEST_NS = 1000,
	/* Of the step of the loop. */
	GAPS_STEPS_MIN = 10,
};

struct gap {
	int64_t at; /* from the beginning */
	int64_t length;
};

struct gaps {
	/* What the loop takes by itself, by its median, and from what length on it is a gap. */
	int64_t step;
	int64_t threshold;

	int64_t began;
	int64_t ended;
	uint64_t n_readings;
	uint64_t n_backwards; /* readings that were earlier than those before them */

	uint64_t n;
	int64_t total; /* of all gaps, without the step that is in each */
	struct gap longest;
	uint64_t bins[GAPS_BINS];

	struct gap *kept; /* the first ones, in their order */
	size_t n_kept;
	uint64_t n_dropped; /* counted, and not kept */
};

/* With its memory touched. -ENOMEM. */
int gaps_new(struct gaps **ret);
void gaps_free(struct gaps *gaps);
DEFINE_CLEANUP(gaps, gaps_free);

/* Sets the step and the threshold by GAPS_CALIBRATION differences of readings, which are sorted. */
void gaps_calibrate(struct gaps *gaps, int64_t *differences);

/* Takes a gap in, which ended now. */
void gaps_add(struct gaps *gaps, int64_t now, int64_t length);

/* Takes a reading in; `last` is the one before it. */
static inline void gaps_read(struct gaps *gaps, int64_t last, int64_t now)
{
	if (__builtin_expect(now - last >= gaps->threshold, 0))
		gaps_add(gaps, now, now - last);
	else if (__builtin_expect(now < last, 0))
		gaps->n_backwards++;
}

/* Of the time that was measured, 0 to 1; 0 for no time at all. */
double gaps_share(const struct gaps *gaps);
double gaps_per_second(const struct gaps *gaps);
/* The shortest gap that a bin holds, in microseconds. */
uint64_t gaps_bin_us(size_t bin);

#endif
