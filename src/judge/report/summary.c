// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "judge/report/summary.h"
#include "judge/result/metadata.h"
#include "judge/result/metric.h"
#include "judge/stats/histogram.h"

enum {
	WIDTH_FIGURE = 12,
	WIDTH_MAX = 100, /* longer bars do not show more */
	HISTOGRAM_MIN = 5,
};

/* Appends a line with a figure and a text that explains it, or a second figure. */
static void append_row(struct text *t, int width, const char *label, const char *figure,
	const char *format, ...) _printf_(5, 6);

static void append_row(
	struct text *t, int width, const char *label, const char *figure, const char *format, ...)
{
	char beside[3 * UNITS_TEXT_SIZE];
	va_list ap;

	va_start(ap, format);
	vsnprintf(beside, sizeof(beside), format, ap);
	va_end(ap);
	text_appendf(t, "  %-10s %*s    %s\n", label, width, figure, beside);
}

int summary_find_whole_core(
	const struct benchmark *benchmark, double *ret_median, size_t *ret_whole, size_t *ret_known)
{
	const struct series *series = benchmark->series;
	_cleanup_free_ double *units = NULL;
	size_t n, unit = 0, n_whole = 0, n_known = 0;
	int r;

	if (!series->with_evidence || !benchmark_units_are_runs(benchmark) ||
		!benchmark_is_of_time(benchmark))
		return -ENODATA;
	r = benchmark_units(benchmark, &units, &n);
	if (r < 0)
		return r;
	for (size_t run = 0; run < series->n_samples; run++) {
		size_t first, n_values = 1;

		if (benchmark->runs)
			benchmark_run_values(benchmark, run, &first, &n_values);
		if (!sample_counts(&series->samples[run]) || n_values == 0 || unit == n)
			continue;
		if (isfinite(evidence_core_share(&series->evidence[run]))) {
			n_known++;
			if (!evidence_is_shared(&series->evidence[run]))
				units[n_whole++] = units[unit];
		}
		unit++;
	}
	if (n_known == 0)
		return -ENODATA;
	stats_sort(units, n_whole);
	*ret_median = n_whole > 0 ? stats_median(units, n_whole) : NAN;
	*ret_whole = n_whole;
	*ret_known = n_known;
	return 0;
}

/* Whether earlier measurements tell what a whole core does. These runs alone cannot tell, because
 * they may all have had the same neighbour. */
static bool is_whole_core_known(const struct benchmark *benchmark)
{
	const char *from = facts_find_string(&benchmark->metadata, METADATA_WHOLE_CORE_FROM);

	return from && strcmp(from, METADATA_WHOLE_CORE_KNOWN) == 0;
}

static void append_whole_core(
	struct text *t, int width, const struct benchmark *benchmark, const struct scale *scale)
{
	char figure[UNITS_TEXT_SIZE];
	size_t n_whole, n_known;
	double median;

	if (summary_find_whole_core(benchmark, &median, &n_whole, &n_known) < 0)
		return;
	append_row(t, width, "whole core",
		n_whole > 0 ? scale_format(*scale, median, figure) : "unknown",
		"%zu of %zu runs had the core to themselves%s", n_whole, n_known,
		is_whole_core_known(benchmark) ? "" : ", it seems");
}

/* How many of the runs that count left their CPUs. */
static size_t count_elsewhere(const struct series *series)
{
	size_t n = 0;

	for (size_t i = 0; series->with_evidence && i < series->n_samples; i++)
		n += sample_counts(&series->samples[i]) && series->evidence[i].elsewhere > 0;
	return n;
}

static void append_elsewhere(struct text *t, const struct benchmark *benchmark)
{
	size_t n = count_elsewhere(benchmark->series);
	char figure[32];

	if (n == 0)
		return;
	snprintf(figure, sizeof(figure), "%zu run%s", n, n == 1 ? "" : "s");
	append_row(t, WIDTH_FIGURE, "elsewhere", figure,
		"left the CPUs, whose evidence is not known of them");
}

void summary_append_fleet(
	struct text *t, const struct fleet_estimate *fleet, const struct scale *scale)
{
	const struct nested *nested = &fleet->nested;
	char low[UNITS_TEXT_SIZE], high[UNITS_TEXT_SIZE];

