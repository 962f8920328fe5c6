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

#include "basic/macro.h"
#include "basic/random.h"
#include "result/csv.h"
#include "result/runfact.h"
#include "result/runwrite.h"

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

static float draw_float(uint64_t *state, float least, float most)
{
	return draw(state, 3) == 0 ? NAN : least + (most - least) * (float)random_unit(state);
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
	for (size_t i = 0; i < evidence_n_fields; i++) {
		char *at = (char *)evidence + evidence_fields[i].offset;

		if (evidence_fields[i].wide)
			*(int64_t *)at = draw_number(state, INT64_C(1) << 50);
		else
			*(int32_t *)at = (int32_t)draw_number(state, INT32_MAX);
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
	evidence->runnable = (int32_t)draw_number(state, INT32_MAX);
	evidence->load1 = draw_float(state, 0, 100);
	evidence->temperature_before = draw_float(state, -20, 120);
	evidence->temperature_after = draw_float(state, -20, 120);
}

static struct series *make_series(uint64_t seed)
{
	static const char *const events[] = { "instructions:u", "odd,\"name\"", NULL };
	bool with_evidence = seed % 4 != 0, with_padding = seed % 3 == 0;
	uint64_t state = seed;
	struct series *series;

	assert_int_equal(series_new(with_evidence, seed % 2 ? events : NULL, &series), 0);
	series->start_realtime_ns = seed % 5 ? INT64_C(1700000000123456789) : 0;
	for (size_t i = 0; i < N_RUNS; i++) {
		const double counters[] = { draw_float(&state, 0, 1e15f),
			draw_float(&state, -10, 1e19f) };
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

/* --- CSV --- */

static const struct run_fact *find_column(unsigned column)
{
	for (size_t i = 0; i < run_n_facts; i++)
		if (run_facts[i].csv_column == column)
			return &run_facts[i];
	fail();
	return NULL;
}

static void put_csv(FILE *stream, const struct run_fact *fact, const struct run_place *place)
{
	int64_t number, per = run_fact_per(fact);
	double real = run_fact_real(fact, place);

	putc(',', stream);
	if (run_fact_is_text(fact)) {
		struct fact value = { .type = FACT_STRING };
		int r = run_fact_get(fact, place, &value);

		assert_true(r >= 0);
		csv_put_field(stream, r > 0 ? value.string : "");
		if (r > 0)
			run_fact_clear(&value);
	} else if (fact->kind == KIND_FLOAT) {
		if (isfinite(real))
			fprintf(stream, "%.2f",
				round(fabs(real) * 100) / 100 * (real < 0 ? -1 : 1));
	} else if (run_fact_number(fact, place, &number)) {
		fprintf(stream, "%" PRId64, number / per);
		if (per > 1)
			fprintf(stream, ".%0*" PRId64, per == NSEC_PER_SEC ? 9 : 4, number % per);
	}
}

static void put_name(FILE *stream, const struct run_fact *fact)
{
	fprintf(stream, ",%s", fact->csv ? fact->csv : fact->name);
	if (fact->kind == KIND_FLAGS)
		fprintf(stream, ",disturbed,lost");
}

/* What the weights say is left out: it is no fact of the table. */
static char *table_csv(const struct series *series)
{
	char *text = NULL;
	size_t size, numbers[2] = { 0 };
	FILE *stream = open_memstream(&text, &size);

	assert_non_null(stream);
	fprintf(stream, "run,warmup,value");
	for (unsigned column = 1; column <= 7; column++)
		put_name(stream, find_column(column));
	for (size_t i = 0; series->with_evidence && i < run_n_facts; i++)
		if (run_facts[i].name && run_facts[i].csv_column == 0)
			put_name(stream, &run_facts[i]);
	for (size_t i = 0; i < series->n_events; i++) {
		putc(',', stream);
		csv_put_field(stream, series->event_names[i]);
	}
	fprintf(stream, "\r\n");
	for (size_t run = 0; run < series->n_samples; run++) {
		struct run_place place = run_place_of(series, run, NULL);
		bool warmup = series->samples[run].warmup;

		fprintf(stream, "%zu,%d", ++numbers[warmup], warmup);
		put_csv(stream, find_column(series->clock == WINDOW_KERNEL ? 1 : 2), &place);
		for (unsigned column = 1; column <= 7; column++) {
			put_csv(stream, find_column(column), &place);
			if (find_column(column)->kind == KIND_FLAGS)
				fprintf(stream, ",?,?");
		}
		for (size_t i = 0; series->with_evidence && i < run_n_facts; i++)
			if (run_facts[i].name && run_facts[i].csv_column == 0)
				put_csv(stream, &run_facts[i], &place);
		for (size_t i = 0; i < series->n_events; i++) {
			double value = series->counters[run * series->n_events + i];

			putc(',', stream);
			if (fabs(value) < 9e18)
				fprintf(stream, "%lld", llround(value));
		}
		fprintf(stream, "\r\n");
	}
	fclose(stream);
	return text;
}

/* Puts a question mark into the fields `disturbed` and `lost` of each row, behind the flags, which
 * are the eighth field and may be quoted. */
static char *without_weights(const char *csv)
{
	char *text = NULL;
	size_t size;
	FILE *stream = open_memstream(&text, &size);
	const char *end = strstr(csv, "\r\n") + 2;

	assert_non_null(stream);
	fwrite(csv, 1, (size_t)(end - csv), stream);
	for (csv = end; *csv; csv = end) {
		const char *p = csv;
		bool quoted = false;

		for (int commas = 0; commas < 8; p++) {
			quoted ^= *p == '"';
			commas += *p == ',' && !quoted;
		}
		fwrite(csv, 1, (size_t)(p - csv), stream);
		fprintf(stream, "?,?");
		p += strcspn(p, ",") + 1;
		p += strcspn(p, ",");
		end = strstr(p, "\r\n") + 2;
		fwrite(p, 1, (size_t)(end - p), stream);
	}
	fclose(stream);
	return text;
}

static void test_csv(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < N_SERIES; seed++) {
		struct series *series = make_series(seed);
		char *old = NULL, *known, *new;
		size_t size;
		FILE *stream = open_memstream(&old, &size);

		assert_non_null(stream);
		assert_int_equal(csv_write(stream, series), 0);
		fclose(stream);
		known = without_weights(old);
		new = table_csv(series);
		assert_string_equal(new, known);
		free(new);
		free(known);
		free(old);
		series_free(series);
	}
}

/* --- JSON --- */

static void put_json(struct emit *emit, const struct series *series, size_t run, bool padded)
{
	struct run_place place = run_place_of(series, run, NULL);

	emit_object(emit, "metadata");
	for (size_t i = 0; i < run_n_facts; i++) {
		const struct run_fact *fact = &run_facts[i];
		struct fact value = { .type = FACT_INTEGER };
		int r = fact->only_read ? 0 : run_fact_get(fact, &place, &value);

		assert_true(r >= 0);
		for (size_t k = 0; fact->kind == KIND_EVENT && k < series->n_events; k++) {
			double count = series->counters[run * series->n_events + k];
			char name[64];

			snprintf(name, sizeof(name), "%s%s", fact->key, series->event_names[k]);
			if (fabs(count) < 9e18)
				emit_integer(emit, name, llround(count));
		}
		if (r > 0 && value.type == FACT_STRING)
			emit_string(emit, fact->key, value.string);
		else if (r > 0 && value.type == FACT_REAL)
			emit_real(emit, fact->key, value.real);
		else if (r > 0 || (padded && fact->zero == ZERO_USUAL_OF_ALL))
			emit_integer(emit, fact->key, value.integer);
		if (r > 0)
			run_fact_clear(&value);
	}
	emit_close(emit, '}');
}

static char *table_json(const struct series *series)
{
	char *text = NULL;
	size_t size;
	FILE *stream = open_memstream(&text, &size);
	struct emit emit = { .stream = stream, .one_line = true };
	bool padded = false;

	assert_non_null(stream);
	for (size_t i = 0; i < series->n_samples; i++)
		padded = padded || series->samples[i].env_pad > 0;
	for (size_t i = 0; i < series->n_samples; i++) {
		bool warmup = series->samples[i].warmup;

		emit_verbatim(&emit, i > 0 ? ",\n" : "\n", 1 + (i > 0));
		emit_object(&emit, NULL);
		emit_array(&emit, warmup ? "warmups" : "values");
		if (warmup) {
			emit_array(&emit, NULL);
			emit_integer(&emit, NULL, 1);
		}
		emit_real(&emit, NULL, series_value(series, i));
		if (warmup)
			emit_close(&emit, ']');
		emit_close(&emit, ']');
		put_json(&emit, series, i, padded);
		emit_close(&emit, '}');
	}
	assert_int_equal(emit.error, 0);
	fclose(stream);
	return text;
}

static void test_json(void **state)
{
	static const struct facts none = { 0 };

	(void)state;
	for (uint64_t seed = 0; seed < N_SERIES; seed++) {
		struct series *series = make_series(seed);
		char *old = NULL, *new;
		size_t size;
		FILE *stream = open_memstream(&old, &size);
		struct emit emit = { .stream = stream, .one_line = true };

		assert_non_null(stream);
		runs_write(&emit, series, NULL, &none, false);
		fclose(stream);
		new = table_json(series);
		assert_string_equal(new, old);
		free(new);
		free(old);
		series_free(series);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_csv),
		cmocka_unit_test(test_json),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
