/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Orphans are the processes that a program leaves behind when it ends: children, grandchildren and
 * so on, in whatever process group or session they are. The kernel makes them children of the
 * nearest ancestor that has asked for this (PR_SET_CHILD_SUBREAPER, prctl(2)). These functions are
 * for such an ancestor.
 *
 * This file uses only the C library, because it is linked into the launcher.
 */
#ifndef QUIESCE_MEASURE_ORPHANS_H
#define QUIESCE_MEASURE_ORPHANS_H

#include <stdbool.h>
#include <sys/types.h>

/* Reaps all children that have ended. Returns true when `pid` was one of them, whose status, as of
 * wait(2), is stored where ret_status is not NULL; or when there is no child at all any more. */
bool orphans_reap(pid_t pid, int *ret_status);
/* Whether the numbers of processes in /proc are those of our PID namespace. */
bool orphans_have_proc(void);
/* Whether a process is alive that the list names, as it stands in /proc/PID/task/TID/children, and
 * that is not `except`. */
bool orphans_are_alive(const char *list, pid_t except);
/*
 * Kills all children except the process `except` (0: no exception), and the orphans that these
 * leave behind in turn. Waits until all of them have ended, at most two seconds. Returns 1 when
 * there was at least one process, 0 when there was none or it had just ended by itself, and a
 * negative errno when /proc cannot be read. Where /proc is not that of our PID namespace, or not
 * there, all numbers of processes are tried that descendants of this process may have.
 */
int orphans_end(pid_t except);

#endif
