// SPDX-License-Identifier: GPL-2.0-or-later
/* Programs that were run in turn, compared in pairs. */
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
#include "judge/report/compare.h"
#include "judge/report/decision.h"
#include "judge/report/rank.h"
#include "judge/report/turns.h"
#include "judge/report/wording.h"
#include "judge/stats/inference.h"
#include "judge/stats/multiple.h"

#include "random.h"

/* Figures from scipy 1.17.1: wilcoxon(d, method='exact'), or method='approx', correction=True when
 * two differences have the same absolute value or there are more than 60. */
static void test_signed_rank(void **state)
{
	static const struct {
		double differences[72];
		size_t n;
		double w, p;
	} cases[] = {
		/* Hollander and Wolfe, Nonparametric Statistical Methods, table 3.1 */
		{ { 0.952, -0.147, 1.022, 0.430, 0.620, 0.590, 0.490, -0.080, 0.010 }, 9, 40,
			0.0390625 },
		{ { 1.83, 0.5, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.3 }, 9, 45, 0.00390625 },
		{ { 1, 2, 3, 4, 5, 6 }, 6, 21, 0.03125 },
		{ { -1, -2, 3, -4, -5 }, 5, 3, 0.3125 },
		{ { 1, 1, -1, 2, 2, 3, -3, 0, 0, 4 }, 10, 27.5, 0.2042192702898492 },
		{ { 0, 0, 5 }, 3, 1, 1 },
		{ { 0, 0 }, 2, 0, 1 },
		{ { -7 }, 1, 0, 1 },
		{ { -0.402, -0.924, 0.152, 0.82, 1.536, 0.51, -0.153, -0.385, 1.149, 2.035, 0.673,
			  -0.833, -0.558, 2.0, 0.603, -1.332, 0.316, -0.763, -0.229, -0.088, -0.313,
			  0.953, 0.337, -0.189, 0.81 },
			25, 201, 0.312333345413208 },
		{ { 1.0299, -1.443, -0.0567, -0.7807, 0.0268, -1.0894, 0.2207, 0.1621, -0.1043,
			  -0.8479, -0.1962, -0.8913, -1.1552, 0.4248, -0.9093, 1.3703, 0.9166,
			  -1.7978, 0.4721, -0.9017, 0.2331, 0.2436, -1.7884, -0.0334, -0.0558,
			  1.162, -0.9814, 0.938, -0.899, -0.1313, -0.6405, 1.6487, 0.7682, 2.6317,
			  0.8419, 1.045, 1.0407, -0.4066, 0.13, 1.5504, -0.1966, 0.3888, 0.1788,
			  0.8092, -0.1649, 0.0476, 0.4424, 0.303, -0.665, 1.0958, -1.0985, -1.0011,
			  -1.0825, 1.167, -0.1606, -0.771, -0.936, 0.6211, -0.8548, -1.0721, 0.814,
			  -0.9967, -0.1224, 0.1932, -0.2453, 0.1459, 1.5388, -0.3169, -1.0593,
			  -1.6367 },
			70, 1165, 0.6522648466238724 },
	};
	struct signed_rank s;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		assert_int_equal(signed_rank_test(cases[i].differences, cases[i].n, &s), 0);
		assert_true(s.w == cases[i].w);
		assert_true(fabs(s.p - cases[i].p) < 1e-12);
	}
	assert_int_equal(signed_rank_test(cases[0].differences, 0, &s), -ENODATA);
}

/* With the signs of all differences inverted, the evidence is the same. */
static void test_signed_rank_is_symmetric(void **state)
{
	(void)state;
	srand48(3);
	for (int round = 0; round < 500; round++) {
		double there[80], back[80];
		size_t n = 1 + (size_t)(drand48() * 79);
		struct signed_rank a, b;

		for (size_t i = 0; i < n; i++) {
			there[i] = floor((drand48() - 0.4) * 20);
			back[n - 1 - i] = -there[i];
		}
		assert_int_equal(signed_rank_test(there, n, &a), 0);
		assert_int_equal(signed_rank_test(back, n, &b), 0);
		assert_true(fabs(a.p - b.p) < 1e-12);
		assert_true(a.p >= 0 && a.p <= 1);
	}
}

struct side {
	struct series *series;
	struct benchmark view;
};

/* A benchmark of runs with these times. Interleaved benchmarks have the metadata that runpinned
 * writes for programs that it ran in turn. */
static void make_side(
	struct side *side, const char *name, const double *values, size_t n, bool rival)
{
	side->series = series_new(false, NULL);
	for (size_t i = 0; i < n; i++) {
		struct sample sample = { .user_ns = llround(values[i] * 1e9) };

		assert_int_equal(series_append(side->series, &sample, NULL, NULL), 0);
	}
	side->series->clock = WINDOW_USER;
	assert_int_equal(benchmark_view(name, side->series, &side->view), 0);
	if (rival) {
		facts_set_string(&side->view.metadata, "quiesce_interleaved", "old, new");
		facts_set_integer(&side->view.metadata, "quiesce_order_seed", 7);
	}
}

static void clear_side(struct side *side)
{
	facts_clear(&side->view.metadata);
	benchmark_clear_view(&side->view);
	series_free(side->series);
}

static double normal(void)
{
	return sqrt(-2 * log(1 - drand48())) * cos(2 * acos(-1) * drand48());
}

