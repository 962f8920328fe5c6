// SPDX-License-Identifier: GPL-2.0-or-later
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
#include "judge/report/wording.h"
#include "judge/result/metadata.h"
#include "judge/stats/histogram.h"

enum {
	SHOWN = 4,	     /* of a list of warnings or differences */
	DOUBTS = 6,	     /* lines that doubts have, where there is more to say */
	BESIDE_VERDICTS = 5, /* lines that there are beside many verdicts, at least */
	HISTOGRAM_MIN = 5,   /* values */
	BINS_MIN = 3,
	HISTOGRAM_WIDTH_MAX = 100,
};

#define LACKS_PAIRS "  instead    allow more runs (--max-runs), or ask for a larger change"

enum cell {
	CELL_NAME,
	CELL_MEDIAN,
	CELL_MAD,
	CELL_RUNS,
	CELL_DISTURBED,
	CELLS,
};

/* A program in a table of several. */
struct row {
	const void *key; /* of what it is, to find it again */
	char *cells[CELLS];
	char *warnings; /* "" without any */
	char *events;	/* the same: what was counted by -e */
	char *left_out; /* the same: values before a level */
};

struct line {
	enum brief_rank rank;
	char *text;
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
	lines->items[lines->n++] = (struct line){ rank, text };
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

static bool has_row(const struct brief *brief, const void *key)
{
	for (size_t i = 0; i < brief->n_rows; i++)
		if (key && brief->rows[i].key == key)
			return true;
	return false;
}

/* `stability` is NULL where there are several results, which have none together. */
static void add_row(struct brief *brief, const struct benchmark *benchmark, const char *name,
	const struct stats *stats, size_t n_runs, const struct stability *stability)
{
	struct scale scale = summary_choose_scale(benchmark, stats);
	bool is_known = stability && benchmark->series->with_evidence;
	struct text events = { 0 };
	char a[UNITS_TEXT_SIZE];
	struct row *row;

	summary_append_events(&events, benchmark, false);
	brief->rows = xptr(reallocarray(brief->rows, brief->n_rows + 1, sizeof(*brief->rows)));
	row = &brief->rows[brief->n_rows++];
	*row = (struct row){ .key = benchmark };
	row->cells[CELL_NAME] = xptr(text_escape_control(name));
	row->cells[CELL_MEDIAN] = xptr(strdup(scale_format(scale, stats->median, a)));
	row->cells[CELL_MAD] = xptr(strdup(stats->n > 1 ? scale_format(scale, stats->mad, a) : ""));
	row->cells[CELL_RUNS] = xformat("%zu", n_runs);
	row->cells[CELL_DISTURBED] =
		is_known ? stability_disturbed_cell(stability) : xptr(strdup(""));
	row->warnings = stability ? list_warnings(brief, stability) : xptr(strdup(""));
	row->events = xptr(text_steal(&events));
	row->left_out = benchmark->settling.n_left_out > 0
		? xformat("%zu values before the level of their run are left out",
			  benchmark->settling.n_left_out)
		: xptr(strdup(""));
}

/* "sort: 25 runs on CPU 3, median 17.5 ms (17.2 .. 17.8 ms)" */
static void add_head(struct lines *lines, const struct summary_input *input)
{
	const struct benchmark *b = input->benchmark;
	const struct analysis *analysis = input->analysis;
	const struct stats *s = &analysis->stats;
	struct scale scale = summary_choose_scale(b, s);
	_cleanup_free_ char *name = xptr(text_escape_control(b->name));
	char value[UNITS_TEXT_SIZE], low[UNITS_TEXT_SIZE], high[UNITS_TEXT_SIZE];
	struct text t = { 0 };

	text_appendf(&t, "%s: ", name);
	summary_append_runs(&t, input);
	text_append(&t, s->n > 1 ? ", median " : ", ");
	if (b->metric && !b->is_figure)
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

	if (summary_find_usage(benchmark, &usage) < 0 || !isfinite(usage.cpu))
		return;
	scale = scale_choose_unit(benchmark->unit, usage.cpu);
	add_format(lines, BRIEF_PROGRAM, "  CPU time   %s: user %s, system %s",
		scale_format(scale, usage.cpu, sum), scale_format(scale, usage.user_cpu, user),
		scale_format(scale, usage.system_cpu, system));
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

	add_head(&brief->alone, input);
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

	add_row(brief, b, b->name, &input->analysis->stats, benchmark_counted_runs(b),
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
		_cleanup_(analysis) struct analysis *analysis = NULL;
		bool one_result = !comparison_is_of_results(c) && !comparison_is_of_machines(c);
		int r = one_result ? analysis_new(sides[i], &analysis) : 0;

		if (r < 0)
			return r;
		if (!has_row(brief, sides[i]))
			add_row(brief, sides[i],
				has_names	 ? sides[i]->name
					: i == 0 ? "old"
						 : "new",
				stats[i], c->n_runs[i], analysis ? analysis->stability : NULL);
	}
	return 0;
}

void brief_add_decision(
	struct brief *brief, const char *title, const struct decision *decision, const char *doubt)
{
	_cleanup_free_ char *text = decision_text(decision, false);

