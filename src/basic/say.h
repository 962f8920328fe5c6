/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The way to people: what a tool says on standard error, one line each ("runpinned: what, where,
 * why"), and what it prints. Beside tables (basic/table.h) there is no other way (tests/style holds
 * the tree to it), for what stands in a file, or is the name of one, may be made to harm: a
 * terminal obeys control characters. Here they are written as \xNN (text_escape_control()).
 *
 * Only main.c and its neighbours in a command's folder call these, and basic/options.h for them;
 * libraries are silent.
 */
#ifndef QUIESCE_BASIC_SAY_H
#define QUIESCE_BASIC_SAY_H

#include <getopt.h>
#include <stdio.h>

#include "basic/macro.h"

/* Exit statuses of every tool here. */
enum exit_status {
	EXIT_DONE = 0,
	EXIT_FAILED = 1,
	EXIT_USAGE = 2,
	EXIT_FINDING = 3,
};

/* "program_invocation_short_name: TEXT\n" */
void say(const char *format, ...) _printf_(1, 2);
/* As say(), with ": strerror(error)" behind it; error is positive or negative. */
void say_errno(int error, const char *format, ...) _printf_(2, 3);
/* What was said last, without the program's name; NULL for nothing. Until the next word. */
const char *say_last(void);
/*
 * The text as it stands, newlines included: whoever puts a name into it that may hold a newline
 * escapes that name before. 0, -ENOMEM, or -EIO; either sticks to the stream (ferror(3)), for those
 * who look at it once, at the end.
 */
int print(FILE *stream, const char *format, ...) _printf_(2, 3);
/* What getopt_long(3) has just refused, and where the help is: ':' is an option without its value,
 * '?' anything else. For tools that set opterr to 0, as its own messages name no help. */
void say_option(int refused, char *const argv[], const struct option *table);

#endif
