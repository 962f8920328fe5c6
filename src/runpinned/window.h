/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The window of a run as the kernel saw it, from perf side-band records about the child.
 *
 * The window begins with the PERF_RECORD_COMM that has PERF_RECORD_MISC_COMM_EXEC, which execve(2)
 * writes when the new program is in place. It ends with the main thread's PERF_RECORD_EXIT, which
 * do_exit() writes before the address space is freed (kernel/exit.c, seen in 6.1, 6.12 and 7.2;
 * older kernels wrote it after). No code of quiesce runs between the two.
 *
 * This file uses only the C library, because it is linked into the launcher.
 */
#ifndef QUIESCE_RUNPINNED_WINDOW_H
#define QUIESCE_RUNPINNED_WINDOW_H

#include <stddef.h>
#include <stdint.h>

#include "runpinned/launch.h"

/* The side-band event. It needs no PMU, no root privileges up to perf_event_paranoid 2, and takes
 * its time stamps from the clock `clockid`. */
void window_event_attr(int clockid, struct perf_event_attr *ret);
/* The number of bytes to map for the event: one control page and the ring. The ring holds about 500
 * records. If the main thread forks more often than that, the newest records are lost, which is
 * seen from n_lost or from a missing exit record. */
size_t window_map_size(void);
/* Reads the records from the mapping after the child has ended. `pid` is the child. */
void window_read(void *map, int32_t pid, struct window *ret);
/* The same for a ring without its control page: `size` bytes (a power of two), with records from
 * tail up to head. A malformed record ends the reading and counts as lost. */
void window_parse(const uint8_t *ring, size_t size, uint64_t tail, uint64_t head, int32_t pid,
	struct window *ret);

#endif
