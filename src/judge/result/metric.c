// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "judge/result/metadata.h"
#include "judge/result/metric.h"
#include "judge/result/runfact.h"

struct metric {
	const char *name; /* of the fact, or of the event; borrowed */
	const struct unit *unit;
	enum better better;
	bool is_exact;
	double step;
	const struct run_fact *fact; /* NULL: it is an event */
	size_t event;
};

/* A counter of google-benchmark, which says nothing else of it. */
static bool is_rate(const char *name)
{
	return text_ends_with(name, "_per_second");
}

/* The metrics that the runs of a series may have. *index is 0 at first; false behind the last. */
static bool metric_next(const struct series *series, size_t *index, struct metric *ret)
{
	while (*index < run_n_facts && !run_facts[*index].is_cost)
		++*index;
	if (*index < run_n_facts) {
		const struct run_fact *fact = &run_facts[*index];

		*ret = (struct metric){ .name = fact->name, .unit = &unit_integer, .fact = fact };
		if (fact->unit == RUN_NS)
			ret->unit = UNIT_SECOND;
		else if (fact->unit == RUN_KIB)
			ret->unit = &unit_byte;
	} else if (*index - run_n_facts < series->n_events) {
		size_t event = *index - run_n_facts;

		const struct event_kind *kind = &series->event_kinds[event];

		*ret = (struct metric){
			.name = series->event_names[event],
			.unit = kind->unit,
			.better = kind->better,
			.is_exact = kind->is_exact,
			.step = kind->step,
			.event = event,
		};
		if (ret->better == BETTER_UNKNOWN && is_rate(ret->name))
			ret->better = BETTER_HIGHER;
	} else {
		return false;
	}
	++*index;
	return true;
}

static bool metric_find(const struct series *series, const char *name, struct metric *ret)
{
	for (size_t i = 0; metric_next(series, &i, ret);)
		if (strcmp(ret->name, name) == 0)
			return true;
	return false;
}

/* The processor time of a run is that of its tasks, as records tell it, or else what rusage tells,
 * whose two parts are only right together: the kernel divides them by the tick. */
static double find_processor_time(const struct series *series, size_t run)
{
	const struct evidence *evidence = series->with_evidence ? &series->evidence[run] : NULL;

	if (!evidence || evidence->user_cpu_ns < 0 || evidence->system_cpu_ns < 0)
		return NAN;
	return ((double)evidence->user_cpu_ns + (double)evidence->system_cpu_ns) / NSEC_PER_SEC;
}

/* NAN when it is not known. */
static double find_value(const struct series *series, const struct metric *metric, size_t run)
{
	struct run_place place = run_place_of(series, run, NULL);
	double value;

	if (!metric->fact)
		return series->counters[run * series->n_events + metric->event];
	value = run_fact_real(metric->fact, &place);
	return isnan(value) && strcmp(metric->name, METRIC_PROCESSOR_TIME) == 0
		? find_processor_time(series, run)
		: value;
}

double series_metric_at(const struct series *series, const char *name, size_t run)
{
	struct metric metric;

	return metric_find(series, name, &metric) ? find_value(series, &metric, run) : NAN;
}

const char *series_first_figure(const struct series *series)
{
	for (size_t i = 0; i < series->n_events; i++)
		if (series->event_kinds[i].own)
			return series->event_names[i];
	return NULL;
}

size_t series_metric(const struct series *series, const char *name, double *ret)
{
	struct metric metric;
	bool found = metric_find(series, name, &metric);
	size_t n = 0;

	for (size_t i = 0; i < series->n_samples; i++)
		if (sample_counts(&series->samples[i]))
			ret[n++] = found ? find_value(series, &metric, i) : NAN;
	return n;
}

static size_t count_known(const struct series *series, const struct metric *metric)
{
	size_t n = 0;

	for (size_t i = 0; i < series->n_samples; i++)
		n += sample_counts(&series->samples[i]) && isfinite(find_value(series, metric, i));
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
	for (size_t i = 0; metric_next(benchmark->series, &i, &metric);)
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
		if (n == before)
			series_leave_out(series, i);
	}
	benchmark->n_values = n;
	benchmark->unit = figure->unit;
	benchmark->metric = figure->name;
	benchmark->better = figure->kind.own ? figure->kind.better
		: is_rate(figure->name)	     ? BETTER_HIGHER
					     : BETTER_UNKNOWN;
	benchmark->is_exact = figure->kind.is_exact;
	benchmark->step = figure->kind.step;
	return 0;
}

