/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is known of two benchmarks that were compared (judge/report/compare.h): figures, what was
 * measured differently, and the verdict: what can be concluded, given the number of comparisons
 * that are made together and possible changes of the machine between results; and whether a
 * benchmark is slower than a limit allows.
 */
#ifndef QUIESCE_JUDGE_REPORT_COMPARISON_H
#define QUIESCE_JUDGE_REPORT_COMPARISON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "judge/report/carryover.h"
#include "judge/report/fleet.h"
#include "judge/report/resolution.h"
#include "judge/result/benchmark.h"
#include "judge/stats/inference.h"
#include "judge/stats/shift.h"
#include "judge/stats/stats.h"

struct ratio {
	double ratio; /* new / old */
	double low;   /* of the 95 % interval; NAN when there is none */
	double high;
};

enum verdict {
	VERDICT_SAME, /* no difference was found */
	VERDICT_FASTER,
	VERDICT_SLOWER,
	VERDICT_UNCLEAR,
};

/* What repeats of a program told of the sittings of its machine. */
struct learnt {
	size_t n; /* the repeats that count; 0 when nothing was learnt */
	size_t n_programs;
	int64_t seconds;   /* from the first of them to the last */
	double deviation;  /* of a sitting, as a logarithm */
	struct shift runs; /* what the test of the runs finds alone, at SIGNIFICANCE */
	char *why;	   /* "this machine, by 7 repeats over 12 days," */
	/* How their level changed, as a program does that was changed; NULL where it did not. */
	char *steps;
	bool is_steady_known; /* there are enough of them to see that */
};

enum comparison_design {
	COMPARED_IN_SEQUENCE,	      /* one result after the other */
	COMPARED_IN_TURN,	      /* run by run, in pairs */
	COMPARED_BY_CONTROL,	      /* each beside the same control (judge/report/control.h) */
	COMPARED_RESULTS,	      /* several results of each, by turns */
	COMPARED_RESULTS_IN_SEQUENCE, /* several results of each, not measured by turns, or
				       * unknown */
	COMPARED_WITHIN_MACHINES,  /* on several machines, each by itself (judge/report/fleet.h) */
	COMPARED_BETWEEN_MACHINES, /* the machines of one program with the machines of the
				    * other */
	COMPARED_WITHIN_LAYOUTS,   /* in several layouts of both, each by itself */
	COMPARED_BETWEEN_LAYOUTS,  /* layouts that were not measured in turn */
};

struct comparison {
	const struct benchmark *old; /* both are borrowed */
	const struct benchmark *new;
	enum comparison_design design;
	/* Statistics of the units: of the runs, of the values of a single run, or of several
	 * results. */
	struct stats old_stats;
	struct stats new_stats;

	struct ratio ratio;
	/* The test of the logarithms that `ratio` is of. NULL without ratios, and where ratios to a
	 * control or machines are compared. */
	struct shift_test *test;
	/* The median numbers of minor page faults of old and new; NAN where they are not known. */
	double faults[2];
	struct carryover carryover; /* of pairs */
	bool had_core;		    /* nearly all runs of both had the same whole core */
	/* What was added to the interval because they were measured one after the other; the parts
	 * of it that come from the machine, and from the levels and the drift of either result. */
	struct resolution resolution;
	struct resolution of_machine;
	struct resolution of_levels;
	/* In which the figure is counted, as a part of the smaller median; 0 where that is not
	 * known. No smaller change shows. */
	double step;
	bool has_step;	   /* the interval was widened by that */
	bool is_disturbed; /* in most runs of either result */
	/* Set by repeats_apply() (judge/report/repeats.h). */
	struct learnt learnt;
	struct fleet_change fleet; /* set when machines are compared; else its n_machines are 0 */
	size_t n_old_results;	   /* 0 when there is one result of each */
	size_t n_new_results;
	/* The runs and values of old and of new, in all results together. */
	size_t n_runs[2];
	size_t n_values[2];
	/* 0 when they were not compared in pairs; then `signs` is not set. */
	size_t n_pairs;
	double p;	/* of the test that decides; NAN when it cannot be computed */
	double least_p; /* the smallest p that so many runs can reach */
	/* new / old of the means of pairs, where it lies beyond the interval; else NAN. */
	double mean_ratio;
	/* For information, they decide nothing: */
	struct mann_whitney ranks;
	struct signed_rank signs; /* the test of the logarithms of the pairs' ratios */
	struct welch welch;	  /* all NAN when it cannot be computed */

	bool is_fixed_time; /* the doubt is that the time says nothing of the work (fixedtime.h) */
	char *doubt; /* why nothing can be concluded, whatever the test says; NULL otherwise */

	/* Set by comparison_settle(): */
	double adjusted_p; /* corrected p; NAN where there is a doubt */
	enum verdict verdict;
	char *unclear;	    /* the doubt, or what the test lacks; NULL where it is clear */
	bool is_unresolved; /* it is unclear because of the resolution alone */
	bool is_carried;    /* it is unclear because of a carry-over alone */

	/* Set by control_apply() (judge/report/control.h), where the ratios to a control are
	 * compared: new / old of the control itself, by how many times as much, as logarithms, the
	 * program is taken to have changed for the same reason, and the rounds of each side. 0
	 * otherwise. */
	double control_ratio;
	double control_slope;
	size_t n_rounds[2];

