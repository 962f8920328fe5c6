// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "basic/macro.h"
#include "basic/text.h"
#include "result/json.h"
#include "result/metadata.h"
#include "result/reader.h"
#include "result/rundata.h"

enum {
	VALUES_MAX = 250 * 1000 * 1000,
	RUNS_MAX = 50 * 1000 * 1000,
	BENCHMARKS_MAX = 10 * 1000,
	NAMES_MAX = 1000,
	NAME_SLOTS = 2048, /* a power of 2, at least twice as many */
	TEXT_MAX = 64 * 1024 * 1024,
};

/* A name of metadata that some run has. */
struct run_name {
	char *name;
	uint64_t hash;
	struct run_field field;
	struct facts first; /* its value in the first run that has it */
	size_t n_seen;	    /* in so many runs */
	bool varies;
	bool in_first_run;
};

/* A benchmark whose suite's metadata are not known yet: they stand behind it in pyperf's files. */
struct pending {
	struct benchmark *benchmark;
	struct facts metadata;
	struct run_name *names;
	size_t n_names;
	uint16_t slots[NAME_SLOTS]; /* by hash: index into names, plus 1 */
	size_t values_capacity;
	size_t warmups_capacity;
	size_t runs_capacity;
};

struct reader {
	struct json_reader *json;
	bool with_evidence;
	char *why;
	struct pending **pending;
	size_t n_pending;
	struct facts suite_metadata;
	size_t text_size; /* of the metadata that are kept */
};

/* --- Refusing --- */

static int refuse(struct reader *reader, const char *format, ...) _printf_(2, 3);

static int refuse(struct reader *reader, const char *format, ...)
{
	struct json_place place = json_place(reader->json);
	_cleanup_free_ char *raw = NULL;
	_cleanup_text_ struct text t = { 0 };
	va_list ap;
	int n;

	va_start(ap, format);
	n = vasprintf(&raw, format, ap);
	va_end(ap);
	if (n < 0) {
		raw = NULL;
		return -ENOMEM;
	}
	text_appendf(&t, "%" PRIu64 ":%" PRIu64 ": %s", place.line, place.column, raw);
	if (t.failed)
		return -ENOMEM;
	free(reader->why);
	reader->why = text_escape_control(t.data);
	return reader->why ? -EINVAL : -ENOMEM;
}

/* A token, with whatever is wrong already written down. */
static int next(struct reader *reader, struct json_token *ret)
{
	int r = json_next(reader->json, ret);

	if (r == -EINVAL && json_why(reader->json))
		return refuse(reader, "%s", json_why(reader->json));
	if (r == -EBADMSG) {
		r = refuse(reader, "the compressed data are damaged or cut off");
		return r == -EINVAL ? -EBADMSG : r;
	}
	return r;
}

static int skip(struct reader *reader, const struct json_token *token)
{
	int r = json_skip(reader->json, token);

	if (r == -EINVAL && json_why(reader->json))
		return refuse(reader, "%s", json_why(reader->json));
	return r;
}

static int expect(struct reader *reader, const struct json_token *token, enum json_type type,
	const char *what, const char *of)
{
	if (token->type == type)
		return 0;
	return refuse(reader, "no pyperf result: %s %s", of, what);
}

static int expect_object(struct reader *reader, const struct json_token *token, const char *of)
{
	return expect(reader, token, JSON_TOKEN_OBJECT, "is not an object", of);
}

static int expect_array(struct reader *reader, const struct json_token *token, const char *of)
{
	return expect(reader, token, JSON_TOKEN_ARRAY, "is not a list", of);
}

/* --- Metadata --- */

/* "tags": their list, as one text. */
static int read_tags(struct reader *reader, struct text *t)
{
	struct json_token token;
	int r;

	for (;;) {
		struct fact tag = { .type = FACT_STRING };
		const char *objection = "is not a list of tags";

		r = next(reader, &token);
		if (r < 0)
			return r;
		if (token.type == JSON_TOKEN_ARRAY_END)
			break;
		if (token.type == JSON_TOKEN_STRING) {
			tag.string = (char *)token.string;
			objection = metadata_judge("tag", &tag);
		}
		if (objection)
			return refuse(reader, "no pyperf result: metadata 'tags' %s", objection);
		if (t->length + strlen(token.string) > TEXT_MAX)
			return refuse(reader, "more than 64 MiB of metadata");
		text_append(t, t->length > 0 ? ", " : "");
		text_append(t, token.string);
	}
	text_append(t, "");
	return t->failed ? -ENOMEM : 0;
}

