/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The tables of /proc that have a column per CPU: /proc/interrupts and /proc/softirqs.
 *
 * The columns are named by the header, and their number is not the CPU's number: interrupts shows
 * the online CPUs (kernel/irq/proc.c), softirqs the possible ones (fs/proc/softirqs.c).
 * Counters are the kernel's unsigned int, or are cut to it: they wrap, and so do their sums here.
 * A difference of two sums, taken as uint32_t, is right through one wrap.
 */
#ifndef QUIESCE_MACHINE_CPUTABLE_H
#define QUIESCE_MACHINE_CPUTABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "machine/cpumask.h"

/*
 * A column's width in all kernels that were read (6.1 to 6.18: "%10u" and one blank), wide enough
 * for any unsigned int. A row of such columns need not be scanned to find the hundredth one; any
 * other spacing is split on blanks.
 */
#define CPUTABLE_WIDTH 11

/* Which columns belong to a mask. All zero is an empty one. */
struct cputable {
	char *header; /* the text that the rest was made from */
	size_t header_length;
	size_t n_columns;
	/* The mask's CPUs that have a column, in the order of the columns. */
	size_t *columns;
	int *cpus;
	size_t n_wanted;
};

/*
 * Takes the header line (without its newline). Returns 0 when it is the one already known or the
 * mask's CPUs are still the same, 1 when other CPUs of the mask have columns now, -EBADMSG when
 * this is no header, -ENOMEM; the table is as before then.
 */
int cputable_set_header(
	struct cputable *table, const struct cpumask *mask, const char *line, size_t length);
void cputable_clear(struct cputable *table);

/*
 * The sum over the mask's columns of a row. `at` stands behind the label's colon, `end` at the
 * newline. Returns where the columns end (the row's remaining text), or NULL when the row has
 * fewer columns than the header: it does not count per CPU (ERR, MIS).
 * *ret_fixed tells that all columns have CPUTABLE_WIDTH, so that cputable_sum_fixed() may be used
 * on this row from now on.
 */
const char *cputable_sum(const struct cputable *table, const char *at, const char *end,
	uint32_t *ret, bool *ret_fixed);
/* The same for a row that is known to have fixed columns; NULL when it has not after all. */
const char *cputable_sum_fixed(
	const struct cputable *table, const char *at, const char *end, uint32_t *ret);

#endif
