/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The runs, one after the other.
 */
#ifndef QUIESCE_RUNPINNED_MEASURE_H
#define QUIESCE_RUNPINNED_MEASURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "basic/stop.h"
#include "runpinned/command.h"
#include "runpinned/counting.h"
#include "runpinned/evidence.h"
#include "runpinned/options.h"

/*
 * Measures until all runs are done or something ends it, and says what went wrong with a program.
 * Several commands are run in rounds, each of them once a round, in an order that is drawn anew for
 * each: what the machine does meanwhile meets all of them alike, and run i of one has run i of the
 * others beside it. Fills the commands' measurements, with the same `end` in all.
 * evidence may be NULL. 0 (then `end` tells), or a negative errno where there is nothing to show.
 */
int measure(const struct options *options, struct commands *commands, struct stop *stop,
	const struct counting *counting, struct evidence_reader *evidence);

#endif