/* A comparison by itself, with its verdict. */
static int compare_alone(
	const struct benchmark *old, const struct benchmark *new, struct comparison **ret)
{
	int r = comparison_new(old, new, ret);

	if (r == 0)
		comparison_settle(ret, 1);
	return r;
}

/* The verdict on two programs of which the second takes `ratio` times as long, while the machine
 * becomes `drift` times as slow from the first run to the last. */
static enum verdict judge(size_t n, double ratio, double noise, double drift, bool interleaved,
	double *ret_ratio, size_t *ret_pairs)
{
	double old[256], new[256];
	struct comparison *c;
	struct side sides[2];
	enum verdict verdict;

	assert_true(n <= ARRAY_SIZE(old));
	for (size_t i = 0; i < n; i++) {
		double machine = 0.01 * (1 + (drift - 1) * (double)i / (double)(n - 1));

		old[i] = machine * exp(noise * normal());
		new[i] = machine *ratio *exp(noise * normal());
	}
	make_side(&sides[0], "old", old, n, interleaved);
	make_side(&sides[1], "new", new, n, interleaved);
	assert_int_equal(compare_alone(&sides[0].view, &sides[1].view, &c), 0);
	verdict = c->verdict;
	*ret_ratio = c->ratio.ratio;
	*ret_pairs = c->n_pairs;
	comparison_free(c);
	clear_side(&sides[0]);
	clear_side(&sides[1]);
	return verdict;
}

/* A machine that gets 30 % slower meanwhile hides a change of 1 % from medians, and not from pairs.
 */
static void test_drift_hits_both(void **state)
{
	size_t n_found = 0, n_pairs;
	double ratio;

	(void)state;
	srand48(11);
	for (int i = 0; i < 100; i++) {
		n_found += judge(25, 1.01, 0.003, 1.3, true, &ratio, &n_pairs) == VERDICT_SLOWER;
		assert_int_equal(n_pairs, 25);
		assert_true(fabs(ratio - 1.01) < 0.01);
		assert_true(judge(25, 1.01, 0.003, 1.3, false, &ratio, &n_pairs) != VERDICT_FASTER);
		assert_int_equal(n_pairs, 0);
	}
	assert_true(n_found >= 95);
}

/* A change of 1 % with a noise of 0.3 % a run. */
static void test_one_percent(void **state)
{
	size_t n_found = 0, n_pairs;
	double ratio;

	(void)state;
	srand48(16);
	for (int i = 0; i < 200; i++)
		n_found += judge(25, i % 2 ? 1.01 : 0.99, 0.003, 1, true, &ratio, &n_pairs) ==
			(i % 2 ? VERDICT_SLOWER : VERDICT_FASTER);
	assert_true(n_found >= 190);
}

/* Where most ratios are 1, the others tell which program is the slower one. */
static void test_equal_values(void **state)
{
	double fast[40], slow[40];
	struct comparison *c;
	struct side sides[2];

	(void)state;
	for (size_t i = 0; i < 40; i++) {
		fast[i] = i * 7 % 20 < 9 ? 0.01 : 0.0101;
		slow[i] = i * 7 % 20 == 9 ? 0.01 : 0.0101;
	}
	for (size_t turned = 0; turned < 2; turned++) {
		for (size_t rival = 0; rival < 2; rival++) {
			make_side(&sides[0], "old", turned ? slow : fast, 40, rival);
			make_side(&sides[1], "new", turned ? fast : slow, 40, rival);
			/* What the machine may do is not asked of sizes. */
			sides[0].view.unit = sides[1].view.unit = &unit_byte;
			assert_int_equal(compare_alone(&sides[0].view, &sides[1].view, &c), 0);
			assert_true(c->p < 0.01);
			assert_true(c->ratio.ratio == 1);
			assert_int_equal(c->n_pairs, rival ? 40 : 0);
			if (rival)
				assert_int_equal(
					c->verdict, turned ? VERDICT_FASTER : VERDICT_SLOWER);
			if (rival && turned)
				assert_true(c->ratio.high < 1 && fabs(c->ratio.low - 0.990) < 1e-3);
			else if (rival)
				assert_true(c->ratio.low > 1 && fabs(c->ratio.high - 1.010) < 1e-3);
			comparison_free(c);
			clear_side(&sides[0]);
			clear_side(&sides[1]);
		}
	}
}

/* A value of 0 has no ratio, and the runs are pairs all the same. The change is that of the
 * medians, which need not tell what the ranks do. */