/*
 * The value behind a name of metadata, borrowed from the token or from `buffer`. Texts lose the
 * blanks around them, as in pyperf.
 */
static int read_fact(struct reader *reader, const char *name, struct text *buffer, struct fact *ret)
{
	const char *objection, *begin;
	struct json_token token;
	size_t n;
	int r;

	r = next(reader, &token);
	if (r < 0)
		return r;
	buffer->length = 0;
	ret->name = (char *)name;
	if (token.type == JSON_TOKEN_ARRAY && metadata_is_list(name)) {
		r = read_tags(reader, buffer);
		ret->type = FACT_STRING;
		ret->string = buffer->data;
		return r;
	}
	switch (token.type) {
	case JSON_TOKEN_STRING:
		ret->type = FACT_STRING;
		ret->string = (char *)token.string;
		break;
	case JSON_TOKEN_INTEGER:
		ret->type = FACT_INTEGER;
		ret->integer = token.integer;
		break;
	case JSON_TOKEN_REAL:
		ret->type = FACT_REAL;
		ret->real = token.real;
		break;
	default:
		return refuse(reader,
			"no pyperf result: metadata '%s' is neither a string nor a number", name);
	}
	objection = metadata_judge(name, ret);
	if (objection)
		return refuse(reader, "no pyperf result: metadata '%s' %s", name, objection);
	if (ret->type == FACT_STRING) {
		metadata_strip(ret->string, &begin, &n);
		if (begin != ret->string || begin[n]) {
			text_append_n(buffer, begin, n);
			if (buffer->failed)
				return -ENOMEM;
			ret->string = buffer->data;
		}
	}
	return 0;
}

static int keep_fact(struct reader *reader, struct facts *facts, const struct fact *fact)
{
	reader->text_size +=
		strlen(fact->name) + (fact->type == FACT_STRING ? strlen(fact->string) : 0);
	if (reader->text_size > TEXT_MAX)
		return refuse(reader, "more than 64 MiB of metadata");
	switch (fact->type) {
	case FACT_STRING:
		facts_set_string(facts, fact->name, fact->string);
		break;
	case FACT_INTEGER:
		facts_set_integer(facts, fact->name, fact->integer);
		break;
	case FACT_REAL:
		facts_set_real(facts, fact->name, fact->real);
		break;
	}
	return facts->failed ? -ENOMEM : 0;
}

/* Of the suite or of a benchmark. */
static int read_metadata(struct reader *reader, struct facts *facts)
{
	_cleanup_text_ struct text buffer = { 0 };
	struct json_token token;
	int r;

	r = next(reader, &token);
	if (r >= 0)
		r = expect_object(reader, &token, "the value of 'metadata'");
	while (r >= 0) {
		_cleanup_free_ char *name = NULL;
		struct fact fact;

		r = next(reader, &token);
		if (r < 0 || token.type == JSON_TOKEN_OBJECT_END)
			break;
		name = strdup(token.string);
		if (!name)
			return -ENOMEM;
		r = read_fact(reader, name, &buffer, &fact);
		if (r >= 0)
			r = keep_fact(reader, facts, &fact);
	}
	return r;
}

/* The record of a name, made where it is new. */
static int find_run_name(struct reader *reader, struct pending *pending,
	const struct json_token *token, struct run_name **ret)
{
	size_t slot = token->hash % NAME_SLOTS;
	struct run_name *names;
	int r;

	for (; pending->slots[slot] > 0; slot = (slot + 1) % NAME_SLOTS) {
		struct run_name *name = &pending->names[pending->slots[slot] - 1];

		if (name->hash == token->hash && strcmp(name->name, token->string) == 0) {
			*ret = name;
			return 0;
		}
	}
	if (pending->n_names == NAMES_MAX)
		return refuse(reader, "more than 1000 different names of metadata");
	names = reallocarray(pending->names, pending->n_names + 1, sizeof(*names));
	if (!names)
		return -ENOMEM;
	pending->names = names;
	names[pending->n_names] =
		(struct run_name){ .name = strdup(token->string), .hash = token->hash };
	if (!names[pending->n_names].name)
		return -ENOMEM;
	*ret = &names[pending->n_names++];
	pending->slots[slot] = (uint16_t)pending->n_names;
	r = run_field_find(pending->benchmark->series, (*ret)->name, &(*ret)->field);
	return r;
}

