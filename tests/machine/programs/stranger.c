// SPDX-License-Identifier: GPL-2.0-or-later
/* Starts a program as a child of its own parent (CLONE_PARENT), and ends.
 * usage: stranger PROGRAM [ARGUMENT...] */
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int argc, char *argv[])
{
	long pid = syscall(SYS_clone, CLONE_PARENT | SIGCHLD, 0, 0, 0, 0);

	if (argc < 2 || pid < 0)
		return 1;
	if (pid > 0)
		return 0;
	execv(argv[1], argv + 1);
	_exit(127);
}
