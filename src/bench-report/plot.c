// SPDX-License-Identifier: GPL-2.0-or-later
/* plot: pictures of benchmarks. What belongs together is one picture: benchmarks of one name in
 * several files, and programs that runpinned measured in turn. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "basic/file.h"
#include "basic/macro.h"
#include "basic/parse.h"
#include "basic/text.h"
#include "bench-report/bench-report.h"
#include "bench-report/page.h"
#include "result/chart.h"
#include "result/metadata.h"

enum {
	WIDTH_DEFAULT = 1000,
	HEIGHT_DEFAULT = 600,
	/* A PNG has this many pixels a point: screens and projectors show points larger than pixels
	 * nowadays. */
	PNG_SCALE = 2,
};

/* A benchmark as it is drawn: an entry for each warm-up in front, then one for each value. */
struct curve {
	const char *file;
	const struct benchmark *benchmark;
	char *name; /* fit for a picture */
	double *values;
	double *temperature;
	double *frequency;
	uint32_t *flags;
	size_t n;
	size_t n_warmups;
	struct analysis *analysis;
	struct levels levels; /* by value; items are ours */
};

struct picture {
	struct curve curves[CHART_MAX_SERIES];
	size_t n;
	char *title;
	char *subtitle;
};

struct plot {
	const struct request *request;
	struct picture *pictures;
	size_t n;
};

static void plot_clear(struct plot *plot)
{
	for (size_t i = 0; i < plot->n; i++) {
		struct picture *picture = &plot->pictures[i];

		for (size_t k = 0; k < picture->n; k++) {
			struct curve *curve = &picture->curves[k];

			free(curve->name);
			free(curve->values);
			free(curve->temperature);
			free(curve->frequency);
			free(curve->flags);
			analysis_free(curve->analysis);
			free(curve->levels.items);
		}
		free(picture->title);
		free(picture->subtitle);
	}
	free(plot->pictures);
}

/* --- What is drawn together. --- */

static const char *find_string(const struct benchmark *benchmark, const char *name)
{
	const struct fact *fact = facts_find(&benchmark->metadata, name);

	return fact && fact->type == FACT_STRING ? fact->string : NULL;
}

static bool belong_together(
	const struct curve *a, const char *file, const struct benchmark *benchmark)
{
	const char *rivals = find_string(a->benchmark, "quiesce_interleaved");
	const char *its_rivals = find_string(benchmark, "quiesce_interleaved");

	if (a->benchmark->unit != benchmark->unit)
		return false;
	return metadata_equal_strings(a->benchmark->name, benchmark->name) ||
		(rivals && its_rivals && a->file == file && strcmp(rivals, its_rivals) == 0);
}

static int add_benchmark(const char *file, const struct benchmark *benchmark, void *context)
{
	struct plot *plot = context;
	struct picture *pictures, *picture = NULL;

	if (benchmark->n_values == 0)
		return 0;
	for (size_t i = 0; !picture && i < plot->n; i++)
		for (size_t k = 0; !picture && k < plot->pictures[i].n; k++)
			if (belong_together(&plot->pictures[i].curves[k], file, benchmark))
				picture = &plot->pictures[i];
	if (!picture) {
		pictures = reallocarray(plot->pictures, plot->n + 1, sizeof(*pictures));
		if (!pictures)
			return -ENOMEM;
		plot->pictures = pictures;
		picture = &pictures[plot->n++];
		*picture = (struct picture){ 0 };
	}
	if (picture->n == CHART_MAX_SERIES) {
		say("more than %d benchmarks belong into one picture: choose with -b, or give fewer files",
			CHART_MAX_SERIES);
		return -E2BIG;
	}
	picture->curves[picture->n++] = (struct curve){ .file = file, .benchmark = benchmark };
	return 0;
}

/* --- What stands in its words. --- */

