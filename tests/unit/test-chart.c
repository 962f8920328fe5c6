// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "judge/bench-report/chart.h"
#include "judge/bench-report/ticks.h"
#include "judge/result/series.h"

/* Which strips these are. */
enum {
	TEMPERATURE,
	FREQUENCY,
};

static void test_ticks(void **state)
{
	static const struct {
		double low, high;
		size_t max_n;
		double first, step;
		size_t n;
		int decimals;
	} cases[] = {
		{ 0, 10, 11, 0, 1, 11, 0 },
		{ 0, 10, 6, 0, 2, 6, 0 },
		{ 0, 10, 3, 0, 5, 3, 0 },
		{ 0.3, 9.7, 11, 1, 1, 9, 0 },
		{ -1, 1, 5, -1, 0.5, 5, 1 },
		{ 10.5, 20.9, 6, 12, 2, 5, 0 },
		{ 0.994, 1.006, 13, 0.994, 0.001, 13, 3 },
		{ 1e-9, 9e-9, 5, 2e-9, 2e-9, 4, 9 },
		{ 0, 1e6, 3, 0, 5e5, 3, 0 },
	};
	struct ticks t;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		assert_int_equal(ticks_find(cases[i].low, cases[i].high, cases[i].max_n, &t), 0);
		assert_true(fabs(t.step / cases[i].step - 1) < 1e-9);
		assert_true(fabs(t.first - cases[i].first) < cases[i].step * 1e-6);
		assert_int_equal(t.n, cases[i].n);
		assert_int_equal(t.decimals, cases[i].decimals);
	}
	/* The mark in the middle is 0, not 1e-17. */
	assert_int_equal(ticks_find(-0.3, 0.3, 7, &t), 0);
	assert_true(ticks_at(&t, 3) == 0);
}

static void test_ticks_stay_inside(void **state)
{
	(void)state;
	srand48(1);
	for (int i = 0; i < 20000; i++) {
		double low = (drand48() - 0.5) * pow(10, drand48() * 24 - 12);
		double high = low + drand48() * pow(10, drand48() * 24 - 12);
		size_t max_n = 2 + (size_t)(drand48() * 20);
		struct ticks t;

		if (ticks_find(low, high, max_n, &t) < 0) {
			/* Fails only when the range is too small for doubles. */
			assert_true(high - low < fabs(low) * 1e-6 || !(low < high));
			continue;
		}
		assert_true(t.n <= max_n);
		for (size_t j = 0; j < t.n; j++) {
			assert_true(ticks_at(&t, j) >= low - t.step * 1e-5);
			assert_true(ticks_at(&t, j) <= high + t.step * 1e-5);
		}
	}
}

static void test_ticks_refuse(void **state)
{
	struct ticks t;

	(void)state;
	assert_int_equal(ticks_find(1, 1, 5, &t), -EINVAL);
	assert_int_equal(ticks_find(2, 1, 5, &t), -EINVAL);
	assert_int_equal(ticks_find(NAN, 1, 5, &t), -EINVAL);
	assert_int_equal(ticks_find(0, INFINITY, 5, &t), -EINVAL);
	assert_int_equal(ticks_find(-1.7e308, 1.7e308, 5, &t), -EINVAL);
	assert_int_equal(ticks_find(0, 1, 1, &t), -EINVAL);
}

static const struct chart_options page = {
	.width = 1000, .height = 600, .title = "title", .what = "run"
};

/* Draws on a canvas of that format and returns the result of chart_draw(). The picture is finished
 * in any case. */
static int draw(enum canvas_format format, const struct chart_series *series, size_t n,
	const struct chart_options *options, struct chart_spot **ret_spots, size_t *ret_n_spots,
	char **ret_data, size_t *ret_size)
{
	_cleanup_(canvas) struct canvas *canvas = NULL;
	int r;

	assert_int_equal(canvas_new(format, options->width, options->height, 1, &canvas), 0);
	r = chart_draw(canvas, series, n, options, NULL, ret_spots, ret_n_spots);
	assert_int_equal(canvas_finish(canvas, ret_data, ret_size), 0);
	return r;
}

