// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "judge/bench-report/axis.h"
#include "judge/bench-report/scanchart.h"

enum {
	MARGIN = 12,
	LABEL_ROOM = 64, /* the least width left of the panel */
	LABEL_GAP = 5,
	X_LABEL_ROOM = 34,
	STEPS = 200, /* of the line of the growth */
};

struct scan_chart {
	struct canvas *canvas;
	const struct scan *scan;
	const struct unit *unit;
	double size; /* of the texts */
	double width;
	struct axis x, y;
};

static void draw_x_axis(const struct scan_chart *chart)
{
	double marks[AXIS_MARKS_MAX], bottom = chart->y.begin;
	int decimals;
	double end = -INFINITY; /* the end of the previous label, which must not be hidden */
	size_t n = axis_find_marks(
		&chart->x, 1, (size_t)(chart->x.length / (chart->size * 6)), marks, &decimals);

	for (size_t i = 0; i < n; i++) {
		double at = axis_place(&chart->x, marks[i]);
		char label[64];
		double half;

		if (chart->x.is_log)
			snprintf(label, sizeof(label), "%g", marks[i]);
		else
			snprintf(label, sizeof(label), "%.*f", decimals, marks[i]);
		canvas_draw_line(chart->canvas, (struct point){ at, bottom },
			(struct point){ at, bottom + chart->y.length }, 0.8, 0,
			ink_color(INK_GRID));
		half = canvas_text_width(chart->canvas, chart->size, false, label) / 2;
		if (at - half < end + 4)
			continue;
		end = at + half;
		canvas_draw_text(chart->canvas, (struct point){ at, bottom + chart->size * 1.3 },
			CANVAS_CENTER, chart->size, false, ink_color(INK_LABEL), label);
	}
	canvas_draw_text(chart->canvas,
		(struct point){ chart->x.begin + chart->x.length / 2, bottom + chart->size * 2.7 },
		CANVAS_CENTER, chart->size, false, ink_color(INK_TEXT), chart->scan->parameter);
}

static size_t find_y_marks(
	const struct scan_chart *chart, double ret[AXIS_MARKS_MAX], int *ret_decimals)
{
	struct scale scale = scale_choose_unit(chart->unit, chart->y.high);

	return axis_find_marks(
		&chart->y, scale.factor, (size_t)(-chart->y.length / 28), ret, ret_decimals);
}

static const char *format_y_mark(
	const struct scan_chart *chart, double mark, int decimals, char buf[static UNITS_TEXT_SIZE])
{
	bool is_log = chart->y.is_log;
	struct scale scale = scale_choose_unit(chart->unit, is_log ? mark : chart->y.high);

	if (!is_log) {
		scale.decimals = decimals;
	} else if (chart->unit != &unit_byte) {
		/* A mark has one digit that is not 0, but a round number of bytes in KiB has
		 * more. */
		scale.decimals = 0;
		scale = scale_resolve(scale, mark);
	}
	return scale_format(scale, mark, buf);
}

/* The width of what stands left of the panel, which keeps at least half of the canvas. */
static double find_label_room(const struct scan_chart *chart)
{
	double marks[AXIS_MARKS_MAX], widest = 0;
	int decimals;
	size_t n = find_y_marks(chart, marks, &decimals);

	for (size_t i = 0; i < n; i++) {
		char label[UNITS_TEXT_SIZE];

		format_y_mark(chart, marks[i], decimals, label);
		widest = MAX(widest, canvas_text_width(chart->canvas, chart->size, false, label));
	}
	return MAX(MIN(widest + LABEL_GAP, chart->width / 2 - MARGIN), (double)LABEL_ROOM);
}

static void draw_y_axis(const struct scan_chart *chart)
{
	double marks[AXIS_MARKS_MAX];
	double end = INFINITY;
	int decimals;
	size_t n = find_y_marks(chart, marks, &decimals);

	for (size_t i = 0; i < n; i++) {
		double at = axis_place(&chart->y, marks[i]);
		char label[UNITS_TEXT_SIZE];

		canvas_draw_line(chart->canvas, (struct point){ chart->x.begin, at },
			(struct point){ chart->x.begin + chart->x.length, at }, 0.8, 0,
			ink_color(INK_GRID));
		if (at + chart->size > end)
			continue;
		end = at;
		canvas_draw_text(chart->canvas,
			(struct point){ chart->x.begin - LABEL_GAP, at + chart->size * 0.35 },
			CANVAS_RIGHT, chart->size, false, ink_color(INK_LABEL),
			format_y_mark(chart, marks[i], decimals, label));
	}
}

