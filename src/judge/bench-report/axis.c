// SPDX-License-Identifier: GPL-2.0-or-later
#include <math.h>
#include <stdio.h>

#include "base/macro.h"
#include "judge/bench-report/axis.h"
#include "judge/bench-report/ticks.h"

enum {
	LABEL_SIZE = 64,
	MANY = 40, /* values */
	SPARE = 8, /* one in so many values at either end may be outside of what is shown */
};

struct axis axis_make_linear(double low, double high, double begin, double length)
{
	struct axis axis = { .low = low, .high = high, .begin = begin, .length = length };

	ticks_make_room(&axis.low, &axis.high);
	return axis;
}

struct axis axis_make(double low, double high, double begin, double length)
{
	struct axis axis = { .low = low, .high = high, .begin = begin, .length = length };
	double room = pow(high / low, 0.05);

	axis.is_log = low > 0 && high >= 10 * low;
	if (!axis.is_log)
		return axis_make_linear(low, high, begin, length);
	axis.low = low / room;
	axis.high = high * room;
	return axis;
}

double axis_place(const struct axis *axis, double value)
{
	double part = axis->is_log
		? (log(value) - log(axis->low)) / (log(axis->high) - log(axis->low))
		: (value - axis->low) / (axis->high - axis->low);

	return axis->begin + part * axis->length;
}

bool axis_holds(const struct axis *axis, double value)
{
	return value >= axis->low && value <= axis->high;
}

/* 1, 2 and 5 times the powers of ten; only the powers where there are many. */
static size_t find_log_marks(const struct axis *axis, double ret[static AXIS_MARKS_MAX])
{
	static const double factors[] = { 1, 2, 5 };
	double decades = log10(axis->high / axis->low);
	size_t n = 0;

	for (double power = floor(log10(axis->low)); power <= log10(axis->high);
		power += decades > 12 ? 3 : 1)
		for (size_t i = 0; i < (decades > 3 ? 1 : ARRAY_SIZE(factors)); i++) {
			double mark = factors[i] * pow(10, power);

			if (mark >= axis->low && mark <= axis->high && n < AXIS_MARKS_MAX)
				ret[n++] = mark;
		}
	return n;
}

size_t axis_find_marks(const struct axis *axis, double factor, size_t most,
	double ret[static AXIS_MARKS_MAX], int *ret_decimals)
{
	struct ticks ticks;
	size_t n = 0;

	*ret_decimals = 0;
	if (axis->is_log)
		return find_log_marks(axis, ret);
	/* Of more than there is room for, the last ones would be left out. */
	most = MIN(MAX(most, (size_t)2), (size_t)AXIS_MARKS_MAX);
	if (ticks_find(axis->low * factor, axis->high * factor, most, &ticks) < 0)
		return 0;
	for (; n < ticks.n; n++)
		ret[n] = ticks_at(&ticks, n) / factor;
	*ret_decimals = ticks.decimals;
	return n;
}

void axis_find_visible(
	const double *sorted, const struct stats *stats, double *ret_low, double *ret_high)
{
	/* Of many values, a few are far away by chance alone; of few, each one matters. */
	double far = (stats->n < MANY ? 2 : 0.5) * (stats->fence_high - stats->fence_low);
	size_t spare = stats->n / SPARE, first = 0, last = stats->n - 1;

	while (far > 0 && first < spare && sorted[first] < stats->fence_low - far)
		first++;
	while (far > 0 && stats->n - 1 - last < spare && sorted[last] > stats->fence_high + far)
		last--;
	*ret_low = sorted[first];
	*ret_high = sorted[last];
	/* More of them are not outliers, so all of them are shown. */
	if (sorted[first] < stats->fence_low - far)
		*ret_low = stats->min;
	if (sorted[last] > stats->fence_high + far)
		*ret_high = stats->max;
}

/* --- Drawing --- */

