// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Works for a time that it does not measure itself, in one way or another:
 *
 * alone: in the main thread.
 * threads: in four threads at a time.
 * children: in four processes at a time.
 * shell: in four processes, one after the other.
 * away: in the main thread, a third of the time on another CPU than the one it was given.
 * large: not at all. The main thread fills 256 MiB and ends, and another one sleeps for 30 ms.
 *
 * usage: worker HOW MILLIONS
 */
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
	PARTS = 4,
	LARGE = 256 << 20,
	PAGE = 4096,
};

static long steps;

static void *work(void *unused)
{
	volatile unsigned long x = 1;

	for (long i = 0; i < steps / PARTS; i++)
		x = x * 6364136223846793005UL + 1;
	return unused;
}

static void *nap(void *unused)
{
	struct timespec ts = { .tv_nsec = 30 * 1000 * 1000 };

	nanosleep(&ts, NULL);
	return unused;
}

static int in_threads(void)
{
	pthread_t threads[PARTS];

	for (size_t i = 0; i < PARTS; i++)
		if (pthread_create(&threads[i], NULL, work, NULL) != 0)
			return 1;
	for (size_t i = 0; i < PARTS; i++)
		pthread_join(threads[i], NULL);
	return 0;
}

static int in_children(int at_once)
{
	for (int i = 0; i < PARTS; i++) {
		pid_t pid = fork();

		if (pid < 0)
			return 1;
		if (pid == 0) {
			work(NULL);
			_exit(0);
		}
		if (!at_once && waitpid(pid, NULL, 0) != pid)
			return 1;
	}
	while (wait(NULL) > 0)
		;
	return 0;
}

static int on_another_cpu(void)
{
	int here = sched_getcpu();
	cpu_set_t set;

	work(NULL);
	CPU_ZERO(&set);
	for (int cpu = 0; cpu < 64; cpu++)
		if (cpu != here)
			CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set) < 0)
		return 1;
	work(NULL);
	CPU_ZERO(&set);
	CPU_SET(here, &set);
	if (sched_setaffinity(0, sizeof(set), &set) < 0)
		return 1;
	work(NULL);
	return 0;
}

static int end_before_a_thread(void)
{
	volatile char *memory = malloc(LARGE);
	pthread_t thread;

	if (!memory)
		return 1;
	for (size_t i = 0; i < LARGE; i += PAGE)
		memory[i] = 1;
	if (pthread_create(&thread, NULL, nap, NULL) != 0)
		return 1;
	pthread_exit(NULL);
}

int main(int argc, char *argv[])
{
	if (argc != 3)
		return 2;
	steps = strtol(argv[2], NULL, 10) * 1000000;
	if (strcmp(argv[1], "threads") == 0)
		return in_threads();
	if (strcmp(argv[1], "children") == 0)
		return in_children(1);
	if (strcmp(argv[1], "shell") == 0)
		return in_children(0);
	if (strcmp(argv[1], "away") == 0)
		return on_another_cpu();
	if (strcmp(argv[1], "large") == 0)
		return end_before_a_thread();
	for (int i = 0; i < PARTS; i++)
		work(NULL);
	return 0;
}
