/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The processes of qs_main(): this program again, for one benchmark each. */
#ifndef QUIESCE_SAMPLER_RUNNER_H
#define QUIESCE_SAMPLER_RUNNER_H

#include <signal.h>

#include "sampler/outcome.h"

struct runner {
	int fd;		 /* of values.h */
	sigset_t before; /* the mask that processes begin with */
	sigset_t waited;
	int signal; /* that is to end it all, 0 */
};

/* Blocks the signals that it waits for. A negative errno. */
int runner_open(struct runner *ret);
void runner_close(struct runner *runner);

/*
 * Runs this program with these arguments and takes the values that it hands over. 0; -ECHILD where
 * it failed (it has said why; *ret_status is as of wait(2)); -EBADMSG where it handed over nothing
 * that is a value; -EINTR where a signal is to end it all; other errors.
 */
int runner_run(struct runner *runner, char *argv[], struct outcome_run *ret, int *ret_status);

#endif
