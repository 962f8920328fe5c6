// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/macro.h"
#include "base/say.h"
#include "base/tell.h"
#include "base/text.h"
#include "base/wait.h"
#include "quiet/benchmark-target/setters.h"
#include "quiet/benchmark-target/state.h"
#include "quiet/benchmark-target/verbs.h"
#include "quiet/benchmark-target/verdict.h"
#include "quiet/engine/journal.h"

#define PREPARE_UNIT "benchmark-prepare.service"
#define CHECK_UNIT "benchmark-check.service"
#define END_UNIT "benchmark-end.service"

enum {
	STOP_SECONDS = 10,
	STEP_NS = 100 * 1000 * 1000,
};

static int has_failed(struct systemd *manager, const char *service)
{
	_cleanup_free_ char *state = NULL;
	int r = systemd_read_state(manager, service, &state);

	return r < 0 ? r : strcmp(state, "failed") == 0;
}

int verdict_explain(struct systemd *manager, const char *service, char **ret)
{
	struct systemd_outcome outcome;
	int r;

	r = systemd_read_outcome(manager, service, &outcome);
	if (r < 0)
		return r;
	if (*outcome.status_text)
		*ret = TAKE_PTR(outcome.status_text);
	else
		r = text_format(ret, "%s did not do its work (%s): see `journalctl -b -u %s`",
			service, outcome.result, service);
	systemd_outcome_clear(&outcome);
	return r;
}

/* Adds the setters that still have something set, although the target has been stopped:
 * ", `freq-pin restore`". Those whose services were skipped have set it for somebody else. */
static int add_still_set(struct systemd *manager, struct text *ret)
{
	for (const struct target_setter *s = target_setters; s->program; s++) {
		struct systemd_outcome outcome;
		int r;

		if (!journal_exists(s->program))
			continue;
		r = systemd_read_outcome(manager, s->unit, &outcome);
		if (r < 0)
			return r;
		if (strcmp(outcome.result, "exec-condition") != 0)
			text_appendf(ret, ", `%s restore`", s->program);
		systemd_outcome_clear(&outcome);
	}
	text_append(ret, "");
	return ret->failed ? -ENOMEM : 0;
}

/* Why a service that comes after the setters has failed, and whether these have put back all. */
static int explain_undone(struct systemd *manager, const char *service, char **ret)
{
	_cleanup_text_ struct text still_set = { 0 };
	_cleanup_free_ char *why = NULL;
	int r;

	r = verdict_explain(manager, service, &why);
	if (r == 0)
		r = add_still_set(manager, &still_set);
	if (r < 0)
		return r;
	if (still_set.length == 0)
		return text_format(ret, "%s; everything is put back", why);
	return text_format(
		ret, "%s; not everything is put back: see %s", why, still_set.data + strlen(", "));
}

int verdict_read(struct systemd *manager, char **ret)
{
	/* When one of these services fails, the later ones fail because of it. Before the first one
	 * is done, nothing is changed. */
	static const char *const services[] = {
		PREPARE_UNIT,
		CHECK_UNIT,
		BEGIN_UNIT,
	};
	_cleanup_free_ char *state = NULL;
	int r;

	r = systemd_read_state(manager, CHECK_UNIT, &state);
	if (r < 0)
		return r;
	if (strcmp(state, "active") == 0)
		return verdict_explain(manager, CHECK_UNIT, ret);
	for (size_t i = 0; i < ARRAY_SIZE(services); i++) {
		r = has_failed(manager, services[i]);
		if (r < 0)
			return r;
		if (r > 0 && i == 0)
			return verdict_explain(manager, services[i], ret);
		if (r > 0)
			return explain_undone(manager, services[i], ret);
	}
	return -ENODATA;
}

