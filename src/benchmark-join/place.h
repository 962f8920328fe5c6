/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where a process goes that joins benchmark.target, and what it may use there.
 *
 *	benchmark.slice
 *	  benchmark-1000.slice			with the limits of user-1000.slice
 *	    benchmark-1000-4242.scope		with the limits of the cgroup that it comes from
 *
 * All processes of a user that come from one cgroup share a scope, so that to join again and again
 * gives no more; 4242 is the number of its inode, which no other cgroup gets before the next boot.
 * Slices and scopes are root's, and nothing in them is handed to the user.
 */
#ifndef QUIESCE_BENCHMARK_JOIN_PLACE_H
#define QUIESCE_BENCHMARK_JOIN_PLACE_H

#include "benchmark-join/peer.h"
#include "unit/unit.h"

/* Moves it there; 0 also when it is in the slice already. -ESRCH when it has ended, -EDQUOT when
 * its user has as many tasks there as he may, -EOPNOTSUPP where cgroup v2 does not hold the CPUs,
 * else the error of reading its limits, or of systemd's (unit_why()). */
int place_move(struct unit_manager *manager, const struct peer *peer);

#endif
