/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef QUIESCE_MEASURE_JOIN_H
#define QUIESCE_MEASURE_JOIN_H

/*
 * Moves the calling process to the CPUs that benchmark.target reserves. The server at
 * /run/quiesce/join does it. Without systemd the process moves itself, which only root may do, and
 * so it does to an exclusive cpuset of cgroup v1, which everybody may do. Afterwards the affinity
 * of the process is all of these CPUs. When many processes ask at the same time, this waits for a
 * free place. Says what is wrong and what the user can do; returns 0 or a negative errno.
 */
int join_target(void);

#endif
