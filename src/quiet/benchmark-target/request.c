// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/file.h"
#include "quiet/benchmark-target/request.h"
#include "quiet/engine/journal.h"

enum {
	REQUEST_MAX = 16 * 1024,
};

int request_make(const char *cpus)
{
	_cleanup_close_ int directory = journal_open_directory(), fd = -EBADF;
	size_t length = strlen(cpus);
	ssize_t n;

	if (directory < 0)
		return directory;
	if (length == 0 || length > REQUEST_MAX)
		return -EINVAL;
	if (unlinkat(directory, "request", 0) < 0 && errno != ENOENT)
		return -errno;
	fd = openat(directory, "request", O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) < 0)
		return -errno;
	n = write(fd, cpus, length);
	if (n < 0)
		return -errno;
	return (size_t)n == length ? TAKE_FD(fd) : -EIO;
}

int request_take(char **ret)
{
	_cleanup_close_ int directory = journal_open_directory(), fd = -EBADF;
	struct file_buffer buffer = { 0 };
	int r;

	if (directory < 0)
		return directory;
	fd = openat(directory, "request", O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	(void)unlinkat(directory, "request", 0);
	if (flock(fd, LOCK_SH | LOCK_NB) == 0)
		return -ENOENT;
	r = file_reread(fd, &buffer);
	if (r == 0 && (buffer.length == 0 || strlen(buffer.data) != buffer.length))
		r = -EBADMSG;
	if (r < 0) {
		file_buffer_clear(&buffer);
		return r;
	}
	*ret = buffer.data;
	return 0;
}
