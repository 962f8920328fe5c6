// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#if HAVE_LIBARCHIVE
#include <archive.h>
#include <archive_entry.h>
#endif

#include "base/array.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/macro.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "look/recording/tarball.h"

bool tarball_link_stays_inside(const char *path, const char *target)
{
	size_t depth = 0;

	if (*target == '/' || *target == '\0')
		return false;
	for (const char *p = path; (p = strchr(p, '/')); p++)
		depth++;
	while (*target) {
		size_t length = strcspn(target, "/");

		if (length == 2 && memcmp(target, "..", 2) == 0) {
			if (depth-- == 0)
				return false;
		} else if (length > 0 && !(length == 1 && *target == '.')) {
			depth++;
		}
		target += length;
		target += strspn(target, "/");
	}
	return true;
}

#if HAVE_LIBARCHIVE

static int compare_entries(const void *a, const void *b)
{
	const struct tarball_entry *x = a, *y = b;

	return strcmp(x->path, y->path);
}

/* archive_errno() is an errno after an error of the system, and negative after one of libarchive.
 */
static int archive_error(struct archive *archive)
{
	int error = archive_errno(archive);

	return error > 0 ? -error : -EIO;
}

static int write_entry(
	struct archive *archive, struct archive_entry *header, const struct tarball_entry *entry)
{
	archive_entry_clear(header);
	archive_entry_set_pathname(header, entry->path);
	archive_entry_set_mtime(header, 0, 0);
	switch (entry->type) {
	case TARBALL_DIRECTORY:
		archive_entry_set_filetype(header, AE_IFDIR);
		archive_entry_set_perm(header, 0755);
		break;
	case TARBALL_FILE:
		archive_entry_set_filetype(header, AE_IFREG);
		archive_entry_set_perm(header, entry->read_only ? 0444 : 0644);
		archive_entry_set_size(header, (int64_t)entry->size);
		break;
	case TARBALL_LINK:
		archive_entry_set_filetype(header, AE_IFLNK);
		archive_entry_set_perm(header, 0777);
		archive_entry_set_symlink(header, entry->data);
		break;
	}
	if (archive_write_header(archive, header) != ARCHIVE_OK)
		return archive_error(archive);
	if (entry->type == TARBALL_FILE && entry->size > 0 &&
		archive_write_data(archive, entry->data, entry->size) != (ssize_t)entry->size)
		return archive_error(archive);
	return 0;
}

int tarball_write(FILE *stream, struct tarball_entry *entries, size_t n)
{
	struct archive *archive = xptr(archive_write_new());
	struct archive_entry *header = xptr(archive_entry_new());
	int r = 0;

	if (n > 0)
		qsort(entries, n, sizeof(*entries), compare_entries);
	if (archive_write_add_filter_gzip(archive) != ARCHIVE_OK ||
		/* NULL switches off an option, here the time of packing in the gzip header. */
		archive_write_set_filter_option(archive, "gzip", "timestamp", NULL) != ARCHIVE_OK ||
		archive_write_set_format_pax_restricted(archive) != ARCHIVE_OK ||
		/* No padding with zeros to the block size of a tape. */
		archive_write_set_bytes_in_last_block(archive, 1) != ARCHIVE_OK ||
		archive_write_open_FILE(archive, stream) != ARCHIVE_OK)
		r = archive_error(archive);
	for (size_t i = 0; i < n && r == 0; i++)
		r = write_entry(archive, header, &entries[i]);
	if (r == 0 && archive_write_close(archive) != ARCHIVE_OK)
		r = archive_error(archive);
	archive_entry_free(header);
	archive_write_free(archive);
	return r;
}

/* Links are made after all files, so that no file is written through a link. */
struct link {
	char *path;
	char *target;
};

struct unpacking {
	struct archive *archive;
	int directory;
	struct link *links;
	size_t n_links;
	size_t links_room;
	size_t n_entries;
	uint64_t bytes;
	char *why;
};

static int refuse(struct unpacking *u, const char *path, const char *what)
{
	xcheck(text_format(&u->why, "%s%s%s", path, *path ? " " : "", what));
	return -EBADMSG;
}

static int fail(struct unpacking *u, const char *path, int error)
{
	xcheck(text_format(&u->why, "%s: %s", path, strerror(-error)));
	return error;
}

/* Removes "./" at the beginning and slashes at the end; "" is the top. */
static char *clean_path(const char *path)
{
	char *clean;
	size_t length;

	while (path[0] == '.' && (path[1] == '/' || path[1] == '\0'))
		path += 1 + strspn(path + 1, "/");
	clean = xptr(strdup(path));
	length = strlen(clean);
	/* One slash is left of a path of slashes, so that it is still absolute. */
	while (length > 1 && clean[length - 1] == '/')
		clean[--length] = '\0';
	return clean;
}

/* Whether the path is absolute, or has a part that is "..", "." or empty. */
static bool is_odd_path(const char *path)
{
	while (*path) {
		size_t length = strcspn(path, "/");

		if (length == 0 || (length <= 2 && memcmp(path, "..", length) == 0))
			return true;
		path += length;
		if (*path == '/' && *++path == '\0')
			return true;
	}
	return false;
}

