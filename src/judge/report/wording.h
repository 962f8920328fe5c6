/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The words for people that describe a comparison. */
#ifndef QUIESCE_JUDGE_REPORT_WORDING_H
#define QUIESCE_JUDGE_REPORT_WORDING_H

#include <stddef.h>

#include "base/text.h"
#include "judge/report/comparison.h"

/* "faster", "no difference found", "unclear: the data are not stable (...)", malloc'd. */
char *comparison_verdict_text(const struct comparison *comparison);
/* ", where they differ" for a verdict of faster or slower although the change is 0 %, as most
 * values are equal; "" elsewhere. */
const char *comparison_where_text(const struct comparison *comparison);
/* Appends " (of all compared: p = 0.07)" where no difference is found although the interval, which
 * is of this comparison alone, does not hold 1; nothing elsewhere. */
void comparison_append_correction(struct text *t, const struct comparison *comparison);
/* "of each alone; the change is that of the pairs", where the ratio of the medians is on the other
 * side of 1 than the change, which is the median of the ratios, or with `of_any`, where it is shown
 * as another one; "" elsewhere. */
const char *comparison_median_remark(const struct comparison *comparison, bool of_any);
/* What to do when a verdict is unclear because of how it was measured; NULL when the measurement is
 * fine. */
const char *comparison_remedy(const struct comparison *comparison);
/* Parts of texts: "faster", "worse: fewer requests/s"; "measured in turn, 25 pairs"; "11.00 ms ->
 * 12.21 ms"; a line of the resolution; and lines of what may make a verdict wrong, but for
 * `unclear` and the objections. */
void comparison_append_verdict(struct text *t, const struct comparison *comparison);
void comparison_append_design(struct text *t, const struct comparison *comparison);
void comparison_append_medians(struct text *t, const struct comparison *comparison);
void comparison_append_resolution(struct text *t, const struct comparison *comparison);
void comparison_append_doubts(struct text *t, const struct comparison *comparison);
/* The first line of a report, and the title of a picture, malloc'd: "old -> new: slower, +4.8 %
 * (+4.4 % .. +5.2 %), measured in turn, 25 pairs"; with_medians: the medians in place of how it was
 * measured. */
char *comparison_headline(
	const char *title, const struct comparison *comparison, bool with_medians);
/* The figures and the verdict as some lines of text, malloc'd. The caller adds the title. */
char *comparison_render(const struct comparison *comparison);
/* "-3.7 %", or "0 -> 12" where old is 0; "-4.4 % .. -2.9 %", or "" when there is no interval; "-3.7
 * % (-4.4 % .. -2.9 %)", or the change alone. */
#define COMPARISON_INTERVAL_SIZE (2 * UNITS_TEXT_SIZE + 8)
#define COMPARISON_BOTH_SIZE (COMPARISON_INTERVAL_SIZE + UNITS_TEXT_SIZE + 8)
const char *comparison_format_change(
	const struct comparison *comparison, char buf[static UNITS_TEXT_SIZE]);
const char *comparison_format_interval(
	const struct comparison *comparison, char buf[static COMPARISON_INTERVAL_SIZE]);
const char *comparison_format_both(
	const struct comparison *comparison, char buf[static COMPARISON_BOTH_SIZE]);

#endif
