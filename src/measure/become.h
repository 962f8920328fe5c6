/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Changes whose rights the calling thread has, by system calls of its own: setresuid(2) of the C
 * library does so for all threads of the process, and asks them by signals that a process which
 * shares the memory, such as a child of the launcher, would get in their place.
 *
 * This file uses only the C library, because it is linked into the launcher.
 */
#ifndef QUIESCE_MEASURE_BECOME_H
#define QUIESCE_MEASURE_BECOME_H

#include <stddef.h>
#include <sys/types.h>

/* For good: the real, effective and saved user and group, and the supplementary groups. The kernel
 * takes the capabilities away, and PR_SET_PDEATHSIG. A negative errno: then the thread must go no
 * further, because it may be half of both. */
int become_user(uid_t uid, gid_t gid, const gid_t *groups, size_t n_groups);
/* As far as files are concerned, until become_effective() gives back the user 0. Likewise. */
int become_effective(uid_t uid, gid_t gid, const gid_t *groups, size_t n_groups);

#endif
