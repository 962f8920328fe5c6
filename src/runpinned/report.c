// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "basic/macro.h"
#include "basic/say.h"
#include "basic/terminal.h"
#include "basic/text.h"
#include "result/histogram.h"
#include "result/level.h"
#include "result/stability.h"
#include "result/stats.h"
#include "result/units.h"
#include "runpinned/report.h"

/* As a part of a run. */
#define WAITING_WORTH_SAYING 0.01

enum {
	WIDTH_MAX = 100, /* longer bars say nothing more */
	HISTOGRAM_MIN = 5,
};

/* A figure, and beside it a second one or what it is in relation to the rest. */
static void print_row(FILE *stream, const char *label, const char *figure, const char *format, ...)
	_printf_(4, 5);

static void print_row(FILE *stream, const char *label, const char *figure, const char *format, ...)
{
	va_list ap;

	fprintf(stream, "  %-10s %12s    ", label, figure);
	va_start(ap, format);
	vfprintf(stream, format, ap);
	va_end(ap);
	fputc('\n', stream);
}

static void print_figures(FILE *stream, const struct report_input *input, const struct stats *s)
{
	struct scale scale = scale_refine(scale_choose(s->median), 1);
	char a[UNITS_TEXT_SIZE], b[UNITS_TEXT_SIZE];

	if (s->n == 1) {
		print_row(stream, "value", scale_format(scale, s->median, a),
			"one run tells nothing of the next");
	} else {
		print_row(stream, "median", scale_format(scale, s->median, a), "MAD    %12s",
			scale_format(scale, s->mad, b));
		print_row(stream, "mean", scale_format(scale, s->mean, a), "stdev  %12s",
			scale_format(scale, s->stdev, b));
		print_row(stream, "min", scale_format(scale, s->min, a), "%s of the median",
			units_format_change(s->min / s->median - 1, b));
		print_row(stream, "max", scale_format(scale, s->max, a), "%s of the median",
			units_format_change(s->max / s->median - 1, b));
		print_row(stream, "max - min", scale_format(scale, s->max - s->min, a),
			"%s of the mean", units_format_percent(s->spread, b));
	}
	if (s->has_interval) {
		scale_format_bare(scale, s->interval_low, a);
		scale_format(scale, s->interval_high, b);
		fprintf(stream, "  %-10s %s .. %s    holds the median with 95 %% certainty\n",
			"interval", a, b);
	}
	if (isfinite(input->floor_seconds))
		print_row(stream, "floor", scale_format(scale, input->floor_seconds, a),
			"an empty program, measured the same way");
}

/* A count with its digits in threes, as it is read aloud: "12 345 678". */
static void format_count(double count, char *buf, size_t size)
{
	char digits[32];
	size_t n, at = 0;

	n = (size_t)snprintf(digits, sizeof(digits), "%.0f", count);
	for (size_t i = 0; i < n && at + 2 < size; i++) {
		if (i > 0 && (n - i) % 3 == 0)
			buf[at++] = ' ';
		buf[at++] = digits[i];
	}
	buf[at] = '\0';
}

/* What the counted runs counted of each event of -e. */
static int print_events(FILE *stream, const struct series *series)
{
	_cleanup_free_ double *counts = NULL;

	if (series->n_events == 0)
		return 0;
	counts = calloc(series->n_samples, sizeof(*counts));
	if (!counts)
		return -ENOMEM;
	fprintf(stream, "\n");
	for (size_t event = 0; event < series->n_events; event++) {
		char median[48], spread[UNITS_TEXT_SIZE];
		struct stats stats;
		size_t n = 0;

		for (size_t i = 0; i < series->n_samples; i++) {
			double count = series->counters[i * series->n_events + event];

			if (!series->samples[i].warmup && isfinite(count))
				counts[n++] = count;
		}
		if (stats_compute(counts, n, &stats) < 0) {
			fprintf(stream, "  %-24s %16s\n", series->event_names[event],
				"not counted");
			continue;
		}
		format_count(stats.median, median, sizeof(median));
		units_format_percent(stats.median > 0 ? stats.mad / stats.median : 0, spread);
		fprintf(stream, "  %-24s %16s    MAD %s of it\n", series->event_names[event],
			median, spread);
	}
	return 0;
}