static void test_formats(void **state)
{
	const double values[] = { 0.9, 1, 1.1 };
	const struct chart_series series = { .name = "a", .values = values, .n = 3 };
	char *data;
	size_t size;

	(void)state;
	assert_int_equal(draw(CANVAS_PNG, &series, 1, &page, NULL, NULL, &data, &size), 0);
	assert_true(size > 1000);
	assert_memory_equal(data, "\x89PNG\r\n\x1a\n", 8);
	/* Width and height of the header chunk, big-endian. */
	assert_memory_equal(data + 16, "\0\0\3\xe8\0\0\2\x58", 8);
	free(data);
	assert_int_equal(draw(CANVAS_SVG, &series, 1, &page, NULL, NULL, &data, &size), 0);
	assert_memory_equal(data, "<svg ", 5);
	assert_non_null(strstr(data, "</svg>"));
	free(data);
}

static void test_spots(void **state)
{
	const double values[] = { 5, 1, 2, 3, 2 };
	const uint32_t causes[] = { 0, 0, SAMPLE_IRQ, 0, 0 };
	const struct chart_series series = {
		.name = "a", .values = values, .causes = causes, .n = 5, .n_warmups = 1
	};
	_cleanup_free_ struct chart_spot *spots = NULL;
	_cleanup_free_ char *data = NULL;
	size_t n, size;

	(void)state;
	assert_int_equal(draw(CANVAS_SVG, &series, 1, &page, &spots, &n, &data, &size), 0);
	assert_int_equal(n, 5);
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(spots[i].index, i);
		assert_int_equal(spots[i].series, 0);
		assert_true(spots[i].at.x > 0 && spots[i].at.x < page.width);
		/* The spots are in the order of the runs, at equal distances. */
		if (i > 1)
			assert_true(fabs(spots[i].at.x - 2 * spots[i - 1].at.x +
					    spots[i - 2].at.x) < 1e-6);
	}
	/* A greater value is drawn higher, on a linear scale. */
	assert_true(spots[1].at.y > spots[2].at.y && spots[2].at.y > spots[3].at.y);
	assert_true(fabs(spots[1].at.y - 2 * spots[2].at.y + spots[3].at.y) < 1e-6);
	assert_true(spots[2].at.y == spots[4].at.y);
	/* The warm-up is slower than all other runs, but does not change the scale. */
	assert_true(spots[0].at.y < spots[3].at.y);
	assert_true(spots[1].at.y - spots[3].at.y > page.height / 2);
}

static void test_axes(void **state)
{
	double values[102], cool[102];
	struct chart_series series = {
		.name = "a", .values = values, .rows[TEMPERATURE] = cool, .n = 102, .n_warmups = 2
	};
	const struct chart_options flat = { .width = 1000, .height = 200, .what = "run" };
	_cleanup_(canvas) struct canvas *canvas = NULL, *low_canvas = NULL;
	struct chart_axes axes;
	char color[INK_TEXT_SIZE];

	(void)state;
	for (size_t i = 0; i < 102; i++) {
		values[i] = 1 + (double)(i % 10) / 1000;
		cool[i] = 50;
	}
	values[0] = 7; /* warm-ups do not count */
	values[50] = 1000;
	values[60] = 2000;
	values[70] = 0.001;
	assert_int_equal(canvas_new(CANVAS_SVG, page.width, page.height, 1, &canvas), 0);
	assert_int_equal(chart_draw(canvas, &series, 1, &page, &axes, NULL, NULL), 0);
	assert_true(axes.order.low == -1.5 && axes.order.high == 100.5);
	assert_true(axes.value.low < 1 && axes.value.low > 0.99);
	assert_true(axes.value.high > 1.009 && axes.value.high < 1.02);
	assert_int_equal(axes.n_above, 2);
	assert_int_equal(axes.n_below, 1);
	assert_true(axes.rows[TEMPERATURE].low == 49.5 && axes.rows[TEMPERATURE].high == 50.5);
	assert_true(axes.rows[FREQUENCY].low == axes.rows[FREQUENCY].high);
	/* Without enough room the panel is not drawn. */
	assert_int_equal(canvas_new(CANVAS_SVG, flat.width, flat.height, 1, &low_canvas), 0);
	series.rows[FREQUENCY] = cool;
	assert_int_equal(chart_draw(low_canvas, &series, 1, &flat, &axes, NULL, NULL), 0);
	assert_true(axes.value.low < axes.value.high);
	assert_true(axes.rows[TEMPERATURE].low == axes.rows[TEMPERATURE].high);
	assert_true(axes.rows[FREQUENCY].low < axes.rows[FREQUENCY].high);
	assert_string_equal(ink_text(ink_light(ink_of_series(0).ink), color), "#0073b3");
	assert_string_equal(ink_text(ink_light(ink_of_series(1).ink), color), "#e69e00");
}

