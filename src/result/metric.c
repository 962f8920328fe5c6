// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "basic/macro.h"
#include "basic/text.h"
#include "result/metric.h"

struct metric {
	/* "max_rss"; else the name of the evidence ("user_cpu") or of the event, borrowed. */
	const char *name;
	enum unit unit;
	size_t index;
};

static const char max_rss[] = "max_rss";

/* Whether the evidence is about where and how fast a run was made, and not a cost of the run. */
static bool is_circumstance(const struct evidence_field *field)
{
	static const char *const names[] = { "frequency_khz", "core_khz", "core_share_before",
		"core_share_after", "core_share_during", "mean_khz", "frequency_changes",
		"cpu_first", "cpu_last", "elsewhere" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (strcmp(field->name, names[i]) == 0)
			return true;
	return false;
}

/* The metrics that the runs of a series may have, from index 0 on; false beyond the last one. */
static bool metric_get(const struct series *series, size_t index, struct metric *ret)
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

static bool metric_find(const struct series *series, const char *name, struct metric *ret)
{
	for (size_t i = 0; metric_get(series, i, ret); i++)
		if (strcmp(ret->name, name) == 0)
			return true;
	return false;
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
	if (is_circumstance(field) || !series->with_evidence ||
		!evidence_get(&series->evidence[run], field, &value))
		return NAN;
	return (double)value / (double)MAX(field->per, (int64_t)1);
}

size_t series_metric(const struct series *series, const char *name, double *ret)
{
	struct metric metric;
	bool found = metric_find(series, name, &metric);
	size_t n = 0;

	for (size_t i = 0; i < series->n_samples; i++)
		if (!series->samples[i].warmup)
			ret[n++] = found ? find_value(series, &metric, i) : NAN;
	return n;
}

static size_t count_known(const struct series *series, const struct metric *metric)
{
	size_t n = 0;

	for (size_t i = 0; i < series->n_samples; i++)
		n += !series->samples[i].warmup && isfinite(find_value(series, metric, i));
	return n;
}

static bool figure_is_known(
	const struct benchmark *benchmark, const struct benchmark_figure *figure)
{
	for (size_t i = 0; i < benchmark->n_values; i++)
		if (isfinite(figure->values[i]))
			return true;
	return false;
}

void benchmark_list_metrics(const struct benchmark *benchmark,
	void (*name)(void *context, const char *metric), void *context)
{
	struct metric metric;

	for (size_t i = 0; i < benchmark->n_figures; i++)
		if (figure_is_known(benchmark, &benchmark->figures[i]))
			name(context, benchmark->figures[i].name);
	for (size_t i = 0; metric_get(benchmark->series, i, &metric); i++)
		if (count_known(benchmark->series, &metric) > 0)
			name(context, metric.name);
}

/* The known figures replace the values. */
static int choose_figure(struct benchmark *benchmark, const struct benchmark_figure *figure)
{
	struct series *series = benchmark->series;
	size_t n = 0, value = 0;

	if (!figure_is_known(benchmark, figure))
		return -ENODATA;
	for (size_t i = 0; i < series->n_samples; i++) {
		struct benchmark_run *run = &benchmark->runs[i];
		size_t before = n;

		for (; value < run->end; value++)
			if (isfinite(figure->values[value]))
				benchmark->values[n++] = figure->values[value];
		run->end = n;
		if (n == before && !series->samples[i].warmup) {
			series->samples[i].warmup = true;
			series->n_warmups++;
			run->unknown = true;
		}
	}
	benchmark->n_values = n;
	benchmark->unit = figure->unit;
	benchmark->metric = figure->name;
	return 0;
}

int benchmark_choose_metric(struct benchmark *benchmark, const char *name)
{
	struct series *series = benchmark->series;
	struct metric metric;
	size_t n = 0, n_known;
	double *values;

	for (size_t i = 0; i < benchmark->n_figures; i++)
		if (strcmp(benchmark->figures[i].name, name) == 0)
			return choose_figure(benchmark, &benchmark->figures[i]);
	if (!metric_find(series, name, &metric))
		return -ENODATA;
	n_known = count_known(series, &metric);
	if (n_known == 0)
		return -ENODATA;
	values = reallocarray(NULL, n_known, sizeof(*values));
	if (!values)
		return -ENOMEM;
	for (size_t i = 0; i < series->n_samples; i++) {
		double value = find_value(series, &metric, i);
		bool unknown = !series->samples[i].warmup && !isfinite(value);

		if (unknown) {
			series->samples[i].warmup = true;
			series->n_warmups++;
		} else if (!series->samples[i].warmup) {
			values[n++] = value;
		}
		benchmark->runs[i] = (struct benchmark_run){
			.end = n,
			.loops = 1,
			.inner_loops = 1,
			.unknown = unknown,
			.has_turn = benchmark->runs[i].has_turn,
			.turn = benchmark->runs[i].turn,
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

bool metric_is_of_program(const char *name)
{
	static const char *const names[] = { max_rss, "minor_faults", "instructions" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		size_t n = strlen(names[i]);

		/* An event may have modifiers, "instructions:u". */
		if (strncmp(name, names[i], n) == 0 && (name[n] == '\0' || name[n] == ':'))
			return true;
	}
	return false;
}

bool metric_is_rate(const char *name)
{
	return name && text_ends_with(name, "_per_second");
}
