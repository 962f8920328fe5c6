// SPDX-License-Identifier: GPL-2.0-or-later
/* The main thread ends at once, the process 100 ms later: the main thread's exit is not the end. */
#include <pthread.h>
#include <time.h>

static void *work(void *arg)
{
	struct timespec ts = { .tv_nsec = 100 * 1000 * 1000 };

	nanosleep(&ts, NULL);
	return arg;
}

int main(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, work, NULL) != 0)
		return 1;
	pthread_exit(NULL);
}
