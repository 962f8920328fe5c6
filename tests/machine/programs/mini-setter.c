// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A setter as small as one can be, to test what all of them share: the grammar, the tables, the
 * journal, the lock. It turns one knob of each kind, where the machine has it, and one that is no
 * file: "gate:" holds the setter up when it is told so, between what it turns before and after, and
 * what it puts back before and after.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/macro.h"
#include "base/say.h"
#include "quiet/setter/setter.h"

enum {
	GATE_STEP_NS = 5 * 1000 * 1000,
	GATE_STEPS = 4000,
};

struct state {
	const char *word; /* of WHAT */
	bool gate;
	bool fail;
	bool lose;
	bool doubt;
};

/* /run/gate-NAME is what the gate NAME was set to; without it, it is "open". */
static int gate_read(const char *rest, char **ret)
{
	char path[256], text[64];
	int r;

	snprintf(path, sizeof(path), "/run/gate-%s", rest);
	r = file_read_attr(AT_FDCWD, path, text, sizeof(text));
	if (r < 0 && r != -ENOENT)
		return r;
	*ret = strdup(r < 0 ? "open" : text);
	return *ret ? 0 : -ENOMEM;
}

static int write_text(const char *path, const char *text)
{
	_cleanup_close_ int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	if (fd < 0)
		return -errno;
	return write(fd, text, strlen(text)) == (ssize_t)strlen(text) ? 0 : -EIO;
}

/* Says in /run/at-gate what it is to be, and waits for /run/go. */
static int wait_at_gate(const char *text)
{
	struct timespec ts = { .tv_nsec = GATE_STEP_NS };
	int r;

	r = write_text("/run/at-gate", text);
	for (int i = 0; r == 0 && access("/run/go", F_OK) < 0; i++) {
		if (i == GATE_STEPS)
			return -ETIMEDOUT;
		clock_nanosleep(CLOCK_MONOTONIC, 0, &ts, NULL);
	}
	return r;
}

/* The broken one refuses everything; the lost one is that of a service which has just ended. */
static int gate_write(const char *rest, const char *text)
{
	char path[256];
	int r;

	if (strcmp(rest, "broken") == 0)
		return -EIO;
	if (strcmp(rest, "lost") == 0)
		return -ECONNRESET;
	snprintf(path, sizeof(path), "/run/gate-%s", rest);
	if (strcmp(text, "open") != 0)
		r = write_text(path, text);
	else
		r = unlink(path) < 0 && errno != ENOENT ? -errno : 0;
	return r < 0 ? r : wait_at_gate(text);
}

static int parse_what(const char *what, void *data)
{
	struct state *state = data;

	if (strcmp(what, "never") != 0 && strcmp(what, "madvise") != 0) {
		say("'%s' is neither never nor madvise", what);
		return -EINVAL;
	}
	state->word = what;
	return 0;
}

static int make_plan(const struct setter_target *target, struct knob_plan *plan, void *data)
{
	const struct state *state = data;
	int r;

	r = knob_plan_add(plan, 0, KNOB_CHOICE, "/sys/kernel/mm/transparent_hugepage/enabled",
		state->word, NULL, "huge pages");
	if (r == 0)
		r = knob_plan_add(plan, 0, KNOB_NUMBER, "/proc/sys/kernel/nmi_watchdog", "0", NULL,
			"NMI watchdog");
	if (r == 0)
		r = knob_plan_add(plan, 1, KNOB_LIST, "/proc/sys/kernel/watchdog_cpumask", "0",
			NULL, "watchdog");
	if (r == 0)
		r = knob_plan_add(plan, 1, KNOB_WORD, "/sys/kernel/mm/ksm/run", NULL, NULL, "KSM");
	if (r == 0 && (state->gate || target->verb == SETTER_STATUS))
		r = knob_plan_add(plan, 1, KNOB_WORD, "gate:main", "closed", NULL, "gate");
	cpumask_for_each (cpu, target->cpus ? target->cpus : target->topology->online) {
		struct knob *knob;
		char path[128];

		snprintf(path, sizeof(path),
			"/sys/devices/system/cpu/cpu%d/power/pm_qos_resume_latency_us", cpu);
		if (r == 0)
			r = knob_plan_add(plan, 2, KNOB_WORD, path, "n/a", &knob, "latency");
		if (r == 0)
			knob->cpu = cpu;
		snprintf(path, sizeof(path),
			"/sys/devices/system/cpu/cpu%d/cpufreq/scaling_max_freq", cpu);
		if (r == 0)
			r = knob_plan_add(
				plan, 3, KNOB_FREQUENCY, path, "2000000", &knob, "maximum");
		if (r == 0)
			knob->cpu = cpu;
	}
	if (r == 0)
		r = knob_plan_add_word(plan, 4, KNOB_HOST_CONTROLLED, "/sys/nowhere",
			"it is the host's", "the host's");
	if (r == 0 && state->fail)
		r = knob_plan_add(plan, 5, KNOB_WORD, "gate:broken", "closed", NULL, "broken gate");
	if (r == 0 && state->lose)
		r = knob_plan_add(plan, 5, KNOB_WORD, "gate:lost", "closed", NULL, "lost gate");
	if (r < 0 && r != -ENOMEM)
		say_errno(r, "cannot make a plan");
	return r;
}

static int doubt(const struct setter_target *target, _unused_ struct knob_plan *plan, void *data)
{
	const struct state *state = data;

	if (!state->doubt)
		return 0;
	say("verb %d did not do what it should", target->verb);
	return -EINVAL;
}

int main(int argc, char *argv[])
{
	static const struct knob_backend backends[] = {
		{ "gate", gate_read, gate_write },
		{ 0 },
	};
	struct state state = { .word = "madvise" };
	const struct option_row options[] = {
		{ 0, "gate", NULL, "wait for /run/go in the middle, then and at restore",
			option_set, &state.gate },
		{ 0, "fail", NULL, "fail at the end", option_set, &state.fail },
		{ 0, "lose", NULL, "lose a service at the end", option_set, &state.lose },
		{ 0, "doubt", NULL, "be content with nothing that was done", option_set,
			&state.doubt },
		{ 0 },
	};
	const struct setter setter = {
		.engine = {
			.tool = "mini-setter",
			.backends = backends,
		},
		.summary = "turns one knob of each kind, for tests",
		.what = "[never|madvise]",
		.options = options,
		.parse_what = parse_what,
		.plan = make_plan,
		.verify = doubt,
		.state = &state,
	};

	return setter_main(&setter, argc, argv);
}
