// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"
#include "base/macro.h"
#include "base/parse.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "judge/result/json.h"

enum {
	DEPTH_MAX = 64,
	STRING_MAX = 1024 * 1024,
	NUMBER_MAX = 1024, /* characters; no program writes longer numbers */
	MEMBERS_MAX = 1000,
	HEAD_SIZE = 4096,
};

/* What may come next. */
enum expect {
	EXPECT_VALUE,
	EXPECT_VALUE_OR_END, /* the first element of an array */
	EXPECT_NAME,
	EXPECT_NAME_OR_END, /* the first member of an object */
	EXPECT_COMMA_OR_END,
	EXPECT_NOTHING,
};

struct json_reader {
	struct input *input;
	const char *at; /* what of the piece is not read yet */
	const char *end;
	const char *piece;
	uint64_t piece_offset; /* the offset of the piece in the input */
	uint64_t line;
	uint64_t line_offset; /* where the line begins */
	struct json_place place;
	const char *why;
	bool allows_nan;
	bool allows_repeats;
	bool hashes_input;
	uint64_t hash;	   /* of the pieces before this one */
	struct text *copy; /* gets what is read, from copy_from on; NULL: nobody wants it */
	const char *copy_from;

	enum expect expect;
	size_t depth;
	bool is_object[DEPTH_MAX];
	/* Hashes of the names of all objects that are open, one behind the other. */
	uint64_t *hashes;
	size_t n_hashes;
	size_t hashes_capacity;
	size_t first_hash[DEPTH_MAX];

	struct text string;

	char head[HEAD_SIZE];
	size_t n_head;
};

struct json_reader *json_reader_new(struct input *input)
{
	struct json_reader *reader = xptr(calloc(1, sizeof(*reader)));

	reader->input = input;
	reader->line = 1;
	reader->expect = EXPECT_VALUE;
	return reader;
}

void json_reader_free(struct json_reader *reader)
{
	if (!reader)
		return;
	free(reader->hashes);
	text_clear(&reader->string);
	free(reader);
}

void json_allow_nan(struct json_reader *reader)
{
	reader->allows_nan = true;
}

void json_allow_repeats(struct json_reader *reader)
{
	reader->allows_repeats = true;
}

void json_hash_all(struct json_reader *reader)
{
	reader->hashes_input = true;
	reader->hash = HASH_START;
}

uint64_t json_hash(const struct json_reader *reader)
{
	if (!reader->hashes_input)
		return 0;
	return hash_bytes(reader->hash, reader->piece, (size_t)(reader->at - reader->piece));
}

/* Copies what was read since the last call. */
static void copy_on(struct json_reader *reader)
{
	if (reader->copy && reader->at > reader->copy_from)
		text_append_n(
			reader->copy, reader->copy_from, (size_t)(reader->at - reader->copy_from));
	reader->copy_from = reader->at;
}

void json_copy_text(struct json_reader *reader, struct text *copy)
{
	copy_on(reader);
	reader->copy = copy;
}

const char *json_why(const struct json_reader *reader)
{
	return reader->why;
}

struct json_place json_place(const struct json_reader *reader)
{
	return reader->place;
}

const char *json_head(const struct json_reader *reader, size_t *ret_size)
{
	*ret_size = reader->n_head;
	return reader->head;
}

uint64_t json_offset(const struct json_reader *reader)
{
	return reader->piece_offset + (uint64_t)(reader->at - reader->piece);
}

/* --- Characters --- */

static void mark_place(struct json_reader *reader)
{
	reader->place.offset = json_offset(reader);
	reader->place.line = reader->line;
	reader->place.column = reader->place.offset - reader->line_offset + 1;
}

static int refuse(struct json_reader *reader, const char *why)
{
	reader->why = why;
	return -EINVAL;
}

static int refuse_here(struct json_reader *reader, const char *why)
{
	mark_place(reader);
	return refuse(reader, why);
}

