// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdlib.h>

#include "basic/macro.h"
#include "basic/text.h"
#include "result/document.h"
#include "result/metadata.h"
#include "result/tree.h"

/* A run with all that is said of it, wherever that stood. NULL when memory is short. */
static json_t *make_whole_run(json_t *root, json_t *benchmark, json_t *run)
{
	json_t *layers[] = { root, benchmark, run };
	_cleanup_json_ json_t *whole = tree_make_merged(run, NULL);
	json_t *metadata = json_object();

	if (!whole || tree_set_new(whole, "metadata", metadata) < 0)
		return NULL;
	for (size_t i = 0; i < ARRAY_SIZE(layers); i++) {
		json_t *own = json_object_get(layers[i], "metadata");

		if (own && json_object_update(metadata, own) < 0)
			return NULL;
	}
	return TAKE_PTR(whole);
}

/* What pyperf asks of the runs of one benchmark, and our clock. */
static int check_agreement(const char *name, json_t *old, json_t *new, char **ret_why)
{
	for (size_t i = 0; i < TREE_N_AGREED_KEYS + 1; i++) {
		bool is_clock = i == TREE_N_AGREED_KEYS;
		const char *key = is_clock ? TREE_CLOCK_KEY : tree_agreed_keys[i];
		json_t *a = json_object_get(json_object_get(old, "metadata"), key);
		json_t *b = json_object_get(json_object_get(new, "metadata"), key);
		_cleanup_free_ char *old_text = NULL, *new_text = NULL;

		if (tree_equal(a, b) || (is_clock && (!a || !b)))
			continue;
		old_text = tree_describe(a);
		new_text = tree_describe(b);
		if (!old_text || !new_text)
			return -ENOMEM;
		return text_refuse(ret_why, -EINVAL,
			"benchmark '%s': metadata '%s' differ: %s and %s", name, key, old_text,
			new_text);
	}
	return 0;
}

/* Appends the benchmarks of one document to those of `merged`. */
static int merge_one(json_t *merged, const struct document *document, char **ret_why)
{
	json_t *benchmarks = json_object_get(document->root, "benchmarks"), *benchmark, *run;
	size_t i, k;
	int r;

	json_array_foreach(benchmarks, i, benchmark)
	{
		const char *name = tree_find_name(document->root, benchmark);
		json_t *into = tree_find_benchmark(merged, name, NULL);

		json_array_foreach(json_object_get(benchmark, "runs"), k, run)
		{
			json_t *whole = make_whole_run(document->root, benchmark, run);

			if (!whole)
				return -ENOMEM;
			if (into) {
				r = check_agreement(name,
					json_array_get(json_object_get(into, "runs"), 0), whole,
					ret_why);
				if (r < 0) {
					json_decref(whole);
					return r;
				}
			} else {
				into = json_pack("{s:[]}", "runs");
				if (json_array_append_new(
					    json_object_get(merged, "benchmarks"), into) < 0) {
					json_decref(whole);
					return -ENOMEM;
				}
			}
			if (json_array_append_new(json_object_get(into, "runs"), whole) < 0)
				return -ENOMEM;
		}
	}
	return 0;
}

/* Moves what all runs of a benchmark have in common to the benchmark. */
static int hoist_metadata(json_t *benchmark)
{
	json_t *runs = json_object_get(benchmark, "runs"), *run, *value;
	json_t *first = json_object_get(json_array_get(runs, 0), "metadata");
	_cleanup_json_ json_t *common = tree_make_merged(first, NULL);
	const char *key;
	void *next;
	size_t i;

	if (!common)
		return -ENOMEM;
	json_array_foreach(runs, i, run)
	{
		json_object_foreach_safe(common, next, key, value)
		{
			if (!tree_equal(
				    value, json_object_get(json_object_get(run, "metadata"), key)))
				(void)json_object_del(common, key);
		}
	}
	json_array_foreach(runs, i, run)
	{
		json_object_foreach(common, key, value)
		{
			(void)json_object_del(json_object_get(run, "metadata"), key);
		}
		if (json_object_size(json_object_get(run, "metadata")) == 0)
			(void)json_object_del(run, "metadata");
	}
	return json_object_set(benchmark, "metadata", common) < 0 ? -ENOMEM : 0;
}

int document_merge(FILE *stream, struct document *const *documents, size_t n, char **ret_why)
{
	_cleanup_json_ json_t *merged = json_pack("{s:s, s:[]}", "version", "1.0", "benchmarks");
	struct out out = { .stream = stream };
	json_t *benchmark;
	size_t i;
	int r;

	if (!merged)
		return -ENOMEM;
	for (i = 0; i < n; i++) {
		r = merge_one(merged, documents[i], ret_why);
		if (r < 0)
			return r;
	}
	json_array_foreach(json_object_get(merged, "benchmarks"), i, benchmark)
	{
		r = hoist_metadata(benchmark);
		if (r < 0)
			return r;
	}
	out_json(&out, merged);
	out_text(&out, "\n");
	return out_finish(&out);
}
