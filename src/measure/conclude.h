/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is done after the last run: the files are written and the report is printed. */
#ifndef QUIESCE_MEASURE_CONCLUDE_H
#define QUIESCE_MEASURE_CONCLUDE_H

#include "measure/command.h"
#include "measure/evidence.h"
#include "measure/options.h"
#include "measure/place.h"
#include "measure/save.h"

/* Writes the result files, and then prints the report about the measurement, so that the runs are
 * kept where there is no memory for the report. evidence may be NULL. Says what is wrong, and
 * returns a negative errno, when something could not be written. */
int conclude(const struct options *options, const struct place *place, struct commands *commands,
	struct evidence_reader *evidence, struct save *save);

#endif
