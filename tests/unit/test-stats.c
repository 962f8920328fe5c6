// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/macro.h"
#include "judge/stats/stats.h"

#include "random.h"

/* Made of exact steps, so that another program can make the same values. */
enum shape {
	UNIFORM,
	SKEWED,
	TIED,
	HUGE_ONES,
	TINY_ONES,
	OFFSET,
};

static double *make_values(enum shape shape, size_t n)
{
	double *values = calloc(n, sizeof(*values));
	uint64_t state = n;

	assert_non_null(values);
	for (size_t i = 0; i < n; i++) {
		double u = random_unit(&state);

		switch (shape) {
		case UNIFORM:
			values[i] = 0.01 + 0.001 * u;
			break;
		case SKEWED:
			values[i] = 0.01 + 0.1 * u * u * u * u * u * u;
			break;
		case TIED:
			values[i] = (10 + floor(3 * u)) / 1024;
			break;
		case HUGE_ONES:
			values[i] = ldexp(1 + u, 1020);
			break;
		case TINY_ONES:
			values[i] = ldexp(1 + u, -1000);
			break;
		case OFFSET:
			values[i] = 1e9 + u;
			break;
		}
	}
	return values;
}

/*
 * The figures of Python's statistics module (exact rational arithmetic), of pyperf 2.10 (deviation,
 * percentiles, outliers) and of SciPy 1.17 (interval: quantile_test) for the same values: minimum,
 * maximum, mean, stdev, median, median absolute deviation, 5th, 25th, 75th and 95th percentile;
 * outliers below and above; rank of the lower end of the interval, 0 when there is none.
 */
