// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/guess.h"
#include "base/say.h"
#include "base/table.h"
#include "base/text.h"
#include "quiet/noise-off/knobs.h"

struct wishes {
	enum noise_wish knobs[NOISE_N];
	bool only;	/* --only was given */
	bool except;	/* --except was given */
	bool keep_aslr; /* --aslr keep was given */
};

static int find_knob(const char *name)
{
	for (int id = 0; id < NOISE_N; id++) {
		if (strcmp(noise_knobs[id].name, name) == 0)
			return id;
	}
	return -ENOENT;
}

static void say_unknown(const char *option, const char *name)
{
	_cleanup_text_ struct text t = { 0 };
	struct guess guess = { .word = name };
	char meant[GUESS_TEXT_SIZE];

	for (int id = 0; id < NOISE_N; id++) {
		text_appendf(&t, "%s%s", id > 0 ? ", " : "", noise_knobs[id].name);
		guess_offer(&guess, noise_knobs[id].name);
	}
	say("%s: there is no '%s'%s; there are %s", option, name, guess_text(&guess, "", meant),
		t.failed ? "those of `noise-off list`" : t.data);
}

/* Marks the knobs of a list of names. -EINVAL if one is both named and excepted. */
static int mark_names(
	struct wishes *wishes, const char *option, const char *names, enum noise_wish wish)
{
	_cleanup_free_ char *copy = strdup(names);
	char *rest = copy, *name;

	if (!copy)
		return -ENOMEM;
	while ((name = strsep(&rest, ","))) {
		int id = find_knob(name);

		if (id < 0) {
			say_unknown(option, name);
			return -EINVAL;
		}
		if (wishes->knobs[id] != NOISE_DEFAULT && wishes->knobs[id] != wish) {
			say("%s is both asked for and excepted", name);
			return -EINVAL;
		}
		wishes->knobs[id] = wish;
	}
	return 0;
}

static int take_only(const char *value, void *into)
{
	struct wishes *wishes = into;

	wishes->only = true;
	return mark_names(wishes, "--only", value, NOISE_NAMED);
}

static int take_except(const char *value, void *into)
{
	struct wishes *wishes = into;

	wishes->except = true;
	return mark_names(wishes, "--except", value, NOISE_EXCEPTED);
}

static int take_with(const char *value, void *into)
{
	return mark_names(into, "--with", value, NOISE_NAMED);
}

static int take_aslr(const char *value, void *into)
{
	if (strcmp(value, "keep") == 0) {
		((struct wishes *)into)->keep_aslr = true;
		return 0;
	}
	if (strcmp(value, "off") == 0)
		return mark_names(into, "--aslr", "aslr", NOISE_NAMED);
	say("--aslr: '%s' is neither off nor keep", value);
	return -EINVAL;
}

static int make_plan(const struct setter_target *target, struct knob_plan *plan, void *state)
{
	struct wishes *wishes = state;

	if (wishes->only && wishes->except) {
		say("--only and --except exclude each other");
		return -EINVAL;
	}
	if (wishes->keep_aslr && wishes->knobs[NOISE_ASLR] == NOISE_NAMED) {
		say("aslr is both asked for and excepted");
		return -EINVAL;
	}
	for (int id = 0; wishes->only && id < NOISE_N; id++) {
		if (wishes->knobs[id] == NOISE_DEFAULT)
			wishes->knobs[id] = NOISE_EXCEPTED;
	}
	return noise_make_plan(target, wishes->knobs, plan);
}

static bool is_by_name(const void *state)
{
	return ((const struct wishes *)state)->only;
}

static const char *use_name(enum noise_use use)
{
	switch (use) {
	case NOISE_ALWAYS:
		return "always";
	case NOISE_WITH_CPUS:
		return "with -c";
	case NOISE_IF_NAMED:
		return "if named";
	}
	return "?";
}

static int run_list(const struct setter_verb_use *use, void *state _unused_)
{
	static const struct table_column columns[] = {
		{ "NAME", 0 },
		{ "TURNED", 0 },
		{ "LINUX", 0 },
		{ "TO", 0 },
		{ "WHY", 0 },
	};
	_cleanup_(table) struct table *table = NULL;
	int r;

	if (use->words[0]) {
		say("'%s' is one word too many; see noise-off --help", use->words[0]);
		return EXIT_USAGE;
	}
	r = table_new("noise", columns, ARRAY_SIZE(columns), use->json, stdout, &table);
	for (int id = 0; r == 0 && id < NOISE_N; id++) {
		const struct noise_knob *knob = &noise_knobs[id];
		char kernels[16];

		noise_format_kernels(knob, kernels, sizeof(kernels));
		r = table_add(table,
			(const char *const[]){
				knob->name, use_name(knob->use), kernels, knob->sets, knob->why });
	}
	if (r == 0)
		r = table_print(table);
	if (r < 0)
		say_errno(r, "cannot print the table");
	return r < 0 ? EXIT_FAILED : EXIT_DONE;
}

int main(int argc, char *argv[])
{
	static const struct setter_verb_own verbs[] = {
		{ "list", "list [--json]", run_list },
		{ 0 },
	};
	struct wishes wishes = { 0 };
	const struct option_row options[] = {
		{ 0, "only", "NAME,...", "only these; `noise-off list` has the names", take_only,
			&wishes },
		{ 0, "except", "NAME,...", "all but these", take_except, &wishes },
		{ 0, "with", "NAME,...", "these as well: some are only turned if named", take_with,
			&wishes },
		{ 0, "aslr", "off|keep", "keep (the default) leaves address layouts random",
			take_aslr, &wishes },
		{ 0 },
	};
	const struct setter setter = {
		.engine = {
			.tool = "noise-off",
			.backends = noise_backends,
		},
		.summary = "Switch off what the kernel does by itself while a benchmark runs.",
		.options = options,
		.verbs = verbs,
		.no_cpus = "none",
		.is_by_name = is_by_name,
		.plan = make_plan,
		.state = &wishes,
	};

	return setter_main(&setter, argc, argv);
}
