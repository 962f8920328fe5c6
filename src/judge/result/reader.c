// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/lookup.h"
#include "base/macro.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "judge/result/foreign.h"
#include "judge/result/json.h"
#include "judge/result/metadata.h"
#include "judge/result/reader.h"
#include "judge/result/reading.h"
#include "judge/result/readmetadata.h"
#include "judge/result/recognize.h"

enum {
	MEMBERS_MAX = 1000,
};

/* Of a file that is kept: bytes. */
#define KEPT_MAX (UINT64_C(4) * 1024 * 1024 * 1024)

/* --- Runs --- */

static int read_warmup(struct reader *reader, struct benchmark_warmup *ret)
{
	struct json_token tokens[3];
	int r;

	for (size_t i = 0; i < ARRAY_SIZE(tokens); i++) {
		r = reader_next(reader, &tokens[i]);
		if (r < 0)
			return r;
		if (i < 2 && tokens[i].type == JSON_TOKEN_ARRAY_END)
			break;
		if (i == 0 && (tokens[i].type != JSON_TOKEN_INTEGER || tokens[i].integer < 1))
			break;
		if (i == 1 &&
			((tokens[i].type != JSON_TOKEN_REAL &&
				 tokens[i].type != JSON_TOKEN_INTEGER) ||
				!(tokens[i].real >= 0)))
			break;
		if (i == 2 && tokens[i].type == JSON_TOKEN_ARRAY_END) {
			*ret = (struct benchmark_warmup){
				.loops = (uint64_t)tokens[0].integer,
				.value = tokens[1].real,
			};
			return 0;
		}
	}
	return reader_refuse(reader, "no pyperf result: a warm-up is not [loops, value]");
}

/* Reads the value of "warmups": pyperf accepts null for an empty list. */
static int read_warmups(struct reader *reader, struct pending *pending)
{
	struct benchmark *b = pending->benchmark;
	struct json_token token;
	int r = reader_next(reader, &token);

	if (r < 0 || token.type == JSON_TOKEN_NULL)
		return r;
	r = reader_expect_array(reader, &token, "the value of 'warmups'");
	while (r >= 0) {
		r = reader_next(reader, &token);
		if (r < 0 || token.type == JSON_TOKEN_ARRAY_END)
			return r;
		r = reader_expect_array(reader, &token, "a warm-up");
		if (r < 0)
			return r;
		if (b->n_warmups == READING_VALUES_MAX / 2)
			return reader_refuse(reader, "more than 125 million warm-ups");
		xcheck(array_grow(&b->warmups, sizeof(*b->warmups), b->n_warmups,
			&pending->warmups_capacity));
		r = read_warmup(reader, &b->warmups[b->n_warmups]);
		b->n_warmups += r >= 0;
	}
	return r;
}

/* The number of a member of runs among the names that are kept. */
static int find_member(
	struct reader *reader, struct pending *pending, const char *name, size_t *ret)
{
	struct kept *kept = pending->benchmark->kept;

	if (!reader->keeps)
		return 0;
	*ret = kept_find(kept, name, true);
	if (*ret > 0)
		return 0;
	if (kept->n_names > 2 * MEMBERS_MAX)
		return reader_refuse(reader, "more than 1000 different names of members");
	return kept_add_name(kept, name, true, ret);
}

/* Any member of a run but "metadata". */
static int read_run_member(struct reader *reader, struct pending *pending, const char *name)
{
	/* Before 1.0, pyperf called the values samples. */
	bool has_values = strcmp(name, "values") == 0 || strcmp(name, "samples") == 0;
	bool has_warmups = strcmp(name, "warmups") == 0;
	bool has_figures = strcmp(name, BENCHMARK_FIGURES) == 0;
	size_t kept = 0;
	int r = find_member(reader, pending, name, &kept);

	if (r < 0)
		return r;
	reader_begin_raw(reader);
	if (has_values)
		r = reader_read_values(reader, pending, "the value of 'values'",
			"a value is not a number above 0");
	else if (has_warmups)
		r = read_warmups(reader, pending);
	else if (has_figures)
		r = reader_read_figures(reader, pending);
	else
		r = reader_skip_value(reader);
	if (r >= 0)
		reader_keep_run_raw(reader, pending, kept);
	return r;
}

