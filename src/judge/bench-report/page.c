// SPDX-License-Identifier: GPL-2.0-or-later
#include <math.h>
#include <stdlib.h>

#include "base/macro.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "judge/bench-report/page.h"
#include "judge/report/wording.h"
#include "judge/result/series.h"
#include "judge/result/weight.h"

enum {
	RUNS_MAX = 2000, /* in the table of a benchmark */
};

/* Writes text from a file between tags or in a quoted attribute. The reader has already escaped
 * control characters. */
static void put_text(FILE *stream, const char *text)
{
	for (; *text; text++) {
		const char *entity = text_entity(*text);

		if (entity)
			fputs(entity, stream);
		else
			fputc(*text, stream);
	}
}

static void put_cell(FILE *stream, const char *text)
{
	fputs("<td>", stream);
	put_text(stream, text);
	fputs("</td>", stream);
}

static void put_number_cell(FILE *stream, struct scale scale, const struct unit *unit, double value)
{
	char text[UNITS_TEXT_SIZE];

	put_cell(stream, isfinite(value) ? scale_format_shown(scale, unit, value, text) : "");
}

void page_begin(FILE *stream, const struct views *views)
{
	fputs("<!DOCTYPE html>\n"
	      "<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
	      "<meta name=\"viewport\" content=\"width=device-width\">\n"
	      "<title>",
		stream);
	put_text(stream, views->n > 0 ? views->items[0].title : "Benchmarks");
	fputs("</title>\n"
	      "<style>\n"
	      ":root{color-scheme:light dark;--line:#ddd;--link:#0058a3;--here:#fff3cd}\n"
	      "body{font:15px/1.45 system-ui,sans-serif;color:#222;background:#fff;"
	      "max-width:64rem;margin:2rem auto;padding:0 1rem}\n"
	      "h1{font-size:1.35rem;overflow-wrap:anywhere}\n"
	      "section{margin-bottom:4rem}\n"
	      "a{color:var(--link)}\n"
	      "figure{margin:0}\n"
	      "figure>svg{display:block;width:100%;height:auto}\n"
	      ".narrow{display:none}\n"
	      "@media (max-width:720px){.wide{display:none}.narrow{display:block}}\n"
	      ".spot{fill:transparent}\n"
	      ".spot:hover{stroke:currentColor;stroke-width:1.5}\n"
	      ".scroll{overflow:auto;margin:1rem 0}\n"
	      ".runs{max-height:22rem}\n"
	      ".scroll table{margin:0}\n"
	      "table{border-collapse:collapse;margin:1rem 0}\n"
	      "th,td{padding:.2rem .9rem .2rem 0;text-align:right;border-bottom:1px solid var(--line);"
	      "font-variant-numeric:tabular-nums}\n"
	      "td{white-space:nowrap}\n"
	      "th:first-child,td:first-child{text-align:left;white-space:normal;"
	      "overflow-wrap:anywhere;min-width:6rem}\n"
	      "td:last-child,th:last-child{white-space:normal;text-align:left;min-width:12rem}\n"
	      "tr:target{background:var(--here)}\n"
	      ".facts td{text-align:left;white-space:normal;overflow-wrap:anywhere}\n"
	      "@media (prefers-color-scheme:dark){:root{--line:#363c46;--link:#7cc0ff;--here:#4a3f12}"
	      "body{color:#e6e9ee;background:#14171c}}\n"
	      "</style></head><body>\n",
		stream);
}

void page_end(FILE *stream)
{
	fputs("</body></html>\n", stream);
}

/* --- The points of pictures --- */

/* The number of a benchmark among all of them, which its runs' anchors have; SIZE_MAX for none. */
static size_t find_number(const struct views *views, const struct benchmark *benchmark)
{
	size_t n = 0;

	for (size_t i = 0; i < views->pictures->n; i++)
		for (size_t k = 0; k < views->pictures->items[i].n; k++, n++)
			if (views->pictures->items[i].curves[k].benchmark == benchmark)
				return n;
	return SIZE_MAX;
}

/* What disturbed the run of an entry, malloc'd; "" for nothing. */
static char *make_flags(const struct curve *curve, size_t index)
{
	const struct series *series = curve->benchmark->series;
	size_t run = curve->runs[index];
	struct weights weights;

	disturbances_weigh(&curve->analysis->stability->disturbances, series, run, &weights);
	return weights_text(&series->samples[run], &weights);
}

