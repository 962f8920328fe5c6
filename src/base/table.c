// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <libsmartcols.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/macro.h"
#include "base/table.h"
#include "base/terminal.h"
#include "base/text.h"

enum {
	/* A line holds at least so many columns of a broken word. */
	BREAK_LEAST = 16,
};

struct table {
	struct libscols_table *scols;
	struct libscols_line *last; /* the row added last; NULL before the first row */
	const struct table_column *columns;
	size_t n_columns;
	size_t width;
	bool json;
	FILE *stream;
};

static int add_column(struct table *table, const struct table_column *column)
{
	struct libscols_column *c;

	c = scols_table_new_column(
		table->scols, column->name, 0, column->flags & TABLE_RIGHT ? SCOLS_FL_RIGHT : 0);
	if (!c)
		return -ENOMEM;
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
	/* A pipe gets a table as a terminal does, and nothing is cut off in either case. */
	if (r == 0)
		r = scols_table_set_termforce(table->scols, SCOLS_TERMFORCE_ALWAYS);
	/* table_add() has already escaped the cells, for JSON too. */
	if (r == 0)
		r = scols_table_enable_noencoding(table->scols, true);
	for (size_t i = 0; r == 0 && i < n_columns; i++)
		r = add_column(table, &columns[i]);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(table);
	return 0;
}

/* Makes `text` the text of a cell. `text` is malloc'd, or NULL when memory was short. */
static int own_text(struct libscols_line *line, size_t column, char *text)
{
	int r = text ? scols_line_refer_data(line, column, text) : -ENOMEM;

	if (r < 0)
		free(text);
	return r;
}

