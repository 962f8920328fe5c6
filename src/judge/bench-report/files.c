// SPDX-License-Identifier: GPL-2.0-or-later
#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/guess.h"
#include "base/macro.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "judge/bench-report/bench-report.h"
#include "judge/bench-report/column.h"
#include "judge/bench-report/files.h"
#include "judge/import/import.h"
#include "judge/report/decision.h"
#include "judge/result/metadata.h"
#include "judge/result/metric.h"
#include "judge/result/settling.h"
#include "judge/stats/steady.h"

enum {
	LEFT_OUT_SAID = 8, /* benchmarks of a history; the others are counted */
};

/* --- Their names --- */

const char *file_label(const char *file)
{
	return strcmp(file, "-") == 0 ? "standard input" : file;
}

void folders_clear(struct file_names *names)
{
	for (size_t i = 0; i < names->n; i++)
		free(names->items[i]);
	free(names->items);
}

static void add_name(struct file_names *names, const char *directory, const char *name)
{
	const char *slash = directory && !text_ends_with(directory, "/") ? "/" : "";

	names->items = xptr(reallocarray(names->items, names->n + 1, sizeof(char *)));
	names->items[names->n++] = xformat("%s%s%s", directory ? directory : "", slash, name);
}

static int is_result(const struct dirent *entry)
{
	/* asv describes the machine beside its results. */
	return entry->d_name[0] != '.' && strcmp(entry->d_name, "machine.json") != 0 &&
		(text_ends_with(entry->d_name, ".json") ||
			text_ends_with(entry->d_name, ".json.gz"));
}

/* Whether it is the file that is about to be written: an earlier one of the same name. */
static bool is_output(const char *directory, const char *name, const char *output)
{
	_cleanup_free_ char *path = NULL;

	if (!output)
		return false;
	path = xformat("%s/%s", directory, name);
	return file_is_same(path, output);
}

/* Says what is wrong. */
static int add_directory(struct file_names *names, const char *directory, const char *output)
{
	struct dirent **entries;
	int n = scandir(directory, &entries, is_result, alphasort);
	size_t before = names->n;

	if (n < 0) {
		int r = xcheck(-errno);

		say_errno(r, "cannot read %s", directory);
		return r;
	}
	for (int i = 0; i < n; i++) {
		if (!is_output(directory, entries[i]->d_name, output))
			add_name(names, directory, entries[i]->d_name);
		free(entries[i]);
	}
	free(entries);
	names->has_folder = true;
	if (names->n == before) {
		say("%s: no result there ends in .json or .json.gz", directory);
		return -ENOENT;
	}
	return 0;
}

int folders_expand(const struct request *request, struct file_names *ret)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < request->n_files; i++) {
		const char *file = request->files[i];
		struct stat st;

		if (strcmp(file, "-") != 0 && stat(file, &st) == 0 && S_ISDIR(st.st_mode))
			r = add_directory(ret, file, request->output);
		else
			add_name(ret, NULL, file);
	}
	return r;
}

/* --- One of them --- */

/* A metric belongs to a whole run: for values that a program measured itself, it is already judged
 * with the program. */
static void drop_repeated(struct suite *suite)
{
	size_t n = 0;
	bool any = false;

	for (size_t i = 0; i < suite->n; i++)
		any = any || !benchmark_is_by_program(suite->benchmarks[i]);
	for (size_t i = 0; any && i < suite->n; i++) {
		if (benchmark_is_by_program(suite->benchmarks[i]))
			benchmark_free(suite->benchmarks[i]);
		else
			suite->benchmarks[n++] = suite->benchmarks[i];
	}
	if (any)
		suite->n = n;
}

struct metric_names {
	struct text text; /* ", user_cpu, cycles, " */
	struct guess guess;
};

static void add_metric_name(void *context, const char *metric)
{
	struct metric_names *names = context;
	_cleanup_free_ char *word = xformat(", %s, ", metric);

	guess_offer(&names->guess, metric);
	if (!names->text.data)
		text_append(&names->text, word);
	else if (!strstr(names->text.data, word))
		text_append(&names->text, word + 2);
}

/* Says which metrics a file has. */
static void say_metrics(const char *file, const struct suite *suite, const char *wanted)
{
	struct metric_names names = { .guess = { .word = wanted } };
	char meant[GUESS_TEXT_SIZE];

	for (size_t i = 0; i < suite->n; i++)
		benchmark_list_metrics(suite->benchmarks[i], add_metric_name, &names);
	if (names.text.length == 0)
		say("%s has no metric '%s' and no other one: it has only the values of its runs",
			file_label(file), wanted);
	else
		say("%s has no metric '%s', but %.*s%s", file_label(file), wanted,
			(int)names.text.length - 4, names.text.data + 2,
			guess_text(&names.guess, "", meant));
	text_clear(&names.text);
}