/* What was beside a run: "2.40 GHz, irq". */
static void append_beside(struct text *t, const struct curve *curve, size_t index)
{
	const struct run_fact *strips[RUN_FACTS_MAX];
	size_t n_rows = chart_list_rows(strips);
	_cleanup_free_ char *flags = make_flags(curve, index);

	for (size_t i = 0; i < n_rows; i++) {
		const struct run_strip *strip = &strips[i]->strip;

		if (strip->after && isfinite(curve->rows[i][index]))
			text_appendf(t, ", %.*f%s", strip->decimals,
				curve->rows[i][index] * strip->factor, strip->after);
	}
	if (*flags)
		text_appendf(t, ", %s", flags);
}

/* "run 3: 17.5 ms, 2.40 GHz, irq" */
static void append_sample(struct text *t, const struct curve *curve, size_t index, const char *what,
	struct scale scale, bool with_name)
{
	bool warmup = index < curve->n_warmups;
	char value[UNITS_TEXT_SIZE];

	if (with_name)
		text_appendf(t, "%s, ", curve->name);
	text_appendf(t, "%s %zu: %s", warmup ? "warm-up" : what,
		warmup ? index + 1 : index - curve->n_warmups + 1,
		scale_format_shown(scale, curve->benchmark->unit, curve->values[index], value));
	append_beside(t, curve, index);
}

static void append_pair(
	struct text *t, const struct change *change, size_t index, struct scale scale)
{
	const struct unit *unit = change->comparison->old->unit;
	bool is_known = change_has_runs_of_pairs(change);
	char value[UNITS_TEXT_SIZE];

	text_appendf(t, "pair %zu: %s", index + 1,
		change->is_difference ? scale_format_shown(scale, unit, change->pairs[index], value)
				      : units_format_change(change->pairs[index], value));
	for (int i = 0; is_known && i < 2; i++) {
		text_appendf(t, "; %s %s", i == 0 ? "old" : "new",
			scale_format_shown(scale, unit, change->sides[i].values[index], value));
		append_beside(t, &change->sides[i], index);
	}
}

/* The text that a browser shows when the mouse points at it, malloc'd; ret_curve: whose run it is,
 * or NULL. */
static char *describe_spot(const struct view *view, const struct chart_spot *spot,
	struct scale scale, const struct curve **ret_curve)
{
	struct text t = { 0 };

	*ret_curve = NULL;
	if (view->kind == VIEW_TREND) {
		const struct trend_point *point = &view->trend->points[spot->index];
		char value[UNITS_TEXT_SIZE];

		text_appendf(&t, "%s: %s%s%s%s%s", point->file,
			scale_format_shown(scale, view->trend->unit, point->value, value),
			*point->date ? ", " : "", point->date, point->commit ? ", " : "",
			point->commit ? point->commit : "");
	} else if (view->kind == VIEW_SAMPLES) {
		*ret_curve = &view->picture->curves[spot->series];
		append_sample(&t, *ret_curve, spot->index, view->picture->what, scale,
			view->picture->n > 1);
	} else if (spot->series == CHANGE_SPOT_PAIR) {
		append_pair(&t, view->change, spot->index, scale);
		if (view->change->sides[1].n == view->change->n_pairs)
			*ret_curve = &view->change->sides[1];
	} else {
		*ret_curve = &view->change->sides[spot->series];
		append_sample(&t, *ret_curve, spot->index, "run", scale, true);
	}
	return xptr(text_steal(&t));
}

static void put_spot(FILE *stream, const struct views *views, const struct view *view,
	const struct chart_spot *spot, struct scale scale)
{
	const struct curve *curve;
	_cleanup_free_ char *text = describe_spot(view, spot, scale, &curve);
	size_t number = curve ? find_number(views, curve->benchmark) : SIZE_MAX;

	if (number != SIZE_MAX)
		fprintf(stream, "<a href=\"#b%zu-r%zu\">", number, curve->runs[spot->index] + 1);
	fprintf(stream, "<circle class=\"spot\" cx=\"%.1f\" cy=\"%.1f\" r=\"5\"><title>",
		spot->at.x, spot->at.y);
	put_text(stream, text);
	fprintf(stream, "</title></circle>%s\n", number != SIZE_MAX ? "</a>" : "");
}

/* The picture stands in the page itself, so that its text can be searched and selected. */
static void put_drawing(FILE *stream, const struct views *views, const struct view *view,
	const struct drawing *drawing, struct scale scale, const char *width)
{
	fprintf(stream, "<figure class=\"%s\"><svg viewBox=\"0 0 %g %g\">\n", width, drawing->width,
		drawing->height);
	fwrite(drawing->data, 1, drawing->size, stream);
	for (size_t i = 0; i < drawing->n_spots; i++)
		put_spot(stream, views, view, &drawing->spots[i], scale);
	fputs("</svg></figure>\n", stream);
}

