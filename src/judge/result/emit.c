// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "judge/result/emit.h"

void emit_fail(struct emit *emit, int error)
{
	if (emit->error == 0)
		emit->error = error;
}

static void put(struct emit *emit, const char *text, size_t n)
{
	if (emit->error < 0)
		return;
	errno = 0;
	/* No other thread writes to the stream, and a run has dozens of pieces: no locking. */
	if (fwrite_unlocked(text, 1, n, emit->stream) != n)
		emit->error = errno > 0 ? -errno : -EIO;
}

static void put_text(struct emit *emit, const char *text)
{
	put(emit, text, strlen(text));
}

void emit_verbatim(struct emit *emit, const char *text, size_t n)
{
	size_t done = 0;

	for (size_t i = 0; i < n; i++) {
		const unsigned char *s = (const unsigned char *)text + i;
		char escape[16];
		unsigned code;
		size_t length;

		/* First bytes of the control characters that JSON allows, in a string or as a
		 * blank. Those beyond U+FFFF are no characters, which terminals do not obey. */
		if (*s != 0x7f && *s != 0xc2 && *s != 0xe2 && *s != 0xef && *s != '\t' &&
			*s != '\r')
			continue;
		length = text_control_length(text + i, n - i, &code);
		if (length == 0)
			continue;
		put(emit, text + done, i - done);
		if (code < 0x20)
			snprintf(escape, sizeof(escape), " ");
		else
			snprintf(escape, sizeof(escape), "\\u%04x", code);
		put_text(emit, escape);
		done = i + length;
		i = done - 1;
	}
	put(emit, text + done, n - done);
}

static void put_string(struct emit *emit, const char *value)
{
	/* The characters that JSON itself requires to be escaped: U+0001 to U+001F, the quote and
	 * the backslash. */
	static const char odd[] = "\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f"
				  "\x10\x11\x12\x13\x14\x15\x16\x17\x18\x19\x1a\x1b\x1c\x1d"
				  "\x1e\x1f\"\\";
	_cleanup_free_ char *valid = xptr(text_escape_utf8(value));

	put(emit, "\"", 1);
	for (const char *p = valid; *p; p++) {
		size_t plain = strcspn(p, odd);
		char escape[8];

		emit_verbatim(emit, p, plain);
		p += plain;
		if (!*p)
			break;
		snprintf(
			escape, sizeof(escape), (unsigned char)*p >= 0x20 ? "\\%c" : "\\u%04x", *p);
		put_text(emit, escape);
	}
	put(emit, "\"", 1);
}

static void put_line_break(struct emit *emit)
{
	put(emit, "\n", 1);
	for (unsigned i = 0; i < emit->depth; i++)
		put(emit, "  ", 2);
}

/* Writes the comma, the line break and the name that precede a value. */
static void begin_value(struct emit *emit, const char *name)
{
	if (emit->depth > 0) {
		bool first = !emit->filled[emit->depth - 1];

		emit->filled[emit->depth - 1] = true;
		if (!first)
			put_text(emit, emit->one_line ? ", " : ",");
		if (!emit->one_line)
			put_line_break(emit);
	}
	if (name) {
		put_string(emit, name);
		put(emit, ": ", 2);
	}
}

static void open_level(struct emit *emit, const char *name, const char *bracket)
{
	begin_value(emit, name);
	put(emit, bracket, 1);
	if (emit->depth == EMIT_DEPTH_MAX) {
		emit_fail(emit, -EOVERFLOW);
		return;
	}
	emit->filled[emit->depth++] = false;
}

void emit_object(struct emit *emit, const char *name)
{
	open_level(emit, name, "{");
}

void emit_array(struct emit *emit, const char *name)
{
	open_level(emit, name, "[");
}

void emit_close(struct emit *emit, char bracket)
{
	if (emit->depth == 0)
		return;
	emit->depth--;
	if (emit->filled[emit->depth] && !emit->one_line)
		put_line_break(emit);
	put(emit, &bracket, 1);
}

void emit_string(struct emit *emit, const char *name, const char *value)
{
	begin_value(emit, name);
	if (value)
		put_string(emit, value);
	else
		put_text(emit, "null");
}

void emit_integer(struct emit *emit, const char *name, int64_t value)
{
	char text[32];

	begin_value(emit, name);
	snprintf(text, sizeof(text), "%" PRId64, value);
	put_text(emit, text);
}

/* 1e-6 instead of 1e-06, and 2.0 instead of 2. */
static void put_float(struct emit *emit, char *text)
{
	char *exponent = strchr(text, 'e');

	if (exponent && exponent[1] == '-' && exponent[2] == '0')
		memmove(exponent + 2, exponent + 3, strlen(exponent + 2));
	put_text(emit, text);
	if (!exponent && !strchr(text, '.'))
		put_text(emit, ".0");
}

void emit_real(struct emit *emit, const char *name, double value)
{
	char text[TEXT_REAL_SIZE];

	begin_value(emit, name);
	if (!isfinite(value)) {
		put_text(emit, "null");
		return;
	}
	text_format_real(value, text);
	if (emit->one_line)
		put_float(emit, text);
	else
		put_text(emit, text);
}

void emit_bool(struct emit *emit, const char *name, bool value)
{
	begin_value(emit, name);
	put_text(emit, value ? "true" : "false");
}

void emit_fact(struct emit *emit, const struct fact *fact)
{
	switch (fact->type) {
	case FACT_STRING:
		emit_string(emit, fact->name, fact->string);
		break;
	case FACT_INTEGER:
		emit_integer(emit, fact->name, fact->integer);
		break;
	case FACT_REAL:
		emit_real(emit, fact->name, fact->real);
		break;
	case FACT_BOOLEAN:
		emit_bool(emit, fact->name, fact->integer != 0);
		break;
	}
}

void emit_facts(struct emit *emit, const char *name, const struct facts *facts)
{
	if (facts->failed)
		xalloc_fail();
	emit_object(emit, name);
	for (size_t i = 0; i < facts->n; i++)
		emit_fact(emit, &facts->items[i]);
	emit_close(emit, '}');
}

void emit_copy(struct emit *emit, const char *name, const char *json, size_t n)
{
	begin_value(emit, name);
	emit_verbatim(emit, json, n);
}

int emit_finish(struct emit *emit)
{
	put(emit, "\n", 1);
	errno = 0;
	if (emit->error == 0 && (fflush(emit->stream) != 0 || ferror(emit->stream)))
		emit->error = errno > 0 ? -errno : -EIO;
	return emit->error;
}