/* The metric is known for no run, so no run counts any more, like a run for which it is unknown. */
static void drop_values(struct benchmark *benchmark)
{
	struct series *series = benchmark->series;

	for (size_t i = 0; i < series->n_samples; i++) {
		benchmark->runs[i].end = 0;
		series_leave_out(series, i);
	}
	benchmark->n_values = 0;
}

/* Benchmarks without the metric then have no values. -ENOENT, after saying so, when no benchmark of
 * the file has it. */
static int choose_metric(const char *file, struct suite *suite, const char *metric)
{
	size_t n_known = 0;

	for (size_t i = 0; i < suite->n; i++)
		n_known += benchmark_choose_metric(suite->benchmarks[i], metric) >= 0;
	if (n_known == 0) {
		say_metrics(file, suite, metric);
		return -ENOENT;
	}
	for (size_t i = 0; i < suite->n; i++)
		if (!suite->benchmarks[i]->metric ||
			strcmp(suite->benchmarks[i]->metric, metric) != 0)
			drop_values(suite->benchmarks[i]);
	drop_repeated(suite);
	return 0;
}

static size_t count(struct benchmark *const *benchmarks)
{
	size_t n = 0;

	while (benchmarks && benchmarks[n])
		n++;
	return n;
}

/* Puts the figures of programs in the place of how long these ran, and those beside the values of
 * another tool behind these. */
static void split(struct suite *suite)
{
	struct benchmark **all = NULL;
	size_t n_all = 0, n_programs = 0;

	for (size_t i = 0; i < suite->n; i++)
		n_programs += benchmark_has_figures(suite->benchmarks[i]);
	for (size_t i = 0; i < suite->n; i++) {
		struct benchmark *b = suite->benchmarks[i];
		_cleanup_free_ struct benchmark **figures = benchmark_split(b, n_programs > 1);
		_cleanup_free_ struct benchmark **beside =
			figures ? NULL : benchmark_split_values(b);
		size_t n = count(figures), n_beside = count(beside);

		all = xptr((struct benchmark **)reallocarray(
			all, n_all + n + n_beside + 1, sizeof(*all)));
		if (figures)
			benchmark_free(b);
		else
			all[n_all++] = b;
		for (size_t k = 0; k < n; k++)
			all[n_all++] = figures[k];
		for (size_t k = 0; k < n_beside; k++)
			all[n_all++] = beside[k];
	}
	free(suite->benchmarks);
	suite->benchmarks = all;
	suite->n = n_all;
}

/* Whether a file that was read without evidence has figures, which are read with it. */
static bool has_unread_figures(const struct suite *suite)
{
	for (size_t i = 0; i < suite->n; i++)
		for (size_t k = 0; k < suite->benchmarks[i]->metadata.n; k++)
			if (text_starts_with(
				    suite->benchmarks[i]->metadata.items[k].name, METADATA_FIGURE))
				return true;
	return false;
}

void say_left_out(const char *file, const struct facts *left_out)
{
	for (size_t i = 0; i < left_out->n; i++)
		say("%s: left out: %s %s", file_label(file), left_out->items[i].name,
			left_out->items[i].string);
}

/* Where the values of each run settle; with --from-level those before are left out, which is said.
 */
static int settle(const struct request *request, const char *file, const struct suite *suite)
{
	for (size_t i = 0; i < suite->n; i++) {
		struct benchmark *b = suite->benchmarks[i];
		int r = settling_find(b);

		if (r < 0)
			return r;
		if (!request->from_level)
			continue;
		settling_leave_out(b);
		if (b->settling.n_runs == 0)
			say("note: %s: %s: --from-level leaves out nothing: no run has %d values or more",
				file_label(file), b->name, STEADY_MIN_VALUES);
		else
			say("note: %s: %s: --from-level leaves out %zu of %zu values; %zu of %zu run%s "
			    "on no level, and keep%s all",
				file_label(file), b->name, b->settling.n_left_out,
				b->settling.n_left_out + b->n_values, b->settling.n_none,
				b->settling.n_runs, b->settling.n_runs == 1 ? " is" : "s are",
				b->settling.n_none == 1 ? "s" : "");
	}
	return 0;
}

/* Says nothing of what is left out, which suite->left_out has, and nothing of a file in which all
 * is: -ENODATA with *ret_why. */
static void say_refused(const char *file, const char *why, const struct import *import)
{
	_cleanup_free_ char *hint = import_hint(import);

	say("%s:%s%s", file_label(file), why, hint);
}

static int read_file(const struct request *request, const char *file, bool with_evidence,
	struct suite **ret, char **ret_why)
{
	_cleanup_(suite) struct suite *suite = NULL;
	_cleanup_import_ struct import import = { 0 };
	_cleanup_free_ char *why = NULL;
	bool splits = request->verb->options & TAKES_METRIC;
	bool is_asked = request->metric && strcmp(request->metric, METRIC_TIME) == 0;
	bool with_all = with_evidence || request->metric || (splits && strcmp(file, "-") == 0);
	int r;

