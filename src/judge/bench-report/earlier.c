// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/macro.h"
#include "base/xalloc.h"
#include "judge/bench-report/earlier.h"
#include "judge/result/input.h"
#include "judge/result/json.h"

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void add_file(struct earlier *earlier, const char *path, size_t *capacity)
{
	xcheck(array_grow(&earlier->files, sizeof(char *), earlier->n, capacity));
	earlier->files[earlier->n++] = xptr(strdup(base_name(path)));
}

static void sort_files(struct earlier *earlier)
{
	size_t n = 0;

	if (earlier->n == 0)
		return;
	qsort(earlier->files, earlier->n, sizeof(char *), compare_names);
	for (size_t i = 0; i < earlier->n; i++)
		if (n > 0 && strcmp(earlier->files[n - 1], earlier->files[i]) == 0)
			free(earlier->files[i]);
		else
			earlier->files[n++] = earlier->files[i];
	earlier->n = n;
}

/* The files of the points; whatever else the answer has is left to later versions. */
static int read_files(struct json_reader *reader, struct earlier *earlier, bool *ret_is_answer)
{
	bool is_file = false;
	struct json_token token;
	size_t capacity = 0;
	int r;

	while ((r = json_next(reader, &token)) >= 0 && token.type != JSON_TOKEN_END) {
		if (token.type == JSON_TOKEN_STRING && is_file)
			add_file(earlier, token.string, &capacity);
		is_file = token.type == JSON_TOKEN_NAME && strcmp(token.string, "file") == 0;
		if (token.type == JSON_TOKEN_NAME && strcmp(token.string, "trends") == 0)
			*ret_is_answer = true;
	}
	return r;
}

int earlier_read(const char *path, struct earlier **ret)
{
	_cleanup_(json_reader) struct json_reader *reader = NULL;
	_cleanup_(earlier) struct earlier *earlier = xptr(calloc(1, sizeof(*earlier)));
	_cleanup_(input) struct input *input = NULL;
	bool is_answer = false;
	int r = input_open(path, &input);

	if (r >= 0) {
		reader = json_reader_new(input);
		r = read_files(reader, earlier, &is_answer);
	}
	if (r < 0) {
		if (reader && json_why(reader))
			say("--earlier: %s: %s", path, json_why(reader));
		else
			say_errno(r, "--earlier: %s", path);
		return r;
	}
	if (!is_answer) {
		say("--earlier: %s is no answer of trend --json", path);
		return -EINVAL;
	}
	sort_files(earlier);
	*ret = TAKE_PTR(earlier);
	return 0;
}

void earlier_free(struct earlier *earlier)
{
	if (!earlier)
		return;
	for (size_t i = 0; i < earlier->n; i++)
		free(earlier->files[i]);
	free(earlier->files);
	free(earlier->gone);
	free(earlier->between);
	free(earlier);
}

static size_t find_file(const struct earlier *earlier, const char *path)
{
	const char *name = base_name(path);
	char **found = earlier->n > 0
		? bsearch(&name, earlier->files, earlier->n, sizeof(char *), compare_names)
		: NULL;

	return found ? (size_t)(found - earlier->files) : SIZE_MAX;
}

void earlier_compare(
	struct earlier *earlier, const struct trends *trends, char *const *files, size_t n_files)
{
	_cleanup_free_ bool *is_there = xptr(calloc(earlier->n + 1, sizeof(bool)));
	_cleanup_free_ bool *is_between = xptr(calloc(n_files + 1, sizeof(bool)));

	earlier->gone = xptr(reallocarray(NULL, earlier->n + 1, sizeof(char *)));
	earlier->between = xptr(reallocarray(NULL, n_files + 1, sizeof(char *)));
	for (size_t i = 0; i < trends->n; i++) {
		const struct trend *trend = &trends->items[i];
		bool follows = false;

		for (size_t k = trend->n; k-- > 0;) {
			const struct trend_point *point = &trend->points[k];
			bool was_there = find_file(earlier, point->file) != SIZE_MAX;

			follows = follows || was_there;
			is_between[point->order] |= follows && !was_there;
		}
	}
	for (size_t i = 0; i < n_files; i++) {
		size_t at = find_file(earlier, files[i]);

		if (at != SIZE_MAX)
			is_there[at] = true;
		if (is_between[i])
			earlier->between[earlier->n_between++] = files[i];
	}
	for (size_t i = 0; i < earlier->n; i++)
		if (!is_there[i])
			earlier->gone[earlier->n_gone++] = earlier->files[i];
}
