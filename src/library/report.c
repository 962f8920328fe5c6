// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "library/growth.h"
#include "library/outcome.h"
#include "library/values.h"

enum {
	TIME_SIZE = 32,
	LOOPS_SIZE = 40,
};

static const double EMPTY_TOO_MUCH = 0.01;

/* Statistics of all counted values, in seconds; n is 0 where there is none. */
struct summary {
	size_t n;
	double median;
	double deviation; /* median of the absolute deviations from the median */
	double min;
	double max;
	double empty_share; /* median, see qs_value_empty_share() */
	double waiting;	    /* mean, see qs_value; negative where not known */
	double most_waiting;
};

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Sorts the values. */
static double median(double *values, size_t n)
{
	qsort(values, n, sizeof(values[0]), compare_doubles);
	return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

static double get_waiting(const struct qs_values *values, size_t index)
{
	return values->values[index].waiting;
}

/* Writes one figure of each counted value to ret, and returns their number. */
static size_t gather(const struct outcome *outcome,
	double (*get)(const struct qs_values *values, size_t index), double *ret)
{
	size_t n = 0;

	for (size_t i = 0; i < outcome->n_runs; i++) {
		const struct qs_values *run = outcome->runs[i].values;

		for (size_t j = 0; j < run->n_values; j++)
			if (run->values[j].kind == QS_VALUE_COUNTED)
				ret[n++] = get(run, j);
	}
	return n;
}

static int summarize(const struct outcome *outcome, struct summary *ret)
{
	struct summary summary = { 0 };
	double *values;
	size_t n = 0;

	for (size_t i = 0; i < outcome->n_runs; i++)
		n += outcome->runs[i].values->n_values;
	values = calloc(n + 1, sizeof(*values));
	if (!values)
		return -ENOMEM;
	summary.n = gather(outcome, qs_value_seconds, values);
	if (summary.n > 0) {
		summary.median = median(values, summary.n);
		summary.min = values[0];
		summary.max = values[summary.n - 1];
		for (size_t i = 0; i < summary.n; i++)
			values[i] = values[i] > summary.median ? values[i] - summary.median
							       : summary.median - values[i];
		summary.deviation = median(values, summary.n);
		gather(outcome, qs_value_empty_share, values);
		summary.empty_share = median(values, summary.n);
		gather(outcome, get_waiting, values);
		for (size_t i = 0; i < summary.n; i++) {
			summary.waiting += values[i] / (double)summary.n;
			if (values[i] > summary.most_waiting)
				summary.most_waiting = values[i];
		}
	}
	free(values);
	*ret = summary;
	return 0;
}

/* "12.34 ns": about four significant digits. */
static void format_time(double seconds, char buffer[static TIME_SIZE])
{
	static const struct {
		double unit;
		const char *name;
	} units[] = { { 1, "s" }, { 1e-3, "ms" }, { 1e-6, "us" }, { 1e-9, "ns" }, { 1e-12, "ps" } };
	size_t i = 0;
	double number;

	while (i < 4 && seconds < units[i].unit)
		i++;
	number = seconds / units[i].unit;
	snprintf(buffer, TIME_SIZE, "%.*f %s",
		number < 10	       ? 3
			: number < 100 ? 2
				       : 1,
		number, units[i].name);
}

/* 5000000 as "5*10^6" where this is shorter. */
static void format_loops(uint64_t loops, char buffer[static LOOPS_SIZE])
{
	uint64_t head = loops;
	unsigned zeros = 0;

	while (head >= 10 && head % 10 == 0) {
		head /= 10;
		zeros++;
	}
	if (loops < 10000 || zeros < 3)
		snprintf(buffer, LOOPS_SIZE, "%" PRIu64, loops);
	else if (head == 1)
		snprintf(buffer, LOOPS_SIZE, "10^%u", zeros);
	else
		snprintf(buffer, LOOPS_SIZE, "%" PRIu64 "*10^%u", head, zeros);
}

const struct qs_values *outcome_first_counted(const struct outcome *outcome)
{
	for (size_t i = 0; i < outcome->n_runs; i++) {
		const struct qs_values *values = outcome->runs[i].values;

		if (values->values[values->n_values - 1].kind == QS_VALUE_COUNTED)
			return values;
	}
	return NULL;
}

/* Adds to the facts of one process what is wrong with the clock or a counter in any of the others.
 */
static void add_flaws(const struct outcome *outcome, struct qs_facts *facts)
{
	for (size_t i = 0; i < outcome->n_runs; i++)
		values_add_flaws(facts, &outcome->runs[i].values->facts);
}

static void report_counters(FILE *stream, const struct outcome *outcome)
{
	struct qs_facts facts = outcome_first_counted(outcome)->facts;

	add_flaws(outcome, &facts);
	for (size_t c = 0; c < facts.n_counters; c++) {
		double count = 0, work = 0;

		if (facts.counters[c].error)
			continue;
		for (size_t i = 0; i < outcome->n_runs; i++)
			values_add_counts(outcome->runs[i].values, c, &count, &work);
		fprintf(stream, "    %-24s %.4g\n", facts.counters[c].name, count / work);
	}
}

/* Two significant digits: "0.012 %", "83 %". */
static void print_percent(FILE *stream, const char *before, double share, const char *after)
{
	double percent = 100 * share;

	fprintf(stream, percent < 10 ? "%s%.2g %%%s" : "%s%.0f %%%s", before, percent, after);
}

/* Prints what the values contain besides the work. */
static void report_disturbance(FILE *stream, const struct summary *summary)
{
	char empty[TIME_SIZE];

	format_time(summary->empty_share * summary->median, empty);
	fprintf(stream, "    empty regions %s of it", empty);
	print_percent(stream, " (", summary->empty_share, ")");
	if (summary->waiting >= 0) {
		print_percent(stream, ", waiting for the CPU ", summary->waiting, " of a value");
		print_percent(stream, ", ", summary->most_waiting, " of the worst");
	}
	fputc('\n', stream);
	if (summary->empty_share > EMPTY_TOO_MUCH)
		fprintf(stream,
			"    warning: empty regions are more than 1 %% of each value: do more work "
			"between qs_begin() and qs_end()\n");
}

size_t outcome_figures(const struct outcome *outcome, struct qs_figure ret[QS_MAX_FIGURES])
{
	size_t n = 0, times[QS_MAX_FIGURES] = { 0 };

	for (size_t i = 0; i < outcome->n_runs; i++) {
		const struct qs_values *run = outcome->runs[i].values;

		for (size_t j = 0; j < run->n_figures; j++) {
			size_t at = 0;

			while (at < n && strcmp(ret[at].name, run->figures[j].name) != 0)
				at++;
			if (at == QS_MAX_FIGURES)
				continue;
			if (at < n)
				ret[at].value += run->figures[j].value;
			else
				ret[n++] = run->figures[j];
			times[at]++;
		}
	}
	for (size_t i = 0; i < n; i++)
		ret[i].value /= (double)times[i];
	return n;
}

/* "12.3 G": three significant digits, and a prefix where the number is large. */
static void print_figure(FILE *stream, const struct qs_figure *figure, double seconds)
{
	static const char prefixes[] = " kMGTPE";
	double number = figure->value;
	size_t prefix = 0;

	fprintf(stream, "    %-24s ", figure->name);
	if (figure->kind == QS_FIGURE_PLAIN) {
		fprintf(stream, "%.4g\n", number);
		return;
	}
	/* 999.5, because "%.3g" prints a number that rounds to 1000 as 1e+03. */
	for (number /= seconds; number >= 999.5 && prefixes[prefix + 1]; prefix++)
		number /= 1000;
	fprintf(stream, prefix ? "%.3g %c/s\n" : "%.3g /s\n", number, prefixes[prefix]);
}

/* *ret_median is 0 without a value. */
static int report_one(FILE *stream, const struct outcome *outcome, int width, double *ret_median)
{
	struct qs_figure figures[QS_MAX_FIGURES];
	char middle[TIME_SIZE], deviation[TIME_SIZE], min[TIME_SIZE], max[TIME_SIZE],
		loops[LOOPS_SIZE];
	const struct qs_values *first = outcome_first_counted(outcome);
	struct summary summary;
	size_t processes = 0, n_figures;
	int r;

	r = summarize(outcome, &summary);
	if (r < 0)
		return r;
	*ret_median = summary.median;
	if (summary.n == 0) {
		fprintf(stream, "%-*s  no value\n", width, outcome->benchmark->name);
		return 0;
	}
	for (size_t i = 0; i < outcome->n_runs; i++) {
		const struct qs_values *run = outcome->runs[i].values;

		processes += run->values[run->n_values - 1].kind == QS_VALUE_COUNTED;
	}
	format_time(summary.median, middle);
	format_time(summary.deviation, deviation);
	format_time(summary.min, min);
	format_time(summary.max, max);
	format_loops(first->loops, loops);
	fprintf(stream,
		"%-*s  %9s  MAD %9s  min %9s  max %9s  %zu values of %zu process%s, %s loops\n",
		width, outcome->benchmark->name, middle, deviation, min, max, summary.n, processes,
		processes == 1 ? "" : "es", loops);
	if (outcome->out_of_time)
		fputs("    fewer values, because they take long: --max-time allows more\n", stream);
	report_disturbance(stream, &summary);
	report_counters(stream, outcome);
	n_figures = outcome_figures(outcome, figures);
	for (size_t i = 0; i < n_figures; i++)
		print_figure(stream, &figures[i], summary.median);
	return 0;
}

/* Prints how the time of the family of outcomes[first] grows, unless an earlier outcome was of this
 * family. */
static int report_growth(
	FILE *stream, const struct outcome *outcomes, size_t n, size_t first, const double *medians)
{
	const char *family = outcomes[first].benchmark->family;
	struct growth growth[GROWTH_KINDS];
	double *sizes, *times;
	char each[TIME_SIZE], once[TIME_SIZE];
	size_t n_sizes = 0;
	int r;

	for (size_t i = 0; i < first; i++)
		if (outcomes[i].benchmark->family &&
			strcmp(outcomes[i].benchmark->family, family) == 0)
			return 0;
	sizes = calloc(2 * n, sizeof(*sizes));
	if (!sizes)
		return -ENOMEM;
	times = sizes + n;
	for (size_t i = first; i < n; i++) {
		const struct qs_benchmark *b = outcomes[i].benchmark;

		if (!b->family || strcmp(b->family, family) != 0 || b->size <= 0 || medians[i] <= 0)
			continue;
		sizes[n_sizes] = b->size;
		times[n_sizes++] = medians[i];
	}
	r = growth_fit(sizes, times, n_sizes, growth);
	free(sizes);
	if (r < 0) {
		fprintf(stream, "growth of %s: not known with less than %d sizes\n", family,
			(int)GROWTH_MIN_SIZES);
		return 0;
	}
	format_time(growth[0].each, each);
	format_time(growth[0].once, once);
	fprintf(stream, "growth of %s: %s", family, growth[0].what);
	if (growth[0].each > 0)
		fprintf(stream, ", %s each and %s once", each, once);
	print_percent(stream, " (off by ", growth[0].error, "");
	print_percent(stream, "; by ", growth[1].error, " if it were ");
	fprintf(stream, "%s)\n", growth[1].what);
	return 0;
}

static void report_clock(FILE *stream, const struct qs_facts *facts)
{
	char empty[TIME_SIZE], resolution[TIME_SIZE];

	format_time(facts->empty_mean_ticks / facts->ticks_per_second, empty);
	format_time((double)facts->resolution_ticks / facts->ticks_per_second, resolution);
	fprintf(stream, "clock: %s, in steps of %s; an empty region takes %s\n", facts->clock_name,
		resolution, empty);
}

/* Notes each flaw once, not for each process. */
static void report_flaws(FILE *stream, const struct qs_facts *facts)
{
	for (size_t i = 0; i < facts->n_counters; i++) {
		const char *name = facts->counters[i].name;

		if (facts->counters[i].error)
			fprintf(stream, "note: %s cannot be counted here: %s\n", name,
				strerror(facts->counters[i].error));
		else if (facts->counters[i].shared)
			fprintf(stream,
				"note: %s was counted for a part of the time only: its counts are too small\n",
				name);
	}
	if (facts->clock_changed)
		fputs("note: the kernel chose another clock source meanwhile: values may be wrong\n",
			stream);
}

int outcome_report(FILE *stream, const struct outcome *outcomes, size_t n)
{
	const struct qs_values *first = NULL;
	struct qs_facts facts;
	size_t migrated = 0;
	int width = 0, r = 0;
	double *medians = calloc(n + 1, sizeof(*medians));

	if (!medians)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		int length = (int)strlen(outcomes[i].benchmark->name);

		width = length > width ? length : width;
	}
	for (size_t i = 0; r == 0 && i < n; i++) {
		r = report_one(stream, &outcomes[i], width, &medians[i]);
		if (!first)
			first = outcome_first_counted(&outcomes[i]);
		for (size_t j = 0; j < outcomes[i].n_runs; j++) {
			const struct qs_values *run = outcomes[i].runs[j].values;

			for (size_t k = 0; k < run->n_values; k++)
				migrated += run->values[k].kind == QS_VALUE_COUNTED &&
					run->values[k].cpu_begin != run->values[k].cpu_end;
		}
	}
	for (size_t i = 0; r == 0 && i < n; i++)
		if (outcomes[i].benchmark->family)
			r = report_growth(stream, outcomes, n, i, medians);
	free(medians);
	if (r < 0 || !first)
		return r;
	facts = first->facts;
	for (size_t i = 0; i < n; i++)
		add_flaws(&outcomes[i], &facts);
	report_clock(stream, &facts);
	report_flaws(stream, &facts);
	if (migrated > 0)
		fprintf(stream, "note: %zu value%s began on one CPU and ended on another: --cpu\n",
			migrated, migrated == 1 ? "" : "s");
	return 0;
}
