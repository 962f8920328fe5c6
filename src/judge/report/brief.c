// SPDX-License-Identifier: GPL-2.0-or-later
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "base/text.h"
#include "base/units.h"
#include "base/xalloc.h"
#include "judge/report/analysis.h"
#include "judge/report/brief.h"
#include "judge/report/sense.h"
#include "judge/report/served.h"
#include "judge/report/wording.h"
#include "judge/result/metadata.h"
#include "judge/stats/histogram.h"

enum {
	SHOWN = 4,	     /* of a list of warnings or differences */
	DOUBTS = 6,	     /* lines that doubts have, where there is more to say */
	DOUBT_LINES = 4,     /* and each of them */
	BESIDE_VERDICTS = 5, /* lines that there are beside many verdicts, at least */
	HISTOGRAM_MIN = 5,   /* values */
	BINS_MIN = 3,
	HISTOGRAM_WIDTH_MAX = 100,
	LABEL = 13,	      /* columns before what a line says */
	GAP = 3,	      /* columns between those of a table */
	NAME_LEAST = 8,	      /* columns for a name there, where all are short */
	NAME_MIN = 12,	      /* and where there is no room for a long one */
	LAST_COLUMN_MIN = 16, /* columns that are left for the last one, where it needs them */
	CPUS_MAX = 24,	      /* columns of a list of CPUs */
};

enum {
	CELLS = 5, /* of a row; the first one is the name, the last one may be long */
};

/* A program in a table of several. */
struct row {
	const void *key; /* of what it is, to find it again */
	char *cells[CELLS];
	char *warnings; /* "" without any, as what follows */
	char *events;	/* what was counted by -e */
	char *left_out; /* values before a level */
	/* Of a service, "" of a program: lines about its load, and what disturbed it, for which it
	 * has no column. */
	char *load;
	char *disturbed;
};

struct line {
	enum brief_rank rank;
	char *text;
	bool is_head; /* of the rows behind it */
};

struct lines {
	struct line *items;
	size_t n;
};

struct brief {
	unsigned width;
	bool decided;
	bool is_of_suite;
	size_t n_verdicts;
	struct lines lines;
	const char *heads[CELLS]; /* static texts; those of the first row */
	struct row *rows;
	size_t n_rows;
	/* How the first of the rows is shown where it is the only one. */
	struct lines alone;
	double *values; /* its values, sorted */
	size_t n_values;
	const struct unit *unit;
	struct unit own_unit;
	char *unit_name;
};

struct brief *brief_new(unsigned width, bool decided)
{
	struct brief *brief = xptr(calloc(1, sizeof(*brief)));

	brief->width = width;
	brief->decided = decided;
	return brief;
}

static void clear_lines(struct lines *lines)
{
	for (size_t i = 0; i < lines->n; i++)
		free(lines->items[i].text);
	free(lines->items);
}

void brief_free(struct brief *brief)
{
	if (!brief)
		return;
	for (size_t i = 0; i < brief->n_rows; i++) {
		for (size_t k = 0; k < CELLS; k++)
			free(brief->rows[i].cells[k]);
		free(brief->rows[i].warnings);
		free(brief->rows[i].events);
		free(brief->rows[i].left_out);
		free(brief->rows[i].load);
		free(brief->rows[i].disturbed);
	}
	free(brief->rows);
	clear_lines(&brief->lines);
	clear_lines(&brief->alone);
	free(brief->values);
	free(brief->unit_name);
	free(brief);
}

/* Takes ownership of the text. */
static void add_line(struct lines *lines, enum brief_rank rank, char *text)
{
	for (size_t i = 0; i < lines->n; i++) {
		if (lines->items[i].rank == rank && strcmp(lines->items[i].text, text) == 0) {
			free(text);
			return;
		}
	}
	lines->items = xptr(reallocarray(lines->items, lines->n + 1, sizeof(*lines->items)));
	lines->items[lines->n++] = (struct line){ .rank = rank, .text = text };
}

/* The same for each line of a text. */
static void add_text(struct lines *lines, enum brief_rank rank, const char *text)
{
	while (*text) {
		size_t length = strcspn(text, "\n");

		if (length > 0)
			add_line(lines, rank, xptr(strndup(text, length)));
		text += length + (text[length] == '\n');
	}
}

static void add_format(struct lines *lines, enum brief_rank rank, const char *format, ...)
	_printf_(3, 4);

static void add_format(struct lines *lines, enum brief_rank rank, const char *format, ...)
{
	char *text = NULL;
	va_list ap;

	va_start(ap, format);
	if (vasprintf(&text, format, ap) < 0)
		text = NULL;
	va_end(ap);
	add_line(lines, rank, xptr(text));
}