	r = import_open(file, request->harness, &import, &why);
	with_all |= import.is_imported;
	if (r >= 0)
		r = suite_read_input(import.input, with_all, &suite, &why);
	if (r >= 0 && splits && !with_all && has_unread_figures(suite)) {
		suite_free(TAKE_PTR(suite));
		r = suite_read(file, true, &suite, &why);
	}
	if (r == -ENODATA && why)
		*ret_why = TAKE_PTR(why);
	else if (r < 0 && why)
		say_refused(file, why, &import);
	else if (r < 0)
		say_errno(r, "cannot read %s", file_label(file));
	if (r < 0)
		return r;
	/* What was imported is read as a result of ours, in which nothing is left out any more. */
	if (import.is_imported) {
		facts_clear(&suite->left_out);
		suite->left_out = import.left_out;
		import.left_out = (struct facts){ 0 };
	}
	if (request->from_level || request->verb->options & SAYS_LEVEL) {
		r = settle(request, file, suite);
		if (r < 0) {
			say_errno(r, "cannot find the levels of %s", file_label(file));
			return r;
		}
	}
	/* How long a program ran is what it was before. */
	if (request->metric && !is_asked)
		r = choose_metric(file, suite, request->metric);
	else if (splits && !request->metric)
		split(suite);
	if (r < 0)
		return r;
	for (size_t i = 0; i < suite->n; i++) {
		suite->benchmarks[i]->is_asked = is_asked;
		if (unit_is_time(suite->benchmarks[i]->unit))
			suite->benchmarks[i]->unit = request->unit;
	}
	*ret = TAKE_PTR(suite);
	return 0;
}

int report_read(
	const struct request *request, const char *file, bool with_evidence, struct suite **ret)
{
	_cleanup_free_ char *why = NULL;
	int r = read_file(request, file, with_evidence, ret, &why);

	if (r == -ENODATA && why)
		say("%s:%s", file_label(file), why);
	if (r >= 0)
		say_left_out(file, &(*ret)->left_out);
	return r;
}

/* --- All of them --- */

int reports_read(const struct request *request, bool with_evidence, struct reports *ret)
{
	_cleanup_reports_ struct reports reports = { 0 };

	reports.suites = xptr(calloc(request->n_files, sizeof(struct suite *)));
	for (size_t i = 0; i < request->n_files; i++) {
		int r = report_read(request, request->files[i], with_evidence, &reports.suites[i]);

		if (r < 0)
			return r;
		reports.n++;
	}
	*ret = reports;
	reports = (struct reports){ 0 };
	return 0;
}

int reports_read_history(const struct request *request, struct reports *ret)
{
	_cleanup_reports_ struct reports reports = { 0 };
	size_t n_said = 0, n_more = 0, n_files = 0;

	reports.suites = xptr(calloc(request->n_files, sizeof(struct suite *)));
	for (size_t i = 0; i < request->n_files; i++) {
		const char *file = request->files[i];
		_cleanup_free_ char *why = NULL;
		int r = read_file(request, file, false, &reports.suites[i], &why);
		bool is_empty = r == -ENODATA && why;
		size_t n;

		if (r < 0 && (!is_empty || request->n_files == 1)) {
			if (is_empty)
				say("%s:%s", file_label(file), why);
			return r;
		}
		if (is_empty)
			reports.suites[i] = xptr(calloc(1, sizeof(struct suite)));
		reports.n++;
		n = is_empty ? 1 : reports.suites[i]->left_out.n;
		if (n == 0)
			continue;
		if (n_said + n > LEFT_OUT_SAID) {
			n_more += n;
			n_files++;
			continue;
		}
		n_said += n;
		if (is_empty)
			say("%s:%s", file_label(file), why);
		else
			say_left_out(file, &reports.suites[i]->left_out);
	}
	if (n_more > 0)
		say("left out: %zu %sbenchmark%s of %zu file%s, which failed or have no value",
			n_more, n_said > 0 ? "more " : "", n_more == 1 ? "" : "s", n_files,
			n_files == 1 ? "" : "s");
	*ret = reports;
	reports = (struct reports){ 0 };
	return 0;
}

void reports_clear(struct reports *reports)
{
	for (size_t i = 0; i < reports->n; i++)
		suite_free(reports->suites[i]);
	free(reports->suites);
	*reports = (struct reports){ 0 };
}

/* A benchmark that the request selects. */
struct entry {
	const char *file;
	const struct benchmark *benchmark;
	double median; /* when they are sorted by it */
	size_t order;  /* in the files */
};

static int compare_entries(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	return (x->order > y->order) - (x->order < y->order);
}

