// SPDX-License-Identifier: GPL-2.0-or-later
/* plot --json: what was drawn, for a program that checks it or draws it itself. */
#include <math.h>

#include "base/units.h"
#include "judge/bench-report/view.h"
#include "judge/report/wording.h"
#include "judge/result/emit.h"
#include "judge/result/series.h"

/* That of a series in the picture. */
static void emit_color(struct emit *emit, size_t series)
{
	char color[INK_TEXT_SIZE];

	emit_string(emit, "color", ink_text(ink_light(ink_of_series(series).ink), color));
}

static void emit_beyond(struct emit *emit, size_t n_below, size_t n_above)
{
	emit_integer(emit, "below", (int64_t)n_below);
	emit_integer(emit, "above", (int64_t)n_above);
}

/* Writes null when there is no such axis. */
static void emit_axis(
	struct emit *emit, const char *name, const struct chart_axis *axis, const char *unit)
{
	if (!(axis->low < axis->high)) {
		emit_string(emit, name, NULL);
		return;
	}
	emit_object(emit, name);
	emit_real(emit, "low", axis->low);
	emit_real(emit, "high", axis->high);
	emit_string(emit, "unit", unit);
	emit_close(emit, '}');
}

static void emit_axes(struct emit *emit, const struct picture *picture)
{
	const struct chart_axes *axes = &picture->axes;
	const struct run_fact *strips[RUN_FACTS_MAX];
	size_t n_rows = chart_list_rows(strips);

	emit_object(emit, "axes");
	emit_axis(emit, "order", &axes->order, picture->what);
	emit_axis(emit, "value", &axes->value, unit_name(picture->curves[0].benchmark->unit));
	for (size_t i = 0; i < n_rows; i++)
		emit_axis(emit, strips[i]->strip.name, &axes->rows[i], strips[i]->strip.unit);
	emit_close(emit, '}');
	emit_beyond(emit, axes->n_below, axes->n_above);
}

/* The levels as they are drawn: a series without a change has one line, at the median of all
 * values. */
static void emit_levels(struct emit *emit, const struct levels *levels, double median)
{
	bool steady = levels->n == 1;

	emit_array(emit, "levels");
	for (size_t i = 0; i < levels->n; i++) {
		const struct level *level = &levels->items[i];

		emit_object(emit, NULL);
		emit_integer(emit, "first", (int64_t)level->first + 1);
		emit_integer(emit, "last", (int64_t)(level->first + level->n));
		emit_real(emit, "median", steady ? median : level->median);
		emit_close(emit, '}');
	}
	emit_close(emit, ']');
}

static void emit_sample(struct emit *emit, const struct curve *curve, size_t at)
{
	uint16_t flags = curve->benchmark->series->samples[curve->runs[at]].flags;
	const struct run_fact *strips[RUN_FACTS_MAX];
	size_t n_rows = chart_list_rows(strips);

	emit_object(emit, NULL);
	emit_integer(emit, "number", (int64_t)at - (int64_t)curve->n_warmups + 1);
	emit_bool(emit, "warmup", at < curve->n_warmups);
	emit_real(emit, "value", curve->values[at]);
	emit_array(emit, "flags");
	for (size_t bit = 0; bit < SAMPLE_N_FLAGS; bit++)
		if (flags & 1u << bit)
			emit_string(emit, NULL, sample_flag_name((enum sample_flag)(1 << bit)));
	emit_close(emit, ']');
	emit_bool(emit, "disturbed", curve->causes[at] != 0);
	/* More decimals than a sensor has would come from the float that keeps its figure. */
	for (size_t i = 0; i < n_rows; i++)
		emit_real(emit, strips[i]->strip.name, round(curve->rows[i][at] * 100) / 100);
	emit_close(emit, '}');
}

static void emit_curve(struct emit *emit, const struct curve *curve, size_t index)
{

	emit_object(emit, NULL);
	emit_string(emit, "file", curve->file);
	emit_string(emit, "name", curve->benchmark->name);
	emit_string(emit, "label", curve->name);
	emit_color(emit, index);
	emit_integer(emit, "values", (int64_t)(curve->n - curve->n_warmups));
	emit_integer(emit, "warmups", (int64_t)curve->n_warmups);
	emit_integer(
		emit, "disturbed", (int64_t)curve->analysis->stability->disturbances.n_disturbed);
	emit_real(emit, "median", curve->analysis->stats.median);
	emit_levels(emit, &curve->levels, curve->analysis->stats.median);
	emit_array(emit, "samples");
	for (size_t i = 0; i < curve->n; i++)
		emit_sample(emit, curve, i);
	emit_close(emit, ']');
	emit_close(emit, '}');
}