void brief_add(struct brief *brief, enum brief_rank rank, const char *format, ...)
{
	_cleanup_free_ char *text = NULL;
	va_list ap;

	va_start(ap, format);
	if (vasprintf(&text, format, ap) < 0)
		text = NULL;
	va_end(ap);
	add_text(&brief->lines, rank, xptr(text));
	brief->n_verdicts += rank == BRIEF_VERDICT;
}

/* --- A program --- */

/* What speaks against a result, in a few words each, malloc'd. */
static char *list_warnings(const struct brief *brief, const struct stability *stability)
{
	struct text t = { 0 };
	size_t n = 0;

	for (size_t i = 0; i < stability->n_concerns; i++) {
		const struct concern *concern = &stability->concerns[i];

		if (concern->warning && !(brief->decided && concern->code == CONCERN_TOO_FEW))
			text_append_name(&t, n++, SHOWN, "%s", concern->in_short);
	}
	text_append_rest(&t, n, SHOWN);
	return xptr(text_steal(&t));
}

char *brief_cut(const struct brief *brief, const char *name)
{
	_cleanup_free_ char *clean = xptr(text_escape_control(name));

	return brief ? xptr(text_shorten(clean, brief->width)) : TAKE_PTR(clean);
}

/* Whether the text is "/NAME=...", a parameter, or ": ...", a figure. */
static bool is_part(const char *text)
{
	size_t n = text[0] == '/' ? text_name_length(text + 1) : 0;

	return n > 0 ? text[n + 1] == '=' : text_starts_with(text, ": ");
}

char *brief_own_part(const char *name, const char *other)
{
	size_t at = strlen(name), of_other = strlen(other), end = at;

	for (; at > 1 && of_other > 1 && name[at - 1] == other[of_other - 1]; at--, of_other--)
		if (is_part(name + at - 1))
			end = at - 1;
	return xptr(strndup(name, end));
}

char *brief_title(const struct brief *brief, const char *new, const char *old)
{
	_cleanup_free_ char *own = brief ? brief_own_part(old, new) : NULL;
	_cleanup_free_ char *new_cut = brief_cut(brief, new),
			    *old_cut = brief_cut(brief, own ? own : old);

	return xformat("%s, compared with %s", new_cut, old_cut);
}

static bool has_row(const struct brief *brief, const void *key)
{
	for (size_t i = 0; i < brief->n_rows; i++)
		if (key && brief->rows[i].key == key)
			return true;
	return false;
}

static void set_heads(struct brief *brief, const char *const heads[CELLS])
{
	if (brief->n_rows == 1)
		memcpy(brief->heads, heads, sizeof(brief->heads));
}

/* What a service has in place of a deviation and a number of runs. */
static void fill_of_service(struct brief *brief, struct row *row, const struct benchmark *b,
	const struct stability *stability)
{
	struct text load = { 0 };
	struct served served;

	served_find(b, &served);
	set_heads(brief,
		(const char *const[]){
			"", "CPU/request", "requests/s", served.latency_name, "busy" });
	row->cells[1] = xptr(strdup(served.cpu));
	row->cells[2] = xptr(strdup(served.rate));
	row->cells[3] = xptr(strdup(served.latency));
	row->cells[4] = xptr(strdup(served.busy));
	served_append_load(&load, b, false);
	row->load = xptr(text_steal(&load));
	row->disturbed = stability ? stability_disturbed_text(stability) : xptr(strdup(""));
	row->events = xptr(strdup(""));
}

static void fill_of_program(struct brief *brief, struct row *row, const struct benchmark *b,
	const struct stats *stats, size_t n_runs, const struct stability *stability)
{
	struct scale scale = summary_choose_scale(b, stats);
	bool is_known = stability && b->series->with_evidence;
	struct text events = { 0 };
	char a[UNITS_TEXT_SIZE];

	set_heads(brief, (const char *const[]){ "", "median", "MAD", "runs", "disturbed" });
	row->cells[1] = xptr(strdup(scale_format(scale, stats->median, a)));
	row->cells[2] = xptr(strdup(stats->n > 1 ? scale_format(scale, stats->mad, a) : ""));
	row->cells[3] = xformat("%zu", n_runs);
	row->cells[4] = is_known ? stability_disturbed_cell(stability) : xptr(strdup(""));
	row->load = xptr(strdup(""));
	row->disturbed = xptr(strdup(""));
	summary_append_events(&events, b, false);
	row->events = xptr(text_steal(&events));
}

