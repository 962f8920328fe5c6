// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <libsmartcols.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "basic/macro.h"
#include "basic/table.h"
#include "basic/terminal.h"

struct table {
	struct libscols_table *scols;
	struct libscols_line *last; /* NULL before the first */
	const struct table_column *columns;
	size_t n_columns;
	size_t width;
	bool json;
	FILE *stream;
};

enum {
	WIDE = 110,
	/* Characters of a wrapped cell's line: on a narrow terminal and on a wide one, and what
	 * the last column gets at least. */
	WRAP_NARROW = 22,
	WRAP_WIDE = 48,
	WRAP_LEAST = 12,
};

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
	table->width = terminal_width(fileno(stream));
	table->json = json;
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
		r = scols_table_set_termwidth(table->scols, table->width);
	for (size_t i = 0; r == 0 && i < n_columns; i++)
		r = add_column(table, &columns[i]);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(table);
	return 0;
}

/* Newlines in place of blanks, so that no line is longer than `at` where words allow it, beside
 * those that are there. malloc'd. */
static char *wrap_words(const char *text, size_t at)
{
	char *copy = strdup(text), *line = copy, *blank = NULL;

	if (!copy)
		return NULL;
	for (char *p = copy; *p; p++) {
		if (*p == ' ')
			blank = p;
		if (*p == '\n') {
			line = p + 1;
			blank = NULL;
		}
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
	table->last = line;
	for (size_t i = 0; i < table->n_columns; i++) {
		int r = cells[i] ? scols_line_set_data(line, i, cells[i]) : 0;

		if (r < 0)
			return r;
	}
	return 0;
}

int table_color(struct table *table, size_t column, const char *color)
{
	int r = scols_table_enable_colors(table->scols, true);

	return r < 0 ? r : scols_cell_set_color(scols_line_get_cell(table->last, column), color);
}

/* Characters of UTF-8, all taken for one column wide. */
static size_t count_characters(const char *text, size_t length)
{
	size_t n = 0;

	for (size_t i = 0; i < length; i++)
		n += (text[i] & 0xc0) != 0x80;
	return n;
}

/* The longest line of a text. */
static size_t text_width(const char *text)
{
	size_t width = 0;

	while (*text) {
		size_t n = strcspn(text, "\n");

		width = MAX(width, count_characters(text, n));
		text += n + (text[n] == '\n');
	}
	return width;
}

/* The widest cell of a column, its head included. */
static size_t column_width(const struct table *table, struct libscols_iter *lines, size_t column)
{
	size_t width = text_width(table->columns[column].name);
	struct libscols_line *line;

	scols_reset_iter(lines, SCOLS_ITER_FORWARD);
	while (scols_table_next_line(table->scols, lines, &line) == 0) {
		const char *text = scols_cell_get_data(scols_line_get_cell(line, column));

		if (text)
			width = MAX(width, text_width(text));
	}
	return width;
}

static int wrap_column(
	const struct table *table, struct libscols_iter *lines, size_t column, size_t at)
{
	struct libscols_line *line;
	int r = 0;

	scols_reset_iter(lines, SCOLS_ITER_FORWARD);
	while (r == 0 && scols_table_next_line(table->scols, lines, &line) == 0) {
		const char *text = scols_cell_get_data(scols_line_get_cell(line, column));
		char *wrapped;

		if (!text)
			continue;
		wrapped = wrap_words(text, at);
		if (!wrapped)
			return -ENOMEM;
		r = scols_line_refer_data(line, column, wrapped);
		if (r < 0)
			free(wrapped);
	}
	return r;
}

/* Breaks the cells of the columns that may be: the last of them still more where the others leave
 * it less room, and less where there is no other. */
static int wrap_columns(const struct table *table, struct libscols_iter *lines)
{
	size_t at = table->width > WIDE ? WRAP_WIDE : WRAP_NARROW, others = 0;
	size_t last = table->n_columns, n = 0;

	for (size_t i = 0; i < table->n_columns; i++) {
		if (table->columns[i].flags & TABLE_WRAP) {
			last = i;
			n++;
		}
	}
	if (last == table->n_columns)
		return 0;
	for (size_t i = 0; i < table->n_columns; i++) {
		int r = 0;

		if (i == last)
			continue;
		if (table->columns[i].flags & TABLE_WRAP)
			r = wrap_column(table, lines, i, at);
		if (r < 0)
			return r;
		others += column_width(table, lines, i) + 1;
	}
	/* One alone gets all there is. */
	if (others + at > table->width || n == 1)
		at = MAX((size_t)WRAP_LEAST, table->width > others ? table->width - others : 0);
	return wrap_column(table, lines, last, at);
}

int table_print(struct table *table)
{
	struct libscols_iter *lines;
	int r;

	if (!table->json) {
		lines = scols_new_iter(SCOLS_ITER_FORWARD);
		if (!lines)
			return -ENOMEM;
		r = wrap_columns(table, lines);
		scols_free_iter(lines);
		if (r < 0)
			return r;
	}
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
