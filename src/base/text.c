// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "base/cleanup.h"
#include "base/macro.h"
#include "base/parse.h"
#include "base/text.h"

static bool text_reserve(struct text *t, size_t more)
{
	size_t need, capacity;
	char *data;

	if (t->failed)
		return false;
	if (__builtin_add_overflow(t->length, more, &need) ||
		__builtin_add_overflow(need, (size_t)1, &need)) {
		t->failed = true;
		return false;
	}
	if (need <= t->capacity)
		return true;
	capacity = MAX(need, MAX((size_t)64, t->capacity * 2));
	data = realloc(t->data, capacity);
	if (!data) {
		t->failed = true;
		return false;
	}
	t->data = data;
	t->capacity = capacity;
	return true;
}

void text_append_n(struct text *t, const char *s, size_t n)
{
	if (!text_reserve(t, n))
		return;
	memcpy(t->data + t->length, s, n);
	t->length += n;
	t->data[t->length] = '\0';
}

void text_append(struct text *t, const char *s)
{
	text_append_n(t, s, strlen(s));
}

static void append_arguments(struct text *t, const char *format, va_list ap) _printf_(2, 0);

static void append_arguments(struct text *t, const char *format, va_list ap)
{
	va_list again;
	int n;

	va_copy(again, ap);
	n = vsnprintf(NULL, 0, format, again);
	va_end(again);
	if (n < 0) {
		t->failed = true;
		return;
	}
	if (!text_reserve(t, (size_t)n))
		return;
	vsnprintf(t->data + t->length, (size_t)n + 1, format, ap);
	t->length += (size_t)n;
}

void text_appendf(struct text *t, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	append_arguments(t, format, ap);
	va_end(ap);
}

void text_append_name(struct text *t, size_t n, size_t shown, const char *format, ...)
{
	va_list ap;

	if (n >= shown)
		return;
	if (n > 0)
		text_append(t, ", ");
	va_start(ap, format);
	append_arguments(t, format, ap);
	va_end(ap);
}

void text_append_rest(struct text *t, size_t n, size_t shown)
{
	if (n > shown)
		text_appendf(t, " and %zu more", n - shown);
}

char *text_steal(struct text *t)
{
	char *data;

	/* An empty text is "", not NULL: NULL means out of memory. */
	text_append_n(t, "", 0);
	if (t->failed) {
		text_clear(t);
		return NULL;
	}
	data = t->data;
	*t = (struct text){ 0 };
	return data;
}

void text_clear(struct text *t)
{
	free(t->data);
	*t = (struct text){ 0 };
}

/* Length of the UTF-8 sequence at s, 0 when it is invalid (RFC 3629: no overlong forms, no
 * surrogates, nothing above U+10FFFF). */
static size_t utf8_decode(const unsigned char *s, uint32_t *ret_code)
{
	size_t n;
	uint32_t code;

	*ret_code = s[0];

	if (s[0] < 0x80)
		return 1;
	if ((s[0] & 0xe0) == 0xc0) {
		n = 2;
		code = s[0] & 0x1f;
	} else if ((s[0] & 0xf0) == 0xe0) {
		n = 3;
		code = s[0] & 0x0f;
	} else if ((s[0] & 0xf8) == 0xf0) {
		n = 4;
		code = s[0] & 0x07;
	} else {
		return 0;
	}
	for (size_t i = 1; i < n; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (s[i] & 0x3f);
	}
	if (code < (n == 2 ? 0x80u : n == 3 ? 0x800u : 0x10000u))
		return 0;
	if (code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff))
		return 0;
	*ret_code = code;
	return n;
}

static size_t utf8_length(const unsigned char *s)
{
	uint32_t code;

	return utf8_decode(s, &code);
}

size_t text_next_columns(const char *s, size_t *ret_length)
{
	uint32_t code;
	size_t length = utf8_decode((const unsigned char *)s, &code);
	int columns = length > 1 ? wcwidth((wchar_t)code) : 1;

	*ret_length = MAX(length, (size_t)1);
	return columns < 0 ? 1 : (size_t)columns;
}

