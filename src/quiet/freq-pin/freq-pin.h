/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The parts of freq-pin: the plan, and the check of what the CPUs show after it was applied.
 */
#ifndef QUIESCE_QUIET_FREQ_PIN_FREQ_PIN_H
#define QUIESCE_QUIET_FREQ_PIN_FREQ_PIN_H

#include "quiet/freq-pin/policies.h"
#include "quiet/freq-pin/wanted.h"
#include "quiet/setter/setter.h"

struct freq_pin {
	struct wanted_request request;
	struct policies *policies; /* set by plan_make(); main() frees it */
};

/*
 * The position of a knob in the order of writing, found by the name of its file. Apply and restore
 * write in the same order:
 *
 *	1. the governor: it changes the limits, and active drivers refuse an EPP
 *	   under `performance`; then what it is told (quiet/engine/tunables.h)
 *	2. boost: while it is off, the kernel clamps the limits
 *	3. EPP and EPB
 *	4. intel_pstate's percentages: they are clamped while turbo is off
 *	5. the limits
 *	6. the speed of governor `userspace`, which is clamped to the limits
 */
unsigned plan_rank(const char *path);

/* plan(), shows_more() and verify() of struct setter. */
int plan_make(const struct setter_target *target, struct knob_plan *plan, void *state);
bool plan_shows_more(const void *state);
int verify_shown(const struct setter_target *target, struct knob_plan *plan, void *state);

#endif
