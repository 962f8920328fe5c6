// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "judge/stats/histogram.h"
#include "judge/stats/stats.h"

#include "random.h"

static struct histogram *make(const double *sorted, size_t n, size_t n_bins)
{
	struct histogram *h;

	assert_int_equal(histogram_new(sorted, n, n_bins, &h), 0);
	return h;
}

/* Bins join without gaps and hold every value once, where it belongs. */
static void check_whole(const struct histogram *h, const double *sorted, size_t n)
{
	size_t total = 0;

	assert_int_equal(h->n_values, n);
	for (size_t i = 0; i < h->n_bins; i++) {
		const struct histogram_bin *bin = &h->bins[i];
		bool last_closed = i + 1 == h->n_bins - h->open_high;

		if (i > 0)
			assert_true(bin->low == h->bins[i - 1].high);
		for (size_t k = total; k < total + bin->n; k++) {
			assert_true(k < n && sorted[k] >= bin->low);
			assert_true(
				sorted[k] < bin->high || (last_closed && sorted[k] <= bin->high));
		}
		total += bin->n;
	}
	assert_int_equal(total, n);
	assert_int_equal(isinf(h->bins[0].low) != 0, h->open_low);
	assert_int_equal(isinf(h->bins[h->n_bins - 1].high) != 0, h->open_high);
	if (h->open_low)
		assert_true(h->bins[0].n > 0);
	if (h->open_high)
		assert_true(h->bins[h->n_bins - 1].n > 0);
}

static void test_simple(void **state)
{
	static const double sorted[] = { 1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 };
	struct histogram *h = make(sorted, ARRAY_SIZE(sorted), 5);

	(void)state;
	check_whole(h, sorted, ARRAY_SIZE(sorted));
	assert_int_equal(h->n_bins, 5);
	assert_int_equal(h->bins[0].n, 3);
	assert_int_equal(h->bins[1].n, 2);
	assert_int_equal(h->bins[4].n, 3); /* its upper bound is in it */
	assert_true(h->bins[0].low == 1 && h->bins[4].high == 11);
	histogram_free(h);
	histogram_free(NULL);
}

static void test_single_and_equal(void **state)
{
	static const double equal[] = { 0.1, 0.1, 0.1, 0.1 };
	static const double nearly[] = { 0.1, 0.1, 0.1, 0.1 * (1 + 4e-16) };

	(void)state;
	for (size_t n = 1; n <= 4; n++) {
		struct histogram *h = make(equal, n, 0);

		check_whole(h, equal, n);
		assert_int_equal(h->n_bins, 1);
		histogram_free(h);
		h = make(nearly, n, 0);
		check_whole(h, nearly, n);
		assert_int_equal(h->n_bins - h->open_high, 1);
		histogram_free(h);
	}
}

/* One value a thousand times as large must not put all others into one bin. */
static void test_outliers(void **state)
{
	double sorted[102];
	struct histogram *h;
	char *text;

	(void)state;
	sorted[0] = 0.0001;
	for (size_t i = 1; i <= 100; i++)
		sorted[i] = 0.010 + 0.00001 * (double)i;
	sorted[101] = 10;
	h = make(sorted, 102, 0);
	check_whole(h, sorted, 102);
	assert_true(h->open_low && h->open_high);
	assert_int_equal(h->bins[0].n, 1);
	assert_int_equal(h->bins[h->n_bins - 1].n, 1);
	for (size_t i = 0; i < h->n_bins; i++)
		assert_true(h->bins[i].n < 40);
	text = histogram_render(h, UNIT_SECOND, 80);
	assert_non_null(text);
	assert_non_null(strstr(text, "< "));
	assert_non_null(strstr(text, "> "));
	free(text);
	histogram_free(h);
}

/* A second mode is no outlier, even if it is a tenth. */
static void test_second_mode(void **state)
{
	double sorted[400];
	struct histogram *h;

	(void)state;
	for (size_t i = 0; i < 400; i++)
		sorted[i] = (i < 360 ? 0.011 : 0.0203) + 1e-7 * (double)i;
	h = make(sorted, 400, 10);
	check_whole(h, sorted, 400);
	assert_false(h->open_low || h->open_high);
	assert_int_equal(h->bins[0].n, 360);
	assert_int_equal(h->bins[9].n, 40);
	histogram_free(h);
}

/* Nine of ten equal: the quartiles show no width at all. */
static void test_tied(void **state)
{
	double sorted[100];
	struct histogram *h;

	(void)state;
	for (size_t i = 0; i < 100; i++)
		sorted[i] = i < 90 ? 0.010 : 0.011;
	h = make(sorted, 100, 0);
	check_whole(h, sorted, 100);
	assert_int_equal(h->bins[0].n, 90);
	assert_int_equal(h->bins[h->n_bins - 1].n, 10);
	histogram_free(h);
	for (size_t i = 90; i < 100; i++)
		sorted[i] = i < 99 ? 0.010 : 99;
	h = make(sorted, 100, 0);
	check_whole(h, sorted, 100);
	assert_int_equal(h->n_bins, 2);
	histogram_free(h);
}

