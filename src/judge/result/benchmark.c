// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/macro.h"
#include "base/xalloc.h"
#include "judge/result/benchmark.h"
#include "judge/result/metadata.h"
#include "judge/stats/stats.h"

void benchmark_set_kind(struct benchmark *benchmark, const struct event_kind *kind)
{
	benchmark->own_unit = kind->own;
	benchmark->unit = kind->unit;
	benchmark->better = kind->better;
	benchmark->is_exact = kind->is_exact;
	benchmark->step = kind->step;
	benchmark->metric = kind->own->name;
	benchmark->is_figure = true;
}

void benchmark_free(struct benchmark *benchmark)
{
	if (!benchmark)
		return;
	free(benchmark->name);
	facts_clear(&benchmark->metadata);
	series_free(benchmark->series);
	free(benchmark->values);
	free(benchmark->warmups);
	free(benchmark->runs);
	kept_free(benchmark->kept);
	for (size_t i = 0; i < benchmark->n_figures; i++) {
		free(benchmark->figures[i].name);
		free(benchmark->figures[i].kind.own);
		free(benchmark->figures[i].values);
	}
	free(benchmark->figures);
	free(benchmark->own_unit);
	free(benchmark);
}

bool benchmark_is_same_metric(const struct benchmark *a, const struct benchmark *b)
{
	return a->metric && b->metric ? strcmp(a->metric, b->metric) == 0 : a->metric == b->metric;
}

int benchmark_view(const char *name, const struct series *series, struct benchmark *ret)
{
	/* The view frees neither. */
	struct benchmark view = { .name = (char *)name, .series = (struct series *)series };
	int r;

	r = series_values(series, &view.values, &view.n_values);
	if (r < 0)
		return r;
	*ret = view;
	return 0;
}

void benchmark_clear_view(struct benchmark *benchmark)
{
	free(benchmark->values);
	free(benchmark->runs);
	*benchmark = (struct benchmark){ 0 };
}

const char *benchmark_format_date(int64_t seconds, char buf[static BENCHMARK_DATE_SIZE])
{
	time_t time = (time_t)seconds;
	struct tm tm;

	if (!gmtime_r(&time, &tm) ||
		strftime(buf, BENCHMARK_DATE_SIZE, "%Y-%m-%d %H:%M:%S", &tm) == 0)
		buf[0] = '\0';
	return buf;
}

void benchmark_run_values(
	const struct benchmark *benchmark, size_t run, size_t *ret_first, size_t *ret_n)
{
	size_t first = run > 0 ? benchmark->runs[run - 1].end : 0;

	*ret_first = first;
	*ret_n = benchmark->runs[run].end - first;
}

void benchmark_run_warmups(
	const struct benchmark *benchmark, size_t run, size_t *ret_first, size_t *ret_n)
{
	size_t first = run > 0 ? benchmark->runs[run - 1].warmup_end : 0;

	*ret_first = first;
	*ret_n = benchmark->runs[run].warmup_end - first;
}

double benchmark_raw_factor(const struct benchmark *benchmark, size_t run)
{
	if (!benchmark->runs)
		return 1;
	return (double)benchmark->runs[run].loops * (double)benchmark->runs[run].inner_loops;
}

int benchmark_raw_range(const struct benchmark *benchmark, double *ret_min, double *ret_max)
{
	double min = INFINITY, max = -INFINITY, factor = 1;
	size_t run = 0;

	if (benchmark->n_values == 0)
		return -ENODATA;
	for (size_t i = 0; i < benchmark->n_values; i++) {
		double raw;

		if (benchmark->runs) {
			while (i >= benchmark->runs[run].end)
				run++;
			factor = benchmark_raw_factor(benchmark, run);
		}
		raw = benchmark->values[i] * factor;
		min = MIN(min, raw);
		max = MAX(max, raw);
	}
	*ret_min = min;
	*ret_max = max;
	return 0;
}

size_t benchmark_counted_runs(const struct benchmark *benchmark)
{
	size_t counted = benchmark->series->n_counted;

	for (size_t i = 0; benchmark->runs && i < benchmark->series->n_samples; i++) {
		size_t first, n;

		benchmark_run_values(benchmark, i, &first, &n);
		counted -= n == 0 && sample_counts(&benchmark->series->samples[i]);
	}
	return counted;
}

bool benchmark_units_are_runs(const struct benchmark *benchmark)
{
	return benchmark_counted_runs(benchmark) >= 2 || benchmark->n_values == 1;
}