/* `stability` is NULL where there are several results, which have none together. */
static void add_row(struct brief *brief, const struct benchmark *benchmark, const char *name,
	const struct stats *stats, size_t n_runs, const struct stability *stability)
{
	struct row *row;

	brief->rows = xptr(reallocarray(brief->rows, brief->n_rows + 1, sizeof(*brief->rows)));
	row = &brief->rows[brief->n_rows++];
	*row = (struct row){ .key = benchmark };
	row->cells[0] = xptr(text_escape_control(name));
	if (served_is(benchmark))
		fill_of_service(brief, row, benchmark, stability);
	else
		fill_of_program(brief, row, benchmark, stats, n_runs, stability);
	row->warnings = stability ? list_warnings(brief, stability) : xptr(strdup(""));
	row->left_out = benchmark->settling.n_left_out > 0
		? xformat("%zu values before the level of their run are left out",
			  benchmark->settling.n_left_out)
		: xptr(strdup(""));
}

/* "sort: 25 runs on CPU 3, median 17.5 ms (17.2 .. 17.8 ms)" */
static void add_head(
	struct lines *lines, const struct brief *brief, const struct summary_input *input)
{
	const struct benchmark *b = input->benchmark;
	const struct analysis *analysis = input->analysis;
	const struct stats *s = &analysis->stats;
	struct scale scale = summary_choose_scale(b, s);
	_cleanup_free_ char *own_name = served_name(b);
	_cleanup_free_ char *name = brief_cut(brief, own_name);
	_cleanup_free_ char *cpus = input->cpus ? xptr(text_shorten(input->cpus, CPUS_MAX)) : NULL;
	char value[UNITS_TEXT_SIZE], low[UNITS_TEXT_SIZE], high[UNITS_TEXT_SIZE];
	struct summary_input shown = *input;
	struct text t = { 0 };

	shown.cpus = cpus;
	text_appendf(&t, "%s: ", name);
	summary_append_runs(&t, &shown);
	text_append(&t, s->n > 1 ? ", median " : ", ");
	if (served_is(b) && sense_is_cpu_time(b))
		text_append(&t, "CPU time a request ");
	else if (b->metric && !b->is_figure)
		text_appendf(&t, "%s ", b->metric);
	text_append(&t,
		scale_format(scale, s->has_interval ? analysis->unit_median : s->median, value));
	if (s->has_interval)
		text_appendf(&t, " (%s .. %s)", scale_format_bare(scale, s->interval_low, low),
			scale_format(scale, s->interval_high, high));
	add_line(lines, BRIEF_VERDICT, xptr(text_steal(&t)));
}

/* Why the figure of a single program may not be what it seems to be. */
static void add_doubts(
	struct lines *lines, const struct brief *brief, const struct summary_input *input)
{
	const struct benchmark *b = input->benchmark;
	const struct stability *stability = input->analysis->stability;
	const char *clock = summary_clock_text(b);
	const struct stats *s = &input->analysis->stats;

	if (*brief->rows[0].warnings)
		add_format(lines, BRIEF_DOUBT, "  warning    %s", brief->rows[0].warnings);
	for (size_t i = 0; i < stability->n_concerns; i++)
		if (!stability->concerns[i].warning && stability->concerns[i].in_short)
			add_format(lines, BRIEF_DOUBT, "  note       %s",
				stability->concerns[i].in_short);
	if (s->n == 1 && !b->is_exact)
		add_format(lines, BRIEF_DOUBT, "  interval   one run tells nothing of the next");
	else if (s->n > 1 && !benchmark_units_are_runs(b))
		add_format(lines, BRIEF_DOUBT,
			"  interval   not known: one process tells nothing of the next one");
	if (clock && (b->series->clock != WINDOW_KERNEL || benchmark_is_by_program(b)))
		add_format(lines, BRIEF_DOUBT, "  clock      %s", clock);
	if (input->meanwhile)
		add_format(lines, BRIEF_DOUBT, "  meanwhile  %s", input->meanwhile);
}

static void add_cpu_time(struct lines *lines, const struct benchmark *benchmark)
{
	char sum[UNITS_TEXT_SIZE], user[UNITS_TEXT_SIZE], system[UNITS_TEXT_SIZE];
	struct summary_usage usage;
	struct scale scale;

	if (served_is(benchmark) || summary_find_usage(benchmark, &usage) < 0 ||
		!isfinite(usage.cpu))
		return;
	scale = scale_choose_unit(benchmark->unit, usage.cpu);
	add_format(lines, BRIEF_PROGRAM, "  CPU time   %s: user %s, system %s",
		scale_format(scale, usage.cpu, sum), scale_format(scale, usage.user_cpu, user),
		scale_format(scale, usage.system_cpu, system));
}