size_t text_columns(const char *s, size_t n)
{
	size_t columns = 0, length;

	for (size_t i = 0; i < n; i += length)
		columns += text_next_columns(s + i, &length);
	return columns;
}

size_t text_control_length(const char *s, size_t n, unsigned *ret_code)
{
	const unsigned char *c = (const unsigned char *)s;
	unsigned code = 0;
	size_t length = 0;

	if (n >= 1 && (c[0] < 0x20 || c[0] == 0x7f)) {
		code = c[0];
		length = 1;
	} else if (n >= 2 && c[0] == 0xc2 && c[1] >= 0x80 && c[1] < 0xa0) {
		code = c[1];
		length = 2;
	} else if (n >= 3 && c[0] == 0xe2 &&
		((c[1] == 0x80 && c[2] >= 0xa8 && c[2] <= 0xae) ||
			(c[1] == 0x81 && c[2] >= 0xa6 && c[2] <= 0xa9))) {
		code = 0x2000u | (c[1] & 0x3fu) << 6 | (c[2] & 0x3fu);
		length = 3;
	} else if (n >= 3 && c[0] == 0xef && c[1] == 0xbf && c[2] >= 0xbe) {
		code = 0xff40u | c[2];
		length = 3;
	} else if (n >= 3 && c[0] == 0xef && c[1] == 0xb7 && c[2] >= 0x90 && c[2] < 0xb0) {
		code = 0xfd40u | c[2];
		length = 3;
	} else if (n >= 4 && c[0] >= 0xf0 && c[0] <= 0xf4 && (c[1] & 0x8f) == 0x8f &&
		c[2] == 0xbf && c[3] >= 0xbe) {
		code = (c[0] & 7u) << 18 | (c[1] & 0x3fu) << 12 | 0xfc0u | (c[3] & 0x3fu);
		length = 4;
	}
	if (length > 0)
		*ret_code = code;
	return length;
}

/* s is NUL-terminated, and NUL is never inside a character, so no byte after the end is read. */
static bool is_control(const char *s)
{
	unsigned code;

	return text_control_length(s, 4, &code) > 0;
}

size_t text_plain_length(const char *s)
{
	size_t plain = 0, n;

	/* Nearly all texts consist of such characters only. */
	while (s[plain] >= ' ' && s[plain] < 0x7f)
		plain++;
	while (s[plain] && (n = utf8_length((const unsigned char *)s + plain)) > 0 &&
		!is_control(s + plain))
		plain += n;
	return plain;
}

/* Writes invalid UTF-8 as \xNN, and with `controls` also control characters, except the ASCII
 * character `allowed` (0 for none). */
static char *escape(const char *s, bool controls, char allowed)
{
	_cleanup_text_ struct text t = { 0 };

	while (*s) {
		const unsigned char *rest = (const unsigned char *)s;
		size_t plain = 0, n;

		while (rest[plain] && (n = utf8_length(rest + plain)) > 0 &&
			(!controls || s[plain] == allowed || !is_control(s + plain)))
			plain += n;
		text_append_n(&t, s, plain);
		s += plain;
		if (!*s)
			break;
		n = MAX(utf8_length((const unsigned char *)s), (size_t)1);
		for (size_t i = 0; i < n; i++)
			text_appendf(&t, "\\x%02x", (unsigned char)s[i]);
		s += n;
	}
	return text_steal(&t);
}

char *text_escape_control(const char *s)
{
	return escape(s, true, 0);
}

char *text_escape_lines(const char *s)
{
	return escape(s, true, '\n');
}

char *text_escape_utf8(const char *s)
{
	return escape(s, false, 0);
}

static bool is_plain_word(const char *s)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789_@%+=:,./-";

	return *s && strspn(s, plain) == strlen(s);
}

static bool has_control(const char *s)
{
	for (; *s; s++) {
		if (is_control(s))
			return true;
	}
	return false;
}

