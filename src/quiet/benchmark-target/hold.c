// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A guardian: a process that keeps the machine quiet for its client (runpinned --quiesce), for as
 * long as the client keeps a socket open. However the client ends, the kernel closes the socket,
 * and the guardian puts everything back.
 *
 * There may be several clients at a time, each with its own guardian. The guardians hold a shared
 * lock on /run/quiesce/holders, and the last one puts everything back; but not if the target was
 * already up before the first of them.
 *
 * `make-quiet` and `put-back` do without a client: the machine stays quiet until it is put back.
 * `put-back` undoes everything, whoever made the machine quiet, as before quiesce is removed or
 * upgraded.
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

#include "base/clock.h"
#include "base/file.h"
#include "base/macro.h"
#include "base/say.h"
#include "base/systemd/booted.h"
#include "base/systemd/systemd.h"
#include "base/wait.h"
#include "base/where/running.h"
#include "quiet/benchmark-target/alone.h"
#include "quiet/benchmark-target/evict.h"
#include "quiet/benchmark-target/parts.h"
#include "quiet/benchmark-target/request.h"
#include "quiet/benchmark-target/setters.h"
#include "quiet/benchmark-target/state.h"
#include "quiet/benchmark-target/verbs.h"
#include "quiet/benchmark-target/verdict.h"
#include "quiet/engine/journal.h"

enum {
	/* When runpinned is killed, its launcher gives the measured program two seconds to end. */
	LEAVE_SECONDS = 10,
	/* As long as each of the two services that stop the others may take (TimeoutStopSec=). */
	JOB_SECONDS = 10 * 60,
	STEP_NS = 100 * 1000 * 1000,

	/* An exit status of make-quiet, beside those of enum exit_status. */
	EXIT_UNTOUCHED = 4,
};

struct hold {
	int directory;
	int start_lock;		 /* locked while a guardian starts or stops the target */
	int holders_lock;	 /* every guardian has a shared lock while it holds */
	struct systemd *manager; /* NULL without systemd */
};

/* Whether the target is up. */
static int is_up(const struct hold *hold)
{
	_cleanup_(cpumask) struct cpumask *cpus = NULL;
	_cleanup_free_ char *state = NULL;
	int r;

	if (hold->manager) {
		r = systemd_read_state(hold->manager, TARGET_UNIT, &state);
		return r < 0 ? r : strcmp(state, "active") == 0;
	}
	r = running_read_cpus(&cpus);
	return r == -ENOENT ? 0 : r < 0 ? r : 1;
}

/* Starts the target's unit, and waits until it is up. */
static int start_unit(const struct hold *hold)
{
	_cleanup_free_ char *verdict = NULL;
	const char *why;
	int r = systemd_start(hold->manager, TARGET_UNIT);

	if (r == 0)
		return 0;
	why = systemd_why(hold->manager);
	if (!why && verdict_read(hold->manager, &verdict) == 0)
		why = verdict;
	say("%s does not start: %s", TARGET_UNIT, why ? why : strerror(-r));
	return r;
}

/* Restores, without systemd, what a failed start has set, and says whether that is all of it. */
static void restore_at_once(void)
{
	bool any_left = false;

	if (alone_restore(false) < 0) {
		say("not everything is put back");
		return;
	}
	for (const struct target_setter *s = target_setters; s->program; s++) {
		if (target_leaves(s) || !journal_exists(s->program))
			continue;
		say("not everything is put back: see `%s restore`", s->program);
		any_left = true;
	}
	if (!any_left)
		say("everything is put back");
	(void)state_remove();
}

static int start(const struct hold *hold, const char *cpus)
{
	_cleanup_close_ int request = -EBADF;
	int r;

	if (!hold->manager) {
		if (verb_prepare(cpus) != EXIT_DONE)
			return -EINVAL;
		r = alone_apply();
		if (r < 0)
			restore_at_once();
		return r;
	}
	if (cpus) {
		request = request_make(cpus);
		if (request < 0) {
			say_errno(request, "cannot ask for CPUs %s", cpus);
			return request;
		}
	}
	r = start_unit(hold);
	/* The target may still come up later, and nobody else would stop it. */
	if (r == -ETIMEDOUT)
		(void)systemd_stop(hold->manager, TARGET_UNIT);
	return r;
}