static void begin_sheet(struct emit *emit, const struct picture_sheet *sheet)
{
	emit_object(emit, NULL);
	emit_string(emit, "output", sheet->output);
	emit_string(emit, "format", sheet->format->suffix + 1);
	emit_real(emit, "width", sheet->width);
	emit_real(emit, "height", sheet->height);
	emit_integer(emit, "pixels_per_point", sheet->format->scale);
	emit_array(emit, "pictures");
}

static void emit_growth(struct emit *emit, const struct scan *scan, const struct scan_curve *curve)
{
	const struct scan_growth *growth = &curve->growth;
	_cleanup_free_ char *text = scan_growth_text(scan, curve);

	if (!growth->known) {
		emit_string(emit, "growth", NULL);
		return;
	}
	emit_object(emit, "growth");
	emit_string(emit, "text", text);
	emit_string(emit, "kind", growth->best.what);
	emit_real(emit, "once", growth->best.once);
	emit_real(emit, "each", growth->best.each);
	emit_real(emit, "each_low", growth->each_low);
	emit_real(emit, "each_high", growth->each_high);
	emit_real(emit, "error", growth->best.error);
	emit_real(emit, "share", growth->share);
	emit_string(emit, "other", growth->other);
	emit_real(emit, "other_share", growth->other_share);
	emit_close(emit, '}');
}

static void emit_scan_curve(
	struct emit *emit, const struct scan *scan, const struct scan_curve *curve, size_t index)
{

	emit_object(emit, NULL);
	emit_string(emit, "name", curve->name);
	emit_color(emit, index);
	emit_array(emit, "points");
	for (size_t i = 0; i < curve->n; i++) {
		const struct scan_point *point = &curve->points[i];

		emit_object(emit, NULL);
		emit_string(emit, "file", point->file);
		emit_string(emit, "name", point->benchmark->name);
		emit_real(emit, "parameter", point->x);
		emit_real(emit, "median", point->median);
		emit_real(emit, "interval_low", point->low);
		emit_real(emit, "interval_high", point->high);
		emit_close(emit, '}');
	}
	emit_close(emit, ']');
	emit_growth(emit, scan, curve);
	emit_close(emit, '}');
}

static void emit_scan(struct emit *emit, const struct scan *scan)
{
	const struct benchmark *first = scan->curves[0].points[0].benchmark;

	emit_string(emit, "parameter", scan->parameter);
	emit_string(emit, "unit", unit_name(first->unit));
	emit_string(emit, "metric", first->metric);
	emit_array(emit, "curves");
	for (size_t i = 0; i < scan->n; i++)
		emit_scan_curve(emit, scan, &scan->curves[i], i);
	emit_close(emit, ']');
}

static void emit_samples(struct emit *emit, const struct picture *picture)
{
	emit_string(emit, "subtitle", picture->subtitle);
	emit_string(emit, "unit", unit_name(picture->curves[0].benchmark->unit));
	emit_string(emit, "metric", picture->curves[0].benchmark->metric);
	emit_string(emit, "entry", picture->what);
	emit_axes(emit, picture);
	emit_array(emit, "series");
	for (size_t k = 0; k < picture->n; k++)
		emit_curve(emit, &picture->curves[k], k);
	emit_close(emit, ']');
}

/* --- Comparisons --- */

/* An end of an interval is null where there is none. */
static void emit_interval(struct emit *emit, double change, double low, double high)
{
	emit_real(emit, "change", change);
	emit_real(emit, "low", isfinite(low) ? low : NAN);
	emit_real(emit, "high", isfinite(high) ? high : NAN);
}

static const char *verdict_name(const struct change *change)
{
	return change->is_decided ? decision_verdict_name(change->decision.verdict)
				  : comparison_verdict_name(change->comparison->verdict);
}

static void emit_side(struct emit *emit, const struct change *change, int side)
{
	const struct curve *curve = &change->sides[side];
	const struct stats *stats =
		side == 0 ? &change->comparison->old_stats : &change->comparison->new_stats;

	emit_object(emit, side == 0 ? "old" : "new");
	emit_string(emit, "file", curve->file);
	emit_string(emit, "name", curve->benchmark->name);
	emit_string(emit, "label", curve->name);
	emit_color(emit, (size_t)side);
	emit_real(emit, "median", stats->median);
	emit_integer(
		emit, "disturbed", (int64_t)curve->analysis->stability->disturbances.n_disturbed);
	emit_array(emit, "values");
	for (size_t i = 0; i < curve->n; i++)
		emit_real(emit, NULL, curve->values[i]);
	emit_close(emit, ']');
	emit_close(emit, '}');
}

/* What --margin says, and the change that it is. */
static void emit_gate(struct emit *emit, const struct change *change)
{
	if (isnan(change->gate_percent))
		return;
	emit_string(emit, "gate", comparison_gate_name(change->gate));
	emit_real(emit, "gate_at", change->gate_at);
}

