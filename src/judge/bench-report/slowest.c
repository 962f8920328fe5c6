// SPDX-License-Identifier: GPL-2.0-or-later
/* slowest: the benchmarks, sorted by how long it took to measure them. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/macro.h"
#include "base/xalloc.h"
#include "judge/bench-report/bench-report.h"
#include "judge/bench-report/column.h"
#include "judge/bench-report/files.h"

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

	slowest->entries =
		xptr(reallocarray(slowest->entries, slowest->n + 1, sizeof(*slowest->entries)));
	slowest->entries[slowest->n] = (struct entry){
		.title = reports_title(slowest->request, file, benchmark),
		.file = file,
		.benchmark = benchmark,
		.order = slowest->n,
	};
	slowest->n++;
	return 0;
}

/* The longest first; equal ones in the order of the files. */
static int compare_entries(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	if (x->benchmark->total_seconds != y->benchmark->total_seconds)
		return x->benchmark->total_seconds < y->benchmark->total_seconds ? 1 : -1;
	return x->order < y->order ? -1 : 1;
}

static int add_entry(struct sheet *sheet, const struct entry *entry)
{
	const struct benchmark *b = entry->benchmark;
	double seconds = b->total_seconds > 0 ? b->total_seconds : NAN;
	struct scale scale =
		scale_shows(sheet->scale, seconds) ? sheet->scale : scale_choose(seconds);
	char time[UNITS_TEXT_SIZE] = "?";

	if (!isnan(seconds))
		scale_format(scale, seconds, time);
	sheet_begin(sheet);
	put_cell(sheet, entry->title, "BENCHMARK", TABLE_WRAP | TABLE_BREAK);
	put_text(sheet, entry->file, "file");
	put_text(sheet, b->name, "name");
	put_real(sheet, seconds, "seconds");
	put_cell(sheet, time, "TIME", TABLE_RIGHT);
	put_integer(sheet, b->series->n_samples, "runs", .heading = "RUNS");
	put_integer(sheet, b->n_values, "values", .heading = "VALUES");
	return sheet_end_row(sheet);
}

static int print_entries(const struct slowest *slowest)
{
	struct emit emit = { .stream = stdout };
	struct sheet sheet = {
		.emit = slowest->request->json ? &emit : NULL,
		.scale = scale_choose(slowest->entries[0].benchmark->total_seconds),
	};
	int r = 0;

	sheet_begin(&sheet);
	sheet_begin_rows(&sheet, "slowest");
	for (size_t i = 0; r >= 0 && i < slowest->n; i++)
		r = add_entry(&sheet, &slowest->entries[i]);
	return sheet_end(&sheet, r);
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
		r = print_entries(&slowest);
	}
	for (size_t i = 0; i < n_all; i++)
		free(slowest.entries[i].title);
	free(slowest.entries);
	return request_conclude(request, r);
}
