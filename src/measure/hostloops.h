/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How often a hosted harness (host.h) repeats what it measures: found once, and told to all
 * processes of all programs that are compared. */
#ifndef QUIESCE_MEASURE_HOSTLOOPS_H
#define QUIESCE_MEASURE_HOSTLOOPS_H

#include "base/stop.h"
#include "measure/command.h"
#include "measure/launchplan.h"

/*
 * Runs the programs that others are compared with as Calibrate of the harness says, on the CPUs of
 * the benchmark and with their hooks, and puts the numbers of loops into the words of all commands.
 * Where there are several Run, it tries which is the first that the program does not refuse. Says
 * what is wrong; -ECANCELED when a signal asked to stop.
 */
int hostloops_find(struct commands *commands, const struct launch_inputs *in, struct stop *stop);

#endif
