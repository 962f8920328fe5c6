// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * httpload: requests of HTTP/1.1 from one thread, for `runserved --http`, and what they took as one
 * line of JSON.
 *
 * Closed loop: each connection sends its next request when it has the answer to the last one, so
 * that a service that stalls is asked less. Open loop (--rate): requests have a time at which they
 * are due, whether or not those before are answered, and their latency counts from then on, so that
 * a stall counts for all that waited for it.
 *
 * A request that fails ends the load, as does an answer that is not 2xx: a load with errors is no
 * measurement.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>

#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/machine/schedstat.h"
#include "base/macro.h"
#include "base/options.h"
#include "base/parse.h"
#include "base/say.h"
#include "base/survive.h"
#include "base/xalloc.h"
#include "config.h"
#include "measure/serve/httpanswer.h"
#include "measure/serve/latency.h"

#define HOST_DEFAULT "127.0.0.1"

enum {
	CONNECTIONS_MAX = 1024,
	HEADERS_MAX = 16,
	PATH_SIZE_MAX = 4096,
	EVENTS = 64,
	READ_SIZE = 64 * 1024,
	RATE_MAX = 1000 * 1000,
	SECONDS_MAX = 3600,
	REQUESTS_MAX = 1000 * 1000 * 1000,
	TIMEOUT_DEFAULT_S = 10,
	LATE_NS = 1000 * 1000,
	/* The timer of an open loop rings no more often than this. What is due in between is sent
	 * together, and its latency counts from when it was due. */
	TIMER_NS_MIN = 20 * 1000,
	SCAN_MS = 100, /* how often answers are looked for that are overdue */
};

struct options {
	unsigned connections;
	double rate; /* requests per second of an open loop; 0: a closed loop */
	unsigned requests;
	double seconds;
	const char *host, *unix_path;
	unsigned port;
	unsigned warm;
	double timeout;
	bool follow;
	const char *headers[HEADERS_MAX];
	size_t n_headers;
	const char *path;
};

struct target {
	struct sockaddr_storage address;
	socklen_t size;
	/* Where connections go that are refused at the first one; size 0: nowhere. */
	struct sockaddr_in6 other;
	socklen_t other_size;
	char *request;
	size_t request_size;
};

struct connection {
	int fd;		  /* -EBADF: closed */
	bool has_request; /* that is not answered yet */
	bool is_open;	  /* the connection stands; until then it is being made */
	bool at_other;	  /* it goes to the other address, for good */
	bool was_used;	  /* for a request that was answered */
	bool any;	  /* a byte of the answer is there */
	size_t sent;	  /* bytes of the request */
	uint32_t events;  /* that epoll waits for */
	int64_t due_ns;	  /* from where the latency counts */
	int64_t began_ns; /* from where the time limit counts */
	struct httpanswer answer;
};

/* A load, or the requests before it. */
struct load {
	unsigned connections;
	double rate;
	uint64_t requests; /* 0: by time */
	int64_t end_ns;	   /* no closed-loop request begins later */
	uint64_t n_sent, n_answered, n_late, n_reconnects, n_bytes, n_not_ok;
	int64_t began_ns, ended_ns;
	int64_t cpu_ns;
	int64_t waited_ns; /* for a CPU; negative where that is not known */
	char *failure;	   /* what went wrong first, or NULL */
};

struct client {
	const struct options *options;
	struct target target;
	struct connection connections[CONNECTIONS_MAX];
	size_t idle[CONNECTIONS_MAX], n_idle;
	int epoll, timer;
	char input[READ_SIZE];
	struct latency latency;
};

static int take_host(const char *value, void *into)
{
	struct sockaddr_storage unused;

	if (inet_pton(AF_INET, value, &unused) != 1 && inet_pton(AF_INET6, value, &unused) != 1)
		return -EINVAL;
	return option_text(value, into);
}

