/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The plan by which a launcher makes its runs (launch.h), from what the user has asked for
 * and what was found on this machine.
 */
#ifndef QUIESCE_MEASURE_LAUNCHPLAN_H
#define QUIESCE_MEASURE_LAUNCHPLAN_H

#include <signal.h>

#include "base/machine/quota.h"
#include "measure/command.h"
#include "measure/counting.h"
#include "measure/evidence.h"
#include "measure/figurepad.h"
#include "measure/options.h"
#include "measure/place.h"
#include "measure/tracepoints.h"
#include "measure/vary.h"

/* The same for all programs. */
struct launch_inputs {
	const struct options *options;
	const struct place *place;
	const struct counting *counting;
	struct evidence_reader *evidence;      /* NULL: no readings */
	const struct tracepoints *tracepoints; /* NULL: none */
	const struct figurepad *figurepad;     /* NULL: none */
	const struct vary *vary;	       /* NULL: without --vary */
};

/* What belongs to one launcher. */
struct launch_ends {
	const char *floor; /* path of the empty program */
	int values_fd;	   /* where programs write their values */
	int kept_fd;	   /* for the output of some runs, or -1 */
	const sigset_t *caller_signals;
};

/*
 * The environment of what the user has given, but for what differs between sessions: PATH or all
 * that we have, and these variables. An array, malloc'd, of strings that are not; NULL without
 * memory.
 */
char **launchplan_make_environment(const struct options *options, const char *const variables[]);
/* `quota`: of the cgroup in which the programs are run, for the places that the evidence has left
 * for its files. 0, -ENOMEM, -E2BIG, or the errno of writing to fd. */
int launchplan_write(int fd, const struct launch_inputs *in, const struct command *command,
	const struct launch_ends *ends, const struct quota *quota);

#endif
