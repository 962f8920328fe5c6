// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "base/random.h"
#include "judge/result/document.h"
#include "judge/result/input.h"
#include "judge/result/reader.h"
#include "judge/result/runfact.h"

enum {
	N_SERIES = 200,
	N_RUNS = 20,
};

static int64_t draw(uint64_t *state, int64_t below)
{
	return (int64_t)(random_next(state) % (uint64_t)below);
}

/* One in three is unknown, and one in six is 0. */
static int64_t draw_number(uint64_t *state, int64_t below)
{
	int64_t which = draw(state, 6);

	return which < 2 ? -1 : which == 2 ? 0 : draw(state, draw(state, 2) ? 100 : below);
}

/* Where 0 stands for what is not known. */
static int64_t draw_above(uint64_t *state, int64_t below)
{
	int64_t number = draw_number(state, below);

	return MAX(number, INT64_C(0));
}

/* In hundredths, which is what is written. */
static float draw_float(uint64_t *state, int64_t least)
{
	return draw(state, 3) == 0 ? NAN : (float)(least * 100 + draw(state, 12000)) / 100;
}

static void fill_sample(struct sample *sample, uint64_t *state)
{
	*sample = (struct sample){
		.kernel_ns = draw_above(state, INT64_C(1) << 50),
		.user_ns = 1 + draw(state, INT64_C(1) << 50),
		.start_ns = draw(state, INT64_C(1) << 50),
		.status = (int32_t)draw_above(state, 65536),
		.flags = (uint16_t)(draw(state, 2) ? draw(state, 1 << SAMPLE_N_FLAGS) : 0),
		.warmup = draw(state, 4) == 0,
		.max_rss_kib = (uint32_t)draw_above(state, UINT32_MAX),
	};
}

static void fill_evidence(struct series *series, struct evidence *evidence, uint64_t *state)
{
	evidence_clear(evidence);
	for (size_t i = 0; i < run_n_facts; i++) {
		char *at = (char *)evidence + run_facts[i].offset;

		if (run_facts[i].part != PART_EVIDENCE)
			continue;
		if (run_facts[i].kind == KIND_INT64)
			*(int64_t *)at = draw_number(state, INT64_C(1) << 50);
		else if (run_facts[i].kind == KIND_INT32)
			*(int32_t *)at = (int32_t)draw_number(state, INT32_MAX);
		else if (run_facts[i].kind == KIND_FLOAT)
			*(float *)at =
				draw_float(state, run_facts[i].unit == RUN_CELSIUS ? -20 : 0);
	}
	for (size_t i = 0; i < EVIDENCE_N_SOFTIRQS; i++)
		evidence->softirqs[i] = (int32_t)draw_number(state, INT32_MAX);
	evidence->n_irq_lines = (uint32_t)draw(state, EVIDENCE_N_IRQ_LINES + 1);
	for (size_t i = 0; i < evidence->n_irq_lines; i++) {
		char name[32];

		snprintf(name, sizeof(name), "%" PRId64 ": a \"line\", x%zu", draw(state, 99), i);
		assert_int_equal(series_intern_irq(series, name, &evidence->irq_line[i]), 0);
		evidence->irq_count[i] = (int32_t)draw(state, INT32_MAX);
	}
}

static struct series *make_series(uint64_t seed)
{
	static const char *const events[] = { "instructions:u", "odd,\"name\"", NULL };
	bool with_evidence = seed % 4 != 0, with_padding = seed % 3 == 0;
	uint64_t state = seed;
	struct series *series;

	series = series_new(with_evidence, seed % 2 ? events : NULL);
	series->start_realtime_ns = seed % 5 ? INT64_C(1700000000123456789) : 0;
	series->clock = WINDOW_USER;
	for (size_t i = 0; i < N_RUNS; i++) {
		const double counters[] = { (double)draw(&state, INT64_C(1) << 50) + 0.25,
			draw(&state, 2) ? NAN : 1e19 };
		struct evidence evidence;
		struct sample sample;

		fill_sample(&sample, &state);
		if (with_padding)
			sample.env_pad = (uint32_t)draw(&state, 4096);
		fill_evidence(series, &evidence, &state);
		assert_int_equal(series_append(series, &sample, &evidence, counters), 0);
	}
	return series;
}

