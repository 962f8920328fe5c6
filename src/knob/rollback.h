/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Turning back what a failed apply has turned.
 */
#ifndef QUIESCE_KNOB_ROLLBACK_H
#define QUIESCE_KNOB_ROLLBACK_H

#include "knob/engine.h"

/* Every knob that has a `before`, as far as it goes; the first error. 0 when all are as before. */
int rollback_plan(const struct engine *engine, const struct knob_plan *plan);

#endif
