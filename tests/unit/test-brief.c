// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/macro.h"
#include "base/text.h"
#include "judge/report/brief.h"
#include "judge/report/compare.h"

enum {
	RUNS = 40,
};

static const unsigned widths[] = { 60, 80, 100 };

/* What can be wrong with a series. */
enum trouble {
	CALM,
	SHORT, /* runs of some steps of the clock */
	FEW,
	JUMPS, /* and one far too short, another far too long */
	DRIFTS,
	ALIKE,
	STOLEN,
	ATTACHED, /* as earlier versions of runpinned were */
	WAITS,
	TROUBLES,
};

static double make_seconds(enum trouble trouble, size_t run)
{
	double noise = 1 + 0.0001 * ((double)(run * 7919 % 17) - 8);

	switch (trouble) {
	case SHORT:
		return 2e-7 * noise;
	case FEW:
		return 0.02 * (1 + 0.05 * (double)(run % 2));
	case JUMPS:
		return 0.02 * noise * (run == 3 ? 0.3 : run == 5 ? 4 : run < RUNS / 2 ? 1 : 1.5);
	case DRIFTS:
		return 0.02 * noise * (1 + 0.01 * (double)run);
	case ALIKE:
		return 0.02 * (1 + 0.02 * sin((double)run * 2 * M_PI / 10) + 0.001 * noise);
	case WAITS:
		return 0.02 * noise + 0.01 * (double)(run % 2);
	default:
		return 0.02 * noise;
	}
}

static void fill_evidence(enum trouble trouble, size_t run, double seconds, struct evidence *e)
{
	evidence_clear(e);
	e->steal_ns = trouble == STOLEN ? llround(seconds * 2e8) : 0;
	e->run_delay_ns = trouble == WAITS ? llround(1e7 * (double)(run % 2)) : 0;
	e->task_clock_ns = 20 * 1000 * 1000;
	e->user_cpu_ns = 15 * 1000 * 1000;
	e->system_cpu_ns = 5 * 1000 * 1000;
	if (trouble == ATTACHED) {
		e->voluntary_switches = 800;
		e->involuntary_switches = 5;
	}
}

static struct series *make_series(enum trouble trouble, struct facts *facts)
{
	struct series *series = series_new(true, NULL);

	for (size_t run = 0; run < RUNS; run++) {
		double seconds = make_seconds(trouble, run);
		struct sample sample = {
			.kernel_ns = llround(seconds * 1e9),
			.user_ns = llround(seconds * 1e9),
			/* With each flag that there is. */
			.flags = trouble == JUMPS ? (uint16_t)((1u << SAMPLE_N_FLAGS) - 1) : 0,
		};
		struct evidence evidence;

		fill_evidence(trouble, run, seconds, &evidence);
		assert_int_equal(series_append(series, &sample, &evidence, NULL), 0);
	}
	series->clock = trouble == SHORT ? WINDOW_USER : WINDOW_KERNEL;
	facts_set_string(facts, "quiesce_evidence", trouble == ATTACHED ? "all" : "none");
	return series;
}

/* How many lines the text has on a terminal, none of which may be wider. */
static size_t count_lines(const char *text, unsigned width)
{
	_cleanup_free_ char *wrapped = text_wrap(text, width);
	size_t n = 0;

	for (const char *line = wrapped; *line; n++) {
		size_t length = strcspn(line, "\n");

		if (text_columns(line, length) > width)
			fprintf(stderr, "%s", wrapped);
		assert_true(text_columns(line, length) <= width);
		line += length + (line[length] == '\n');
	}
	return n;
}

static void check_lines(const char *text, unsigned width, size_t limit)
{
	if (count_lines(text, width) > limit)
		fprintf(stderr, "%u columns:\n%s", width, text);
	assert_true(count_lines(text, width) <= limit);
}

