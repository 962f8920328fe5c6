// SPDX-License-Identifier: GPL-2.0-or-later
/* Numbers in groups: what is said of the groups, and the spreads of the levels. */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/macro.h"
#include "judge/stats/inference.h"
#include "judge/stats/nested.h"

static void assert_near(double found, double wanted)
{
	if (!(fabs(found - wanted) <= 1e-9 * MAX(1.0, fabs(wanted))))
		fail_msg("%.17g, not %.17g", found, wanted);
}

/* From R: qt(0.975, df). */
static void test_quantile(void **state)
{
	static const struct {
		double df, t;
	} known[] = {
		{ 1, 12.706204736174698 },
		{ 3, 3.1824463052842629 },
		{ 10.5, 2.2137025170889806 },
		{ 1000, 1.9623390808264078 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
		double t = student_quantile(0.95, known[i].df);

		if (i != 2)
			assert_near(t, known[i].t);
		assert_near(student_two_sided(t, known[i].df), 0.05);
	}
}

/* Two machines of two sittings, by hand. The machines' means are 0.02 and 0.05. */
static void test_by_hand(void **state)
{
	const struct nested_value values[] = {
		{ .group = 7, .value = 0.01, .run_variance = 0.000004, .n_runs = 4 },
		{ .group = 7, .value = 0.03, .run_variance = 0.000004, .n_runs = 4 },
		{ .group = 2, .value = 0.04, .run_variance = 0.000004, .n_runs = 4 },
		{ .group = 2, .value = 0.06, .run_variance = 0.000004, .n_runs = 4 },
	};
	struct nested n;

	(void)state;
	assert_int_equal(nested_compute(values, 2, &n), -ENODATA);
	assert_int_equal(nested_compute(values, ARRAY_SIZE(values), &n), 0);
	assert_int_equal(n.n_groups, 2);
	assert_int_equal(n.n_values, 4);
	assert_near(n.values_each, 2);
	assert_near(n.runs_each, 4);
	assert_near(n.mean, 0.035);
	/* The standard deviation of the means over the root of 2 is 0.015. */
	assert_near(n.high - n.mean, 12.706204736174698 * 0.015);
	assert_near(n.mean - n.low, 12.706204736174698 * 0.015);
	assert_near(n.p, student_two_sided(0.035 / 0.015, 1));
	assert_near(n.spread.runs, 0.004);
	/* Within the machines 0.0002, of which the runs are 0.000004. */
	assert_near(n.spread.values, sqrt(0.000196));
	/* Of the machines 0.00045, of which half the sittings' 0.0002. */
	assert_near(n.spread.groups, sqrt(0.00035));
}

/* With one sitting a machine, sittings and machines cannot be told apart. */
static void test_one_each(void **state)
{
	const struct nested_value values[] = {
		{ .group = 0, .value = 0.01, .run_variance = NAN, .n_runs = 1 },
		{ .group = 1, .value = 0.02, .run_variance = NAN, .n_runs = 1 },
		{ .group = 2, .value = 0.06, .run_variance = NAN, .n_runs = 1 },
	};
	struct nested_advice advice;
	struct nested n;

	(void)state;
	assert_int_equal(nested_compute(values, ARRAY_SIZE(values), &n), 0);
	assert_true(isnan(n.spread.values) && isnan(n.spread.runs));
	assert_near(n.spread.groups, sqrt(0.0007));
	nested_advice(&n, &advice);
	/* Half the width is 4.3027 * 0.02646 / sqrt(3) = 0.0657. */
	assert_near(advice.wanted, 0.05);
	/* 0.05 = t(m - 1) * 0.02646 / sqrt(m): m = 4 gives 0.0421. */
	assert_int_equal(advice.groups, 4);
	assert_int_equal(advice.values, 0);
	assert_int_equal(advice.runs, 0);
	assert_int_equal(advice.runs_enough, 0);
}

/* Machines that are others: Welch's test of their means. */
static void test_others(void **state)
{
	static const double a[] = { 1, 2, 4 }, b[] = { 5, 9, 10, 12 };
	struct nested_value old[3], new[4];
	struct welch welch;
	struct nested n;

	(void)state;
	for (size_t i = 0; i < 3; i++)
		old[i] = (struct nested_value){ i, a[i], NAN, 1 };
	for (size_t i = 0; i < 4; i++)
		new[i] = (struct nested_value){ i, b[i], NAN, 1 };
	assert_int_equal(welch_test(a, 3, b, 4, &welch), 0);
	assert_int_equal(nested_compare(old, 3, new, 4, &n), 0);
	assert_near(n.p, welch.p);
	assert_near(n.mean, 9 - 7.0 / 3);
	assert_near((n.high - n.low) / 2, student_quantile(0.95, welch.df) * n.mean / welch.t);
	assert_int_equal(nested_compare(old, 1, new, 4, &n), -ENODATA);
}

/* All machines agree to the last bit. */
static void test_no_spread(void **state)
{
	const struct nested_value values[] = { { 0, 0, 0, 5 }, { 1, 0, 0, 5 }, { 2, 0, 0, 5 } };
	struct nested_advice advice;
	struct nested n;

	(void)state;
	assert_int_equal(nested_compute(values, ARRAY_SIZE(values), &n), 0);
	assert_true(n.low == 0 && n.high == 0 && n.p == 1);
	nested_advice(&n, &advice);
	assert_true(isnan(advice.wanted));
	assert_int_equal(advice.groups, 0);
}

static double normal(void)
{
	return sqrt(-2 * log(1 - drand48())) * cos(2 * acos(-1) * drand48());
}

/* Fleets of 5 machines with 3 sittings of 25 runs: the interval holds the truth in 95 % of them,
 * and the spreads are found. Of 2000 fleets, 3 standard deviations are 1.5 %. */
static void test_coverage(void **state)
{
	enum {
		FLEETS = 2000,
		MACHINES = 5,
		SITTINGS = 3,
		RUNS = 25
	};
	double groups = 0, sittings = 0, runs = 0;
	int held = 0;

	(void)state;
	srand48(20);
	for (int fleet = 0; fleet < FLEETS; fleet++) {
		struct nested_value values[MACHINES * SITTINGS];
		struct nested n;

		for (int i = 0; i < MACHINES * SITTINGS; i++) {
			double mean = 0, squares = 0;
			static double machine;

			machine = i % SITTINGS == 0 ? 0.03 * normal() : machine;
			for (int k = 0; k < RUNS; k++) {
				double run = 0.003 * normal(), delta = run - mean;

				mean += delta / (k + 1);
				squares += delta * (run - mean);
			}
			values[i] = (struct nested_value){ (size_t)(i / SITTINGS),
				0.01 + machine + 0.01 * normal() + mean,
				squares / (RUNS - 1) / RUNS, RUNS };
		}
		assert_int_equal(nested_compute(values, ARRAY_SIZE(values), &n), 0);
		held += n.low <= 0.01 && n.high >= 0.01;
		groups += n.spread.groups * n.spread.groups / FLEETS;
		sittings += n.spread.values * n.spread.values / FLEETS;
		runs += n.spread.runs * n.spread.runs / FLEETS;
	}
	if (held < FLEETS * 0.935 || held > FLEETS * 0.965)
		fail_msg("%d of %d intervals hold the truth", held, FLEETS);
	assert_true(fabs(sqrt(groups) / 0.03 - 1) < 0.03);
	assert_true(fabs(sqrt(sittings) / 0.01 - 1) < 0.03);
	assert_true(fabs(sqrt(runs) / 0.003 - 1) < 0.03);
}

/* What is not the same for all machines does not shift the spreads: 4 machines with one sitting and
 * 4 with nine, of 25 runs or of a single one, and no difference between the machines. */
static void test_unbalanced(void **state)
{
	enum {
		FLEETS = 2000,
		MANY = 9,
		RUNS = 25
	};
	double groups = 0, sittings = 0, runs = 0;

	(void)state;
	srand48(21);
	for (int fleet = 0; fleet < FLEETS; fleet++) {
		struct nested_value values[4 * (1 + MANY)];
		struct nested n;
		size_t at = 0;

		for (size_t machine = 0; machine < 8; machine++) {
			for (int k = 0; k < (machine < 4 ? 1 : MANY); k++) {
				int n_runs = at % 2 ? RUNS : 1;
				double spread = 0.01 / sqrt(n_runs);

				/* The variance that is estimated from the runs is not its
				 * expectation. */
				values[at++] = (struct nested_value){ machine,
					0.01 * normal() + spread * normal(),
					n_runs == 1 ? NAN : spread * spread * (1 + 0.3 * normal()),
					n_runs };
			}
		}
		assert_int_equal(nested_compute(values, at, &n), 0);
		/* Negative estimates of the machines' variance are cut off, others are not. */
		groups += n.spread.groups * n.spread.groups / FLEETS;
		sittings += n.spread.values * n.spread.values / FLEETS;
		runs += n.spread.runs * n.spread.runs / FLEETS;
	}
	assert_true(fabs(sqrt(runs) / 0.01 - 1) < 0.03);
	assert_true(fabs(sqrt(sittings) / 0.01 - 1) < 0.03);
	/* 0.0049 by the estimates that were cut off; 0.0075 with the arithmetic mean of the
	 * sittings. */
	if (!(sqrt(groups) < 0.006))
		fail_msg("machines differ by %g", sqrt(groups));
}

/* Old machines of two sittings, new ones of one: what cannot be told apart for both is not lost. */
static void test_other_levels(void **state)
{
	struct nested_value old[10], new[5];
	struct nested_advice advice;
	struct nested n;
	double width;

	(void)state;
	srand48(22);
	for (size_t i = 0; i < 10; i++)
		old[i] = (struct nested_value){ i / 2, 0.05 * normal(), 0.0001, 4 };
	for (size_t i = 0; i < 5; i++)
		new[i] = (struct nested_value){ i, 0.03 * normal(), NAN, 1 };
	assert_int_equal(nested_compare(old, 10, new, 5, &n), 0);
	assert_true(isnan(n.spread.values) && isnan(n.spread.runs));
	/* The interval follows from the spread that is told. */
	width = student_quantile(0.95, n.df) * n.spread.groups * sqrt(1 / n.groups_each);
	assert_near((n.high - n.low) / 2, width);
	nested_advice(&n, &advice);
	assert_true(advice.groups > 5 && advice.wanted < width);
	assert_int_equal(advice.values, 0);
	assert_int_equal(advice.runs, 0);
}

/* Differences of rounding are none. */
static void test_rounding(void **state)
{
	const struct nested_value values[] = { { 0, 1.8e-15, 0, 5 }, { 1, 1.8e-15, 0, 5 },
		{ 2, 1.9e-15, 0, 5 } };
	struct nested n;

	(void)state;
	assert_int_equal(nested_compute(values, ARRAY_SIZE(values), &n), 0);
	assert_true(n.p == 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_quantile),
		cmocka_unit_test(test_by_hand),
		cmocka_unit_test(test_one_each),
		cmocka_unit_test(test_others),
		cmocka_unit_test(test_no_spread),
		cmocka_unit_test(test_coverage),
		cmocka_unit_test(test_unbalanced),
		cmocka_unit_test(test_other_levels),
		cmocka_unit_test(test_rounding),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
