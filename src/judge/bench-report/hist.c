// SPDX-License-Identifier: GPL-2.0-or-later
/* hist: histograms. Benchmarks of the same name get the same scale, so that they can be
 * compared. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "base/terminal.h"
#include "base/xalloc.h"
#include "judge/bench-report/bench-report.h"
#include "judge/bench-report/export.h"
#include "judge/bench-report/files.h"
#include "judge/result/metadata.h"

/* The bins of all benchmarks of one name and unit. */
struct common_bins {
	const struct benchmark *benchmark; /* one of them */
	struct histogram *bins;
};

struct hist {
	const struct request *request;
	const struct reports *reports;
	struct emit emit;
	bool first;
	struct common_bins *known;
	size_t n_known;
	size_t next; /* where those of the next benchmark are looked for first */
};

static bool has_name(const struct benchmark *benchmark, const struct benchmark *other)
{
	return metadata_equal_strings(benchmark->name, other->name) &&
		unit_is_same(benchmark->unit, other->unit);
}

/* The bins for the values of all benchmarks of that name. */
static int find_bins(
	const struct hist *hist, const struct benchmark *benchmark, struct histogram **ret)
{
	_cleanup_free_ double *all = NULL;
	size_t n = 0, at = 0;

	for (size_t pass = 0; pass < 2; pass++) {
		for (size_t i = 0; i < hist->reports->n; i++) {
			const struct suite *suite = hist->reports->suites[i];

			for (size_t k = 0; k < suite->n; k++) {
				const struct benchmark *b = suite->benchmarks[k];

				if (!has_name(b, benchmark) || b->n_values == 0)
					continue;
				if (pass == 0) {
					n += b->n_values;
					continue;
				}
				memcpy(all + at, b->values, b->n_values * sizeof(*all));
				at += b->n_values;
			}
		}
		if (pass == 0)
			all = xptr((double *)reallocarray(NULL, n, sizeof(*all)));
	}
	stats_sort(all, n);
	return histogram_new(all, n, hist->request->bins, ret);
}

/* The same, borrowed. They are found once for each name, as all files are looked through for them.
 * Most often, files have the same benchmarks in the same order. */
static int get_bins(
	struct hist *hist, const struct benchmark *benchmark, const struct histogram **ret)
{
	struct common_bins *known;
	int r;

	for (size_t i = 0; i < hist->n_known; i++) {
		size_t at = (hist->next + i) % hist->n_known;

		if (!has_name(hist->known[at].benchmark, benchmark))
			continue;
		*ret = hist->known[at].bins;
		hist->next = at + 1;
		return 0;
	}
	hist->known = xptr(reallocarray(hist->known, hist->n_known + 1, sizeof(*known)));
	known = hist->known + hist->n_known;
	r = find_bins(hist, benchmark, &known->bins);
	if (r < 0)
		return r;
	known->benchmark = benchmark;
	*ret = known->bins;
	hist->next = ++hist->n_known;
	return 0;
}

/* `histogram` is NULL when there are no values. */
static void emit_histogram(struct hist *hist, const char *file, const struct benchmark *benchmark,
	const struct histogram *histogram)
{
	struct emit *emit = &hist->emit;

	emit_object(emit, NULL);
	emit_string(emit, "file", file);
	emit_string(emit, "name", benchmark->name);
	emit_counts(emit, benchmark);
	emit_bins(emit, histogram);
	emit_close(emit, '}');
}

static int hist_one(const char *file, const struct benchmark *benchmark, void *context)
{
	struct hist *hist = context;
	_cleanup_free_ char *title = reports_title(hist->request, file, benchmark);
	_cleanup_(histogram) struct histogram *own = NULL;
	const struct histogram *bins;
	_cleanup_free_ char *text = NULL;
	int r;

	if (benchmark->n_values == 0) {
		if (hist->request->json)
			emit_histogram(hist, file, benchmark, NULL);
		else
			xprint_report(stdout, "%s%s: no values\n", hist->first ? "" : "\n", title);
		hist->first = false;
		return 0;
	}
	r = get_bins(hist, benchmark, &bins);
	if (r < 0)
		return r;
	/* The order of the values is not needed here, so they are sorted in place. */
	stats_sort(benchmark->values, benchmark->n_values);
	own = histogram_recount(bins, benchmark->values, benchmark->n_values);
	if (hist->request->json) {
		emit_histogram(hist, file, benchmark, own);
		return 0;
	}
	text = histogram_render(own, benchmark->unit, (int)terminal_width(fileno(stdout)));
	xprint_report(stdout, "%s%s\n%s", hist->first ? "" : "\n", title, text);
	hist->first = false;
	return 0;
}

enum exit_status verb_hist(const struct request *request)
{
	_cleanup_reports_ struct reports reports = { 0 };
	struct hist hist = { .request = request, .emit.stream = stdout, .first = true };
	int r;

	if (reports_read(request, false, &reports) < 0)
		return EXIT_FAILED;
	hist.reports = &reports;
	r = reports_each_emit(request, &reports, hist_one, &hist, &hist.emit, "histograms");
	for (size_t i = 0; i < hist.n_known; i++)
		histogram_free(hist.known[i].bins);
	free(hist.known);
	return request_conclude(request, r);
}
