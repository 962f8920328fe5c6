/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Runs other programs of quiesce. */
#ifndef QUIESCE_BENCHMARK_TARGET_RUN_H
#define QUIESCE_BENCHMARK_TARGET_RUN_H

#include <stdbool.h>

/*
 * Runs a program of quiesce and waits for it. words: its arguments, without the program's name,
 * ended by NULL. quiet: its standard output is dropped. Returns its exit status, or a negative
 * errno after saying so: -ENOENT when it is not installed, -EINTR when a signal ended it.
 */
int run_program(const char *name, char *const *words, bool quiet);

/* As run_program(), quiet, but reads the standard error of the program: *ret_line is its last line,
 * malloc'd, "" for none. */
int run_and_read_error(const char *name, char *const *words, char **ret_line);

#endif
