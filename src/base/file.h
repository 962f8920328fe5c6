/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Files. All functions return 0 or a length, or a negative errno. On failure the outputs are
 * untouched.
 */
#ifndef QUIESCE_BASE_FILE_H
#define QUIESCE_BASE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/cleanup.h"

/* A kernel attribute never exceeds one page, except for lists of CPUs. */
#define FILE_ATTR_SIZE 4096
/* Every other one of 8192 CPUs makes a list of 20 KiB. */
#define FILE_LONG_ATTR_MAX (64 * 1024)

/*
 * Reads a kernel attribute by a single read(2), which makes the value consistent: the kernel
 * renders the value at the first read (Documentation/filesystems/sysfs.rst). The text is
 * NUL-terminated, without the trailing newline. dirfd as for openat(2): AT_FDCWD for absolute
 * paths. Returns the length; -EFBIG when the value does not fit into size - 1 bytes.
 */
int file_read_attr(int dirfd, const char *path, char *buf, size_t size);
/* As file_read_attr(), for a file that ends in a newline even when its value is empty. -ENODATA for
 * a file without any byte (a recording contains such a file where the original could not be read),
 * -EBADMSG for a file without the newline, which was cut off. */
int file_read_line(int dirfd, const char *path, char *buf, size_t size);
/*
 * As file_read_attr(), and the text is malloc'd and may be as long as FILE_LONG_ATTR_MAX: lists of
 * CPUs. What fits into a page is read at once. /proc and cgroups have longer texts, and since 5.16
 * so has sysfs for some lists and masks of CPUs, a page at a read(2) (include/linux/cpumask.h:
 * cpumap_print_list_to_buf()). -EFBIG for a longer one.
 */
int file_read_long_attr(int dirfd, const char *path, char **ret);
/* The same, as file_read_line(): -ENODATA and -EBADMSG. */
int file_read_long_line(int dirfd, const char *path, char **ret);
/* As file_read_attr(), on a descriptor that stays open: pread(2) at offset 0. */
int file_reread_attr(int fd, char *buf, size_t size);
/* Reads an attribute that holds one decimal number; -EINVAL when it holds something else. */
int file_read_attr_u64(int dirfd, const char *path, uint64_t *ret);

/* Writes a kernel attribute by a single write(2), the text unchanged. A regular file, as in a
 * recorded machine, is truncated first. -EIO when the kernel did not take the whole text. */
int file_write_attr(const char *path, const char *text);

/* Reads a whole file of at most max bytes into malloc'd, NUL-terminated memory. -EFBIG for a larger
 * file. */
int file_read_all(const char *path, size_t max, char **ret, size_t *ret_length);

/* open(2) with mode 0666, which does not wait for a process at the other end of a FIFO, not even in
 * a program that blocks all signals: -ENXIO where nobody reads what is opened for writing. Later
 * calls wait as usual: whoever gets the descriptor does not expect O_NONBLOCK. */
int file_open_at_once(const char *path, int flags);
/* Whether both paths lead to the same file, which need not be there yet. */
bool file_is_same(const char *a, const char *b);
/* 0 when a new file can be made under this name; its folder must exist. Does not make the file. */
int file_check_new(const char *path);
/* Closes the descriptor `first` and all above it. (Not all C libraries have closefrom(3).) */
void file_close_from(int first);
/* Has execve(2) close the descriptor `first` and all above it. */
int file_close_at_exec_from(int first);
/* Writes all of it, also where the kernel takes it piece by piece. */
int file_write_all(int fd, const void *data, size_t size);

enum {
	FILE_LOCK_SECONDS = 30,
};

/* Takes the exclusive flock(2), and waits for it. Whoever may open the file can hold its lock, so
 * this ends after so many seconds: -EAGAIN. */
int file_lock(int fd, unsigned seconds);

/* A buffer that is reused when a /proc table is read again and again. */
struct file_buffer {
	char *data; /* NUL-terminated after a successful file_reread() */
	size_t length;
	size_t capacity;
};

/* Reads the whole file again from offset 0, through a descriptor that stays open. Does not allocate
 * once the buffer is large enough. -EFBIG for more than 64 MiB. */
int file_reread(int fd, struct file_buffer *buffer);
void file_buffer_clear(struct file_buffer *buffer);

/*
 * A file that is written whole or not at all: a temporary file beside it, fsync, rename. An
 * existing file's mode is kept, and its owner if this user may set it; a new file has mode 0666
 * less the umask. A symbolic link to a file is followed if this user owns the link, else refused
 * with -ELOOP: in a directory that others can write to, somebody else could choose the target. So
 * is a link that leads to no file yet: the file is made where it leads to. A device or FIFO is
 * written to directly, because /dev/null must not be replaced by a file; a FIFO that no process
 * reads from is -EPIPE.
 */
struct file_replace;

/* Opens the temporary file, so that an unwritable place is known before the work begins. */
int file_replace_begin(const char *path, struct file_replace **ret);
/* What the error of these functions means, for a message. */
const char *file_replace_explain(int error);
FILE *file_replace_stream(struct file_replace *replace);
/*
 * Locks the file against other callers of this function until commit or abort, so that nobody's
 * change between reading the old file and replacing it is lost. Waits for the lock. The lock is
 * flock(2) on the file's directory: a lock on the file itself would stay with the old file. It
 * needs no lock file and ends with its owner. Errors as file_lock(). Does nothing for a device.
 */
int file_replace_lock(struct file_replace *replace);
/* Flushes, syncs, renames and frees. On failure the old file is unchanged and the temporary file is
 * removed. */
int file_replace_commit(struct file_replace *replace);
/* For a program that ends at once: removes the temporary files of all that were begun, where they
 * have a name. Allocates nothing. */
void file_replace_drop_all(void);
/* Removes the temporary file; the old file is unchanged. NULL is allowed. */
void file_replace_abort(struct file_replace *replace);

DEFINE_CLEANUP(file_replace, file_replace_abort);

#endif
