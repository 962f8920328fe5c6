/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A sheet to draw on, by cairo: an SVG or PNG picture in memory. Coordinates are in points from
 * the upper left corner; a PNG has `scale` pixels a point. Drawing does not fail, canvas_finish()
 * does: cairo keeps the first error.
 */
#ifndef QUIESCE_BENCH_REPORT_CANVAS_H
#define QUIESCE_BENCH_REPORT_CANVAS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

/* Red, green, blue, and how much of it covers what is below, each 0..1. */
struct color {
	double r, g, b, alpha;
};

struct point {
	double x, y;
};

struct canvas;

/* -EINVAL for a size that is not in 1..32767 pixels (cairo's limit). */
int canvas_new(
	enum canvas_format format, double width, double height, double scale, struct canvas **ret);
void canvas_free(struct canvas *canvas);
DEFINE_CLEANUP(canvas, canvas_free);

void canvas_fill_rectangle(
	struct canvas *canvas, double x, double y, double width, double height, struct color color);
/* dash: length of the dashes and of the gaps between them, 0 for a full line. */
void canvas_draw_line(struct canvas *canvas, struct point from, struct point to, double width,
	double dash, struct color color);
/* A line through n points. A point with a NAN ends it there, and the next one begins anew. */
void canvas_draw_path(struct canvas *canvas, const struct point *points, size_t n, double width,
	struct color color);
void canvas_fill_circle(
	struct canvas *canvas, struct point center, double radius, struct color color);
void canvas_draw_circle(struct canvas *canvas, struct point center, double radius, double width,
	struct color color);

/* The baseline begins, has its middle, or ends at `at`. Valid UTF-8, or the picture fails. */
void canvas_draw_text(struct canvas *canvas, struct point at, enum canvas_anchor anchor,
	double size, bool bold, struct color color, const char *text);
/* The same turned by a quarter, from below to above. */
void canvas_draw_text_upwards(struct canvas *canvas, struct point at, enum canvas_anchor anchor,
	double size, struct color color, const char *text);
double canvas_text_width(struct canvas *canvas, double size, bool bold, const char *text);

/* Whatever is drawn from here on is cut at this rectangle, until canvas_unclip(). */
void canvas_clip(struct canvas *canvas, double x, double y, double width, double height);
void canvas_unclip(struct canvas *canvas);

/* The finished picture, malloc'd. Nothing can be drawn after. */
int canvas_finish(struct canvas *canvas, char **ret, size_t *ret_size);

#endif
