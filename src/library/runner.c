// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "library/clock.h"
#include "library/runner.h"
#include "library/values.h"

/* The signals that end the measurement, without those that are ignored: the kernel keeps a blocked
 * signal, ignored or not, until it is taken (sig_ignored() in kernel/signal.c). */
static void add_ending_signals(sigset_t *set)
{
	static const int signals[] = { SIGHUP, SIGINT, SIGTERM };

	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
		struct sigaction action;

		if (sigaction(signals[i], NULL, &action) == 0 && action.sa_handler != SIG_IGN)
			sigaddset(set, signals[i]);
	}
}

static void do_nothing(int number)
{
	(void)number;
}

int runner_open(struct runner *ret)
{
	struct runner runner = { 0 };

	/* A file that would grow beyond RLIMIT_FSIZE (`ulimit -f`) is an error then (EFBIG), and
	 * not the end of this process. The processes that measure have the caller's setting,
	 * because execve(2) resets a signal that is caught. */
	if (signal(SIGXFSZ, do_nothing) == SIG_IGN)
		signal(SIGXFSZ, SIG_IGN);
	runner.fd = values_fd_create();
	if (runner.fd < 0)
		return runner.fd;
	sigemptyset(&runner.waited);
	sigaddset(&runner.waited, SIGCHLD);
	add_ending_signals(&runner.waited);
	/* If SIGCHLD were ignored, the kernel would reap the children and waitpid(2) would fail. */
	signal(SIGCHLD, SIG_DFL);
	sigprocmask(SIG_BLOCK, &runner.waited, &runner.before);
	*ret = runner;
	return 0;
}

void runner_close(struct runner *runner)
{
	sigprocmask(SIG_SETMASK, &runner->before, NULL);
	close(runner->fd);
}

/* In the child: executes this program again, with a newly randomized address space. */
_Noreturn static void exec_self(const struct runner *runner, char *argv[], pid_t parent)
{
	char number[16];

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(127);
	sigprocmask(SIG_SETMASK, &runner->before, NULL);
	snprintf(number, sizeof(number), "%d", runner->fd);
	if (fcntl(runner->fd, F_SETFD, 0) == 0 && setenv(VALUES_FD_VARIABLE, number, 1) == 0)
		execv("/proc/self/exe", argv);
	fprintf(stderr, "%s: cannot execute this program again: %s\n", argv[0], strerror(errno));
	_exit(127);
}

/* Waits until the process has ended; kills it on a signal that ends the measurement. */
static int wait_for(struct runner *runner, pid_t pid, int *ret_status)
{
	for (;;) {
		pid_t ended = waitpid(pid, ret_status, WNOHANG);
		int signal;

		if (ended == pid)
			return runner->signal ? -EINTR : 0;
		if (ended < 0 && errno == EINTR)
			continue;
		if (ended < 0)
			return -errno;
		signal = sigwaitinfo(&runner->waited, NULL);
		if (signal > 0 && signal != SIGCHLD) {
			runner->signal = signal;
			kill(pid, SIGKILL);
		}
	}
}

/* Parses the block of this name. There are other blocks when main() hands something over before it
 * calls qs_main(). */
static int take_values(const struct runner *runner, const char *name, struct qs_values **ret)
{
	struct qs_values *values;
	size_t size, offset = 0, line;
	char *text;
	int r;

	r = values_fd_read(runner->fd, &text, &size);
	if (r < 0)
		return r;
	while ((r = values_parse(text, size, &offset, &values, &line)) == 0) {
		if (strcmp(values->name, name) == 0) {
			*ret = values;
			break;
		}
		qs_values_free(values);
	}
	free(text);
	return r == 1 ? -EBADMSG : r;
}

int runner_run(struct runner *runner, const char *name, char *argv[], struct outcome_run *ret,
	int *ret_status)
{
	struct outcome_run run = { .began = time(NULL) };
	uint64_t began_ns = clock_read_ns(CLOCK_MONOTONIC);
	pid_t parent = getpid(), pid;
	int r;

	r = values_fd_clear(runner->fd);
	if (r < 0)
		return r;
	fflush(NULL);
	pid = fork();
	if (pid < 0)
		return -errno;
	if (pid == 0)
		exec_self(runner, argv, parent);
	r = wait_for(runner, pid, ret_status);
	if (r < 0)
		return r;
	if (*ret_status != 0)
		return -ECHILD;
	run.seconds = (double)(clock_read_ns(CLOCK_MONOTONIC) - began_ns) / 1e9;
	r = take_values(runner, name, &run.values);
	if (r < 0)
		return r;
	*ret = run;
	return 0;
}