static int compare_names(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;
	int order = strcmp(x->benchmark->name, y->benchmark->name);

	return order != 0 ? order : compare_entries(a, b);
}

/* Benchmarks without values come last. */
static int compare_medians(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	if (isnan(x->median) || isnan(y->median))
		return isnan(x->median) == isnan(y->median) ? compare_entries(a, b)
							    : isnan(x->median) - isnan(y->median);
	if (x->median != y->median)
		return x->median < y->median ? -1 : 1;
	return compare_entries(a, b);
}

static struct entry *select_entries(
	const struct request *request, const struct reports *reports, size_t *ret_n)
{
	struct entry *entries;
	size_t n = 0, most = 0;

	for (size_t i = 0; i < reports->n; i++)
		most += reports->suites[i]->n;
	entries = xptr(calloc(MAX(most, (size_t)1), sizeof(*entries)));
	for (size_t i = 0; i < reports->n; i++) {
		for (size_t k = 0; k < reports->suites[i]->n; k++) {
			const struct benchmark *benchmark = reports->suites[i]->benchmarks[k];

			if (request->benchmark &&
				!metadata_equal_strings(benchmark->name, request->benchmark))
				continue;
			entries[n] = (struct entry){ request->files[i], benchmark, NAN, n };
			if (request->sort == SORT_VALUE)
				(void)benchmark_median(benchmark, &entries[n].median);
			n++;
		}
	}
	if (request->sort != SORT_NONE)
		qsort(entries, n, sizeof(*entries),
			request->sort == SORT_NAME ? compare_names : compare_medians);
	*ret_n = n;
	return entries;
}

void reports_say_none(const struct request *request, const struct reports *reports)
{
	enum {
		SHOWN = 6
	};
	struct guess guess = { .word = request->benchmark };
	_cleanup_text_ struct text names = { 0 };
	char meant[GUESS_TEXT_SIZE];
	size_t n = 0;

	for (size_t i = 0; i < reports->n; i++) {
		const struct suite *suite = reports->suites[i];

		for (size_t k = 0; k < suite->n; k++) {
			const char *name = suite->benchmarks[k]->name;

			/* Further files mostly have the same names. */
			if (i > 0 && suite_find(reports->suites[0], name))
				continue;
			guess_offer(&guess, name);
			text_append_name(&names, n++, SHOWN, "%s", name);
		}
	}
	text_append_rest(&names, n, SHOWN);
	if (names.failed)
		xalloc_fail();
	say("no benchmark is named '%s'%s%s%s", request->benchmark, guess_text(&guess, "", meant),
		n > 0 ? "; there are: " : "", n > 0 ? names.data : "");
}

int reports_each(const struct request *request, const struct reports *reports,
	int (*each)(const char *file, const struct benchmark *benchmark, void *context),
	void *context)
{
	size_t n;
	_cleanup_free_ struct entry *entries = select_entries(request, reports, &n);
	int r = 0;

	for (size_t i = 0; r >= 0 && i < n; i++)
		r = each(entries[i].file, entries[i].benchmark, context);
	if (r < 0 || n > 0)
		return MIN(r, 0);
	reports_say_none(request, reports);
	return -ENOENT;
}

int reports_each_emit(const struct request *request, const struct reports *reports,
	int (*each)(const char *file, const struct benchmark *benchmark, void *context),
	void *context, struct emit *emit, const char *name)
{
	struct sheet sheet = { .emit = request->json ? emit : NULL };

	sheet_begin(&sheet);
	sheet_begin_rows(&sheet, name);
	return sheet_end(&sheet, reports_each(request, reports, each, context));
}

char *reports_title(
	const struct request *request, const char *file, const struct benchmark *benchmark)
{
	_cleanup_free_ char *plain = NULL;
	struct text t = { 0 };

	if (request->n_files > 1)
		text_appendf(&t, "%s: ", file_label(file));
	text_append(&t, benchmark->name);
	if (benchmark->metric && !benchmark->is_figure)
		text_appendf(&t, " (%s)", benchmark->metric);
	plain = xptr(text_steal(&t));
	return xptr(text_escape_control(plain));
}

enum exit_status request_conclude(const struct request *request, int r)
{
	if (print_finish(stdout) < 0) {
		/* If fflush() does not say why, the verb may have noticed the error before (r);
		 * otherwise the cause is unknown by now. */
		if (errno > 0)
			r = -errno;
		else if (r == 0)
			r = -EIO;
		/* The reader of the pipe has read enough, as in `bench-report ... | head`. */
		if (r == -EPIPE)
			return EXIT_FAILED;
		say_errno(r, "cannot write to standard output");
		return EXIT_FAILED;
	}
	if (r < 0 && r != -ENOENT)
		say_errno(r, "%s", request->verb->name);
	return r < 0 ? EXIT_FAILED : EXIT_DONE;
}
