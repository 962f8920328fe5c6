// SPDX-License-Identifier: GPL-2.0-or-later
/* Starts and awaits N processes, one after the other: more records than the ring holds.
 * usage: forker N */
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char *argv[])
{
	long n = argc > 1 ? strtol(argv[1], NULL, 10) : 0;

	for (long i = 0; i < n; i++) {
		pid_t pid = fork();

		if (pid < 0)
			return 1;
		if (pid == 0)
			_exit(0);
		if (waitpid(pid, NULL, 0) != pid)
			return 1;
	}
	return 0;
}
