/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The colours of a picture by what they are for. Each is one colour on light paper and another one
 * on dark paper. */
#ifndef QUIESCE_JUDGE_BENCH_REPORT_INK_H
#define QUIESCE_JUDGE_BENCH_REPORT_INK_H

#include <stddef.h>
#include <stdint.h>

enum ink {
	INK_PAPER,
	INK_SHADE, /* of a panel, below all that is in it */
	INK_GRID,
	INK_LABEL, /* of an axis */
	INK_TEXT,
	INK_ALARM,  /* disturbed runs, and nothing else */
	INK_SERIES, /* the first of INK_N_SERIES */
	INK_N_SERIES = 10,
	INK_N = INK_SERIES + INK_N_SERIES,
};

/* An ink and its opacity, from 0 to 1. */
struct color {
	enum ink ink;
	double alpha;
};

static inline struct color ink_color(enum ink ink)
{
	return (struct color){ ink, 1 };
}

static inline struct color ink_of_series(size_t series)
{
	return ink_color((enum ink)(INK_SERIES + series % INK_N_SERIES));
}

static inline struct color with_alpha(struct color color, double alpha)
{
	color.alpha = alpha;
	return color;
}

/* 0xrrggbb */
uint32_t ink_light(enum ink ink);
uint32_t ink_dark(enum ink ink);

#define INK_TEXT_SIZE 8
/* In the format of SVG and CSS: "#0073b3". */
const char *ink_text(uint32_t rgb, char buf[static INK_TEXT_SIZE]);

#endif
