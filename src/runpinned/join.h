/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef QUIESCE_RUNPINNED_JOIN_H
#define QUIESCE_RUNPINNED_JOIN_H

/*
 * Has the calling process moved onto the CPUs that benchmark.target keeps apart, by the server
 * behind /run/quiesce/join; without systemd, and in cgroup v1, it goes there itself if it is
 * root's. Its affinity is all of them then. Waits for its turn where many ask at once. Says what is
 * wrong, and what to do.
 */
int join_target(void);

#endif
