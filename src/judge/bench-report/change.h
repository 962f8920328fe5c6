/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A comparison as plot draws it: the verdict in the words of the report, the two programs run by
 * run, their pairs in order, and how the estimate and its interval came about.
 *
 * All changes are parts of the old value (0.02 is 2 % more). Where values have no ratios, because
 * one of them is not above 0, they are differences in the unit of the values.
 */
#ifndef QUIESCE_JUDGE_BENCH_REPORT_CHANGE_H
#define QUIESCE_JUDGE_BENCH_REPORT_CHANGE_H

#include <stdbool.h>
#include <stddef.h>

#include "judge/bench-report/pairs.h"
#include "judge/bench-report/picture.h"

/* What the first n pairs told. The interval is infinite where they are too few for one. */
struct change_step {
	size_t n;
	double change, low, high;
};

struct change {
	const struct comparison *comparison; /* borrowed */
	bool is_decided;		     /* by --decide, whose interval is another one */
	struct decision decision;
	char *title;	/* the verdict, as the report has it */
	char *doubt;	/* why it is unclear, and what was measured differently; "" for nothing */
	char *subtitle; /* the machine */
	struct curve sides[2];
	bool is_difference;
	double *pairs; /* new against old */
	size_t n_pairs;
	struct change_step *steps; /* the last one is of all pairs */
	size_t n_steps;
	double change, low, high; /* of the verdict; low and high are NAN where there is none */
	/* Of the runs alone, where the machine makes the interval wider; else NAN. */
	double runs_low, runs_high;
	/* Beyond the first one is the claim that it is worse, up to the second one that it is not;
	 * of --improve, better. NAN without a margin. */
	double margins[2];
	/* plot --margin: how much worse compare --fail-worse lets pass, which change that is, and
	 * what it says; both are NAN without. */
	double gate_percent, gate_at;
	enum gate gate;
	double level; /* of the interval, which is as certain as 1 - level, if nothing decided */
};

struct changes {
	const struct pairs *pairs; /* borrowed */
	struct change *items;
	size_t n;
};

/* Those of all comparisons, which are settled. */
int changes_new(const struct pairs *pairs, struct changes *ret);
void changes_clear(struct changes *changes);
/* Whether each pair is a run of either side, so that what is known of the runs is known of it. */
bool change_has_runs_of_pairs(const struct change *change);
/* The comparison with the interval that is drawn, for its words: that of the decision or of the
 * gate. It owns nothing. */
struct comparison change_to_show(const struct change *change);
/* Of the decision where there is one, else of the comparison. */
enum verdict change_verdict(const struct change *change);
/* What its interval, that of the verdict or of the gate, is: "95 % interval". */
const char *change_interval_words(const struct change *change);

#endif
