// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * benchmark-join: moves whoever connects to /run/quiesce/join onto the CPUs of benchmark.target.
 *
 * systemd listens, lets only members of the group `benchmark` connect (benchmark-join.socket), and
 * starts one of these for each connection, with the socket as standard input. Who is to be moved,
 * the kernel says; what that one sends is not even read. The answer is one line: "ok", or why not.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "basic/clock.h"
#include "basic/say.h"
#include "benchmark-join/peer.h"
#include "config.h"
#include "machine/target.h"
#include "unit/unit.h"

/* A line, whether or not somebody is there to read it. */
static void answer(const char *line)
{
	char text[256];
	int n = snprintf(text, sizeof(text), "%s\n", line);

	(void)send(STDIN_FILENO, text, (size_t)n, MSG_NOSIGNAL | MSG_DONTWAIT);
}

static int refuse(const struct peer *peer, const char *why)
{
	say("process %d of user %u is not moved: %s", peer->pid, (unsigned)peer->uid, why);
	answer(why);
	return EXIT_FAILED;
}

/* A scope with that process needs its slice, and would start one that is not up. */
static bool is_target_up(struct unit_manager *manager)
{
	_cleanup_(cpumask) struct cpumask *cpus = NULL;
	_cleanup_free_ char *state = NULL;

	return target_read_cpus(&cpus) == 0 &&
		unit_read_state(manager, TARGET_SLICE, &state) == 0 && strcmp(state, "active") == 0;
}

static int move(const struct peer *peer)
{
	_cleanup_(unit_manager) struct unit_manager *manager = NULL;
	char scope[128], description[128];
	const char *why;
	int r;

	r = unit_open(&manager);
	if (r < 0)
		return refuse(peer, "systemd cannot be asked to");
	if (!is_target_up(manager))
		return refuse(peer,
			"benchmark.target is not up, or leaves its CPUs to all (SHIELD=leave)");
	/* The time, since a scope outlives the process that it was made for if that has children.
	 */
	snprintf(scope, sizeof(scope), "benchmark-%d-%lld.scope", peer->pid,
		(long long)clock_now_ns(CLOCK_MONOTONIC));
	snprintf(description, sizeof(description), "Benchmark of user %u, process %d",
		(unsigned)peer->uid, peer->pid);
	/* systemd is told a number, which nothing keeps for it: as late as can be. */
	if (!peer_is_alive(peer))
		return refuse(peer, "it has ended");
	r = unit_start_scope(manager, scope, TARGET_SLICE, description, peer->pid);
	if (r == 0)
		return EXIT_DONE;
	why = unit_why(manager);
	return refuse(peer, why ? why : strerror(-r));
}

int main(int argc, char *argv[])
{
	struct peer peer;
	int r, status;

	if (argc == 2 && strcmp(argv[1], "--version") == 0) {
		printf("benchmark-join (quiesce) %s\n", QUIESCE_VERSION);
		return EXIT_DONE;
	}
	if (argc != 1) {
		fputs("benchmark-join is started by benchmark-join.socket, see benchmark.target(7)\n",
			stderr);
		return EXIT_USAGE;
	}
	r = peer_open(STDIN_FILENO, &peer);
	if (r < 0) {
		say_errno(r, "cannot tell who is asking");
		answer("the kernel cannot tell who is asking");
		return EXIT_FAILED;
	}
	status = move(&peer);
	if (status == EXIT_DONE)
		answer("ok");
	peer_close(&peer);
	return status;
}