/* A single value that is a thousand times the others is marked at the edge, and does not change the
 * scale. */
static void test_outlier_does_not_flatten(void **state)
{
	double values[100];
	const struct chart_series series = { .name = "a", .values = values, .n = 100 };
	_cleanup_free_ struct chart_spot *spots = NULL;
	_cleanup_free_ char *data = NULL;
	size_t n, size;
	double least = INFINITY, greatest = -INFINITY;

	(void)state;
	for (size_t i = 0; i < 100; i++)
		values[i] = 1 + (double)(i % 10) / 1000;
	values[50] = 1000;
	assert_int_equal(draw(CANVAS_SVG, &series, 1, &page, &spots, &n, &data, &size), 0);
	for (size_t i = 0; i < n; i++) {
		if (i == 50)
			continue;
		least = fmin(least, spots[i].at.y);
		greatest = fmax(greatest, spots[i].at.y);
	}
	assert_true(greatest - least > page.height / 2);
	/* A fifth of all values are not outliers, so all of them are shown. */
	for (size_t i = 0; i < 100; i += 5)
		values[i] = 1000;
	free(TAKE_PTR(spots));
	free(TAKE_PTR(data));
	assert_int_equal(draw(CANVAS_SVG, &series, 1, &page, &spots, &n, &data, &size), 0);
	assert_true(spots[0].at.y > 0);
}

static void test_more_runs_than_points(void **state)
{
	enum {
		N = 100000
	};
	double *values = malloc(N * sizeof(*values)), *cool = malloc(N * sizeof(*cool));
	uint32_t *causes = calloc(N, sizeof(*causes));
	const struct chart_series series = {
		.name = "a", .values = values, .causes = causes, .rows[TEMPERATURE] = cool, .n = N
	};
	_cleanup_free_ struct chart_spot *spots = NULL;
	_cleanup_free_ char *data = NULL;
	size_t n = 1, size;

	(void)state;
	for (size_t i = 0; i < N; i++) {
		values[i] = 1 + (double)(i * 7919 % 1000) / 1000;
		cool[i] = i % 3 ? 50 : NAN;
	}
	causes[N - 1] = SAMPLE_STEAL;
	assert_int_equal(draw(CANVAS_SVG, &series, 1, &page, &spots, &n, &data, &size), 0);
	/* So many samples are not drawn one by one, so there are no spots and the picture stays
	 * small. */
	assert_int_equal(n, 0);
	assert_true(size < 2 * 1024 * 1024);
	free(values);
	free(cool);
	free(causes);
}

static void test_odd_series(void **state)
{
	const double one[] = { 0.5 }, equal[] = { 2, 2, 2 }, zero[] = { 0, 0 };
	const double nothing[] = { NAN, NAN, NAN }, some[] = { NAN, 55, NAN };
	const struct chart_series cases[] = {
		{ .name = "one", .values = one, .n = 1 },
		{ .name = NULL, .values = equal, .n = 3, .rows[TEMPERATURE] = nothing },
		{ .name = "zero", .values = zero, .n = 2 },
		{ .name = "warm-ups", .values = equal, .n = 3, .n_warmups = 2 },
		{ .name = "row",
			.values = equal,
			.n = 3,
			.rows[TEMPERATURE] = some,
			.rows[FREQUENCY] = some },
	};
	const struct chart_options small = { CHART_MIN_WIDTH, CHART_MIN_HEIGHT,
		"a title that is far too long for so small a sheet of paper, and goes on and on",
		"", &unit_byte, "value" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_free_ char *data = NULL;
		size_t size;

		assert_int_equal(
			draw(CANVAS_PNG, &cases[i], 1, &small, NULL, NULL, &data, &size), 0);
	}
}

