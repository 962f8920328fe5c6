/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One picture of one or several series. It shows the samples in the order of the runs, with marks
 * at those that were disturbed; beside them their histogram with the same scale; and below them
 * rows with what was beside each run, such as the temperature, if known. Series
 * are drawn over each other, in colours that people with any kind of colour vision can tell apart
 * (ink.c).
 *
 * If there are more samples than points in the width, each column of points shows the minimum, the
 * quartiles and the maximum of its samples.
 */
#ifndef QUIESCE_JUDGE_BENCH_REPORT_CHART_H
#define QUIESCE_JUDGE_BENCH_REPORT_CHART_H

#include <stddef.h>
#include <stdint.h>

#include "base/units.h"
#include "judge/bench-report/canvas.h"
#include "judge/result/runfact.h"
#include "judge/stats/level.h"

#define CHART_MAX_SERIES INK_N_SERIES

/* The rows below the samples are the facts that have a strip (judge/result/runfact.h), by its rank.
 * There are not more than this. */
#define CHART_MAX_ROWS 8

/* These facts. Returns how many. */
size_t chart_list_rows(const struct run_fact *ret[static RUN_FACTS_MAX]);

/* Widens the range of the values of a row, so that there is room around them. */
void chart_widen_row(const struct run_strip *strip, double *low, double *high);

struct chart_series {
	const char *name;
	/* Arrays of n entries in the order of the runs, warm-ups first. All but `values` may be
	 * NULL. */
	const double *values;
	const uint32_t *causes; /* enum sample_flag: what disturbed the run; 0: nothing */
	const double *rows[CHART_MAX_ROWS]; /* NAN when unknown */
	const char *const *names;	    /* what a change of level that begins there is called */
	size_t n;
	size_t n_warmups;
	/* The levels of the values without warm-ups, which are drawn with their changes; or
	 * NULL. */
	const struct levels *levels;
};

struct chart_options {
	double width; /* size of the canvas, in points */
	double height;
	const char *title;	 /* or NULL */
	const char *subtitle;	 /* or NULL */
	const struct unit *unit; /* the unit of all values */
	const char *remark;	 /* of the values, "more is better"; or NULL */
	const char *what;	 /* what an entry is, for example "run" */
};

/* The range of an axis; low == high when there is no such axis. */
struct chart_axis {
	double low;
	double high;
};

/* The axes of a picture. */
struct chart_axes {
	/* Numbers of entries: the first one that counts is 1, and the last warm-up is 0. */
	struct chart_axis order;
	/* Entries outside of this range are marked at the edge of the panel. */
	struct chart_axis value;
	struct chart_axis rows[CHART_MAX_ROWS];
	size_t n_below; /* entries that count and are below the range of `value` */
	size_t n_above;
};

/* Where a sample was drawn, so that a viewer can show more about it. */
struct chart_spot {
	struct point at;
	size_t series;
	size_t index;
};

/* The smallest canvas that has room for all parts of a chart, in points. */
#define CHART_MIN_WIDTH 320
#define CHART_MIN_HEIGHT 200

/*
 * Draws the series. ret_axes and ret_spots may be NULL. ret_spots is malloc'd: one spot for each
 * sample that was drawn as a point of its own. -EINVAL without a series, with more than
 * CHART_MAX_SERIES, when a series has no run that counts, or when the canvas is too small; -EDOM
 * when a value is not finite.
 */
int chart_draw(struct canvas *canvas, const struct chart_series *series, size_t n_series,
	const struct chart_options *options, struct chart_axes *ret_axes,
	struct chart_spot **ret_spots, size_t *ret_n_spots);

#endif