/* "  answers    6978 requests/s, p50/p99 0.52/1.20 ms, busy 87 %", and its load. */
static void add_service(struct lines *lines, const struct benchmark *benchmark)
{
	struct text t = { 0 };
	_cleanup_free_ char *text = NULL;
	struct served served;

	served_find(benchmark, &served);
	text_appendf(&t, "  answers    %s requests/s", served.rate);
	if (!sense_is_cpu_time(benchmark))
		text_appendf(&t, ", CPU time %s each", served.cpu);
	if (*served.latency)
		text_appendf(&t, ", %s %s", served.latency_name, served.latency);
	if (*served.busy)
		text_appendf(&t, ", busy %s", served.busy);
	text_append(&t, "\n");
	served_append_load(&t, benchmark, true);
	text = xptr(text_steal(&t));
	add_text(lines, BRIEF_PROGRAM, text);
}

/* How it varied, what it took, and what disturbed it. */
static void add_figures(
	struct lines *lines, const struct brief *brief, const struct summary_input *input)
{
	const struct stats *s = &input->analysis->stats;
	struct scale scale = summary_choose_scale(input->benchmark, s);
	_cleanup_free_ char *disturbed = stability_disturbed_text(input->analysis->stability);
	char mad[UNITS_TEXT_SIZE], part[UNITS_TEXT_SIZE], min[UNITS_TEXT_SIZE],
		max[UNITS_TEXT_SIZE];
	_cleanup_text_ struct text fleet = { 0 };
	const char *warmup = facts_find_string(&input->benchmark->metadata, METADATA_WARMUP);

	if (s->n > 1)
		add_format(lines, BRIEF_PROGRAM, "  spread     MAD %s%s%s, %s .. %s",
			scale_format(scale, s->mad, mad), s->median > 0 ? ", " : "",
			s->median > 0 ? units_format_percent(s->mad / s->median, part) : "",
			scale_format_bare(scale, s->min, min), scale_format(scale, s->max, max));
	if (warmup)
		add_format(lines, BRIEF_PROGRAM, "  warm-up    %s", warmup);
	add_cpu_time(lines, input->benchmark);
	if (served_is_first(input->benchmark))
		add_service(lines, input->benchmark);
	if (*disturbed)
		add_format(lines, BRIEF_PROGRAM, "  disturbed  %s", disturbed);
	if (*brief->rows[0].events)
		add_format(lines, BRIEF_PROGRAM, "  counted    %s", brief->rows[0].events);
	if (input->analysis->fleet.level != FLEET_NONE)
		summary_append_fleet(&fleet, &input->analysis->fleet, &scale);
	if (fleet.data)
		add_text(lines, BRIEF_PROGRAM, fleet.data);
}

/* Keeps what is needed where it stays the only one. */
static void add_alone(struct brief *brief, const struct summary_input *input)
{
	const struct analysis *analysis = input->analysis;
	const struct unit *unit = input->benchmark->unit;

	add_head(&brief->alone, brief, input);
	add_doubts(&brief->alone, brief, input);
	add_figures(&brief->alone, brief, input);
	brief->n_values = analysis->n;
	brief->values =
		xptr(reallocarray(NULL, MAX(analysis->n, (size_t)1), sizeof(*brief->values)));
	memcpy(brief->values, analysis->sorted, analysis->n * sizeof(*brief->values));
	if (!unit)
		return;
	brief->own_unit = *unit;
	brief->own_unit.name = brief->unit_name = xptr(strdup(unit->name));
	brief->unit = &brief->own_unit;
}

void brief_add_benchmark(struct brief *brief, const struct summary_input *input)
{
	const struct benchmark *b = input->benchmark;
	_cleanup_free_ char *name = served_name(b);

	add_row(brief, b, name, &input->analysis->stats, benchmark_counted_runs(b),
		input->analysis->stability);
	if (brief->n_rows == 1)
		add_alone(brief, input);
}

/* --- A comparison --- */

void brief_add_comparison(
	struct brief *brief, const char *title, const struct comparison *c, bool with_medians)
{
	_cleanup_text_ struct text differences = { 0 }, doubts = { 0 }, fleet = { 0 };
	const char *remark = comparison_median_remark(c, true);

