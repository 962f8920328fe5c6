// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * perturb-program NAME: the programs of bench/perturb that are in C. Each does the same work in
 * every run, 5 ms of it or more, and differs from the others in what a tool's attachments may slow
 * down: switches, threads, processes, memory, and ways to start and to end.
 *
 * perturb-program exec FILE ARGUMENT... executes FILE.
 */
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/macro.h"

enum {
	ROUND_TRIPS = 2000,
	REQUESTS = 2000,
	ITEMS = 2000,
	POOL = 4,
	THREADS = 300,
	VFORKS = 5000,
	FORKS = 200,
	MEMORY = 256 * 1024 * 1024,
	PAGE = 4096,
};

static _Noreturn void fail(const char *what)
{
	perror(what);
	_exit(1);
}

/* About so many microseconds on a present-day CPU: multiplications, each of which waits for the one
 * before. The compiler can neither leave them out nor do them beforehand. */
static void work(unsigned us)
{
	uint64_t x = us;

	for (unsigned i = 0; i < us * 1000; i++) {
		x *= 6364136223846793005U;
		__asm__ volatile("" : "+r"(x));
	}
}

static pid_t checked_fork(void)
{
	pid_t pid = fork();

	if (pid < 0)
		fail("fork");
	return pid;
}

static void reap(pid_t pid)
{
	int status;

	if (waitpid(pid, &status, 0) != pid || status != 0)
		fail("child");
}

static void exchange(ssize_t n, size_t wanted)
{
	if (n != (ssize_t)wanted)
		fail("exchange");
}

static pthread_t thread(void *(*body)(void *))
{
	pthread_t made;

	if (pthread_create(&made, NULL, body, NULL) != 0)
		fail("pthread_create");
	return made;
}

static void run_spin(void)
{
	work(10000);
}

/* Two processes and two pipes, a byte there and back. */
static void run_pingpong(void)
{
	int there[2], back[2];
	char byte = 0;
	pid_t pid;

	if (pipe(there) < 0 || pipe(back) < 0)
		fail("pipe");
	pid = checked_fork();
	if (pid == 0) {
		for (int i = 0; i < ROUND_TRIPS; i++) {
			exchange(read(there[0], &byte, 1), 1);
			exchange(write(back[1], &byte, 1), 1);
		}
		_exit(0);
	}
	for (int i = 0; i < ROUND_TRIPS; i++) {
		exchange(write(there[1], &byte, 1), 1);
		exchange(read(back[0], &byte, 1), 1);
	}
	reap(pid);
}

static void *thread_body(void *arg _unused_)
{
	work(10);
	return NULL;
}

/* All are there before the first is waited for. */
static void run_threads(void)
{
	static pthread_t threads[THREADS];

	for (int i = 0; i < THREADS; i++)
		threads[i] = thread(thread_body);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
}

/* One item at a time is handed to whoever of the pool is first to take it. */
static struct {
	pthread_mutex_t mutex;
	pthread_cond_t there, taken;
	bool full, end;
} slot = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, PTHREAD_COND_INITIALIZER, false,
	false };

static void *pool_body(void *arg _unused_)
{
	for (;;) {
		pthread_mutex_lock(&slot.mutex);
		while (!slot.full && !slot.end)
			pthread_cond_wait(&slot.there, &slot.mutex);
		if (!slot.full)
			break;
		slot.full = false;
		pthread_cond_signal(&slot.taken);
		pthread_mutex_unlock(&slot.mutex);
		work(2);
	}
	pthread_mutex_unlock(&slot.mutex);
	return NULL;
}

static void run_pool(void)
{
	pthread_t threads[POOL];

	for (int i = 0; i < POOL; i++)
		threads[i] = thread(pool_body);
	pthread_mutex_lock(&slot.mutex);
	for (int i = 0; i < ITEMS; i++) {
		while (slot.full)
			pthread_cond_wait(&slot.taken, &slot.mutex);
		slot.full = true;
		pthread_cond_signal(&slot.there);
	}
	while (slot.full)
		pthread_cond_wait(&slot.taken, &slot.mutex);
	slot.end = true;
	pthread_cond_broadcast(&slot.there);
	pthread_mutex_unlock(&slot.mutex);
	for (int i = 0; i < POOL; i++)
		pthread_join(threads[i], NULL);
}