/* What tells the curves of a picture apart: the file, the benchmark, or both. */
static char *curve_name(const struct picture *picture, const struct curve *curve)
{
	const struct curve *first = &picture->curves[0];
	_cleanup_text_ struct text t = { 0 };
	_cleanup_free_ char *plain = NULL;
	bool files = false, names = false;

	for (size_t i = 1; i < picture->n; i++) {
		files = files || strcmp(picture->curves[i].file, first->file) != 0;
		names = names ||
			strcmp(picture->curves[i].benchmark->name, first->benchmark->name) != 0;
	}
	if (files)
		text_append(&t, strcmp(curve->file, "-") == 0 ? "standard input" : curve->file);
	if (names || !files)
		text_appendf(&t, "%s%s", files ? ": " : "", curve->benchmark->name);
	plain = text_steal(&t);
	return plain ? text_escape_control(plain) : NULL;
}

static char *picture_title(const struct picture *picture)
{
	const struct benchmark *first = picture->curves[0].benchmark;
	const char *rivals = find_string(first, "quiesce_interleaved");

	return text_escape_control(picture->n > 1 && rivals ? rivals : first->name);
}

/* The machine, of which the first file tells. */
static char *picture_subtitle(const struct picture *picture)
{
	static const struct {
		const char *key, *before;
	} facts[] = {
		{ "cpu_model_name", "" },
		{ "quiesce_cpus", "CPU " },
		{ "platform", "" },
	};
	_cleanup_text_ struct text t = { 0 };
	_cleanup_free_ char *plain = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(facts); i++) {
		const char *value = find_string(picture->curves[0].benchmark, facts[i].key);

		if (!value)
			continue;
		text_append(&t, t.length > 0 ? ", " : "");
		text_append(&t, facts[i].before);
		text_append(&t, value);
	}
	plain = text_steal(&t);
	return plain ? text_escape_control(plain) : NULL;
}

/* --- Its data. --- */

static int curve_allocate(struct curve *curve, size_t n)
{
	curve->values = reallocarray(NULL, n, sizeof(*curve->values));
	curve->temperature = reallocarray(NULL, n, sizeof(*curve->temperature));
	curve->frequency = reallocarray(NULL, n, sizeof(*curve->frequency));
	curve->flags = reallocarray(NULL, n, sizeof(*curve->flags));
	return curve->values && curve->temperature && curve->frequency && curve->flags ? 0
										       : -ENOMEM;
}

static void curve_append(struct curve *curve, size_t run, double value)
{
	const struct series *series = curve->benchmark->series;
	const struct evidence *evidence = series->evidence ? &series->evidence[run] : NULL;
	size_t at = curve->n++;

	curve->values[at] = value;
	curve->flags[at] = series->samples[run].flags;
	curve->temperature[at] = NAN;
	curve->frequency[at] = NAN;
	if (!evidence)
		return;
	curve->temperature[at] = isfinite(evidence->temperature_after)
		? (double)evidence->temperature_after
		: (double)evidence->temperature_before;
	if (evidence->frequency_khz > 0)
		curve->frequency[at] = (double)evidence->frequency_khz * 1e3;
}

/* Warm-ups of their own runs, as runpinned has them, stand in front of the values; those that are
 * within a run are left out: they have no place on this axis. */
static int curve_fill(struct curve *curve)
{
	const struct benchmark *b = curve->benchmark;
	size_t n_runs = b->series->n_samples, leading = 0, warmup = 0, value = 0;
	int r;

	while (leading < n_runs && b->series->samples[leading].warmup)
		leading++;
	r = curve_allocate(curve, b->n_warmups + b->n_values);
	if (r < 0)
		return r;
	for (size_t run = 0; run < leading; run++) {
		size_t end = b->runs ? b->runs[run].warmup_end : warmup + 1;

		for (; warmup < MIN(end, b->n_warmups); warmup++)
			curve_append(curve, run, b->warmups[warmup].value);
	}
	curve->n_warmups = curve->n;
	for (size_t run = leading; run < n_runs; run++) {
		size_t first = value, n = !b->series->samples[run].warmup;

		if (b->runs)
			benchmark_run_values(b, run, &first, &n);
		for (value = first; value < first + n; value++)
			curve_append(curve, run, b->values[value]);
	}
	return 0;
}

