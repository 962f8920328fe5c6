// SPDX-License-Identifier: GPL-2.0-or-later
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/machine/cpumask.h"
#include "base/machine/isolation.h"
#include "base/macro.h"
#include "base/parse.h"
#include "base/say.h"
#include "base/text.h"
#include "base/wait.h"
#include "quiet/irq-steer/irqbalance.h"

enum {
	ANSWER_MAX = 64 * 1024,
	/* Long, because irqbalance does not answer during a pass. Closing the connection early
	 * would kill it: it does not ignore SIGPIPE, which it gets for its answer
	 * (irqbalance 1.9.5). */
	ANSWER_SECONDS = 60,
	POLL_NS = 200 * 1000 * 1000,
	INTERVAL_DEFAULT = 10,
	INTERVAL_MAX = 600,
	INTERVAL_SLACK = 5,
};

#define SOCKET_DIRECTORY "/run/irqbalance"

/* Returns a connected descriptor; -ENOENT when nobody, or another user than root, listens. */
static int connect_to(const char *name)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	struct timeval timeout = { .tv_sec = ANSWER_SECONDS };
	struct ucred peer;
	socklen_t length = sizeof(peer);
	_cleanup_close_ int fd = -EBADF;
	int n;

	n = snprintf(address.sun_path, sizeof(address.sun_path), SOCKET_DIRECTORY "/%s", name);
	if (n < 0 || (size_t)n >= sizeof(address.sun_path))
		return -ENOENT;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	if (setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout)) < 0 ||
		setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof(timeout)) < 0)
		return -errno;
	if (connect(fd, (const struct sockaddr *)&address, sizeof(address)) < 0)
		return errno == ECONNREFUSED ? -ENOENT : -errno;
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &length) < 0)
		return -errno;
	return peer.uid == 0 ? TAKE_FD(fd) : -ENOENT;
}

/* Tries all sockets: their names contain the PID of the daemon, and sockets of daemons that were
 * killed are still there. */
static int connect_any(void)
{
	_cleanup_closedir_ DIR *directory = opendir(SOCKET_DIRECTORY);
	struct dirent *entry;

	if (!directory)
		return -errno;
	while (errno = 0, (entry = readdir(directory))) {
		const char *name = entry->d_name;
		size_t n = strlen(name);
		int fd;

		if (!text_starts_with(name, "irqbalance") || n < 5 ||
			strcmp(name + n - 5, ".sock") != 0)
			continue;
		fd = connect_to(name);
		if (fd != -ENOENT)
			return fd;
	}
	return errno > 0 ? -errno : -ENOENT;
}

/* irqbalance answers only a message that carries credentials. */
static int send_command(int fd, const char *command)
{
	union {
		struct cmsghdr header;
		char space[CMSG_SPACE(sizeof(struct ucred))];
	} control = { 0 };
	struct ucred self = { .pid = getpid(), .uid = geteuid(), .gid = getegid() };
	struct iovec text = { .iov_base = (void *)command, .iov_len = strlen(command) };
	struct msghdr message = {
		.msg_iov = &text,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control),
	};
	struct cmsghdr *header = CMSG_FIRSTHDR(&message);
	ssize_t n;

	header->cmsg_level = SOL_SOCKET;
	header->cmsg_type = SCM_CREDENTIALS;
	header->cmsg_len = CMSG_LEN(sizeof(self));
	memcpy(CMSG_DATA(header), &self, sizeof(self));
	n = sendmsg(fd, &message, MSG_NOSIGNAL);
	if (n < 0)
		return -errno;
	return (size_t)n == text.iov_len ? 0 : -EIO;
}

/* Each command needs a connection of its own. The answer is malloc'd; "" if irqbalance gives none.
 */
static int ask(const char *command, char **ret)
{
	_cleanup_close_ int fd = connect_any();
	_cleanup_text_ struct text answer = { 0 };
	char buf[4096], *text;
	ssize_t n;
	int r;

	if (fd < 0)
		return fd;
	r = send_command(fd, command);
	if (r < 0)
		return r;
	while ((n = recv(fd, buf, sizeof(buf), 0)) > 0 && answer.length < ANSWER_MAX)
		text_append_n(&answer, buf, (size_t)n);
	if (n < 0)
		return errno == EAGAIN ? -ETIMEDOUT : -errno;
	text = text_steal(&answer);
	if (!text)
		return -ENOMEM;
	*ret = text;
	return 0;
}

