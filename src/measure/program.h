/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The file of a program that is to be measured. */
#ifndef QUIESCE_MEASURE_PROGRAM_H
#define QUIESCE_MEASURE_PROGRAM_H

#include <stdint.h>

/*
 * The file that the shell would execute for this word: the word itself if it contains a slash,
 * otherwise the first executable file of that name in $PATH. malloc'd. -ENOENT when there is no
 * such file, -EACCES when it is not executable, -EISDIR when it is a directory.
 */
int program_resolve(const char *word, char **ret);
/* Whether the file is a binary of a user, whose arguments are hardly other programs: neither of the
 * system, nor one of the known programs that run what their arguments name. */
bool program_is_of_user(const char *path);
/* Whether the word names a file that could be run as a program. */
bool program_is_executable(const char *word);

/*
 * NULL if the kernel's records of this file's execution can be trusted; otherwise the reason why
 * not, as a phrase. A program that gains privileges, or that this user may not read, loses its perf
 * events in execve(2), and the kernel writes an exit record at that moment (fs/exec.c:
 * begin_new_exec(), kernel/events/core.c).
 */
const char *program_hides_from_perf(const char *path);

/* Tells files with different contents apart: a hash of 64 bits (FNV-1a) of the whole file. It is
 * not made to withstand somebody who wants two files to look alike. Errors of open(2) or read(2).
 */
int program_hash(const char *path, uint64_t *ret);

/* Why execve(2) has answered ENOEXEC for this file, a phrase without the name. */
const char *program_explain_noexec(const char *path);

#endif
