// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "basic/cleanup.h"
#include "basic/text.h"
#include "result/emit.h"

static void put_string(struct emit *emit, const char *value)
{
	_cleanup_free_ char *valid = text_escape_utf8(value);

	if (!valid) {
		emit->failed = true;
		return;
	}
	putc('"', emit->stream);
	for (const char *p = valid; *p; p++) {
		unsigned char c = (unsigned char)*p;

		if (c < 0x20 || c == 0x7f) {
			fprintf(emit->stream, "\\u%04x", c);
			continue;
		}
		if (c == '"' || c == '\\')
			putc('\\', emit->stream);
		putc(c, emit->stream);
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
