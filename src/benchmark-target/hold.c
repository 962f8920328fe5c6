// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A guardian: it makes the machine quiet for as long as somebody is there, who shows that by
 * keeping a socket open. However that one ends, the kernel closes the socket, and the machine is
 * put back.
 *
 * Several may be there at a time, each with a guardian of its own. They share a lock on
 * /run/quiesce/holders, and the last to leave puts everything back; but not when it was an
 * administrator who had started the target before.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "basic/clock.h"
#include "basic/file.h"
#include "basic/say.h"
#include "benchmark-target/alone.h"
#include "benchmark-target/evict.h"
#include "benchmark-target/request.h"
#include "benchmark-target/state.h"
#include "benchmark-target/verbs.h"
#include "benchmark-target/verdict.h"
#include "state/journal.h"
#include "state/running.h"
#include "unit/unit.h"

enum {
	/* A launcher whose runpinned was killed gives its program two seconds to end. */
	LEAVE_SECONDS = 10,
};

struct hold {
	int directory;
	int turn; /* locked while the target is started or stopped on our behalf */
	int here; /* locked, shared, for as long as we hold */
	struct unit_manager *manager; /* NULL without systemd */
};

/* Whether the target is up. */
static int is_up(const struct hold *hold)
{
	_cleanup_(cpumask) struct cpumask *cpus = NULL;
	_cleanup_free_ char *state = NULL;
	int r;

	if (hold->manager) {
		r = unit_read_state(hold->manager, TARGET_UNIT, &state);
		return r < 0 ? r : strcmp(state, "active") == 0;
	}
	r = running_read_cpus(&cpus);
	return r == -ENOENT ? 0 : r < 0 ? r : 1;
}

static int start(const struct hold *hold, const char *cpus)
{
	_cleanup_close_ int request = -EBADF;
	int r;

	if (!hold->manager) {
		if (verb_prepare(cpus) != EXIT_DONE)
			return -EINVAL;
		r = alone_apply();
		if (r < 0 && alone_restore() == 0)
			(void)state_remove();
		return r;
	}
	if (cpus) {
		request = request_make(cpus);
		if (request < 0) {
			say_errno(request, "cannot ask for CPUs %s", cpus);
			return request;
		}
	}
	r = unit_start(hold->manager, TARGET_UNIT);
	if (r < 0) {
		_cleanup_free_ char *verdict = NULL;
		const char *why = unit_why(hold->manager);

		if (!why && verdict_read(hold->manager, &verdict) == 0)
			why = verdict;
		say("%s does not start: %s", TARGET_UNIT, why ? why : strerror(-r));
		/* It may still come up, and nobody else would stop it. */
		if (r == -ETIMEDOUT)
			(void)unit_stop(hold->manager, TARGET_UNIT);
	}
	return r;
}

static int stop(const struct hold *hold)
{
	int r;

	if (hold->manager) {
		r = unit_stop(hold->manager, TARGET_UNIT);
		if (r < 0)
			say_errno(r, "%s does not stop", TARGET_UNIT);
		return r;
	}
	/* What does not end, the shield tells. */
	(void)evict_all(NULL);
	r = alone_restore();
	/* What is left over stays in the journals, and the target with it. */
	return r < 0 ? r : state_remove();
}

static int open_lock(const struct hold *hold, const char *name)
{
	int fd = openat(hold->directory, name, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);

	return fd < 0 ? -errno : fd;
}

/* What is open then is to be closed, also after a failure. */
static int hold_open(struct hold *hold)
{
	int r;

	hold->directory = journal_open_directory();
	if (hold->directory < 0)
		return hold->directory;
	hold->turn = open_lock(hold, "turn");
	if (hold->turn < 0)
		return hold->turn;
	hold->here = open_lock(hold, "holders");
	if (hold->here < 0)
		return hold->here;
	r = unit_is_booted() ? unit_open(&hold->manager) : 0;
	/* Built without libsystemd: as without systemd. */
	return r == -EOPNOTSUPP ? 0 : r;
}

static void hold_close(struct hold *hold)
{
	unit_close(hold->manager);
	if (hold->turn >= 0)
		close(hold->turn);
	if (hold->here >= 0)
		close(hold->here);
	if (hold->directory >= 0)
		close(hold->directory);
}

/* The file says that the target is up for holders alone. */
static int begin(const struct hold *hold, const char *cpus)
{
	int up, r = 0;

	if (flock(hold->turn, LOCK_EX) < 0 || flock(hold->here, LOCK_SH) < 0)
		return -errno;
	up = is_up(hold);
	if (up < 0) {
		say_errno(up, "cannot find out whether %s is up", TARGET_UNIT);
		r = up;
	} else if (!up) {
		int fd = open_lock(hold, STATE_HELD);

		r = fd;
		if (fd >= 0) {
			close(fd);
			r = start(hold, cpus);
		}
		if (r < 0)
			(void)unlinkat(hold->directory, STATE_HELD, 0);
	}
	(void)flock(hold->turn, LOCK_UN);
	return r;
}

static int end(const struct hold *hold)
{
	int r = 0;

	if (flock(hold->turn, LOCK_EX) < 0)
		return -errno;
	/* Not made exclusive while others hold it. */
	if (flock(hold->here, LOCK_EX | LOCK_NB) == 0 &&
		faccessat(hold->directory, STATE_HELD, F_OK, 0) == 0) {
		/* What was measured ends a moment later than whom we hold for, when that one was
		 * killed. */
		(void)evict_wait(LEAVE_SECONDS);
		r = stop(hold);
		if (r == 0)
			(void)unlinkat(hold->directory, STATE_HELD, 0);
	}
	(void)flock(hold->turn, LOCK_UN);
	return r;
}

/* Until the other end is closed. What comes over it is of no interest. */
static void wait_for_end(void)
{
	char bytes[64];
	ssize_t n;

	do
		n = read(STDIN_FILENO, bytes, sizeof(bytes));
	while (n > 0 || (n < 0 && errno == EINTR));
}

/* Ctrl-C, a closed terminal and the like are for whom we hold. */
static void ignore_signals(void)
{
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	signal(SIGQUIT, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	(void)setsid();
}

int verb_hold(const char *cpus)
{
	struct hold hold = { .directory = -EBADF, .turn = -EBADF, .here = -EBADF };
	int r;

	ignore_signals();
	r = hold_open(&hold);
	if (r < 0) {
		say_errno(r, "cannot make the machine quiet");
		hold_close(&hold);
		return EXIT_FAILED;
	}
	r = begin(&hold, cpus);
	if (r == 0) {
		/* Nobody there any more is seen below. */
		(void)send(STDIN_FILENO, "", 1, MSG_NOSIGNAL);
		wait_for_end();
		r = end(&hold);
	}
	hold_close(&hold);
	return r < 0 ? EXIT_FAILED : EXIT_DONE;
}
