// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/file.h"
#include "base/machine/tasks.h"
#include "base/macro.h"
#include "base/parse.h"
#include "quiet/benchmark-join/peer.h"

/* include/uapi/asm-generic/socket.h; parisc and sparc have other numbers. */
#if !defined(SO_PEERPIDFD) && !defined(__hppa__) && !defined(__sparc__)
#define SO_PEERPIDFD 77
#endif

enum {
	PROC_MAX = 64 * 1024,
};

int peer_parse_threads(const char *status, uint64_t *ret)
{
	const char *cursor = strstr(status, "\nThreads:\t");

	if (!cursor)
		return -EBADMSG;
	cursor += strlen("\nThreads:\t");
	return parse_next_u64(&cursor, ret) < 0 ? -EBADMSG : 0;
}

int peer_check_alive(const struct peer *peer)
{
	struct pollfd fd = { .fd = peer->pidfd, .events = POLLIN };
	int n = RETRY_INTERRUPTED(poll(&fd, 1, 0));

	return n < 0 ? -errno : n > 0 ? -ESRCH : 0;
}

int peer_read(const struct peer *peer, const char *file, char **ret)
{
	char path[64];
	int r;

	snprintf(path, sizeof(path), "/proc/%d/%s", peer->pid, file);
	r = file_read_all(path, PROC_MAX, ret, NULL);
	return r == -ENOENT ? -ESRCH : r;
}

/* Opens a pidfd by PID, where the kernel keeps none. /proc/PID belongs to the process of the pidfd,
 * since that process is alive before and after it is read. */
static int open_by_pid(struct peer *peer)
{
	_cleanup_free_ char *status = NULL;
	int r;

	peer->pidfd = (int)syscall(SYS_pidfd_open, peer->pid, 0);
	if (peer->pidfd < 0)
		return -errno;
	r = peer_read(peer, "status", &status);
	if (r < 0)
		return r;
	return tasks_status_is_of(status, peer->uid) ? peer_check_alive(peer) : -ESRCH;
}

static int open_pidfd(int socket, struct peer *peer)
{
#ifdef SO_PEERPIDFD
	socklen_t size = sizeof(peer->pidfd);

	if (getsockopt(socket, SOL_SOCKET, SO_PEERPIDFD, &peer->pidfd, &size) == 0)
		return peer_check_alive(peer);
	peer->pidfd = -EBADF;
	/* A kernel with SO_PEERPIDFD gives EINVAL or ESRCH for a process that has ended
	 * (net/core/sock.c, pidfd_prepare() in kernel/fork.c). */
	if (errno != ENOPROTOOPT)
		return errno == EINVAL ? -ESRCH : -errno;
#endif
	return open_by_pid(peer);
}

/*
 * -EXDEV when the process is in another user namespace. Its user may be any of the subordinate
 * users (subuid(5)) of somebody, who would be as many users here as he likes, with a share of the
 * queue and limits for each. In its own namespace the map of a process is shown as that of the
 * process that reads it (user_namespaces(7)), and nobody else can have the same.
 */
static int check_namespace(const struct peer *peer)
{
	_cleanup_free_ char *own = NULL, *other = NULL;
	int r;

	r = file_read_all("/proc/self/uid_map", PROC_MAX, &own, NULL);
	/* A kernel without user namespaces has no such file. */
	if (r == -ENOENT)
		return 0;
	if (r < 0)
		return r;
	r = peer_read(peer, "uid_map", &other);
	if (r < 0)
		return r;
	if (strcmp(own, other) != 0)
		return -EXDEV;
	/* The file was that of this process. */
	return peer_check_alive(peer);
}

int peer_open(int socket, struct peer *ret)
{
	struct ucred credentials;
	socklen_t size = sizeof(credentials);
	struct peer peer = { .pidfd = -EBADF };
	int r;

	if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &credentials, &size) < 0)
		return -errno;
	if (size != sizeof(credentials) || credentials.pid <= 0)
		return -ENODATA;
	peer.pid = credentials.pid;
	peer.uid = credentials.uid;
	r = open_pidfd(socket, &peer);
	if (r == 0)
		r = check_namespace(&peer);
	if (r < 0) {
		peer_close(&peer);
		return r;
	}
	*ret = peer;
	return 0;
}

void peer_close(struct peer *peer)
{
	if (peer->pidfd >= 0)
		close(peer->pidfd);
	peer->pidfd = -EBADF;
}