static int take_header(const char *value, void *into)
{
	struct options *o = into;
	const char *colon = strchr(value, ':');

	if (!colon || colon == value || strpbrk(value, "\r\n"))
		return -EINVAL;
	if (o->n_headers == HEADERS_MAX) {
		say("more than %d headers", HEADERS_MAX);
		return -EINVAL;
	}
	o->headers[o->n_headers++] = value;
	return 0;
}

static int take_rate(const char *value, void *into)
{
	return parse_double(value, 0.001, RATE_MAX, into);
}

static int take_seconds(const char *value, void *into)
{
	return parse_seconds(value, 0.001, SECONDS_MAX, into);
}

static int take_connections(const char *value, void *into)
{
	return parse_uint(value, 1, CONNECTIONS_MAX, into);
}

static int take_requests(const char *value, void *into)
{
	return parse_uint(value, 1, REQUESTS_MAX, into);
}

static int take_warm(const char *value, void *into)
{
	return parse_uint(value, 0, REQUESTS_MAX, into);
}

static int take_port(const char *value, void *into)
{
	return parse_uint(value, 1, 65535, into);
}

/* 0 to go on, positive when all is done, -EINVAL after saying what is wrong. */
static int parse_options(int argc, char *argv[], struct options *o)
{
	const struct option_row rows[] = {
		{ 'C', "connections", "N", "connections that are kept open (default 1)",
			take_connections, &o->connections, "a number of connections, up to 1024" },
		{ 'r', "rate", "R",
			"open loop: so many requests a second are due, whatever the answers take",
			take_rate, &o->rate, "a number of requests per second" },
		{ 'n', "requests", "N", "so many requests", take_requests, &o->requests,
			"a number of requests" },
		{ 's', "seconds", "S", "requests for so long", take_seconds, &o->seconds,
			"a time, such as 2 or 500ms" },
		{ 0, "host", "ADDRESS",
			"an address of IPv4 or IPv6 (default 127.0.0.1, or\n"
			"::1 where nobody listens there)",
			take_host, &o->host, "an address" },
		{ 'p', "port", "PORT", "the port of the service", take_port, &o->port, "a port" },
		{ 0, "unix", "FILE", "the socket of the service", option_filled, &o->unix_path,
			"a file" },
		{ 'H', "header", "TEXT", "a header of the requests; may be given again",
			take_header, o, "NAME: VALUE" },
		{ 'w', "warm", "N", "so many requests before, which are not counted", take_warm,
			&o->warm, "a number of requests" },
		{ 0, "timeout", "S", "an answer that takes longer is an error (default 10)",
			take_seconds, &o->timeout, "a time" },
		{ 0, "follow", NULL,
			"lines of standard input say when: 'warm', 'load'; each is answered by a line",
			option_set, &o->follow, NULL },
		{ 'h', "help", NULL, "print this", NULL, NULL, NULL },
		{ 'V', "version", NULL, "print the version", NULL, NULL, NULL },
		{ 0 },
	};
	int r = option_rows_read("", rows, argc, argv);

	if (r == 'h') {
		print(stdout,
			"Usage: httpload [OPTIONS] {-n N|-s S} {-p PORT|--unix FILE} PATH\n\n"
			"Asks a service by HTTP/1.1, and prints what that took as JSON.\n\n");
		option_rows_print(rows, stdout);
		return 1;
	}
	if (r == 'V') {
		print(stdout, "httpload (quiesce) " QUIESCE_VERSION "\n");
		return 1;
	}
	if (r < 0)
		return -EINVAL;
	if (argc - optind != 1 || argv[optind][0] != '/' || strpbrk(argv[optind], " \t\r\n") ||
		strlen(argv[optind]) > PATH_SIZE_MAX)
		say("one PATH is wanted, which begins with / and has no blanks; see --help");
	else if ((o->requests > 0) == (o->seconds > 0))
		say("either --requests or --seconds is wanted; see --help");
	else if ((o->port > 0) == (o->unix_path != NULL))
		say("either --port or --unix is wanted; see --help");
	else {
		o->path = argv[optind];
		return 0;
	}
	return -EINVAL;
}

