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
#include "judge/report/stability.h"
#include "judge/result/metadata.h"

#include "random.h"

static struct series *new_series(bool with_evidence)
{
	struct series *series;

	series = series_new(with_evidence, NULL);
	return series;
}

static void append(struct series *series, double seconds, uint16_t flags, bool warmup,
	const struct evidence *evidence)
{
	struct sample sample = {
		.kernel_ns = llround(seconds * 1e9),
		.user_ns = llround(seconds * 1e9) + 1000,
		.flags = flags,
		.warmup = warmup,
	};

	assert_int_equal(series_append(series, &sample, evidence, NULL), 0);
}

/* The values are `factor` times what the runs took. */
static struct stability *assess_with(
	const struct series *series, double factor, const struct facts *metadata)
{
	struct stability *stability;
	struct levels *levels;
	struct benchmark benchmark = { 0 };
	struct stats stats;
	double *values;
	size_t n;

	assert_int_equal(series_values(series, &values, &n), 0);
	for (size_t i = 0; i < n; i++)
		values[i] *= factor;
	benchmark.series = (struct series *)series;
	benchmark.metadata = *metadata;
	benchmark.values = values;
	benchmark.n_values = n;
	assert_int_equal(levels_find(values, n, &levels), 0);
	assert_int_equal(stats_compute(values, n, &stats), 0);
	assert_int_equal(stability_assess(&benchmark, &stats, levels, &stability), 0);
	levels_free(levels);
	free(values);
	return stability;
}

static struct stability *assess_times(const struct series *series, double factor)
{
	return assess_with(series, factor, &(struct facts){ 0 });
}

static struct stability *assess(const struct series *series)
{
	return assess_times(series, 1);
}

static const struct concern *find(const struct stability *stability, enum concern_code code)
{
	for (size_t i = 0; i < stability->n_concerns; i++)
		if (stability->concerns[i].code == code)
			return &stability->concerns[i];
	return NULL;
}

/*
 * What `pyperf check` 2.10 finds for the same values: STDEV and so on are bits for concerns.
 * TOO_MANY is its "run more times than necessary", which is no warning.
 */
#define BIT(code) (1u << CONCERN_##code)

static void test_rules_of_pyperf(void **state)
{
	static const struct {
		const char *name;
		double values[12]; /* in ms; ends with 0 */
		size_t repeat;
		size_t n_warmups;
		unsigned concerns;
		bool stable;
	} cases[] = {
		{ "one", { 20 }, 1, 0, 0, true },
		{ "two equal", { 20, 20 }, 1, 0, BIT(TOO_MANY), true },
		{ "two apart", { 20, 40 }, 1, 0, BIT(STDEV), false },
		{ "stdev of 9.9 %", { 18.02, 21.98, 20 }, 1, 0, BIT(TOO_FEW), false },
		{ "stdev of 10.01 %", { 17.998, 22.002, 20 }, 1, 0, BIT(STDEV), false },
		{ "too few", { 20, 20.5, 19.5, 20, 20 }, 1, 0, BIT(TOO_FEW), false },
		{ "enough", { 20, 20.1, 19.9, 20, 20 }, 1, 0, BIT(TOO_MANY), true },
		/* pyperf counts the warm-ups as runs. */
		{ "6 needed of 4", { 20.1, 19.9, 20.1, 19.9 }, 1, 0, BIT(TOO_FEW), false },
		{ "6 needed of 5", { 20.1, 19.9, 20.1, 19.9 }, 1, 1, BIT(TOO_FEW), false },
		{ "6 needed of 7", { 20.1, 19.9, 20.1, 19.9 }, 1, 3, 0, true },
		{ "6 needed of 9", { 20.1, 19.9, 20.1, 19.9 }, 1, 5, BIT(TOO_MANY), true },
		{ "quiet", { 20, 20.001, 19.999 }, 4, 0, BIT(TOO_MANY), true },
		{ "minimum", { 20, 20, 20, 20, 20, 20, 20, 20, 20, 20, 20, 9 }, 1, 0,
			BIT(STDEV) | BIT(MINIMUM), false },
		{ "maximum", { 20, 20, 20, 20, 20, 20, 20, 20, 20, 20, 20, 32 }, 10, 0,
			BIT(STDEV) | BIT(MAXIMUM), false },
		{ "maximum of many", { 20, 20, 20, 20, 20, 20, 20, 20, 20, 20, 20, 20 }, 40, 0,
			BIT(TOO_MANY), true },
		{ "short", { 0.5, 0.5, 0.5 }, 1, 0, BIT(SHORT) | BIT(TOO_MANY), false },
		{ "just short", { 0.999 }, 1, 0, BIT(SHORT), false },
		{ "not short", { 1 }, 1, 0, 0, true },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct series *series = new_series(false);
		struct stability *stability;
		unsigned found = 0;

		for (size_t k = 0; k < cases[i].n_warmups; k++)
			append(series, 1, 0, true, NULL);
		for (size_t r = 0; r < cases[i].repeat; r++)
			for (size_t k = 0; k < ARRAY_SIZE(cases[i].values); k++)
				if (cases[i].values[k] > 0)
					append(series, cases[i].values[k] / 1000, 0, false, NULL);
		stability = assess(series);
		for (size_t k = 0; k < stability->n_concerns; k++)
			found |= 1u << stability->concerns[k].code;
		if (found != cases[i].concerns)
			fprintf(stderr, "%s: %#x, not %#x (needs %g)\n", cases[i].name, found,
				cases[i].concerns, stability->runs_needed);
		assert_int_equal(found, cases[i].concerns);
		assert_int_equal(stability->stable, cases[i].stable);
		stability_free(stability);
		series_free(series);
	}
}