	brief_add(brief, BRIEF_VERDICT, "%s: %s", title, text);
	if (doubt)
		brief_add(brief, BRIEF_DOUBT, "  unclear    %s", doubt);
	else if (decision_lacks_pairs(decision))
		brief_add(brief, BRIEF_ADVICE, LACKS_PAIRS);
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
	const struct decision *const decisions[], const char *const doubts[], size_t n)
{
	brief->is_of_suite = true;
	brief_add(brief, BRIEF_VERDICT, "%s", sum);
	for (size_t i = 0; i < n; i++) {
		const struct decision *d = decisions[i];
		_cleanup_free_ char *text = NULL;

		if (d->verdict != DECISION_NOT_SETTLED && !decision_is_claim(d->verdict))
			continue;
		add_suite_row(brief, names[i], d);
		if (doubts[i]) {
			brief_add(brief, BRIEF_DOUBT, "  unclear    %s: %s", names[i], doubts[i]);
		} else if (decision_lacks_pairs(d)) {
			brief_add(brief, BRIEF_ADVICE, LACKS_PAIRS);
		} else if (d->verdict == DECISION_NOT_SETTLED) {
			text = decision_text(d, false);
			brief_add(brief, BRIEF_DOUBT, "  unclear    %s: %s", names[i], text);
		}
	}
	brief_add(brief, BRIEF_ADVICE, "  -v         lists all of them");
}

/* --- All together --- */

/* A table whose last column may be long. A column that nobody has is left out. */
static void add_rows(struct lines *lines, const struct brief *brief, enum brief_rank rank)
{
	static const char *const heads[CELLS] = { "", "median", "MAD", "runs", "disturbed" };
	int widths[CELLS] = { 8 };

	for (size_t i = 0; i < brief->n_rows; i++)
		for (size_t k = 0; k < CELLS; k++)
			widths[k] = MAX(widths[k],
				(int)text_columns(
					brief->rows[i].cells[k], strlen(brief->rows[i].cells[k])));
	for (size_t i = 0; i <= brief->n_rows; i++) {
		struct text t = { 0 };

		text_append(&t, "  ");
		for (size_t k = 0; k < CELLS; k++) {
			const char *cell = i == 0 ? heads[k] : brief->rows[i - 1].cells[k];
			int padding = MAX(widths[k], (int)strlen(heads[k])) -
				(int)text_columns(cell, strlen(cell));

			if (widths[k] == 0)
				continue;
			if (k > 0)
				text_append(&t, "   ");
			if (k == CELL_NAME)
				text_appendf(&t, "%s%*s", cell, padding, "");
			else if (k == CELL_DISTURBED)
				text_append(&t, cell);
			else
				text_appendf(&t, "%*s%s", padding, "", cell);
		}
		add_line(lines, rank, xptr(text_steal(&t)));
	}
}

static void append_copies(struct lines *to, const struct lines *from, enum brief_rank rank)
{
	for (size_t i = 0; i < from->n; i++)
		if (from->items[i].rank == rank)
			add_line(to, rank, xptr(strdup(from->items[i].text)));
}

/* What is known of several programs, for a rank. */
static void arrange_rows(const struct brief *brief, enum brief_rank rank, struct lines *ret)
{
	/* Without a verdict, the figures are the answer. */
	if (brief->n_rows > 0 && !brief->is_of_suite &&
		rank == (brief->n_verdicts > 0 ? BRIEF_PROGRAM : BRIEF_VERDICT))
		add_rows(ret, brief, rank);
	for (size_t i = 0; i < brief->n_rows; i++) {
		const struct row *row = &brief->rows[i];

		if (rank == BRIEF_DOUBT && *row->warnings)
			add_format(ret, rank, "  warning    %s: %s", row->cells[CELL_NAME],
				row->warnings);
		if (rank == BRIEF_DOUBT && *row->left_out)
			add_format(ret, rank, "  warm-up    %s: %s", row->cells[CELL_NAME],
				row->left_out);
		if (rank == BRIEF_PROGRAM && *row->events)
			add_format(ret, rank, "  counted    %s: %s", row->cells[CELL_NAME],
				row->events);
	}
}

/* All lines in their order. */
static void arrange(const struct brief *brief, bool is_alone, struct lines *ret)
{
	for (enum brief_rank rank = BRIEF_VERDICT; rank <= BRIEF_PATH; rank++) {
		/* The verdicts, and what speaks against them, begin with those of comparisons. */
		if (rank < BRIEF_PROGRAM)
			append_copies(ret, &brief->lines, rank);
		if (is_alone)
			append_copies(ret, &brief->alone, rank);
		else
			arrange_rows(brief, rank, ret);
		if (rank >= BRIEF_PROGRAM)
			append_copies(ret, &brief->lines, rank);
	}
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

/* Removes the last line of that rank; false where there is none. */
static bool remove_last(struct lines *lines, enum brief_rank rank)
{
	for (size_t i = lines->n; i-- > 0;) {
		if (lines->items[i].rank != rank)
			continue;
		free(lines->items[i].text);
		memmove(&lines->items[i], &lines->items[i + 1],
			(--lines->n - i) * sizeof(*lines->items));
		return true;
	}
	return false;
}

/* Leaves out what does not fit, and says how much that is. */
static void fit(const struct brief *brief, struct lines *lines, size_t limit)
{
	enum brief_rank rank = BRIEF_PATH;
	size_t n_before = lines->n;

	if (count_rank(brief, lines, BRIEF_VERDICT, BRIEF_PATH) <= limit)
		return;
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
	size_t limit = is_alone ? BRIEF_LINES_ALONE : BRIEF_LINES, n;
	_cleanup_free_ char *histogram = NULL;
	struct lines lines = { 0 };
	struct text t = { 0 };

	arrange(brief, is_alone, &lines);
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
