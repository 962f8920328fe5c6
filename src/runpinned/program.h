/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The program that is to be run, as a file. */
#ifndef QUIESCE_RUNPINNED_PROGRAM_H
#define QUIESCE_RUNPINNED_PROGRAM_H

#include <stdbool.h>

/*
 * The file that the shell would execute for this word: the word itself if it holds a slash, else
 * the first executable file of that name in $PATH. malloc'd.
 * -ENOENT not there, -EACCES there but not executable, -EISDIR a directory.
 */
int program_resolve(const char *word, char **ret);

/*
 * NULL if the kernel's records of this file's execution can be trusted, else why not, as a phrase:
 * a program that gains privileges or may not be read loses its perf events at exec, with an exit
 * record written there and then (fs/exec.c: begin_new_exec(), kernel/events/core.c).
 */
const char *program_hides_from_perf(const char *path);

#endif
