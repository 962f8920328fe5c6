/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The progress bar: one line on a terminal, redrawn between runs at most ten times a second.
 * Nothing is drawn when standard error is not a terminal.
 */
#ifndef QUIESCE_MEASURE_PROGRESS_H
#define QUIESCE_MEASURE_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct progress {
	bool shown;
	bool drawn; /* the line is not empty */
	int64_t began_ns;
	int64_t drawn_ns;
};

void progress_begin(struct progress *progress, bool wanted);
/* How long everything takes at least and at most, whatever the number of runs says, in seconds. */
struct progress_box {
	double least;
	double most; /* INFINITY when there is no limit */
};

/* How many seconds are left, when `done` of `total` runs took `elapsed` seconds, done > 0. */
double progress_estimate(
	uint64_t done, uint64_t total, double elapsed, const struct progress_box *box);
/* `note` is printed behind the bar, for example the newest value. */
void progress_draw(struct progress *progress, uint64_t done, uint64_t total,
	const struct progress_box *box, const char *note);
/* Clears the line, so that other output can follow. */
void progress_clear(struct progress *progress);

#endif
