// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <fcntl.h>
#include <linux/falloc.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/say.h"
#include "measure/lastwords.h"

enum {
	TAIL = 4096,
	FILE_MAX = 64 * 1024 * 1024,
};

int lastwords_open(const char *name)
{
	_cleanup_close_ int fd = memfd_create(name, MFD_CLOEXEC);

	if (fd < 0 || fcntl(fd, F_SETFL, O_RDWR | O_APPEND) < 0)
		return -errno;
	return TAKE_FD(fd);
}

void lastwords_trim(int fd)
{
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0 || st.st_blocks * 512 <= FILE_MAX)
		return;
	(void)fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, st.st_size - TAIL);
}

void lastwords_print(int fd)
{
	char tail[TAIL + 1], *line, *save = NULL;
	struct stat st;
	ssize_t n;

	if (fd < 0 || fstat(fd, &st) < 0)
		return;
	n = pread(fd, tail, TAIL, st.st_size > TAIL ? st.st_size - TAIL : 0);
	if (n <= 0)
		return;
	/* A program may write NUL bytes, which would end the text. */
	for (ssize_t i = 0; i < n; i++) {
		if (tail[i] == '\0')
			tail[i] = ' ';
	}
	tail[n] = '\0';
	for (line = strtok_r(tail, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
		print(stderr, "  | %s\n", line);
}
