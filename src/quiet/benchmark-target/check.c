// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/facts.h"
#include "base/say.h"
#include "base/tell.h"
#include "base/text.h"
#include "base/where/running.h"
#include "quiet/benchmark-target/parts.h"
#include "quiet/benchmark-target/setters.h"
#include "quiet/benchmark-target/tool.h"
#include "quiet/benchmark-target/verbs.h"
#include "quiet/benchmark-target/verdict.h"

/* What has come of the setters' services. Each setter that the configuration wants is a part, also
 * where it is not run for lack of CPUs. */
struct parts {
	bool again; /* not at the start: what holds no longer counts, too */
	unsigned n;
	unsigned n_done;
	bool broken; /* a part failed, but not because the machine refused; or none is done */
	struct text missing; /* "; without FREQ: why; NOISE in part: why..." */
};

/* Adds what of a setter's work is missing. `refused`: the knob that refused when it was set, with
 * its reason, or "": a setter that succeeded may still tell of one. */
static void add_if_in_part(const struct target_setter *setter, const struct part *part,
	const char *refused, struct parts *parts)
{
	if (parts->again && !part->kept)
		text_appendf(&parts->missing, "; %s in part: %s%s%s", setter->key, part->now,
			*refused ? "; refused at the start: " : "", refused);
	else if (!parts->again && *refused)
		text_appendf(&parts->missing, "; %s in part: %s", setter->key, refused);
}

/* Also adds a line to the journal of the target. */
static int add_part(
	struct systemd *manager, const struct target_setter *setter, struct parts *parts)
{
	_cleanup_free_ char *state = NULL, *why = NULL;
	_cleanup_part_ struct part part = { 0 };
	struct systemd_outcome outcome;
	bool done, refused;
	int r;

	r = part_read(setter, &part);
	if (r < 0)
		return r;
	tell_unit(TARGET_UNIT, part.line);
	parts->n += part.now || part.why;
	if (part.now && part.why)
		text_appendf(&parts->missing, "; %s in part: %s", setter->key, part.why);
	else if (part.why)
		text_appendf(&parts->missing, "; without %s: %s", setter->key, part.why);
	if (!part.now)
		return 0;
	r = systemd_read_state(manager, setter->unit, &state);
	if (r == 0)
		r = systemd_read_outcome(manager, setter->unit, &outcome);
	if (r < 0)
		return r;
	/* The exit status counts, too: for systemd, a service that SIGTERM has ended has succeeded.
	 */
	done = strcmp(state, "active") == 0 && outcome.exit_status == EXIT_DONE;
	refused = strcmp(outcome.result, "exit-code") == 0 && outcome.exit_status == EXIT_FINDING;
	if (done)
		add_if_in_part(setter, &part, outcome.status_text, parts);
	systemd_outcome_clear(&outcome);
	if (done) {
		parts->n_done++;
		return 0;
	}
	parts->broken = parts->broken || !refused;
	r = verdict_explain(manager, setter->unit, &why);
	if (r == 0)
		text_appendf(&parts->missing, "; without %s: %s", setter->key, why);
	return r;
}

static int read_parts(struct parts *parts)
{
	_cleanup_(systemd) struct systemd *manager = NULL;
	int r;

	r = systemd_open(&manager);
	for (const struct target_setter *s = target_setters; r == 0 && s->program; s++)
		r = add_part(manager, s, parts);
	/* If the machine refused all parts, nothing is quiet. */
	parts->broken = parts->broken || (parts->n > 0 && parts->n_done == 0);
	text_append(&parts->missing, "");
	return r == 0 && parts->missing.failed ? -ENOMEM : r;
}

/* Says the verdict in one line, which `systemctl status benchmark.target` shows. */
static int judge(const struct parts *parts, const char *cpus, bool strict)
{
	const char *missing = parts->missing.data, *seen = "", *date;
	char buf[FACTS_DATE_SIZE];
	struct timespec now = { 0 };
	int status;

	if (parts->broken) {
		say("%s", missing + strlen("; "));
		return EXIT_FAILED;
	}
	status = tool_run("isol-check", (char *const[]){ NULL }, false);
	if (status == EXIT_FINDING)
		seen = "; isol-check sees what may disturb: `journalctl -b -u benchmark-check`";
	else if (status != EXIT_DONE)
		seen = "; isol-check could not look";
	if (strict && (*missing || *seen)) {
		say("STRICT=yes%s%s", missing, seen);
		return EXIT_FAILED;
	}
	(void)clock_gettime(CLOCK_REALTIME, &now);
	now.tv_nsec = 0;
	date = facts_format_date(&now, buf);
	say("%s%s, CPU %s, %u of %u parts%s%s; as of %s", *missing ? "degraded" : "quiet",
		!*missing && *seen ? ", but not as quiet as it could be" : "", cpus, parts->n_done,
		parts->n, missing, seen, date ? date : "an unknown date");
	return EXIT_DONE;
}

static int check(bool again)
{
	_cleanup_free_ char *cpus = NULL, *strict = NULL;
	struct parts parts = { .again = again };
	int r, status = EXIT_FAILED;

	r = running_read_value("CPUS", &cpus);
	if (r == 0)
		r = running_read_value("STRICT", &strict);
	if (r != 0) {
		say_errno(r, "cannot read what the target chose (%s)", TARGET_FILE);
		return EXIT_FAILED;
	}
	r = read_parts(&parts);
	if (r < 0)
		say_errno(r, "cannot find out what the services have done");
	else
		status = judge(&parts, cpus, strcmp(strict, "yes") == 0);
	text_clear(&parts.missing);
	return status;
}

int verb_check(void)
{
	return check(false);
}

int verb_recheck(void)
{
	_cleanup_free_ char *line = NULL;
	int status = check(true);

	if (text_format(&line, "now: %s", say_last()) == 0)
		tell_unit(TARGET_UNIT, line);
	return status;
}
