/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The options of a command line as a table with a row per option. The table drives getopt_long(3),
 * the parsing of values and the lines of --help.
 */
#ifndef QUIESCE_BASE_OPTIONS_H
#define QUIESCE_BASE_OPTIONS_H

#include <stdbool.h>
#include <stdio.h>

/* Rows of a table, the terminating row included. */
#define OPTION_ROWS_MAX 96
#define OPTION_RANK_MAX 2

/* The rows are in the order of --help; a row that is all zero ends the table. */
struct option_row {
	char letter;	      /* 'c'; 0: the option has a long name only */
	const char *name;     /* "cpus"; NULL: not an option, only text between options in --help */
	const char *argument; /* as --help shows it: "LIST", "[=N]" when optional; NULL: none */
	const char *help;     /* lines of text; print_row() indents those of an option */
	/* Parses the value (NULL when the option has none) and stores it where `into` points to.
	 * After -EINVAL or -ERANGE the message names the option as it was given, and what is
	 * `wanted`: "-n: 'x' is not a whole number"; when `wanted` is NULL, `take` has already
	 * printed the message. A NULL `take` ends the parsing. */
	int (*take)(const char *value, void *into);
	void *into;
	const char *wanted;
	/* Up to OPTION_RANK_MAX. When an abbreviation matches several options, the message names
	 * those of a lower rank first, and within a rank in the order of the table. */
	unsigned rank;
	/* The option may be given once: a second one is an error, where it would take the place of
	 * the first one without a word. */
	bool once;
	/* It is an option of other tools, and this is what to do in its place: such a row has a
	 * letter, a name, or both, and stands in no --help. */
	const char *instead;
	/* Where the name of an option that was given is stored; NULL: nowhere. */
	const char **given;
};

/* A `take` that sets a bool. */
int option_set(const char *value, void *into);
/* A `take` that sets a const char * to the value inside argv. */
int option_text(const char *value, void *into);
/* As option_text(), and -EINVAL for an empty value. */
int option_filled(const char *value, void *into);

/*
 * Parses the options; the operands begin at argv[optind]. `mode` is the first character of
 * getopt_long(3)'s option string: "+" ends the options at the first operand, "" allows operands
 * between options. Returns 0; the letter of the row without `take` that ended the parsing (--help);
 * or a negative errno after printing what is wrong (no message for -ENOMEM, which only `take`
 * returns).
 */
int option_rows_read(const char *mode, const struct option_row *rows, int argc, char *argv[]);
/* Prints the lines of --help. */
void option_rows_print(const struct option_row *rows, FILE *stream);

#endif