static const char *clock_text(enum window_clock clock)
{
	return clock == WINDOW_KERNEL ? "from exec to exit, stamped by the kernel"
				      : "from before exec to after wait, stamped by runpinned";
}

/* How much of the runs went by with the program ready and somebody else on its CPU: the weight of
 * what `preempted` only counts. */
static int print_waiting(FILE *stream, const struct series *series)
{
	_cleanup_free_ double *shares = NULL;
	char median[UNITS_TEXT_SIZE], most[UNITS_TEXT_SIZE];
	struct stats stats;
	size_t n = 0;

	if (!series->with_evidence)
		return 0;
	shares = calloc(series->n_samples, sizeof(*shares));
	if (!shares)
		return -ENOMEM;
	for (size_t i = 0; i < series->n_samples; i++) {
		int64_t delay = series->evidence[i].run_delay_ns, ns = series->samples[i].user_ns;

		if (!series->samples[i].warmup && delay >= 0 && ns > 0)
			shares[n++] = (double)delay / (double)ns;
	}
	if (stats_compute(shares, n, &stats) < 0 || stats.max < WAITING_WORTH_SAYING)
		return 0;
	fprintf(stream, "waiting for the CPU took %s of a run, %s of the worst\n",
		units_format_percent(stats.median, median), units_format_percent(stats.max, most));
	return 0;
}

/* All that goes to the stream; values are sorted. */
static int print_summary(FILE *stream, const struct report_input *input, const double *values,
	const struct stats *stats, const struct stability *stability)
{
	_cleanup_free_ char *bars = NULL, *disturbed = NULL, *name = NULL;
	_cleanup_(histogram) struct histogram *histogram = NULL;
	int r;

	name = text_escape_control(input->name);
	if (!name)
		return -ENOMEM;
	fprintf(stream, "%s: %zu run%s on CPU %s, %s\n", name, stats->n, stats->n == 1 ? "" : "s",
		input->cpus, clock_text(input->series->clock));
	if (input->cpus_reason)
		fprintf(stream, "  chosen: %s\n", input->cpus_reason);
	print_figures(stream, input, stats);
	r = print_events(stream, input->series);
	if (r < 0)
		return r;
	if (stats->n >= HISTOGRAM_MIN) {
		r = histogram_new(values, stats->n, 0, &histogram);
		if (r < 0)
			return r;
		bars = histogram_render(
			histogram, MIN((int)terminal_width(fileno(stream)), (int)WIDTH_MAX));
		if (!bars)
			return -ENOMEM;
		fprintf(stream, "\n%s\n", bars);
	}
	disturbed = stability_disturbed_text(stability);
	if (!disturbed)
		return -ENOMEM;
	if (*disturbed)
		fprintf(stream, "%s\n", disturbed);
	if (stability->n_disturbed > 0) {
		r = print_waiting(stream, input->series);
		if (r < 0)
			return r;
	}
	for (size_t i = 0; i < stability->n_findings && input->verbose; i++) {
		if (!stability->findings[i].warning)
			fprintf(stream, "note: %s\n", stability->findings[i].text);
	}
	/* What comes on standard error, perhaps to the same terminal, belongs behind this. */
	fflush(stream);
	return 0;
}

int report_print(FILE *stream, const struct report_input *input)
{
	_cleanup_free_ double *values = NULL;
	_cleanup_(levels) struct levels *levels = NULL;
	_cleanup_(stability) struct stability *stability = NULL;
	struct stats stats;
	size_t n;
	int r;

	r = series_values(input->series, &values, &n);
	if (r < 0)
		return r;
	/* Before the values are sorted. */
	r = levels_find(values, n, &levels);
	if (r < 0)
		return r;
	r = stats_compute(values, n, &stats);
	if (r < 0)
		return r;
	r = stability_assess(input->series, &stats, levels, &stability);
	if (r < 0)
		return r;
	if (stream) {
		r = print_summary(stream, input, values, &stats, stability);
		if (r < 0)
			return r;
	}
	for (size_t i = 0; i < stability->n_findings; i++) {
		if (stability->findings[i].warning)
			say("warning: %s%s%s", input->one_of_several ? input->name : "",
				input->one_of_several ? ": " : "", stability->findings[i].text);
	}
	return 0;
}