/* What a result and a table call each fact: names stay, because there are files and scripts. */
static void test_names(void **state)
{
	/* In the metadata, elsewhere, and in CSV where that differs. */
	static const char *const names[][3] = {
		{ "date", "" },
		{ "calibrate_warmups", "" },
		{ "duration", "" },
		{ "command_max_rss", "max_rss", "max_rss_bytes" },
		{ "mem_max_rss", "" },
		{ "quiesce_start", "start" },
		{ "quiesce_window_kernel", "window_kernel" },
		{ "quiesce_window_user", "window_user" },
		{ "quiesce_flags", "flags" },
		{ "quiesce_status", "status" },
		{ "quiesce_env_pad", "env_pad" },
		{ "quiesce_user_cpu", "user_cpu" },
		{ "quiesce_system_cpu", "system_cpu" },
		{ "quiesce_task_clock", "task_clock" },
		{ "quiesce_run_delay", "run_delay" },
		{ "quiesce_off_cpu", "off_cpu" },
		{ "quiesce_reader_cpu", "reader_cpu" },
		{ "quiesce_reap", "reap" },
		{ "quiesce_steal", "steal" },
		{ "quiesce_load_cpu", "load_cpu" },
		{ "quiesce_load_run_delay", "load_run_delay" },
		{ "quiesce_load_involuntary_switches", "load_involuntary_switches" },
		{ "quiesce_load_steal", "load_steal" },
		{ "quiesce_load_irq_device", "load_irq_device" },
		{ "quiesce_quota_throttled", "quota_throttled" },
		{ "quiesce_frequency_khz", "frequency_khz" },
		{ "quiesce_core_khz", "core_khz" },
		{ "quiesce_core_share_before", "core_share_before" },
		{ "quiesce_core_share_after", "core_share_after" },
		{ "quiesce_core_share_during", "core_share_during" },
		{ "quiesce_deep_idle", "deep_idle" },
		{ "quiesce_mean_khz", "mean_khz" },
		{ "quiesce_frequency_changes", "frequency_changes" },
		{ "quiesce_minor_faults", "minor_faults" },
		{ "quiesce_major_faults", "major_faults" },
		{ "quiesce_voluntary_switches", "voluntary_switches" },
		{ "quiesce_involuntary_switches", "involuntary_switches" },
		{ "quiesce_migrations", "migrations" },
		{ "quiesce_cpu_first", "cpu_first" },
		{ "quiesce_cpu_last", "cpu_last" },
		{ "quiesce_elsewhere", "elsewhere" },
		{ "quiesce_throttles", "throttles" },
		{ "quiesce_irq_device", "irq_device" },
		{ "quiesce_irq_timer", "irq_timer" },
		{ "quiesce_irq_ipi", "irq_ipi" },
		{ "quiesce_irq_other", "irq_other" },
		{ "quiesce_evidence_cpus", "evidence_cpus" },
		{ "quiesce_irq_lines", "irq_lines" },
		{ "quiesce_softirqs", "softirqs" },
		{ "quiesce_figure_before_level", "" },
		{ "runnable_threads", "runnable" },
		{ "load_avg_1min", "load", "load1" },
		{ "quiesce_temperature_before", "temperature_before" },
		{ "quiesce_temperature_after", "temperature_after" },
		{ "cpu_temp", "" },
		{ "cpu_freq", "" },
		{ "quiesce_event_", "" },
		{ "", "" },
		{ "", "" },
		{ "", "" },
		{ "", "" },
		{ "", "" },
		{ "", "" },
		{ "loops", "" },
		{ "inner_loops", "" },
		{ "quiesce_before_level", "" },
		{ "quiesce_turn", "" },
		{ "quiesce_sitting", "" },
		{ "node", "" },
		{ "quiesce_node", "" },
		{ "quiesce_hostname", "" },
		{ "hostname", "" },
		{ "quiesce_cpu_model_name", "" },
		{ "cpu_model_name", "" },
		{ "layout", "" },
		{ "quiesce_order_seed", "" },
	};

	(void)state;
	assert_int_equal(run_n_facts, ARRAY_SIZE(names));
	for (size_t i = 0; i < run_n_facts; i++) {
		const struct run_fact *fact = &run_facts[i];

		assert_string_equal(fact->key ? fact->key : "", names[i][0]);
		assert_string_equal(fact->name ? fact->name : "", names[i][1]);
		assert_string_equal(fact->csv ? fact->csv : "", names[i][2] ? names[i][2] : "");
	}
}

