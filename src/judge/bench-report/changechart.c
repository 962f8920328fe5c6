// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "base/units.h"
#include "base/xalloc.h"
#include "judge/bench-report/changechart.h"
#include "judge/report/sense.h"
#include "judge/stats/stats.h"

enum {
	MARGIN = 12,
	GAP = 14,	  /* between two panels */
	WIDE = 640,	  /* from this width on there are two columns, */
	TALL = 240,	  /* where there is this height for them */
	LEAST_PANEL = 46, /* the least height of a panel */
	LEAST_INTERVAL = 34,
	MOST_INTERVAL = 90,
	STRIP = 13, /* the height of a strip */
	STRIP_GAP = 3,
	TICK = 6, /* of the marks at an edge */
	BINS_MAX = 60,
	TITLE_LINES = 3,
	DOUBT_LINES = 2,
};

/* The axis of the interval has at least this part at either side of 0. */
#define LEAST_REACH 0.0005

enum part {
	PART_ORDER,  /* pairs or runs */
	PART_STEPS,  /* the running estimate */
	PART_SPREAD, /* the distributions */
	PART_INTERVAL,
	PARTS,
};

struct limits {
	double low, high;
};

struct part_panel {
	struct axis_panel at; /* no height: it is not drawn */
	struct axis x, y;
	char heading[256];
};

struct change_chart {
	struct canvas *canvas;
	const struct change *change;
	const struct change_chart_options *options;
	double size, title_size;
	struct scale scale; /* of the values */
	struct axis_style change_style, value_style, order_style;
	struct part_panel parts[PARTS];
	struct limits ranges[PARTS]; /* of the numbers that a part shows */
	const struct run_fact *facts[RUN_FACTS_MAX];
	size_t strips[CHART_MAX_ROWS]; /* the facts that are shown */
	size_t n_strips;
	bool has_causes; /* a strip for each side, of what was disturbed */
	double strips_y;
	size_t n_order; /* entries along the axis of PART_ORDER */
	struct change_beyond beyond;
	struct chart_spot *spots;
	size_t n_spots;
};

static const struct unit *unit_of(const struct change *change)
{
	return change->comparison->old->unit;
}

/* --- The head --- */

struct legend {
	struct point at;
	bool drawn;
};

static void add_side(const struct change_chart *chart, struct legend *legend, int side)
{
	const struct curve *curve = &chart->change->sides[side];
	const struct disturbances *d = &curve->analysis->stability->disturbances;
	const struct stats *stats = side == 0 ? &chart->change->comparison->old_stats
					      : &chart->change->comparison->new_stats;
	double size = chart->size, key = CANVAS_KEY_ROOM * size, width;
	double room = chart->options->width - 2 * MARGIN - key;
	char median[UNITS_TEXT_SIZE], figures[160], fitting[CANVAS_FITTING_SIZE], text[512];
	int n;

	scale_format_shown(
		scale_refine(chart->scale, 1), unit_of(chart->change), stats->median, median);
	n = snprintf(figures, sizeof(figures), ": median %s, %zu runs", median,
		chart->change->comparison->n_runs[side]);
	if (d->n_disturbed > 0)
		snprintf(figures + n, sizeof(figures) - (size_t)n, ", %s%zu disturbed",
			d->n_disturbed == d->n_runs ? "all " : "", d->n_disturbed);
	canvas_fit_text(chart->canvas, size, false, curve->name,
		room - canvas_text_width(chart->canvas, size, false, figures), fitting);
	snprintf(text, sizeof(text), "%s%s", fitting, figures);
	width = canvas_text_width(chart->canvas, size, false, text);
	if (legend->at.x > MARGIN && legend->at.x + key + width > MARGIN + room) {
		legend->at.x = MARGIN;
		legend->at.y += size * 1.5;
	}
	if (legend->drawn)
		canvas_draw_key(chart->canvas, legend->at, size, ink_of_series((size_t)side), text);
	legend->at.x += width + 3 * size;
}

/* `extras`: with the machine, and with why it is unclear. Returns where the panels begin. */
static double draw_head(
	const struct change_chart *chart, size_t title_lines, bool extras, bool drawn)
{
	const struct change *change = chart->change;
	double width = chart->options->width - 2 * MARGIN, size = chart->size;
	struct point at = { MARGIN, MARGIN };
	struct legend legend = { .drawn = drawn };

	if (chart->options->with_title) {
		at.y += chart->title_size;
		at.y += (double)canvas_draw_lines(chart->canvas, at, chart->title_size, true,
				ink_color(INK_TEXT), change->title, width, title_lines, drawn) *
				chart->title_size * 1.3 -
			chart->title_size;
	}
	if (*change->doubt) {
		at.y += size * 1.1;
		at.y += (double)canvas_draw_lines(chart->canvas, at, size, false,
				ink_color(INK_TEXT), change->doubt, width, extras ? DOUBT_LINES : 1,
				drawn) *
				size * 1.3 -
			size;
	}
	if (extras && *change->subtitle) {
		at.y += size * 1.1;
		(void)canvas_draw_lines(chart->canvas, at, size, false, ink_color(INK_LABEL),
			change->subtitle, width, 1, drawn);
		at.y += size * 0.3;
	}
	legend.at = (struct point){ MARGIN, at.y + size * 1.3 };
	add_side(chart, &legend, 0);
	add_side(chart, &legend, 1);
	return legend.at.y + size * 0.8;
}

