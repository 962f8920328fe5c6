/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The window of a run, stamped by three small BPF programs at tracepoints of the kernel. Nothing is
 * attached to the measured tasks: a switch between them costs nothing, and each fork, exec and exit
 * on the machine about 0.1 us, whoever does it. The perf events of window.h and tree.h cost about
 * ten times as much at each fork and exit of the program, and 1 to 3 us at each switch.
 *
 * task_rename: in execve(2) the kernel gives the task the name of the new program. The launcher
 * tells by which number it knows the child that is to execute the program, so the first rename by
 * that process is the one to be stamped. This is the moment of the exec record of perf (fs/exec.c:
 * begin_new_exec()).
 *
 * sched_process_fork: counts what the process starts, threads and processes.
 *
 * sched_process_exit: each thread of the process that ends writes its time over that of the thread
 * before. Since Linux 6.16 this tracepoint lies before the address space is freed (kernel/exit.c:
 * do_exit()). Before 6.16 it lies behind, and the program is attached to the beginning of do_exit()
 * instead, by a kprobe.
 *
 * From there on the process is known by its number in the initial PID namespace, which only the BPF
 * programs see. The launcher's number is one of its own PID namespace, which is told to the kernel
 * by device and inode (bpf-helpers(7), bpf_get_ns_current_pid_tgid()).
 *
 * BPF needs CAP_BPF and CAP_PERFMON in the initial user namespace, and Linux 5.8
 * (capabilities(7), include/uapi/linux/bpf.h). The launcher needs neither: it inherits
 * the descriptor of the array, which it maps.
 */
#ifndef QUIESCE_MEASURE_TRACEPOINTS_H
#define QUIESCE_MEASURE_TRACEPOINTS_H

#include "base/cleanup.h"

struct tracepoints;

/*
 * Begins to attach the programs, in a thread: when programs of this kind were detached some
 * milliseconds ago, the kernel lets the next ones wait until no CPU can be executing the old ones.
 * -EPERM where BPF is not allowed, and other errors of bpf(2).
 */
int tracepoints_begin(struct tracepoints **ret);
/* Waits until they are attached; called once. The errors of bpf(2). */
int tracepoints_await(struct tracepoints *tracepoints);
/* After the last run: begins to detach them, in that thread. */
void tracepoints_end(struct tracepoints *tracepoints);
/* The array with one struct stamps (launch.h), for mmap(2). */
int tracepoints_get_fd(const struct tracepoints *tracepoints);
void tracepoints_free(struct tracepoints *tracepoints);
DEFINE_CLEANUP(tracepoints, tracepoints_free);

#endif