static const struct {
	enum shape shape;
	size_t n;
	double figures[10];
	size_t outliers_low;
	size_t outliers_high;
	size_t rank;
} references[] = {
	/* clang-format off */
	{ UNIFORM, 1,
		{ 0x1.5a3ebe32c1aa5p-7, 0x1.5a3ebe32c1aa5p-7, 0x1.5a3ebe32c1aa5p-7,
			NAN, 0x1.5a3ebe32c1aa5p-7, 0x0.0p+0,
			0x1.5a3ebe32c1aa5p-7, 0x1.5a3ebe32c1aa5p-7, 0x1.5a3ebe32c1aa5p-7,
			0x1.5a3ebe32c1aa5p-7 },
		0, 0, 0 },
	{ UNIFORM, 2,
		{ 0x1.5b0d56c45dc59p-7, 0x1.603a672d0fdecp-7, 0x1.5da3def8b6d22p-7,
			0x1.d47b1c8d94c8bp-14, 0x1.5da3def8b6d22p-7, 0x1.4b441a2c864c0p-14,
			0x1.5b4f979666ad4p-7, 0x1.5c589ade8a4bep-7, 0x1.5eef2312e3587p-7,
			0x1.5ff8265b06f71p-7 },
		0, 0, 0 },
	{ UNIFORM, 3,
		{ 0x1.4b65c53c0374fp-7, 0x1.5ea0915967df7p-7, 0x1.57437963ee8acp-7,
			0x1.4c03314e2488dp-12, 0x1.5bc41596604bep-7, 0x1.6e3de183c9c80p-14,
			0x1.4d08cd450cbdap-7, 0x1.5394ed6931e06p-7, 0x1.5d325377e415ap-7,
			0x1.5e5751c5e71d8p-7 },
		0, 0, 0 },
	{ UNIFORM, 4,
		{ 0x1.55d164cb1f007p-7, 0x1.64ec2196d2616p-7, 0x1.5d97722407458p-7,
			0x1.f8e71e69a9bcdp-13, 0x1.5dd0211715da1p-7, 0x1.a417fd6908c80p-13,
			0x1.561d4ab99577ap-7, 0x1.574ce2736f548p-7, 0x1.641ab0c7adcb2p-7,
			0x1.64c23e3a31768p-7 },
		0, 0, 0 },
	{ UNIFORM, 5,
		{ 0x1.4aef663dce154p-7, 0x1.6054e37eaa719p-7, 0x1.528d8f877edcep-7,
			0x1.0d95d1b91aa06p-12, 0x1.4f4e2f9ba7fd7p-7, 0x1.17b257767a0c0p-13,
			0x1.4b84148bf4feap-7, 0x1.4dd6cdc490a40p-7, 0x1.545a8688c9283p-7,
			0x1.5def9db3e3c95p-7 },
		0, 1, 0 },
	{ UNIFORM, 6,
		{ 0x1.4986b7f00ead5p-7, 0x1.62abad0a176f8p-7, 0x1.568c54ada7109p-7,
			0x1.4e031810e91b7p-12, 0x1.5804091e884c4p-7, 0x1.28fb838c2fde0p-12,
			0x1.49ede3cfc8e3dp-7, 0x1.4dee0f8ca3edcp-7, 0x1.5e5f98a6a6fb0p-7,
			0x1.61fbc922809d6p-7 },
		0, 0, 1 },
	{ UNIFORM, 7,
		{ 0x1.483ae91166f13p-7, 0x1.6532354ff720fp-7, 0x1.5601432aee9c3p-7,
			0x1.1fa8a48f9dbdep-12, 0x1.5681700d1beb5p-7, 0x1.11a76cdd178c0p-13,
			0x1.4a846053820f3p-7, 0x1.5227560af4074p-7, 0x1.58e5cdd4121ccp-7,
			0x1.62125ca4f1e05p-7 },
		0, 1, 1 },
	{ UNIFORM, 25,
		{ 0x1.48d614dffc1cap-7, 0x1.67eb0a8ea46e8p-7, 0x1.5856699678eacp-7,
			0x1.19fe1c25f6906p-12, 0x1.56ce056611e5dp-7, 0x1.c81ce1530f940p-13,
			0x1.4b1632670d795p-7, 0x1.5115ce7190796p-7, 0x1.5ec2709d6d3dbp-7,
			0x1.65fe15cf092f0p-7 },
		0, 0, 8 },
	{ UNIFORM, 100,
		{ 0x1.482204a8bb656p-7, 0x1.686114c678c03p-7, 0x1.5871380493fb9p-7,
			0x1.3824531ac48e6p-12, 0x1.5a3e91ea36f01p-7, 0x1.0f232cbaf8e50p-12,
			0x1.49a78ce7f52bbp-7, 0x1.4f9dd0a22ac06p-7, 0x1.5fdc14fd325fap-7,
			0x1.669897198604cp-7 },
		0, 0, 40 },
	{ UNIFORM, 1000,
		{ 0x1.47bf1c52fe2c4p-7, 0x1.6858b4a0745fdp-7, 0x1.58791ed77c232p-7,
			0x1.2dc9244270f92p-12, 0x1.584a54423a7a1p-7, 0x1.02df742b11750p-12,
			0x1.49889d9d82283p-7, 0x1.509c68e081f1ap-7, 0x1.60e844beee689p-7,
			0x1.66be66a1a0b56p-7 },
		0, 0, 469 },
	{ UNIFORM, 10007,
		{ 0x1.47afed38cb133p-7, 0x1.6871391b401b3p-7, 0x1.5832a2e04f814p-7,
			0x1.2d1479a7b976ap-12, 0x1.58541e2f74342p-7, 0x1.04282183de360p-12,
			0x1.4945ba0c386fep-7, 0x1.501a79ea54748p-7, 0x1.60681428be148p-7,
			0x1.66c0469458083p-7 },
		0, 0, 4905 },
	{ SKEWED, 25,
		{ 0x1.47ae14e4ffd09p-7, 0x1.9c645d956ad3ap-4, 0x1.73fecd400057fp-6,
			0x1.7c9f4f66a0a0ep-6, 0x1.675dfc950cd57p-7, 0x1.faf30a8b29780p-11,
			0x1.47af785d62f89p-7, 0x1.49831a24c8178p-7, 0x1.6bdd3196728d8p-6,
			0x1.2a5fa0c9d06cap-4 },
		0, 3, 8 },
	{ SKEWED, 400,
		{ 0x1.47ae147ae14b9p-7, 0x1.b8eb5ffe60286p-4, 0x1.850df30f50e81p-6,
			0x1.8830537fd6d73p-6, 0x1.69b95fc01654ep-7, 0x1.105a43d8ae8a0p-10,
			0x1.47ae1e989c714p-7, 0x1.4882369ec962ap-7, 0x1.9a15291567ce4p-6,
			0x1.4f37cfa107993p-4 },
		0, 59, 180 },
	{ SKEWED, 4096,
		{ 0x1.47ae147ae147cp-7, 0x1.c26beab079faep-4, 0x1.9960e6094fa4ap-6,
			0x1.92169b48f6943p-6, 0x1.814257cc344b6p-7, 0x1.cca19e57df2ccp-10,
			0x1.47ae19ea48d9cp-7, 0x1.48abeb0114ae2p-7, 0x1.dcd01aec8aae0p-6,
			0x1.6169864754c7cp-4 },
		0, 497, 1985 },
	{ TIED, 6,
		{ 0x1.4000000000000p-7, 0x1.8000000000000p-7, 0x1.6000000000000p-7,
			0x1.c9f25c5bfedd9p-11, 0x1.6000000000000p-7, 0x1.0000000000000p-10,
			0x1.4000000000000p-7, 0x1.4800000000000p-7, 0x1.7800000000000p-7,
			0x1.8000000000000p-7 },
		0, 0, 1 },
	{ TIED, 25,
		{ 0x1.4000000000000p-7, 0x1.8000000000000p-7, 0x1.6147ae147ae14p-7,
			0x1.943b42971b69ap-11, 0x1.6000000000000p-7, 0x1.0000000000000p-10,
			0x1.4000000000000p-7, 0x1.4000000000000p-7, 0x1.8000000000000p-7,
			0x1.8000000000000p-7 },
		0, 0, 8 },
	{ TIED, 1000,
		{ 0x1.4000000000000p-7, 0x1.8000000000000p-7, 0x1.608b439581062p-7,
			0x1.9f1ee4752ea99p-11, 0x1.6000000000000p-7, 0x1.0000000000000p-10,
			0x1.4000000000000p-7, 0x1.4000000000000p-7, 0x1.8000000000000p-7,
			0x1.8000000000000p-7 },
		0, 0, 469 },
	{ HUGE_ONES, 9,
		{ 0x1.1d56f4a5808e6p+1020, 0x1.fbc9d6184de7fp+1020, 0x1.85f00eb0e24f8p+1020,
			0x1.3cf0cae333463p+1018, 0x1.a553b8a65aaccp+1020, 0x1.59d875c7cceccp+1018,
			0x1.280875b117a5cp+1020, 0x1.4336b3782f588p+1020, 0x1.c02d8a5e87afep+1020,
			0x1.e7701f3138054p+1020 },
		0, 0, 2 },
	{ HUGE_ONES, 10,
		{ 0x1.088712be8a582p+1020, 0x1.f924063ae80e4p+1020, 0x1.a36ea81a7bc77p+1020,
			0x1.64d8688ff3f2dp+1018, 0x1.c93771cb3aa69p+1020, 0x1.ddb121f1dc470p+1016,
			0x1.13c73c062c346p+1020, 0x1.674a6b391f3b5p+1020, 0x1.da48671850688p+1020,
			0x1.f658d22376d9ap+1020 },
		0, 0, 2 },
	{ TINY_ONES, 9,
		{ 0x1.1d56f4a5808e6p-1000, 0x1.fbc9d6184de7fp-1000, 0x1.85f00eb0e24f8p-1000,
			0x1.3cf0cae333463p-1002, 0x1.a553b8a65aaccp-1000, 0x1.59d875c7cceccp-1002,
			0x1.280875b117a5cp-1000, 0x1.4336b3782f588p-1000, 0x1.c02d8a5e87afep-1000,
			0x1.e7701f3138054p-1000 },
		0, 0, 2 },
	{ TINY_ONES, 10,
		{ 0x1.088712be8a582p-1000, 0x1.f924063ae80e4p-1000, 0x1.a36ea81a7bc77p-1000,
			0x1.64d8688ff3f2dp-1002, 0x1.c93771cb3aa69p-1000, 0x1.ddb121f1dc470p-1004,
			0x1.13c73c062c346p-1000, 0x1.674a6b391f3b5p-1000, 0x1.da48671850688p-1000,
			0x1.f658d22376d9ap-1000 },
		0, 0, 2 },
	{ OFFSET, 1000,
		{ 0x1.dcd6500004287p+29, 0x1.dcd65007f9a82p+29, 0x1.dcd6500419920p+29,
			0x1.26b66d56c2fa8p-2, 0x1.dcd650040e259p+29, 0x1.f99c700000000p-3,
			0x1.dcd6500073da8p+29, 0x1.dcd650022e2fap+29, 0x1.dcd6500628b4dp+29,
			0x1.dcd65007957c1p+29 },
		0, 0, 469 },
	/* clang-format on */
};