static void emit_change(struct emit *emit, const struct view *view)
{
	const struct change *change = view->change;

	emit_string(emit, "subtitle", change->subtitle);
	emit_string(emit, "unit", unit_name(change->comparison->old->unit));
	emit_string(emit, "metric", change->comparison->old->metric);
	emit_string(emit, "verdict", verdict_name(change));
	emit_string(emit, "doubt", *change->doubt ? change->doubt : NULL);
	emit_bool(emit, "difference", change->is_difference);
	emit_interval(emit, change->change, change->low, change->high);
	emit_real(emit, "margin", change->margins[1]);
	emit_gate(emit, change);
	emit_side(emit, change, 0);
	emit_side(emit, change, 1);
	emit_array(emit, "pairs");
	for (size_t i = 0; i < change->n_pairs; i++)
		emit_real(emit, NULL, change->pairs[i]);
	emit_close(emit, ']');
	emit_array(emit, "estimates");
	for (size_t i = 0; i < change->n_steps; i++) {
		const struct change_step *step = &change->steps[i];

		emit_object(emit, NULL);
		emit_integer(emit, "pairs", (int64_t)step->n);
		emit_interval(emit, step->change, step->low, step->high);
		emit_close(emit, '}');
	}
	emit_close(emit, ']');
	emit_beyond(emit, view->beyond.n_below, view->beyond.n_above);
}

static void emit_forest(struct emit *emit, const struct changes *changes)
{
	emit_array(emit, "comparisons");
	for (size_t i = 0; i < changes->n; i++) {
		const struct change *change = &changes->items[i];

		emit_object(emit, NULL);
		emit_string(emit, "title", change->title);
		emit_string(emit, "verdict", verdict_name(change));
		emit_interval(emit, change->change, change->low, change->high);
		emit_gate(emit, change);
		emit_close(emit, '}');
	}
	emit_close(emit, ']');
}

static void emit_trend(struct emit *emit, const struct view *view)
{
	const struct trend *trend = view->trend;

	emit_string(emit, "unit", unit_name(trend->unit));
	emit_string(emit, "metric", trend->points[0].benchmark->metric);
	emit_array(emit, "points");
	for (size_t i = 0; i < trend->n; i++)
		emit_real(emit, NULL, trend->points[i].value);
	emit_close(emit, ']');
	emit_levels(emit, trend->levels, trend->levels->items[0].median);
	emit_beyond(emit, view->beyond.n_below, view->beyond.n_above);
}

static void emit_latencies(struct emit *emit, const struct latencies *latencies)
{
	char name[LATENCY_NAME_SIZE];

	emit_array(emit, "curves");
	for (size_t i = 0; i < latencies->n; i++) {
		const struct latency_curve *curve = &latencies->curves[i];

		emit_object(emit, NULL);
		emit_string(emit, "name", curve->name);
		emit_color(emit, i);
		emit_array(emit, "points");
		for (size_t k = 0; k < curve->n; k++) {
			const struct latency_point *point = &curve->points[k];

			emit_object(emit, NULL);
			emit_string(emit, "quantile", latency_point_name(point, name));
			emit_real(emit, "median", point->value);
			emit_real(emit, "interval_low", point->low);
			emit_real(emit, "interval_high", point->high);
			emit_close(emit, '}');
		}
		emit_close(emit, ']');
		emit_close(emit, '}');
	}
	emit_close(emit, ']');
}

static const char *kind_name(enum view_kind kind)
{
	static const char *const names[] = {
		[VIEW_SCAN] = "scan",
		[VIEW_FOREST] = "comparisons",
		[VIEW_CHANGE] = "comparison",
		[VIEW_TREND] = "trend",
		[VIEW_LATENCY] = "latency",
		[VIEW_SAMPLES] = "samples",
	};

	return names[kind];
}

int views_emit(FILE *stream, const struct views *views, const struct picture_sheet *sheet)
{
	struct emit emit = { .stream = stream };

	begin_sheet(&emit, sheet);
	for (size_t i = 0; i < views->n; i++) {
		const struct view *view = &views->items[i];

		emit_object(&emit, NULL);
		emit_string(&emit, "kind", kind_name(view->kind));
		emit_string(&emit, "title", view->title);
		if (view->kind == VIEW_SCAN)
			emit_scan(&emit, view->scan);
		else if (view->kind == VIEW_FOREST)
			emit_forest(&emit, view->changes);
		else if (view->kind == VIEW_CHANGE)
			emit_change(&emit, view);
		else if (view->kind == VIEW_TREND)
			emit_trend(&emit, view);
		else if (view->kind == VIEW_LATENCY)
			emit_latencies(&emit, view->latencies);
		else
			emit_samples(&emit, view->picture);
		emit_close(&emit, '}');
	}
	emit_close(&emit, ']');
	emit_close(&emit, '}');
	return emit_finish(&emit);
}