/* Adds the benchmark, and returns the warnings that it carries. */
static unsigned add_benchmark(struct brief *brief, const struct benchmark *benchmark)
{
	_cleanup_(analysis) struct analysis *analysis = NULL;
	struct summary_input input = { .cpus = "3", .meanwhile = "an interrupt of eth0-rx-3" };
	unsigned found = 0;

	assert_int_equal(analysis_new(benchmark, &analysis), 0);
	input.benchmark = benchmark;
	input.analysis = analysis;
	brief_add_benchmark(brief, &input);
	for (size_t i = 0; i < analysis->stability->n_concerns; i++)
		found |= 1u << analysis->stability->concerns[i].code;
	return found;
}

/* Everything that can be said of a single program, warnings that follow each other included. */
static void test_alone(void **state)
{
	unsigned found = 0;

	(void)state;
	for (enum trouble trouble = CALM; trouble < TROUBLES; trouble++) {
		for (size_t i = 0; i < ARRAY_SIZE(widths); i++) {
			_cleanup_facts_ struct facts facts = { 0 };
			struct series *series = make_series(trouble, &facts);
			_cleanup_(brief) struct brief *brief = brief_new(widths[i], false);
			_cleanup_free_ char *text = NULL;
			struct benchmark benchmark;

			assert_int_equal(benchmark_view("sort", series, &benchmark), 0);
			benchmark.metadata = facts;
			found |= add_benchmark(brief, &benchmark);
			brief_add(brief, BRIEF_PATH, "saved in /home/user/.local/state/quiesce/x");
			text = brief_render(brief);
			check_lines(text, widths[i], BRIEF_LINES_ALONE);
			assert_int_equal(strncmp(text, "sort: 40 runs on CPU 3, median ", 31), 0);
			if (trouble == CALM) {
				assert_non_null(strstr(text, "#\n"));
				assert_non_null(strstr(text, "\nsaved in /home"));
				assert_null(strstr(text, "warning"));
				assert_non_null(strstr(text,
					"\n  CPU time   20.0 ms: user 15.0 ms, "
					"system 5.0 ms\n"));
			}
			benchmark_clear_view(&benchmark);
			series_free(series);
		}
	}
	for (enum concern_code code = CONCERN_STDEV; code <= CONCERN_WAITING; code++) {
		/* A note that the short report does without; and those of runs with many values,
		 * see machine/test_steady.py. */
		if (code == CONCERN_NOHZ_FULL || code == CONCERN_WARMUP ||
			code == CONCERN_UNSETTLED)
			continue;
		if (!(found & 1u << code))
			fprintf(stderr, "%s is not there\n", concern_code_name(code));
		assert_true(found & 1u << code);
	}
}

/* Every warning of two programs, and every doubt about what they are compared by. */
static void test_comparison(void **state)
{
	static const enum verdict verdicts[] = { VERDICT_SLOWER, VERDICT_SAME, VERDICT_UNCLEAR };

	(void)state;
	for (unsigned at = 0; at < (unsigned)TROUBLES * ARRAY_SIZE(verdicts); at++) {
		for (size_t i = 0; i < ARRAY_SIZE(widths); i++) {
			_cleanup_facts_ struct facts facts = { 0 };
			struct series *series = make_series((enum trouble)(at % TROUBLES), &facts);
			_cleanup_(brief) struct brief *brief = brief_new(widths[i], false);
			_cleanup_(comparison) struct comparison *c = NULL;
			_cleanup_free_ char *text = NULL;
			struct benchmark old, new;

			assert_int_equal(benchmark_view("baseline", series, &old), 0);
			assert_int_equal(benchmark_view("new", series, &new), 0);
			old.metadata = new.metadata = facts;
			assert_int_equal(comparison_new(&old, &new, &c), 0);
			comparison_settle(&c, 1);
			c->verdict = verdicts[at / TROUBLES];
			free(c->unclear);
			c->unclear =
				strdup("the data are not stable: old: the values jump: runs 1-20 "
				       "at 20.0 ms, 21-40 at 30.0 ms; with the change: "
				       "temperature 69 -> 58 C, load 2.12 -> 0.11");
			c->step = 0.02;
			c->learnt.steps = strdup("1 % from 2026-11-11 on, 2 % from 2026-11-20 on");
			c->differences = calloc(8, sizeof(char *));
			for (c->n_differences = 0; c->n_differences < 8; c->n_differences++)
				c->differences[c->n_differences] =
					strdup("quiesce_governor: powersave -> performance");
			brief_add_comparison(brief, "new, compared with baseline", c, false);
			(void)add_benchmark(brief, &old);
			(void)add_benchmark(brief, &new);
			brief_add(brief, BRIEF_DOUBT,
				"  figures    wrk reports its own figures; --harness wrk compares them");
			brief_add(brief, BRIEF_PATH, "saved in /home/user/.local/state/quiesce/x");
			text = brief_render(brief);
			check_lines(text, widths[i], BRIEF_LINES);
			assert_int_equal(strncmp(text, "new, compared with baseline: ", 29), 0);
			/* Both programs are there whatever else is to be said. */
			assert_non_null(strstr(text, "\n  baseline "));
			assert_non_null(strstr(text, "\n  new "));
			benchmark_clear_view(&old);
			benchmark_clear_view(&new);
			series_free(series);
		}
	}
}

