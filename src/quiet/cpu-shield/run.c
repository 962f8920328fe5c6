// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/say.h"
#include "base/systemd/booted.h"
#include "base/systemd/systemd.h"
#include "base/text.h"
#include "base/where/cpulist.h"
#include "base/where/reserved.h"
#include "quiet/cpu-shield/affinity.h"
#include "quiet/cpu-shield/run.h"
#include "quiet/cpu-shield/shield.h"
#include "quiet/engine/cleared.h"

enum {
	EXIT_CANNOT_EXECUTE = 126,
	EXIT_NOT_FOUND = 127,
};

/* Has systemd start a scope in the slice, with this process in it. */
static int enter_slice(const char *program)
{
	_cleanup_(systemd) struct systemd *manager = NULL;
	_cleanup_free_ char *name = NULL;
	struct systemd_new scope = { .description = program, .slice = SHIELD_UNIT };
	int r;

	r = systemd_open(&manager);
	if (r < 0) {
		say_errno(r, "cannot reach systemd, which manages " SHIELD_UNIT);
		return r;
	}
	if (text_format(&name, "quiesce-run-%d.scope", (int)getpid()) < 0) {
		say_errno(-ENOMEM, "cannot enter " SHIELD_UNIT);
		return -ENOMEM;
	}
	scope.name = name;
	r = systemd_start_scope(manager, &scope, getpid(), -EBADF);
	if (r < 0)
		say_errno(r, "systemd does not start %s in " SHIELD_UNIT "%s%s", name,
			systemd_why(manager) ? ": " : "",
			systemd_why(manager) ? systemd_why(manager) : "");
	return r;
}

static int enter_cgroup(const char *procs)
{
	char pid[16];
	int r;

	snprintf(pid, sizeof(pid), "%d", (int)getpid());
	r = knob_write(NULL, procs, pid);
	if (r < 0)
		say_errno(r, "cannot enter the shield (%s)", procs);
	return r;
}

static int enter_shield(const char *program)
{
	_cleanup_(cpumask) struct cpumask *cleared = NULL;
	int r = reserved_read_cpus(&cleared);

	if (r == 0)
		return enter_cgroup(RESERVED_DOOR);
	if (r == -ENOENT)
		r = cleared_read(&cleared);
	if (r == 0)
		return 0;
	if (r != -ENOENT) {
		say_errno(r, "cannot read which CPUs are shielded");
		return r;
	}
	return systemd_is_booted() ? enter_slice(program)
				   : enter_cgroup(SHIELD_CGROUP "/cgroup.procs");
}

/* The CPUs of -c, which must all be shielded; without -c all shielded CPUs. */
static int choose_cpus(const char *list, const struct cpumask *shielded, struct cpumask *ret)
{
	_cleanup_free_ char *have = cpumask_format_list(shielded), *why = NULL;
	int r;

	if (!have)
		return -ENOMEM;
	cpumask_assign(ret, shielded);
	if (!list)
		return 0;
	r = cpulist_parse_list(list, 0, ret, &why);
	if (r == -EINVAL)
		say("-c: %s", why);
	if (r < 0)
		return r;
	if (!cpumask_subset(ret, shielded)) {
		say("-c: '%s' is not among the shielded CPUs (%s)", list, have);
		return -EINVAL;
	}
	return 0;
}

int run_program(const struct setter_verb_use *use, void *state _unused_)
{
	_cleanup_(cpumask) struct cpumask *shielded = NULL, *cpus = NULL;
	int r;

	if (!use->words[0]) {
		say("run needs a program: cpu-shield run [-c LIST] -- PROGRAM [ARGUMENT...]");
		return EXIT_USAGE;
	}
	r = shield_read_cpus(&shielded);
	if (r == -ENOENT) {
		say("no CPU is shielded: `cpu-shield -c LIST` does that");
		return EXIT_FAILED;
	}
	if (r == 0)
		r = cpumask_new(&cpus);
	if (r < 0) {
		say_errno(r, "cannot read which CPUs are shielded");
		return EXIT_FAILED;
	}
	r = choose_cpus(use->cpus, shielded, cpus);
	if (r == -ENOMEM)
		say_errno(r, "cannot choose among the shielded CPUs");
	if (r < 0)
		return r == -EINVAL ? EXIT_USAGE : EXIT_FAILED;
	if (enter_shield(use->words[0]) < 0)
		return EXIT_FAILED;
	/* Also without -c, because the kernel may remember an affinity from before. */
	r = cpumask_bind_self(cpus);
	if (r < 0) {
		say_errno(r, "cannot run on the shielded CPUs");
		return EXIT_FAILED;
	}
	execvp(use->words[0], use->words);
	r = errno;
	say_errno(r, "cannot execute %s", use->words[0]);
	return r == ENOENT ? EXIT_NOT_FOUND : EXIT_CANNOT_EXECUTE;
}
