/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef QUIESCE_BASE_MACHINE_FORKS_H
#define QUIESCE_BASE_MACHINE_FORKS_H

#include <stdint.h>

/*
 * Waits for each call of fork(2) that copies the memory of a process right now, so that its child
 * is listed by the next tasks_read(); no longer than until deadline_ns (CLOCK_MONOTONIC). Does not
 * wait for a fork that has begun but does not copy yet; this phase takes microseconds unless the
 * process loses its CPU. Does not report success: where a child cannot be made, a process cannot be
 * read, or the deadline passes, the caller knows no more than before.
 */
void forks_wait(int64_t deadline_ns);

#endif
