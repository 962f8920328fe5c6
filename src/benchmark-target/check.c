// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <string.h>

#include "basic/say.h"
#include "benchmark-target/run.h"
#include "benchmark-target/setters.h"
#include "benchmark-target/verbs.h"
#include "machine/target.h"
#include "unit/unit.h"

/* How many of the setters' services have failed; a negative errno where that cannot be told. */
static int count_failed(void)
{
	_cleanup_(unit_manager) struct unit_manager *manager = NULL;
	int r, n = 0;

	r = unit_open(&manager);
	if (r < 0) {
		say_errno(r, "cannot ask systemd which services failed");
		return r;
	}
	for (const struct target_setter *s = target_setters; s->program; s++) {
		_cleanup_free_ char *state = NULL;

		r = unit_read_state(manager, s->unit, &state);
		if (r < 0) {
			say_errno(r, "cannot ask systemd about %s", s->unit);
			return r;
		}
		if (strcmp(state, "failed") != 0)
			continue;
		say("%s failed, and what it had changed is put back: see `journalctl -b -u %s`",
			s->unit, s->unit);
		n++;
	}
	return n;
}

static int read_strict(bool *ret)
{
	_cleanup_free_ char *value = NULL;
	int r;

	r = target_read_value("STRICT", &value);
	if (r < 0) {
		say_errno(r, "cannot read what the target chose (%s)", TARGET_FILE);
		return r;
	}
	*ret = strcmp(value, "yes") == 0;
	return 0;
}

int verb_check(void)
{
	bool strict, good;
	int failed, status;

	if (read_strict(&strict) < 0)
		return EXIT_FAILED;
	failed = count_failed();
	status = run_program("isol-check", (char *const[]){ NULL }, false);
	good = failed == 0 && status == EXIT_DONE;
	if (good)
		say("verdict: quiet");
	else if (status == EXIT_FINDING)
		say("verdict: not as quiet as it could be, see above (`isol-check --explain ID` says more)");
	else if (status != EXIT_DONE)
		say("verdict: none, isol-check could not look");
	else
		say("verdict: quiet, but for what failed");
	if (good || !strict)
		return EXIT_DONE;
	say("STRICT=yes: everything is put back");
	return EXIT_FAILED;
}