/* --- The ranges of the axes --- */

static void take_in(struct limits *range, double value)
{
	if (isfinite(value)) {
		range->low = MIN(range->low, value);
		range->high = MAX(range->high, value);
	}
}

static const struct limits nothing = { INFINITY, -INFINITY };

static void take_visible(struct limits *range, const double *values, size_t n)
{
	_cleanup_free_ double *sorted =
		xptr(reallocarray(NULL, MAX(n, (size_t)1), sizeof(*sorted)));
	struct stats stats;
	double low, high;

	if (n == 0)
		return;
	memcpy(sorted, values, n * sizeof(*sorted));
	if (stats_compute(sorted, n, &stats) < 0)
		return;
	axis_find_visible(sorted, &stats, &low, &high);
	take_in(range, low);
	take_in(range, high);
}

static struct limits find_values_range(const struct change *change)
{
	struct limits range = nothing;

	for (int i = 0; i < 2; i++)
		take_visible(&range, change->sides[i].values, change->sides[i].n);
	return range;
}

static struct limits find_pairs_range(const struct change *change)
{
	struct limits range = nothing;

	take_visible(&range, change->pairs, change->n_pairs);
	take_in(&range, 0);
	return range;
}

static struct limits find_interval_range(const struct change *change)
{
	struct limits range = { 0, 0 };
	const double ends[] = { change->change, change->low, change->high, change->margins[0],
		change->margins[1], change->gate_at };

	for (size_t i = 0; i < ARRAY_SIZE(ends); i++)
		take_in(&range, ends[i]);
	/* Where hardly anything changes, its digits would look like a change. */
	if (!change->is_difference && range.high - range.low < LEAST_REACH) {
		take_in(&range, -LEAST_REACH);
		take_in(&range, LEAST_REACH);
	}
	return range;
}

/* That of the last interval, and of those from a quarter of the pairs on: the first ones are much
 * wider, and run out of the panel. */
static struct limits find_steps_range(const struct change *change, struct limits last)
{
	double widest = 1.5 * (last.high - last.low);
	struct limits range = last;

	for (size_t i = 0; i < change->n_steps; i++) {
		const struct change_step *step = &change->steps[i];

		if (step->n * 4 < change->n_pairs || isinf(step->low) || isinf(step->high))
			continue;
		take_in(&range, MAX(step->low, last.low - widest));
		take_in(&range, MIN(step->high, last.high + widest));
	}
	return range;
}

static struct limits find_row_range(const struct change *change, size_t row)
{
	struct limits range = nothing;

	for (int i = 0; i < 2; i++)
		for (size_t k = 0; k < change->sides[i].n; k++)
			take_in(&range, change->sides[i].rows[row][k]);
	return range;
}

static void find_ranges(struct change_chart *chart)
{
	const struct change *change = chart->change;
	struct limits *ranges = chart->ranges;

	ranges[PART_SPREAD] = find_values_range(change);
	ranges[PART_ORDER] = change->n_pairs > 0 ? find_pairs_range(change) : ranges[PART_SPREAD];
	ranges[PART_INTERVAL] = find_interval_range(change);
	ranges[PART_STEPS] = find_steps_range(change, ranges[PART_INTERVAL]);
}

/* --- Where everything lies --- */

/* That of what was disturbed stands above the others. */
static size_t count_strips(const struct change_chart *chart)
{
	return chart->n_strips + chart->has_causes;
}

static double strips_height(const struct change_chart *chart)
{
	size_t n = count_strips(chart);

	return n > 0 ? (double)n * (STRIP + STRIP_GAP) + STRIP_GAP : 0;
}

/* The strips have the axis of the runs, which is that of the pairs only where each pair is a run of
 * either side. */
static void choose_strips(struct change_chart *chart)
{
	const struct change *change = chart->change;
	size_t n_facts = chart_list_rows(chart->facts);

	if (change->n_pairs > 0 && !change_has_runs_of_pairs(change))
		return;
	for (size_t row = 0; row < n_facts; row++) {
		struct limits range = find_row_range(change, row);

		if (range.low <= range.high)
			chart->strips[chart->n_strips++] = row;
	}
	for (int i = 0; i < 2; i++)
		for (size_t k = 0; k < change->sides[i].n; k++)
			chart->has_causes = chart->has_causes || change->sides[i].causes[k];
}

static double heading_room(const struct change_chart *chart)
{
	return chart->size * 1.6;
}

/* Gives a part its place, with a heading above it and what stands below it. Returns where the next
 * one begins. */
static double place_part(
	struct change_chart *chart, enum part part, double x, double y, double width, double height)
{
	double below = part == PART_SPREAD || part == PART_INTERVAL
		? axis_room_below(&chart->value_style)
		: 0;