/* A service that listens at "localhost" may do so at ::1 alone. */
static void find_other(const struct options *o, struct target *ret)
{
	if (o->host || o->unix_path)
		return;
	ret->other = (struct sockaddr_in6){
		.sin6_family = AF_INET6,
		.sin6_port = htons((uint16_t)o->port),
		.sin6_addr = IN6ADDR_LOOPBACK_INIT,
	};
	ret->other_size = sizeof(ret->other);
}

static int find_target(const struct options *o, struct target *ret)
{
	const char *host = o->host ? o->host : HOST_DEFAULT;
	struct sockaddr_un *local = (struct sockaddr_un *)&ret->address;
	struct sockaddr_in *v4 = (struct sockaddr_in *)&ret->address;
	struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)&ret->address;

	if (o->unix_path) {
		if (strlen(o->unix_path) >= sizeof(local->sun_path)) {
			say("--unix: %s is too long for a socket", o->unix_path);
			return -ENAMETOOLONG;
		}
		local->sun_family = AF_UNIX;
		memcpy(local->sun_path, o->unix_path, strlen(o->unix_path) + 1);
		ret->size = sizeof(*local);
	} else if (inet_pton(AF_INET, host, &v4->sin_addr) == 1) {
		v4->sin_family = AF_INET;
		v4->sin_port = htons((uint16_t)o->port);
		ret->size = sizeof(*v4);
	} else {
		(void)inet_pton(AF_INET6, host, &v6->sin6_addr);
		v6->sin6_family = AF_INET6;
		v6->sin6_port = htons((uint16_t)o->port);
		ret->size = sizeof(*v6);
	}
	find_other(o, ret);
	return 0;
}

static char *write_request(const struct options *o)
{
	const char *name = o->host ? o->host : HOST_DEFAULT;
	bool is_v6 = strchr(name, ':') != NULL;
	_cleanup_free_ char *host = o->unix_path
		? xptr(strdup("localhost"))
		: xformat("%s%s%s:%u", is_v6 ? "[" : "", name, is_v6 ? "]" : "", o->port);
	char *text = xformat("GET %s HTTP/1.1\r\nHost: %s\r\nUser-Agent: quiesce-httpload\r\n"
			     "Accept: */*\r\n",
		o->path, host);

	for (size_t i = 0; i <= o->n_headers; i++) {
		char *more = xformat("%s%s\r\n", text, i < o->n_headers ? o->headers[i] : "");

		free(text);
		text = more;
	}
	return text;
}

/* What failed first is what is told. */
static void note_failure(struct load *load, const char *what, int error)
{
	if (load->failure)
		return;
	load->failure = error ? xformat("%s: %s", what, strerror(error)) : xptr(strdup(what));
}

static void hang_up(struct connection *connection)
{
	if (connection->fd >= 0)
		close(connection->fd);
	connection->fd = -EBADF;
	connection->is_open = connection->was_used = false;
	connection->events = 0;
}

static int wait_for(struct client *client, size_t i, uint32_t events)
{
	struct connection *connection = &client->connections[i];
	struct epoll_event event = { .events = events, .data.u64 = i };

	if (connection->events == events)
		return 0;
	if (epoll_ctl(client->epoll, connection->events ? EPOLL_CTL_MOD : EPOLL_CTL_ADD,
		    connection->fd, &event) < 0)
		return -errno;
	connection->events = events;
	return 0;
}

