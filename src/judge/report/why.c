// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "base/text.h"
#include "base/units.h"
#include "base/xalloc.h"
#include "judge/report/why.h"
#include "judge/result/metadata.h"
#include "judge/stats/stats.h"

enum {
	NAME_COLUMNS = 20,
	SHARE_COLUMNS = 22,
	LINE_COLUMNS = 79,
};

/* The runs whose levels are all known, and their values. */
struct runs {
	double *values;
	size_t *indices; /* in the series */
	size_t n;
	bool are_logarithms; /* of the values; else proportions of their median */
};

static void runs_clear(struct runs *runs)
{
	free(runs->values);
	free(runs->indices);
}
#define _cleanup_runs_ __attribute__((cleanup(runs_clear)))

/* The factors of a series. */
struct drawn {
	size_t events[FACTORS_MAX];
	size_t n;
	unsigned *levels[FACTORS_MAX];
	double values[FACTORS_MAX][FACTOR_LEVELS_MAX]; /* of each level, sorted */
	size_t n_levels[FACTORS_MAX];
};

static void drawn_clear(struct drawn *drawn)
{
	for (size_t f = 0; f < drawn->n; f++)
		free(drawn->levels[f]);
}
#define _cleanup_drawn_ __attribute__((cleanup(drawn_clear)))

static bool is_variable(const char *name)
{
	static const char *const others[] = { WHY_ADDRESSES, WHY_ENVIRONMENT, WHY_ARGV0,
		WHY_DIRECTORY, WHY_FILE };

	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		if (strcmp(name, others[i]) == 0)
			return false;
	return true;
}

bool why_is_factor(const char *name)
{
	return !is_variable(name) ||
		(*name && !(*name >= '0' && *name <= '9') &&
			text_name_length(name) == strlen(name));
}

static double level_at(const struct series *series, size_t event, size_t run)
{
	return series->counters[run * series->n_events + event];
}

static void find_events(const struct series *series, struct drawn *ret)
{
	for (size_t i = 0; i < series->n_events && ret->n < FACTORS_MAX; i++)
		if (text_starts_with(series->event_names[i], SERIES_LEVEL))
			ret->events[ret->n++] = i;
}

static bool has_levels(const struct series *series, const struct drawn *drawn, size_t run)
{
	for (size_t f = 0; f < drawn->n; f++)
		if (isnan(level_at(series, drawn->events[f], run)))
			return false;
	return true;
}

static bool has_values(const struct benchmark *benchmark, size_t run)
{
	size_t first, n;

	if (!benchmark->runs)
		return sample_counts(&benchmark->series->samples[run]);
	benchmark_run_values(benchmark, run, &first, &n);
	return n > 0;
}

/* One number for each run. */
static int take_runs(const struct benchmark *benchmark, const struct drawn *drawn, struct runs *ret)
{
	const struct series *series = benchmark->series;
	_cleanup_free_ double *units = NULL;
	size_t n_units, unit = 0;
	int r = benchmark_units(benchmark, &units, &n_units);

	if (r < 0)
		return r;
	ret->values = xptr(calloc(n_units, sizeof(*ret->values)));
	ret->indices = xptr(calloc(n_units, sizeof(*ret->indices)));
	for (size_t i = 0; i < series->n_samples && unit < n_units; i++) {
		if (!has_values(benchmark, i))
			continue;
		if (has_levels(series, drawn, i)) {
			ret->values[ret->n] = units[unit];
			ret->indices[ret->n++] = i;
		}
		unit++;
	}
	return ret->n > 0 ? 0 : -ENODATA;
}

/* Makes differences proportions. */
static int scale_values(struct runs *runs)
{
	_cleanup_free_ double *sorted = xptr(calloc(runs->n, sizeof(*sorted)));
	double median;

	memcpy(sorted, runs->values, runs->n * sizeof(*sorted));
	stats_sort(sorted, runs->n);
	median = stats_median(sorted, runs->n);
	runs->are_logarithms = sorted[0] > 0;
	if (!runs->are_logarithms && !(fabs(median) > 0))
		return -EDOM;
	for (size_t i = 0; i < runs->n; i++)
		runs->values[i] = runs->are_logarithms ? log(runs->values[i])
						       : runs->values[i] / fabs(median);
	return 0;
}