/* What is reused for each run of a benchmark. */
struct runs {
	struct pending *pending;
	struct text buffer;
	struct run_data data;
};

/* Reads a run, of which the '{' has been read. */
static int read_run(struct reader *reader, void *context)
{
	struct runs *runs = context;
	struct pending *pending = runs->pending;
	struct json_token token;
	int r = 0;

	run_data_clear(&runs->data);
	while (r >= 0 && (r = reader_next_member(reader, &token)) > 0)
		r = strcmp(token.string, "metadata") == 0
			? reader_read_run_metadata(reader, pending, &runs->buffer, &runs->data)
			: read_run_member(reader, pending, token.string);
	if (r >= 0)
		r = reader_add_run(reader, pending, &runs->data, pending->benchmark->n_values);
	if (r < 0 || !reader->keeps)
		return r;
	if (json_offset(reader->json) > KEPT_MAX)
		return -EFBIG;
	kept_end_run(pending->benchmark->kept);
	return 0;
}

static int read_runs(struct reader *reader, struct pending *pending)
{
	struct runs runs = { .pending = pending };
	int r;

	r = reader_read_list(reader, "the value of 'runs'", "a run", read_run, &runs);
	text_clear(&runs.buffer);
	if (r >= 0 && pending->benchmark->series->n_samples == 0)
		return reader_refuse(reader, "no pyperf result: a benchmark without runs");
	return r;
}

/* --- Benchmarks --- */

/* Reads a benchmark, of which the '{' has been read. */
static int read_benchmark(struct reader *reader, void *context _unused_)
{
	_cleanup_(pending) struct pending *pending = reader_pending_new(reader);
	struct facts nowhere = { 0 }, *above = &nowhere, *members = &nowhere;
	struct json_token token;
	int r = 0;

	if (reader->keeps) {
		above = &pending->benchmark->kept->above;
		members = &pending->benchmark->kept->members;
	}
	while (r >= 0 && (r = reader_next_member(reader, &token)) > 0) {
		if (strcmp(token.string, "metadata") == 0 ||
			strcmp(token.string, "common_metadata") == 0)
			r = reader_read_metadata(reader, false, &pending->metadata, above);
		else if (strcmp(token.string, "runs") == 0)
			r = read_runs(reader, pending);
		else
			r = reader_skip_member(reader, token.string, members);
	}
	if (r < 0)
		return r;
	if (pending->benchmark->series->n_samples == 0)
		return reader_refuse(reader, "no pyperf result: a benchmark without 'runs'");
	return reader_add_pending(reader, &pending);
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
	/* Format 5 is what pyperf 0.8.3 to 0.9.5 write, and 6 what 0.9.6 does: metadata and values
	 * of 5 are called common_metadata and samples (_bench.py, _json_load()). */
	reader->is_old =
		token.type == JSON_TOKEN_INTEGER && (token.integer == 5 || token.integer == 6);
	if (reader->is_old)
		return 0;
	if (token.type == JSON_TOKEN_INTEGER)
		return reader_refuse(reader,
			"pyperf's format version %" PRId64
			" is none of 5, 6 and 1.0, which are read here",
			token.integer);
	if (token.type != JSON_TOKEN_STRING || strcmp(token.string, "1.0") != 0)
		return reader_refuse(reader, "no pyperf result: 'version' is not \"1.0\"");
	return 0;
}

static enum format find_format(const char *first)
{
	if (strcmp(first, "results") == 0 || strcmp(first, "schema_version") == 0)
		return FORMAT_HYPERFINE;
	return strcmp(first, "context") == 0 ? FORMAT_GOOGLE : FORMAT_PYPERF;
}

/* What the members of the whole that are read have told. */
struct root {
	bool has_version;
	bool has_benchmarks;
};

static int read_hyperfine_member(struct reader *reader, const char *name, struct root *root)
{
	if (strcmp(name, "schema_version") == 0) {
		root->has_version = true;
		return reader_read_hyperfine_schema(reader);
	}
	if (strcmp(name, "metadata") == 0)
		return reader_read_hyperfine_metadata(reader);
	if (strcmp(name, "results") != 0)
		return reader_skip_value(reader);
	root->has_benchmarks = true;
	return reader_read_hyperfine(reader);
}

