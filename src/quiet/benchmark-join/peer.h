/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The process that has connected to a UNIX socket, and its user at that time, both as the kernel
 * tells them. What the process sends over the socket does not matter.
 */
#ifndef QUIESCE_QUIET_BENCHMARK_JOIN_PEER_H
#define QUIESCE_QUIET_BENCHMARK_JOIN_PEER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct peer {
	pid_t pid;
	uid_t uid;
	int pidfd; /* refers to this process even after its PID is used again */
};

/*
 * -ESRCH when the process has ended, and another one may have its PID; -ENOTSOCK and the like for a
 * descriptor that is no UNIX socket; -ENODATA when the process is not in our PID namespace; -EXDEV
 * when it is in another user namespace, where its user may be anybody's subordinate.
 *
 * From 6.5 on the kernel keeps a pidfd with the socket (SO_PEERPIDFD). Older kernels have only the
 * PID. If the process has ended and passed its socket on, another process may have that PID by now.
 * So that process must belong to the same user, who gains nothing by such a trick.
 */
int peer_open(int socket, struct peer *ret);
/* A file of /proc/PID, malloc'd. It is that of this process if peer_check_alive() finds it alive
 * afterwards. -ESRCH when there is no such process. */
int peer_read(const struct peer *peer, const char *file, char **ret);
/* 0 while the process lives, -ESRCH when it has ended, else the error of poll(2). */
int peer_check_alive(const struct peer *peer);
void peer_close(struct peer *peer);

/* The number of threads in the text of /proc/PID/status; -EBADMSG. */
int peer_parse_threads(const char *status, uint64_t *ret);

#endif