	add_line(&brief->lines, BRIEF_VERDICT, comparison_headline(title, c, with_medians));
	brief->n_verdicts++;
	if (c->verdict == VERDICT_UNCLEAR)
		brief_add(brief, BRIEF_DOUBT, "  unclear    %s", c->unclear);
	for (size_t i = 0; i < c->n_differences; i++)
		text_append_name(&differences, i, SHOWN, "%s", c->differences[i]);
	text_append_rest(&differences, c->n_differences, SHOWN);
	/* Why it is unclear has the resolution. */
	if (c->verdict != VERDICT_UNCLEAR)
		comparison_append_resolution(&doubts, c);
	comparison_append_doubts(&doubts, c);
	if (c->fleet.n_machines[0] > 0)
		fleet_append_rows(&fleet, c->fleet.level, &c->fleet.nested, &c->fleet);
	if (differences.failed || doubts.failed || fleet.failed)
		xalloc_fail();
	if (c->n_differences > 0)
		brief_add(brief, BRIEF_DOUBT, "  differs    %s", differences.data);
	if (doubts.length > 0)
		brief_add(brief, BRIEF_DOUBT, "%s", doubts.data);
	if (fleet.length > 0)
		brief_add(brief, BRIEF_PROGRAM, "%s", fleet.data);
	if (*remark)
		brief_add(brief, BRIEF_PROGRAM, "  medians    %s", remark);
	if (c->verdict == VERDICT_UNCLEAR && comparison_remedy(c))
		brief_add(brief, BRIEF_ADVICE, "  instead    %s", comparison_remedy(c));
}

int brief_add_sides(struct brief *brief, const struct comparison *c)
{
	const struct benchmark *const sides[] = { c->old, c->new };
	const struct stats *const stats[] = { &c->old_stats, &c->new_stats };
	bool has_names = !metadata_equal_strings(c->old->name, c->new->name);

	for (size_t i = 0; i < ARRAY_SIZE(sides); i++) {
		_cleanup_free_ char *name = served_name(sides[i]);
		_cleanup_(analysis) struct analysis *analysis = NULL;
		bool one_result = !comparison_is_of_results(c) && !comparison_is_of_machines(c);
		int r = one_result ? analysis_new(sides[i], &analysis) : 0;

		if (r < 0)
			return r;
		if (!has_row(brief, sides[i]))
			add_row(brief, sides[i],
				has_names	 ? name
					: i == 0 ? "old"
						 : "new",
				stats[i], c->n_runs[i], analysis ? analysis->stability : NULL);
	}
	return 0;
}

/* more: "--max-runs". */
static void add_lack_of_pairs(struct brief *brief, const char *more)
{
	brief_add(brief, BRIEF_ADVICE,
		"  instead    allow more %s (%s), or ask for a larger change",
		more + strlen("--max-"), more);
}

void brief_add_decision(struct brief *brief, const char *title, const struct decision *decision,
	const char *doubt, const char *more)
{
	_cleanup_free_ char *text = decision_text(decision, false);

	brief_add(brief, BRIEF_VERDICT, "%s: %s", title, text);
	if (doubt)
		brief_add(brief, BRIEF_DOUBT, "  unclear    %s", doubt);
	else if (decision_lacks_pairs(decision))
		add_lack_of_pairs(brief, more);
}

/* "worse   +8.2 %  (+5.5 % .. +11 %)  after 14 pairs  NAME" */
static void add_suite_row(struct brief *brief, const char *name, const struct decision *d)
{
	char change[UNITS_TEXT_SIZE] = "", low[UNITS_TEXT_SIZE], high[UNITS_TEXT_SIZE];
	_cleanup_free_ char *interval = NULL;
	bool is_open = d->verdict == DECISION_NOT_SETTLED;

	if (!isnan(d->ratio))
		units_format_change(d->ratio - 1, change);
	if (!isnan(d->low) && !isnan(d->high))
		interval = xformat("(%s .. %s)", units_format_change(d->low - 1, low),
			units_format_change(d->high - 1, high));
	brief_add(brief, is_open ? BRIEF_DOUBT : BRIEF_VERDICT, "  %-11s %7s  %-20s %5zu pairs  %s",
		is_open ? "not settled" : decision_claim_word(d), change, interval ? interval : "",
		is_open ? d->n_pairs : d->settled_after, name);
}

void brief_add_suite(struct brief *brief, const char *sum, const char *const names[],
	const struct decision *const decisions[], const char *const doubts[], size_t n,
	const char *more)
{
	brief->is_of_suite = true;
	brief_add(brief, BRIEF_VERDICT, "%s", sum);
	for (size_t i = 0; i < n; i++) {
		const struct decision *d = decisions[i];
		_cleanup_free_ char *text = NULL, *name = NULL;

		if (d->verdict != DECISION_NOT_SETTLED && !decision_is_claim(d->verdict))
			continue;
		name = brief_cut(brief, names[i]);
		add_suite_row(brief, name, d);
		if (doubts[i]) {
			brief_add(brief, BRIEF_DOUBT, "  unclear    %s: %s", name, doubts[i]);
		} else if (decision_lacks_pairs(d)) {
			add_lack_of_pairs(brief, more);
		} else if (d->verdict == DECISION_NOT_SETTLED) {
			text = decision_text(d, false);
			brief_add(brief, BRIEF_DOUBT, "  unclear    %s: %s", name, text);
		}
	}
	brief_add(brief, BRIEF_ADVICE, "  -v         lists all of them");
}

