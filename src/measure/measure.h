/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes the runs, one after the other.
 */
#ifndef QUIESCE_MEASURE_MEASURE_H
#define QUIESCE_MEASURE_MEASURE_H

#include "base/stop.h"
#include "measure/command.h"
#include "measure/launch.h"
#include "measure/launchplan.h"
#include "measure/options.h"

/*
 * Measures until all runs have been made or something ends the measurement, and says what went
 * wrong with a program. Several commands are run in rounds. In each round each command runs once,
 * in an order that is drawn anew for each round. So whatever the machine does meanwhile affects all
 * commands alike, and run i of one command was made close to run i of the others. Fills the
 * measurements of the commands, with the same `end` in all of them.
 * user_clock: the values will be those of our own stamps (commands_settle_clocks()). Returns 0
 * (then `end` says how it ended), or a negative errno when there is nothing to show. Where there is
 * no memory for one more run, or for the values that it handed over, that ends the runs as a
 * failure of runpinned, so that those before it are saved.
 */
int measure(const struct launch_inputs *in, struct commands *commands, struct stop *stop,
	bool user_clock);

/* How the program has failed in a run, "exit status 3"; NULL when it has not, or when that is not
 * to count (--ignore-failure). */
const char *measure_find_failure(
	const struct options *options, const struct launch_report *report, char *buf, size_t size);

#endif
