/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The file in which a program may say figures of its own, in lines of judge/harness/benchfmt.h. Its
 * name is in the environment of all programs, of always the same length ($QUIESCE_FIGURES): an
 * inherited descriptor would be closed by Python, node and Java. It stands alone in a folder that
 * only the user has whose programs are run, in memory where the machine has /dev/shm. Nothing that
 * the program does to the two is trusted: all is opened and removed with the rights of that user,
 * and what is read is a bounded, regular file.
 */
#ifndef QUIESCE_MEASURE_FIGUREPAD_H
#define QUIESCE_MEASURE_FIGUREPAD_H

#include "base/cleanup.h"
#include "judge/harness/extract.h"
#include "measure/user.h"

struct figurepad;

/* Makes the folder and the empty file. NULL, after saying why, where no folder can be made: then
 * programs do not find the variable. The user may be NULL. */
struct figurepad *figurepad_new(const struct user *user);
/* Removes them. Says so where they cannot be removed: the program has put more into the folder. */
void figurepad_free(struct figurepad *pad);
DEFINE_CLEANUP(figurepad, figurepad_free);
/* The same without a word, and without freeing memory: for other processes than the one that has
 * made it, or at the end of that one. NULL does nothing. */
void figurepad_remove(const struct figurepad *pad);

const char *figurepad_get_path(const struct figurepad *pad);
/* Before a run: the file is new, unless it still is empty. Returns a negative errno. */
int figurepad_renew(const struct figurepad *pad);
/* Appends the figures that the program has written. -EBADMSG with the reason, malloc'd. */
int figurepad_read(const struct figurepad *pad, struct figures *figures, char **ret_why);

#endif