/* How short a measurement may be depends on the clock that it was made with. */
static void test_short_by_clock(void **state)
{
	static const struct {
		double seconds, resolution; /* of libquiesce; 0 for none */
		const char *clock;
		bool is_short;
	} cases[] = {
		{ 0.00005, 3.3e-10, NULL, false },
		{ 0.00005, 4.1e-8, NULL, false },
		{ 0.00005, 2.79e-7, NULL, true },
		{ 0.00005, 5.1e-8, NULL, true },
		{ 2e-7, 3.3e-10, NULL, true },
		/* The clock of the process is not that of its values. */
		{ 0.00005, 2.79e-7, "kernel", true },
		{ 0.0005, 0, "kernel", false },
		{ 0.0005, 0, "user", true },
		{ 0.0005, 0, NULL, true },
		{ 0.001, 0, NULL, false },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct series *series = new_series(false);
		struct stability *stability;
		struct facts facts = { 0 };

		for (size_t k = 0; k < 20; k++)
			append(series, 0.001, 0, false, NULL);
		if (cases[i].resolution > 0) {
			facts_set_string(&facts, "quiesce_stamps", "tsc");
			facts_set_real(&facts, "quiesce_stamps_resolution", cases[i].resolution);
		}
		if (cases[i].clock)
			facts_set_string(&facts, METADATA_CLOCK, cases[i].clock);
		stability = assess_with(series, cases[i].seconds / 0.001, &facts);
		assert_true((find(stability, CONCERN_SHORT) != NULL) == cases[i].is_short);
		assert_true(stability->stable == !cases[i].is_short);
		stability_free(stability);
		series_free(series);
		facts_clear(&facts);
	}
}

static void test_texts_of_pyperf(void **state)
{
	struct series *series = new_series(false);
	struct stability *stability;

	(void)state;
	for (int i = 0; i < 11; i++)
		append(series, 20e-3, 0, false, NULL);
	append(series, 9e-3, 0, false, NULL);
	stability = assess(series);
	assert_string_equal(find(stability, CONCERN_STDEV)->text,
		"the standard deviation (3.18 ms) is 17 % of the mean (19.1 ms)");
	assert_string_equal(find(stability, CONCERN_MINIMUM)->text,
		"the minimum (9.00 ms) is 53 % smaller than the mean (19.1 ms)");
	assert_true(find(stability, CONCERN_STDEV)->warning);
	assert_null(find(stability, CONCERN_MAXIMUM));
	assert_int_equal(stability->runs_needed, 4255);
	stability_free(stability);
	stability_free(NULL);
	series_free(series);
	for (int i = CONCERN_STDEV; i <= CONCERN_ATTACHED; i++)
		assert_non_null(concern_code_name((enum concern_code)i));
	assert_string_equal(concern_code_name(CONCERN_LEVEL), "LEVEL");
	assert_null(concern_code_name((enum concern_code)(CONCERN_WAITING + 1)));
}

