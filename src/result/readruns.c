// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "result/reading.h"

enum {
	VALUES_MAX = 250 * 1000 * 1000,
	RUNS_MAX = 50 * 1000 * 1000,
};

/* Room for one more element, by an eighth more: realloc(3) moves the largest arrays by mremap(2).
 */
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
		r = reader_next(reader, &token);
		if (r < 0)
			return r;
		if (token.type == JSON_TOKEN_ARRAY_END)
			return 0;
		if ((token.type != JSON_TOKEN_REAL && token.type != JSON_TOKEN_INTEGER) ||
			!(token.real > 0))
			return reader_refuse(
				reader, "no pyperf result: a value is not a number above 0");
		if (b->n_values == VALUES_MAX)
			return reader_refuse(reader, "more than 250 million values");
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

static int read_warmups(struct reader *reader, struct pending *pending)
{
	struct benchmark *b = pending->benchmark;
	struct json_token token;
	int r;

	for (;;) {
		r = reader_next(reader, &token);
		if (r < 0 || token.type == JSON_TOKEN_ARRAY_END)
			return r;
		r = reader_expect_array(reader, &token, "a warm-up");
		if (r < 0)
			return r;
		if (b->n_warmups == VALUES_MAX / 2)
			return reader_refuse(reader, "more than 125 million warm-ups");
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
		return reader_refuse(reader, "no pyperf result: a run without values");
	if (at == RUNS_MAX)
		return reader_refuse(reader, "more than 50 million runs");
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
		r = reader_next(reader, &token);
		if (r < 0)
			return r;
		if (token.type == JSON_TOKEN_OBJECT_END)
			return add_run(reader, pending, data);
		if (strcmp(token.string, "metadata") == 0) {
			r = reader_read_run_metadata(reader, pending, buffer, data);
		} else if (strcmp(token.string, "values") == 0) {
			r = reader_enter_array(reader, "the value of 'values'");
			if (r >= 0)
				r = read_values(reader, pending);
		} else if (strcmp(token.string, "warmups") == 0) {
			r = reader_next(reader, &token);
			/* pyperf takes null for none. */
			if (r >= 0 && token.type == JSON_TOKEN_NULL)
				continue;
			if (r >= 0)
				r = reader_expect_array(reader, &token, "the value of 'warmups'");
			if (r >= 0)
				r = read_warmups(reader, pending);
		} else {
			r = reader_skip_value(reader);
		}
		if (r < 0)
			return r;
	}
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

int reader_read_runs(struct reader *reader, struct pending *pending)
{
	struct runs runs = { .pending = pending };
	int r;

	r = reader_read_list(reader, "the value of 'runs'", "a run", read_one_run, &runs);
	text_clear(&runs.buffer);
	if (r >= 0 && pending->benchmark->series->n_samples == 0)
		return reader_refuse(reader, "no pyperf result: a benchmark without runs");
	return r;
}