static const char *format_mark(const struct axis_style *style, bool is_log, double mark,
	int decimals, char buf[static LABEL_SIZE])
{
	double shown = mark * style->factor;

	if (style->is_change && shown == 0)
		return "0";
	if (is_log || fabs(shown) >= 1e12 || decimals > 9)
		snprintf(buf, LABEL_SIZE, "%.12g", shown);
	else
		snprintf(buf, LABEL_SIZE, style->is_change ? "%+.*f %%" : "%.*f", decimals, shown);
	return buf;
}

static size_t find_left_marks(const struct axis *axis, const struct axis_style *style,
	double ret[static AXIS_MARKS_MAX], int *ret_decimals)
{
	size_t most = (size_t)MAX(3.0, fabs(axis->length) / (style->size * 2.6));

	return axis_find_marks(axis, style->factor, most, ret, ret_decimals);
}

double axis_label_width(
	struct canvas *canvas, const struct axis *axis, const struct axis_style *style)
{
	double marks[AXIS_MARKS_MAX], widest = 0;
	char label[LABEL_SIZE];
	int decimals;
	size_t n = find_left_marks(axis, style, marks, &decimals);

	for (size_t i = 0; i < n; i++)
		widest = MAX(widest,
			canvas_text_width(canvas, style->size, false,
				format_mark(style, axis->is_log, marks[i], decimals, label)));
	return widest;
}

void axis_draw_left(struct canvas *canvas, const struct axis *axis, const struct axis_panel *panel,
	const struct axis_style *style)
{
	double marks[AXIS_MARKS_MAX], end = INFINITY, size = style->size;
	char label[LABEL_SIZE];
	int decimals;
	size_t n = find_left_marks(axis, style, marks, &decimals);

	for (size_t i = 0; i < n; i++) {
		double at = axis_place(axis, marks[i]);

		canvas_draw_line(canvas, (struct point){ panel->x, at },
			(struct point){ panel->x + panel->width, at }, 0.8, 0, ink_color(INK_GRID));
		/* From bottom to top; one beside the edge would be on what is beside the panel. */
		if (at + size * 0.4 > end || at - size * 0.3 < panel->y ||
			at + size * 0.3 > panel->y + panel->height)
			continue;
		end = at - size * 0.8;
		canvas_draw_text(canvas,
			(struct point){ panel->x - AXIS_LABEL_GAP, at + size * 0.35 }, CANVAS_RIGHT,
			size, false, ink_color(INK_LABEL),
			format_mark(style, axis->is_log, marks[i], decimals, label));
	}
}

void axis_draw_below(struct canvas *canvas, const struct axis *axis, const struct axis_panel *panel,
	const struct axis_style *style)
{
	double marks[AXIS_MARKS_MAX], end = -INFINITY, size = style->size;
	double bottom = panel->y + panel->height;
	char label[LABEL_SIZE];
	int decimals;
	size_t n = axis_find_marks(
		axis, style->factor, (size_t)(axis->length / (size * 6)), marks, &decimals);

	for (size_t i = 0; i < n; i++) {
		double at = axis_place(axis, marks[i]), half;
		const char *text = format_mark(style, axis->is_log, marks[i], decimals, label);

		/* There is no run 0, and there are no fractions of runs. */
		if (style->is_whole && (marks[i] < 1 || marks[i] != floor(marks[i])))
			continue;
		canvas_draw_line(canvas, (struct point){ at, panel->y },
			(struct point){ at, bottom }, 0.8, 0, ink_color(INK_GRID));
		half = canvas_text_width(canvas, size, false, text) / 2;
		if (at - half < MAX(end + size / 2, panel->x - size) ||
			at + half > panel->x + panel->width + size)
			continue;
		end = at + half;
		canvas_draw_text(canvas, (struct point){ at, bottom + size * 1.3 }, CANVAS_CENTER,
			size, false, ink_color(INK_LABEL), text);
	}
	if (style->name)
		canvas_draw_text(canvas,
			(struct point){ panel->x + panel->width / 2, bottom + size * 2.6 },
			CANVAS_CENTER, size, false, ink_color(INK_TEXT), style->name);
}

double axis_room_below(const struct axis_style *style)
{
	return style->size * (style->name ? 3 : 1.7);
}
