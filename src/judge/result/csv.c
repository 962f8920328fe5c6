// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "base/macro.h"
#include "base/text.h"
#include "judge/result/csv.h"
#include "judge/result/runfact.h"
#include "judge/result/weight.h"

void csv_put_field(FILE *stream, const char *s)
{
	bool quoted = s[strcspn(s, ",\"")];
	size_t plain = text_plain_length(s);

	if (quoted)
		putc('"', stream);
	for (; *s; s++) {
		if (plain == 0)
			fprintf(stream, "\\x%02x", (unsigned char)*s);
		else if (*s == '"')
			fputs("\"\"", stream);
		else
			putc(*s, stream);
		plain = plain > 1 ? plain - 1 : text_plain_length(s + 1);
	}
	if (quoted)
		putc('"', stream);
}

static void put_text(FILE *stream, const char *s)
{
	putc(',', stream);
	csv_put_field(stream, s);
}

static void put_integer(FILE *stream, int64_t value, bool known)
{
	putc(',', stream);
	if (known)
		fprintf(stream, "%" PRId64, value);
}

static void put_real(FILE *stream, double value)
{
	char text[TEXT_REAL_SIZE];

	fprintf(stream, ",%s", text_format_real(value, text));
}

/* The exact quotient, with '.' in any locale. `per` is a power of ten. */
static void put_quotient(FILE *stream, int64_t value, int64_t per, bool known)
{
	int decimals = 0;

	put_integer(stream, value / per, known);
	for (int64_t rest = per; rest > 1; rest /= 10)
		decimals++;
	if (known && per > 1)
		fprintf(stream, ".%0*" PRId64, decimals, value % per);
}

/* Two decimals, with '.' in any locale. */
static void put_hundredths(FILE *stream, double value)
{
	putc(',', stream);
	if (isfinite(value) && fabs(value) < 1e12) {
		long long hundredths = llround(fabs(value) * 100);

		fprintf(stream, "%s%lld.%02lld", value < 0 && hundredths > 0 ? "-" : "",
			hundredths / 100, hundredths % 100);
	}
}

/* A part of a run, in millionths of it. */
static void put_part(FILE *stream, double value, bool known)
{
	long long millionths = llround(fabs(value) * 1e6);

	putc(',', stream);
	if (known)
		fprintf(stream, "%s%lld.%06lld", value < 0 && millionths > 0 ? "-" : "",
			millionths / 1000000, millionths % 1000000);
}

/* The facts in the order of their columns. */
struct columns {
	const struct run_fact *facts[RUN_FACTS_MAX];
	size_t n;
};

static void find_columns(const struct series *series, struct columns *ret)
{
	ret->n = run_facts_list(offsetof(struct run_fact, csv_column), ret->facts);
	for (size_t i = 0; series->with_evidence && i < run_n_facts; i++)
		if (run_facts[i].name && run_facts[i].csv_column == 0)
			ret->facts[ret->n++] = &run_facts[i];
}

static void write_header(FILE *stream, const struct series *series, bool with_inside)
{
	struct columns columns;

	fputs(with_inside ? "run,warmup,index,counted,loops,inner_loops,value" : "run,warmup,value",
		stream);
	find_columns(series, &columns);
	for (size_t i = 0; i < columns.n; i++) {
		const struct run_fact *fact = columns.facts[i];

		put_text(stream, fact->csv ? fact->csv : fact->name);
		if (fact->kind == KIND_FLAGS)
			fputs(",disturbed,lost", stream);
	}
	for (size_t i = 0; i < series->n_events; i++)
		put_text(stream, series->event_names[i]);
	fputs("\r\n", stream);
}

static void put_fact(FILE *stream, const struct run_fact *fact, const struct run_place *place)
{
	struct fact value = { 0 };
	int64_t number = 0;
	bool known;

	if (run_fact_is_text(fact)) {
		known = run_fact_get(fact, place, &value);
		put_text(stream, known ? value.string : "");
		if (known)
			run_fact_clear(&value);
	} else if (fact->kind == KIND_FLOAT) {
		put_hundredths(stream, run_fact_real(fact, place));
	} else {
		known = run_fact_number(fact, place, &number);
		put_quotient(stream, number, run_fact_per(fact), known);
	}
}

/* A value that was measured inside of a run. */
struct inside_value {
	size_t index; /* from 1 */
	bool counted;
	uint64_t loops;
	uint64_t inner_loops;
	double seconds;
};

/* The rows of one table. */
struct rows {
	FILE *stream;
	const char *name; /* NULL where there is no column for it */
	bool with_inside; /* whether there are columns for values measured inside */
	struct columns columns;
	struct disturbances disturbances;
};