/* By vfork(): the most children that can be had in a time, and so the worst for what is paid for
 * each. */
static void run_vforks(void)
{
	for (int i = 0; i < VFORKS; i++) {
		pid_t pid = vfork();

		if (pid < 0)
			fail("vfork");
		if (pid == 0)
			_exit(0);
		reap(pid);
	}
}

static void run_forks(void)
{
	for (int i = 0; i < FORKS; i++) {
		pid_t pid = checked_fork();

		if (pid == 0)
			_exit(0);
		reap(pid);
	}
}

static void serve(int fd)
{
	struct pollfd waiting = { .fd = fd, .events = POLLIN };
	char request[64], answer[1024];

	memset(answer, 'a', sizeof(answer));
	for (;;) {
		ssize_t n = poll(&waiting, 1, -1) == 1 ? read(fd, request, sizeof(request)) : -1;

		if (n == 0)
			_exit(0);
		exchange(n, sizeof(request));
		work(2);
		exchange(write(fd, answer, sizeof(answer)), sizeof(answer));
	}
}

/* A server that polls, and a client that waits for each answer. */
static void run_server(void)
{
	char request[64], answer[1024];
	int ends[2];
	pid_t pid;

	memset(request, 'r', sizeof(request));
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) < 0)
		fail("socketpair");
	pid = checked_fork();
	if (pid == 0) {
		close(ends[1]);
		serve(ends[0]);
	}
	close(ends[0]);
	for (int i = 0; i < REQUESTS; i++) {
		exchange(write(ends[1], request, sizeof(request)), sizeof(request));
		exchange(recv(ends[1], answer, sizeof(answer), MSG_WAITALL), sizeof(answer));
	}
	close(ends[1]);
	reap(pid);
}

static void run_memory(void)
{
	volatile char *memory =
		mmap(NULL, MEMORY, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		fail("mmap");
	for (size_t i = 0; i < MEMORY; i += PAGE)
		memory[i] = 1;
}

/* Its child is still there for 1 ms when it has ended. It sleeps then: work would slow down what
 * the tool does next, a next run above all, and that is not what is asked. */
static void run_daemon(void)
{
	const struct timespec later = { .tv_nsec = NSEC_PER_MSEC };
	int alive[2];
	char byte;

	if (pipe(alive) < 0)
		fail("pipe");
	if (checked_fork() == 0) {
		close(alive[1]);
		/* It ends when the parent does, which has the other end. */
		if (read(alive[0], &byte, 1) == 0)
			nanosleep(&later, NULL);
		_exit(0);
	}
	work(6000);
}

static void *leader_body(void *arg _unused_)
{
	work(10000);
	return NULL;
}

/* The main thread ends at once, the process when the other one does. */
static void run_leader(void)
{
	thread(leader_body);
	pthread_exit(NULL);
}

static const struct {
	const char *name;
	void (*run)(void);
} programs[] = {
	{ "spin", run_spin },
	{ "pingpong", run_pingpong },
	{ "threads", run_threads },
	{ "pool", run_pool },
	{ "vforks", run_vforks },
	{ "forks", run_forks },
	{ "server", run_server },
	{ "memory", run_memory },
	{ "daemon", run_daemon },
	{ "leader", run_leader },
};

int main(int argc, char *argv[])
{
	if (argc > 2 && strcmp(argv[1], "exec") == 0) {
		execv(argv[2], argv + 2);
		fail(argv[2]);
	}
	for (size_t i = 0; argc == 2 && i < ARRAY_SIZE(programs); i++) {
		if (strcmp(argv[1], programs[i].name) == 0) {
			programs[i].run();
			return 0;
		}
	}
	fprintf(stderr, "usage: perturb-program NAME, or exec FILE [ARGUMENT...]\n");
	return 2;
}
