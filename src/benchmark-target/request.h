/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * CPUs for one start of the target, in place of the configured ones: /run/quiesce/request, for as
 * long as whoever asks for them holds it locked. One that nobody holds is of a process that was
 * killed, and is none.
 */
#ifndef QUIESCE_BENCHMARK_TARGET_REQUEST_H
#define QUIESCE_BENCHMARK_TARGET_REQUEST_H

/* A descriptor, which the request ends with. */
int request_make(const char *cpus);
/* The CPUs, malloc'd; -ENOENT when there is no request. */
int request_take(char **ret);

#endif
