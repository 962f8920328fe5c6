/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A result file that is copied with changes: other metadata, further runs, further benchmarks. All
 * else stays as it stands, byte by byte, also what is not understood. For document.c,
 * documentwrite.c and documentmerge.c alone.
 */
#ifndef QUIESCE_RESULT_SPLICE_H
#define QUIESCE_RESULT_SPLICE_H

#include <stdbool.h>
#include <stddef.h>

#include "basic/facts.h"
#include "result/emit.h"
#include "result/outline.h"
#include "result/reader.h"

/* A file as it was read. */
struct document {
	char *text;
	struct suite *suite;
	struct outline outline;
	struct members metadata;    /* of the suite */
	struct members *benchmarks; /* metadata of each benchmark */
};

/* SIZE_MAX when there is none of that name. */
size_t document_find_benchmark(const struct document *document, const char *name);

/* What has to be the same in all runs of a benchmark. */
struct agreed {
	const struct facts *metadata;
	int clock; /* enum window_clock, or -1: not known, which agrees with either */
};

struct agreed document_get_agreed(const struct document *document, size_t index);
/* In what they differ: 1, with the name and both values for a person (malloc'd), or 0 when they
 * agree. -ENOMEM. */
int document_find_difference(const struct agreed *a, const struct agreed *b, const char **ret_key,
	char **ret_a, char **ret_b);
/* document_check_append() of what metadata_make() made. */
int document_judge_append(
	const struct document *existing, const struct facts *metadata, char **ret_why);

/* Metadata to be written, taken from those of one file or of several; borrowed from there. */
struct selection {
	struct selection_item {
		const char *name;
		const struct fact *fact;
		struct member_text value;
	} * items;
	size_t n;
	size_t capacity;
};

/* Adds a member, in the place of one of its name. -ENOMEM. */
int selection_add(struct selection *selection, const struct members *members, size_t index);
int selection_add_item(struct selection *selection, const struct selection_item *item);
/* Adds all members of another selection; NULL has none. */
int selection_add_all(struct selection *selection, const struct selection *other);
const struct selection_item *selection_find(const struct selection *selection, const char *name);
void selection_clear(struct selection *selection);

static inline void cleanup_selection(struct selection *selection)
{
	selection_clear(selection);
}
#define _cleanup_selection_ __attribute__((cleanup(cleanup_selection)))

/* Copies a text to a stream, with a change here and there. */
struct splice {
	struct emit *emit;
	const struct document *document;
	size_t at; /* the text is copied up to here */
};

/* Copies what stands before this offset. */
void splice_copy(struct splice *splice, size_t end);
/* Copies what stands before these metadata of an object, and writes others instead. */
void splice_metadata(struct splice *splice, struct span object, struct span metadata,
	const struct selection *instead);

/* What becomes of the metadata of a benchmark and of its runs. */
struct benchmark_change {
	const struct selection
		*metadata;	       /* of the benchmark, instead of those it has; NULL: as is */
	const struct selection *moved; /* its runs get them, unless they have such; NULL: none */
	const struct selection *hoisted; /* its runs lose those of these names; NULL: none */
};

/* Copies the text up to the end of the last run of a benchmark, behind which further runs can be
 * written, and the text from there up to the end of the benchmark. */
void splice_runs(struct splice *splice, size_t index, const struct benchmark_change *change);
void splice_end_benchmark(
	struct splice *splice, size_t index, const struct benchmark_change *change);
/* Writes the runs of a benchmark behind those of another one: ",\n{...},\n{...}". */
void splice_further_runs(struct emit *emit, const struct document *document, size_t index,
	const struct benchmark_change *change);

#endif
