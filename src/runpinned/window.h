/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The window of a run as the kernel saw it: perf side-band records on the child.
 *
 * The start is the PERF_RECORD_COMM with PERF_RECORD_MISC_COMM_EXEC, written by execve(2) when the
 * new program is in place; the end is the main thread's PERF_RECORD_EXIT, written by do_exit()
 * before the address space is torn down (kernel/exit.c, seen in 6.1, 6.12 and 7.2; older kernels
 * wrote it after). No code of ours lies between the two.
 *
 * libc only: this is linked into the launcher.
 */
#ifndef QUIESCE_RUNPINNED_WINDOW_H
#define QUIESCE_RUNPINNED_WINDOW_H

#include <stddef.h>
#include <stdint.h>

#include "runpinned/launch.h"

/* The side-band event: no PMU, no root up to perf_event_paranoid 2, its own clock. */
void window_event_attr(int clockid, struct perf_event_attr *ret);
/* Bytes to map for it: one control page and the ring. The ring holds about 500 records; a program
 * whose main thread forks more often loses the newest, which shows in n_lost or a missing exit. */
size_t window_map_size(void);
/* Reads the records out of the mapping after the child has ended. pid is the child's. */
void window_read(void *map, int32_t pid, struct window *ret);
/* As above on the bare ring: `size` bytes (a power of two), records from tail up to head. Records
 * that are malformed end the reading and count as lost. */
void window_parse(const uint8_t *ring, size_t size, uint64_t tail, uint64_t head, int32_t pid,
	struct window *ret);

#endif
