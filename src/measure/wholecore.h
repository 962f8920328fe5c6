/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How whole the core was in each run: compares what the launcher saw of the core (library/core.h)
 * with what a whole core of this model does.
 */
#ifndef QUIESCE_MEASURE_WHOLECORE_H
#define QUIESCE_MEASURE_WHOLECORE_H

#include "measure/command.h"
#include "measure/place.h"

/*
 * Turns the figures of all commands into shares of a whole core and flags their runs (judge.h). A
 * whole core is the best of all these runs, or of earlier measurements on this model of CPU, if
 * that is known and larger: runs beside a neighbour who never rests cannot show it. The figure of a
 * whole core is added to the facts of the commands, and kept for later measurements.
 */
void wholecore_settle(const struct place *place, struct commands *commands);

#endif
