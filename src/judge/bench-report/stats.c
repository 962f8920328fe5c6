// SPDX-License-Identifier: GPL-2.0-or-later
/* stats: all figures of the values. Figures that pyperf computes, too, are the same to the last
 * digit. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "base/xalloc.h"
#include "judge/bench-report/bench-report.h"
#include "judge/bench-report/export.h"
#include "judge/bench-report/files.h"
#include "judge/result/weight.h"

struct stats_verb {
	const struct request *request;
	struct emit emit;
	bool first;
};

/* A property that may differ between runs: its value, or the mean of different values. */
struct per_run {
	double mean;
	bool same;
};

enum run_property {
	RUN_N_VALUES,
	RUN_N_WARMUPS,
	RUN_LOOPS,
	RUN_INNER_LOOPS,
};

static double get_property(const struct benchmark *b, size_t run, enum run_property property)
{
	size_t first, n;

	switch (property) {
	case RUN_N_VALUES:
		benchmark_run_values(b, run, &first, &n);
		return (double)n;
	case RUN_N_WARMUPS:
		benchmark_run_warmups(b, run, &first, &n);
		return (double)n;
	case RUN_LOOPS:
		return (double)b->runs[run].loops;
	default:
		return (double)b->runs[run].inner_loops;
	}
}

/* Looks only at the runs that count, like pyperf. */
static struct per_run find_property(const struct benchmark *b, enum run_property property)
{
	struct per_run found = { .same = true };
	double first = NAN;
	size_t n = 0;

	for (size_t i = 0; i < b->series->n_samples; i++) {
		double value;

		if (!sample_counts(&b->series->samples[i]))
			continue;
		value = get_property(b, i, property);
		if (n++ == 0)
			first = value;
		found.same = found.same && value == first;
		found.mean += (value - found.mean) / (double)n;
	}
	return found;
}

/* "3", or "2.5 on average". */
static const char *format_per_run(struct per_run figure, char *buf, size_t size)
{
	if (figure.same)
		snprintf(buf, size, "%.0f", figure.mean);
	else
		snprintf(buf, size, "%.1f on average", figure.mean);
	return buf;
}

static void print_line(const char *label, const char *format, ...) _printf_(2, 3);

static void print_line(const char *label, const char *format, ...)
{
	char text[256];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	xprint_report(stdout, "  %-18s %s\n", label, text);
}

/* "1 h 2 min 3.4 s" */
static const char *format_duration(double seconds, char buf[static UNITS_TEXT_SIZE])
{
	double minutes, hours;

	if (seconds < 60)
		return units_format_seconds(seconds, buf);
	/* Rounded before it is split, as otherwise "60.0 s" might remain beside the minutes. */
	seconds = seconds < 3600 ? round(seconds * 10) / 10 : round(seconds);
	minutes = floor(seconds / 60);
	hours = floor(seconds / 3600);
	if (hours >= 1)
		snprintf(buf, UNITS_TEXT_SIZE, "%.0f h %.0f min %.0f s", hours,
			minutes - 60 * hours, seconds - 60 * minutes);
	else
		snprintf(buf, UNITS_TEXT_SIZE, "%.0f min %.1f s", minutes, seconds - 60 * minutes);
	return buf;
}

static size_t count_disturbed(const struct benchmark *b)
{
	struct disturbances disturbances;

	disturbances_find(b->series, &disturbances);
	disturbances_clear(&disturbances);
	return disturbances.n_disturbed;
}

/* Values are per iteration, so the time of all loops is a product. A metric has no such product: a
 * rate of all loops is the same rate. */
static bool find_raw_range(const struct benchmark *b, double *ret_min, double *ret_max)
{
	return !b->metric && benchmark_raw_range(b, ret_min, ret_max) == 0;
}

static void print_counts(const struct benchmark *b, size_t n_disturbed)
{
	char first[BENCHMARK_DATE_SIZE], last[BENCHMARK_DATE_SIZE], a[UNITS_TEXT_SIZE],
		c[UNITS_TEXT_SIZE];
	struct per_run loops = find_property(b, RUN_LOOPS);
	struct per_run inner = find_property(b, RUN_INNER_LOOPS);
	double min, max;

	if (b->total_seconds > 0)
		print_line("total time", "%s", format_duration(b->total_seconds, a));
	if (b->has_dates)
		print_line("from, to", "%s .. %s", benchmark_format_date(b->first_date, first),
			benchmark_format_date(b->last_date, last));
	/* Runs for which a metric is unknown are among those without values. */
	print_line("runs", "%zu with values, %zu without%s", benchmark_counted_runs(b),
		b->series->n_samples - b->series->n_counted,
		b->metric ? "" : " (calibration, warm-up)");
	if (n_disturbed > 0)
		print_line("disturbed runs", "%zu", n_disturbed);
	print_line("values", "%zu, a run: %s", b->n_values,
		format_per_run(find_property(b, RUN_N_VALUES), a, sizeof(a)));
	print_line("warm-ups a run", "%s",
		format_per_run(find_property(b, RUN_N_WARMUPS), a, sizeof(a)));
	print_line("loops a value", "%s", format_per_run(loops, a, sizeof(a)));
	if (!inner.same || inner.mean != 1)
		print_line("inner loops", "%s", format_per_run(inner, a, sizeof(a)));
	if (find_raw_range(b, &min, &max) &&
		(!loops.same || loops.mean != 1 || !inner.same || inner.mean != 1)) {
		struct scale scale = scale_refine(scale_choose_unit(b->unit, max), 1);

		print_line("with all loops", "%s .. %s", scale_format_bare(scale, min, a),
			scale_format(scale, max, c));
	}
	xprint_report(stdout, "\n");
}

