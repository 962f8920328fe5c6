/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Copies a result file with changes: other metadata, further runs, further benchmarks. Everything
 * else is copied unchanged (emit_verbatim()). Only for document.c, documentwrite.c and
 * documentmerge.c.
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
	size_t size; /* of the text */
	bool compressed;
	bool converted;	       /* the text is not that of the file */
	struct facts left_out; /* as in struct suite */
	struct suite *suite;
	struct outline outline;
	struct members metadata;    /* of the suite */
	struct members *benchmarks; /* metadata of each benchmark */
};

/* What has to be the same in all runs of a benchmark (document_check_append()). */
struct agreed {
	const struct facts *metadata;
	int clock; /* enum window_clock; -1 when it is not known, which agrees with both clocks */
};

/* document_clear() frees everything in a document, document_clear_members() only the metadata of
 * suite and benchmarks. */
void document_clear(struct document *document);
void document_clear_members(struct document *document);

/* 1 when a and b differ, with the name and both values in words (malloc'd); 0 when they agree;
 * -ENOMEM. */
int document_find_difference(const struct agreed *a, const struct agreed *b, const char **ret_key,
	char **ret_a, char **ret_b);
/* document_check_append() for metadata that metadata_make() made. */
int document_judge_append(
	const struct document *existing, const struct facts *metadata, char **ret_why);

/* Metadata to be written, selected and borrowed from one or several documents. */
struct selection {
	struct selection_item {
		const char *name;
		const struct fact *fact;
		struct member_text value;
	} * items;
	size_t n;
	size_t capacity;
};

/* Adds a member; it replaces a member of the same name. -ENOMEM. */
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

/* A document that is being copied to a stream. */
struct splice {
	struct emit *emit;
	const struct document *document;
	size_t at; /* offset up to which the text has been copied or replaced */
};

/* Copies the text up to this offset. */
void splice_copy(struct splice *splice, size_t end);
/* Copies the text up to the metadata of an object, and writes other metadata instead. */
void splice_metadata(struct splice *splice, struct span object, struct span metadata,
	const struct selection *instead);

/* Another name for metadata. */
struct renaming {
	const char *from;
	const char *to;
};

/* How the metadata of a benchmark and of its runs change. */
struct benchmark_change {
	/* New metadata of the benchmark. NULL: they stay. */
	const struct selection *metadata;
	/* Added to each run, except for names that the run has itself. NULL: none. */
	const struct selection *moved;
	/* The names of metadata that are removed from each run. NULL: none. */
	const struct selection *hoisted;
	/* New names for metadata of runs, also of those that are added; ended by an entry without
	 * `from`. NULL: none. */
	const struct renaming *renamings;
};

/* Copies the text up to the end of the last run of a benchmark, so that further runs can be written
 * there; and from there to the end of the benchmark. */
void splice_runs(struct splice *splice, size_t index, const struct benchmark_change *change);
void splice_end_benchmark(
	struct splice *splice, size_t index, const struct benchmark_change *change);
/* Writes the runs of a benchmark behind the runs of another benchmark: ",\n{...},\n{...}". */
void splice_further_runs(struct emit *emit, const struct document *document, size_t index,
	const struct benchmark_change *change);

#endif
