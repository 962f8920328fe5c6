// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "basic/macro.h"
#include "basic/say.h"
#include "result/histogram.h"
#include "result/level.h"
#include "result/stability.h"
#include "result/stats.h"
#include "result/units.h"
#include "runpinned/report.h"

enum {
	WIDTH_DEFAULT = 80,
	WIDTH_MAX = 100, /* longer bars say nothing more */
};

static int stream_width(FILE *stream)
{
	struct winsize size;

	if (ioctl(fileno(stream), TIOCGWINSZ, &size) < 0 || size.ws_col == 0)
		return WIDTH_DEFAULT;
	return MIN((int)size.ws_col, (int)WIDTH_MAX);
}

static void print_figures(FILE *stream, const struct report_input *input, const struct stats *s)
{
	struct scale scale = scale_refine(scale_choose(s->median), 1);
	char a[UNITS_TEXT_SIZE], b[UNITS_TEXT_SIZE];

	fprintf(stream, "  %-8s %14s    %-8s %s\n", "median", scale_format(scale, s->median, a),
		"MAD", scale_format(scale, s->mad, b));
	if (s->n > 1)
		fprintf(stream, "  %-8s %14s    %-8s %s\n", "mean", scale_format(scale, s->mean, a),
			"stdev", scale_format(scale, s->stdev, b));
	fprintf(stream, "  %-8s %14s    %s of the median\n", "min", scale_format(scale, s->min, a),
		units_format_change(s->min / s->median - 1, b));
	fprintf(stream, "  %-8s %14s    %s of the median\n", "max", scale_format(scale, s->max, a),
		units_format_change(s->max / s->median - 1, b));
	if (s->n > 1)
		fprintf(stream, "  %-23s    (max - min) / mean\n",
			units_format_percent(s->spread, a));
	if (s->has_interval) {
		scale_format_bare(scale, s->interval_low, a);
		scale_format(scale, s->interval_high, b);
		fprintf(stream, "  %s .. %s    holds the median with 95 %% certainty\n", a, b);
	}
	if (isfinite(input->floor_seconds))
		fprintf(stream, "  %-8s %14s    an empty program, measured the same way\n", "floor",
			scale_format(scale, input->floor_seconds, a));
}

static const char *clock_text(enum window_clock clock)
{
	return clock == WINDOW_KERNEL ? "from exec to exit, stamped by the kernel"
				      : "from before exec to after wait, stamped by runpinned";
}

static int print_disturbed(FILE *stream, const struct stability *stability)
{
	_cleanup_free_ char *text = stability_disturbed_text(stability);

	if (!text)
		return -ENOMEM;
	if (*text)
		fprintf(stream, "%s\n", text);
	return 0;
}

int report_print(FILE *stream, const struct report_input *input)
{
	_cleanup_free_ double *values = NULL;
	_cleanup_free_ char *bars = NULL;
	_cleanup_(levels) struct levels *levels = NULL;
	_cleanup_(stability) struct stability *stability = NULL;
	_cleanup_(histogram) struct histogram *histogram = NULL;
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

	fprintf(stream, "%s: %zu run%s on CPU %s, %s\n", input->name, n, n == 1 ? "" : "s",
		input->cpus, clock_text(input->series->clock));
	if (input->cpus_reason)
		fprintf(stream, "  chosen because: %s\n", input->cpus_reason);
	print_figures(stream, input, &stats);
	if (n >= 5) {
		r = histogram_new(values, n, 0, &histogram);
		if (r < 0)
			return r;
		bars = histogram_render(histogram, stream_width(stream));
		if (!bars)
			return -ENOMEM;
		fprintf(stream, "\n%s\n", bars);
	}
	r = print_disturbed(stream, stability);
	if (r < 0)
		return r;
	for (size_t i = 0; i < stability->n_findings; i++) {
		const struct finding *finding = &stability->findings[i];

		if (finding->warning)
			continue;
		if (input->verbose)
			fprintf(stream, "note: %s\n", finding->text);
	}
	/* What is on its way to the same terminal must come first. */
	fflush(stream);
	for (size_t i = 0; i < stability->n_findings; i++) {
		if (stability->findings[i].warning)
			say("warning: %s", stability->findings[i].text);
	}
	return 0;
}
