// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "basic/macro.h"
#include "result/metric.h"

static const char max_rss[] = "max_rss";

/* Evidence that says where and how fast a run was made, and not what it took. */
static bool is_circumstance(const struct evidence_field *field)
{
	static const char *const names[] = { "frequency_khz", "core_khz", "core_share_before",
		"core_share_after", "core_share_during", "cpu_first", "cpu_last" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (strcmp(field->name, names[i]) == 0)
			return true;
	return false;
}

bool metric_get(const struct series *series, size_t index, struct metric *ret)
{
	size_t event = index - 1 - evidence_n_fields;

	if (index == 0) {
		*ret = (struct metric){ max_rss, UNIT_BYTE, index };
		return true;
	}
	if (index <= evidence_n_fields) {
		const struct evidence_field *field = &evidence_fields[index - 1];

		*ret = (struct metric){ field->name, field->per > 0 ? UNIT_SECOND : UNIT_INTEGER,
			index };
		return true;
	}
	if (event >= series->n_events)
		return false;
	*ret = (struct metric){ series->event_names[event], UNIT_INTEGER, index };
	return true;
}

/* NAN when it is not known. */
static double find_value(const struct series *series, const struct metric *metric, size_t run)
{
	uint32_t rss = series->samples[run].max_rss_kib;
	const struct evidence_field *field;
	int64_t value;

	if (metric->index == 0)
		return rss > 0 ? (double)rss * 1024 : NAN;
	if (metric->index > evidence_n_fields)
		return series
			->counters[run * series->n_events + metric->index - 1 - evidence_n_fields];
	field = &evidence_fields[metric->index - 1];
	if (is_circumstance(field) || !evidence_get(&series->evidence[run], field, &value))
		return NAN;
	return (double)value / (double)MAX(field->per, (int64_t)1);
}

static size_t count_known(const struct series *series, const struct metric *metric)
{
	size_t n = 0;

	for (size_t i = 0; i < series->n_samples; i++)
		n += !series->samples[i].warmup && isfinite(find_value(series, metric, i));
	return n;
}

bool metric_is_known(const struct series *series, const struct metric *metric)
{
	return count_known(series, metric) > 0;
}

int benchmark_choose_metric(struct benchmark *benchmark, const char *name)
{
	struct series *series = benchmark->series;
	struct metric metric;
	size_t n = 0, n_known;
	double *values;

	for (size_t i = 0;; i++) {
		if (!metric_get(series, i, &metric))
			return -ENODATA;
		if (strcmp(metric.name, name) == 0)
			break;
	}
	n_known = count_known(series, &metric);
	if (n_known == 0)
		return -ENODATA;
	values = reallocarray(NULL, n_known, sizeof(*values));
	if (!values)
		return -ENOMEM;
	for (size_t i = 0; i < series->n_samples; i++) {
		double value = find_value(series, &metric, i);

		if (!series->samples[i].warmup && isfinite(value))
			values[n++] = value;
		else if (!series->samples[i].warmup)
			series->n_warmups++;
		series->samples[i].warmup = series->samples[i].warmup || !isfinite(value);
		benchmark->runs[i] = (struct benchmark_run){
			.end = n,
			.loops = 1,
			.inner_loops = 1,
		};
	}
	free(benchmark->values);
	benchmark->values = values;
	benchmark->n_values = n;
	free(TAKE_PTR(benchmark->warmups));
	benchmark->n_warmups = 0;
	benchmark->unit = metric.unit;
	benchmark->metric = metric.name;
	return 0;
}