/* Gives `ret` the metric as its values, one for each run of `of` that counts and for which it is
 * known. Both have the same series, and may be the same benchmark. */
static void take_metric(
	const struct benchmark *of, const struct metric *metric, struct benchmark *ret)
{
	const struct series *series = of->series;
	double *values = xptr(
		reallocarray(NULL, MAX(count_known(series, metric), (size_t)1), sizeof(*values)));
	size_t n = 0;

	if (!ret->runs)
		ret->runs = xptr(calloc(MAX(series->n_samples, (size_t)1), sizeof(*ret->runs)));
	for (size_t i = 0; i < series->n_samples; i++) {
		double value = find_value(series, metric, i);

		if (isfinite(value) && sample_counts(&series->samples[i]))
			values[n++] = value;
		ret->runs[i] = (struct benchmark_run){
			.end = n,
			.loops = 1,
			.inner_loops = 1,
			.before_level = -1,
			.has_turn = of->runs && of->runs[i].has_turn,
			.turn = of->runs ? of->runs[i].turn : 0,
		};
	}
	free(ret->values);
	ret->values = values;
	ret->n_values = n;
	ret->unit = metric->unit;
	ret->metric = metric->name;
	ret->better = metric->better;
	ret->is_exact = metric->is_exact;
	ret->step = metric->step;
}

int benchmark_choose_metric(struct benchmark *benchmark, const char *name)
{
	struct series *series = benchmark->series;
	struct metric metric;

	if (benchmark->own_unit && strcmp(benchmark->metric, name) == 0)
		return 0;
	benchmark->settling = (struct settling){ 0 };
	for (size_t i = 0; i < benchmark->n_figures; i++)
		if (strcmp(benchmark->figures[i].name, name) == 0)
			return choose_figure(benchmark, &benchmark->figures[i]);
	if (!metric_find(series, name, &metric) || count_known(series, &metric) == 0)
		return -ENODATA;
	take_metric(benchmark, &metric, benchmark);
	for (size_t i = 0; i < series->n_samples; i++)
		if (!isfinite(find_value(series, &metric, i)))
			series_leave_out(series, i);
	free(TAKE_PTR(benchmark->warmups));
	benchmark->n_warmups = 0;
	return 0;
}

bool metric_is_of_program(const char *name)
{
	static const char instructions[] = "instructions";
	size_t n = strlen(instructions);

	/* Of Go and JMH: what is allocated. */
	if (strcmp(name, "B/op") == 0 || strcmp(name, "allocs/op") == 0)
		return true;
	for (size_t i = 0; i < run_n_facts; i++)
		if (run_facts[i].is_of_program && strcmp(run_facts[i].name, name) == 0)
			return true;
	/* An event may have modifiers, "instructions:u". */
	return strncmp(name, instructions, n) == 0 && (name[n] == '\0' || name[n] == ':');
}

int benchmark_view_metric(
	const char *name, const struct series *series, const char *metric, struct benchmark *ret)
{
	struct benchmark view;
	struct metric found;
	int r = benchmark_view(name, series, &view);

	if (r < 0)
		return r;
	if (metric && !metric_find(series, metric, &found))
		r = -ENODATA;
	else if (metric)
		take_metric(&view, &found, &view);
	if (r >= 0 && view.n_values == 0)
		r = -ENODATA;
	if (r < 0)
		benchmark_clear_view(&view);
	else
		*ret = view;
	return r;
}

bool benchmark_has_figures(const struct benchmark *benchmark)
{
	return series_first_figure(benchmark->series);
}

/* A copy of a benchmark for one of its figures, without values. */
static struct benchmark *copy_without_values(
	const struct benchmark *of, const char *figure, bool with_name)
{
	const char *baseline = facts_find_string(&of->metadata, METADATA_BASELINE);
	struct benchmark *ret = xptr(calloc(1, sizeof(*ret)));

	*ret = (struct benchmark){
		.name = with_name ? xformat("%s: %s", of->name, figure) : xptr(strdup(figure)),
		.is_figure = true,
		.series = series_share(of->series),
		.total_seconds = of->total_seconds,
		.has_dates = of->has_dates,
		.first_date = of->first_date,
		.last_date = of->last_date,
	};
	facts_add(&ret->metadata, &of->metadata);
	facts_set_string(&ret->metadata, "name", ret->name);
	if (baseline) {
		_cleanup_free_ char *name = xformat("%s: %s", baseline, figure);

		facts_set_string(&ret->metadata, METADATA_BASELINE, name);
	}
	if (ret->metadata.failed)
		xalloc_fail();
	return ret;
}

