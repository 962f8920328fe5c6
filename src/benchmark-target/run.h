/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Running our other programs. */
#ifndef QUIESCE_BENCHMARK_TARGET_RUN_H
#define QUIESCE_BENCHMARK_TARGET_RUN_H

#include <stdbool.h>

/*
 * Runs one of our programs and waits for it; words is ended by NULL and begins behind the program's
 * name. quiet: without its standard output. Its exit status, or a negative errno, which is said:
 * -ENOENT when it is not installed, -EINTR when a signal ended it.
 */
int run_program(const char *name, char *const *words, bool quiet);

/* As run_program(), quiet, and nobody sees what it says; the last line of that, malloc'd, "" for
 * none. */
int run_and_listen(const char *name, char *const *words, char **ret_said);

#endif
