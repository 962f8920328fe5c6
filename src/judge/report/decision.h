/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Is a new program slower than an old one by a margin of PCT per cent? The two are run in pairs
 * until that is settled (runpinned --decide PCT).
 *
 * Two claims are tested after every pair, each by the signs of log(new / old) - log(bound), where
 * each claim has its own bound (judge/stats/multiple.h):
 *
 *	slower		the ratio is more often above 1 + PCT/2 % than below: "slower by more than
 *			PCT/2 %"
 *	not slower	it is more often below 1 + PCT % than above: "not slower by PCT %"
 *
 * Between the two bounds lies a zone of indifference, where either claim is true. Without it, a
 * program that is slower by exactly PCT per cent would never be settled. The claim whose e-value
 * reaches the wanted one first is the verdict. With a wanted e-value of 100 a false claim is made
 * in at most 1 % of all measurements, however often one looks. When several comparisons are made
 * together, a claim wants 100 times their number, divided by how many of them make it: of the
 * claims that are made, on average at most 1 % are false (find_evalue_discoveries()).
 *
 * The same two claims are tested for a faster new program: for information, or in place of these
 * two where the question is whether it is faster (runpinned --improve PCT).
 *
 * Of a figure of the program, "slower" is "worse" (judge/report/sense.h): where more is better, all
 * of this holds for the ratio of costs, 1 / value. The bounds are those of a figure that falls by
 * PCT/2 and by PCT per cent. An exact figure is settled by the first pair.
 *
 * Pairs cannot tell a program that is slower from one that is slowed down by what the old program
 * leaves behind (carryover.h), because it mostly runs after that one. So who claims that a program
 * is slower looks at each of the two alone as well, and makes more pairs where that is not enough
 * to be sure.
 */
#ifndef QUIESCE_JUDGE_REPORT_DECISION_H
#define QUIESCE_JUDGE_REPORT_DECISION_H

#include <stdbool.h>
#include <stddef.h>

#include "base/facts.h"
#include "judge/report/carryover.h"
#include "judge/report/sense.h"

/* What PCT may be. */
#define DECISION_PERCENT_MIN 0.01
#define DECISION_PERCENT_MAX 50

enum decision_verdict {
	DECISION_NOT_SETTLED,
	DECISION_SLOWER,
	DECISION_NOT_SLOWER,
	DECISION_FASTER,
	DECISION_NOT_FASTER,
};

/* A claim about the sign of log(new / old) - bound. */
struct claim {
	size_t n_for;	 /* pairs whose sign speaks for the claim */
	size_t n_signed; /* pairs that have a sign: those at the bound itself have none */
	double e;	 /* the largest e-value so far */
};

struct decision {
	struct sense sense;  /* of what is compared; to be set before its first pair if no time */
	bool is_for_better;  /* whether it is faster, or better, is the question */
	double percent;	     /* the margin */
	double wanted;	     /* the e-value that settles a claim, or has settled it */
	double wanted_not;   /* the one that settles that it is not slower, or not faster */
	double wanted_alone; /* the one that settles any claim, whatever other comparisons say */
	double settled_e;    /* the e-value of the claim that is the verdict when it was settled */
	struct claim slower;
	struct claim not_slower;
	struct claim faster;	 /* by more than half the margin */
	struct claim not_faster; /* by the margin */
	size_t n_pairs;
	enum decision_verdict verdict;
	size_t settled_after; /* pairs; 0 when it is not settled */

	/* In which its source counts, as a part of the value; 0 where that is not known. Of times
	 * decision_estimate() sets it, where their values show it. */
	double step;

	/* Set by decision_estimate(): the median of the pairs' ratios, and an interval that holds
	 * it with 98 % certainty whenever the runs ended: all ratios that neither side refutes with
	 * the wanted e-value. So the interval agrees with a verdict that ended the runs. low and
	 * high are NAN where there are too few pairs. */
	double ratio;
	double low;
	double high;
	double mean_ratio; /* of the means, where it lies beyond the interval; else NAN */

