/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads JSON (RFC 8259) strictly, token by token, without building a tree: memory is bounded
 * whatever the file holds. Refused, besides text that is not JSON, are: a name twice in one object,
 * more than 64 levels, a string of more than 1 MiB, an object of more than 1000 members, U+0000 in
 * a string, a number that does not fit into a double, bytes that are not UTF-8, and anything behind
 * the value.
 */
#ifndef QUIESCE_JUDGE_RESULT_JSON_H
#define QUIESCE_JUDGE_RESULT_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "judge/result/input.h"

enum json_type {
	JSON_TOKEN_END, /* the value is complete and nothing follows */
	JSON_TOKEN_OBJECT,
	JSON_TOKEN_OBJECT_END,
	JSON_TOKEN_ARRAY,
	JSON_TOKEN_ARRAY_END,
	JSON_TOKEN_NAME, /* of a member; its value is the next token */
	JSON_TOKEN_STRING,
	JSON_TOKEN_INTEGER, /* no fraction, no exponent, and fits */
	JSON_TOKEN_REAL,
	JSON_TOKEN_TRUE,
	JSON_TOKEN_FALSE,
	JSON_TOKEN_NULL,
};

struct json_token {
	enum json_type type;
	const char *string; /* of a name or string; valid until the next token */
	int64_t integer;
	double real;   /* of both kinds of numbers */
	uint64_t hash; /* of a name */
};

struct json_place {
	uint64_t line;	 /* from 1 */
	uint64_t column; /* from 1, in bytes */
	uint64_t offset; /* from 0, in bytes */
};

struct json_reader;

/* The input is borrowed. */
struct json_reader *json_reader_new(struct input *input);
void json_reader_free(struct json_reader *reader);
DEFINE_CLEANUP(json_reader, json_reader_free);

/* From now on NaN and Infinity, with or without a sign, are read as null: other tools write these
 * words for numbers that JSON does not have. */
void json_allow_nan(struct json_reader *reader);
/* From now on a name may stand twice in an object, as iperf3 writes it, and an object may have any
 * number of members, as asv's have one for each benchmark. */
void json_allow_repeats(struct json_reader *reader);

/* -EINVAL for refused input, with json_why() and json_place() saying what and where; else the error
 * of input_read(). */
int json_next(struct json_reader *reader, struct json_token *ret);
/* Reads on to the end of the value that began with this token. */
int json_skip(struct json_reader *reader, const struct json_token *token);

/* From now on what is read is appended to `copy` as well, byte by byte; NULL ends that. */
void json_copy_text(struct json_reader *reader, struct text *copy);

/* Asks for json_hash(), before anything is read: a hash of the bytes that have been read. It is
 * 0 where nobody has asked. */
void json_hash_all(struct json_reader *reader);
uint64_t json_hash(const struct json_reader *reader);

/* One phrase, a static string: "a name was expected". NULL when nothing was refused. */
const char *json_why(const struct json_reader *reader);
/* Where the last token began, or where something was refused. */
struct json_place json_place(const struct json_reader *reader);
/* The first bytes of the input, as far as they have been read, for a guess at what it is. */
const char *json_head(const struct json_reader *reader, size_t *ret_size);
/* The number of bytes read: the offset behind the last token, or for a name, behind its ':'. */
uint64_t json_offset(const struct json_reader *reader);

#endif