	scale_format_bare(*scale, exp(nested->low), low);
	scale_format(*scale, exp(nested->high), high);
	text_appendf(t, "  %-10s %s .. %s    holds such %s' mean with 95 %% certainty\n",
		"interval", low, high, fleet_plural(fleet->level));
	fleet_append_rows(t, fleet->level, nested, NULL);
}

/* The interval holds the median of the runs, which is named where it is not shown already. */
static void append_interval(struct text *t, const struct analysis *analysis, struct scale scale)
{
	char low[UNITS_TEXT_SIZE], high[UNITS_TEXT_SIZE];
	char all[UNITS_TEXT_SIZE], runs[UNITS_TEXT_SIZE];

	scale_format_bare(scale, analysis->stats.interval_low, low);
	scale_format(scale, analysis->stats.interval_high, high);
	scale_format(scale, analysis->stats.median, all);
	scale_format(scale, analysis->unit_median, runs);
	text_appendf(t, "  %-10s %s .. %s    holds the ", "interval", low, high);
	if (strcmp(all, runs) == 0)
		text_append(t, "median");
	else
		text_appendf(t, "runs' median, %s,", runs);
	text_append(t, " with 95 % certainty\n");
}

/* The least that a run takes. Compared with long runs it is so short that it has its own
 * scale. */
static void append_overhead(struct text *t, const struct summary_input *input,
	const struct scale *scale, const char *name, double value, const char *what)
{
	char figure[UNITS_TEXT_SIZE];

	if (!isfinite(value))
		return;
	scale_format(scale_shows(*scale, value) ? *scale
						: scale_choose_unit(input->benchmark->unit, value),
		value, figure);
	append_row(t, WIDTH_FIGURE, name, figure, "%s, measured the same way", what);
}

/* The median of those that are known; NAN without one. Keeps the order. */
static double find_known_median(const double *values, size_t n, double *scratch)
{
	size_t n_known = 0;

	for (size_t i = 0; i < n; i++)
		if (!isnan(values[i]))
			scratch[n_known++] = values[i];
	stats_sort(scratch, n_known);
	return n_known > 0 ? stats_median(scratch, n_known) : NAN;
}

/* How many runs that count had at most so much memory; those of which it is not known have 0. */
static size_t count_rss(const struct series *series, uint32_t kib)
{
	size_t n = 0;

	for (size_t i = 0; i < series->n_samples; i++)
		n += sample_counts(&series->samples[i]) && series->samples[i].max_rss_kib <= kib;
	return n;
}

/* The k-th smallest, from 0. Found by halving, not by sorting, because a run without evidence costs
 * no more memory than series.h says. */
