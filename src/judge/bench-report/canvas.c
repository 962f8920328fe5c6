// SPDX-License-Identifier: GPL-2.0-or-later
#include <cairo-pdf.h>
#include <cairo.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "judge/bench-report/canvas.h"

enum {
	SIZE_MAX_PIXELS = 32767,
};

struct canvas {
	enum canvas_format format;
	cairo_surface_t *surface; /* for SVG only one pixel, to measure texts */
	cairo_t *cairo;
	struct text data; /* the bytes of the picture so far */
};

static cairo_status_t append(void *closure, const unsigned char *data, unsigned length)
{
	struct text *t = closure;

	text_append_n(t, (const char *)data, length);
	return t->failed ? CAIRO_STATUS_NO_MEMORY : CAIRO_STATUS_SUCCESS;
}

static int status_to_errno(cairo_status_t status)
{
	switch (status) {
	case CAIRO_STATUS_SUCCESS:
		return 0;
	case CAIRO_STATUS_NO_MEMORY:
		xalloc_fail();
	case CAIRO_STATUS_INVALID_SIZE:
		return -EINVAL;
	default:
		return -EIO;
	}
}

static bool is_svg(const struct canvas *canvas)
{
	return canvas->format == CANVAS_SVG;
}

/* Each shape has its light colour as an attribute, which every viewer understands; the dark colours
 * are in a style sheet. */
static void begin_svg(struct canvas *canvas, double width, double height)
{
	struct text *t = &canvas->data;

	text_appendf(t,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%g\" height=\"%g\" viewBox=\"0 0 %g %g\" "
		"font-family=\"sans-serif\" xml:space=\"preserve\">\n"
		"<style>@media (prefers-color-scheme:dark){",
		width, height, width, height);
	for (enum ink ink = 0; ink < INK_N; ink++) {
		char dark[INK_TEXT_SIZE];

		ink_text(ink_dark(ink), dark);
		text_appendf(t, ".f%d{fill:%s}.s%d{stroke:%s}", (int)ink, dark, (int)ink, dark);
	}
	text_append(t, "}</style>\n");
}

int canvas_new(
	enum canvas_format format, double width, double height, double scale, struct canvas **ret)
{
	_cleanup_(canvas) struct canvas *canvas = NULL;
	int r;

	if (!(width * scale >= 1 && width * scale <= SIZE_MAX_PIXELS) ||
		!(height * scale >= 1 && height * scale <= SIZE_MAX_PIXELS))
		return -EINVAL;
	canvas = xptr(calloc(1, sizeof(*canvas)));
	canvas->format = format;
	if (format == CANVAS_PDF)
		canvas->surface = cairo_pdf_surface_create_for_stream(
			append, &canvas->data, width * scale, height * scale);
	else
		canvas->surface = cairo_image_surface_create(CAIRO_FORMAT_RGB24,
			is_svg(canvas) ? 1 : (int)ceil(width * scale),
			is_svg(canvas) ? 1 : (int)ceil(height * scale));
	canvas->cairo = cairo_create(canvas->surface);
	r = status_to_errno(cairo_status(canvas->cairo));
	if (r < 0)
		return r;
	if (is_svg(canvas))
		begin_svg(canvas, width, height);
	else
		cairo_scale(canvas->cairo, scale, scale);
	cairo_set_line_cap(canvas->cairo, CAIRO_LINE_CAP_BUTT);
	cairo_set_line_join(canvas->cairo, CAIRO_LINE_JOIN_ROUND);
	canvas_fill_rectangle(canvas, 0, 0, width, height, ink_color(INK_PAPER));
	*ret = TAKE_PTR(canvas);
	return 0;
}

void canvas_free(struct canvas *canvas)
{
	if (!canvas)
		return;
	if (canvas->cairo)
		cairo_destroy(canvas->cairo);
	if (canvas->surface)
		cairo_surface_destroy(canvas->surface);
	text_clear(&canvas->data);
	free(canvas);
}

