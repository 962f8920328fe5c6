/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A canvas to draw on: an SVG, PNG or PDF picture in memory. Coordinates are in points from the
 * upper left corner; a PNG has `scale` pixels for each point. The drawing functions do not fail:
 * the first error is remembered, and canvas_finish() returns it.
 *
 * cairo draws PNG and PDF and measures texts. SVG is written here, because cairo's SVG has the
 * shapes of letters in place of text, which nobody can search, select or have read aloud, and one
 * colour for light and dark paper. Each text is made as wide as it was measured, whatever font its
 * reader has.
 */
#ifndef QUIESCE_JUDGE_BENCH_REPORT_CANVAS_H
#define QUIESCE_JUDGE_BENCH_REPORT_CANVAS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/cleanup.h"
#include "judge/bench-report/ink.h"

enum canvas_format {
	CANVAS_SVG,
	CANVAS_PNG,
	CANVAS_PDF,
};

enum canvas_anchor {
	CANVAS_LEFT,
	CANVAS_CENTER,
	CANVAS_RIGHT,
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
/* The area within n points, none of them a NAN. */
void canvas_fill_path(
	struct canvas *canvas, const struct point *points, size_t n, struct color color);
void canvas_fill_circle(
	struct canvas *canvas, struct point center, double radius, struct color color);
/* Many equal circles as one shape, which is much smaller in SVG. */
void canvas_fill_dots(struct canvas *canvas, const struct point *centers, size_t n, double radius,
	struct color color);
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
#define CANVAS_FITTING_SIZE 260
/* Shortens `text` to this width. Dots replace what is cut out of its middle, because names of files
 * differ at their ends. Characters of several bytes are never cut. */
const char *canvas_fit_text(struct canvas *canvas, double size, bool bold, const char *text,
	double width, char buf[static CANVAS_FITTING_SIZE]);
/* Draws a text that canvas_fit_text() shortens to this width. */
void canvas_draw_fitting(struct canvas *canvas, struct point at, enum canvas_anchor anchor,
	double size, bool bold, struct color color, const char *text, double width);
/* Draws a text in a panel, which stays legible above what is there. */
void canvas_draw_note(struct canvas *canvas, struct point at, enum canvas_anchor anchor,
	double size, bool bold, struct color color, const char *text);
/* An item of a legend: a dot in this colour, and the text that says what it means. `at` is where
 * its baseline begins; the text begins CANVAS_KEY_ROOM * size to the right of that. */
#define CANVAS_KEY_ROOM 1.3
void canvas_draw_key(
	struct canvas *canvas, struct point at, double size, struct color color, const char *text);

/* Draws a text in lines of at most this width, at most `most` of them, whose last one is shortened
 * as canvas_fit_text() does it. `drawn` is false: it is only measured. `at` is where the first
 * baseline begins; returns how many lines there are, which are 1.3 times the size apart. */
size_t canvas_draw_lines(struct canvas *canvas, struct point at, double size, bool bold,
	struct color color, const char *text, double width, size_t most, bool drawn);

/* Restricts all further drawing to this rectangle, until canvas_unclip(). */
void canvas_clip(struct canvas *canvas, double x, double y, double width, double height);
void canvas_unclip(struct canvas *canvas);

/* Moves the origin of all that follows there, until canvas_end_cell(): a picture in a picture. */
void canvas_begin_cell(struct canvas *canvas, double x, double y, double width, double height);
void canvas_end_cell(struct canvas *canvas);

/* Returns the finished picture, malloc'd. Nothing can be drawn afterwards. SVG is an <svg> element
 * without anything before it, so that it can stand in an HTML page as well; it follows the light or
 * dark theme of its reader. */
int canvas_finish(struct canvas *canvas, char **ret, size_t *ret_size);

#endif
