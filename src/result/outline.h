/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where the parts of a result file stand in its text: what is copied to another file needs not be
 * understood, nor written anew.
 */
#ifndef QUIESCE_RESULT_OUTLINE_H
#define QUIESCE_RESULT_OUTLINE_H

#include <stddef.h>

#include "basic/facts.h"
#include "basic/macro.h"

struct suite;

/* Offsets of the first byte, and of the byte behind the last one. An object that is not there is
 * from 0 to 0, where no part of a result can stand. */
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
	size_t runs_end; /* offset of the ']' */
	/* METADATA_CLOCK, or that of metadata_agreed_keys[] in which these runs differ, so that
	 * pyperf does not load the file; NULL when they agree. */
	const char *disputed;
	/* Of the runs that tell it: an enum window_clock, or -1 when none does. */
	int clock;
};

struct outline {
	struct span whole;
	struct span metadata;
	struct benchmark_outline *benchmarks; /* at least one, in the order of the suite's */
	size_t n_benchmarks;
	size_t benchmarks_end; /* offset of the ']' */
};

/* suite_read() of a text in memory, without the evidence of the runs, and the outline of it. */
int suite_read_text(const char *text, size_t size, struct suite **ret, struct outline *ret_outline,
	char **ret_why);
void outline_clear(struct outline *outline);

/* What an object of metadata holds. */
struct members {
	struct facts facts; /* as the reader keeps them */
	struct member_text {
		const char *text; /* JSON, borrowed from the text of the file */
		size_t size;
	} * values; /* one for each fact */
};

/* Of a text for which suite_read_text() has succeeded. The absent object has no members.
 * -ENOMEM. */
int members_read(const char *text, struct span object, struct members *ret);
void members_clear(struct members *members);

static inline void cleanup_members(struct members *members)
{
	members_clear(members);
}
#define _cleanup_members_ __attribute__((cleanup(cleanup_members)))

#endif