enum {
	WIDTH_MIN = 14, /* of figures */
};

/* Prints a figure and its difference from the median. */
static void print_figure(
	const char *label, double value, const struct stats *stats, struct scale scale, int width)
{
	char a[UNITS_TEXT_SIZE], b[UNITS_TEXT_SIZE];

	print_line(label, "%*s  %s", width, scale_format(scale, value, a),
		value == stats->median ? "" : units_format_difference(value, stats->median, b));
}

static void print_figures(const struct stats *s, struct scale scale)
{
	char a[UNITS_TEXT_SIZE], b[UNITS_TEXT_SIZE];
	/* A unit may be a long word. */
	int width = MAX(WIDTH_MIN, (int)strlen(scale_format(scale, s->max, a)));

	print_line("", "%*s  of the median", width, "");
	print_figure("minimum", s->min, s, scale, width);
	print_figure("5th percentile", s->p5, s, scale, width);
	print_figure("25th percentile", s->q1, s, scale, width);
	print_line("median", "%*s  MAD    %s", width, scale_format(scale, s->median, a),
		scale_format(scale, s->mad, b));
	print_figure("75th percentile", s->q3, s, scale, width);
	print_figure("95th percentile", s->p95, s, scale, width);
	print_figure("maximum", s->max, s, scale, width);
	if (s->n >= 2)
		print_line("mean", "%*s  stdev  %s", width, scale_format(scale, s->mean, a),
			scale_format(scale, s->stdev, b));
	else
		print_line("mean", "%*s", width, scale_format(scale, s->mean, a));
	print_line("max - min", "%*s  %s of the mean", width,
		scale_format(scale, s->max - s->min, a), units_format_percent(s->spread, b));
	print_line("outliers", "%zu below %s, %zu above %s", s->n_outliers_low,
		scale_format(scale, s->fence_low, a), s->n_outliers_high,
		scale_format(scale, s->fence_high, b));
}

static void emit_runs(struct emit *emit, const struct benchmark *b, size_t n_disturbed)
{
	char text[BENCHMARK_DATE_SIZE];
	double min = NAN, max = NAN;

	emit_string(emit, "first_date",
		b->has_dates ? benchmark_format_date(b->first_date, text) : NULL);
	emit_string(
		emit, "last_date", b->has_dates ? benchmark_format_date(b->last_date, text) : NULL);
	emit_integer(emit, "disturbed", (int64_t)n_disturbed);
	emit_real(emit, "values_per_run", find_property(b, RUN_N_VALUES).mean);
	emit_real(emit, "warmups_per_run", find_property(b, RUN_N_WARMUPS).mean);
	emit_real(emit, "loops", find_property(b, RUN_LOOPS).mean);
	emit_real(emit, "inner_loops", find_property(b, RUN_INNER_LOOPS).mean);
	(void)find_raw_range(b, &min, &max);
	emit_real(emit, "raw_min", min);
	emit_real(emit, "raw_max", max);
}

static int stats_one(const char *file, const struct benchmark *b, void *context)
{
	struct stats_verb *verb = context;
	_cleanup_free_ char *title = reports_title(verb->request, file, b);
	struct sheet sheet = { .emit = &verb->emit };
	struct stats stats;
	struct scale scale;
	size_t n_disturbed = count_disturbed(b);
	int r = 0;

	if (verb->request->json) {
		emit_object(&verb->emit, NULL);
		emit_string(&verb->emit, "file", file);
		emit_string(&verb->emit, "name", b->name);
		emit_runs(&verb->emit, b, n_disturbed);
		/* The order of the values is not needed any more, so they are sorted in place. */
		if (b->n_values > 0)
			r = stats_compute(b->values, b->n_values, &stats);
		put_counts(&sheet, b);
		if (r >= 0 && b->n_values > 0)
			put_stats(&sheet, &stats);
		emit_close(&verb->emit, '}');
		return r;
	}
	xprint_report(stdout, "%s%s\n", verb->first ? "" : "\n", title);
	verb->first = false;
	if (b->n_values == 0) {
		print_line("values", "none");
		return 0;
	}
	print_counts(b, n_disturbed);
	r = stats_compute(b->values, b->n_values, &stats);
	if (r < 0)
		return r;
	scale = scale_refine(
		scale_choose_unit(b->unit, stats.median > 0 ? stats.median : stats.max), 1);
	print_figures(&stats, scale_resolve(scale, stats.mad > 0 ? stats.mad : stats.stdev));
	return 0;
}

enum exit_status verb_stats(const struct request *request)
{
	_cleanup_reports_ struct reports reports = { 0 };
	struct stats_verb verb = { .request = request, .emit.stream = stdout, .first = true };

	if (reports_read(request, true, &reports) < 0)
		return EXIT_FAILED;
	return figures_print_or_each(request, &reports, stats_one, &verb, &verb.emit);
}