static uint32_t find_rss(const struct series *series, size_t k)
{
	uint32_t low = 0, high = UINT32_MAX;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (count_rss(series, middle) > k)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

static double find_median_rss(const struct series *series)
{
	size_t first = count_rss(series, 0), n = count_rss(series, UINT32_MAX) - first;

	return n == 0 ? NAN
		      : 1024 *
			(find_rss(series, first + (n - 1) / 2) / 2. +
				find_rss(series, first + n / 2) / 2.);
}

/* The medians of CPU time, which are evidence. */
static void find_cpu(const struct series *series, struct summary_usage *ret)
{
	_cleanup_free_ double *values = xptr(calloc(series->n_samples * 3, sizeof(*values)));
	double *sum = values, *part = values + series->n_samples;
	double *scratch = part + series->n_samples;
	size_t n = series_metric(series, "user_cpu", sum);

	ret->user_cpu = find_known_median(sum, n, scratch);
	(void)series_metric(series, "system_cpu", part);
	ret->system_cpu = find_known_median(part, n, scratch);
	for (size_t i = 0; i < n; i++)
		sum[i] += part[i];
	ret->cpu = find_known_median(sum, n, scratch);
	(void)series_metric(series, "reader_cpu", part);
	ret->reader_cpu = find_known_median(part, n, scratch);
}

int summary_find_usage(const struct benchmark *benchmark, struct summary_usage *ret)
{
	const struct facts *metadata = &benchmark->metadata;
	const struct series *series = benchmark->series;

	if (benchmark->metric || benchmark_is_by_program(benchmark) ||
		!benchmark_units_are_runs(benchmark) || !benchmark_is_of_time(benchmark))
		return -ENODATA;
	*ret = (struct summary_usage){
		.floor_user_cpu = facts_find_real(metadata, "quiesce_floor_user_cpu"),
		.floor_system_cpu = facts_find_real(metadata, "quiesce_floor_system_cpu"),
		.floor_max_rss = facts_find_real(metadata, "quiesce_floor_max_rss"),
		.user_cpu = NAN,
		.system_cpu = NAN,
		.cpu = NAN,
		.reader_cpu = NAN,
		.max_rss = find_median_rss(series),
	};
	if (series->with_evidence && series->n_samples > 0)
		find_cpu(series, ret);
	return 0;
}

/* "; an empty program 350 us" behind a figure, and "" where that is not known. */
static const char *format_floor(const struct unit *unit, double floor, char *buf, size_t size)
{
	char figure[UNITS_TEXT_SIZE];

	buf[0] = '\0';
	if (isfinite(floor))
		snprintf(buf, size, "; an empty program %s",
			scale_format(scale_choose_unit(unit, floor), floor, figure));
	return buf;
}

static void append_usage(struct text *t, const struct benchmark *benchmark)
{
	char a[UNITS_TEXT_SIZE], b[UNITS_TEXT_SIZE], c[UNITS_TEXT_SIZE];
	char floor[UNITS_TEXT_SIZE + 32];
	const struct unit *unit = benchmark->unit;
	struct summary_usage usage;
	struct scale scale;

	if (summary_find_usage(benchmark, &usage) < 0)
		return;
	scale = scale_choose_unit(unit, usage.cpu);
	if (isfinite(usage.cpu))
		append_row(t, WIDTH_FIGURE, "CPU time", scale_format(scale, usage.cpu, a),
			"user %s, system %s%s", scale_format(scale, usage.user_cpu, b),
			scale_format(scale, usage.system_cpu, c),
			format_floor(unit, usage.floor_user_cpu + usage.floor_system_cpu, floor,
				sizeof(floor)));
	if (isfinite(usage.reader_cpu))
		append_row(t, WIDTH_FIGURE, "reader",
			scale_format(
				scale_choose_unit(unit, usage.reader_cpu), usage.reader_cpu, a),
			"of CPU time more, to read the output on the same CPU");
	if (isfinite(usage.max_rss))
		append_row(t, WIDTH_FIGURE, "memory",
			scale_format(
				scale_choose_unit(&unit_byte, usage.max_rss), usage.max_rss, a),
			"of its largest process%s",
			format_floor(&unit_byte, usage.floor_max_rss, floor, sizeof(floor)));
}

struct scale summary_choose_scale(const struct benchmark *benchmark, const struct stats *stats)
{
	struct scale scale =
		scale_choose_unit(benchmark->unit, stats->median > 0 ? stats->median : stats->max);

	return scale_resolve(scale_refine(scale, 1), stats->mad > 0 ? stats->mad : stats->stdev);
}

static void append_figures(struct text *t, const struct summary_input *input, const struct stats *s)
{
	struct scale scale = summary_choose_scale(input->benchmark, s);
	char a[UNITS_TEXT_SIZE], b[UNITS_TEXT_SIZE];
	int width;

	/* A unit may be a long word. */
	width = MAX((int)WIDTH_FIGURE, (int)strlen(scale_format(scale, s->max, a)));
	if (s->n == 1) {
		append_row(t, width, "value", scale_format(scale, s->median, a),
			input->benchmark->is_exact ? "exact: the same in all runs"
						   : "one run tells nothing of the next");
	} else {
		append_row(t, width, "median", scale_format(scale, s->median, a), "MAD    %*s",
			width, scale_format(scale, s->mad, b));
		append_row(t, width, "mean", scale_format(scale, s->mean, a), "stdev  %*s", width,
			scale_format(scale, s->stdev, b));
		append_row(t, width, "min", scale_format(scale, s->min, a), "%s of the median",
			units_format_difference(s->min, s->median, b));
		append_row(t, width, "max", scale_format(scale, s->max, a), "%s of the median",
			units_format_difference(s->max, s->median, b));
		append_row(t, width, "max - min", scale_format(scale, s->max - s->min, a),
			"%s of the mean", units_format_percent(s->spread, b));
	}
	if (s->has_interval)
		append_interval(t, input->analysis, scale);
	else if (input->analysis->fleet.level != FLEET_NONE)
		summary_append_fleet(t, &input->analysis->fleet, &scale);
	else if (s->n > 1 && !benchmark_units_are_runs(input->benchmark))
		text_appendf(t, "  %-10s not known: one process tells nothing of the next one\n",
			"interval");
	append_whole_core(t, width, input->benchmark, &scale);
	append_elsewhere(t, input->benchmark);
	append_overhead(t, input, &scale, "floor", input->floor, "an empty program");
	append_overhead(
		t, input, &scale, "shell", input->shell_seconds, "the shell with nothing to do");
	append_usage(t, input->benchmark);
}

/* Formats a count with its digits in groups of three: "12 345 678". */
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

int summary_count_event(const struct series *series, size_t event, struct stats *ret)
{
	_cleanup_free_ double *counts =
		xptr(calloc(MAX(series->n_samples, (size_t)1), sizeof(*counts)));
	size_t n = 0;

	for (size_t i = 0; i < series->n_samples; i++) {
		double count = series->counters[i * series->n_events + event];

		if (sample_counts(&series->samples[i]) && isfinite(count))
			counts[n++] = count;
	}
	return n > 0 ? stats_compute(counts, n, ret) : -ENODATA;
}

/* The median count of an event, and in *ret_spread its MAD as a part of it; false where it was not
 * counted. */
static bool format_event(const struct series *series, size_t event,
	char median[static UNITS_TEXT_SIZE], double *ret_spread)
{
	const struct event_kind *kind = &series->event_kinds[event];
	struct stats stats;

	if (summary_count_event(series, event, &stats) < 0)
		return false;
	if (kind->own)
		scale_format(scale_refine(scale_choose_unit(kind->unit, stats.median), 1),
			stats.median, median);
	else if (text_starts_with(series->event_names[event], "task-clock") ||
		text_starts_with(series->event_names[event], "cpu-clock"))
		/* Nanoseconds (perf_event_open(2)). */
		scale_format(scale_refine(scale_choose(stats.median / NSEC_PER_SEC), 1),
			stats.median / NSEC_PER_SEC, median);
	else
		format_count(stats.median, median, UNITS_TEXT_SIZE);
	*ret_spread = stats.median > 0 ? stats.mad / stats.median : 0;
	return true;
}

/* Appends the counts of each event of -e in the counted runs: as lines, or between commas. */
void summary_append_events(struct text *t, const struct benchmark *benchmark, bool as_lines)
{
	const struct series *series = benchmark->series;
	size_t n = 0;

	for (size_t event = 0; event < series->n_events; event++) {
		char median[UNITS_TEXT_SIZE] = "not counted", spread[UNITS_TEXT_SIZE];
		bool counted;
		double mad;

		/* Each figure has a report of its own. */
		if ((benchmark->is_figure && series->event_kinds[event].own) ||
			text_starts_with(series->event_names[event], SERIES_LEVEL))
			continue;
		counted = format_event(series, event, median, &mad);
		if (!as_lines) {
			text_appendf(t, "%s%s %s", n++ > 0 ? ", " : "", series->event_names[event],
				median);
			continue;
		}
		text_appendf(t, "%s  %-24s %16s", n++ == 0 ? "\n" : "", series->event_names[event],
			median);
		if (counted)
			text_appendf(t, "    MAD %s of it", units_format_percent(mad, spread));
		text_append(t, "\n");
	}
}

/* A file of another tool does not say how its values were measured. */
const char *summary_clock_text(const struct benchmark *benchmark)
{
	const char *aggregate = facts_find_string(&benchmark->metadata, METADATA_AGGREGATE);
	const char *stamps;

	if (aggregate && (!benchmark->metric || benchmark->is_figure))
		return aggregate;
	if (benchmark->metric)
		return NULL;
	if (benchmark_is_by_program(benchmark))
		return "measured inside, by libquiesce";
	if (benchmark->runs && !facts_find(&benchmark->metadata, "quiesce_clock"))
		return NULL;
	if (benchmark->series->clock != WINDOW_KERNEL)
		return "from before exec to after wait, stamped by runpinned";
	stamps = facts_find_string(&benchmark->metadata, METADATA_STAMPS);
	return stamps && strcmp(stamps, "corrected") == 0
		? "from exec to exit, stamped by runpinned and corrected"
		: "from exec to exit, stamped by the kernel";
}

int summary_find_waiting(const struct series *series, struct stats *ret)
{
	_cleanup_free_ double *shares = NULL;
	size_t n = 0;

	if (!series->with_evidence)
		return -ENODATA;
	shares = xptr(calloc(MAX(series->n_samples, (size_t)1), sizeof(*shares)));
	for (size_t i = 0; i < series->n_samples; i++) {
		int64_t delay = weight_find_waited_ns(&series->evidence[i]);
		int64_t ns = sample_window_ns(&series->samples[i]);

		if (sample_counts(&series->samples[i]) && delay >= 0 && ns > 0)
			shares[n++] = (double)delay / (double)ns;
	}
	return n > 0 ? stats_compute(shares, n, ret) : -ENODATA;
}

/* How long the runs waited for their CPU, if the line about disturbed runs does not say it. */
static void append_waiting(struct text *t, const struct series *series)
{
	char median[UNITS_TEXT_SIZE], most[UNITS_TEXT_SIZE];
	struct stats stats;

	if (summary_find_waiting(series, &stats) < 0 || stats.max < WEIGHT_WORTH_SAYING)
		return;
	text_appendf(t, "waiting for the CPU took %s of a run, %s of the worst\n",
		units_format_percent(stats.median, median), units_format_percent(stats.max, most));
}

static bool had_records_in_all(const struct benchmark *benchmark)
{
	const char *evidence = facts_find_string(&benchmark->metadata, "quiesce_evidence");

	return evidence && strcmp(evidence, "records") == 0;
}

/* What runs that do not count have told of a program with several tasks (quiesce-evidence(7),
 * WAITING). */
static void append_inspections(struct text *t, const struct benchmark *benchmark)
{
	const struct fact *tasks = facts_find(&benchmark->metadata, "quiesce_inspected_tasks");
	const struct fact *switches =
		facts_find(&benchmark->metadata, "quiesce_inspected_switches");
	double waited = facts_find_real(&benchmark->metadata, "quiesce_inspected_waited");
	double price = facts_find_real(&benchmark->metadata, "quiesce_inspected_price");
	char percent[UNITS_TEXT_SIZE], longer[UNITS_TEXT_SIZE];

	if (!tasks || tasks->type != FACT_INTEGER || tasks->integer < 2 || !switches ||
		switches->type != FACT_INTEGER || !isfinite(waited))
		return;
	if (had_records_in_all(benchmark))
		text_appendf(t, "all runs have records of %" PRId64 " tasks, %" PRId64 " switches",
			tasks->integer, switches->integer);
	else
		text_appendf(t,
			"inspections, which do not count: %" PRId64 " tasks, %" PRId64
			" switches, waited %s",
			tasks->integer, switches->integer, units_format_percent(waited, percent));
	if (isfinite(price))
		text_appendf(t, "; the records took %s more time",
			units_format_percent(fmax(price, 0), longer));
	text_append(t, "\n");
}

/* Several values of a figure in one process are no independent samples: each run counts with their
 * mean. */
static void append_within(struct text *t, const struct benchmark *benchmark)
{
	const struct series *series = benchmark->series;
	size_t event =
		benchmark->metric ? series_find_event(series, benchmark->metric) : series->n_events;
	char percent[UNITS_TEXT_SIZE];
	double deviation;

	if (event == series->n_events || series->event_kinds[event].n_within == 0)
		return;
	deviation = event_deviation_within(&series->event_kinds[event]);
	text_appendf(t, "  within     each run is the mean of %zu values, which deviate by %s\n",
		series->event_kinds[event].n_within, units_format_percent(deviation, percent));
}

void summary_append_runs(struct text *t, const struct summary_input *input)
{
	const struct benchmark *benchmark = input->benchmark;
	size_t n_runs = benchmark_counted_runs(benchmark);

	if (benchmark->n_values != n_runs)
		text_appendf(t, "%zu value%s in ", benchmark->n_values,
			benchmark->n_values == 1 ? "" : "s");
	text_appendf(t, "%zu run%s", n_runs, n_runs == 1 ? "" : "s");
	if (input->cpus)
		text_appendf(t, " %s CPU %s",
			count_elsewhere(benchmark->series) > 0 ? "begun on" : "on", input->cpus);
}

static void append_head(struct text *t, const struct summary_input *input)
{
	const struct benchmark *benchmark = input->benchmark;
	_cleanup_free_ char *name = xptr(text_escape_control(benchmark->name));
	const char *clock = summary_clock_text(benchmark);

	text_appendf(t, "%s: ", name);
	summary_append_runs(t, input);
	if (clock)
		text_appendf(t, ", %s", clock);
	if (benchmark->metric && !benchmark->is_figure)
		text_appendf(t, ", %s of each", benchmark->metric);
	text_append(t, "\n");
}

char *summary_render_head(const struct summary_input *input)
{
	struct text t = { 0 };

	append_head(&t, input);
	return xptr(text_steal(&t));
}

static void append_histogram(struct text *t, const struct summary_input *input)
{
	_cleanup_(histogram) struct histogram *histogram = NULL;
	_cleanup_free_ char *bars = NULL;

	if (input->analysis->n < HISTOGRAM_MIN ||
		histogram_new(input->analysis->sorted, input->analysis->n, 0, &histogram) < 0)
		return;
	bars = histogram_render(
		histogram, input->benchmark->unit, MIN(input->width, (int)WIDTH_MAX));
	text_appendf(t, "\n%s\n", bars);
}

char *summary_render(const struct summary_input *input)
{
	const struct stability *stability = input->analysis->stability;
	const struct series *series = input->benchmark->series;
	_cleanup_free_ char *disturbed = stability_disturbed_text(stability);
	struct text t = { 0 };

	append_head(&t, input);
	if (input->cpus_reason)
		text_appendf(&t, "  chosen %s%s\n",
			text_starts_with(input->cpus_reason, "by ") ? "" : "by runpinned: ",
			input->cpus_reason);
	if (input->meanwhile)
		text_appendf(&t, "  meanwhile there: %s\n", input->meanwhile);
	append_figures(&t, input, &input->analysis->stats);
	append_within(&t, input->benchmark);
	summary_append_events(&t, input->benchmark, true);
	append_histogram(&t, input);
	if (*disturbed)
		text_appendf(&t, "%s\n", disturbed);
	if (stability->disturbances.n_by[weight_bit(SAMPLE_PREEMPTED)] == 0)
		append_waiting(&t, series);
	if (benchmark_is_of_time(input->benchmark))
		append_inspections(&t, input->benchmark);
	for (size_t i = 0; i < stability->n_concerns; i++) {
		const struct concern *concern = &stability->concerns[i];

		if (concern->warning ? input->warnings : input->notes)
			text_appendf(&t, "%s: %s\n", concern->warning ? "warning" : "note",
				concern->text);
	}
	return xptr(text_steal(&t));
}

/* By the clock of the values; NAN when unknown. `what` is "floor" or "floor_shell". */
static double read_floor(const struct benchmark *benchmark, const char *what)
{
	const char *clock = benchmark->series->clock == WINDOW_KERNEL ? "kernel" : "user";
	char name[64];

	snprintf(name, sizeof(name), "quiesce_%s_%s_before", what, clock);
	return facts_find_real(&benchmark->metadata, name);
}

/* The empty program's figure of the metric. */
static double read_metric_floor(const struct benchmark *benchmark)
{
	char name[64];

	snprintf(name, sizeof(name), "quiesce_floor_%s", benchmark->metric);
	return facts_find_real(&benchmark->metadata, name);
}

void summary_fill(const struct benchmark *benchmark, struct summary_input *ret)
{
	ret->benchmark = benchmark;
	ret->cpus = facts_find_string(&benchmark->metadata, "quiesce_cpus");
	ret->cpus_reason = facts_find_string(&benchmark->metadata, "quiesce_cpus_reason");
	ret->meanwhile = facts_find_string(&benchmark->metadata, "quiesce_meanwhile");
	ret->floor =
		benchmark->metric ? read_metric_floor(benchmark) : read_floor(benchmark, "floor");
	ret->shell_seconds = benchmark->metric ? NAN : read_floor(benchmark, "floor_shell");
}