static int take_levels(const struct series *series, const struct runs *runs, struct drawn *drawn)
{
	for (size_t f = 0; f < drawn->n; f++) {
		double *values = drawn->values[f];
		size_t *n = &drawn->n_levels[f];

		drawn->levels[f] = xptr(calloc(runs->n, sizeof(*drawn->levels[f])));
		for (size_t i = 0; i < runs->n; i++) {
			double value = level_at(series, drawn->events[f], runs->indices[i]);
			size_t at = stats_count_below(values, *n, value, false);

			if (at < *n && values[at] == value)
				continue;
			if (*n == FACTOR_LEVELS_MAX)
				return -E2BIG;
			memmove(values + at + 1, values + at, (*n - at) * sizeof(*values));
			values[at] = value;
			++*n;
		}
		for (size_t i = 0; i < runs->n; i++)
			drawn->levels[f][i] = (unsigned)stats_count_below(values, *n,
				level_at(series, drawn->events[f], runs->indices[i]), false);
	}
	return 0;
}

/* --- Rows --- */

static double find_change(const struct runs *runs, double difference)
{
	return runs->are_logarithms ? expm1(difference) : difference;
}

static struct why_row *add_row(
	struct why *why, enum why_kind kind, const char *name, const struct factor_effect *effect)
{
	struct why_row *row = &why->rows[why->n++];

	*row = (struct why_row){ .kind = kind, .name = name, .effect = *effect };
	return row;
}

/* What was found first, the largest share at the top; else in the order of the factors. */
static int compare_rows(const void *a, const void *b)
{
	const struct why_row *x = a, *y = b;

	if ((x->kind == WHY_REST) != (y->kind == WHY_REST))
		return x->kind == WHY_REST ? 1 : -1;
	if (x->effect.found != y->effect.found)
		return x->effect.found ? -1 : 1;
	if (x->effect.found && x->effect.share != y->effect.share)
		return x->effect.share > y->effect.share ? -1 : 1;
	if (x->name != y->name)
		return strcmp(x->name, y->name);
	return (int)x->kind - (int)y->kind;
}

static int fill(const struct series *series, const struct runs *runs, const struct drawn *drawn,
	struct why *why)
{
	struct factor factors[FACTORS_MAX];
	size_t factor_of[FACTORS_MAX], addresses = drawn->n, n = 0;
	_cleanup_free_ bool *random = xptr(calloc(runs->n, sizeof(*random)));
	struct factors *found;
	int r;

	for (size_t f = 0; f < drawn->n; f++) {
		const char *name = series->event_names[drawn->events[f]] + strlen(SERIES_LEVEL);

		if (strcmp(name, WHY_ADDRESSES) == 0) {
			addresses = f;
			continue;
		}
		factor_of[n] = f;
		factors[n++] = (struct factor){ drawn->levels[f], drawn->n_levels[f] };
	}
	for (size_t i = 0; addresses < drawn->n && i < runs->n; i++)
		random[i] = drawn->values[addresses][drawn->levels[addresses][i]] > 0;
	why->n_runs = runs->n;
	why->n_least = factors_least(factors, n, addresses < drawn->n);
	found = xptr(calloc(1, sizeof(*found)));
	r = factors_compute(
		&(struct factors_input){
			.values = runs->values,
			.n = runs->n,
			.factors = factors,
			.n_factors = n,
			.drawn = addresses < drawn->n ? random : NULL,
		},
		found);
	for (size_t i = 0; r == 0 && i < n; i++) {
		size_t f = factor_of[i];
		struct why_row *row = add_row(why, WHY_FACTOR,
			series->event_names[drawn->events[f]] + strlen(SERIES_LEVEL),
			&found->effects[i]);

		row->lowest = drawn->values[f][row->effect.lowest];
		row->highest = drawn->values[f][row->effect.highest];
		row->change = find_change(runs, row->effect.difference);
	}
	if (r == 0 && found->has_halves) {
		add_row(why, WHY_SWITCH, WHY_ADDRESSES, &found->held)->change =
			find_change(runs, found->held.difference);
		add_row(why, WHY_DRAW, WHY_ADDRESSES, &found->draw)->change =
			find_change(runs, found->draw.difference);
	}
	if (r == 0) {
		add_row(why, WHY_REST, "", &found->rest);
		why->deviation = find_change(runs, found->deviation);
		qsort(why->rows, why->n, sizeof(why->rows[0]), compare_rows);
	}
	free(found);
	return 0;
}