static void test_zeros(void **state)
{
	static const struct {
		size_t n_old, n_new; /* so many of 40 have the first value of these */
		double old[2], new[2];
		enum verdict verdict;
	} cases[] = {
		{ 2, 2, { 0, 1 }, { 0, 1 }, VERDICT_SAME },
		{ 40, 40, { 0, 0 }, { 0, 0 }, VERDICT_SAME },
		{ 2, 2, { 0, 2 }, { 1, 3 }, VERDICT_SLOWER },
		{ 2, 2, { 0, 3 }, { 1, 2 }, VERDICT_FASTER },
		{ 40, 2, { 0, 0 }, { 1, 3 }, VERDICT_SLOWER },
		{ 18, 1, { 0, 5 }, { 0, 5 }, VERDICT_UNCLEAR },
		{ 18, 25, { 0, 5 }, { 4.9, 10 }, VERDICT_UNCLEAR },
	};
	double old[40], new[40];
	struct comparison *c;
	struct side sides[2];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		for (size_t k = 0; k < 40; k++) {
			old[k] = cases[i].old[k >= cases[i].n_old];
			new[k * 7 % 40] = cases[i].new[k >= cases[i].n_new];
		}
		make_side(&sides[0], "old", old, 40, true);
		make_side(&sides[1], "new", new, 40, true);
		assert_int_equal(compare_alone(&sides[0].view, &sides[1].view, &c), 0);
		assert_int_equal(c->design, COMPARED_IN_TURN);
		assert_int_equal(c->n_pairs, 40);
		assert_int_equal(c->verdict, cases[i].verdict);
		assert_true(isnan(c->ratio.low));
		if (c->verdict == VERDICT_UNCLEAR)
			assert_string_equal(c->unclear,
				"they differ, but the medians do not tell how, and a value that "
				"is not above 0 has no ratio");
		comparison_free(c);
		clear_side(&sides[0]);
		clear_side(&sides[1]);
	}
}

/* Of ten programs without a difference, the one with the lowest median is found to be faster than
 * another one in at most 5 % of the trials, and three standard deviations. */
static void test_lowest_of_many(void **state)
{
	enum {
		PROGRAMS = 10,
		TRIALS = 300
	};
	struct side sides[PROGRAMS];
	const struct benchmark *programs[PROGRAMS];
	size_t n_wrong = 0;

	(void)state;
	srand48(19);
	for (size_t t = 0; t < TRIALS; t++) {
		char *text;

		for (size_t i = 0; i < PROGRAMS; i++) {
			double values[25];

			for (size_t k = 0; k < ARRAY_SIZE(values); k++)
				values[k] = 0.01 * exp(0.01 * normal());
			make_side(&sides[i], "a", values, ARRAY_SIZE(values), true);
			programs[i] = &sides[i].view;
		}
		assert_int_equal(rank_render(programs, PROGRAMS, true, &text), 0);
		n_wrong += strstr(text, "faster") != NULL;
		free(text);
		for (size_t i = 0; i < PROGRAMS; i++)
			clear_side(&sides[i]);
	}
	assert_true(n_wrong <= TRIALS * 0.05 + 3 * sqrt(TRIALS * 0.05 * 0.95));
}

/* What has no proportion is said without one. */
static void test_rank_of_nothing(void **state)
{
	static const double few[8] = { 0 }, many[] = { 1, 2, 3, 4, 5, 6, 7, 8 };
	const struct benchmark *programs[2];
	struct side sides[2];

	(void)state;
	for (size_t differ = 0; differ < 2; differ++) {
		char *text;

		make_side(&sides[0], "a", few, ARRAY_SIZE(few), true);
		make_side(&sides[1], "b", differ ? many : few, ARRAY_SIZE(few), true);
		for (size_t i = 0; i < 2; i++)
			programs[i] = &sides[i].view;
		assert_int_equal(rank_render(programs, 2, true, &text), 0);
		assert_string_equal(text,
			differ ? "a ran faster than b\n" : "no difference found between a and b\n");
		free(text);
		clear_side(&sides[0]);
		clear_side(&sides[1]);
	}
}

/* Two medians of 0 have no ratio: the program that has 0 as well is the next one. */
static void test_rank_without_ratio(void **state)
{
	static const double values[3][8] = { { 0 }, { 1, 2, 3, 4, 5, 6, 7, 8 }, { 0 } };
	static const char *const names[] = { "a", "b", "c" };
	const struct benchmark *programs[3];
	struct side sides[3];
	char *text;

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		make_side(&sides[i], names[i], values[i], ARRAY_SIZE(values[i]), true);
		programs[i] = &sides[i].view;
	}
	assert_int_equal(rank_render(programs, 3, true, &text), 0);
	assert_string_equal(text, "no difference found between a and c\na ran faster than b\n");
	free(text);
	for (size_t i = 0; i < 3; i++)
		clear_side(&sides[i]);
}

/* A difference that would be found alone, and is not among three: its interval does not hold 1, so
 * it is said why nothing is found. */
static void test_correction_is_said(void **state)
{
	static const char *const names[] = { "a", "b", "c" };
	size_t n_corrected = 0;

	(void)state;
	srand48(3);
	for (size_t trial = 0; trial < 300; trial++) {
		struct comparison **comparisons;
		const struct benchmark *programs[3];
		struct side sides[3];
		char *text, *rest;

		for (size_t i = 0; i < 3; i++) {
			double values[8];

			for (size_t k = 0; k < ARRAY_SIZE(values); k++)
				values[k] = 10 + (double)i + 3 * drand48();
			make_side(&sides[i], names[i], values, ARRAY_SIZE(values), true);
			programs[i] = &sides[i].view;
		}
		assert_int_equal(rank_render(programs, 3, true, &text), 0);
		assert_int_equal(rank_compare(programs, 3, true, &comparisons), 0);
		rest = text;
		for (size_t i = 0; i < 2; i++) {
			const struct comparison *c = comparisons[i];
			const char *line = strsep(&rest, "\n");
			bool is_corrected = c->verdict == VERDICT_SAME &&
				(c->ratio.low > 1 || c->ratio.high < 1);

			assert_true(is_corrected ==
				(strstr(line, " (of all compared: p = 0.") != NULL));
			n_corrected += is_corrected;
			comparison_free(comparisons[i]);
		}
		free(comparisons);
		free(text);
		for (size_t i = 0; i < 3; i++)
			clear_side(&sides[i]);
	}
	assert_in_range(n_corrected, 10, 200);
}

