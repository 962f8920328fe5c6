/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lists what is in a folder, and removes it. glob(3) is not used: it frees twice what it has no
 * memory for (prefix_array() in glibc 2.36), and tells a folder that cannot be read from an empty
 * one only to a callback. */
#ifndef QUIESCE_BASE_PATHS_H
#define QUIESCE_BASE_PATHS_H

#include <stddef.h>

struct paths {
	char **items;
	size_t n;
};

/*
 * The paths DIRECTORY/NAME or, with `file`, DIRECTORY/NAME/FILE, of all names that match the
 * pattern (fnmatch(3)), in the order of the names; those files that are there. 0, -ENOENT where
 * there is no such folder (also -ENOTDIR and -ENODEV, of one that goes meanwhile), or the error of
 * reading it.
 */
int paths_list(const char *directory, const char *pattern, const char *file, struct paths *ret);
void paths_clear(struct paths *paths);
#define _cleanup_paths_ __attribute__((cleanup(paths_clear)))

/* Removes a folder with all that is in it, as far as that can be; or a cgroup with those below it,
 * whose files go with it. */
void paths_remove(const char *folder);

#endif