static void put_window_value(const struct rows *rows, const struct series *series, size_t index)
{
	const struct sample *sample = &series->samples[index];
	bool by_kernel = series->clock == WINDOW_KERNEL;

	if (rows->with_inside)
		fprintf(rows->stream, ",,%d,,", !sample->warmup);
	put_quotient(rows->stream, by_kernel ? sample->kernel_ns : sample->user_ns, NSEC_PER_SEC,
		!by_kernel || sample->kernel_ns > 0);
}

static void put_inside_value(const struct rows *rows, const struct inside_value *value)
{
	char seconds[TEXT_REAL_SIZE];

	fprintf(rows->stream, ",%zu,%d,%" PRIu64 ",%" PRIu64 ",%s", value->index, value->counted,
		value->loops, value->inner_loops, text_format_real(value->seconds, seconds));
}

/* inside: NULL for the run as a whole. */
static void write_row(const struct rows *rows, const struct series *series, size_t index,
	size_t number, const struct inside_value *inside)
{
	struct run_place place = run_place_of(series, index, NULL);
	FILE *stream = rows->stream;
	struct weights weights;

	if (rows->name) {
		csv_put_field(stream, rows->name);
		putc(',', stream);
	}
	fprintf(stream, "%zu,%d", number, series->samples[index].warmup);
	if (inside)
		put_inside_value(rows, inside);
	else
		put_window_value(rows, series, index);
	for (size_t i = 0; i < rows->columns.n; i++) {
		put_fact(stream, rows->columns.facts[i], &place);
		if (rows->columns.facts[i]->kind != KIND_FLAGS)
			continue;
		disturbances_weigh(&rows->disturbances, series, index, &weights);
		put_integer(stream, rows->disturbances.causes[index] != 0, true);
		put_part(stream, weights.lost, weights.known);
	}
	for (size_t i = 0; i < series->n_events; i++) {
		double value = series->counters[index * series->n_events + i];
		bool is_figure = series->event_kinds[i].own;
		bool known = isfinite(value) && (is_figure || fabs(value) < 9e18);

		if (known && is_figure)
			put_real(stream, value);
		else
			put_integer(stream, known ? llround(value) : 0, known);
	}
	fputs("\r\n", stream);
}

/* The values of one run that were measured inside. */
static void write_inside(const struct rows *rows, const struct series *series,
	const struct benchmark *inside, size_t run, size_t number)
{
	struct inside_value value = { .inner_loops = inside->runs[run].inner_loops };
	size_t first, n;

	benchmark_run_warmups(inside, run, &first, &n);
	for (size_t i = first; i < first + n; i++) {
		value.index++;
		value.loops = inside->warmups[i].loops;
		value.seconds = inside->warmups[i].value;
		write_row(rows, series, run, number, &value);
	}
	benchmark_run_values(inside, run, &first, &n);
	value.counted = true;
	value.loops = inside->runs[run].loops;
	for (size_t i = first; i < first + n; i++) {
		value.index++;
		value.seconds = inside->values[i];
		write_row(rows, series, run, number, &value);
	}
}

static void write_rows(
	struct rows *rows, const struct series *series, const struct benchmark *inside)
{
	size_t numbers[2] = { 0 };

	find_columns(series, &rows->columns);
	disturbances_find(series, &rows->disturbances);
	/* Stop at the first error: the disk may be full, and there may be millions of rows. */
	for (size_t i = 0; i < series->n_samples && !ferror(rows->stream); i++) {
		size_t number = ++numbers[series->samples[i].warmup];

		if (inside)
			write_inside(rows, series, inside, i, number);
		else
			write_row(rows, series, i, number, NULL);
	}
	disturbances_clear(&rows->disturbances);
}

static int finish(FILE *stream)
{
	if (fflush(stream) != 0 || ferror(stream))
		return errno > 0 ? -errno : -EIO;
	return 0;
}

int csv_write(FILE *stream, const struct series *series)
{
	struct rows rows = { .stream = stream };

	errno = 0;
	write_header(stream, series, false);
	write_rows(&rows, series, NULL);
	return finish(stream);
}

int csv_write_all(FILE *stream, const struct csv_part *parts, size_t n)
{
	struct rows rows = { .stream = stream };

	errno = 0;
	for (size_t i = 0; i < n; i++)
		rows.with_inside = rows.with_inside || parts[i].inside;
	fputs("name,", stream);
	write_header(stream, parts[0].series, rows.with_inside);
	for (size_t i = 0; i < n; i++) {
		rows.name = parts[i].name;
		write_rows(&rows, parts[i].series, parts[i].inside);
	}
	return finish(stream);
}
