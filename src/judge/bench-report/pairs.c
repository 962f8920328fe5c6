// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "base/say.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "judge/bench-report/export.h"
#include "judge/bench-report/pairs.h"
#include "judge/report/compare.h"
#include "judge/report/control.h"
#include "judge/report/turns.h"
#include "judge/result/metadata.h"
#include "judge/result/scan.h"
#include "judge/stats/multiple.h"

bool pairs_have_several_new(const struct pairs *pairs)
{
	return pairs->request->n_old == 0 && pairs->reports->n > 2;
}

/* The only benchmark of a file, without the control; NULL when there are several. */
static const struct benchmark *find_only(const struct suite *suite)
{
	const struct benchmark *found = NULL;

	for (size_t i = 0; i < suite->n; i++) {
		if (benchmark_is_control(suite->benchmarks[i]) && suite->n > 1)
			continue;
		if (found)
			return NULL;
		found = suite->benchmarks[i];
	}
	return found;
}

/* Applies the rule "/old/new/" of --rename, if its text is in the name; malloc'd, else NULL. */
static char *apply_rule(const char *rule, const char *name)
{
	const char *middle = strchr(rule + 1, *rule), *end = strchr(middle + 1, *rule), *at;
	_cleanup_free_ char *from = xptr(strndup(rule + 1, (size_t)(middle - rule - 1)));

	at = strstr(name, from);
	if (!at)
		return NULL;
	return xformat("%.*s%.*s%s", (int)(at - name), name, (int)(end - middle - 1), middle + 1,
		at + strlen(from));
}

/* The benchmark of a NEW file, or of another OLD one, that belongs to one of OLD; NULL where there
 * is none. */
static const struct benchmark *find_partner(
	const struct pairs *pairs, const struct benchmark *old, size_t file)
{
	const struct suite *suite = pairs->reports->suites[file];
	_cleanup_free_ char *name = NULL;
	size_t index;

	for (size_t i = 0; !name && file >= MAX(pairs->request->n_old, (size_t)1) &&
		i < pairs->request->n_renames;
		i++)
		name = apply_rule(pairs->request->renames[i], old->name);
	index = suite_find_index(suite, name ? name : old->name);
	if (index == SIZE_MAX)
		return NULL;
	pairs->owned[file][index] = true;
	return suite->benchmarks[index];
}

bool pairs_are_one_each(const struct pairs *pairs)
{
	for (size_t i = 0; i < pairs->reports->n; i++)
		if (!find_only(pairs->reports->suites[i]))
			return false;
	return !pairs->request->benchmark;
}

/* Compares by the controls that were run in turn with the two, if there are any. */
static int apply_controls(struct pairs *pairs, struct comparison *comparison, size_t file)
{
	const struct suite *old = pairs->reports->suites[0], *new = pairs->reports->suites[file];
	const struct benchmark *old_control, *new_control;
	_cleanup_free_ char *why = NULL;
	int r;

	if (comparison->n_pairs > 0)
		return 0;
	old_control = control_find(old->benchmarks, old->n, comparison->old);
	new_control = control_find(new->benchmarks, new->n, comparison->new);
	if (!old_control || !new_control)
		return 0;
	r = control_apply(comparison, old_control, new_control, &why);
	if (why && !pairs->quiet)
		say("warning: %s: compared without a control: %s", comparison->old->name, why);
	return r;
}

static const char *metric_name(const struct benchmark *benchmark)
{
	return benchmark->metric ? benchmark->metric : "how long it ran";
}

/* Why the benchmark of a file, which may be NULL, cannot be compared with `first`, which is from
 * the first file; malloc'd, NULL where it can. */
static char *explain_incomparable(const struct pairs *pairs, const struct benchmark *first,
	const struct benchmark *benchmark, size_t file)
{
	if (!benchmark)
		return xformat("not compared, because it is not in %s", pairs->labels[file]);
	if (benchmark->n_values == 0)
		return xformat("not compared, because it has no values in %s", pairs->labels[file]);
	if (!benchmark_is_same_metric(benchmark, first))
		return xformat("not compared, because it is %s in %s and %s in %s",
			metric_name(first), pairs->labels[0], metric_name(benchmark),
			pairs->labels[file]);
	if (!unit_is_same(benchmark->unit, first->unit))
		return xformat("not compared, because it is in %s%s in %s and in %s%s in %s",
			unit_name(first->unit), unit_plural(first->unit), pairs->labels[0],
			unit_name(benchmark->unit), unit_plural(benchmark->unit),
			pairs->labels[file]);
	if (benchmark->better != first->better)
		return xformat("not compared, because %s is better in %s and not in %s",
			benchmark_is_gain(first) ? "more" : "less", pairs->labels[0],
			pairs->labels[file]);
	return NULL;
}

