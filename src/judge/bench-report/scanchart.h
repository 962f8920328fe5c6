/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One picture of a scan: the medians over the parameter, with their intervals, and the growth that
 * fits them best. An axis on which the numbers differ by a factor of ten or more is logarithmic. */
#ifndef QUIESCE_JUDGE_BENCH_REPORT_SCANCHART_H
#define QUIESCE_JUDGE_BENCH_REPORT_SCANCHART_H

#include "judge/bench-report/canvas.h"
#include "judge/bench-report/scancurve.h"

/* -EINVAL when the canvas is smaller than CHART_MIN_WIDTH x CHART_MIN_HEIGHT. */
int scan_chart_draw(struct canvas *canvas, double width, double height, const char *title,
	const struct scan *scan);

#endif
