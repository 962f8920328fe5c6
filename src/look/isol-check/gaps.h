/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Gaps in the readings of a loop that only reads the clock: when two readings differ by more than
 * the loop takes, something else had the CPU. Times are in nanoseconds.
 *
 * All gaps are counted; the first GAPS_KEPT_MAX are also stored one by one. No function here makes
 * a system call, and only gaps_new() and gaps_free() touch memory for the first time, so that the
 * measurement causes no page faults.
 */
#ifndef QUIESCE_LOOK_ISOL_CHECK_GAPS_H
#define QUIESCE_LOOK_ISOL_CHECK_GAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "base/macro.h"

enum {
	/* Bin k has the gaps of at least 2^k us and less than 2^(k+1) us; the last bin also has all
	 * longer ones (a second and more). */
	GAPS_BINS = 21,
	GAPS_KEPT_MAX = 16384,
	/* How many readings measure the step of the loop. */
	GAPS_CALIBRATION = 4096,
	/* The threshold is at least this, because a cache miss is no disturbance... */
	GAPS_SHORTEST_NS = 1000,
	/* ... and at least so many steps. */
	GAPS_STEPS_MIN = 10,
};

struct gap {
	int64_t at; /* since `began` */
	int64_t length;
};

struct gaps {
	int64_t step;	   /* the time of one turn of the loop, as a median */
	int64_t threshold; /* the length from which on a difference is a gap */

	int64_t began;
	int64_t ended;
	uint64_t n_readings;
	uint64_t n_backwards; /* readings that were earlier than the previous one */

	uint64_t n;
	int64_t total; /* of all gaps, each without one step */
	struct gap longest;
	uint64_t bins[GAPS_BINS];

	struct gap *kept; /* the first gaps, in their order */
	size_t n_kept;
	uint64_t n_dropped; /* gaps that were counted, but are not in `kept` */
};

/* All its memory is touched already. */
struct gaps *gaps_new(void);
void gaps_free(struct gaps *gaps);
DEFINE_CLEANUP(gaps, gaps_free);

/* Sets the step and the threshold from GAPS_CALIBRATION differences of readings. Sorts the
 * differences.
 */
void gaps_calibrate(struct gaps *gaps, int64_t *differences);

/* Adds a gap that ended now. */
void gaps_add(struct gaps *gaps, int64_t now, int64_t length);

/* Judges a reading of the clock; `last` is the previous one. */
static inline void gaps_read(struct gaps *gaps, int64_t last, int64_t now)
{
	if (__builtin_expect(now - last >= gaps->threshold, 0))
		gaps_add(gaps, now, now - last);
	else if (__builtin_expect(now < last, 0))
		gaps->n_backwards++;
}

/* The share of all gaps in the measured time, 0 to 1; 0 if no time was measured. */
double gaps_share(const struct gaps *gaps);
double gaps_per_second(const struct gaps *gaps);
/* The lower limit of a bin, in microseconds. */
uint64_t gaps_bin_us(size_t bin);

#endif
