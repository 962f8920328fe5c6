// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/macro.h"
#include "base/paths.h"
#include "measure/keeper.h"
#include "measure/launch.h"
#include "measure/orphans.h"
#include "measure/vary.h"

int keeper_prepare(pid_t runpinned, struct keeper *ret)
{
	struct keeper keeper = { .runpinned = runpinned, .output = -EBADF };
	int sockets[2];
	sigset_t set;

	if (prctl(PR_SET_CHILD_SUBREAPER, 1) < 0 || prctl(PR_SET_PDEATHSIG, LAUNCH_STOP) < 0)
		return -errno;
	if (getppid() != runpinned)
		return -ESRCH;
	/* While SIGCHLD is ignored, the kernel does not report that a child has ended (wait(2)). */
	keeper.caller_chld = signal(SIGCHLD, SIG_DFL);
	if (keeper.caller_chld == SIG_ERR)
		return -errno;
	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigaddset(&set, LAUNCH_STOP);
	sigaddset(&set, SIGUSR1);
	sigaddset(&set, SIGUSR2);
	keeper.signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (keeper.signals < 0)
		return -errno;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) < 0)
		return -errno;
	keeper.socket = sockets[0];
	keeper.launcher = sockets[1];
	*ret = keeper;
	return 0;
}

/* Descriptors that runpinned has open must not stay open in the keeper: as long as the keeper holds
 * the end of a socket, the process at the other end does not see that it is closed. */
static int close_others(struct keeper *k)
{
	enum {
		SOCKET = STDERR_FILENO + 1,
		SIGNALS,
		OUTPUT,
		FIRST_OTHER,
	};
	int socket = fcntl(k->socket, F_DUPFD_CLOEXEC, FIRST_OTHER);
	int signals = fcntl(k->signals, F_DUPFD_CLOEXEC, FIRST_OTHER);
	int output = k->output < 0 ? k->output : fcntl(k->output, F_DUPFD_CLOEXEC, FIRST_OTHER);
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (socket < 0 || signals < 0 || null < 0 || (k->output >= 0 && output < 0))
		return -errno;
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
		if (dup2(null, fd) < 0)
			return -errno;
	}
	if (dup2(socket, SOCKET) < 0 || dup2(signals, SIGNALS) < 0)
		return -errno;
	if (output >= 0 && dup2(output, OUTPUT) < 0)
		return -errno;
	file_close_from(output >= 0 ? FIRST_OTHER : OUTPUT);
	k->socket = SOCKET;
	k->signals = SIGNALS;
	k->output = output >= 0 ? OUTPUT : -EBADF;
	return 0;
}

/* Answers one question of the launcher. Returns false when the launcher asks no more. */
static bool answer(const struct keeper *k, pid_t launcher)
{
	struct keeper_answer answer = { 0 };
	char byte;
	int r;

	if (RETRY_INTERRUPTED(recv(k->socket, &byte, 1, 0)) != 1)
		return false;
	r = orphans_end(launcher);
	if (r < 0)
		answer.error = -r;
	else
		answer.leftover = (uint32_t)r;
	return send(k->socket, &answer, sizeof(answer), MSG_NOSIGNAL) == (ssize_t)sizeof(answer);
}

/* `launcher` is 0 when it has ended. *kill_at_ns is the time at which the launcher is to be killed;
 * INT64_MAX: never. */
static void take_signals(struct keeper *k, pid_t launcher, int64_t *kill_at_ns)
{
	struct signalfd_siginfo info;

	while (read(k->signals, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
		if (info.ssi_signo == SIGUSR1)
			*kill_at_ns = 0;
		if (info.ssi_signo == SIGUSR2)
			k->dismissed = true;
		if (info.ssi_signo != (uint32_t)LAUNCH_STOP)
			continue;
		if (launcher > 0)
			kill(launcher, LAUNCH_STOP);
		if (getppid() != k->runpinned)
			*kill_at_ns = MIN(*kill_at_ns,
				clock_now_ns(CLOCK_MONOTONIC) +
					LAUNCH_KILL_AFTER_SECONDS * NSEC_PER_SEC);
	}
}

/* Reads what has arrived in the pipe. Returns false when nothing more can arrive. */
static bool drain(int pipe)
{
	char buf[64 * 1024];

	return RETRY_INTERRUPTED(read(pipe, buf, sizeof(buf))) > 0;
}

/* Answers questions until the launcher has ended, or until waiting for it fails. */
static void serve(struct keeper *k, pid_t launcher)
{
	struct pollfd fds[] = {
		{ .fd = k->signals, .events = POLLIN },
		{ .fd = k->socket, .events = POLLIN },
		{ .fd = k->output, .events = POLLIN },
	};
	int64_t kill_at_ns = INT64_MAX;

	while (!orphans_reap(launcher, k->status)) {
		int timeout = kill_at_ns == INT64_MAX ? -1 : 100;

		if (clock_now_ns(CLOCK_MONOTONIC) >= kill_at_ns)
			kill(launcher, SIGKILL);
		if (poll(fds, ARRAY_SIZE(fds), timeout) < 0) {
			if (errno != EINTR)
				return;
			fds[1].revents = fds[2].revents = 0;
		}
		take_signals(k, launcher, &kill_at_ns);
		if (fds[1].revents && !answer(k, launcher))
			fds[1].fd = -1;
		if (fds[2].revents && !drain(k->output))
			fds[2].fd = -1;
	}
}

/* Whether runpinned was killed, once the launcher has ended. The kernel closes the files of a
 * process before it gives another parent to its children, and the launcher ends for that: getppid()
 * may not tell yet, until one of the signals has come that tell which it is. Meanwhile runpinned
 * may wait for the launcher's end of a socket to be closed, which is open here as well where
 * close_others() has failed. */
static bool has_been_killed(struct keeper *k)
{
	struct pollfd signals = { .fd = STDIN_FILENO, .events = POLLIN };
	int64_t never = INT64_MAX;

	if (dup2(k->signals, STDIN_FILENO) < 0)
		return getppid() != k->runpinned;
	file_close_from(STDIN_FILENO + 1);
	k->signals = STDIN_FILENO;
	/* The signal may have been lost: then runpinned, which lives, removes it. */
	for (int tries = 0; tries < 50; tries++) {
		bool orphaned;

		take_signals(k, 0, &never);
		orphaned = getppid() != k->runpinned;
		if (orphaned || k->dismissed)
			return orphaned;
		(void)poll(&signals, 1, 100);
	}
	return false;
}

void keeper_run(const struct keeper *keeper, pid_t launcher, const struct cpumask *housekeeping)
{
	struct keeper k = *keeper;
	sigset_t all;
	int r;

	/* Signals from the terminal are for runpinned. */
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	/* Another name, so that `pkill runpinned` does not kill the process that cleans up. */
	(void)prctl(PR_SET_NAME, "quiesce-keeper");
	if (!cpumask_is_empty(housekeeping))
		(void)cpumask_bind_self(housekeeping);
	if (close_others(&k) < 0)
		kill(launcher, SIGKILL);
	serve(&k, launcher);
	/* This ends the launcher, too, if it is still alive. */
	r = orphans_end(0);
	if ((k.figurepad || k.vary) && has_been_killed(&k)) {
		figurepad_remove(k.figurepad);
		vary_remove(k.vary);
	}
	for (size_t i = 0; i < ARRAY_SIZE(k.folders); i++)
		if (k.folders[i])
			paths_remove(k.folders[i]);
	_exit(r < 0 ? 127 : 0);
}