static void test_no_difference(void **state)
{
	size_t n_wrong = 0, n_pairs;
	double ratio;

	(void)state;
	srand48(12);
	for (int i = 0; i < 1000; i++)
		n_wrong +=
			judge(25, 1, 0.003, 1 + drand48(), true, &ratio, &n_pairs) != VERDICT_SAME;
	/* 5 %, and two standard deviations of so many trials. */
	assert_true(n_wrong <= 64);
}

/* Five pairs cannot differ: by chance, all of them have the same sign in 6 % of all cases. */
static void test_too_few_pairs(void **state)
{
	struct comparison *compared[20];
	double old[40], new[40];
	struct side sides[2];

	(void)state;
	srand48(14);
	for (size_t i = 0; i < 40; i++) {
		old[i] = 0.01 * exp(0.001 * normal());
		new[i] = 11 * old[i];
	}
	for (size_t n = 5; n <= 6; n++) {
		make_side(&sides[0], "old", old, n, true);
		make_side(&sides[1], "new", new, n, true);
		assert_int_equal(compare_alone(&sides[0].view, &sides[1].view, &compared[0]), 0);
		assert_int_equal(compared[0]->verdict, n == 5 ? VERDICT_UNCLEAR : VERDICT_SLOWER);
		assert_int_equal(
			comparison_gate(compared[0], 2, SIGNIFICANCE) == GATE_FAILS, n == 6);
		if (n == 5)
			assert_string_equal(compared[0]->unclear,
				"too few runs: 5 pairs, and at least 6 are needed to find any "
				"difference");
		comparison_free(compared[0]);
		clear_side(&sides[0]);
		clear_side(&sides[1]);
	}
	/* One of 20 that are compared, while the others do not differ: the correction asks for more
	 * pairs. Where all differ it does not. */
	make_side(&sides[0], "old", old, 7, true);
	make_side(&sides[1], "new", new, 7, true);
	for (size_t same = 0; same < 2; same++) {
		for (size_t i = 0; i < 20; i++)
			assert_int_equal(compare_alone(&sides[0].view,
						 &sides[i == 0 || same == 0].view, &compared[i]),
				0);
		comparison_settle(compared, 20);
		assert_int_equal(compared[0]->verdict, same ? VERDICT_UNCLEAR : VERDICT_SLOWER);
		if (same)
			assert_string_equal(compared[0]->unclear,
				"too few runs: 7 pairs, and at least 10 are needed to find any "
				"difference");
		/* Settled alone, it is one question again. */
		comparison_settle(compared, 1);
		assert_int_equal(compared[0]->verdict, VERDICT_SLOWER);
		assert_null(compared[0]->unclear);
		for (size_t i = 0; i < 20; i++)
			comparison_free(compared[i]);
	}
	clear_side(&sides[0]);
	clear_side(&sides[1]);
}

/* 1 to 19 programs that are slower by exactly the limit, or one of them by more: how often does a
 * gate fail? The interval that it uses lies above the limit exactly where it fails. */
static void test_gates_together(void **state)
{
	static const size_t numbers[] = { 1, 9, 19 };
	enum {
		N_SLOWER = 20
	};

	(void)state;
	srand48(15);
	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++) {
		size_t n = numbers[i], n_trials = 400 / TRIALS_PART, n_failed[2] = { 0 };

		for (size_t trial = 0; trial < n_trials + N_SLOWER; trial++) {
			bool is_slower = trial >= n_trials, fails = false;
			struct comparison *compared[19];
			struct side sides[38];
			double level;

			for (size_t k = 0; k < n; k++) {
				double old[25], new[25];

				for (size_t run = 0; run < 25; run++) {
					old[run] = 0.01 * exp(0.003 * normal());
					new[run] = 0.01 * (is_slower && k == 0 ? 1.03 : 1.02) *
						exp(0.003 * normal());
				}
				make_side(&sides[2 * k], "old", old, 25, true);
				make_side(&sides[2 * k + 1], "new", new, 25, true);
				assert_int_equal(compare_alone(&sides[2 * k].view,
							 &sides[2 * k + 1].view, &compared[k]),
					0);
			}
			comparison_settle(compared, n);
			level = comparison_gate_level(compared, n, 2);
			assert_true(n > 1 || level == SIGNIFICANCE);
			for (size_t k = 0; k < n; k++) {
				bool one = comparison_gate(compared[k], 2, level) == GATE_FAILS;
				double low = comparison_interval_at(compared[k], level).low;

				assert_int_equal(one, low > 1.02);
				assert_true(low <= compared[k]->ratio.low);
				fails = fails || one;
				comparison_free(compared[k]);
				clear_side(&sides[2 * k]);
				clear_side(&sides[2 * k + 1]);
			}
			n_failed[is_slower] += fails;
		}
		/* 2.5 % and two standard deviations; with each one's own interval, 38 % for 19. */
		assert_true((double)n_failed[0] <=
			0.04 * (double)n_trials + few_trials_slack(0.025 * (double)n_trials));
		assert_int_equal(n_failed[1], N_SLOWER);
	}
}