static bool is_near(double a, double b)
{
	if (isnan(a) || isnan(b))
		return isnan(a) && isnan(b);
	return fabs(a - b) <= 1e-12 * MAX(fabs(a), fabs(b));
}

static void test_references(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(references); i++) {
		size_t n = references[i].n, rank = references[i].rank;
		double *values = make_values(references[i].shape, n);
		const double *expected = references[i].figures;
		struct stats s;

		assert_int_equal(stats_compute(values, n, &s), 0);
		{
			const double figures[] = { s.min, s.max, s.mean, s.stdev, s.median, s.mad,
				s.p5, s.q1, s.q3, s.p95 };

			for (size_t k = 0; k < ARRAY_SIZE(figures); k++) {
				if (!is_near(figures[k], expected[k]))
					fprintf(stderr, "figure %zu of reference %zu: %a, not %a\n",
						k, i, figures[k], expected[k]);
				assert_true(is_near(figures[k], expected[k]));
			}
		}
		assert_int_equal(s.n, n);
		assert_int_equal(s.n_outliers_low, references[i].outliers_low);
		assert_int_equal(s.n_outliers_high, references[i].outliers_high);
		assert_int_equal(s.has_interval, rank > 0);
		if (rank > 0) {
			assert_true(s.interval_low == values[rank - 1]);
			assert_true(s.interval_high == values[n - rank]);
		} else {
			assert_true(isnan(s.interval_low) && isnan(s.interval_high));
			assert_true(isnan(stats_median_error(&s)));
		}
		free(values);
	}
}

