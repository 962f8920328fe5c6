// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/install.h"
#include "base/say.h"
#include "base/text.h"
#include "quiet/benchmark-target/tool.h"

enum {
	OUTPUT_MAX = 64 * 1024,
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

/* Streams of the program. */
struct streams {
	bool quiet; /* its standard output is dropped, unless it is replaced */
	int fd;	    /* becomes the stream of that number; -1 to leave it */
	int number;
};

static int spawn(const char *path, char *const *argv, const struct streams *streams, pid_t *ret)
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
	if (r == 0 && streams->quiet)
		r = posix_spawn_file_actions_addopen(
			&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
	if (r == 0 && streams->fd >= 0)
		r = posix_spawn_file_actions_adddup2(&actions, streams->fd, streams->number);
	if (r == 0)
		r = posix_spawn(ret, path, &actions, NULL, argv, environment);
	posix_spawn_file_actions_destroy(&actions);
	return -r;
}

/* The array is malloc'd, the strings are those given; NULL without memory. */
static char **make_argv(char *name, char *const *words)
{
	size_t n = 0;
	char **argv;

	while (words[n])
		n++;
	argv = calloc(n + 2, sizeof(*argv));
	if (!argv)
		return NULL;
	argv[0] = name;
	for (size_t i = 0; i < n; i++)
		argv[i + 1] = words[i];
	return argv;
}

static int start(const char *name, char *const *words, const struct streams *streams, pid_t *ret)
{
	_cleanup_free_ char *path = NULL, *own_name = strdup(name);
	_cleanup_free_ char **argv = make_argv(own_name, words);
	int r;

	if (!argv || !own_name)
		return -ENOMEM;
	r = install_find(name, &path);
	if (r == 0)
		r = spawn(path, argv, streams, ret);
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

int tool_become(const char *name, char *const *words)
{
	_cleanup_free_ char *path = NULL, *own_name = strdup(name);
	_cleanup_free_ char **argv = make_argv(own_name, words);
	int r = argv && own_name ? install_find(name, &path) : -ENOMEM;

	if (r == 0) {
		(void)execv(path, argv);
		r = -errno;
	}
	say_errno(r, "cannot run %s", name);
	return r;
}

int tool_run(const char *name, char *const *words, bool quiet)
{
	pid_t pid;
	int r;

	r = start(name, words, &(struct streams){ .quiet = quiet, .fd = -1 }, &pid);
	return r < 0 ? r : wait_for(name, pid);
}

/* Reads until the program has ended; drops what is more than about OUTPUT_MAX. */
static void read_output(int fd, struct text *ret)
{
	char buf[4096];
	ssize_t n;

	while ((n = read(fd, buf, sizeof(buf))) > 0 || (n < 0 && errno == EINTR)) {
		if (n > 0 && ret->length < OUTPUT_MAX)
			text_append_n(ret, buf, (size_t)n);
	}
}

int tool_run_and_read(const char *name, char *const *words, int stream, char **ret_line)
{
	_cleanup_text_ struct text output = { 0 };
	_cleanup_close_ int read_end = -EBADF, write_end = -EBADF;
	int fds[2], r;
	pid_t pid;
	char *line;

	if (pipe2(fds, O_CLOEXEC) < 0) {
		r = -errno;
		say_errno(r, "cannot run %s", name);
		return r;
	}
	read_end = fds[0];
	write_end = fds[1];
	r = start(name, words,
		&(struct streams){ .quiet = true, .fd = write_end, .number = stream }, &pid);
	if (r < 0)
		return r;
	close(TAKE_FD(write_end));
	read_output(read_end, &output);
	r = wait_for(name, pid);
	if (r < 0)
		return r;
	text_append(&output, "");
	if (output.failed)
		return -ENOMEM;
	while (output.length > 0 && output.data[output.length - 1] == '\n')
		output.data[--output.length] = '\0';
	line = strrchr(output.data, '\n');
	*ret_line = strdup(line ? line + 1 : output.data);
	return *ret_line ? r : -ENOMEM;
}
