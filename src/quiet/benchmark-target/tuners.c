// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tuners: services that turn the same knobs as we do. benchmark-tuners.service has Conflicts= with
 * them, so systemd stops them when it starts that service, and stops that service when one of them
 * starts. Before, the tuners that are running are written down; they are started again in the end.
 * Those that could not be started stay written down, for the next end.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/say.h"
#include "base/systemd/systemd.h"
#include "base/text.h"
#include "quiet/benchmark-target/state.h"
#include "quiet/benchmark-target/verbs.h"

#define TUNERS_UNIT "benchmark-tuners.service"

/* Removes the names of units that are not running, and of targets (every service conflicts with
 * shutdown.target), in place. */
static int filter_running(struct systemd *manager, char **names)
{
	size_t n = 0;
	int r = 0;

	for (size_t i = 0; names[i]; i++) {
		_cleanup_free_ char *state = NULL;
		const char *suffix = strrchr(names[i], '.');
		bool running = false;

		if (suffix && strcmp(suffix, ".target") != 0 && r == 0) {
			r = systemd_read_state(manager, names[i], &state);
			running = r == 0 && systemd_state_is_running(state);
			if (r == -ENOENT)
				r = 0;
		}
		if (running)
			names[n++] = names[i];
		else
			free(names[i]);
	}
	names[n] = NULL;
	return r;
}

int verb_note_tuners(void)
{
	_cleanup_(systemd) struct systemd *manager = NULL;
	char **names = NULL;
	int r;

	r = systemd_open(&manager);
	if (r == 0)
		r = systemd_read_names(manager, TUNERS_UNIT, "Conflicts", &names);
	if (r == 0)
		r = filter_running(manager, names);
	if (r == 0 && names[0])
		r = state_add_tuners(names);
	for (size_t i = 0; r == 0 && names[i]; i++)
		say("%s is stopped, and is started again when benchmark.target has stopped",
			names[i]);
	systemd_names_free(names);
	if (r < 0)
		say_errno(r, "cannot write down which services are to be started again");
	return r < 0 ? EXIT_FAILED : EXIT_DONE;
}

int verb_return_tuners(void)
{
	_cleanup_(systemd) struct systemd *manager = NULL;
	_cleanup_text_ struct text kept = { 0 };
	int status = EXIT_DONE, r;
	char **names;

	r = state_read_tuners(&names);
	if (r < 0) {
		say_errno(r, "cannot read which services are to be started again");
		return EXIT_FAILED;
	}
	if (names[0])
		r = systemd_open(&manager);
	if (r < 0) {
		say_errno(r,
			"cannot start the services again that were stopped for benchmark.target");
		systemd_names_free(names);
		return EXIT_FAILED;
	}
	for (size_t i = 0; names[i]; i++) {
		const char *why;

		r = systemd_start_unless_conflict(manager, names[i]);
		if (r == 0) {
			say("%s is started again", names[i]);
			continue;
		}
		/* EBUSY is no failure: the machine is shutting down. */
		why = systemd_why(manager);
		say("%s is not started again: %s", names[i], why ? why : strerror(-r));
		if (r != -EBUSY)
			status = EXIT_FAILED;
		/* A unit that is gone will not come back; the others are tried again. */
		if (r != -ENOENT)
			text_appendf(&kept, "%s\n", names[i]);
	}
	systemd_names_free(names);
	r = state_replace_tuners(&kept);
	if (r < 0)
		say_errno(r, "cannot write down which services are still to be started again");
	return r < 0 ? EXIT_FAILED : status;
}