static void test_one_value(void **state)
{
	double value = 0.25;
	struct stats s;

	(void)state;
	assert_int_equal(stats_compute(&value, 1, &s), 0);
	assert_true(s.mean == 0.25 && s.median == 0.25 && s.min == 0.25 && s.max == 0.25);
	assert_true(s.sum == 0.25 && s.mad == 0 && s.spread == 0);
	assert_true(s.p5 == 0.25 && s.q1 == 0.25 && s.q3 == 0.25 && s.p95 == 0.25);
	assert_true(isnan(s.stdev));
	assert_false(s.has_interval);
}

static void test_equal_values(void **state)
{
	double values[1000];
	struct stats s;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(values); i++)
		values[i] = 0.1;
	assert_int_equal(stats_compute(values, ARRAY_SIZE(values), &s), 0);
	assert_true(s.mean == 0.1 && s.stdev == 0 && s.mad == 0 && s.spread == 0);
	assert_int_equal(s.n_outliers_low + s.n_outliers_high, 0);
	assert_true(s.has_interval && s.interval_low == 0.1 && s.interval_high == 0.1);
	assert_true(stats_median_error(&s) == 0);
}

static void test_refused(void **state)
{
	double values[] = { 3, 2, NAN, 1 };
	struct stats s = { .n = 77 };

	(void)state;
	assert_int_equal(stats_compute(values, 0, &s), -EINVAL);
	assert_int_equal(stats_compute(values, 4, &s), -EDOM);
	values[2] = INFINITY;
	assert_int_equal(stats_compute(values, 4, &s), -EDOM);
	values[2] = -INFINITY;
	assert_int_equal(stats_compute(values, 4, &s), -EDOM);
	assert_int_equal(s.n, 77);
	assert_true(values[0] == 3 && values[1] == 2 && values[3] == 1);
}