/* A few page faults more, each of which takes some microseconds, may be all that is slower. */
static void test_faults_explain(void **state)
{
	static const struct {
		int32_t faults[2]; /* of old and new; negative: not known */
		double seconds;	   /* by which new takes longer than 1.5 ms */
		bool may_be;
	} cases[] = {
		{ { 26, 28 }, 14e-6, true },
		{ { 28, 26 }, -14e-6, true },
		{ { 26, 28 }, -14e-6, false }, /* more of them make nothing faster */
		{ { 26, 26 }, 14e-6, false },
		{ { 26, 28 }, 200e-6, false }, /* none takes so long */
		{ { 26, 28 }, 0, false },      /* there is nothing to explain */
		{ { -1, 28 }, 14e-6, false },
	};

	(void)state;
	srand48(16);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_free_ char *text = NULL;
		struct side sides[2];
		struct comparison *c;

		for (int which = 0; which < 2; which++) {
			struct series *series;

			series = series_new(true, NULL);
			for (size_t run = 0; run < 25; run++) {
				double seconds = 1.5e-3 + which * cases[i].seconds;
				struct sample sample = {
					.user_ns = llround(1e9 * seconds * exp(0.0005 * normal())),
				};
				struct evidence evidence;

				evidence_clear(&evidence);
				evidence.minor_faults = cases[i].faults[which];
				assert_int_equal(
					series_append(series, &sample, &evidence, NULL), 0);
			}
			series->clock = WINDOW_USER;
			sides[which].series = series;
			assert_int_equal(benchmark_view("x", series, &sides[which].view), 0);
			facts_set_string(
				&sides[which].view.metadata, "quiesce_interleaved", "old, new");
			facts_set_integer(&sides[which].view.metadata, "quiesce_order_seed", 7);
		}
		assert_int_equal(compare_alone(&sides[0].view, &sides[1].view, &c), 0);
		assert_int_equal(c->verdict != VERDICT_SAME, cases[i].seconds != 0);
		assert_int_equal(comparison_may_be_faults(c), cases[i].may_be);
		text = comparison_render(c);
		assert_non_null(text);
		assert_int_equal(
			strstr(text, " minor page faults may be all") != NULL, cases[i].may_be);
		comparison_free(c);
		clear_side(&sides[0]);
		clear_side(&sides[1]);
	}
}

/* Rounds of two programs in an order that is drawn: `carried` is added after a run of the first
 * one, `second` to the second run of a round, and `slower` to the second program. */
static struct comparison *compare_rounds(
	struct side sides[2], size_t n, double carried, double second, double slower)
{
	double values[2][100] = { 0 };
	int64_t starts[2][100] = { 0 };
	size_t before = 2;
	struct comparison *c;

	for (size_t round = 0; round < n; round++) {
		size_t first = drand48() < 0.5;

		for (size_t k = 0; k < 2; k++) {
			size_t which = first ^ k;

			starts[which][round] = (int64_t)(2 * round + k + 1) * 100000000;
			values[which][round] = 0.01 *
				exp(0.01 * normal() + (before == 0 ? carried : 0) +
					(k == 1 ? second : 0) + (which == 1 ? slower : 0));
			before = which;
		}
	}
	for (size_t which = 0; which < 2; which++) {
		make_side(&sides[which], which ? "new" : "old", values[which], n, true);
		for (size_t i = 0; i < n; i++)
			sides[which].series->samples[i].start_ns = starts[which][i];
	}
	assert_int_equal(compare_alone(&sides[0].view, &sides[1].view, &c), 0);
	return c;
}

/* What a program leaves behind slows down the one that mostly follows it, which is not blamed. An
 * effect of the place in the round is none of that, and nor is a slower program. */
static void test_carryover(void **state)
{
	static const struct {
		size_t n;
		double carried, second, slower;
		int least_found, most_found;   /* per cent */
		int least_slower, most_slower; /* how many have the verdict */
	} cases[] = {
		{ 25, 0, 0, 0, 0, 2, 0, 5 }, { 60, 0, 0.05, 0, 0, 2, 0, 5 },
		{ 60, 0, 0, 0.05, 0, 2, 98, 100 }, { 25, 0.05, 0, 0, 98, 100, 0, 2 },
		{ 60, 0.02, 0, 0, 98, 100, 0, 2 },
		{ 60, 0.05, 0, 0.2, 98, 100, 98, 100 }, /* more than that is its own */
	};
	enum {
		TRIALS = 500 / TRIALS_PART
	};

	(void)state;
	srand48(17);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		int found = 0, slower = 0;

		for (int trial = 0; trial < TRIALS; trial++) {
			struct side sides[2];
			struct comparison *c = compare_rounds(sides, cases[i].n, cases[i].carried,
				cases[i].second, cases[i].slower);

			found += carryover_is_found(&c->carryover);
			slower += c->verdict == VERDICT_SLOWER;
			/* The remedy is that of the reason. */
			assert_int_equal(comparison_remedy(c) != NULL, c->is_carried);
			if (c->is_carried)
				assert_non_null(strstr(c->unclear,
					carryover_is_found(&c->carryover)
						? ", which may be all of the difference"
						: "of the runs that do not follow one of the other program "));
			if (carryover_is_found(&c->carryover) && cases[i].carried > 0) {
				_cleanup_free_ char *text = comparison_render(c);
				struct carryover found_again;

				assert_true(c->carryover.change < 0 && c->carryover.bias > 0);
				assert_non_null(strstr(text, " longer after one of old\n"));
				/* With dates in whole seconds nobody knows what came first. */
				for (size_t k = 0; k < 2 * cases[i].n; k++)
					sides[k % 2].series->samples[k / 2].start_ns /= 1000000000;
				carryover_find(c->old, c->new, NULL, 0, &found_again);
				assert_false(found_again.is_known);
				assert_false(carryover_is_found(&found_again));
			}
			comparison_free(c);
			clear_side(&sides[0]);
			clear_side(&sides[1]);
		}
		assert_true(
			rate_is_between(found, cases[i].least_found, cases[i].most_found, TRIALS));
		assert_true(rate_is_between(
			slower, cases[i].least_slower, cases[i].most_slower, TRIALS));
	}
}

