/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the readers of all formats share: tokens, facts, and the benchmarks that they fill. reader.c
 * is the top and reads pyperf's formats, which are ours; foreign.c reads those of other tools,
 * and readmetadata.c puts what is said of a suite or a benchmark into its runs. Functions return 0
 * or a negative errno, with what is wrong written down in `why`.
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

#define READING_VALUES_MAX (250 * 1000 * 1000)

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
	/* What a result says of a figure (figure_text()), with the largest step of these
	 * runs. Digits that a source gives may be more in one sitting than in another. NULL for
	 * others, and where runs differ in more than that. */
	char *figure;
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

/* --- Tokens --- */

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

/* --- Facts --- */

/*
 * A text as it is kept: control characters and such as \xNN (text_escape_control()), so that code
 * that shows it in a table, a picture or a message need not escape it. The result is `s` itself
 * where there are no control characters, else it is in `buffer`, which may hold `s` as well.
 */
const char *reader_plain(struct text *buffer, const char *s);
/* The value behind a name of metadata, borrowed from the token or from `buffer`. Texts lose the
 * blanks around them, as in pyperf. */
int reader_read_fact(
	struct reader *reader, const char *name, struct text *buffer, struct fact *ret);
/* The same for a token that has been read. */
int reader_take_fact(struct reader *reader, const struct json_token *token, const char *name,
	struct text *buffer, struct fact *ret);
/* Adds a copy of a fact. -EINVAL when all metadata together become too large. */
int reader_keep_fact(struct reader *reader, struct facts *facts, const struct fact *fact);

/* --- Benchmarks and their runs --- */

/* A new empty benchmark. */
struct pending *reader_pending_new(const struct reader *reader);
/* Reads an array of values; `of` says whose it is. An element that is not a number above 0 spoils
 * the benchmark, because of `why`. */
int reader_read_values(
	struct reader *reader, struct pending *pending, const char *of, const char *why);
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

#endif