/* The sum of these overflows, and their squares vanish. */
static void test_magnitudes(void **state)
{
	double large[] = { DBL_MAX, DBL_MAX, DBL_MAX / 2 };
	double pair[] = { DBL_MAX, DBL_MAX };
	double small[] = { 1e-300, 2e-300, 3e-300 };
	double mixed[] = { 1e300, 1e-300, 1e-300 };
	double below[] = { -3, -1, -2 };
	double zeros[] = { 0, 0 };
	struct stats s;

	(void)state;
	assert_int_equal(stats_compute(large, 3, &s), 0);
	assert_true(is_near(s.mean, DBL_MAX / 6 * 5) && isinf(s.sum));
	assert_true(is_near(s.stdev, DBL_MAX / 2 / sqrt(3)));
	assert_int_equal(stats_compute(pair, 2, &s), 0);
	assert_true(s.median == DBL_MAX && s.mean == DBL_MAX && s.stdev == 0);
	assert_int_equal(stats_compute(small, 3, &s), 0);
	assert_true(is_near(s.mean, 2e-300) && is_near(s.stdev, 1e-300));
	assert_int_equal(stats_compute(mixed, 3, &s), 0);
	assert_true(is_near(s.mean, 1e300 / 3) && s.median == 1e-300);
	assert_int_equal(stats_compute(below, 3, &s), 0);
	assert_true(s.mean == -2 && s.median == -2 && s.stdev == 1 && s.min == -3);
	assert_int_equal(stats_compute(zeros, 2, &s), 0);
	assert_true(s.mean == 0 && isnan(s.spread) && isnan(stats_median_error(&s)));
}

/* Ranks by SciPy's binom: the largest l with 2 * cdf(l - 1, n, 1/2) <= 0.05. */
static void test_interval_of_many(void **state)
{
	static const struct {
		size_t n;
		size_t rank;
	} cases[] = { { 6, 1 }, { 20, 6 }, { 1000, 469 }, { 100000, 49690 }, { 1000000, 499020 } };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		size_t n = cases[i].n;
		double *values = calloc(n, sizeof(*values));
		struct stats s;

		assert_non_null(values);
		for (size_t k = 0; k < n; k++)
			values[k] = (double)(k + 1);
		assert_int_equal(stats_compute(values, n, &s), 0);
		assert_true(s.interval_low == (double)cases[i].rank);
		assert_true(s.interval_high == (double)(n + 1 - cases[i].rank));
		assert_true(is_near(
			stats_median_error(&s), (s.interval_high - s.interval_low) / 2 / s.median));
		free(values);
	}
}

/* The interval does what it says: it holds the true median in at least 95 % of all cases, and is no
 * wider than it must be. */
static void test_interval_covers(void **state)
{
	static const size_t sizes[] = { 6, 9, 25, 60 };
	uint64_t random = 42;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		size_t held = 0, trials = 20000 / TRIALS_PART;

		for (size_t t = 0; t < trials; t++) {
			double values[60];
			struct stats s;

			for (size_t k = 0; k < sizes[i]; k++)
				values[k] = exp(3 * random_unit(&random));
			assert_int_equal(stats_compute(values, sizes[i], &s), 0);
			held += s.interval_low <= exp(1.5) && exp(1.5) <= s.interval_high;
		}
		assert_true((double)held / (double)trials > 0.945);
		assert_true((double)held / (double)trials < 0.985);
	}
}

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Orders that make quicksorts slow, and sizes around the change to insertion sort. */
static void test_sort(void **state)
{
	static const size_t sizes[] = { 0, 1, 2, 3, 23, 24, 25, 26, 100, 4097 };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		for (int order = 0; order < 7; order++) {
			size_t n = sizes[i];
			double *a = calloc(n + 1, sizeof(*a)), *b = calloc(n + 1, sizeof(*b));
			uint64_t random = n;

			assert_true(a && b);
			for (size_t k = 0; k < n; k++) {
				const double orders[] = { (double)k, -(double)k, 1, (double)(k % 2),
					(double)(MIN(k, n - k)), random_unit(&random),
					floor(5 * random_unit(&random)) };

				a[k] = b[k] = orders[order];
			}
			a[n] = b[n] = -1e9;
			stats_sort(a, n);
			qsort(b, n, sizeof(*b), compare_doubles);
			assert_memory_equal(a, b, (n + 1) * sizeof(*a));
			free(a);
			free(b);
		}
	}
}

