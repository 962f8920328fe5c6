// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "base/guess.h"
#include "base/macro.h"
#include "base/options.h"
#include "base/say.h"
#include "quiet/setter/arguments.h"

static const char *const verb_names[] = {
	[SETTER_APPLY] = "apply",
	[SETTER_STATUS] = "status",
	[SETTER_RESTORE] = "restore",
};

/* `common`: the options of all setters. */
static void usage(const struct setter *setter, const struct option_row *common)
{
	const char *what = setter->what ? setter->what : "", *space = setter->what ? " " : "";

	print(stdout,
		"Usage: %s [apply] [OPTIONS]%s%s\n"
		"       %s status [OPTIONS]%s%s\n"
		"       %s restore [--force] [--once] [-v] [--json]\n",
		setter->engine.tool, space, what, setter->engine.tool, space, what,
		setter->engine.tool);
	for (const struct setter_verb_own *own = setter->verbs; own && own->name; own++)
		print(stdout, "       %s %s\n", setter->engine.tool, own->usage);
	print(stdout, "%s\n\n", setter->summary);
	if (setter->help)
		print(stdout, "%s", setter->help);
	if (setter->options)
		option_rows_print(setter->options, stdout);
	option_rows_print(common, stdout);
	print(stdout,
		"\n"
		"apply (the default) writes down the settings and then changes them; status shows\n"
		"them; restore puts the original settings back exactly.\n"
		"Exit status: 0 done, 1 failed, 2 wrong use, 3 refused. See %s(8).\n",
		setter->engine.tool);
}

static int take_strict(const char *value, void *into)
{
	struct arguments *a = into;

	if (value && strcmp(value, "refused") != 0)
		return -EINVAL;
	a->strict = a->strict || !value;
	a->strict_refused = a->strict_refused || value;
	return 0;
}

/* As option_rows_read(), for the options of all setters and those of this one. */
static int read_options(const struct setter *setter, int argc, char *argv[], struct arguments *a)
{
	const char *no_cpus = setter->no_cpus ? setter->no_cpus : "all";
	char cpus[128];
	const struct option_row common[] = {
		{ 'c', "cpus", "LIST", cpus, option_text, &a->cpus },
		{ 0, "dry-run", NULL, "show what would be written, and write nothing", option_set,
			&a->dry_run },
		{ 0, "strict", "[=refused]",
			"fail where a knob is not there or refuses; or only\n"
			"where one that is there refuses",
			take_strict, a, "'refused', the only value that it may have" },
		{ 0, "force", NULL, "restore: also what somebody else has changed", option_set,
			&a->force },
		{ 0, "once", NULL, "restore: do not repeat what was reported before", option_set,
			&a->once },
		{ 0, "json", NULL, "print the table as JSON", option_set, &a->json },
		{ 0, "brief", NULL,
			"one line, no table; status: exit status 3 where\n"
			"something is not as wanted",
			option_set, &a->brief },
		{ 'v', "verbose", NULL, "show every knob", option_set, &a->verbose },
		{ 'h', "help", .help = "this text" },
		{ 'V', "version", .help = "the version" },
		{ 0 },
	};
	struct option_row rows[OPTION_ROWS_MAX] = { 0 };
	int r;

	snprintf(cpus, sizeof(cpus),
		"for these CPUs, as in 3 or 2-3,8; default: those of\n"
		"the running benchmark.target%s%s",
		setter->needs_cpus ? "" : ", else ", setter->needs_cpus ? "" : no_cpus);
	memcpy(rows, common, sizeof(common));
	for (size_t i = 0; setter->options && setter->options[i].name; i++) {
		struct option_row *row = &rows[ARRAY_SIZE(common) - 1 + i];

		*row = setter->options[i];
		row->given = &a->special;
	}
	r = option_rows_read("", rows, argc, argv);
	if (r == 'h')
		usage(setter, common);
	else if (r == 'V')
		print_version(setter->engine.tool);
	return r;
}

static const struct setter_verb_own *find_own_verb(const struct setter *setter, const char *word)
{
	for (const struct setter_verb_own *own = setter->verbs; word && own && own->name; own++) {
		if (strcmp(own->name, word) == 0)
			return own;
	}
	return NULL;
}

/* Whether the word is a verb of all setters. */
static bool find_common_verb(const char *word, enum setter_verb *ret)
{
	for (size_t i = 0; word && i < ARRAY_SIZE(verb_names); i++) {
		if (strcmp(word, verb_names[i]) == 0) {
			*ret = (enum setter_verb)i;
			return true;
		}
	}
	return false;
}

static void say_misplaced(const struct setter *setter, const char *word, bool is_first)
{
	struct guess guess = { .word = word };
	char meant[GUESS_TEXT_SIZE];

	for (size_t i = 0; i < ARRAY_SIZE(verb_names); i++)
		guess_offer(&guess, verb_names[i]);
	for (const struct setter_verb_own *own = setter->verbs; own && own->name; own++)
		guess_offer(&guess, own->name);
	say("'%s' is %s%s; see %s --help", word, is_first ? "no verb" : "one word too many",
		guess_text(&guess, "", meant), setter->engine.tool);
}

static int parse_words(const struct setter *setter, char *words[], struct arguments *a)
{
	const char *first = words[0];
	enum setter_verb other;

	a->own = find_own_verb(setter, first);
	if (a->own) {
		a->words = words + 1;
		return 0;
	}
	if (find_common_verb(first, &a->verb))
		words++;
	for (; words[0]; words++) {
		int r;

		if (!setter->parse_what || a->what || a->verb == SETTER_RESTORE ||
			find_common_verb(words[0], &other) || find_own_verb(setter, words[0])) {
			say_misplaced(setter, words[0], words[0] == first);
			return -EINVAL;
		}
		r = setter->parse_what(words[0], setter->state);
		if (r < 0)
			return r;
		a->what = true;
	}
	return 0;
}

/* Whether all options have an effect with this verb; says which one has none. */
static bool options_fit(const struct arguments *a)
{
	bool apply = !a->own && a->verb == SETTER_APPLY;
	bool restore = !a->own && a->verb == SETTER_RESTORE;

	if ((a->force || a->once) && !restore)
		say("--%s is for restore", a->force ? "force" : "once");
	else if (a->brief && (a->own || restore || a->json || a->verbose))
		say("--brief is for apply and status, without --json and --verbose");
	else if (a->verbose && a->own)
		say("--verbose is for apply, status and restore");
	else if (a->dry_run && !apply)
		say("--dry-run is for apply");
	else if ((a->strict || a->strict_refused) && !apply)
		say("--strict is for apply");
	else if ((a->cpus || a->special) && restore)
		say("--%s is not for restore, which puts back everything that was changed",
			a->cpus ? "cpus" : a->special);
	else
		return true;
	return false;
}

int arguments_parse(const struct setter *setter, int argc, char *argv[], struct arguments *ret)
{
	struct arguments a = { 0 };
	int r;

	r = read_options(setter, argc, argv, &a);
	if (r != 0)
		return r;
	r = parse_words(setter, argv + optind, &a);
	if (r < 0)
		return r;
	if (!options_fit(&a))
		return -EINVAL;
	*ret = a;
	return 0;
}