	chart->parts[part].at = (struct axis_panel){ x, y + heading_room(chart), width,
		height - heading_room(chart) - below };
	return y + height + GAP / 2.0;
}

static bool wants_steps(const struct change *change)
{
	return change->n_steps > 1;
}

/* The part of the height that each has in a column. */
static void place_column(struct change_chart *chart, const enum part *parts, size_t n, double x,
	double top, double bottom, double width)
{
	static const double weights[PARTS] = {
		[PART_ORDER] = 3,
		[PART_STEPS] = 3,
		[PART_SPREAD] = 3,
		[PART_INTERVAL] = 1,
	};
	double sum = 0, free_height = bottom - top - (double)(n - 1) * GAP / 2.0, fixed = 0;
	double interval = heading_room(chart) + axis_room_below(&chart->value_style);
	double y = top;

	for (size_t i = 0; i < n; i++)
		sum += weights[parts[i]];
	for (size_t i = 0; i < n; i++)
		if (parts[i] == PART_INTERVAL) {
			fixed = interval +
				MIN(MAX(free_height * 0.22 - interval, (double)LEAST_INTERVAL),
					(double)MOST_INTERVAL);
			sum -= weights[PART_INTERVAL];
			if (n == 1)
				fixed = free_height;
		}
	for (size_t i = 0; i < n; i++)
		y = place_part(chart, parts[i], x, y, width,
			parts[i] == PART_INTERVAL
				? fixed
				: (free_height - fixed) * weights[parts[i]] / sum);
}

static double find_label_room(const struct change_chart *chart)
{
	double widest = 0;

	if (chart->parts[PART_ORDER].at.height > 0)
		widest = axis_label_width(chart->canvas, &chart->parts[PART_ORDER].y,
			chart->change->n_pairs > 0 && !chart->change->is_difference
				? &chart->change_style
				: &chart->value_style);
	if (chart->parts[PART_STEPS].at.height > 0)
		widest = MAX(widest,
			axis_label_width(
				chart->canvas, &chart->parts[PART_STEPS].y, &chart->change_style));
	for (size_t i = 0; i < chart->n_strips; i++)
		widest = MAX(widest,
			canvas_text_width(chart->canvas, chart->size * 0.85, false,
				chart->facts[chart->strips[i]]->strip.label));
	if (chart->has_causes)
		widest = MAX(widest,
			canvas_text_width(chart->canvas, chart->size * 0.85, false, "disturbed"));
	return widest + AXIS_LABEL_GAP;
}

/* The axes, from the places of the panels; a vertical one goes upwards. */
static void make_axes(struct change_chart *chart)
{
	for (enum part part = 0; part < PARTS; part++) {
		struct part_panel *panel = &chart->parts[part];
		const struct axis_panel *at = &panel->at;
		double low = chart->ranges[part].low, high = chart->ranges[part].high;

		/* The numbers of runs. */
		panel->x = (struct axis){ .low = 0.5,
			.high = (double)chart->n_order + 0.5,
			.begin = at->x,
			.length = at->width };
		if (part == PART_SPREAD || part == PART_INTERVAL)
			panel->x = axis_make_linear(low, high, at->x, at->width);
		else
			panel->y = axis_make_linear(low, high, at->y + at->height, -at->height);
	}
}

/* The parts at the left, or the upper ones: the order, and the estimate where it has room. */
struct layout {
	enum part parts[2];
	size_t n; /* of these; 0 where there is no room for any */
	bool is_wide;
	double top, height;
	double least; /* height of a part */
};

/* Chooses what there is room for: before the order, the estimate and the strips are left out. */
static struct layout choose_layout(struct change_chart *chart, double top)
{
	struct layout layout = {
		.parts = { PART_ORDER, PART_STEPS },
		.n = 1,
		.top = top,
		.height = chart->options->height - top - MARGIN / 2.0,
		.least = heading_room(chart) + LEAST_PANEL,
	};
	double height = layout.height - axis_room_below(&chart->order_style);

	layout.is_wide = chart->options->width >= WIDE && layout.height >= TALL;
	if (wants_steps(chart->change) && height >= (layout.is_wide ? 2 : 4) * layout.least)
		layout.n = 2;
	if (height - strips_height(chart) <
		(double)(layout.is_wide ? layout.n : layout.n + 2) * layout.least) {
		chart->n_strips = 0;
		chart->has_causes = false;
	}
	if (!layout.is_wide && height < 2.2 * layout.least + 40)
		layout.n = 0;
	return layout;
}

static void place_wide(struct change_chart *chart, const struct layout *layout, double left)
{
	static const enum part right[] = { PART_SPREAD, PART_INTERVAL };
	double width = (chart->options->width - left - MARGIN) * 0.58;
	double x = left + width + 2.2 * GAP, bottom = layout->top + layout->height;

	place_column(chart, layout->parts, layout->n, left, layout->top,
		bottom - axis_room_below(&chart->order_style) - strips_height(chart), width);
	place_column(chart, right, ARRAY_SIZE(right), x, layout->top, bottom,
		chart->options->width - x - MARGIN - chart->size);
}