/* --- All together --- */

static int columns_of(const char *text)
{
	return (int)text_columns(text, strlen(text));
}

/* How wide each column is, 0 of one that nobody has. */
static void find_widths(const struct brief *brief, int widths[CELLS])
{
	for (size_t k = 0; k < CELLS; k++) {
		widths[k] = 0;
		for (size_t i = 0; i < brief->n_rows; i++)
			widths[k] = MAX(widths[k], columns_of(brief->rows[i].cells[k]));
		if (widths[k] > 0)
			widths[k] = MAX(widths[k], columns_of(brief->heads[k]));
	}
}

/* Whether there are two that look the same. */
static bool are_alike(char *const names[], size_t n)
{
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < i; k++)
			if (strcmp(names[i], names[k]) == 0)
				return true;
	return false;
}

/* With how many bytes all names begin, without a part of a character. */
static size_t find_common(const struct brief *brief)
{
	const char *first = brief->rows[0].cells[0];
	size_t n = strlen(first);

	for (size_t i = 1; i < brief->n_rows; i++)
		for (size_t k = 0; k < n; k++)
			if (brief->rows[i].cells[0][k] != first[k])
				n = k;
	while (n > 0 && ((unsigned char)first[n] & 0xc0) == 0x80)
		n--;
	return n;
}

/* The names of the programs, each malloc'd, so that a row of the table fits into a line. Where
 * their ends do not tell them apart, what they begin with in common is left out. */
static char **make_names(const struct brief *brief)
{
	size_t n = brief->n_rows, common = n > 1 ? find_common(brief) : 0;
	char **names = xptr(calloc(n + 1, sizeof(*names)));
	int widths[CELLS], room = (int)brief->width - 2;
	bool is_needed;

	find_widths(brief, widths);
	for (size_t k = 1; k < CELLS; k++)
		if (widths[k] > 0)
			room -= MIN(widths[k], k + 1 == CELLS ? LAST_COLUMN_MIN : INT_MAX) + GAP;
	room = MAX(room, NAME_MIN);
	for (size_t i = 0; i < n; i++)
		names[i] = xptr(text_shorten(brief->rows[i].cells[0], (size_t)room));
	is_needed = common > 0 && are_alike(names, n);
	for (size_t i = 0; i < n && is_needed; i++) {
		_cleanup_free_ char *rest = xformat("...%s", brief->rows[i].cells[0] + common);

		free(names[i]);
		names[i] = xptr(text_shorten(rest, (size_t)room));
	}
	return names;
}

/* "  old      5 ms, MAD 1 ms, runs 25, disturbed 0": where the columns are wider than a line. */
static void add_as_lists(struct lines *lines, const struct brief *brief, char *const names[],
	const int widths[CELLS], enum brief_rank rank)
{
	for (size_t i = 0; i < brief->n_rows; i++) {
		struct text t = { 0 };

		text_appendf(&t, "  %-*s   %s", NAME_LEAST, names[i], brief->rows[i].cells[1]);
		for (size_t k = 2; k < CELLS; k++)
			if (widths[k] > 0)
				text_appendf(
					&t, ", %s %s", brief->heads[k], brief->rows[i].cells[k]);
		add_line(lines, rank, xptr(text_steal(&t)));
	}
}

/* A table whose last column may be long. A column that nobody has is left out. */
static void add_rows(
	struct lines *lines, const struct brief *brief, char *const names[], enum brief_rank rank)
{
	int widths[CELLS], columns = 2;

	find_widths(brief, widths);
	widths[0] = NAME_LEAST;
	for (size_t i = 0; i < brief->n_rows; i++)
		widths[0] = MAX(widths[0], columns_of(names[i]));
	for (size_t k = 0; k + 1 < CELLS; k++)
		columns += widths[k] > 0 ? widths[k] + GAP : 0;
	if (columns + columns_of(brief->heads[CELLS - 1]) > (int)brief->width) {
		add_as_lists(lines, brief, names, widths, rank);
		return;
	}
	for (size_t i = 0; i <= brief->n_rows; i++) {
		struct text t = { 0 };

		text_append(&t, "  ");
		for (size_t k = 0; k < CELLS; k++) {
			const char *cell = i == 0 ? brief->heads[k]
				: k == 0	  ? names[i - 1]
						  : brief->rows[i - 1].cells[k];
			int padding = widths[k] - columns_of(cell);

			if (widths[k] == 0)
				continue;
			if (k > 0)
				text_appendf(&t, "%*s", GAP, "");
			if (k == 0)
				text_appendf(&t, "%s%*s", cell, padding, "");
			else if (k + 1 == CELLS)
				text_append(&t, cell);
			else
				text_appendf(&t, "%*s%s", padding, "", cell);
		}
		add_line(lines, rank, xptr(text_steal(&t)));
		if (i == 0)
			lines->items[lines->n - 1].is_head = true;
	}
}