/* Levels are of runs; on this axis they begin with a run's first value. */
static int curve_find_levels(struct curve *curve)
{
	const struct benchmark *b = curve->benchmark;
	const struct levels *levels = curve->analysis->levels;
	bool by_run = b->runs && benchmark_units_are_runs(b);
	size_t unit = 0, level = 0;

	curve->levels = *levels;
	curve->levels.items = reallocarray(NULL, levels->n, sizeof(*levels->items));
	if (!curve->levels.items)
		return -ENOMEM;
	memcpy(curve->levels.items, levels->items, levels->n * sizeof(*levels->items));
	for (size_t run = 0; by_run && run < b->series->n_samples; run++) {
		size_t first, n;

		benchmark_run_values(b, run, &first, &n);
		if (n == 0)
			continue;
		if (level < levels->n && levels->items[level].first == unit)
			curve->levels.items[level++].first = first;
		unit++;
	}
	for (size_t i = 0; by_run && i < levels->n; i++) {
		size_t next = i + 1 < levels->n ? curve->levels.items[i + 1].first : b->n_values;

		curve->levels.items[i].n = next - curve->levels.items[i].first;
	}
	return 0;
}

static int picture_fill(struct picture *picture)
{
	for (size_t i = 0; i < picture->n; i++) {
		struct curve *curve = &picture->curves[i];
		int r;

		curve->name = curve_name(picture, curve);
		r = curve->name ? analysis_new(curve->benchmark, &curve->analysis) : -ENOMEM;
		if (r >= 0)
			r = curve_find_levels(curve);
		if (r >= 0)
			r = curve_fill(curve);
		if (r < 0)
			return r;
	}
	picture->title = picture_title(picture);
	picture->subtitle = picture_subtitle(picture);
	return picture->title && picture->subtitle ? 0 : -ENOMEM;
}

/* --- Drawing it. --- */

struct format {
	const char *suffix;
	enum canvas_format canvas;
	bool page;
};

static const struct format formats[] = {
	{ ".svg", CANVAS_SVG, false },
	{ ".png", CANVAS_PNG, false },
	{ ".html", CANVAS_SVG, true },
};

static const struct format *find_format(const char *path)
{
	size_t length = strlen(path);

	for (size_t i = 0; i < ARRAY_SIZE(formats); i++) {
		size_t suffix = strlen(formats[i].suffix);

		if (length > suffix && strcmp(path + length - suffix, formats[i].suffix) == 0)
			return &formats[i];
	}
	return NULL;
}

/* "1000x600" */
static int parse_size(const char *text, double *ret_width, double *ret_height)
{
	const char *x = strchr(text, 'x');
	unsigned width, height;
	char first[16];

	if (!x || (size_t)(x - text) >= sizeof(first))
		return -EINVAL;
	memcpy(first, text, (size_t)(x - text));
	first[x - text] = '\0';
	/* A PNG of this size is within what cairo can. */
	if (parse_uint(first, CHART_MIN_WIDTH, 16000, &width) < 0 ||
		parse_uint(x + 1, CHART_MIN_HEIGHT, 16000, &height) < 0)
		return -EINVAL;
	*ret_width = width;
	*ret_height = height;
	return 0;
}

static int draw(const struct picture *picture, const struct format *format, double width,
	double height, struct drawing *ret)
{
	_cleanup_(canvas) struct canvas *canvas = NULL;
	struct chart_series series[CHART_MAX_SERIES];
	bool by_run = true;
	struct chart_options options = {
		.width = width,
		.height = height,
		/* A page has it as its heading. */
		.title = format->page ? NULL : picture->title,
		.subtitle = picture->subtitle,
		.unit = picture->curves[0].benchmark->unit,
	};
	struct drawing drawing = { .width = width, .height = height };
	int r;

	for (size_t i = 0; i < picture->n; i++) {
		const struct curve *curve = &picture->curves[i];

		by_run = by_run &&
			benchmark_counted_runs(curve->benchmark) == curve->benchmark->n_values;
		series[i] = (struct chart_series){
			.name = curve->name,
			.values = curve->values,
			.flags = curve->flags,
			.temperature = curve->temperature,
			.frequency = curve->frequency,
			.n = curve->n,
			.n_warmups = curve->n_warmups,
			.levels = &curve->levels,
		};
	}
	options.what = drawing.what = by_run ? "run" : "value";
	r = canvas_new(format->canvas, width, height, format->canvas == CANVAS_PNG ? PNG_SCALE : 1,
		&canvas);
	if (r < 0)
		return r;
	r = chart_draw(canvas, series, picture->n, &options, format->page ? &drawing.spots : NULL,
		&drawing.n_spots);
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
			.flags = curve->flags,
			.temperature = curve->temperature,
			.frequency = curve->frequency,
			.n_warmups = curve->n_warmups,
		};
	}
}

