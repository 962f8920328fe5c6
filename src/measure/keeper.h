/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The keeper is a process between runpinned and a launcher. It ends the processes that the program
 * leaves behind, and reads the program's output where that is to go through a pipe.
 *
 * It is the ancestor that orphans of the program are given to (orphans.h), and it does three
 * things. It reaps orphans that end, as init would do. It ends the remaining ones after a run, when
 * the launcher asks for it. And it ends all of them when the launcher is gone, for whatever reason,
 * and removes what runpinned has made for the programs, if runpinned was killed.
 * Otherwise it sleeps. It does not run on the benchmark's CPUs if there are other CPUs: orphans may
 * end in the middle of a run, and the keeper must not disturb that run.
 *
 * A cgroup would be able to hold these processes, too, but neither an ordinary user, nor root
 * beside systemd, may create one. If keeper and launcher are killed by SIGKILL at the same time,
 * PR_SET_PDEATHSIG still ends the program, but not the processes that it has started.
 *
 * Signals to the keeper: LAUNCH_STOP (launch.h) is passed on to the launcher; SIGUSR1 kills the
 * launcher and ends all other processes; SIGUSR2 says that runpinned needs the launcher no more.
 * When runpinned is killed, the launcher gets LAUNCH_STOP, and SIGKILL two seconds later.
 */
#ifndef QUIESCE_MEASURE_KEEPER_H
#define QUIESCE_MEASURE_KEEPER_H

#include <sys/types.h>

#include "base/machine/cpumask.h"
#include "measure/figurepad.h"

enum {
	KEEPER_FOLDERS = 2,
};

struct vary;

struct keeper {
	pid_t runpinned;
	int signals;	/* a signalfd */
	int socket;	/* a SOCK_SEQPACKET, on which the launcher's requests arrive */
	int launcher;	/* the launcher's end of that socket */
	int *status;	/* shared: where that of the launcher goes, as of wait(2); NULL: nowhere */
	int output;	/* a pipe or a terminal's other end, to be read and forgotten; -1: none */
	bool dismissed; /* by runpinned, which removes these two itself */
	const struct figurepad *figurepad; /* removed where runpinned was killed; NULL: none */
	const struct vary *vary;	   /* its folder is, too; NULL: none */
	/* Removed with all that is in them when all have ended; NULL: none. */
	const char *folders[KEEPER_FOLDERS];
	/* What the launcher has to restore: SIG_IGN when the caller ignores SIGCHLD. */
	void (*caller_chld)(int);
};

/* To be called in the forked child of `runpinned` that becomes the keeper. After a failure the
 * child has to exit, so nothing is undone. */
int keeper_prepare(pid_t runpinned, struct keeper *ret);
/* Runs the keeper until it ends, once it has forked the launcher. Closes all other descriptors. */
__attribute__((noreturn)) void keeper_run(
	const struct keeper *keeper, pid_t launcher, const struct cpumask *housekeeping);

#endif
