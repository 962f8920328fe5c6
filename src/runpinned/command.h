/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One of the programs that are measured: often there is but one. Several run in turn, each from a
 * launcher of its own, and each becomes a benchmark of the result.
 */
#ifndef QUIESCE_RUNPINNED_COMMAND_H
#define QUIESCE_RUNPINNED_COMMAND_H

#include <stddef.h>

#include "basic/facts.h"
#include "basic/stop.h"
#include "runpinned/counting.h"
#include "runpinned/evidence.h"
#include "runpinned/measurement.h"
#include "runpinned/options.h"
#include "runpinned/place.h"
#include "runpinned/session.h"

struct command {
	const char *name;  /* of the benchmark */
	char *const *argv; /* as it was given */
	char *program;	   /* the file that is executed */
	struct session *session;
	struct measurement *measurement; /* NULL until measure() made it */
	struct facts facts;
};

struct commands {
	struct command items[OPTIONS_MAX_COMMANDS];
	size_t n;
};

/* Finds the programs. Says what is wrong and returns a negative errno. */
int commands_resolve(const struct options *options, struct commands *ret);
/* Starts a launcher for each, which reads what `evidence` wants; that may be NULL. Says what is
 * wrong and returns a negative errno. */
int commands_start(struct commands *commands, const struct options *options,
	const struct place *place, const struct counting *counting,
	const struct evidence_reader *evidence, struct stop *stop);
void commands_clear(struct commands *commands);

#endif
