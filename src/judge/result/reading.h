/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Shared by the parts of the reader, and not for others. reader.c is the top: it reads the file,
 * with readtoken.c for the tokens, readmetadata.c for metadata, foreign.c for results of other
 * tools, and inherit.c, which copies the metadata of suite and benchmark into their runs. Functions
 * return 0 or a negative errno, with what is wrong written down in `why`.
 */
#ifndef QUIESCE_JUDGE_RESULT_READING_H
#define QUIESCE_JUDGE_RESULT_READING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "base/facts.h"
#include "base/macro.h"
#include "base/text.h"
#include "judge/result/benchmark.h"
#include "judge/result/json.h"
#include "judge/result/kept.h"
#include "judge/result/rundata.h"

enum {
	NAME_SLOTS = 2048, /* a power of 2, at least twice as many as there may be names */
};

/* A name of metadata that some run has. */
struct run_name {
	char *name;
	uint64_t hash;
	struct run_field field;
	size_t kept;	    /* its number in struct kept */
	struct facts first; /* its value in the first run that has it */
	size_t n_seen;	    /* the number of runs that have it */
	bool varies;
	bool in_first_run;
};

/* A benchmark that waits for the metadata of its suite: pyperf writes them behind the benchmarks.
 */
struct pending {
	struct benchmark *benchmark;
	struct facts metadata;
	struct run_name *names;
	size_t n_names;
	uint16_t slots[NAME_SLOTS]; /* by hash: index into names, plus 1 */
	char *spoilt; /* why it has to be left out, with the place; NULL: it need not */
	size_t values_capacity;
	size_t warmups_capacity;
	size_t runs_capacity;
};

void pending_free(struct pending *pending);
DEFINE_CLEANUP(pending, pending_free);

/* Which tool made the result, by the first name in it. */
enum format {
	FORMAT_UNKNOWN,
	FORMAT_PYPERF,
	FORMAT_HYPERFINE,
	FORMAT_GOOGLE,
};

struct reader {
	struct json_reader *json;
	bool with_evidence;
	bool keeps; /* what the benchmarks need to be written again, too (struct kept) */
	enum format format;
	bool is_old; /* of a format of pyperf's before 1.0 */
	char *why;
	struct pending **pending;
	size_t n_pending;
	struct facts suite_metadata;
	struct facts suite_above; /* the same as JSON, where it is kept */
	struct facts members;	  /* as in struct suite */
	uint64_t hash;		  /* as in struct suite */
	struct text raw;	  /* from reader_begin_raw() on */
	struct facts left_out;	  /* as in struct suite */
	size_t text_size;	  /* of the metadata that are kept */
};

/* --- Benchmarks (reader.c) --- */

/* A new empty benchmark. */
struct pending *reader_pending_new(const struct reader *reader);
/* Reads an array of values; its '[' has been read. An element that is not a number above 0 spoils
 * the benchmark, because of `why`. */
int reader_read_values(struct reader *reader, struct pending *pending, const char *why);
int reader_add_value(struct reader *reader, struct pending *pending, double value);
/* Adds a complete run, which has the values up to the index `end`. */
int reader_add_run(
	struct reader *reader, struct pending *pending, struct run_data *data, size_t end);
/* One bad value spoils its benchmark, not the file: it will be left out, because of `why`. Refused
 * where the file is to be written again, which pyperf would not load. */
int reader_spoil(struct reader *reader, struct pending *pending, const char *why);
/* Writes down that a benchmark of this name is left out, and why. */
int reader_leave_out(struct reader *reader, const char *name, const char *why);
/* Takes *pending. */
int reader_add_pending(struct reader *reader, struct pending **pending);

/* --- Results of other tools (foreign.c) --- */

/* Reads the value of BENCHMARK_FIGURES. Lists of another length than that of the run's values are
 * ignored. */
