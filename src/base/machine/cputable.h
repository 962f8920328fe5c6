/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The tables of /proc that have a column per CPU: /proc/interrupts and /proc/softirqs.
 *
 * The header names the columns; the number of a column is not the number of its CPU: interrupts
 * shows the online CPUs (kernel/irq/proc.c), softirqs the possible ones (fs/proc/softirqs.c).
 * Counters are the kernel's unsigned int, or are truncated to it: they wrap, and so do their sums
 * here. The difference of two sums as uint32_t is correct across one wrap.
 */
#ifndef QUIESCE_BASE_MACHINE_CPUTABLE_H
#define QUIESCE_BASE_MACHINE_CPUTABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/machine/cpumask.h"

/*
 * The width of a column in all kernels that were checked (6.1 to 6.18: "%10u" and one blank), wide
 * enough for any unsigned int. In rows with such columns a column can be accessed directly; rows
 * with any other spacing are split at blanks.
 */
#define CPUTABLE_WIDTH 11

/* The columns that belong to a mask. An all-zero struct is an empty table. */
struct cputable {
	char *header; /* the header line that the other fields were made from */
	size_t header_length;
	size_t n_columns;
	/* The CPUs of the mask that have a column, in the order of the columns. */
	size_t *columns;
	int *cpus;
	size_t n_wanted;
};

/* A row of the text, split into parts. */
struct cputable_row {
	const char *label; /* without the colon, at least one byte */
	size_t label_length;
	const char *columns; /* after the colon */
	const char *end;     /* at the newline, or at the end of the text */
	/* Set by cputable_sum() and cputable_sum_fixed(): */
	const char *tail; /* the end of the columns; NULL when the row does not count per CPU */
	uint32_t value;
	bool fixed; /* all columns have CPUTABLE_WIDTH: cputable_sum_fixed() may be used */
};

/*
 * Parses the header, which is the first line of the text, and moves *cursor to the first row. A
 * mask of NULL means all CPUs. Returns 0 when the mask's CPUs that have columns are the same as
 * before, 1 when they have changed, -EBADMSG when the line is not a header, -ENOMEM; after an error
 * table and cursor are as before.
 */
int cputable_take_header(
	struct cputable *table, const struct cpumask *mask, const char **cursor, const char *end);
void cputable_clear(struct cputable *table);

/* Splits the row at *cursor and moves *cursor to the next row; lines without a label are skipped.
 * False at the end of the text. Needs no table. */
bool cputable_next_row(const char **cursor, const char *end, struct cputable_row *ret);

/* Sums the mask's columns of a row. False when the row has fewer columns than the header: it does
 * not count per CPU (ERR, MIS). */
bool cputable_sum(const struct cputable *table, struct cputable_row *row);
/* The same for a row that had fixed columns before; false when it has other spacing now. */
bool cputable_sum_fixed(const struct cputable *table, struct cputable_row *row);
/* Adds the columns of a row that was summed to sums, which has an entry for each of table->cpus. */
void cputable_add(const struct cputable *table, const struct cputable_row *row, uint32_t *sums);

#endif