/* --- How a shape is filled or stroked. --- */

static void use_color(struct canvas *canvas, struct color color)
{
	uint32_t rgb = ink_light(color.ink);

	cairo_set_source_rgba(canvas->cairo, (rgb >> 16 & 255) / 255.0, (rgb >> 8 & 255) / 255.0,
		(rgb & 255) / 255.0, color.alpha);
}

/* Ends an element of SVG that is filled. */
static void append_fill(struct canvas *canvas, struct color color)
{
	char light[INK_TEXT_SIZE];

	text_appendf(&canvas->data, " class=\"f%d\" fill=\"%s\"", (int)color.ink,
		ink_text(ink_light(color.ink), light));
	if (color.alpha < 1)
		text_appendf(&canvas->data, " fill-opacity=\"%g\"", color.alpha);
}

static void append_stroke(struct canvas *canvas, double width, double dash, struct color color)
{
	char light[INK_TEXT_SIZE];

	text_appendf(&canvas->data,
		" class=\"s%d\" fill=\"none\" stroke=\"%s\" stroke-width=\"%g\"", (int)color.ink,
		ink_text(ink_light(color.ink), light), width);
	if (color.alpha < 1)
		text_appendf(&canvas->data, " stroke-opacity=\"%g\"", color.alpha);
	if (dash > 0)
		text_appendf(&canvas->data, " stroke-dasharray=\"%g\"", dash);
	text_append(&canvas->data, "/>\n");
}

static void stroke(struct canvas *canvas, double width, double dash, struct color color)
{
	const double dashes[] = { dash, dash };

	use_color(canvas, color);
	cairo_set_line_width(canvas->cairo, width);
	cairo_set_dash(canvas->cairo, dashes, dash > 0 ? 2 : 0, 0);
	cairo_stroke(canvas->cairo);
}

/* --- Shapes. --- */

void canvas_fill_rectangle(
	struct canvas *canvas, double x, double y, double width, double height, struct color color)
{
	if (is_svg(canvas)) {
		text_appendf(&canvas->data,
			"<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\"", x, y, width,
			height);
		append_fill(canvas, color);
		text_append(&canvas->data, "/>\n");
		return;
	}
	use_color(canvas, color);
	cairo_rectangle(canvas->cairo, x, y, width, height);
	cairo_fill(canvas->cairo);
}

static void draw_path(struct canvas *canvas, const struct point *points, size_t n, double width,
	double dash, struct color color)
{
	bool drawing = false;

	if (is_svg(canvas))
		text_append(&canvas->data, "<path stroke-linejoin=\"round\" d=\"");
	for (size_t i = 0; i < n; i++) {
		bool here = isfinite(points[i].x) && isfinite(points[i].y);

		if (here && is_svg(canvas))
			text_appendf(&canvas->data, "%c%.1f %.1f", drawing ? 'L' : 'M', points[i].x,
				points[i].y);
		else if (here && drawing)
			cairo_line_to(canvas->cairo, points[i].x, points[i].y);
		else if (here)
			cairo_move_to(canvas->cairo, points[i].x, points[i].y);
		drawing = here;
	}
	if (is_svg(canvas)) {
		text_append(&canvas->data, "\"");
		append_stroke(canvas, width, dash, color);
	} else {
		stroke(canvas, width, dash, color);
	}
}

void canvas_draw_path(struct canvas *canvas, const struct point *points, size_t n, double width,
	struct color color)
{
	draw_path(canvas, points, n, width, 0, color);
}

void canvas_draw_line(struct canvas *canvas, struct point from, struct point to, double width,
	double dash, struct color color)
{
	draw_path(canvas, (const struct point[]){ from, to }, 2, width, dash, color);
}