static int read_google_member(struct reader *reader, const char *name, struct root *root)
{
	if (strcmp(name, "context") == 0)
		return reader_read_google_context(reader);
	if (strcmp(name, "benchmarks") != 0)
		return reader_skip_value(reader);
	root->has_benchmarks = true;
	return reader_read_google(reader);
}

static int read_pyperf_member(struct reader *reader, const char *name, struct root *root)
{
	if (strcmp(name, "version") == 0) {
		root->has_version = true;
		return read_version(reader);
	}
	if (strcmp(name, "metadata") == 0)
		return reader_read_metadata(
			reader, true, &reader->suite_metadata, &reader->suite_above);
	if (strcmp(name, "benchmarks") != 0)
		return reader_skip_member(reader, name, &reader->members);
	root->has_benchmarks = true;
	return read_benchmarks(reader);
}

/* Whether all of it is there that makes it a result. */
static int check_root(struct reader *reader, const struct root *root)
{
	if (reader->format == FORMAT_HYPERFINE && !root->has_benchmarks)
		return reader_refuse(reader, "no hyperfine result: 'results' are missing");
	/* The versions before 2.0 do not tell theirs. */
	if (reader->format == FORMAT_HYPERFINE && !root->has_version)
		return reader_keep_fact(reader, &reader->suite_metadata,
			&(struct fact){ .name = (char *)METADATA_HYPERFINE_VERSION,
				.type = FACT_STRING,
				.string = (char *)"1" });
	if (reader->format == FORMAT_GOOGLE && !root->has_benchmarks)
		return reader_refuse(
			reader, "no result of google-benchmark: 'benchmarks' are missing");
	if (reader->format != FORMAT_GOOGLE && reader->format != FORMAT_HYPERFINE &&
		!root->has_version)
		return reader_refuse(reader, "no pyperf result: 'version' is missing");
	if (!root->has_benchmarks)
		return reader_refuse(reader, "no pyperf result: 'benchmarks' are missing");
	return 0;
}

/* By the name of the first member. Results of other tools cannot be kept as they stand: they are
 * made anew, of all that is known. */
static void settle_format(struct reader *reader, const char *first)
{
	reader->format = find_format(first);
	if (reader->format == FORMAT_PYPERF || !reader->keeps)
		return;
	reader->keeps = false;
	reader->with_evidence = true;
}

static int read_root(struct reader *reader)
{
	struct root root = { 0 };
	struct json_token token;
	int r;

	r = reader_enter_object(reader, "it");
	while (r >= 0 && (r = reader_next_member(reader, &token)) > 0) {
		_cleanup_free_ char *name = xptr(strdup(token.string));

		if (reader->format == FORMAT_UNKNOWN)
			settle_format(reader, name);
		if (reader->format == FORMAT_HYPERFINE)
			r = read_hyperfine_member(reader, name, &root);
		else if (reader->format == FORMAT_GOOGLE)
			r = read_google_member(reader, name, &root);
		else
			r = read_pyperf_member(reader, name, &root);
	}
	reader->hash = json_hash(reader->json);
	if (r >= 0)
		r = check_root(reader, &root);
	return r < 0 ? r : reader_next(reader, &token);
}

/* --- The whole --- */

/* Whether a benchmark of this name is in the suite; by_name gets the place that the next one will
 * have. */
static bool is_named_twice(const struct suite *suite, struct lookup *by_name, const char *name)
{
	uint64_t hash = metadata_hash_string(name);
	size_t step = 0, at;

	while ((at = lookup_next(by_name, hash, &step)) != SIZE_MAX)
		if (metadata_equal_strings(suite->benchmarks[at]->name, name))
			return true;
	xcheck(lookup_add(by_name, hash, suite->n));
	return false;
}

