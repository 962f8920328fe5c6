// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/machine/cputable.h"
#include "base/parse.h"

static const char *skip_blanks(const char *at, const char *end)
{
	while (at < end && parse_is_blank(*at))
		at++;
	return at;
}

/* Parses the digits at `at` as the kernel's unsigned int: a wider counter is truncated to 32
 * bits. */
static const char *take_counter(const char *at, const char *end, uint32_t *ret)
{
	uint32_t value = 0;

	for (; at < end && parse_is_digit(*at); at++)
		value = value * 10 + (uint32_t)(*at - '0');
	*ret = value;
	return at;
}

static void table_free_columns(struct cputable *table)
{
	free(table->header);
	free(table->columns);
	free(table->cpus);
}

/* Moves the cursor to the next line; returns the end of the current one, without the newline. */
static const char *take_line(const char **cursor, const char *end)
{
	const char *newline = memchr(*cursor, '\n', (size_t)(end - *cursor));

	*cursor = newline ? newline + 1 : end;
	return newline ? newline : end;
}

int cputable_take_header(struct cputable *table, const struct cpumask *mask, const char **cursor,
	const char *text_end)
{
	struct cputable next = { 0 };
	const char *line = *cursor, *rows = line, *at = line;
	const char *end = take_line(&rows, text_end);
	size_t length = (size_t)(end - line), capacity;
	bool changed;

	if (table->header && table->header_length == length &&
		memcmp(table->header, line, length) == 0) {
		*cursor = rows;
		return 0;
	}

	/* A column takes at least 4 characters, "CPU" and a digit. */
	capacity = length / 4 + 1;
	next.header = malloc(length + 1);
	next.columns = calloc(capacity, sizeof(*next.columns));
	next.cpus = calloc(capacity, sizeof(*next.cpus));
	if (!next.header || !next.columns || !next.cpus) {
		table_free_columns(&next);
		return -ENOMEM;
	}
	memcpy(next.header, line, length);
	next.header[length] = '\0';
	next.header_length = length;

	for (at = skip_blanks(at, end); at < end; at = skip_blanks(at, end)) {
		uint32_t cpu;
		const char *digits;

		if (end - at < 4 || memcmp(at, "CPU", 3) != 0 || !parse_is_digit(at[3]))
			goto bad;
		digits = at + 3;
		at = take_counter(digits, end, &cpu);
		if (at - digits > 7 || (at < end && !parse_is_blank(*at)))
			goto bad;
		if (!mask || cpumask_isset(mask, (int)cpu)) {
			next.columns[next.n_wanted] = next.n_columns;
			next.cpus[next.n_wanted++] = (int)cpu;
		}
		next.n_columns++;
	}
	if (next.n_columns == 0)
		goto bad;

	changed = next.n_wanted != table->n_wanted ||
		(next.n_wanted > 0 &&
			memcmp(next.cpus, table->cpus, next.n_wanted * sizeof(*next.cpus)) != 0);
	table_free_columns(table);
	*table = next;
	*cursor = rows;
	return changed;
bad:
	table_free_columns(&next);
	return -EBADMSG;
}

void cputable_clear(struct cputable *table)
{
	table_free_columns(table);
	*table = (struct cputable){ 0 };
}

bool cputable_next_row(const char **cursor, const char *end, struct cputable_row *ret)
{
	const char *label, *row_end, *colon;

	while (*cursor < end) {
		label = *cursor;
		row_end = take_line(cursor, end);
		label = skip_blanks(label, row_end);
		colon = memchr(label, ':', (size_t)(row_end - label));
		if (!colon || colon == label)
			continue;
		*ret = (struct cputable_row){
			.label = label,
			.label_length = (size_t)(colon - label),
			.columns = colon + 1,
			.end = row_end,
		};
		return true;
	}
	return false;
}

bool cputable_sum(const struct cputable *table, struct cputable_row *row)
{
	const char *at = row->columns, *end = row->end;
	uint32_t sum = 0, value;
	size_t wanted = 0;
	bool fixed = true;

	row->tail = NULL;
	for (size_t column = 0; column < table->n_columns; column++) {
		at = skip_blanks(at, end);
		if (at == end || !parse_is_digit(*at))
			return false;
		at = take_counter(at, end, &value);
		/* "0-edge" is not a counter. */
		if (at < end && !parse_is_blank(*at))
			return false;
		if ((size_t)(at - row->columns) != (column + 1) * CPUTABLE_WIDTH)
			fixed = false;
		if (wanted < table->n_wanted && table->columns[wanted] == column) {
			sum += value;
			wanted++;
		}
	}
	row->value = sum;
	row->fixed = fixed;
	row->tail = at;
	return true;
}

void cputable_add(const struct cputable *table, const struct cputable_row *row, uint32_t *sums)
{
	const char *at = row->columns;
	size_t wanted = 0;
	uint32_t value;

	for (size_t column = 0; wanted < table->n_wanted; column++) {
		at = take_counter(skip_blanks(at, row->end), row->end, &value);
		if (table->columns[wanted] == column)
			sums[wanted++] += value;
	}
}

bool cputable_sum_fixed(const struct cputable *table, struct cputable_row *row)
{
	const char *at = row->columns, *end = row->end, *tail;
	uint32_t sum = 0, value;

	if ((size_t)(end - at) < table->n_columns * CPUTABLE_WIDTH)
		return false;
	tail = at + table->n_columns * CPUTABLE_WIDTH;
	if (tail < end && !parse_is_blank(*tail))
		return false;
	for (size_t i = 0; i < table->n_wanted; i++) {
		const char *column = at + table->columns[i] * CPUTABLE_WIDTH;
		const char *column_end = column + CPUTABLE_WIDTH;
		const char *digits = skip_blanks(column, column_end);

		if (digits == column || digits == column_end ||
			take_counter(digits, column_end, &value) != column_end)
			return false;
		sum += value;
	}
	row->value = sum;
	row->tail = tail;
	return true;
}
