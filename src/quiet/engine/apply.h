/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Applying a plan: turning its knobs.
 */
#ifndef QUIESCE_QUIET_ENGINE_APPLY_H
#define QUIESCE_QUIET_ENGINE_APPLY_H

#include "quiet/engine/engine.h"

/*
 * Turns the knobs, under engine_lock(). `earlier` is the journal that the plan was made with (NULL:
 * there is none), and is freed. It reads every knob, writes the journal, turns the knobs,
 * reads them back, calls verify(), and writes into the journal what the knobs have become. A knob
 * that already has the wanted value is not written.
 *
 * If a knob fails that must not fail, all knobs that this call has turned are put back, and the
 * errno of the first failure is returned. Settings of an earlier call stay, also those that this
 * plan does not mention, and so do their old values in the journal.
 */
int apply_plan(const struct engine *engine, struct journal *earlier, struct knob_plan *plan,
	struct engine_failure *failure);

#endif