static void draw_growth(
	const struct scan_chart *chart, const struct scan_curve *curve, struct color color)
{
	struct point points[STEPS];
	double first = curve->points[0].x, last = curve->points[curve->n - 1].x;

	if (!curve->growth.known)
		return;
	for (size_t i = 0; i < STEPS; i++) {
		double part = (double)i / (STEPS - 1);
		double x = chart->x.is_log ? first * pow(last / first, part)
					   : first + (last - first) * part;
		double y = growth_predict(&curve->growth.best, x);

		points[i] = (struct point){ axis_place(&chart->x, x),
			y > 0 || !chart->y.is_log ? axis_place(&chart->y, y) : NAN };
	}
	color.alpha = 0.6;
	canvas_draw_path(chart->canvas, points, STEPS, 1.3, color);
}

static void draw_curve(
	const struct scan_chart *chart, const struct scan_curve *curve, struct color color)
{
	draw_growth(chart, curve, color);
	for (size_t i = 0; i < curve->n; i++) {
		const struct scan_point *point = &curve->points[i];
		double x = axis_place(&chart->x, point->x);

		if (!isnan(point->low))
			canvas_draw_line(chart->canvas,
				(struct point){ x, axis_place(&chart->y, point->low) },
				(struct point){ x, axis_place(&chart->y, point->high) }, 1.6, 0,
				color);
		canvas_fill_circle(chart->canvas,
			(struct point){ x, axis_place(&chart->y, point->median) }, 3.2, color);
	}
}

/* "sort/n={n}: 1.2 us + 3.4 ns * n log n (...)", a line for each curve. */
static void draw_legend(const struct scan_chart *chart, double y)
{
	for (size_t i = 0; i < chart->scan->n; i++, y += chart->size * 1.5) {
		const struct scan_curve *curve = &chart->scan->curves[i];
		_cleanup_free_ char *growth = scan_growth_text(chart->scan, curve);
		_cleanup_free_ char *name = xptr(text_escape_control(curve->name));
		_cleanup_free_ char *line = xformat("%s%s%s", name, *growth ? ": " : "", growth);
		char fitting[CANVAS_FITTING_SIZE];

		canvas_draw_key(chart->canvas, (struct point){ MARGIN, y }, chart->size,
			ink_of_series(i),
			canvas_fit_text(chart->canvas, chart->size, false, line,
				chart->width - 2 * MARGIN - CANVAS_KEY_ROOM * chart->size,
				fitting));
	}
}

static void find_range(const struct scan *scan, double x[2], double y[2])
{
	x[0] = y[0] = INFINITY;
	x[1] = y[1] = -INFINITY;
	for (size_t i = 0; i < scan->n; i++) {
		for (size_t k = 0; k < scan->curves[i].n; k++) {
			const struct scan_point *point = &scan->curves[i].points[k];

			x[0] = MIN(x[0], point->x);
			x[1] = MAX(x[1], point->x);
			y[0] = MIN(y[0], isnan(point->low) ? point->median : point->low);
			y[1] = MAX(y[1], isnan(point->high) ? point->median : point->high);
		}
	}
}

int scan_chart_draw(struct canvas *canvas, double width, double height, const char *title,
	const struct scan *scan)
{
	struct scan_chart chart = {
		.canvas = canvas,
		.scan = scan,
		.width = width,
		.unit = scan->curves[0].points[0].benchmark->unit,
		.size = width < 560 || height < 340 ? 8.5 : 10.5,
	};
	double x[2], y[2], left, top = MARGIN + chart.size, bottom;

	if (width < CHART_MIN_WIDTH || height < CHART_MIN_HEIGHT)
		return -EINVAL;
	if (title) {
		canvas_draw_fitting(canvas, (struct point){ MARGIN, top + 3 }, CANVAS_LEFT,
			chart.size * 1.4, true, ink_color(INK_TEXT), title, width - 2 * MARGIN);
		top += chart.size * 2.2;
	}
	draw_legend(&chart, top);
	top += chart.size * 1.5 * (double)scan->n;
	bottom = height - X_LABEL_ROOM - MARGIN / 2.0;
	find_range(scan, x, y);
	/* From the bottom upwards. */
	chart.y = axis_make(y[0], y[1], bottom, MIN(top - bottom, -1.0));
	left = MARGIN + find_label_room(&chart);
	chart.x = axis_make(x[0], x[1], left, width - left - MARGIN);
	canvas_fill_rectangle(
		canvas, left, top, chart.x.length, bottom - top, ink_color(INK_SHADE));
	draw_x_axis(&chart);
	draw_y_axis(&chart);
	canvas_clip(canvas, left, top, chart.x.length, bottom - top);
	for (size_t i = 0; i < scan->n; i++)
		draw_curve(&chart, &scan->curves[i], ink_of_series(i));
	canvas_unclip(canvas);
	return 0;
}
