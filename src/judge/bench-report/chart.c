// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "base/xalloc.h"
#include "judge/bench-report/axis.h"
#include "judge/bench-report/chart.h"
#include "judge/bench-report/ticks.h"
#include "judge/result/series.h"
#include "judge/stats/stats.h"

enum {
	MARGIN = 12,
	GAP = 10,
	LABEL_ROOM = 56, /* the least width for the numbers of the axes, left of the panels */
	LABEL_GAP = 5,
	/* Height for the numbers and the name of the x axis, below the lowest panel. */
	X_LABEL_ROOM = 34,
	MIN_BIN = 5, /* the least height of a bar of the histogram, in points */
	MAX_BINS = 60,
	/* Height of the marks of flagged runs when samples are not drawn one by one. */
	MARK_HEIGHT = 7,
	MAX_LABELS = 256,
	STRIP = 6, /* the height of the marks below the samples of a mostly disturbed series */
};

struct panel {
	double x, y, width, height;
	double low, high; /* the values at its lower and upper edge */
};

/* The rectangle that a label covers. */
struct box {
	double x, y, width, height;
};

struct chart {
	struct canvas *canvas;
	const struct chart_series *series;
	size_t n_series;
	const struct chart_options *options;
	struct stats stats[CHART_MAX_SERIES];
	/* The range of the values that are shown. */
	double low[CHART_MAX_SERIES], high[CHART_MAX_SERIES];

	double title_size, text_size;
	struct scale scale;
	/* Numbers of runs: 1 is the first that counts, a warm-up is 0 or less. */
	double first_x, last_x;
	size_t n_warmups, n_warmups_shown; /* of the series that has most of them */
	double strips_y, strip; /* of the marks of mostly disturbed series, and their height */
	struct panel main, histogram, rows[CHART_MAX_ROWS]; /* not drawn when the height is 0 */
	const struct run_fact *strips[RUN_FACTS_MAX];	    /* what the rows show */
	size_t n_rows;

	struct box labels[MAX_LABELS]; /* those beside and in the panels */
	size_t n_labels;

	struct chart_spot *spots; /* or NULL */
	size_t n_spots;
	size_t n_beyond[2]; /* samples below and above the range of the main panel */
};

static double x_of_run(const struct chart *chart, double run)
{
	return chart->main.x +
		(run - chart->first_x) / (chart->last_x - chart->first_x) * chart->main.width;
}

static double y_of(const struct panel *panel, double value)
{
	return panel->y + panel->height -
		(value - panel->low) / (panel->high - panel->low) * panel->height;
}

static size_t n_counted(const struct chart_series *series)
{
	return series->n - series->n_warmups;
}

/* Takes the place for a label. Returns false if another label is there already, or if there are too
 * many. */
static bool claim(struct chart *chart, struct box box)
{
	for (size_t i = 0; i < chart->n_labels; i++) {
		const struct box *other = &chart->labels[i];

		if (box.x < other->x + other->width && other->x < box.x + box.width &&
			box.y < other->y + other->height && other->y < box.y + box.height)
			return false;
	}
	if (chart->n_labels == MAX_LABELS)
		return false;
	chart->labels[chart->n_labels++] = box;
	return true;
}

/* The rectangle of a line of text whose baseline begins at this point. */
static struct box text_box(const struct chart *chart, struct point at, double width)
{
	return (struct box){ at.x - 1, at.y - chart->text_size, width + 2, chart->text_size * 1.3 };
}

static void draw_label(
	const struct chart *chart, struct point at, bool bold, struct color color, const char *text)
{
	canvas_draw_note(chart->canvas, at, CANVAS_LEFT, chart->text_size, bold, color, text);
}

/* The run's number as it is printed: the first run that counts is 1. */
static double run_number(const struct chart_series *series, size_t index)
{
	return (double)index - (double)series->n_warmups + 1;
}

/* --- The ranges of the axes. --- */

static int find_statistics(struct chart *chart)
{
	for (size_t s = 0; s < chart->n_series; s++) {
		const struct chart_series *series = &chart->series[s];
		_cleanup_free_ double *sorted = NULL;
		int r;

		if (series->n <= series->n_warmups)
			return -EINVAL;
		sorted = xptr((double *)malloc(n_counted(series) * sizeof(*sorted)));
		memcpy(sorted, series->values + series->n_warmups,
			n_counted(series) * sizeof(*sorted));
		r = stats_compute(sorted, n_counted(series), &chart->stats[s]);
		if (r < 0)
			return r;
		axis_find_visible(sorted, &chart->stats[s], &chart->low[s], &chart->high[s]);
	}
	return 0;
}

static void find_value_range(const struct chart *chart, double *ret_low, double *ret_high)
{
	double low = INFINITY, high = -INFINITY;

	for (size_t s = 0; s < chart->n_series; s++) {
		low = MIN(low, chart->low[s]);
		high = MAX(high, chart->high[s]);
	}
	ticks_make_room(&low, &high);
	*ret_low = low;
	*ret_high = high;
}

