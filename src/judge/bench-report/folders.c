// SPDX-License-Identifier: GPL-2.0-or-later
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/xalloc.h"
#include "judge/bench-report/folders.h"

void folders_clear(struct file_names *names)
{
	for (size_t i = 0; i < names->n; i++)
		free(names->items[i]);
	free(names->items);
}

static void add_name(struct file_names *names, const char *directory, const char *name)
{
	const char *slash = directory && !text_ends_with(directory, "/") ? "/" : "";

	names->items = xptr(reallocarray(names->items, names->n + 1, sizeof(char *)));
	names->items[names->n++] = xformat("%s%s%s", directory ? directory : "", slash, name);
}

static int is_result(const struct dirent *entry)
{
	return entry->d_name[0] != '.' &&
		(text_ends_with(entry->d_name, ".json") ||
			text_ends_with(entry->d_name, ".json.gz"));
}

/* Whether it is the file that is about to be written: an earlier one of the same name. */
static bool is_output(const char *directory, const char *name, const char *output)
{
	_cleanup_free_ char *path = NULL;

	if (!output)
		return false;
	path = xformat("%s/%s", directory, name);
	return file_is_same(path, output);
}

/* Says what is wrong. */
static int add_directory(struct file_names *names, const char *directory, const char *output)
{
	struct dirent **entries;
	int n = scandir(directory, &entries, is_result, alphasort);
	size_t before = names->n;

	if (n < 0) {
		int r = xcheck(-errno);

		say_errno(r, "cannot read %s", directory);
		return r;
	}
	for (int i = 0; i < n; i++) {
		if (!is_output(directory, entries[i]->d_name, output))
			add_name(names, directory, entries[i]->d_name);
		free(entries[i]);
	}
	free(entries);
	if (names->n == before) {
		say("%s: no result there ends in .json or .json.gz", directory);
		return -ENOENT;
	}
	return 0;
}

int folders_expand(const struct request *request, struct file_names *ret)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < request->n_files; i++) {
		const char *file = request->files[i];
		struct stat st;

		if (strcmp(file, "-") != 0 && stat(file, &st) == 0 && S_ISDIR(st.st_mode))
			r = add_directory(ret, file, request->output);
		else
			add_name(ret, NULL, file);
	}
	return r;
}
