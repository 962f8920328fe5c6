/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which benchmark is compared with which: those of the same name in two files, or in several files
 * with the first of them; in a single file, programs that were run in turn with the first of them;
 * several results of each (--old, --new). What compare prints of them is in compare.c.
 */
#ifndef QUIESCE_JUDGE_BENCH_REPORT_PAIRS_H
#define QUIESCE_JUDGE_BENCH_REPORT_PAIRS_H

#include <stdbool.h>
#include <stddef.h>

#include "judge/bench-report/bench-report.h"
#include "judge/bench-report/files.h"
#include "judge/report/comparison.h"
#include "judge/report/decision.h"
#include "judge/report/repeats.h"

/* A benchmark of the old program that could not be compared. */
struct omission {
	const char *name;
	size_t file; /* the index of the NEW file */
	char *why;
};

struct pairs {
	const struct request *request;
	const struct reports *reports;
	/* For one file after the other, in the order of the benchmarks in OLD. */
	struct comparison **comparisons;
	size_t *files; /* the index of the NEW file of each comparison */
	char **labels; /* the names of the files as they are printed, escaped */
	bool **owned;  /* for each benchmark of each file: whether one of OLD belongs to it */
	size_t n;
	struct omission *omissions;
	size_t n_omissions;
	/* Of pairs_settle(): comparison_gate_level() where there is --fail-slower, else
	 * SIGNIFICANCE. */
	double gate_level;
	struct repeats repeats;
	bool quiet; /* what cannot be compared is not said */
};
/*
 * Finds out what is compared with what, and makes the comparisons. Says what cannot be compared,
 * and returns -ENOENT where that is all. With `quiet`, nothing is said, and pairs->n may be 0: for
 * a verb that shows in another way what cannot be compared.
 */
int pairs_make(struct pairs *pairs);
void pairs_clear(struct pairs *pairs);
/* Verdicts that are given together: how many they are counts, also for --fail-slower. */
void pairs_settle(struct pairs *pairs);
/* What --fail-slower says of a comparison that is settled. */
enum gate pairs_gate(const struct pairs *pairs, const struct comparison *c);
/* By request->sort, file by file. */
void pairs_sort(struct pairs *pairs);
/* The comparisons of the next NEW file are [*first, *first + *n). */
bool pairs_next_file(const struct pairs *pairs, size_t *first, size_t *n);

/* Whether the comparisons are with several files, each of which has to be named. */
bool pairs_have_several_new(const struct pairs *pairs);
/* Benchmarks with different names are compared when each file has only one benchmark. */
bool pairs_are_one_each(const struct pairs *pairs);
/* What --decide said of a comparison within its file. The runs ended when that was settled, so that
 * it counts in place of the tests, which take their number for chosen beforehand. */
bool pairs_is_decided(const struct pairs *pairs, const struct comparison *c, struct decision *ret);
/* "sort", "sort -> quicksort", malloc'd. */
char *pairs_name(const struct comparison *c);
/* "sort: new.json", malloc'd: what is compared, and with several new files, in which. */
char *pairs_title(const struct pairs *pairs, size_t at);

#endif
