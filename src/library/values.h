/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How values are passed from the process that measured them to the one that requested them:
 * runpinned, or the parent process in qs_main().
 *
 * The requesting process creates a memfd of VALUES_FD_SIZE bytes, seals it against growing and
 * shrinking, and lets the program inherit it (no O_CLOEXEC), with its number in the environment:
 * QUIESCE_VALUES_FD=5. The program writes blocks of text at the file's own offset, one write(2)
 * each; unwritten bytes stay 0. The parent process in qs_main() names the descriptor on the command
 * line as well, because a program may empty its environment, and it takes the number out of the
 * environment of the process that measures: values that the benchmark itself or programs that it
 * runs hand over are not for qs_main(). A block:
 *
 *	quiesce-values 1
 *	name copy/64
 *	clock tsc
 *	empty 9333			picoseconds of an empty region (mean)
 *	resolution 333			picoseconds
 *	inner 1
 *	counter 0 instructions		errno (0: it counts) and name, for each requested one
 *	shared 0			this counter was multiplexed: its counts are too small
 *	changed 1			the kernel chose another clock source meanwhile
 *	c 1 23000			a value of the calibration: loops, picoseconds,
 *	w 5000000 100123456789		of a warm-up: the same,
 *	v 5000000 100123456000 3 3 17	counted: the same, CPU of the first and the last stamp
 *					(4095: not known), a count for each counter
 *	p 1 312				the previous value: regions, and the share of waiting in
 *					10000ths ("-" where not known); 1 and - without it
 *	r 25 3000000 48000		readings for the previous value: interrupts, kHz,
 *					thousandths of a degree; "-" where not known
 *	k 42731 2993000			the core around the previous value: additions per 10000
 *					cycles, kHz of its clock
 *	f 1 4634204016564240384 bytes	a figure: enum qs_figure_kind, the bits of the double, name
 *	end 3				the number of values
 *
 * All numbers are unsigned decimal integers, so that neither locale nor rounding matters.
 *
 * The reader does not trust the program: it first copies the file, and values_parse() accepts a
 * block only if every line has this format and all numbers are within their bounds. A program that
 * reports wrong values deceives only its own user.
 */
#ifndef QUIESCE_LIBRARY_VALUES_H
#define QUIESCE_LIBRARY_VALUES_H

#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "library/private.h"
#include "quiesce/benchmark.h"

#define VALUES_FD_VARIABLE "QUIESCE_VALUES_FD"
#define VALUES_MAX_LOOPS ((uint64_t)1 << 53)

enum {
	VALUES_FD_SIZE = 1 << 20,
	VALUES_MAX_NAME = 200,
};

/* Whether a name is valid for a benchmark: 1 to 200 bytes, UTF-8, no control character, no blank at
 * either end. */
int values_is_name(const char *name);

/* Whether a figure can be set: its name is as that of a benchmark, but fits struct qs_figure. */
int values_is_figure(const char *name, enum qs_figure_kind kind, double value);

/*
 * Parses the next block of a text that need not end with a NUL; *offset moves behind it. 0, or 1
 * where there is no further block. -EBADMSG for an invalid block, with the number of the bad line
 * within the block (from 1) in *ret_line. -ENOMEM.
 */
int values_parse(
	const char *text, size_t size, size_t *offset, struct qs_values **ret, size_t *ret_line);

/* For the requesting process: creates a memfd as above, with O_CLOEXEC still set, or returns a
 * negative errno. */
int values_fd_create(void);
/* Whether nobody has written to the memfd: an unwritten memfd has no pages (shmem counts them in
 * st_blocks). */
static inline int values_fd_is_untouched(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && st.st_blocks == 0;
}
/* Empties the memfd for the next program. */
int values_fd_clear(int fd);
/* Copies the contents into malloc'd memory, NUL-terminated after *ret_size bytes. */
int values_fd_read(int fd, char **ret, size_t *ret_size);
/* For the measuring process: whether a descriptor is such a memfd, by its seals. */
int values_fd_is_sealed(int fd);
/* For the measuring process: the descriptor, -ENOENT, or -EBADF; see qs_hand_over(). */
int values_fd_find(void);
/* Adds what a counter has counted in the counted values, and of how many units of work that is. */
void values_add_counts(const struct qs_values *values, size_t counter, double *count, double *work);
/* Adds to the facts of one process or thread what is wrong with the clock or a counter in another,
 * which has the same counters, or none where it calibrates. */
void values_add_flaws(struct qs_facts *facts, const struct qs_facts *other);
/* As qs_hand_over(), to this descriptor. */
int values_hand_over(int fd, const struct qs_values *values);

#endif
