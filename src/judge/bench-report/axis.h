/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An axis of a picture: where a number lies on the canvas, and which marks it has. */
#ifndef QUIESCE_JUDGE_BENCH_REPORT_AXIS_H
#define QUIESCE_JUDGE_BENCH_REPORT_AXIS_H

#include <stdbool.h>
#include <stddef.h>

#include "judge/bench-report/canvas.h"
#include "judge/stats/stats.h"

enum {
	AXIS_MARKS_MAX = 40,
	AXIS_LABEL_GAP = 5, /* between a panel and the numbers beside it */
};

/* The numbers low..high lie at begin..begin + length, where a negative length is upwards. */
struct axis {
	double low, high;
	bool is_log;
	double begin, length;
};

/* With some room around the numbers; logarithmic where they differ by a factor of ten or more. */
struct axis axis_make(double low, double high, double begin, double length);
/* The same, always linear. */
struct axis axis_make_linear(double low, double high, double begin, double length);
double axis_place(const struct axis *axis, double value);
bool axis_holds(const struct axis *axis, double value);
/* The marks, at most so many where it is linear; they are round numbers of value * factor. Returns
 * how many there are. */
size_t axis_find_marks(const struct axis *axis, double factor, size_t most,
	double ret[static AXIS_MARKS_MAX], int *ret_decimals);

/*
 * The range of n sorted values that a picture shows: all of them, but for a few at either end (at
 * most one in eight) that would make everything else look like a flat line: those beyond the fences
 * by more than twice the distance between the fences, or of 40 values and more, by half of it.
 */
void axis_find_visible(
	const double *sorted, const struct stats *stats, double *ret_low, double *ret_high);

/* What the numbers at an axis are. */
struct axis_style {
	double factor;	  /* printed number = value * factor */
	bool is_change;	  /* of per cent, with a sign: "+2 %" */
	bool is_whole;	  /* of things that are counted from 1 */
	double size;	  /* of the letters */
	const char *name; /* what stands below a horizontal axis; NULL: nothing */
};

/* A rectangle on the canvas. */
struct axis_panel {
	double x, y, width, height;
};

/* The width of the widest number of a vertical axis. */
double axis_label_width(
	struct canvas *canvas, const struct axis *axis, const struct axis_style *style);
/* Lines across the panel, with their numbers at its left, or below it. */
void axis_draw_left(struct canvas *canvas, const struct axis *axis, const struct axis_panel *panel,
	const struct axis_style *style);
void axis_draw_below(struct canvas *canvas, const struct axis *axis, const struct axis_panel *panel,
	const struct axis_style *style);
/* The height that the numbers and the name below a horizontal axis take. */
double axis_room_below(const struct axis_style *style);

#endif
