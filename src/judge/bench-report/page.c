// SPDX-License-Identifier: GPL-2.0-or-later
#include <math.h>
#include <stdlib.h>

#include "base/macro.h"
#include "base/text.h"
#include "judge/bench-report/page.h"
#include "judge/result/series.h"
#include "judge/result/weight.h"

void drawing_clear(struct drawing *drawing)
{
	free(drawing->data);
	free(drawing->spots);
	*drawing = (struct drawing){ 0 };
}

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

void page_begin(FILE *stream)
{
	fputs("<!DOCTYPE html>\n"
	      "<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
	      "<meta name=\"viewport\" content=\"width=device-width\">\n"
	      "<title>Benchmarks</title>\n"
	      "<style>\n"
	      ":root{color-scheme:light dark;--line:#ddd}\n"
	      "body{font:15px/1.45 system-ui,sans-serif;color:#222;background:#fff;"
	      "max-width:64rem;margin:2rem auto;padding:0 1rem}\n"
	      "section{margin-bottom:4rem}\n"
	      "figure{margin:0}\n"
	      "figure>svg{display:block;width:100%;height:auto}\n"
	      ".spot{fill:transparent}\n"
	      ".spot:hover{stroke:currentColor;stroke-width:1.5}\n"
	      "table{border-collapse:collapse;margin:1rem 0}\n"
	      "th,td{padding:.2rem .9rem .2rem 0;text-align:right;border-bottom:1px solid var(--line);"
	      "font-variant-numeric:tabular-nums}\n"
	      "td{white-space:nowrap}\n"
	      "th:first-child,td:first-child{text-align:left;white-space:normal;"
	      "overflow-wrap:anywhere}\n"
	      ".facts td{text-align:left;white-space:normal;overflow-wrap:anywhere}\n"
	      "@media (prefers-color-scheme:dark){:root{--line:#363c46}"
	      "body{color:#e6e9ee;background:#14171c}}\n"
	      "</style></head><body>\n",
		stream);
}

void page_end(FILE *stream)
{
	fputs("</body></html>\n", stream);
}

/* The text that a browser shows when the mouse points at a sample. */
static void put_spot(FILE *stream, const struct page_curve *curves, size_t n_curves,
	const struct chart_spot *spot, const char *what, struct scale scale)
{
	const struct page_curve *curve = &curves[spot->series];
	bool warmup = spot->index < curve->n_warmups;
	const struct series *series = curve->benchmark->series;
	size_t run = curve->runs[spot->index];
	const struct run_fact *strips[RUN_FACTS_MAX];
	size_t n_rows = chart_list_rows(strips);
	_cleanup_free_ char *flags = NULL;
	char value[UNITS_TEXT_SIZE];
	struct weights weights;

	disturbances_weigh(&curve->analysis->stability->disturbances, series, run, &weights);
	flags = weights_text(&series->samples[run], &weights);
	fprintf(stream, "<circle class=\"spot\" cx=\"%.1f\" cy=\"%.1f\" r=\"5\"><title>",
		spot->at.x, spot->at.y);
	if (n_curves > 1) {
		put_text(stream, curve->name);
		fputs(", ", stream);
	}
	fprintf(stream, "%s %zu: %s", warmup ? "warm-up" : what,
		warmup ? spot->index + 1 : spot->index - curve->n_warmups + 1,
		scale_format_shown(
			scale, curve->benchmark->unit, curve->values[spot->index], value));
	for (size_t i = 0; i < n_rows; i++) {
		const struct run_strip *strip = &strips[i]->strip;

		if (strip->after && isfinite(curve->rows[i][spot->index]))
			fprintf(stream, ", %.*f%s", strip->decimals,
				curve->rows[i][spot->index] * strip->factor, strip->after);
	}
	if (*flags) {
		fputs(", ", stream);
		put_text(stream, flags);
	}
	fputs("</title></circle>\n", stream);
}

static void put_picture(FILE *stream, const struct page_curve *curves, size_t n,
	const struct drawing *drawing, struct scale scale)
{
	/* The picture stands in the page itself, so that its text can be searched and selected. */
	fprintf(stream, "<figure><svg viewBox=\"0 0 %g %g\">\n", drawing->width, drawing->height);
	fwrite(drawing->data, 1, drawing->size, stream);
	for (size_t i = 0; i < drawing->n_spots; i++)
		put_spot(stream, curves, n, &drawing->spots[i], drawing->what, scale);
	fputs("</svg></figure>\n", stream);
}

static void put_figures(FILE *stream, const struct page_curve *curves, size_t n, struct scale scale)
{
	fputs("<table><tr><th>benchmark</th><th>values</th><th>median</th><th>MAD</th><th>mean</th>"
	      "<th>std dev</th><th>min</th><th>max</th><th>disturbed</th></tr>\n",
		stream);
	for (size_t i = 0; i < n; i++) {
		const struct stats *stats = &curves[i].analysis->stats;
		const double figures[] = { stats->median, stats->mad, stats->mean, stats->stdev,
			stats->min, stats->max };

		fputs("<tr><td>", stream);
		put_text(stream, curves[i].name);
		fprintf(stream, "</td><td>%zu</td>", stats->n);
		for (size_t k = 0; k < ARRAY_SIZE(figures); k++) {
			char text[UNITS_TEXT_SIZE];

			fprintf(stream, "<td>%s</td>",
				isfinite(figures[k])
					? scale_format_shown(scale, curves[i].benchmark->unit,
						  figures[k], text)
					: "");
		}
		fprintf(stream, "<td>%zu</td></tr>\n",
			curves[i].analysis->stability->disturbances.n_disturbed);
	}
	fputs("</table>\n", stream);
}

static void put_concerns(FILE *stream, const struct page_curve *curve, bool several)
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

static void put_metadata(FILE *stream, const struct page_curve *curve)
{
	const struct facts *metadata = &curve->benchmark->metadata;

	fputs("<details><summary>", stream);
	put_text(stream, curve->name);
	fputs(": the machine and the program</summary><table class=\"facts\">\n", stream);
	for (size_t i = 0; i < metadata->n; i++) {
		_cleanup_free_ char *text =
			benchmark_metadata_text(curve->benchmark, metadata->items[i].name);

		fputs("<tr><td>", stream);
		put_text(stream, metadata->items[i].name);
		fputs("</td><td>", stream);
		put_text(stream, text ? text : "");
		fputs("</td></tr>\n", stream);
	}
	fputs("</table></details>\n", stream);
}

void page_add(FILE *stream, const char *title, const struct page_curve *curves, size_t n,
	const struct drawing *drawing)
{
	struct scale scale = scale_refine(
		scale_choose_unit(curves[0].benchmark->unit, curves[0].analysis->stats.median), 1);

	fputs("<section><h1>", stream);
	put_text(stream, title);
	fputs("</h1>\n", stream);
	put_picture(stream, curves, n, drawing, scale);
	put_figures(stream, curves, n, scale);
	for (size_t i = 0; i < n; i++)
		put_concerns(stream, &curves[i], n > 1);
	for (size_t i = 0; i < n; i++)
		put_metadata(stream, &curves[i]);
	fputs("</section>\n", stream);
}
