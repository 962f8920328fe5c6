/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The figures of a verb as columns. A function of the verb puts what is in a row, each figure in
 * one line that says what it is called and in which forms of output it is. A new figure is a new
 * line:
 *
 *	sheet_begin(sheet);
 *	put_text(sheet, b->name, "name", .csv = 1, .heading = "NAME");
 *	put_real(sheet, b->median, "median", .csv = 2, .heading = "MEDIAN");
 *	put_real(sheet, b->mad, "mad");
 *	return sheet_end_row(sheet);
 *
 * In JSON these are members of an object, in this order. In CSV and in tables for people they have
 * places of their own, so that a field of CSV stays where it is when a figure is added. A text that
 * is NULL and a number that is not finite are not known: null in JSON, and empty elsewhere.
 */
#ifndef QUIESCE_JUDGE_BENCH_REPORT_COLUMN_H
#define QUIESCE_JUDGE_BENCH_REPORT_COLUMN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/facts.h"
#include "base/table.h"
#include "base/units.h"
#include "judge/bench-report/bench-report.h"
#include "judge/result/emit.h"

#define COLUMNS_MAX 32 /* of CSV, or of a table */

struct column {
	const char *name;    /* in JSON and CSV; NULL where it is in neither */
	unsigned csv;	     /* which field it is in CSV, from 1 on; 0 where it is none */
	const char *heading; /* in a table for people; NULL where it is not in that */
	unsigned flags;	     /* enum table_flag; a number is TABLE_RIGHT */
	unsigned cell; /* which cell it is there, from 1 on; 0: in the order of the headings */
	/* How a real number is written in a table; NULL: in the scale of the sheet. */
	const char *(*show)(double value, char buf[static UNITS_TEXT_SIZE]);
	const char *as; /* its name in CSV, where that is another one than in JSON */
};

/* What rows are put into, on standard output. The first three members are the caller's, the others
 * are all zero. */
struct sheet {
	struct emit *emit;  /* JSON; NULL for another form */
	enum form form;	    /* FORM_CSV, FORM_MARKDOWN; any other one is the table for people */
	struct scale scale; /* of the cells of a row */
	bool is_head; /* the first row is there for the head alone: its values are not written */
	bool has_head;
	struct column columns[COLUMNS_MAX]; /* of the row, by their places */
	struct fact values[COLUMNS_MAX];
	size_t n;
	size_t n_cells; /* that were put into this row */
	struct table_column heads[COLUMNS_MAX];
	struct table *table;
};

void column_put(struct sheet *sheet, struct column column, struct fact value);

/* The value, which is borrowed until the row ends, and members of struct column. */
#define put_fact(sheet, kind, member, value, ...)         \
	column_put(sheet, (struct column){ __VA_ARGS__ }, \
		(struct fact){ .type = (kind), .member = (value) })
#define put_text(sheet, value, ...) \
	put_fact(sheet, FACT_STRING, string, (char *)(value), __VA_ARGS__)
#define put_integer(sheet, value, ...) \
	put_fact(sheet, FACT_INTEGER, integer, (int64_t)(value), __VA_ARGS__)
#define put_real(sheet, value, ...) put_fact(sheet, FACT_REAL, real, value, __VA_ARGS__)
#define put_bool(sheet, value, ...) put_fact(sheet, FACT_BOOLEAN, integer, value, __VA_ARGS__)
/* A text that is in tables for people only: the heading, flags, and so on. */
#define put_cell(sheet, text, ...) put_text(sheet, text, NULL, 0, __VA_ARGS__)

/* A row, which is an object in JSON. The end writes it, and before the first one the head: what the
 * first row has not is in none, and what a later one has not is empty there. */
void sheet_begin(struct sheet *sheet);
int sheet_end_row(struct sheet *sheet);

/* A document that has only such rows is an object in JSON, too: after sheet_begin() its members are
 * put, and the rows follow as an array of that name. */
void sheet_begin_rows(struct sheet *sheet, const char *name);
/* Ends such a document, or a table for people; r is what sheet_end_row() has returned last. Returns
 * that, or an error of its own. */
int sheet_end(struct sheet *sheet, int r);

#endif
