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

/* A row of the text, cut into its parts. */
struct cputable_row {
	const char *label; /* without the colon, at least one byte */
	size_t label_length;
	const char *columns; /* behind the colon */
	const char *end;     /* at the newline, or at the end of the text */
	/* Set by the sums: */
	const char *tail; /* where the columns end; NULL when the row does not count per CPU */
	uint32_t value;
	bool fixed; /* all columns have CPUTABLE_WIDTH: cputable_sum_fixed() may be used */
};

/*
 * Takes the header, which is the text's first line, and moves *cursor to the first row. A mask of
 * NULL is all CPUs. Returns 0 when the header is the one already known or the mask's CPUs are still
 * the same, 1 when other CPUs of the mask have columns now, -EBADMSG when this is no header,
 * -ENOMEM; the table and the cursor are as before then.
 */
int cputable_take_header(
	struct cputable *table, const struct cpumask *mask, const char **cursor, const char *end);
void cputable_clear(struct cputable *table);

/* The row at *cursor, which moves behind it; lines without a label are passed over. False at the
 * end of the text. Needs no table. */
bool cputable_next_row(const char **cursor, const char *end, struct cputable_row *ret);

/* The sum over the mask's columns of a row. False when the row has fewer columns than the header:
 * it does not count per CPU (ERR, MIS). */
bool cputable_sum(const struct cputable *table, struct cputable_row *row);
/* The same for a row that is known to have fixed columns; false when it has not after all. */
bool cputable_sum_fixed(const struct cputable *table, struct cputable_row *row);

#endif
