// SPDX-License-Identifier: GPL-2.0-or-later
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/text.h"
#include "look/recording/mounts.h"

/* --- Namespaces. --- */

static bool attr_is(const char *path, const char *value)
{
	char text[32];

	return file_read_attr(AT_FDCWD, path, text, sizeof(text)) >= 0 && strcmp(text, value) == 0;
}

/* Why an ordinary user gets no namespaces. The first two sysctls are patches of distributions. */
static int explain_denied(int error, char **ret_why)
{
	const char *why = NULL;

	if (attr_is("/proc/sys/kernel/unprivileged_userns_clone", "0"))
		why = "only root may make user namespaces (kernel.unprivileged_userns_clone is 0)";
	else if (attr_is("/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1"))
		why = "AppArmor lets only root use user namespaces "
		      "(kernel.apparmor_restrict_unprivileged_userns is 1)";
	else if (attr_is("/proc/sys/user/max_user_namespaces", "0"))
		why = "there may be no user namespaces (user.max_user_namespaces is 0)";
	if (why)
		return text_refuse(ret_why, -EPERM, "%s", why);
	return text_refuse(ret_why, -EPERM, "no namespaces here: %s", strerror(error));
}

static int map_user(unsigned uid, unsigned gid, bool as_root)
{
	char map[64];
	int r;

	/* Otherwise an ordinary user may not write gid_map. */
	r = file_write_attr("/proc/self/setgroups", "deny");
	if (r < 0)
		return r;
	snprintf(map, sizeof(map), "%u %u 1", as_root ? 0 : uid, uid);
	r = file_write_attr("/proc/self/uid_map", map);
	if (r < 0)
		return r;
	snprintf(map, sizeof(map), "%u %u 1", as_root ? 0 : gid, gid);
	return file_write_attr("/proc/self/gid_map", map);
}

int mounts_unshare(bool as_root, char **ret_why)
{
	unsigned uid = geteuid(), gid = getegid();
	int r;

	if (unshare(CLONE_NEWNS) < 0) {
		if (unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0)
			return explain_denied(errno, ret_why);
		r = map_user(uid, gid, as_root);
		if (r < 0)
			return explain_denied(-r, ret_why);
	}
	/* Not "/", because in a chroot it is not a mount. */
	if (mount(NULL, "/sys", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
		mount(NULL, "/proc", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		return explain_denied(errno, ret_why);
	return 0;
}

/* --- Bind mounts. --- */

bool mounts_is_process(const char *name)
{
	return strcmp(name, "self") == 0 || strcmp(name, "thread-self") == 0 ||
		strspn(name, "0123456789") == strlen(name);
}

int mounts_bind(const char *from, const char *over, char **ret_why)
{
	struct stat from_st, over_st;

	if (stat(from, &from_st) < 0)
		return text_refuse(ret_why, -EINVAL, "%s: %s", from, strerror(errno));
	if (stat(over, &over_st) < 0)
		return text_refuse(
			ret_why, -EPERM, "nothing to bind over: %s: %s", over, strerror(errno));
	if (S_ISDIR(from_st.st_mode) != S_ISDIR(over_st.st_mode))
		return text_refuse(ret_why, -EINVAL, "%s and %s: one is a directory", from, over);
	if (mount(from, over, NULL, MS_BIND, NULL) < 0)
		return text_refuse(
			ret_why, -EPERM, "cannot bind %s over %s: %s", from, over, strerror(errno));
	return 0;
}

int mounts_for_each_name(const char *path, mounts_act act, void *data, char **ret_why)
{
	_cleanup_closedir_ DIR *dir = opendir(path);
	const struct dirent *entry;

	if (!dir && errno == ENOENT)
		return 0;
	if (!dir)
		return text_refuse(ret_why, -EINVAL, "%s: %s", path, strerror(errno));
	while (errno = 0, (entry = readdir(dir))) {
		int r;

		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		r = act(entry->d_name, data, ret_why);
		if (r < 0)
			return r;
	}
	return errno ? text_refuse(ret_why, -EINVAL, "%s: %s", path, strerror(errno)) : 0;
}

int mounts_join_path(
	char path[static PATH_MAX], const char *directory, const char *name, char **ret_why)
{
	if ((size_t)snprintf(path, PATH_MAX, "%s/%s", directory, name) >= PATH_MAX)
		return text_refuse(ret_why, -EINVAL, "%s: name too long", directory);
	return 0;
}
