// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "basic/cleanup.h"
#include "basic/say.h"
#include "basic/text.h"

static char *last; /* what was said last */

static void say_line(const char *text, const char *reason)
{
	_cleanup_free_ char *clean = text_escape_control(text);

	free(last);
	if (asprintf(&last, "%s%s%s", clean ? clean : "out of memory", reason ? ": " : "",
		    reason ? reason : "") < 0)
		last = NULL;
	/* One call, so that lines of several processes do not mix. */
	fprintf(stderr, "%s: %s%s%s\n", program_invocation_short_name,
		clean ? clean : "out of memory", reason ? ": " : "", reason ? reason : "");
}

const char *say_last(void)
{
	return last;
}

int print(FILE *stream, const char *format, ...)
{
	_cleanup_free_ char *text = NULL, *clean = NULL;
	va_list ap;

	va_start(ap, format);
	if (vasprintf(&text, format, ap) < 0)
		text = NULL;
	va_end(ap);
	clean = text ? text_escape_lines(text) : NULL;
	if (!clean) {
		/* Not a line must be missing that nobody notices: to read from a stream that is
		 * open for writing is an error, and errors stick (POSIX, fgetc()). */
		(void)getc(stream);
		return -ENOMEM;
	}
	return fputs(clean, stream) == EOF ? -EIO : 0;
}

void say(const char *format, ...)
{
	_cleanup_free_ char *text = NULL;
	va_list ap;

	va_start(ap, format);
	if (vasprintf(&text, format, ap) < 0)
		text = NULL;
	va_end(ap);
	say_line(text ? text : "out of memory", NULL);
}

void say_errno(int error, const char *format, ...)
{
	_cleanup_free_ char *text = NULL;
	va_list ap;

	va_start(ap, format);
	if (vasprintf(&text, format, ap) < 0)
		text = NULL;
	va_end(ap);
	say_line(text ? text : "out of memory", strerror(abs(error)));
}

static const struct option *find_by_value(const struct option *table, int value)
{
	for (; table->name; table++) {
		if (!table->flag && table->val == value)
			return table;
	}
	return NULL;
}

/* How many options can be meant by so much of their name, and the first two of them. */
static size_t find_by_prefix(
	const struct option *table, const char *name, size_t length, const struct option *ret[2])
{
	size_t n = 0;

	for (; table->name; table++) {
		if (strncmp(table->name, name, length) != 0)
			continue;
		if (n < 2)
			ret[n] = table;
		n++;
	}
	return n;
}

void say_option(int refused, char *const argv[], const struct option *table)
{
	const char *self = program_invocation_short_name, *word = argv[optind - 1];
	const struct option *known, *meant[2];

	if (refused == ':') {
		say("%s needs a value; see %s --help", word, self);
		return;
	}
	/* A long option has its value there when it takes no argument, a short one itself, when
	 * there is none of that letter: it may stand in a cluster, so that `word` is another. */
	known = optopt != 0 ? find_by_value(table, optopt) : NULL;
	if (known)
		say("--%s takes no value; see %s --help", known->name, self);
	else if (optopt != 0)
		say("there is no option -%c; see %s --help", optopt, self);
	else if (strncmp(word, "--", 2) == 0 &&
		find_by_prefix(table, word + 2, strcspn(word + 2, "="), meant) > 1)
		say("%s could be --%s or --%s; see %s --help", word, meant[0]->name, meant[1]->name,
			self);
	else
		say("there is no option %s; see %s --help", word, self);
}
