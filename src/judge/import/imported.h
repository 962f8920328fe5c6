/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a file of another tool says, value by value, and the same as a result of format 1.0, which
 * judge/result/reader.h reads: so an imported result can be looked at, compared and merged as any
 * other one.
 *
 *	imported_begin(imported, "BenchmarkSum", 0, 2000, &why);
 *	imported_put(imported, &(struct imported_number){ .value = 546.7, .unit = "ns/op" }, &why);
 *	imported_put(imported, &(struct imported_number){ .value = 0, .unit = "B/op" }, &why);
 *
 * The first number of a benchmark is what it is judged by. The others are figures beside it. Values
 * of one process are a run.
 */
#ifndef QUIESCE_JUDGE_IMPORT_IMPORTED_H
#define QUIESCE_JUDGE_IMPORT_IMPORTED_H

#include <stdbool.h>
#include <stddef.h>

#include "base/cleanup.h"
#include "base/facts.h"
#include "base/text.h"
#include "judge/result/series.h"

struct imported;

/* The next functions end the command without memory. */

/* `tool` is what made the file; borrowed. */
struct imported *imported_new(const char *tool);
void imported_free(struct imported *imported);
DEFINE_CLEANUP(imported, imported_free);

/* Metadata of the whole file. Names that pyperf has are those of quiesce-result(5). */
struct facts *imported_facts(struct imported *imported);

/* Begins a value of the benchmark of that name, which is made if there is none. Processes are
 * numbered in the order of the file. iterations: of how many the value is the mean; 0 where the
 * file does not say it. -EINVAL with *ret_why for more than 10000 benchmarks. */
int imported_begin(struct imported *imported, const char *name, size_t process, double iterations,
	char **ret_why);
/* Which way the first number of that benchmark is better. */
enum better imported_better(const struct imported *imported);
/* Metadata of the benchmark of the last imported_begin(). */
struct facts *imported_benchmark_facts(struct imported *imported);
/* Whether it was made by that. */
bool imported_is_new(const struct imported *imported);

struct imported_number {
	double value;	  /* not finite: it is not known */
	const char *unit; /* as the file has it (judge/harness/quantity.h); "" for a number */
	const char *name; /* of the figure; NULL: its unit */
	/* BETTER_UNKNOWN: by its unit, where that tells: less of times and bytes, more of what is
	 * per second. */
	enum better better;
	bool is_unknown; /* its unit does not tell that either */
	double step;	 /* in which its source counts; 0 where it is not known */
	bool is_exact;	 /* it is the same in all runs of a program */
};

/* A number of the value that was begun last. -EINVAL with *ret_why for a unit that is none, for a
 * figure that was in another unit or direction before, and for more than 64 figures. */
int imported_put(struct imported *imported, const struct imported_number *number, char **ret_why);

/* A benchmark that has no values here, and why: "failed". */
void imported_leave_out(struct imported *imported, const char *name, const char *why);

/* The text of a result. Benchmarks with a value that is not above 0, which no result can have, are
 * left out: *ret_left_out has them, and those of imported_leave_out(), with the reason. -ENODATA
 * with *ret_why where nothing remains of it, -EINVAL where there was nothing. */
int imported_write(
	struct imported *imported, struct text *ret, struct facts *ret_left_out, char **ret_why);

#endif
