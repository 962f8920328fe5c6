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
#include "base/systemd/booted.h"
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

/* Reads what the guardian says: 1 when that was the last of it, 0 where it closes the socket
 * before. -ECANCELED when a signal asks to stop meanwhile. */
static int hear(struct quiesce *quiesce, struct stop *stop)
{
	struct pollfd fds[] = {
		{ .fd = quiesce->socket, .events = POLLIN },
		{ .fd = stop->fd, .events = POLLIN },
	};
	unsigned seen = stop->count;
	char bytes[1024];

	for (;;) {
		if (poll(fds, ARRAY_SIZE(fds), -1) < 0) {
			if (errno == EINTR)
				continue;
			return -errno;
		}
		stop_check(stop);
		if (stop->count > seen)
			return -ECANCELED;
		if (fds[0].revents) {
			ssize_t n = recv(quiesce->socket, bytes, sizeof(bytes), 0);
			int r = n > 0 ? take_bytes(quiesce, bytes, (size_t)n) : 0;

			if (r != 0 || n <= 0)
				return r;
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
static int ask_parts(struct quiesce *quiesce, struct stop *stop)
{
	int r, status = 0;

	r = start_guardian(quiesce, "parts");
	if (r < 0)
		return r;
	r = hear(quiesce, stop);
	/* It may never answer, and has changed nothing. */
	if (r < 0)
		kill(quiesce->pid, SIGKILL);
	if (RETRY_INTERRUPTED(waitpid(quiesce->pid, &status, 0)) < 0)
		return -errno;
	quiesce->pid = -1;
	if (r < 0)
		return r;
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

int quiesce_ask(struct stop *stop, struct quiesce **ret)
{
	_cleanup_(quiesce) struct quiesce *quiesce = quiesce_new(stop);
	int r;

	if (!quiesce)
		return -ENOMEM;
	r = ask_parts(quiesce, stop);
	if (r == 0)
		r = split_parts(quiesce);
	if (r == 0)
		*ret = TAKE_PTR(quiesce);
	return r;
}

static int hold(const char *list, struct stop *stop, struct quiesce **ret)
{
	_cleanup_(quiesce) struct quiesce *quiesce = quiesce_new(stop);
	int r;

	if (!quiesce)
		return -ENOMEM;
	if (list) {
		quiesce->list = strdup(list);
		if (!quiesce->list)
			return -ENOMEM;
	}
	r = start_guardian(quiesce, "hold");
	if (r < 0)
		return r;
	r = hear(quiesce, stop);
	/* It closes the socket where the machine does not become quiet. */
	if (r <= 0)
		return r < 0 ? r : -EIO;
	r = split_parts(quiesce);
	if (r == 0)
		*ret = TAKE_PTR(quiesce);
	return r;
}

int quiesce_begin(const char *list, struct stop *stop, struct quiesce **ret)
{
	int r;

	if (geteuid() == 0)
		return hold(list, stop, ret);
	/* Who may not change anything takes what the running target has done, for all its CPUs. */
	r = quiesce_check_permission();
	return r < 0 ? r : quiesce_ask(stop, ret);
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