/* Appends 'word', or $'word' where the word holds control characters. */
static void append_quoted(struct text *t, const char *word)
{
	bool ansi = has_control(word);

	text_append(t, ansi ? "$'" : "'");
	while (*word) {
		size_t n = MAX(utf8_length((const unsigned char *)word), (size_t)1);

		if (is_control(word)) {
			for (size_t i = 0; i < n; i++)
				text_appendf(t, "\\%03o", (unsigned char)word[i]);
		} else if (ansi && (*word == '\'' || *word == '\\')) {
			text_appendf(t, "\\%c", *word);
		} else if (*word == '\'') {
			text_append(t, "'\\''");
		} else {
			text_append_n(t, word, n);
		}
		word += n;
	}
	text_append(t, "'");
}

char *text_quote_argv(char *const argv[])
{
	_cleanup_text_ struct text t = { 0 };

	for (size_t i = 0; argv[i]; i++) {
		if (i > 0)
			text_append(&t, " ");
		/* As the first word, a=b would set a variable. */
		if (is_plain_word(argv[i]) && (i > 0 || !strchr(argv[i], '=')))
			text_append(&t, argv[i]);
		else
			append_quoted(&t, argv[i]);
	}
	return text_steal(&t);
}

int text_format(char **ret, const char *format, ...)
{
	char *text;
	va_list ap;
	int n;

	va_start(ap, format);
	n = vasprintf(&text, format, ap);
	va_end(ap);
	if (n < 0)
		return -ENOMEM;
	*ret = text;
	return 0;
}

int text_replace(char **text, const char *by)
{
	char *copy = by ? strdup(by) : NULL;

	if (by && !copy)
		return -ENOMEM;
	free(*text);
	*text = copy;
	return 0;
}

void text_unescape_octal(char *s)
{
	char *out = s;

	for (; *s; s++) {
		bool octal = s[0] == '\\' && s[1] >= '0' && s[1] <= '3' && s[2] >= '0' &&
			s[2] <= '7' && s[3] >= '0' && s[3] <= '7';

		*out++ = octal ? (char)((s[1] - '0') * 64 + (s[2] - '0') * 8 + s[3] - '0') : *s;
		if (octal)
			s += 3;
	}
	*out = '\0';
}

size_t text_name_length(const char *s)
{
	return strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
}

bool text_starts_with(const char *s, const char *prefix)
{
	return strncmp(s, prefix, strlen(prefix)) == 0;
}

bool text_ends_with(const char *s, const char *end)
{
	size_t n = strlen(s), n_end = strlen(end);

	return n > n_end && strcmp(s + n - n_end, end) == 0;
}

const char *text_find_choice(const char *s, size_t *ret_length)
{
	const char *open = strchr(s, '['), *close = open ? strchr(open, ']') : NULL;

	if (!close)
		return NULL;
	*ret_length = (size_t)(close - open - 1);
	return open + 1;
}

void text_pick_choice(char *s)
{
	size_t length;
	const char *choice = text_find_choice(s, &length);

	if (!choice)
		return;
	memmove(s, choice, length);
	s[length] = '\0';
}

bool text_has_word_n(const char *s, const char *word, size_t n, const char *separators)
{
	while (*s) {
		size_t length = strcspn(s, separators);

		if (length == n && strncmp(s, word, n) == 0)
			return true;
		s += length + (s[length] != '\0');
	}
	return false;
}

bool text_has_word(const char *s, const char *word, const char *separators)
{
	return text_has_word_n(s, word, strlen(word), separators);
}

int text_vrefuse(char **ret_why, int error, const char *format, va_list ap)
{
	_cleanup_free_ char *raw = NULL;
	char *plain;

	if (vasprintf(&raw, format, ap) < 0) {
		raw = NULL;
		return -ENOMEM;
	}
	plain = text_escape_control(raw);
	if (!plain)
		return -ENOMEM;
	*ret_why = plain;
	return error;
}

int text_refuse(char **ret_why, int error, const char *format, ...)
{
	va_list ap;
	int r;

	va_start(ap, format);
	r = text_vrefuse(ret_why, error, format, ap);
	va_end(ap);
	return r;
}

/* Replaces the locale's decimal point by '.'. The decimal point is whatever is neither a digit nor
 * part of an exponent. */