/* Whether all runs that count made the same loops, several of them: they did the same work then,
 * where a harness that is told none chooses how much it does. */
static bool has_same_loops(const struct benchmark *benchmark)
{
	uint64_t loops = 0;

	for (size_t i = 0; benchmark->runs && i < benchmark->series->n_samples; i++) {
		if (!sample_counts(&benchmark->series->samples[i]))
			continue;
		if (loops != 0 && benchmark->runs[i].loops != loops)
			return false;
		loops = benchmark->runs[i].loops;
	}
	return loops > 1;
}

static struct benchmark *make_figure(
	const struct benchmark *of, const struct metric *metric, bool with_name)
{
	struct benchmark *ret = copy_without_values(of, metric->name, with_name);

	take_metric(of, metric, ret);
	ret->is_fixed_work = has_same_loops(of);
	/* Of the values that a hosted harness has given, which are times. */
	if (unit_is_time(ret->unit))
		ret->settling = of->settling;
	return ret;
}

struct benchmark **benchmark_split_chosen(
	const struct benchmark *benchmark, const char *chosen, bool with_name)
{
	struct benchmark **figures;
	struct metric metric;

	if (!chosen)
		return benchmark_split(benchmark, with_name);
	if (strcmp(chosen, METRIC_TIME) == 0 || !metric_find(benchmark->series, chosen, &metric) ||
		count_known(benchmark->series, &metric) == 0)
		return NULL;
	figures = xptr(calloc(2, sizeof(struct benchmark *)));
	figures[0] = make_figure(benchmark, &metric, with_name);
	return figures;
}

struct benchmark **benchmark_split(const struct benchmark *benchmark, bool with_name)
{
	struct benchmark **figures;
	struct metric metric;
	size_t n = 0;

	if (!benchmark_has_figures(benchmark))
		return NULL;
	figures = xptr(calloc(benchmark->series->n_events + 1, sizeof(struct benchmark *)));
	for (size_t i = 0; metric_next(benchmark->series, &i, &metric);)
		if (!metric.fact && benchmark->series->event_kinds[metric.event].own)
			figures[n++] = make_figure(benchmark, &metric, with_name);
	return figures;
}

/* Whether the figure is known for each run, at least of one of its values: runs that lack it could
 * not be left out, because others look at them. */
static bool is_known_for_all(const struct benchmark *b, const struct benchmark_figure *figure)
{
	for (size_t i = 0, value = 0; i < b->series->n_samples; i++) {
		bool known = value == b->runs[i].end;

		for (; value < b->runs[i].end; value++)
			known |= isfinite(figure->values[value]);
		if (!known)
			return false;
	}
	return true;
}

static struct benchmark *split_values(
	const struct benchmark *of, const struct benchmark_figure *figure)
{
	struct benchmark *ret = copy_without_values(of, figure->name, true);
	struct event_kind kind;
	size_t value = 0;

	ret->runs = xptr(reallocarray(NULL, of->series->n_samples, sizeof(*ret->runs)));
	ret->values = xptr(reallocarray(NULL, of->n_values, sizeof(*ret->values)));
	for (size_t i = 0; i < of->series->n_samples; i++) {
		ret->runs[i] = of->runs[i];
		ret->runs[i].warmup_end = 0;
		for (; value < of->runs[i].end; value++)
			if (isfinite(figure->values[value]))
				ret->values[ret->n_values++] = figure->values[value];
		ret->runs[i].end = ret->n_values;
	}
	kind = figure_kind(figure->kind.own->name, figure->kind.better, figure->kind.step,
		figure->kind.is_exact);
	benchmark_set_kind(ret, &kind);
	return ret;
}

struct benchmark **benchmark_split_values(const struct benchmark *benchmark)
{
	struct benchmark **ret = NULL;
	size_t n = 0;

	for (size_t i = 0; i < benchmark->n_figures; i++) {
		const struct benchmark_figure *figure = &benchmark->figures[i];

		if (!figure->kind.own || benchmark->n_values == 0 ||
			!is_known_for_all(benchmark, figure))
			continue;
		ret = xptr((struct benchmark **)reallocarray(ret, n + 2, sizeof(*ret)));
		ret[n++] = split_values(benchmark, figure);
		ret[n] = NULL;
	}
	return ret;
}
