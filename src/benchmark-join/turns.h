/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who waits to be let in, and whose turn it is: so that no user keeps the others waiting, however
 * often he asks.
 *
 * Each user has a share of the places to wait in, and the users take turns. After his turn a user
 * pauses for a multiple of what it took: so one user can have but a part of the time that systemd
 * spends on all this, on a slow machine as on a fast one.
 */
#ifndef QUIESCE_BENCHMARK_JOIN_TURNS_H
#define QUIESCE_BENCHMARK_JOIN_TURNS_H

#include <stddef.h>
#include <stdint.h>

#include "benchmark-join/peer.h"

enum {
	TURNS_MAX = 256,
	TURNS_OF_USER = 16,
	/* Of what a turn took: a fifth of the time is his then, at most. */
	TURNS_PAUSE = 4,
};

struct asker {
	int socket;
	struct peer peer;
};

/* All zero is nobody. */
struct turns {
	struct asker waiting[TURNS_MAX]; /* in the order in which they came */
	size_t n;
	/* When the users who had a turn lately have paused, on CLOCK_MONOTONIC. */
	struct turns_user {
		uid_t uid;
		int64_t ready_ns;
	} users[TURNS_MAX];
	size_t n_users;
};

/* -EBUSY when that user, or all of them together, have no place to wait any more. */
int turns_add(struct turns *turns, const struct asker *asker);
/* Takes out whose turn it is at that time: the user whose last turn is longest ago, and of his
 * askers the first. -EAGAIN when all users who wait pause, with the end of the first pause in
 * *ret_ready_ns; -ENODATA when nobody waits. */
int turns_take(struct turns *turns, int64_t now_ns, struct asker *ret, int64_t *ret_ready_ns);
/* A user has had a turn, from then till then. */
void turns_end(struct turns *turns, uid_t uid, int64_t began_ns, int64_t ended_ns);

#endif