size_t chart_list_rows(const struct run_fact *ret[static RUN_FACTS_MAX])
{
	return MIN(
		run_facts_list(offsetof(struct run_fact, strip.rank), ret), (size_t)CHART_MAX_ROWS);
}

void chart_widen_row(const struct run_strip *strip, double *low, double *high)
{
	double room =
		MAX((*high - *low) * 0.1, MAX(strip->least, fabs(*high) * strip->least_part) / 2);

	*low -= room;
	*high += room;
}

/* The first sample that has a place on the axis. */
static size_t find_first(const struct chart *chart, const struct chart_series *series)
{
	return series->n_warmups - MIN(series->n_warmups, chart->n_warmups_shown);
}

/* The range of a row; false when no series has such values. */
static bool find_row_range(
	const struct chart *chart, size_t row_index, double *ret_low, double *ret_high)
{
	double low = INFINITY, high = -INFINITY;

	for (size_t s = 0; s < chart->n_series; s++) {
		const struct chart_series *series = &chart->series[s];
		const double *row = series->rows[row_index];

		for (size_t i = find_first(chart, series); row && i < series->n; i++) {
			if (!isfinite(row[i]))
				continue;
			low = MIN(low, row[i]);
			high = MAX(high, row[i]);
		}
	}
	if (!(low <= high))
		return false;
	chart_widen_row(&chart->strips[row_index]->strip, &low, &high);
	*ret_low = low;
	*ret_high = high;
	return true;
}

/* --- The texts around the panels. --- */

static size_t count_disturbed(const struct chart_series *series)
{
	size_t n = 0;

	for (size_t i = series->n_warmups; series->causes && i < series->n; i++)
		n += series->causes[i] != 0;
	return n;
}

/* Rings around most samples would hide which series they are of, and tell nothing: then a strip
 * below them has the disturbed ones. */
static bool is_mostly_disturbed(const struct chart_series *series)
{
	return 2 * count_disturbed(series) > n_counted(series);
}

/* "3 of 25 runs disturbed: irq 2, steal 1" for all series together; false when no run is
 * disturbed. */
static bool disturbed_text(const struct chart *chart, char *buf, size_t size)
{
	size_t counts[SAMPLE_N_FLAGS] = { 0 }, n_disturbed = 0, n = 0;
	const char *before = ":";
	int at;

	for (size_t s = 0; s < chart->n_series; s++) {
		const struct chart_series *series = &chart->series[s];

		n += n_counted(series);
		n_disturbed += count_disturbed(series);
		for (size_t i = series->n_warmups; series->causes && i < series->n; i++)
			for (size_t bit = 0; bit < SAMPLE_N_FLAGS; bit++)
				counts[bit] += series->causes[i] >> bit & 1;
	}
	if (n_disturbed == 0)
		return false;
	at = n_disturbed == n && n > 1
		? snprintf(buf, size, "all %zu %ss disturbed", n, chart->options->what)
		: snprintf(buf, size, "%zu of %zu %s%s disturbed", n_disturbed, n,
			  chart->options->what, n > 1 ? "s" : "");
	for (size_t bit = 0; bit < SAMPLE_N_FLAGS; bit++) {
		if (counts[bit] == 0 || (size_t)at >= size)
			continue;
		at += snprintf(buf + at, size - (size_t)at, "%s %s %zu", before,
			sample_flag_name((enum sample_flag)(1 << bit)), counts[bit]);
		before = ",";
	}
	return true;
}

/* How much text there is above the panels. A small canvas gets less. */
enum head_size {
	HEAD_FULL,
	HEAD_NO_SUBTITLE,
	HEAD_NAMES,	  /* the names of the series without their figures */
	HEAD_SHORT_NAMES, /* the same, three in a line */
	N_HEAD_SIZES,
};

/* The state while the texts above the panels are drawn or measured. */
struct head {
	const struct chart *chart;
	enum head_size head_size;
	bool drawn; /* false: only measure how much room is needed */
	struct point at;
};

/* Adds an item of the legend: a mark and its meaning. It goes to the next line when this line is
 * full. If it is too long, the name is shortened, not the figures. */
static void add_legend_item(
	struct head *head, enum ink ink, const char *name, const char *figures, double room)
{
	const struct chart *chart = head->chart;
	double right = chart->options->width - MARGIN, size = chart->text_size, width;
	double beside = 1.3 * size + canvas_text_width(chart->canvas, size, false, figures);
	char fitting[CANVAS_FITTING_SIZE], text[CANVAS_FITTING_SIZE + 128];
	struct point mark;

