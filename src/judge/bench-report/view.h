/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What plot shows: a list of views, each of which is one picture. A file of SVG or PNG has those of
 * one kind, beside each other where they are several; a page has all of them below each other.
 */
#ifndef QUIESCE_JUDGE_BENCH_REPORT_VIEW_H
#define QUIESCE_JUDGE_BENCH_REPORT_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "judge/bench-report/canvas.h"
#include "judge/bench-report/change.h"
#include "judge/bench-report/changechart.h"
#include "judge/bench-report/latency.h"
#include "judge/bench-report/picture.h"
#include "judge/bench-report/scancurve.h"
#include "judge/report/trend.h"
#include "judge/result/emit.h"

enum view_kind {
	VIEW_SCAN,    /* over a parameter */
	VIEW_FOREST,  /* many comparisons */
	VIEW_CHANGE,  /* a comparison */
	VIEW_TREND,   /* a history */
	VIEW_LATENCY, /* how long requests took */
	VIEW_SAMPLES, /* the samples in order */
};

struct view {
	enum view_kind kind;
	char *title; /* escaped, as it is printed in the picture */
	/* What is shown, borrowed. */
	union {
		const struct scan *scan;
		const struct changes *changes;
		const struct change *change;
		const struct trend *trend;
		const struct latencies *latencies;
		struct picture *picture;
	};
	struct change_beyond beyond; /* of a change or a trend, set when it is drawn */
};

struct views {
	struct view *items;
	size_t n;
	const struct pictures *pictures; /* all samples, whether they have a view or not */
};

/* Takes ownership of the title. */
struct view *views_add(struct views *views, enum view_kind kind, char *title);
void views_clear(struct views *views);

/* The height that it takes, where that depends on how much there is; else 0. */
double view_height(const struct view *view);
/* Draws it at the upper left of the canvas. ret_spots may be NULL. */
int view_draw(struct canvas *canvas, struct view *view, double width, double height,
	bool with_title, struct chart_spot **ret_spots, size_t *ret_n_spots);

/* The page, see page.c: the view, once it has been drawn. */
struct drawing {
	double width; /* in points */
	double height;
	char *data; /* SVG */
	size_t size;
	struct chart_spot *spots;
	size_t n_spots;
};
void drawing_clear(struct drawing *drawing);

/* plot --json: what was drawn. */
int views_emit(FILE *stream, const struct views *views, const struct picture_sheet *sheet);

#endif