int reader_read_figures(struct reader *reader, struct pending *pending);
/* Makes each figure as long as the values are, with NAN for those that it has not been told of. */
void reader_extend_figures(struct benchmark *benchmark);

/* The values of "schema_version", of "metadata" and of "results": the first two are new in 2.0. */
int reader_read_hyperfine_schema(struct reader *reader);
int reader_read_hyperfine_metadata(struct reader *reader);
int reader_read_hyperfine(struct reader *reader);
/* The values of "context" and of "benchmarks". */
int reader_read_google_context(struct reader *reader);
int reader_read_google(struct reader *reader);

/* --- Tokens (readtoken.c) --- */

/* Returns -EINVAL, and writes the place and the message into `why`. */
int reader_refuse(struct reader *reader, const char *format, ...) _printf_(2, 3);
/* Turns an error of json_next() or json_skip() into words in `why`; returns the error. */
int reader_explain(struct reader *reader, int error);

/* The next token. */
static inline int reader_next(struct reader *reader, struct json_token *ret)
{
	int r = json_next(reader->json, ret);

	return r < 0 ? reader_explain(reader, r) : r;
}
/* The name of the next member of an object: 1, or 0 at the end of the object. */
static inline int reader_next_member(struct reader *reader, struct json_token *ret)
{
	int r = reader_next(reader, ret);

	return r < 0 ? r : ret->type != JSON_TOKEN_OBJECT_END;
}

/* Reads past the next value, whatever it is. */
int reader_skip_value(struct reader *reader);
/* The same for a member that nobody here knows: it goes into `members` where the file is kept. */
int reader_skip_member(struct reader *reader, const char *name, struct facts *members);
/* Where the file is kept, what is read from the first of these to one of the others is kept as it
 * stands: under a name, or in a run under the number of a name (judge/result/kept.h). */
void reader_begin_raw(struct reader *reader);
void reader_keep_raw(struct reader *reader, struct facts *facts, const char *name);
void reader_keep_run_raw(struct reader *reader, struct pending *pending, size_t name);
/* `of` says whose value it is. */
int reader_expect_object(struct reader *reader, const struct json_token *token, const char *of);
int reader_expect_array(struct reader *reader, const struct json_token *token, const char *of);
/* Take the next token, which must be of that type. */
int reader_enter_object(struct reader *reader, const char *of);
int reader_enter_array(struct reader *reader, const char *of);
/* Reads a list of objects: `of` names the owner of the list, `item` the kind of each object. `each`
 * is called after the '{' has been read. */
int reader_read_list(struct reader *reader, const char *of, const char *item,
	int (*each)(struct reader *reader, void *context), void *context);

/* --- Metadata (readmetadata.c) --- */

/* Reads the metadata of the suite or of a benchmark, where the file is kept also as JSON. pyperf
 * accepts null instead of an object, but only for the suite. */
int reader_read_metadata(
	struct reader *reader, bool may_be_null, struct facts *facts, struct facts *above);
/* The value behind a name of metadata, borrowed from the token or from `buffer`. Texts lose the
 * blanks around them, as in pyperf. */
int reader_read_fact(
	struct reader *reader, const char *name, struct text *buffer, struct fact *ret);
/* The same for a token that has been read. */
int reader_take_fact(struct reader *reader, const struct json_token *token, const char *name,
	struct text *buffer, struct fact *ret);
/* Reads the metadata of a run into its data, and into the names of its benchmark. The buffer is
 * reused for each run. */
int reader_read_run_metadata(
	struct reader *reader, struct pending *pending, struct text *buffer, struct run_data *data);
/* Adds a copy of a fact. -EINVAL when all metadata together become too large. */
int reader_keep_fact(struct reader *reader, struct facts *facts, const struct fact *fact);

/* --- When all is read (inherit.c) --- */

/* Copies the metadata of the suite into the benchmark, and those of both into its runs; sets the
 * name, unit and times of the benchmark. */
int reader_finish_benchmark(struct reader *reader, struct pending *pending);

#endif
