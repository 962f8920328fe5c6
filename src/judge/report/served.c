// SPDX-License-Identifier: GPL-2.0-or-later
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/facts.h"
#include "base/macro.h"
#include "base/xalloc.h"
#include "judge/report/sense.h"
#include "judge/report/served.h"
#include "judge/report/summary.h"
#include "judge/result/metadata.h"
#include "judge/stats/stats.h"

/* The names of figures that runserved writes (measure/serve/seats.h, measure/serve/loads.h). */
#define RATE "rps"
#define CPU "cpu"
#define BUSY "busy"

bool served_is(const struct benchmark *benchmark)
{
	return benchmark->metric && benchmark->series &&
		facts_find_string(&benchmark->metadata, METADATA_SERVED_LOAD);
}

bool served_is_first(const struct benchmark *benchmark)
{
	const char *decides = facts_find_string(&benchmark->metadata, METADATA_METRIC);
	const struct series *series = benchmark->series;

	if (!served_is(benchmark))
		return false;
	/* One from which nothing follows is no figure of the result. */
	if (!decides || series_find_event(series, decides) == series->n_events)
		decides = CPU;
	return strcmp(benchmark->metric, decides) == 0;
}

char *served_name(const struct benchmark *benchmark)
{
	size_t n = strlen(benchmark->name);

	if (served_is(benchmark) && sense_is_cpu_time(benchmark) &&
		text_ends_with(benchmark->name, ": " CPU))
		n -= strlen(": " CPU);
	return xptr(strndup(benchmark->name, n));
}

/* The median of a figure, also of one from which nothing follows; NAN where it is not known. */
static double find_figure(const struct benchmark *benchmark, const char *name)
{
	size_t event = series_find_event(benchmark->series, name);
	_cleanup_free_ char *fact = NULL;
	struct stats stats;

	if (event < benchmark->series->n_events &&
		summary_count_event(benchmark->series, event, &stats) >= 0)
		return stats.median;
	fact = xformat(METADATA_SERVED "%s", name);
	return facts_find_real(&benchmark->metadata, fact);
}

static void find_latency(const struct benchmark *benchmark, struct served *ret)
{
	double half = find_figure(benchmark, "p50"), most = find_figure(benchmark, "p99");
	double only = isfinite(half) ? half : find_figure(benchmark, "mean");
	struct scale scale = scale_choose(most);
	char a[UNITS_TEXT_SIZE], b[UNITS_TEXT_SIZE];

	if (isfinite(half) && isfinite(most)) {
		ret->latency_name = "p50/p99";
		snprintf(ret->latency, sizeof(ret->latency), "%s/%s",
			scale_shows(scale, half) ? scale_format_bare(scale, half, a)
						 : units_format_seconds(half, a),
			scale_format(scale, most, b));
	} else if (isfinite(only)) {
		ret->latency_name = isfinite(half) ? "p50" : "mean";
		snprintf(ret->latency, sizeof(ret->latency), "%s", units_format_seconds(only, a));
	}
}

void served_find(const struct benchmark *benchmark, struct served *ret)
{
	double cpu = find_figure(benchmark, CPU), rate = find_figure(benchmark, RATE);
	double busy = find_figure(benchmark, BUSY);

	*ret = (struct served){ .latency_name = "" };
	if (isfinite(cpu))
		units_format_seconds(cpu, ret->cpu);
	if (isfinite(rate))
		snprintf(ret->rate, sizeof(ret->rate), rate >= 1000 ? "%.0f" : "%.3g", rate);
	if (isfinite(busy))
		snprintf(ret->busy, sizeof(ret->busy), "%.0f %%", 100 * busy);
	find_latency(benchmark, ret);
}

void served_append_load(struct text *t, const struct benchmark *benchmark, bool with_requests)
{
	const struct facts *facts = &benchmark->metadata;
	const char *load = facts_find_string(facts, METADATA_SERVED_LOAD);
	const char *cpus = facts_find_string(facts, METADATA_SERVED "load_cpus");
	const char *limit = facts_find_string(facts, METADATA_SERVED "limit");
	double requests = facts_find_real(facts, METADATA_SERVED "requests");
	double slices = facts_find_real(facts, METADATA_SERVED "slices");
	double rate = facts_find_real(facts, METADATA_SERVED "rate");

	text_append(t, "  load       ");
	text_append_n(t, load, strcspn(load, " "));
	if (rate > 0)
		text_appendf(t, ", open loop of %.15g requests/s", rate);
	else
		text_append(t, ", closed loop");
	if (cpus)
		text_appendf(t, ", CPU %s", cpus);
	if (slices > 0)
		text_appendf(t, ", %.0f slice%s a sitting", slices, slices > 1 ? "s" : "");
	if (with_requests && requests > 0)
		text_appendf(t, "; %.0f requests, none failed\n", requests);
	else
		text_append(t, "; no request failed\n");
	if (limit)
		text_appendf(t, "  limit      %s\n", limit);
}
