// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Preloaded: waiting takes no time. A sleep moves the clocks on instead, so that what waits for a
 * state in vain comes to its deadline at once.
 *
 * With KILL_AFTER_WRITE=N in the environment, the program is killed right after its write(2)
 * number N to a file of the machine, through its own call of the C library.
 */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/parse.h"

#define PUBLIC __attribute__((visibility("default")))

enum {
	NSEC_PER_SEC = 1000 * 1000 * 1000,
};

static long kill_after; /* 0: never */

__attribute__((constructor)) static void begin(void)
{
	const char *text = getenv("KILL_AFTER_WRITE");
	uint64_t number;

	if (!text)
		return;
	if (parse_u64(text, 1, LONG_MAX, &number) < 0)
		abort();
	kill_after = (long)number;
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
	long long ns = wanted->tv_sec * (long long)NSEC_PER_SEC + wanted->tv_nsec;
	struct timespec now;

	(void)left;
	if (flags & TIMER_ABSTIME) {
		if (clock_gettime(clock, &now) < 0)
			return errno;
		ns -= now.tv_sec * (long long)NSEC_PER_SEC + now.tv_nsec;
	}
	if (ns > 0)
		slept += ns;
	return 0;
}

PUBLIC int nanosleep(const struct timespec *wanted, struct timespec *left)
{
	return clock_nanosleep(CLOCK_REALTIME, 0, wanted, left);
}