static bool is_left_out(const struct pairs *pairs, const char *name, size_t file)
{
	for (size_t i = 0; i < pairs->n_omissions; i++)
		if (pairs->omissions[i].file == file &&
			metadata_equal_strings(pairs->omissions[i].name, name))
			return true;
	return false;
}

/* Warns that a benchmark is left out, and remembers it. Takes ownership of `why`. */
static void leave_out(struct pairs *pairs, const char *name, size_t file, char *why)
{
	pairs->omissions = xptr(
		reallocarray(pairs->omissions, pairs->n_omissions + 1, sizeof(*pairs->omissions)));
	pairs->omissions[pairs->n_omissions++] = (struct omission){ name, file, why };
	if (!pairs->quiet)
		say("warning: %s: %s", name, why);
}

/* Compares two benchmarks, if they can be compared. `new` may be NULL. */
static int add_pair(
	struct pairs *pairs, const struct benchmark *old, const struct benchmark *new, size_t file)
{
	char *why = explain_incomparable(pairs, old, old, 0);
	const char *name = old->name;
	int r;

	if (!why) {
		why = explain_incomparable(pairs, old, new, file);
		/* In one file the programs have different names; the new program is the one that
		 * lacks the value. */
		if (new && pairs->reports->n == 1)
			name = new->name;
	}
	if (why) {
		leave_out(pairs, name, file, why);
		return 0;
	}
	r = comparison_new_among(old, new,
		(const struct benchmark *const *)pairs->reports->suites[file]->benchmarks,
		pairs->reports->suites[file]->n, &pairs->comparisons[pairs->n]);
	if (r < 0)
		return r;
	pairs->files[pairs->n++] = file;
	r = apply_controls(pairs, pairs->comparisons[pairs->n - 1], file);
	return r < 0 ? r
		     : repeats_apply(&pairs->repeats, pairs->comparisons[pairs->n - 1], &new, 1);
}

/* A control is compared only by --benchmark: its time tells how fast the machine was, and corrects
 * the times of the others. */
static bool is_chosen(const struct request *request, const struct benchmark *benchmark)
{
	if (!request->benchmark)
		return !benchmark_is_control(benchmark);
	return metadata_equal_strings(benchmark->name, request->benchmark);
}

static bool is_any_chosen(const struct pairs *pairs)
{
	for (size_t i = 0; i < pairs->reports->n; i++)
		for (size_t k = 0; k < pairs->reports->suites[i]->n; k++)
			if (is_chosen(pairs->request, pairs->reports->suites[i]->benchmarks[k]))
				return true;
	return false;
}

/* Warns about the benchmarks of a file that the first file does not have. A benchmark that only NEW
 * has does not count for the gate; one that only another OLD has does. */
static void warn_of_additional(struct pairs *pairs, size_t file)
{
	const struct suite *first = pairs->reports->suites[0];
	const struct suite *suite = pairs->reports->suites[file];
	size_t n_old = pairs->request->n_old;

	for (size_t i = 0; i < suite->n; i++) {
		const char *name = suite->benchmarks[i]->name;
		_cleanup_free_ char *why = NULL;

		if (!is_chosen(pairs->request, suite->benchmarks[i]) || pairs->owned[file][i] ||
			(pairs->request->n_renames == 0 && suite_find(first, name)) ||
			is_left_out(pairs, name, n_old))
			continue;
		why = explain_incomparable(pairs, suite->benchmarks[i], NULL, 0);
		if (file < n_old)
			leave_out(pairs, name, n_old, TAKE_PTR(why));
		else if (!pairs->quiet)
			say("warning: %s: %s", name, why);
	}
}

/* Adds all benchmarks that OLD and one NEW have in common, and warns about those that only one of
 * them has. */
static int pair_file(struct pairs *pairs, size_t file)
{
	const struct suite *old = pairs->reports->suites[0], *new = pairs->reports->suites[file];
	const struct benchmark *only = pairs_are_one_each(pairs) ? find_only(old) : NULL;
	int r = 0;

	if (only)
		return add_pair(pairs, only, find_only(new), file);
	for (size_t i = 0; r >= 0 && i < old->n; i++) {
		if (!is_chosen(pairs->request, old->benchmarks[i]))
			continue;
		r = add_pair(pairs, old->benchmarks[i],
			find_partner(pairs, old->benchmarks[i], file), file);
	}
	if (r >= 0)
		warn_of_additional(pairs, file);
	return r;
}

/* Parts of a scan that were appended later, and commands of hyperfine, were not run in turn with
 * the first benchmark, but are compared with it nevertheless. */
