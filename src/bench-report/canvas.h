/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A canvas to draw on with cairo: an SVG or PNG picture in memory. Coordinates are in points from
 * the upper left corner; a PNG has `scale` pixels for each point. The drawing functions do not
 * fail: cairo remembers the first error, and canvas_finish() returns it.
 */
#ifndef QUIESCE_BENCH_REPORT_CANVAS_H
#define QUIESCE_BENCH_REPORT_CANVAS_H

#include <stdbool.h>
#include <stddef.h>

#include "basic/cleanup.h"

enum canvas_format {
	CANVAS_SVG,
	CANVAS_PNG,
};

enum canvas_anchor {
	CANVAS_LEFT,
	CANVAS_CENTER,
	CANVAS_RIGHT,
};

/* Red, green, blue and opacity, each from 0 to 1. */
struct color {
	double r, g, b, alpha;
};

struct point {
	double x, y;
};

struct canvas;

/* -EINVAL when width or height are not within 1..32767 pixels (cairo's limit). */
int canvas_new(
	enum canvas_format format, double width, double height, double scale, struct canvas **ret);
void canvas_free(struct canvas *canvas);
DEFINE_CLEANUP(canvas, canvas_free);

void canvas_fill_rectangle(
	struct canvas *canvas, double x, double y, double width, double height, struct color color);
/* `dash` is the length of the dashes and of the gaps between them; 0 for a solid line. */
void canvas_draw_line(struct canvas *canvas, struct point from, struct point to, double width,
	double dash, struct color color);
/* A line through n points. It is interrupted at a point with a NAN. */
void canvas_draw_path(struct canvas *canvas, const struct point *points, size_t n, double width,
	struct color color);
void canvas_fill_circle(
	struct canvas *canvas, struct point center, double radius, struct color color);
void canvas_draw_circle(struct canvas *canvas, struct point center, double radius, double width,
	struct color color);

/* `at` is where the baseline of the text begins, has its middle, or ends. The text must be valid
 * UTF-8, otherwise the picture fails. */
void canvas_draw_text(struct canvas *canvas, struct point at, enum canvas_anchor anchor,
	double size, bool bold, struct color color, const char *text);
/* The same with the text rotated by 90 degrees, so that it is read from bottom to top. */
void canvas_draw_text_upwards(struct canvas *canvas, struct point at, enum canvas_anchor anchor,
	double size, struct color color, const char *text);
double canvas_text_width(struct canvas *canvas, double size, bool bold, const char *text);

/* Restricts all further drawing to this rectangle, until canvas_unclip(). */
void canvas_clip(struct canvas *canvas, double x, double y, double width, double height);
void canvas_unclip(struct canvas *canvas);

/* Returns the finished picture, malloc'd. Nothing can be drawn afterwards. */
int canvas_finish(struct canvas *canvas, char **ret, size_t *ret_size);

#endif
