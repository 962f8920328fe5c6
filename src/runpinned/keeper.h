/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The keeper: a process between runpinned and a launcher, for what the program leaves behind.
 *
 * It is the ancestor to whom the program's orphans come (orphans.h), and does three things: it
 * takes note of those that end, as init would; it ends the others when the launcher asks for that,
 * after a run; and it ends all of them when the launcher is gone, however that came. It sleeps
 * otherwise, and never on the benchmark's CPUs if there are others: it must not disturb a run, and
 * orphans may end in the middle of one.
 *
 * A cgroup would hold them as well, but there is none that an ordinary user may make, nor root
 * beside systemd. Against SIGKILL of keeper and launcher at once there is PR_SET_PDEATHSIG, which
 * ends the program, though not what it had started.
 *
 * Signals to the keeper: SIGTERM, passed on to the launcher; SIGUSR1, which kills the launcher and
 * ends the rest. When runpinned is killed the launcher gets SIGTERM, and two seconds for its end.
 */
#ifndef QUIESCE_RUNPINNED_KEEPER_H
#define QUIESCE_RUNPINNED_KEEPER_H

#include <sys/types.h>

#include "machine/cpumask.h"

struct keeper {
	pid_t runpinned;
	int signals;		  /* a signalfd */
	int socket;		  /* a SOCK_SEQPACKET, for the launcher's questions */
	int launcher;		  /* the launcher's end of that socket */
	void (*caller_chld)(int); /* for the launcher: SIG_IGN where the caller ignores SIGCHLD */
};

/* In the forked child of `runpinned` that is to be the keeper. Nothing has to be undone after a
 * failure, for it is to end then. */
int keeper_prepare(pid_t runpinned, struct keeper *ret);
/* The rest of its life, once it has forked the launcher. Closes all other descriptors. */
__attribute__((noreturn)) void keeper_run(
	const struct keeper *keeper, pid_t launcher, const struct cpumask *housekeeping);

#endif
