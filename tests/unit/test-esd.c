// SPDX-License-Identifier: GPL-2.0-or-later
/* Numbers that do not belong to the others. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/macro.h"
#include "judge/stats/esd.h"

static size_t count(const double *values, size_t n, bool *odd)
{
	size_t found = 0;

	esd_find(values, n, odd);
	for (size_t i = 0; i < n; i++)
		found += odd[i];
	return found;
}

/* Rosner's own example (1983; also in the NIST handbook, 1.3.5.17.3): three outliers, of which the
 * test finds none one by one. */
static void test_rosner(void **state)
{
	static const double values[] = { -0.25, 0.68, 0.94, 1.15, 1.20, 1.26, 1.26, 1.34, 1.38,
		1.43, 1.49, 1.49, 1.55, 1.56, 1.58, 1.65, 1.69, 1.70, 1.76, 1.77, 1.81, 1.91, 1.94,
		1.96, 1.99, 2.06, 2.09, 2.10, 2.14, 2.15, 2.23, 2.24, 2.26, 2.35, 2.37, 2.40, 2.47,
		2.54, 2.62, 2.64, 2.90, 2.92, 2.92, 2.93, 3.21, 3.26, 3.30, 3.59, 3.68, 4.30, 4.64,
		5.34, 5.42, 6.01 };
	bool odd[ARRAY_SIZE(values)];

	(void)state;
	assert_int_equal(count(values, ARRAY_SIZE(values), odd), 3);
	assert_true(odd[51] && odd[52] && odd[53]);
}

static void test_few(void **state)
{
	static const double values[] = { 1, 1.001, 0.999, 5, NAN };
	static const double equal[] = { 2, 2, 2, 2, 2 };
	bool odd[5];

	(void)state;
	assert_int_equal(count(values, 3, odd), 0);
	assert_int_equal(count(values, 5, odd), 1);
	assert_true(odd[3]);
	/* Three are known. */
	assert_int_equal(count((const double[]){ 1, 1, NAN, 5 }, 4, odd), 0);
	assert_int_equal(count(equal, 5, odd), 0);
	assert_int_equal(count(NULL, 0, odd), 0);
}

static double normal(void)
{
	return sqrt(-2 * log(1 - drand48())) * cos(2 * acos(-1) * drand48());
}

/* At most 5 % of sets without an odd one have one, whatever their size. Of 2000 sets, 3 standard
 * deviations are 1.5 %. */
static void test_false_alarms(void **state)
{
	static const size_t sizes[] = { 4, 6, 8, 10, 12, 20, 100 };
	double values[100];
	bool odd[100];

	(void)state;
	srand48(3);
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		int alarms = 0;

		for (int set = 0; set < 2000; set++) {
			for (size_t k = 0; k < sizes[i]; k++)
				values[k] = 7 + 0.1 * normal();
			alarms += count(values, sizes[i], odd) > 0;
		}
		if (alarms > 2000 * 0.065)
			fail_msg("%d alarms of 2000 sets of %zu", alarms, sizes[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rosner),
		cmocka_unit_test(test_few),
		cmocka_unit_test(test_false_alarms),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
