// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include "base/macro.h"
#include "base/stop.h"

/* The signals, without those that are ignored: the kernel keeps a blocked signal, ignored or not,
 * until it is read (sig_ignored() in kernel/signal.c). */
static void choose_signals(sigset_t *ret)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP };

	sigemptyset(ret);
	for (size_t i = 0; i < ARRAY_SIZE(signals); i++) {
		struct sigaction action;

		if (sigaction(signals[i], NULL, &action) == 0 && action.sa_handler != SIG_IGN)
			sigaddset(ret, signals[i]);
	}
}

int stop_open(struct stop *ret)
{
	struct stop stop = { 0 };
	sigset_t set;

	choose_signals(&set);
	if (sigprocmask(SIG_BLOCK, &set, &stop.caller) < 0)
		return -errno;
	stop.fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (stop.fd < 0) {
		int r = -errno;

		sigprocmask(SIG_SETMASK, &stop.caller, NULL);
		return r;
	}
	*ret = stop;
	return 0;
}

void stop_close(struct stop *stop)
{
	if (stop->fd < 0)
		return;
	close(stop->fd);
	stop->fd = -EBADF;
	sigprocmask(SIG_SETMASK, &stop->caller, NULL);
}

int stop_check(struct stop *stop)
{
	struct signalfd_siginfo info;

	while (read(stop->fd, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
		if (stop->count++ == 0)
			stop->signal = (int)info.ssi_signo;
	}
	return stop->signal;
}

int stop_sleep(struct stop *stop, int64_t ns)
{
	struct pollfd fd = { .fd = stop->fd, .events = POLLIN };
	struct timespec ts = { .tv_sec = ns / NSEC_PER_SEC, .tv_nsec = ns % NSEC_PER_SEC };

	if (stop_check(stop) == 0)
		(void)ppoll(&fd, 1, &ts, NULL);
	return stop_check(stop);
}