/* Makes the parent directories of the path. */
static int make_parents(struct unpacking *u, char *path)
{
	for (char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
		int r;

		*slash = '\0';
		r = mkdirat(u->directory, path, 0755);
		*slash = '/';
		if (r < 0 && errno != EEXIST)
			return fail(u, path, -errno);
	}
	return 0;
}

static int unpack_file(struct unpacking *u, const char *path, bool read_only)
{
	_cleanup_close_ int fd = -EBADF;
	char buffer[65536];
	int r;

	fd = openat(u->directory, path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
		read_only ? 0444 : 0644);
	if (fd < 0)
		return errno == EEXIST ? refuse(u, path, "is in it twice") : fail(u, path, -errno);
	for (;;) {
		ssize_t n = archive_read_data(u->archive, buffer, sizeof(buffer));

		if (n == 0)
			return 0;
		if (n < 0)
			return refuse(u, path, "cannot be unpacked: the file is damaged");
		u->bytes += (uint64_t)n;
		if (u->bytes > TARBALL_BYTES_MAX)
			return refuse(u, "", TARBALL_TOO_LARGE);
		r = file_write_all(fd, buffer, (size_t)n);
		if (r < 0)
			return fail(u, path, r);
	}
}

static int add_link(struct unpacking *u, const char *path, const char *target)
{
	if (!target || !tarball_link_stays_inside(path, target))
		return refuse(u, path, "is a link that leads out");
	xcheck(array_grow(&u->links, sizeof(*u->links), u->n_links, &u->links_room));
	u->links[u->n_links++] = (struct link){
		.path = xptr(strdup(path)),
		.target = xptr(strdup(target)),
	};
	return 0;
}

static int unpack_entry(struct unpacking *u, struct archive_entry *header)
{
	const char *name = archive_entry_pathname(header);
	_cleanup_free_ char *path = name ? clean_path(name) : NULL;
	int r;

	if (!path)
		return refuse(u, "", "a name in it cannot be read");
	if (is_odd_path(path))
		return refuse(u, path, "is no path inside of it");
	if (++u->n_entries > TARBALL_ENTRIES_MAX)
		return refuse(u, "", TARBALL_TOO_MANY);
	if (*path == '\0')
		return 0;
	r = make_parents(u, path);
	if (r < 0)
		return r;
	/* A hard link has no content of its own. */
	if (archive_entry_hardlink(header))
		return refuse(u, path, "is a hard link");
	switch (archive_entry_filetype(header)) {
	case AE_IFDIR:
		return mkdirat(u->directory, path, 0755) < 0 && errno != EEXIST
			? fail(u, path, -errno)
			: 0;
	case AE_IFREG:
		return unpack_file(u, path, !(archive_entry_perm(header) & S_IWUSR));
	case AE_IFLNK:
		return add_link(u, path, archive_entry_symlink(header));
	default:
		return refuse(u, path, "is neither a file, a directory nor a symbolic link");
	}
}

static int unpack_all(struct unpacking *u, int fd)
{
	struct archive_entry *header;
	int r;

	if (archive_read_support_filter_gzip(u->archive) < ARCHIVE_WARN ||
		archive_read_support_format_tar(u->archive) != ARCHIVE_OK)
		return archive_error(u->archive);
	if (archive_read_open_fd(u->archive, fd, 65536) != ARCHIVE_OK)
		return refuse(u, "", "it is no .tar.gz");
	while ((r = archive_read_next_header(u->archive, &header)) != ARCHIVE_EOF) {
		if (r != ARCHIVE_OK)
			return refuse(u, "", "it is no .tar.gz, or damaged");
		r = unpack_entry(u, header);
		if (r < 0)
			return r;
	}
	/* libarchive takes a file that is too short for a tar for an empty one. */
	if (u->n_entries == 0)
		return refuse(u, "", "it is no .tar.gz, or an empty one");
	for (size_t i = 0; i < u->n_links; i++) {
		const struct link *link = &u->links[i];

		if (symlinkat(link->target, u->directory, link->path) < 0)
			return errno == EEXIST ? refuse(u, link->path, "is in it twice")
					       : fail(u, link->path, -errno);
	}
	return 0;
}

int tarball_unpack(int fd, int directory, char **ret_why)
{
	struct unpacking u = { .directory = directory, .archive = xptr(archive_read_new()) };
	int r;

	r = unpack_all(&u, fd);
	for (size_t i = 0; i < u.n_links; i++) {
		free(u.links[i].path);
		free(u.links[i].target);
	}
	free(u.links);
	archive_read_free(u.archive);
	if (r < 0)
		*ret_why = u.why;
	return r;
}

#else

int tarball_write(FILE *stream, struct tarball_entry *entries, size_t n)
{
	(void)stream;
	(void)entries;
	(void)n;
	return -EOPNOTSUPP;
}

int tarball_unpack(int fd, int directory, char **ret_why)
{
	(void)fd;
	(void)directory;
	*ret_why = xptr(strdup("this build cannot read archives (it has no libarchive)"));
	return -EOPNOTSUPP;
}

#endif
