// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "basic/cleanup.h"
#include "basic/say.h"
#include "basic/words.h"
#include "runpinned/expand.h"

/* Splits a command that was given as one text into words. */
static int split_command(const char *option, const char *text, char ***ret)
{
	const char *why;
	int r;

	r = words_split(text, ret, &why);
	if (r == -EINVAL)
		say("%s: '%s': %s", option, text, why);
	else if (r < 0)
		say_errno(r, "%s", option);
	if (r < 0)
		return r;
	if (**ret && ***ret)
		return 0;
	free(*ret);
	say("%s: '%s' names no program", option, text);
	return -EINVAL;
}

/* The words of a shell that is to run the text: SHELL -c TEXT. */
static int make_shell_words(struct options *o, const char *text, char *const **ret)
{
	_cleanup_free_ char **shell = NULL;
	char **words;
	size_t n = 0;
	int r;

	/* A copy of its own for each command: the words are behind the vector of words_split(). */
	r = split_command("--shell", o->shell, &shell);
	if (r < 0)
		return r;
	while (shell[n])
		n++;
	words = options_own(o, calloc(n + 3, sizeof(*words)));
	if (!words)
		return -ENOMEM;
	memcpy(words, shell, n * sizeof(*words));
	if (!options_own(o, TAKE_PTR(shell)))
		return -ENOMEM;
	words[n] = (char *)"-c";
	words[n + 1] = (char *)text;
	*ret = words;
	return 0;
}

/* The words that are executed. */
static int make_words(struct options *o, const struct option_program *program, char *const **ret)
{
	char **words;
	int r;

	if (!program->text) {
		*ret = program->argv;
		return 0;
	}
	if (o->shell)
		return make_shell_words(o, program->text, ret);
	r = split_command(program->option, program->text, &words);
	if (r < 0)
		return r;
	*ret = options_own(o, words);
	return *ret ? 0 : -ENOMEM;
}

/* The hooks of the program number `index`. The control has none: it is to stay the same. */
static int assign_hooks(const struct options *o, size_t index, struct option_command *command)
{
	size_t n = o->n_programs - (o->programs[o->n_programs - 1].is_control ? 1 : 0);

	for (enum hook_kind kind = 0; kind < HOOK_KINDS; kind++) {
		const struct option_hooks *hooks = &o->hooks[kind];

		if (hooks->n > 1 && hooks->n != n) {
			say("--%s was given %zu times, and there %s %zu program%s: give it once for "
			    "all, or once for each",
				options_hook_name(kind), hooks->n, n == 1 ? "is" : "are", n,
				n == 1 ? "" : "s");
			return -EINVAL;
		}
		if (hooks->n > 0 && !command->is_control)
			command->hooks[kind] = hooks->texts[hooks->n > 1 ? index : 0];
	}
	return 0;
}

/* Checks that need all commands to be known. */
static int check_commands(const struct options *o)
{
	for (size_t i = 0; i < o->n_commands; i++) {
		for (size_t j = 0; j < i; j++) {
			if (strcmp(o->commands[i].name, o->commands[j].name) != 0)
				continue;
			say("two programs are called '%s': name one with --name or --command",
				o->commands[i].name);
			return -EINVAL;
		}
	}
	if (o->decide && o->n_commands < 2) {
		say("--decide compares programs, and there is but one: give the old one with "
		    "--baseline 'OLD [ARGUMENT...]' before the new one");
		return -EINVAL;
	}
	if (o->seeded && o->n_commands < 2) {
		say("--seed draws the order of several programs, and there is but one");
		return -EINVAL;
	}
	return 0;
}

int expand_programs(struct options *o)
{
	for (size_t i = 0; i < o->n_programs; i++) {
		const struct option_program *program = &o->programs[i];
		struct option_command *command = &o->commands[i];
		int r;

		*command = (struct option_command){
			.name = program->name,
			.is_control = program->is_control,
			.is_shipped = program->is_shipped,
		};
		r = make_words(o, program, &command->argv);
		if (r == 0)
			r = assign_hooks(o, i, command);
		if (r < 0)
			return r;
		o->n_commands++;
	}
	if (o->shell) {
		int r = make_shell_words(o, "", &o->empty_script);

		if (r < 0)
			return r;
	}
	return check_commands(o);
}
