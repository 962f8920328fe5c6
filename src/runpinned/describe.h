/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the result file says of the measurement as a whole. */
#ifndef QUIESCE_RUNPINNED_DESCRIBE_H
#define QUIESCE_RUNPINNED_DESCRIBE_H

#include "basic/facts.h"
#include "runpinned/command.h"
#include "runpinned/evidence.h"
#include "runpinned/measure.h"
#include "runpinned/options.h"
#include "runpinned/place.h"

/* What is known before the first run: the machine, the program, how it is run. 0 or -ENOMEM. */
int describe_setup(const struct options *options, const struct command *command,
	const struct place *place, struct facts *facts);
/* What is known after the last: the floor, what ended it, what moved. */
int describe_outcome(const struct measurement *measurement, const struct evidence_reader *evidence,
	const struct place *place, struct facts *facts);
/*
 * What of the machine is not as it was at the setup: somebody changed a governor, the kernel gave
 * up a clock source. Goes into `facts` as quiesce_changed, and into *ret_text (malloc'd, "" if
 * nothing did) for a person.
 */
int describe_changes(const struct place *place, struct facts *facts, char **ret_text);

#endif
