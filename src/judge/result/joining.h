/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs of several files, or of a file and a new measurement, become one benchmark of a file. Only
 * for document.c, documentwrite.c and documentmerge.c.
 */
#ifndef QUIESCE_JUDGE_RESULT_JOINING_H
#define QUIESCE_JUDGE_RESULT_JOINING_H

#include <stddef.h>

#include "base/facts.h"
#include "judge/result/benchmark.h"
#include "judge/result/emit.h"
#include "judge/result/kept.h"
#include "judge/result/series.h"

struct suite;

/* The runs of one file, as they stand there, or new ones. */
struct strand {
	const struct kept *kept; /* NULL: new ones */
	const char *sitting;	 /* JSON, for all of these runs; NULL: they tell it themselves */

	/* Of new runs, as in struct document_part; metadata that metadata_make() made. */
	const struct series *series;
	const struct facts *metadata;
	/* Its values are written. NULL: those that stand in the file, or those of the series. */
	const struct benchmark *inside;
};

/* Another name for metadata. */
struct renaming {
	const char *from;
	const char *to;
};

/* The strands of a benchmark. What stands above the runs of a file, but not above those of all
 * strands, moves to the runs that have no other value. */
struct joined {
	const struct strand *strands;
	size_t n; /* at least one */
	/* Metadata that hold for all runs, and stand once, above them. */
	const struct facts *common;
	/* The names of what stands above the runs of the first strand and stays there; runs of
	 * others have another value. Both are NULL for a single strand, which stays as it is. */
	const struct facts *stays;
	const struct facts *members; /* other members of the benchmark, as JSON; NULL: none */
	/* New names for metadata that are not common, ended by an entry without `from`; or NULL. */
	const struct renaming *renamings;
};

/* Removes the facts that are not equal to those of the same name in `other`. */
void joined_reduce(struct facts *common, const struct facts *other);
/* emit->error. */
int joined_write(struct emit *emit, const struct joined *joined);

/* Begin a file, separate a benchmark from the n before it, and end the file, with other members of
 * it as JSON; NULL: none. */
void joined_begin_file(struct emit *emit);
void joined_separate(struct emit *emit, size_t n_before);
int joined_end_file(struct emit *emit, const struct facts *members);

/* What has to be the same in all runs of a benchmark (document_check_append()). */
struct agreed {
	const struct facts *metadata;
	int clock; /* enum window_clock; -1 when it is not known, which agrees with both clocks */
};

/* Whether a and b differ, with the name and both values in words (malloc'd). */
bool document_find_difference(const struct agreed *a, const struct agreed *b, const char **ret_key,
	char **ret_a, char **ret_b);
/* document_check_append() for metadata that metadata_make() made. */
int document_judge_append(
	const struct suite *existing, const struct facts *metadata, char **ret_why);

#endif
