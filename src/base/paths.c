// SPDX-License-Identifier: GPL-2.0-or-later
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/macro.h"
#include "base/paths.h"
#include "base/text.h"

enum {
	REMOVE_FDS = 8,
};

static int add_path(struct paths *paths, const char *directory, const char *name, const char *file)
{
	_cleanup_free_ char *path = NULL;
	char **items;
	int r;

	r = text_format(&path, "%s/%s%s%s", directory, name, file ? "/" : "", file ? file : "");
	if (r < 0)
		return r;
	/* Whoever reads one that is there, but not for us, learns why. */
	if (file && faccessat(AT_FDCWD, path, F_OK, AT_SYMLINK_NOFOLLOW) < 0 &&
		(errno == ENOENT || errno == ENOTDIR || errno == ENODEV))
		return 0;
	items = reallocarray(paths->items, paths->n + 1, sizeof(*items));
	if (!items)
		return -ENOMEM;
	paths->items = items;
	paths->items[paths->n++] = TAKE_PTR(path);
	return 0;
}

int paths_list(const char *directory, const char *pattern, const char *file, struct paths *ret)
{
	_cleanup_paths_ struct paths paths = { 0 };
	struct dirent **entries = NULL;
	int n = scandir(directory, &entries, NULL, alphasort), r = n < 0 ? -errno : 0;

	for (int i = 0; i < n; i++) {
		if (r == 0 && fnmatch(pattern, entries[i]->d_name, FNM_PERIOD) == 0)
			r = add_path(&paths, directory, entries[i]->d_name, file);
		free(entries[i]);
	}
	free(entries);
	if (r < 0)
		return r == -ENOTDIR || r == -ENODEV ? -ENOENT : r;
	*ret = paths;
	paths = (struct paths){ 0 };
	return 0;
}

void paths_clear(struct paths *paths)
{
	for (size_t i = 0; i < paths->n; i++)
		free(paths->items[i]);
	free(paths->items);
	*paths = (struct paths){ 0 };
}

static int remove_one(const char *path, const struct stat *st _unused_, int type _unused_,
	struct FTW *ftw _unused_)
{
	/* Files of cgroups cannot be removed, and need not be. */
	(void)remove(path);
	return 0;
}

void paths_remove(const char *folder)
{
	(void)nftw(folder, remove_one, REMOVE_FDS, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
}
