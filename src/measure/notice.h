/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Notices a program that measures: its warm-up has printed figures that a harness knows
 * (judge/harness/signs.h). How long such a program runs most often says nothing of its work.
 */
#ifndef QUIESCE_MEASURE_NOTICE_H
#define QUIESCE_MEASURE_NOTICE_H

#include <stdio.h>

#include "judge/report/brief.h"
#include "measure/command.h"
#include "measure/options.h"

/* After the warm-ups, of which the last one's output is there: adds METADATA_OUTPUT_SIZE to the
 * facts of the commands and, but for the control and programs whose figures are taken anyway,
 * METADATA_OWN_FIGURES. */
void notice_look(const struct options *options, struct commands *commands);
/* Whether the time, by which the programs are judged, is none of what one of them is for. Not where
 * a person has asked for a metric by its name. */
bool notice_is_there(const struct options *options, const struct commands *commands);
/* Says it in a line, of `brief` where that is not NULL. The stream may be NULL. */
void notice_print(FILE *stream, struct brief *brief, const struct options *options,
	const struct commands *commands);

#endif
