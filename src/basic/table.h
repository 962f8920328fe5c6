/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A table for people and the same for programs (JSON), by libsmartcols. Columns are given once,
 * rows as texts.
 */
#ifndef QUIESCE_BASIC_TABLE_H
#define QUIESCE_BASIC_TABLE_H

#include <stdbool.h>
#include <stdio.h>

#include "basic/cleanup.h"

enum table_flag {
	TABLE_RIGHT = 1 << 0,  /* numbers */
	TABLE_WRAP = 1 << 1,   /* may be broken, between words and behind commas, to fit */
	TABLE_NUMBER = 1 << 2, /* in JSON a number, not a string */
	TABLE_BREAK = 1 << 3, /* with TABLE_WRAP: a word that does not fit may be broken, too: names
			       * that others chose */
};

struct table_column {
	const char *name; /* the head, and in lower case the key in JSON */
	unsigned flags;	  /* enum table_flag */
};

struct table;

/* columns are not copied. json: nothing but one object {"name": [{...}, ...]}. The width is the
 * terminal's, or 80 columns where the stream is none. */
int table_new(const char *name, const struct table_column *columns, size_t n_columns, bool json,
	FILE *stream, struct table **ret);
/* n_columns texts; NULL is an empty cell, and null in JSON. Copied, with control characters and
 * what is no UTF-8 as \xNN (text_escape_control()); but a newline in a text of a column with
 * TABLE_WRAP begins a new line of the cell. */
int table_add(struct table *table, const char *const *cells);
/* Gives a cell of the row that was added last a color, by its name in terminal-colors.d(5): "red".
 * The terminal and the user are the caller's to ask. */
int table_color(struct table *table, size_t column, const char *color);
/* Flushes. The error of the stream, or -EIO, when it cannot be written. */
int table_print(struct table *table);
void table_free(struct table *table);

DEFINE_CLEANUP(table, table_free);

#endif
