// SPDX-License-Identifier: GPL-2.0-or-later
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "basic/clock.h"
#include "basic/file.h"
#include "basic/text.h"
#include "basic/wait.h"
#include "knob/journal.h"
#include "machine/bootid.h"

enum {
	LOCK_STEP_NS = 50 * 1000 * 1000,
};

int journal_load(const char *tool, struct journal **ret, char **ret_why)
{
	int r = journal_read(tool, ret, ret_why);

	return r == -ESTALE ? -ENOENT : r;
}

/* /run/quiesce, made if it is not there. Nobody but root may have a hand in it: what stands in the
 * journals is written to the machine by root. */
int journal_open_directory(void)
{
	_cleanup_close_ int fd = -EBADF;
	struct stat st;

	if (mkdir(JOURNAL_DIRECTORY, 0755) < 0 && errno != EEXIST)
		return -errno;
	fd = open(JOURNAL_DIRECTORY, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) < 0)
		return -errno;
	if (st.st_uid != geteuid() || (st.st_mode & (S_IWGRP | S_IWOTH)))
		return -EPERM;
	/* Whatever the umask was: `status` is for everybody. */
	if ((st.st_mode & 0755) != 0755 && fchmod(fd, 0755) < 0)
		return -errno;
	return TAKE_FD(fd);
}

int journal_write_file(const char *path, const char *text)
{
	_cleanup_(file_replace) struct file_replace *file = NULL;
	_cleanup_close_ int directory = journal_open_directory();
	FILE *stream;
	int r;

	if (directory < 0)
		return directory;
	r = file_replace_begin(path, &file);
	if (r < 0)
		return r;
	stream = file_replace_stream(file);
	if (fchmod(fileno(stream), 0644) < 0)
		return -errno;
	errno = 0;
	if (fputs(text, stream) == EOF)
		return errno > 0 ? -errno : -EIO;
	return file_replace_commit(TAKE_PTR(file));
}

int journal_save(const struct journal *journal)
{
	_cleanup_free_ char *path = journal_format_path(journal->tool), *text = NULL;
	char boot_id[BOOTID_SIZE];
	int r;

	r = bootid_read(boot_id);
	if (r < 0)
		return r;
	text = journal_format(journal, boot_id);
	return path && text ? journal_write_file(path, text) : -ENOMEM;
}

/* What a writer that was killed before its last rename left beside the journal (basic/file.c names
 * it). Under the lock, nobody is writing one now. */
static void remove_leavings(const char *tool)
{
	_cleanup_free_ char *prefix = NULL;
	DIR *directory;
	const struct dirent *entry;

	if (asprintf(&prefix, ".%s.journal.", tool) < 0) {
		prefix = NULL;
		return;
	}
	directory = opendir(JOURNAL_DIRECTORY);
	if (!directory)
		return;
	while ((entry = readdir(directory))) {
		if (text_starts_with(entry->d_name, prefix))
			(void)unlinkat(dirfd(directory), entry->d_name, 0);
	}
	closedir(directory);
}

int journal_remove(const char *tool)
{
	_cleanup_free_ char *path = journal_format_path(tool);

	if (!path)
		return -ENOMEM;
	if (unlink(path) < 0 && errno != ENOENT)
		return -errno;
	remove_leavings(tool);
	return 0;
}

int journal_lock(unsigned seconds)
{
	_cleanup_close_ int directory = journal_open_directory(), fd = -EBADF;
	struct wait wait = wait_until(
		clock_now_ns(CLOCK_MONOTONIC) + seconds * NSEC_PER_SEC, LOCK_STEP_NS, LOCK_STEP_NS);

	if (directory < 0)
		return directory;
	fd = openat(directory, "lock", O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	/* Whoever can open it can hold it, by flock(2): nobody but root, also where an earlier
	 * version has made it for all to read. */
	if (fchmod(fd, 0600) < 0)
		return -errno;
	while (flock(fd, LOCK_EX | LOCK_NB) < 0) {
		if (errno != EWOULDBLOCK)
			return -errno;
		if (!wait_step(&wait))
			return -EAGAIN;
	}
	return TAKE_FD(fd);
}
