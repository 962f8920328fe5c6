/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How long requests took, over the quantiles: each further ten-fold of rarer requests is as far
 * away as the one before, so that the tail has the room that it needs. */
#ifndef QUIESCE_JUDGE_BENCH_REPORT_LATENCYCHART_H
#define QUIESCE_JUDGE_BENCH_REPORT_LATENCYCHART_H

#include "judge/bench-report/canvas.h"
#include "judge/bench-report/latency.h"

/* -EINVAL when the canvas is smaller than CHART_MIN_WIDTH x CHART_MIN_HEIGHT. */
int latency_chart_draw(struct canvas *canvas, double width, double height, const char *title,
	const struct latencies *latencies);

#endif
