// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "judge/result/metadata.h"
#include "judge/result/reading.h"

enum {
	NAMES_MAX = 1000,
	TEXT_MAX = 64 * 1024 * 1024,
};
_Static_assert(NAME_SLOTS >= 2 * NAMES_MAX, "a name is found in a few steps");

/*
 * A text as it is kept: control characters and such as \xNN (text_escape_control()), so that code
 * that shows it in a table, a picture or a message need not escape it. The result is `s` itself
 * where there are no control characters, else it is in `buffer`, which may hold `s` as well.
 */
static const char *make_plain(struct text *buffer, const char *s)
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
		ret->string = (char *)make_plain(buffer, buffer->data);
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
		ret->string = (char *)make_plain(buffer, ret->string);
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

int reader_read_metadata(
	struct reader *reader, bool may_be_null, struct facts *facts, struct facts *above)
{
	_cleanup_text_ struct text buffer = { 0 };
	struct json_token token;
	int r;

	r = reader_next(reader, &token);
	if (r >= 0 && may_be_null && token.type == JSON_TOKEN_NULL)
		return 0;
	if (r >= 0)
		r = reader_expect_object(reader, &token, "the value of 'metadata'");
	while (r >= 0 && (r = reader_next_member(reader, &token)) > 0) {
		/* Not escaped for a terminal, because it is going to be written to a file. */
		_cleanup_free_ char *raw = xptr(strdup(token.string));
		_cleanup_free_ char *name = xptr(strdup(make_plain(&buffer, raw)));
		struct fact fact;

		reader_begin_raw(reader);
		r = reader_read_fact(reader, name, &buffer, &fact);
		if (r >= 0)
			r = reader_keep_fact(reader, facts, &fact);
		if (r >= 0)
			reader_keep_raw(reader, above, raw);
	}
	return r;
}

/* Finds the record of a name, or makes it. */
static int find_run_name(struct reader *reader, struct pending *pending, struct text *buffer,
	const struct json_token *token, struct run_name **ret)
{
	const char *plain = make_plain(buffer, token->string);
	size_t slot = token->hash % NAME_SLOTS;
	int r;

	for (; pending->slots[slot] > 0; slot = (slot + 1) % NAME_SLOTS) {
		struct run_name *name = &pending->names[pending->slots[slot] - 1];

		if (name->hash == token->hash && strcmp(name->name, plain) == 0) {
			*ret = name;
			return 0;
		}
	}
	if (pending->n_names == NAMES_MAX)
		return reader_refuse(reader, "more than 1000 different names of metadata");
	pending->names =
		xptr(reallocarray(pending->names, pending->n_names + 1, sizeof(*pending->names)));
	*ret = &pending->names[pending->n_names++];
	**ret = (struct run_name){ .name = xptr(strdup(plain)), .hash = token->hash };
	pending->slots[slot] = (uint16_t)pending->n_names;
	if (reader->keeps) {
		r = kept_add_name(pending->benchmark->kept, token->string, false, &(*ret)->kept);
		if (r < 0)
			return r;
	}
	run_field_find(pending->benchmark->series, (*ret)->name, &(*ret)->field);
	return 0;
}

int reader_read_run_metadata(
	struct reader *reader, struct pending *pending, struct text *buffer, struct run_data *data)
{
	bool first_run = pending->benchmark->series->n_samples == 0;
	struct json_token token;
	int r;

	r = reader_enter_object(reader, "the value of 'metadata'");
	while (r >= 0 && (r = reader_next_member(reader, &token)) > 0) {
		struct run_name *name = NULL;
		struct fact fact;

		r = find_run_name(reader, pending, buffer, &token, &name);
		if (r < 0 || !name)
			break;
		reader_begin_raw(reader);
		r = reader_read_fact(reader, name->name, buffer, &fact);
		if (r < 0)
			break;
		reader_keep_run_raw(reader, pending, name->kept);
		if (name->n_seen++ == 0) {
			name->in_first_run = first_run;
			r = reader_keep_fact(reader, &name->first, &fact);
		} else if (!name->varies) {
			name->varies = !metadata_equal_facts(&name->first.items[0], &fact);
		}
		if (r >= 0)
			run_field_read(
				&name->field, &data->place, pending->benchmark->series, &fact);
	}
	return r;
}
