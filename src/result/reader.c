// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "basic/macro.h"
#include "basic/text.h"
#include "result/json.h"
#include "result/metadata.h"
#include "result/reader.h"
#include "result/reading.h"

enum {
	BENCHMARKS_MAX = 10 * 1000,
};

/* --- Tokens --- */

int reader_refuse(struct reader *reader, const char *format, ...)
{
	struct json_place place = json_place(reader->json);
	_cleanup_free_ char *words = NULL;
	va_list ap;
	char *why;
	int r;

	va_start(ap, format);
	r = text_vrefuse(&words, -EINVAL, format, ap);
	va_end(ap);
	if (r == -EINVAL)
		r = text_refuse(
			&why, r, "%" PRIu64 ":%" PRIu64 ": %s", place.line, place.column, words);
	if (r == -EINVAL) {
		free(reader->why);
		reader->why = why;
	}
	return r;
}

int reader_explain(struct reader *reader, int error)
{
	int r;

	if (error == -EINVAL && json_why(reader->json))
		return reader_refuse(reader, "%s", json_why(reader->json));
	if (error == -EBADMSG) {
		r = reader_refuse(reader, "the compressed data are damaged or cut off");
		return r == -EINVAL ? -EBADMSG : r;
	}
	return error;
}

int reader_skip(struct reader *reader, const struct json_token *token)
{
	int r = json_skip(reader->json, token);

	return r < 0 ? reader_explain(reader, r) : r;
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
	return r < 0 ? r : reader_skip(reader, &token);
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

/* --- Benchmarks --- */

static void pending_free(struct pending *pending)
{
	if (!pending)
		return;
	for (size_t i = 0; i < pending->n_names; i++) {
		free(pending->names[i].name);
		facts_clear(&pending->names[i].first);
	}
	free(pending->names);
	facts_clear(&pending->metadata);
	benchmark_free(pending->benchmark);
	free(pending);
}
DEFINE_CLEANUP(pending, pending_free);

static int pending_new(bool with_evidence, struct pending **ret)
{
	_cleanup_(pending) struct pending *pending = calloc(1, sizeof(*pending));
	int r;

	if (!pending)
		return -ENOMEM;
	pending->benchmark = calloc(1, sizeof(*pending->benchmark));
	if (!pending->benchmark)
		return -ENOMEM;
	r = series_new(with_evidence, NULL, &pending->benchmark->series);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(pending);
	return 0;
}

/* Behind '{'. */
static int read_benchmark(struct reader *reader, void *context _unused_)
{
	_cleanup_(pending) struct pending *pending = NULL;
	struct pending **all;
	struct json_token token;
	int r;

	r = pending_new(reader->with_evidence, &pending);
	while (r >= 0) {
		r = reader_next(reader, &token);
		if (r < 0 || token.type == JSON_TOKEN_OBJECT_END)
			break;
		if (strcmp(token.string, "metadata") == 0) {
			r = reader_read_metadata(reader, &pending->metadata);
		} else if (strcmp(token.string, "runs") == 0) {
			r = reader_read_runs(reader, pending);
		} else {
			r = reader_skip_value(reader);
		}
	}
	if (r < 0)
		return r;
	if (pending->benchmark->series->n_samples == 0)
		return reader_refuse(reader, "no pyperf result: a benchmark without 'runs'");
	if (reader->n_pending == BENCHMARKS_MAX)
		return reader_refuse(reader, "more than 10000 benchmarks");
	all = reallocarray(reader->pending, reader->n_pending + 1, sizeof(struct pending *));
	if (!all)
		return -ENOMEM;
	reader->pending = all;
	all[reader->n_pending++] = TAKE_PTR(pending);
	return 0;
}

static int read_benchmarks(struct reader *reader)
{
	int r;

	r = reader_read_list(
		reader, "the value of 'benchmarks'", "a benchmark", read_benchmark, NULL);
	if (r >= 0 && reader->n_pending == 0)
		return reader_refuse(reader, "no pyperf result: it has no benchmarks");
	return r;
}

static int read_version(struct reader *reader)
{
	struct json_token token;
	int r;

	r = reader_next(reader, &token);
	if (r < 0)
		return r;
	/* Older ones are integers. */
	if (token.type == JSON_TOKEN_INTEGER)
		return reader_refuse(reader,
			"pyperf's format version %" PRId64
			" is not 1.0, which is the one that is known here",
			token.integer);
	if (token.type != JSON_TOKEN_STRING || strcmp(token.string, "1.0") != 0)
		return reader_refuse(reader, "no pyperf result: 'version' is not \"1.0\"");
	return 0;
}

static int read_root(struct reader *reader)
{
	bool has_version = false, has_benchmarks = false;
	struct json_token token;
	int r;

	r = reader_enter_object(reader, "it");
	while (r >= 0) {
		r = reader_next(reader, &token);
		if (r < 0 || token.type == JSON_TOKEN_OBJECT_END)
			break;
		if (strcmp(token.string, "version") == 0) {
			has_version = true;
			r = read_version(reader);
		} else if (strcmp(token.string, "benchmarks") == 0) {
			has_benchmarks = true;
			r = read_benchmarks(reader);
		} else if (strcmp(token.string, "metadata") == 0) {
			r = reader_read_metadata(reader, &reader->suite_metadata);
		} else {
			r = reader_skip_value(reader);
		}
	}
	if (r >= 0 && !has_version)
		return reader_refuse(reader, "no pyperf result: 'version' is missing");
	if (r >= 0 && !has_benchmarks)
		return reader_refuse(reader, "no pyperf result: 'benchmarks' are missing");
	return r < 0 ? r : reader_next(reader, &token);
}

/* --- The whole --- */

static int finish_suite(struct reader *reader, struct suite **ret)
{
	_cleanup_(suite) struct suite *suite = calloc(1, sizeof(*suite));
	int r;

	if (!suite)
		return -ENOMEM;
	suite->benchmarks = calloc(reader->n_pending, sizeof(struct benchmark *));
	if (!suite->benchmarks)
		return -ENOMEM;
	for (size_t i = 0; i < reader->n_pending; i++) {
		r = reader_finish_benchmark(reader, reader->pending[i]);
		if (r < 0)
			return r;
		if (suite_find(suite, reader->pending[i]->benchmark->name))
			return reader_refuse(reader,
				"no pyperf result: two benchmarks are named '%s'",
				reader->pending[i]->benchmark->name);
		suite->benchmarks[suite->n++] = TAKE_PTR(reader->pending[i]->benchmark);
	}
	*ret = TAKE_PTR(suite);
	return 0;
}

int suite_read_input(struct input *input, bool with_evidence, struct suite **ret, char **ret_why)
{
	_cleanup_(json_reader) struct json_reader *json = NULL;
	struct reader reader = { .with_evidence = with_evidence };
	int r;

	r = json_reader_new(input, &json);
	if (r < 0)
		return r;
	reader.json = json;
	r = read_root(&reader);
	if (r >= 0)
		r = finish_suite(&reader, ret);
	for (size_t i = 0; i < reader.n_pending; i++)
		pending_free(reader.pending[i]);
	free(reader.pending);
	facts_clear(&reader.suite_metadata);
	if (r == -EINVAL || r == -EBADMSG)
		*ret_why = TAKE_PTR(reader.why);
	free(reader.why);
	return r;
}

int suite_read(const char *path, bool with_evidence, struct suite **ret, char **ret_why)
{
	_cleanup_(input) struct input *input = NULL;
	int r;

	r = input_open(path, &input);
	if (r == -EINVAL) {
		*ret_why = strdup(" neither a file nor a pipe");
		return *ret_why ? r : -ENOMEM;
	}
	if (r < 0)
		return r;
	return suite_read_input(input, with_evidence, ret, ret_why);
}

void suite_free(struct suite *suite)
{
	if (!suite)
		return;
	for (size_t i = 0; i < suite->n; i++)
		benchmark_free(suite->benchmarks[i]);
	free(suite->benchmarks);
	free(suite);
}

struct benchmark *suite_find(const struct suite *suite, const char *name)
{
	for (size_t i = 0; i < suite->n; i++)
		if (metadata_equal_strings(suite->benchmarks[i]->name, name))
			return suite->benchmarks[i];
	return NULL;
}
