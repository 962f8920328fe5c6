/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Compares the present values of the knobs in a plan with the wanted values and with the journal.
 */
#ifndef QUIESCE_QUIET_ENGINE_INSPECT_H
#define QUIESCE_QUIET_ENGINE_INSPECT_H

#include "quiet/engine/engine.h"
#include "quiet/engine/hotplug.h"

/*
 * Reads every knob of the plan, and takes its original value from the journal (NULL: there is
 * none). Fills in now, original, word, error and note. Writes nothing. An errno for which
 * errno_is_ours() is true if this process cannot examine a knob.
 */
int inspect_knobs(const struct engine *engine, struct journal *journal, struct knob_plan *plan,
	struct engine_failure *failure);
/* The same to be shown: with what CPUs that are offline, and an earlier restore, have to do with
 * it. */
int inspect_plan(const struct engine *engine, struct journal *journal, struct knob_plan *plan,
	struct engine_failure *failure);

/* Whether somebody else has changed a knob since the setter turned it: its value is neither the
 * value that the setter wrote, nor the one before, nor one that the kernel may have made of either.
 * 1, 0, or an error if this cannot be found out. */
int inspect_is_foreign(const struct engine *engine, const struct hotplug *hotplug,
	const struct journal_entry *entry, const char *now);

#endif