/* Carry-over is found, and the pairs jump by so much that they tell nothing anyway: a hook that
 * removes what a program leaves would not help. */
static void test_carried_but_unstable(void **state)
{
	struct side sides[2];
	struct comparison *c, *alone;

	(void)state;
	srand48(19);
	alone = compare_rounds(sides, 60, 0.05, 0, 0);
	assert_non_null(comparison_remedy(alone));
	comparison_free(alone);
	for (size_t i = 0; i < 60; i++) {
		double factor = i < 30 ? 0.9 : 1.1;
		struct sample *sample = &sides[1].series->samples[i];

		sample->user_ns = llround((double)sample->user_ns * factor);
	}
	facts_clear(&sides[1].view.metadata);
	benchmark_clear_view(&sides[1].view);
	assert_int_equal(benchmark_view("new", sides[1].series, &sides[1].view), 0);
	facts_set_string(&sides[1].view.metadata, "quiesce_interleaved", "old, new");
	facts_set_integer(&sides[1].view.metadata, "quiesce_order_seed", 7);
	assert_int_equal(compare_alone(&sides[0].view, &sides[1].view, &c), 0);
	assert_int_equal(c->verdict, VERDICT_UNCLEAR);
	assert_non_null(strstr(c->unclear, "pairs jump"));
	assert_true(c->carryover.bias != 0);
	assert_null(comparison_remedy(c));
	comparison_free(c);
	clear_side(&sides[0]);
	clear_side(&sides[1]);
}

/* Of one program, runs after either take as long, to the last of them; the other one tells by
 * itself whether anything is carried over. */
static void test_carryover_of_equal_runs(void **state)
{
	struct side sides[2];
	double values[2][40];
	struct comparison *c;

	(void)state;
	srand48(23);
	/* Twice each in turn: old old new new. */
	for (size_t i = 0; i < 40; i++) {
		values[0][i] = 0.01 * (1 + (i % 2 == 0 ? 0 : 0.2)) * exp(0.001 * normal());
		values[1][i] = 0.01;
	}
	for (size_t which = 0; which < 2; which++) {
		make_side(&sides[which], which ? "new" : "old", values[which], 40, true);
		for (size_t i = 0; i < 40; i++)
			sides[which].series->samples[i].start_ns =
				(int64_t)(4 * (i / 2) + 2 * which + i % 2 + 1) * 100000000;
	}
	assert_int_equal(compare_alone(&sides[0].view, &sides[1].view, &c), 0);
	/* A run of old takes 20 % longer after one of old; one of new never does. */
	assert_true(fabs(c->carryover.change + log(1.2) / 2) < 0.002);
	comparison_free(c);
	clear_side(&sides[0]);
	clear_side(&sides[1]);
}

/* A decision that may come from a carry-over is none, in either direction. */
static void test_carried_decision(void **state)
{
	static const struct {
		double ratio, bias;
		bool is_settled;
	} cases[] = {
		{ 1.05, 0, true },
		{ 1.05, 0.04, false },
		{ 1.05, -0.04, true },
		{ 1.5, 0.04, true },
		{ 0.99, -0.04, false },
		{ 0.99, 0.04, true },
		{ 0.5, -0.04, true },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct carryover carryover = {
			.change = -2 * cases[i].bias,
			.bias = cases[i].bias,
			.p = 0.001,
			.alone_change = NAN,
		};
		_cleanup_free_ char *text = NULL;
		double old[40], new[40];
		struct facts facts = { 0 };
		struct decision d, back;

		decision_begin(&d, 2, 1);
		for (size_t k = 0; k < ARRAY_SIZE(old); k++) {
			/* Equal ones would be those of a coarse clock. */
			old[k] = 1 + 1e-4 * (double)k;
			new[k] = cases[i].ratio *old[k];
			decision_add(&d, old[k], new[k]);
		}
		decision_estimate(&d, old, new, ARRAY_SIZE(old));
		assert_int_equal(
			d.verdict, cases[i].ratio > 1 ? DECISION_SLOWER : DECISION_NOT_SLOWER);
		decision_conclude(&d, &carryover);
		assert_int_equal(d.verdict != DECISION_NOT_SETTLED, cases[i].is_settled);
		decision_write(&d, &facts);
		assert_int_equal(decision_read(&facts, &back), 0);
		text = decision_text(&back, true);
		assert_non_null(text);
		assert_int_equal(
			strstr(text, " longer after one of the ") == NULL, cases[i].is_settled);
		facts_clear(&facts);
	}
}

