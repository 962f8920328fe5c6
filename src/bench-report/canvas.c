// SPDX-License-Identifier: GPL-2.0-or-later
#include <cairo-svg.h>
#include <cairo.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "basic/text.h"
#include "bench-report/canvas.h"

enum {
	SIZE_MAX_PIXELS = 32767,
};

struct canvas {
	enum canvas_format format;
	cairo_surface_t *surface;
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
		return -ENOMEM;
	case CAIRO_STATUS_INVALID_SIZE:
		return -EINVAL;
	default:
		return -EIO;
	}
}

int canvas_new(
	enum canvas_format format, double width, double height, double scale, struct canvas **ret)
{
	_cleanup_(canvas) struct canvas *canvas = NULL;
	int r;

	if (!(width * scale >= 1 && width * scale <= SIZE_MAX_PIXELS) ||
		!(height * scale >= 1 && height * scale <= SIZE_MAX_PIXELS))
		return -EINVAL;
	canvas = calloc(1, sizeof(*canvas));
	if (!canvas)
		return -ENOMEM;
	canvas->format = format;
	if (format == CANVAS_SVG)
		canvas->surface =
			cairo_svg_surface_create_for_stream(append, &canvas->data, width, height);
	else
		canvas->surface = cairo_image_surface_create(
			CAIRO_FORMAT_RGB24, (int)ceil(width * scale), (int)ceil(height * scale));
	/* A point of the canvas is a pixel in a browser, because stylesheets measure in these. */
	if (format == CANVAS_SVG)
		cairo_svg_surface_set_document_unit(canvas->surface, CAIRO_SVG_UNIT_PX);
	canvas->cairo = cairo_create(canvas->surface);
	r = status_to_errno(cairo_status(canvas->cairo));
	if (r < 0)
		return r;
	if (format == CANVAS_PNG)
		cairo_scale(canvas->cairo, scale, scale);
	canvas_fill_rectangle(canvas, 0, 0, width, height, (struct color){ 1, 1, 1, 1 });
	cairo_set_line_cap(canvas->cairo, CAIRO_LINE_CAP_BUTT);
	cairo_set_line_join(canvas->cairo, CAIRO_LINE_JOIN_ROUND);
	*ret = TAKE_PTR(canvas);
	return 0;
}

void canvas_free(struct canvas *canvas)
{
	if (!canvas)
		return;
	if (canvas->cairo)
		cairo_destroy(canvas->cairo);
	/* An SVG surface writes its last bytes now, into `data`. */
	if (canvas->surface)
		cairo_surface_destroy(canvas->surface);
	text_clear(&canvas->data);
	free(canvas);
}

static void use_color(struct canvas *canvas, struct color color)
{
	cairo_set_source_rgba(canvas->cairo, color.r, color.g, color.b, color.alpha);
}

static void stroke(struct canvas *canvas, double width, struct color color)
{
	use_color(canvas, color);
	cairo_set_line_width(canvas->cairo, width);
	cairo_stroke(canvas->cairo);
}

void canvas_fill_rectangle(
	struct canvas *canvas, double x, double y, double width, double height, struct color color)
{
	use_color(canvas, color);
	cairo_rectangle(canvas->cairo, x, y, width, height);
	cairo_fill(canvas->cairo);
}

void canvas_draw_line(struct canvas *canvas, struct point from, struct point to, double width,
	double dash, struct color color)
{
	const double dashes[] = { dash, dash };

	cairo_set_dash(canvas->cairo, dashes, dash > 0 ? 2 : 0, 0);
	cairo_move_to(canvas->cairo, from.x, from.y);
	cairo_line_to(canvas->cairo, to.x, to.y);
	stroke(canvas, width, color);
	cairo_set_dash(canvas->cairo, NULL, 0, 0);
}

void canvas_draw_path(struct canvas *canvas, const struct point *points, size_t n, double width,
	struct color color)
{
	bool drawing = false;

