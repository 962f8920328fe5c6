/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One picture of one or several series: the samples in the order of the runs with flagged ones
 * marked, their histogram at the side on the same scale, and below them the temperature and the
 * frequency beside each run where they are known. Series lie over each other in colours that
 * people with any colour vision can tell apart (Okabe and Ito 2008).
 *
 * More samples than there are points across are drawn as what a column holds: from its minimum to
 * its maximum, and its inner half.
 */
#ifndef QUIESCE_BENCH_REPORT_CHART_H
#define QUIESCE_BENCH_REPORT_CHART_H

#include <stddef.h>
#include <stdint.h>

#include "basic/units.h"
#include "bench-report/canvas.h"
#include "stats/level.h"

#define CHART_MAX_SERIES 8

struct chart_series {
	const char *name;
	/* n entries each, in the order of the runs, the warm-ups in front; all but values may be
	 * NULL. */
	const double *values;
	const uint32_t *flags;	   /* enum sample_flag */
	const double *temperature; /* degrees Celsius; NAN where unknown */
	const double *frequency;   /* hertz; NAN where unknown */
	size_t n;
	size_t n_warmups;
	/* Of the values without warm-ups, or NULL: the levels are drawn, and where they change. */
	const struct levels *levels;
};

struct chart_options {
	double width; /* of the canvas, in points */
	double height;
	const char *title;    /* or NULL */
	const char *subtitle; /* or NULL */
	enum unit unit;	      /* of all values */
	const char *what;     /* an entry is: "run" */
};

/* What an axis reaches over; low == high: it is not there. */
struct chart_axis {
	double low;
	double high;
};

/* What the axes of a picture show. */
struct chart_axes {
	/* In entries: the first that counts is 1, and warm-ups end at 0. */
	struct chart_axis order;
	struct chart_axis value; /* entries beyond it are marked at its edge */
	struct chart_axis temperature;
	struct chart_axis frequency;
	size_t n_below; /* entries that count and lie beyond the value's axis */
	size_t n_above;
};

/* Where a sample was drawn, so that a viewer can say more about it. */
struct chart_spot {
	struct point at;
	size_t series;
	size_t index;
};

/* The smallest canvas on which everything has its place, in points. */
#define CHART_MIN_WIDTH 320
#define CHART_MIN_HEIGHT 200

/*
 * Draws them. ret_axes and ret_spots may be NULL; ret_spots is malloc'd: one spot for each sample
 * that was drawn by itself. -EINVAL without a series, with more than CHART_MAX_SERIES, one without
 * a run that counts, or a canvas that is too small; -EDOM when a value is not finite.
 */
int chart_draw(struct canvas *canvas, const struct chart_series *series, size_t n_series,
	const struct chart_options *options, struct chart_axes *ret_axes,
	struct chart_spot **ret_spots, size_t *ret_n_spots);

/* The colour of the series of that index, as SVG and CSS write it: "#0073b3". */
#define CHART_COLOR_SIZE 8
const char *chart_color(size_t series, char buf[static CHART_COLOR_SIZE]);

#endif