/* A drift of one program alone is not a drift of the machine. */
static void test_unstable_pairs(void **state)
{
	double old[40], new[40];
	struct comparison *c;
	struct side sides[2];

	(void)state;
	srand48(13);
	for (size_t i = 0; i < 40; i++) {
		old[i] = 0.01 * exp(0.001 * normal());
		new[i] = (i < 20 ? 0.009 : 0.011) * exp(0.001 * normal());
	}
	make_side(&sides[0], "old", old, 40, true);
	make_side(&sides[1], "new", new, 40, true);
	assert_int_equal(compare_alone(&sides[0].view, &sides[1].view, &c), 0);
	assert_int_equal(c->verdict, VERDICT_UNCLEAR);
	assert_non_null(strstr(c->unclear, "pairs jump"));
	comparison_free(c);
	clear_side(&sides[0]);
	clear_side(&sides[1]);
}

/* The median of the new program is higher, and most of its runs are faster than most of the old
 * ones: the report says of what the figures are. */
static void test_medians_may_contradict(void **state)
{
	static const double old[] = { 12.1, 10.1, 9.9, 12.1, 10.1, 10, 12.1 };
	static const double new[] = { 9.9, 9.9, 12.1, 10, 11, 12, 12 };
	static const char remark[] = "of each alone; the change is that of ";

	(void)state;
	for (int in_turn = 0; in_turn < 2; in_turn++) {
		struct comparison *c;
		struct side sides[2];
		char *text;

		make_side(&sides[0], "old", old, 7, in_turn);
		make_side(&sides[1], "new", new, 7, in_turn);
		assert_int_equal(compare_alone(&sides[0].view, &sides[1].view, &c), 0);
		assert_true(c->new_stats.median > c->old_stats.median && c->ratio.ratio < 1);
		text = comparison_render(c);
		assert_non_null(strstr(text, remark));
		assert_non_null(strstr(text, in_turn ? "the pairs\n" : "all against all\n"));
		free(text);
		comparison_free(c);
		assert_int_equal(compare_alone(&sides[0].view, &sides[0].view, &c), 0);
		text = comparison_render(c);
		assert_null(strstr(text, remark));
		free(text);
		comparison_free(c);
		clear_side(&sides[0]);
		clear_side(&sides[1]);
	}
}

/* A clock that counts in steps of 10 ms shows a change of 4 % in no run, or in some: the interval
 * holds it all the same, and nothing is passed. */
static void test_coarse_clock(void **state)
{
	(void)state;
	srand48(17);
	for (int i = 0; i < 40; i++) {
		double old[25], new[25];
		struct comparison *c;
		struct side sides[2];
		char *text;

		for (size_t k = 0; k < 25; k++) {
			old[k] = 0.01 * round(10.05 + 0.05 * normal());
			new[k] = 0.01 * round(10.45 + 0.05 * normal());
		}
		old[0] = 0.11;
		make_side(&sides[0], "old", old, 25, true);
		make_side(&sides[1], "new", new, 25, true);
		assert_int_equal(compare_alone(&sides[0].view, &sides[1].view, &c), 0);
		assert_true(fabs(c->step - 0.1) < 1e-3);
		assert_true(c->ratio.low < 1.045 / 1.005 && c->ratio.high > 1.045 / 1.005);
		assert_int_equal(comparison_gate(c, 2, SIGNIFICANCE), GATE_UNCLEAR);
		text = comparison_render(c);
		assert_non_null(strstr(text, "smaller changes do not show"));
		free(text);
		comparison_free(c);
		clear_side(&sides[0]);
		clear_side(&sides[1]);
	}
}

/* A new program that is 3 % faster, but takes three times as long in every fifth run: the change is
 * that of most runs, and the report says that the mean has another one. */
static void test_means_may_contradict(void **state)
{
	(void)state;
	srand48(18);
	for (int is_rare = 0; is_rare < 2; is_rare++) {
		double old[60], new[60];
		struct decision d;
		struct comparison *c;
		struct side sides[2];
		char *text;

		decision_begin(&d, 2, 1);
		for (size_t k = 0; k < 60; k++) {
			old[k] = 0.1 * exp(0.003 * normal());
			new[k] = 0.097 * exp(0.003 * normal()) * (is_rare && k % 5 == 0 ? 3 : 1);
			decision_add(&d, old[k], new[k]);
		}
		make_side(&sides[0], "old", old, 60, true);
		make_side(&sides[1], "new", new, 60, true);
		assert_int_equal(compare_alone(&sides[0].view, &sides[1].view, &c), 0);
		assert_int_equal(c->verdict, VERDICT_FASTER);
		text = comparison_render(c);
		assert_int_equal(strstr(text, "  mean       +3") != NULL, is_rare);
		free(text);
		decision_estimate(&d, old, new, 60);
		assert_int_equal(d.verdict, DECISION_NOT_SLOWER);
		text = decision_text(&d, false);
		assert_int_equal(strstr(text, "; the mean changes by +3") != NULL, is_rare);
		free(text);
		comparison_free(c);
		clear_side(&sides[0]);
		clear_side(&sides[1]);
	}
}

