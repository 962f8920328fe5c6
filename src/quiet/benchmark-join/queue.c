// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <string.h>

#include "base/macro.h"
#include "quiet/benchmark-join/queue.h"

static size_t count_of_user(const struct queue *queue, uid_t uid)
{
	size_t n = 0;

	for (size_t i = 0; i < queue->n; i++)
		n += queue->waiting[i].peer.uid == uid;
	return n;
}

static int64_t ready_ns(const struct queue *queue, uid_t uid)
{
	for (size_t i = 0; i < queue->n_users; i++) {
		if (queue->users[i].uid == uid)
			return queue->users[i].ready_ns;
	}
	return INT64_MIN;
}

int queue_add(struct queue *queue, const struct asker *asker)
{
	if (queue->n == QUEUE_MAX || count_of_user(queue, asker->peer.uid) >= QUEUE_OF_USER)
		return -EBUSY;
	queue->waiting[queue->n++] = *asker;
	return 0;
}

int queue_take(struct queue *queue, int64_t now_ns, struct asker *ret, int64_t *ret_ready_ns)
{
	int64_t first_ns = INT64_MAX;
	size_t next = 0;

	if (queue->n == 0)
		return -ENODATA;
	for (size_t i = 0; i < queue->n; i++) {
		int64_t ns = ready_ns(queue, queue->waiting[i].peer.uid);

		if (ns < first_ns) {
			first_ns = ns;
			next = i;
		}
	}
	if (first_ns > now_ns) {
		*ret_ready_ns = first_ns;
		return -EAGAIN;
	}
	*ret = queue->waiting[next];
	queue->n--;
	memmove(&queue->waiting[next], &queue->waiting[next + 1],
		(queue->n - next) * sizeof(queue->waiting[0]));
	return 0;
}

/* The entry of the user, else an unused one, else the one whose pause ended first. */
static struct queue_user *find_entry(struct queue *queue, uid_t uid)
{
	struct queue_user *oldest = &queue->users[0];

	for (size_t i = 0; i < queue->n_users; i++) {
		if (queue->users[i].uid == uid)
			return &queue->users[i];
		if (queue->users[i].ready_ns < oldest->ready_ns)
			oldest = &queue->users[i];
	}
	return queue->n_users < ARRAY_SIZE(queue->users) ? &queue->users[queue->n_users++] : oldest;
}

void queue_end_turn(struct queue *queue, uid_t uid, int64_t began_ns, int64_t ended_ns)
{
	*find_entry(queue, uid) = (struct queue_user){
		.uid = uid,
		.ready_ns = ended_ns + QUEUE_PAUSE * (ended_ns - began_ns),
	};
}
