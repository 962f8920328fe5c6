// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/macro.h"
#include "base/say.h"
#include "base/text.h"
#include "library/values.h"
#include "measure/become.h"
#include "measure/hooks.h"
#include "measure/lastwords.h"
#include "measure/launchplan.h"
#include "measure/orphans.h"
#include "measure/session.h"

/* What the watcher sends when the hook has ended. */
struct outcome {
	int32_t error; /* positive errno: the shell could not be started */
	int32_t status;
	bool timed_out;
	bool survived; /* not all that the hook has started could be killed */
	bool interrupted;
};

/* What the watcher has to know. */
struct watch {
	const char *text;
	char *const *words;	      /* in place of the text, and then without a shell */
	const char *const *variables; /* "NAME=VALUE" for the words; NULL-terminated */
	const struct options *options;
	int output_fd;	 /* negative: nobody wants the output */
	uint32_t number; /* of the run */
	const struct cpumask *housekeeping;
	const struct stop *stop;
	const struct user *user;
	int64_t timeout_ns;
	int end_fd;    /* the hook is ended when this is readable; 0: none */
	int stderr_fd; /* negative: the output is shown */
	int socket;
	pid_t runpinned;
};

/* Returns only if that fails. */
static void execute_words(const struct watch *w)
{
	char **env = launchplan_make_environment(w->options, w->variables);

	if (!env)
		return;
	/* execvpe(3) would look for them in our own PATH, not in the one that they get. */
	environ = env;
	execvp(w->words[0], w->words);
}

/* Called in the forked child. */
__attribute__((noreturn)) static void become_shell(const struct watch *w)
{
	int null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	char number[16];
	int r;

	if (null_fd < 0 || dup2(null_fd, STDIN_FILENO) < 0)
		_exit(127);
	if (w->stderr_fd >= 0 &&
		(dup2(w->output_fd >= 0 ? w->output_fd : null_fd, STDOUT_FILENO) < 0 ||
			dup2(w->stderr_fd, STDERR_FILENO) < 0))
		_exit(127);
	/* If these variables are set, then by another runpinned, which runs this one. */
	unsetenv(VALUES_FD_VARIABLE);
	unsetenv(LAUNCH_FIGURES_VARIABLE);
	unsetenv(LAUNCH_RUN_FILL_VARIABLE);
	snprintf(number, sizeof(number), "%u", w->number);
	if (setenv(LAUNCH_RUN_VARIABLE, number, 1) < 0)
		_exit(127);
	/* Not at a terminal that is root's, for which somebody else could type (TIOCSTI). */
	if (w->user && !w->user->is_caller)
		(void)setsid();
	r = w->user ? become_user(w->user->uid, w->user->gid, w->user->groups, w->user->n_groups)
		    : 0;
	if (r < 0) {
		say_errno(r, "cannot become %s (--user)", w->user->name);
		_exit(127);
	}
	sigprocmask(SIG_SETMASK, &w->stop->caller, NULL);
	sessions_restore_limit();
	if (w->words)
		execute_words(w);
	else
		execl("/bin/sh", "sh", "-c", w->text, NULL);
	say_errno(errno, "cannot execute %s", w->words ? w->words[0] : "/bin/sh");
	_exit(127);
}

/* Ends the shell and all that it has started: when their parents end, they become children of this
 * process. Returns false when some of them may be left: those of other users. */
static bool end_all(void)
{
	(void)prctl(PR_SET_CHILD_SUBREAPER, 1);
	return orphans_end(0) >= 0 && orphans_reap(0, NULL);
}

/* Waits until the shell has ended, or until the time is over or SIGTERM says to end it. */
static void await_shell(
	const struct watch *w, pid_t shell, const sigset_t *set, struct outcome *ret)
{
	int64_t deadline = clock_now_ns(CLOCK_MONOTONIC) + w->timeout_ns;

	while (RETRY_INTERRUPTED(waitpid(shell, &ret->status, WNOHANG)) != shell) {
		int64_t left = MAX(deadline - clock_now_ns(CLOCK_MONOTONIC), 0);
		struct timespec ts = {
			.tv_sec = left / NSEC_PER_SEC,
			.tv_nsec = left % NSEC_PER_SEC,
		};
		int signal = sigtimedwait(set, NULL, &ts);

		ret->interrupted = signal == SIGTERM;
		ret->timed_out = signal < 0 && errno == EAGAIN;
		if (ret->interrupted || ret->timed_out) {
			ret->survived = !end_all();
			return;
		}
	}
}

/* Called in the forked child. It stays in our process group, so that a hook may ask for a password
 * at the terminal, and is stopped and continued with us. */
