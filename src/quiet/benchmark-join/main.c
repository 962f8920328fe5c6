// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * benchmark-join: moves processes that connect to /run/quiesce/join onto the CPUs of
 * benchmark.target.
 *
 * systemd listens, lets only members of the group `benchmark` connect (benchmark-join.socket), and
 * starts this program at the first connection, with the listening socket as standard input. The
 * kernel tells which process has connected; what the process sends is never read. The answer is one
 * line: "ok", or the reason of a refusal; there is no answer if too many processes of one user ask
 * at once.
 *
 * Processes are moved one after the other, because systemd does the work, and must have time for
 * other work: see queue.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/macro.h"
#include "base/say.h"
#include "base/systemd/systemd.h"
#include "base/where/running.h"
#include "quiet/benchmark-join/queue.h"
#include "quiet/benchmark-join/scope.h"

enum {
	/* The wait before the next accept4() when the system has no memory or descriptors left. */
	SHORTAGE_MS = 1000,
	/* A shortage that lasts is told again after this time. */
	SHORTAGE_TOLD_SECONDS = 600,
};

/* A shortage that has been told. */
struct shortage {
	int error; /* 0: none */
	int64_t told_ns;
};

/* Sends a line; it does not matter whether the process still reads it. */
static void answer(int socket, const char *line)
{
	char text[256];
	int n = snprintf(text, sizeof(text), "%s\n", line);

	if (RETRY_INTERRUPTED(send(socket, text, (size_t)n, MSG_NOSIGNAL | MSG_DONTWAIT)) < 0 &&
		errno != EPIPE)
		say_errno(errno, "cannot answer \"%s\"", line);
}

/* Checked because starting a scope would also start benchmark.slice if it is not up. 1, 0, or an
 * error. */
static int is_target_up(struct systemd *manager)
{
	_cleanup_(cpumask) struct cpumask *cpus = NULL;
	_cleanup_free_ char *state = NULL;
	int r;

	r = running_read_cpus(&cpus);
	if (r == 0)
		r = systemd_read_state(manager, TARGET_SLICE, &state);
	if (!state)
		return r == -ENOENT ? 0 : r;
	return strcmp(state, "active") == 0;
}

static void refuse(const struct asker *asker, const char *why)
{
	say("process %d of user %u is refused: %s", asker->peer.pid, (unsigned)asker->peer.uid,
		why);
	answer(asker->socket, why);
}

static void refuse_errno(const struct asker *asker, int r, const char *what)
{
	char why[128];

	/* systemd_open() has this one where there is no systemd. */
	if (r == -ESRCH)
		snprintf(why, sizeof(why), "%s", what);
	else
		snprintf(why, sizeof(why), "%s: %s", what, strerror(-r));
	refuse(asker, why);
}

static void move_asker(const struct asker *asker)
{
	_cleanup_(systemd) struct systemd *manager = NULL;
	const char *why;
	char both[256];
	bool unknown = false;
	int r;

	r = systemd_open(&manager);
	if (r < 0) {
		refuse_errno(asker, r, "systemd cannot be reached");
		return;
	}
	r = is_target_up(manager);
	if (r < 0) {
		refuse_errno(asker, r, "cannot find out whether benchmark.target is up");
		return;
	}
	if (r == 0) {
		refuse(asker,
			"benchmark.target is not up, or leaves its CPUs to all (SHIELD=leave)");
		return;
	}
	r = scope_move(manager, &asker->peer, &unknown);
	if (r == 0) {
		answer(asker->socket, "ok");
		return;
	}
	why = systemd_why(manager);
	if (!why)
		why = strerror(-r);
	if (unknown)
		snprintf(both, sizeof(both), "%.160s; it is not known whether it will be moved",
			why);
	else if (r == -EXDEV)
		why = "systemd did not move it, and says that it did";
	else if (r == -ESRCH)
		why = "it has ended";
	else if (r == -EDQUOT)
		why = "its user has reached the limit of tasks there (TasksMax=)";
	refuse(asker, unknown ? both : why);
}

/* Whether the asker has not closed its connection, as far as can be told. */
static bool is_waiting(const struct asker *asker)
{
	struct pollfd fd = { .fd = asker->socket };

	return poll(&fd, 1, 0) <= 0;
}

