// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "basic/macro.h"
#include "basic/text.h"
#include "result/csv.h"

/* RFC 4180: a field with a comma, a quote or a line end is quoted, and quotes in it are doubled. */
static void put_field(FILE *stream, const char *s)
{
	if (!s[strcspn(s, ",\"\r\n")]) {
		fputs(s, stream);
		return;
	}
	putc('"', stream);
	for (; *s; s++) {
		if (*s == '"')
			putc('"', stream);
		putc(*s, stream);
	}
	putc('"', stream);
}

static void put_text(FILE *stream, const char *s)
{
	putc(',', stream);
	put_field(stream, s);
}

static void put_integer(FILE *stream, int64_t value, bool known)
{
	putc(',', stream);
	if (known)
		fprintf(stream, "%" PRId64, value);
}

/* Nanoseconds as seconds, exactly, and without a locale's decimal point. */
static void put_seconds(FILE *stream, int64_t ns, bool known)
{
	putc(',', stream);
	if (known)
		fprintf(stream, "%lld.%09lld", (long long)ns / NSEC_PER_SEC,
			(long long)ns % NSEC_PER_SEC);
}

/* Two decimals, again without a locale. */
static void put_hundredths(FILE *stream, double value)
{
	putc(',', stream);
	if (isfinite(value) && fabs(value) < 1e12) {
		long long hundredths = llround(fabs(value) * 100);

		fprintf(stream, "%s%lld.%02lld", value < 0 && hundredths > 0 ? "-" : "",
			hundredths / 100, hundredths % 100);
	}
}

static void write_header(FILE *stream, const struct series *series)
{
	fputs("run,warmup,value,window_kernel,window_user,start,status,flags,max_rss_bytes,env_pad",
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

		if (evidence_fields[i].seconds)
			put_seconds(stream, value, known);
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

static int write_row(FILE *stream, const struct series *series, size_t index, size_t number)
{
	const struct sample *sample = &series->samples[index];
	bool by_kernel = series->clock == WINDOW_KERNEL;
	_cleanup_free_ char *flags = sample_flags_text(sample->flags);

	if (!flags)
		return -ENOMEM;
	fprintf(stream, "%zu,%d", number, sample->warmup);
	put_seconds(stream, by_kernel ? sample->kernel_ns : sample->user_ns,
		!by_kernel || sample->kernel_ns > 0);
	put_seconds(stream, sample->kernel_ns, sample->kernel_ns > 0);
	put_seconds(stream, sample->user_ns, true);
	put_seconds(stream, sample->start_ns, true);
	put_integer(stream, sample->status, true);
	put_text(stream, flags);
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

/* name: NULL where there is no column for it. */
static int write_rows(FILE *stream, const char *name, const struct series *series)
{
	size_t numbers[2] = { 0 };

	for (size_t i = 0; i < series->n_samples; i++) {
		int r;

		if (name) {
			put_field(stream, name);
			putc(',', stream);
		}
		r = write_row(stream, series, i, ++numbers[series->samples[i].warmup]);
		if (r < 0)
			return r;
		/* A full disk does not get fuller by a million rows. */
		if (ferror(stream))
			break;
	}
	return 0;
}

static int finish(FILE *stream)
{
	if (fflush(stream) != 0 || ferror(stream))
		return errno > 0 ? -errno : -EIO;
	return 0;
}

int csv_write(FILE *stream, const struct series *series)
{
	int r;

	errno = 0;
	write_header(stream, series);
	r = write_rows(stream, NULL, series);
	return r < 0 ? r : finish(stream);
}

int csv_write_all(FILE *stream, const struct csv_part *parts, size_t n)
{
	errno = 0;
	fputs("name,", stream);
	write_header(stream, parts[0].series);
	for (size_t i = 0; i < n; i++) {
		int r = write_rows(stream, parts[i].name, parts[i].series);

		if (r < 0)
			return r;
	}
	return finish(stream);
}