static void place_narrow(struct change_chart *chart, const struct layout *layout, double left)
{
	static const enum part lower[] = { PART_SPREAD, PART_INTERVAL };
	double width = chart->options->width - left - MARGIN, rest = layout->height;
	double axis_room = axis_room_below(&chart->value_style);
	double own = layout->height * (layout->n > 1 ? 0.62 : 0.5);
	bool with_spread;

	if (layout->n > 0) {
		/* Without room for the distributions, the interval is what remains. */
		if (layout->height - own < 2 * layout->least + 3 * axis_room)
			own = layout->height - LEAST_INTERVAL - heading_room(chart) - axis_room -
				GAP;
		place_column(chart, layout->parts, layout->n, left, layout->top,
			layout->top + own - axis_room_below(&chart->order_style) -
				strips_height(chart),
			width);
		rest = layout->height - own - GAP / 2.0;
	}
	with_spread = rest >= 2 * layout->least + 2 * axis_room;
	place_column(chart, lower + !with_spread, 1 + with_spread, left,
		layout->top + layout->height - rest, layout->top + layout->height,
		width - chart->size);
}

static void place_parts(struct change_chart *chart, double top)
{
	struct layout layout = choose_layout(chart, top);
	void (*const place)(struct change_chart *, const struct layout *, double) =
		layout.is_wide ? place_wide : place_narrow;
	const struct axis_panel *lowest;

	/* How many numbers there are at the left, and so how wide they are, follows from the
	 * heights. */
	place(chart, &layout, MARGIN);
	make_axes(chart);
	place(chart, &layout, MARGIN + find_label_room(chart));
	make_axes(chart);
	lowest = &chart->parts[layout.n > 1 ? PART_STEPS : PART_ORDER].at;
	chart->strips_y = lowest->y + lowest->height + STRIP_GAP;
}

/* --- Panels --- */

static void draw_panel(const struct change_chart *chart, enum part part, const char *heading)
{
	const struct axis_panel *at = &chart->parts[part].at;

	canvas_fill_rectangle(
		chart->canvas, at->x, at->y, at->width, at->height, ink_color(INK_SHADE));
	canvas_draw_fitting(chart->canvas, (struct point){ at->x, at->y - chart->size * 0.45 },
		CANVAS_LEFT, chart->size, false, ink_color(INK_TEXT), heading, at->width);
}

static void draw_note(const struct change_chart *chart, struct point at, enum canvas_anchor anchor,
	const char *text)
{
	canvas_draw_note(chart->canvas, at, anchor, chart->size, false, ink_color(INK_TEXT), text);
}

static const char *format_entry(const struct change_chart *chart, bool is_change, double value,
	char buf[static UNITS_TEXT_SIZE])
{
	return is_change ? units_format_change(value, buf)
			 : scale_format_shown(chart->scale, unit_of(chart->change), value, buf);
}

/* "3 above, up to +300 %" at the edge that they are beyond. */
static void draw_beyond(const struct change_chart *chart, enum part part, bool above, size_t n,
	double extreme, bool is_change)
{
	const struct axis_panel *at = &chart->parts[part].at;
	char value[UNITS_TEXT_SIZE], text[160];
	bool is_order = part == PART_ORDER;

	if (n == 0)
		return;
	snprintf(text, sizeof(text), "%zu %s, %s to %s", n, above ? "above" : "below",
		above ? "up" : "down", format_entry(chart, is_change, extreme, value));
	if (canvas_text_width(chart->canvas, chart->size, false, text) > at->width / 2 - TICK)
		return;
	/* Beside the edge: of a horizontal axis, at the left or right. */
	draw_note(chart,
		(struct point){ is_order || above ? at->x + at->width - TICK : at->x + TICK,
			is_order && !above ? at->y + at->height - TICK - 3
					   : at->y + TICK + chart->size },
		is_order || above ? CANVAS_RIGHT : CANVAS_LEFT, text);
}

/* --- The pairs, or the runs, in order --- */

static bool is_mostly_disturbed(const struct change *change)
{
	for (int i = 0; i < 2; i++)
		if (change->sides[i].analysis->stability->mostly_disturbed)
			return true;
	return false;
}

static void add_spot(struct change_chart *chart, struct point at, size_t series, size_t index)
{
	if (chart->spots)
		chart->spots[chart->n_spots++] = (struct chart_spot){ at, series, index };
}

static void draw_entries(struct change_chart *chart, const double *values, size_t n, size_t series,
	struct color color, double extreme[2])
{
	const struct part_panel *panel = &chart->parts[PART_ORDER];
	const struct change *change = chart->change;
	bool ringed = !is_mostly_disturbed(change), is_pair = series == CHANGE_SPOT_PAIR;
	bool is_known = !is_pair || change_has_runs_of_pairs(change);
	double radius = MAX(1.2, MIN(3.2, panel->at.width / (double)chart->n_order * 0.4));
	double top = panel->at.y, bottom = panel->at.y + panel->at.height;
	_cleanup_free_ struct point *dots = xptr(calloc(MAX(n, (size_t)1), sizeof(*dots)));
	size_t n_dots = 0;

