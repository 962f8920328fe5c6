// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "basic/macro.h"
#include "result/document.h"
#include "result/metadata.h"
#include "result/tree.h"

/* Everything that the lists below need. */
struct plan {
	struct new_runs runs;
	json_t *metadata;     /* of the new runs */
	size_t target;	      /* benchmark that takes the runs, or SIZE_MAX for a new one */
	json_t *suite_moved;  /* of the existing suite: what does not hold for the new runs */
	json_t *target_moved; /* the same for the target benchmark, with suite_moved below it */
};

/* The runs of the series, each on its line, as elements of a list. */
static void out_series(struct out *out, const struct plan *plan, bool first)
{
	for (size_t i = 0; i < plan->runs.series->n_samples && out->error == 0; i++) {
		_cleanup_json_ json_t *run = NULL;

		if (!new_runs_has(&plan->runs, i))
			continue;
		run = new_runs_make(&plan->runs, i);
		out_text(out, first ? "\n" : ",\n");
		first = false;
		out_json(out, run);
	}
}

struct benchmark_context {
	const struct plan *plan;
	bool is_target;
};

static void out_runs(struct out *out, json_t *runs, void *context)
{
	const struct benchmark_context *benchmark = context;
	const struct plan *plan = benchmark->plan;
	bool moved = benchmark->is_target && json_object_size(plan->target_moved) > 0;
	json_t *run;
	size_t i;

	out_text(out, "[");
	json_array_foreach(runs, i, run)
	{
		_cleanup_json_ json_t *metadata = NULL;

		out_text(out, i == 0 ? "\n" : ",\n");
		if (!moved) {
			out_json(out, run);
			continue;
		}
		metadata = tree_make_merged(plan->target_moved, json_object_get(run, "metadata"));
		out_object(out, run, metadata, NULL, NULL, NULL);
	}
	if (benchmark->is_target)
		out_series(out, plan, false);
	out_text(out, "]");
}

static void out_new_benchmark(struct out *out, const struct plan *plan)
{
	out_text(out, "{\"metadata\": ");
	out_json(out, plan->metadata);
	out_text(out, ", \"runs\": [");
	out_series(out, plan, true);
	out_text(out, "]}");
}

static void out_benchmarks(struct out *out, json_t *benchmarks, void *context)
{
	const struct plan *plan = context;
	json_t *benchmark;
	size_t i;

	out_text(out, "[");
	json_array_foreach(benchmarks, i, benchmark)
	{
		struct benchmark_context own = { plan, i == plan->target };
		json_t *old = json_object_get(benchmark, "metadata");
		_cleanup_json_ json_t *metadata = own.is_target
			? tree_make_part(old, plan->metadata, true)
			: tree_make_merged(plan->suite_moved, old);

		if (i > 0)
			out_text(out, ", ");
		out_object(out, benchmark, metadata, "runs", out_runs, &own);
	}
	if (plan->target == SIZE_MAX) {
		out_text(out, ", ");
		out_new_benchmark(out, plan);
	}
	out_text(out, "]");
}

/* What of the existing metadata has to move, and what the new runs have to carry. */
static int make_plan(const struct document *existing, struct plan *plan, json_t **ret_suite_kept)
{
	json_t *suite = json_object_get(existing->root, "metadata");
	json_t *target = NULL, *target_metadata = NULL, *value;
	_cleanup_json_ json_t *kept = NULL, *part = NULL;
	const char *key;

	target = tree_find_benchmark(existing->root,
		json_string_value(json_object_get(plan->metadata, "name")), &plan->target);
	target_metadata = json_object_get(target, "metadata");
	kept = tree_make_part(suite, plan->metadata, true);
	plan->suite_moved = tree_make_part(suite, plan->metadata, false);
	part = tree_make_part(target_metadata, plan->metadata, false);
	if (!kept || !plan->suite_moved || !part)
		return -ENOMEM;
	if (target) {
		plan->target_moved = tree_make_merged(plan->suite_moved, part);
		if (!plan->target_moved)
			return -ENOMEM;
		json_object_foreach(plan->metadata, key, value)
		{
			json_t *inherited = json_object_get(target_metadata, key);

			if (!inherited)
				inherited = json_object_get(kept, key);
			if (!tree_equal(inherited, value) &&
				json_object_set(plan->runs.run_metadata, key, value) < 0)
				return -ENOMEM;
		}
	}
	*ret_suite_kept = TAKE_PTR(kept);
	return 0;
}

/* Before the first byte: what would make a file that cannot be loaded? */
static int check_series(const struct series *series, const struct benchmark *inside)
{
	if (series->n_samples == 0 || (inside && inside->n_values == 0))
		return -ENODATA;
	for (size_t i = 0; inside && i < inside->n_values; i++)
		if (!(inside->values[i] > 0))
			return -EDOM;
	if (inside)
		return 0;
	for (size_t i = 0; i < series->n_samples; i++)
		if (!(series_value(series, i) > 0))
			return -EDOM;
	return 0;
}

