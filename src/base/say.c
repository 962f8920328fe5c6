// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/guess.h"
#include "base/say.h"
#include "base/terminal.h"
#include "base/text.h"
#include "config.h"

static char *last_message;

/* When memory is short: the beginning of the text, with '?' for characters that a terminal might
 * obey. */
static void format_short(char *buf, size_t size, const char *format, va_list ap) _printf_(3, 0);

static void format_short(char *buf, size_t size, const char *format, va_list ap)
{
	vsnprintf(buf, size, format, ap);
	for (; *buf; buf++) {
		if (*buf < ' ' || *buf > '~')
			*buf = '?';
	}
}

static void say_line(const char *reason, const char *format, va_list ap) _printf_(2, 0);

static void say_line(const char *reason, const char *format, va_list ap)
{
	_cleanup_free_ char *text = NULL, *clean = NULL, *whole = NULL, *wrapped = NULL;
	char shortened[256];
	const char *line;
	va_list copy;

	va_copy(copy, ap);
	if (vasprintf(&text, format, copy) < 0)
		text = NULL;
	va_end(copy);
	clean = text ? text_escape_control(text) : NULL;
	if (!clean)
		format_short(shortened, sizeof(shortened), format, ap);
	line = clean ? clean : shortened;
	free(last_message);
	if (asprintf(&last_message, "%s%s%s", line, reason ? ": " : "", reason ? reason : "") < 0)
		last_message = NULL;
	if (isatty(STDERR_FILENO) &&
		asprintf(&whole, "%s: %s%s%s", program_invocation_short_name, line,
			reason ? ": " : "", reason ? reason : "") < 0)
		whole = NULL;
	wrapped = whole ? text_wrap(whole, terminal_width(STDERR_FILENO)) : NULL;
	/* One call, so that lines of several processes do not mix. */
	if (wrapped)
		fprintf(stderr, "%s\n", wrapped);
	else
		fprintf(stderr, "%s: %s%s%s\n", program_invocation_short_name, line,
			reason ? ": " : "", reason ? reason : "");
}

const char *say_last(void)
{
	return last_message;
}

static int print_text(FILE *stream, bool wrapped, const char *format, va_list ap) _printf_(3, 0);

static int print_text(FILE *stream, bool wrapped, const char *format, va_list ap)
{
	_cleanup_free_ char *text = NULL, *clean = NULL, *lines = NULL;

	if (vasprintf(&text, format, ap) < 0)
		text = NULL;
	clean = text ? text_escape_lines(text) : NULL;
	if (clean && wrapped)
		lines = text_wrap(clean, terminal_width(fileno(stream)));
	if (!clean || (wrapped && !lines)) {
		/* No line may be lost unnoticed. Reading from a stream that is open for writing is
		 * an error, and sets the stream's error indicator (POSIX, fgetc()). */
		(void)getc(stream);
		return -ENOMEM;
	}
	return fputs(lines ? lines : clean, stream) == EOF ? -EIO : 0;
}

int print(FILE *stream, const char *format, ...)
{
	va_list ap;
	int r;

	va_start(ap, format);
	r = print_text(stream, false, format, ap);
	va_end(ap);
	return r;
}

int print_report(FILE *stream, const char *format, ...)
{
	va_list ap;
	int r;

	va_start(ap, format);
	r = print_text(stream, isatty(fileno(stream)), format, ap);
	va_end(ap);
	return r;
}

int print_version(const char *tool)
{
	int r = print(stdout, "%s (quiesce) %s\n", tool, QUIESCE_VERSION);

	return r < 0 || !*BUILT_WITHOUT ? r : print(stdout, "built without %s\n", BUILT_WITHOUT);
}

int print_finish(FILE *stream)
{
	errno = 0;
	if (fflush(stream) == 0 && !ferror(stream))
		return 0;
	return errno > 0 ? -errno : -EIO;
}

enum exit_status print_conclude(void)
{
	int r = print_finish(stdout);

	if (r < 0)
		say_errno(r, "cannot write to standard output");
	return r < 0 ? EXIT_FAILED : EXIT_DONE;
}

void say(const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	say_line(NULL, format, ap);
	va_end(ap);
}

void say_errno(int error, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	say_line(strerror(abs(error)), format, ap);
	va_end(ap);
}

static const struct option *find_by_value(const struct option *table, int value)
{
	for (; table->name; table++) {
		if (!table->flag && table->val == value)
			return table;
	}
	return NULL;
}

/* Counts the options whose name begins with the first `length` characters of `name`, and returns
 * the first two of them. */
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

/* `word` as it was typed, perhaps with a value. */
static void say_no_option(const char *word, const struct option *table)
{
	_cleanup_free_ char *name = strndup(word, strcspn(word, "="));
	struct guess guess = { .word = name ? name + strspn(name, "-") : "" };
	char meant[GUESS_TEXT_SIZE];

	for (; table->name; table++)
		guess_offer(&guess, table->name);
	say("there is no option %s%s; see %s --help", word, guess_text(&guess, "--", meant),
		program_invocation_short_name);
}

void say_option(int refused, char *const argv[], const struct option *table)
{
	/* musl's getopt_long(3) counts the value that is not there. */
	const char *self = program_invocation_short_name,
		   *word = argv[optind - 1] ? argv[optind - 1] : argv[optind - 2];
	const struct option *known, *meant[2];

	if (refused == ':') {
		say("%s needs a value; see %s --help", word, self);
		return;
	}
	/* getopt_long(3) sets optopt to a long option's value when the option takes no argument,
	 * and to the letter of an unknown short option. The letter may be inside a cluster such as
	 * -abc, so `word` may be the next word. */
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
		say_no_option(word, table);
}
