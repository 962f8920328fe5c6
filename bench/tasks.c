// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * tasks N COMMAND [ARGUMENT...]: runs a command while N processes of ours sleep. Its exit status is
 * the command's, 125 for what goes wrong here.
 */
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/parse.h"

static int run(char *argv[])
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		execv(argv[0], argv);
		_exit(127);
	}
	if (pid < 0 || waitpid(pid, &status, 0) < 0 || !WIFEXITED(status))
		return 125;
	return WEXITSTATUS(status);
}

int main(int argc, char *argv[])
{
	unsigned n;

	if (argc < 3 || parse_uint(argv[1], 0, 100000, &n) < 0) {
		fprintf(stderr, "usage: tasks N COMMAND [ARGUMENT...]\n");
		return 125;
	}
	for (unsigned i = 0; i < n; i++) {
		pid_t pid = fork();

		if (pid < 0) {
			perror("tasks: fork");
			return 125;
		}
		if (pid == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			for (;;)
				pause();
		}
	}
	return run(argv + 2);
}
