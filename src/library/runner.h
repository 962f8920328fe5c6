/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The processes of qs_main(): each runs this program again for one benchmark. */
#ifndef QUIESCE_LIBRARY_RUNNER_H
#define QUIESCE_LIBRARY_RUNNER_H

#include <signal.h>

#include "library/outcome.h"
#include "library/private.h"

struct runner {
	int fd;		 /* receives the values, see values.h */
	sigset_t before; /* the signal mask that processes start with */
	sigset_t waited;
	int signal; /* the signal that ends the measurement; 0: none */
};

/* Blocks the signals that runner_run() waits for: that of a child's end, and those that end the
 * measurement, SIGHUP, SIGINT and SIGTERM, where the caller does not ignore them. A negative errno.
 */
int runner_open(struct runner *ret);
void runner_close(struct runner *runner);

/*
 * Runs this program with these arguments and reads the values of this name that it hands over. 0;
 * -ECHILD where it failed (it has printed why; *ret_status is as of wait(2)); -EBADMSG where it
 * handed over no valid values of this name; -EINTR where a signal ends the measurement; other
 * errors.
 */
int runner_run(struct runner *runner, const char *name, char *argv[], struct outcome_run *ret,
	int *ret_status);

#endif