/* 1 when there is a character at reader->at, 0 at the end of the input. */
static int fill(struct json_reader *reader)
{
	size_t size;
	int r;

	if (reader->at < reader->end)
		return 1;
	copy_on(reader);
	reader->hash = json_hash(reader);
	reader->piece_offset += (uint64_t)(reader->end - reader->piece);
	reader->piece = reader->at = reader->end = reader->copy_from = NULL;
	r = input_read(reader->input, &reader->piece, &size);
	if (r < 0) {
		reader->piece = NULL;
		mark_place(reader);
		return r;
	}
	reader->at = reader->end = reader->copy_from = reader->piece;
	/* At the end there may be no piece, and nothing, not even 0, may be added to a NULL
	 * pointer. */
	if (size == 0)
		return 0;
	reader->end += size;
	if (reader->piece_offset == 0) {
		reader->n_head = MIN(size, (size_t)HEAD_SIZE);
		memcpy(reader->head, reader->piece, reader->n_head);
	}
	return 1;
}

/* Takes the next character; refuses the end of the input. */
static int take(struct json_reader *reader, char *ret)
{
	int r = fill(reader);

	if (r < 0)
		return r;
	if (r == 0)
		return refuse_here(reader, "the file ends too early");
	*ret = *reader->at++;
	return 0;
}

/* The same as fill(), at the next character that is not white space. */
static int skip_blanks(struct json_reader *reader)
{
	for (;;) {
		int r = fill(reader);

		if (r <= 0)
			return r;
		for (; reader->at < reader->end; reader->at++) {
			char c = *reader->at;

			if (c == '\n') {
				reader->line++;
				reader->line_offset = reader->piece_offset +
					(uint64_t)(reader->at - reader->piece) + 1;
			} else if (c != ' ' && c != '\t' && c != '\r') {
				return 1;
			}
		}
	}
}

/* --- Strings --- */

static int append(struct json_reader *reader, const char *bytes, size_t n)
{
	if (reader->string.length + n > STRING_MAX)
		return refuse(reader, "the string is longer than 1 MiB");
	text_append_n(&reader->string, bytes, n);
	if (reader->string.failed)
		xalloc_fail();
	return 0;
}

static int append_code(struct json_reader *reader, unsigned code)
{
	char bytes[4];
	size_t n = 0;

	if (code < 0x80) {
		bytes[n++] = (char)code;
	} else if (code < 0x800) {
		bytes[n++] = (char)(0xc0 | code >> 6);
	} else if (code < 0x10000) {
		bytes[n++] = (char)(0xe0 | code >> 12);
		bytes[n++] = (char)(0x80 | (code >> 6 & 0x3f));
	} else {
		bytes[n++] = (char)(0xf0 | code >> 18);
		bytes[n++] = (char)(0x80 | (code >> 12 & 0x3f));
		bytes[n++] = (char)(0x80 | (code >> 6 & 0x3f));
	}
	if (code >= 0x80)
		bytes[n++] = (char)(0x80 | (code & 0x3f));
	return append(reader, bytes, n);
}

static int take_hex(struct json_reader *reader, unsigned *ret)
{
	char digits[5] = { 0 };
	uint64_t code;
	int r;

	for (int i = 0; i < 4; i++) {
		r = take(reader, &digits[i]);
		if (r < 0)
			return r;
	}
	if (parse_hex_u64(digits, 0xffff, &code) < 0)
		return refuse_here(reader, "\\u wants four hexadecimal digits");
	*ret = (unsigned)code;
	return 0;
}

/* Behind "\u". */
static int take_unicode(struct json_reader *reader)
{
	unsigned code, low;
	char c;
	int r;

	r = take_hex(reader, &code);
	if (r < 0)
		return r;
	if (code == 0)
		return refuse_here(reader, "a string with U+0000");
	if (code >= 0xdc00 && code < 0xe000)
		return refuse_here(reader, "half a surrogate pair");
	if (code >= 0xd800 && code < 0xdc00) {
		for (int i = 0; i < 2; i++) {
			r = take(reader, &c);
			if (r < 0)
				return r;
			if (c != "\\u"[i])
				return refuse_here(reader, "half a surrogate pair");
		}
		r = take_hex(reader, &low);
		if (r < 0)
			return r;
		if (low < 0xdc00 || low >= 0xe000)
			return refuse_here(reader, "half a surrogate pair");
		code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
	}
	return append_code(reader, code);
}

