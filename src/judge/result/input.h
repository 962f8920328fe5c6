/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads a file piece by piece, decompressed where its first bytes (not its name) say that it is
 * gzip (RFC 1952). "-" is standard input. By zlib.
 */
#ifndef QUIESCE_JUDGE_RESULT_INPUT_H
#define QUIESCE_JUDGE_RESULT_INPUT_H

#include <stddef.h>

#include "base/cleanup.h"

struct input;

/* Regular files and, as a shell's <(...) makes them, FIFOs. -EISDIR for a directory, -EINVAL for
 * other devices, else the error of open(2). */
int input_open(const char *path, struct input **ret);
/* Takes over an open file, which input_free() closes. */
struct input *input_adopt(int fd);
/* The bytes at `data`, which are not copied. */
struct input *input_open_memory(const void *data, size_t size);
/* The next piece, valid until the next call; *ret_size is 0 at the end. -EBADMSG when the
 * compressed data are damaged or end too early, -EFBIG beyond 16 GiB (decompressed), else the error
 * of read(2). */
int input_read(struct input *input, const char **ret, size_t *ret_size);
/* The same piece, which input_read() returns again: 256 KiB, or all of a smaller file. An error as
 * well. */
int input_peek(struct input *input, const char **ret, size_t *ret_size);
void input_free(struct input *input);
DEFINE_CLEANUP(input, input_free);

#endif
