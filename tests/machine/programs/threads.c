// SPDX-License-Identifier: GPL-2.0-or-later
/* Four threads that are all awaited: the main thread's exit is the end. */
#include <pthread.h>
#include <stddef.h>
#include <time.h>

static void *work(void *arg)
{
	struct timespec ts = { .tv_nsec = 5 * 1000 * 1000 };

	nanosleep(&ts, NULL);
	return arg;
}

int main(void)
{
	pthread_t threads[4];

	for (size_t i = 0; i < 4; i++) {
		if (pthread_create(&threads[i], NULL, work, NULL) != 0)
			return 1;
	}
	for (size_t i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