__attribute__((noreturn)) static void become_watcher(const struct watch *w)
{
	struct outcome outcome = { 0 };
	sigset_t set;
	pid_t shell;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signal(SIGCHLD, SIG_DFL);
	(void)prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != w->runpinned)
		_exit(127);
	if (w->housekeeping && !cpumask_is_empty(w->housekeeping))
		(void)cpumask_bind_self(w->housekeeping);
	shell = fork();
	if (shell == 0)
		become_shell(w);
	if (shell < 0)
		outcome.error = errno;
	else
		await_shell(w, shell, &set, &outcome);
	(void)send(w->socket, &outcome, sizeof(outcome), MSG_NOSIGNAL);
	_exit(0);
}

/* Waits for the watcher's message, and tells the watcher when a signal asks us to stop. */
static int await_outcome(const struct watch *watch, int socket, pid_t watcher, struct stop *stop,
	struct outcome *ret)
{
	struct pollfd fds[] = {
		{ .fd = socket, .events = POLLIN },
		{ .fd = stop->fd, .events = POLLIN },
		{ .fd = watch->end_fd > 0 ? watch->end_fd : -1, .events = POLLIN },
	};
	unsigned seen = stop->count;
	ssize_t n;

	while (!fds[0].revents) {
		if (poll(fds, ARRAY_SIZE(fds), LASTWORDS_TRIM_MS) < 0) {
			if (errno != EINTR)
				return -errno;
			fds[0].revents = fds[2].revents = 0;
		}
		stop_check(stop);
		if (stop->count > seen)
			kill(watcher, SIGTERM);
		seen = stop->count;
		if (fds[2].revents) {
			kill(watcher, SIGTERM);
			fds[2].fd = -1;
		}
		lastwords_trim(watch->stderr_fd);
	}
	n = RETRY_INTERRUPTED(recv(socket, ret, sizeof(*ret), 0));
	return n == (ssize_t)sizeof(*ret) ? 0 : -EPIPE;
}

/* Runs the shell and waits for its end. */
static int run_watched(struct watch *watch, struct stop *stop, struct outcome *ret)
{
	_cleanup_close_ int ours = -EBADF, theirs = -EBADF;
	int sockets[2], r;
	pid_t watcher;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) < 0)
		return -errno;
	ours = sockets[0];
	theirs = sockets[1];
	watch->socket = theirs;
	watch->stop = stop;
	watch->runpinned = getpid();
	watcher = fork();
	if (watcher < 0)
		return -errno;
	if (watcher == 0)
		become_watcher(watch);
	/* If this descriptor stayed open here, the death of the watcher would not be noticed. */
	close(TAKE_FD(theirs));
	r = await_outcome(watch, ours, watcher, stop, ret);
	(void)RETRY_INTERRUPTED(waitpid(watcher, NULL, 0));
	if (r == 0 && ret->error)
		r = -ret->error;
	return r;
}

/* "exit status 3"; NULL when the hook has succeeded. */
static const char *find_failure(
	const struct outcome *outcome, int64_t timeout_ns, char *buf, size_t size)
{
	if (outcome->timed_out)
		snprintf(buf, size, "killed after %g s (--hook-timeout)%s",
			(double)timeout_ns / 1e9,
			outcome->survived ? ", but not all that it has started" : "");
	else if (WIFSIGNALED(outcome->status))
		snprintf(buf, size, "signal %d (%s)", WTERMSIG(outcome->status),
			strsignal(WTERMSIG(outcome->status)));
	else if (WEXITSTATUS(outcome->status) != 0)
		snprintf(buf, size, "exit status %d", WEXITSTATUS(outcome->status));
	else
		return NULL;
	return buf;
}

int hook_run(const struct options *options, const struct place *place,
	const struct command *command, enum hook_kind kind, uint32_t number, struct stop *stop,
	char **ret_why)
{
	const char *option = options_hook_name(kind), *failure;
	_cleanup_close_ int stderr_fd = -EBADF;
	struct outcome outcome = { 0 };
	struct watch watch = {
		.text = command->hooks[kind],
		.output_fd = -EBADF,
		.number = number,
		.housekeeping = place->housekeeping,
		.user = options->user,
		.timeout_ns = options->hook_timeout_ns,
	};
	unsigned seen = stop->count;
	char buf[96];
	int r = 0;

	if (!watch.text)
		return 0;
	if (!options->show_output) {
		stderr_fd = lastwords_open("stderr");
		r = stderr_fd < 0 ? stderr_fd : 0;
	}
	watch.stderr_fd = stderr_fd;
	if (r == 0)
		r = run_watched(&watch, stop, &outcome);
	if (r < 0) {
		say_errno(r, "cannot run --%s '%s'", option, watch.text);
		return r;
	}
	/* A signal of the terminal has reached the hook as well. */
	stop_check(stop);
	if (outcome.interrupted || (outcome.status != 0 && stop->count > seen))
		return -ECANCELED;
	failure = find_failure(&outcome, watch.timeout_ns, buf, sizeof(buf));
	if (!failure)
		return 0;
	say("--%s '%s' failed: %s", option, watch.text, failure);
	lastwords_print(stderr_fd);
	if (ret_why)
		(void)text_format(ret_why, "--%s failed: %s", option, failure);
	return -ECHILD;
}

