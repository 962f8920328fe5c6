/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef QUIESCE_MACHINE_FORKS_H
#define QUIESCE_MACHINE_FORKS_H

#include <stdint.h>

/*
 * Waits for each call of fork(2) that copies the memory of a process right now, so that its child
 * is listed by the next tasks_read(); no longer than until deadline_ns (CLOCK_MONOTONIC). A fork
 * that has only begun, and does not copy yet, is not waited for: that takes microseconds where the
 * process does not lose its CPU. Says nothing of success: where a process cannot be made or read,
 * or the deadline comes, the caller knows no more than before.
 */
void forks_wait(int64_t deadline_ns);

#endif
