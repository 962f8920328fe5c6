/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Messages about knobs that are not as they should be after a call.
 */
#ifndef QUIESCE_QUIET_SETTER_LEFTOVER_H
#define QUIESCE_QUIET_SETTER_LEFTOVER_H

#include <stdbool.h>
#include <stddef.h>

#include "quiet/engine/restore.h"
#include "quiet/setter/setter.h"

/* Says in one line which knobs disappeared during the apply, since their CPU or device was removed.
 * Returns their number. Threads and the like, which end all the time, do not count. */
size_t leftover_say_gone(const struct setter *setter, const struct knob_plan *plan);
/* Says which knobs were not put back, and why. Of threads, which may be thousands, it names only
 * some. `once`: not what an earlier restore has reported. */
void leftover_say(const struct setter *setter, const struct restore_rows *rows, bool once);

#endif
