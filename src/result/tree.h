/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A result file as a tree of jansson's, for the parts of result/document.h alone (document.c,
 * documentwrite.c, documentmerge.c, treerun.c). No other file knows jansson: whatever they need of
 * it together is here.
 */
#ifndef QUIESCE_RESULT_TREE_H
#define QUIESCE_RESULT_TREE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "basic/facts.h"
#include "result/benchmark.h"
#include "result/series.h"

#define TREE_CLOCK_KEY "quiesce_clock"

struct document {
	json_t *root;
};

static inline void cleanup_json(json_t **json)
{
	json_decref(*json);
}
#define _cleanup_json_ __attribute__((cleanup(cleanup_json)))

/* --- Values (tree.c) --- */

/* Python's ==: 1 and 1.0 are equal. NULL is None. */
bool tree_equal(const json_t *a, const json_t *b);
/* For a person, malloc'd. */
char *tree_describe(const json_t *value);
/* Text that pyperf loads, or NULL in *ret for one of blanks only. */
int tree_make_string(const char *s, json_t **ret);
/* Takes the value, which may be NULL when memory was short. */
int tree_set_new(json_t *object, const char *key, json_t *value);
int tree_set_string(json_t *object, const char *key, const char *s);
/* A copy of `under`, an object, to which the keys of `over` come, and win; `over` may be NULL. Its
 * values are the same ones. NULL when memory is short, where json_copy() leaves keys out without a
 * word (jansson 2.14: json_object_copy()). */
json_t *tree_make_merged(json_t *under, json_t *over);
/* What is in metadata and has no key in `keys` (or has one, if has is true), as a new object. */
json_t *tree_make_part(json_t *metadata, const json_t *keys, bool has);

/* --- Where things stand in a result (tree.c) --- */

/* The metadata that pyperf wants to agree in all runs of a benchmark. */
#define TREE_N_AGREED_KEYS 12
extern const char *const tree_agreed_keys[TREE_N_AGREED_KEYS];
const char *tree_clock_name(enum window_clock clock);
/* The value for one run: its own, else the benchmark's, else the suite's. */
json_t *tree_find_metadata(
	const json_t *root, const json_t *benchmark, const json_t *run, const char *key);
const char *tree_find_name(const json_t *root, const json_t *benchmark);
/* The benchmark that has this name; NULL when there is none. ret_at may be NULL. */
json_t *tree_find_benchmark(const json_t *root, const char *name, size_t *ret_at);

/* --- Into a stream (treeout.c) --- */

/* The first error sticks. */
struct out {
	FILE *stream;
	int error;
};
void out_text(struct out *out, const char *s);
/* NULL is a value that memory was too short for. */
void out_json(struct out *out, const json_t *json);
/* An object of the file that exists, with other metadata. Its key list_key, if it is not NULL,
 * holds a list of further objects, which out_list writes. */
void out_object(struct out *out, json_t *object, json_t *metadata, const char *list_key,
	void (*out_list)(struct out *out, json_t *list, void *context), void *context);
/* Flushes. 0, or the first error. */
int out_finish(struct out *out);

/* --- Runs of ours (treerun.c) --- */

struct new_runs {
	const struct series *series;
	const struct benchmark *inside; /* whose values are written; NULL: the series' own */
	bool with_env_pad;
	json_t *run_metadata; /* what each of them has to carry itself */
};
/* Is there something to write of that run? */
bool new_runs_has(const struct new_runs *runs, size_t index);
/* As pyperf has it; NULL when memory is short. */
json_t *new_runs_make(const struct new_runs *runs, size_t index);

/* --- What a new series may bring (document.c) --- */

/* The metadata as an object; -EINVAL where pyperf would not load them. */
int document_make_metadata(const struct facts *facts, json_t **ret);
/* document_check_append() with such an object. */
int document_judge_append(const struct document *existing, const json_t *metadata, char **ret_why);
/* document_load() from a stream. */
int document_load_stream(FILE *stream, struct document **ret, char **ret_why);

#endif