static int stop(const struct hold *hold)
{
	int r;

	if (hold->manager) {
		r = systemd_stop(hold->manager, TARGET_UNIT);
		/* Installed without units, or they have been removed meanwhile. */
		if (r == -ENOENT)
			return 0;
		if (r < 0)
			say_errno(r, "%s does not stop", TARGET_UNIT);
		return r;
	}
	/* If a program does not end, cpu-shield reports it. */
	(void)verb_evict();
	r = alone_restore(false);
	/* If not everything could be put back, the target stays. */
	return r < 0 ? r : state_remove();
}

static int open_lock(const struct hold *hold, const char *name)
{
	int fd = openat(hold->directory, name, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);

	return fd < 0 ? -errno : fd;
}

/* The caller has to call hold_close(), also after a failure. */
static int hold_open(struct hold *hold)
{
	int r;

	hold->directory = journal_open_directory();
	if (hold->directory < 0)
		return hold->directory;
	hold->start_lock = open_lock(hold, "turn");
	if (hold->start_lock < 0)
		return hold->start_lock;
	hold->holders_lock = open_lock(hold, "holders");
	if (hold->holders_lock < 0)
		return hold->holders_lock;
	r = systemd_is_booted() ? systemd_open(&hold->manager) : 0;
	/* -EOPNOTSUPP: built without libsystemd; then go on as without systemd. */
	return r == -EOPNOTSUPP ? 0 : r;
}

static void hold_close(struct hold *hold)
{
	systemd_close(hold->manager);
	if (hold->start_lock >= 0)
		close(hold->start_lock);
	if (hold->holders_lock >= 0)
		close(hold->holders_lock);
	if (hold->directory >= 0)
		close(hold->directory);
}

/* -EPERM, after saying so, if the target is up without the shield that it should have: then a
 * program on the quiet CPUs is not alone there. Without systemd there is nothing to check, because
 * alone_apply() fails without the shield. */
static int check_shield(const struct hold *hold)
{
	const struct target_setter *shield = target_find_setter("SHIELD");
	_cleanup_free_ char *options = NULL, *state = NULL, *why = NULL;
	int r;

	if (!hold->manager)
		return 0;
	r = target_read_options(shield, &options);
	if (r == 0)
		r = systemd_read_state(hold->manager, shield->unit, &state);
	if (r == -ENODATA || (r == 0 && strcmp(state, "active") == 0))
		return 0;
	if (r < 0) {
		say_errno(r, "cannot find out whether the CPUs are shielded");
		return r;
	}
	/* Somebody has stopped it, or it is about to end. */
	if (state && strcmp(state, "failed") != 0) {
		say("no CPU is shielded: %s is %s", shield->unit, state);
		return -EPERM;
	}
	r = verdict_explain(hold->manager, shield->unit, &why);
	say("no CPU is shielded: %s", r == 0 ? why : strerror(-r));
	return -EPERM;
}

/* Starts the target. If it comes up without the shield, everything is put back again. */
static int start_shielded(const struct hold *hold, const char *cpus)
{
	int r;

	r = start(hold, cpus);
	if (r < 0)
		return r;
	r = check_shield(hold);
	if (r < 0 && stop(hold) < 0)
		say("not everything is put back");
	return r;
}

/* Like is_up(), of systemd, once the target has no job: while it is being stopped it is up.
 * -ETIMEDOUT. */
static int is_up_in_the_end(const struct hold *hold)
{
	struct wait wait = wait_until(
		clock_now_ns(CLOCK_MONOTONIC) + JOB_SECONDS * NSEC_PER_SEC, STEP_NS, STEP_NS);

	do {
		int r = systemd_has_job(hold->manager, TARGET_UNIT);

		if (r <= 0)
			return r < 0 ? r : is_up(hold);
	} while (wait_step(&wait));
	return -ETIMEDOUT;
}

/* Like is_up(), but says why that cannot be found out. A target that is being started, as it is at
 * boot where it is enabled, is waited for, and counts as up: whoever starts it will stop it. One
 * that is being stopped is waited for as well, and is down then. */