/* One number for each run that counts, made by `reduce`, which may sort the values of the run. */
static double *reduce_runs(const struct benchmark *benchmark,
	double (*reduce)(double *values, size_t n), size_t *ret_n)
{
	size_t n = 0, n_runs = benchmark_counted_runs(benchmark), largest = 0;
	_cleanup_free_ double *scratch = NULL;
	double *units;

	for (size_t i = 0; i < benchmark->series->n_samples; i++) {
		size_t first, count;

		benchmark_run_values(benchmark, i, &first, &count);
		largest = MAX(largest, count);
	}
	units = xptr(reallocarray(NULL, n_runs, sizeof(*units)));
	scratch = xptr(reallocarray(NULL, largest, sizeof(*scratch)));
	for (size_t i = 0; i < benchmark->series->n_samples; i++) {
		size_t first, count;

		benchmark_run_values(benchmark, i, &first, &count);
		if (count == 0)
			continue;
		memcpy(scratch, benchmark->values + first, count * sizeof(*scratch));
		units[n++] = reduce(scratch, count);
	}
	*ret_n = n;
	return units;
}

static double reduce_to_median(double *values, size_t n)
{
	stats_sort(values, n);
	return stats_median(values, n);
}

static double reduce_to_mean(double *values, size_t n)
{
	struct stats stats;

	return stats_compute(values, n, &stats) < 0 ? NAN : stats.mean;
}

int benchmark_units(const struct benchmark *benchmark, double **ret, size_t *ret_n)
{
	double *units;

	if (benchmark->n_values == 0)
		return -ENODATA;
	if (benchmark->runs && benchmark_units_are_runs(benchmark)) {
		*ret = reduce_runs(benchmark, reduce_to_median, ret_n);
		return 0;
	}
	units = xptr(reallocarray(NULL, benchmark->n_values, sizeof(*units)));
	memcpy(units, benchmark->values, benchmark->n_values * sizeof(*units));
	*ret = units;
	*ret_n = benchmark->n_values;
	return 0;
}

int benchmark_median(const struct benchmark *benchmark, double *ret)
{
	_cleanup_free_ double *units = NULL;
	size_t n;
	int r = benchmark_units(benchmark, &units, &n);

	if (r < 0)
		return r;
	stats_sort(units, n);
	*ret = stats_median(units, n);
	return 0;
}

int benchmark_run_deviation(const struct benchmark *benchmark, double *ret)
{
	_cleanup_free_ double *means = NULL;
	struct stats stats;
	size_t n;
	int r = 0;

	if (benchmark_counted_runs(benchmark) < 2) {
		*ret = NAN;
		return 0;
	}
	if (benchmark->runs)
		means = reduce_runs(benchmark, reduce_to_mean, &n);
	else
		r = benchmark_units(benchmark, &means, &n);
	if (r >= 0)
		r = stats_compute(means, n, &stats);
	if (r < 0)
		return r;
	*ret = stats.stdev / stats.mean;
	return 0;
}

bool benchmark_is_control(const struct benchmark *benchmark)
{
	const char *role = facts_find_string(&benchmark->metadata, BENCHMARK_ROLE);

	/* Values that a control measured itself have the control's metadata too. */
	return role && strcmp(role, BENCHMARK_ROLE_CONTROL) == 0 &&
		!benchmark_is_by_program(benchmark);
}

bool benchmark_is_of_time(const struct benchmark *benchmark)
{
	return !benchmark->metric || unit_is_time(benchmark->unit);
}

bool benchmark_is_by_program(const struct benchmark *benchmark)
{
	return facts_find(&benchmark->metadata, "quiesce_stamps");
}

const char *benchmark_tool(const struct benchmark *benchmark)
{
	const char *tool = facts_find_string(&benchmark->metadata, METADATA_TOOL);

	if (tool)
		return tool;
	if (facts_find(&benchmark->metadata, "quiesce_version"))
		return METADATA_RUNPINNED;
	/* nanobench writes the same format, without it. */
	return facts_find(&benchmark->metadata, METADATA_PYPERF_VERSION) ? METADATA_PYPERF : NULL;
}

char *benchmark_metadata_text(const struct benchmark *benchmark, const char *name)
{
	const struct fact *fact = facts_find(&benchmark->metadata, name);

	if (!fact)
		return NULL;
	switch (fact->type) {
	case FACT_STRING:
		return xformat("%s", fact->string);
	case FACT_INTEGER:
		return xformat("%" PRId64, fact->integer);
	case FACT_REAL:
		return xformat("%.15g", fact->real);
	case FACT_BOOLEAN:
		return xformat("%s", fact->integer ? "true" : "false");
	}
	return NULL;
}
