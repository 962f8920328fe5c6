/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * --decide: runs go on in pairs until it is settled whether the programs are slower than the first
 * one (judge/report/decision.h). Each other program has a decision in its measurement.
 */
#ifndef QUIESCE_MEASURE_DECIDE_H
#define QUIESCE_MEASURE_DECIDE_H

#include <stdbool.h>
#include <stdio.h>

#include "base/say.h"
#include "judge/report/brief.h"
#include "measure/command.h"

/* Takes the pairs that were made since the last look, and sets the clock of all series. Everything
 * is taken anew when that clock has changed. Returns whether all programs are settled; those that
 * need no more runs are marked, each old one together with all that are compared with it, so that
 * the runs of a comparison are equally many. */
bool decide_look(const struct options *options, struct commands *commands);
/* Has the order of a round begin with the command `last`, which ended the round before, where it is
 * to be seen of each program alone, in runs that do not follow one of the other program, that one
 * is slower. */
void decide_order(const struct commands *commands, size_t last, size_t order[], size_t n);
/* After the last run: estimates the changes from all pairs. */
void decide_conclude(const struct options *options, struct commands *commands);
/* Prints a line for each program but the first, and one for all where there are several. -EIO. */
int decide_print(FILE *stream, const struct commands *commands);
/* The same for the short report. 0. */
int decide_add(struct brief *brief, const struct options *options, const struct commands *commands);
/* EXIT_FINDING when a program is slower, EXIT_UNSETTLED when that is not settled for one, else
 * EXIT_DONE. */
enum exit_status decide_status(const struct commands *commands);

#endif
