// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * LD_PRELOAD: a service of others (redis, nginx) that works more for each piece that it reads from
 * a socket, for bench/service. $SERVICE_WORK is the number of steps, and $SERVICE_TAIL is
 * PERCENT,STEPS.
 */
/* Its checks are inline functions of the names that are defined here. */
#undef _FORTIFY_SOURCE
#include <dlfcn.h>
#include <err.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/parse.h"
#include "bench/service-work.h"

#define EXPORTED __attribute__((visibility("default")))

typedef ssize_t read_function(int fd, void *buf, size_t size);
typedef ssize_t recv_function(int fd, void *buf, size_t size, int flags);

static struct service_work asked;
static read_function *next_read;
static recv_function *next_recv;
static volatile uint64_t sink;

__attribute__((constructor)) static void begin(void)
{
	const char *steps = getenv("SERVICE_WORK"), *tail = getenv("SERVICE_TAIL");

	*(void **)&next_read = dlsym(RTLD_NEXT, "read");
	*(void **)&next_recv = dlsym(RTLD_NEXT, "recv");
	if ((steps && parse_uint(steps, 0, SERVICE_STEPS_MAX, &asked.steps) < 0) ||
		(tail && service_read_tail(tail, &asked) < 0))
		errx(2, "bad SERVICE_WORK or SERVICE_TAIL");
}

static void work(void)
{
	static uint64_t random = SERVICE_SEED;
	unsigned steps = service_choose_steps(&asked, &random);
	uint64_t state = SERVICE_SEED;

	for (unsigned i = 0; i < steps; i++)
		state = service_step(state);
	sink = state;
}

EXPORTED ssize_t read(int fd, void *buf, size_t size)
{
	ssize_t n;

	/* Another library's constructor may come first. */
	if (!next_read)
		begin();
	n = next_read(fd, buf, size);
	if (n > 0)
		work();
	return n;
}

EXPORTED ssize_t recv(int fd, void *buf, size_t size, int flags)
{
	ssize_t n;

	if (!next_recv)
		begin();
	n = next_recv(fd, buf, size, flags);
	if (n > 0)
		work();
	return n;
}
