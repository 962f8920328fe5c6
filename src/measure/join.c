// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <pwd.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/macro.h"
#include "base/say.h"
#include "base/systemd/booted.h"
#include "base/wait.h"
#include "base/where/reserved.h"
#include "base/where/running.h"
#include "measure/join.h"

enum {
	/* The server may have to be started first, and other processes of the same user may be
	 * served before this one. A busy or emulated machine takes that long. */
	ANSWER_SECONDS = 70,
	/* How long to retry when the user already has as many waiting processes as are allowed. */
	TURN_SECONDS = 30,
	FIRST_PAUSE_MS = 100,
	LONGEST_PAUSE_MS = 2000,
};

static void say_not_connected(int error)
{
	const struct passwd *user = getpwuid(getuid());

	if (error == -EACCES)
		say("only members of the group benchmark may use the CPUs of benchmark.target: "
		    "`sudo usermod -aG benchmark %s`, and log in again",
			user ? user->pw_name : "USER");
	else if (error == -ENOENT || error == -ECONNREFUSED)
		say("these CPUs belong to benchmark.target, and benchmark-join.socket, which lets "
		    "programs use them, is not up");
	else
		say_errno(error, "cannot ask to be let onto the CPUs of benchmark.target (%s)",
			TARGET_JOIN_SOCKET);
}

static int connect_to_server(void)
{
	const struct timeval timeout = { .tv_sec = ANSWER_SECONDS };
	struct sockaddr_un address = { .sun_family = AF_UNIX, .sun_path = TARGET_JOIN_SOCKET };
	_cleanup_close_ int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout)) < 0 ||
		setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof(timeout)) < 0 ||
		connect(fd, (const struct sockaddr *)&address, sizeof(address)) < 0)
		return -errno;
	return TAKE_FD(fd);
}

/* Reads the first line that arrives, without its newline, or whatever has arrived when the
 * connection is closed. */
static int read_answer(int fd, char *buf, size_t size)
{
	size_t length = 0;
	char *end;

	do {
		ssize_t n = RETRY_INTERRUPTED(read(fd, buf + length, size - 1 - length));

		/* The server has closed the connection without an answer. */
		if (n < 0 && errno == ECONNRESET)
			n = 0;
		if (n < 0)
			return -errno;
		if (n == 0)
			break;
		length += (size_t)n;
		buf[length] = '\0';
	} while (!strchr(buf, '\n') && length < size - 1);
	buf[length] = '\0';
	end = strchr(buf, '\n');
	if (end)
		*end = '\0';
	return 0;
}

/* The cgroup of the CPUs, if no server is responsible for it because cpu-shield(8) alone has made
 * it: of cgroup v1, or without systemd. *ret is NULL when systemd manages it. */
static int find_cgroup(const char **ret)
{
	_cleanup_(cpumask) struct cpumask *reserved = NULL;
	int r = reserved_read_cpus(&reserved);

	if (r < 0 && r != -ENOENT) {
		say_errno(r, "cannot read which CPUs are shielded");
		return r;
	}
	*ret = r == 0 ? RESERVED_DOOR : systemd_is_booted() ? NULL : TARGET_CGROUP "/cgroup.procs";
	return 0;
}

static int enter_cgroup(const char *path)
{
	int r;

	/* 0 stands for the process that writes it (kernel/cgroup/cgroup.c,
	 * cgroup_procs_write_start()). */
	r = file_write_attr(path, "0");
	if (r == -EACCES)
		say("only root may use the CPUs of benchmark.target on this machine (%s)", path);
	else if (r < 0)
		say_errno(r, "cannot go onto the CPUs of benchmark.target (%s)", path);
	return r;
}

/* Reads the server's answer. It is empty when the server closed the connection without one: when
 * the user has as many waiting processes as are allowed (benchmark-join(8)), or when the server was
 * killed. */
static int ask(char *line, size_t size)
{
	_cleanup_close_ int fd = connect_to_server();
	int r;

	if (fd < 0) {
		say_not_connected(fd);
		return fd;
	}
	r = read_answer(fd, line, size);
	if (r < 0)
		say_errno(r, "no answer from %s", TARGET_JOIN_SOCKET);
	return r;
}

int join_target(void)
{
	struct wait wait = wait_until(clock_now_ns(CLOCK_MONOTONIC) + TURN_SECONDS * NSEC_PER_SEC,
		FIRST_PAUSE_MS * NSEC_PER_MSEC, LONGEST_PAUSE_MS * NSEC_PER_MSEC);
	const char *cgroup;
	char line[256];
	int r = find_cgroup(&cgroup);

	if (r < 0)
		return r;
	if (cgroup)
		return enter_cgroup(cgroup);
	do {
		r = ask(line, sizeof(line));
		if (r < 0)
			return r;
	} while (!*line && wait_step(&wait));
	if (strcmp(line, "ok") == 0)
		return 0;
	if (*line)
		say("not let onto the CPUs of benchmark.target: %s", line);
	else
		say("not let onto the CPUs of benchmark.target: too many ask at once, or "
		    "`journalctl -u benchmark-join` says more");
	return -EPERM;
}
