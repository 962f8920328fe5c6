// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "judge/result/metadata.h"
#include "judge/result/reading.h"

enum {
	BENCHMARKS_MAX = 10 * 1000,
	RUNS_MAX = 50 * 1000 * 1000,
	LEFT_OUT_MAX = 1000,
	TEXT_MAX = 64 * 1024 * 1024,
};

/* --- Tokens --- */

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

/* --- Facts --- */

const char *reader_plain(struct text *buffer, const char *s)
{
	_cleanup_free_ char *plain = NULL;

	if (!s[text_plain_length(s)])
		return s;
	plain = xptr(text_escape_control(s));
	buffer->length = 0;
	text_append(buffer, plain);
	if (buffer->failed)
		xalloc_fail();
	return buffer->data;
}

/* "tags": their list, as one text. */
static int read_tags(struct reader *reader, struct text *t)
{
	struct json_token token;
	int r;

	for (;;) {
		struct fact tag = { .type = FACT_STRING };
		const char *objection = "is not a list of tags";

		r = reader_next(reader, &token);
		if (r < 0)
			return r;
		if (token.type == JSON_TOKEN_ARRAY_END)
			break;
		if (token.type == JSON_TOKEN_STRING) {
			tag.string = (char *)token.string;
			objection = metadata_judge("tag", &tag);
		}
		if (objection)
			return reader_refuse(
				reader, "no pyperf result: metadata 'tags' %s", objection);
		if (t->length + strlen(token.string) > TEXT_MAX)
			return reader_refuse(reader, "more than 64 MiB of metadata");
		text_append(t, t->length > 0 ? ", " : "");
		text_append(t, token.string);
	}
	text_append(t, "");
	if (t->failed)
		xalloc_fail();
	return 0;
}

int reader_read_fact(struct reader *reader, const char *name, struct text *buffer, struct fact *ret)
{
	struct json_token token;
	int r = reader_next(reader, &token);

	return r < 0 ? r : reader_take_fact(reader, &token, name, buffer, ret);
}

int reader_take_fact(struct reader *reader, const struct json_token *token, const char *name,
	struct text *buffer, struct fact *ret)
{
	const char *objection, *begin;
	size_t n;

	buffer->length = 0;
	ret->name = (char *)name;
	if (token->type == JSON_TOKEN_ARRAY && metadata_is_list(name)) {
		int r = read_tags(reader, buffer);

		if (r < 0)
			return r;
		ret->type = FACT_STRING;
		ret->string = (char *)reader_plain(buffer, buffer->data);
		return 0;
	}
	switch (token->type) {
	case JSON_TOKEN_STRING:
		ret->type = FACT_STRING;
		ret->string = (char *)token->string;
		break;
	case JSON_TOKEN_INTEGER:
		ret->type = FACT_INTEGER;
		ret->integer = token->integer;
		break;
	case JSON_TOKEN_REAL:
		ret->type = FACT_REAL;
		ret->real = token->real;
		break;
	case JSON_TOKEN_TRUE:
	case JSON_TOKEN_FALSE:
		ret->type = FACT_BOOLEAN;
		ret->integer = token->type == JSON_TOKEN_TRUE;
		break;
	default:
		return reader_refuse(reader,
			"no pyperf result: metadata '%s' is neither a string nor a number", name);
	}
	objection = metadata_judge(name, ret);
	if (objection)
		return reader_refuse(reader, "no pyperf result: metadata '%s' %s", name, objection);
	if (ret->type == FACT_STRING) {
		metadata_strip(ret->string, &begin, &n);
		if (begin != ret->string || begin[n]) {
			text_append_n(buffer, begin, n);
			if (buffer->failed)
				xalloc_fail();
			ret->string = buffer->data;
		}
		ret->string = (char *)reader_plain(buffer, ret->string);
	}
	return 0;
}

int reader_keep_fact(struct reader *reader, struct facts *facts, const struct fact *fact)
{
	reader->text_size +=
		strlen(fact->name) + (fact->type == FACT_STRING ? strlen(fact->string) : 0);
	if (reader->text_size > TEXT_MAX)
		return reader_refuse(reader, "more than 64 MiB of metadata");
	facts_set_copy(facts, fact->name, fact);
	if (facts->failed)
		xalloc_fail();
	return 0;
}

