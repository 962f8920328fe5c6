/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The means to show files in place of other files to the calling process and its children: a mount
 * namespace of their own, and bind mounts in it. The process must not have threads.
 *
 * Each function returns 0 or a negative errno with one phrase in *ret_why (malloc'd, NULL without
 * memory).
 */
#ifndef QUIESCE_LOOK_RECORDING_MOUNTS_H
#define QUIESCE_LOOK_RECORDING_MOUNTS_H

#include <limits.h>
#include <stdbool.h>

/*
 * Enters a new mount namespace, in which mounts over /sys and /proc are not seen by other
 * processes. An ordinary user enters a new user namespace (user_namespaces(7)) as well, which not
 * every system allows, with the same user ID, or as root over the user's own files with as_root;
 * root needs none. -EPERM where the system does not allow it.
 */
int mounts_unshare(bool as_root, char **ret_why);

/*
 * Binds `from` over `over`. -EINVAL where `from` cannot be looked at, or only one of the two is a
 * directory; -EPERM where there is no `over`, or the mount is not allowed.
 */
int mounts_bind(const char *from, const char *over, char **ret_why);

/*
 * Calls `act` for each name in the directory until one call fails, whose error is returned. A
 * directory that does not exist has no names. -EINVAL where the directory cannot be read.
 */
typedef int (*mounts_act)(const char *name, void *data, char **ret_why);
int mounts_for_each_name(const char *path, mounts_act act, void *data, char **ret_why);

/* "DIRECTORY/NAME"; -EINVAL where that is longer than PATH_MAX allows. */
int mounts_join_path(
	char path[static PATH_MAX], const char *directory, const char *name, char **ret_why);

/* Whether an entry of /proc belongs to a process: a number, `self` or `thread-self`. Those have to
 * stay this machine's, because a program and its sanitizer need /proc/self. */
bool mounts_is_process(const char *name);

#endif
