/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What becomes of the runs: report and files. */
#ifndef QUIESCE_RUNPINNED_CONCLUDE_H
#define QUIESCE_RUNPINNED_CONCLUDE_H

#include "runpinned/command.h"
#include "runpinned/evidence.h"
#include "runpinned/options.h"
#include "runpinned/place.h"
#include "runpinned/save.h"

/* Reports on what was measured, and writes it down. evidence may be NULL. Says what is wrong, and
 * returns a negative errno, when something could not be written. */
int conclude(const struct options *options, const struct place *place, struct commands *commands,
	const struct evidence_reader *evidence, struct save *save);

#endif
