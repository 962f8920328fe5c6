// SPDX-License-Identifier: GPL-2.0-or-later
/* plot: draws pictures of benchmarks into a file. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/macro.h"
#include "base/parse.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "judge/bench-report/bench-report.h"
#include "judge/bench-report/chart.h"
#include "judge/bench-report/files.h"
#include "judge/bench-report/page.h"
#include "judge/bench-report/picture.h"
#include "judge/bench-report/scanchart.h"

enum {
	WIDTH_DEFAULT = 1000,
	HEIGHT_DEFAULT = 600,
	/* How many pixels of a PNG make a point: on the screens and projectors of today, a point is
	 * larger than a pixel. */
	PNG_SCALE = 2,
};

static const struct picture_format formats[] = {
	{ ".svg", CANVAS_SVG, false, 1 },
	{ ".png", CANVAS_PNG, false, PNG_SCALE },
	{ ".html", CANVAS_SVG, true, 1 },
};

static const struct picture_format *find_format(const char *path)
{
	for (size_t i = 0; i < ARRAY_SIZE(formats); i++)
		if (text_ends_with(path, formats[i].suffix))
			return &formats[i];
	return NULL;
}

/* Parses "1000x600". */
static int parse_size(const char *text, double *ret_width, double *ret_height)
{
	const char *x = strchr(text, 'x');
	unsigned width, height;
	char first[16];

	if (!x || (size_t)(x - text) >= sizeof(first))
		return -EINVAL;
	memcpy(first, text, (size_t)(x - text));
	first[x - text] = '\0';
	/* Cairo can draw a PNG of this size. */
	if (parse_uint(first, CHART_MIN_WIDTH, 16000, &width) < 0 ||
		parse_uint(x + 1, CHART_MIN_HEIGHT, 16000, &height) < 0)
		return -EINVAL;
	*ret_width = width;
	*ret_height = height;
	return 0;
}

static int draw(struct picture *picture, const struct picture_sheet *sheet, struct drawing *ret)
{
	const struct picture_format *format = sheet->format;
	_cleanup_(canvas) struct canvas *canvas = NULL;
	struct chart_series series[CHART_MAX_SERIES];
	struct chart_options options = {
		.width = sheet->width,
		.height = sheet->height,
		/* In an HTML page the title is a heading of the page. */
		.title = format->page ? NULL : picture->title,
		.subtitle = picture->subtitle,
		.unit = picture->curves[0].benchmark->unit,
		.what = picture->what,
	};
	struct drawing drawing = {
		.width = sheet->width, .height = sheet->height, .what = picture->what
	};
	int r;

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
	r = canvas_new(format->canvas, sheet->width, sheet->height, format->scale, &canvas);
	if (r < 0)
		return r;
	r = chart_draw(canvas, series, picture->n, &options, &picture->axes,
		format->page ? &drawing.spots : NULL, &drawing.n_spots);
	if (r >= 0)
		r = canvas_finish(canvas, &drawing.data, &drawing.size);
	if (r < 0) {
		drawing_clear(&drawing);
		return r;
	}
	*ret = drawing;
	return 0;
}

static void fill_page_curves(const struct picture *picture, struct page_curve *curves)
{
	for (size_t i = 0; i < picture->n; i++) {
		const struct curve *curve = &picture->curves[i];

		curves[i] = (struct page_curve){
			.name = curve->name,
			.benchmark = curve->benchmark,
			.analysis = curve->analysis,
			.values = curve->values,
			.runs = curve->runs,
			.rows = curve->rows,
			.n_warmups = curve->n_warmups,
		};
	}
}

static int write_picture(FILE *stream, struct picture *picture, const struct picture_sheet *sheet)
{
	struct page_curve curves[CHART_MAX_SERIES];
	struct drawing drawing;
	int r;

	r = draw(picture, sheet, &drawing);
	if (r < 0)
		return r;
	if (sheet->format->page) {
		fill_page_curves(picture, curves);
		page_add(stream, picture->title, curves, picture->n, &drawing);
	} else {
		fwrite(drawing.data, 1, drawing.size, stream);
	}
	drawing_clear(&drawing);
	return 0;
}

/* -EINVAL, after saying so, when one file cannot hold all pictures. */
static int check_number(const struct pictures *pictures, const struct picture_format *format)
{
	_cleanup_free_ char *all = NULL;
	struct text names = { 0 };

	if (pictures->n == 0) {
		say("there is no value to draw");
		return -EINVAL;
	}
	if (pictures->n == 1 || format->page)
		return 0;
	for (size_t i = 0; i < pictures->n; i++)
		text_appendf(&names, "%s%s", i > 0 ? ", " : "",
			pictures->items[i].curves[0].benchmark->name);
	all = xptr(text_steal(&names));
	say("%s files hold one picture each, and these make several: %s: choose one with -b, or "
	    "write an .html file",
		format->suffix, all);
	return -EINVAL;
}

/* Writes the file by `write`. -EINVAL, after saying so, when it cannot be written. */
static int write_file(const struct picture_sheet *sheet,
	int (*write)(FILE *stream, const struct picture_sheet *sheet, void *context), void *context)
{
	_cleanup_(file_replace) struct file_replace *file = NULL;
	FILE *stream;
	int r;

	r = xcheck(file_replace_begin(sheet->output, &file));
	if (r < 0) {
		say("cannot write %s: %s", sheet->output, file_replace_explain(r));
		return -EINVAL;
	}
	stream = file_replace_stream(file);
	if (sheet->format->page)
		page_begin(stream);
	r = write(stream, sheet, context);
	if (r < 0)
		return r;
	if (sheet->format->page)
		page_end(stream);
	r = xcheck(file_replace_commit(TAKE_PTR(file)));
	if (r < 0) {
		say_errno(r, "cannot write %s", sheet->output);
		return -EINVAL;
	}
	return 0;
}

