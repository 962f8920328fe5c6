/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The journal (machine/journal.h) as setters keep it: written before the first knob is touched, put
 * away after the last was put back, and by one setter at a time.
 */
#ifndef QUIESCE_KNOB_JOURNAL_H
#define QUIESCE_KNOB_JOURNAL_H

#include "machine/journal.h"

/*
 * -ENOENT when there is none (also when it is of another boot: nothing of it is left to put back),
 * -EBADMSG when it is damaged, of another version or another tool's, with a phrase in *ret_why
 * (malloc'd); other errors of reading it.
 */
int journal_load(const char *tool, struct journal **ret, char **ret_why);
/* Writes it in place of the old one, as journal_write_file(). */
int journal_save(const struct journal *journal);
/* 0 also when there is none. For who holds the lock. */
int journal_remove(const char *tool);

/* A descriptor of /run/quiesce (0755), which is made if it is not there; -EPERM when that is not a
 * directory of root's alone. */
int journal_open_directory(void);
/* A file in there, for everybody to read; in place of the old one, whole and synced. */
int journal_write_file(const char *path, const char *text);

#define JOURNAL_LOCK JOURNAL_DIRECTORY "/lock"

/*
 * One lock for all setters on the machine: two never interleave. Waits for at most `seconds`, then
 * -EAGAIN. A descriptor, to be closed. Nobody but root can open the file, and so hold the lock.
 */
int journal_lock(unsigned seconds);

#endif
