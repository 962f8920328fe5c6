// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/say.h"
#include "base/where/running.h"
#include "quiet/benchmark-target/alone.h"
#include "quiet/benchmark-target/setters.h"
#include "quiet/benchmark-target/tool.h"
#include "quiet/benchmark-target/verbs.h"

int alone_try(const struct target_setter *setter)
{
	_cleanup_free_ char *options = NULL, *said = NULL;
	char *words[TARGET_WORDS_MAX];
	int r;

	r = target_read_words(setter, "apply", "--dry-run", &options, words);
	if (r < 0)
		return r == -ENODATA ? 0 : r;
	r = tool_run_and_read(setter->program, words, STDERR_FILENO, &said);
	/* Whether it may refuse is alone_apply()'s to say. */
	if (r <= 0 || r == EXIT_FINDING)
		return MIN(r, 0);
	say("%s: %s; nothing has been changed", setter->key,
		*said ? said : "it cannot be done, for an unknown reason");
	return -EINVAL;
}

/* The exit status of the setter, or a negative errno. */
static int apply(const struct target_setter *setter)
{
	_cleanup_free_ char *options = NULL;
	char *words[TARGET_WORDS_MAX];
	int r;

	r = target_read_words(setter, "apply", "--brief", &options, words);
	if (r < 0)
		return r == -ENODATA ? EXIT_DONE : r;
	return tool_run(setter->program, words, true);
}

int verb_restore(const char *key)
{
	const struct target_setter *setter = target_find_setter(key);
	char restore[] = "restore", once[] = "--once";

	if (!setter) {
		say("there is no '%s'", key);
		return EXIT_USAGE;
	}
	if (target_leaves(setter))
		return EXIT_DONE;
	(void)tool_become(setter->program, (char *const[]){ restore, once, NULL });
	return EXIT_FAILED;
}

int alone_apply(void)
{
	_cleanup_free_ char *strict = NULL;
	int r;

	r = running_read_value("STRICT", &strict);
	if (r < 0)
		say_errno(r, "cannot read STRICT of %s", TARGET_FILE);
	for (const struct target_setter *s = target_setters; r == 0 && s->program; s++) {
		/* Without the shield, other programs run on the quiet CPUs, so it must not fail.
		 */
		bool needed = strcmp(strict, "yes") == 0 || strcmp(s->key, "SHIELD") == 0;

		r = apply(s);
		if (r == EXIT_FINDING && !needed) {
			say("%s: the machine refuses: going on without it (STRICT=no)", s->program);
			r = 0;
		} else if (r != EXIT_DONE) {
			say("%s failed%s", s->program,
				r != EXIT_FINDING ? ""
					: strcmp(strict, "yes") == 0
					? " (STRICT=yes)"
					: " (without it nothing is quiet)");
			r = r < 0 ? r : -EIO;
		}
	}
	return r;
}

int alone_restore(bool all)
{
	const struct target_setter *s = target_setters;
	int r, first = 0;

	while (s->program)
		s++;
	while (s > target_setters) {
		s--;
		if (!all && target_leaves(s))
			continue;
		r = tool_run(s->program, (char *const[]){ (char[]){ "restore" }, NULL }, true);
		if (r != 0 && first == 0)
			first = r < 0 ? r : -EIO;
	}
	return first;
}
