/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Results of several machines, each with one or more sittings of runs: statements about several
 * machines count machines, not runs. A program that is 1 % slower on each of four machines is
 * expected to be slower on the next one; a program that is 4 % slower on one of them need not be,
 * however many runs show it.
 *
 * All runs of two programs that were made on the same machines are compared within the machines:
 * each machine has one number, the mean over its sittings. For a sitting in which both programs
 * were measured, the number is the estimate of Hodges and Lehmann (judge/stats/shift.h), else the
 * change from one sitting to the next. The mean of the machines' numbers has the interval of
 * Student's t (judge/stats/nested.h). Where the programs do not have two machines in common, the
 * machines of one program are compared with the machines of the other.
 *
 * Layouts of programs (quiesce-gate --layouts: each program was linked several times, each time
 * with its parts in another order) are counted in the same way where all runs are of one machine,
 * and for the same reason: a program that is 2 % slower in one layout need not be in the next one.
 * Layout i of one program is compared with layout i of the other, which have nothing but their
 * number in common. "Machines" are layouts then. All of them are of one machine, whose own changes
 * are not in their spread, so that both programs have to be measured in the same sittings.
 */
#ifndef QUIESCE_JUDGE_REPORT_FLEET_H
#define QUIESCE_JUDGE_REPORT_FLEET_H

#include <stdbool.h>
#include <stddef.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "judge/result/benchmark.h"
#include "judge/stats/nested.h"

/* What results are of several of, which are counted. */
enum fleet_level {
	FLEET_NONE,
	FLEET_LAYOUTS,
	FLEET_MACHINES, /* also of several layouts, which are sittings of their machine then */
};

/* The runs of one sitting. */
struct fleet_sitting {
	const char *node;   /* "" when unknown; borrowed, as are the others */
	const char *model;  /* "" when unknown */
	const char *layout; /* of the program; "" when unknown, and where machines are counted */
	const char *id;	    /* NULL when unknown */
	bool has_seed;	    /* the seed of the order in which programs were run in turn */
	int64_t seed;
	const double *logarithms; /* of the runs that count, in their order */
	size_t n;
	size_t order; /* as they were given */
	size_t piece; /* internal */
};

struct fleet {
	enum fleet_level level;
	struct fleet_sitting *sittings; /* by machine, then as they were given */
	size_t n;
	size_t n_machines;
	double *logarithms;
};

/*
 * The sittings of a benchmark, or of its results in several files, of which layouts or machines are
 * to be counted: FLEET_NONE counts machines. Each run is one number, even
 * where a benchmark has only one run: the values of a run tell nothing about other runs. Runs that
 * do not follow each other, but have the machine and the sitting's name in common, are one sitting.
 * -ERANGE when a value is not above 0, -ENODATA without values.
 */
int fleet_new(const struct benchmark *const *results, size_t n, enum fleet_level level,
	struct fleet **ret);
void fleet_free(struct fleet *fleet);
DEFINE_CLEANUP(fleet, fleet_free);

/* Describes where the runs of sitting `at` of the series were made, without their numbers. Returns
 * the index behind the sitting's last run. A benchmark that is not from a file has one sitting. */
size_t fleet_describe_sitting(const struct benchmark *b, size_t at, struct fleet_sitting *ret);
size_t fleet_count_sittings(const struct benchmark *b);
/* The number of machines on which the runs were made. */
size_t fleet_count_machines(const struct benchmark *b);

/* What of these results has to be counted: machines, where one of them is of another machine than
 * the first one, else layouts, where one is of another layout. */
enum fleet_level fleet_find_level(const struct benchmark *const *results, size_t n);
bool fleet_is_needed(const struct benchmark *const *results, size_t n);
/* And the same layout. */
bool fleet_is_same_machine(const struct fleet_sitting *a, const struct fleet_sitting *b);
/* Brings the units of a benchmark (benchmark_units(), in the order of the runs) to one level: the
 * units of each sitting are multiplied so that their median is the median of all units. */
void fleet_level_units(const struct benchmark *benchmark, double *units, size_t n);
/* For each of the n_machines the middle of its sittings, as a value and not as a logarithm; sorted,
 * malloc'd. */
double *fleet_machine_values(const struct fleet *fleet);

/* What several machines, or layouts, tell together. */
struct fleet_estimate {
	enum fleet_level level;
	struct nested nested; /* of the mean of such machines, as logarithms */
};

/* -ENODATA with one machine. */
int fleet_estimate(const struct fleet *fleet, struct fleet_estimate *ret);

struct fleet_change {
	enum fleet_level level;
	struct nested nested; /* of log(new / old) */
	bool within;	      /* each machine by itself */
	size_t n_machines[2]; /* machines used for old and for new; the same machines if `within` */
	size_t n_sittings[2];
	/* Harmonic mean of the runs of a sitting. nested.runs_each differs from it where several
	 * sittings were joined to one. */
	double runs_each;
	bool is_split;	   /* old and new have sittings of their own */
	size_t n_left_out; /* machines that have one of the programs alone */
};

/* -ENODATA when there are too few machines. */
int fleet_compare(const struct fleet *old, const struct fleet *new, struct fleet_change *ret);

/* Runs of a sitting, and nested_advice() for such sittings; for a change, or for the level of one
 * program (change is NULL). */
double fleet_runs_each(const struct nested *nested, const struct fleet_change *change);
void fleet_advice(
	const struct nested *nested, const struct fleet_change *change, struct nested_advice *ret);

/*
 * Rows of a report, for a change, or for the level of one program (change is NULL):
 *
 *	  machines   4, in 12 sittings of 25 runs (1 would do)
 *	  spread     between machines 0.8 %, sittings 0.4 %, runs 1.1 %
 *	  for        +-0.5 %: 14 machines, or 6 sittings on each, or 523 runs a sitting
 *
 * Of layouts, these are counted in the place of machines.
 * The last row tells what would narrow the interval to that width. It is left out when nothing
 * varies.
 */
void fleet_append_rows(struct text *t, enum fleet_level level, const struct nested *nested,
	const struct fleet_change *change);
/* "machine", "layouts" */
const char *fleet_singular(enum fleet_level level);
const char *fleet_plural(enum fleet_level level);

#endif