static int ask_whether_up(const struct hold *hold)
{
	int up = is_up(hold), starting = 0, r;

	if (up > 0 && hold->manager)
		up = is_up_in_the_end(hold);
	if (up == 0 && hold->manager) {
		/* If the target is down and has a job, the job starts it. If there is no job, the
		 * start may have finished since is_up(): ask again. */
		starting = systemd_has_job(hold->manager, TARGET_UNIT);
		up = starting != 0 ? starting : is_up(hold);
	}
	/* Do not fall back to the way without systemd: without the units there is no
	 * benchmark-join.socket, which lets users onto the quiet CPUs. */
	if (up == -ENOENT && hold->manager)
		say("systemd knows no %s: it is installed with -Dunits=true, and known after "
		    "`systemctl daemon-reload`",
			TARGET_UNIT);
	else if (up < 0)
		say_errno(up, "cannot find out whether %s is up", TARGET_UNIT);
	if (starting <= 0)
		return up;
	r = start_unit(hold);
	return r < 0 ? r : up;
}

/* Starts the target unless it is up. If it has to be started, STATE_HELD is made first. */
static int begin(const struct hold *hold, const char *cpus)
{
	int up, r = 0;

	if (flock(hold->start_lock, LOCK_EX) < 0 || flock(hold->holders_lock, LOCK_SH) < 0) {
		r = -errno;
		say_errno(r, "cannot make the machine quiet");
		return r;
	}
	up = ask_whether_up(hold);
	if (up < 0) {
		r = up;
	} else if (!up) {
		int fd = open_lock(hold, STATE_HELD);

		r = fd;
		if (fd >= 0) {
			close(fd);
			r = start_shielded(hold, cpus);
		} else {
			say_errno(r, "cannot make %s/" STATE_HELD, journal_directory());
		}
		if (r < 0)
			(void)unlinkat(hold->directory, STATE_HELD, 0);
	} else {
		r = check_shield(hold);
	}
	(void)flock(hold->start_lock, LOCK_UN);
	return r;
}

static int end(const struct hold *hold)
{
	int r = 0;

	if (flock(hold->start_lock, LOCK_EX) < 0) {
		r = -errno;
		say_errno(r, "cannot put the machine back");
		return r;
	}
	/* The lock becomes exclusive only if there is no other guardian. */
	if (flock(hold->holders_lock, LOCK_EX | LOCK_NB) == 0 &&
		faccessat(hold->directory, STATE_HELD, F_OK, 0) == 0) {
		/* If the client was killed, the measured program ends a moment later. */
		(void)evict_wait(LEAVE_SECONDS);
		r = stop(hold);
		if (r == 0)
			(void)unlinkat(hold->directory, STATE_HELD, 0);
	}
	(void)flock(hold->start_lock, LOCK_UN);
	return r;
}

/* Waits until the client closes the socket; ignores what it sends. */
static void wait_for_client(void)
{
	char bytes[64];
	ssize_t n;

	do
		n = read(STDIN_FILENO, bytes, sizeof(bytes));
	while (n > 0 || (n < 0 && errno == EINTR));
}

/* Sends all of it, unless the client is gone already. */
static void send_all(const char *data, size_t n)
{
	while (n > 0) {
		ssize_t sent = send(STDIN_FILENO, data, n, MSG_NOSIGNAL);

		if (sent < 0 && errno == EINTR)
			continue;
		if (sent <= 0)
			return;
		data += sent;
		n -= (size_t)sent;
	}
}

/* Tells the client what has been achieved: the lines of parts_read(), and a last byte. */
static int send_parts(void)
{
	_cleanup_free_ char *lines = NULL;
	bool complete;
	int r;

	r = parts_read(&lines, &complete);
	if (r < 0) {
		say_errno(r, "cannot find out what has been done");
		return r;
	}
	send_all(lines, strlen(lines));
	send_all(complete ? HOLD_COMPLETE : HOLD_IN_PART, 1);
	return 0;
}

/* Signals of the terminal are meant for the client: the guardian ends when the client does. */
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
	struct hold hold = {
		.directory = -EBADF,
		.start_lock = -EBADF,
		.holders_lock = -EBADF,
	};
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
		int told = send_parts(), ended;

		/* If the client is gone already, wait_for_client() returns at once. */
		if (told == 0)
			wait_for_client();
		ended = end(&hold);
		r = told < 0 ? told : ended;
	}
	hold_close(&hold);
	return r < 0 ? EXIT_FAILED : EXIT_DONE;
}

