/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The target without systemd: its setters as programs, one after the other. */
#ifndef QUIESCE_BENCHMARK_TARGET_ALONE_H
#define QUIESCE_BENCHMARK_TARGET_ALONE_H

#include "benchmark-target/setters.h"

/*
 * Whether a setter can do what the running target wants of it, as far as it can tell without doing
 * anything. Says why not: -EINVAL, or what keeps it from being asked.
 */
int alone_try(const struct target_setter *setter);
/*
 * Applies all setters of /run/quiesce/target. One that fails has put back its own and is said; the
 * others are to be put back, too, unless the machine has refused a knob and STRICT=no.
 */
int alone_apply(void);
/* Restores all setters backwards, whatever was applied, and whatever fails meanwhile: a negative
 * errno of the first. */
int alone_restore(void);

#endif
