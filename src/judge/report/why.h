/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What moves the values of a benchmark, of all that runpinned --vary has drawn anew for each run:
 * the shares of their variance (judge/stats/factors.h), and what to type to hold a factor or to
 * average over it.
 */
#ifndef QUIESCE_JUDGE_REPORT_WHY_H
#define QUIESCE_JUDGE_REPORT_WHY_H

#include "base/cleanup.h"
#include "judge/result/benchmark.h"
#include "judge/stats/factors.h"

/* The factors that are no variable. The levels of a run are its events SERIES_LEVEL NAME. */
#define WHY_ADDRESSES "addresses"     /* 1: they are random; 0: they are not */
#define WHY_ENVIRONMENT "environment" /* bytes that it is larger by */
#define WHY_ARGV0 "argv0"	      /* its length, */
#define WHY_DIRECTORY "directory"     /* and that of $PWD */
#define WHY_FILE "file"		      /* the number of the copy */

/* Whether a factor may be called like that: one of these, or as a variable is. */
bool why_is_factor(const char *name);

/* Metadata: the factors, "addresses, environment"; the seed of the levels; and what was not varied,
 * with the reason, "file (it is a script)". */
#define WHY_VARIED "quiesce_vary"
#define WHY_SEED "quiesce_vary_seed"
#define WHY_HELD "quiesce_vary_held"

enum why_kind {
	WHY_FACTOR,
	WHY_SWITCH, /* whether addresses are random */
	WHY_DRAW,   /* which ones they are, then */
	WHY_REST,
};

struct why_row {
	enum why_kind kind;
	const char *name; /* of the factor, borrowed from the series */
	struct factor_effect effect;
	/* Of a factor: the levels with the smallest and the largest values. */
	double lowest;
	double highest;
	/* By how much the values differ between these, as a proportion; of the switch, by how much
	 * they are larger where addresses are random; of the draw, their deviation. */
	double change;
};

struct why {
	struct why_row
		rows[FACTORS_MAX + 3]; /* what was found first, then what was not, then the rest */
	size_t n;		       /* 0: there are too few runs */
	size_t n_runs;		       /* that count */
	size_t n_least;		       /* so many are needed */
	double deviation;	       /* of the values, as a proportion */
	const char *held;	       /* borrowed; NULL: all was varied */
};

/*
 * -ENODATA where nothing was varied, -EDOM where the values are around 0, so that nothing is a
 * proportion of them, -E2BIG where a factor has more levels than one measurement draws: the runs
 * are of several.
 */
int why_compute(const struct benchmark *benchmark, struct why **ret);
void why_free(struct why *why);
DEFINE_CLEANUP(why, why_free);

/* What why_compute() has returned, as a phrase. */
const char *why_explain(int error);
/* The table and the lines below it, in 80 columns; malloc'd. */
char *why_render(const struct why *why);
/* "addresses: the draw", ...: the row's name in that table. Returns buf. */
#define WHY_NAME_SIZE 80
const char *why_row_name(const struct why_row *row, char buf[static WHY_NAME_SIZE]);

#endif
