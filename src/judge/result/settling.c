// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "base/xalloc.h"
#include "judge/result/settling.h"
#include "judge/stats/stats.h"
#include "judge/stats/steady.h"

/* The processes whose values are looked at, and which runs they are. */
struct looked {
	struct steady_process *processes;
	size_t *runs;
	size_t n;
};

static void looked_clear(struct looked *looked)
{
	free(looked->processes);
	free(looked->runs);
}

static int look_at_runs(const struct benchmark *b, struct looked *looked)
{
	size_t n_runs = b->series->n_samples;
	int r = 0;

	looked->processes = xptr(calloc(MAX(n_runs, (size_t)1), sizeof(*looked->processes)));
	looked->runs = xptr(calloc(MAX(n_runs, (size_t)1), sizeof(*looked->runs)));
	for (size_t i = 0; r == 0 && i < n_runs; i++) {
		struct steady_process *process = &looked->processes[looked->n];
		size_t first, n;

		benchmark_run_values(b, i, &first, &n);
		b->runs[i].before_level = -1;
		if (n < STEADY_MIN_VALUES || n > INT32_MAX ||
			!sample_counts(&b->series->samples[i]))
			continue;
		*process = (struct steady_process){ .values = b->values + first, .n = n };
		looked->runs[looked->n++] = i;
		r = steady_find(process->values, n, &process->steady);
	}
	if (r == 0)
		steady_compare_first(looked->processes, looked->n);
	return r;
}

/* The median of the runs' medians, of all values or of those on levels alone. */
static double find_median(const struct looked *looked, bool from_level)
{
	_cleanup_free_ double *medians = xptr(reallocarray(NULL, looked->n, sizeof(*medians)));

	for (size_t i = 0; i < looked->n; i++) {
		const struct steady_process *p = &looked->processes[i];
		size_t first = from_level && p->steady.first < p->n ? p->steady.first : 0;
		_cleanup_free_ double *scratch = xptr(reallocarray(NULL, p->n, sizeof(*scratch)));

		medians[i] = stats_find_median(p->values + first, p->n - first, scratch);
	}
	stats_sort(medians, looked->n);
	return stats_median(medians, looked->n);
}

static void sum_up(const struct looked *looked, struct settling *ret)
{
	_cleanup_free_ double *before = xptr(reallocarray(NULL, looked->n, sizeof(*before)));
	_cleanup_free_ double *numbers = xptr(reallocarray(NULL, looked->n, sizeof(*numbers)));
	size_t n = 0;

	*ret = (struct settling){ .n_runs = looked->n };
	for (size_t i = 0; i < looked->n; i++) {
		const struct steady_process *p = &looked->processes[i];

		ret->n_flat += p->steady.kind == STEADY_FLAT;
		ret->n_falls += p->steady.kind == STEADY_FALLS;
		ret->n_rises += p->steady.kind == STEADY_RISES;
		ret->n_none += p->steady.kind == STEADY_NONE;
		numbers[i] = (double)p->n;
		if (p->steady.kind != STEADY_NONE)
			before[n++] = (double)p->steady.first;
	}
	stats_sort(numbers, looked->n);
	ret->n_values = (size_t)stats_median(numbers, looked->n);
	if (n == 0)
		return;
	stats_sort(before, n);
	ret->before = (size_t)ceil(stats_median(before, n));
	ret->before_least = (size_t)before[0];
	ret->before_most = (size_t)before[n - 1];
	ret->change = find_median(looked, true) / find_median(looked, false) - 1;
}

int settling_find(struct benchmark *benchmark)
{
	struct looked looked = { 0 };
	int r = 0;

	benchmark->settling = (struct settling){ 0 };
	if (!benchmark->runs)
		return 0;
	r = look_at_runs(benchmark, &looked);
	for (size_t i = 0; r == 0 && i < looked.n; i++)
		benchmark->runs[looked.runs[i]].before_level =
			(int32_t)looked.processes[i].steady.first;
	if (r == 0 && looked.n > 0)
		sum_up(&looked, &benchmark->settling);
	looked_clear(&looked);
	return r;
}

/* How many of the n values of a run are to be left out. */
static size_t count_before(const struct benchmark_run *run, size_t n)
{
	return run->before_level > 0 && (size_t)run->before_level < n ? (size_t)run->before_level
								      : 0;
}

/* A figure that is the mean of the n values, becomes that of those behind `before`. */
static void settle_figures(
	struct series *series, size_t run, const double *values, size_t n, size_t before)
{
	double mean = stats_mean(values, n);

	for (size_t i = 0; i < series->n_events; i++) {
		double *figure = &series->counters[run * series->n_events + i];

		if (series->event_kinds[i].own && fabs(*figure - mean) <= 1e-9 * fabs(mean))
			*figure = stats_mean(values + before, n - before);
	}
}

void settling_leave_out(struct benchmark *benchmark)
{
	struct benchmark *b = benchmark;
	struct benchmark_warmup *warmups;
	size_t n_warmups = 0, n_values = 0, value = 0, warmup = 0;

	if (!b->runs)
		return;
	warmups = xptr((struct benchmark_warmup *)reallocarray(
		NULL, b->n_warmups + b->n_values + 1, sizeof(*warmups)));
	for (size_t i = 0; i < b->series->n_samples; i++) {
		struct benchmark_run *run = &b->runs[i];
		size_t n = run->end - value, before = count_before(run, n);

		if (before > 0)
			settle_figures(b->series, i, b->values + value, n, before);
		for (; warmup < run->warmup_end; warmup++)
			warmups[n_warmups++] = b->warmups[warmup];
		for (size_t k = 0; k < n; k++, value++) {
			if (k < before) {
				warmups[n_warmups++] =
					(struct benchmark_warmup){ .loops = run->loops,
						.value = b->values[value] };
				continue;
			}
			for (size_t f = 0; f < b->n_figures; f++)
				b->figures[f].values[n_values] = b->figures[f].values[value];
			b->values[n_values++] = b->values[value];
		}
		run->end = n_values;
		run->warmup_end = n_warmups;
		b->settling.n_left_out += before;
	}
	b->n_values = n_values;
	b->n_warmups = n_warmups;
	free(b->warmups);
	b->warmups = warmups;
}

enum settling_kind settling_kind(const struct settling *settling)
{
	size_t n_settled = settling->n_runs - settling->n_none;

	if (settling->n_runs == 0)
		return SETTLING_UNKNOWN;
	if (2 * settling->n_none > settling->n_runs)
		return SETTLING_NONE;
	return 2 * (n_settled - settling->n_flat) >= n_settled ? SETTLING_WARMS : SETTLING_FLAT;
}

const char *settling_kind_name(enum settling_kind kind)
{
	static const char *const names[] = {
		[SETTLING_FLAT] = "flat",
		[SETTLING_WARMS] = "warm-up",
		[SETTLING_NONE] = "none",
	};

	return kind == SETTLING_UNKNOWN ? NULL : names[kind];
}