/* Each number has a place of its own, of its own size, but for those that are read under several
 * names. */
static void test_places(void **state)
{
	struct evidence evidence;
	struct sample sample = { 0 };
	struct run_place place = { .parts = {
					   [PART_SAMPLE] = &sample, [PART_EVIDENCE] = &evidence } };
	int64_t number = 77;

	(void)state;
	evidence_clear(&evidence);
	for (size_t i = 0; i < run_n_facts; i++) {
		const struct run_fact *fact = &run_facts[i];
		char *at;

		if (fact->part != PART_EVIDENCE || fact->kind > KIND_UINT32)
			continue;
		assert_false(run_fact_number(fact, &place, &number));
		assert_int_equal(number, 77);
		at = (char *)&evidence + fact->offset;
		if (fact->kind == KIND_INT64)
			*(int64_t *)at = (int64_t)i << 33;
		else
			*(int32_t *)at = (int32_t)i;
	}
	for (size_t i = 0; i < run_n_facts; i++) {
		const struct run_fact *fact = &run_facts[i];

		if (fact->part != PART_EVIDENCE || fact->kind > KIND_UINT32)
			continue;
		assert_true(run_fact_number(fact, &place, &number));
		assert_int_equal(number, fact->kind == KIND_INT64 ? (int64_t)i << 33 : (int64_t)i);
	}
}

/* A list has each of its numbers once, from 1 on, and what it needs beside it. */
static void test_lists(void **state)
{
	static const struct {
		size_t offset;
		size_t n;
	} lists[] = {
		{ offsetof(struct run_fact, csv_column), 7 },
		{ offsetof(struct run_fact, dump_column), 10 },
		{ offsetof(struct run_fact, cause.rank), 9 },
		{ offsetof(struct run_fact, strip.rank), 4 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(lists); i++) {
		const struct run_fact *facts[RUN_FACTS_MAX] = { NULL };

		assert_int_equal(run_facts_list(lists[i].offset, facts), lists[i].n);
		for (size_t k = 0; k < lists[i].n; k++)
			assert_non_null(facts[k]);
	}
	for (size_t i = 0; i < run_n_facts; i++) {
		const struct run_fact *fact = &run_facts[i];

		assert_true(fact->dump_column == 0 || fact->title);
		assert_true(fact->cause.rank == 0 || (fact->cause.words && fact->cause.after));
		assert_true(fact->strip.rank == 0 ||
			(fact->strip.name && fact->strip.unit && fact->strip.label &&
				fact->strip.factor > 0));
		/* Known to sample_flag_name(). */
		assert_true(fact->flag < 1 << SAMPLE_N_FLAGS);
	}
}

/* --- Written and read back --- */

static struct suite *write_and_read(const struct series *series)
{
	struct facts metadata = { 0 };
	struct document_part part = { .series = series, .metadata = &metadata };
	struct input *input = NULL;
	struct suite *suite = NULL;
	char *text = NULL, *why = NULL;
	size_t size;
	FILE *stream = open_memstream(&text, &size);

	assert_non_null(stream);
	facts_set_string(&metadata, "name", "random");
	/* Else flags would be derived where none is set. */
	facts_set_string(&metadata, "quiesce_version", "1");
	assert_int_equal(document_write(stream, NULL, &part, 1), 0);
	fclose(stream);
	input = input_open_memory(text, size);
	assert_int_equal(suite_read_input(input, true, &suite, &why), 0);
	input_free(input);
	facts_clear(&metadata);
	free(text);
	return suite;
}

static void compare_fact(
	const struct run_fact *fact, const struct run_place *written, const struct run_place *read)
{
	struct fact a = { .type = FACT_INTEGER }, b = { .type = FACT_INTEGER };
	bool is_known = run_fact_get(fact, written, &a);

	assert_int_equal(run_fact_get(fact, read, &b), is_known);
	assert_int_equal(a.type, b.type);
	if (a.type == FACT_STRING)
		assert_string_equal(a.string, b.string);
	else if (a.type == FACT_REAL)
		assert_true(a.real >= b.real && a.real <= b.real);
	else
		assert_int_equal(a.integer, b.integer);
	if (is_known) {
		run_fact_clear(&a);
		run_fact_clear(&b);
	}
}

static double written_count(const struct series *series, size_t run, const char *name)
{
	for (size_t i = 0; i < series->n_events; i++) {
		double count = series->counters[run * series->n_events + i];

		if (strcmp(series->event_names[i], name) == 0)
			return fabs(count) < 9e18 ? round(count) : NAN;
	}
	fail();
	return NAN;
}

static void compare_runs(const struct series *written, const struct series *read, size_t run)
{
	const struct run_place places[2] = { run_place_of(written, run, NULL),
		run_place_of(read, run, NULL) };

	assert_int_equal(written->samples[run].warmup, read->samples[run].warmup);
	for (size_t i = 0; i < run_n_facts; i++) {
		const struct run_fact *fact = &run_facts[i];
		bool kept = fact->part != PART_EVIDENCE || written->with_evidence;

		if (kept && fact->key && !fact->only_written)
			compare_fact(fact, &places[0], &places[1]);
	}
	for (size_t i = 0; i < read->n_events; i++) {
		double count = read->counters[run * read->n_events + i];
		double expected = written_count(written, run, read->event_names[i]);

		assert_true(isnan(count) ? isnan(expected) : fabs(count - expected) < 1);
	}
}

static void test_round_trip(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < N_SERIES; seed++) {
		struct series *series = make_series(seed);
		struct suite *suite = write_and_read(series);
		const struct series *read = suite->benchmarks[0]->series;

		assert_int_equal(read->n_samples, series->n_samples);
		for (size_t i = 0; i < series->n_samples; i++)
			compare_runs(series, read, i);
		suite_free(suite);
		series_free(series);
	}
}