static int read_run_metadata(
	struct reader *reader, struct pending *pending, struct text *buffer, struct run_data *data)
{
	bool first_run = pending->benchmark->series->n_samples == 0;
	struct json_token token;
	int r;

	r = next(reader, &token);
	if (r >= 0)
		r = expect_object(reader, &token, "the value of 'metadata'");
	while (r >= 0) {
		struct run_name *name = NULL;
		struct fact fact;

		r = next(reader, &token);
		if (r < 0 || token.type == JSON_TOKEN_OBJECT_END)
			break;
		r = find_run_name(reader, pending, &token, &name);
		if (r >= 0)
			r = read_fact(reader, name->name, buffer, &fact);
		if (r < 0)
			break;
		if (name->n_seen++ == 0) {
			name->in_first_run = first_run;
			r = keep_fact(reader, &name->first, &fact);
		} else if (!name->varies) {
			name->varies = !metadata_equal_facts(&name->first.items[0], &fact);
		}
		if (r >= 0)
			r = run_data_set(data, pending->benchmark->series, &name->field, &fact);
	}
	return r;
}

/* --- Runs --- */

/* Room for one more element, by an eighth more: realloc(3) moves large arrays by mremap(2). */
static int grow(void **array, size_t size, size_t n, size_t *capacity)
{
	size_t wish;
	void *p;

	if (n < *capacity)
		return 0;
	wish = MAX(n + n / 8, (size_t)64);
	p = reallocarray(*array, wish, size);
	if (!p)
		return -ENOMEM;
	*array = p;
	*capacity = wish;
	return 0;
}

/* Behind '[' of values. */
static int read_values(struct reader *reader, struct pending *pending)
{
	struct benchmark *b = pending->benchmark;
	struct json_token token;
	int r;

	for (;;) {
		r = next(reader, &token);
		if (r < 0)
			return r;
		if (token.type == JSON_TOKEN_ARRAY_END)
			return 0;
		if ((token.type != JSON_TOKEN_REAL && token.type != JSON_TOKEN_INTEGER) ||
			!(token.real > 0))
			return refuse(reader, "no pyperf result: a value is not a number above 0");
		if (b->n_values == VALUES_MAX)
			return refuse(reader, "more than 250 million values");
		r = grow((void **)&b->values, sizeof(*b->values), b->n_values,
			&pending->values_capacity);
		if (r < 0)
			return r;
		b->values[b->n_values++] = token.real;
	}
}

