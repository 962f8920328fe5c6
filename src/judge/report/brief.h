/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The report that is printed where nobody asked for all of it (-v): the verdict, why it may be
 * wrong, a line for each program, what to do, and where the result is, in no more lines than a
 * person takes in at once. What does not fit is left out from its end, and how much that is, is
 * said.
 */
#ifndef QUIESCE_JUDGE_REPORT_BRIEF_H
#define QUIESCE_JUDGE_REPORT_BRIEF_H

#include <stdbool.h>

#include "base/cleanup.h"
#include "judge/report/comparison.h"
#include "judge/report/decision.h"
#include "judge/report/summary.h"

enum {
	BRIEF_LINES = 15,	/* of a comparison */
	BRIEF_LINES_ALONE = 12, /* of a single benchmark, with its histogram */
};

/* In the order in which they are printed, and in which they are the last to be left out. */
enum brief_rank {
	BRIEF_VERDICT, /* never left out */
	BRIEF_DOUBT,
	BRIEF_PROGRAM,
	BRIEF_ADVICE,
	BRIEF_PATH,
};

struct brief;

/* width: of the terminal. decided: --decide made as many runs as it took, so their number is no
 * reason for a warning. */
struct brief *brief_new(unsigned width, bool decided);
void brief_free(struct brief *brief);
DEFINE_CLEANUP(brief, brief_free);

/* The name as it stands in a line: without what a terminal obeys, and no longer than a line;
 * malloc'd. `brief` may be NULL: then it is whole. */
char *brief_cut(const struct brief *brief, const char *name);
/* A name without the parameters and the figure that the other name has, too, malloc'd: "baseline"
 * of "baseline/benchmark=sum: iteration" beside "new/benchmark=sum: iteration". */
char *brief_own_part(const char *name, const char *other);
/* "new, compared with old", malloc'd; with a brief, of the old one what brief_own_part() leaves. */
char *brief_title(const struct brief *brief, const char *new, const char *old);

/* A line, or several that end with newlines. What is there already is not said again. */
void brief_add(struct brief *brief, enum brief_rank rank, const char *format, ...) _printf_(3, 4);
/* A benchmark with values; input->analysis is not NULL. Texts are copied. */
void brief_add_benchmark(struct brief *brief, const struct summary_input *input);
/* A settled comparison. Its programs have lines of their own (brief_add_benchmark(),
 * brief_add_sides()), or else their medians stand behind the change. */
void brief_add_comparison(
	struct brief *brief, const char *title, const struct comparison *c, bool with_medians);
/* The two programs of a comparison; one that is there already is not added again. */
int brief_add_sides(struct brief *brief, const struct comparison *c);
/* What --decide found, in place of a comparison. `doubt` may be NULL. more: which option allows
 * more runs, "--max-runs". */
void brief_add_decision(struct brief *brief, const char *title, const struct decision *decision,
	const char *doubt, const char *more);

/* The same of a suite: `sum` in a line, and a row for each comparison that claims something or is
 * not settled, without lines for programs. `doubts` may hold NULL. */
void brief_add_suite(struct brief *brief, const char *sum, const char *const names[],
	const struct decision *const decisions[], const char *const doubts[], size_t n,
	const char *more);

/* The lines, not yet broken at the width, malloc'd. */
char *brief_render(const struct brief *brief);

#endif
