// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/macro.h"
#include "base/xalloc.h"
#include "judge/report/waiting.h"
#include "judge/result/metric.h"
#include "judge/result/weight.h"
#include "judge/stats/stats.h"

#define VARIES_LEAST 0.05
#define PROCESSOR_MOST (1 / 3.) /* of what the values vary by */
#define WAITING_LEAST (1 / 2.)	/* the same */

enum {
	RUNS_MIN = 5,
};

/* The standard deviation as a part of `mean`, or of their own mean where that is NAN. */
static double find_deviation(double *values, size_t n, double mean)
{
	struct stats stats;

	for (size_t i = 0; i < n; i++)
		if (!isfinite(values[i]))
			return NAN;
	if (stats_compute(values, n, &stats) < 0)
		return NAN;
	return stats.stdev / (isnan(mean) ? stats.mean : mean);
}

/* Of the waiting for a CPU, as a part of the runs' mean; NAN where it is not known of all. */
static double find_waiting(const struct series *series, double *scratch, double mean)
{
	size_t n = 0;

	for (size_t i = 0; i < series->n_samples; i++) {
		int64_t ns = weight_find_waited_ns(&series->evidence[i]);

		if (sample_counts(&series->samples[i]))
			scratch[n++] = ns >= 0 ? (double)ns / (double)NSEC_PER_SEC : NAN;
	}
	return find_deviation(scratch, n, mean);
}

int waiting_find(const struct benchmark *benchmark, struct waiting *ret)
{
	const struct series *series = benchmark->series;
	_cleanup_free_ double *scratch = NULL, *units = NULL;
	struct waiting waiting;
	double mean = 0, waited;
	size_t n;
	int r;

	if (benchmark->metric || !unit_is_time(benchmark->unit) || !series->with_evidence ||
		benchmark_is_by_program(benchmark) || benchmark_counted_runs(benchmark) < RUNS_MIN)
		return -ENODATA;
	r = benchmark_units(benchmark, &units, &n);
	if (r < 0)
		return r;
	for (size_t i = 0; i < n; i++)
		mean += units[i] / (double)n;
	waiting.of_values = find_deviation(units, n, mean);
	scratch = xptr(calloc(MAX(series->n_samples, (size_t)1), sizeof(*scratch)));
	n = series_metric(series, METRIC_PROCESSOR_TIME, scratch);
	waiting.of_processor = find_deviation(scratch, n, NAN);
	waited = find_waiting(series, scratch, mean);
	if (!(waiting.of_values >= VARIES_LEAST) ||
		!(waiting.of_processor <= PROCESSOR_MOST * waiting.of_values) ||
		!(waited >= WAITING_LEAST * waiting.of_values))
		return -ENODATA;
	*ret = waiting;
	return 0;
}
