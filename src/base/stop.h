/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * SIGINT, SIGTERM and SIGHUP as requests to stop, handled at safe points: the signals stay blocked
 * and are read from a descriptor. A signal that the caller ignores (nohup) stays ignored.
 */
#ifndef QUIESCE_BASE_STOP_H
#define QUIESCE_BASE_STOP_H

#include <signal.h>
#include <stdint.h>

struct stop {
	int fd;		 /* readable when a signal is pending; for ppoll(2) */
	int signal;	 /* the first signal; 0 while there was none */
	unsigned count;	 /* signals so far */
	sigset_t caller; /* the former signal mask, which started programs get back */
};

int stop_open(struct stop *ret);
void stop_close(struct stop *stop);
/* Reads pending signals without waiting; returns stop->signal. */
int stop_check(struct stop *stop);
/* Sleeps until the time is over or a signal arrives; returns stop->signal. */
int stop_sleep(struct stop *stop, int64_t ns);

#endif