static int write_pictures(FILE *stream, const struct picture_sheet *sheet, void *context)
{
	struct pictures *pictures = context;
	int r = 0;

	for (size_t i = 0; r >= 0 && i < pictures->n; i++)
		r = write_picture(stream, &pictures->items[i], sheet);
	return r;
}

/* --- Curves over a parameter --- */

static char *scan_title(const struct scan *scan)
{
	if (scan->n == 1)
		return xptr(text_escape_control(scan->curves[0].name));
	return xformat("by %s", scan->parameter);
}

static int draw_scan(const struct scan *scan, const char *title, const struct picture_sheet *sheet,
	struct drawing *ret)
{
	const struct picture_format *format = sheet->format;
	_cleanup_(canvas) struct canvas *canvas = NULL;
	int r;

	*ret = (struct drawing){ .width = sheet->width, .height = sheet->height, .what = "size" };
	r = canvas_new(format->canvas, sheet->width, sheet->height, format->scale, &canvas);
	if (r >= 0)
		r = scan_chart_draw(
			canvas, sheet->width, sheet->height, format->page ? NULL : title, scan);
	return r < 0 ? r : canvas_finish(canvas, &ret->data, &ret->size);
}

/* The figures below the picture are those of each benchmark. */
static int add_scan_to_page(
	FILE *stream, const struct scan *scan, const char *title, const struct drawing *drawing)
{
	_cleanup_free_ struct page_curve *curves = NULL;
	size_t n = 0;
	int r = 0;

	for (size_t i = 0; i < scan->n; i++)
		n += scan->curves[i].n;
	curves = xptr(calloc(n, sizeof(*curves)));
	n = 0;
	for (size_t i = 0; i < scan->n; i++) {
		for (size_t k = 0; r >= 0 && k < scan->curves[i].n; k++) {
			const struct benchmark *b = scan->curves[i].points[k].benchmark;
			struct analysis *analysis = NULL;

			r = analysis_new(b, &analysis);
			if (r >= 0)
				curves[n++] = (struct page_curve){
					.name = b->name, .benchmark = b, .analysis = analysis
				};
		}
	}
	if (r >= 0)
		page_add(stream, title, curves, n, drawing);
	for (size_t i = 0; i < n; i++)
		analysis_free((struct analysis *)curves[i].analysis);
	return r;
}

static int write_scan(FILE *stream, const struct picture_sheet *sheet, void *context)
{
	const struct scan *scan = context;
	_cleanup_free_ char *title = scan_title(scan);
	struct drawing drawing = { 0 };
	int r = draw_scan(scan, title, sheet, &drawing);

	if (r >= 0 && sheet->format->page)
		r = add_scan_to_page(stream, scan, title, &drawing);
	else if (r >= 0)
		fwrite(drawing.data, 1, drawing.size, stream);
	drawing_clear(&drawing);
	return r;
}

static int add_benchmark(const char *file, const struct benchmark *benchmark, void *context)
{
	return pictures_add(context, file, benchmark);
}

enum exit_status verb_plot(const struct request *request)
{
	_cleanup_reports_ struct reports reports = { 0 };
	struct pictures pictures = { 0 };
	struct scan scan = { 0 };
	struct picture_sheet sheet = {
		.output = request->output,
		.format = request->output ? find_format(request->output) : NULL,
		.width = WIDTH_DEFAULT,
		.height = HEIGHT_DEFAULT,
	};
	int r;

	if (!sheet.format) {
		say("plot needs -o FILE, and FILE ends in .svg, .png or .html");
		return EXIT_USAGE;
	}
	if (request->size && parse_size(request->size, &sheet.width, &sheet.height) < 0) {
		say("--size: '%s' is not WIDTHxHEIGHT, from %dx%d to 16000x16000", request->size,
			CHART_MIN_WIDTH, CHART_MIN_HEIGHT);
		return EXIT_USAGE;
	}
	if (reports_read(request, true, &reports) < 0)
		return EXIT_FAILED;
	if (!request->by || strcmp(request->by, "run") != 0)
		r = scan_new(request, &reports, &scan);
	else
		r = -ENODATA;
	if (r >= 0) {
		r = write_file(&sheet, write_scan, &scan);
	} else if (r == -ENODATA) {
		r = reports_each(request, &reports, add_benchmark, &pictures);
		if (r >= 0)
			r = check_number(&pictures, sheet.format);
		if (r >= 0)
			r = pictures_fill(&pictures);
		if (r >= 0)
			r = write_file(&sheet, write_pictures, &pictures);
	}
	if (r < 0) {
		scan_clear(&scan);
		pictures_clear(&pictures);
		/* These errors are due to the request, and were said before. */
		if (r == -EINVAL || r == -E2BIG || r == -ENOENT)
			return EXIT_FAILED;
		return request_conclude(request, r);
	}
	if (request->json)
		r = scan.n > 0 ? scan_emit(stdout, &scan, &sheet)
			       : pictures_emit(stdout, &pictures, &sheet);
	scan_clear(&scan);
	pictures_clear(&pictures);
	return request_conclude(request, r);
}
