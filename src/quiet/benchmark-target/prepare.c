// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdlib.h>

#include "base/say.h"
#include "base/text.h"
#include "base/where/running.h"
#include "config.h"
#include "quiet/benchmark-target/alone.h"
#include "quiet/benchmark-target/choose.h"
#include "quiet/benchmark-target/request.h"
#include "quiet/benchmark-target/settings.h"
#include "quiet/benchmark-target/state.h"
#include "quiet/benchmark-target/verbs.h"

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

/* Replaces the configured CPUs, for this start only. */
static int override_cpus(struct settings *settings, const char *cpus)
{
	_cleanup_free_ char *line = NULL;
	struct settings_error error;
	int r;

	if (text_format(&line, "CPUS=%s", cpus) < 0)
		return -ENOMEM;
	r = settings_parse(line, settings, &error);
	if (r == -EINVAL)
		say("'%s' is no CPU list", cpus);
	return r;
}

/* Asks the setters, before anything is changed, whether this machine can do what the configuration
 * wants. */
static int try_setters(void)
{
	int r = 0;

	for (const struct target_setter *s = target_setters; r == 0 && s->program; s++)
		r = alone_try(s);
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
	settings_clear(&settings);
	/* All other errors were reported where they occurred. */
	if (r == -ENOMEM)
		say("cannot prepare: out of memory");
	if (r != 0)
		return r;
	if (choice->reason)
		say("%s", choice->reason);
	else
		say("CPU %s, as asked for", choice->cpus_text);
	r = try_setters();
	if (r < 0)
		(void)state_remove();
	return r;
}

int verb_prepare(const char *cpus)
{
	_cleanup_free_ char *requested = NULL;
	int r;

	if (!cpus) {
		r = request_take(&requested);
		if (r < 0 && r != -ENOENT) {
			say_errno(r, "cannot read the request for CPUs");
			return EXIT_FAILED;
		}
		cpus = requested;
	}
	return prepare(cpus) < 0 ? EXIT_FAILED : EXIT_DONE;
}

int verb_wants(const char *key)
{
	const struct target_setter *setter = target_find_setter(key);
	_cleanup_free_ char *options = NULL;
	int r;

	/* For ExecCondition=, 255 is a failure, and any other status but 0 skips the service. */
	if (!setter) {
		say("there is no '%s'", key);
		return 255;
	}
	r = target_read_options(setter, &options);
	if (r == -ENODATA)
		say("%s is left as it is", key);
	else if (r < 0)
		say_errno(r, "cannot read what the target chose (%s)", TARGET_FILE);
	return r == 0 ? 0 : r == -ENODATA ? 1 : 255;
}