static void make_point_plain(char *number)
{
	size_t at = strcspn(number + (*number == '-'), "0123456789") + (*number == '-');
	size_t point = at + strspn(number + at, "0123456789");
	size_t rest = point + strcspn(number + point, "0123456789e");

	if (rest == point)
		return;
	number[point] = '.';
	memmove(number + point + 1, number + rest, strlen(number + rest) + 1);
}

const char *text_format_real(double value, char buf[static TEXT_REAL_SIZE])
{
	double back;

	for (int digits = 15; digits <= 17; digits++) {
		snprintf(buf, TEXT_REAL_SIZE, "%.*g", digits, value);
		make_point_plain(buf);
		if (parse_real(buf, &back) == 0 && back == value)
			break;
	}
	return buf;
}

/* The column at which the further lines of a broken line begin. */
static size_t hanging_indent(const char *line, size_t length, size_t width)
{
	size_t indent = 0, label;

	while (indent < length && line[indent] == ' ')
		indent++;
	for (label = indent; indent > 0 && label + 2 < length; label++)
		if (line[label] == ' ' && line[label + 1] == ' ')
			break;
	while (label < length && line[label] == ' ')
		label++;
	return indent > 0 && label > indent + 2 && label < width / 2 ? label : indent + 4;
}

/* How many bytes of the line, which has `length` bytes, fit into `width` columns: up to a blank, or
 * up to the end of its first word. */
static size_t fitting_length(const char *line, size_t length, size_t indent, size_t width)
{
	size_t columns = indent, fitting = 0, n;

	for (size_t i = 0; i < length; i += n) {
		/* A line is not broken inside the blanks at its beginning. */
		if (line[i] == ' ' && i > 0 && line[i - 1] != ' ' &&
			(columns <= width || fitting == 0))
			fitting = i;
		columns += text_next_columns(line + i, &n);
	}
	return columns <= width || fitting == 0 ? length : fitting;
}

static void append_wrapped(struct text *t, const char *line, size_t length, size_t width)
{
	size_t hanging = hanging_indent(line, length, width), indent = 0;

	for (;;) {
		size_t n = fitting_length(line, length, indent, width);

		text_append_n(t, line, n);
		while (n < length && line[n] == ' ')
			n++;
		line += n;
		length -= n;
		if (length == 0)
			return;
		indent = hanging;
		text_appendf(t, "\n%*s", (int)indent, "");
	}
}

char *text_wrap(const char *s, size_t width)
{
	struct text t = { 0 };

	text_append(&t, "");
	while (*s) {
		size_t length = strcspn(s, "\n");

		append_wrapped(&t, s, length, width);
		s += length;
		if (*s)
			text_append_n(&t, s++, 1);
	}
	return text_steal(&t);
}

char *text_shorten(const char *s, size_t columns)
{
	static const char dots[] = "...";
	size_t all = text_columns(s, strlen(s)), head = 0, tail = 0, passed = 0, next, n;
	size_t most_head = (columns - strlen(dots) + 1) / 2;
	size_t most_tail = (columns - strlen(dots)) / 2;
	struct text t = { 0 };

	if (all <= columns)
		return strdup(s);
	for (; s[tail]; tail += n) {
		next = text_next_columns(s + tail, &n);
		if (passed + next <= most_head)
			head = tail + n;
		/* A mark that combines goes with the character before it. */
		if (all - passed <= most_tail && next > 0)
			break;
		passed += next;
	}
	text_append_n(&t, s, head);
	text_append(&t, dots);
	text_append(&t, s + tail);
	return text_steal(&t);
}

const char *text_entity(char c)
{
	switch (c) {
	case '&':
		return "&amp;";
	case '<':
		return "&lt;";
	case '>':
		return "&gt;";
	case '"':
		return "&quot;";
	case '\'':
		return "&#39;";
	default:
		return NULL;
	}
}

void text_append_markup(struct text *t, const char *s)
{
	for (; *s; s++) {
		const char *entity = text_entity(*s);

		text_append_n(t, entity ? entity : s, entity ? strlen(entity) : 1);
	}
}
