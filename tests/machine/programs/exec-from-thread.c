// SPDX-License-Identifier: GPL-2.0-or-later
/* A second thread executes another program, which takes over the process: the kernel writes the
 * main thread's exit then and there. usage: exec-from-thread PROGRAM [ARGUMENT...] */
#include <pthread.h>
#include <unistd.h>

static void *work(void *arg)
{
	char **argv = arg;

	execv(argv[0], argv);
	_exit(127);
}

int main(int argc, char *argv[])
{
	pthread_t thread;

	if (argc < 2 || pthread_create(&thread, NULL, work, argv + 1) != 0)
		return 1;
	pthread_join(thread, NULL);
	return 1;
}