static int take_escape(struct json_reader *reader)
{
	static const char names[] = "\"\\/bfnrt", meanings[] = "\"\\/\b\f\n\r\t";
	const char *found;
	char c;
	int r;

	r = take(reader, &c);
	if (r < 0)
		return r;
	if (c == 'u')
		return take_unicode(reader);
	found = c ? strchr(names, c) : NULL;
	if (!found)
		return refuse_here(reader, "an escape that JSON does not know");
	return append(reader, &meanings[found - names], 1);
}

/* Takes the rest of a character of several bytes, whose first byte has been taken. Overlong forms,
 * surrogates and numbers beyond Unicode are not UTF-8 (RFC 3629, section 4). */
static int take_utf8(struct json_reader *reader, unsigned char first)
{
	unsigned char low = 0x80, high = 0xbf;
	char bytes[4] = { (char)first };
	size_t n;
	int r;

	if (first >= 0xc2 && first <= 0xdf)
		n = 2;
	else if (first >= 0xe0 && first <= 0xef)
		n = 3;
	else if (first >= 0xf0 && first <= 0xf4)
		n = 4;
	else
		return refuse_here(reader, "bytes that are no UTF-8");
	if (first == 0xe0)
		low = 0xa0;
	else if (first == 0xed)
		high = 0x9f;
	else if (first == 0xf0)
		low = 0x90;
	else if (first == 0xf4)
		high = 0x8f;
	for (size_t i = 1; i < n; i++) {
		r = take(reader, &bytes[i]);
		if (r < 0)
			return r;
		if ((unsigned char)bytes[i] < low || (unsigned char)bytes[i] > high)
			return refuse_here(reader, "bytes that are no UTF-8");
		low = 0x80;
		high = 0xbf;
	}
	return append(reader, bytes, n);
}

/* Takes a string, whose opening quote has been taken. */
static int take_string(struct json_reader *reader)
{
	text_append_n(&reader->string, "", 0);
	if (reader->string.failed)
		xalloc_fail();
	reader->string.length = 0;
	reader->string.data[0] = '\0';
	for (;;) {
		const char *start;
		int r = fill(reader);
		char c;

		if (r < 0)
			return r;
		if (r == 0)
			return refuse_here(reader, "the file ends in a string");
		start = reader->at;
		while (reader->at < reader->end) {
			unsigned char byte = (unsigned char)*reader->at;

			if (byte < 0x20 || byte >= 0x80 || byte == '"' || byte == '\\')
				break;
			reader->at++;
		}
		r = append(reader, start, (size_t)(reader->at - start));
		if (r < 0)
			return r;
		if (reader->at == reader->end)
			continue;
		c = *reader->at;
		if ((unsigned char)c < 0x20)
			return refuse_here(reader, "a control character in a string");
		reader->at++;
		if (c == '"')
			return 0;
		r = c == '\\' ? take_escape(reader) : take_utf8(reader, (unsigned char)c);
		if (r < 0)
			return r;
	}
}

/* --- Numbers and words --- */

static bool is_number_character(char c)
{
	return (c >= '0' && c <= '9') || c == '-' || c == '+' || c == '.' || c == 'e' || c == 'E';
}

static int convert_number(struct json_reader *reader, const char *text, struct json_token *ret)
{
	bool negative = *text == '-';
	uint64_t magnitude;
	int r;

	r = parse_real(text, &ret->real);
	if (r == -ERANGE)
		return refuse(reader, "the number is too large");
	if (r < 0)
		return refuse(reader, "no number that JSON knows");
	ret->type = JSON_TOKEN_REAL;
	if (parse_u64(text + negative, 0, INT64_MAX, &magnitude) == 0) {
		ret->type = JSON_TOKEN_INTEGER;
		ret->integer = negative ? -(int64_t)magnitude : (int64_t)magnitude;
	}
	return 0;
}

