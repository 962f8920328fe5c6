// SPDX-License-Identifier: GPL-2.0-or-later
/* why: what moves a result, of all that runpinned --vary has drawn anew for each run. */
#include <errno.h>
#include <math.h>
#include <stdio.h>

#include "base/macro.h"
#include "base/xalloc.h"
#include "judge/bench-report/bench-report.h"
#include "judge/bench-report/column.h"
#include "judge/bench-report/files.h"
#include "judge/report/why.h"

struct asked {
	const struct request *request;
	struct emit emit;
	size_t n; /* benchmarks that were varied */
};

static const char *kind_name(enum why_kind kind)
{
	static const char *const names[] = {
		[WHY_FACTOR] = "factor",
		[WHY_SWITCH] = "switch",
		[WHY_DRAW] = "draw",
		[WHY_REST] = "rest",
	};

	return names[kind];
}

static const char *where_name(enum factor_where where)
{
	static const char *const names[] = {
		[FACTOR_EVERYWHERE] = "everywhere",
		[FACTOR_WHERE_HELD] = "fixed addresses",
		[FACTOR_WHERE_DRAWN] = "random addresses",
	};

	return names[where];
}

static int emit_row(struct sheet *sheet, const struct why_row *row)
{
	bool is_factor = row->kind == WHY_FACTOR, is_rest = row->kind == WHY_REST;

	sheet_begin(sheet);
	put_text(sheet, kind_name(row->kind), "kind");
	put_text(sheet, is_rest ? NULL : row->name, "factor");
	put_real(sheet, row->effect.share, "share");
	put_real(sheet, row->effect.low, "low");
	put_real(sheet, row->effect.high, "high");
	put_real(sheet, is_rest ? NAN : row->effect.p, "p");
	put_bool(sheet, row->effect.found, "found");
	put_text(sheet, is_factor ? where_name(row->effect.where) : NULL, "where");
	put_real(sheet, is_factor ? row->lowest : NAN, "lowest");
	put_real(sheet, is_factor ? row->highest : NAN, "highest");
	put_real(sheet, is_rest ? NAN : row->change, "change");
	return sheet_end_row(sheet);
}

static int emit_why(struct emit *emit, const char *file, const struct benchmark *benchmark,
	const struct why *why)
{
	struct sheet sheet = { .emit = emit };
	int r = 0;

	emit_object(emit, NULL);
	emit_string(emit, "file", file);
	emit_string(emit, "name", benchmark->name);
	emit_integer(emit, "runs", (int64_t)why->n_runs);
	emit_integer(emit, "runs_needed", (int64_t)why->n_least);
	emit_real(emit, "deviation", why->n > 0 ? why->deviation : NAN);
	emit_string(emit, "not_varied", why->held);
	emit_array(emit, "rows");
	for (size_t i = 0; r >= 0 && i < why->n; i++)
		r = emit_row(&sheet, &why->rows[i]);
	emit_close(emit, ']');
	emit_close(emit, '}');
	return r;
}

static int print_one(const char *file, const struct benchmark *benchmark, void *context)
{
	struct asked *asked = context;
	_cleanup_free_ char *title = reports_title(asked->request, file, benchmark), *text = NULL;
	_cleanup_(why) struct why *why = NULL;
	int r = why_compute(benchmark, &why);

	if (r < 0) {
		say("%s: %s", title, why_explain(r));
		return 0;
	}
	asked->n++;
	if (asked->request->json)
		return emit_why(&asked->emit, file, benchmark, why);
	text = why_render(why);
	xprint_report(stdout, "%s%s: %s", asked->n > 1 ? "\n" : "", title, text);
	return 0;
}

/* Fails where nothing was varied: that is no answer to the question. */
enum exit_status verb_why(const struct request *request)
{
	_cleanup_reports_ struct reports reports = { 0 };
	struct asked asked = { .request = request, .emit.stream = stdout };
	int r;

	if (reports_read(request, true, &reports) < 0)
		return EXIT_FAILED;
	r = reports_each_emit(request, &reports, print_one, &asked, &asked.emit, "benchmarks");
	return request_conclude(request, r >= 0 && asked.n == 0 ? -ENOENT : r);
}