static const struct benchmark *find_earlier(const struct suite *suite, const struct benchmark *new)
{
	for (size_t i = 0; i < suite->n && suite->benchmarks[i] != new; i++)
		if (scan_is_common(suite->benchmarks[i], new) &&
			!benchmark_is_by_program(suite->benchmarks[i]) &&
			!turns_are_common(suite->benchmarks[i], new))
			return suite->benchmarks[i];
	return NULL;
}

/* Compares programs in one file that were run in turn with the first of them: whole runs with whole
 * runs, and values that the programs measured themselves with the values of the same name. */
static int pair_interleaved(struct pairs *pairs)
{
	const struct suite *suite = pairs->reports->suites[0];
	bool is_first_chosen = false;
	int r = 0;

	for (size_t i = 0; r >= 0 && i < suite->n; i++) {
		const struct benchmark *new = suite->benchmarks[i], *first, *old;

		first = turns_find_first(suite->benchmarks, suite->n, new, &old);
		if (!first && !benchmark_is_by_program(new))
			old = first = find_earlier(suite, new);
		if (!first)
			continue;
		is_first_chosen = is_first_chosen || (old && is_chosen(pairs->request, old));
		if (!is_chosen(pairs->request, new))
			continue;
		if (old)
			r = add_pair(pairs, old, new, 0);
		else if (!pairs->quiet)
			say("warning: %s: not compared, because %s has no value of that name",
				new->name, first->name);
	}
	/* The reasons why programs that were run in turn are not compared have been said then. */
	if (r < 0 || pairs->n > 0 || pairs->n_omissions > 0 || pairs->quiet)
		return r;
	if (is_first_chosen && pairs->request->benchmark)
		say("compare: %s is what others in %s are compared with: name one of those",
			pairs->request->benchmark, pairs->labels[0]);
	else
		say("compare wants a second file: %s holds no programs that were run in turn",
			pairs->labels[0]);
	return -ENOENT;
}

/* The benchmarks of that name, one from each file, in the order of the files. Returns why the
 * benchmark of a file cannot be compared, malloc'd; NULL where all can. */
static char *find_results(
	const struct pairs *pairs, const struct benchmark *first, const struct benchmark **ret)
{
	char *why = NULL;

	for (size_t i = 0; i < pairs->reports->n; i++) {
		ret[i] = pairs_are_one_each(pairs) ? find_only(pairs->reports->suites[i])
						   : find_partner(pairs, first, i);
		if (!why)
			why = explain_incomparable(pairs, first, ret[i], i);
	}
	return why;
}

/* Several results of each: compares the benchmarks that all files have in common. */
static int pair_results(struct pairs *pairs)
{
	const struct suite *first = pairs->reports->suites[0];
	size_t n_old = pairs->request->n_old, n = pairs->reports->n;
	_cleanup_free_ const struct benchmark **found = xptr(calloc(n, sizeof(*found)));
	int r = 0;

	for (size_t i = 0; r >= 0 && i < first->n; i++) {
		char *why;

		if (!is_chosen(pairs->request, first->benchmarks[i]))
			continue;
		why = find_results(pairs, first->benchmarks[i], found);
		if (why) {
			leave_out(pairs, first->benchmarks[i]->name, n_old, why);
			continue;
		}
		r = comparison_new_of_results(
			found, n_old, found + n_old, n - n_old, &pairs->comparisons[pairs->n]);
		if (r >= 0)
			pairs->files[pairs->n++] = n_old;
		if (r >= 0)
			r = repeats_apply(&pairs->repeats, pairs->comparisons[pairs->n - 1],
				found + n_old, n - n_old);
	}
	for (size_t i = 1; r >= 0 && i < n && !pairs_are_one_each(pairs); i++)
		warn_of_additional(pairs, i);
	return r;
}

static int compare_by_name(const void *a, const void *b)
{
	const struct comparison *x = *(struct comparison *const *)a;
	const struct comparison *y = *(struct comparison *const *)b;

	return strcmp(x->new->name, y->new->name);
}

static int compare_by_value(const void *a, const void *b)
{
	const struct comparison *x = *(struct comparison *const *)a;
	const struct comparison *y = *(struct comparison *const *)b;

	return (x->new_stats.median > y->new_stats.median) -
		(x->new_stats.median < y->new_stats.median);
}

static int compare_by_change(const void *a, const void *b)
{
	const struct comparison *x = *(struct comparison *const *)a;
	const struct comparison *y = *(struct comparison *const *)b;
	int order;

	/* NAN comes last: comparing it like a number would not give an order. */
	if (isnan(x->ratio.ratio) || isnan(y->ratio.ratio))
		return isnan(x->ratio.ratio) - isnan(y->ratio.ratio);
	order = (x->ratio.ratio < y->ratio.ratio) - (x->ratio.ratio > y->ratio.ratio);
	return benchmark_is_gain(x->old) ? -order : order;
}

