/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A table for people, or the same table for programs (JSON), by libsmartcols. Columns are defined
 * once, rows are added as texts.
 */
#ifndef QUIESCE_BASE_TABLE_H
#define QUIESCE_BASE_TABLE_H

#include <stdbool.h>
#include <stdio.h>

#include "base/cleanup.h"

enum table_flag {
	TABLE_RIGHT = 1 << 0,  /* numbers */
	TABLE_WRAP = 1 << 1,   /* may be wrapped between words and after commas */
	TABLE_NUMBER = 1 << 2, /* a number in JSON, not a string */
	TABLE_BREAK = 1 << 3,  /* with TABLE_WRAP: may also be wrapped inside a word */
};

struct table_column {
	const char *name; /* the column's heading; in lower case the key in JSON */
	unsigned flags;	  /* enum table_flag */
};

struct table;

/* columns are not copied. json: prints exactly one object {"name": [{...}, ...]}. The width is the
 * terminal's. Where the stream is not a terminal it is 80 columns, but a table with a column that
 * has TABLE_BREAK is then not wrapped: a program looks for whole names, one row a line. */
int table_new(const char *name, const struct table_column *columns, size_t n_columns, bool json,
	FILE *stream, struct table **ret);
/* Adds a row of n_columns texts; NULL is an empty cell, and null in JSON. The texts are copied;
 * control characters and invalid UTF-8 become \xNN (text_escape_control()), but in a column with
 * TABLE_WRAP a newline begins a new line of the cell. */
int table_add(struct table *table, const char *const *cells);
/* Colors a cell of the row that was added last. `color` is a name of terminal-colors.d(5): "red".
 * The caller decides whether the terminal and the user want colors. */
int table_color(struct table *table, size_t column, const char *color);
/* Prints and flushes. Returns the error of the stream, or -EIO, when writing fails; -ENOMEM. */
int table_print(struct table *table);
void table_free(struct table *table);

DEFINE_CLEANUP(table, table_free);

#endif
