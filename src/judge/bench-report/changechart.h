/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The picture of one comparison, with the verdict as its title. From the left: the pairs in order,
 * or the runs where they were not measured in turn; how the estimate and its interval came about;
 * below them what was beside the runs; then both distributions on one axis, and the interval, with
 * the margin where there was one. On a narrow canvas they lie below each other, and on a small one
 * only what has room is there, the interval above all.
 *
 * What lies outside of an axis is marked at its edge and told in words.
 */
#ifndef QUIESCE_JUDGE_BENCH_REPORT_CHANGECHART_H
#define QUIESCE_JUDGE_BENCH_REPORT_CHANGECHART_H

#include <stddef.h>

#include "judge/bench-report/axis.h"
#include "judge/bench-report/change.h"
#include "judge/bench-report/chart.h"

/* The `series` of a spot that is a pair; of a run it is the side. */
#define CHANGE_SPOT_PAIR 2

struct change_chart_options {
	double width, height;
	bool with_title;
};

/* How many of the entries in order are not within their axis. */
struct change_beyond {
	size_t n_below, n_above;
};

/* ret_spots may be NULL; else it is malloc'd. -EINVAL when the canvas is smaller than
 * CHART_MIN_WIDTH x CHART_MIN_HEIGHT. */
int change_chart_draw(struct canvas *canvas, const struct change *change,
	const struct change_chart_options *options, struct change_beyond *ret_beyond,
	struct chart_spot **ret_spots, size_t *ret_n_spots);

/* The interval of a change, as a bar along a horizontal axis, with a dot at the estimate. */
struct interval_bar {
	double estimate, low, high;
	double runs_low, runs_high; /* a thicker part; NAN where there is none */
	struct color color;
};
void interval_bar_draw(
	struct canvas *canvas, const struct axis *axis, double y, const struct interval_bar *bar);
/* The dashed line of plot --margin, where there is one. */
void change_draw_gate(struct canvas *canvas, const struct change *change, const struct axis *axis,
	double top, double bottom);
/* The colour of a verdict. */
struct color change_verdict_color(const struct change *change);

#endif