	canvas_fit_text(chart->canvas, size, false, name, room - beside, fitting);
	snprintf(text, sizeof(text), "%s%s", fitting, figures);
	width = 1.3 * size + canvas_text_width(chart->canvas, size, false, text);
	if (head->at.x > MARGIN && head->at.x + width > right) {
		head->at.x = MARGIN;
		head->at.y += size * 1.5;
	}
	mark = (struct point){ head->at.x + size / 2, head->at.y - size * 0.35 };
	if (head->drawn && ink == INK_GRID)
		canvas_fill_rectangle(chart->canvas, head->at.x, head->at.y - size * 0.8, size,
			size * 0.9, ink_color(ink));
	else if (head->drawn && ink == INK_ALARM)
		canvas_draw_circle(chart->canvas, mark, size * 0.36, 1.4, ink_color(ink));
	else if (head->drawn && ink != INK_PAPER)
		canvas_fill_circle(chart->canvas, mark, size * 0.36, ink_color(ink));
	if (head->drawn)
		canvas_draw_text(chart->canvas,
			(struct point){ head->at.x + 1.3 * size, head->at.y }, CANVAS_LEFT, size,
			false, ink_color(INK_TEXT), text);
	head->at.x += width + 1.7 * size;
}

static void add_legend(struct head *head)
{
	const struct chart *chart = head->chart;
	double width = chart->options->width - 2 * MARGIN;
	double room =
		head->head_size < HEAD_SHORT_NAMES ? width : width / 3 - 1.7 * chart->text_size;
	char text[512], median[UNITS_TEXT_SIZE];
	bool ringed = false;

	for (size_t s = 0; s < chart->n_series; s++) {
		const char *name = chart->series[s].name;
		size_t n_disturbed = count_disturbed(&chart->series[s]);
		char disturbed[64] = "";

		if (!is_mostly_disturbed(&chart->series[s]))
			ringed = ringed || n_disturbed > 0;
		else if (n_disturbed == n_counted(&chart->series[s]))
			snprintf(disturbed, sizeof(disturbed), ", all disturbed");
		else
			snprintf(disturbed, sizeof(disturbed), ", %zu disturbed", n_disturbed);

		/* One digit more than on the axis, because the medians of series are often close
		 * together. */
		scale_format_shown(scale_refine(chart->scale, 1), chart->options->unit,
			chart->stats[s].median, median);
		snprintf(text, sizeof(text), ": median %s, %zu %s%s%s", median,
			n_counted(&chart->series[s]), chart->options->what,
			n_counted(&chart->series[s]) == 1 ? "" : "s",
			chart->n_series > 1 ? disturbed : "");
		add_legend_item(head, ink_of_series(s).ink, name ? name : "runs",
			head->head_size < HEAD_NAMES ? text : "", room);
	}
	/* Where no series has rings there is none to explain, and the text has no mark. */
	if (disturbed_text(chart, text, sizeof(text)))
		add_legend_item(head, ringed ? INK_ALARM : INK_PAPER, text, "", width);
	if (chart->first_x < 0.5 && chart->n_warmups > chart->n_warmups_shown)
		snprintf(text, sizeof(text), "warm-up, the last %zu of %zu", chart->n_warmups_shown,
			chart->n_warmups);
	else
		snprintf(text, sizeof(text), "warm-up");
	if (chart->first_x < 0.5)
		add_legend_item(head, INK_GRID, text, "", width);
}

static void add_line(
	struct head *head, double size, bool bold, struct color color, const char *text)
{
	head->at.y += size * (bold ? 1 : 1.1);
	if (head->drawn)
		canvas_draw_fitting(head->chart->canvas, head->at, CANVAS_LEFT, size, bold, color,
			text, head->chart->options->width - 2 * MARGIN);
	head->at.y += size * (bold ? 0.3 : 0.4);
}

/* Returns the y coordinate from which on the panels can be placed. */
static double add_head(const struct chart *chart, enum head_size head_size, bool drawn)
{
	const struct chart_options *options = chart->options;
	struct head head = { chart, head_size, drawn, { MARGIN, MARGIN } };

	if (options->title)
		add_line(&head, chart->title_size, true, ink_color(INK_TEXT), options->title);
	if (options->subtitle && options->subtitle[0] && head_size < HEAD_NO_SUBTITLE)
		add_line(&head, chart->text_size, false, ink_color(INK_LABEL), options->subtitle);
	head.at.y += chart->text_size * 1.3;
	add_legend(&head);
	return head.at.y + chart->text_size;
}

/* Draws as much text as leaves at least half of the canvas for the panels. */
static double draw_head(const struct chart *chart)
{
	enum head_size head_size = HEAD_FULL;

	while (head_size + 1 < N_HEAD_SIZES &&
		add_head(chart, head_size, false) > chart->options->height / 2)
		head_size++;
	return add_head(chart, head_size, true);
}

/* --- The axes. --- */

static int find_y_ticks(
	const struct chart *chart, const struct panel *panel, double factor, struct ticks *ret)
{
	size_t most = (size_t)MAX(3.0, panel->height / (chart->text_size * 2.6));

	return ticks_find(panel->low * factor, panel->high * factor, most, ret);
}

enum {
	TICK_SIZE = 32,
};

/* An axis is never shorter than a billionth of its numbers, so 12 digits tell all marks apart. */
static const char *format_tick(const struct ticks *ticks, size_t index, char buf[static TICK_SIZE])
{
	double value = ticks_at(ticks, index);

	if (fabs(value) < 1e12 && ticks->decimals <= 9)
		snprintf(buf, TICK_SIZE, "%.*f", ticks->decimals, value);
	else
		snprintf(buf, TICK_SIZE, "%.12g", value);
	return buf;
}