	for (size_t i = 0; i < n; i++) {
		double x = axis_place(&panel->x, (double)(i + 1));
		struct point at = { x, axis_place(&panel->y, values[i]) };
		bool above = values[i] > panel->y.high;
		bool disturbed = is_known &&
			(is_pair ? change->sides[0].causes[i] || change->sides[1].causes[i]
				 : change->sides[series].causes[i]);

		if (!axis_holds(&panel->y, values[i])) {
			*(above ? &chart->beyond.n_above : &chart->beyond.n_below) += 1;
			extreme[above] =
				above ? MAX(extreme[1], values[i]) : MIN(extreme[0], values[i]);
			at.y = above ? top : bottom;
			canvas_draw_line(chart->canvas, at,
				(struct point){ x, above ? top + TICK : bottom - TICK }, 1.6, 0,
				color);
		} else {
			dots[n_dots++] = at;
			if (disturbed && ringed)
				canvas_draw_circle(
					chart->canvas, at, radius + 1.6, 1.2, ink_color(INK_ALARM));
		}
		add_spot(chart, at, series, i);
	}
	canvas_fill_dots(chart->canvas, dots, n_dots, radius, color);
}

static void draw_level(const struct change_chart *chart, enum part part, double value, double dash,
	struct color color)
{
	const struct part_panel *panel = &chart->parts[part];
	double y = axis_place(&panel->y, value);

	if (axis_holds(&panel->y, value))
		canvas_draw_line(chart->canvas, (struct point){ panel->at.x, y },
			(struct point){ panel->at.x + panel->at.width, y }, 1.3, dash, color);
}

static void draw_order(struct change_chart *chart)
{
	const struct change *change = chart->change;
	const struct part_panel *panel = &chart->parts[PART_ORDER];
	bool is_change = change->n_pairs > 0 && !change->is_difference;
	double extreme[2] = { INFINITY, -INFINITY };
	char heading[160];

	snprintf(heading, sizeof(heading), "%s%s%s%s",
		is_change		      ? "each pair: new against old"
			: change->n_pairs > 0 ? "each pair: new - old"
					      : "the runs in order",
		is_change || !*chart->scale.unit ? "" : ", ", is_change ? "" : chart->scale.unit,
		benchmark_is_gain(change->comparison->old) ? "; more is better" : "");
	draw_panel(chart, PART_ORDER, heading);
	axis_draw_left(chart->canvas, &panel->y, &panel->at,
		is_change ? &chart->change_style : &chart->value_style);
	canvas_clip(chart->canvas, panel->at.x, panel->at.y, panel->at.width, panel->at.height);
	if (change->n_pairs > 0) {
		draw_level(chart, PART_ORDER, 0, 0, ink_color(INK_LABEL));
		draw_entries(chart, change->pairs, change->n_pairs, CHANGE_SPOT_PAIR,
			with_alpha(ink_color(INK_LABEL), 0.7), extreme);
		draw_level(chart, PART_ORDER, change->change, 5, ink_color(INK_TEXT));
	}
	for (int i = 0; change->n_pairs == 0 && i < 2; i++) {
		const struct curve *side = &change->sides[i];
		struct color color = ink_of_series((size_t)i);

		draw_entries(
			chart, side->values, side->n, (size_t)i, with_alpha(color, 0.75), extreme);
		draw_level(chart, PART_ORDER,
			i == 0 ? change->comparison->old_stats.median
			       : change->comparison->new_stats.median,
			5, color);
	}
	draw_beyond(chart, PART_ORDER, true, chart->beyond.n_above, extreme[1], is_change);
	draw_beyond(chart, PART_ORDER, false, chart->beyond.n_below, extreme[0], is_change);
	canvas_unclip(chart->canvas);
}

/* --- The running estimate --- */

/* Between the two margins either claim may be made. */
static void shade_margins(const struct change_chart *chart, const struct axis_panel *at,
	const struct axis *axis, bool is_upright)
{
	double a = axis_place(axis, chart->change->margins[0]);
	double b = axis_place(axis, chart->change->margins[1]);
	struct color color = with_alpha(ink_of_series(1), 0.28);

	if (isnan(a))
		return;
	if (is_upright)
		canvas_fill_rectangle(
			chart->canvas, at->x, MIN(a, b), at->width, fabs(b - a), color);
	else
		canvas_fill_rectangle(
			chart->canvas, MIN(a, b), at->y, fabs(b - a), at->height, color);
}

static double clamp(double value, const struct axis *axis)
{
	double room = axis->high - axis->low;

	return MIN(MAX(value, axis->low - room), axis->high + room);
}

