// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "basic/cleanup.h"
#include "basic/text.h"
#include "result/emit.h"

/* The stream is no other thread's, and there are dozens of pieces to a run. */
bool emit_text(FILE *stream, const char *text, size_t n)
{
	size_t done = 0;

	for (size_t i = 0; i < n; i++) {
		const unsigned char *s = (const unsigned char *)text + i;
		unsigned code;
		size_t length;

		if (*s != 0x7f && *s != 0xc2 && *s != 0xe2)
			continue;
		length = text_control_length(text + i, n - i, &code);
		if (length == 0)
			continue;
		if (fwrite_unlocked(text + done, 1, i - done, stream) != i - done ||
			fprintf(stream, "\\u%04x", code) < 0)
			return false;
		done = i + length;
		i = done - 1;
	}
	return fwrite_unlocked(text + done, 1, n - done, stream) == n - done;
}

static void put_string(struct emit *emit, const char *value)
{
	/* What JSON itself wants escaped: U+0001 to U+001F, the quote and the backslash. */
	static const char odd[] = "\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f"
				  "\x10\x11\x12\x13\x14\x15\x16\x17\x18\x19\x1a\x1b\x1c\x1d"
				  "\x1e\x1f\"\\";
	_cleanup_free_ char *valid = text_escape_utf8(value);

	if (!valid) {
		emit->failed = true;
		return;
	}
	putc('"', emit->stream);
	for (const char *p = valid; *p;) {
		size_t plain = strcspn(p, odd);

		(void)emit_text(emit->stream, p, plain);
		p += plain;
		if ((unsigned char)*p >= 0x20)
			fprintf(emit->stream, "\\%c", *p++);
		else if (*p)
			fprintf(emit->stream, "\\u%04x", (unsigned)*p++);
	}
	putc('"', emit->stream);
}

/* The comma, the line and the name before a value. */
static void begin_value(struct emit *emit, const char *name)
{
	if (emit->depth > 0) {
		if (emit->filled[emit->depth - 1])
			putc(',', emit->stream);
		emit->filled[emit->depth - 1] = true;
		putc('\n', emit->stream);
		for (unsigned i = 0; i < emit->depth; i++)
			fputs("  ", emit->stream);
	}
	if (name) {
		put_string(emit, name);
		fputs(": ", emit->stream);
	}
}

static void open_level(struct emit *emit, const char *name, char bracket)
{
	begin_value(emit, name);
	putc(bracket, emit->stream);
	if (emit->depth == EMIT_DEPTH_MAX) {
		emit->failed = true;
		return;
	}
	emit->filled[emit->depth++] = false;
}

void emit_object(struct emit *emit, const char *name)
{
	open_level(emit, name, '{');
}

void emit_array(struct emit *emit, const char *name)
{
	open_level(emit, name, '[');
}

void emit_close(struct emit *emit, char bracket)
{
	if (emit->depth == 0)
		return;
	emit->depth--;
	if (emit->filled[emit->depth]) {
		putc('\n', emit->stream);
		for (unsigned i = 0; i < emit->depth; i++)
			fputs("  ", emit->stream);
	}
	putc(bracket, emit->stream);
}

void emit_string(struct emit *emit, const char *name, const char *value)
{
	begin_value(emit, name);
	if (value)
		put_string(emit, value);
	else
		fputs("null", emit->stream);
}

void emit_integer(struct emit *emit, const char *name, int64_t value)
{
	begin_value(emit, name);
	fprintf(emit->stream, "%" PRId64, value);
}

void emit_real(struct emit *emit, const char *name, double value)
{
	char text[TEXT_REAL_SIZE];

	begin_value(emit, name);
	if (!isfinite(value)) {
		fputs("null", emit->stream);
		return;
	}
	fputs(text_format_real(value, text), emit->stream);
}

void emit_bool(struct emit *emit, const char *name, bool value)
{
	begin_value(emit, name);
	fputs(value ? "true" : "false", emit->stream);
}

int emit_finish(struct emit *emit)
{
	putc('\n', emit->stream);
	errno = 0;
	if (fflush(emit->stream) != 0 || ferror(emit->stream))
		return errno > 0 ? -errno : -EIO;
	return emit->failed ? -ENOMEM : 0;
}