/* Many verdicts are all there, and the rest has some lines beside them. */
static void test_many(void **state)
{
	_cleanup_(brief) struct brief *brief = brief_new(80, false);
	_cleanup_free_ char *text = NULL;

	(void)state;
	for (size_t i = 0; i < 30; i++) {
		brief_add(brief, BRIEF_VERDICT, "benchmark %zu: slower, +2 %% (+1 %% .. +3 %%)", i);
		brief_add(brief, BRIEF_DOUBT, "  unclear    the same");
		brief_add(brief, BRIEF_ADVICE, "  instead    number %zu", i);
	}
	text = brief_render(brief);
	assert_int_equal(count_lines(text, 80), 30 + 5);
	assert_non_null(strstr(text, "\nbenchmark 29: "));
	assert_non_null(strstr(text, "\n  unclear    the same\n  instead    number 0\n"));
	assert_non_null(strstr(text, "\n  -v         has 27 lines more\n"));
}

/* What --decide says is for people who know no e-values. */
static void test_decision(void **state)
{
	_cleanup_(brief) struct brief *brief = brief_new(80, true);
	_cleanup_free_ char *text = NULL;
	struct decision decision;

	(void)state;
	decision_begin(&decision, 2, 1);
	for (size_t i = 0; i < 4; i++)
		decision_add(&decision, 1, i % 2 == 0 ? 1 : 1.02);
	brief_add_decision(brief, "new, compared with old", &decision, NULL, "--max-runs");
	text = brief_render(brief);
	assert_non_null(strstr(text, "new, compared with old: not settled, after 4 pairs\n"));
	assert_non_null(strstr(text, "\n  instead    allow more runs (--max-runs)"));
	assert_null(strstr(text, "e-value"));
}

/* A table of a suite names what is open as other lines do, and the option of its tool. */
static void test_suite(void **state)
{
	static const char *const names[] = { "plain", "red \033[31m" }, *const doubts[2] = { 0 };
	_cleanup_(brief) struct brief *brief = brief_new(80, true);
	_cleanup_free_ char *text = NULL;
	struct decision decisions[2];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(decisions); i++) {
		decision_begin(&decisions[i], 2, 1);
		decision_add(&decisions[i], 1, 1.01);
	}
	brief_add_suite(brief, "2 comparisons: 2 not settled", names,
		(const struct decision *const[]){ &decisions[0], &decisions[1] }, doubts,
		ARRAY_SIZE(decisions), "--max-sittings");
	text = brief_render(brief);
	assert_ptr_equal(strstr(text, "2 comparisons: 2 not settled\n"), text);
	assert_non_null(strstr(text, "\n  not settled "));
	assert_non_null(strstr(text, " 1 pairs  plain\n"));
	assert_non_null(strstr(text, " 1 pairs  red \\x1b[31m\n"));
	assert_null(strchr(text, '\033'));
	assert_non_null(strstr(text, "\n  instead    allow more sittings (--max-sittings)"));
	assert_null(strstr(text, "runs"));
}

