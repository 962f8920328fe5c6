// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/macro.h"
#include "base/parse.h"
#include "base/wait.h"

enum {
	FILE_REREAD_MAX = 64 * 1024 * 1024,
	TEMPORARY_ATTEMPTS = 100,
	/* Replacing a file takes milliseconds, the largest results take a second. */
	LINKS_MAX = 40, /* as many as the kernel follows (path_resolution(7)) */
	LOCK_FIRST_STEP_NS = 1000 * 1000,
	LOCK_LAST_STEP_NS = 100 * 1000 * 1000,
};

/* Terminates the text of an attribute; returns the length without the trailing newline. */
static int attr_finish(char *buf, size_t size, ssize_t n)
{
	if (n < 0)
		return -errno;
	/* A full buffer may hold a truncated value. */
	if ((size_t)n >= size)
		return -EFBIG;
	if (n > 0 && buf[n - 1] == '\n')
		n--;
	buf[n] = '\0';
	return (int)n;
}

static int read_attr(int fd, bool whole, char *buf, size_t size)
{
	char page[FILE_ATTR_SIZE + 1];
	ssize_t length = RETRY_INTERRUPTED(pread(fd, page, sizeof(page), 0));
	int n;

	if (whole && length == 0)
		return -ENODATA;
	if (whole && length > 0 && length <= FILE_ATTR_SIZE && page[length - 1] != '\n')
		return -EBADMSG;
	n = attr_finish(page, sizeof(page), length);
	if (n < 0)
		return n;
	if ((size_t)n >= size)
		return -EFBIG;
	memcpy(buf, page, (size_t)n + 1);
	return n;
}

int file_reread_attr(int fd, char *buf, size_t size)
{
	return read_attr(fd, false, buf, size);
}

