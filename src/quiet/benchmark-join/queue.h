/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A queue of the processes that ask to join, in which no user can block the others by asking often.
 *
 * Each user can have only a part of the places in the queue, and the users take turns. After a
 * turn, a user pauses for a multiple of the time that it took. So one user can use only a part of
 * the time that systemd spends on moving processes, no matter how fast the machine is.
 */
#ifndef QUIESCE_QUIET_BENCHMARK_JOIN_QUEUE_H
#define QUIESCE_QUIET_BENCHMARK_JOIN_QUEUE_H

#include <stddef.h>
#include <stdint.h>

#include "quiet/benchmark-join/peer.h"

enum {
	QUEUE_MAX = 256,
	QUEUE_OF_USER = 16,
	/* The pause of a user, in multiples of the turn: the user gets at most a fifth of the time.
	 */
	QUEUE_PAUSE = 4,
};

struct asker {
	int socket;
	struct peer peer;
};

/* All zero: empty. */
struct queue {
	struct asker waiting[QUEUE_MAX]; /* in the order in which they came */
	size_t n;
	/* Users who had a turn lately, and when their pause ends, on CLOCK_MONOTONIC. */
	struct queue_user {
		uid_t uid;
		int64_t ready_ns;
	} users[QUEUE_MAX];
	size_t n_users;
};

/* -EBUSY when the user has QUEUE_OF_USER askers in the queue, or the queue is full. */
int queue_add(struct queue *queue, const struct asker *asker);
/* Takes the next asker out of the queue: the first asker of the user whose pause ended first.
 * -EAGAIN while all users in the queue pause, with the end of the first pause in *ret_ready_ns;
 * -ENODATA when the queue is empty. */
int queue_take(struct queue *queue, int64_t now_ns, struct asker *ret, int64_t *ret_ready_ns);
/* Writes down a turn of a user, from began_ns to ended_ns. */
void queue_end_turn(struct queue *queue, uid_t uid, int64_t began_ns, int64_t ended_ns);

#endif
