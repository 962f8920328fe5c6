// SPDX-License-Identifier: GPL-2.0-or-later
/* plot: draws pictures of benchmarks into a file: which ones, and how they share it. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/macro.h"
#include "base/parse.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "judge/bench-report/bench-report.h"
#include "judge/bench-report/files.h"
#include "judge/bench-report/forestchart.h"
#include "judge/bench-report/page.h"
#include "judge/bench-report/pairs.h"
#include "judge/bench-report/picture.h"
#include "judge/bench-report/view.h"
#include "judge/stats/level.h"

enum {
	WIDTH_DEFAULT = 1000,
	HEIGHT_DEFAULT = 600,
	/* Of a page in a narrow window. */
	WIDTH_NARROW = 600,
	HEIGHT_NARROW = 440,
	HEIGHT_NARROW_CHANGE = 800, /* whose panels lie below each other */
	/* Of several pictures in one file, as far as the whole has room for it. */
	CELL_WIDTH = 480,
	CELL_HEIGHT = 300,
	/* How many pixels of a PNG make a point: on the screens and projectors of today, a point is
	 * larger than a pixel. */
	PNG_SCALE = 2,
};

/* What is plotted. */
struct plot {
	const struct request *request;
	struct picture_sheet sheet;
	bool has_size; /* --size */
	struct reports reports;
	struct scan scan;
	struct pairs pairs;
	struct changes changes;
	struct trends *trends;
	struct latencies latencies;
	struct pictures pictures;
	struct views views;
};

/* Words of --by, each of which is what the pictures show; any other is a parameter. */
#define BY_RUN "run"
#define BY_CHANGE "change"
#define BY_DATE "date"
#define BY_LATENCY "latency"

