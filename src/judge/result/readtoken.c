// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "judge/result/json.h"
#include "judge/result/reading.h"

int reader_refuse(struct reader *reader, const char *format, ...)
{
	struct json_place place = json_place(reader->json);
	_cleanup_free_ char *words = NULL;
	va_list ap;

	va_start(ap, format);
	xcheck(text_vrefuse(&words, -EINVAL, format, ap));
	va_end(ap);
	free(TAKE_PTR(reader->why));
	return xrefuse(&reader->why, -EINVAL, "%" PRIu64 ":%" PRIu64 ": %s", place.line,
		place.column, words);
}

int reader_explain(struct reader *reader, int error)
{
	if (error == -EINVAL && json_why(reader->json))
		return reader_refuse(reader, "%s", json_why(reader->json));
	if (error == -EBADMSG)
		(void)reader_refuse(reader, "the compressed data are damaged or cut off");
	return error;
}

static int expect(struct reader *reader, const struct json_token *token, enum json_type type,
	const char *what, const char *of)
{
	if (token->type == type)
		return 0;
	return reader_refuse(reader, "no pyperf result: %s %s", of, what);
}

int reader_expect_object(struct reader *reader, const struct json_token *token, const char *of)
{
	return expect(reader, token, JSON_TOKEN_OBJECT, "is not an object", of);
}

int reader_expect_array(struct reader *reader, const struct json_token *token, const char *of)
{
	return expect(reader, token, JSON_TOKEN_ARRAY, "is not a list", of);
}

int reader_skip_value(struct reader *reader)
{
	struct json_token token;
	int r;

	r = reader_next(reader, &token);
	if (r < 0)
		return r;
	r = json_skip(reader->json, &token);
	return r < 0 ? reader_explain(reader, r) : r;
}

void reader_begin_raw(struct reader *reader)
{
	if (!reader->keeps)
		return;
	reader->raw.length = 0;
	json_copy_text(reader->json, &reader->raw);
}

/* The text that was read since then, without the blanks in front. */
static const char *end_raw(struct reader *reader)
{
	json_copy_text(reader->json, NULL);
	if (reader->raw.failed)
		xalloc_fail();
	return reader->raw.data + strspn(reader->raw.data, " \t\r\n");
}

void reader_keep_raw(struct reader *reader, struct facts *facts, const char *name)
{
	if (!reader->keeps)
		return;
	facts_set_string(facts, name, end_raw(reader));
	if (facts->failed)
		xalloc_fail();
}

void reader_keep_run_raw(struct reader *reader, struct pending *pending, size_t name)
{
	if (reader->keeps)
		kept_add(pending->benchmark->kept, name, end_raw(reader));
}

int reader_skip_member(struct reader *reader, const char *name, struct facts *members)
{
	_cleanup_free_ char *copy = NULL;
	int r;

	if (!reader->keeps)
		return reader_skip_value(reader);
	copy = xptr(strdup(name));
	reader_begin_raw(reader);
	r = reader_skip_value(reader);
	if (r >= 0)
		reader_keep_raw(reader, members, copy);
	return r;
}

int reader_enter_object(struct reader *reader, const char *of)
{
	struct json_token token;
	int r;

	r = reader_next(reader, &token);
	return r < 0 ? r : reader_expect_object(reader, &token, of);
}

int reader_enter_array(struct reader *reader, const char *of)
{
	struct json_token token;
	int r;

	r = reader_next(reader, &token);
	return r < 0 ? r : reader_expect_array(reader, &token, of);
}

int reader_read_list(struct reader *reader, const char *of, const char *item,
	int (*each)(struct reader *reader, void *context), void *context)
{
	struct json_token token;
	int r;

	r = reader_enter_array(reader, of);
	while (r >= 0) {
		r = reader_next(reader, &token);
		if (r < 0)
			return r;
		if (token.type == JSON_TOKEN_ARRAY_END)
			break;
		r = reader_expect_object(reader, &token, item);
		if (r >= 0)
			r = each(reader, context);
	}
	return r;
}