static int finish_suite(struct reader *reader, struct suite **ret)
{
	_cleanup_lookup_ struct lookup by_name = { 0 };
	_cleanup_(suite) struct suite *suite = xptr(calloc(1, sizeof(*suite)));
	int r;

	suite->benchmarks = xptr(calloc(reader->n_pending, sizeof(struct benchmark *)));
	for (size_t i = 0; i < reader->n_pending; i++) {
		struct pending *pending = reader->pending[i];
		struct benchmark *b = pending->benchmark;

		reader_extend_figures(b);
		r = reader_finish_benchmark(reader, pending);
		if (r >= 0 && pending->spoilt) {
			_cleanup_free_ char *why = xformat("(%s)", pending->spoilt);

			r = reader_leave_out(reader, b->name, why);
		} else if (r >= 0 && is_named_twice(suite, &by_name, b->name)) {
			r = reader_refuse(
				reader, "no pyperf result: two benchmarks are named '%s'", b->name);
		} else if (r >= 0) {
			suite->benchmarks[suite->n++] = TAKE_PTR(pending->benchmark);
		}
		if (r < 0)
			return r;
	}
	if (suite->n == 0) {
		free(reader->why);
		reader->why = TAKE_PTR(reader->pending[0]->spoilt);
		return -EINVAL;
	}
	*ret = TAKE_PTR(suite);
	return 0;
}

/* What is none of our results, but known, is named as what it is. */
static int name_unknown(struct reader *reader)
{
	size_t size;
	const char *head = json_head(reader->json, &size), *what = recognize(head, size);

	if (!what)
		return -EINVAL;
	free(TAKE_PTR(reader->why));
	return xrefuse(&reader->why, -EINVAL, "1:1: %s", what);
}

static int read_input(
	struct input *input, bool with_evidence, bool keeps, struct suite **ret, char **ret_why)
{
	_cleanup_(json_reader) struct json_reader *json = json_reader_new(input);
	_cleanup_(suite) struct suite *suite = NULL;
	struct reader reader = { .json = json, .with_evidence = with_evidence, .keeps = keeps };
	int r;

	if (keeps)
		json_hash_all(json);
	r = read_root(&reader);
	if (r >= 0)
		r = finish_suite(&reader, &suite);
	if (r >= 0) {
		suite->foreign = reader.format != FORMAT_PYPERF || reader.is_old;
		suite->hash = reader.hash;
		suite->members = reader.members;
		suite->left_out = reader.left_out;
		reader.members = reader.left_out = (struct facts){ 0 };
	}
	for (size_t i = 0; i < reader.n_pending; i++)
		pending_free(reader.pending[i]);
	free(reader.pending);
	facts_clear(&reader.suite_metadata);
	facts_clear(&reader.suite_above);
	facts_clear(&reader.members);
	facts_clear(&reader.left_out);
	text_clear(&reader.raw);
	if (r == -EINVAL)
		r = name_unknown(&reader);
	if (r == -EINVAL || r == -EBADMSG || r == -ENODATA)
		*ret_why = TAKE_PTR(reader.why);
	free(reader.why);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(suite);
	return 0;
}

int suite_read_input(struct input *input, bool with_evidence, struct suite **ret, char **ret_why)
{
	return read_input(input, with_evidence, false, ret, ret_why);
}

int suite_read_kept(struct input *input, struct suite **ret, char **ret_why)
{
	return read_input(input, false, true, ret, ret_why);
}

int suite_read(const char *path, bool with_evidence, struct suite **ret, char **ret_why)
{
	_cleanup_(input) struct input *input = NULL;
	int r;

	r = input_open(path, &input);
	if (r == -EINVAL) {
		*ret_why = xptr(strdup(" neither a file nor a pipe"));
		return r;
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
	facts_clear(&suite->left_out);
	facts_clear(&suite->members);
	free(suite);
}

size_t suite_find_index(const struct suite *suite, const char *name)
{
	for (size_t i = 0; i < suite->n; i++)
		if (metadata_equal_strings(suite->benchmarks[i]->name, name))
			return i;
	return SIZE_MAX;
}

struct benchmark *suite_find(const struct suite *suite, const char *name)
{
	size_t index = suite_find_index(suite, name);

	return index == SIZE_MAX ? NULL : suite->benchmarks[index];
}
