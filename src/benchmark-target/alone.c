// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "basic/say.h"
#include "benchmark-target/alone.h"
#include "benchmark-target/run.h"
#include "benchmark-target/setters.h"
#include "machine/target.h"

enum {
	WORDS_MAX = 32,
};

static int read_options(const struct target_setter *setter, char **ret)
{
	_cleanup_free_ char *key = NULL;

	if (asprintf(&key, "%s_OPTIONS", setter->key) < 0) {
		key = NULL;
		return -ENOMEM;
	}
	return target_read_value(key, ret);
}

static int apply(const struct target_setter *setter)
{
	_cleanup_free_ char *options = NULL;
	char *words[WORDS_MAX + 2] = { (char[]){ "apply" } }, *cursor;
	size_t n = 1;
	int r;

	r = read_options(setter, &options);
	if (r < 0)
		return r == -ENODATA ? 0 : r;
	cursor = options;
	while (cursor && n <= WORDS_MAX)
		words[n++] = strsep(&cursor, " ");
	if (cursor)
		return -E2BIG;
	r = run_program(setter->program, words, true);
	return r > 0 ? -EIO : r;
}

int alone_apply(void)
{
	_cleanup_free_ char *strict = NULL;
	int r;

	r = target_read_value("STRICT", &strict);
	for (const struct target_setter *s = target_setters; r == 0 && s->program; s++) {
		r = apply(s);
		if (r < 0 && strcmp(strict, "yes") != 0) {
			say("%s failed: going on without it (STRICT=no)", s->program);
			r = 0;
		} else if (r < 0) {
			say("%s failed: everything is put back (STRICT=yes)", s->program);
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
	while (s-- != target_setters) {
		r = run_program(s->program, (char *const[]){ (char[]){ "restore" }, NULL }, true);
		if (r != 0 && first == 0)
			first = r < 0 ? r : -EIO;
	}
	return first;
}