/* Each reason for which a decision is none. */
static void test_reasons(void **state)
{
	static const char *const old =
		"an-old-program-with-a-name-that-takes-all-of-the-line-and-more";

	(void)state;
	for (int reason = 0; reason < 5; reason++) {
		for (size_t i = 0; i < ARRAY_SIZE(widths); i++) {
			_cleanup_(brief) struct brief *brief = brief_new(widths[i], true);
			_cleanup_free_ char *text = NULL, *title = brief_title(brief, "new", old);
			struct decision decision;

			decision_begin(&decision, 2, 1);
			decision_add(&decision, 1, 1.01);
			decision.coarse = reason == 1 ? 0.05 : NAN;
			decision.carried = reason == 2 ? 1.05 : NAN;
			decision.alone = reason == 3 ? 1.01 : reason == 4 ? 0 : NAN;
			brief_add_decision(brief, title, &decision, NULL, "--max-sittings");
			text = brief_render(brief);
			check_lines(text, widths[i], BRIEF_LINES);
			/* More of them help where nothing is wrong. */
			assert_int_equal(
				strstr(text, "allow more sittings (--max-sittings)") != NULL,
				reason == 0);
		}
	}
}

/* A doubt that takes a screen of its own is cut, and does not take the place of the programs. */
static void test_long_doubt(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(widths); i++) {
		_cleanup_(brief) struct brief *brief = brief_new(widths[i], false);
		struct text why = { 0 };
		_cleanup_free_ char *text = NULL, *doubt = NULL;

		for (int level = 0; level < 200; level++)
			text_appendf(&why, "runs %d-%d at 20.0 ms, ", level, level);
		doubt = text_steal(&why);
		brief_add(brief, BRIEF_VERDICT, "new, compared with old: unclear");
		brief_add(brief, BRIEF_DOUBT, "  unclear    %s", doubt);
		brief_add(brief, BRIEF_PROGRAM, "  old          20.0 ms");
		brief_add(brief, BRIEF_PATH, "saved in x");
		text = brief_render(brief);
		check_lines(text, widths[i], BRIEF_LINES);
		assert_non_null(strstr(text, "\n  unclear    runs 0-0 at 20.0 ms, "));
		assert_non_null(strstr(text, " ...\n  old          20.0 ms\nsaved in x\n"));
		assert_non_null(strstr(text, "  -v         has 1 line more\n"));
	}
}

/* What both names have is said once, but of a path nothing is cut: only parameters and figures. */
static void test_own_part(void **state)
{
	static const struct {
		const char *name, *other, *own;
	} cases[] = {
		{ "old/n=1: rps", "new/n=1: rps", "old" },
		{ "old/a=1/b=2", "new/a=1/b=2", "old" },
		{ "old/a=1/b=2", "new/a=2/b=2", "old/a=1" },
		{ "old: rps", "new: rps", "old" },
		{ "old/n=1: rps", "new/n=1: p99", "old/n=1: rps" },
		{ "./old/prog", "./new/prog", "./old/prog" },
		{ "old", "new", "old" },
		{ "same/n=1", "same/n=1", "same" },
		{ "/n=1", "x/n=1", "/n=1" },
		{ "", "new", "" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_free_ char *own = brief_own_part(cases[i].name, cases[i].other);

		assert_string_equal(own, cases[i].own);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_alone),
		cmocka_unit_test(test_comparison),
		cmocka_unit_test(test_many),
		cmocka_unit_test(test_decision),
		cmocka_unit_test(test_suite),
		cmocka_unit_test(test_reasons),
		cmocka_unit_test(test_long_doubt),
		cmocka_unit_test(test_own_part),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
