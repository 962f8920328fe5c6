/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A request for other CPUs than the configured ones, for one start of the target:
 * /run/quiesce/request. It is valid while the process that made it keeps the file locked. A file
 * without a lock is left over from a process that was killed, and is ignored.
 */
#ifndef QUIESCE_QUIET_BENCHMARK_TARGET_REQUEST_H
#define QUIESCE_QUIET_BENCHMARK_TARGET_REQUEST_H

/* Returns a descriptor; closing it ends the request. */
int request_make(const char *cpus);
/* Removes the file. *ret: the CPUs, malloc'd. -ENOENT when there is no valid request. */
int request_take(char **ret);

#endif
