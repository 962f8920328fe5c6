/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An HTML page of views, for a browser: a single file that needs no others and no script, in the
 * colours of a light or a dark theme. Each view is a section with its picture and its figures.
 * Below the samples stands each run with what is known of it, where the points of all pictures
 * lead, then the concerns, and a description of the machine.
 */
#ifndef QUIESCE_JUDGE_BENCH_REPORT_PAGE_H
#define QUIESCE_JUDGE_BENCH_REPORT_PAGE_H

#include <stddef.h>
#include <stdio.h>

#include "judge/bench-report/view.h"

/* Write errors are found with ferror(3). */
void page_begin(FILE *stream, const struct views *views);
/* The section of a view. `wide` and `narrow` are its picture for either width of a window. */
int page_add(FILE *stream, const struct views *views, size_t at, const struct drawing *wide,
	const struct drawing *narrow);
void page_end(FILE *stream);

#endif