/* Events that were attached to all tasks took 2.5 us at each switch. */
static void test_attached(void **state)
{
	static const struct {
		const char *evidence, *clock, *stamper;
		int32_t switches;
		bool found, warning;
	} cases[] = {
		/* Nobody has written down who stamped these runs: 1000 * 2.5 us of 10 ms. */
		{ "full", "kernel", NULL, 1000, true, true },
		{ "half-core", "kernel", NULL, 1000, true, true },
		{ "full", "kernel", NULL, 39, false, false },
		{ "full", "kernel", "tracepoints", 1000, false, false },
		{ "full", "user", NULL, 1000, false, false },
		{ "none", "kernel", NULL, 1000, false, false },
		/* Somebody has asked for it, and the report has the price. */
		{ "records", "kernel", "tracepoints", 1000, false, false },
		{ NULL, "kernel", NULL, 1000, false, false },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct series *series = new_series(true);
		struct facts facts = { 0 };
		struct stability *stability;
		const struct concern *concern;

		series->clock = strcmp(cases[i].clock, "user") == 0 ? WINDOW_USER : WINDOW_KERNEL;
		for (size_t k = 0; k < 5; k++) {
			struct evidence evidence;

			evidence_clear(&evidence);
			evidence.voluntary_switches = cases[i].switches - 1;
			evidence.involuntary_switches = 1;
			append(series, 10e-3, 0, k == 0, &evidence);
		}
		if (cases[i].evidence)
			facts_set_string(&facts, "quiesce_evidence", cases[i].evidence);
		facts_set_string(&facts, METADATA_CLOCK, cases[i].clock);
		if (cases[i].stamper)
			facts_set_string(&facts, METADATA_STAMPS, cases[i].stamper);
		stability = assess_with(series, 1, &facts);
		concern = find(stability, CONCERN_ATTACHED);
		assert_int_equal(concern != NULL, cases[i].found);
		if (concern) {
			assert_int_equal(concern->warning, cases[i].warning);
			assert_non_null(strstr(concern->text, "by about 25 %"));
		}
		stability_free(stability);
		facts_clear(&facts);
		series_free(series);
	}
}