void canvas_fill_path(
	struct canvas *canvas, const struct point *points, size_t n, struct color color)
{
	if (is_svg(canvas))
		text_append(&canvas->data, "<path d=\"");
	for (size_t i = 0; i < n; i++) {
		if (is_svg(canvas))
			text_appendf(&canvas->data, "%c%.2f %.2f", i > 0 ? 'L' : 'M', points[i].x,
				points[i].y);
		else
			cairo_line_to(canvas->cairo, points[i].x, points[i].y);
	}
	if (is_svg(canvas)) {
		text_append(&canvas->data, "Z\"");
		append_fill(canvas, color);
		text_append(&canvas->data, "/>\n");
		return;
	}
	use_color(canvas, color);
	cairo_close_path(canvas->cairo);
	cairo_fill(canvas->cairo);
}

static void trace_circle(struct canvas *canvas, struct point center, double radius)
{
	if (is_svg(canvas)) {
		text_appendf(&canvas->data, "<circle cx=\"%.2f\" cy=\"%.2f\" r=\"%.2f\"", center.x,
			center.y, radius);
		return;
	}
	cairo_new_sub_path(canvas->cairo);
	cairo_arc(canvas->cairo, center.x, center.y, radius, 0, 2 * M_PI);
	cairo_close_path(canvas->cairo);
}

void canvas_fill_circle(
	struct canvas *canvas, struct point center, double radius, struct color color)
{
	trace_circle(canvas, center, radius);
	if (is_svg(canvas)) {
		append_fill(canvas, color);
		text_append(&canvas->data, "/>\n");
		return;
	}
	use_color(canvas, color);
	cairo_fill(canvas->cairo);
}

/* Lines without length that have round ends. */
void canvas_fill_dots(struct canvas *canvas, const struct point *centers, size_t n, double radius,
	struct color color)
{
	if (n == 0)
		return;
	if (!is_svg(canvas)) {
		for (size_t i = 0; i < n; i++)
			canvas_fill_circle(canvas, centers[i], radius, color);
		return;
	}
	text_append(&canvas->data, "<path stroke-linecap=\"round\" d=\"");
	for (size_t i = 0; i < n; i++)
		text_appendf(&canvas->data, "M%.1f %.1fh0", centers[i].x, centers[i].y);
	text_append(&canvas->data, "\"");
	append_stroke(canvas, 2 * radius, 0, color);
}

void canvas_draw_circle(
	struct canvas *canvas, struct point center, double radius, double width, struct color color)
{
	trace_circle(canvas, center, radius);
	if (is_svg(canvas))
		append_stroke(canvas, width, 0, color);
	else
		stroke(canvas, width, 0, color);
}

/* --- Texts. --- */

/* Whether a byte of UTF-8 continues a character. */
static bool is_continued(char byte)
{
	return ((unsigned char)byte & 0xc0) == 0x80;
}

double canvas_text_width(struct canvas *canvas, double size, bool bold, const char *text)
{
	cairo_text_extents_t extents;

	cairo_select_font_face(canvas->cairo, "sans-serif", CAIRO_FONT_SLANT_NORMAL,
		bold ? CAIRO_FONT_WEIGHT_BOLD : CAIRO_FONT_WEIGHT_NORMAL);
	cairo_set_font_size(canvas->cairo, size);
	cairo_text_extents(canvas->cairo, text, &extents);
	return extents.x_advance;
}

const char *canvas_fit_text(struct canvas *canvas, double size, bool bold, const char *text,
	double width, char buf[static CANVAS_FITTING_SIZE])
{
	size_t length = strlen(text);

	if (length < CANVAS_FITTING_SIZE && canvas_text_width(canvas, size, bold, text) <= width) {
		memcpy(buf, text, length + 1);
		return buf;
	}
	for (size_t n = MIN(length, (size_t)CANVAS_FITTING_SIZE - 4);; n--) {
		size_t head = n / 2, tail = length - (n - n / 2);

		while (head > 0 && is_continued(text[head]))
			head--;
		while (is_continued(text[tail]))
			tail++;
		snprintf(buf, CANVAS_FITTING_SIZE, "%.*s...%s", (int)head, text, text + tail);
		if (n == 0 || canvas_text_width(canvas, size, bold, buf) <= width)
			return buf;
	}
}

