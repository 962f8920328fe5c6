// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * bare-loop N PROGRAM: starts PROGRAM N times, one after the other, as cheaply as that can be done,
 * and prints the nanoseconds from before the start to after the wait for each, then those of the
 * whole loop behind the word "total". What a tool takes longer than this is the tool. What PROGRAM
 * itself prints goes to /dev/null, as it does with the tools: it may look like a time.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/macro.h"
#include "base/parse.h"

enum {
	STACK_SIZE = 64 * 1024,
	MAX_RUNS = 10 * 1000 * 1000,
};

struct start {
	char *const *argv;
	volatile int error;
};

/* On a stack of its own, but in our memory: nothing but the system call. */
static int child(void *arg)
{
	struct start *start = arg;

	execv(start->argv[0], start->argv);
	start->error = errno;
	_exit(127);
}

static int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * NSEC_PER_SEC + t.tv_nsec;
}

int main(int argc, char *argv[])
{
	unsigned n;
	int64_t *ns, begin, total;
	char *stack;
	FILE *out;
	int fd;

	if (argc < 3 || parse_uint(argv[1], 1, MAX_RUNS, &n) < 0) {
		fprintf(stderr, "usage: bare-loop N PROGRAM [ARGUMENT...]\n");
		return 2;
	}
	ns = calloc(n, sizeof(*ns));
	stack = mmap(NULL, STACK_SIZE, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
	if (!ns || stack == MAP_FAILED) {
		fprintf(stderr, "bare-loop: out of memory\n");
		return 1;
	}
	fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
	out = fd < 0 ? NULL : fdopen(fd, "w");
	if (!out || !freopen("/dev/null", "w", stdout)) {
		fprintf(stderr, "bare-loop: %s\n", strerror(errno));
		return 1;
	}
	/* Touched now, or the first samples would pay for it. */
	memset(ns, 0xff, n * sizeof(*ns));

	begin = now_ns();
	for (unsigned i = 0; i < n; i++) {
		struct start start = { .argv = argv + 2 };
		int64_t before = now_ns();
		int status;
		pid_t pid;

		pid = clone(child, stack + STACK_SIZE, CLONE_VM | CLONE_VFORK | SIGCHLD, &start);
		if (pid < 0 || waitpid(pid, &status, 0) < 0) {
			fprintf(stderr, "bare-loop: %s\n", strerror(errno));
			return 1;
		}
		ns[i] = now_ns() - before;
		if (start.error || status != 0) {
			fprintf(stderr, "bare-loop: %s: %s\n", argv[2],
				start.error ? strerror(start.error) : "failed");
			return 1;
		}
	}
	total = now_ns() - begin;
	for (unsigned i = 0; i < n; i++)
		fprintf(out, "%" PRId64 "\n", ns[i]);
	fprintf(out, "total %" PRId64 "\n", total);
	return fclose(out) == 0 ? 0 : 1;
}