static void append_copies(struct lines *to, const struct lines *from, enum brief_rank rank)
{
	for (size_t i = 0; i < from->n; i++)
		if (from->items[i].rank == rank)
			add_line(to, rank, xptr(strdup(from->items[i].text)));
}

/* What is known of several programs, for a rank. */
static void arrange_rows(
	const struct brief *brief, char *const names[], enum brief_rank rank, struct lines *ret)
{
	/* Without a verdict, the figures are the answer. */
	if (brief->n_rows > 0 && !brief->is_of_suite &&
		rank == (brief->n_verdicts > 0 ? BRIEF_PROGRAM : BRIEF_VERDICT))
		add_rows(ret, brief, names, rank);
	for (size_t i = 0; i < brief->n_rows; i++) {
		const struct row *row = &brief->rows[i];

		if (rank == BRIEF_DOUBT && *row->warnings)
			add_format(ret, rank, "  warning    %s: %s", names[i], row->warnings);
		if (rank == BRIEF_DOUBT && *row->left_out)
			add_format(ret, rank, "  warm-up    %s: %s", names[i], row->left_out);
		if (rank == BRIEF_PROGRAM)
			add_text(ret, rank, row->load);
		if (rank == BRIEF_PROGRAM && *row->events)
			add_format(ret, rank, "  counted    %s: %s", names[i], row->events);
		if (rank == BRIEF_PROGRAM && *row->disturbed)
			add_format(ret, rank, "  disturbed  %s: %s", names[i], row->disturbed);
	}
}

/* All lines in their order. */
static void arrange(
	const struct brief *brief, char *const names[], bool is_alone, struct lines *ret)
{
	for (enum brief_rank rank = BRIEF_VERDICT; rank <= BRIEF_PATH; rank++) {
		/* The verdicts, and what speaks against them, begin with those of comparisons. */
		if (rank < BRIEF_PROGRAM)
			append_copies(ret, &brief->lines, rank);
		if (is_alone)
			append_copies(ret, &brief->alone, rank);
		else
			arrange_rows(brief, names, rank, ret);
		if (rank >= BRIEF_PROGRAM)
			append_copies(ret, &brief->lines, rank);
	}
}

/* Nothing of what people or programs have named is wider than a line of the terminal, where it
 * would be broken in mid-word. The path is to be copied, and stays whole. */
static void cut_words(const struct brief *brief, struct line *line)
{
	const char *word = line->text;
	struct text t = { 0 };

	while (line->rank != BRIEF_PATH && *word) {
		size_t blanks = strspn(word, " "), length = strcspn(word + blanks, " ");
		_cleanup_free_ char *whole = xptr(strndup(word + blanks, length));
		_cleanup_free_ char *cut = xptr(text_shorten(whole, brief->width - LABEL));

		text_append_n(&t, word, blanks);
		text_append(&t, cut);
		word += blanks + length;
	}
	if (line->rank == BRIEF_PATH)
		return;
	free(line->text);
	line->text = xptr(text_steal(&t));
}

/* How many lines of a terminal it takes. */
static size_t count_lines(const struct brief *brief, const char *text)
{
	_cleanup_free_ char *wrapped = xptr(text_wrap(text, brief->width));
	size_t n = 0;

	for (const char *line = wrapped; *line;) {
		size_t length = strcspn(line, "\n"), columns = text_columns(line, length);

		n += MAX((columns + brief->width - 1) / brief->width, (size_t)1);
		line += length + (line[length] == '\n');
	}
	return n;
}

static size_t count_rank(const struct brief *brief, const struct lines *lines,
	enum brief_rank first, enum brief_rank last)
{
	size_t n = 0;

	for (size_t i = 0; i < lines->n; i++)
		if (lines->items[i].rank >= first && lines->items[i].rank <= last)
			n += count_lines(brief, lines->items[i].text);
	return n;
}

/* Removes the last line of that rank, and a head that has no row any more; false where there is no
 * such line. */