static double anchor_offset(double width, enum canvas_anchor anchor)
{
	switch (anchor) {
	case CANVAS_CENTER:
		return width / 2;
	case CANVAS_RIGHT:
		return width;
	default:
		return 0;
	}
}

static void append_text(struct canvas *canvas, struct point at, bool upwards,
	enum canvas_anchor anchor, double size, bool bold, struct color color, const char *text)
{
	static const char *const anchors[] = {
		[CANVAS_LEFT] = "start",
		[CANVAS_CENTER] = "middle",
		[CANVAS_RIGHT] = "end",
	};
	double width = canvas_text_width(canvas, size, bold, text);
	struct text *t = &canvas->data;

	/* A text without width cannot be seen, and SVG does not allow a length of 0 for it. */
	if (!(width > 0))
		return;
	text_appendf(t, "<text x=\"%.2f\" y=\"%.2f\"", at.x, at.y);
	if (upwards)
		text_appendf(t, " transform=\"rotate(-90 %.2f %.2f)\"", at.x, at.y);
	text_appendf(t, " font-size=\"%g\"%s text-anchor=\"%s\" textLength=\"%.2f\"", size,
		bold ? " font-weight=\"bold\"" : "", anchors[anchor], width);
	text_append(t, " lengthAdjust=\"spacingAndGlyphs\"");
	append_fill(canvas, color);
	text_append(t, ">");
	text_append_markup(t, text);
	text_append(t, "</text>\n");
}

static void draw_text(struct canvas *canvas, struct point at, bool upwards,
	enum canvas_anchor anchor, double size, bool bold, struct color color, const char *text)
{
	double width;

	if (is_svg(canvas)) {
		append_text(canvas, at, upwards, anchor, size, bold, color, text);
		return;
	}
	width = canvas_text_width(canvas, size, bold, text);
	cairo_save(canvas->cairo);
	cairo_translate(canvas->cairo, at.x, at.y);
	if (upwards)
		cairo_rotate(canvas->cairo, -M_PI / 2);
	use_color(canvas, color);
	cairo_move_to(canvas->cairo, -anchor_offset(width, anchor), 0);
	cairo_show_text(canvas->cairo, text);
	cairo_new_path(canvas->cairo);
	cairo_restore(canvas->cairo);
}

void canvas_draw_text(struct canvas *canvas, struct point at, enum canvas_anchor anchor,
	double size, bool bold, struct color color, const char *text)
{
	draw_text(canvas, at, false, anchor, size, bold, color, text);
}

void canvas_draw_text_upwards(struct canvas *canvas, struct point at, enum canvas_anchor anchor,
	double size, struct color color, const char *text)
{
	draw_text(canvas, at, true, anchor, size, false, color, text);
}

void canvas_draw_fitting(struct canvas *canvas, struct point at, enum canvas_anchor anchor,
	double size, bool bold, struct color color, const char *text, double width)
{
	char fitting[CANVAS_FITTING_SIZE];

	canvas_draw_text(canvas, at, anchor, size, bold, color,
		canvas_fit_text(canvas, size, bold, text, width, fitting));
}

void canvas_draw_note(struct canvas *canvas, struct point at, enum canvas_anchor anchor,
	double size, bool bold, struct color color, const char *text)
{
	double width = canvas_text_width(canvas, size, bold, text);

	canvas_fill_rectangle(canvas, at.x - anchor_offset(width, anchor) - 1, at.y - size,
		width + 2, size * 1.3, with_alpha(ink_color(INK_SHADE), 0.8));
	canvas_draw_text(canvas, at, anchor, size, bold, color, text);
}

