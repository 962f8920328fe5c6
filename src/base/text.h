/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Strings: a growing buffer, and texts made safe for a terminal, a shell or a JSON file. Functions
 * that return char * return malloc'd text, or NULL when out of memory.
 */
#ifndef QUIESCE_BASE_TEXT_H
#define QUIESCE_BASE_TEXT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/macro.h"

/* A growing text. An all-zero struct is an empty text. A failed append sets `failed`, which stays
 * set, so that a chain of appends needs one check at its end. */
struct text {
	char *data; /* NUL-terminated, or NULL while empty */
	size_t length;
	size_t capacity;
	bool failed;
};

void text_append(struct text *t, const char *s);
void text_append_n(struct text *t, const char *s, size_t n);
void text_appendf(struct text *t, const char *format, ...) _printf_(2, 3);
/* A list of which the first `shown` names stand in the text: "a, b and 3 more". Appends the name (a
 * printf format) behind the n before it; text_append_rest() ends a list of n. */
void text_append_name(struct text *t, size_t n, size_t shown, const char *format, ...)
	_printf_(4, 5);
void text_append_rest(struct text *t, size_t n, size_t shown);
/* Returns the text, which the caller then owns, and makes *t empty; NULL if an append failed. */
char *text_steal(struct text *t);
void text_clear(struct text *t);

static inline void cleanup_text(struct text *t)
{
	text_clear(t);
}
#define _cleanup_text_ __attribute__((cleanup(cleanup_text)))

/* Writes control characters (including those that change the direction of text) and bytes that are
 * not valid UTF-8 as \xNN. Everything else, backslashes too, is unchanged, so that escaping twice
 * changes nothing. */
char *text_escape_control(const char *s);
/* As text_escape_control(), but newlines are unchanged. */
char *text_escape_lines(const char *s);
/* Whether the n bytes begin with a control character: its length in bytes, and its code in
 * *ret_code; else 0, with *ret_code untouched. Control characters are U+0000 to U+001F, U+007F to
 * U+009F (terminals obey the upper ones too: U+009B is "ESC ["), U+2028 to U+202E and U+2066 to
 * U+2069: these end lines and paragraphs or change the direction of the following text, so that a
 * line shows other words than it holds. U+FFFE and U+FFFF count as control characters too: they are
 * not characters, and XML does not allow them; and so do the last two code points of all other
 * planes and U+FDD0 to U+FDEF, which are not characters either, and which cairo refuses. */
size_t text_control_length(const char *s, size_t n, unsigned *ret_code);
/* The columns of a terminal that the first character of the text takes: two for an East Asian
 * character, none for a mark that combines with the character before it, as far as the locale
 * knows, else one. *ret_length is the character's length in bytes. */
size_t text_next_columns(const char *s, size_t *ret_length);
/* The columns of the first n bytes, which must not end inside a character. */
size_t text_columns(const char *s, size_t n);
/* How many bytes at the beginning need no escape by text_escape_control(). */
size_t text_plain_length(const char *s);
/* Writes bytes that are not valid UTF-8 as \xNN (a JSON string must be UTF-8); valid text is
 * unchanged. */
char *text_escape_utf8(const char *s);
/* The vector as one line that a shell parses into the same words. A word with control characters is
 * written as $'...' (POSIX.1-2024; before that in bash, ksh and zsh). */
char *text_quote_argv(char *const argv[]);
/* As asprintf(3): 0, or -ENOMEM with *ret untouched. */
int text_format(char **ret, const char *format, ...) _printf_(2, 3);
/* Frees *text and replaces it by a copy of `by`, or by NULL for NULL. On failure (-ENOMEM) *text is
 * unchanged. */
int text_replace(char **text, const char *by);
/* Stores the reason of a refusal in *ret_why, malloc'd and safe for a terminal, and returns
 * `error`. Returns -ENOMEM with *ret_why untouched when out of memory. */
int text_refuse(char **ret_why, int error, const char *format, ...) _printf_(3, 4);
int text_vrefuse(char **ret_why, int error, const char *format, va_list ap) _printf_(3, 0);
/* How HTML and XML write a character between tags and in quotes: "&amp;"; NULL for a character that
 * needs no escape. */
const char *text_entity(char c);
/* The text with each line that has more characters than `width` broken at blanks. The further lines
 * begin below the value of a line such as "  median    5 ms", else four columns to the right of the
 * line's beginning. A word without a blank is never broken. */
char *text_wrap(const char *s, size_t width);
/* The text in at most so many columns (5 and more): of a longer one, "..." stands for the middle.
 */
char *text_shorten(const char *s, size_t columns);
/* Appends a text as HTML and XML write it between tags and in quotes. */
void text_append_markup(struct text *t, const char *s);
/* Undoes in place the escapes of a path in a /proc table: \040 (seq_path() in fs/seq_file.c). */
void text_unescape_octal(char *s);
bool text_starts_with(const char *s, const char *prefix);
/* Whether the text ends with `end` and is longer than it. */
bool text_ends_with(const char *s, const char *end);
/* How long the name is with which the text begins: letters, digits and "_" of ASCII. */
size_t text_name_length(const char *s);
/* Whether `word` is one of the words of `s`, which any of the separator characters separate. */
bool text_has_word(const char *s, const char *word, const char *separators);
/* The same for a word of n bytes, behind which other text may stand. */
bool text_has_word_n(const char *s, const char *word, size_t n, const char *separators);

/* The chosen word of an attribute such as "always [madvise] never", and its length; NULL for a text
 * without brackets. */
const char *text_find_choice(const char *s, size_t *ret_length);
/* Cuts such a text to its chosen word; one without brackets stays as it is. */
void text_pick_choice(char *s);

#define TEXT_REAL_SIZE 40
/* Formats a finite number with the fewest digits, at least 15, that are parsed as the same number,
 * with '.' in any locale: "0.1", "1e-09". */
const char *text_format_real(double value, char buf[static TEXT_REAL_SIZE]);

#endif
