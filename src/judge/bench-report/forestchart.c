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
#include "judge/bench-report/changechart.h"
#include "judge/bench-report/forestchart.h"
#include "judge/report/sense.h"
#include "judge/report/wording.h"
#include "judge/stats/stats.h"

enum {
	MARGIN = 12,
	ROW = 22,
	HEAD = 46,
	TITLE_LINES = 2,
};

/* The largest part of the width that the verdicts have. */
#define TEXT_PART 0.36

struct forest {
	struct canvas *canvas;
	const struct changes *changes;
	double width, size;
	struct axis_panel panel;
	struct axis axis;
	struct axis_style style;
	double name_room, text_room;
	size_t n_shown;
	bool is_short; /* the verdicts are without intervals, for which there is no room */
};

/* --- The words --- */

/* "3 of 12 slower", and ", 1 faster" behind it; nothing where there is none. */
static void append_count(
	struct text *t, size_t count, size_t n, const char *before, const char *after)
{
	if (count == 0)
		return;
	text_append(t, t->length > 0 ? ", " : "");
	if (t->length == 0)
		text_appendf(t, "%s%zu of %zu%s", before, count, n, after);
	else
		text_appendf(t, "%s%zu%s", before, count, after);
}

char *forest_title(const struct changes *changes)
{
	size_t n_worse = 0, n_better = 0, n_unclear = 0, n_failed = 0, n_open = 0, n = changes->n;
	bool of_speed = true;
	double percent = NAN;
	struct text t = { 0 };

	for (size_t i = 0; i < n; i++) {
		const struct change *change = &changes->items[i];

		n_worse += change_verdict(change) == VERDICT_SLOWER;
		n_better += change_verdict(change) == VERDICT_FASTER;
		n_unclear += change_verdict(change) == VERDICT_UNCLEAR;
		n_failed += change->gate == GATE_FAILS;
		n_open += change->gate == GATE_UNCLEAR;
		percent = change->gate_percent;
		of_speed = of_speed && comparison_is_of_speed(change->comparison);
	}
	append_count(&t, n_worse, n, "", of_speed ? " slower" : " worse");
	append_count(&t, n_better, n, "", of_speed ? " faster" : " better");
	append_count(&t, n - n_worse - n_better - n_unclear, n, "no difference found in ", "");
	append_count(&t, n_unclear, n, "unclear in ", "");
	if (isnan(percent))
		return xptr(text_steal(&t));
	if (n_failed > 0)
		text_appendf(&t, "; %zu fail%s a gate of %g %%", n_failed, n_failed == 1 ? "s" : "",
			percent);
	if (n_open > 0)
		text_appendf(&t, "; %zu unclear for a gate of %g %%", n_open, percent);
	if (n_failed + n_open == 0)
		text_appendf(&t, "; all pass a gate of %g %%", percent);
	return xptr(text_steal(&t));
}

/* "+4.8 % (+4.4 % .. +5.2 %), slower", malloc'd; `is_short`: without the interval. */
static char *make_verdict(const struct change *change, bool is_short)
{
	const struct comparison *c = change->comparison;
	struct comparison shown = change_to_show(change);
	char both[COMPARISON_BOTH_SIZE];
	struct text t = { 0 };

	if (change->is_decided) {
		text_appendf(&t, "%s, %s", units_format_change(change->change, both),
			decision_verdict_name(change->decision.verdict));
	} else {
		text_appendf(&t, "%s, ",
			is_short ? comparison_format_change(&shown, both)
				 : comparison_format_both(&shown, both));
		comparison_append_verdict(&t, c);
	}
	return xptr(text_steal(&t));
}

/* The width of the longest of them. */
static double find_verdict_width(const struct forest *forest, bool is_short)
{
	double widest = 0;

	for (size_t i = 0; i < forest->changes->n; i++) {
		_cleanup_free_ char *verdict = make_verdict(&forest->changes->items[i], is_short);

		widest = MAX(
			widest, canvas_text_width(forest->canvas, forest->size, false, verdict));
	}
	return widest;
}

/* --- The axis --- */

/* The quantile of the absolute ends of the intervals; infinite ends count as the largest. */
static double find_reach(const struct changes *changes)
{
	_cleanup_free_ double *ends = xptr(calloc(2 * changes->n, sizeof(*ends)));
	double farthest = 0.001, reach;
	size_t n = 0;

	for (size_t i = 0; i < changes->n; i++) {
		const struct change *change = &changes->items[i];
		double end = MAX(fabs(change->low), fabs(change->high));

		if (change->is_difference)
			continue;
		if (isfinite(change->change))
			farthest = MAX(farthest, fabs(change->change));
		if (isfinite(end))
			ends[n++] = end;
	}
	if (n == 0)
		return farthest;
	stats_sort(ends, n);
	/* Twice that has all but those that are far wider than most; and an estimate is shown, if
	 * it is not very far away. */
	reach = MIN(ends[n - 1], 2 * stats_percentile(ends, n, 0.8));
	return MAX(reach, MIN(farthest, 4 * reach));
}