/* An unfinished round leaves a run without its partner. Benchmarks with other seeds are not
 * pairs. */
static void test_who_is_paired(void **state)
{
	double values[12];
	struct comparison *c;
	struct side sides[2];

	(void)state;
	for (size_t i = 0; i < 12; i++)
		values[i] = 0.01 + (double)i * 1e-6;
	make_side(&sides[0], "old", values, 12, true);
	make_side(&sides[1], "new", values, 11, true);
	assert_true(turns_are_common(&sides[0].view, &sides[1].view));
	assert_int_equal(compare_alone(&sides[0].view, &sides[1].view, &c), 0);
	assert_int_equal(c->n_pairs, 11);
	assert_true(c->ratio.ratio == 1);
	assert_int_equal(c->verdict, VERDICT_SAME);
	comparison_free(c);
	facts_set_integer(&sides[1].view.metadata, "quiesce_order_seed", 8);
	assert_false(turns_are_common(&sides[0].view, &sides[1].view));
	assert_int_equal(compare_alone(&sides[0].view, &sides[1].view, &c), 0);
	assert_int_equal(c->n_pairs, 0);
	comparison_free(c);
	clear_side(&sides[0]);
	clear_side(&sides[1]);
}

static void set_turns(struct side *side, size_t first, size_t n, int64_t seed)
{
	const struct provenance turns = { .has_order_seed = true, .order_seed = seed };
	const struct provenance alone = { 0 };
	size_t all = side->series->n_samples;

	/* As if the file ended there. */
	side->series->n_samples = first;
	if (first > 0)
		series_set_provenance(side->series, &alone);
	side->series->n_samples = first + n;
	series_set_provenance(side->series, &turns);
	side->series->n_samples = all;
}

/*
 * Both were run in turn 12 times, then the first alone 5 times, and then both again in turn 8
 * times, everything on a machine that was 30 % slower each time, in one file. The pairs of both
 * measurements in turn are compared, and the 5 runs are left out.
 */
static void test_appended(void **state)
{
	double old[25], new[20];
	struct comparison *c;
	struct side sides[2];

	(void)state;
	srand48(15);
	for (size_t i = 0; i < 25; i++)
		old[i] = 0.01 * (i < 12 ? 1 : i < 17 ? 1.3 : 1.7) * exp(0.001 * normal());
	for (size_t i = 0; i < 20; i++)
		new[i] = 0.0102 * (i < 12 ? 1 : 1.7) * exp(0.001 * normal());
	make_side(&sides[0], "old", old, 25, false);
	make_side(&sides[1], "new", new, 20, false);
	assert_false(turns_are_common(&sides[0].view, &sides[1].view));
	set_turns(&sides[0], 0, 12, -7);
	set_turns(&sides[0], 17, 8, 8);
	set_turns(&sides[1], 0, 12, -7);
	set_turns(&sides[1], 12, 8, 8);
	assert_true(turns_are_common(&sides[0].view, &sides[1].view));
	assert_int_equal(compare_alone(&sides[0].view, &sides[1].view, &c), 0);
	assert_int_equal(c->n_pairs, 20);
	assert_int_equal(c->verdict, VERDICT_SLOWER);
	assert_true(fabs(c->ratio.ratio - 1.02) < 0.001);
	comparison_free(c);
	/* Another measurement, which the user gave the same seed. */
	for (int i = 0; i < 2; i++) {
		sides[i].view.has_dates = true;
		sides[i].view.first_date = 1000 + 100 * i;
		sides[i].view.last_date = 1099 + 100 * i;
	}
	assert_false(turns_are_common(&sides[0].view, &sides[1].view));
	sides[1].view.first_date = 1099;
	assert_true(turns_are_common(&sides[0].view, &sides[1].view));
	clear_side(&sides[0]);
	clear_side(&sides[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_signed_rank),
		cmocka_unit_test(test_signed_rank_is_symmetric),
		cmocka_unit_test(test_drift_hits_both),
		cmocka_unit_test(test_one_percent),
		cmocka_unit_test(test_equal_values),
		cmocka_unit_test(test_zeros),
		cmocka_unit_test(test_lowest_of_many),
		cmocka_unit_test(test_rank_of_nothing),
		cmocka_unit_test(test_rank_without_ratio),
		cmocka_unit_test(test_correction_is_said),
		cmocka_unit_test(test_no_difference),
		cmocka_unit_test(test_too_few_pairs),
		cmocka_unit_test(test_gates_together),
		cmocka_unit_test(test_faults_explain),
		cmocka_unit_test(test_carryover),
		cmocka_unit_test(test_carried_but_unstable),
		cmocka_unit_test(test_carryover_of_equal_runs),
		cmocka_unit_test(test_carried_decision),
		cmocka_unit_test(test_unstable_pairs),
		cmocka_unit_test(test_medians_may_contradict),
		cmocka_unit_test(test_means_may_contradict),
		cmocka_unit_test(test_coarse_clock),
		cmocka_unit_test(test_who_is_paired),
		cmocka_unit_test(test_appended),
	};

	return cmocka_run_group_tests_name("pairs", tests, NULL, NULL);
}