/* Where the labels of two panels would cover each other, only that of the upper panel is drawn. */
static void draw_y_axis(
	struct chart *chart, const struct panel *panel, double factor, const char *unit)
{
	struct ticks ticks;
	char label[TICK_SIZE];

	canvas_fill_rectangle(chart->canvas, panel->x, panel->y, panel->width, panel->height,
		ink_color(INK_SHADE));
	if (find_y_ticks(chart, panel, factor, &ticks) == 0) {
		for (size_t i = 0; i < ticks.n; i++) {
			double y = y_of(panel, ticks_at(&ticks, i) / factor);
			struct point from = { panel->x, y }, to = { panel->x + panel->width, y };

			canvas_draw_line(chart->canvas, from, to, 0.8, 0, ink_color(INK_GRID));
			from = (struct point){ panel->x - LABEL_GAP, y + chart->text_size * 0.35 };
			if (claim(chart, text_box(chart, from, 0)))
				canvas_draw_text(chart->canvas, from, CANVAS_RIGHT,
					chart->text_size, false, ink_color(INK_LABEL),
					format_tick(&ticks, i, label));
		}
	}
	if (canvas_text_width(chart->canvas, chart->text_size, false, unit) <= panel->height)
		canvas_draw_text_upwards(chart->canvas,
			(struct point){
				MARGIN + chart->text_size * 0.6, panel->y + panel->height / 2 },
			CANVAS_CENTER, chart->text_size, ink_color(INK_TEXT), unit);
}

static void draw_x_axis(const struct chart *chart, const struct panel *lowest)
{
	double bottom = lowest->y + lowest->height, size = chart->text_size;
	struct ticks ticks;
	char label[64];

	if (ticks_find(chart->first_x, chart->last_x,
		    (size_t)MAX(2.0, chart->main.width / (size * 6)), &ticks) == 0) {
		for (size_t i = 0; i < ticks.n; i++) {
			double run = ticks_at(&ticks, i);

			/* There is no run 0, and there are no fractions of runs. */
			if (run < 1 || run != floor(run))
				continue;
			snprintf(label, sizeof(label), "%.0f", run);
			canvas_draw_text(chart->canvas,
				(struct point){ x_of_run(chart, run), bottom + size * 1.3 },
				CANVAS_CENTER, size, false, ink_color(INK_LABEL), label);
		}
	}
	canvas_draw_text(chart->canvas,
		(struct point){ chart->main.x + chart->main.width / 2, bottom + size * 2.7 },
		CANVAS_CENTER, size, false, ink_color(INK_TEXT), chart->options->what);
}

static void draw_warmup_zone(const struct chart *chart)
{
	const struct panel *panel = &chart->main;
	double x = x_of_run(chart, 0.5);

	if (chart->first_x >= 0.5)
		return;
	canvas_fill_rectangle(chart->canvas, panel->x, panel->y, x - panel->x, panel->height,
		ink_color(INK_GRID));
}

/* --- The samples. --- */

static void add_spot(struct chart *chart, struct point at, size_t series, size_t index)
{
	if (chart->spots)
		chart->spots[chart->n_spots++] =
			(struct chart_spot){ .at = at, .series = series, .index = index };
}

static void draw_each_sample(struct chart *chart, size_t s, double radius)
{
	const struct chart_series *series = &chart->series[s];
	bool ringed = !is_mostly_disturbed(series);

	for (size_t i = find_first(chart, series); i < series->n; i++) {
		struct point at = { x_of_run(chart, run_number(series, i)),
			y_of(&chart->main, series->values[i]) };
		bool disturbed = series->causes && series->causes[i];

		if (i < series->n_warmups)
			canvas_draw_circle(
				chart->canvas, at, radius, 1, with_alpha(ink_of_series(s), 0.7));
		else
			canvas_fill_circle(chart->canvas, at, radius,
				with_alpha(ink_of_series(s), chart->n_series > 1 ? 0.75 : 0.85));
		if (disturbed && ringed && i >= series->n_warmups)
			canvas_draw_circle(
				chart->canvas, at, radius + 1.7, 1.3, ink_color(INK_ALARM));
		add_spot(chart, at, s, i);
	}
}