/* Says for which CPUs the target is up, unless these are the ones that were asked for. */
static void say_other_cpus(const char *cpus)
{
	_cleanup_(cpumask) struct cpumask *quiet = NULL, *asked = NULL;
	_cleanup_free_ char *list = NULL;

	if (running_read_cpus(&quiet) < 0 || cpumask_new(&asked) < 0)
		return;
	if (cpumask_parse_list(cpus, 0, asked, NULL) == 0 && cpumask_equal(quiet, asked))
		return;
	list = cpumask_format_list(quiet);
	say("the machine is quiet already, for CPU %s and not for %s", list ? list : "?", cpus);
}

/* Starts the target unless it is up. EXIT_FINDING if somebody else has started it, who will stop
 * it; EXIT_UNTOUCHED for a failure that leaves nothing to be put back. If guardians have started
 * the target, STATE_HELD is removed, so that they leave it up when they end. */
static int make_quiet(const struct hold *hold, const char *cpus)
{
	int up, r;

	if (flock(hold->start_lock, LOCK_EX) < 0) {
		say_errno(errno, "cannot make the machine quiet");
		return EXIT_UNTOUCHED;
	}
	up = ask_whether_up(hold);
	if (up < 0)
		return EXIT_UNTOUCHED;
	r = up ? check_shield(hold) : start_shielded(hold, cpus);
	if (r < 0)
		return up ? EXIT_UNTOUCHED : EXIT_FAILED;
	if (up && unlinkat(hold->directory, STATE_HELD, 0) < 0) {
		say("somebody else has made the machine quiet already");
		return EXIT_FINDING;
	}
	if (up && cpus)
		say_other_cpus(cpus);
	return EXIT_DONE;
}

int verb_make_quiet(const char *cpus)
{
	struct hold hold = {
		.directory = -EBADF,
		.start_lock = -EBADF,
		.holders_lock = -EBADF,
	};
	int r, status = EXIT_UNTOUCHED;

	/* If the caller or its terminal ends in the middle, the work is done to its end. */
	ignore_signals();
	r = hold_open(&hold);
	if (r < 0)
		say_errno(r, "cannot make the machine quiet");
	else
		status = make_quiet(&hold, cpus);
	hold_close(&hold);
	return status;
}

/* How many setters still have a journal of this boot. Says which. */
static unsigned count_journals(void)
{
	unsigned n = 0;

	for (const struct target_setter *s = target_setters; s->program; s++) {
		_cleanup_(journal) struct journal *journal = NULL;
		_cleanup_free_ char *why = NULL;

		if (journal_load(s->program, &journal, &why) == -ENOENT)
			continue;
		say("%s/%s.journal still has settings that were not put back: see `%s restore`, or "
		    "`%s restore --force` for what somebody else has changed",
			JOURNAL_DIRECTORY, s->program, s->program, s->program);
		n++;
	}
	return n;
}

static int put_back(const struct hold *hold)
{
	int up, r = 0, restored;

	/* Stopping a target that is down does nothing. */
	up = hold->manager ? 1 : ask_whether_up(hold);
	if (up < 0)
		r = up;
	else if (up)
		r = stop(hold);
	/* BEGIN_UNIT stops after the target and then starts this program for a last time, so this
	 * waits for it: the caller may be about to remove the program. The machine is already put
	 * back, however this ends. */
	if (r == 0 && hold->manager)
		(void)systemd_stop(hold->manager, BEGIN_UNIT);
	/* Setters that a person has called have journals, too. */
	restored = alone_restore(true);
	if (r == 0)
		r = restored;
	return r < 0 ? r : state_remove();
}

int verb_put_back(void)
{
	struct hold hold = {
		.directory = -EBADF,
		.start_lock = -EBADF,
		.holders_lock = -EBADF,
	};
	unsigned standing;
	int r;

	/* As in verb_make_quiet(). */
	ignore_signals();
	r = hold_open(&hold);
	if (r == 0 && flock(hold.start_lock, LOCK_EX) < 0)
		r = -errno;
	if (r < 0)
		say_errno(r, "cannot put the machine back");
	else
		r = put_back(&hold);
	standing = count_journals();
	hold_close(&hold);
	return r < 0 ? EXIT_FAILED : standing > 0 ? EXIT_FINDING : EXIT_DONE;
}
