/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a program leaves behind when it ends: processes that it had started, at whatever remove, and
 * whatever process group or session they went to. The kernel gives them to the nearest ancestor
 * that asked for them (PR_SET_CHILD_SUBREAPER, prctl(2)), as children.
 *
 * For such an ancestor. The C library only: it is linked into the launcher.
 */
#ifndef QUIESCE_RUNPINNED_ORPHANS_H
#define QUIESCE_RUNPINNED_ORPHANS_H

#include <stdbool.h>
#include <sys/types.h>

/* Takes note of all children that have ended, so that they are gone. Whether `pid` was among them
 * or is no child at all. */
bool orphans_reap(pid_t pid);
/*
 * Kills all children but `except` (0: all), and what those leave behind in turn, and waits until
 * they are gone, for two seconds at most. 1: there was somebody; 0: there was nobody, or he had
 * just ended; a negative errno where /proc does not tell.
 */
int orphans_end(pid_t except);

#endif
