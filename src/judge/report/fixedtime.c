// SPDX-License-Identifier: GPL-2.0-or-later
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/facts.h"
#include "base/macro.h"
#include "base/units.h"
#include "base/xalloc.h"
#include "judge/report/fixedtime.h"
#include "judge/result/metadata.h"
#include "judge/result/metric.h"
#include "judge/stats/shift.h"
#include "judge/stats/stats.h"

#define CLEAR_RATIO 1.2
#define CLEAR_LEVEL 0.01
#define CLEAR_WIDTHS 3 /* half-widths of the interval of the times */
#define WAITING_PART 0.1
#define OUTPUT_RATIO 1.5
#define OUTPUT_LEAST (16 * 1024)

char *fixedtime_text(const char *harness)
{
	return xformat("%s reports its own figures; --harness %s compares them", harness, harness);
}

/* What runs have spent, sorted. */
struct amounts {
	double *values;
	size_t n;
};

static void amounts_clear(struct amounts *amounts)
{
	free(amounts->values);
}
#define _cleanup_amounts_ __attribute__((cleanup(amounts_clear)))

/* The sum of metrics of each run that counts; false where one of them is not known of each. */
static bool find_amounts(const struct benchmark *benchmark, const char *const metrics[], size_t n,
	struct amounts *ret)
{
	const struct series *series = benchmark->series;
	_cleanup_free_ double *values =
		xptr(calloc(2 * MAX(series->n_samples, (size_t)1), sizeof(*values)));
	double *more = values + series->n_samples;
	size_t n_runs = 0;

	for (size_t i = 0; i < n; i++) {
		n_runs = series_metric(series, metrics[i], more);
		for (size_t k = 0; k < n_runs; k++)
			values[k] += more[k];
	}
	for (size_t k = 0; k < n_runs; k++)
		if (!(values[k] > 0) || !isfinite(values[k]))
			return false;
	if (n_runs == 0)
		return false;
	stats_sort(values, n_runs);
	*ret = (struct amounts){ TAKE_PTR(values), n_runs };
	return true;
}

static double *make_logarithms(const struct amounts *amounts)
{
	double *logarithms = xptr(reallocarray(NULL, amounts->n, sizeof(*logarithms)));

	for (size_t i = 0; i < amounts->n; i++)
		logarithms[i] = log(amounts->values[i]);
	return logarithms;
}

/* Whether they differ by CLEAR_RATIO or more, with certainty. */
static bool differ_clearly(const struct amounts *old, const struct amounts *new)
{
	_cleanup_free_ double *a = make_logarithms(old), *b = make_logarithms(new);
	_cleanup_(shift_test) struct shift_test *test = NULL;
	struct shift shift;

	if (xcheck(shift_test_of_samples(a, old->n, b, new->n, &test)) < 0)
		return false;
	shift_test_find(test, CLEAR_LEVEL, &shift);
	return shift.low > log(CLEAR_RATIO) || shift.high < -log(CLEAR_RATIO);
}

static double median(const struct amounts *amounts)
{
	return stats_median(amounts->values, amounts->n);
}

static char *explain(const char *what, double old, double new)
{
	return xformat("the times agree, while %s is %.3g times as much: the time may not depend "
		       "on the work (--figure compares what a program counts)",
		what, new / old);
}

static const char *const cpu_time[] = { "user_cpu", "system_cpu" };
static const char *const instructions[] = { "instructions" };
static const char *const user_instructions[] = { "instructions:u" };

/* With the times of both, and what they leave open, in seconds. */
static char *look_at_work(const struct benchmark *old, const struct benchmark *new,
	const double seconds[2], double open)
{
	_cleanup_amounts_ struct amounts a = { 0 }, b = { 0 }, i = { 0 }, k = { 0 };
	bool waited;

	if (!find_amounts(old, cpu_time, ARRAY_SIZE(cpu_time), &a) ||
		!find_amounts(new, cpu_time, ARRAY_SIZE(cpu_time), &b))
		return NULL;
	if (fabs(median(&b) - median(&a)) > CLEAR_WIDTHS * open && differ_clearly(&a, &b))
		return explain("CPU time", median(&a), median(&b));
	waited = median(&a) < (1 - WAITING_PART) * seconds[0] &&
		median(&b) < (1 - WAITING_PART) * seconds[1];
	if (waited &&
		((find_amounts(old, instructions, 1, &i) &&
			 find_amounts(new, instructions, 1, &k)) ||
			(!i.values && find_amounts(old, user_instructions, 1, &i) &&
				find_amounts(new, user_instructions, 1, &k))) &&
		differ_clearly(&i, &k))
		return explain("the number of instructions", median(&i), median(&k));
	return NULL;
}

static char *look_at_output(const struct benchmark *old, const struct benchmark *new)
{
	double a = facts_find_real(&old->metadata, METADATA_OUTPUT_SIZE);
	double b = facts_find_real(&new->metadata, METADATA_OUTPUT_SIZE);

	if (!(fabs(b - a) >= OUTPUT_LEAST) || !(fmax(a, b) >= OUTPUT_RATIO * fmin(a, b)) ||
		fmin(a, b) <= 0)
		return NULL;
	return explain("the output", a, b);
}

static bool has_one_cpu(const struct benchmark *benchmark)
{
	const char *cpus = facts_find_string(&benchmark->metadata, "quiesce_cpus");

	return cpus && !strpbrk(cpus, ",-");
}

/* Whether its values are the times of its runs, and nobody has asked for these. */
static bool is_of_times(const struct benchmark *b)
{
	return benchmark_is_of_speed(b) && !b->is_asked && benchmark_units_are_runs(b) &&
		!benchmark_is_by_program(b);
}

char *fixedtime_find(
	const struct benchmark *old, const struct benchmark *new, double low, double high)
{
	const char *harness = facts_find_string(&new->metadata, METADATA_OWN_FIGURES);
	double seconds[2];
	char *text;

	if (!is_of_times(old) || !is_of_times(new))
		return NULL;
	if (!harness)
		harness = facts_find_string(&old->metadata, METADATA_OWN_FIGURES);
	if (harness)
		return fixedtime_text(harness);
	if (!(low <= 1 && high >= 1) || !isfinite(high) || !has_one_cpu(old) || !has_one_cpu(new) ||
		xcheck(benchmark_median(old, &seconds[0])) < 0 ||
		xcheck(benchmark_median(new, &seconds[1])) < 0)
		return NULL;
	text = look_at_work(old, new, seconds, (high - low) / 2 * seconds[0]);
	return text ? text : look_at_output(old, new);
}
