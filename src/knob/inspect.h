/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How the knobs of a plan stand.
 */
#ifndef QUIESCE_KNOB_INSPECT_H
#define QUIESCE_KNOB_INSPECT_H

#include "knob/engine.h"
#include "knob/hotplug.h"

/*
 * Reads every knob of the plan, and from the journal what it was: fills now, original, word, error
 * and note. Without write access to anything. -EBADMSG for a damaged journal; an errno that is ours
 * (knob_error_is_ours()) for a knob of which nothing can be said.
 */
int inspect_plan(
	const struct engine *engine, struct knob_plan *plan, struct engine_failure *failure);
/* The same with a journal that was loaded; NULL for none. */
int inspect_knobs(const struct engine *engine, struct journal *journal, struct knob_plan *plan,
	struct engine_failure *failure);

/* Whether somebody else changed what the journal says that we have set: it is neither that nor what
 * was there before, and not what the kernel has made of it. 1, 0, or an error when that cannot be
 * told. */
int inspect_is_foreign(const struct engine *engine, const struct hotplug *hotplug,
	const struct journal_entry *entry, const char *now);

#endif