/* Begins to connect. */
static int call(struct client *client, size_t i)
{
	struct connection *connection = &client->connections[i];
	const struct target *target = &client->target;
	const struct sockaddr *where = connection->at_other
		? (const struct sockaddr *)&target->other
		: (const struct sockaddr *)&target->address;
	int one = 1;

	connection->fd = socket(where->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (connection->fd < 0)
		return -errno;
	if (where->sa_family != AF_UNIX)
		(void)setsockopt(connection->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	if (connect(connection->fd, where,
		    connection->at_other ? target->other_size : target->size) == 0)
		connection->is_open = true;
	else if (errno != EINPROGRESS)
		return -errno;
	return 0;
}

/* Whether a connection that stands now could be made. */
static int find_connect_error(const struct connection *connection)
{
	socklen_t size = sizeof(int);
	int error = 0;

	if (getsockopt(connection->fd, SOL_SOCKET, SO_ERROR, &error, &size) < 0)
		return -errno;
	return -error;
}

/* Sends what is left of the request. */
static int send_request(struct client *client, size_t i)
{
	struct connection *connection = &client->connections[i];
	const struct target *target = &client->target;
	ssize_t n;

	if (!connection->is_open)
		return wait_for(client, i, EPOLLOUT);
	n = send(connection->fd, target->request + connection->sent,
		target->request_size - connection->sent, MSG_NOSIGNAL);
	if (n < 0 && errno != EAGAIN)
		return -errno;
	connection->sent += (size_t)MAX(n, (ssize_t)0);
	return wait_for(
		client, i, connection->sent < target->request_size ? EPOLLIN | EPOLLOUT : EPOLLIN);
}

/* Sends the request of a connection, over a new one if there is none. */
static int ask(struct client *client, size_t i)
{
	struct connection *connection = &client->connections[i];
	int r = connection->fd >= 0 ? 0 : call(client, i);

	connection->sent = 0;
	connection->any = false;
	connection->answer = (struct httpanswer){ 0 };
	return r < 0 ? r : send_request(client, i);
}

/*
 * A server may close a connection that is idle at the very moment at which the next request is
 * sent: then nothing of an answer has come, and the request is sent once more over a new connection
 * (RFC 9112, section 9.3.1). A first connection that is refused is tried at the other address. Any
 * other end of a connection is a failure.
 */
static void lose(struct client *client, struct load *load, size_t i, const char *what, int error)
{
	struct connection *connection = &client->connections[i];
	bool again = connection->was_used && !connection->any &&
		(error == 0 || error == ECONNRESET || error == EPIPE);
	bool elsewhere =
		client->target.other_size > 0 && error == ECONNREFUSED && !connection->at_other;
	int r = 0;

	hang_up(connection);
	load->n_reconnects += again;
	connection->at_other |= elsewhere;
	again |= elsewhere;
	if (again) {
		r = ask(client, i);
		what = "cannot connect";
		/* Without IPv6 there is nothing else to say. */
		error = elsewhere ? error : -r;
	}
	if (again && r == 0)
		return;
	note_failure(load, what, error);
	hang_up(connection);
	connection->has_request = false;
	client->idle[client->n_idle++] = i;
}

static void begin(
	struct client *client, struct load *load, size_t i, int64_t due_ns, int64_t now_ns)
{
	struct connection *connection = &client->connections[i];
	bool was_open = connection->fd >= 0;
	int r;

	connection->has_request = true;
	connection->due_ns = due_ns;
	connection->began_ns = now_ns;
	load->n_sent++;
	r = ask(client, i);
	if (r < 0)
		lose(client, load, i, was_open ? "cannot send" : "cannot connect", -r);
}

/* Whether a closed loop has another request to send. */
static bool goes_on(const struct load *load, int64_t now_ns)
{
	return !load->failure &&
		(load->requests > 0 ? load->n_sent < load->requests : now_ns < load->end_ns);
}

/* The whole answer is there. */
static void finish(struct client *client, struct load *load, size_t i)
{
	struct connection *connection = &client->connections[i];
	int64_t now_ns = clock_now_ns(CLOCK_MONOTONIC);
	int status = connection->answer.status;

	connection->has_request = false;
	connection->was_used = true;
	if (connection->answer.closes)
		hang_up(connection);
	load->n_answered++;
	load->ended_ns = now_ns;
	latency_add(&client->latency, now_ns - connection->due_ns);
	if (status / 100 != 2) {
		_cleanup_free_ char *text = xformat("an answer has status %d", status);

		load->n_not_ok++;
		note_failure(load, text, 0);
	}
	if (load->rate == 0 && goes_on(load, now_ns))
		begin(client, load, i, now_ns, now_ns);
	else
		client->idle[client->n_idle++] = i;
}

/* Reads of the answer what is there. */
static void receive(struct client *client, struct load *load, size_t i)
{
	struct connection *connection = &client->connections[i];
	ssize_t n = recv(connection->fd, client->input, sizeof(client->input), 0);
	size_t used = 0;
	int r;

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n < 0) {
		lose(client, load, i, "cannot receive", errno);
		return;
	}
	if (n == 0) {
		r = httpanswer_end(&connection->answer);
		if (r < 0)
			lose(client, load, i,
				connection->any ? "an answer ends in the middle"
						: "the service has closed a connection",
				0);
	} else {
		connection->any = true;
		load->n_bytes += (uint64_t)n;
		r = httpanswer_feed(&connection->answer, client->input, (size_t)n, &used);
		/* Nothing but the answer may come. */
		if (r == 1 && used < (size_t)n)
			r = -EBADMSG;
		if (r < 0)
			lose(client, load, i, "what the service says is not HTTP/1.1", 0);
	}
	if (r == 1)
		finish(client, load, i);
}

static void serve_event(struct client *client, struct load *load, const struct epoll_event *event)
{
	size_t i = (size_t)event->data.u64;
	struct connection *connection = &client->connections[i];
	int r = 0;

	if (connection->fd < 0)
		return;
	/* Without a request the only news is that the service has closed the connection. */
	if (!connection->has_request) {
		hang_up(connection);
		return;
	}
	if (!connection->is_open) {
		r = find_connect_error(connection);
		if (r < 0) {
			lose(client, load, i, "cannot connect", -r);
			return;
		}
		connection->is_open = true;
	}
	if (connection->sent < client->target.request_size)
		r = send_request(client, i);
	if (r < 0)
		lose(client, load, i, "cannot send", -r);
	else if (event->events & (EPOLLIN | EPOLLHUP | EPOLLERR))
		receive(client, load, i);
}

static void give_up_overdue(struct client *client, struct load *load, int64_t now_ns)
{
	int64_t limit_ns = (int64_t)(client->options->timeout * NSEC_PER_SEC);

	for (size_t i = 0; i < load->connections; i++) {
		struct connection *connection = &client->connections[i];

		if (!connection->has_request || now_ns - connection->began_ns <= limit_ns)
			continue;
		/* No second try. */
		connection->any = true;
		lose(client, load, i, "no answer in time (--timeout)", 0);
	}
}

static void ring_every(struct client *client, int64_t ns)
{
	const struct timespec every = { ns / NSEC_PER_SEC, ns % NSEC_PER_SEC };
	const struct itimerspec timer = { every, every };

	/* It can only refuse a time that is none. */
	(void)timerfd_settime(client->timer, 0, &timer, NULL);
}

/* A timer with an interval rings again only when it was read (fs/timerfd.c, timerfd_tmrproc()). */
static void take_ring(struct client *client)
{
	uint64_t n_rings;

	(void)!read(client->timer, &n_rings, sizeof(n_rings));
}

/* When request number k of an open loop is due. */
static int64_t find_due(const struct load *load, uint64_t k)
{
	return load->began_ns + (int64_t)((double)k * 1e9 / load->rate);
}

/* Sends what is due and has a connection. */
static void send_due(struct client *client, struct load *load, int64_t now_ns)
{
	while (client->n_idle > 0 && !load->failure && load->n_sent < load->requests) {
		int64_t due_ns = find_due(load, load->n_sent);

		if (due_ns > now_ns)
			return;
		load->n_late += now_ns - due_ns > LATE_NS;
		begin(client, load, client->idle[--client->n_idle], due_ns, now_ns);
	}
}

/* The time in which this process could run and had no CPU; -1 where it is not known. */
static int64_t read_waited_ns(void)
{
	struct schedstat schedstat;
	char text[FILE_ATTR_SIZE];

	if (file_read_line(AT_FDCWD, "/proc/self/schedstat", text, sizeof(text)) < 0 ||
		schedstat_parse(text, &schedstat) < 0)
		return -1;
	return schedstat.waited_ns;
}

/* Makes all requests of the load, and waits for their answers. */
static void make_load(struct client *client, struct load *load)
{
	int64_t waited_ns = read_waited_ns(), scan_ns;
	bool is_open_loop = load->rate > 0;

	client->n_idle = 0;
	for (size_t i = load->connections; i > 0; i--)
		client->idle[client->n_idle++] = i - 1;
	if (is_open_loop)
		ring_every(client, MAX((int64_t)(1e9 / load->rate), (int64_t)TIMER_NS_MIN));
	load->cpu_ns = -clock_now_ns(CLOCK_PROCESS_CPUTIME_ID);
	load->began_ns = load->ended_ns = scan_ns = clock_now_ns(CLOCK_MONOTONIC);
	load->end_ns += load->began_ns;
	for (size_t i = load->connections; !is_open_loop && i > 0 && goes_on(load, load->began_ns);
		i--) {
		int64_t now_ns = clock_now_ns(CLOCK_MONOTONIC);

		begin(client, load, client->idle[--client->n_idle], now_ns, now_ns);
	}
	for (;;) {
		struct epoll_event events[EVENTS];
		int64_t now_ns = clock_now_ns(CLOCK_MONOTONIC);
		int n;

		if (is_open_loop)
			send_due(client, load, now_ns);
		if (now_ns - scan_ns > SCAN_MS * INT64_C(1000000)) {
			give_up_overdue(client, load, now_ns);
			scan_ns = now_ns;
		}
		if (client->n_idle == load->connections &&
			(load->failure || !is_open_loop || load->n_sent == load->requests))
			break;
		n = epoll_wait(client->epoll, events, EVENTS, SCAN_MS);
		for (int i = 0; i < n; i++) {
			if (events[i].data.u64 < CONNECTIONS_MAX)
				serve_event(client, load, &events[i]);
			else
				take_ring(client);
		}
	}
	load->cpu_ns += clock_now_ns(CLOCK_PROCESS_CPUTIME_ID);
	load->waited_ns = waited_ns < 0 ? -1 : read_waited_ns() - waited_ns;
	if (is_open_loop)
		ring_every(client, 0);
}

static void print_quantile(const struct client *client, const char *name, double quantile)
{
	int64_t ns;

	if (latency_quantile(&client->latency, quantile, &ns))
		xprint(stdout, ", \"%s\": %.9g", name, (double)ns / 1e9);
}

/* One line. Times in seconds. */
static void print_load(const struct client *client, const struct load *load)
{
	double seconds = (double)(load->ended_ns - load->began_ns) / 1e9;
	uint64_t n_ok = load->n_answered - load->n_not_ok;

	xprint(stdout, "{\"requests\": %ju, \"errors\": %ju, \"non2xx\": %ju, \"seconds\": %.9g",
		(uintmax_t)load->n_answered, (uintmax_t)(load->n_sent - n_ok),
		(uintmax_t)load->n_not_ok, seconds);
	if (seconds > 0)
		xprint(stdout, ", \"rps\": %.9g", (double)n_ok / seconds);
	xprint(stdout, ", \"bytes\": %ju, \"reconnects\": %ju, \"cpu_seconds\": %.9g",
		(uintmax_t)load->n_bytes, (uintmax_t)load->n_reconnects,
		(double)load->cpu_ns / 1e9);
	if (load->waited_ns >= 0)
		xprint(stdout, ", \"wait_seconds\": %.9g", (double)load->waited_ns / 1e9);
	if (load->rate > 0)
		xprint(stdout, ", \"rate\": %.9g, \"late\": %ju", load->rate,
			(uintmax_t)load->n_late);
	print_quantile(client, "p50", 0.5);
	print_quantile(client, "p90", 0.9);
	print_quantile(client, "p99", 0.99);
	print_quantile(client, "p999", 0.999);
	if (client->latency.n > 0)
		xprint(stdout, ", \"max\": %.9g", (double)client->latency.max_ns / 1e9);
	xprint(stdout, "}\n");
}

/* Each connection sends its part of --warm, so that all connections stand afterwards. */
static int warm_up(struct client *client)
{
	const struct options *o = client->options;
	struct load load = {
		.connections = o->connections,
		.requests = MAX(o->warm, o->connections),
	};
	int r = 0;

	if (o->warm == 0)
		return 0;
	make_load(client, &load);
	if (load.failure) {
		say("%s", load.failure);
		r = -EIO;
	}
	free(load.failure);
	return r;
}

static int load_and_print(struct client *client)
{
	const struct options *o = client->options;
	struct load load = {
		.connections = o->connections,
		.rate = o->rate,
		.requests = o->requests,
		.end_ns = (int64_t)(o->seconds * NSEC_PER_SEC),
	};
	int r = 0;

	if (o->rate > 0 && o->requests == 0)
		load.requests = MAX((uint64_t)(o->seconds * o->rate), UINT64_C(1));
	client->latency = (struct latency){ 0 };
	make_load(client, &load);
	print_load(client, &load);
	if (load.failure) {
		say("%s, after %ju requests", load.failure, (uintmax_t)load.n_answered);
		r = -EIO;
	}
	free(load.failure);
	return r;
}

/* Does what the lines of standard input say, until it ends. */
static int follow(struct client *client)
{
	_cleanup_free_ char *line = NULL;
	size_t size = 0;
	int r = 0;

	while (r == 0 && getline(&line, &size, stdin) >= 0) {
		if (strcmp(line, "warm\n") == 0) {
			r = warm_up(client);
			if (r == 0)
				xprint(stdout, "ready\n");
		} else if (strcmp(line, "load\n") == 0) {
			r = load_and_print(client);
		} else {
			say("--follow: a line is 'warm' or 'load'");
			r = -EINVAL;
		}
		if (print_finish(stdout) < 0)
			return -EIO;
	}
	return r;
}

static int open_client(const struct options *o, struct client *client)
{
	struct epoll_event event = { .events = EPOLLIN, .data.u64 = CONNECTIONS_MAX };
	int r = find_target(o, &client->target);

	if (r < 0)
		return r;
	client->options = o;
	client->target.request = write_request(o);
	client->target.request_size = strlen(client->target.request);
	for (size_t i = 0; i < CONNECTIONS_MAX; i++)
		client->connections[i].fd = -EBADF;
	client->epoll = epoll_create1(EPOLL_CLOEXEC);
	client->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (client->epoll < 0 || client->timer < 0 ||
		epoll_ctl(client->epoll, EPOLL_CTL_ADD, client->timer, &event) < 0) {
		r = -errno;
		say_errno(r, "cannot wait for answers");
	}
	return r;
}

int main(int argc, char *argv[])
{
	struct options options = {
		.connections = 1,
		.timeout = TIMEOUT_DEFAULT_S,
	};
	static struct client client;
	int r;

	survive_signal(SIGPIPE);
	r = parse_options(argc, argv, &options);
	if (r != 0)
		return r < 0 ? EXIT_USAGE : (int)print_conclude();
	r = open_client(&options, &client);
	if (r == 0 && options.follow)
		r = follow(&client);
	else if (r == 0)
		r = warm_up(&client) < 0 || load_and_print(&client) < 0 ? -EIO : 0;
	for (size_t i = 0; i < CONNECTIONS_MAX; i++)
		hang_up(&client.connections[i]);
	free(client.target.request);
	return r < 0 ? EXIT_FAILED : (int)print_conclude();
}
