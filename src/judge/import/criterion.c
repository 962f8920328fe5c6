// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * criterion 0.3 to 0.5 keep a folder for each benchmark, with one for its last run ("new"), for the
 * run before ("base") and for each saved baseline: sample.json has the samples, of which each is
 * the time of so many iterations, benchmark.json the name, estimates.json what criterion made of
 * it.
 */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/macro.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "judge/import/formats.h"
#include "judge/import/jsontree.h"
#include "judge/import/shared.h"
#include "judge/result/metadata.h"

enum {
	FILE_MAX = 16 * 1024 * 1024,
	FOLDERS_DEEP = 8, /* GROUP/FUNCTION/VALUE/new, and some more for names with a slash */
};

/* Reads a file of the folder as a tree. -ENOENT where it is not there. */
static int read_beside(const char *folder, const char *file, struct json_node **ret, char **ret_why)
{
	_cleanup_free_ char *path = xformat("%s/%s", folder, file), *text = NULL, *why = NULL;
	size_t size;
	int r = xcheck(file_read_all(path, FILE_MAX, &text, &size));

	if (r == -ENOENT)
		return r;
	if (r < 0)
		return xrefuse(ret_why, -EINVAL, "%s: %s", path, strerror(-r));
	r = json_tree_read(text, size, ret, &why);
	return r < 0 ? xrefuse(ret_why, -EINVAL, "%s:%s", path, why) : 0;
}

static int put(
	struct imported *imported, const char *name, double iterations, double ns, char **ret_why)
{
	return import_put_first(imported, name, 0, iterations,
		&(struct imported_number){ .unit = "ns", .value = ns }, ret_why);
}

static int take_samples(
	struct imported *imported, const char *name, const struct json_node *sample, char **ret_why)
{
	const struct json_node *iterations = json_member(sample, "iters");
	const struct json_node *times = json_member(sample, "times");
	const struct json_node *n = iterations ? iterations->first : NULL;
	int r = 0;

	json_each(time, times)
	{
		double count = json_number(n);

		if (!n || !(count > 0))
			return xrefuse(ret_why, -EINVAL,
				"no result of criterion: 'iters' are not as many as 'times'");
		r = put(imported, name, count, json_number(time) / count, ret_why);
		if (r < 0)
			return r;
		n = n->next;
	}
	return n || !times || !times->first
		? xrefuse(ret_why, -EINVAL,
			  "no result of criterion: 'iters' are not as many as 'times'")
		: 0;
}

static int take_estimates(
	struct imported *imported, const char *name, const struct json_node *all, char **ret_why)
{
	const struct json_node *mean = json_member(all, "mean.point_estimate");
	int r;

	if (!mean)
		return xrefuse(ret_why, -EINVAL, "no result of criterion: 'mean' has no estimate");
	r = put(imported, name, 0, json_number(mean), ret_why);
	if (r >= 0)
		facts_set_string(imported_benchmark_facts(imported), METADATA_AGGREGATE,
			"criterion's mean of its samples");
	return r;
}

static void describe(struct facts *facts, const struct json_node *benchmark)
{
	const char *value = json_string(json_member(benchmark, "value_str"));

	if (value)
		import_set_parameter(facts, "value", value);
}

/* What a folder has of one run of a benchmark: the samples, or else the estimates. `given` is a
 * file of it that was read already, whatever it is called; NULL where there is none. -ENOENT where
 * the folder has neither. */
static int take_folder(
	struct imported *imported, const char *folder, struct json_node **given, char **ret_why)
{
	_cleanup_(json_node) struct json_node *benchmark = NULL, *sample = NULL, *estimates = NULL;
	const char *name = NULL;
	int r = 0;

	if (json_member(*given, "times"))
		sample = TAKE_PTR(*given);
	else if (json_member(*given, "mean"))
		estimates = TAKE_PTR(*given);
	r = read_beside(folder, "benchmark.json", &benchmark, ret_why);
	if (r >= 0)
		name = json_string(json_member(benchmark, "full_id"));
	if ((r >= 0 || r == -ENOENT) && !sample)
		r = read_beside(folder, "sample.json", &sample, ret_why);
	if (r == -ENOENT && !sample && !estimates)
		r = read_beside(folder, "estimates.json", &estimates, ret_why);
	if (r < 0 && (r != -ENOENT || (!sample && !estimates)))
		return r;
	r = sample ? take_samples(imported, name ? name : "criterion", sample, ret_why)
		   : take_estimates(imported, name ? name : "criterion", estimates, ret_why);
	if (r >= 0 && benchmark)
		describe(imported_benchmark_facts(imported), benchmark);
	return r;
}

int import_criterion(const struct import_source *source, struct imported *imported, char **ret_why)
{
	_cleanup_(json_node) struct json_node *given = NULL;
	const char *slash = strrchr(source->path, '/');
	_cleanup_free_ char *folder = slash
		? xptr(strndup(source->path, (size_t)(slash - source->path)))
		: xptr(strdup("."));
	bool is_piped = strcmp(source->path, "-") == 0;
	int r = json_tree_read(source->text, source->size, &given, ret_why);

	if (r < 0)
		return r;
	/* The name stands beside it, if at all. */
	if (is_piped && json_member(given, "times"))
		return take_samples(imported, "criterion", given, ret_why);
	if (is_piped && json_member(given, "mean"))
		return take_estimates(imported, "criterion", given, ret_why);
	r = is_piped ? -ENOENT : take_folder(imported, folder, &given, ret_why);
	return r == -ENOENT
		? xrefuse(ret_why, -EINVAL,
			  "criterion's benchmark.json, without its sample.json beside it")
		: r;
}

/* --- target/criterion --- */

static int is_shown(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

static int walk(
	struct imported *imported, const char *path, unsigned deep, size_t *n, char **ret_why)
{
	_cleanup_free_ char *last = xformat("%s/new", path), *sample = NULL;
	struct json_node *none = NULL;
	struct dirent **entries;
	int r = 0, n_entries;

	sample = xformat("%s/sample.json", last);
	if (access(sample, F_OK) == 0) {
		++*n;
		r = take_folder(imported, last, &none, ret_why);
	}
	n_entries = r < 0 || deep == 0 ? 0 : scandir(path, &entries, is_shown, alphasort);
	/* A file, or what may not be read. */
	if (n_entries <= 0)
		return r;
	for (int i = 0; i < n_entries; i++) {
		_cleanup_free_ char *child = xformat("%s/%s", path, entries[i]->d_name);

		if (r >= 0 && (entries[i]->d_type == DT_DIR || entries[i]->d_type == DT_UNKNOWN))
			r = walk(imported, child, deep - 1, n, ret_why);
		free(entries[i]);
	}
	free(entries);
	return r;
}

int import_criterion_folder(const char *path, struct imported *imported, char **ret_why)
{
	size_t n = 0;
	int r = walk(imported, path, FOLDERS_DEEP, &n, ret_why);

	return r < 0 ? r : n == 0 ? -ENOENT : 0;
}