/* "SLEEP 10 [IRQ ...] BANNED 00000000,0000000c" */
static int read_setup(char **ret_mask, unsigned *ret_interval)
{
	_cleanup_free_ char *answer = NULL;
	const char *banned, *cursor;
	uint64_t interval;
	char *mask;
	int r;

	r = ask("setup", &answer);
	if (r < 0)
		return r;
	banned = strstr(answer, "BANNED ");
	if (!banned)
		return -EBADMSG;
	banned += strlen("BANNED ");
	mask = strndup(banned, strcspn(banned, " \n"));
	if (!mask)
		return -ENOMEM;
	cursor = strstr(answer, "SLEEP ");
	if (cursor)
		cursor += strlen("SLEEP ");
	if (!cursor || parse_next_u64(&cursor, &interval) < 0 || interval > INTERVAL_MAX)
		interval = INTERVAL_DEFAULT;
	*ret_mask = mask;
	*ret_interval = (unsigned)interval;
	return 0;
}

int irqbalance_read(const char *name _unused_, char **ret)
{
	unsigned interval;

	return read_setup(ret, &interval);
}

/* Whether these are the CPUs that irqbalance bans by default. */
static int is_default_ban(const struct cpumask *mask, bool *ret)
{
	_cleanup_(isolation) struct isolation *isolation = NULL;
	_cleanup_(cpumask) struct cpumask *banned = NULL;
	int r;

	r = isolation_read(&isolation);
	if (r < 0)
		return r;
	r = cpumask_copy(isolation->boot, &banned);
	if (r < 0)
		return r;
	cpumask_or(banned, banned, isolation->nohz_full);
	*ret = cpumask_equal(banned, mask);
	return 0;
}

/* The next pass of irqbalance begins within an interval. In it, irqbalance applies the ban, reads
 * the interrupts and sleeps for an interval, and does not answer meanwhile (irqbalance.c: scan()).
 */
static int wait_until_banned(const struct cpumask *wanted)
{
	_cleanup_(cpumask) struct cpumask *banned = NULL;
	unsigned interval = INTERVAL_DEFAULT;
	struct wait wait;
	bool waiting = false;
	int r;

	if (cpumask_new(&banned) < 0)
		return -ENOMEM;
	do {
		_cleanup_free_ char *text = NULL;
		unsigned seconds;

		r = read_setup(&text, &interval);
		if (r < 0)
			return r;
		if (cpumask_parse_hex(text, banned) == 0 && cpumask_equal(banned, wanted))
			return 0;
		if (waiting)
			continue;
		seconds = 2 * interval + INTERVAL_SLACK;
		say("waiting until irqbalance has applied the banned CPUs, %u s at most", seconds);
		wait = wait_until(
			clock_now_ns(CLOCK_MONOTONIC) + seconds * NSEC_PER_SEC, POLL_NS, POLL_NS);
		waiting = true;
	} while (wait_step(&wait));
	return -ETIMEDOUT;
}

int irqbalance_write(const char *name _unused_, const char *mask)
{
	_cleanup_(cpumask) struct cpumask *wanted = NULL;
	_cleanup_free_ char *list = NULL, *command = NULL, *answer = NULL;
	bool is_default;
	int r;

	if (cpumask_new(&wanted) < 0)
		return -ENOMEM;
	r = cpumask_parse_hex(mask, wanted);
	if (r < 0)
		return r;
	r = is_default_ban(wanted, &is_default);
	if (r < 0)
		return r;
	list = cpumask_format_list(wanted);
	if (!list)
		return -ENOMEM;
	/* irqbalance takes the word NULL for its default. An empty list would crash it. */
	if (text_format(&command, "settings cpus %s", is_default || !*list ? "NULL" : list) < 0)
		return -ENOMEM;
	r = ask(command, &answer);
	return r < 0 ? r : wait_until_banned(wanted);
}

bool irqbalance_is_ours(const char *name)
{
	return strcmp(name, "banned") == 0;
}
