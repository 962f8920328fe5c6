/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How long our own control is (--control): so many rounds that it takes about as much CPU time as
 * the first program. Two results can be compared by their controls only if these are of the same
 * length, so lengths are powers of 4: a program that takes a little more or less the next time
 * still gets the same control, unless it is just between two of them. --control-length is for that
 * case.
 */
#ifndef QUIESCE_MEASURE_CALIBRATE_H
#define QUIESCE_MEASURE_CALIBRATE_H

#include "base/stop.h"
#include "measure/command.h"
#include "measure/launchplan.h"

/* The power of 4 for a program that takes so many seconds, if `trial_rounds` rounds of the control
 * take `trial_seconds`. */
unsigned calibrate_choose_length(
	double program_seconds, unsigned trial_rounds, double trial_seconds);

/*
 * Makes one run that does not count of a command, with its hooks, by a launcher that is started for
 * it and ended. 1 when it was made, 0 when the program could not be run, -ECHILD when it failed:
 * this is said, with the text in front, unless that is NULL. -ECANCELED when a signal asked to
 * stop.
 */
int calibrate_try(struct command *command, const struct launch_inputs *in, struct stop *stop,
	const char *text);

/*
 * Sets the length of the control, if there is one that is ours, from --control-length; or so that
 * it is `known`, the control of the runs that are appended to, if that is ours as well; or from a
 * few runs of the first program, with its hooks, and of the control on the benchmark's CPUs. A run
 * that fails is an error. When the first program cannot be run, it sets the shortest length and
 * leaves it to the measurement to say so. Says what is wrong; -ECANCELED when a signal asked to
 * stop.
 */
int calibrate_control(struct commands *commands, const struct launch_inputs *in, const char *known,
	struct stop *stop);

#endif
