// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/say.h"
#include "base/wait.h"
#include "base/where/running.h"
#include "quiet/benchmark-target/evict.h"
#include "quiet/benchmark-target/setters.h"
#include "quiet/benchmark-target/verbs.h"

/* From Linux 5.14 on; isolated partitions are from 6.1 on. */
#define KILL TARGET_CGROUP "/cgroup.kill"

enum {
	GRACE_SECONDS = 10,
	/* A killed process ends only when its system call does. */
	KILL_SECONDS = 30,
	FIRST_STEP_NS = 10 * 1000 * 1000,
	LAST_STEP_NS = 100 * 1000 * 1000,
};

bool evict_wait(unsigned seconds)
{
	struct wait wait = wait_until(clock_now_ns(CLOCK_MONOTONIC) + seconds * NSEC_PER_SEC,
		FIRST_STEP_NS, LAST_STEP_NS);

	do {
		if (running_has_programs() == 0)
			return true;
	} while (wait_step(&wait));
	return false;
}

static int kill_all(void)
{
	_cleanup_close_ int fd = open(KILL, O_WRONLY | O_CLOEXEC);

	return fd < 0 || write(fd, "1", 1) != 1 ? -errno : 0;
}

int evict_all(struct systemd *manager)
{
	int r;

	r = running_has_programs();
	if (r < 0)
		say_errno(r, "cannot find out whether a program runs on the quiet CPUs (%s)",
			TARGET_EVENTS);
	if (r <= 0)
		return r;
	say("what still runs on the quiet CPUs is ended");
	/* systemd sends SIGTERM to all processes of the slice, and starts no others in it. SIGKILL
	 * does not need systemd, so an error of systemd does not matter. */
	if (!manager || systemd_request_stop(manager, TARGET_SLICE) < 0 ||
		!evict_wait(GRACE_SECONDS)) {
		r = kill_all();
		if (r < 0 && !evict_wait(0)) {
			say_errno(r, "cannot kill what runs on the quiet CPUs (%s)", KILL);
			return r;
		}
	}
	if (!evict_wait(KILL_SECONDS)) {
		say("a program on the quiet CPUs did not end after SIGKILL");
		return -EBUSY;
	}
	/* Wait until the slice has stopped: cpu-shield would find a value of it that is neither the
	 * one it has set nor the original one. */
	r = manager ? systemd_stop(manager, TARGET_SLICE) : 0;
	if (r < 0)
		say_errno(r, "cannot stop %s", TARGET_SLICE);
	return r;
}

int verb_evict(void)
{
	_cleanup_(systemd) struct systemd *manager = NULL;

	if (target_leaves(target_find_setter("SHIELD")))
		return EXIT_DONE;
	(void)systemd_open(&manager);
	return evict_all(manager) < 0 ? EXIT_FAILED : EXIT_DONE;
}