static int read_warmup(struct reader *reader, struct benchmark_warmup *ret)
{
	struct json_token tokens[3];
	int r;

	for (size_t i = 0; i < ARRAY_SIZE(tokens); i++) {
		r = next(reader, &tokens[i]);
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
	return refuse(reader, "no pyperf result: a warm-up is not [loops, value]");
}

static int read_warmups(struct reader *reader, struct pending *pending)
{
	struct benchmark *b = pending->benchmark;
	struct json_token token;
	int r;

	for (;;) {
		r = next(reader, &token);
		if (r < 0 || token.type == JSON_TOKEN_ARRAY_END)
			return r;
		r = expect_array(reader, &token, "a warm-up");
		if (r < 0)
			return r;
		if (b->n_warmups == VALUES_MAX / 2)
			return refuse(reader, "more than 125 million warm-ups");
		r = grow((void **)&b->warmups, sizeof(*b->warmups), b->n_warmups,
			&pending->warmups_capacity);
		if (r >= 0)
			r = read_warmup(reader, &b->warmups[b->n_warmups]);
		if (r < 0)
			return r;
		b->n_warmups++;
	}
}

/* The run is complete: a sample, and where its values are. */
static int add_run(struct reader *reader, struct pending *pending, struct run_data *data)
{
	struct benchmark *b = pending->benchmark;
	size_t at = b->series->n_samples;
	size_t values_before = at > 0 ? b->runs[at - 1].end : 0;
	size_t warmups_before = at > 0 ? b->runs[at - 1].warmup_end : 0;
	int r;

	if (b->n_values == values_before && b->n_warmups == warmups_before)
		return refuse(reader, "no pyperf result: a run without values");
	if (at == RUNS_MAX)
		return refuse(reader, "more than 50 million runs");
	data->sample.warmup = b->n_values == values_before;
	data->sample.start_ns = data->has_date ? data->date_ns : -1;
	/* Kept until it is known what the suite says of all runs. */
	if (data->duration_ns >= 0)
		data->sample.user_ns = data->duration_ns;
	r = grow((void **)&b->runs, sizeof(*b->runs), at, &pending->runs_capacity);
	if (r < 0)
		return r;
	b->runs[at] = (struct benchmark_run){
		.end = b->n_values,
		.warmup_end = b->n_warmups,
		.loops = data->loops,
		.inner_loops = data->inner_loops,
	};
	return series_append(b->series, &data->sample, &data->evidence, data->counters);
}

static int read_run(
	struct reader *reader, struct pending *pending, struct text *buffer, struct run_data *data)
{
	struct json_token token;
	int r;

	run_data_clear(data);
	for (;;) {
		r = next(reader, &token);
		if (r < 0)
			return r;
		if (token.type == JSON_TOKEN_OBJECT_END)
			return add_run(reader, pending, data);
		if (strcmp(token.string, "metadata") == 0) {
			r = read_run_metadata(reader, pending, buffer, data);
		} else if (strcmp(token.string, "values") == 0) {
			r = next(reader, &token);
			if (r >= 0)
				r = expect_array(reader, &token, "the value of 'values'");
			if (r >= 0)
				r = read_values(reader, pending);
		} else if (strcmp(token.string, "warmups") == 0) {
			r = next(reader, &token);
			/* pyperf takes null for none. */
			if (r >= 0 && token.type == JSON_TOKEN_NULL)
				continue;
			if (r >= 0)
				r = expect_array(reader, &token, "the value of 'warmups'");
			if (r >= 0)
				r = read_warmups(reader, pending);
		} else {
			r = next(reader, &token);
			if (r >= 0)
				r = skip(reader, &token);
		}
		if (r < 0)
			return r;
	}
}

/* A list of objects: `of` says whose value it is, `item` what each of them is. */
static int read_list(struct reader *reader, const char *of, const char *item,
	int (*each)(struct reader *reader, void *context), void *context)
{
	struct json_token token;
	int r;

	r = next(reader, &token);
	if (r >= 0)
		r = expect_array(reader, &token, of);
	while (r >= 0) {
		r = next(reader, &token);
		if (r < 0)
			return r;
		if (token.type == JSON_TOKEN_ARRAY_END)
			break;
		r = expect_object(reader, &token, item);
		if (r >= 0)
			r = each(reader, context);
	}
	return r;
}

/* What is used again for each run of a benchmark. */
struct runs {
	struct pending *pending;
	struct text buffer;
	struct run_data data;
};

static int read_one_run(struct reader *reader, void *context)
{
	struct runs *runs = context;

	return read_run(reader, runs->pending, &runs->buffer, &runs->data);
}

static int read_runs(struct reader *reader, struct pending *pending)
{
	struct runs runs = { .pending = pending };
	int r;

	r = read_list(reader, "the value of 'runs'", "a run", read_one_run, &runs);
	text_clear(&runs.buffer);
	if (r >= 0 && pending->benchmark->series->n_samples == 0)
		return refuse(reader, "no pyperf result: a benchmark without runs");
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
		r = next(reader, &token);
		if (r < 0 || token.type == JSON_TOKEN_OBJECT_END)
			break;
		if (strcmp(token.string, "metadata") == 0) {
			r = read_metadata(reader, &pending->metadata);
		} else if (strcmp(token.string, "runs") == 0) {
			r = read_runs(reader, pending);
		} else {
			r = next(reader, &token);
			if (r >= 0)
				r = skip(reader, &token);
		}
	}
	if (r < 0)
		return r;
	if (pending->benchmark->series->n_samples == 0)
		return refuse(reader, "no pyperf result: a benchmark without 'runs'");
	if (reader->n_pending == BENCHMARKS_MAX)
		return refuse(reader, "more than 10000 benchmarks");
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

	r = read_list(reader, "the value of 'benchmarks'", "a benchmark", read_benchmark, NULL);
	if (r >= 0 && reader->n_pending == 0)
		return refuse(reader, "no pyperf result: it has no benchmarks");
	return r;
}

static int read_version(struct reader *reader)
{
	struct json_token token;
	int r;

	r = next(reader, &token);
	if (r < 0)
		return r;
	/* Older ones are integers. */
	if (token.type == JSON_TOKEN_INTEGER)
		return refuse(reader,
			"pyperf's format version %" PRId64
			" is not 1.0, which is the one that is known here",
			token.integer);
	if (token.type != JSON_TOKEN_STRING || strcmp(token.string, "1.0") != 0)
		return refuse(reader, "no pyperf result: 'version' is not \"1.0\"");
	return 0;
}