	/* What was measured differently: machines, options and tools, one text for each:
	 * "quiesce_governor: powersave -> performance". */
	char **differences;
	size_t n_differences;
	/* What `bench-report check` objects to in either result, "old: the values jump: ...";
	 * nothing for pairs, whose runs shared the machine. */
	char **objections;
	size_t n_objections;
};

void comparison_free(struct comparison *comparison);
DEFINE_CLEANUP(comparison, comparison_free);

/* Of a shift of logarithms. */
struct ratio ratio_of_shift(const struct shift *shift);
/* old / new of new / old, with its interval. */
struct ratio ratio_inverse(struct ratio ratio);
/* The change with an interval that is as certain as 1 - level, where `ratio` has one at
 * SIGNIFICANCE (judge/stats/multiple.h). */
struct ratio comparison_interval_at(const struct comparison *comparison, double level);
/* Widens the interval by the step in which the figure is counted, where that is more than the
 * interval tells: values that vary by less than a step are all rounded to the same one. It holds 1
 * where it did before. Returns whether it did. */
bool comparison_widen_by_step(const struct comparison *comparison, struct ratio *ratio);
/* A ratio of this comparison as one of costs: its inverse where more is better. */
struct ratio comparison_cost(const struct comparison *comparison, struct ratio ratio);
/* The two-sided p of the hypothesis that the change of the cost is this one, or beyond it by no
 * more than the resolution, and not a larger one; 1 where the estimate is not larger. */
double comparison_p_above(const struct comparison *comparison, double ratio);
/*
 * Takes what was learnt of the machine for what is known of it: sittings vary by `deviation`, as a
 * logarithm, which has df degrees of freedom. Two of them differ by sqrt(2) times that, and their
 * runs' own error comes on top: half the interval is hypot(z * error of the runs, t * sqrt(2) *
 * deviation), and never less than that of the runs' test. An interval of that form holds the truth
 * at least as often as each part does by itself (S. K.
 * Banerjee, Sankhya 22, 1960).
 * The comparison must have a test with an interval.
 */
void comparison_learn(struct comparison *comparison, double deviation, double df);

/*
 * Whether the difference of their page faults may be all of the change: two files that are byte for
 * byte the same lie in the page cache in pieces of other sizes when one was linked and the other
 * copied, and a program takes a fault for each piece. On a shared virtual machine such a fault took
 * 7 to 9 us.
 */
#define COMPARISON_SLOWEST_FAULT 20e-6 /* seconds */
bool comparison_may_be_faults(const struct comparison *comparison);

/* Whether repeats told how the sittings of the machine vary. */
bool comparison_is_learnt(const struct comparison *comparison);
/* False for bytes, counts and metrics, which are not faster or slower, but less or more. */
bool comparison_is_of_speed(const struct comparison *comparison);
/* Whether it is of exact figures, of which a single run tells (struct event_kind). */
bool comparison_is_exact(const struct comparison *comparison);
/* Whether machines or layouts were counted, and not runs or results. */
bool comparison_is_of_machines(const struct comparison *comparison);
/* Whether several results of each were counted. */
bool comparison_is_of_results(const struct comparison *comparison);
/* The geometric mean of the ratios, without those that are not known; NAN when no ratio is known.
 * *ret_n: the number of known ratios. */
double comparison_geometric_mean(struct comparison *const *comparisons, size_t n, size_t *ret_n);
/* "faster", "slower", "same", "unclear"; "in sequence", "in turn", "results by turns", "results in
 * sequence", "within machines", "between machines": the words used in JSON. */
const char *comparison_verdict_name(enum verdict verdict);
const char *comparison_design_name(enum comparison_design design);

/* --- The verdict --- */

/* Decides the verdicts of all comparisons that are made together, and corrects for their number. A
 * comparison has no verdict before, and another one where it is settled among others. */
void comparison_settle(struct comparison **comparisons, size_t n);
/* The same for comparisons that were selected out of n_all by their results. The rest count as
 * tests with p = 1, which makes the correction as large as it can be. */
void comparison_settle_chosen(struct comparison **comparisons, size_t n, size_t n_all);

/* Is a benchmark slower by more than a limit? */
enum gate {
	GATE_PASSES,  /* there is no sign of it */
	GATE_FAILS,   /* yes, at the level of the gate */
	GATE_UNCLEAR, /* these data cannot tell */
};

/*
 * Whether `new` is slower by more than `percent` even at the lower end of the interval, which is as
 * certain as 1 - level: SIGNIFICANCE for one comparison, comparison_gate_level() for several that
 * are judged together (judge/stats/multiple.h). Results that were measured one after the other pass
 * only where the whole interval of 95 % is below the limit. It is unclear where carry-over may be
 * all that is beyond the limit (carryover_may_be_all()), and where a figure is counted in steps
 * that are larger than the limit, unless the change is beyond it, or within it, by more than one.
 * Layouts pass only where the whole interval is below the limit, too: there are as many as somebody
 * took, and too few of them tell nothing.
 */
enum gate comparison_gate(const struct comparison *comparison, double percent, double level);
double comparison_gate_level(struct comparison *const *comparisons, size_t n, double percent);
/* Why it is unclear by that, malloc'd. */
char *comparison_gate_reason(const struct comparison *comparison, double percent);
/* "passes", "fails", "unclear": the words used in JSON. */
const char *comparison_gate_name(enum gate gate);

#endif