/* Draws, for each column of points, the range of its values and the range of their inner half. */
static void draw_columns(struct chart *chart, size_t s)
{
	const struct chart_series *series = &chart->series[s];
	size_t n = n_counted(series);
	/* As many columns as the series has points of width; beside a longer series it does not
	 * have the whole width. */
	double length = x_of_run(chart, 1 + (double)n) - x_of_run(chart, 1);
	size_t n_columns = (size_t)MAX(length, 1.0);
	double width = MAX(length / (double)n_columns, 1.0);
	_cleanup_free_ double *column = NULL;
	bool ringed = !is_mostly_disturbed(series);

	column = xptr((double *)malloc((n / n_columns + 2) * sizeof(*column)));
	for (size_t c = 0; c < n_columns; c++) {
		/* The product of some million values is beyond a size_t of 32 bits. */
		size_t first = (size_t)((uint64_t)c * n / n_columns);
		size_t count = (size_t)((uint64_t)(c + 1) * n / n_columns) - first;
		size_t from = series->n_warmups + first;
		double x = x_of_run(chart, run_number(series, from));
		double top, bottom;
		bool disturbed = false;

		if (count == 0)
			continue;
		memcpy(column, series->values + from, count * sizeof(*column));
		stats_sort(column, count);
		top = y_of(&chart->main, column[count - 1]);
		bottom = y_of(&chart->main, column[0]);
		canvas_fill_rectangle(chart->canvas, x, top, width, MAX(bottom - top, 1.0),
			with_alpha(ink_of_series(s), 0.28));
		top = y_of(&chart->main, stats_percentile(column, count, 0.75));
		bottom = y_of(&chart->main, stats_percentile(column, count, 0.25));
		canvas_fill_rectangle(chart->canvas, x, top, width, MAX(bottom - top, 1.0),
			with_alpha(ink_of_series(s), 0.85));
		for (size_t i = from; series->causes && ringed && !disturbed && i < from + count;
			i++)
			disturbed = series->causes[i] != 0;
		if (disturbed)
			canvas_fill_rectangle(chart->canvas, x,
				chart->main.y + chart->main.height - MARK_HEIGHT, width,
				MARK_HEIGHT, ink_color(INK_ALARM));
	}
}

static struct levels levels_drawn(const struct chart *chart, size_t s, struct level *whole)
{
	const struct chart_series *series = &chart->series[s];

	if (series->levels && series->levels->n > 1)
		return *series->levels;
	*whole = (struct level){ 0, n_counted(series), chart->stats[s].median };
	return (struct levels){ .items = whole, .n = 1 };
}

/* Draws the median of a series without changes, otherwise the median of each level, and a line at
 * each change. Above columns of the same colour it needs an edge in the colour of the panel. */
static void draw_levels(const struct chart *chart, size_t s, bool edge)
{
	const struct panel *panel = &chart->main;
	struct level whole;
	struct levels levels = levels_drawn(chart, s, &whole);

	for (size_t i = 0; i < levels.n; i++) {
		const struct level *level = &levels.items[i];
		double from = x_of_run(chart, (double)level->first + 0.5);
		double to = x_of_run(chart, (double)(level->first + level->n) + 0.5);
		double y = y_of(panel, level->median);

		if (edge)
			canvas_draw_line(chart->canvas, (struct point){ from, y },
				(struct point){ to, y }, 4, 0, ink_color(INK_SHADE));
		canvas_draw_line(chart->canvas, (struct point){ from, y }, (struct point){ to, y },
			1.6, levels.n > 1 ? 0 : 5, ink_of_series(s));
		if (i > 0)
			canvas_draw_line(chart->canvas, (struct point){ from, panel->y },
				(struct point){ from, panel->y + panel->height }, 1, 3,
				ink_color(INK_LABEL));
	}
}

/* Places a text beside a change of level at `step`, in the highest line where it hides no other
 * label: to the right of the change when that is before the next one, or to the left of it when
 * that is behind the previous one. */
static bool draw_step_label(struct chart *chart, double before, double step, double next,
	struct color color, const char *text)
{
	const struct panel *panel = &chart->main;
	double size = chart->text_size, line = size * 1.4;
	double width = canvas_text_width(chart->canvas, size, true, text);

	for (double y = panel->y + size * 1.2; y + line < panel->y + panel->height; y += line) {
		struct point right = { step + 4, y }, left = { step - 4 - width, y };

		if (right.x + width + 2 <= next && claim(chart, text_box(chart, right, width))) {
			draw_label(chart, right, true, color, text);
			return true;
		}
		if (left.x - 2 >= before && claim(chart, text_box(chart, left, width))) {
			draw_label(chart, left, true, color, text);
			return true;
		}
	}
	return false;
}

/* A label at each change of level; a shorter one, or none, where there is no room. */
static void draw_changes(struct chart *chart, size_t s)
{
	struct level whole;
	struct levels levels = levels_drawn(chart, s, &whole);
	struct color color = chart->n_series > 1 ? ink_of_series(s) : ink_color(INK_TEXT);

	for (size_t i = 1; i < levels.n; i++) {
		const struct level *level = &levels.items[i], *last = level - 1;
		double before = x_of_run(chart, (double)last->first + 0.5);
		double step = x_of_run(chart, (double)level->first + 0.5);
		double next = x_of_run(chart, (double)(level->first + level->n) + 0.5);
		char change[UNITS_TEXT_SIZE], label[128];

		units_format_difference(level->median, last->median, change);
		if (chart->series[s].names && *chart->series[s].names[level->first])
			snprintf(label, sizeof(label), "%s: %s",
				chart->series[s].names[level->first], change);
		else
			snprintf(label, sizeof(label), "%s %zu: %s", chart->options->what,
				level->first + 1, change);
		if (!draw_step_label(chart, before, step, next, color, label))
			draw_step_label(chart, before, step, next, color, change);
	}
}

/* Marks the values outside of the panel's range at its edges, with the number of those that count
 * and the most extreme one. */
