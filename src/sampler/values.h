/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How values travel from the process that measured them to the one that asked: runpinned, or
 * qs_main() in the parent of its processes.
 *
 * Who asks makes a memfd of VALUES_FD_SIZE bytes, seals it against growing and shrinking, and lets
 * the program inherit it (no O_CLOEXEC), with its number in the environment: QUIESCE_VALUES_FD=5.
 * The program writes blocks of text at the file's own offset, one write(2) each; what was not
 * written stays 0. A block:
 *
 *	quiesce-values 1
 *	name copy/64
 *	clock tsc
 *	empty 9333			picoseconds of an empty region (median)
 *	resolution 333			picoseconds
 *	inner 1
 *	counter 0 instructions		errno (0: it counts) and name, for each that was asked for
 *	c 1 23000			a value: calibration, loops, picoseconds,
 *	w 5000000 100123456789		warm-up,
 *	v 5000000 100123456000 3 3 17	counted; CPU of the first and the last stamp, 4095
 *					where it is not known; a count for each counter
 *	r 25 3000000 48000		of the value before: interrupts, kHz, thousandths of
 *					a degree; "-" where it is not known
 *	end 3				the number of values
 *
 * All numbers are unsigned decimal integers, so that no locale and no rounding comes between.
 *
 * The reader trusts nothing: it copies the file first, and values_parse() takes a block only if
 * every line of it is as above and the numbers are in their bounds. A program that lies about what
 * it measured lies to its own user alone.
 */
#ifndef QUIESCE_SAMPLER_VALUES_H
#define QUIESCE_SAMPLER_VALUES_H

#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "quiesce/benchmark.h"

#define VALUES_FD_VARIABLE "QUIESCE_VALUES_FD"
#define VALUES_MAX_LOOPS ((uint64_t)1 << 53)

enum {
	VALUES_FD_SIZE = 1 << 20,
	VALUES_MAX_NAME = 200,
};

/* Fit for a benchmark: 1 to 200 bytes, UTF-8, no control character. */
int values_is_name(const char *name);

/* The block as text, malloc'd. -EINVAL where it is no values that a reader would take, -ENOMEM. */
int values_format(const struct qs_values *values, char **ret, size_t *ret_size);

/*
 * The next block of a text that need not end with a NUL; *offset moves behind it. 0, or 1 where
 * there is no further one. -EBADMSG for what is no block, with *ret_line its line within the block
 * (from 1). -ENOMEM.
 */
int values_parse(
	const char *text, size_t size, size_t *offset, struct qs_values **ret, size_t *ret_line);

/* For who asks: a memfd as above, with O_CLOEXEC still set, or a negative errno. */
int values_fd_create(void);
/* Whether anybody wrote there: until then a memfd has no pages (shmem counts them in st_blocks). */
static inline int values_fd_is_untouched(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && st.st_blocks == 0;
}
/* Makes it empty again for the next program. */
int values_fd_clear(int fd);
/* Copies what it holds, malloc'd, and NUL-terminated behind *ret_size. */
int values_fd_read(int fd, char **ret, size_t *ret_size);
/* For who is asked: the descriptor, -ENOENT, or -EBADF; see qs_hand_over(). */
int values_fd_find(void);

#endif