	for (size_t i = 0; i < n; i++) {
		bool here = isfinite(points[i].x) && isfinite(points[i].y);

		if (here && drawing)
			cairo_line_to(canvas->cairo, points[i].x, points[i].y);
		else if (here)
			cairo_move_to(canvas->cairo, points[i].x, points[i].y);
		drawing = here;
	}
	stroke(canvas, width, color);
}

static void trace_circle(struct canvas *canvas, struct point center, double radius)
{
	cairo_new_sub_path(canvas->cairo);
	cairo_arc(canvas->cairo, center.x, center.y, radius, 0, 2 * M_PI);
	cairo_close_path(canvas->cairo);
}

void canvas_fill_circle(
	struct canvas *canvas, struct point center, double radius, struct color color)
{
	trace_circle(canvas, center, radius);
	use_color(canvas, color);
	cairo_fill(canvas->cairo);
}

void canvas_draw_circle(
	struct canvas *canvas, struct point center, double radius, double width, struct color color)
{
	trace_circle(canvas, center, radius);
	stroke(canvas, width, color);
}

static void use_font(struct canvas *canvas, double size, bool bold)
{
	cairo_select_font_face(canvas->cairo, "sans-serif", CAIRO_FONT_SLANT_NORMAL,
		bold ? CAIRO_FONT_WEIGHT_BOLD : CAIRO_FONT_WEIGHT_NORMAL);
	cairo_set_font_size(canvas->cairo, size);
}

double canvas_text_width(struct canvas *canvas, double size, bool bold, const char *text)
{
	cairo_text_extents_t extents;

	use_font(canvas, size, bold);
	cairo_text_extents(canvas->cairo, text, &extents);
	return extents.x_advance;
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

void canvas_draw_text(struct canvas *canvas, struct point at, enum canvas_anchor anchor,
	double size, bool bold, struct color color, const char *text)
{
	double width = canvas_text_width(canvas, size, bold, text);

	use_color(canvas, color);
	cairo_move_to(canvas->cairo, at.x - anchor_offset(width, anchor), at.y);
	cairo_show_text(canvas->cairo, text);
	cairo_new_path(canvas->cairo);
}

void canvas_draw_text_upwards(struct canvas *canvas, struct point at, enum canvas_anchor anchor,
	double size, struct color color, const char *text)
{
	cairo_save(canvas->cairo);
	cairo_translate(canvas->cairo, at.x, at.y);
	cairo_rotate(canvas->cairo, -M_PI / 2);
	canvas_draw_text(canvas, (struct point){ 0, 0 }, anchor, size, false, color, text);
	cairo_restore(canvas->cairo);
}

void canvas_clip(struct canvas *canvas, double x, double y, double width, double height)
{
	cairo_save(canvas->cairo);
	cairo_rectangle(canvas->cairo, x, y, width, height);
	cairo_clip(canvas->cairo);
}

void canvas_unclip(struct canvas *canvas)
{
	cairo_restore(canvas->cairo);
}

int canvas_finish(struct canvas *canvas, char **ret, size_t *ret_size)
{
	cairo_status_t status = cairo_status(canvas->cairo);
	size_t size;
	char *data;

	cairo_destroy(canvas->cairo);
	canvas->cairo = NULL;
	if (status == CAIRO_STATUS_SUCCESS && canvas->format == CANVAS_PNG)
		status = cairo_surface_write_to_png_stream(canvas->surface, append, &canvas->data);
	cairo_surface_finish(canvas->surface);
	if (status == CAIRO_STATUS_SUCCESS)
		status = cairo_surface_status(canvas->surface);
	if (status != CAIRO_STATUS_SUCCESS)
		return status_to_errno(status);
	size = canvas->data.length;
	data = text_steal(&canvas->data);
	if (!data)
		return -ENOMEM;
	*ret = data;
	*ret_size = size;
	return 0;
}