int why_compute(const struct benchmark *benchmark, struct why **ret)
{
	_cleanup_(why) struct why *why = xptr(calloc(1, sizeof(*why)));
	_cleanup_drawn_ struct drawn drawn = { 0 };
	_cleanup_runs_ struct runs runs = { 0 };
	int r;

	find_events(benchmark->series, &drawn);
	r = drawn.n > 0 ? take_runs(benchmark, &drawn, &runs) : -ENODATA;
	if (r == 0)
		r = scale_values(&runs);
	if (r == 0)
		r = take_levels(benchmark->series, &runs, &drawn);
	if (r == 0)
		r = fill(benchmark->series, &runs, &drawn, why);
	if (r < 0)
		return r;
	why->held = facts_find_string(&benchmark->metadata, WHY_HELD);
	*ret = TAKE_PTR(why);
	return 0;
}

void why_free(struct why *why)
{
	free(why);
}

const char *why_explain(int error)
{
	switch (error) {
	case -ENODATA:
		return "nothing was varied (runpinned --vary)";
	case -EDOM:
		return "the values are around 0, so that no difference is a part of them";
	case -E2BIG:
		return "there are levels of several measurements, of which each drew its own";
	default:
		return strerror(-error);
	}
}

/* --- Words --- */

const char *why_row_name(const struct why_row *row, char buf[static WHY_NAME_SIZE])
{
	switch (row->kind) {
	case WHY_SWITCH:
		return "addresses: random?";
	case WHY_DRAW:
		return "addresses: the draw";
	case WHY_REST:
		return "the rest";
	default:
		snprintf(buf, WHY_NAME_SIZE, "%s", row->name);
		return buf;
	}
}

static const char *where_text(enum factor_where where)
{
	return where == FACTOR_WHERE_HELD     ? "where addresses are fixed"
		: where == FACTOR_WHERE_DRAWN ? "where addresses are random"
					      : NULL;
}

/* "2096 against 1040 bytes", "copy 3 against copy 1" */
static void append_levels(struct text *t, const struct why_row *row)
{
	if (strcmp(row->name, WHY_FILE) == 0)
		text_appendf(t, "copy %.0f against copy %.0f", row->highest, row->lowest);
	else
		text_appendf(t, "%.0f against %.0f%s", row->highest, row->lowest,
			is_variable(row->name) ? "" : " bytes");
}

static void append_effect(struct text *t, const struct why_row *row)
{
	const char *where = where_text(row->effect.where);
	char change[UNITS_TEXT_SIZE];

	switch (row->kind) {
	case WHY_SWITCH:
		text_appendf(
			t, "%s where they are random", units_format_change(row->change, change));
		break;
	case WHY_DRAW:
		text_appendf(
			t, "%s (standard deviation)", units_format_percent(row->change, change));
		break;
	case WHY_FACTOR:
		text_appendf(t, "%s: ", units_format_change(row->change, change));
		append_levels(t, row);
		if (where)
			text_appendf(t, ",\n%*s%s", NAME_COLUMNS + SHARE_COLUMNS, "", where);
		break;
	default:
		break;
	}
}

static void append_share(struct text *t, const struct factor_effect *effect)
{
	char share[UNITS_TEXT_SIZE];

	snprintf(share, sizeof(share), "%3.0f %% (%.0f .. %.0f)", 100 * effect->share,
		100 * effect->low, 100 * effect->high);
	text_appendf(t, "%-*s", SHARE_COLUMNS, share);
}