/* Makes what a part needs to be written. */
static int prepare(const struct document_part *part, struct plan *plan)
{
	const struct series *series = part->series;
	int r;

	*plan = (struct plan){
		.runs = { .series = series, .inside = part->inside },
		.target = SIZE_MAX,
	};
	r = check_series(series, part->inside);
	if (r < 0)
		return r;
	for (size_t i = 0; i < series->n_samples; i++)
		plan->runs.with_env_pad = plan->runs.with_env_pad || series->samples[i].env_pad > 0;
	r = document_make_metadata(part->metadata, &plan->metadata);
	if (r < 0)
		return r;
	plan->runs.run_metadata = json_object();
	if (!plan->runs.run_metadata)
		return -ENOMEM;
	/* The clock of the window. What was measured inside has its own (quiesce_stamps). */
	if (part->inside)
		return 0;
	return tree_set_string(plan->metadata, TREE_CLOCK_KEY, tree_clock_name(series->clock));
}

static void plan_clear(struct plan *plan)
{
	json_decref(plan->metadata);
	json_decref(plan->runs.run_metadata);
	json_decref(plan->suite_moved);
	json_decref(plan->target_moved);
}

static int write_appended(
	FILE *stream, const struct document *existing, const struct document_part *part)
{
	_cleanup_json_ json_t *suite_kept = NULL;
	_cleanup_free_ char *why = NULL;
	struct out out = { .stream = stream };
	struct plan plan;
	int r;

	r = prepare(part, &plan);
	if (r >= 0)
		r = document_judge_append(existing, plan.metadata, &why);
	if (r >= 0)
		r = make_plan(existing, &plan, &suite_kept);
	if (r >= 0) {
		out_object(&out, existing->root, suite_kept, "benchmarks", out_benchmarks, &plan);
		out_text(&out, "\n");
		r = out_finish(&out);
	}
	plan_clear(&plan);
	return r;
}

/* One after the other, each to what the last one made. */
static int append_all(
	FILE *stream, const struct document *existing, const struct document_part *parts, size_t n)
{
	_cleanup_(document) struct document *grown = NULL;

	for (size_t i = 0; i + 1 < n; i++) {
		_cleanup_free_ char *why = NULL;
		_cleanup_fclose_ FILE *memory = NULL;
		_cleanup_(document) struct document *next = NULL;
		int fd, r;

		fd = memfd_create("result", MFD_CLOEXEC);
		if (fd < 0)
			return -errno;
		memory = fdopen(fd, "w+");
		if (!memory) {
			r = -errno;
			close(fd);
			return r;
		}
		r = write_appended(memory, existing, &parts[i]);
		if (r < 0)
			return r;
		rewind(memory);
		r = document_load_stream(memory, &next, &why);
		if (r < 0)
			return r;
		document_free(grown);
		existing = grown = TAKE_PTR(next);
	}
	return write_appended(stream, existing, &parts[n - 1]);
}

static int write_new(FILE *stream, const struct document_part *parts, size_t n)
{
	_cleanup_free_ struct plan *plans = calloc(n, sizeof(*plans));
	struct out out = { .stream = stream };
	int r = plans ? 0 : -ENOMEM;

	for (size_t i = 0; r >= 0 && i < n; i++)
		r = prepare(&parts[i], &plans[i]);
	if (r >= 0) {
		out_text(&out, "{\"version\": \"1.0\", \"benchmarks\": [");
		for (size_t i = 0; i < n; i++) {
			if (i > 0)
				out_text(&out, ", ");
			out_new_benchmark(&out, &plans[i]);
		}
		out_text(&out, "]}\n");
		r = out_finish(&out);
	}
	for (size_t i = 0; plans && i < n; i++)
		plan_clear(&plans[i]);
	return r;
}

/* A file with one name twice is refused by pyperf. */
static bool names_differ(const struct document_part *parts, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		for (size_t j = 0; j < i; j++) {
			const struct fact *a = facts_find(parts[i].metadata, "name");
			const struct fact *b = facts_find(parts[j].metadata, "name");

			if (a && b && a->type == FACT_STRING && b->type == FACT_STRING &&
				metadata_equal_strings(a->string, b->string))
				return false;
		}
	}
	return true;
}

int document_write_all(
	FILE *stream, const struct document *existing, const struct document_part *parts, size_t n)
{
	if (n == 0 || !names_differ(parts, n))
		return -EINVAL;
	if (existing)
		return append_all(stream, existing, parts, n);
	return write_new(stream, parts, n);
}

int document_write(FILE *stream, const struct document *existing, const struct series *series,
	const struct facts *metadata)
{
	const struct document_part part = { .series = series, .metadata = metadata };

	return document_write_all(stream, existing, &part, 1);
}