static const char *describe_wish(const struct json_reader *reader)
{
	switch (reader->expect) {
	case EXPECT_NAME:
	case EXPECT_NAME_OR_END:
		return "a name was expected";
	case EXPECT_COMMA_OR_END:
		return reader->is_object[reader->depth - 1] ? "',' or '}' was expected"
							    : "',' or ']' was expected";
	case EXPECT_NOTHING:
		return "nothing was expected behind the value";
	default:
		return reader->depth == 0 ? "this is no JSON" : "a value was expected";
	}
}

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Only a number may have a sign in front. */
static int take_word(struct json_reader *reader, bool is_negative, struct json_token *ret)
{
	static const struct {
		const char *word;
		enum json_type type;
		bool is_number;
	} words[] = {
		{ "true", JSON_TOKEN_TRUE, false },
		{ "false", JSON_TOKEN_FALSE, false },
		{ "null", JSON_TOKEN_NULL, false },
		{ "NaN", JSON_TOKEN_NULL, true },
		{ "Infinity", JSON_TOKEN_NULL, true },
	};
	char text[16];
	size_t n = 0;
	int r;

	while (n + 1 < sizeof(text)) {
		r = fill(reader);
		if (r < 0)
			return r;
		if (r == 0 || !is_letter(*reader->at))
			break;
		text[n++] = *reader->at++;
	}
	text[n] = '\0';
	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		if (strcmp(text, words[i].word) == 0 &&
			(words[i].is_number ? reader->allows_nan : !is_negative)) {
			ret->type = words[i].type;
			return 0;
		}
	}
	return refuse(reader, is_negative ? "no number that JSON knows" : describe_wish(reader));
}

static int take_number(struct json_reader *reader, struct json_token *ret)
{
	char text[NUMBER_MAX + 1];
	size_t n = 0;
	int r;

	for (;;) {
		r = fill(reader);
		if (r < 0)
			return r;
		if (r == 0)
			break;
		while (reader->at < reader->end && is_number_character(*reader->at) &&
			n < NUMBER_MAX)
			text[n++] = *reader->at++;
		if (n == NUMBER_MAX)
			return refuse(reader, "the number is too long");
		if (reader->at < reader->end)
			break;
	}
	text[n] = '\0';
	if (reader->allows_nan && strcmp(text, "-") == 0)
		return take_word(reader, true, ret);
	return convert_number(reader, text, ret);
}

/* --- Structure --- */

static int open_level(struct json_reader *reader, bool is_object)
{
	if (reader->depth == DEPTH_MAX)
		return refuse(reader, "nested deeper than 64 levels");
	reader->is_object[reader->depth] = is_object;
	reader->first_hash[reader->depth] = reader->n_hashes;
	reader->depth++;
	reader->expect = is_object ? EXPECT_NAME_OR_END : EXPECT_VALUE_OR_END;
	return 0;
}

static void complete_value(struct json_reader *reader)
{
	reader->expect = reader->depth > 0 ? EXPECT_COMMA_OR_END : EXPECT_NOTHING;
}

static void close_level(struct json_reader *reader)
{
	reader->depth--;
	reader->n_hashes = reader->first_hash[reader->depth];
	complete_value(reader);
}

/* Two names with the same hash count as the same name, which happens only in a file made for it. */
static uint64_t hash_name(const char *name)
{
	return hash_bytes(HASH_START, name, strlen(name));
}

static int remember_name(struct json_reader *reader, uint64_t *ret_hash)
{
	size_t first = reader->first_hash[reader->depth - 1];
	uint64_t hash = hash_name(reader->string.data);

	*ret_hash = hash;
	if (reader->allows_repeats)
		return 0;
	for (size_t i = first; i < reader->n_hashes; i++)
		if (reader->hashes[i] == hash)
			return refuse(reader, "a name that this object has already");
	if (reader->n_hashes - first == MEMBERS_MAX)
		return refuse(reader, "an object of more than 1000 members");
	xcheck(array_grow(
		&reader->hashes, sizeof(hash), reader->n_hashes, &reader->hashes_capacity));
	reader->hashes[reader->n_hashes++] = hash;
	return 0;
}