static int read_root(struct reader *reader)
{
	bool has_version = false, has_benchmarks = false;
	struct json_token token;
	int r;

	r = next(reader, &token);
	if (r >= 0)
		r = expect_object(reader, &token, "it");
	while (r >= 0) {
		r = next(reader, &token);
		if (r < 0 || token.type == JSON_TOKEN_OBJECT_END)
			break;
		if (strcmp(token.string, "version") == 0) {
			has_version = true;
			r = read_version(reader);
		} else if (strcmp(token.string, "benchmarks") == 0) {
			has_benchmarks = true;
			r = read_benchmarks(reader);
		} else if (strcmp(token.string, "metadata") == 0) {
			r = read_metadata(reader, &reader->suite_metadata);
		} else {
			r = next(reader, &token);
			if (r >= 0)
				r = skip(reader, &token);
		}
	}
	if (r >= 0 && !has_version)
		return refuse(reader, "no pyperf result: 'version' is missing");
	if (r >= 0 && !has_benchmarks)
		return refuse(reader, "no pyperf result: 'benchmarks' are missing");
	return r < 0 ? r : next(reader, &token);
}

/* --- When all is read: what the suite says holds for the benchmarks, and so on. --- */

static const struct run_name *find_name(const struct pending *pending, const char *name)
{
	for (size_t i = 0; i < pending->n_names; i++)
		if (strcmp(pending->names[i].name, name) == 0)
			return &pending->names[i];
	return NULL;
}

/* Does what the suite or the benchmark says hold for each run? One may say something else. */
static bool holds_for_all(const struct pending *pending, const struct fact *fact)
{
	const struct run_name *name = find_name(pending, fact->name);

	if (!name)
		return true;
	if (name->varies)
		return false;
	return metadata_equal_facts(&name->first.items[0], fact);
}

static int merge_metadata(struct reader *reader, struct pending *pending)
{
	const struct facts *layers[] = { &reader->suite_metadata, &pending->metadata };
	struct benchmark *b = pending->benchmark;
	int r = 0;

	/* These are copies of what was counted, one a benchmark. */
	for (size_t layer = 0; layer < ARRAY_SIZE(layers); layer++) {
		for (size_t i = 0; r >= 0 && i < layers[layer]->n; i++) {
			const struct fact *fact = &layers[layer]->items[i];

			if (layer == 0 && facts_find(layers[1], fact->name))
				continue;
			if (holds_for_all(pending, fact))
				r = keep_fact(reader, &b->metadata, fact);
		}
	}
	for (size_t i = 0; r >= 0 && i < pending->n_names; i++) {
		const struct run_name *name = &pending->names[i];

		if (name->n_seen == b->series->n_samples && !name->varies)
			r = keep_fact(reader, &b->metadata, &name->first.items[0]);
	}
	return r;
}

/* What the first run says, by itself or by what holds for all. */
static const struct fact *first_fact(
	const struct reader *reader, const struct pending *pending, const char *key)
{
	const struct run_name *name = find_name(pending, key);
	const struct fact *fact;

	if (name && name->in_first_run)
		return &name->first.items[0];
	fact = facts_find(&pending->metadata, key);
	return fact ? fact : facts_find(&reader->suite_metadata, key);
}

/* A run as it was read, and back. */
static void load_run(const struct benchmark *b, size_t at, struct run_data *ret)
{
	const struct series *series = b->series;

	run_data_clear(ret);
	ret->sample = series->samples[at];
	ret->loops = b->runs[at].loops;
	ret->inner_loops = b->runs[at].inner_loops;
	ret->has_date = ret->sample.start_ns >= 0;
	ret->date_ns = ret->sample.start_ns;
	if (ret->sample.user_ns > 0)
		ret->duration_ns = ret->sample.user_ns;
	if (series->with_evidence)
		ret->evidence = series->evidence[at];
	for (size_t i = 0; i < series->n_events; i++)
		ret->counters[i] = series->counters[at * series->n_events + i];
}

static void store_run(struct benchmark *b, size_t at, const struct run_data *data)
{
	struct series *series = b->series;

	series->samples[at] = data->sample;
	series->samples[at].start_ns = data->has_date ? data->date_ns : -1;
	if (data->duration_ns >= 0)
		series->samples[at].user_ns = data->duration_ns;
	b->runs[at].loops = data->loops;
	b->runs[at].inner_loops = data->inner_loops;
	if (series->with_evidence)
		series->evidence[at] = data->evidence;
	for (size_t i = 0; i < series->n_events; i++)
		series->counters[at * series->n_events + i] = data->counters[i];
}