static const struct picture_format formats[] = {
	{ ".svg", CANVAS_SVG, false, 1 },
	{ ".png", CANVAS_PNG, false, PNG_SCALE },
	{ ".pdf", CANVAS_PDF, false, 1 },
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

/* --- Drawing --- */

static int draw_view(struct view *view, const struct picture_sheet *sheet, double width,
	double height, struct drawing *ret)
{
	const struct picture_format *format = sheet->format;
	_cleanup_(canvas) struct canvas *canvas = NULL;
	struct drawing drawing = { .width = width, .height = height };
	int r = canvas_new(format->canvas, width, height, format->scale, &canvas);

	/* In an HTML page the title is a heading of the page. */
	if (r >= 0)
		r = view_draw(canvas, view, width, height, !format->page,
			format->page ? &drawing.spots : NULL, &drawing.n_spots);
	if (r >= 0)
		r = canvas_finish(canvas, &drawing.data, &drawing.size);
	if (r < 0)
		drawing_clear(&drawing);
	else
		*ret = drawing;
	return r;
}

static double height_of(const struct plot *plot, const struct view *view)
{
	double height = plot->has_size ? 0 : view_height(view);

	return height > 0 ? MAX(height, (double)CHART_MIN_HEIGHT) : plot->sheet.height;
}

static int write_page(FILE *stream, struct plot *plot)
{
	int r = 0;

	page_begin(stream, &plot->views);
	for (size_t i = 0; r >= 0 && i < plot->views.n; i++) {
		struct view *view = &plot->views.items[i];
		struct drawing wide = { 0 }, narrow = { 0 };
		double height = view_height(view) > 0 ? height_of(plot, view)
			: view->kind == VIEW_CHANGE   ? HEIGHT_NARROW_CHANGE
						      : HEIGHT_NARROW;

		r = draw_view(view, &plot->sheet, WIDTH_NARROW, height, &narrow);
		/* Last: what --json says is that of the wide one. */
		if (r >= 0)
			r = draw_view(view, &plot->sheet, plot->sheet.width, height_of(plot, view),
				&wide);
		if (r >= 0)
			r = page_add(stream, &plot->views, i, &wide, &narrow);
		drawing_clear(&wide);
		drawing_clear(&narrow);
	}
	page_end(stream);
	return r;
}

/* Several views in one picture, each as large as the others. */
struct grid {
	size_t columns, rows;
	double width, height; /* of a cell */
};

/* -EINVAL, after saying so, when there is no room for all of them. */
static int find_grid(struct plot *plot, struct grid *ret)
{
	struct picture_sheet *sheet = &plot->sheet;
	size_t n = plot->views.n;
	struct grid grid = { .columns = (size_t)MAX(sheet->width / CELL_WIDTH, 1.0) };

	grid.columns = MIN(grid.columns, n);
	grid.rows = (n + grid.columns - 1) / grid.columns;
	if (!plot->has_size)
		sheet->height = MAX(sheet->height, (double)(grid.rows * CELL_HEIGHT));
	/* A flat picture has them beside each other. */
	while (sheet->height / (double)grid.rows < CHART_MIN_HEIGHT && grid.columns < n &&
		sheet->width / (double)(grid.columns + 1) >= CHART_MIN_WIDTH) {
		grid.columns++;
		grid.rows = (n + grid.columns - 1) / grid.columns;
	}
	grid.width = sheet->width / (double)grid.columns;
	grid.height = sheet->height / (double)grid.rows;
	if (grid.width >= CHART_MIN_WIDTH && grid.height >= CHART_MIN_HEIGHT &&
		sheet->height * sheet->format->scale <= 32000) {
		*ret = grid;
		return 0;
	}
	say("%zu pictures have no room in %gx%g points: choose with -b, give a larger --size, or "
	    "write an .html file",
		n, sheet->width, sheet->height);
	return -EINVAL;
}

static int write_grid(FILE *stream, struct plot *plot, const struct grid *grid)
{
	const struct picture_sheet *sheet = &plot->sheet;
	_cleanup_(canvas) struct canvas *canvas = NULL;
	_cleanup_free_ char *data = NULL;
	size_t size;
	int r = canvas_new(
		sheet->format->canvas, sheet->width, sheet->height, sheet->format->scale, &canvas);

	for (size_t i = 0; r >= 0 && i < plot->views.n; i++) {
		size_t row = i / grid->columns, column = i % grid->columns;

		canvas_begin_cell(canvas, (double)column * grid->width, (double)row * grid->height,
			grid->width, grid->height);
		r = view_draw(
			canvas, &plot->views.items[i], grid->width, grid->height, true, NULL, NULL);
		canvas_end_cell(canvas);
	}
	if (r >= 0)
		r = canvas_finish(canvas, &data, &size);
	if (r >= 0)
		fwrite(data, 1, size, stream);
	return r;
}

/* Writes the file. -EINVAL, after saying so, when it cannot be written. */
static int write_file(struct plot *plot)
{
	struct picture_sheet *sheet = &plot->sheet;
	_cleanup_(file_replace) struct file_replace *file = NULL;
	struct grid grid = { 1, 1, sheet->width, sheet->height };
	int r = 0;

	if (!sheet->format->page && plot->views.n > 1)
		r = find_grid(plot, &grid);
	else if (!sheet->format->page)
		sheet->height = grid.height = height_of(plot, &plot->views.items[0]);
	if (r < 0)
		return r;
	r = xcheck(file_replace_begin(sheet->output, &file));
	if (r < 0) {
		say("cannot write %s: %s", sheet->output, file_replace_explain(r));
		return -EINVAL;
	}
	r = sheet->format->page ? write_page(file_replace_stream(file), plot)
				: write_grid(file_replace_stream(file), plot, &grid);
	if (r < 0)
		return r;
	r = xcheck(file_replace_commit(TAKE_PTR(file)));
	if (r < 0) {
		say_errno(r, "cannot write %s", sheet->output);
		return -EINVAL;
	}
	return 0;
}

/* --- What is drawn --- */

static char *scan_title(const struct scan *scan)
{
	if (scan->n == 1)
		return xptr(text_escape_control(scan->curves[0].name));
	return xformat("by %s", scan->parameter);
}

static int add_benchmark(const char *file, const struct benchmark *benchmark, void *context)
{
	return pictures_add(context, file, benchmark);
}

static int add_samples(struct plot *plot)
{
	int r = reports_each(plot->request, &plot->reports, add_benchmark, &plot->pictures);

	if (r >= 0 && plot->pictures.n == 0) {
		say("there is no value to draw");
		return -EINVAL;
	}
	if (r >= 0)
		r = pictures_fill(&plot->pictures);
	for (size_t i = 0; r >= 0 && i < plot->pictures.n; i++) {
		struct picture *picture = &plot->pictures.items[i];

		views_add(&plot->views, VIEW_SAMPLES, xptr(text_escape_control(picture->title)))
			->picture = picture;
	}
	return r;
}

/* Compares what can be compared. -ENODATA when there is nothing; said where it was asked for. */
static int find_changes(struct plot *plot)
{
	bool asked = plot->request->by;
	int r;

	plot->pairs = (struct pairs){
		.request = plot->request, .reports = &plot->reports, .quiet = !asked
	};
	plot->pairs.repeats.n_together = plot->reports.suites[0]->n;
	r = pairs_make(&plot->pairs);
	if (r < 0)
		return r;
	if (plot->pairs.n == 0)
		return -ENODATA;
	pairs_settle(&plot->pairs);
	return changes_new(&plot->pairs, &plot->changes);
}

/* A picture where there are quantiles. */
static int add_latencies(struct plot *plot)
{
	int r = latencies_new(plot->request, &plot->reports, &plot->latencies);

	if (r >= 0 && plot->latencies.n > 0)
		views_add(&plot->views, VIEW_LATENCY, xptr(strdup("how long requests took")))
			->latencies = &plot->latencies;
	return r;
}

/* A page has all of them, and the samples; another file has one picture. */
static int add_changes(struct plot *plot)
{
	bool page = plot->sheet.format->page;
	int r;

	if (plot->changes.n > 1)
		views_add(&plot->views, VIEW_FOREST, forest_title(&plot->changes))->changes =
			&plot->changes;
	for (size_t i = 0; (page || plot->changes.n == 1) && i < plot->changes.n; i++)
		views_add(&plot->views, VIEW_CHANGE, xptr(strdup(plot->changes.items[i].title)))
			->change = &plot->changes.items[i];
	if (!page)
		return 0;
	r = add_latencies(plot);
	return r < 0 ? r : add_samples(plot);
}

static int add_trends(struct plot *plot)
{
	const struct request *request = plot->request;
	size_t needed;
	int r = trends_new(plot->reports.suites, request->files, plot->reports.n,
		request->benchmark, &plot->trends);

	if (r < 0)
		return r;
	if (plot->trends->n == 0 && request->benchmark) {
		reports_say_none(request, &plot->reports);
		return -ENOENT;
	}
	if (plot->trends->n == 0) {
		say("there is no value to draw");
		return -EINVAL;
	}
	needed = levels_changes_needed(plot->trends->n_together);
	for (size_t i = 0; i < plot->trends->n; i++) {
		const struct trend *trend = &plot->trends->items[i];
		_cleanup_free_ char *title = trend_headline(trend, needed);

		views_add(&plot->views, VIEW_TREND, xptr(text_escape_control(title)))->trend =
			trend;
	}
	return 0;
}

static bool is_by(const struct plot *plot, const char *word)
{
	return plot->request->by && strcmp(plot->request->by, word) == 0;
}

/* Chooses what is drawn: what was asked for, or a history of a folder, else a scan, else
 * comparisons, else the samples. */
static int find_views(struct plot *plot, bool has_folder)
{
	bool is_open = !plot->request->by;
	int r = -ENODATA;

	if (is_by(plot, BY_DATE) || (is_open && has_folder))
		return add_trends(plot);
	if (is_by(plot, BY_LATENCY)) {
		r = add_latencies(plot);
		if (r < 0 || plot->views.n > 0)
			return r;
		say("--by: no program has quantiles of how long requests took, such as p50 and p99");
		return -ENOENT;
	}
	if (!is_by(plot, BY_RUN) && !is_by(plot, BY_CHANGE))
		r = scan_new(plot->request, &plot->reports, &plot->scan);
	if (r >= 0) {
		views_add(&plot->views, VIEW_SCAN, scan_title(&plot->scan))->scan = &plot->scan;
		return 0;
	}
	if (r == -ENODATA && (is_open || is_by(plot, BY_CHANGE))) {
		r = find_changes(plot);
		if (r >= 0)
			return add_changes(plot);
	}
	if (r != -ENODATA)
		return r;
	r = plot->sheet.format->page && is_open ? add_latencies(plot) : 0;
	return r < 0 ? r : add_samples(plot);
}

static void plot_clear(struct plot *plot)
{
	views_clear(&plot->views);
	scan_clear(&plot->scan);
	changes_clear(&plot->changes);
	if (plot->pairs.labels)
		pairs_clear(&plot->pairs);
	trends_free(plot->trends);
	latencies_clear(&plot->latencies);
	pictures_clear(&plot->pictures);
	reports_clear(&plot->reports);
}

enum exit_status verb_plot(const struct request *request)
{
	_cleanup_folders_ struct file_names files = { 0 };
	struct request all = *request;
	struct plot plot = {
		.request = &all,
		.sheet = { .output = request->output,
			.format = request->output ? find_format(request->output) : NULL,
			.width = WIDTH_DEFAULT,
			.height = HEIGHT_DEFAULT },
		.has_size = request->size,
	};
	enum exit_status status;
	int r;

	if (!plot.sheet.format) {
		say("plot needs -o FILE, and FILE ends in .svg, .png, .pdf or .html");
		return EXIT_USAGE;
	}
	if (request->size && parse_size(request->size, &plot.sheet.width, &plot.sheet.height) < 0) {
		say("--size: '%s' is not WIDTHxHEIGHT, from %dx%d to 16000x16000", request->size,
			CHART_MIN_WIDTH, CHART_MIN_HEIGHT);
		return EXIT_USAGE;
	}
	if (!isnan(request->margin) && request->by && !is_by(&plot, BY_CHANGE)) {
		say("--margin is of a comparison: --by %s shows none", request->by);
		return EXIT_USAGE;
	}
	if (!isnan(request->margin))
		all.by = BY_CHANGE;
	if (folders_expand(request, &files) < 0)
		return EXIT_FAILED;
	all.files = files.items;
	all.n_files = files.n;
	if (reports_read(&all, true, &plot.reports) < 0)
		return EXIT_FAILED;
	plot.views.pictures = &plot.pictures;
	r = find_views(&plot, files.has_folder);
	if (r >= 0)
		r = write_file(&plot);
	if (r >= 0 && request->json)
		r = views_emit(stdout, &plot.views, &plot.sheet);
	/* These errors are due to the request, and were said before. */
	if (r == -EINVAL || r == -E2BIG || r == -ENOENT)
		status = EXIT_FAILED;
	else
		status = request_conclude(&all, r);
	plot_clear(&plot);
	return status;
}
