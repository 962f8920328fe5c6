// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <sched.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "basic/clock.h"
#include "runpinned/message.h"

ssize_t message_look(int socket, void *buf, size_t size, int64_t look_ns)
{
	int64_t until = clock_now_ns(CLOCK_MONOTONIC) + look_ns;

	do {
		ssize_t n = recv(socket, buf, size, MSG_DONTWAIT);

		if (n >= 0)
			return n;
		if (errno != EAGAIN && errno != EINTR)
			return -errno;
		sched_yield();
	} while (clock_now_ns(CLOCK_MONOTONIC) < until);
	return -EAGAIN;
}

ssize_t message_receive(int socket, void *buf, size_t size, int64_t look_ns)
{
	ssize_t n = message_look(socket, buf, size, look_ns);

	if (n != -EAGAIN)
		return n;
	n = TEMP_FAILURE_RETRY(recv(socket, buf, size, 0));
	return n < 0 ? -errno : n;
}
