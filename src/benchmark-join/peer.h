/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who is at the other end of a UNIX socket, as the kernel says, and as it was when that one
 * connected. Nothing that is sent over the socket counts.
 */
#ifndef QUIESCE_BENCHMARK_JOIN_PEER_H
#define QUIESCE_BENCHMARK_JOIN_PEER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct peer {
	pid_t pid;
	uid_t uid;
	int pidfd; /* of that very process, whatever becomes of its number */
};

/*
 * -ESRCH when it is gone, and its number perhaps somebody else's; -ENOTSOCK and the like for a
 * descriptor that is no such socket; -ENODATA when it cannot be seen from our PID namespace.
 *
 * From 6.5 on the kernel keeps a pidfd with the socket (SO_PEERPIDFD). Before, the number is all
 * there is, and a process that has passed its socket on and ended may have left it to another one:
 * so that one must at least belong to the same user, who gains nothing by it.
 */
int peer_open(int socket, struct peer *ret);
/* It has not ended. */
bool peer_is_alive(const struct peer *peer);
void peer_close(struct peer *peer);

/* The real, effective and saved user of the text of /proc/PID/status are all that one. */
bool peer_status_is_of(const char *status, uid_t uid);
/* How many threads it has, by that text; -EBADMSG. */
int peer_parse_threads(const char *status, uint64_t *ret);

#endif