/* --- Said above the runs --- */

static struct suite *read_text(const char *text)
{
	struct input *input = input_open_memory(text, strlen(text));
	struct suite *suite = NULL;
	char *why = NULL;

	if (suite_read_input(input, true, &suite, &why) < 0)
		fprintf(stderr, "%s: %s\n", text, why);
	assert_non_null(suite);
	input_free(input);
	return suite;
}

/* A member with one of three values that such a fact may have, and a ',' before it. */
static void format_member(char text[static 100], const struct run_fact *fact, int which)
{
	static const char *const texts[][3] = {
		[KIND_DATE] = { "2026-11-20 10:14:11", "2026-11-20 10:14:12",
			"2026-11-20 10:14:13" },
		[KIND_FLAGS] = { "irq", "steal,hot", "clock" },
		[KIND_IRQ_LINES] = { "1: a x1", "2: b x1, 3: c x2", "4: d x3" },
		[KIND_SOFTIRQS] = { "HI x1", "TIMER x2", "RCU x3, HI x4" },
		[KIND_TEMPERATURE] = { "package=51 C", "package=52 C", "package=53 C" },
		[KIND_FREQUENCY] = { "0=1000 MHz", "0=2 GHz", "0=3000 MHz" },
		[KIND_ORIGIN] = { "a", "b", "c" },
	};
	const char *more = fact->kind == KIND_EVENT ? "cycles" : "";

	if (run_fact_is_text(fact))
		snprintf(text, 100, ", \"%s\": \"%s\"", fact->key, texts[fact->kind][which]);
	else
		snprintf(text, 100, ", \"%s%s\": %d", fact->key, more,
			(fact->unit == RUN_KIB ? 1024 : 1) * (which + 1));
}

/* Which of the three values each has; negative: none. */
struct placed {
	int suite;
	int benchmark;
	int runs[2];
};

