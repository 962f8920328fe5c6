// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "base/xalloc.h"
#include "judge/bench-report/forestchart.h"
#include "judge/bench-report/latencychart.h"
#include "judge/bench-report/scanchart.h"
#include "judge/bench-report/view.h"

enum {
	POINT_NAME_SIZE = 32,
	DAY = 10,    /* "2026-11-20" */
	COMMIT = 10, /* as many letters of it as tell it apart here */
};

struct view *views_add(struct views *views, enum view_kind kind, char *title)
{
	views->items = xptr(reallocarray(views->items, views->n + 1, sizeof(*views->items)));
	views->items[views->n] = (struct view){ .kind = kind, .title = title };
	return &views->items[views->n++];
}

void views_clear(struct views *views)
{
	for (size_t i = 0; i < views->n; i++)
		free(views->items[i].title);
	free(views->items);
	*views = (struct views){ 0 };
}

void drawing_clear(struct drawing *drawing)
{
	free(drawing->data);
	free(drawing->spots);
	*drawing = (struct drawing){ 0 };
}

double view_height(const struct view *view)
{
	return view->kind == VIEW_FOREST ? forest_chart_height(view->changes) : 0;
}

/* --- The pictures of charts --- */

static const char *remark_on(const struct benchmark *benchmark)
{
	return benchmark_is_gain(benchmark) ? "more is better" : NULL;
}

static int draw_samples(struct canvas *canvas, struct view *view, double width, double height,
	const char *title, struct chart_spot **ret_spots, size_t *ret_n_spots)
{
	struct picture *picture = view->picture;
	struct chart_series series[CHART_MAX_SERIES];
	struct chart_options options = {
		.width = width,
		.height = height,
		.title = title,
		.subtitle = picture->subtitle,
		.unit = picture->curves[0].benchmark->unit,
		.remark = remark_on(picture->curves[0].benchmark),
		.what = picture->what,
	};

	for (size_t i = 0; i < picture->n; i++) {
		const struct curve *curve = &picture->curves[i];

		series[i] = (struct chart_series){
			.name = curve->name,
			.values = curve->values,
			.causes = curve->causes,
			.n = curve->n,
			.n_warmups = curve->n_warmups,
			.levels = &curve->levels,
		};
		for (size_t row = 0; row < CHART_MAX_ROWS; row++)
			series[i].rows[row] = curve->rows[row];
	}
	return chart_draw(
		canvas, series, picture->n, &options, &picture->axes, ret_spots, ret_n_spots);
}

/* "2026-11-20 5dff0352a1" */
static char *name_point(const struct trend_point *point)
{
	return xformat("%.*s%s%.*s", DAY, point->date, point->commit && *point->date ? " " : "",
		COMMIT, point->commit ? point->commit : "");
}

/* A history is a series whose entries are results, and whose changes have the names of these. */
static int draw_trend(struct canvas *canvas, struct view *view, double width, double height,
	const char *title, struct chart_spot **ret_spots, size_t *ret_n_spots)
{
	const struct trend *trend = view->trend;
	_cleanup_free_ double *values = xptr(calloc(trend->n, sizeof(*values)));
	_cleanup_free_ char **names = xptr(calloc(trend->n, sizeof(*names)));
	struct chart_series series = {
		.name = trend->name,
		.values = values,
		.names = (const char *const *)names,
		.n = trend->n,
		.levels = trend->levels,
	};
	const struct chart_options options = {
		.width = width,
		.height = height,
		.title = title,
		.unit = trend->unit,
		.remark = remark_on(trend->points[0].benchmark),
		.what = "result",
	};
	struct chart_axes axes = { 0 };
	int r;

	for (size_t i = 0; i < trend->n; i++) {
		values[i] = trend->points[i].value;
		names[i] = name_point(&trend->points[i]);
	}
	r = chart_draw(canvas, &series, 1, &options, &axes, ret_spots, ret_n_spots);
	view->beyond = (struct change_beyond){ axes.n_below, axes.n_above };
	for (size_t i = 0; i < trend->n; i++)
		free(names[i]);
	return r;
}

int view_draw(struct canvas *canvas, struct view *view, double width, double height,
	bool with_title, struct chart_spot **ret_spots, size_t *ret_n_spots)
{
	const struct change_chart_options options = { width, height, with_title };
	const char *title = with_title ? view->title : NULL;

	if (ret_spots) {
		*ret_spots = NULL;
		*ret_n_spots = 0;
	}
	switch (view->kind) {
	case VIEW_SCAN:
		return scan_chart_draw(canvas, width, height, title, view->scan);
	case VIEW_FOREST:
		return forest_chart_draw(canvas, view->changes, width, height, title);
	case VIEW_CHANGE:
		return change_chart_draw(
			canvas, view->change, &options, &view->beyond, ret_spots, ret_n_spots);
	case VIEW_TREND:
		return draw_trend(canvas, view, width, height, title, ret_spots, ret_n_spots);
	case VIEW_LATENCY:
		return latency_chart_draw(canvas, width, height, title, view->latencies);
	default:
		return draw_samples(canvas, view, width, height, title, ret_spots, ret_n_spots);
	}
}