/* Against median-of-three (Musser 1997): each pivot is next to the smallest. Quadratic time would
 * take minutes. */
static void test_sort_killer(void **state)
{
	size_t n = 1 << 20, k = n / 2;
	double *values = calloc(n, sizeof(*values));

	(void)state;
	assert_non_null(values);
	for (size_t i = 0; i < k; i++) {
		values[i] = i % 2 == 0 ? (double)(i + 1) : (double)(k + i + (k % 2 == 0));
		values[k + i] = (double)(2 * (i + 1));
	}
	stats_sort(values, n);
	for (size_t i = 1; i < n; i++)
		assert_true(values[i - 1] <= values[i]);
	free(values);
}

static void test_steps(void **state)
{
	static const double ticks[] = { 0.1, 0.1, 0.1, 0.11, 0.11, 0.11, 0.11, 0.12 };
	static const double modes[] = { 1.037, 1.037, 1.037, 1.152, 1.152, 1.152, 1.152, 1.152 };
	static const double fine[] = { 0.1, 0.101, 0.102, 0.103, 0.104, 0.105, 0.106, 0.107 };
	/* The stamps of a clock of 3.999 ms, in ns. */
	double jiffies[8];

	(void)state;
	for (size_t i = 0; i < 8; i++)
		jiffies[i] = round(3999.848e3 * (double)(25 + i / 4)) * 1e-9;
	assert_true(fabs(stats_find_step(ticks, 8, ticks, 8) - 0.01) < 1e-9);
	assert_true(fabs(stats_find_step(ticks, 8, ticks, 4) - 0.01) < 1e-9);
	assert_true(fabs(stats_find_step(jiffies, 8, jiffies, 8) - 0.003999848) < 2e-9);
	/* Two values that no step leads to, others that are all different, or all the same. */
	assert_true(stats_find_step(modes, 8, modes, 8) == 0);
	assert_true(stats_find_step(fine, 8, fine, 8) == 0);
	assert_true(stats_find_step(ticks, 3, ticks, 3) == 0);
	assert_true(stats_find_step(ticks, 0, ticks, 0) == 0);
	assert_true(stats_find_step(ticks, 8, modes, 8) == 0);
}

static void test_many(void **state)
{
	size_t n = 10000000;
	double *values = malloc(n * sizeof(*values));
	uint64_t random = 1;
	struct stats s;

	(void)state;
	assert_non_null(values);
	for (size_t i = 0; i < n; i++)
		values[i] = random_unit(&random);
	assert_int_equal(stats_compute(values, n, &s), 0);
	assert_true(fabs(s.mean - 0.5) < 0.001 && fabs(s.median - 0.5) < 0.001);
	assert_true(fabs(s.stdev - sqrt(1.0 / 12)) < 0.001 && fabs(s.mad - 0.25) < 0.001);
	assert_true(s.interval_low == values[4996901 - 1]);
	free(values);
}

static void test_deviation(void **state)
{
	static const double sorted[] = { 1, 2, 4, 8, 16 };

	(void)state;
	assert_true(stats_deviation(sorted, 5, 4) == 3);
	assert_true(stats_deviation(sorted, 5, 0) == 4);
	assert_true(stats_deviation(sorted, 5, 100) == 96);
	assert_true(stats_deviation(sorted, 4, 3) == (1.0 + 2.0) / 2);
	assert_true(stats_deviation(sorted, 1, 4) == 3);
	assert_true(stats_deviation(sorted, 2, 1.5) == 0.5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_references),
		cmocka_unit_test(test_one_value),
		cmocka_unit_test(test_equal_values),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_magnitudes),
		cmocka_unit_test(test_interval_of_many),
		cmocka_unit_test(test_interval_covers),
		cmocka_unit_test(test_sort),
		cmocka_unit_test(test_sort_killer),
		cmocka_unit_test(test_steps),
		cmocka_unit_test(test_many),
		cmocka_unit_test(test_deviation),
	};

	return cmocka_run_group_tests_name("stats", tests, NULL, NULL);
}
