// SPDX-License-Identifier: GPL-2.0-or-later
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/text.h"
#include "look/recording/copy.h"
#include "look/recording/tarball.h"

struct copying {
	char path[PATH_MAX]; /* of the present entry, in the recording */
	size_t n_entries;
	uint64_t bytes;
	char **why;
};

static int refuse(const struct copying *c, const char *what)
{
	return text_refuse(c->why, -EINVAL, "%s %s", c->path, what);
}

static int fail(const struct copying *c, int error)
{
	return text_refuse(c->why, error, "%s: %s", c->path, strerror(-error));
}

/* The recording may have changed since its entry was looked at: only a file is opened, and nothing
 * waits. */
static int copy_file(struct copying *c, int from, int to, const char *name)
{
	_cleanup_close_ int in = -EBADF, out = -EBADF;
	char buffer[65536];
	struct stat st;
	int r;

	if (fstatat(from, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return fail(c, -errno);
	in = openat(from, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (in < 0 && errno != EACCES)
		return fail(c, -errno);
	if (in >= 0 && fstat(in, &st) < 0)
		return fail(c, -errno);
	if (!S_ISREG(st.st_mode))
		return refuse(c, "is no file any more");
	out = openat(to, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
		st.st_mode & S_IWUSR ? 0644 : 0444);
	if (out < 0)
		return fail(c, -errno);
	while (in >= 0) {
		ssize_t n = read(in, buffer, sizeof(buffer));

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? fail(c, -errno) : 0;
		c->bytes += (uint64_t)n;
		if (c->bytes > TARBALL_BYTES_MAX)
			return text_refuse(c->why, -EINVAL, TARBALL_TOO_LARGE);
		r = file_write_all(out, buffer, (size_t)n);
		if (r < 0)
			return fail(c, r);
	}
	return 0;
}

static int copy_link(const struct copying *c, int from, int to, const char *name)
{
	char target[PATH_MAX];
	ssize_t n = readlinkat(from, name, target, sizeof(target) - 1);

	if (n < 0)
		return fail(c, -errno);
	target[n] = '\0';
	if (!tarball_link_stays_inside(c->path, target))
		return refuse(c, "is a link that leads out");
	return symlinkat(target, to, name) < 0 ? fail(c, -errno) : 0;
}

static int copy_directory(struct copying *c, DIR *dir, int to);

static int copy_entry(struct copying *c, int from, int to, const char *name)
{
	_cleanup_close_ int below = -EBADF, copy = -EBADF;
	_cleanup_closedir_ DIR *dir = NULL;
	struct stat st;

	if (++c->n_entries > TARBALL_ENTRIES_MAX)
		return text_refuse(c->why, -EINVAL, TARBALL_TOO_MANY);
	if (fstatat(from, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return fail(c, -errno);
	if (S_ISREG(st.st_mode))
		return copy_file(c, from, to, name);
	if (S_ISLNK(st.st_mode))
		return copy_link(c, from, to, name);
	if (!S_ISDIR(st.st_mode))
		return refuse(c, "is neither a file, a directory nor a symbolic link");
	below = openat(from, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (below < 0 || mkdirat(to, name, 0755) < 0)
		return fail(c, -errno);
	copy = openat(to, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	dir = copy < 0 ? NULL : fdopendir(below);
	if (!dir)
		return fail(c, -errno);
	(void)TAKE_FD(below);
	return copy_directory(c, dir, copy);
}

static int copy_directory(struct copying *c, DIR *dir, int to)
{
	size_t length = strlen(c->path);
	const struct dirent *entry;
	int r = 0;

	while (r == 0 && (errno = 0, entry = readdir(dir))) {
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		if ((size_t)snprintf(c->path + length, sizeof(c->path) - length, "/%s",
			    entry->d_name) >= sizeof(c->path) - length)
			r = refuse(c, "is too long");
		else
			r = copy_entry(c, dirfd(dir), to, entry->d_name);
		c->path[length] = '\0';
	}
	return r == 0 && errno > 0 ? fail(c, -errno) : r;
}

int copy_tree(int from, int to, const char *path, char **ret_why)
{
	struct copying copying = { .why = ret_why };
	_cleanup_closedir_ DIR *dir = fdopendir(from);
	int error = -errno;

	snprintf(copying.path, sizeof(copying.path), "%s", path);
	if (dir)
		return copy_directory(&copying, dir, to);
	close(from);
	return fail(&copying, error);
}
