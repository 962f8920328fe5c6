// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <libsmartcols.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "basic/table.h"

struct table {
	struct libscols_table *scols;
	const struct table_column *columns;
	size_t n_columns;
	size_t wrap_at; /* characters of a wrapped cell's line */
	FILE *stream;
};

enum {
	WIDE = 110,
	WRAP_NARROW = 22,
	WRAP_WIDE = 48,
};

static size_t stream_width(FILE *stream)
{
	struct winsize size;

	if (ioctl(fileno(stream), TIOCGWINSZ, &size) < 0 || size.ws_col == 0)
		return 80;
	return size.ws_col;
}

static int add_column(struct table *table, const struct table_column *column)
{
	struct libscols_column *c;
	int flags = 0;

	if (column->flags & TABLE_RIGHT)
		flags |= SCOLS_FL_RIGHT;
	if (column->flags & TABLE_WRAP)
		flags |= SCOLS_FL_WRAP;
	c = scols_table_new_column(table->scols, column->name, 0, flags);
	if (!c)
		return -ENOMEM;
	/* By itself it breaks in the middle of words: it is told to break at newlines, and those
	 * are put between words. */
	if (column->flags & TABLE_WRAP) {
		(void)scols_column_set_wrapfunc(
			c, scols_wrapnl_chunksize, scols_wrapnl_nextchunk, NULL);
		/* Or they would be printed as \x0a. */
		(void)scols_column_set_safechars(c, "\n");
	}
	if (column->flags & TABLE_NUMBER)
		return scols_column_set_json_type(c, SCOLS_JSON_NUMBER);
	return 0;
}

int table_new(const char *name, const struct table_column *columns, size_t n_columns, bool json,
	FILE *stream, struct table **ret)
{
	_cleanup_(table) struct table *table = NULL;
	int r;

	scols_init_debug(0);
	table = calloc(1, sizeof(*table));
	if (!table)
		return -ENOMEM;
	table->scols = scols_new_table();
	if (!table->scols)
		return -ENOMEM;
	table->columns = columns;
	table->n_columns = n_columns;
	table->wrap_at = json ? SIZE_MAX : stream_width(stream) > WIDE ? WRAP_WIDE : WRAP_NARROW;
	table->stream = stream;
	r = scols_table_set_name(table->scols, name);
	if (r == 0)
		r = scols_table_set_stream(table->scols, stream);
	if (r == 0)
		r = scols_table_enable_json(table->scols, json);
	/* The same in a pipe as on a terminal of 80 columns, and nothing cut off in either. */
	if (r == 0)
		r = scols_table_set_termforce(table->scols, SCOLS_TERMFORCE_ALWAYS);
	if (r == 0)
		r = scols_table_set_termwidth(table->scols, stream_width(stream));
	for (size_t i = 0; r == 0 && i < n_columns; i++)
		r = add_column(table, &columns[i]);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(table);
	return 0;
}

/* Newlines in place of blanks, so that no line is longer than `at` where words allow it. malloc'd.
 */
static char *wrap_words(const char *text, size_t at)
{
	char *copy = strdup(text), *line = copy, *blank = NULL;

	if (!copy)
		return NULL;
	for (char *p = copy; *p; p++) {
		if (*p == ' ')
			blank = p;
		if ((size_t)(p - line) >= at && blank && blank > line) {
			*blank = '\n';
			line = blank + 1;
			blank = NULL;
		}
	}
	return copy;
}

int table_add(struct table *table, const char *const *cells)
{
	struct libscols_line *line = scols_table_new_line(table->scols, NULL);

	if (!line)
		return -ENOMEM;
	for (size_t i = 0; i < table->n_columns; i++) {
		_cleanup_free_ char *wrapped = NULL;
		const char *cell = cells[i];
		int r;

		if (!cell)
			continue;
		if (table->columns[i].flags & TABLE_WRAP && table->wrap_at < SIZE_MAX) {
			wrapped = wrap_words(cell, table->wrap_at);
			if (!wrapped)
				return -ENOMEM;
			cell = wrapped;
		}
		r = scols_line_set_data(line, i, cell);
		if (r < 0)
			return r;
	}
	return 0;
}

int table_print(struct table *table)
{
	if (scols_print_table(table->scols) < 0)
		return -EIO;
	return fflush(table->stream) == 0 ? 0 : -EIO;
}

void table_free(struct table *table)
{
	if (!table)
		return;
	scols_unref_table(table->scols);
	free(table);
}
