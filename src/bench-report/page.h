/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An HTML page of pictures, for a browser: one file that needs no other. Each sample says what it
 * is when it is pointed at, and below each picture stand its figures, what speaks against them, and
 * the machine.
 */
#ifndef QUIESCE_BENCH_REPORT_PAGE_H
#define QUIESCE_BENCH_REPORT_PAGE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "bench-report/chart.h"
#include "report/analysis.h"

struct drawing {
	double width; /* in points */
	double height;
	const char *what; /* an entry is, as in chart_options */
	char *data;	  /* SVG */
	size_t size;
	struct chart_spot *spots;
	size_t n_spots;
};
void drawing_clear(struct drawing *drawing);

/* What a curve of the picture shows; a chart_series, and what it is of. */
struct page_curve {
	const char *name;
	const struct benchmark *benchmark;
	const struct analysis *analysis;
	const double *values;
	const uint32_t *flags;
	const double *temperature;
	const double *frequency;
	size_t n_warmups;
};

/* What cannot be written shows in the stream. */
void page_begin(FILE *stream);
/* 0 or -ENOMEM. */
int page_add(FILE *stream, const char *title, const struct page_curve *curves, size_t n,
	const struct drawing *drawing);
void page_end(FILE *stream);

#endif
