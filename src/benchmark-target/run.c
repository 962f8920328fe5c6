// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "basic/cleanup.h"
#include "basic/install.h"
#include "basic/say.h"
#include "benchmark-target/run.h"

static int spawn(const char *path, char *const *argv, bool quiet, pid_t *ret)
{
	posix_spawn_file_actions_t actions;
	int r;

	r = posix_spawn_file_actions_init(&actions);
	if (r != 0)
		return -r;
	/* Standard input may be what we are told by. */
	r = posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	if (r == 0 && quiet)
		r = posix_spawn_file_actions_addopen(
			&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
	if (r == 0)
		r = posix_spawn(ret, path, &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	return -r;
}

int run_program(const char *name, char *const *words, bool quiet)
{
	_cleanup_free_ char *path = NULL, *own_name = strdup(name);
	_cleanup_free_ char **argv = NULL;
	int status, r;
	size_t n = 0;
	pid_t pid;

	while (words[n])
		n++;
	argv = calloc(n + 2, sizeof(*argv));
	if (!argv || !own_name)
		return -ENOMEM;
	argv[0] = own_name;
	for (size_t i = 0; i < n; i++)
		argv[i + 1] = words[i];
	r = install_find(name, &path);
	if (r == 0)
		r = spawn(path, argv, quiet, &pid);
	if (r < 0) {
		say_errno(r, "cannot run %s", name);
		return r;
	}
	while (waitpid(pid, &status, 0) < 0) {
		if (errno != EINTR)
			return -errno;
	}
	if (WIFEXITED(status))
		return WEXITSTATUS(status);
	say("%s was killed by signal %d (%s)", name, WTERMSIG(status), strsignal(WTERMSIG(status)));
	return -EINTR;
}
