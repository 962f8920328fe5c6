// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "basic/say.h"
#include "benchmark-target/choose.h"
#include "benchmark-target/request.h"
#include "benchmark-target/settings.h"
#include "benchmark-target/state.h"
#include "benchmark-target/verbs.h"
#include "config.h"
#include "machine/target.h"

#define CONFIG_FILE CONFIGDIR "/benchmark.conf"

static int read_settings(struct settings *settings)
{
	struct settings_error error;
	int r;

	r = settings_read(CONFIG_FILE, settings, &error);
	if (r == -ENOENT)
		return 0;
	if (r == -EINVAL && error.line > 0)
		say("%s:%u: %s", CONFIG_FILE, error.line, error.reason);
	else if (r == -EINVAL)
		say("%s: %s", CONFIG_FILE, error.reason);
	else if (r < 0)
		say_errno(r, "cannot read %s", CONFIG_FILE);
	return r;
}

/* CPUs that somebody asks for this once, in place of the configured ones. */
static int override_cpus(struct settings *settings, const char *cpus)
{
	_cleanup_free_ char *line = NULL;
	struct settings_error error;
	int r;

	if (asprintf(&line, "CPUS=%s", cpus) < 0) {
		line = NULL;
		return -ENOMEM;
	}
	r = settings_parse(line, settings, &error);
	if (r == -EINVAL)
		say("'%s' is no CPU list", cpus);
	return r;
}

static int prepare(const char *cpus)
{
	_cleanup_(choice) struct choice *choice = NULL;
	struct settings settings = { 0 };
	int r;

	r = read_settings(&settings);
	if (r == 0 && cpus)
		r = override_cpus(&settings, cpus);
	if (r == 0)
		r = choose_cpus(&settings, &choice);
	if (r == 0)
		r = state_write(&settings, choice);
	if (r == 0 && choice->reason)
		say("%s", choice->reason);
	else if (r == 0)
		say("CPU %s, as asked for", choice->cpus_text);
	settings_clear(&settings);
	return r;
}

int verb_prepare(const char *cpus)
{
	_cleanup_free_ char *requested = NULL;
	int r;

	if (!cpus) {
		r = request_take(&requested);
		if (r < 0 && r != -ENOENT) {
			say_errno(r, "cannot read for which CPUs this is to be done");
			return EXIT_FAILED;
		}
		cpus = requested;
	}
	return prepare(cpus) < 0 ? EXIT_FAILED : EXIT_DONE;
}

int verb_wants(const char *key)
{
	_cleanup_free_ char *name = NULL, *options = NULL;
	int r;

	if (asprintf(&name, "%s_OPTIONS", key) < 0) {
		name = NULL;
		return EXIT_FAILED;
	}
	r = target_read_value(name, &options);
	if (r == -ENODATA)
		say("%s is left as it is", key);
	else if (r < 0)
		say_errno(r, "cannot read what the target chose (%s)", TARGET_FILE);
	/* systemd takes 255 for a failure, everything between for a reason to skip. */
	return r == 0 ? 0 : r == -ENODATA ? 1 : 255;
}
