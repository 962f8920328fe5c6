// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/install.h"
#include "base/macro.h"
#include "base/text.h"
#include "config.h"

/* Where this program lies, and whose it is. */
struct own {
	char directory[PATH_MAX]; /* "" when it is not known */
	uid_t owner;
	mode_t mode;
};

static struct own find_own(void)
{
	/* Where there is no /proc, as in some chroots, it is found where it was started from. */
	const char *called = (const char *)getauxval(AT_EXECFN);
	struct own own = { 0 };
	ssize_t n = readlink("/proc/self/exe", own.directory, sizeof(own.directory) - 1);
	struct stat st;
	char *slash;

	if (n < 0 ? !called || !realpath(called, own.directory) || stat(own.directory, &st) < 0
		  : stat("/proc/self/exe", &st) < 0) {
		*own.directory = '\0';
		return own;
	}
	own.owner = st.st_uid;
	own.mode = st.st_mode;
	slash = strrchr(own.directory, '/');
	if (slash)
		*slash = '\0';
	return own;
}

/*
 * Whether only root and the owner of this program can have put the path there: a tree may be
 * unpacked below /tmp, where the folder beside it is a stranger's. In a sticky folder, as /tmp is,
 * nobody replaces what is another's. On a file system without modes everybody may write to this
 * program, too.
 */
static bool is_trusted(const char *path, const struct own *own)
{
	struct stat st;

	if (stat(path, &st) < 0 || (st.st_uid != 0 && st.st_uid != own->owner))
		return false;
	return !(st.st_mode & S_IWOTH & ~own->mode) ||
		(S_ISDIR(st.st_mode) && st.st_mode & S_ISVTX);
}

/* 0 with *ret, -EACCES, -EPERM for a program that cannot be trusted, -ENOMEM, or -ENOENT for any
 * other reason why the path is not executable. Without `own` the folder is the administrator's. */
static int try_place(const char *directory, const char *place, const char *name,
	const struct own *own, char **ret)
{
	_cleanup_free_ char *path = NULL, *folder = NULL;

	if (text_format(&folder, "%s%s", directory, place) < 0 ||
		text_format(&path, "%s%s", folder, name) < 0)
		return -ENOMEM;
	if (access(path, X_OK) < 0)
		return errno == EACCES ? -EACCES : -ENOENT;
	if (own && (!is_trusted(folder, own) || !is_trusted(path, own)))
		return -EPERM;
	*ret = TAKE_PTR(path);
	return 0;
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
	struct own own = find_own();
	int r = -ENOENT, why = -ENOENT;

	for (size_t i = 0; i < ARRAY_SIZE(near) && *own.directory && r < 0; i++) {
		r = try_place(own.directory, near[i], name, &own, ret);
		why = r == -ENOENT ? why : r;
	}
	for (size_t i = 0; i < ARRAY_SIZE(configured) && r < 0; i++) {
		r = try_place("", configured[i], name, NULL, ret);
		why = r == -ENOENT ? why : r;
	}
	return why;
}

char *install_find_data(const char *name)
{
	/* In a build tree it is below the folder above that of the programs. */
	static const char *const near[] = { "/../share/quiesce/", "/../" };
	struct own own = find_own();
	char *path = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(near) && *own.directory; i++) {
		if (text_format(&path, "%s%s%s", own.directory, near[i], name) < 0)
			return NULL;
		if (access(path, R_OK | X_OK) == 0 && is_trusted(path, &own))
			return path;
		free(TAKE_PTR(path));
	}
	return text_format(&path, "%s/%s", DATADIR, name) < 0 ? NULL : path;
}
