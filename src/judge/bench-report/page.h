/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An HTML page with pictures, for a browser. The page is a single file that needs no others. When
 * the mouse points at a sample, the page tells about that sample. Below each picture are its
 * figures, the concerns, and a description of the machine.
 */
#ifndef QUIESCE_JUDGE_BENCH_REPORT_PAGE_H
#define QUIESCE_JUDGE_BENCH_REPORT_PAGE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "judge/bench-report/chart.h"
#include "judge/report/analysis.h"

struct drawing {
	double width; /* in points */
	double height;
	const char *what; /* what an entry is, as in chart_options */
	char *data;	  /* SVG */
	size_t size;
	struct chart_spot *spots;
	size_t n_spots;
};
void drawing_clear(struct drawing *drawing);

/* A curve of the picture: the same as a chart_series, and the benchmark that it belongs to. */
struct page_curve {
	const char *name;
	const struct benchmark *benchmark;
	const struct analysis *analysis;
	const double *values;
	const size_t *runs;  /* the run of each entry */
	double *const *rows; /* those of chart.h */
	size_t n_warmups;
};

/* Write errors are found with ferror(3). */
void page_begin(FILE *stream);
void page_add(FILE *stream, const char *title, const struct page_curve *curves, size_t n,
	const struct drawing *drawing);
void page_end(FILE *stream);

#endif
