/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What plot draws: benchmarks as curves, and which of them go into the same picture. These are
 * benchmarks of the same name in several files, and programs that runpinned ran in turn.
 */
#ifndef QUIESCE_JUDGE_BENCH_REPORT_PICTURE_H
#define QUIESCE_JUDGE_BENCH_REPORT_PICTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "judge/bench-report/canvas.h"
#include "judge/bench-report/chart.h"
#include "judge/bench-report/scancurve.h"
#include "judge/report/analysis.h"

/* A benchmark as it is drawn: first an entry for each warm-up, then one for each value. */
struct curve {
	const char *file;
	const struct benchmark *benchmark;
	char *name; /* escaped, as it is printed in the picture */
	double *values;
	double *rows[CHART_MAX_ROWS]; /* NAN when unknown */
	uint32_t *causes;	      /* the flags that disturbed the run of the entry */
	size_t *runs;		      /* the run of the entry */
	size_t n;
	size_t n_warmups;
	struct analysis *analysis;
	struct levels levels; /* the levels of the values; the items are allocated here */
};

struct picture {
	struct curve curves[CHART_MAX_SERIES];
	size_t n;
	char *title;
	char *subtitle;
	const char *what;	/* what an entry is: "run" or "value" */
	struct chart_axes axes; /* set when the picture is drawn */
};

struct pictures {
	struct picture *items;
	size_t n;
};

void pictures_clear(struct pictures *pictures);
/* Adds a benchmark to the picture that it belongs to. A benchmark without values is ignored. `file`
 * and `benchmark` are borrowed. -E2BIG, after saying so, when the picture has too many of them. */
int pictures_add(struct pictures *pictures, const char *file, const struct benchmark *benchmark);
/* To be called once all benchmarks have been added: fills in the entries, levels and texts. */
int pictures_fill(struct pictures *pictures);

/* A file format of pictures. */
struct picture_format {
	const char *suffix; /* ".svg" */
	enum canvas_format canvas;
	bool page;	/* the picture is put into an HTML page */
	unsigned scale; /* pixels for each point */
};

/* The output of plot: its file, format and size. */
struct picture_sheet {
	const char *output;
	const struct picture_format *format;
	double width; /* in points */
	double height;
};
/* What is in a picture of a scan. */
int scan_emit(FILE *stream, const struct scan *scan, const struct picture_sheet *sheet);
int pictures_emit(FILE *stream, const struct pictures *pictures, const struct picture_sheet *sheet);

#endif
