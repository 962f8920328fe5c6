/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Many comparisons in one picture (a forest plot): a line for each, with its name, the change and
 * its interval on an axis that all of them share, and the verdict in words. Each change is a part
 * of its own old value, so that benchmarks of any magnitude can share the axis. Intervals that are
 * far wider than most run out of it; the numbers beside them are whole.
 */
#ifndef QUIESCE_JUDGE_BENCH_REPORT_FORESTCHART_H
#define QUIESCE_JUDGE_BENCH_REPORT_FORESTCHART_H

#include "judge/bench-report/change.h"

/* "3 of 12 slower, 1 faster", malloc'd. */
char *forest_title(const struct changes *changes);
/* The height that has room for all lines. */
double forest_chart_height(const struct changes *changes);
/* What has no room at the end is told by how many there are. -EINVAL when the canvas is smaller
 * than CHART_MIN_WIDTH x CHART_MIN_HEIGHT. */
int forest_chart_draw(struct canvas *canvas, const struct changes *changes, double width,
	double height, const char *title);

#endif
