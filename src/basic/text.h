/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Strings: a growing buffer, and texts made safe for a terminal, a shell or a JSON file.
 * Functions that return char * return malloc'd text, or NULL when memory is short.
 */
#ifndef QUIESCE_BASIC_TEXT_H
#define QUIESCE_BASIC_TEXT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

#include "basic/macro.h"

/* A growing text. All zero is an empty one. A failed append makes it `failed`, which sticks, so
 * that a chain of appends needs one check at its end. */
struct text {
	char *data; /* NUL-terminated, or NULL while empty */
	size_t length;
	size_t capacity;
	bool failed;
};

void text_append(struct text *t, const char *s);
void text_append_n(struct text *t, const char *s, size_t n);
void text_appendf(struct text *t, const char *format, ...) _printf_(2, 3);
/* The text itself, owned by the caller then, and *t empty again; NULL if an append failed. */
char *text_steal(struct text *t);
void text_clear(struct text *t);

static inline void cleanup_text(struct text *t)
{
	text_clear(t);
}
#define _cleanup_text_ __attribute__((cleanup(cleanup_text)))

/* Control characters (those that turn the direction of text count as such), and bytes that are not
 * valid UTF-8, as \xNN; everything else as it is, so that doing it twice changes nothing. */
char *text_escape_control(const char *s);
/* The same, but newlines stay. */
char *text_escape_lines(const char *s);
/* The bytes of the control character that these n bytes begin with, and its code; 0, and *ret_code
 * as it was, when it is none. That are U+0000 to U+001F, U+007F to U+009F (terminals obey the upper
 * ones, too: U+009B is "ESC ["), U+2028 to U+202E and U+2066 to U+2069: ends of lines and
 * paragraphs, and what turns the direction of the text behind it, so that a line shows other words
 * than it holds.
 */
size_t text_control_length(const char *s, size_t n, unsigned *ret_code);
/* How many bytes at the beginning need no such escape. */
size_t text_plain_length(const char *s);
/* Bytes that are not valid UTF-8 as \xNN (a JSON string must be UTF-8); valid text as it is. */
char *text_escape_utf8(const char *s);
/* The vector as one line that a shell reads back as the same words. A word with control characters
 * is written as $'...' (POSIX.1-2024; bash, ksh and zsh before). */
char *text_quote_argv(char *const argv[]);
/* Frees *text and puts a copy of `by` in its place; NULL for NULL. On failure (-ENOMEM) *text
 * stays. */
int text_replace(char **text, const char *by);
/* Why something is refused: the words, safe for a terminal and malloc'd, in *ret_why, and `error`
 * as the result; -ENOMEM, and *ret_why as it was, when memory is short. */
int text_refuse(char **ret_why, int error, const char *format, ...) _printf_(3, 4);
int text_vrefuse(char **ret_why, int error, const char *format, va_list ap) _printf_(3, 0);
/* Undoes the escapes of a path in a table of /proc, in place: \040 (seq_path() in fs/seq_file.c).
 */
void text_unescape_octal(char *s);
bool text_starts_with(const char *s, const char *prefix);
/* Whether a word is one of those that stand between any of these characters. */
bool text_has_word(const char *s, const char *word, const char *separators);

#define TEXT_REAL_SIZE 40
/* A finite number in the fewest digits, from 15 on, that are read back as the same one, with '.' in
 * any locale: "0.1", "1e-09". */
const char *text_format_real(double value, char buf[static TEXT_REAL_SIZE]);

#endif
