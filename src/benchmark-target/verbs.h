/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What benchmark-target can be told to do. All say what is wrong and return an exit status. */
#ifndef QUIESCE_BENCHMARK_TARGET_VERBS_H
#define QUIESCE_BENCHMARK_TARGET_VERBS_H

#include <stdbool.h>

#include "unit/unit.h"

/*
 * Reads the configuration, chooses the CPUs and writes /run/quiesce/target. cpus is a CPU list
 * instead of the configured one, NULL for none.
 */
int verb_prepare(const char *cpus);

/* Whether the running target turns what that key stands for: 0, 1, which makes systemd skip a
 * service (ExecCondition=), or 255 where that cannot be told. */
int verb_wants(const char *key);

/* Looks at what the services have come to, and has isol-check look at the machine: whether the
 * target may come up, see benchmark.target(7). */
int verb_check(void);
/* For the unit that starts the check: whether that is done, or the target is being stopped. */
int verb_begun(void);
/* `systemctl start` and `systemctl stop` for units of the target, which do not give up when systemd
 * executes itself anew. */
int verb_do_job(enum unit_job job, const char *unit, bool alone);
/* Ends what still runs on the quiet CPUs. */
int verb_evict(void);
/* Forgets what was chosen, and tells those who look at the target what was not put back. */
int verb_release(void);
/* Tells those who look at the target what has come of its start. */
int verb_tell(void);

/* Notes which of the units are running that benchmark-tuners.service makes way for itself. */
int verb_note_tuners(void);
/* Starts them again. */
int verb_return_tuners(void);

/*
 * Makes the machine quiet, says so by one byte on standard input, which is a socket, waits until
 * its other end is closed, by whatever, and puts everything back. Where the target is up already,
 * it is left up.
 */
int verb_hold(const char *cpus);

#endif