/* However much text there is above the panels, they keep half of the canvas. */
static void test_small_sheet(void **state)
{
	const struct chart_options small = { .width = CHART_MIN_WIDTH,
		.height = CHART_MIN_HEIGHT,
		.title = "a, b",
		.subtitle = "a machine",
		.what = "run" };
	const double values[] = { 1, 2, 3 };
	const uint32_t causes[] = { SAMPLE_IRQ, SAMPLE_STEAL, SAMPLE_PREEMPTED };
	struct chart_series many[CHART_MAX_SERIES];
	_cleanup_free_ struct chart_spot *spots = NULL;
	_cleanup_free_ char *data = NULL;
	size_t n, size;

	(void)state;
	for (size_t i = 0; i < CHART_MAX_SERIES; i++)
		many[i] = (struct chart_series){ .name = "a benchmark whose name is long enough",
			.values = values,
			.causes = causes,
			.n = 3 };
	assert_int_equal(
		draw(CANVAS_SVG, many, CHART_MAX_SERIES, &small, &spots, &n, &data, &size), 0);
	assert_true(spots[0].at.y - spots[2].at.y > 50);
	assert_true(spots[2].at.y > small.height / 3);
}

/* A name with characters of several bytes is cut between characters, however much room there is. */
static void test_long_names(void **state)
{
	static const double widths[] = { CHART_MIN_WIDTH, 1000, 1001, 16000 };
	const double values[] = { 1, 2, 3 };
	char name[3 * 1000 + 2];

	(void)state;
	for (size_t shift = 0; shift < 3; shift++) {
		struct chart_series series = { .name = name, .values = values, .n = 3 };

		memset(name, 'a', shift);
		for (size_t i = shift; i + 3 < sizeof(name); i += 3)
			memcpy(name + i, "\u8a9e", 4);
		for (size_t i = 0; i < ARRAY_SIZE(widths); i++) {
			const struct chart_options options = {
				.width = widths[i], .height = 600, .title = name, .what = "run"
			};
			_cleanup_free_ char *data = NULL;
			size_t size;

			assert_int_equal(
				draw(CANVAS_SVG, &series, 1, &options, NULL, NULL, &data, &size),
				0);
		}
	}
}

static void test_refuses(void **state)
{
	const double values[] = { 1, 2 }, bad[] = { 1, NAN };
	const struct chart_series good = { .name = "a", .values = values, .n = 2 };
	const struct chart_series no_run = { .values = values, .n = 2, .n_warmups = 2 };
	const struct chart_series not_finite = { .values = bad, .n = 2 };
	const struct chart_options narrow = {
		.width = CHART_MIN_WIDTH - 1, .height = 600, .what = "run"
	};
	struct chart_series many[CHART_MAX_SERIES + 1];
	struct canvas *canvas;
	char *data;
	size_t size;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(many); i++)
		many[i] = good;
	assert_int_equal(draw(CANVAS_SVG, many, 0, &page, NULL, NULL, &data, &size), -EINVAL);
	free(data);
	assert_int_equal(
		draw(CANVAS_SVG, many, ARRAY_SIZE(many), &page, NULL, NULL, &data, &size), -EINVAL);
	free(data);
	assert_int_equal(
		draw(CANVAS_SVG, many, CHART_MAX_SERIES, &page, NULL, NULL, &data, &size), 0);
	free(data);
	assert_int_equal(draw(CANVAS_SVG, &no_run, 1, &page, NULL, NULL, &data, &size), -EINVAL);
	free(data);
	assert_int_equal(draw(CANVAS_SVG, &not_finite, 1, &page, NULL, NULL, &data, &size), -EDOM);
	free(data);
	assert_int_equal(draw(CANVAS_SVG, &good, 1, &narrow, NULL, NULL, &data, &size), -EINVAL);
	free(data);
	assert_int_equal(canvas_new(CANVAS_PNG, 0, 10, 1, &canvas), -EINVAL);
	assert_int_equal(canvas_new(CANVAS_PNG, 40000, 10, 1, &canvas), -EINVAL);
	assert_int_equal(canvas_new(CANVAS_PNG, 20000, 10, 2, &canvas), -EINVAL);
	assert_int_equal(canvas_new(CANVAS_SVG, NAN, 10, 1, &canvas), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ticks),
		cmocka_unit_test(test_ticks_stay_inside),
		cmocka_unit_test(test_ticks_refuse),
		cmocka_unit_test(test_formats),
		cmocka_unit_test(test_spots),
		cmocka_unit_test(test_axes),
		cmocka_unit_test(test_outlier_does_not_flatten),
		cmocka_unit_test(test_more_runs_than_points),
		cmocka_unit_test(test_odd_series),
		cmocka_unit_test(test_small_sheet),
		cmocka_unit_test(test_long_names),
		cmocka_unit_test(test_refuses),
	};

	return cmocka_run_group_tests_name("chart", tests, NULL, NULL);
}