/* --- Tables --- */

/* A row of the figures of a benchmark. */
static void put_figures(FILE *stream, const char *name, const struct benchmark *benchmark,
	const struct analysis *analysis, struct scale scale)
{
	const struct stats *stats = &analysis->stats;
	const double figures[] = { stats->median, stats->mad, stats->mean, stats->stdev, stats->min,
		stats->max };
	_cleanup_free_ char *disturbed = stability_disturbed_cell(analysis->stability);

	fputs("<tr>", stream);
	put_cell(stream, name);
	fprintf(stream, "<td>%zu</td>", stats->n);
	for (size_t i = 0; i < ARRAY_SIZE(figures); i++)
		put_number_cell(stream, scale, benchmark->unit, figures[i]);
	put_cell(stream, disturbed);
	fputs("</tr>\n", stream);
}

static void begin_figures(FILE *stream)
{
	fputs("<div class=\"scroll\"><table><tr><th>benchmark</th><th>values</th><th>median</th>"
	      "<th>MAD</th><th>mean</th><th>std dev</th><th>min</th><th>max</th>"
	      "<th>disturbed</th></tr>\n",
		stream);
}

static void end_table(FILE *stream)
{
	fputs("</table></div>\n", stream);
}

static void put_concerns(FILE *stream, const struct curve *curve, bool several)
{
	const struct stability *stability = curve->analysis->stability;

	for (size_t i = 0; i < stability->n_concerns; i++) {
		fputs(stability->concerns[i].warning ? "<p><b>Warning:</b> " : "<p>Note: ", stream);
		if (several) {
			put_text(stream, curve->name);
			fputs(": ", stream);
		}
		put_text(stream, stability->concerns[i].text);
		fputs(".</p>\n", stream);
	}
}

static void put_metadata(FILE *stream, const struct curve *curve)
{
	const struct facts *metadata = &curve->benchmark->metadata;

	fputs("<details><summary>", stream);
	put_text(stream, curve->name);
	fputs(": the machine and the program</summary><table class=\"facts\">\n", stream);
	for (size_t i = 0; i < metadata->n; i++) {
		_cleanup_free_ char *text =
			benchmark_metadata_text(curve->benchmark, metadata->items[i].name);

		fputs("<tr>", stream);
		put_cell(stream, metadata->items[i].name);
		put_cell(stream, text ? text : "");
		fputs("</tr>\n", stream);
	}
	fputs("</table></details>\n", stream);
}

/* Whether anything is known of a strip. */
static bool is_row_known(const struct curve *curve, size_t row)
{
	for (size_t i = 0; i < curve->n; i++)
		if (isfinite(curve->rows[row][i]))
			return true;
	return false;
}

/* Each run with what is known of it, at the anchor that the points lead to: "b0-r3" is the third
 * run of the first benchmark. A run of several values has the first of them. */
static void put_runs(FILE *stream, const struct curve *curve, size_t number, const char *what,
	struct scale scale)
{
	const struct run_fact *strips[RUN_FACTS_MAX];
	size_t n_rows = chart_list_rows(strips), shown = MIN(curve->n, (size_t)RUNS_MAX);
	bool known[CHART_MAX_ROWS];

	for (size_t row = 0; row < n_rows; row++)
		known[row] = is_row_known(curve, row);
	fputs("<h2>", stream);
	put_text(stream, curve->name);
	fprintf(stream,
		": %s by %s</h2>\n<div class=\"scroll runs\"><table><tr><th>%s</th><th>value</th>",
		what, what, what);
	for (size_t row = 0; row < n_rows; row++)
		if (known[row])
			fprintf(stream, "<th>%s</th>", strips[row]->strip.label);
	fputs("<th>disturbed by</th></tr>\n", stream);
	for (size_t i = 0; i < shown; i++) {
		size_t run = curve->runs[i];
		_cleanup_free_ char *flags = make_flags(curve, i);

		if (i == 0 || curve->runs[i - 1] != run)
			fprintf(stream, "<tr id=\"b%zu-r%zu\">", number, run + 1);
		else
			fputs("<tr>", stream);
		if (i < curve->n_warmups)
			fprintf(stream, "<td>warm-up %zu</td>", i + 1);
		else
			fprintf(stream, "<td>%zu</td>", i - curve->n_warmups + 1);
		put_number_cell(stream, scale, curve->benchmark->unit, curve->values[i]);
		for (size_t row = 0; row < n_rows; row++) {
			if (!known[row])
				continue;
			if (isfinite(curve->rows[row][i]))
				fprintf(stream, "<td>%.*f</td>",
					MAX(strips[row]->strip.decimals, 2),
					curve->rows[row][i] * strips[row]->strip.factor);
			else
				fputs("<td></td>", stream);
		}
		put_cell(stream, flags);
		fputs("</tr>\n", stream);
	}
	end_table(stream);
	if (shown < curve->n)
		fprintf(stream, "<p>%zu more are not listed: bench-report dump has them.</p>\n",
			curve->n - shown);
}