/* Takes the name of a member, whose opening quote has been taken. */
static int take_name(struct json_reader *reader, struct json_token *ret)
{
	int r;

	r = take_string(reader);
	if (r >= 0)
		r = remember_name(reader, &ret->hash);
	if (r < 0)
		return r;
	r = skip_blanks(reader);
	if (r < 0)
		return r;
	if (r == 0 || *reader->at != ':')
		return refuse_here(reader, "':' was expected");
	reader->at++;
	reader->expect = EXPECT_VALUE;
	ret->type = JSON_TOKEN_NAME;
	ret->string = reader->string.data;
	return 0;
}

static int take_value(struct json_reader *reader, struct json_token *ret)
{
	char c = *reader->at;
	int r;

	if (c == '{' || c == '[') {
		reader->at++;
		ret->type = c == '{' ? JSON_TOKEN_OBJECT : JSON_TOKEN_ARRAY;
		return open_level(reader, c == '{');
	}
	if (c == '"') {
		reader->at++;
		r = take_string(reader);
		ret->type = JSON_TOKEN_STRING;
		ret->string = reader->string.data;
	} else if (c == '-' || (c >= '0' && c <= '9')) {
		r = take_number(reader, ret);
	} else {
		r = take_word(reader, false, ret);
	}
	complete_value(reader);
	return r;
}

/* Takes the end of an object or array where a value or name may also follow. */
static bool take_end(struct json_reader *reader, struct json_token *ret)
{
	bool is_object;

	if (reader->depth == 0)
		return false;
	is_object = reader->is_object[reader->depth - 1];
	if (*reader->at != (is_object ? '}' : ']'))
		return false;
	reader->at++;
	ret->type = is_object ? JSON_TOKEN_OBJECT_END : JSON_TOKEN_ARRAY_END;
	close_level(reader);
	return true;
}

int json_next(struct json_reader *reader, struct json_token *ret)
{
	int r;

	r = skip_blanks(reader);
	if (r < 0)
		return r;
	mark_place(reader);
	if (r == 0) {
		if (reader->expect != EXPECT_NOTHING)
			return refuse(reader,
				reader->depth == 0 ? "there is nothing in the file"
						   : "the file ends too early");
		ret->type = JSON_TOKEN_END;
		return 0;
	}
	if (reader->expect == EXPECT_COMMA_OR_END) {
		if (take_end(reader, ret))
			return 0;
		if (*reader->at != ',')
			return refuse(reader, describe_wish(reader));
		reader->at++;
		reader->expect = reader->is_object[reader->depth - 1] ? EXPECT_NAME : EXPECT_VALUE;
		r = skip_blanks(reader);
		if (r < 0)
			return r;
		mark_place(reader);
		if (r == 0)
			return refuse(reader, "the file ends too early");
	}
	switch (reader->expect) {
	case EXPECT_NAME_OR_END:
	case EXPECT_NAME:
		if (reader->expect == EXPECT_NAME_OR_END && take_end(reader, ret))
			return 0;
		if (*reader->at != '"')
			return refuse(reader, describe_wish(reader));
		reader->at++;
		return take_name(reader, ret);
	case EXPECT_VALUE_OR_END:
		if (take_end(reader, ret))
			return 0;
		return take_value(reader, ret);
	case EXPECT_VALUE:
		return take_value(reader, ret);
	default:
		return refuse(reader, describe_wish(reader));
	}
}

int json_skip(struct json_reader *reader, const struct json_token *token)
{
	size_t depth = reader->depth;
	struct json_token next;
	int r;

	if (token->type != JSON_TOKEN_OBJECT && token->type != JSON_TOKEN_ARRAY)
		return 0;
	do {
		r = json_next(reader, &next);
		if (r < 0)
			return r;
	} while (reader->depth >= depth);
	return 0;
}