/* Runs 1-105 take 20.3 ms, later ones 11.0 ms, together with a change of what may be the cause. */
static void test_level(void **state)
{
	static const struct {
		const char *name;
		float temperature[2];
		int64_t khz[2];
		float load[2];
		int32_t interrupts[2];
		int64_t steal_ns[2];
		const char *text;
	} cases[] = {
		{ "nothing known", { NAN, NAN }, { -1, -1 }, { NAN, NAN }, { -1, -1 }, { -1, -1 },
			"the values jump: runs 1-105 at 20.3 ms, 106-400 at 11.0 ms" },
		{ "temperature", { 69, 58 }, { 3400000, 3400000 }, { 1, 1 }, { 3, 3 }, { 0, 0 },
			"the values jump: runs 1-105 at 20.3 ms, 106-400 at 11.0 ms; with the "
			"change: temperature 69 -> 58 C" },
		{ "all", { 69, 58 }, { 2100000, 3400000 }, { 2.5f, 0.25f }, { 0, 12 },
			{ 3000000, 0 },
			"the values jump: runs 1-105 at 20.3 ms, 106-400 at 11.0 ms; with the "
			"change: temperature 69 -> 58 C, frequency 2100 -> 3400 MHz, "
			"load 2.50 -> 0.25, device interrupts 0 -> 12 a run, "
			"steal 3.00 -> 0.00 ms a run on average" },
		{ "too little", { 59, 58 }, { 3390000, 3400000 }, { 0.5f, 0.25f }, { 10, 12 },
			{ 1000, 0 }, "the values jump: runs 1-105 at 20.3 ms, 106-400 at 11.0 ms" },
		{ "known before only", { 69, NAN }, { -1, 3400000 }, { 1, NAN }, { 3, -1 },
			{ 0, -1 }, "the values jump: runs 1-105 at 20.3 ms, 106-400 at 11.0 ms" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct series *series = new_series(true);
		struct stability *stability;
		uint64_t random = 1;

		for (size_t k = 0; k < 402; k++) {
			bool warmup = k < 2;
			size_t side = k >= 107;
			struct evidence evidence;

			evidence_clear(&evidence);
			evidence.temperature_before = cases[i].temperature[side];
			evidence.frequency_khz = cases[i].khz[side];
			evidence.load1 = cases[i].load[side];
			evidence.irq_device = cases[i].interrupts[side];
			evidence.steal_ns = cases[i].steal_ns[side];
			append(series,
				(side ? 11.0e-3 : 20.3e-3) * (1 + 0.001 * random_normal(&random)),
				0, warmup, &evidence);
		}
		stability = assess(series);
		assert_non_null(find(stability, CONCERN_LEVEL));
		assert_string_equal(find(stability, CONCERN_LEVEL)->text, cases[i].text);
		assert_null(find(stability, CONCERN_DRIFT));
		assert_false(stability->stable);
		stability_free(stability);
		series_free(series);
	}
}

/* A quota that begins to hold: what was saved up before is used up. */
static void test_quota(void **state)
{
	struct series *series = new_series(true);
	struct stability *stability;
	uint64_t random = 1;

	(void)state;
	for (size_t k = 0; k < 200; k++) {
		size_t side = k / 100;
		struct evidence evidence;

		evidence_clear(&evidence);
		evidence.quota_throttled_ns = side ? 4000000 : 0;
		append(series, (side ? 24.0e-3 : 20.0e-3) * (1 + 0.001 * random_normal(&random)), 0,
			false, &evidence);
	}
	stability = assess(series);
	assert_string_equal(find(stability, CONCERN_LEVEL)->text,
		"the values jump: runs 1-100 at 20.0 ms, 101-200 at 24.0 ms; with the change: "
		"stopped by the CPU quota for 0.00 -> 4.00 ms a run");
	stability_free(stability);
	series_free(series);
}

/* Ticks of 10 ms in a few runs are a sum. They explain a level only where they are more than
 * chance. */
static void test_steal(void **state)
{
	static const struct {
		size_t every[2]; /* every so many runs of a level of 100 have a tick */
		const char *level;
		const char *steal;
		bool warning;
	} cases[] = {
		{ { 0, 0 }, "the values jump: runs 1-100 at 20.0 ms, 101-200 at 24.0 ms", NULL,
			false },
		{ { 50, 33 }, "the values jump: runs 1-100 at 20.0 ms, 101-200 at 24.0 ms",
			"the hypervisor ran others for 50.0 ms of the 4.40 s of all runs (1.1 %), "
			"which is known in ticks of 10 ms and as a sum only",
			true },
		{ { 100, 50 }, "the values jump: runs 1-100 at 20.0 ms, 101-200 at 24.0 ms",
			"the hypervisor ran others for 30.0 ms of the 4.40 s of all runs (0.68 %), "
			"which is known in ticks of 10 ms and as a sum only",
			false },
		{ { 50, 4 },
			"the values jump: runs 1-100 at 20.0 ms, 101-200 at 24.0 ms; with the change: "
			"steal 0.20 -> 2.50 ms a run on average",
			"the hypervisor ran others for 270 ms of the 4.40 s of all runs (6.1 %), "
			"which is known in ticks of 10 ms and as a sum only",
			true },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct series *series = new_series(true);
		struct stability *stability;
		uint64_t random = 1;

		for (size_t k = 0; k < 200; k++) {
			size_t side = k / 100, every = cases[i].every[side];
			struct evidence evidence;

			evidence_clear(&evidence);
			evidence.steal_ns =
				every > 0 && k % 100 % every == every - 1 ? 10000000 : 0;
			append(series,
				(side ? 24.0e-3 : 20.0e-3) * (1 + 0.001 * random_normal(&random)),
				0, false, &evidence);
		}
		stability = assess(series);
		assert_string_equal(find(stability, CONCERN_LEVEL)->text, cases[i].level);
		if (cases[i].steal) {
			assert_string_equal(find(stability, CONCERN_STEAL)->text, cases[i].steal);
			assert_int_equal(find(stability, CONCERN_STEAL)->warning, cases[i].warning);
		} else {
			assert_null(find(stability, CONCERN_STEAL));
		}
		stability_free(stability);
		series_free(series);
	}
}

/* What was stolen is a part of the run, whatever its values are of: an iteration, or bytes. */
static void test_steal_of_other_values(void **state)
{
	static const struct {
		double seconds;
		double factor;
		bool is_told; /* 2.5 ms a run, with a level or with a drift */
	} cases[] = {
		{ 0.02, 1, true },
		{ 0.02, 1e-6, true },
		{ 0.02, 1e9, true },
		{ 2, 1, false },
		{ 2, 1e-6, false },
	};

	(void)state;
	for (size_t i = 0; i < 2 * ARRAY_SIZE(cases); i++) {
		bool drifts = i >= ARRAY_SIZE(cases);
		size_t at = i % ARRAY_SIZE(cases);
		struct series *series = new_series(true);
		struct stability *stability;
		const struct concern *concern;
		uint64_t random = 1;

		for (size_t k = 0; k < 200; k++) {
			size_t side = k / 100;
			double more = drifts ? (double)k / 2000 : (double)side / 5;
			struct evidence evidence;

			evidence_clear(&evidence);
			evidence.steal_ns = side && k % 4 == 3 ? 10000000 : 0;
			append(series,
				cases[at].seconds * (1 + more + 0.001 * random_normal(&random)), 0,
				false, &evidence);
		}
		stability = assess_times(series, cases[at].factor);
		concern = find(stability, drifts ? CONCERN_DRIFT : CONCERN_LEVEL);
		assert_non_null(concern);
		assert_true(
			(strstr(concern->text, "steal 0.00 -> 2.") != NULL) == cases[at].is_told);
		stability_free(stability);
		series_free(series);
	}
}

/* Random padding differs between any two ranges of runs, so it explains nothing. Two fixed paddings
 * do. */
static void test_padding(void **state)
{
	(void)state;
	for (int fixed = 0; fixed < 2; fixed++) {
		struct series *series = new_series(false);
		struct stability *stability;
		uint64_t random = 3;

		for (size_t i = 0; i < 100; i++) {
			struct sample sample = {
				.kernel_ns = (i < 40 ? 20000000 : 24000000) +
					(int64_t)(random_next(&random) % 10000),
				.user_ns = 1,
				.env_pad = fixed ? (i < 40 ? 16 : 2048)
						 : (uint32_t)(random_next(&random) % 4096),
			};

			assert_int_equal(series_append(series, &sample, NULL, NULL), 0);
		}
		stability = assess(series);
		assert_string_equal(find(stability, CONCERN_LEVEL)->text,
			fixed ? "the values jump: runs 1-40 at 20.0 ms, 41-100 at 24.0 ms; with the "
				"change: padding of the environment 16 -> 2048 bytes"
			      : "the values jump: runs 1-40 at 20.0 ms, 41-100 at 24.0 ms");
		stability_free(stability);
		series_free(series);
	}
}

static void test_several_levels(void **state)
{
	struct series *series = new_series(true);
	struct stability *stability;
	uint64_t random = 1;

	(void)state;
	for (size_t i = 0; i < 90; i++) {
		struct evidence evidence;

		evidence_clear(&evidence);
		evidence.frequency_khz = i / 30 == 1 ? 3000000 : 3200000;
		append(series,
			(i / 30 == 1 ? 20.3e-3 : 20.0e-3) * (1 + 0.0002 * random_normal(&random)),
			0, false, &evidence);
	}
	stability = assess(series);
	assert_string_equal(find(stability, CONCERN_LEVEL)->text,
		"the values jump: runs 1-30 at 20.00 ms, 31-60 at 20.30 ms, 61-90 at 20.00 ms; "
		"with the change at run 31: frequency 3200 -> 3000 MHz; at run 61: frequency 3000 "
		"-> 3200 MHz");
	stability_free(stability);
	series_free(series);

	/* With dozens of levels the text does not become endless. */
	series = new_series(false);
	for (size_t i = 0; i < 400; i++)
		append(series, (i / 20 % 2 ? 20e-3 : 10e-3) * (1 + 0.001 * random_normal(&random)),
			0, false, NULL);
	stability = assess(series);
	assert_non_null(strstr(find(stability, CONCERN_LEVEL)->text, " and 14 more levels"));
	assert_true(strlen(find(stability, CONCERN_LEVEL)->text) < 250);
	stability_free(stability);
	series_free(series);
}

static void test_drift(void **state)
{
	struct series *series = new_series(true);
	struct stability *stability;
	uint64_t random = 1;

	(void)state;
	for (size_t i = 0; i < 200; i++) {
		struct evidence evidence;

		evidence_clear(&evidence);
		evidence.temperature_before = 50 + 0.1f * (float)i;
		append(series, (20 + 0.01 * (double)i + 0.02 * random_normal(&random)) * 1e-3, 0,
			false, &evidence);
	}
	stability = assess(series);
	assert_null(find(stability, CONCERN_LEVEL));
	assert_string_equal(find(stability, CONCERN_DRIFT)->text,
		"the values drift by +9.9 % over the series, from 20.00 ms to 21.99 ms; from the "
		"first to the last quarter: temperature 52 -> 67 C");
	assert_false(stability->stable);
	stability_free(stability);

	/* The same with a jump in the middle. */
	for (size_t i = 100; i < 200; i++)
		series->samples[i].kernel_ns += 10000000;
	stability = assess(series);
	assert_non_null(find(stability, CONCERN_LEVEL));
	assert_non_null(find(stability, CONCERN_DRIFT));
	assert_non_null(strstr(find(stability, CONCERN_DRIFT)->text, "between the jumps"));
	stability_free(stability);
	series_free(series);
}

static void test_disturbed(void **state)
{
	struct series *series = new_series(false);
	struct stability *stability;
	char *text;

	(void)state;
	append(series, 0.02, SAMPLE_FAILED, true, NULL);
	append(series, 0.02, SAMPLE_IRQ, false, NULL);
	stability = assess(series);
	text = stability_disturbed_text(stability);
	assert_string_equal(text, "1 of 1 runs was disturbed: irq 1");
	free(text);
	stability_free(stability);

	append(series, 0.02, 0, false, NULL);
	append(series, 0.02, SAMPLE_IRQ | SAMPLE_PREEMPTED, false, NULL);
	append(series, 0.02, SAMPLE_LEFTOVER, false, NULL);
	stability = assess(series);
	assert_int_equal(stability->disturbances.n_runs, 4);
	assert_int_equal(stability->disturbances.n_disturbed, 3);
	assert_true(stability->mostly_disturbed);
	assert_int_equal(stability->disturbances.n_flagged[2], 2);
	assert_int_equal(stability->disturbances.n_flagged[8], 0);
	text = stability_disturbed_text(stability);
	assert_string_equal(text, "3 of 4 runs were disturbed: irq 2, preempted 1, leftover 1");
	free(text);
	stability_free(stability);
	series_free(series);

	series = new_series(false);
	append(series, 0.02, 0, false, NULL);
	stability = assess(series);
	text = stability_disturbed_text(stability);
	assert_string_equal(text, "");
	free(text);
	stability_free(stability);
	series_free(series);
}

/* What is said of waiting; "" where nothing is. */
static char *find_waiting_text(const struct stability *stability)
{
	for (size_t i = 0; i < stability->n_concerns; i++) {
		assert_true(stability->concerns[i].code != CONCERN_WAITING ||
			!stability->concerns[i].warning);
		if (stability->concerns[i].code == CONCERN_WAITING)
			return strdup(stability->concerns[i].text);
	}
	return strdup("");
}

/* The time varies because of the waiting, and the processor time hardly does; or it does as much,
 * or what varies is sleep, or one of the two is not known. */
static void test_waiting(void **state)
{
	static const struct {
		double waits, sleeps, works; /* by so many ms more in each second run */
		bool knows_delay, knows_work, has_records, is_said;
	} cases[] = {
		{ 20, 0, 0.4, true, true, false, true },
		{ 20, 0, 0.4, true, false, true, true },
		{ 20, 0, 0.4, true, false, false, false },
		{ 20, 0, 0.4, false, true, false, false },
		{ 0, 20, 0.4, true, true, false, false },
		{ 20, 0, 20, true, true, false, false },
		{ 1, 0, 0.1, true, true, false, false },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct series *series = new_series(true);
		struct stability *stability;
		_cleanup_free_ char *text = NULL;

		for (size_t run = 0; run < 20; run++) {
			double more = (double)(run % 2), work = 20 + more * cases[i].works;
			double delay = 10 + more * cases[i].waits;
			double ms = work + delay + more * cases[i].sleeps;
			struct evidence evidence;

			evidence_clear(&evidence);
			if (cases[i].knows_delay)
				evidence.run_delay_ns = llround(delay * 1e6);
			/* The kernel divides them by the tick. */
			if (cases[i].knows_work) {
				evidence.user_cpu_ns = run % 3 == 0 ? 0 : llround(work * 1e6);
				evidence.system_cpu_ns = llround(work * 1e6) - evidence.user_cpu_ns;
			}
			if (cases[i].has_records)
				evidence.task_clock_ns = llround(work * 1e6);
			append(series, ms / 1e3, 0, false, &evidence);
		}
		stability = assess(series);
		text = find_waiting_text(stability);
		assert_string_equal(text,
			cases[i].is_said ? "waiting for the CPU makes the time vary by 26 %, and "
					   "the processor time varies by 1.0 %: --metric "
					   "task_clock looks at that"
					 : "");
		stability_free(stability);
		series_free(series);
	}
}

/* Runs of 20 ms, of which three lost something that is known. */
static void test_lost(void **state)
{
	struct series *series = new_series(true);
	struct stability *stability;
	struct evidence evidence;
	char *text;

	(void)state;
	evidence_clear(&evidence);
	evidence.run_delay_ns = 60 * 1000;
	for (size_t i = 0; i < 7; i++)
		append(series, 0.02, 0, false, &evidence);
	evidence.run_delay_ns = 1660 * 1000;
	append(series, 0.02, SAMPLE_PREEMPTED, false, &evidence);
	evidence.run_delay_ns = 400 * 1000;
	append(series, 0.02, SAMPLE_PREEMPTED, false, &evidence);
	evidence.run_delay_ns = 0;
	evidence.irq_device = 120;
	append(series, 0.02, SAMPLE_IRQ, false, &evidence);
	/* The flag is there, but what it stands for is next to nothing. */
	evidence.irq_device = 1;
	append(series, 0.02, SAMPLE_IRQ, false, &evidence);
	stability = assess(series);
	assert_int_equal(stability->disturbances.n_disturbed, 3);
	assert_false(stability->mostly_disturbed);
	text = stability_disturbed_text(stability);
	assert_string_equal(text,
		"3 of 11 runs lost 1 % or more: preempted 2 (worst 8.3 %), irq 1 (3.0 %); a typical run "
		"lost 0.30 %");
	free(text);
	stability_free(stability);

	/* This one cannot be weighed. */
	append(series, 0.02, SAMPLE_HOT, false, NULL);
	stability = assess(series);
	text = stability_disturbed_text(stability);
	assert_string_equal(text,
		"4 of 12 runs were disturbed: preempted 2 (worst 8.3 %), irq 1 (3.0 %), hot 1; a typical "
		"run lost 0.30 %");
	free(text);
	stability_free(stability);
	series_free(series);
}

static void test_refused(void **state)
{
	struct series *series = new_series(false);
	struct benchmark benchmark = { .series = series };
	struct level level = { .n = 1 };
	struct levels levels = { .items = &level, .n = 1 };
	struct stats stats = { .n = 1 };
	struct stability *stability = NULL;

	(void)state;
	assert_int_equal(stability_assess(&benchmark, &stats, &levels, &stability), -EINVAL);
	append(series, 0.02, 0, true, NULL);
	assert_int_equal(stability_assess(&benchmark, &stats, &levels, &stability), -EINVAL);
	append(series, 0.02, 0, false, NULL);
	append(series, 0.02, 0, false, NULL);
	/* The statistics belong to another series. */
	assert_int_equal(stability_assess(&benchmark, &stats, &levels, &stability), -EINVAL);
	assert_null(stability);
	series_free(series);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rules_of_pyperf),
		cmocka_unit_test(test_short_by_clock),
		cmocka_unit_test(test_texts_of_pyperf),
		cmocka_unit_test(test_attached),
		cmocka_unit_test(test_level),
		cmocka_unit_test(test_quota),
		cmocka_unit_test(test_steal),
		cmocka_unit_test(test_steal_of_other_values),
		cmocka_unit_test(test_padding),
		cmocka_unit_test(test_several_levels),
		cmocka_unit_test(test_drift),
		cmocka_unit_test(test_disturbed),
		cmocka_unit_test(test_lost),
		cmocka_unit_test(test_waiting),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests_name("stability", tests, NULL, NULL);
}
