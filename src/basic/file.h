/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Files. All functions return 0 or a length, or a negative errno, with outputs untouched then.
 */
#ifndef QUIESCE_BASIC_FILE_H
#define QUIESCE_BASIC_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "basic/cleanup.h"

/* A kernel attribute never exceeds one page. */
#define FILE_ATTR_SIZE 4096

/*
 * One kernel attribute by a single read(2), which is what makes its value consistent (the kernel
 * renders it at the first read; Documentation/filesystems/sysfs.rst). NUL-terminated, without the
 * trailing newline. dirfd as for openat(2): AT_FDCWD for absolute paths.
 * Returns the length; -EFBIG when the value does not fit into size - 1 bytes.
 */
int file_read_attr(int dirfd, const char *path, char *buf, size_t size);
/* As file_read_attr(), of what ends in a newline also where it has nothing to say: -ENODATA for a
 * file without any byte, as one is recorded that nobody might read, -EBADMSG for one that was cut
 * off. */
int file_read_line(int dirfd, const char *path, char *buf, size_t size);
/* As file_read_attr() on a kept descriptor: pread(2) at offset 0. */
int file_reread_attr(int fd, char *buf, size_t size);
/* An attribute that holds one decimal number; -EINVAL when it holds something else. */
int file_read_attr_u64(int dirfd, const char *path, uint64_t *ret);

/* A kernel attribute by a single write(2), as the text stands. A plain file, as recorded machines
 * have them, is emptied before. -EIO when not all of it was taken. */
int file_write_attr(const char *path, const char *text);

/* Reads a whole file of at most max bytes into malloc'd, NUL-terminated memory. -EFBIG beyond. */
int file_read_all(int dirfd, const char *path, size_t max, char **ret, size_t *ret_length);

/* A buffer that is kept from one reading of a /proc table to the next. */
struct file_buffer {
	char *data; /* NUL-terminated after a successful file_reread() */
	size_t length;
	size_t capacity;
};

/* Reads all of a kept descriptor again, from offset 0. Does not allocate once the buffer is large
 * enough. -EFBIG beyond 64 MiB. */
int file_reread(int fd, struct file_buffer *buffer);
void file_buffer_clear(struct file_buffer *buffer);

/*
 * A file that is written whole or not at all: temporary file beside it, fsync, rename.
 * An existing file's mode is kept, and its owner as far as we may; a new one has 0666 less the
 * umask. A symbolic link to a file is followed if it is ours, else refused (-ELOOP: in a directory
 * that others may write to, a link leads where they want); -ENOENT if it leads nowhere. A device or
 * FIFO is written to directly: nobody wants /dev/null replaced by a file.
 */
struct file_replace;

/* Opens the temporary file, so that an unwritable place is known before the work begins. */
int file_replace_begin(const char *path, struct file_replace **ret);
FILE *file_replace_stream(struct file_replace *replace);
/*
 * Until the file is replaced, or left as it is, keeps others out who ask for the same: so nobody
 * loses what came between reading the old file and replacing it. Waits for its turn. The lock is
 * flock(2) on the file's directory, for a lock on the file would be one on the old file: it needs
 * no file beside, and is gone with its owner. -EAGAIN after half a minute; nothing to do for a
 * device.
 */
int file_replace_lock(struct file_replace *replace);
/* Flushes, syncs, renames and frees. On failure the old file stands and the temporary is gone. */
int file_replace_commit(struct file_replace *replace);
/* Leaves the old file as it is, removes the temporary one. NULL is allowed. */
void file_replace_abort(struct file_replace *replace);

DEFINE_CLEANUP(file_replace, file_replace_abort);

#endif