int verb_tell(void)
{
	_cleanup_(systemd) struct systemd *manager = NULL;
	_cleanup_free_ char *state = NULL, *verdict = NULL, *line = NULL;
	int r;

	r = systemd_open(&manager);
	if (r == 0)
		r = systemd_read_state(manager, TARGET_UNIT, &state);
	if (r == 0)
		r = verdict_read(manager, &verdict);
	if (r == -ENODATA)
		return EXIT_DONE;
	if (r == 0)
		r = text_format(&line, "%s: %s",
			strcmp(state, "active") == 0 ? "up" : "not started", verdict);
	if (r < 0) {
		say_errno(r, "cannot find out whether " TARGET_UNIT " has started");
		return EXIT_FAILED;
	}
	tell_unit(TARGET_UNIT, line);
	return EXIT_DONE;
}

/* Whether the target is being stopped: systemd then stops END_UNIT before all other units. Waits
 * for that, as it may not have begun yet. */
static bool is_ending(struct systemd *manager)
{
	struct wait wait = wait_until(
		clock_now_ns(CLOCK_MONOTONIC) + STOP_SECONDS * NSEC_PER_SEC, STEP_NS, STEP_NS);

	do {
		_cleanup_free_ char *state = NULL;

		if (systemd_read_state(manager, END_UNIT, &state) == 0 &&
			strcmp(state, "active") != 0)
			return true;
	} while (wait_step(&wait));
	return false;
}

int verb_begun(void)
{
	_cleanup_(systemd) struct systemd *manager = NULL;
	_cleanup_free_ char *state = NULL;
	struct systemd_outcome outcome = { 0 };
	bool done, failed;
	int r;

	r = systemd_open(&manager);
	if (r == 0)
		r = has_failed(manager, PREPARE_UNIT);
	failed = r > 0;
	if (r >= 0)
		r = systemd_read_state(manager, CHECK_UNIT, &state);
	if (r == 0)
		r = systemd_read_outcome(manager, CHECK_UNIT, &outcome);
	if (r < 0) {
		say_errno(r, "cannot ask systemd whether the start is done");
		return EXIT_FAILED;
	}
	failed = failed || strcmp(state, "failed") == 0;
	done = strcmp(state, "active") == 0 && outcome.exit_status == EXIT_DONE;
	systemd_outcome_clear(&outcome);
	return done || (!failed && is_ending(manager)) ? EXIT_DONE : EXIT_FAILED;
}

int verb_do_job(enum systemd_job job, const char *unit, bool alone)
{
	_cleanup_(systemd) struct systemd *manager = NULL;
	int r;

	if (!text_starts_with(unit, "benchmark-") && strcmp(unit, TARGET_UNIT) != 0) {
		say("'%s' is no unit of benchmark.target", unit);
		return EXIT_USAGE;
	}
	r = systemd_open(&manager);
	if (r == 0)
		r = systemd_do_job(manager, job, unit, alone);
	if (r == 0)
		return EXIT_DONE;
	say("cannot %s %s: %s", job == SYSTEMD_START ? "start" : "stop", unit,
		manager && systemd_why(manager) ? systemd_why(manager) : strerror(-r));
	return EXIT_FAILED;
}

/* Adds why setters could not put back everything: those whose service failed. */
static int add_not_restored(struct systemd *manager, struct text *ret)
{
	int r = 0;

	for (const struct target_setter *s = target_setters; r == 0 && s->program; s++) {
		_cleanup_free_ char *why = NULL;

		if (!journal_exists(s->program))
			continue;
		r = has_failed(manager, s->unit);
		if (r < 0)
			break;
		if (r == 0)
			continue;
		r = verdict_explain(manager, s->unit, &why);
		if (r == 0)
			text_appendf(ret, "; %s: %s", s->key, why);
	}
	return r == 0 && ret->failed ? -ENOMEM : r;
}

int verb_release(void)
{
	_cleanup_(systemd) struct systemd *manager = NULL;
	_cleanup_text_ struct text reasons = { 0 };
	int r;

	r = systemd_open(&manager);
	if (r == 0)
		r = add_not_restored(manager, &reasons);
	if (r < 0)
		say_errno(r, "cannot find out whether everything is put back");
	if (r == 0 && reasons.length > 0) {
		_cleanup_free_ char *line = NULL;

		if (text_format(&line, "not everything is put back%s", reasons.data) == 0)
			tell_unit(TARGET_UNIT, line);
	}
	return state_remove() < 0 ? EXIT_FAILED : EXIT_DONE;
}
