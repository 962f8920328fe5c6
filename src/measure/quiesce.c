// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/install.h"
#include "base/macro.h"
#include "base/say.h"
#include "base/systemd/systemd.h"
#include "base/text.h"
#include "base/where/running.h"
#include "measure/quiesce.h"

enum {
	TOLD_MAX = 64 * 1024,
};

struct quiesce {
	char *list;	 /* the CPUs, as given with -c; NULL for those of the configuration */
	sigset_t caller; /* the signal mask that a guardian starts with */
	pid_t pid;	 /* -1: no guardian runs, and nothing has been changed */
	int socket;
	struct text told; /* what has been done, as the guardian says it: "NAME: DONE\n"... */
	struct quiesce_part *parts; /* the same, in pieces of `told` */
	size_t n_parts;
	bool complete;
};

/* Starts `benchmark-target VERB` with the socket as its standard input and output. */
static int spawn_guardian(const struct quiesce *quiesce, const char *verb, int socket, pid_t *ret)
{
	_cleanup_free_ char *path = NULL;
	char name[] = "benchmark-target", option[] = "-c";
	char *const argv[] = { name, (char *)verb, quiesce->list ? option : NULL, quiesce->list,
		NULL };
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	int r;

	r = install_find(name, &path);
	if (r < 0)
		return r;
	r = posix_spawn_file_actions_init(&actions);
	if (r != 0)
		return -r;
	r = posix_spawnattr_init(&attributes);
	if (r != 0) {
		posix_spawn_file_actions_destroy(&actions);
		return -r;
	}
	r = posix_spawn_file_actions_adddup2(&actions, socket, STDIN_FILENO);
	if (r == 0)
		r = posix_spawn_file_actions_adddup2(&actions, socket, STDOUT_FILENO);
	if (r == 0)
		r = posix_spawnattr_setsigmask(&attributes, &quiesce->caller);
	if (r == 0)
		r = posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
	if (r == 0)
		r = posix_spawn(ret, path, &actions, &attributes, argv, environ);
	posix_spawnattr_destroy(&attributes);
	posix_spawn_file_actions_destroy(&actions);
	return -r;
}

/* Takes what the guardian sends: 1 when that was the last of it, 0 for more to come. */
static int take_bytes(struct quiesce *quiesce, const char *bytes, size_t n)
{
	bool last = bytes[n - 1] == *HOLD_COMPLETE || bytes[n - 1] == *HOLD_IN_PART;

	quiesce->complete = bytes[n - 1] == *HOLD_COMPLETE;
	text_append_n(&quiesce->told, bytes, n - last);
	if (quiesce->told.failed)
		return -ENOMEM;
	return quiesce->told.length > TOLD_MAX ? -EMSGSIZE : last;
}

/* Reads what the guardian says when the machine is quiet. It closes the socket when that fails. */
static int wait_until_quiet(struct quiesce *quiesce, struct stop *stop)
{
	struct pollfd fds[] = {
		{ .fd = quiesce->socket, .events = POLLIN },
		{ .fd = stop->fd, .events = POLLIN },
	};
	char bytes[1024];

	for (;;) {
		if (poll(fds, ARRAY_SIZE(fds), -1) < 0) {
			if (errno == EINTR)
				continue;
			return -errno;
		}
		if (stop_check(stop) != 0)
			return -ECANCELED;
		if (fds[0].revents) {
			ssize_t n = recv(quiesce->socket, bytes, sizeof(bytes), 0);
			int r = n > 0 ? take_bytes(quiesce, bytes, (size_t)n) : -EIO;

			if (r != 0)
				return r < 0 ? r : 0;
		}
	}
}

static int start_guardian(struct quiesce *quiesce, const char *verb)
{
	int sockets[2], r;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) < 0) {
		r = -errno;
	} else {
		quiesce->socket = sockets[0];
		r = spawn_guardian(quiesce, verb, sockets[1], &quiesce->pid);
		close(sockets[1]);
	}
	if (r < 0) {
		say_errno(r, "cannot start the guardian (benchmark-target) that --quiesce needs");
		quiesce->pid = -1;
	}
	return r;
}

/* Waits until the guardian has ended, which it does when the socket is closed. The guardian itself
 * says what went wrong, unless it was killed: then this returns -EOWNERDEAD. */
static int end_guardian(struct quiesce *quiesce)
{
	int status = 0;

	if (quiesce->socket >= 0)
		close(TAKE_FD(quiesce->socket));
	if (quiesce->pid <= 0)
		return 0;
	if (RETRY_INTERRUPTED(waitpid(quiesce->pid, &status, 0)) < 0) {
		int r = -errno;

		say_errno(r, "cannot wait for the guardian (benchmark-target)");
		return r;
	}
	quiesce->pid = -1;
	if (WIFSIGNALED(status)) {
		say("the guardian (benchmark-target) was killed by signal %d (%s)",
			WTERMSIG(status), strsignal(WTERMSIG(status)));
		return -EOWNERDEAD;
	}
	return status == 0 ? 0 : -EIO;
}

