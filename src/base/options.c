// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <getopt.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/options.h"
#include "base/say.h"

enum {
	FIRST_NAMELESS = 256, /* getopt's values for options without a letter begin here */
	HELP_COLUMN = 28,
};

int option_set(const char *value _unused_, void *into)
{
	*(bool *)into = true;
	return 0;
}

int option_text(const char *value, void *into)
{
	*(const char **)into = value;
	return 0;
}

int option_filled(const char *value, void *into)
{
	return *value ? option_text(value, into) : -EINVAL;
}

static bool is_end(const struct option_row *row)
{
	return !row->name && !row->help && !row->instead;
}

static int argument_kind(const struct option_row *row)
{
	if (!row->argument)
		return no_argument;
	return *row->argument == '[' ? optional_argument : required_argument;
}

/* What getopt_long(3) returns for the option of row i. */
static int value_of(const struct option_row *rows, size_t i)
{
	return rows[i].letter ? rows[i].letter : FIRST_NAMELESS + (int)i;
}

/* Fills the two arguments of getopt_long(3): the long names into `table`, and the letters after the
 * mode that `letters` already holds. */
static void fill_getopt_arguments(const struct option_row *rows,
	struct option table[OPTION_ROWS_MAX], char letters[3 * OPTION_ROWS_MAX])
{
	size_t n = 0;

	letters += strlen(letters);
	for (unsigned rank = 0; rank <= OPTION_RANK_MAX; rank++) {
		for (size_t i = 0; i < OPTION_ROWS_MAX && !is_end(&rows[i]); i++) {
			const struct option_row *row = &rows[i];

			if (!row->name || row->instead || row->rank != rank)
				continue;
			table[n++] = (struct option){
				.name = row->name,
				.has_arg = argument_kind(row),
				.val = value_of(rows, i),
			};
			if (!row->letter)
				continue;
			*letters++ = row->letter;
			/* getopt(3): no colon for no argument, one for a required, two for an
			 * optional argument. */
			for (int colons = argument_kind(row); colons > 0; colons--)
				*letters++ = ':';
		}
	}
}

static const struct option_row *find_row(const struct option_row *rows, int value)
{
	size_t i = 0;

	while (value_of(rows, i) != value)
		i++;
	return &rows[i];
}

/* Says what to type in place of an option of other tools that getopt_long(3) has just refused;
 * false where it is none. */
static bool say_instead(const struct option_row *rows, char *const argv[])
{
	const char *word = argv[optind - 1];
	size_t length = strcspn(word, "=");

	for (; !is_end(rows); rows++) {
		if (!rows->instead)
			continue;
		/* The letter may be among others, in a word that comes next. */
		if (optopt != 0 && rows->letter == optopt) {
			say("there is no option -%c: %s", optopt, rows->instead);
			return true;
		}
		if (optopt == 0 && rows->name && length == strlen(rows->name) + 2 &&
			strncmp(word + 2, rows->name, length - 2) == 0) {
			say("there is no option --%s: %s", rows->name, rows->instead);
			return true;
		}
	}
	return false;
}

/* `is_long`: the user has given the long name. */
static int take_value(const struct option_row *row, const char *value, bool is_long)
{
	const char short_name[] = { row->letter, '\0' };
	int r = row->take(value, row->into);

	if ((r == -EINVAL || r == -ERANGE) && row->wanted)
		say("%s%s: '%s' is not %s", is_long ? "--" : "-", is_long ? row->name : short_name,
			value, row->wanted);
	return r;
}

int option_rows_read(const char *mode, const struct option_row *rows, int argc, char *argv[])
{
	struct option table[OPTION_ROWS_MAX] = { 0 };
	char letters[3 * OPTION_ROWS_MAX] = "";
	bool seen[OPTION_ROWS_MAX] = { 0 };
	int value, index = -1;

	/* With the ':' getopt_long(3) returns ':' for a missing argument and '?' for an unknown
	 * option. */
	snprintf(letters, sizeof(letters), "%s:", mode);
	fill_getopt_arguments(rows, table, letters);
	opterr = 0;
	/* Only a long name changes `index`. */
	while ((value = getopt_long(argc, argv, letters, table, &index)) >= 0) {
		const struct option_row *row;
		int r;

		if (value == '?' && say_instead(rows, argv))
			return -EINVAL;
		if (value == ':' || value == '?') {
			say_option(value, argv, table);
			return -EINVAL;
		}
		row = find_row(rows, value);
		if (!row->take)
			return row->letter;
		if (row->once && seen[row - rows]) {
			say("--%s was given twice: there can be but one", row->name);
			return -EINVAL;
		}
		seen[row - rows] = true;
		r = take_value(row, optarg, index >= 0);
		if (r < 0)
			return r;
		if (row->given)
			*row->given = row->name;
		index = -1;
	}
	return 0;
}

static void print_row(const struct option_row *row, FILE *stream)
{
	const char letter[] = { '-', row->letter, ',', '\0' }, *line = row->help;
	const char *argument = row->argument ? row->argument : "";
	char start[80];
	int n;

	n = snprintf(start, sizeof(start), "  %3s --%s%s%s", row->letter ? letter : "", row->name,
		argument_kind(row) == required_argument ? " " : "", argument);
	print(stream, "%-*s", HELP_COLUMN, start);
	/* After a long option the help begins on the next line. */
	if (n >= HELP_COLUMN)
		print(stream, "\n%*s", HELP_COLUMN, "");
	for (;;) {
		size_t length = strcspn(line, "\n");

		print(stream, "%.*s\n", (int)length, line);
		if (!line[length])
			return;
		print(stream, "%*s", HELP_COLUMN, "");
		line += length + 1;
	}
}

void option_rows_print(const struct option_row *rows, FILE *stream)
{
	for (; !is_end(rows); rows++) {
		if (rows->instead)
			continue;
		if (rows->name)
			print_row(rows, stream);
		else
			print(stream, "%s\n", rows->help);
	}
}
