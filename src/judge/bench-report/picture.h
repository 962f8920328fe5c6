/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Samples as plot draws them: benchmarks as curves, and which of them go into the same picture.
 * These are benchmarks of the same name in several files, and programs that runpinned ran in turn,
 * if their medians are not many times each other.
 */
#ifndef QUIESCE_JUDGE_BENCH_REPORT_PICTURE_H
#define QUIESCE_JUDGE_BENCH_REPORT_PICTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "judge/bench-report/canvas.h"
#include "judge/bench-report/chart.h"
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

/* The same with an entry for each unit, of which conclusions are drawn (benchmark_units()), and
 * without levels. `file`, `benchmark` and `name` are set. */
int curve_fill_units(struct curve *curve);
void curve_clear(struct curve *curve);
/* The machine, as its metadata describe it, malloc'd. */
char *benchmark_subtitle(const struct benchmark *benchmark);

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
/* Adds a benchmark to the picture that it belongs to, or to another one where that is full. A
 * benchmark without values is ignored. `file` and `benchmark` are borrowed. */
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

#endif
