/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is known of a run: one table with a row for each fact. A row says where the fact stands in
 * memory, how it is called, in which unit it is, and how it is written and read. All that writes
 * facts (JSON, CSV, dump), reads them back, or chooses one as a metric goes through the table, so
 * that a new figure is one member of struct evidence and one row.
 */
#ifndef QUIESCE_JUDGE_RESULT_RUNFACT_H
#define QUIESCE_JUDGE_RESULT_RUNFACT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/facts.h"
#include "judge/result/benchmark.h"
#include "judge/result/series.h"

/* What a fact is a member of. */
enum run_part {
	PART_SAMPLE,	 /* struct sample */
	PART_EVIDENCE,	 /* struct evidence */
	PART_COUNTERS,	 /* an array of one double for each event of the series */
	PART_VALUES,	 /* struct benchmark_run */
	PART_PROVENANCE, /* struct provenance */
	PART_N,
};

/* Where the facts of one run stand. */
struct run_place {
	const struct series *series;
	size_t index;
	void *parts[PART_N]; /* NULL for what is not kept */
};

/* A run in the arrays of its series; the facts are not changed. `values` may be NULL. */
struct run_place run_place_of(
	const struct series *series, size_t index, const struct benchmark_run *values);

/* How a fact stands there, and what it is in a file. */
enum run_kind {
	/* A number; negative where it is unknown. */
	KIND_DURATION, /* KIND_INT64; a run that has it keeps it for our own stamps */
	KIND_INT64,
	KIND_INT32,
	KIND_UINT32,
	KIND_DERIVED, /* by `derive` */
	KIND_FLOAT,   /* NAN where it is unknown; written with two decimals */
	/* A text: */
	KIND_DATE,	  /* sample.start_ns: nanoseconds since the start of the series; since 1970
			   * while a file is read, which takes a date without a zone for UTC */
	KIND_FLAGS,	  /* "preempted,irq" */
	KIND_IRQ_LINES,	  /* "38: virtio2-input.0 x3, 40: nvme0q1 x1" */
	KIND_SOFTIRQS,	  /* "TIMER x3, SCHED x1" */
	KIND_TEMPERATURE, /* pyperf's "coretemp:Package id 0=58 C, ..." */
	KIND_FREQUENCY,	  /* pyperf's "0=3400 MHz" */
	KIND_ORIGIN,	  /* one of the texts of struct provenance */
	/* A number: */
	KIND_WARMUPS, /* how many warm-ups the series has, in each of them */
	KIND_TURN,
	KIND_SEED,  /* of the order */
	KIND_EVENT, /* the facts whose names begin with `key` are the events of the series */
};

/* Of what a number is one; nanoseconds are written as seconds, KiB as bytes, and a share, which is
 * an integer of EVIDENCE_SHARE_PER for a whole core, as a part of 1. */
enum run_unit {
	RUN_NUMBER,
	RUN_NS,
	RUN_KHZ,
	RUN_SHARE,
	RUN_KIB,
	RUN_BYTES,
	RUN_CELSIUS,
};

/* What a 0 says of a number. */
enum run_zero {
	ZERO_KNOWN,	   /* it is a number like others */
	ZERO_UNKNOWN,	   /* the number is not known */
	ZERO_USUAL,	   /* a result leaves it out */
	ZERO_USUAL_OF_ALL, /* a result leaves it out where all runs of the series have it */
};

/* How a fact that may have caused a change of the values is compared before and after it. */
enum run_change {
	RUN_BY_MEDIAN,
	RUN_BY_PART,  /* by the part of the runs that have it: the fact is 0 or 100 */
	RUN_BY_TICKS, /* by the mean of a time that is counted in ticks, which most runs lack */
};

/* A possible cause of a change, and how large a difference must be to be mentioned. */
struct run_cause {
	unsigned rank; /* from 1, the most likely cause first; 0: it is none */
	enum run_change by;
	const char *words; /* "core clock" of "core clock 3.40 -> 2.10 GHz" */
	const char *after; /* " GHz" */
	double per;	   /* 1e6: so many of its unit are one there */
	int decimals;
	double least;	    /* in the unit of the fact as it stands in the run, */
	double least_part;  /* as a part of the smaller one, */
	double part_of_run; /* and as a part of what a run takes: then times are what is shown */
};

/* A strip below the samples of a picture. */
struct run_strip {
	unsigned rank;	   /* from 1, from top to bottom; 0: it is none */
	bool part_of_run;  /* shown as a part of what the run took */
	const char *name;  /* "frequency" of plot --json, where it is in */
	const char *unit;  /* "hertz" */
	const char *label; /* "GHz", at its axis, */
	double factor;	   /* 1e-9: so many of these are one of its unit */
	/* Its axis has at least this range, or this part of the largest value, so that the noise of
	 * a sensor does not look important. */
	double least;
	double least_part;
	const char *after; /* " GHz", where a sample is described; NULL: it is not told there */
	int decimals;
};

struct run_fact {
	const char *key; /* in the metadata of a result; NULL: it is derived from others */
	/* What it is, as quiesce-result(5) prints it (scdoc(5)), without its unit; NULL: the next
	 * one tells, too. */
	const char *means;
	const char *name; /* in dump --json, as a metric and in CSV; NULL: it is in none of these */
	const char *csv;  /* where CSV calls it otherwise */
	/* Which column of CSV it is among those of all series, from 1. 0: it is one of the
	 * evidence, which follow in the order of the table. */
	unsigned csv_column;
	unsigned dump_column; /* which column it is of the table of dump; 0: it is none */
	const char *title;    /* of that column */
	struct run_cause cause;
	struct run_strip strip;
	uint16_t flag; /* enum sample_flag: a run has it where this number is above 0 (weight.h) */
	enum run_kind kind;
	enum run_part part;
	size_t offset;
	double (*derive)(const struct evidence *evidence); /* NAN where it is not known */
	enum run_unit unit;
	enum run_zero zero;
	bool only_read;	    /* it is not written, or not here */
	bool only_written;  /* what is read does not matter */
	bool of_given_cpus; /* it is about the CPUs that the run was given, wherever it was */
	bool is_cost;	    /* of the run: less is better */
	bool is_of_program; /* a cost that the program alone decides on, not the machine */
};

extern const struct run_fact run_facts[];
extern const size_t run_n_facts;
#define RUN_FACTS_MAX 128 /* there are not more of them */

/* The facts that have a number at this offset of struct run_fact (csv_column, dump_column,
 * cause.rank or strip.rank), by it. Returns how many; `ret` has room for RUN_FACTS_MAX. */
size_t run_facts_list(size_t offset, const struct run_fact **ret);

/* The number as it stands there. False where it is not known, and for other facts. */
bool run_fact_number(const struct run_fact *fact, const struct run_place *place, int64_t *ret);
/* The number as it is written, in seconds, bytes and so on; NAN where it is not known. */
double run_fact_real(const struct run_fact *fact, const struct run_place *place);
/* Whether it is written as a text. */
static inline bool run_fact_is_text(const struct run_fact *fact)
{
	return fact->kind >= KIND_DATE && fact->kind <= KIND_ORIGIN;
}
/* By which power of ten a number is divided where it is written; 1 where it is none. */
int64_t run_fact_per(const struct run_fact *fact);
/* What a result says of it, as a value without its name; false where it says none. A string is
 * malloc'd; run_fact_clear() frees it. */
bool run_fact_get(const struct run_fact *fact, const struct run_place *place, struct fact *ret);
void run_fact_clear(struct fact *value);

#endif