bool pairs_next_file(const struct pairs *pairs, size_t *first, size_t *n)
{
	*first += *n;
	if (*first >= pairs->n)
		return false;
	for (*n = 1; *first + *n < pairs->n && pairs->files[*first + *n] == pairs->files[*first];
		++*n)
		;
	return true;
}

void pairs_sort(struct pairs *pairs)
{
	static int (*const orders[])(const void *a, const void *b) = {
		[SORT_NAME] = compare_by_name,
		[SORT_VALUE] = compare_by_value,
		[SORT_CHANGE] = compare_by_change,
	};
	size_t first = 0, n = 0;

	while (pairs->request->sort != SORT_NONE && pairs_next_file(pairs, &first, &n))
		qsort(pairs->comparisons + first, n, sizeof(struct comparison *),
			orders[pairs->request->sort]);
}

int pairs_make(struct pairs *pairs)
{
	size_t most = pairs->reports->suites[0]->n * pairs->reports->n;
	int r = 0;

	pairs->comparisons = xptr(calloc(most, sizeof(struct comparison *)));
	pairs->files = xptr(calloc(most, sizeof(*pairs->files)));
	pairs->labels = xptr(calloc(pairs->reports->n, sizeof(char *)));
	pairs->owned = xptr(calloc(pairs->reports->n, sizeof(bool *)));
	for (size_t i = 0; i < pairs->reports->n; i++) {
		pairs->labels[i] = xptr(text_escape_control(file_label(pairs->request->files[i])));
		pairs->owned[i] =
			xptr(calloc(MAX(pairs->reports->suites[i]->n, (size_t)1), sizeof(bool)));
	}
	if (pairs->request->benchmark && !is_any_chosen(pairs)) {
		if (pairs->quiet)
			return 0;
		reports_say_none(pairs->request, pairs->reports);
		return -ENOENT;
	}
	if (pairs->request->n_old > 0)
		r = pair_results(pairs);
	else if (pairs->reports->n == 1)
		r = pair_interleaved(pairs);
	for (size_t i = 1; pairs->request->n_old == 0 && r >= 0 && i < pairs->reports->n; i++)
		r = pair_file(pairs, i);
	if (r < 0)
		return r;
	if (pairs->n == 0 && !pairs->quiet) {
		say("compare: the files have no benchmark in common that can be compared");
		return -ENOENT;
	}
	return 0;
}

void pairs_clear(struct pairs *pairs)
{
	for (size_t i = 0; i < pairs->n; i++)
		comparison_free(pairs->comparisons[i]);
	for (size_t i = 0; i < pairs->reports->n; i++) {
		free(pairs->labels[i]);
		free(pairs->owned[i]);
	}
	free(pairs->owned);
	for (size_t i = 0; i < pairs->n_omissions; i++)
		free(pairs->omissions[i].why);
	free(pairs->omissions);
	free(pairs->labels);
	free(pairs->comparisons);
	free(pairs->files);
	repeats_clear(&pairs->repeats);
}

char *pairs_name(const struct comparison *c)
{
	struct text t = { 0 };

	text_append(&t, c->old->name);
	if (!metadata_equal_strings(c->old->name, c->new->name))
		text_appendf(&t, " -> %s", c->new->name);
	if (c->old->metric && !c->old->is_figure)
		text_appendf(&t, " (%s)", c->old->metric);
	return xptr(text_steal(&t));
}

bool pairs_is_decided(const struct pairs *pairs, const struct comparison *c, struct decision *ret)
{
	return pairs->reports->n == 1 && find_decision(c->new, ret);
}

void pairs_settle(struct pairs *pairs)
{
	double limit = pairs->request->fail_slower;

	comparison_settle(pairs->comparisons, pairs->n);
	pairs->gate_level = isnan(limit)
		? SIGNIFICANCE
		: comparison_gate_level(pairs->comparisons, pairs->n, limit);
}

enum gate pairs_gate(const struct pairs *pairs, const struct comparison *c)
{
	double limit = pairs->request->fail_slower;
	struct decision decision;

	/* That it is not faster does not say how much slower it is. */
	if (!pairs_is_decided(pairs, c, &decision) || decision.is_for_better)
		return comparison_gate(c, limit, pairs->gate_level);
	if (decision.verdict == DECISION_NOT_SETTLED)
		return GATE_UNCLEAR;
	return decision_is_beyond(&decision, limit) ? GATE_FAILS : GATE_PASSES;
}

char *pairs_title(const struct pairs *pairs, size_t at)
{
	_cleanup_free_ char *name = pairs_name(pairs->comparisons[at]);

	return xformat("%s%s%s", name, pairs_have_several_new(pairs) ? ": " : "",
		pairs_have_several_new(pairs) ? pairs->labels[pairs->files[at]] : "");
}
