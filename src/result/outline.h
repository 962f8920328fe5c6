/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where the parts of a result file stand in its text, so that they can be copied to another file as
 * they are.
 */
#ifndef QUIESCE_RESULT_OUTLINE_H
#define QUIESCE_RESULT_OUTLINE_H

#include <stddef.h>

#include "basic/facts.h"
#include "basic/macro.h"

struct suite;

/* Offsets in the text: of the first byte, and of the byte behind the last one. Both are 0 for an
 * object that the file does not have. */
struct span {
	size_t begin;
	size_t end;
};

struct run_outline {
	struct span whole; /* with the braces */
	struct span metadata;
};

struct benchmark_outline {
	struct span whole;
	struct span metadata;
	struct run_outline *runs; /* at least one */
	size_t n_runs;
	size_t runs_capacity;
	/* METADATA_CLOCK or one of metadata_agreed_keys[], if the runs have different values of it:
	 * pyperf does not load such a file. NULL when they agree. */
	const char *disputed;
	/* The clock that the runs name: an enum window_clock, or -1 when no run names one. */
	int clock;
};

struct outline {
	struct span whole;
	struct span metadata;
	struct benchmark_outline *benchmarks; /* at least one, in the order of the file */
	size_t n_benchmarks;
};

/* suite_read() for a text in memory, without the evidence of the runs, and the outline of the text.
 * -EMEDIUMTYPE, without *ret_why, for a result of another tool or format. */
int suite_read_text(const char *text, size_t size, struct suite **ret, struct outline *ret_outline,
	char **ret_why);
void outline_clear(struct outline *outline);

/* The members of an object of metadata. */
struct members {
	struct facts facts; /* names as in the file, values as the reader stores them */
	struct member_text {
		const char *text; /* the value as it stands in the file, borrowed */
		size_t size;
	} * values; /* one for each fact */
};

/* Reads an object of a text that suite_read_text() has accepted. An object that the file does not
 * have has no members. -ENOMEM. */
int members_read(const char *text, struct span object, struct members *ret);
void members_clear(struct members *members);

static inline void cleanup_members(struct members *members)
{
	members_clear(members);
}
#define _cleanup_members_ __attribute__((cleanup(cleanup_members)))

#endif
