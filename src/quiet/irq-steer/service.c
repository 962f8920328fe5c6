// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/macro.h"
#include "base/systemd/dropin.h"
#include "base/systemd/systemd.h"
#include "base/text.h"
#include "base/wait.h"
#include "quiet/engine/knob.h"
#include "quiet/irq-steer/irqbalance.h"
#include "quiet/irq-steer/service.h"

enum {
	ANSWER_SECONDS = 10,
	ANSWER_STEP_NS = 100 * 1000 * 1000,
};

int service_read(const char *unit, char **ret)
{
	_cleanup_(systemd) struct systemd *manager = NULL;
	_cleanup_free_ char *state = NULL;
	char *text;
	int r;

	r = systemd_open(&manager);
	if (r == 0)
		r = systemd_read_state(manager, unit, &state);
	if (!state)
		return r == -ESRCH || r == -EOPNOTSUPP ? -ENOENT : r;
	text = strdup(systemd_state_is_running(state) ? "running" : "stopped");
	if (!text)
		return -ENOMEM;
	*ret = text;
	return 0;
}

int service_write(const char *unit, const char *text)
{
	_cleanup_(systemd) struct systemd *manager = NULL;
	int r;

	r = systemd_open(&manager);
	if (r < 0)
		return r;
	if (strcmp(text, "running") == 0)
		return systemd_start(manager, unit);
	return strcmp(text, "stopped") == 0 ? systemd_stop(manager, unit) : -EINVAL;
}

char *service_format_ban(const struct cpumask *banned)
{
	_cleanup_free_ char *list = cpumask_format_list(banned);
	_cleanup_free_ char *mask = cpumask_format_hex(banned, 1);
	char *text;

	/* Older releases know the mask only. */
	if (!list || !mask ||
		text_format(&text, "IRQBALANCE_BANNED_CPUS=%s IRQBALANCE_BANNED_CPULIST=%s", mask,
			list) < 0)
		return NULL;
	return text;
}

/* Whether the service was started when the drop-in was there. */
static int was_started_with(struct systemd *manager, const char *unit)
{
	uint64_t started_us;
	int64_t written;
	int r;

	r = dropin_read_time(unit, &written);
	if (r == 0)
		r = systemd_read_number(manager, unit, "ExecMainStartTimestamp", &started_us);
	if (r < 0)
		return r == -ENOENT ? 0 : r;
	return started_us > (uint64_t)written / NSEC_PER_USEC;
}

/* Until it answers, nobody can tell it which CPUs were banned before. It need not answer. */
static int wait_for_answer(void)
{
	struct wait wait = wait_until(clock_now_ns(CLOCK_MONOTONIC) + ANSWER_SECONDS * NSEC_PER_SEC,
		ANSWER_STEP_NS, ANSWER_STEP_NS);
	_cleanup_free_ char *banned = NULL;
	int r;

	do
		r = irqbalance_read("", &banned);
	while (r < 0 && !errno_is_ours(-r) && wait_step(&wait));
	return r < 0 && errno_is_ours(-r) ? r : 0;
}

static int restart(struct systemd *manager, const char *unit)
{
	_cleanup_free_ char *state = NULL;
	int r;

	r = systemd_read_state(manager, unit, &state);
	if (r < 0 || !systemd_state_is_running(state))
		return r;
	r = systemd_stop(manager, unit);
	if (r == 0)
		r = systemd_start(manager, unit);
	return r < 0 ? r : wait_for_answer();
}

static int lift_ban(const char *unit)
{
	_cleanup_(systemd) struct systemd *manager = NULL;
	int started, r;

	r = systemd_open(&manager);
	if (r < 0)
		return r;
	started = was_started_with(manager, unit);
	r = started < 0 ? started : dropin_write(unit, "irq-steer", DROPIN_NONE);
	return r == 0 && started > 0 ? restart(manager, unit) : r;
}

int service_write_ban(const char *unit, const char *text)
{
	return strcmp(text, DROPIN_NONE) == 0 ? lift_ban(unit)
					      : dropin_write(unit, "irq-steer", text);
}

bool service_is_ours(const char *unit)
{
	return strcmp(unit, SERVICE_IRQBALANCE) == 0;
}
