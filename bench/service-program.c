// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The service in C of bench/service: HTTP/1.1 and the kept connections of HTTP/1.0, one thread,
 * epoll. How much it works for a request is an argument.
 */
#include <arpa/inet.h>
#include <err.h>
#include <errno.h>
#include <getopt.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/parse.h"
#include "bench/service-work.h"

enum {
	BACKLOG = 512,
	EVENTS = 64,
	REQUEST_SIZE = 4096,
	ANSWER_SIZE = 512,
	PERIOD_NS = 10 * 1000 * 1000, /* of the background thread */
};

static uint64_t memory[4096];

/* Touches 32 KiB, as a service touches what it knows. */
static uint64_t work(unsigned steps, uint64_t state)
{
	for (unsigned i = 0; i < steps; i++) {
		state = service_step(state);
		memory[state % 4096] += state;
	}
	return state;
}

/* Works for so many per cent of the time, whether or not there are requests. */
static void *run_background(void *percent)
{
	int64_t busy_ns = PERIOD_NS / 100 * *(const unsigned *)percent;
	struct timespec rest = { .tv_nsec = (long)(PERIOD_NS - busy_ns) };
	volatile uint64_t state = SERVICE_SEED;

	for (;;) {
		int64_t end_ns = clock_now_ns(CLOCK_MONOTONIC) + busy_ns;

		while (clock_now_ns(CLOCK_MONOTONIC) < end_ns)
			for (unsigned i = 0; i < 1000; i++)
				state = service_step(state);
		nanosleep(&rest, NULL);
	}
	return NULL;
}

static int listen_on(unsigned port)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET,
		.sin_port = htons((uint16_t)port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), one = 1;

	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) < 0 ||
		bind(fd, (const struct sockaddr *)&address, sizeof(address)) < 0 ||
		listen(fd, BACKLOG) < 0)
		err(EXIT_FAILURE, "port %u", port);
	return fd;
}

static void watch(int epoll, int fd)
{
	struct epoll_event event = { .events = EPOLLIN, .data.fd = fd };

	if (epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) < 0)
		err(EXIT_FAILURE, "epoll");
}

static void take_connection(int epoll, int listening)
{
	int fd = accept4(listening, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC), one = 1;

	if (fd < 0)
		return;
	(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	watch(epoll, fd);
}

/* A request comes in one piece: those who ask are on this machine. */
static void answer(int fd, unsigned steps)
{
	static uint64_t state = SERVICE_SEED;
	char request[REQUEST_SIZE], body[64], text[ANSWER_SIZE];
	ssize_t n = read(fd, request, sizeof(request) - 1);
	bool keep;
	int length;

	if (n <= 0) {
		if (n == 0 || errno != EAGAIN)
			close(fd);
		return;
	}
	request[n] = '\0';
	keep = !strstr(request, "HTTP/1.0") || strcasestr(request, "keep-alive");
	state = work(steps, state);
	/* Of one length, whatever the number. */
	length = snprintf(body, sizeof(body), "{\"pong\": %010u}\n", (unsigned)state);
	length = snprintf(text, sizeof(text),
		"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n"
		"Connection: %s\r\n\r\n%s",
		length, keep ? "keep-alive" : "close", body);
	if (write(fd, text, (size_t)length) != length || !keep)
		close(fd);
}

static void serve(unsigned port, const struct service_work *asked)
{
	int listening = listen_on(port), epoll = epoll_create1(EPOLL_CLOEXEC);
	uint64_t random = SERVICE_SEED;

	if (epoll < 0)
		err(EXIT_FAILURE, "epoll");
	watch(epoll, listening);
	for (;;) {
		struct epoll_event events[EVENTS];
		int n = epoll_wait(epoll, events, EVENTS, -1);

		for (int i = 0; i < n; i++) {
			if (events[i].data.fd == listening)
				take_connection(epoll, listening);
			else
				answer(events[i].data.fd, service_choose_steps(asked, &random));
		}
	}
}

int main(int argc, char *argv[])
{
	static const struct option options[] = {
		{ "work", required_argument, NULL, 'w' },
		{ "tail", required_argument, NULL, 't' },
		{ "background", required_argument, NULL, 'b' },
		{ 0 },
	};
	struct service_work asked = { 0 };
	unsigned background = 0, port;
	pthread_t thread;
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) >= 0) {
		if (option == '?' || (option == 't' && service_read_tail(optarg, &asked) < 0) ||
			(option == 'w' &&
				parse_uint(optarg, 0, SERVICE_STEPS_MAX, &asked.steps) < 0) ||
			(option == 'b' && parse_uint(optarg, 1, 99, &background) < 0))
			errx(2, "bad option");
	}
	if (optind != argc - 1 || parse_uint(argv[optind], 1, UINT16_MAX, &port) < 0)
		errx(2,
			"Usage: service-program [--work STEPS] [--tail PERCENT,STEPS] "
			"[--background PERCENT] PORT");
	if (background && pthread_create(&thread, NULL, run_background, &background) != 0)
		errx(EXIT_FAILURE, "no thread");
	serve(port, &asked);
}
