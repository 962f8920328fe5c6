/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Runs the setters of the target as programs, one after the other: the target without systemd. */
#ifndef QUIESCE_QUIET_BENCHMARK_TARGET_ALONE_H
#define QUIESCE_QUIET_BENCHMARK_TARGET_ALONE_H

#include <stdbool.h>

#include "quiet/benchmark-target/setters.h"

/*
 * Asks a setter by `apply --dry-run` whether it can do what the running target wants. Says why not:
 * -EINVAL, where it cannot even be tried, or the error of running it.
 */
int alone_try(const struct target_setter *setter);
/*
 * Applies all setters of /run/quiesce/target, and says which one fails. With STRICT=no a setter
 * whose knob the machine refuses is left out, but not the shield. After any other failure the
 * caller has to call alone_restore(); the setter that failed has put back its own changes.
 */
int alone_apply(void);
/* Restores the setters in the reverse order, even those that were not applied, and goes on after a
 * failure. all: also those that the running target leaves alone, which a person may have called.
 * Returns the negative errno of the first failure. */
int alone_restore(bool all);

#endif
