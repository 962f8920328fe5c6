// SPDX-License-Identifier: GPL-2.0-or-later
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/macro.h"
#include "base/say.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "judge/bench-report/column.h"
#include "judge/result/csv.h"

void column_put(struct sheet *sheet, struct column column, struct fact value)
{
	size_t place = column.csv;

	if (sheet->emit) {
		value.name = (char *)column.name;
		if (column.name)
			emit_fact(sheet->emit, &value);
		return;
	}
	if (sheet->form != FORM_CSV)
		place = !column.heading ? 0 : column.cell > 0 ? column.cell : ++sheet->n_cells;
	if (place == 0)
		return;
	if (value.type != FACT_STRING)
		column.flags |= TABLE_RIGHT;
	sheet->columns[place - 1] = column;
	sheet->values[place - 1] = value;
	sheet->n = MAX(sheet->n, place);
}

/* A vertical bar would end the cell, and other characters would make HTML, code, emphasis or a
 * link: __init__ would be bold, and ~~x~~ struck out. */
static void append_markdown(struct text *row, const char *text)
{
	text_append(row, " ");
	for (; *text; text++) {
		if (strchr("<>&", *text)) {
			text_append(row, text_entity(*text));
			continue;
		}
		if (strchr("|\\`*_~[", *text))
			text_append(row, "\\");
		text_append_n(row, text, 1);
	}
	text_append(row, " |");
}

static int print_markdown(const char *const *cells, size_t n)
{
	_cleanup_free_ char *line = NULL;
	struct text row = { 0 };

	for (size_t i = 0; i < n; i++)
		append_markdown(&row, cells[i]);
	line = xptr(text_steal(&row));
	return xprint(stdout, "|%s\n", line);
}

/* RFC 4180 */
static int print_csv(const char *const *fields, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (i > 0)
			fputs(",", stdout);
		csv_put_field(stdout, fields[i]);
	}
	fputs("\r\n", stdout);
	return 0;
}

static const char *format_cell(const struct sheet *sheet, const struct column *column,
	const struct fact *value, char buf[static UNITS_TEXT_SIZE])
{
	bool is_csv = sheet->form == FORM_CSV;

	if (value->type == FACT_STRING)
		return value->string ? value->string : "";
	if (value->type == FACT_REAL && (isnan(value->real) || (is_csv && isinf(value->real))))
		return "";
	if (value->type == FACT_REAL && is_csv)
		return text_format_real(value->real, buf);
	if (value->type == FACT_REAL)
		return column->show ? column->show(value->real, buf)
				    : scale_format(sheet->scale, value->real, buf);
	snprintf(buf, UNITS_TEXT_SIZE, "%" PRId64, value->integer);
	return buf;
}

static int print_row(const struct sheet *sheet, const char *const *cells, size_t n)
{
	if (sheet->form == FORM_CSV)
		return print_csv(cells, n);
	return sheet->table ? xcheck(table_add(sheet->table, cells)) : print_markdown(cells, n);
}

static int print_head(struct sheet *sheet, const char *const *names, size_t n)
{
	bool is_markdown = sheet->form == FORM_MARKDOWN;
	int r;

	if (sheet->form != FORM_CSV && !is_markdown)
		return xcheck(table_new("rows", sheet->heads, n, false, stdout, &sheet->table));
	r = print_row(sheet, names, n);
	for (size_t i = 0; r >= 0 && is_markdown && i < n; i++)
		r = xprint(stdout, "%s%s",
			sheet->heads[i].flags & TABLE_RIGHT ? "| ---: " : "| --- ",
			i + 1 == n ? "|\n" : "");
	return r;
}

void sheet_begin(struct sheet *sheet)
{
	if (sheet->emit)
		emit_object(sheet->emit, NULL);
}

void sheet_begin_rows(struct sheet *sheet, const char *name)
{
	if (sheet->emit)
		emit_array(sheet->emit, name);
}

int sheet_end_row(struct sheet *sheet)
{
	char texts[COLUMNS_MAX][UNITS_TEXT_SIZE];
	const char *names[COLUMNS_MAX], *cells[COLUMNS_MAX];
	size_t n = 0;
	int r = 0;

	if (sheet->emit) {
		emit_close(sheet->emit, '}');
		return 0;
	}
	for (size_t i = 0; i < sheet->n; i++) {
		const struct column *c = &sheet->columns[i];

		if (!c->name && !c->heading)
			continue;
		names[n] = sheet->form != FORM_CSV ? c->heading : c->as ? c->as : c->name;
		cells[n] = format_cell(sheet, c, &sheet->values[i], texts[n]);
		sheet->heads[n] = (struct table_column){ names[n], c->flags };
		n++;
	}
	if (!sheet->has_head)
		r = print_head(sheet, names, n);
	if (r >= 0 && !sheet->is_head)
		r = print_row(sheet, cells, n);
	sheet->has_head = true;
	sheet->is_head = false;
	sheet->n_cells = 0;
	memset(sheet->values, 0, sizeof(sheet->values));
	return r;
}

int sheet_end(struct sheet *sheet, int r)
{
	if (sheet->emit) {
		emit_close(sheet->emit, ']');
		emit_close(sheet->emit, '}');
		return r < 0 ? r : emit_finish(sheet->emit);
	}
	if (r >= 0 && sheet->table)
		r = xcheck(table_print(sheet->table));
	table_free(sheet->table);
	return r;
}