int hook_ask(const struct options *options, char *const words[], const char *const variables[],
	int output_fd, struct stop *stop)
{
	_cleanup_free_ char *quoted = NULL;
	_cleanup_close_ int stderr_fd = lastwords_open("stderr");
	struct outcome outcome = { 0 };
	struct watch watch = {
		.words = words,
		.variables = variables,
		.options = options,
		.output_fd = output_fd,
		.stderr_fd = stderr_fd,
		.user = options->user,
		.timeout_ns = options->hook_timeout_ns,
	};
	unsigned seen = stop->count;
	const char *failure;
	char buf[96];
	int r = stderr_fd < 0 ? stderr_fd : run_watched(&watch, stop, &outcome);

	if (r < 0) {
		say_errno(r, "cannot run %s", words[0]);
		return r;
	}
	stop_check(stop);
	if (outcome.interrupted || stop->count > seen)
		return -ECANCELED;
	failure = find_failure(&outcome, watch.timeout_ns, buf, sizeof(buf));
	if (!failure)
		return 0;
	quoted = text_quote_argv(words);
	say("%s failed, which was to list the benchmarks: %s", quoted ? quoted : words[0], failure);
	lastwords_print(stderr_fd);
	return -ECHILD;
}

int hook_try(const struct hook_trial *trial, struct stop *stop, char **ret_why)
{
	struct outcome outcome = { 0 };
	struct watch watch = {
		.words = trial->words,
		.variables = trial->variables,
		.options = trial->options,
		.output_fd = trial->stderr_fd,
		.stderr_fd = trial->stderr_fd,
		.housekeeping = trial->cpus,
		.user = trial->options->user,
		.timeout_ns = trial->timeout_ns,
		.end_fd = trial->end_fd,
	};
	unsigned seen = stop->count;
	const char *failure;
	char buf[96];
	int r = ftruncate(trial->stderr_fd, 0) < 0 ? -errno : run_watched(&watch, stop, &outcome);

	if (r < 0)
		return r;
	stop_check(stop);
	if (stop->count > seen)
		return -ECANCELED;
	failure = outcome.interrupted ? "it was ended"
		: outcome.timed_out   ? "it has not ended in time"
				      : find_failure(&outcome, watch.timeout_ns, buf, sizeof(buf));
	if (!failure)
		return 0;
	r = text_format(ret_why, "%s", failure);
	return r < 0 ? r : 1;
}

/* Whether an earlier command, of those that were set up, has the same hook. */
static bool is_done(const struct commands *commands, size_t index, enum hook_kind kind)
{
	const char *text = commands->items[index].hooks[kind];

	for (size_t i = 0; text && i < index; i++) {
		const struct command *other = &commands->items[i];

		if (other->set_up && other->hooks[kind] && strcmp(other->hooks[kind], text) == 0)
			return true;
	}
	return false;
}

int hooks_set_up(const struct options *options, const struct place *place,
	struct commands *commands, struct stop *stop)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < commands->n; i++) {
		struct command *command = &commands->items[i];

		command->set_up = true;
		if (!is_done(commands, i, HOOK_SETUP))
			r = hook_run(options, place, command, HOOK_SETUP, 0, stop, NULL);
	}
	return r;
}

void hooks_conclude(const struct options *options, const struct place *place,
	struct commands *commands, struct stop *stop)
{
	for (size_t i = 0; i < commands->n; i++) {
		struct command *command = &commands->items[i];

		if (command->prepared)
			(void)hook_run(options, place, command, HOOK_CONCLUDE, command->number,
				stop, NULL);
		command->prepared = false;
	}
}

int hooks_clean_up(const struct options *options, const struct place *place,
	struct commands *commands, struct stop *stop)
{
	int r = 0;

	for (size_t i = 0; i < commands->n; i++) {
		const struct command *command = &commands->items[i];
		int one;

		if (!command->set_up || is_done(commands, i, HOOK_CLEANUP))
			continue;
		one = hook_run(options, place, command, HOOK_CLEANUP, 0, stop, NULL);
		if (r == 0)
			r = one;
	}
	for (size_t i = 0; i < commands->n; i++)
		commands->items[i].set_up = false;
	return r;
}