static void draw_steps(const struct change_chart *chart)
{
	const struct change *change = chart->change;
	const struct part_panel *panel = &chart->parts[PART_STEPS];
	size_t n = change->n_steps;
	_cleanup_free_ struct point *band = xptr(calloc(2 * n, sizeof(*band)));
	_cleanup_free_ struct point *line = xptr(calloc(n, sizeof(*line)));
	char heading[160];

	snprintf(heading, sizeof(heading), "the estimate after so many pairs, with its %s",
		change->is_decided ? "98 % interval, which holds whenever the runs end"
				   : "95 % interval");
	draw_panel(chart, PART_STEPS, heading);
	axis_draw_left(chart->canvas, &panel->y, &panel->at, &chart->change_style);
	canvas_clip(chart->canvas, panel->at.x, panel->at.y, panel->at.width, panel->at.height);
	shade_margins(chart, &panel->at, &panel->y, true);
	for (size_t i = 0; i < n; i++) {
		const struct change_step *step = &change->steps[i];
		double x = axis_place(&panel->x, (double)step->n);

		line[i] =
			(struct point){ x, axis_place(&panel->y, clamp(step->change, &panel->y)) };
		band[i] = (struct point){ x, axis_place(&panel->y, clamp(step->high, &panel->y)) };
		band[2 * n - 1 - i] =
			(struct point){ x, axis_place(&panel->y, clamp(step->low, &panel->y)) };
	}
	canvas_fill_path(chart->canvas, band, 2 * n, with_alpha(ink_color(INK_LABEL), 0.3));
	draw_level(chart, PART_STEPS, 0, 0, ink_color(INK_LABEL));
	canvas_draw_path(chart->canvas, line, n, 1.8, ink_color(INK_TEXT));
	canvas_unclip(chart->canvas);
}

/* --- What was beside the runs --- */

static void draw_strip_name(const struct change_chart *chart, double y, const char *name)
{
	canvas_draw_text(chart->canvas,
		(struct point){ chart->parts[PART_ORDER].at.x - AXIS_LABEL_GAP,
			y + STRIP * 0.5 + chart->size * 0.3 },
		CANVAS_RIGHT, chart->size * 0.85, false, ink_color(INK_LABEL), name);
}

/* Disturbed runs that follow each other have one mark together. */
static void draw_causes(const struct change_chart *chart, double y)
{
	const struct axis *axis = &chart->parts[PART_ORDER].x;

	draw_strip_name(chart, y, "disturbed");
	for (int i = 0; i < 2; i++) {
		const struct curve *side = &chart->change->sides[i];

		for (size_t k = 0, end; k < side->n; k = end + 1) {
			double x = axis_place(axis, (double)k + 0.5);

			for (end = k; end < side->n && side->causes[end]; end++)
				;
			if (end > k)
				canvas_fill_rectangle(chart->canvas, x, y + i * STRIP / 2.0,
					MAX(axis_place(axis, (double)end + 0.5) - x, 1.0),
					STRIP / 2.0 - 1, ink_of_series((size_t)i));
		}
	}
}

static void draw_strip(const struct change_chart *chart, size_t row, double y)
{
	const struct run_strip *strip = &chart->facts[row]->strip;
	const struct part_panel *panel = &chart->parts[PART_ORDER];
	struct limits range = find_row_range(chart->change, row);
	struct axis axis = { .begin = y + STRIP, .length = -STRIP };

	draw_strip_name(chart, y, strip->label);
	chart_widen_row(strip, &range.low, &range.high);
	axis.low = range.low;
	axis.high = range.high;
	for (int i = 0; i < 2; i++) {
		const struct curve *side = &chart->change->sides[i];
		_cleanup_free_ struct point *points =
			xptr(calloc(MAX(side->n, (size_t)1), sizeof(*points)));

		for (size_t k = 0; k < side->n; k++)
			points[k] = (struct point){ axis_place(&panel->x, (double)(k + 1)),
				axis_place(&axis, side->rows[row][k]) };
		canvas_draw_path(chart->canvas, points, side->n, 1, ink_of_series((size_t)i));
	}
}

static void draw_strips(const struct change_chart *chart)
{
	const struct axis_panel *at = &chart->parts[PART_ORDER].at;
	double y = chart->strips_y;

	for (size_t i = 0; i < count_strips(chart); i++) {
		canvas_fill_rectangle(
			chart->canvas, at->x, y, at->width, STRIP, ink_color(INK_SHADE));
		if (i == 0 && chart->has_causes)
			draw_causes(chart, y);
		else
			draw_strip(chart, chart->strips[i - chart->has_causes], y);
		y += STRIP + STRIP_GAP;
	}
}

/* --- The distributions --- */

/* The bars of one side: old ones stand above the line in the middle, new ones hang below it. */
static void draw_bars(
	const struct change_chart *chart, int side, const double *shares, size_t n, double greatest)
{
	const struct axis_panel *at = &chart->parts[PART_SPREAD].at;
	double middle = at->y + at->height / 2, width = at->width / (double)n;

	for (size_t i = 0; i < n; i++) {
		double height = shares[i] / greatest * (at->height / 2 - chart->size * 0.8);

		if (height > 0)
			canvas_fill_rectangle(chart->canvas, at->x + (double)i * width + 0.5,
				side == 0 ? middle - height : middle, width - 1, height,
				with_alpha(ink_of_series((size_t)side), 0.8));
	}
}

