// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * quiesce-figure: says a figure of the program that calls it, a shell script most often, in the
 * file that runpinned reads after the run (figurepad.h).
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/options.h"
#include "base/say.h"
#include "base/survive.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "judge/harness/benchfmt.h"
#include "measure/launch.h"

struct arguments {
	bool lower, higher;
};

static void usage(const struct option_row *rows)
{
	fputs("Usage: quiesce-figure [OPTIONS] NAME VALUE UNIT\n"
	      "Tell runpinned, which runs the program that calls this, a figure of this run.\n"
	      "Without runpinned, print it to standard error.\n"
	      "\n",
		stdout);
	option_rows_print(rows, stdout);
	fputs("\nExit status: 0 done, 1 failed, 2 wrong use. See quiesce-figure(1).\n", stdout);
}

/* As option_rows_read(): a VALUE may begin with a '-'. */
static int read_options(int argc, char *argv[], struct arguments *a)
{
	const struct option_row rows[] = {
		{ 0, "lower", NULL, "less of this unit is better", option_set, &a->lower },
		{ 0, "higher", NULL,
			"more of it is (without one of them: less of times,\n"
			"bytes and what is per operation, more of rates)",
			option_set, &a->higher },
		{ 'h', "help", .help = "this text" },
		{ 'V', "version", .help = "the version" },
		{ 0 },
	};
	int r = option_rows_read("+", rows, argc, argv);

	if (r == 'h')
		usage(rows);
	else if (r == 'V')
		xcheck(print_version("quiesce-figure"));
	return r;
}

static bool is_one_word(const char *text)
{
	return *text && !strpbrk(text, " \t\n\r");
}

/* The lines of the figure, malloc'd; NULL, after saying why, where they would be refused. */
static char *make_lines(const char *name, const char *value, const char *unit, const char *better)
{
	struct quantity_unit parsed;
	double number, step;

	if (!is_one_word(name) || strlen(name) > RULE_NAME_MAX)
		say("'%s' is not one word of up to %d bytes", name, RULE_NAME_MAX);
	else if (quantity_parse_number(value, false, &number, &step) < 0)
		say("%s: '%s' is not a number", name, value);
	else if (!*unit || quantity_parse_unit(unit, &parsed) < 0)
		say("%s: '%s' is no unit", name, unit);
	else if (better)
		return xformat("Unit %s better=%s\n" BENCHFMT_PREFIX "%s 1 %s %s\n", unit, better,
			name, value, unit);
	else if (benchfmt_find_better(parsed.base) == BETTER_UNKNOWN)
		say("which way is %s better? --higher or --lower says it", unit);
	else
		return xformat(BENCHFMT_PREFIX "%s 1 %s %s\n", name, value, unit);
	return NULL;
}

/* In one write(2) at the end of the file: others may say theirs at the same time. */
static int hand_over(const char *path, const char *lines)
{
	_cleanup_close_ int fd = file_open_at_once(path, O_WRONLY | O_APPEND);
	int r = fd < 0 ? fd : file_write_all(fd, lines, strlen(lines));

	if (r < 0)
		say_errno(r, "cannot write to %s ($" LAUNCH_FIGURES_VARIABLE ")", path);
	return r;
}

int main(int argc, char *argv[])
{
	const char *path = getenv(LAUNCH_FIGURES_VARIABLE);
	struct arguments a = { 0 };
	_cleanup_free_ char *lines = NULL;
	char **words;
	int r;

	survive_signal(SIGPIPE);
	r = read_options(argc, argv, &a);
	if (r < 0)
		return EXIT_USAGE;
	if (r > 0)
		return print_conclude();
	words = argv + optind;
	if (argc - optind != 3) {
		say("%s%s%sa figure is NAME VALUE UNIT", argc > optind ? "'" : "",
			argc > optind ? argv[argc - 1] : "", argc > optind ? "': " : "");
		return EXIT_USAGE;
	}
	if (a.lower && a.higher) {
		say("--lower and --higher exclude each other");
		return EXIT_USAGE;
	}
	lines = make_lines(words[0], words[1], words[2],
		a.lower		   ? "lower"
			: a.higher ? "higher"
				   : NULL);
	if (!lines)
		return EXIT_USAGE;
	if (path && *path)
		return hand_over(path, lines) < 0 ? EXIT_FAILED : EXIT_DONE;
	say("%s: %s %s (no runpinned runs this)", words[0], words[1], words[2]);
	return EXIT_DONE;
}
