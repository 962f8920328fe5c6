/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * SIGINT, SIGTERM and SIGHUP as a wish to stop, taken in where it is safe: the signals stay
 * blocked and are read from a descriptor. One that the caller had ignored (nohup) stays ignored.
 */
#ifndef QUIESCE_BASIC_STOP_H
#define QUIESCE_BASIC_STOP_H

#include <signal.h>
#include <stdint.h>

struct stop {
	int fd;		 /* readable when a signal is there; for ppoll(2) */
	int signal;	 /* the first one, 0 while nobody wishes to stop */
	unsigned count;	 /* how many came */
	sigset_t caller; /* the mask before, which belongs to the programs that are started */
};

int stop_open(struct stop *ret);
void stop_close(struct stop *stop);
/* Takes in what is pending without waiting; returns stop->signal. */
int stop_check(struct stop *stop);
/* Sleeps, but not on after a signal; returns stop->signal. */
int stop_sleep(struct stop *stop, int64_t ns);

#endif
