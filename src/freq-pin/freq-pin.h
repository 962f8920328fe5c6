/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The parts of freq-pin: the plan, and the look at what has become of it.
 */
#ifndef QUIESCE_FREQ_PIN_FREQ_PIN_H
#define QUIESCE_FREQ_PIN_FREQ_PIN_H

#include "freq-pin/policies.h"
#include "freq-pin/wanted.h"
#include "setter/setter.h"

struct freq_pin {
	struct wanted_request request;
	struct policies *policies; /* filled by the plan */
};

/*
 * Where a knob stands, by its file. There and back the same: governor (a governor takes its part of
 * the limits, and the active drivers refuse an EPP under `performance`), boost (limits are held
 * below it), EPP and EPB, intel_pstate's percentages (clamped while turbo is off), limits, and last
 * the speed of governor `userspace`, which is clamped to them.
 */
unsigned plan_rank(const char *path);

/* Of struct setter. */
int plan_make(const struct setter_target *target, struct knob_plan *plan, void *state);
int verify_shown(const struct setter_target *target, struct knob_plan *plan, void *state);

#endif
