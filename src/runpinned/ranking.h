/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which of several programs is the faster one. */
#ifndef QUIESCE_RUNPINNED_RANKING_H
#define QUIESCE_RUNPINNED_RANKING_H

#include <stdio.h>

#include "runpinned/command.h"

/* Compares the first of the commands with each of the others, in pairs of runs, and writes how that
 * came out. Their facts are those that the result says of them. 0 or a negative errno; nothing is
 * written where one of them has no run that counts. */
int ranking_print(FILE *stream, const struct commands *commands);

#endif