/* What stands above the runs, because it is the same for all or for most, in each that does not say
 * otherwise. */
static int spread_common(const struct reader *reader, struct pending *pending)
{
	const struct facts *layers[] = { &pending->metadata, &reader->suite_metadata };
	struct benchmark *b = pending->benchmark;
	struct run_data data;

	for (size_t layer = 0; layer < ARRAY_SIZE(layers); layer++) {
		for (size_t i = 0; i < layers[layer]->n; i++) {
			const struct fact *fact = &layers[layer]->items[i];
			struct run_field field;
			int r;

			if (layer == 1 && facts_find(layers[0], fact->name))
				continue;
			r = run_field_find(b->series, fact->name, &field);
			if (r < 0)
				return r;
			if (field.kind == RUN_OTHER)
				continue;
			for (size_t k = 0; k < b->series->n_samples; k++) {
				load_run(b, k, &data);
				if (run_data_has(&data, &field))
					continue;
				r = run_data_set(&data, b->series, &field, fact);
				if (r < 0)
					return r;
				store_run(b, k, &data);
			}
		}
	}
	return 0;
}

/* As pyperf has it (_bench.py: Run._get_duration): what the run says, or the sum of its values. */
static double run_seconds(const struct benchmark *b, size_t at)
{
	size_t warmup = at > 0 ? b->runs[at - 1].warmup_end : 0, first, n;
	double sum = 0;

	if (b->series->samples[at].user_ns > 0)
		return (double)b->series->samples[at].user_ns / (double)NSEC_PER_SEC;
	benchmark_run_values(b, at, &first, &n);
	for (size_t i = first; i < first + n; i++)
		sum += b->values[i] * benchmark_raw_factor(b, at);
	for (; warmup < b->runs[at].warmup_end; warmup++)
		sum += b->warmups[warmup].value * (double)b->warmups[warmup].loops *
			(double)b->runs[at].inner_loops;
	return sum;
}

static void settle_times(struct benchmark *b)
{
	int64_t first_ns = INT64_MAX, last = INT64_MIN;

	for (size_t i = 0; i < b->series->n_samples; i++) {
		struct sample *sample = &b->series->samples[i];
		double seconds;

		if (b->runs[i].loops == 0)
			b->runs[i].loops = 1;
		if (b->runs[i].inner_loops == 0)
			b->runs[i].inner_loops = 1;
		seconds = run_seconds(b, i);
		if (b->unit == UNIT_SECOND || sample->user_ns > 0)
			b->total_seconds += seconds;
		if (sample->start_ns < 0)
			continue;
		first_ns = MIN(first_ns, sample->start_ns);
		last = MAX(
			last, sample->start_ns / NSEC_PER_SEC + (int64_t)ceil(MIN(seconds, 9e9)));
	}
	b->has_dates = first_ns != INT64_MAX;
	if (b->has_dates) {
		b->first_date = first_ns / NSEC_PER_SEC;
		b->last_date = last;
	}
	for (size_t i = 0; i < b->series->n_samples; i++) {
		struct sample *sample = &b->series->samples[i];

		sample->start_ns = sample->start_ns < 0 ? 0 : sample->start_ns - first_ns;
	}
}

static int finish_benchmark(struct reader *reader, struct pending *pending)
{
	struct benchmark *b = pending->benchmark;
	const struct fact *name = first_fact(reader, pending, "name");
	const struct fact *unit = first_fact(reader, pending, "unit");
	const struct fact *clock = first_fact(reader, pending, "quiesce_clock");
	int r;

	if (!name || name->type != FACT_STRING)
		return refuse(reader, "no pyperf result: a benchmark without a name");
	b->name = strdup(name->string);
	if (!b->name)
		return -ENOMEM;
	/* Known to be one of the three, if it is there. */
	r = unit_parse(unit ? unit->string : NULL, &b->unit);
	if (r < 0)
		return r;
	b->series->clock =
		clock && clock->type == FACT_STRING && strcmp(clock->string, "kernel") == 0
		? WINDOW_KERNEL
		: WINDOW_USER;
	r = merge_metadata(reader, pending);
	if (r >= 0)
		r = spread_common(reader, pending);
	if (r < 0)
		return r;
	settle_times(b);
	return 0;
}

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
		r = finish_benchmark(reader, reader->pending[i]);
		if (r < 0)
			return r;
		if (suite_find(suite, reader->pending[i]->benchmark->name))
			return refuse(reader, "no pyperf result: two benchmarks are named '%s'",
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
