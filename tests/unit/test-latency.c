// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/macro.h"
#include "base/random.h"
#include "measure/serve/latency.h"

enum {
	N = 20000
};

static struct latency latency;

static int reset(void **state)
{
	(void)state;
	memset(&latency, 0, sizeof(latency));
	return 0;
}

static int compare(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x < y ? -1 : x > y;
}

/* Against the durations themselves, over ten powers of two. */
static void test_against_sorted(void **state)
{
	static const double quantiles[] = { 0, 0.01, 0.5, 0.9, 0.99, 0.999 };
	static int64_t all[N];
	uint64_t seed = 17;

	(void)state;
	for (size_t i = 0; i < N; i++) {
		all[i] = (int64_t)(random_next(&seed) >> (20 + random_next(&seed) % 30));
		latency_add(&latency, all[i]);
	}
	qsort(all, N, sizeof(all[0]), compare);
	assert_int_equal(latency.n, N);
	for (size_t i = 0; i < ARRAY_SIZE(quantiles); i++) {
		size_t rank = (size_t)MAX(quantiles[i] * N + 0.999999, 1.0);
		int64_t wanted = MIN(all[rank - 1], (INT64_C(1) << LATENCY_MAX_BITS) - 1), found;

		assert_true(latency_quantile(&latency, quantiles[i], &found));
		assert_in_range(found, wanted, wanted + wanted / 1024 + 1);
	}
}

/* Up to 2047 ns each duration is told as it is, and nothing is told beyond the longest one. */
static void test_exact(void **state)
{
	int64_t found = 7;

	(void)state;
	for (int64_t ns = 0; ns < 2048; ns++)
		latency_add(&latency, ns);
	assert_true(latency_quantile(&latency, 0.5, &found));
	assert_int_equal(found, 1023);
	for (int i = 0; i < 100000; i++)
		latency_add(&latency, 1000001);
	assert_true(latency_quantile(&latency, 0.99, &found));
	assert_int_equal(found, 1000001);
	assert_int_equal(latency.max_ns, 1000001);
}

static void test_limits(void **state)
{
	int64_t found = 7;

	(void)state;
	for (int i = 0; i < 20; i++)
		latency_add(&latency, i < 10 ? -5 : INT64_MAX);
	assert_true(latency_quantile(&latency, 0.5, &found));
	assert_int_equal(found, 0);
	assert_int_equal(latency.max_ns, INT64_MAX);
}

/* Ten requests lie beyond the 99th per cent of 1000, and nine of 999. */
static void test_too_few(void **state)
{
	int64_t found = 7;

	(void)state;
	assert_false(latency_quantile(&latency, 0.5, &found));
	for (int64_t i = 0; i < 999; i++)
		latency_add(&latency, i);
	assert_false(latency_quantile(&latency, 0.99, &found));
	assert_int_equal(found, 7);
	latency_add(&latency, 999);
	assert_true(latency_quantile(&latency, 0.99, &found));
	assert_int_equal(found, 989);
	assert_false(latency_quantile(&latency, 0.999, &found));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_against_sorted, reset),
		cmocka_unit_test_setup(test_exact, reset),
		cmocka_unit_test_setup(test_limits, reset),
		cmocka_unit_test_setup(test_too_few, reset),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
