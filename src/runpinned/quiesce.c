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

#include "basic/install.h"
#include "basic/macro.h"
#include "basic/say.h"
#include "machine/target.h"
#include "runpinned/quiesce.h"

struct quiesce {
	pid_t pid; /* -1: nothing was changed on our behalf */
	int socket;
};

/* The socket is its standard input. */
static int spawn_guardian(const char *list, const sigset_t *mask, int socket, pid_t *ret)
{
	_cleanup_free_ char *path = NULL, *cpus = strdup(list ? list : "");
	char name[] = "benchmark-target", verb[] = "hold", option[] = "-c";
	char *const argv[] = { name, verb, list ? option : NULL, cpus, NULL };
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	int r;

	if (!cpus)
		return -ENOMEM;
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
		r = posix_spawnattr_setsigmask(&attributes, mask);
	if (r == 0)
		r = posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
	if (r == 0)
		r = posix_spawn(ret, path, &actions, &attributes, argv, environ);
	posix_spawnattr_destroy(&attributes);
	posix_spawn_file_actions_destroy(&actions);
	return -r;
}

/* One byte says that it is quiet; an end, that it cannot be. */
static int wait_until_quiet(const struct quiesce *quiesce, struct stop *stop)
{
	struct pollfd fds[] = {
		{ .fd = quiesce->socket, .events = POLLIN },
		{ .fd = stop->fd, .events = POLLIN },
	};
	char byte;

	for (;;) {
		if (poll(fds, ARRAY_SIZE(fds), -1) < 0) {
			if (errno == EINTR)
				continue;
			return -errno;
		}
		if (stop_check(stop) != 0)
			return -EINTR;
		if (fds[0].revents)
			return recv(quiesce->socket, &byte, 1, 0) == 1 ? 0 : -EIO;
	}
}

static int start_guardian(const char *list, struct stop *stop, struct quiesce *quiesce)
{
	int sockets[2], r;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) < 0)
		return -errno;
	quiesce->socket = sockets[0];
	r = spawn_guardian(list, &stop->caller, sockets[1], &quiesce->pid);
	close(sockets[1]);
	if (r < 0) {
		say_errno(r, "cannot start the guardian (benchmark-target) that --quiesce needs");
		quiesce->pid = -1;
		return r;
	}
	return wait_until_quiet(quiesce, stop);
}

/* For who may not change anything: whether it is quiet already. */
static int check_target_is_up(void)
{
	_cleanup_(cpumask) struct cpumask *cpus = NULL;

	if (target_read_cpus(&cpus) == 0)
		return 0;
	say("--quiesce needs root, unless benchmark.target is up: `sudo systemctl start benchmark.target`");
	return -EPERM;
}

int quiesce_begin(const char *list, struct stop *stop, struct quiesce **ret)
{
	struct quiesce *quiesce = malloc(sizeof(*quiesce));
	int r;

	if (!quiesce)
		return -ENOMEM;
	*quiesce = (struct quiesce){ .pid = -1, .socket = -EBADF };
	r = geteuid() == 0 ? start_guardian(list, stop, quiesce) : check_target_is_up();
	if (r < 0) {
		(void)quiesce_end(quiesce);
		return r;
	}
	*ret = quiesce;
	return 0;
}

int quiesce_check(const struct cpumask *cpus)
{
	_cleanup_(cpumask) struct cpumask *quiet = NULL;
	_cleanup_free_ char *list = NULL;
	int r;

	r = target_read_cpus(&quiet);
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

int quiesce_end(struct quiesce *quiesce)
{
	int status = 0, r = 0;

	if (!quiesce)
		return 0;
	if (quiesce->socket >= 0)
		close(quiesce->socket);
	/* It says itself what went wrong. */
	if (quiesce->pid > 0 && TEMP_FAILURE_RETRY(waitpid(quiesce->pid, &status, 0)) < 0)
		r = -errno;
	else if (status != 0)
		r = -EIO;
	free(quiesce);
	return r;
}