void canvas_draw_key(
	struct canvas *canvas, struct point at, double size, struct color color, const char *text)
{
	canvas_fill_circle(
		canvas, (struct point){ at.x + size / 2, at.y - size * 0.35 }, size * 0.36, color);
	canvas_draw_text(canvas, (struct point){ at.x + CANVAS_KEY_ROOM * size, at.y }, CANVAS_LEFT,
		size, false, ink_color(INK_TEXT), text);
}

/* The length of the longest beginning of the text that ends at a space, or with the text, and is
 * not wider; at least one word. */
static size_t find_line(
	struct canvas *canvas, double size, bool bold, const char *text, double width)
{
	size_t end = 0;

	for (;;) {
		size_t next = end + strcspn(text + end + (end > 0), " ") + (end > 0);
		_cleanup_free_ char *line = xptr(strndup(text, next));

		if (end > 0 && canvas_text_width(canvas, size, bold, line) > width)
			return end;
		end = next;
		if (!text[end])
			return end;
	}
}

size_t canvas_draw_lines(struct canvas *canvas, struct point at, double size, bool bold,
	struct color color, const char *text, double width, size_t most, bool drawn)
{
	size_t n = 0;

	while (*text && n < most) {
		size_t length = find_line(canvas, size, bold, text, width);
		_cleanup_free_ char *line =
			xptr(n + 1 < most ? strndup(text, length) : strdup(text));

		if (drawn)
			canvas_draw_fitting(canvas,
				(struct point){ at.x, at.y + (double)n * size * 1.3 }, CANVAS_LEFT,
				size, bold, color, line, width);
		n++;
		text += length;
		text += strspn(text, " ");
	}
	return n;
}

/* --- The whole. --- */

/* SVG clips what is in an inner <svg>, which needs no name as a clipping path does: such names must
 * be unique in a page. */
void canvas_clip(struct canvas *canvas, double x, double y, double width, double height)
{
	if (is_svg(canvas)) {
		text_appendf(&canvas->data,
			"<svg x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" "
			"viewBox=\"%.2f %.2f %.2f %.2f\">\n",
			x, y, width, height, x, y, width, height);
		return;
	}
	cairo_save(canvas->cairo);
	cairo_rectangle(canvas->cairo, x, y, width, height);
	cairo_clip(canvas->cairo);
}

void canvas_unclip(struct canvas *canvas)
{
	if (is_svg(canvas))
		text_append(&canvas->data, "</svg>\n");
	else
		cairo_restore(canvas->cairo);
}

void canvas_begin_cell(struct canvas *canvas, double x, double y, double width, double height)
{
	if (is_svg(canvas)) {
		text_appendf(&canvas->data,
			"<svg x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\">\n", x, y, width,
			height);
		return;
	}
	cairo_save(canvas->cairo);
	cairo_translate(canvas->cairo, x, y);
}

void canvas_end_cell(struct canvas *canvas)
{
	canvas_unclip(canvas);
}

int canvas_finish(struct canvas *canvas, char **ret, size_t *ret_size)
{
	/* This is checked for SVG as well: a text that is not valid UTF-8 cannot be measured. */
	cairo_status_t status = cairo_status(canvas->cairo);

	cairo_destroy(canvas->cairo);
	canvas->cairo = NULL;
	if (is_svg(canvas))
		text_append(&canvas->data, "</svg>\n");
	else if (status == CAIRO_STATUS_SUCCESS && canvas->format == CANVAS_PNG)
		status = cairo_surface_write_to_png_stream(canvas->surface, append, &canvas->data);
	cairo_surface_finish(canvas->surface);
	if (status == CAIRO_STATUS_SUCCESS)
		status = cairo_surface_status(canvas->surface);
	if (status != CAIRO_STATUS_SUCCESS)
		return status_to_errno(status);
	*ret_size = canvas->data.length;
	*ret = xptr(text_steal(&canvas->data));
	return 0;
}