static void place(struct forest *forest, double top)
{
	double reach = find_reach(forest->changes), low = 0, high = 0;

	for (size_t i = 0; i < forest->changes->n; i++) {
		const struct change *change = &forest->changes->items[i];
		_cleanup_free_ char *title = pairs_title(forest->changes->pairs, i);

		forest->name_room = MAX(forest->name_room,
			canvas_text_width(forest->canvas, forest->size, false, title));
		if (change->is_difference)
			continue;
		low = MIN(low, MAX(isnan(change->low) ? change->change : change->low, -reach));
		high = MAX(high, MIN(isnan(change->high) ? change->change : change->high, reach));
		if (!isnan(change->gate_at)) {
			low = MIN(low, change->gate_at);
			high = MAX(high, change->gate_at);
		}
	}
	forest->name_room = MIN(forest->name_room, forest->width * 0.3);
	forest->text_room = find_verdict_width(forest, false);
	forest->is_short = forest->text_room > forest->width * TEXT_PART;
	if (forest->is_short)
		forest->text_room =
			MIN(find_verdict_width(forest, true), forest->width * TEXT_PART);
	forest->panel = (struct axis_panel){ MARGIN + forest->name_room + 8, top,
		forest->width - 2 * MARGIN - forest->name_room - forest->text_room - 16,
		(double)forest->n_shown * ROW };
	forest->axis = axis_make_linear(low, high, forest->panel.x, forest->panel.width);
}

/* --- Drawing --- */

static void draw_row(const struct forest *forest, size_t at)
{
	const struct change *change = &forest->changes->items[at];
	const struct axis_panel *panel = &forest->panel;
	double y = panel->y + ((double)at + 0.5) * ROW, baseline = y + forest->size * 0.35;
	_cleanup_free_ char *title = pairs_title(forest->changes->pairs, at);
	_cleanup_free_ char *name = xptr(text_escape_control(title));
	_cleanup_free_ char *verdict = make_verdict(change, forest->is_short);
	struct interval_bar bar = { change->change, change->low, change->high, change->runs_low,
		change->runs_high, change_verdict_color(change) };

	canvas_draw_fitting(forest->canvas, (struct point){ MARGIN + forest->name_room, baseline },
		CANVAS_RIGHT, forest->size, false, ink_color(INK_TEXT), name, forest->name_room);
	canvas_draw_fitting(forest->canvas, (struct point){ panel->x + panel->width + 8, baseline },
		CANVAS_LEFT, forest->size, false, ink_color(INK_TEXT), verdict, forest->text_room);
	if (change->is_difference)
		return;
	canvas_clip(forest->canvas, panel->x, panel->y, panel->width, panel->height);
	change_draw_gate(forest->canvas, change, &forest->axis, y - ROW / 2.0, y + ROW / 2.0);
	interval_bar_draw(forest->canvas, &forest->axis, y, &bar);
	/* Beyond the axis: a tick at the edge that it is beyond. */
	if (!axis_holds(&forest->axis, change->change)) {
		double x = change->change > 0 ? panel->x + panel->width - 3 : panel->x + 3;

		canvas_draw_line(forest->canvas, (struct point){ x, y - 5 },
			(struct point){ x, y + 5 }, 4, 0, bar.color);
	}
	canvas_unclip(forest->canvas);
}

double forest_chart_height(const struct changes *changes)
{
	return HEAD + 60 + (double)changes->n * ROW;
}

int forest_chart_draw(struct canvas *canvas, const struct changes *changes, double width,
	double height, const char *title)
{
	struct forest forest = {
		.canvas = canvas,
		.changes = changes,
		.width = width,
		.size = width < 560 ? 8.5 : 11,
	};
	double top = MARGIN, zero, bottom, title_size = forest.size * 1.36;
	_cleanup_free_ char *left_out = NULL;

	if (width < CHART_MIN_WIDTH || height < CHART_MIN_HEIGHT)
		return -EINVAL;
	if (title) {
		top += title_size;
		top += (double)canvas_draw_lines(canvas, (struct point){ MARGIN, top }, title_size,
			       true, ink_color(INK_TEXT), title, width - 2 * MARGIN, TITLE_LINES,
			       true) *
			title_size * 1.3;
	}
	forest.style = (struct axis_style){ .factor = 100,
		.is_change = true,
		.size = forest.size,
		.name = "new against old, with its interval" };
	bottom = height - axis_room_below(&forest.style) - MARGIN / 2.0 - forest.size * 1.5;
	forest.n_shown = MIN(changes->n, (size_t)MAX((bottom - top) / ROW, 1.0));
	place(&forest, top);
	zero = axis_place(&forest.axis, 0);
	canvas_fill_rectangle(canvas, forest.panel.x, forest.panel.y, forest.panel.width,
		forest.panel.height, ink_color(INK_SHADE));
	axis_draw_below(canvas, &forest.axis, &forest.panel, &forest.style);
	canvas_draw_line(canvas, (struct point){ zero, forest.panel.y },
		(struct point){ zero, forest.panel.y + forest.panel.height }, 1.3, 0,
		ink_color(INK_LABEL));
	for (size_t i = 0; i < forest.n_shown; i++)
		draw_row(&forest, i);
	if (forest.n_shown < changes->n) {
		left_out = xformat("%zu more have no room here", changes->n - forest.n_shown);
		canvas_draw_text(canvas,
			(struct point){
				MARGIN, forest.panel.y + forest.panel.height + forest.size * 4.2 },
			CANVAS_LEFT, forest.size, false, ink_color(INK_TEXT), left_out);
	}
	return 0;
}