static void draw_median(const struct change_chart *chart, int side)
{
	const struct part_panel *panel = &chart->parts[PART_SPREAD];
	double middle = panel->at.y + panel->at.height / 2;
	double x = axis_place(&panel->x,
		side == 0 ? chart->change->comparison->old_stats.median
			  : chart->change->comparison->new_stats.median);

	canvas_draw_line(chart->canvas, (struct point){ x, middle },
		(struct point){ x, side == 0 ? panel->at.y : panel->at.y + panel->at.height }, 1.8,
		0, ink_color(INK_TEXT));
}

static void draw_spread(const struct change_chart *chart)
{
	const struct part_panel *panel = &chart->parts[PART_SPREAD];
	const struct axis *axis = &panel->x;
	const struct change *change = chart->change;
	size_t most = MAX(change->sides[0].n, change->sides[1].n), n_beyond[2] = { 0 };
	size_t n = (size_t)MAX(6.0, MIN((double)BINS_MAX, 2.5 * sqrt((double)most)));
	double shares[2][BINS_MAX] = { 0 }, greatest = 0, extreme[2] = { INFINITY, -INFINITY };
	char heading[160];

	for (int i = 0; i < 2; i++) {
		for (size_t k = 0; k < change->sides[i].n; k++) {
			double value = change->sides[i].values[k];
			double part = (value - axis->low) / (axis->high - axis->low);
			bool above = value > axis->high;

			if (part >= 0 && part < 1) {
				double *share = &shares[i][(size_t)(part * (double)n)];

				*share += 1.0 / (double)change->sides[i].n;
				greatest = MAX(greatest, *share);
			} else {
				n_beyond[above]++;
				extreme[above] =
					above ? MAX(extreme[1], value) : MIN(extreme[0], value);
			}
		}
	}
	snprintf(heading, sizeof(heading), "all runs%s%s: old above the line, new below",
		*chart->scale.unit ? ", " : "", chart->scale.unit);
	draw_panel(chart, PART_SPREAD, heading);
	axis_draw_below(chart->canvas, axis, &panel->at, &chart->value_style);
	canvas_draw_line(chart->canvas,
		(struct point){ panel->at.x, panel->at.y + panel->at.height / 2 },
		(struct point){ panel->at.x + panel->at.width, panel->at.y + panel->at.height / 2 },
		0.8, 0, ink_color(INK_LABEL));
	for (int i = 0; greatest > 0 && i < 2; i++) {
		draw_bars(chart, i, shares[i], n, greatest);
		draw_median(chart, i);
	}
	draw_beyond(chart, PART_SPREAD, true, n_beyond[1], extreme[1], false);
	draw_beyond(chart, PART_SPREAD, false, n_beyond[0], extreme[0], false);
}

/* --- The interval --- */

void change_draw_gate(struct canvas *canvas, const struct change *change, const struct axis *axis,
	double top, double bottom)
{
	double x = axis_place(axis, change->gate_at);

	if (!isnan(x))
		canvas_draw_line(canvas, (struct point){ x, top }, (struct point){ x, bottom }, 1.3,
			4, ink_color(INK_TEXT));
}

struct color change_verdict_color(const struct change *change)
{
	switch (change_verdict(change)) {
	case VERDICT_SLOWER:
		return ink_of_series(1);
	case VERDICT_FASTER:
		return ink_of_series(2);
	default:
		return ink_color(INK_LABEL);
	}
}

void interval_bar_draw(
	struct canvas *canvas, const struct axis *axis, double y, const struct interval_bar *bar)
{
	double ends[2] = { MAX(bar->low, axis->low), MIN(bar->high, axis->high) };
	double inner[2] = { MAX(bar->runs_low, axis->low), MIN(bar->runs_high, axis->high) };

	if (bar->low <= bar->high && ends[0] <= ends[1]) {
		canvas_draw_line(canvas, (struct point){ axis_place(axis, ends[0]), y },
			(struct point){ axis_place(axis, ends[1]), y }, 2.5, 0, bar->color);
		for (int i = 0; i < 2; i++) {
			double x = axis_place(axis, ends[i]);

			/* An end that is beyond the axis has no mark. */
			if (ends[i] == (i == 0 ? bar->low : bar->high))
				canvas_draw_line(canvas, (struct point){ x, y - 5 },
					(struct point){ x, y + 5 }, 2, 0, bar->color);
		}
	}
	if (!isnan(bar->runs_low) && inner[0] < inner[1])
		canvas_draw_line(canvas, (struct point){ axis_place(axis, inner[0]), y },
			(struct point){ axis_place(axis, inner[1]), y }, 6, 0, bar->color);
	if (axis_holds(axis, bar->estimate)) {
		struct point at = { axis_place(axis, bar->estimate), y };

		canvas_fill_circle(canvas, at, 4.5, ink_color(INK_SHADE));
		canvas_fill_circle(canvas, at, 3.5, ink_color(INK_TEXT));
	}
}

