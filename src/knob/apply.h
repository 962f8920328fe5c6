/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Turning the knobs of a plan.
 */
#ifndef QUIESCE_KNOB_APPLY_H
#define QUIESCE_KNOB_APPLY_H

#include "knob/engine.h"

/*
 * Turns the knobs, under engine_lock(). In this order: read everything, write the journal, turn the
 * knobs, read them back, verify(), write down what they have become. A knob that is as wanted is
 * not written.
 * When one fails that must not, all that was turned in this call is turned back, and the errno of
 * the first is returned. Settings of an earlier call, which the plan may not mention, stay, and so
 * does what the journal says was there before them.
 */
int apply_plan(const struct engine *engine, struct knob_plan *plan, struct engine_failure *failure);

#endif