static void draw_beyond(struct chart *chart)
{
	const struct panel *panel = &chart->main;
	size_t *n = chart->n_beyond;
	double extreme[2] = { INFINITY, -INFINITY };

	for (size_t s = 0; s < chart->n_series; s++) {
		const struct chart_series *series = &chart->series[s];

		for (size_t i = find_first(chart, series); i < series->n; i++) {
			double value = series->values[i], x, y;
			bool above = value > panel->high;

			if (!above && value >= panel->low)
				continue;
			if (i >= series->n_warmups) {
				n[above]++;
				extreme[above] = above ? MAX(extreme[above], value)
						       : MIN(extreme[above], value);
			}
			x = x_of_run(chart, run_number(series, i));
			y = above ? panel->y : panel->y + panel->height;
			canvas_draw_line(chart->canvas, (struct point){ x, y },
				(struct point){ x, above ? y + MARK_HEIGHT : y - MARK_HEIGHT }, 1.6,
				0, ink_of_series(s));
		}
	}
	for (size_t above = 0; above < 2; above++) {
		char value[UNITS_TEXT_SIZE], label[160];
		struct point at;

		if (n[above] == 0)
			continue;
		scale_format_shown(chart->scale, chart->options->unit, extreme[above], value);
		snprintf(label, sizeof(label), "%zu %s, %s to %s", n[above],
			above ? "above" : "below", above ? "up" : "down", value);
		at.x = panel->x + panel->width - 6 -
			canvas_text_width(chart->canvas, chart->text_size, false, label);
		at.y = above ? panel->y + MARK_HEIGHT + chart->text_size
			     : panel->y + panel->height - MARK_HEIGHT - 3;
		if (claim(chart, text_box(chart, at, panel->x + panel->width - at.x)))
			draw_label(chart, at, false, ink_color(INK_TEXT), label);
	}
}

/* A series with few samples has each of them drawn, even where a longer series leaves little room:
 * columns narrower than a sample would not be visible. */
static bool is_drawn_each(const struct chart *chart, size_t s)
{
	return (double)chart->series[s].n * 1.5 <= chart->main.width;
}

static void draw_samples(struct chart *chart)
{
	double runs = chart->last_x - chart->first_x;
	double radius = MAX(1.3, MIN(3.4, chart->main.width / runs * 0.4));

	canvas_clip(
		chart->canvas, chart->main.x, chart->main.y, chart->main.width, chart->main.height);
	draw_warmup_zone(chart);
	/* Columns would hide samples. */
	for (size_t s = 0; s < chart->n_series; s++)
		if (!is_drawn_each(chart, s))
			draw_columns(chart, s);
	for (size_t s = 0; s < chart->n_series; s++)
		if (is_drawn_each(chart, s))
			draw_levels(chart, s, false);
	for (size_t s = 0; s < chart->n_series; s++)
		if (is_drawn_each(chart, s))
			draw_each_sample(chart, s, radius);
	for (size_t s = 0; s < chart->n_series; s++)
		if (!is_drawn_each(chart, s))
			draw_levels(chart, s, true);
	draw_beyond(chart);
	for (size_t s = 0; s < chart->n_series; s++)
		draw_changes(chart, s);
	canvas_unclip(chart->canvas);
}

/* Draws a mark for each disturbed run of the series that have no rings. Where several share a point
 * of the axis, one is enough. */
static void draw_strips(const struct chart *chart)
{
	double y = chart->strips_y;
	double width = MAX(1.0, chart->main.width / (chart->last_x - chart->first_x) - 0.5);

	for (size_t s = 0; s < chart->n_series; s++) {
		const struct chart_series *series = &chart->series[s];
		double end = -INFINITY;

		if (!is_mostly_disturbed(series) || chart->strip <= 0)
			continue;
		for (size_t i = series->n_warmups; i < series->n; i++) {
			double x = x_of_run(chart, run_number(series, i)) - width / 2;

			if (!series->causes[i] || x + width < end + 0.5)
				continue;
			end = x + width;
			canvas_fill_rectangle(
				chart->canvas, x, y, width, chart->strip - 1, ink_of_series(s));
		}
		y += chart->strip;
	}
}

/* Draws the histograms side by side, with the value axis of the samples. The bars show shares of
 * the series' own number of runs. */
