// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/install.h"
#include "base/macro.h"
#include "base/text.h"
#include "config.h"

/* 0 with *ret, -EACCES, -ENOMEM, or -ENOENT for any other reason why the path is not executable. */
static int try_place(const char *directory, const char *place, const char *name, char **ret)
{
	_cleanup_free_ char *path = NULL;

	if (text_format(&path, "%s%s%s", directory, place, name) < 0)
		return -ENOMEM;
	if (access(path, X_OK) < 0)
		return errno == EACCES ? -EACCES : -ENOENT;
	*ret = TAKE_PTR(path);
	return 0;
}

/* The directory of this program; "" when it is not known. */
static void find_own_directory(char *buf, size_t size)
{
	ssize_t n = readlink("/proc/self/exe", buf, size - 1);
	char *slash;

	buf[n < 0 ? 0 : n] = '\0';
	slash = strrchr(buf, '/');
	if (slash)
		*slash = '\0';
}

int install_find(const char *name, char **ret)
{
	static const char *const near[] = {
		"/",			/* in a build tree all are side by side */
		"/../libexec/quiesce/", /* from runpinned, in bin */
		"/../../sbin/",		/* from benchmark-target, in libexec/quiesce */
		"/../../bin/",
	};
	static const char *const configured[] = { LIBEXECDIR "/", SBINDIR "/", BINDIR "/" };
	char directory[PATH_MAX];
	bool closed = false;
	int r = -ENOENT;

	find_own_directory(directory, sizeof(directory));
	for (size_t i = 0; i < ARRAY_SIZE(near) && *directory && r < 0; i++) {
		closed |= r == -EACCES;
		r = try_place(directory, near[i], name, ret);
	}
	for (size_t i = 0; i < ARRAY_SIZE(configured) && r < 0; i++) {
		closed |= r == -EACCES;
		r = try_place("", configured[i], name, ret);
	}
	return r < 0 && (closed || r == -EACCES) ? -EACCES : r;
}

char *install_find_data(const char *name)
{
	/* In a build tree it is below the folder above that of the programs. */
	static const char *const near[] = { "/../share/quiesce/", "/../" };
	char directory[PATH_MAX];
	char *path = NULL;

	find_own_directory(directory, sizeof(directory));
	for (size_t i = 0; i < ARRAY_SIZE(near) && *directory; i++) {
		if (text_format(&path, "%s%s%s", directory, near[i], name) < 0)
			return NULL;
		if (access(path, R_OK | X_OK) == 0)
			return path;
		free(TAKE_PTR(path));
	}
	return text_format(&path, "%s/%s", DATADIR, name) < 0 ? NULL : path;
}
