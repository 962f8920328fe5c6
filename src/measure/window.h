/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The window of a run as the kernel saw it, from perf side-band records about the child: those of
 * an event on its main thread, or of events of all CPUs. An event on a task runs at each switch of
 * this task, which takes about 1 us, and at each fork, which takes about 3 us: in the window. An
 * event of a CPU costs nothing at a switch, and about 1 us at each fork and exit on this CPU.
 *
 * The window begins with the PERF_RECORD_COMM that has PERF_RECORD_MISC_COMM_EXEC, which execve(2)
 * writes when the new program is in place. It ends with the PERF_RECORD_EXIT, which do_exit()
 * writes before the address space is freed (kernel/exit.c, seen in 6.1, 6.12 and 7.2; older kernels
 * wrote it after). Of a process with several threads it ends with the exit record of the last one.
 * An event on the main thread sees only this thread's; then tree.h may find the others'
 * (judge_window_end()).
 *
 * This file uses only the C library, because it is linked into the launcher.
 */
#ifndef QUIESCE_MEASURE_WINDOW_H
#define QUIESCE_MEASURE_WINDOW_H

#include <stddef.h>
#include <stdint.h>

#include "measure/launch.h"
#include "measure/records.h"

/* The side-band event. It needs no PMU, no root privileges up to perf_event_paranoid 2, and takes
 * its time stamps from the clock `clockid`. */
void window_event_attr(int clockid, struct perf_event_attr *ret);
/* Reads the records of n rings about the process `pid` after it has ended. A record that was lost,
 * or a malformed one, which ends the reading of the ring, is counted in n_lost. is_last is left 0.
 */
void window_parse(const struct records *rings, size_t n, int32_t pid, struct window *ret);

#endif
