// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "basic/say.h"
#include "benchmark-target/alone.h"
#include "benchmark-target/run.h"
#include "benchmark-target/setters.h"
#include "state/running.h"

enum {
	WORDS_MAX = 32,
};

/* The arguments of a setter: `first`, `second` (may be NULL) and its options, ended by NULL. The
 * options point into *ret_options. -ENODATA where the setter is not to run. */
static int read_words(const struct target_setter *setter, const char *first, const char *second,
	char **ret_options, char *words[static WORDS_MAX + 3])
{
	char *options, *cursor;
	size_t n = 0;
	int r;

	r = target_read_options(setter, &options);
	if (r < 0)
		return r;
	*ret_options = options;
	words[n++] = (char *)first;
	if (second)
		words[n++] = (char *)second;
	cursor = options;
	while (cursor && n < WORDS_MAX + 2)
		words[n++] = strsep(&cursor, " ");
	words[n] = NULL;
	return cursor ? -E2BIG : 0;
}

int alone_try(const struct target_setter *setter)
{
	_cleanup_free_ char *options = NULL, *said = NULL;
	char *words[WORDS_MAX + 3];
	int r;

	r = read_words(setter, "apply", "--dry-run", &options, words);
	if (r < 0)
		return r == -ENODATA ? 0 : r;
	r = run_and_read_error(setter->program, words, &said);
	if (r <= 0)
		return r;
	say("%s: %s; nothing has been changed", setter->key,
		*said ? said : "it cannot be done, for an unknown reason");
	return -EINVAL;
}

/* The exit status of the setter, or a negative errno. */
static int apply(const struct target_setter *setter)
{
	_cleanup_free_ char *options = NULL;
	char *words[WORDS_MAX + 3];
	int r;

	r = read_words(setter, "apply", NULL, &options, words);
	if (r < 0)
		return r == -ENODATA ? EXIT_DONE : r;
	return run_program(setter->program, words, true);
}

int alone_apply(void)
{
	_cleanup_free_ char *strict = NULL;
	int r;

	r = running_read_value("STRICT", &strict);
	for (const struct target_setter *s = target_setters; r == 0 && s->program; s++) {
		r = apply(s);
		if (r == EXIT_FINDING && strcmp(strict, "yes") != 0) {
			say("%s: the machine refuses: going on without it (STRICT=no)", s->program);
			r = 0;
		} else if (r != EXIT_DONE) {
			say("%s failed: everything is put back%s", s->program,
				r == EXIT_FINDING ? " (STRICT=yes)" : "");
			r = r < 0 ? r : -EIO;
		}
	}
	return r;
}

int alone_restore(void)
{
	const struct target_setter *s = target_setters;
	int r, first = 0;

	while (s->program)
		s++;
	while (s > target_setters) {
		s--;
		r = run_program(s->program, (char *const[]){ (char[]){ "restore" }, NULL }, true);
		if (r != 0 && first == 0)
			first = r < 0 ? r : -EIO;
	}
	return first;
}
