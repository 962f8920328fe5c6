/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Is one benchmark faster or slower than another one, and how certain is that?
 *
 * The runs are compared, each represented by the median of its values; values of the same run are
 * never treated as independent (result/benchmark.h). The effect is the median of the ratios of all
 * new runs to all old ones, the estimate of Hodges and Lehmann for logarithms. Its interval and the
 * p value are of one test and cannot contradict each other (stats/shift.h): Mann and Whitney's, or,
 * for programs that runpinned ran in turn, that of the differences of rank within pairs, run i of
 * one program with run i of the other one (report/turns.h). The machine had hardly any time to
 * change between the two runs of a pair. Where a value is 0, and has no ratio, the change is that
 * of the medians, without an interval.
 *
 * A difference is reported when p is at most 5 % after the correction for the number of benchmarks
 * that are compared. With so few runs that no difference could reach that, the verdict is unclear.
 *
 * Of two results that were measured one after the other, p says only whether their runs differ. The
 * interval is then widened by what the machine may have done meanwhile (report/resolution.h), and
 * where it holds 1 although the runs differ, the verdict is unclear. Several results of each that
 * were measured by turns need no such thing: each result counts as one number, the median of its
 * runs, so that what differs from result to result is in the interval.
 *
 * Of several machines, each is one number, whatever the number of its runs (report/fleet.h).
 *
 * Data that jump or drift are not stable: which program is faster then depends on when it is
 * measured. Nothing is concluded from such data, unless each level of one benchmark is on the same
 * side of each level of the other one. With pairs, it is the ratios that must not jump or drift
 * across 1.
 */
#ifndef QUIESCE_REPORT_COMPARE_H
#define QUIESCE_REPORT_COMPARE_H

#include <stdbool.h>
#include <stddef.h>

#include "basic/cleanup.h"
#include "report/fleet.h"
#include "report/resolution.h"
#include "result/benchmark.h"
#include "stats/inference.h"
#include "stats/level.h"
#include "stats/stats.h"

struct ratio {
	double ratio; /* new / old */
	double low;   /* of the 95 % interval; NAN when there is none */
	double high;
};

/* The range from the lowest to the highest level of a series, with its drift. */
struct range {
	double low;
	double high;
	const char *how; /* "jump", "drift", "jump and drift"; NULL when there is one level */
};

enum verdict {
	VERDICT_SAME, /* no difference was found */
	VERDICT_FASTER,
	VERDICT_SLOWER,
	VERDICT_UNCLEAR,
};

enum comparison_design {
	COMPARED_IN_SEQUENCE,	      /* one result after the other */
	COMPARED_IN_TURN,	      /* run by run, in pairs */
	COMPARED_BY_CONTROL,	      /* each beside the same control (report/control.h) */
	COMPARED_RESULTS,	      /* several results of each, by turns */
	COMPARED_RESULTS_IN_SEQUENCE, /* several results of each, which were not, or nobody knows */
	COMPARED_WITHIN_MACHINES,     /* on several machines, each by itself (report/fleet.h) */
	COMPARED_BETWEEN_MACHINES,    /* the machines of one with those of the other one */
};

/* Is a benchmark slower by more than a limit? */
enum gate {
	GATE_PASSES,  /* there is no sign of it */
	GATE_FAILS,   /* yes, with 95 % certainty */
	GATE_UNCLEAR, /* these data cannot tell */
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
	bool had_core; /* nearly all runs of both had the same whole core */
	/* What was added to the interval because they were measured one after the other. */
	struct resolution resolution;
	struct fleet_change fleet; /* of several machines; its n_machines are 0 otherwise */
	size_t n_old_results;	   /* 0 when there is one result of each */
	size_t n_new_results;
	/* 0 when they were not compared in pairs; then `signs` is not set. */
	size_t n_pairs;
	double p;	/* of the test that decides; NAN when it cannot be computed */
	double least_p; /* the smallest p that so many runs can reach */
	/* For information, they decide nothing: */
	struct mann_whitney ranks;
	struct signed_rank signs; /* the test of the logarithms of the pairs' ratios */
	struct welch welch;	  /* all NAN when it cannot be computed */

	/* Set by comparison_settle(): */
	double adjusted_p; /* corrected p */
	enum verdict verdict;

	/* By control_apply() (report/control.h), where the change is that of the ratios to a
	 * control: the control's own new / old, and the rounds of each side. 0 otherwise. */
	double control_ratio;
	size_t n_rounds[2];

