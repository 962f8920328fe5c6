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

/* How long each run waited for a CPU; NAN where that is not known. Of several threads the kernel
 * tells it of none that has ended: then how long the program was off its CPU stands for it, as for
 * the flag preempted. */
static size_t find_waits(const struct series *series, double *ret)
{
	size_t n = 0;

	for (size_t i = 0; i < series->n_samples; i++) {
		int64_t ns = weight_find_waited_ns(&series->evidence[i]);

		if (ns < 0)
			ns = series->evidence[i].off_cpu_ns;
		if (sample_counts(&series->samples[i]))
			ret[n++] = ns >= 0 ? (double)ns / (double)NSEC_PER_SEC : NAN;
	}
	return n;
}

/* Whether the values grow with what the runs waited: their times, or a figure in time of runs whose
 * work was fixed, so that their processor times can be compared as well. */
static bool is_lengthened(const struct benchmark *benchmark)
{
	return benchmark_is_of_speed(benchmark) ||
		(benchmark->is_fixed_work && unit_is_time(benchmark->unit) &&
			!benchmark_is_gain(benchmark));
}

int waiting_find(const struct benchmark *benchmark, struct waiting *ret)
{
	const struct series *series = benchmark->series;
	_cleanup_free_ double *scratch = NULL, *units = NULL;
	struct stats values, processor, waits;
	struct waiting waiting;
	double run; /* how long one took, in the mean */
	size_t n;
	int r;

	if (!is_lengthened(benchmark) || !series->with_evidence ||
		benchmark_is_by_program(benchmark) || benchmark_counted_runs(benchmark) < RUNS_MIN)
		return -ENODATA;
	r = benchmark_units(benchmark, &units, &n);
	if (r < 0)
		return r;
	scratch = xptr(calloc(MAX(series->n_samples, (size_t)1), sizeof(*scratch)));
	/* Fails where a value is NAN. */
	if (stats_compute(units, n, &values) < 0 ||
		stats_compute(scratch, series_metric(series, METRIC_PROCESSOR_TIME, scratch),
			&processor) < 0 ||
		stats_compute(scratch, find_waits(series, scratch), &waits) < 0)
		return -ENODATA;
	waiting.of_values = values.stdev / values.mean;
	waiting.of_processor = processor.stdev / processor.mean;
	run = benchmark->metric ? processor.mean + waits.mean : values.mean;
	if (!(waiting.of_values >= VARIES_LEAST) ||
		!(waiting.of_processor <= PROCESSOR_MOST * waiting.of_values) ||
		!(waits.stdev / run >= WAITING_LEAST * waiting.of_values))
		return -ENODATA;
	*ret = waiting;
	return 0;
}
