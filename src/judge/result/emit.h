/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes JSON to a stream as it comes: nothing is kept, so that a dump of millions of values costs
 * no memory. Names and strings may hold any bytes: control characters are escaped, and bytes that
 * are not UTF-8 are written as \xNN. A number that is not finite becomes null. The first error is
 * kept: nothing is written after it.
 */
#ifndef QUIESCE_JUDGE_RESULT_EMIT_H
#define QUIESCE_JUDGE_RESULT_EMIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/facts.h"

#define EMIT_DEPTH_MAX 32

/* All zero but for the stream: each member on a line of its own, indented. */
struct emit {
	FILE *stream;
	/* As in a result file: "{"a": 1, "b": 2.0}". A real number keeps a point or an exponent, so
	 * that Python reads a float. */
	bool one_line;
	int error; /* the first error, a negative errno */
	unsigned depth;
	bool filled[EMIT_DEPTH_MAX]; /* has this level an element? */
};

/*
 * Copies a piece of a JSON text (of whole characters). Only characters that a terminal obeys are
 * changed: control characters in strings (text_control_length()) are escaped as \uNNNN, and a tab
 * or a carriage return between values becomes a blank.
 */
void emit_verbatim(struct emit *emit, const char *text, size_t n);

/* All take the name of a member; NULL inside of an array and at the top. */
void emit_object(struct emit *emit, const char *name);
void emit_array(struct emit *emit, const char *name);
/* Ends the innermost object or array: '}' or ']'. */
void emit_close(struct emit *emit, char bracket);
/* NULL becomes null. */
void emit_string(struct emit *emit, const char *name, const char *value);
void emit_integer(struct emit *emit, const char *name, int64_t value);
/* The fewest digits, from 15 on, that are read back as the same number. */
void emit_real(struct emit *emit, const char *name, double value);
void emit_bool(struct emit *emit, const char *name, bool value);
/* A fact under its name. A text that is NULL becomes null. */
void emit_fact(struct emit *emit, const struct fact *fact);
/* An object of these facts. */
void emit_facts(struct emit *emit, const char *name, const struct facts *facts);
/* A value that is JSON text already; copied by emit_verbatim(). */
void emit_copy(struct emit *emit, const char *name, const char *json, size_t n);
/* Ends the writing with this error, unless there was one before. */
void emit_fail(struct emit *emit, int error);
/* Writes a newline at the end, and flushes. 0 or a negative errno. */
int emit_finish(struct emit *emit);

#endif
