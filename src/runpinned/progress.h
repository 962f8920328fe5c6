/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The progress bar: one line on a terminal, redrawn between runs at most ten times a second, and
 * nothing at all where standard error is no terminal.
 */
#ifndef QUIESCE_RUNPINNED_PROGRESS_H
#define QUIESCE_RUNPINNED_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct progress {
	bool shown;
	bool drawn; /* something stands on the line */
	int64_t began_ns;
	int64_t drawn_ns;
};

void progress_begin(struct progress *progress, bool wanted);
/* done of total; what stands behind the bar, such as the newest value. */
void progress_draw(struct progress *progress, uint64_t done, uint64_t total, const char *note);
/* Clears the line, so that something else can be written. */
void progress_clear(struct progress *progress);

#endif
