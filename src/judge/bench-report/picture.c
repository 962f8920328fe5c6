// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "judge/bench-report/bench-report.h"
#include "judge/bench-report/files.h"
#include "judge/bench-report/picture.h"
#include "judge/result/metadata.h"

/* Medians that differ by more than this factor do not share an axis. */
#define SAME_AXIS 5

void curve_clear(struct curve *curve)
{
	free(curve->name);
	free(curve->values);
	for (size_t row = 0; row < CHART_MAX_ROWS; row++)
		free(curve->rows[row]);
	free(curve->causes);
	free(curve->runs);
	analysis_free(curve->analysis);
	free(curve->levels.items);
}

void pictures_clear(struct pictures *pictures)
{
	for (size_t i = 0; i < pictures->n; i++) {
		struct picture *picture = &pictures->items[i];

		for (size_t k = 0; k < picture->n; k++)
			curve_clear(&picture->curves[k]);
		free(picture->title);
		free(picture->subtitle);
	}
	free(pictures->items);
	*pictures = (struct pictures){ 0 };
}

/* --- Which benchmarks are drawn together. --- */

/* Of what a program measured itself, "PROGRAM: VALUE", the part that other programs have as well;
 * "" of whole runs. */
static const char *own_part(const struct benchmark *benchmark)
{
	const char *colon = strrchr(benchmark->name, ':');

	return benchmark_is_by_program(benchmark) && colon ? colon : "";
}

/* Whether one axis shows both: a median is not many times the other one. */
static bool have_one_magnitude(const struct benchmark *a, const struct benchmark *b)
{
	double x, y;

	if (benchmark_median(a, &x) < 0 || benchmark_median(b, &y) < 0)
		return false;
	return x == y || (fabs(x) <= SAME_AXIS * fabs(y) && fabs(y) <= SAME_AXIS * fabs(x));
}

static bool belong_together(
	const struct curve *a, const char *file, const struct benchmark *benchmark)
{
	const char *interleaved = facts_find_string(&a->benchmark->metadata, "quiesce_interleaved");
	const char *other_interleaved =
		facts_find_string(&benchmark->metadata, "quiesce_interleaved");
	bool in_turn = interleaved && other_interleaved && a->file == file &&
		strcmp(interleaved, other_interleaved) == 0 &&
		strcmp(own_part(a->benchmark), own_part(benchmark)) == 0;

	return (metadata_equal_strings(a->benchmark->name, benchmark->name) || in_turn) &&
		unit_is_same(a->benchmark->unit, benchmark->unit) &&
		benchmark_is_same_metric(a->benchmark, benchmark) &&
		have_one_magnitude(a->benchmark, benchmark);
}

int pictures_add(struct pictures *pictures, const char *file, const struct benchmark *benchmark)
{
	struct picture *picture = NULL;

	if (benchmark->n_values == 0)
		return 0;
	for (size_t i = 0; !picture && i < pictures->n; i++) {
		struct picture *other = &pictures->items[i];

		for (size_t k = 0; !picture && other->n < CHART_MAX_SERIES && k < other->n; k++)
			if (belong_together(&other->curves[k], file, benchmark))
				picture = other;
	}
	if (!picture) {
		pictures->items = xptr(
			reallocarray(pictures->items, pictures->n + 1, sizeof(*pictures->items)));
		picture = &pictures->items[pictures->n++];
		*picture = (struct picture){ 0 };
	}
	picture->curves[picture->n++] = (struct curve){ .file = file, .benchmark = benchmark };
	return 0;
}

/* --- The texts. --- */

/* The name of a curve: the file, the benchmark, or both, as needed to tell the curves apart. */
static char *curve_name(const struct picture *picture, const struct curve *curve)
{
	const struct curve *first = &picture->curves[0];
	_cleanup_free_ char *plain = NULL;
	struct text t = { 0 };
	bool files = false, names = false;

	for (size_t i = 1; i < picture->n; i++) {
		files = files || strcmp(picture->curves[i].file, first->file) != 0;
		names = names ||
			strcmp(picture->curves[i].benchmark->name, first->benchmark->name) != 0;
	}
	if (files)
		text_append(&t, file_label(curve->file));
	if (names || !files)
		text_appendf(&t, "%s%s", files ? ": " : "", curve->benchmark->name);
	plain = xptr(text_steal(&t));
	return xptr(text_escape_control(plain));
}

static char *picture_title(const struct picture *picture)
{
	const struct benchmark *first = picture->curves[0].benchmark;
	const char *interleaved = facts_find_string(&first->metadata, "quiesce_interleaved");
	struct text t = { 0 };

	text_append(&t, picture->n > 1 && interleaved ? interleaved : first->name);
	if (picture->n > 1 && interleaved)
		text_append(&t, own_part(first));
	if (first->metric && !first->is_figure)
		text_appendf(&t, " (%s)", first->metric);
	return xptr(text_steal(&t));
}

char *benchmark_subtitle(const struct benchmark *benchmark)
{
	static const struct {
		const char *key, *before;
	} facts[] = {
		{ "cpu_model_name", "" },
		{ "quiesce_cpus", "CPU " },
		{ "platform", "" },
	};
	struct text t = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(facts); i++) {
		const char *value = facts_find_string(&benchmark->metadata, facts[i].key);

		if (!value)
			continue;
		text_append(&t, t.length > 0 ? ", " : "");
		text_append(&t, facts[i].before);
		text_append(&t, value);
	}
	return xptr(text_steal(&t));
}

