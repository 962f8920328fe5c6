/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which of several programs is faster. */
#ifndef QUIESCE_MEASURE_RANKING_H
#define QUIESCE_MEASURE_RANKING_H

#include <stdio.h>

#include "judge/report/brief.h"
#include "measure/command.h"
#include "measure/options.h"

/* Compares the first command with each of the others, run by run in pairs, and prints the
 * comparisons, and then which program is the fastest. The metadata of each benchmark are the
 * command's facts, as in the result file. Returns 0 or a negative errno; prints nothing when one of
 * the commands has no run that counts. */
int ranking_print(FILE *stream, const struct options *options, const struct commands *commands);
/* The same for the short report, without the order. */
int ranking_add(
	struct brief *brief, const struct options *options, const struct commands *commands);

#endif
