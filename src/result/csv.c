// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "basic/macro.h"
#include "basic/text.h"
#include "result/csv.h"
#include "result/weight.h"

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

/* The exact quotient, with '.' in any locale. `per` is a power of ten. */
static void put_quotient(FILE *stream, int64_t value, int64_t per, bool known)
{
	int decimals = 0;

	putc(',', stream);
	for (int64_t rest = per; rest > 1; rest /= 10)
		decimals++;
	if (known)
		fprintf(stream, "%" PRId64 ".%0*" PRId64, value / per, decimals, value % per);
}

static void put_seconds(FILE *stream, int64_t ns, bool known)
{
	put_quotient(stream, ns, NSEC_PER_SEC, known);
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

static void write_header(FILE *stream, const struct series *series, bool with_inside)
{
	fputs(with_inside ? "run,warmup,index,counted,loops,inner_loops," : "run,warmup,", stream);
	fputs("value,window_kernel,window_user,start,status,flags,disturbed,lost,max_rss_bytes,env_pad",
		stream);
	if (series->with_evidence) {
		for (size_t i = 0; i < evidence_n_fields; i++)
			put_text(stream, evidence_fields[i].name);
		fputs(",irq_lines,softirqs,runnable,load1,temperature_before,temperature_after",
			stream);
	}
	for (size_t i = 0; i < series->n_events; i++)
		put_text(stream, series->event_names[i]);
	fputs("\r\n", stream);
}

static int write_evidence(FILE *stream, const struct series *series, size_t index)
{
	const struct evidence *evidence = &series->evidence[index];
	_cleanup_free_ char *lines = series_irq_text(series, index);
	_cleanup_free_ char *softirqs = series_softirq_text(series, index);

	if (!lines || !softirqs)
		return -ENOMEM;
	for (size_t i = 0; i < evidence_n_fields; i++) {
		int64_t value = 0;
		bool known = evidence_get(evidence, &evidence_fields[i], &value);

		if (evidence_fields[i].per > 0)
			put_quotient(stream, value, evidence_fields[i].per, known);
		else
			put_integer(stream, value, known);
	}
	put_text(stream, lines);
	put_text(stream, softirqs);
	put_integer(stream, evidence->runnable, evidence->runnable >= 0);
	put_hundredths(stream, (double)evidence->load1);
	put_hundredths(stream, (double)evidence->temperature_before);
	put_hundredths(stream, (double)evidence->temperature_after);
	return 0;
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
	struct disturbances disturbances;
};

static void put_window_value(const struct rows *rows, const struct series *series, size_t index)
{
	const struct sample *sample = &series->samples[index];
	bool by_kernel = series->clock == WINDOW_KERNEL;

	if (rows->with_inside)
		fprintf(rows->stream, ",,%d,,", !sample->warmup);
	put_seconds(rows->stream, by_kernel ? sample->kernel_ns : sample->user_ns,
		!by_kernel || sample->kernel_ns > 0);
}

static void put_inside_value(const struct rows *rows, const struct inside_value *value)
{
	char seconds[TEXT_REAL_SIZE];

	fprintf(rows->stream, ",%zu,%d,%" PRIu64 ",%" PRIu64 ",%s", value->index, value->counted,
		value->loops, value->inner_loops, text_format_real(value->seconds, seconds));
}

/* inside: NULL for the run as a whole. */
static int write_row(const struct rows *rows, const struct series *series, size_t index,
	size_t number, const struct inside_value *inside)
{
	const struct sample *sample = &series->samples[index];
	_cleanup_free_ char *flags = sample_flags_text(sample->flags);
	FILE *stream = rows->stream;
	struct weights weights;

	if (!flags)
		return -ENOMEM;
	if (rows->name) {
		csv_put_field(stream, rows->name);
		putc(',', stream);
	}
	fprintf(stream, "%zu,%d", number, sample->warmup);
	if (inside)
		put_inside_value(rows, inside);
	else
		put_window_value(rows, series, index);
	put_seconds(stream, sample->kernel_ns, sample->kernel_ns > 0);
	put_seconds(stream, sample->user_ns, true);
	put_seconds(stream, sample->start_ns, true);
	put_integer(stream, sample->status, true);
	put_text(stream, flags);
	disturbances_weigh(&rows->disturbances, series, index, &weights);
	put_integer(stream, rows->disturbances.causes[index] != 0, true);
	put_part(stream, weights.lost, weights.known);
	put_integer(stream, (int64_t)sample->max_rss_kib * 1024, sample->max_rss_kib > 0);
	put_integer(stream, sample->env_pad, true);
	if (series->with_evidence) {
		int r = write_evidence(stream, series, index);

		if (r < 0)
			return r;
	}
	for (size_t i = 0; i < series->n_events; i++) {
		double value = series->counters[index * series->n_events + i];
		bool known = isfinite(value) && fabs(value) < 9e18;

		put_integer(stream, known ? llround(value) : 0, known);
	}
	fputs("\r\n", stream);
	return 0;
}

/* The values of one run that were measured inside. */
static int write_inside(const struct rows *rows, const struct series *series,
	const struct benchmark *inside, size_t run, size_t number)
{
	size_t warmup = run > 0 ? inside->runs[run - 1].warmup_end : 0, first, n;
	struct inside_value value = { .inner_loops = inside->runs[run].inner_loops };
	int r = 0;

	for (; r == 0 && warmup < inside->runs[run].warmup_end; warmup++) {
		value.index++;
		value.loops = inside->warmups[warmup].loops;
		value.seconds = inside->warmups[warmup].value;
		r = write_row(rows, series, run, number, &value);
	}
	benchmark_run_values(inside, run, &first, &n);
	value.counted = true;
	value.loops = inside->runs[run].loops;
	for (size_t i = first; r == 0 && i < first + n; i++) {
		value.index++;
		value.seconds = inside->values[i];
		r = write_row(rows, series, run, number, &value);
	}
	return r;
}

static int write_rows(
	struct rows *rows, const struct series *series, const struct benchmark *inside)
{
	size_t numbers[2] = { 0 };
	int r;

	r = disturbances_find(series, &rows->disturbances);
	/* Stop at the first error: the disk may be full, and there may be millions of rows. */
	for (size_t i = 0; r == 0 && i < series->n_samples && !ferror(rows->stream); i++) {
		size_t number = ++numbers[series->samples[i].warmup];

		r = inside ? write_inside(rows, series, inside, i, number)
			   : write_row(rows, series, i, number, NULL);
	}
	disturbances_clear(&rows->disturbances);
	return r;
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
	int r;

	errno = 0;
	write_header(stream, series, false);
	r = write_rows(&rows, series, NULL);
	return r < 0 ? r : finish(stream);
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
		int r;

		rows.name = parts[i].name;
		r = write_rows(&rows, parts[i].series, parts[i].inside);
		if (r < 0)
			return r;
	}
	return finish(stream);
}
