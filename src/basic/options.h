/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A command line's options as a table, a row for each: from it are made what getopt_long(3) has to
 * know, the reading of the values, and the lines of --help.
 */
#ifndef QUIESCE_BASIC_OPTIONS_H
#define QUIESCE_BASIC_OPTIONS_H

#include <stdio.h>

/* Of a table, its end among them. */
#define OPTION_ROWS_MAX 64
#define OPTION_RANK_MAX 2

/* A table of rows is in the order of --help, and ends with one that is all zero. */
struct option_row {
	char letter;	      /* 'c'; 0: there is only the name */
	const char *name;     /* "cpus"; NULL: no option, only lines of help between some */
	const char *argument; /* as in the help: "LIST", "[=N]" when it may be left out; or NULL */
	const char *help;     /* lines; those of an option are indented here */
	/* Puts the value, NULL for none, where `into` points to. -EINVAL or -ERANGE when it is none
	 * of those that are `wanted`, which is said then: "-n: 'x' is not a whole number"; without
	 * `wanted` the function has said itself what is wrong. NULL ends the reading. */
	int (*take)(const char *value, void *into);
	void *into;
	const char *wanted;
	/* Up to OPTION_RANK_MAX. When an abbreviation may mean several options, those of a lower
	 * rank are named first, and of one rank those that come first. */
	unsigned rank;
};

/* For `take`: sets a bool, */
int option_set(const char *value, void *into);
/* and a const char *, which then points into argv. */
int option_text(const char *value, void *into);

/*
 * Reads the options; what is left of argv begins at optind. `mode` is what getopt_long(3) wants
 * before the letters: "+" where the first word that is none ends the options, "" where it does not.
 * 0, the letter of the first row without `take`, which ended it (--help), or a negative errno after
 * saying what is wrong (but for -ENOMEM, which only `take` returns).
 */
int option_rows_read(const char *mode, const struct option_row *rows, int argc, char *argv[]);
/* Their lines of --help. */
void option_rows_print(const struct option_row *rows, FILE *stream);

#endif
