/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What plot draws: benchmarks as curves, and which of them are one picture. What belongs together
 * is: benchmarks of one name in several files, and programs that runpinned measured in turn.
 */
#ifndef QUIESCE_BENCH_REPORT_PICTURE_H
#define QUIESCE_BENCH_REPORT_PICTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "bench-report/canvas.h"
#include "bench-report/chart.h"
#include "report/analysis.h"

/* A benchmark as it is drawn: an entry for each warm-up in front, then one for each value. */
struct curve {
	const char *file;
	const struct benchmark *benchmark;
	char *name; /* fit for a picture */
	double *values;
	double *temperature; /* degrees Celsius; NAN where unknown */
	double *frequency;   /* hertz; NAN where unknown */
	uint32_t *flags;
	size_t n;
	size_t n_warmups;
	struct analysis *analysis;
	struct levels levels; /* by value; items are ours */
};

struct picture {
	struct curve curves[CHART_MAX_SERIES];
	size_t n;
	char *title;
	char *subtitle;
	const char *what;	/* an entry is: "run" or "value" */
	struct chart_axes axes; /* known once it is drawn */
};

struct pictures {
	struct picture *items;
	size_t n;
};

void pictures_clear(struct pictures *pictures);
/* Adds a benchmark to the picture that it belongs into; one without values to none. Both are
 * borrowed. -E2BIG, which is said, when there are too many in it. */
int pictures_add(struct pictures *pictures, const char *file, const struct benchmark *benchmark);
/* Once all are added: entries, levels and words. */
int pictures_fill(struct pictures *pictures);

/* What a picture is written as. */
struct picture_format {
	const char *suffix; /* ".svg" */
	enum canvas_format canvas;
	bool page;	/* drawn into an HTML page */
	unsigned scale; /* pixels a point */
};

/* What was drawn, as JSON (plotjson.c). */
struct picture_sheet {
	const char *output;
	const struct picture_format *format;
	double width; /* in points */
	double height;
};
int pictures_emit(FILE *stream, const struct pictures *pictures, const struct picture_sheet *sheet);

#endif
