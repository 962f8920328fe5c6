/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes the machine quiet during the measurement (--quiesce). A guardian process does it: libexec's
 * `benchmark-target hold`, which starts benchmark.target, or runs the setters when there is no
 * systemd. The guardian restores everything when the other end of its socket is closed, and the
 * kernel closes that end however runpinned ends.
 */
#ifndef QUIESCE_MEASURE_QUIESCE_H
#define QUIESCE_MEASURE_QUIESCE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/cleanup.h"
#include "base/machine/cpumask.h"
#include "base/stop.h"

struct quiesce;

/* Whether this user may use it: root, and anybody while the target is up. Says so if not; -EPERM.
 */
int quiesce_check_permission(void);
/*
 * Returns when the machine is quiet. `list` is the argument of -c, or NULL for the CPUs that the
 * target's configuration names. An ordinary user can use this only while the target is already up.
 * Says what is wrong; -ECANCELED when a signal asked to stop.
 */
int quiesce_begin(const char *list, struct stop *stop, struct quiesce **ret);
/* Asks the setters once more, while the machine is held quiet: *ret has the parts as they are now.
 * Takes some 15 ms. It holds nothing; freed by quiesce_end(). Says what is wrong; -ECANCELED when
 * another signal asked to stop before the answer, so that a setter that hangs keeps nobody. */
int quiesce_ask(struct stop *stop, struct quiesce **ret);
/* What has been done with a part of the machine: "shield", "an isolated partition of cgroup v2". */
struct quiesce_part {
	const char *name;
	const char *done;
};
/* Returns how many parts there are; *ret is valid as long as `quiesce` is. *ret_complete: whether
 * what was done is all that can make a machine quiet. */
size_t quiesce_get_parts(
	const struct quiesce *quiesce, const struct quiesce_part **ret, bool *ret_complete);
/* Checks that these CPUs are the quiet ones: they are not when the target was already up for other
 * CPUs. Says so and returns -EINVAL. */
int quiesce_check(const struct cpumask *cpus);
/* Returns when everything has been restored. When the guardian was killed, starts another one to
 * restore it. Says what is wrong. NULL is allowed. */
int quiesce_end(struct quiesce *quiesce);
DEFINE_CLEANUP(quiesce, quiesce_end);

#endif
