/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the knobs of a plan are now, compared with what is wanted and with the journal.
 */
#ifndef QUIESCE_KNOB_INSPECT_H
#define QUIESCE_KNOB_INSPECT_H

#include "knob/engine.h"
#include "knob/hotplug.h"

/*
 * Reads every knob of the plan, and takes its original value from the journal: fills now, original,
 * word, error and note. Writes nothing. -EBADMSG for a damaged journal, and an errno of ours
 * (knob_error_is_ours()) if this process cannot find out about a knob.
 */
int inspect_plan(
	const struct engine *engine, struct knob_plan *plan, struct engine_failure *failure);
/* The same with a journal that the caller has loaded; NULL for none. */
int inspect_knobs(const struct engine *engine, struct journal *journal, struct knob_plan *plan,
	struct engine_failure *failure);

/* Whether somebody else has changed a knob that the journal says we have set: its value is neither
 * what we set, nor what it was before, nor something that the kernel may have made of either. 1, 0,
 * or an error if that cannot be found out. */
int inspect_is_foreign(const struct engine *engine, const struct hotplug *hotplug,
	const struct journal_entry *entry, const char *now);

#endif