static bool remove_last(struct lines *lines, enum brief_rank rank)
{
	bool is_removed = false;

	for (size_t i = lines->n; i-- > 0;) {
		if (lines->items[i].rank != rank)
			continue;
		if (is_removed && !lines->items[i].is_head)
			break;
		free(lines->items[i].text);
		memmove(&lines->items[i], &lines->items[i + 1],
			(--lines->n - i) * sizeof(*lines->items));
		is_removed = true;
	}
	return is_removed;
}

/* Cuts the end of a doubt that takes too many lines: its beginning says more than a line that is
 * left out. Returns whether it was too long. */
static bool cut_doubt(const struct brief *brief, struct line *line)
{
	size_t end = strlen(line->text);
	char *cut = NULL;

	if (line->rank != BRIEF_DOUBT || count_lines(brief, line->text) <= DOUBT_LINES)
		return false;
	do {
		while (end > 0 && line->text[--end] != ' ')
			continue;
		free(cut);
		cut = xformat("%.*s ...", (int)end, line->text);
	} while (end > 0 && count_lines(brief, cut) > DOUBT_LINES);
	free(line->text);
	line->text = cut;
	return true;
}

/* Leaves out what does not fit, and says how much that is. */
static void fit(const struct brief *brief, struct lines *lines, size_t limit)
{
	enum brief_rank rank = BRIEF_PATH;
	size_t n_before = lines->n;

	if (count_rank(brief, lines, BRIEF_VERDICT, BRIEF_PATH) <= limit)
		return;
	for (size_t i = 0; i < lines->n; i++)
		n_before += cut_doubt(brief, &lines->items[i]);
	/* All programs stand before the last warning. */
	while (count_rank(brief, lines, BRIEF_DOUBT, BRIEF_DOUBT) > DOUBTS &&
		count_rank(brief, lines, BRIEF_VERDICT, BRIEF_PATH) > limit - 1)
		(void)remove_last(lines, BRIEF_DOUBT);
	while (rank > BRIEF_VERDICT &&
		count_rank(brief, lines, BRIEF_VERDICT, BRIEF_PATH) > limit - 1)
		if (!remove_last(lines, rank))
			rank--;
	add_format(lines, BRIEF_PATH, "  -v         has %zu line%s more", n_before - lines->n,
		n_before - lines->n == 1 ? "" : "s");
}

/* The histogram in at most so many lines; NULL where it takes more. */
static char *make_histogram(const struct brief *brief, size_t n_lines)
{
	_cleanup_(histogram) struct histogram *histogram = NULL;
	size_t n_open;

	if (brief->n_values < HISTOGRAM_MIN || n_lines < BINS_MIN ||
		histogram_new(brief->values, brief->n_values, 0, &histogram) < 0)
		return NULL;
	n_open = (size_t)histogram->open_low + histogram->open_high;
	if (histogram->n_bins > n_lines) {
		histogram_free(TAKE_PTR(histogram));
		if (n_lines < n_open + BINS_MIN ||
			histogram_new(
				brief->values, brief->n_values, n_lines - n_open, &histogram) < 0)
			return NULL;
	}
	return histogram_render(
		histogram, brief->unit, (int)MIN(brief->width, HISTOGRAM_WIDTH_MAX));
}

char *brief_render(const struct brief *brief)
{
	bool is_alone = brief->n_rows == 1 && brief->n_verdicts == 0 && brief->alone.n > 0;
	size_t limit = brief->n_rows == 1 ? BRIEF_LINES_ALONE : BRIEF_LINES, n;
	_cleanup_free_ char *histogram = NULL;
	char **names = make_names(brief);
	struct lines lines = { 0 };
	struct text t = { 0 };

	arrange(brief, names, is_alone, &lines);
	for (size_t i = 0; i < brief->n_rows; i++)
		free(names[i]);
	free(names);
	for (size_t i = 0; i < lines.n; i++)
		cut_words(brief, &lines.items[i]);
	limit = MAX(
		limit, count_rank(brief, &lines, BRIEF_VERDICT, BRIEF_VERDICT) + BESIDE_VERDICTS);
	fit(brief, &lines, limit);
	n = count_rank(brief, &lines, BRIEF_VERDICT, BRIEF_PATH);
	if (is_alone && n + 1 < limit)
		histogram = make_histogram(brief, limit - n - 1);
	for (size_t i = 0; i < lines.n; i++) {
		if (histogram && lines.items[i].rank == BRIEF_PATH) {
			text_appendf(&t, "\n%s", histogram);
			free(TAKE_PTR(histogram));
		}
		text_appendf(&t, "%s\n", lines.items[i].text);
	}
	if (histogram)
		text_appendf(&t, "\n%s", histogram);
	clear_lines(&lines);
	return xptr(text_steal(&t));
}