static struct suite *read_placed(
	const struct run_fact *fact, const struct placed *placed, bool suite_first)
{
	const int which[] = { placed->suite, placed->benchmark, placed->runs[0], placed->runs[1] };
	char members[ARRAY_SIZE(which)][100] = { "" }, text[2000];
	const char *head = "\"version\": \"1.0\"";
	char suite[200];

	for (size_t i = 0; i < ARRAY_SIZE(which); i++)
		if (which[i] >= 0)
			format_member(members[i], fact, which[i]);
	/* Else flags would be derived where none is set. */
	snprintf(suite, sizeof(suite), "\"metadata\": {\"quiesce_version\": \"1\"%s}", members[0]);
	snprintf(text, sizeof(text),
		"{%s, \"benchmarks\": [{\"metadata\": {\"name\": \"x\"%s}, \"runs\": ["
		"{\"metadata\": {\"x\": 1%s}, \"values\": [1]}, "
		"{\"values\": [1], \"metadata\": {\"x\": 1%s}}]}], %s}",
		suite_first ? suite : head, members[1], members[2], members[3],
		suite_first ? head : suite);
	return read_text(text);
}

static const struct provenance *find_provenance(const struct series *series, size_t run)
{
	return &series->sittings[series->n_sittings > 1 ? run : 0].provenance;
}

/* Whether two runs of two files are the same, in all that is known of them. */
static void compare_known(const struct suite *a, const struct suite *b, size_t run)
{
	const struct series *series[2] = { a->benchmarks[0]->series, b->benchmarks[0]->series };
	const struct benchmark_run *values[2] = { a->benchmarks[0]->runs, b->benchmarks[0]->runs };
	const struct run_place places[2] = { run_place_of(series[0], run, &values[0][run]),
		run_place_of(series[1], run, &values[1][run]) };
	const struct provenance *origins[2] = { find_provenance(series[0], run),
		find_provenance(series[1], run) };

	for (size_t i = 0; i < run_n_facts; i++)
		if (run_facts[i].key && run_facts[i].part != PART_PROVENANCE &&
			run_facts[i].part != PART_COUNTERS)
			compare_fact(&run_facts[i], &places[0], &places[1]);
	assert_int_equal(
		series[0]->evidence[run].frequency_khz, series[1]->evidence[run].frequency_khz);
	for (size_t i = 0; i < SITTING_N_TEXTS; i++) {
		const char *texts[2] = { origins[0]->texts[i], origins[1]->texts[i] };

		assert_string_equal(texts[0] ? texts[0] : "", texts[1] ? texts[1] : "");
	}
	assert_int_equal(origins[0]->has_order_seed, origins[1]->has_order_seed);
	assert_int_equal(origins[0]->order_seed, origins[1]->order_seed);
	assert_int_equal(series[0]->n_events, series[1]->n_events);
	for (size_t i = 0; i < series[0]->n_events; i++)
		assert_memory_equal(&series[0]->counters[run * series[0]->n_events + i],
			&series[1]->counters[run * series[1]->n_events + i], sizeof(double));
}

/* A run has a fact of its own, else its benchmark's, else the suite's, wherever in the file that
 * stands; it is as if each run had said it itself. */
static void test_above(void **state)
{
	(void)state;
	for (size_t i = 0; i < run_n_facts; i++) {
		const struct run_fact *fact = &run_facts[i];

		if (!fact->key || fact->only_written)
			continue;
		for (int mask = 0; mask < 16; mask++) {
			struct placed placed = { mask & 1 ? 2 : -1, mask & 2 ? 1 : -1,
				{ mask & 4 ? 0 : -1, -1 } };
			struct placed own = { -1, -1, { -1, -1 } };
			int above = mask & 2 ? placed.benchmark : placed.suite;
			struct suite *suites[2];

			/* A turn is of one run. */
			if (fact->kind == KIND_TURN)
				above = -1;
			own.runs[0] = mask & 4 ? 0 : above;
			own.runs[1] = above;
			suites[0] = read_placed(fact, &placed, mask & 8);
			suites[1] = read_placed(fact, &own, false);
			for (size_t run = 0; run < 2; run++)
				compare_known(suites[0], suites[1], run);
			suite_free(suites[0]);
			suite_free(suites[1]);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_places),
		cmocka_unit_test(test_lists),
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_above),
	};

	/* A date is written as local time, and read as UTC. */
	setenv("TZ", "UTC", 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