int table_add(struct table *table, const char *const *cells)
{
	struct libscols_line *line = scols_table_new_line(table->scols, NULL);

	if (!line)
		return -ENOMEM;
	table->last = line;
	for (size_t i = 0; i < table->n_columns; i++) {
		int r;

		if (!cells[i])
			continue;
		r = own_text(line, i,
			table->columns[i].flags & TABLE_WRAP ? text_escape_lines(cells[i])
							     : text_escape_control(cells[i]));
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

/* The width of the longest line of a text. */
static size_t text_width(const char *text)
{
	size_t width = 0;

	while (*text) {
		size_t n = strcspn(text, "\n");

		width = MAX(width, text_columns(text, n));
		text += n + (text[n] == '\n');
	}
	return width;
}

/* The length up to the next place where a line may be broken: before a blank, after a comma, or at
 * a newline. */
static size_t piece_length(const char *text)
{
	size_t n = strcspn(text, " ,\n");

	return n + (text[n] == ',');
}

/* The length in bytes of what fits into n columns, at least of one character. */
static size_t prefix_length(const char *text, size_t n)
{
	size_t length = 0, columns = 0, next;

	while (text[length]) {
		columns += text_next_columns(text + length, &next);
		if (columns > n && length > 0)
			break;
		length += next;
	}
	return length;
}

/* Inserts newlines where lines may be broken, so that no line is longer than `at`. A single piece
 * that is longer stays whole unless `anywhere`. malloc'd. */
static char *wrap_text(const char *text, size_t at, bool anywhere)
{
	_cleanup_text_ struct text t = { 0 };
	size_t line = 0;

	text_append(&t, "");
	while (*text) {
		size_t blank = *text == ' ' && line > 0, n = piece_length(text + blank);
		size_t columns = text_columns(text, blank + n);

		if (*text == '\n') {
			text_append(&t, "\n");
			line = 0;
			text++;
			continue;
		}
		if (anywhere && line == 0 && columns > at) {
			n = prefix_length(text, at);
			text_append_n(&t, text, n);
			text_append(&t, "\n");
			text += n;
			continue;
		}
		if (line > 0 && line + columns > at) {
			text_append(&t, "\n");
			line = 0;
			text += blank;
			continue;
		}
		/* A blank at the beginning of a line is kept. */
		if (blank + n == 0)
			n = 1;
		text_append_n(&t, text, blank + n);
		line += text_columns(text, blank + n);
		text += blank + n;
	}
	return text_steal(&t);
}

/* The width that a column needs: of its widest cell, and at least of the widest piece of any cell,
 * the heading included. */
struct needs {
	size_t width;
	size_t least;
};

static struct needs find_needs(
	const struct table *table, struct libscols_iter *lines, size_t column)
{
	struct needs needs = { .width = text_width(table->columns[column].name) };
	struct libscols_line *line;

	needs.least = needs.width;
	scols_reset_iter(lines, SCOLS_ITER_FORWARD);
	while (scols_table_next_line(table->scols, lines, &line) == 0) {
		const char *text = scols_cell_get_data(scols_line_get_cell(line, column));

		if (!text)
			continue;
		needs.width = MAX(needs.width, text_width(text));
		while (*text) {
			size_t n = piece_length(text);

			needs.least = MAX(needs.least, text_columns(text, n));
			text += n + (text[n] == ' ' || text[n] == '\n');
		}
	}
	if (!(table->columns[column].flags & TABLE_WRAP))
		needs.least = needs.width;
	else if (table->columns[column].flags & TABLE_BREAK)
		needs.least = MIN(needs.least,
			MAX(text_width(table->columns[column].name), (size_t)BREAK_LEAST));
	return needs;
}

static int wrap_column(
	const struct table *table, struct libscols_iter *lines, size_t column, size_t at)
{
	struct libscols_line *line;
	int r = 0;

	scols_reset_iter(lines, SCOLS_ITER_FORWARD);
	while (r == 0 && scols_table_next_line(table->scols, lines, &line) == 0) {
		const char *text = scols_cell_get_data(scols_line_get_cell(line, column));

		if (text && text_width(text) > at) {
			r = own_text(line, column,
				wrap_text(text, at, table->columns[column].flags & TABLE_BREAK));
		}
	}
	return r;
}

/* The widest column that can be made narrower; n_columns when there is none. */
static size_t find_widest(const struct table *table, const struct needs *needs)
{
	size_t widest = table->n_columns;

	for (size_t i = 0; i < table->n_columns; i++) {
		if (needs[i].width > needs[i].least &&
			(widest == table->n_columns || needs[i].width > needs[widest].width))
			widest = i;
	}
	return widest;
}

/* See table_new(). */
static bool may_be_wrapped(const struct table *table)
{
	bool breaks = false;

	for (size_t i = 0; i < table->n_columns; i++)
		breaks = breaks || (table->columns[i].flags & TABLE_BREAK);
	return !breaks || isatty(fileno(table->stream));
}

/* Wraps the cells of columns with TABLE_WRAP, the widest columns first, until all columns together
 * fit into the terminal's width, and tells libsmartcols how wide that is. */
static int wrap_columns(const struct table *table, struct libscols_iter *lines)
{
	_cleanup_free_ struct needs *needs = calloc(table->n_columns + 1, sizeof(*needs));
	size_t total = table->n_columns > 0 ? table->n_columns - 1 : 0, widest;
	int r = 0;

	if (!needs)
		return -ENOMEM;
	for (size_t i = 0; i < table->n_columns; i++) {
		needs[i] = find_needs(table, lines, i);
		total += needs[i].width;
	}
	if (!may_be_wrapped(table))
		return scols_table_set_termwidth(table->scols, MAX(total, table->width));
	for (; total > table->width; total--) {
		widest = find_widest(table, needs);
		if (widest == table->n_columns)
			break;
		needs[widest].width--;
	}
	r = scols_table_set_termwidth(table->scols, table->width);
	for (size_t i = 0; r == 0 && i < table->n_columns; i++)
		r = wrap_column(table, lines, i, needs[i].width);
	return r;
}

/* Moves what follows the first newline of each cell of `line` to a new last line of the table.
 * Returns that line in *ret, or NULL where no cell has a newline. */
static int split_line(
	const struct table *table, struct libscols_line *line, struct libscols_line **ret)
{
	struct libscols_line *next = NULL;

	for (size_t i = 0; i < table->n_columns; i++) {
		struct libscols_cell *cell = scols_line_get_cell(line, i);
		const char *text = scols_cell_get_data(cell),
			   *end = text ? strchr(text, '\n') : NULL;
		int r;

		if (!end)
			continue;
		if (!next)
			next = scols_table_new_line(table->scols, NULL);
		if (!next)
			return -ENOMEM;
		r = own_text(next, i, strdup(end + 1));
		if (r == 0)
			r = own_text(line, i, strndup(text, (size_t)(end - text)));
		if (r == 0)
			r = scols_cell_set_color(
				scols_line_get_cell(next, i), scols_cell_get_color(cell));
		if (r < 0)
			return r;
	}
	*ret = next;
	return 0;
}

/* Makes a line of the table of each line of a cell. libsmartcols can print cells of several lines,
 * but it leaves lines out, and does not tell, when it runs out of memory. */
static int split_lines(const struct table *table, struct libscols_iter *lines)
{
	int r = 0;

	/* Each line moves from the beginning of the table to its end, followed by the lines that
	 * are split off it. */
	for (size_t n = scols_table_get_nlines(table->scols); r == 0 && n > 0; n--) {
		struct libscols_line *line;

		scols_reset_iter(lines, SCOLS_ITER_FORWARD);
		r = scols_table_next_line(table->scols, lines, &line);
		if (r != 0)
			break;
		scols_ref_line(line);
		r = scols_table_remove_line(table->scols, line);
		if (r == 0)
			r = scols_table_add_line(table->scols, line);
		scols_unref_line(line);
		while (r == 0 && line)
			r = split_line(table, line, &line);
	}
	return r;
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
		if (r == 0)
			r = split_lines(table, lines);
		scols_free_iter(lines);
		if (r < 0)
			return r;
	}
	r = scols_print_table(table->scols);
	if (r < 0)
		return r == -ENOMEM ? r : -EIO;
	errno = 0;
	if (fflush(table->stream) == 0)
		return 0;
	return errno > 0 ? -errno : -EIO;
}

void table_free(struct table *table)
{
	if (!table)
		return;
	scols_unref_table(table->scols);
	free(table);
}