	char *unclear;		     /* why nothing can be concluded; NULL otherwise */
	bool is_unclear_by_settling; /* `unclear` was set by comparison_settle() */
	bool is_unresolved;	     /* it is unclear because of the resolution alone */
	/* The differences between the machines, one text for each: "quiesce_governor: powersave ->
	 * performance". */
	char **differences;
	size_t n_differences;
	/* What `bench-report check` objects to in either, "old: the values jump: ..."; none of
	 * pairs, whose runs had the same machine. */
	char **objections;
	size_t n_objections;
};

/*
 * Among benchmarks of one file, the first program of those that were run in turn with `new`, or
 * with the program that measured `new` itself; of a scan of several programs, the first program's
 * benchmark with the same parameters (`quiesce_baseline` in the metadata). NULL where there is none
 * before it. *ret_old is what
 * `new` is to be compared with: the whole runs of the first program, or its values of the same name
 * (runpinned calls them "PROGRAM: VALUE"); NULL where it has no such values.
 */
const struct benchmark *comparison_find_first(struct benchmark *const *benchmarks, size_t n,
	const struct benchmark *new, const struct benchmark **ret_old);
/* -ENODATA when one of them has no values, -EINVAL when their units differ. */
int comparison_new(
	const struct benchmark *old, const struct benchmark *new, struct comparison **ret);
/* The same for n_old >= 1 and n_new >= 1 results of two benchmarks, each result being one number.
 */
int comparison_new_of_results(const struct benchmark *const *old, size_t n_old,
	const struct benchmark *const *new, size_t n_new, struct comparison **ret);
/* Decides the verdicts of all comparisons that are made together, and corrects for their number.
 * -ENOMEM. */
int comparison_settle(struct comparison **comparisons, size_t n);
/* The same for those that were chosen among n_all by what they say. The others are taken for ones
 * that say nothing, which makes the correction as large as it may have to be. */
int comparison_settle_chosen(struct comparison **comparisons, size_t n, size_t n_all);
void comparison_free(struct comparison *comparison);
DEFINE_CLEANUP(comparison, comparison_free);

struct range comparison_find_range(const struct levels *levels);
/* Whether `new` is slower by more than `percent` even at the lower end of the interval. What was
 * measured one after the other passes only where the whole interval is below that. */
enum gate comparison_gate(const struct comparison *comparison, double percent);
/* Bytes, counts and metrics are not fast or slow, but less or more. */
bool comparison_is_of_speed(const struct comparison *comparison);
/* Whether machines were counted, and not runs or results. */
bool comparison_is_of_machines(const struct comparison *comparison);
/* Why it is unclear, malloc'd. */
char *comparison_gate_reason(const struct comparison *comparison);
/* What to do where something is unclear because of how it was measured; NULL where that is fine. */
const char *comparison_remedy(const struct comparison *comparison);
/* "passes", "fails", "unclear"; "in sequence", "in turn", "results by turns", "results in
 * sequence", "within machines", "between machines": the words used in JSON. */
const char *comparison_gate_name(enum gate gate);
const char *comparison_design_name(enum comparison_design design);
/* The geometric mean of the ratios, without those that are not known; NAN when none is left.
 * *ret_n: of how many it is. */
double comparison_geometric_mean(struct comparison *const *comparisons, size_t n, size_t *ret_n);

/* "faster", "no difference found", "unclear: the data are not stable (...)", malloc'd. */
char *comparison_verdict_text(const struct comparison *comparison);
/* "faster", "slower", "same", "unclear": the words used in JSON. */
const char *comparison_verdict_name(enum verdict verdict);
/* The figures and the verdict as some lines of text, malloc'd. The caller adds the title. */
char *comparison_render(const struct comparison *comparison);
/* "-3.7 %"; "-4.4 % .. -2.9 %", or "" when there is no interval; "-3.7 % (-4.4 % .. -2.9 %)", or
 * the change alone. */
#define COMPARISON_INTERVAL_SIZE (2 * UNITS_TEXT_SIZE + 8)
#define COMPARISON_BOTH_SIZE (COMPARISON_INTERVAL_SIZE + UNITS_TEXT_SIZE + 8)
const char *comparison_format_change(
	const struct comparison *comparison, char buf[static UNITS_TEXT_SIZE]);
const char *comparison_format_interval(
	const struct comparison *comparison, char buf[static COMPARISON_INTERVAL_SIZE]);
const char *comparison_format_both(
	const struct comparison *comparison, char buf[static COMPARISON_BOTH_SIZE]);

#endif
