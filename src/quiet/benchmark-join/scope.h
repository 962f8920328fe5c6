/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The cgroup to which a process moves that joins benchmark.target, and its limits there.
 *
 *	benchmark.slice
 *	  benchmark-1000.slice			with the limits of user-1000.slice
 *	    benchmark-1000-4242.scope		with the limits of the old cgroup
 *	    benchmark-1000-17.slice		with the limits of a cgroup that is not root's
 *	      benchmark-1000-18.scope		with the limits of one in it
 *
 * All processes of a user that come from the same cgroup share a scope, so that joining again
 * does not give a user more resources. 4242 is the inode number of that cgroup, which is unique
 * until the next boot. Below a cgroup that was delegated, such as user@1000.service, the user makes
 * as many cgroups as he likes: the scopes of all of them are in one slice, with the limits of the
 * delegated one. Slices and scopes belong to root, and nothing in them is delegated to the user.
 */
#ifndef QUIESCE_QUIET_BENCHMARK_JOIN_SCOPE_H
#define QUIESCE_QUIET_BENCHMARK_JOIN_SCOPE_H

#include "base/systemd/systemd.h"
#include "quiet/benchmark-join/peer.h"

/* Moves a process; 0 also if it is in benchmark.slice already. -ESRCH when it has ended, -EDQUOT
 * when its user has reached the limit of tasks there, -EOPNOTSUPP where the cpusets are those of
 * cgroup v1, -EXDEV when systemd says that it has moved the process, and it is not there; else the
 * error of reading the limits, or of systemd (systemd_why()). After a failure *ret_unknown becomes
 * true if systemd was asked, and its answer did not arrive or it cannot be seen where the process
 * is. */
int scope_move(struct systemd *manager, const struct peer *peer, bool *ret_unknown);

#endif