static void append_row(struct text *t, const struct why_row *row)
{
	char buf[WHY_NAME_SIZE];
	const char *name = why_row_name(row, buf);

	text_appendf(t, "%-*s", NAME_COLUMNS, name);
	/* A variable may have a long name. */
	if (strlen(name) >= NAME_COLUMNS)
		text_appendf(t, "\n%-*s", NAME_COLUMNS, "");
	if (row->kind == WHY_REST) {
		append_share(t, &row->effect);
	} else if (row->effect.found) {
		append_share(t, &row->effect);
		append_effect(t, row);
	} else {
		char share[UNITS_TEXT_SIZE];

		snprintf(share, sizeof(share), "  - (at most %.0f)",
			MAX(ceil(100 * row->effect.high), 1.0));
		text_appendf(t, "%-*s%s", SHARE_COLUMNS, share, "not distinguishable");
	}
	while (t->length > 0 && t->data[t->length - 1] == ' ')
		t->data[--t->length] = '\0';
	text_append(t, "\n");
}

static void append_advice(struct text *t, const char *name, const char *hold, const char *average)
{
	text_appendf(t, "\n%s\n  to hold it:    %s\n  to average:    %s\n", name, hold, average);
}

/* The lines to type, without what was typed already. */
static void advise(struct text *t, const struct why_row *row)
{
	static const char more[] = "more runs (-n): each draws its own addresses";
	_cleanup_free_ char *hold = NULL, *average = NULL;
	char buf[WHY_NAME_SIZE];

	if (row->kind == WHY_SWITCH) {
		hold = xptr(strdup("runpinned --no-aslr ..., in all results that are compared"));
		average = xptr(strdup("leave them random, in all of them"));
	} else if (row->kind == WHY_DRAW) {
		hold = xptr(strdup("runpinned --no-aslr ... (one layout out of many)"));
		average = xptr(strdup(more));
	} else if (strcmp(row->name, WHY_ENVIRONMENT) == 0) {
		bool where_held = row->effect.where == FACTOR_WHERE_HELD;

		hold = xformat("runpinned %s--env-pad %.0f ... (one place out of many)",
			where_held ? "--no-aslr " : "", row->lowest);
		average = where_held
			? xptr(strdup("leave addresses random: they draw the place of the stack"))
			: xptr(strdup("runpinned --env-pad random ..."));
	} else if (strcmp(row->name, WHY_ARGV0) == 0) {
		hold = xptr(strdup("start it by the same path, in all results that are compared"));
	} else if (strcmp(row->name, WHY_DIRECTORY) == 0) {
		hold = xptr(strdup("runpinned --env PWD=PATH ..., the same PATH in all results"));
	} else if (strcmp(row->name, WHY_FILE) == 0) {
		hold = xptr(strdup("measure the same file, and no new copy or build of it"));
	} else {
		hold = xformat(
			"runpinned --env %s=%.0f ... (one out of many)", row->name, row->lowest);
	}
	if (!average)
		average = xformat("runpinned --vary=%s ...", row->name);
	append_advice(t, why_row_name(row, buf), hold, average);
}

static void append_held(struct text *t, const char *held)
{
	_cleanup_free_ char *clean = xptr(text_escape_control(held));
	_cleanup_free_ char *line = xformat("not varied: %s", clean);
	_cleanup_free_ char *lines = xptr(text_wrap(line, LINE_COLUMNS));

	text_appendf(t, "%s\n", lines);
}

char *why_render(const struct why *why)
{
	struct text t = { 0 };
	char deviation[UNITS_TEXT_SIZE];

	if (why->n == 0) {
		text_appendf(&t,
			"what moves it: cannot be told from %zu runs; it takes %zu, or some more\n",
			why->n_runs, why->n_least);
		return xptr(text_steal(&t));
	}
	text_appendf(&t, "what moves it: %zu runs, which vary by %s (standard deviation)\n\n",
		why->n_runs, units_format_percent(why->deviation, deviation));
	text_appendf(&t, "%-*s%-*s%s\n", NAME_COLUMNS, "FACTOR", SHARE_COLUMNS, "% OF THE VARIANCE",
		"LARGEST EFFECT");
	for (size_t i = 0; i < why->n; i++)
		append_row(&t, &why->rows[i]);
	if (why->held)
		append_held(&t, why->held);
	for (size_t i = 0; i < why->n; i++)
		if (why->rows[i].effect.found)
			advise(&t, &why->rows[i]);
	return xptr(text_steal(&t));
}
