// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What running a program costs:
 *
 *	cost FILE PROGRAM [ARGUMENT...]
 *
 * writes "NANOSECONDS KIB\n" to FILE: the time from before its start to behind its end, and the
 * most memory that it had resident at any time. The kernel counts what a child had before its
 * execve(2), so whoever asks must be small: this is a static program that allocates nothing. Exit
 * status: the program's; 127 when it cannot be run.
 */
#include <inttypes.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"

int main(int argc, char *argv[])
{
	struct rusage usage;
	int64_t began;
	FILE *stream;
	int status;
	pid_t pid;

	if (argc < 3) {
		fputs("usage: cost FILE PROGRAM [ARGUMENT...]\n", stderr);
		return 2;
	}
	began = clock_now_ns(CLOCK_MONOTONIC);
	pid = fork();
	if (pid < 0) {
		perror("cost: fork");
		return 127;
	}
	if (pid == 0) {
		execvp(argv[2], argv + 2);
		perror(argv[2]);
		_exit(127);
	}
	if (wait4(pid, &status, 0, &usage) < 0) {
		perror("cost: wait4");
		return 127;
	}
	began = clock_now_ns(CLOCK_MONOTONIC) - began;
	stream = fopen(argv[1], "we");
	if (!stream || fprintf(stream, "%" PRId64 " %ld\n", began, usage.ru_maxrss) < 0 ||
		fclose(stream) != 0) {
		perror(argv[1]);
		return 127;
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : 126;
}