/* --- Sections --- */

static void put_samples(
	FILE *stream, const struct views *views, const struct view *view, struct scale scale)
{
	const struct picture *picture = view->picture;

	begin_figures(stream);
	for (size_t i = 0; i < picture->n; i++)
		put_figures(stream, picture->curves[i].name, picture->curves[i].benchmark,
			picture->curves[i].analysis, scale);
	end_table(stream);
	for (size_t i = 0; i < picture->n; i++)
		put_concerns(stream, &picture->curves[i], picture->n > 1);
	for (size_t i = 0; i < picture->n; i++)
		put_runs(stream, &picture->curves[i],
			find_number(views, picture->curves[i].benchmark), picture->what, scale);
	for (size_t i = 0; i < picture->n; i++)
		put_metadata(stream, &picture->curves[i]);
}

static void put_change(
	FILE *stream, const struct views *views, const struct change *change, struct scale scale)
{
	size_t number;

	if (*change->doubt) {
		fputs("<p>", stream);
		put_text(stream, change->doubt);
		fputs("</p>\n", stream);
	}
	begin_figures(stream);
	for (int i = 0; i < 2; i++)
		put_figures(stream, change->sides[i].name, change->sides[i].benchmark,
			change->sides[i].analysis, scale);
	end_table(stream);
	fputs("<p>Each run with its evidence:", stream);
	for (int i = 0; i < 2; i++) {
		number = find_number(views, change->sides[i].benchmark);
		if (number == SIZE_MAX)
			continue;
		fprintf(stream, " <a href=\"#b%zu-r%zu\">", number,
			change->sides[i].n > 0 ? change->sides[i].runs[0] + 1 : 1);
		put_text(stream, change->sides[i].name);
		fputs("</a>", stream);
	}
	fputs("</p>\n", stream);
}

/* The number of the section that has this comparison. */
static size_t find_section(const struct views *views, const struct change *change)
{
	for (size_t i = 0; i < views->n; i++)
		if (views->items[i].kind == VIEW_CHANGE && views->items[i].change == change)
			return i;
	return 0;
}

static void put_forest(FILE *stream, const struct views *views, const struct changes *changes)
{
	fputs("<div class=\"scroll\"><table><tr><th>benchmark</th><th>old</th><th>new</th>"
	      "<th>change</th><th>interval</th><th>verdict</th></tr>\n",
		stream);
	for (size_t i = 0; i < changes->n; i++) {
		const struct change *change = &changes->items[i];
		const struct comparison *c = change->comparison;
		struct comparison shown = change_to_show(change);
		struct scale scale =
			scale_refine(scale_choose_unit(c->old->unit, c->old_stats.median), 1);
		_cleanup_free_ char *title = pairs_title(changes->pairs, i);
		_cleanup_free_ char *verdict = change->is_decided
			? decision_text(&change->decision, false)
			: comparison_verdict_text(c);
		char text[COMPARISON_INTERVAL_SIZE];

		fprintf(stream, "<tr><td><a href=\"#v%zu\">", find_section(views, change));
		put_text(stream, title);
		fputs("</a></td>", stream);
		put_number_cell(stream, scale, c->old->unit, c->old_stats.median);
		put_number_cell(stream, scale, c->old->unit, c->new_stats.median);
		put_cell(stream, comparison_format_change(&shown, text));
		put_cell(stream, comparison_format_interval(&shown, text));
		put_cell(stream, verdict);
		fputs("</tr>\n", stream);
	}
	end_table(stream);
}

