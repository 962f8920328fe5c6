/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How the machines of two benchmarks, and the ways in which these were measured, differ: by what
 * the results say of the machines, of the options and the tool, and of the cores. */
#ifndef QUIESCE_JUDGE_REPORT_DIFFERENCES_H
#define QUIESCE_JUDGE_REPORT_DIFFERENCES_H

#include <stdbool.h>

#include "judge/report/comparison.h"
#include "judge/result/benchmark.h"

/* Adds to `differences` each setting that differs, unless it is listed already: for several pairs
 * of results each setting is listed once. */
void differences_find(
	struct comparison *c, const struct benchmark *old, const struct benchmark *new);
/* After differences_find(), adds in the same way differences that the settings do not show: the
 * real clock of the core, and how often somebody else used the core. Returns whether nearly all
 * runs of both had the same whole core. */
bool differences_find_of_cores(
	struct comparison *c, const struct benchmark *old, const struct benchmark *new);

/* After these: how far the machine may have changed between two results that were not measured in
 * turn, by what is known of it (judge/report/resolution.h). */
struct resolution differences_find_resolution(
	const struct comparison *c, const struct benchmark *old, const struct benchmark *new);

/* The first difference that is not one of the program's own, such as the version of Python, but of
 * the machine or of how it was measured; borrowed, NULL when there is none. */
const char *differences_find_other(const struct comparison *c);
/* What is known of which program it is: its commit, and what differences_find_other() leaves out; a
 * text to be compared with others, malloc'd. */
char *differences_describe_program(const struct benchmark *benchmark);
/* What is known of the machine, or of how it was measured, for all runs of one benchmark, but not
 * for those of the other: the name of a setting, or NULL. */
const char *differences_find_lost(const struct benchmark *of, const struct benchmark *benchmark);

/* The median number of minor page faults of the runs that count; NAN where it is not known for
 * all. */
double differences_find_faults(const struct benchmark *benchmark);

#endif
