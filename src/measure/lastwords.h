/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The last lines that a program has written to standard error. They go to a file in memory: with a
 * pipe, a process would be woken to read it during the run.
 */
#ifndef QUIESCE_MEASURE_LASTWORDS_H
#define QUIESCE_MEASURE_LASTWORDS_H

enum {
	LASTWORDS_TRIM_MS = 1000, /* how often lastwords_trim() is to be called */
};

/* The file, which is called so in /proc/PID/fd, in append mode, so that truncating it is enough to
 * start again. Returns the descriptor or a negative errno. */
int lastwords_open(const char *name);
/* Frees what was written, except the last part, when it is much: it is kept in memory, and a
 * program may write a lot. Nothing for a negative fd. */
void lastwords_trim(int fd);
/* Prints the last part on standard error, each line behind "  | ". Nothing for a negative fd. */
void lastwords_print(int fd);

#endif
