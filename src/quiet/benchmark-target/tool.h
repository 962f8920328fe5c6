/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Runs other programs of quiesce. */
#ifndef QUIESCE_QUIET_BENCHMARK_TARGET_TOOL_H
#define QUIESCE_QUIET_BENCHMARK_TARGET_TOOL_H

#include <stdbool.h>

/*
 * Runs a program of quiesce and waits for it. words: its arguments, without the program's name,
 * ended by NULL. quiet: its standard output is dropped. Returns its exit status, or a negative
 * errno after saying so: -ENOENT when it is not installed, -EINTR when a signal ended it.
 */
int tool_run(const char *name, char *const *words, bool quiet);

/* As tool_run(), quiet, but reads what the program writes to `stream` (STDOUT_FILENO or
 * STDERR_FILENO): *ret_line is the last line, malloc'd, "" for none. */
int tool_run_and_read(const char *name, char *const *words, int stream, char **ret_line);

/* Replaces this process by a program of quiesce, with our environment. Returns only a negative
 * errno, after saying so. */
int tool_become(const char *name, char *const *words);

#endif