static void close_asker(struct asker *asker)
{
	close(asker->socket);
	peer_close(&asker->peer);
}

static void give_turn(struct queue *queue, struct asker *asker)
{
	int64_t began = clock_now_ns(CLOCK_MONOTONIC);

	if (is_waiting(asker)) {
		move_asker(asker);
		queue_end_turn(queue, asker->peer.uid, began, clock_now_ns(CLOCK_MONOTONIC));
	}
	close_asker(asker);
}

static void add_asker(struct queue *queue, int socket)
{
	struct asker asker = { .socket = socket };
	int r;

	r = peer_open(socket, &asker.peer);
	if (r < 0) {
		if (r != -ESRCH && r != -EXDEV)
			say_errno(r, "cannot tell who is asking");
		answer(socket,
			r == -EXDEV ? "it is in another user namespace, so that nobody can tell "
				      "whose it is"
				    : "the kernel cannot tell who is asking");
		close(socket);
		return;
	}
	if (queue_add(queue, &asker) < 0)
		close_asker(&asker);
}

/* It is tried once a second, for as long as it lasts: that is not worth a line each time. */
static void tell_shortage(struct shortage *shortage, int error)
{
	int64_t now_ns = clock_now_ns(CLOCK_MONOTONIC);

	if (shortage->error == error &&
		now_ns - shortage->told_ns < SHORTAGE_TOLD_SECONDS * NSEC_PER_SEC)
		return;
	*shortage = (struct shortage){ error, now_ns };
	say_errno(error, "cannot accept connections; it goes on trying");
}

/* Accepts the pending connections: at most as many as can wait, so that turns go on. */
static int accept_all(struct queue *queue, struct shortage *shortage)
{
	for (size_t i = 0; i < QUEUE_MAX; i++) {
		int socket = accept4(STDIN_FILENO, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

		if (socket >= 0) {
			add_asker(queue, socket);
		} else if (errno == EAGAIN) {
			return 0;
		} else if (errno == ENOMEM || errno == ENOBUFS || errno == ENFILE ||
			errno == EMFILE) {
			tell_shortage(shortage, errno);
			(void)poll(NULL, 0, SHORTAGE_MS);
			return 0;
		} else if (errno != EINTR && errno != ECONNABORTED) {
			return -errno;
		}
	}
	return 0;
}

/* Waits for a connection, or until ready_ns. */
static int wait_for_askers(int64_t ready_ns)
{
	struct pollfd fd = { .fd = STDIN_FILENO, .events = POLLIN };
	int64_t wait_ns = ready_ns - clock_now_ns(CLOCK_MONOTONIC);
	const struct timespec timeout = { .tv_sec = wait_ns / NSEC_PER_SEC,
		.tv_nsec = wait_ns % NSEC_PER_SEC };

	if (wait_ns <= 0)
		return 0;
	if (ppoll(&fd, 1, &timeout, NULL) < 0)
		return errno == EINTR ? 0 : -errno;
	/* Nobody can connect any more, and accept4() only says EAGAIN. */
	return fd.revents & ~POLLIN ? -ENOTCONN : 0;
}

/* Returns only on failure: systemd ends the server. */
static int serve(void)
{
	static struct queue queue;
	struct shortage shortage = { 0 };
	struct asker asker;
	int r;

	if (fcntl(STDIN_FILENO, F_SETFL, O_NONBLOCK) < 0)
		return -errno;
	for (;;) {
		int64_t ready_ns = INT64_MAX;

		r = accept_all(&queue, &shortage);
		if (r < 0)
			return r;
		r = queue_take(&queue, clock_now_ns(CLOCK_MONOTONIC), &asker, &ready_ns);
		if (r == 0)
			give_turn(&queue, &asker);
		else
			r = wait_for_askers(ready_ns);
		if (r < 0)
			return r;
	}
}

int main(int argc, char *argv[])
{
	if (argc == 2 && strcmp(argv[1], "--version") == 0) {
		print_version("benchmark-join");
		return EXIT_DONE;
	}
	if (argc != 1) {
		fputs("benchmark-join is started by benchmark-join.socket, see benchmark.target(7)\n",
			stderr);
		return EXIT_USAGE;
	}
	say_errno(serve(), "cannot wait for connections at standard input");
	return EXIT_FAILED;
}