/* --- The data. --- */

static void curve_allocate(struct curve *curve, size_t n)
{
	const struct run_fact *strips[RUN_FACTS_MAX];
	size_t n_rows = chart_list_rows(strips);

	curve->values = xptr(reallocarray(NULL, n, sizeof(*curve->values)));
	curve->causes = xptr(reallocarray(NULL, n, sizeof(*curve->causes)));
	curve->runs = xptr(reallocarray(NULL, n, sizeof(*curve->runs)));
	for (size_t i = 0; i < n_rows; i++)
		curve->rows[i] = xptr(reallocarray(NULL, n, sizeof(*curve->rows[i])));
}

/* What a strip shows of a run; NAN when it is not known. */
static double find_strip(const struct run_fact *fact, const struct series *series, size_t run)
{
	struct run_place place = run_place_of(series, run, NULL);
	int64_t window_ns = sample_window_ns(&series->samples[run]), ns;

	if (!fact->strip.part_of_run)
		return run_fact_real(fact, &place);
	/* Older results may count waits from outside of the window. */
	return window_ns > 0 && run_fact_number(fact, &place, &ns)
		? MIN((double)ns / (double)window_ns, 1.0)
		: NAN;
}

static void curve_append(struct curve *curve, size_t run, double value)
{
	const struct series *series = curve->benchmark->series;
	const struct run_fact *strips[RUN_FACTS_MAX];
	size_t at = curve->n++, n_rows = chart_list_rows(strips);

	curve->values[at] = value;
	curve->causes[at] = curve->analysis->stability->disturbances.causes[run];
	curve->runs[at] = run;
	for (size_t i = 0; i < n_rows; i++)
		curve->rows[i][at] = find_strip(strips[i], series, run);
}

/* Warm-up runs, as runpinned makes them, come before the values. Warm-up values within a run are
 * left out, because they have no place on this axis. */
static void curve_fill(struct curve *curve)
{
	const struct benchmark *b = curve->benchmark;
	size_t n_runs = b->series->n_samples, leading = 0, warmup = 0, value = 0;

	while (leading < n_runs && !sample_counts(&b->series->samples[leading]))
		leading++;
	curve_allocate(curve, b->n_warmups + b->n_values);
	for (size_t run = 0; run < leading; run++) {
		size_t end = b->runs ? b->runs[run].warmup_end : warmup + 1;

		for (; warmup < MIN(end, b->n_warmups); warmup++)
			curve_append(curve, run, b->warmups[warmup].value);
	}
	curve->n_warmups = curve->n;
	for (size_t run = leading; run < n_runs; run++) {
		size_t first = value, n = sample_counts(&b->series->samples[run]);

		if (b->runs)
			benchmark_run_values(b, run, &first, &n);
		for (value = first; value < first + n; value++)
			curve_append(curve, run, b->values[value]);
	}
}

int curve_fill_units(struct curve *curve)
{
	const struct benchmark *b = curve->benchmark;
	bool by_run = benchmark_units_are_runs(b);
	_cleanup_free_ double *units = NULL;
	size_t n = 0, run = 0;
	int r = analysis_new(b, &curve->analysis);

	if (r >= 0)
		r = benchmark_units(b, &units, &n);
	if (r < 0)
		return r;
	curve_allocate(curve, n);
	/* Where the units are values, they are of the only run that has some. */
	for (size_t i = 0; i < n; i++, run += by_run) {
		size_t first, n_values = 0;

		for (; run < b->series->n_samples; run++) {
			n_values = sample_counts(&b->series->samples[run]);
			if (b->runs)
				benchmark_run_values(b, run, &first, &n_values);
			if (n_values > 0)
				break;
		}
		curve_append(curve, MIN(run, b->series->n_samples - 1), units[i]);
	}
	return 0;
}

/* Levels are found among runs; on this axis a level begins at the first value of its first run. */
static void curve_find_levels(struct curve *curve)
{
	const struct benchmark *b = curve->benchmark;
	const struct levels *levels = curve->analysis->levels;
	bool by_run = b->runs && benchmark_units_are_runs(b);
	size_t unit = 0, level = 0;

	curve->levels = *levels;
	curve->levels.items = xptr(reallocarray(NULL, levels->n, sizeof(*levels->items)));
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
}

static int picture_fill(struct picture *picture)
{
	bool by_run = true;

	for (size_t i = 0; i < picture->n; i++) {
		struct curve *curve = &picture->curves[i];
		int r;

		curve->name = curve_name(picture, curve);
		r = analysis_new(curve->benchmark, &curve->analysis);
		if (r < 0)
			return r;
		curve_find_levels(curve);
		curve_fill(curve);
		by_run = by_run &&
			benchmark_counted_runs(curve->benchmark) == curve->benchmark->n_values;
	}
	picture->what = by_run ? "run" : "value";
	picture->title = picture_title(picture);
	picture->subtitle = benchmark_subtitle(picture->curves[0].benchmark);
	return 0;
}

int pictures_fill(struct pictures *pictures)
{
	for (size_t i = 0; i < pictures->n; i++) {
		int r = picture_fill(&pictures->items[i]);

		if (r < 0)
			return r;
	}
	return 0;
}
