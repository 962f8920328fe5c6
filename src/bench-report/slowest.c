// SPDX-License-Identifier: GPL-2.0-or-later
/* slowest: the benchmarks, sorted by how long it took to measure them. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "basic/macro.h"
#include "basic/table.h"
#include "bench-report/bench-report.h"

struct entry {
	char *title;
	const char *file;
	const struct benchmark *benchmark;
	size_t order; /* its position in the files */
};

struct slowest {
	const struct request *request;
	struct entry *entries;
	size_t n;
};

static int slowest_one(const char *file, const struct benchmark *benchmark, void *context)
{
	struct slowest *slowest = context;
	struct entry *entries = reallocarray(slowest->entries, slowest->n + 1, sizeof(*entries));

	if (!entries)
		return -ENOMEM;
	slowest->entries = entries;
	entries[slowest->n] = (struct entry){
		.title = reports_title(slowest->request, file, benchmark),
		.file = file,
		.benchmark = benchmark,
		.order = slowest->n,
	};
	return entries[slowest->n++].title ? 0 : -ENOMEM;
}

/* The longest first; equal ones in the order of the files. */
static int compare_entries(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	if (x->benchmark->total_seconds != y->benchmark->total_seconds)
		return x->benchmark->total_seconds < y->benchmark->total_seconds ? 1 : -1;
	return x->order < y->order ? -1 : 1;
}

static int print_entries(const struct slowest *slowest)
{
	static const struct table_column columns[] = {
		{ "BENCHMARK", TABLE_WRAP | TABLE_BREAK },
		{ "TIME", TABLE_RIGHT },
		{ "RUNS", TABLE_RIGHT },
		{ "VALUES", TABLE_RIGHT },
	};
	_cleanup_(table) struct table *table = NULL;
	struct scale scale =
		scale_choose(slowest->n > 0 ? slowest->entries[0].benchmark->total_seconds : 0);
	int r;

	r = table_new("slowest", columns, ARRAY_SIZE(columns), false, stdout, &table);
	for (size_t i = 0; r >= 0 && i < slowest->n; i++) {
		const struct benchmark *b = slowest->entries[i].benchmark;
		struct scale own = scale_shows(scale, b->total_seconds)
			? scale
			: scale_choose(b->total_seconds);
		char time[UNITS_TEXT_SIZE], runs[32], values[32];

		snprintf(runs, sizeof(runs), "%zu", b->series->n_samples);
		snprintf(values, sizeof(values), "%zu", b->n_values);
		r = table_add(table,
			(const char *const[]){ slowest->entries[i].title,
				b->total_seconds > 0 ? scale_format(own, b->total_seconds, time)
						     : "?",
				runs, values });
	}
	return r < 0 ? r : table_print(table);
}

static int emit_entries(const struct slowest *slowest)
{
	struct emit emit = { .stream = stdout };

	emit_object(&emit, NULL);
	emit_array(&emit, "slowest");
	for (size_t i = 0; i < slowest->n; i++) {
		const struct benchmark *b = slowest->entries[i].benchmark;

		emit_object(&emit, NULL);
		emit_string(&emit, "file", slowest->entries[i].file);
		emit_string(&emit, "name", b->name);
		emit_real(&emit, "seconds", b->total_seconds > 0 ? b->total_seconds : NAN);
		emit_integer(&emit, "runs", (int64_t)b->series->n_samples);
		emit_integer(&emit, "values", (int64_t)b->n_values);
		emit_close(&emit, '}');
	}
	emit_close(&emit, ']');
	emit_close(&emit, '}');
	return emit_finish(&emit);
}

enum exit_status verb_slowest(const struct request *request)
{
	_cleanup_reports_ struct reports reports = { 0 };
	struct slowest slowest = { .request = request };
	size_t n_all;
	int r;

	if (reports_read(request, false, &reports) < 0)
		return EXIT_FAILED;
	r = reports_each(request, &reports, slowest_one, &slowest);
	n_all = slowest.n;
	if (r >= 0) {
		qsort(slowest.entries, slowest.n, sizeof(*slowest.entries), compare_entries);
		if (request->count > 0)
			slowest.n = MIN(slowest.n, (size_t)request->count);
		r = request->json ? emit_entries(&slowest) : print_entries(&slowest);
	}
	for (size_t i = 0; i < n_all; i++)
		free(slowest.entries[i].title);
	free(slowest.entries);
	return request_conclude(request, r);
}
