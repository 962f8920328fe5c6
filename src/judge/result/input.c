// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "base/macro.h"
#include "base/xalloc.h"
#include "judge/result/input.h"

enum {
	PIECE = 256 * 1024,
};

/* A bound for compressed files: a few kilobytes can decompress without end. */
#define INPUT_SIZE_MAX (16LL * 1024 * 1024 * 1024)

struct input {
	gzFile file; /* reads plain files too */
	int64_t n_read;
	char *buffer;
	const void *memory; /* instead of a file; NULL when it has been handed out */
	size_t memory_size;
	/* What input_peek() has returned, and input_read() not yet. */
	bool has_peeked;
	int peeked_r;
	const char *peeked;
	size_t peeked_size;
};

static int check_kind(int fd)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return -errno;
	if (S_ISDIR(st.st_mode))
		return -EISDIR;
	return S_ISREG(st.st_mode) || S_ISFIFO(st.st_mode) ? 0 : -EINVAL;
}

int input_open(const char *path, struct input **ret)
{
	bool standard = strcmp(path, "-") == 0;
	_cleanup_close_ int fd = -EBADF;
	int r;

	/* A copy, because gzclose() closes the descriptor. Standard input may be anything that the
	 * user chose, so that its kind is not checked. */
	fd = standard ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3)
		      : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (fd < 0)
		return -errno;
	r = standard ? 0 : check_kind(fd);
	if (r >= 0)
		*ret = input_adopt(TAKE_FD(fd));
	return r;
}

struct input *input_adopt(int fd)
{
	struct input *input = xptr(calloc(1, sizeof(*input)));

	input->buffer = xptr((char *)malloc(PIECE));
	/* Both fail for nothing but memory. */
	input->file = xptr(gzdopen(fd, "rb"));
	if (gzbuffer(input->file, PIECE) < 0)
		xalloc_fail();
	return input;
}

struct input *input_open_memory(const void *data, size_t size)
{
	struct input *input = xptr(calloc(1, sizeof(*input)));

	input->memory = data;
	input->memory_size = size;
	return input;
}

static int read_error(struct input *input)
{
	int error = Z_OK;

	(void)gzerror(input->file, &error);
	if (error == Z_MEM_ERROR)
		xalloc_fail();
	if (error == Z_ERRNO)
		return errno > 0 ? -errno : -EIO;
	return -EBADMSG;
}

/* Editors and shells of other systems write a byte order mark in front of a text in UTF-8. */
static void skip_mark(const char **text, size_t *size)
{
	static const char mark[] = { '\xef', '\xbb', '\xbf' };

	if (*size < sizeof(mark) || memcmp(*text, mark, sizeof(mark)) != 0)
		return;
	*text += sizeof(mark);
	*size -= sizeof(mark);
}

static int read_piece(struct input *input, const char **ret, size_t *ret_size)
{
	bool is_first = input->n_read == 0;
	int n, error = Z_OK;

	if (!input->file) {
		*ret = input->memory;
		*ret_size = input->memory ? input->memory_size : 0;
		input->memory = NULL;
		skip_mark(ret, ret_size);
		return 0;
	}
	errno = 0;
	n = gzread(input->file, input->buffer, PIECE);
	if (n < 0)
		return read_error(input);
	/* gzread() reports a truncated file only at the end, after all data that it could read. */
	if (n == 0) {
		(void)gzerror(input->file, &error);
		if (error != Z_OK)
			return read_error(input);
	}
	input->n_read += n;
	if (input->n_read > INPUT_SIZE_MAX)
		return -EFBIG;
	*ret = input->buffer;
	*ret_size = (size_t)n;
	if (is_first)
		skip_mark(ret, ret_size);
	return 0;
}

int input_peek(struct input *input, const char **ret, size_t *ret_size)
{
	if (!input->has_peeked)
		input->peeked_r = read_piece(input, &input->peeked, &input->peeked_size);
	input->has_peeked = true;
	*ret = input->peeked;
	*ret_size = input->peeked_size;
	return input->peeked_r;
}

int input_read(struct input *input, const char **ret, size_t *ret_size)
{
	if (!input->has_peeked)
		return read_piece(input, ret, ret_size);
	input->has_peeked = false;
	*ret = input->peeked;
	*ret_size = input->peeked_size;
	return input->peeked_r;
}

void input_free(struct input *input)
{
	if (!input)
		return;
	if (input->file)
		(void)gzclose_r(input->file);
	free(input->buffer);
	free(input);
}