static int write_picture(FILE *stream, const struct picture *picture, const struct format *format,
	double width, double height)
{
	struct page_curve curves[CHART_MAX_SERIES];
	struct drawing drawing;
	int r;

	r = draw(picture, format, width, height, &drawing);
	if (r < 0)
		return r;
	if (format->page) {
		fill_page_curves(picture, curves);
		r = page_add(stream, picture->title, curves, picture->n, &drawing);
	} else {
		fwrite(drawing.data, 1, drawing.size, stream);
	}
	drawing_clear(&drawing);
	return r;
}

/* -EINVAL when one file cannot hold them, which is said. */
static int check_number(const struct plot *plot, const struct format *format)
{
	_cleanup_text_ struct text names = { 0 };
	_cleanup_free_ char *plain = NULL;

	if (plot->n == 0) {
		say("there is no value to draw");
		return -EINVAL;
	}
	if (plot->n == 1 || format->page)
		return 0;
	for (size_t i = 0; i < plot->n; i++)
		text_appendf(&names, "%s%s", i > 0 ? ", " : "",
			plot->pictures[i].curves[0].benchmark->name);
	plain = names.failed ? NULL : text_escape_control(names.data);
	say("a %s file holds one picture, and these make several: %s: choose one with -b, or write "
	    "an .html file",
		format->suffix + 1, plain ? plain : "");
	return -EINVAL;
}

static int write_file(
	const struct plot *plot, const struct format *format, double width, double height)
{
	const char *path = plot->request->output;
	_cleanup_(file_replace) struct file_replace *file = NULL;
	FILE *stream;
	int r;

	r = file_replace_begin(path, &file);
	if (r < 0) {
		say_errno(r, "cannot write %s", path);
		return -EINVAL;
	}
	stream = file_replace_stream(file);
	if (format->page)
		page_begin(stream);
	for (size_t i = 0; i < plot->n; i++) {
		r = write_picture(stream, &plot->pictures[i], format, width, height);
		if (r < 0)
			return r;
	}
	if (format->page)
		page_end(stream);
	r = file_replace_commit(TAKE_PTR(file));
	if (r < 0) {
		say_errno(r, "cannot write %s", path);
		return -EINVAL;
	}
	return 0;
}

enum exit_status verb_plot(const struct request *request)
{
	_cleanup_reports_ struct reports reports = { 0 };
	struct plot plot = { .request = request };
	const struct format *format = request->output ? find_format(request->output) : NULL;
	double width = WIDTH_DEFAULT, height = HEIGHT_DEFAULT;
	int r;

	if (!format) {
		say("plot needs -o FILE, and FILE ends in .svg, .png or .html");
		return EXIT_USAGE;
	}
	if (request->size && parse_size(request->size, &width, &height) < 0) {
		say("--size: '%s' is not WIDTHxHEIGHT, from %dx%d to 16000x16000", request->size,
			CHART_MIN_WIDTH, CHART_MIN_HEIGHT);
		return EXIT_USAGE;
	}
	if (reports_read(request, true, &reports) < 0)
		return EXIT_FAILED;
	r = reports_each(request, &reports, add_benchmark, &plot);
	if (r >= 0)
		r = check_number(&plot, format);
	for (size_t i = 0; r >= 0 && i < plot.n; i++)
		r = picture_fill(&plot.pictures[i]);
	if (r >= 0)
		r = write_file(&plot, format, width, height);
	plot_clear(&plot);
	/* What is in the request's hands was said. */
	if (r == -EINVAL || r == -E2BIG || r == -ENOENT)
		return EXIT_FAILED;
	return conclude(request, r);
}
