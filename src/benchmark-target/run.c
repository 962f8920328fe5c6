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
#include "basic/text.h"
#include "benchmark-target/run.h"

enum {
	ERROR_TEXT_MAX = 64 * 1024,
};

/* Our environment without NOTIFY_SOCKET, over which the program would set our status in systemd.
 * The array is malloc'd, the strings are those of environ. */
static char **copy_environment(void)
{
	size_t n = 0, n_copy = 0;
	char **copy;

	while (environ[n])
		n++;
	copy = calloc(n + 1, sizeof(*copy));
	for (size_t i = 0; copy && i < n; i++) {
		if (!text_starts_with(environ[i], "NOTIFY_SOCKET="))
			copy[n_copy++] = environ[i];
	}
	return copy;
}

/* error_fd: becomes the standard error of the program; negative to leave it. */
static int spawn(const char *path, char *const *argv, bool quiet, int error_fd, pid_t *ret)
{
	_cleanup_free_ char **environment = copy_environment();
	posix_spawn_file_actions_t actions;
	int r;

	if (!environment)
		return -ENOMEM;
	r = posix_spawn_file_actions_init(&actions);
	if (r != 0)
		return -r;
	/* Our standard input may be the socket of `hold`. */
	r = posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	if (r == 0 && quiet)
		r = posix_spawn_file_actions_addopen(
			&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
	if (r == 0 && error_fd >= 0)
		r = posix_spawn_file_actions_adddup2(&actions, error_fd, STDERR_FILENO);
	if (r == 0)
		r = posix_spawn(ret, path, &actions, NULL, argv, environment);
	posix_spawn_file_actions_destroy(&actions);
	return -r;
}

static int start(const char *name, char *const *words, bool quiet, int error_fd, pid_t *ret)
{
	_cleanup_free_ char *path = NULL, *own_name = strdup(name);
	_cleanup_free_ char **argv = NULL;
	size_t n = 0;
	int r;

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
		r = spawn(path, argv, quiet, error_fd, ret);
	if (r < 0)
		say_errno(r, "cannot run %s", name);
	return r;
}

static int wait_for(const char *name, pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0) {
		if (errno != EINTR)
			return -errno;
	}
	if (WIFEXITED(status))
		return WEXITSTATUS(status);
	say("%s was killed by signal %d (%s)", name, WTERMSIG(status), strsignal(WTERMSIG(status)));
	return -EINTR;
}

int run_program(const char *name, char *const *words, bool quiet)
{
	pid_t pid;
	int r;

	r = start(name, words, quiet, -1, &pid);
	return r < 0 ? r : wait_for(name, pid);
}

/* Reads until the program has ended; drops what is more than about ERROR_TEXT_MAX. */
static void read_error(int fd, struct text *ret)
{
	char buf[4096];
	ssize_t n;

	while ((n = read(fd, buf, sizeof(buf))) > 0 || (n < 0 && errno == EINTR)) {
		if (n > 0 && ret->length < ERROR_TEXT_MAX)
			text_append_n(ret, buf, (size_t)n);
	}
}

int run_and_read_error(const char *name, char *const *words, char **ret_line)
{
	_cleanup_text_ struct text error = { 0 };
	_cleanup_close_ int read_end = -EBADF, write_end = -EBADF;
	int fds[2], r;
	pid_t pid;
	char *line;

	if (pipe2(fds, O_CLOEXEC) < 0)
		return -errno;
	read_end = fds[0];
	write_end = fds[1];
	r = start(name, words, true, write_end, &pid);
	if (r < 0)
		return r;
	close(TAKE_FD(write_end));
	read_error(read_end, &error);
	r = wait_for(name, pid);
	if (r < 0)
		return r;
	text_append(&error, "");
	if (error.failed)
		return -ENOMEM;
	while (error.length > 0 && error.data[error.length - 1] == '\n')
		error.data[--error.length] = '\0';
	line = strrchr(error.data, '\n');
	*ret_line = strdup(line ? line + 1 : error.data);
	return *ret_line ? r : -ENOMEM;
}
