/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The window of a run as the kernel saw it, from perf side-band records about the child.
 *
 * The window begins with the PERF_RECORD_COMM that has PERF_RECORD_MISC_COMM_EXEC, which execve(2)
 * writes when the new program is in place. It ends with the main thread's PERF_RECORD_EXIT, which
 * do_exit() writes before the address space is freed (kernel/exit.c, seen in 6.1, 6.12 and 7.2;
 * older kernels wrote it after). No code of quiesce runs between the two. Of a process with several
 * threads it ends with the exit record of the last one, which tree.h finds (judge_window_end()).
 *
 * This file uses only the C library, because it is linked into the launcher.
 */
#ifndef QUIESCE_RUNPINNED_WINDOW_H
#define QUIESCE_RUNPINNED_WINDOW_H

#include <stddef.h>
#include <stdint.h>

#include "runpinned/launch.h"
#include "runpinned/records.h"

/* The side-band event. It needs no PMU, no root privileges up to perf_event_paranoid 2, and takes
 * its time stamps from the clock `clockid`. */
void window_event_attr(int clockid, struct perf_event_attr *ret);
/* Reads the records about the process `pid` after it has ended. A record that was lost, or a
 * malformed one, which ends the reading, is counted in n_lost. */
void window_parse(const struct records *records, int32_t pid, struct window *ret);

#endif