static void draw_histogram(const struct chart *chart)
{
	const struct panel *panel = &chart->histogram, *main = &chart->main;
	/* As many bins as make sense for the number of runs, and as the panel has room for. */
	double most = MIN((double)MAX_BINS, panel->height / MIN_BIN);
	size_t n_bins = (size_t)MAX(4.0, MIN(most, 2 * sqrt(chart->last_x)));
	double shares[CHART_MAX_SERIES][MAX_BINS] = { 0 }, greatest = 0;
	double height = panel->height / (double)n_bins;
	double strip = panel->width / (double)chart->n_series;

	for (size_t s = 0; s < chart->n_series; s++) {
		const struct chart_series *series = &chart->series[s];

		for (size_t i = series->n_warmups; i < series->n; i++) {
			double at = (series->values[i] - main->low) / (main->high - main->low);

			if (!(at >= 0 && at < 1))
				continue;
			shares[s][(size_t)(at * (double)n_bins)] += 1.0 / (double)n_counted(series);
		}
		for (size_t bin = 0; bin < n_bins; bin++)
			greatest = MAX(greatest, shares[s][bin]);
	}
	canvas_fill_rectangle(chart->canvas, panel->x, panel->y, panel->width, panel->height,
		ink_color(INK_SHADE));
	for (size_t s = 0; greatest > 0 && s < chart->n_series; s++) {
		for (size_t bin = 0; bin < n_bins; bin++) {
			double width = shares[s][bin] / greatest * (strip - 2);

			if (width > 0)
				canvas_fill_rectangle(chart->canvas, panel->x + (double)s * strip,
					panel->y + panel->height - (double)(bin + 1) * height + 0.5,
					width, height - 1, with_alpha(ink_of_series(s), 0.8));
		}
	}
}

/* Draws a row. Where several runs share a point of the x axis, their mean is drawn. */
static void draw_row(const struct chart *chart, size_t row_index)
{
	const struct panel *panel = &chart->rows[row_index];
	size_t step = (size_t)((chart->last_x - chart->first_x) / panel->width) + 1;

	for (size_t s = 0; s < chart->n_series; s++) {
		const struct chart_series *series = &chart->series[s];
		const double *row = series->rows[row_index];
		size_t n = 0;
		_cleanup_free_ struct point *points = NULL;

		if (!row)
			continue;
		points = xptr((struct point *)malloc((series->n / step + 1) * sizeof(*points)));
		for (size_t i = find_first(chart, series); i < series->n; i += step) {
			double sum = 0;
			size_t count = 0;

			for (size_t j = i; j < MIN(i + step, series->n); j++) {
				if (!isfinite(row[j]))
					continue;
				sum += row[j];
				count++;
			}
			points[n++] = (struct point){ x_of_run(chart, run_number(series, i)),
				count > 0 ? y_of(panel, sum / (double)count) : NAN };
		}
		canvas_draw_path(chart->canvas, points, n, 1.4, ink_of_series(s));
		/* A single known value between unknown ones would not be seen as part of a line. */
		for (size_t i = 0; i < n; i++)
			if (isfinite(points[i].y) && n <= (size_t)panel->width / 4)
				canvas_fill_circle(chart->canvas, points[i], 1.3, ink_of_series(s));
	}
}

/* Where a row is too low for its unit beside the panel, the unit is drawn in the panel. */
static void draw_row_name(const struct chart *chart, size_t row_index)
{
	const struct panel *panel = &chart->rows[row_index];
	const char *unit = chart->strips[row_index]->strip.label;

	if (canvas_text_width(chart->canvas, chart->text_size, false, unit) > panel->height)
		draw_label(chart, (struct point){ panel->x + 3, panel->y + chart->text_size * 1.1 },
			false, ink_color(INK_TEXT), unit);
}

/* --- The whole chart. --- */

static double find_label_width(const struct chart *chart, const struct panel *panel, double factor)
{
	char label[TICK_SIZE];
	struct ticks ticks;
	double widest = 0;

	if (panel->height <= 0 || find_y_ticks(chart, panel, factor, &ticks) < 0)
		return 0;
	for (size_t i = 0; i < ticks.n; i++)
		widest = MAX(widest,
			canvas_text_width(chart->canvas, chart->text_size, false,
				format_tick(&ticks, i, label)));
	return widest;
}

/* The width of what stands left of the panels: the units, and the numbers. */
static double find_label_room(const struct chart *chart)
{
	double widest = find_label_width(chart, &chart->main, chart->scale.factor);

	for (size_t i = 0; i < chart->n_rows; i++)
		widest = MAX(widest,
			find_label_width(chart, &chart->rows[i], chart->strips[i]->strip.factor));
	return MAX((double)LABEL_ROOM, chart->text_size * 1.4 + widest + LABEL_GAP);
}

static void place_panels(struct chart *chart, double top)
{
	const struct chart_options *options = chart->options;
	double bottom = options->height - X_LABEL_ROOM - MARGIN / 2.0;
	/* Each further histogram gets some more room. */
	double side = MAX(40.0, MIN(150.0, options->width * 0.16)) *
		(1 + 0.1 * (double)(chart->n_series - 1));
	double row_height = MAX(24.0, (bottom - top) * 0.12);
	double y = bottom, left, width;
	size_t n_strips = 0;

	/* From bottom to top, so that the remaining room goes to the samples. */
	for (size_t i = chart->n_rows; i-- > 0;) {
		struct panel *row = &chart->rows[i];

		if (!find_row_range(chart, i, &row->low, &row->high))
			continue;
		/* On a small canvas the samples are more important. */
		if (y - row_height - GAP - top < 3 * row_height)
			continue;
		y -= row_height;
		row->y = y;
		row->height = row_height;
		y -= GAP;
	}
	for (size_t s = 0; s < chart->n_series; s++)
		n_strips += is_mostly_disturbed(&chart->series[s]);
	/* On a small canvas they are thin, or left out. */
	if (n_strips > 0)
		chart->strip = MIN((double)STRIP, (y - top) * 0.1 / (double)n_strips);
	chart->strip = chart->strip < 2 ? 0 : chart->strip;
	y -= chart->strip * (double)n_strips;
	chart->strips_y = y + 1;
	chart->main.y = top;
	chart->main.height = y - top;
	/* How many numbers there are, and so how wide they are, follows from the heights. */
	left = MARGIN + find_label_room(chart);
	width = options->width - left - GAP - side - MARGIN;
	for (size_t i = 0; i < chart->n_rows; i++) {
		chart->rows[i].x = left;
		chart->rows[i].width = width;
	}
	chart->main.x = left;
	chart->main.width = width;
	chart->histogram = chart->main;
	chart->histogram.x = left + width + GAP;
	chart->histogram.width = side;
}

