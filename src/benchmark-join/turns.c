// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <string.h>

#include "basic/macro.h"
#include "benchmark-join/turns.h"

static size_t count_of_user(const struct turns *turns, uid_t uid)
{
	size_t n = 0;

	for (size_t i = 0; i < turns->n; i++)
		n += turns->waiting[i].peer.uid == uid;
	return n;
}

static int64_t ready_ns(const struct turns *turns, uid_t uid)
{
	for (size_t i = 0; i < turns->n_users; i++) {
		if (turns->users[i].uid == uid)
			return turns->users[i].ready_ns;
	}
	return INT64_MIN;
}

int turns_add(struct turns *turns, const struct asker *asker)
{
	if (turns->n == TURNS_MAX || count_of_user(turns, asker->peer.uid) >= TURNS_OF_USER)
		return -EBUSY;
	turns->waiting[turns->n++] = *asker;
	return 0;
}

int turns_take(struct turns *turns, int64_t now_ns, struct asker *ret, int64_t *ret_ready_ns)
{
	int64_t first_ns = INT64_MAX;
	size_t next = 0;

	if (turns->n == 0)
		return -ENODATA;
	for (size_t i = 0; i < turns->n; i++) {
		int64_t ns = ready_ns(turns, turns->waiting[i].peer.uid);

		if (ns < first_ns) {
			first_ns = ns;
			next = i;
		}
	}
	if (first_ns > now_ns) {
		*ret_ready_ns = first_ns;
		return -EAGAIN;
	}
	*ret = turns->waiting[next];
	turns->n--;
	memmove(&turns->waiting[next], &turns->waiting[next + 1],
		(turns->n - next) * sizeof(turns->waiting[0]));
	return 0;
}

/* The entry of the user, else an unused one, else the one whose pause ended first. */
static struct turns_user *find_entry(struct turns *turns, uid_t uid)
{
	struct turns_user *oldest = &turns->users[0];

	for (size_t i = 0; i < turns->n_users; i++) {
		if (turns->users[i].uid == uid)
			return &turns->users[i];
		if (turns->users[i].ready_ns < oldest->ready_ns)
			oldest = &turns->users[i];
	}
	return turns->n_users < ARRAY_SIZE(turns->users) ? &turns->users[turns->n_users++] : oldest;
}

void turns_end(struct turns *turns, uid_t uid, int64_t began_ns, int64_t ended_ns)
{
	*find_entry(turns, uid) = (struct turns_user){
		.uid = uid,
		.ready_ns = ended_ns + TURNS_PAUSE * (ended_ns - began_ns),
	};
}
