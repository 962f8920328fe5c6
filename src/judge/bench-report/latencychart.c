// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/macro.h"
#include "base/units.h"
#include "base/xalloc.h"
#include "judge/bench-report/axis.h"
#include "judge/bench-report/chart.h"
#include "judge/bench-report/latencychart.h"

enum {
	MARGIN = 12,
};

struct latency_chart {
	struct canvas *canvas;
	const struct latencies *latencies;
	double width, size;
	struct axis_panel panel;
	struct axis x, y;
	struct axis_style style;
};

/* Along the axis: 0.3 for the median, 2 for p99. */
static double rarity(const struct latency_point *point)
{
	return -log10(point->beyond);
}

/* A mark at each quantile that some program has, with its name. */
static void draw_quantiles(const struct latency_chart *chart)
{
	double bottom = chart->panel.y + chart->panel.height, end = -INFINITY;
	double last = -INFINITY;

	for (;;) {
		const struct latency_point *next = NULL;
		char name[LATENCY_NAME_SIZE];
		double x, half;

		for (size_t i = 0; i < chart->latencies->n; i++)
			for (size_t k = 0; k < chart->latencies->curves[i].n; k++) {
				const struct latency_point *point =
					&chart->latencies->curves[i].points[k];

				if (rarity(point) > last + 1e-9 &&
					(!next || rarity(point) < rarity(next)))
					next = point;
			}
		if (!next)
			return;
		last = rarity(next);
		x = axis_place(&chart->x, last);
		canvas_draw_line(chart->canvas, (struct point){ x, chart->panel.y },
			(struct point){ x, bottom }, 0.8, 0, ink_color(INK_GRID));
		half = canvas_text_width(
			       chart->canvas, chart->size, false, latency_point_name(next, name)) /
			2;
		if (x - half < end + 4)
			continue;
		end = x + half;
		canvas_draw_text(chart->canvas, (struct point){ x, bottom + chart->size * 1.3 },
			CANVAS_CENTER, chart->size, false, ink_color(INK_LABEL), name);
	}
}

static void draw_curve(
	const struct latency_chart *chart, const struct latency_curve *curve, struct color color)
{
	_cleanup_free_ struct point *points =
		xptr(calloc(MAX(curve->n, (size_t)1), sizeof(*points)));

	for (size_t i = 0; i < curve->n; i++) {
		const struct latency_point *point = &curve->points[i];
		double x = axis_place(&chart->x, rarity(point));

		points[i] = (struct point){ x, axis_place(&chart->y, point->value) };
		if (!isnan(point->low))
			canvas_draw_line(chart->canvas,
				(struct point){ x, axis_place(&chart->y, point->low) },
				(struct point){ x, axis_place(&chart->y, point->high) }, 3, 0,
				with_alpha(color, 0.5));
	}
	canvas_draw_path(chart->canvas, points, curve->n, 1.8, color);
	for (size_t i = 0; i < curve->n; i++)
		canvas_fill_circle(chart->canvas, points[i], 3.2, color);
}

static double draw_legend(const struct latency_chart *chart, double top)
{
	for (size_t i = 0; i < chart->latencies->n; i++) {
		char fitting[CANVAS_FITTING_SIZE];

		canvas_draw_key(chart->canvas, (struct point){ MARGIN, top }, chart->size,
			ink_of_series(i),
			canvas_fit_text(chart->canvas, chart->size, false,
				chart->latencies->curves[i].name,
				chart->width - 2 * MARGIN - CANVAS_KEY_ROOM * chart->size,
				fitting));
		top += chart->size * 1.5;
	}
	return top - chart->size * 0.5;
}

static void find_ranges(const struct latencies *latencies, double x[2], double y[2])
{
	x[0] = y[0] = INFINITY;
	x[1] = y[1] = -INFINITY;
	for (size_t i = 0; i < latencies->n; i++)
		for (size_t k = 0; k < latencies->curves[i].n; k++) {
			const struct latency_point *point = &latencies->curves[i].points[k];

			x[0] = MIN(x[0], rarity(point));
			x[1] = MAX(x[1], rarity(point));
			y[0] = MIN(y[0], isnan(point->low) ? point->value : point->low);
			y[1] = MAX(y[1], isnan(point->high) ? point->value : point->high);
		}
}

int latency_chart_draw(struct canvas *canvas, double width, double height, const char *title,
	const struct latencies *latencies)
{
	struct latency_chart chart = {
		.canvas = canvas,
		.latencies = latencies,
		.width = width,
		.size = width < 560 || height < 340 ? 8.5 : 11,
	};
	char name[UNITS_TEXT_SIZE];
	double x[2], y[2], top = MARGIN + chart.size, left, bottom;
	struct scale scale;

	if (width < CHART_MIN_WIDTH || height < CHART_MIN_HEIGHT)
		return -EINVAL;
	if (title) {
		canvas_draw_fitting(canvas, (struct point){ MARGIN, top + 3 }, CANVAS_LEFT,
			chart.size * 1.36, true, ink_color(INK_TEXT), title, width - 2 * MARGIN);
		top += chart.size * 2.2;
	}
	find_ranges(latencies, x, y);
	scale = scale_choose_unit(UNIT_SECOND, y[1]);
	chart.style = (struct axis_style){ .factor = scale.factor, .size = chart.size };
	top = draw_legend(&chart, top) + chart.size * 1.2;
	snprintf(name, sizeof(name), "%s; of p99, 1 of 100 requests took longer", scale.unit);
	canvas_draw_text(canvas, (struct point){ MARGIN, top }, CANVAS_LEFT, chart.size, false,
		ink_color(INK_TEXT), name);
	top += chart.size * 0.6;
	bottom = height - chart.size * 1.7 - MARGIN / 2.0;
	chart.y = axis_make(y[0], y[1], bottom, MIN(top - bottom, -1.0));
	left = MARGIN + axis_label_width(canvas, &chart.y, &chart.style) + AXIS_LABEL_GAP;
	chart.x = axis_make_linear(x[0], x[1], left, width - left - MARGIN);
	chart.panel = (struct axis_panel){ left, top, chart.x.length, bottom - top };
	canvas_fill_rectangle(
		canvas, left, top, chart.x.length, bottom - top, ink_color(INK_SHADE));
	axis_draw_left(canvas, &chart.y, &chart.panel, &chart.style);
	draw_quantiles(&chart);
	for (size_t i = 0; i < latencies->n; i++)
		draw_curve(&chart, &latencies->curves[i], ink_of_series(i));
	return 0;
}