int quiesce_check_permission(void)
{
	_cleanup_(cpumask) struct cpumask *cpus = NULL;

	if (geteuid() == 0 || running_read_cpus(&cpus) >= 0)
		return 0;
	say("--quiesce needs root%s",
		systemd_is_booted()
			? ", unless benchmark.target is up: `sudo systemctl start benchmark.target`"
			: "");
	return -EPERM;
}

/* Asks which parts are done now. */
static int ask_parts(struct quiesce *quiesce)
{
	char bytes[1024];
	int r, status = 0;
	ssize_t n;

	r = start_guardian(quiesce, "parts");
	while (r == 0 &&
		(n = RETRY_INTERRUPTED(recv(quiesce->socket, bytes, sizeof(bytes), 0))) > 0)
		r = take_bytes(quiesce, bytes, (size_t)n);
	if (r < 0)
		return r;
	if (RETRY_INTERRUPTED(waitpid(quiesce->pid, &status, 0)) < 0)
		return -errno;
	quiesce->pid = -1;
	quiesce->complete = WIFEXITED(status) && WEXITSTATUS(status) == EXIT_DONE;
	return WIFEXITED(status) && WEXITSTATUS(status) != EXIT_FAILED ? 0 : -EIO;
}

static int split_parts(struct quiesce *quiesce)
{
	char *rest = quiesce->told.data, *name;

	while ((name = strsep(&rest, "\n"))) {
		char *colon = strstr(name, ": ");
		struct quiesce_part *parts;

		if (!colon)
			continue;
		parts = reallocarray(quiesce->parts, quiesce->n_parts + 1, sizeof(*parts));
		if (!parts)
			return -ENOMEM;
		*colon = '\0';
		parts[quiesce->n_parts++] = (struct quiesce_part){ name, colon + strlen(": ") };
		quiesce->parts = parts;
	}
	return 0;
}

static struct quiesce *quiesce_new(const struct stop *stop)
{
	struct quiesce *quiesce = malloc(sizeof(*quiesce));

	if (quiesce)
		*quiesce = (struct quiesce){
			.caller = stop->caller,
			.pid = -1,
			.socket = -EBADF,
		};
	return quiesce;
}

int quiesce_begin(const char *list, struct stop *stop, struct quiesce **ret)
{
	struct quiesce *quiesce = quiesce_new(stop);
	int r;

	if (!quiesce)
		return -ENOMEM;
	/* A running target is asked what it has done for all its CPUs. */
	if (list && geteuid() == 0) {
		quiesce->list = strdup(list);
		if (!quiesce->list) {
			free(quiesce);
			return -ENOMEM;
		}
	}
	if (geteuid() != 0) {
		/* Who may not change anything takes what the running target has done. */
		r = quiesce_check_permission();
		if (r == 0)
			r = ask_parts(quiesce);
	} else {
		r = start_guardian(quiesce, "hold");
		if (r == 0)
			r = wait_until_quiet(quiesce, stop);
	}
	if (r == 0)
		r = split_parts(quiesce);
	if (r < 0) {
		(void)quiesce_end(quiesce);
		return r;
	}
	*ret = quiesce;
	return 0;
}

int quiesce_ask(const struct stop *stop, struct quiesce **ret)
{
	struct quiesce *quiesce = quiesce_new(stop);
	int r;

	if (!quiesce)
		return -ENOMEM;
	r = ask_parts(quiesce);
	if (r == 0)
		r = split_parts(quiesce);
	if (r < 0) {
		(void)quiesce_end(quiesce);
		return r;
	}
	*ret = quiesce;
	return 0;
}

size_t quiesce_get_parts(
	const struct quiesce *quiesce, const struct quiesce_part **ret, bool *ret_complete)
{
	*ret = quiesce->parts;
	*ret_complete = quiesce->complete;
	return quiesce->n_parts;
}

int quiesce_check(const struct cpumask *cpus)
{
	_cleanup_(cpumask) struct cpumask *quiet = NULL;
	_cleanup_free_ char *list = NULL;
	int r;

	r = running_read_cpus(&quiet);
	if (r < 0) {
		say_errno(r, "cannot read which CPUs are quiet (%s)", TARGET_FILE);
		return r;
	}
	if (cpumask_subset(cpus, quiet))
		return 0;
	list = cpumask_format_list(quiet);
	say("benchmark.target is up for CPU %s, and not for those of -c", list ? list : "?");
	return -EINVAL;
}

/* The guardian was killed, and the machine must not stay changed. A new guardian finds what the
 * first one changed, like one of several holders of the target, and restores everything as the last
 * holder does. */
static int put_back(struct quiesce *quiesce)
{
	int r;

	say("another guardian puts the machine back");
	r = start_guardian(quiesce, "hold");
	if (r == 0)
		r = end_guardian(quiesce);
	if (r < 0)
		say("the machine is not as it was before: `systemctl stop benchmark.target`, or "
		    "without systemd another `runpinned --quiesce`, puts it back");
	return r;
}

int quiesce_end(struct quiesce *quiesce)
{
	int r;

	if (!quiesce)
		return 0;
	r = end_guardian(quiesce);
	if (r == -EOWNERDEAD)
		r = put_back(quiesce);
	if (quiesce->socket >= 0)
		close(quiesce->socket);
	text_clear(&quiesce->told);
	free(quiesce->parts);
	free(quiesce->list);
	free(quiesce);
	return r;
}