static void put_trend(FILE *stream, const struct trend *trend, struct scale scale)
{
	fputs("<div class=\"scroll\"><table><tr><th>from</th><th>commit</th><th>results</th>"
	      "<th>median</th><th>change</th><th>file</th></tr>\n",
		stream);
	for (size_t i = 0; i < trend->levels->n; i++) {
		const struct level *level = &trend->levels->items[i];
		const struct trend_point *point = &trend->points[level->first];
		char change[UNITS_TEXT_SIZE] = "";

		fputs("<tr>", stream);
		put_cell(stream, point->date);
		put_cell(stream, point->commit ? point->commit : "");
		fprintf(stream, "<td>%zu</td>", level->n);
		put_number_cell(stream, scale, trend->unit, level->median);
		put_cell(stream, i > 0 ? units_format_change(trend_change(trend, i), change) : "");
		put_cell(stream, point->file);
		fputs("</tr>\n", stream);
	}
	end_table(stream);
}

static void put_latencies(FILE *stream, const struct latencies *latencies)
{
	fputs("<div class=\"scroll\"><table><tr><th>program</th><th>quantile</th><th>median</th>"
	      "<th>interval</th></tr>\n",
		stream);
	for (size_t i = 0; i < latencies->n; i++)
		for (size_t k = 0; k < latencies->curves[i].n; k++) {
			const struct latency_point *point = &latencies->curves[i].points[k];
			struct scale scale =
				scale_refine(scale_choose_unit(UNIT_SECOND, point->value), 1);
			char name[LATENCY_NAME_SIZE], low[UNITS_TEXT_SIZE], high[UNITS_TEXT_SIZE];

			fputs("<tr>", stream);
			put_cell(stream, latencies->curves[i].name);
			put_cell(stream, latency_point_name(point, name));
			put_number_cell(stream, scale, UNIT_SECOND, point->value);
			fprintf(stream, "<td>%s%s%s</td></tr>\n",
				isnan(point->low) ? "" : scale_format(scale, point->low, low),
				isnan(point->low) ? "" : " .. ",
				isnan(point->low) ? "" : scale_format(scale, point->high, high));
		}
	end_table(stream);
}

/* The figures below the picture are those of each benchmark. */
static int put_scan(FILE *stream, const struct scan *scan, struct scale scale)
{
	int r = 0;

	begin_figures(stream);
	for (size_t i = 0; i < scan->n; i++) {
		for (size_t k = 0; r >= 0 && k < scan->curves[i].n; k++) {
			const struct benchmark *b = scan->curves[i].points[k].benchmark;
			_cleanup_(analysis) struct analysis *analysis = NULL;

			r = analysis_new(b, &analysis);
			if (r >= 0)
				put_figures(stream, b->name, b, analysis, scale);
		}
	}
	end_table(stream);
	return r;
}

/* A typical value of the view. */
static struct scale choose_scale(const struct view *view)
{
	const struct unit *unit = NULL;
	double value = 0;

	switch (view->kind) {
	case VIEW_SCAN:
		unit = view->scan->curves[0].points[0].benchmark->unit;
		value = view->scan->curves[0].points[0].median;
		break;
	case VIEW_CHANGE:
		unit = view->change->comparison->old->unit;
		value = view->change->comparison->old_stats.median;
		break;
	case VIEW_TREND:
		unit = view->trend->unit;
		value = view->trend->levels->items[0].median;
		break;
	case VIEW_SAMPLES:
		unit = view->picture->curves[0].benchmark->unit;
		value = view->picture->curves[0].analysis->stats.median;
		break;
	default:
		break;
	}
	return scale_refine(scale_choose_unit(unit, value), 1);
}

int page_add(FILE *stream, const struct views *views, size_t at, const struct drawing *wide,
	const struct drawing *narrow)
{
	const struct view *view = &views->items[at];
	struct scale scale = choose_scale(view);
	int r = 0;

	fprintf(stream, "<section id=\"v%zu\"><h1>", at);
	put_text(stream, view->title);
	fputs("</h1>\n", stream);
	put_drawing(stream, views, view, wide, scale, "wide");
	if (narrow)
		put_drawing(stream, views, view, narrow, scale, "narrow");
	switch (view->kind) {
	case VIEW_SCAN:
		r = put_scan(stream, view->scan, scale);
		break;
	case VIEW_FOREST:
		put_forest(stream, views, view->changes);
		break;
	case VIEW_CHANGE:
		put_change(stream, views, view->change, scale);
		break;
	case VIEW_TREND:
		put_trend(stream, view->trend, scale);
		break;
	case VIEW_LATENCY:
		put_latencies(stream, view->latencies);
		break;
	default:
		put_samples(stream, views, view, scale);
	}
	fputs("</section>\n", stream);
	return r;
}
