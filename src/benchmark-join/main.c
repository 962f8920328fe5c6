// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * benchmark-join: moves whoever connects to /run/quiesce/join onto the CPUs of benchmark.target.
 *
 * systemd listens, lets only members of the group `benchmark` connect (benchmark-join.socket), and
 * starts this at the first connection, with the listening socket as standard input. Who is to be
 * moved, the kernel says; what that one sends is not even read. The answer is one line: "ok", or
 * why not; or none, where too many processes of one user ask at once.
 *
 * They are moved one after the other, for the work is systemd's, and must not be more than systemd
 * can do beside everything else: see turns.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "basic/clock.h"
#include "basic/say.h"
#include "benchmark-join/place.h"
#include "benchmark-join/turns.h"
#include "config.h"
#include "state/running.h"
#include "unit/unit.h"

enum {
	/* Before accepting is tried again when the system has no memory or files for it. */
	SHORTAGE_MS = 1000,
};

/* A line, whether or not somebody is there to read it. */
static void answer(int socket, const char *line)
{
	char text[256];
	int n = snprintf(text, sizeof(text), "%s\n", line);

	(void)send(socket, text, (size_t)n, MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* A scope with that process needs its slice, and would start one that is not up. */
static bool is_target_up(struct unit_manager *manager)
{
	_cleanup_(cpumask) struct cpumask *cpus = NULL;
	_cleanup_free_ char *state = NULL;

	return running_read_cpus(&cpus) == 0 &&
		unit_read_state(manager, TARGET_SLICE, &state) == 0 && strcmp(state, "active") == 0;
}

static void refuse(const struct asker *asker, const char *why)
{
	say("process %d of user %u is not moved: %s", asker->peer.pid, (unsigned)asker->peer.uid,
		why);
	answer(asker->socket, why);
}

static void move(const struct asker *asker)
{
	_cleanup_(unit_manager) struct unit_manager *manager = NULL;
	const char *why;
	int r;

	r = unit_open(&manager);
	if (r < 0) {
		refuse(asker, "systemd cannot be asked to");
		return;
	}
	if (!is_target_up(manager)) {
		refuse(asker,
			"benchmark.target is not up, or leaves its CPUs to all (SHIELD=leave)");
		return;
	}
	r = place_move(manager, &asker->peer);
	if (r == 0) {
		answer(asker->socket, "ok");
		return;
	}
	why = unit_why(manager);
	if (r == -ESRCH)
		why = "it has ended";
	else if (r == -EDQUOT)
		why = "its user has as many tasks there as he may (TasksMax=)";
	refuse(asker, why ? why : strerror(-r));
}

/* Who did not wait for his turn has gone away with his connection. */
static bool is_waiting(const struct asker *asker)
{
	struct pollfd fd = { .fd = asker->socket };

	return poll(&fd, 1, 0) == 0;
}

static void forget(struct asker *asker)
{
	close(asker->socket);
	peer_close(&asker->peer);
}

static void give_turn(struct turns *turns, struct asker *asker)
{
	int64_t began = clock_now_ns(CLOCK_MONOTONIC);

	if (is_waiting(asker)) {
		move(asker);
		turns_end(turns, asker->peer.uid, began, clock_now_ns(CLOCK_MONOTONIC));
	}
	forget(asker);
}

static void take_in(struct turns *turns, int socket)
{
	struct asker asker = { .socket = socket };
	int r;

	r = peer_open(socket, &asker.peer);
	if (r < 0) {
		if (r != -ESRCH)
			say_errno(r, "cannot tell who is asking");
		answer(socket, "the kernel cannot tell who is asking");
		close(socket);
		return;
	}
	if (turns_add(turns, &asker) < 0)
		forget(&asker);
}

/* Takes in who has come, and no more than may wait: then it is somebody's turn again. */
static int accept_all(struct turns *turns)
{
	for (size_t i = 0; i < TURNS_MAX; i++) {
		int socket = accept4(STDIN_FILENO, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

		if (socket >= 0) {
			take_in(turns, socket);
		} else if (errno == EAGAIN) {
			return 0;
		} else if (errno == ENOMEM || errno == ENOBUFS || errno == ENFILE ||
			errno == EMFILE) {
			say_errno(errno, "cannot take in who asks for now");
			return poll(NULL, 0, SHORTAGE_MS);
		} else if (errno != EINTR && errno != ECONNABORTED) {
			return -errno;
		}
	}
	return 0;
}

static int wait_for_askers(int64_t ready_ns)
{
	struct pollfd fd = { .fd = STDIN_FILENO, .events = POLLIN };
	int64_t left = ready_ns - clock_now_ns(CLOCK_MONOTONIC);
	const struct timespec timeout = { .tv_sec = left / NSEC_PER_SEC,
		.tv_nsec = left % NSEC_PER_SEC };

	if (left <= 0)
		return 0;
	return ppoll(&fd, 1, &timeout, NULL) < 0 && errno != EINTR ? -errno : 0;
}

/* Until systemd ends it. */
static int serve(void)
{
	static struct turns turns;
	struct asker asker;
	int r;

	if (fcntl(STDIN_FILENO, F_SETFL, O_NONBLOCK) < 0)
		return -errno;
	for (;;) {
		int64_t ready_ns = INT64_MAX;

		r = accept_all(&turns);
		if (r < 0)
			return r;
		r = turns_take(&turns, clock_now_ns(CLOCK_MONOTONIC), &asker, &ready_ns);
		if (r == 0)
			give_turn(&turns, &asker);
		else
			r = wait_for_askers(ready_ns);
		if (r < 0)
			return r;
	}
}

int main(int argc, char *argv[])
{
	if (argc == 2 && strcmp(argv[1], "--version") == 0) {
		print(stdout, "benchmark-join (quiesce) %s\n", QUIESCE_VERSION);
		return EXIT_DONE;
	}
	if (argc != 1) {
		fputs("benchmark-join is started by benchmark-join.socket, see benchmark.target(7)\n",
			stderr);
		return EXIT_USAGE;
	}
	say_errno(serve(), "cannot wait for who asks at standard input");
	return EXIT_FAILED;
}
