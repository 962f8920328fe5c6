// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A library to preload to a program whose calls are to fail (../faults/faults.c):
 *
 * - it tells when the program begins and how often it has allocated memory at the end (marks.h);
 * - with FAULT_ALLOCATION=N in the environment, allocation N fails, and with FAULT_FOREVER as well
 *   all that come after it;
 * - with KILL_AFTER_WRITE=N, the program is killed right after its write(2) number N to a file of
 *   the machine, through its own call of the C library;
 * - waiting takes no time: a sleep moves the clocks on instead, so that what waits for a state in
 *   vain comes to its deadline at once.
 */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "basic/parse.h"
#include "marks.h"

#define PUBLIC __attribute__((visibility("default")))

enum {
	NSEC_PER_SEC = 1000 * 1000 * 1000,
};

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t n, size_t size);
extern void *__libc_realloc(void *old, size_t size);

static atomic_long allocations;
static long fail_at; /* 0: none */
static bool fail_forever;
static long kill_after; /* 0: never */
static bool begun;

/* The number in the environment; 0 for none. */
static long read_number(const char *name)
{
	const char *text = getenv(name);
	uint64_t number;

	return text && parse_u64(text, 0, LONG_MAX, &number) == 0 ? (long)number : 0;
}

__attribute__((constructor)) static void begin(void)
{
	fail_at = read_number("FAULT_ALLOCATION");
	fail_forever = getenv("FAULT_FOREVER");
	kill_after = read_number("KILL_AFTER_WRITE");
	(void)mark(MARK_BEGIN, 0);
	begun = true;
}

__attribute__((destructor)) static void end(void)
{
	(void)mark(MARK_ALLOCATIONS, allocations);
}

static bool fails(void)
{
	long number;

	if (!begun)
		return false;
	number = ++allocations;
	if (fail_at == 0 || (fail_forever ? number < fail_at : number != fail_at))
		return false;
	errno = ENOMEM;
	return true;
}

PUBLIC void *malloc(size_t size)
{
	return fails() ? NULL : __libc_malloc(size);
}

PUBLIC void *calloc(size_t n, size_t size)
{
	return fails() ? NULL : __libc_calloc(n, size);
}

PUBLIC void *realloc(void *old, size_t size)
{
	return fails() ? NULL : __libc_realloc(old, size);
}

PUBLIC void *reallocarray(void *old, size_t n, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(n, size, &bytes)) {
		errno = ENOMEM;
		return NULL;
	}
	return realloc(old, bytes);
}

PUBLIC ssize_t write(int fd, const void *data, size_t size)
{
	static atomic_long writes;
	char link[64], path[PATH_MAX] = "";
	ssize_t n = syscall(SYS_write, fd, data, size);

	if (kill_after == 0)
		return n;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	if (readlink(link, path, sizeof(path) - 1) > 0 &&
		(strncmp(path, "/sys/", 5) == 0 || strncmp(path, "/proc/", 6) == 0) &&
		++writes == kill_after)
		kill(getpid(), SIGKILL);
	return n;
}

/* How far the clocks have been moved on. */
static atomic_llong slept;

PUBLIC int clock_gettime(clockid_t clock, struct timespec *ret)
{
	long long now;

	if (syscall(SYS_clock_gettime, clock, ret) < 0)
		return -1;
	now = ret->tv_sec * (long long)NSEC_PER_SEC + ret->tv_nsec + slept;
	ret->tv_sec = now / NSEC_PER_SEC;
	ret->tv_nsec = now % NSEC_PER_SEC;
	return 0;
}

PUBLIC int clock_nanosleep(
	clockid_t clock, int flags, const struct timespec *wanted, struct timespec *left)
{
	if (flags & TIMER_ABSTIME)
		return (int)-syscall(SYS_clock_nanosleep, clock, flags, wanted, left);
	slept += wanted->tv_sec * (long long)NSEC_PER_SEC + wanted->tv_nsec;
	return 0;
}

PUBLIC int nanosleep(const struct timespec *wanted, struct timespec *left)
{
	return clock_nanosleep(CLOCK_REALTIME, 0, wanted, left);
}
