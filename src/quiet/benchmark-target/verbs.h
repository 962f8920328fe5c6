/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The verbs of benchmark-target. All say what is wrong and return an exit status. */
#ifndef QUIESCE_QUIET_BENCHMARK_TARGET_VERBS_H
#define QUIESCE_QUIET_BENCHMARK_TARGET_VERBS_H

#include <stdbool.h>

#include "base/systemd/systemd.h"

/*
 * Reads the configuration, chooses the CPUs and writes /run/quiesce/target. cpus: a CPU list in
 * place of the configured one; NULL for that of a request (request.h), or the configured one.
 */
int verb_prepare(const char *cpus);

/* Whether the running target wants the setter of that key, for ExecCondition= of its service: 0 for
 * yes; 1 for no, systemd then skips the service; 255 for an error, which fails the service. */
int verb_wants(const char *key);

/* Reads the results of the setters' services and runs isol-check: whether the target may come up,
 * see benchmark.target(7). */
int verb_check(void);
/* The same for a target that is up, with what the setters see now; adds the verdict to its journal
 * as well. */
int verb_recheck(void);
/* For the unit that starts the check: EXIT_DONE if the check has succeeded, or the target is being
 * stopped. */
int verb_begun(void);
/* `systemctl start` and `systemctl stop` for units of the target, which go on when systemd
 * re-executes itself. alone: without the units that `unit` needs, or that need it. */
int verb_do_job(enum systemd_job job, const char *unit, bool alone);
/* Ends the programs that still run on the quiet CPUs, unless their shield is not the target's. */
int verb_evict(void);
/* For ExecStopPost= of the service of that key, which systemd also runs where ExecCondition= has
 * skipped the service: becomes `restore --once` of the setter, unless the target leaves it alone.
 */
int verb_restore(const char *key);
/* Removes /run/quiesce/target, and adds to the target's journal what was not put back. */
int verb_release(void);
/* Adds the verdict on the last start to the target's journal. */
int verb_tell(void);

/* Prints what the running target has achieved, see parts.h: EXIT_FINDING where it has not achieved
 * everything. */
int verb_parts(void);

/* Writes down which tuners (tuners.c) are running. */
int verb_note_tuners(void);
/* Starts these tuners again. */
int verb_return_tuners(void);

/*
 * Makes the machine quiet, sends what it has achieved over standard input, which is a socket
 * (HOLD_COMPLETE), waits until the other end is closed, and puts everything back. A target that was
 * up before is left up.
 */
int verb_hold(const char *cpus);
/*
 * Makes the machine quiet and leaves it so, until verb_put_back(): for callers that end in between.
 * EXIT_FINDING, with nothing to be put back, if the target was up before, started by somebody who
 * will stop it; 4 for a failure that leaves nothing to be put back.
 */
int verb_make_quiet(const char *cpus);
/*
 * Stops the target, and has all setters restore, whoever has called them: for packages, which must
 * not remove the tools before. EXIT_FINDING if a setter keeps its journal although none has failed:
 * for settings that somebody else has changed, or that wait for a CPU.
 */
int verb_put_back(void);

#endif
