// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "judge/bench-report/latency.h"
#include "judge/report/analysis.h"

/* What runserved knows of the load besides the figure that decides. */
#define SERVED "quiesce_served_"

/* The part of the requests beyond the quantile of that name: 0.001 of "p999", "p99.9" and "GET
 * p99.9"; NAN for any other name. */
static double parse_quantile(const char *name)
{
	const char *space = strrchr(name, ' '), *p = space ? space + 1 : name;
	double beyond = 1, digit = 1;

	if (p[0] != 'p' || strspn(p + 1, "0123456789.") != strlen(p + 1) || strlen(p) < 3)
		return NAN;
	for (p++; *p; p++) {
		if (*p == '.')
			continue;
		digit /= 10;
		beyond -= (*p - '0') * digit;
	}
	return beyond > 1e-9 ? beyond : NAN;
}

const char *latency_point_name(
	const struct latency_point *point, char buf[static LATENCY_NAME_SIZE])
{
	/* Without the error of a binary fraction. */
	snprintf(buf, LATENCY_NAME_SIZE, "p%.6g", (1 - point->beyond) * 100);
	return buf;
}

static struct latency_curve *find_curve(struct latencies *latencies, const char *name)
{
	for (size_t i = 0; i < latencies->n; i++)
		if (strcmp(latencies->curves[i].name, name) == 0)
			return &latencies->curves[i];
	if (latencies->n == LATENCY_CURVES_MAX)
		return NULL;
	latencies->curves[latencies->n] = (struct latency_curve){ .name = xptr(strdup(name)) };
	return &latencies->curves[latencies->n++];
}

static void add_point(struct latencies *latencies, const char *name, struct latency_point point)
{
	struct latency_curve *curve = find_curve(latencies, name);

	for (size_t i = 0; curve && i < curve->n; i++)
		if (fabs(curve->points[i].beyond - point.beyond) < 1e-9)
			return;
	if (!curve || !(point.value > 0))
		return;
	curve->points = xptr(reallocarray(curve->points, curve->n + 1, sizeof(*curve->points)));
	curve->points[curve->n++] = point;
}

struct work {
	const struct request *request;
	struct latencies latencies;
};

/* The program, with its file where there are several, and with what a quantile is of: "GET". */
static char *name_curve(const struct work *work, const char *file, const struct benchmark *b)
{
	const char *program = facts_find_string(&b->metadata, "name");
	_cleanup_free_ char *plain = NULL;
	size_t length = 0;
	struct text t = { 0 };

	if (work->request->n_files > 1)
		text_appendf(&t, "%s: ", file_label(file));
	/* "PROGRAM: p99" is cut at the colon, "GET p99" at the space. */
	if (b->metric && text_ends_with(b->name, b->metric))
		length = strlen(b->name) - strlen(b->metric);
	while (length > 0 && strchr(": ", b->name[length - 1]))
		length--;
	if (length > 0)
		text_append_n(&t, b->name, length);
	else
		text_append(&t, program ? program : "requests");
	if (b->metric && strchr(b->metric, ' '))
		text_appendf(&t, " %.*s", (int)(strrchr(b->metric, ' ') - b->metric), b->metric);
	plain = xptr(text_steal(&t));
	return xptr(text_escape_control(plain));
}

static void add_served(struct work *work, const char *name, const struct facts *metadata)
{
	for (size_t i = 0; i < metadata->n; i++) {
		const char *key = metadata->items[i].name;
		double beyond =
			text_starts_with(key, SERVED) ? parse_quantile(key + strlen(SERVED)) : NAN;

		if (!isnan(beyond))
			add_point(&work->latencies, name,
				(struct latency_point){
					beyond, facts_find_real(metadata, key), NAN, NAN });
	}
}

static int add_benchmark(const char *file, const struct benchmark *b, void *context)
{
	struct work *work = context;
	_cleanup_(analysis) struct analysis *analysis = NULL;
	_cleanup_free_ char *name = NULL;
	double beyond = b->metric ? parse_quantile(b->metric) : NAN;
	int r;

	if (b->n_values == 0 || benchmark_is_control(b))
		return 0;
	name = name_curve(work, file, b);
	if (!isnan(beyond) && unit_is_time(b->unit)) {
		r = analysis_new(b, &analysis);
		if (r < 0)
			return r;
		add_point(&work->latencies, name,
			(struct latency_point){ beyond, analysis->unit_median,
				analysis->stats.has_interval ? analysis->stats.interval_low : NAN,
				analysis->stats.has_interval ? analysis->stats.interval_high
							     : NAN });
	}
	add_served(work, name, &b->metadata);
	return 0;
}

static int compare_points(const void *a, const void *b)
{
	const struct latency_point *x = a, *y = b;

	return (x->beyond < y->beyond) - (x->beyond > y->beyond);
}

void latencies_clear(struct latencies *latencies)
{
	for (size_t i = 0; i < latencies->n; i++) {
		free(latencies->curves[i].name);
		free(latencies->curves[i].points);
	}
	*latencies = (struct latencies){ 0 };
}

int latencies_new(
	const struct request *request, const struct reports *reports, struct latencies *ret)
{
	struct work work = { .request = request };
	bool is_curve = false;
	int r = reports_each(request, reports, add_benchmark, &work);

	for (size_t i = 0; i < work.latencies.n; i++) {
		struct latency_curve *curve = &work.latencies.curves[i];

		qsort(curve->points, curve->n, sizeof(*curve->points), compare_points);
		is_curve = is_curve || curve->n > 1;
	}
	if (r < 0 || !is_curve)
		latencies_clear(&work.latencies);
	*ret = work.latencies;
	return r;
}