/* --- Benchmarks and their runs --- */

void pending_free(struct pending *pending)
{
	if (!pending)
		return;
	for (size_t i = 0; i < pending->n_names; i++) {
		free(pending->names[i].name);
		free(pending->names[i].figure);
		facts_clear(&pending->names[i].first);
	}
	free(pending->names);
	free(pending->spoilt);
	facts_clear(&pending->metadata);
	benchmark_free(pending->benchmark);
	free(pending);
}

struct pending *reader_pending_new(const struct reader *reader)
{
	struct pending *pending = xptr(calloc(1, sizeof(*pending)));
	struct benchmark *b = xptr(calloc(1, sizeof(*b)));

	if (reader->keeps)
		b->kept = xptr((struct kept *)calloc(1, sizeof(*b->kept)));
	b->series = series_new(reader->with_evidence, NULL);
	pending->benchmark = b;
	return pending;
}

int reader_add_pending(struct reader *reader, struct pending **pending)
{
	if (reader->n_pending == BENCHMARKS_MAX)
		return reader_refuse(reader, "more than 10000 benchmarks");
	reader->pending = xptr(
		reallocarray(reader->pending, reader->n_pending + 1, sizeof(struct pending *)));
	reader->pending[reader->n_pending++] = TAKE_PTR(*pending);
	return 0;
}

int reader_add_value(struct reader *reader, struct pending *pending, double value)
{
	struct benchmark *b = pending->benchmark;

	if (b->n_values == READING_VALUES_MAX)
		return reader_refuse(reader, "more than 250 million values");
	xcheck(array_grow(&b->values, sizeof(*b->values), b->n_values, &pending->values_capacity));
	b->values[b->n_values++] = value;
	return 0;
}

int reader_read_values(
	struct reader *reader, struct pending *pending, const char *of, const char *why)
{
	struct json_token token;
	int r = reader_enter_array(reader, of);

	while (r >= 0) {
		r = reader_next(reader, &token);
		if (r < 0 || token.type == JSON_TOKEN_ARRAY_END)
			return r;
		if ((token.type != JSON_TOKEN_REAL && token.type != JSON_TOKEN_INTEGER) ||
			!(token.real > 0)) {
			r = reader_spoil(reader, pending, why);
			if (r >= 0)
				r = reader_explain(reader, json_skip(reader->json, &token));
		}
		if (r >= 0)
			r = reader_add_value(reader, pending, token.real);
	}
	return r;
}

int reader_add_run(
	struct reader *reader, struct pending *pending, struct run_data *data, size_t end)
{
	struct benchmark *b = pending->benchmark;
	size_t at = b->series->n_samples;
	size_t values_before = at > 0 ? b->runs[at - 1].end : 0;
	size_t warmups_before = at > 0 ? b->runs[at - 1].warmup_end : 0;
	int r;

	if (end == values_before && b->n_warmups == warmups_before)
		return reader_refuse(reader, "no pyperf result: a run without values");
	if (at == RUNS_MAX)
		return reader_refuse(reader, "more than 50 million runs");
	data->sample.warmup = end == values_before;
	xcheck(array_grow(&b->runs, sizeof(*b->runs), at, &pending->runs_capacity));
	b->runs[at] = data->values;
	b->runs[at].end = end;
	b->runs[at].warmup_end = b->n_warmups;
	r = xcheck(series_append(b->series, &data->sample, &data->evidence, data->counters));
	if (r < 0)
		return r;
	series_set_provenance(b->series, &data->provenance);
	return 0;
}

int reader_spoil(struct reader *reader, struct pending *pending, const char *why)
{
	struct json_place place = json_place(reader->json);

	if (reader->keeps)
		return reader_refuse(reader, "no pyperf result: %s", why);
	if (!pending->spoilt)
		pending->spoilt =
			xformat("%" PRIu64 ":%" PRIu64 ": %s", place.line, place.column, why);
	return 0;
}

int reader_leave_out(struct reader *reader, const char *name, const char *why)
{
	if (reader->left_out.n == LEFT_OUT_MAX)
		return reader_refuse(
			reader, "more than %d benchmarks that have to be left out", LEFT_OUT_MAX);
	return reader_keep_fact(reader, &reader->left_out,
		&(struct fact){ .name = (char *)name, .type = FACT_STRING, .string = (char *)why });
}