int file_read_attr(int dirfd, const char *path, char *buf, size_t size)
{
	_cleanup_close_ int fd = -EBADF;

	fd = openat(dirfd, path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (fd < 0)
		return -errno;
	return file_reread_attr(fd, buf, size);
}

int file_read_line(int dirfd, const char *path, char *buf, size_t size)
{
	_cleanup_close_ int fd = -EBADF;

	fd = openat(dirfd, path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (fd < 0)
		return -errno;
	return read_attr(fd, true, buf, size);
}

int file_read_attr_u64(int dirfd, const char *path, uint64_t *ret)
{
	char buf[FILE_ATTR_SIZE];
	int r;

	r = file_read_attr(dirfd, path, buf, sizeof(buf));
	if (r < 0)
		return r;
	return parse_attr_u64(buf, ret);
}

/* Reads fd until the end of the file: by pread(2) from offset `at`, or by read(2) when `at` is
 * negative. */
static int read_to_end(int fd, off_t at, size_t max, struct file_buffer *buffer)
{
	buffer->length = 0;
	for (;;) {
		ssize_t n;

		if (buffer->capacity - buffer->length < 2) {
			size_t capacity = MAX((size_t)8192, buffer->capacity * 2);
			char *data;

			data = realloc(buffer->data, capacity);
			if (!data)
				return -ENOMEM;
			buffer->data = data;
			buffer->capacity = capacity;
		}
		if (at >= 0)
			n = pread(fd, buffer->data + buffer->length,
				buffer->capacity - buffer->length - 1, at + (off_t)buffer->length);
		else
			n = read(fd, buffer->data + buffer->length,
				buffer->capacity - buffer->length - 1);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			break;
		buffer->length += (size_t)n;
		if (buffer->length > max)
			return -EFBIG;
	}
	buffer->data[buffer->length] = '\0';
	return 0;
}

/* Reads an attribute, and goes on where it fills more than a page. */
static int read_long_attr(int dirfd, const char *path, bool whole, char **ret)
{
	_cleanup_close_ int fd = -EBADF;
	_cleanup_free_ char *text = NULL;
	size_t length = 0, capacity = FILE_ATTR_SIZE + 1;
	ssize_t n;

	fd = openat(dirfd, path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (fd < 0)
		return -errno;
	do {
		char *grown = realloc(text, capacity + 1);

		if (!grown)
			return -ENOMEM;
		text = grown;
		n = RETRY_INTERRUPTED(pread(fd, text + length, capacity - length, (off_t)length));
		if (n < 0)
			return -errno;
		length += (size_t)n;
		if (length > FILE_LONG_ATTR_MAX)
			return -EFBIG;
		capacity = length + FILE_ATTR_SIZE + 1;
	} while (n >= FILE_ATTR_SIZE);
	if (whole && length == 0)
		return -ENODATA;
	if (length > 0 && text[length - 1] == '\n')
		length--;
	else if (whole)
		return -EBADMSG;
	text[length] = '\0';
	*ret = TAKE_PTR(text);
	return (int)length;
}

int file_read_long_attr(int dirfd, const char *path, char **ret)
{
	return read_long_attr(dirfd, path, false, ret);
}

int file_read_long_line(int dirfd, const char *path, char **ret)
{
	return read_long_attr(dirfd, path, true, ret);
}

int file_write_attr(const char *path, const char *text)
{
	_cleanup_close_ int fd = -EBADF;
	size_t length = strlen(text);
	ssize_t n;

	fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC | O_NOCTTY);
	if (fd < 0)
		return -errno;
	n = write(fd, text, length);
	if (n < 0)
		return -errno;
	return (size_t)n == length ? 0 : -EIO;
}

int file_read_all(const char *path, size_t max, char **ret, size_t *ret_length)
{
	_cleanup_close_ int fd = -EBADF;
	struct file_buffer buffer = { 0 };
	int r;

	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (fd < 0)
		return -errno;
	r = read_to_end(fd, -1, max, &buffer);
	if (r < 0) {
		free(buffer.data);
		return r;
	}
	*ret = buffer.data;
	if (ret_length)
		*ret_length = buffer.length;
	return 0;
}

/* The folder of a file that need not be there, with "." at the end; malloc'd. */
static char *name_folder(const char *path)
{
	char *folder;

	if (asprintf(&folder, "%.*s.", (int)(basename(path) - path), path) < 0)
		return NULL;
	return folder;
}

static bool is_same_inode(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* What a link says, seen from the folder that the link is in; malloc'd. */
static int read_link(const char *path, char **ret)
{
	char target[PATH_MAX];
	ssize_t n = readlink(path, target, sizeof(target) - 1);
	int folder;

	if (n < 0)
		return -errno;
	target[n] = '\0';
	folder = target[0] == '/' ? 0 : (int)(basename(path) - path);
	return asprintf(ret, "%.*s%s", folder, path, target) < 0 ? -ENOMEM : 0;
}

/* Where a path leads to at which no file is, malloc'd: the path itself unless it is a symbolic
 * link. -ELOOP when a link on the way belongs to somebody else. */
static int follow_dangling(const char *path, char **ret)
{
	_cleanup_free_ char *at = strdup(path);

	for (int i = 0; at && i < LINKS_MAX; i++) {
		struct stat st;
		char *next;
		int r = lstat(at, &st) < 0 ? -errno : 0;

		if (r < 0 && r != -ENOENT)
			return r;
		if (r < 0 || !S_ISLNK(st.st_mode)) {
			*ret = TAKE_PTR(at);
			return 0;
		}
		if (st.st_uid != geteuid())
			return -ELOOP;
		r = read_link(at, &next);
		if (r < 0)
			return r;
		free(at);
		at = next;
	}
	return at ? -ELOOP : -ENOMEM;
}

bool file_is_same(const char *a, const char *b)
{
	_cleanup_free_ char *end_a = NULL, *end_b = NULL, *folder_a = NULL, *folder_b = NULL;
	struct stat x, y;
	bool is_there = stat(a, &x) == 0;

	if (is_there != (stat(b, &y) == 0))
		return false;
	if (is_there)
		return is_same_inode(&x, &y);
	if (follow_dangling(a, &end_a) < 0 || follow_dangling(b, &end_b) < 0)
		return false;
	/* Never; gcc 12's analyzer does not see what follow_dangling() stores. */
	if (!end_a || !end_b)
		return false;
	folder_a = name_folder(end_a);
	folder_b = name_folder(end_b);
	return folder_a && folder_b && strcmp(basename(end_a), basename(end_b)) == 0 &&
		stat(folder_a, &x) == 0 && stat(folder_b, &y) == 0 && is_same_inode(&x, &y);
}

void file_close_from(int first)
{
	if (syscall(SYS_close_range, first, ~0U, 0) == 0)
		return;
	/* Linux before 5.9 */
	for (long fd = first, end = sysconf(_SC_OPEN_MAX); fd < end; fd++)
		close((int)fd);
}

int file_close_at_exec_from(int first)
{
	enum {
		CLOSE_AT_EXEC = 1 << 2, /* CLOSE_RANGE_CLOEXEC, which not all headers have */
	};

	if (syscall(SYS_close_range, first, ~0U, CLOSE_AT_EXEC) == 0)
		return 0;
	/* Linux before 5.11 */
	for (long fd = first, end = sysconf(_SC_OPEN_MAX); fd < end; fd++) {
		if (fcntl((int)fd, F_SETFD, FD_CLOEXEC) < 0 && errno != EBADF)
			return -errno;
	}
	return 0;
}

int file_write_all(int fd, const void *data, size_t size)
{
	const char *bytes = data;

	while (size > 0) {
		ssize_t n = write(fd, bytes, size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		bytes += n;
		size -= (size_t)n;
	}
	return 0;
}

int file_check_new(const char *path)
{
	_cleanup_free_ char *folder = name_folder(path);

	if (!folder)
		return -ENOMEM;
	return faccessat(AT_FDCWD, folder, W_OK | X_OK, AT_EACCESS) < 0 ? -errno : 0;
}

int file_reread(int fd, struct file_buffer *buffer)
{
	return read_to_end(fd, 0, FILE_REREAD_MAX, buffer);
}

void file_buffer_clear(struct file_buffer *buffer)
{
	free(buffer->data);
	*buffer = (struct file_buffer){ 0 };
}

struct file_replace {
	FILE *stream;
	int dirfd;
	char *name;	 /* the file's name inside dirfd; NULL when written directly */
	char *temporary; /* the temporary file's name inside dirfd; NULL while it is unnamed */
	struct file_replace *next;
};

/* All that were begun, and neither committed nor aborted. */
static struct file_replace *begun;

static void replace_free(struct file_replace *replace)
{
	struct file_replace **at = &begun;

	while (*at != replace)
		at = &(*at)->next;
	*at = replace->next;
	if (replace->stream)
		fclose(replace->stream);
	if (replace->dirfd >= 0)
		close(replace->dirfd);
	free(replace->name);
	free(replace->temporary);
	free(replace);
}

int file_open_at_once(const char *path, int flags)
{
	_cleanup_close_ int fd = open(path, flags | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0666);

	if (fd < 0 || fcntl(fd, F_SETFL, flags & ~O_CREAT) < 0)
		return -errno;
	return TAKE_FD(fd);
}

/* Opens something that cannot be replaced by rename: a terminal, a pipe, /dev/null. */
static int replace_open_direct(struct file_replace *replace, const char *path, bool is_fifo)
{
	_cleanup_close_ int fd = file_open_at_once(path, O_WRONLY);

	if (fd < 0)
		return fd == -ENXIO && is_fifo ? -EPIPE : fd;
	replace->stream = fdopen(fd, "w");
	if (!replace->stream)
		return -errno;
	TAKE_FD(fd);
	return 0;
}

/* A name for the temporary file that no other process uses; each attempt gives another one. */
static char *temporary_name(const struct file_replace *replace, int attempt)
{
	uint32_t random = (uint32_t)getpid() * 2654435761u + (uint32_t)attempt;
	char *name;

	return asprintf(&name, ".%.200s.%08x.tmp", replace->name, random) < 0 ? NULL : name;
}

/* Opens the temporary file. Without a name (O_TMPFILE) where the file system supports it, so that a
 * killed program leaves nothing behind; else with a name. O_EXCL refuses any existing name, links
 * included. */
static int temporary_open(struct file_replace *replace, mode_t mode)
{
	int fd;

	fd = openat(replace->dirfd, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, mode);
	if (fd >= 0)
		return fd;
	/* The errors of a file system or kernel without O_TMPFILE (open(2)). */
	if (errno != EOPNOTSUPP && errno != EISDIR && errno != ENOENT && errno != EINVAL)
		return -errno;
	for (int attempt = 0; attempt < TEMPORARY_ATTEMPTS; attempt++) {
		_cleanup_free_ char *name = temporary_name(replace, attempt);

		if (!name)
			return -ENOMEM;
		fd = openat(replace->dirfd, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
		if (fd < 0 && errno == EEXIST)
			continue;
		if (fd < 0)
			return -errno;
		replace->temporary = TAKE_PTR(name);
		return fd;
	}
	return -EEXIST;
}

/* Gives an unnamed temporary file a name, because rename(2) is the only way to replace a file
 * whole. */
static int temporary_link(struct file_replace *replace)
{
	char path[64];

	if (replace->temporary)
		return 0;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fileno(replace->stream));
	for (int attempt = 0; attempt < TEMPORARY_ATTEMPTS; attempt++) {
		_cleanup_free_ char *name = temporary_name(replace, attempt);

		if (!name)
			return -ENOMEM;
		if (linkat(AT_FDCWD, path, replace->dirfd, name, AT_SYMLINK_FOLLOW) == 0) {
			replace->temporary = TAKE_PTR(name);
			return 0;
		}
		if (errno != EEXIST)
			return -errno;
	}
	return -EEXIST;
}

/* Creates the temporary file beside replace->name, with mode and owner of the old file if there is
 * one. */
static int replace_open_temporary(struct file_replace *replace, const struct stat *old)
{
	mode_t mode = old ? old->st_mode & 07777 : 0666;
	_cleanup_close_ int fd = -EBADF;

	fd = temporary_open(replace, mode);
	if (fd < 0)
		return fd;
	/* chown(2) comes first because it may clear mode bits. Only root can give a file away; any
	 * other user who may write here becomes the owner of the new file. */
	if (old && fchown(fd, old->st_uid, old->st_gid) < 0 && errno != EPERM)
		return -errno;
	if (old && fchmod(fd, mode) < 0)
		return -errno;
	replace->stream = fdopen(fd, "w");
	if (!replace->stream)
		return -errno;
	TAKE_FD(fd);
	return 0;
}

/* The path to write to: `path`, or the target of a symbolic link that this user owns, which need
 * not be there. */
static int replace_resolve(const char *path, char **ret, struct stat *ret_st, bool *ret_exists)
{
	struct stat st;
	char *resolved;

	if (lstat(path, &st) < 0) {
		if (errno != ENOENT)
			return -errno;
		resolved = strdup(path);
		if (!resolved)
			return -ENOMEM;
		*ret = resolved;
		*ret_exists = false;
		return 0;
	}
	if (!S_ISLNK(st.st_mode)) {
		resolved = strdup(path);
		if (!resolved)
			return -ENOMEM;
	} else {
		bool ours = st.st_uid == geteuid();

		if (stat(path, &st) < 0 && errno == ENOENT) {
			*ret_exists = false;
			return follow_dangling(path, ret);
		}
		if (stat(path, &st) < 0)
			return -errno;
		/* /dev/stdout is a link of root's, but harmless: its target is written to, not
		 * replaced. */
		if (!ours && S_ISREG(st.st_mode))
			return -ELOOP;
		resolved = S_ISREG(st.st_mode) ? realpath(path, NULL) : strdup(path);
		if (!resolved)
			return -errno;
	}
	*ret = resolved;
	*ret_st = st;
	*ret_exists = true;
	return 0;
}

const char *file_replace_explain(int error)
{
	switch (abs(error)) {
	case ELOOP:
		return "it is a symbolic link that belongs to somebody else";
	case EPIPE:
		return "no process reads from it";
	default:
		return strerror(abs(error));
	}
}

int file_replace_begin(const char *path, struct file_replace **ret)
{
	struct file_replace *replace;
	_cleanup_free_ char *resolved = NULL;
	const char *slash, *name;
	bool exists = false;
	struct stat st;
	int r;

	if (!*path)
		return -ENOENT;
	r = replace_resolve(path, &resolved, &st, &exists);
	if (!resolved)
		return r;
	if (exists && S_ISDIR(st.st_mode))
		return -EISDIR;

	replace = calloc(1, sizeof(*replace));
	if (!replace)
		return -ENOMEM;
	replace->dirfd = -EBADF;
	replace->next = begun;
	begun = replace;

	if (exists && !S_ISREG(st.st_mode)) {
		r = replace_open_direct(replace, resolved, S_ISFIFO(st.st_mode));
		if (r < 0)
			goto fail;
		*ret = replace;
		return 0;
	}
	/* A read-only file is refused, even where the directory would allow replacing it: somebody
	 * made it read-only on purpose. */
	if (exists && faccessat(AT_FDCWD, resolved, W_OK, AT_EACCESS) < 0) {
		r = -errno;
		goto fail;
	}

	slash = strrchr(resolved, '/');
	name = slash ? slash + 1 : resolved;
	if (!*name) {
		r = -EISDIR;
		goto fail;
	}
	replace->name = strdup(name);
	if (!replace->name) {
		r = -ENOMEM;
		goto fail;
	}
	resolved[name - resolved] = '\0';
	replace->dirfd = open(*resolved ? resolved : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (replace->dirfd < 0) {
		r = -errno;
		goto fail;
	}
	r = replace_open_temporary(replace, exists ? &st : NULL);
	if (r < 0)
		goto fail;
	*ret = replace;
	return 0;
fail:
	file_replace_abort(replace);
	return r;
}

FILE *file_replace_stream(struct file_replace *replace)
{
	return replace->stream;
}

int file_lock(int fd, unsigned seconds)
{
	struct wait wait = wait_until(clock_now_ns(CLOCK_MONOTONIC) + seconds * NSEC_PER_SEC,
		LOCK_FIRST_STEP_NS, LOCK_LAST_STEP_NS);

	do {
		if (flock(fd, LOCK_EX | LOCK_NB) == 0)
			return 0;
		if (errno != EWOULDBLOCK && errno != EINTR)
			return -errno;
	} while (wait_step(&wait));
	return -EAGAIN;
}

int file_replace_lock(struct file_replace *replace)
{
	return replace->name ? file_lock(replace->dirfd, FILE_LOCK_SECONDS) : 0;
}

/* Finds out why an earlier write failed, because stdio forgets the reason: writes to the temporary
 * file, which will be removed anyway, and takes the error. A disk that was full is probably still
 * full. */
static int find_write_error(const struct file_replace *replace)
{
	static const char block[64 * 1024];
	ssize_t n = sizeof(block);

	/* The first write may succeed in part, with the last free space of the disk. */
	for (int i = 0; replace->name && n >= 0 && i < 2; i++)
		n = write(fileno(replace->stream), block, sizeof(block));
	return n < 0 ? -errno : -EIO;
}

int file_replace_commit(struct file_replace *replace)
{
	FILE *stream = replace->stream;
	int r = 0;

	errno = 0;
	if (fflush(stream) != 0 || ferror(stream))
		r = errno > 0 ? -errno : find_write_error(replace);
	if (r == 0 && replace->name) {
		if (fsync(fileno(stream)) < 0)
			r = -errno;
		else
			r = temporary_link(replace);
		if (r == 0 &&
			renameat(replace->dirfd, replace->temporary, replace->dirfd,
				replace->name) < 0)
			r = -errno;
	}
	if (r < 0) {
		file_replace_abort(replace);
		return r;
	}
	/* Makes the new name survive a power cut. Some file systems cannot sync a directory; the
	 * write has succeeded all the same. */
	if (replace->name)
		(void)fsync(replace->dirfd);
	replace_free(replace);
	return 0;
}

void file_replace_drop_all(void)
{
	for (const struct file_replace *replace = begun; replace; replace = replace->next)
		if (replace->temporary)
			(void)unlinkat(replace->dirfd, replace->temporary, 0);
}

void file_replace_abort(struct file_replace *replace)
{
	if (!replace)
		return;
	if (replace->temporary)
		(void)unlinkat(replace->dirfd, replace->temporary, 0);
	replace_free(replace);
}