static void find_runs_range(struct chart *chart)
{
	size_t longest = 0, warmups = 0;

	for (size_t s = 0; s < chart->n_series; s++) {
		longest = MAX(longest, n_counted(&chart->series[s]));
		warmups = MAX(warmups, chart->series[s].n_warmups);
	}
	/* Long warm-ups would take the room of what counts. */
	chart->n_warmups = warmups;
	chart->n_warmups_shown = MIN(warmups, (longest + 3) / 4);
	chart->first_x = 0.5 - (double)chart->n_warmups_shown;
	chart->last_x = (double)longest + 0.5;
}

/* "ms", "requests/s, more is better" */
static const char *name_axis(const struct chart *chart, char buf[static UNITS_TEXT_SIZE])
{
	const char *unit = chart->scale.unit, *remark = chart->options->remark;

	if (!remark)
		return unit;
	snprintf(buf, UNITS_TEXT_SIZE, "%s%s%s", unit, *unit ? ", " : "", remark);
	return canvas_text_width(chart->canvas, chart->text_size, false, buf) <= chart->main.height
		? buf
		: unit;
}

static void draw_panels(struct chart *chart)
{
	const struct panel *lowest = &chart->main;
	char unit[UNITS_TEXT_SIZE];

	draw_y_axis(chart, &chart->main, chart->scale.factor, name_axis(chart, unit));
	draw_samples(chart);
	draw_strips(chart);
	draw_histogram(chart);
	for (size_t i = 0; i < chart->n_rows; i++) {
		if (chart->rows[i].height <= 0)
			continue;
		draw_y_axis(chart, &chart->rows[i], chart->strips[i]->strip.factor,
			chart->strips[i]->strip.label);
		draw_row(chart, i);
		draw_row_name(chart, i);
		lowest = &chart->rows[i];
	}
	draw_x_axis(chart, lowest);
}

/* A panel without enough room, or without known values, has height 0 and no axis. */
static struct chart_axis panel_axis(const struct panel *panel)
{
	return panel->height > 0 ? (struct chart_axis){ panel->low, panel->high }
				 : (struct chart_axis){ 0 };
}

static struct chart_axes find_axes(const struct chart *chart)
{
	struct chart_axes axes = {
		.order = { chart->first_x, chart->last_x },
		.value = panel_axis(&chart->main),
		.n_below = chart->n_beyond[0],
		.n_above = chart->n_beyond[1],
	};

	for (size_t i = 0; i < chart->n_rows; i++)
		axes.rows[i] = panel_axis(&chart->rows[i]);
	return axes;
}

int chart_draw(struct canvas *canvas, const struct chart_series *series, size_t n_series,
	const struct chart_options *options, struct chart_axes *ret_axes,
	struct chart_spot **ret_spots, size_t *ret_n_spots)
{
	bool small = options->width < 560 || options->height < 340;
	_cleanup_free_ struct chart_spot *spots = NULL;
	struct chart chart = {
		.canvas = canvas,
		.series = series,
		.n_series = n_series,
		.options = options,
		.title_size = small ? 12 : 15,
		.text_size = small ? 8.5 : 10.5,
	};
	size_t n = 0;
	int r;

	chart.n_rows = chart_list_rows(chart.strips);
	if (n_series == 0 || n_series > CHART_MAX_SERIES || options->width < CHART_MIN_WIDTH ||
		options->height < CHART_MIN_HEIGHT)
		return -EINVAL;
	r = find_statistics(&chart);
	if (r < 0)
		return r;
	if (ret_spots) {
		for (size_t s = 0; s < n_series; s++)
			n += series[s].n;
		spots = chart.spots = xptr(calloc(n, sizeof(*spots)));
	}
	find_runs_range(&chart);
	find_value_range(&chart, &chart.main.low, &chart.main.high);
	chart.scale =
		scale_choose_unit(options->unit, MAX(fabs(chart.main.low), fabs(chart.main.high)));
	place_panels(&chart, draw_head(&chart));
	draw_panels(&chart);
	if (ret_axes)
		*ret_axes = find_axes(&chart);
	if (ret_spots) {
		*ret_spots = TAKE_PTR(spots);
		*ret_n_spots = chart.n_spots;
	}
	return 0;
}