static void test_random(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < 300; seed++) {
		static double values[2000];
		size_t n = 1 + seed * 7 % 2000;
		uint64_t random = seed;
		struct histogram *h;

		for (size_t i = 0; i < n; i++)
			values[i] = seed % 3 == 0 ? random_unit(&random)
				: seed % 3 == 1	  ? exp(2 * random_normal(&random))
						  : floor(4 * random_unit(&random));
		stats_sort(values, n);
		h = make(values, n, seed % 13);
		check_whole(h, values, n);
		assert_true(h->n_bins <= 14);
		histogram_free(h);
	}
}

static void test_refused(void **state)
{
	double values[] = { -INFINITY, 1, INFINITY };
	struct histogram *h = NULL;

	(void)state;
	assert_int_equal(histogram_new(values, 0, 0, &h), -EINVAL);
	assert_int_equal(histogram_new(values + 1, 1, 1001, &h), -EINVAL);
	assert_int_equal(histogram_new(values, 2, 0, &h), -EDOM);
	assert_int_equal(histogram_new(values + 1, 2, 0, &h), -EDOM);
	assert_null(h);
}

static void test_render(void **state)
{
	static const double sorted[] = { 0.010, 0.010, 0.010, 0.010, 0.0121, 0.0123, 0.014, 0.0199,
		0.020 };
	struct histogram *h = make(sorted, ARRAY_SIZE(sorted), 5);
	char *text = histogram_render(h, UNIT_SECOND, 40);

	(void)state;
	assert_string_equal(text,
		"10.0 ms: 4 #############################\n"
		"12.0 ms: 2 ###############\n"
		"14.0 ms: 1 #######\n"
		"16.0 ms: 0\n"
		"18.0 ms: 2 ###############\n");
	free(text);
	/* Narrower than it can be read is not taken. */
	text = histogram_render(h, UNIT_SECOND, 3);
	assert_int_equal(strcspn(text, "\n"), 20);
	free(text);
	text = histogram_render(h, UNIT_SECOND, 1 << 30);
	assert_int_equal(strcspn(text, "\n"), 1000);
	free(text);
	histogram_free(h);
}

/* The first value of a bin of counts need not be whole, and is not rounded to another one. */
static void test_counts(void **state)
{
	static const double sorted[] = { 1, 2, 3, 4, 8 };
	struct histogram *h = make(sorted, ARRAY_SIZE(sorted), 5);
	char *text = histogram_render(h, &unit_integer, 20);

	(void)state;
	assert_string_equal(text,
		"1.0: 2 #############\n"
		"2.4: 1 #######\n"
		"3.8: 1 #######\n"
		"5.2: 0\n"
		"6.6: 1 #######\n");
	free(text);
	histogram_free(h);
	h = make(sorted, ARRAY_SIZE(sorted), 7);
	text = histogram_render(h, &unit_integer, 20);
	assert_true(strncmp(text, "1: 1 ", 5) == 0);
	free(text);
	histogram_free(h);
}

/* No line is wider than asked, labels differ, and every bin with values has a bar. */
static void test_render_fits(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < 200; seed++) {
		static double values[500];
		uint64_t random = seed;
		struct histogram *h;
		char *text, *line, *rest, last[100] = "";
		size_t lines = 0;

		for (size_t i = 0; i < 500; i++)
			values[i] = 0.01 + pow(10, -(double)(seed % 9)) * random_unit(&random);
		stats_sort(values, 500);
		h = make(values, 500, 0);
		text = histogram_render(h, UNIT_SECOND, 60);
		for (line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
			assert_true(strlen(line) <= 60);
			*strchr(line, ':') = '\0';
			assert_string_not_equal(line, last);
			snprintf(last, sizeof(last), "%s", line);
			assert_int_equal(
				strchr(line + strlen(line) + 1, '#') != NULL, h->bins[lines].n > 0);
			lines++;
		}
		assert_int_equal(lines, h->n_bins);
		free(text);
		histogram_free(h);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_simple),
		cmocka_unit_test(test_single_and_equal),
		cmocka_unit_test(test_outliers),
		cmocka_unit_test(test_second_mode),
		cmocka_unit_test(test_tied),
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_render),
		cmocka_unit_test(test_counts),
		cmocka_unit_test(test_render_fits),
	};

	return cmocka_run_group_tests_name("histogram", tests, NULL, NULL);
}
