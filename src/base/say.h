/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Output for people: what a tool says on standard error, one line each ("runpinned: what, where,
 * why"), and what it prints on a stream. All output for people goes through these functions or
 * through tables (base/table.h); tests/style enforces it. The reason: texts and names from files
 * can contain control characters, which a terminal obeys. They are written as \xNN here
 * (text_escape_control()).
 *
 * Only main.c and its neighbours in a command's folder call these functions, and base/options.c
 * for them; libraries are silent.
 */
#ifndef QUIESCE_BASE_SAY_H
#define QUIESCE_BASE_SAY_H

#include <getopt.h>
#include <stdio.h>

#include "base/macro.h"

/* Exit statuses of every tool here. A tool may have more (quiet/benchmark-target/hold.c). */
enum exit_status {
	EXIT_DONE = 0,
	EXIT_FAILED = 1,
	EXIT_USAGE = 2,
	EXIT_FINDING = 3,
	EXIT_UNSETTLED = 4, /* the runs that were allowed did not settle the question */
	EXIT_HOSTED = 4,    /* status --brief of a setter: the rest is the host's to change */
};

/* "program_invocation_short_name: TEXT\n" */
void say(const char *format, ...) _printf_(1, 2);
/* As say(), followed by ": strerror(error)"; error is positive or negative. */
void say_errno(int error, const char *format, ...) _printf_(2, 3);
/* The last message, without the program's name; NULL when there was none. Valid until the next
 * message. */
const char *say_last(void);
/*
 * Prints the text, newlines included: the caller escapes a name that may contain a newline. Returns
 * 0, -ENOMEM or -EIO. Either error also sets the stream's error indicator (ferror(3)), for callers
 * that check it once at the end.
 */
int print(FILE *stream, const char *format, ...) _printf_(2, 3);
/* As print(), for a report of whole lines: on a terminal, lines that are too long are broken and
 * continued in indented lines (text_wrap()). Output that a program reads is printed unchanged. */
int print_report(FILE *stream, const char *format, ...) _printf_(2, 3);
/* Flushes the stream. 0, or a negative errno when anything that was ever written to it was lost: a
 * flush alone does not report what an earlier flush has lost. When the cause is no longer known,
 * the error is -EIO and errno is 0. */
int print_finish(FILE *stream);
/* Flushes standard output at the end of a program. EXIT_DONE, or EXIT_FAILED after saying why. */
enum exit_status print_conclude(void);
/* What --version prints: "TOOL (quiesce) 0.1.0", and in a second line the libraries that this build
 * does without, if any: docs/install.md has what each of them adds (not libcpuset, in whose place
 * we have as much). 0, or as print(). */
int print_version(const char *tool);
/* Says what getopt_long(3) has just refused, and names --help: `refused` is ':' for an option
 * without its value, '?' for anything else. For tools that set opterr to 0, because getopt's own
 * messages do not name --help. */
void say_option(int refused, char *const argv[], const struct option *table);

#endif