static void draw_interval(const struct change_chart *chart)
{
	const struct change *change = chart->change;
	const struct part_panel *panel = &chart->parts[PART_INTERVAL];
	const struct axis_panel *at = &panel->at;
	struct interval_bar bar = { change->change, change->low, change->high, change->runs_low,
		change->runs_high, change_verdict_color(change) };
	double zero = axis_place(&panel->x, 0), size = chart->size;
	char heading[256], margin[64] = "", gate[64] = "";
	struct sense sense;

	if (!isnan(change->margins[0]))
		snprintf(margin, sizeof(margin), ", margin %g %%", change->decision.percent);
	if (!isnan(change->gate_at))
		snprintf(gate, sizeof(gate), ", gate of %g %%", change->gate_percent);
	snprintf(heading, sizeof(heading), "the change%s%s%s%s%s%s",
		change->is_difference && *chart->scale.unit ? ", " : "",
		change->is_difference ? chart->scale.unit : "",
		isnan(change->low) ? ", without an interval" : ", its ",
		isnan(change->low) ? "" : change_interval_words(change), margin, gate);
	draw_panel(chart, PART_INTERVAL, heading);
	axis_draw_below(chart->canvas, &panel->x, at,
		change->is_difference ? &chart->value_style : &chart->change_style);
	shade_margins(chart, at, &panel->x, false);
	change_draw_gate(chart->canvas, change, &panel->x, at->y, at->y + at->height);
	canvas_draw_line(chart->canvas, (struct point){ zero, at->y },
		(struct point){ zero, at->y + at->height }, 1.3, 0, ink_color(INK_LABEL));
	canvas_clip(chart->canvas, at->x, at->y, at->width, at->height);
	interval_bar_draw(chart->canvas, &panel->x, at->y + at->height / 2, &bar);
	canvas_unclip(chart->canvas);
	/* Which way is worse, where both sides of 0 have room for it. */
	sense_find(change->comparison->old, &sense);
	for (int i = 0; i < 2 && at->height > 3.5 * size; i++) {
		const char *word = (i == 1) == !sense.is_gain ? sense.worse : sense.better;
		double room = i == 0 ? zero - at->x : at->x + at->width - zero;

		if (canvas_text_width(chart->canvas, size, false, word) + 8 < room)
			draw_note(chart,
				(struct point){ zero + (i == 0 ? -4 : 4), at->y + at->height - 3 },
				i == 0 ? CANVAS_RIGHT : CANVAS_LEFT, word);
	}
}

/* --- The whole --- */

static void draw_parts(struct change_chart *chart)
{
	const struct axis_panel *order = &chart->parts[PART_ORDER].at;
	struct axis_panel below = *order;

	if (order->height > 0) {
		draw_order(chart);
		if (chart->parts[PART_STEPS].at.height > 0)
			draw_steps(chart);
		draw_strips(chart);
		/* The numbers stand below the lowest of them. */
		below.y = chart->strips_y + strips_height(chart) - STRIP_GAP;
		below.height = 0;
		axis_draw_below(
			chart->canvas, &chart->parts[PART_ORDER].x, &below, &chart->order_style);
	}
	if (chart->parts[PART_SPREAD].at.height > 0)
		draw_spread(chart);
	draw_interval(chart);
}

int change_chart_draw(struct canvas *canvas, const struct change *change,
	const struct change_chart_options *options, struct change_beyond *ret_beyond,
	struct chart_spot **ret_spots, size_t *ret_n_spots)
{
	bool small = options->width < 560 || options->height < 340;
	_cleanup_free_ struct chart_spot *spots = NULL;
	struct change_chart chart = {
		.canvas = canvas,
		.change = change,
		.options = options,
		.title_size = small ? 11.5 : 15,
		.size = small ? 8.5 : 11,
		.n_order = MAX(change->n_pairs, (size_t)1),
	};
	const struct limits *values = &chart.ranges[PART_SPREAD];
	size_t lines = TITLE_LINES;
	bool extras = true;

	if (options->width < CHART_MIN_WIDTH || options->height < CHART_MIN_HEIGHT)
		return -EINVAL;
	if (change->n_pairs == 0)
		chart.n_order = MAX(change->sides[0].n, change->sides[1].n);
	find_ranges(&chart);
	chart.scale =
		scale_choose_unit(unit_of(change), MAX(fabs(values->low), fabs(values->high)));
	chart.change_style =
		(struct axis_style){ .factor = 100, .is_change = true, .size = chart.size };
	chart.value_style = (struct axis_style){ .factor = chart.scale.factor, .size = chart.size };
	chart.order_style = (struct axis_style){ .factor = 1,
		.is_whole = true,
		.size = chart.size,
		.name = change->n_pairs > 0 ? "pair" : "run" };
	if (ret_spots)
		spots = chart.spots = xptr(calloc(
			change->n_pairs + change->sides[0].n + change->sides[1].n, sizeof(*spots)));
	choose_strips(&chart);
	/* A small canvas has less text, so that at least half of it is for the panels. */
	if (draw_head(&chart, lines, extras, false) > options->height / 2)
		extras = false;
	while (lines > 1 && draw_head(&chart, lines, extras, false) > options->height / 2)
		lines--;
	place_parts(&chart, draw_head(&chart, lines, extras, true));
	draw_parts(&chart);
	if (ret_beyond)
		*ret_beyond = chart.beyond;
	if (ret_spots) {
		*ret_n_spots = chart.n_spots;
		*ret_spots = TAKE_PTR(spots);
	}
	return 0;
}