	/* Whether each of the two shows alone, too, that the new one is slower, or faster. */
	enum {
		DECISION_ALONE_OPEN,
		DECISION_ALONE_SAME,
		DECISION_ALONE_OTHERWISE,
	} of_alone;
	size_t next_look; /* at each alone: after so many pairs */
	/* Set by decision_conclude(): NEW / OLD of each alone, where that is why "slower" (or
	 * "faster") is not settled; 0 where all runs of one follow one of the other; else NAN.
	 */
	double alone;

	/* Set by decision_conclude(): how long a run takes after one of the new program, in
	 * proportion to one after the old one, where that may be why it was settled; else NAN. */
	double carried;
	/* Set by decision_conclude(): the step, where it is larger than the margin, and the change
	 * is not beyond that; else NAN. */
	double coarse;
};

/* Of times, whose step is not known. `n_together`: how many comparisons are made together. */
void decision_begin(struct decision *decision, double percent, size_t n_together);
/* How many pairs a verdict takes at least, if all of them speak for the same claim; one that wants
 * this e-value, which no verdict wants less of than one alone. */
size_t decision_least_pairs(double wanted);
/* Takes the next pair of values. A pair whose ratio is not a number above 0 counts for neither
 * claim. */
void decision_add(struct decision *decision, double old, double new);
/* After pairs were added to the decisions of comparisons that are made together: settles those
 * whose claim is made of so many that their e-value is enough. `is_over`: after decision_conclude()
 * of all of them, undoes those for which what is left is too few, and settles none. Returns whether
 * the e-value that any of them wants has changed, and its interval with that. */
bool decisions_settle(struct decision *const decisions[], size_t n, bool is_over);
/* Fills ratio, low and high from all pairs. Without a pair that counts, they stay as they are. */
void decision_estimate(struct decision *decision, const double *old, const double *new, size_t n);

/* Whether the verdict says "slower" (or "faster"), and it is time to look at each of the two alone.
 */
bool decision_wants_look(const struct decision *decision);
/* That look, after decision_estimate(). The carry-over is that of costs (judge/report/sense.h). */
void decision_look(struct decision *decision, const struct carryover *carryover);
/* Whether more pairs would add nothing. */
bool decision_is_settled(const struct decision *decision);
/* After decision_estimate() of all pairs: a verdict is none where it may come from a carry-over,
 * where each of the two alone does not show it, or where it may come from rounding (`step`). */
void decision_conclude(struct decision *decision, const struct carryover *carryover);
/* Takes the verdict back: it wants as much again as it does by itself. */
void decision_undo(struct decision *decision);

/* Which figure it is about; absent of times. */
#define DECISION_FIGURE "quiesce_decide_figure"
/* "faster", where that is the question. */
#define DECISION_FOR "quiesce_decide_for"
/* Metadata of the new program's benchmark, quiesce_decide_... */
void decision_write(const struct decision *decision, struct facts *facts);
/* Reads back what decision_text() needs. -ENOENT when these are not the metadata of a decision. The
 * metadata of values that the program measured itself are none, because the decision was about
 * whole runs. The sense is that of times. */
int decision_read(const struct facts *facts, struct decision *ret);
/* Whether it says that the new program is worse by more than that, with its whole interval. */
bool decision_is_beyond(const struct decision *decision, double percent);
/* Whether it is "slower", or "faster" where that is the question. */
bool decision_is_claim(enum decision_verdict verdict);
/* What it claims, or does not: "slower", or "worse" of what is no speed; "faster", "better". */
const char *decision_claim_word(const struct decision *decision);
/* "slower", "not slower", "faster", "not faster", "not settled". */
const char *decision_verdict_name(enum decision_verdict verdict);
/* The verdict of this name. -ENOENT when there is none. */
int decision_find_verdict(const char *name, enum decision_verdict *ret);
/* Whether it is not settled for want of pairs alone. */
bool decision_lacks_pairs(const struct decision *decision);
/* "slower by more than 1 %: +2.9 % (+1.1 % .. +4.6 %), settled after 18 pairs", "more than 1 %
 * fewer requests/s: -2.9 % (...", malloc'd. with_evalues: where pairs are lacking, how far they
 * lead. */
char *decision_text(const struct decision *decision, bool with_evalues);

#endif
