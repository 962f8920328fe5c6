// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/macro.h"
#include "base/say.h"
#include "base/text.h"
#include "base/words.h"
#include "base/xalloc.h"
#include "judge/report/decision.h"
#include "judge/result/metadata.h"
#include "measure/expand.h"
#include "measure/host.h"

/* Splits a command that was given as one text into words. */
static int split_command(const char *option, const char *text, char ***ret)
{
	const char *why;
	int r;

	r = xcheck(words_split(text, ret, &why));
	if (r < 0) {
		say("%s: '%s': %s", option, text, why);
		return r;
	}
	if (**ret && ***ret)
		return 0;
	free(*ret);
	say("%s: '%s' names no program", option, text);
	return -EINVAL;
}

/* The text with the parameters' values in it, owned. */
static const char *fill_in(struct options *o, const size_t choice[], const char *text)
{
	return options_own(o, parameters_fill_in(&o->parameters, choice, text));
}

/* The words of a shell that is to run the text: SHELL -c TEXT. */
static int make_shell_words(struct options *o, const char *text, char *const **ret)
{
	char **shell, **words;
	size_t n = 0;
	int r;

	r = split_command("--shell", o->shell, &shell);
	if (r < 0)
		return r;
	options_own(o, shell);
	while (shell[n])
		n++;
	words = options_own(o, calloc(n + 3, sizeof(*words)));
	memcpy(words, shell, n * sizeof(*words));
	words[n] = (char *)"-c";
	words[n + 1] = (char *)text;
	*ret = words;
	return 0;
}

/* The words with the parameters' values in them. */
static char *const *fill_in_words(struct options *o, const size_t choice[], char *const words[])
{
	const char **filled;
	size_t n = 0;

	while (words[n])
		n++;
	filled = options_own(o, calloc(n + 1, sizeof(*filled)));
	for (size_t i = 0; i < n; i++)
		filled[i] = fill_in(o, choice, words[i]);
	return (char *const *)filled;
}

/* The words that are executed. */
static int make_words(struct options *o, const struct option_program *program,
	const size_t choice[], char *const **ret)
{
	char **words = program->argv;

	if (program->text && o->shell)
		return make_shell_words(o, fill_in(o, choice, program->text), ret);
	if (program->text) {
		int r = split_command(program->option, program->text, &words);

		if (r < 0)
			return r;
		options_own(o, words);
	}
	*ret = o->parameters.n > 0 && !program->is_control ? fill_in_words(o, choice, words)
							   : words;
	return 0;
}

/* The hooks of a program. The control has no hooks, because nothing but the machine may change its
 * time. */
static void assign_hooks(const struct options *o, size_t index, const char *ret[HOOK_KINDS])
{
	for (enum hook_kind kind = 0; kind < HOOK_KINDS; kind++) {
		const struct option_hooks *hooks = &o->hooks[kind];

		ret[kind] = hooks->n == 0 || o->programs[index].is_control
			? NULL
			: hooks->texts[hooks->n > 1 ? index : 0];
	}
}

/* Whether a variable of --env is for this program. The control has none, for the same reason. */
static bool has_variable(
	const struct option_program *program, const struct option_variable *variable)
{
	return !program->is_control &&
		(!variable->program || strcmp(variable->program, program->name) == 0);
}

/* Whether one of the program's own variables takes the place of this one, which is for all. */
static bool is_replaced(const struct options *o, const struct option_program *program,
	const struct option_variable *variable)
{
	for (size_t i = 0; !variable->program && i < o->n_variables; i++) {
		const struct option_variable *other = &o->variables[i];

		if (other->program && has_variable(program, other) &&
			options_is_same_variable(other->text, variable->text))
			return true;
	}
	return false;
}

/* The variables of --env for this program, with the parameters' values in them. */
static const char *const *make_variables(
	struct options *o, const struct option_program *program, const size_t choice[])
{
	const char **variables = options_own(o, calloc(o->n_variables + 1, sizeof(*variables)));
	size_t n = 0;

	for (size_t i = 0; i < o->n_variables; i++) {
		const struct option_variable *variable = &o->variables[i];

		if (!has_variable(program, variable) || is_replaced(o, program, variable))
			continue;
		variables[n++] = fill_in(o, choice, variable->text);
	}
	return variables;
}

/* Whether the parameter stands anywhere in what is done for the program. */
static bool has_parameter(const struct options *o, size_t index, const struct parameter *parameter)
{
	const struct option_program *program = &o->programs[index];
	const char *hooks[HOOK_KINDS];

	/* The control is the same for all values of the parameters. */
	if (program->is_control)
		return false;
	if (o->host && strcmp(parameter->name, HOST_PARAMETER) == 0)
		return true;
	if (parameter_is_in(parameter, o->input) || parameter_is_in(parameter, o->output_file))
		return true;
	for (size_t i = 0; i < o->n_variables; i++) {
		const struct option_variable *variable = &o->variables[i];

		if (has_variable(program, variable) && !is_replaced(o, program, variable) &&
			parameter_is_in(parameter, variable->text))
			return true;
	}
	assign_hooks(o, index, hooks);
	for (enum hook_kind kind = 0; kind < HOOK_KINDS; kind++) {
		if (parameter_is_in(parameter, hooks[kind]))
			return true;
	}
	if (program->text)
		return parameter_is_in(parameter, program->text);
	for (size_t i = 0; program->argv[i]; i++) {
		if (parameter_is_in(parameter, program->argv[i]))
			return true;
	}
	return false;
}

/* The name of the benchmark, as it will stand in the result: with NAME=VALUE of each parameter that
 * is not in the name itself. */
static const char *make_name(struct options *o, const struct option_program *program,
	const size_t choice[], const struct option_command *command)
{
	_cleanup_text_ struct text t = { 0 };
	_cleanup_free_ char *name = parameters_fill_in(&o->parameters, choice, program->name);

	text_append(&t, name);
	for (size_t i = 0; i < o->parameters.n; i++) {
		const struct parameter *parameter = &o->parameters.items[i];

		if (command->values[i] && !parameter_is_in(parameter, program->name))
			text_appendf(&t, "/%s=%s", parameter->name, command->values[i]);
	}
	if (t.failed)
		xalloc_fail();
	return options_own(o, text_escape_control(t.data));
}

/* Sets the standard input and output of the command. A file whose name has a parameter in it
 * differs between commands, so the control does not get it. */
static void assign_streams(struct options *o, const size_t choice[], struct option_command *command)
{
	const char *texts[] = { o->input, o->output_file };
	const char **const ret[] = { &command->input, &command->output_file };

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		bool varies = false;

		for (size_t k = 0; k < o->parameters.n; k++)
			varies = varies || parameter_is_in(&o->parameters.items[k], texts[i]);
		if (!texts[i] || (varies && command->is_control))
			continue;
		*ret[i] = fill_in(o, choice, texts[i]);
	}
}

/* The benchmark of the harness that the command runs; NULL where it is not known, or not hosted. */
static const char *find_benchmark(const struct options *o, const struct option_command *command)
{
	for (size_t i = 0; o->host && i < o->parameters.n; i++)
		if (strcmp(o->parameters.items[i].name, HOST_PARAMETER) == 0)
			return command->values[i];
	return o->host ? o->host->only : NULL;
}

/* Puts the words of the harness around those of the user, and its variables before those of --env,
 * which take the place of others of the same name: of two, getenv(3) finds the first, and a shell
 * the last. */
static void host_command(struct options *o, struct option_command *command)
{
	struct host_words words = {
		.typed = command->argv,
		.benchmark = find_benchmark(o, command),
		.program = command->program,
	};
	size_t n_hosting = o->host->harness->hosting.n_variables, n_own = 0, n = 0;
	const char **variables;
	char **run;

	command->typed = command->argv;
	command->benchmark = words.benchmark;
	run = options_own(o, host_make_run(o->host, &words));
	for (size_t i = 0; run[i]; i++)
		options_own(o, run[i]);
	command->argv = run;
	while (command->variables[n_own])
		n_own++;
	variables = options_own(o, calloc(n_hosting + n_own + 1, sizeof(*variables)));
	for (size_t i = 0; i < n_hosting; i++) {
		const char *variable = options_own(o, host_make_variable(o->host, i, &words));

		if (!options_has_variable(command->variables, variable))
			variables[n++] = variable;
	}
	memcpy(variables + n, command->variables, n_own * sizeof(*variables));
	command->variables = variables;
}

/* With one program: the first command of the same benchmark, because benchmarks are not compared
 * with each other. */
static size_t find_first(const struct options *o, size_t index)
{
	const char *benchmark = o->commands[index].benchmark;

	for (size_t i = 0; benchmark && i < index; i++)
		if (strcmp(o->commands[i].benchmark, benchmark) == 0)
			return i;
	return benchmark ? index : 0;
}

/* The command that this one is compared with: the first command of the first program that has the
 * same values of the parameters which both programs have. There is always one. */
static size_t find_old(const struct options *o, size_t index)
{
	const struct option_command *command = &o->commands[index];

	if (command->is_control)
		return index;
	if (command->program == 0)
		return o->n_programs > 1 && !o->programs[1].is_control ? index
								       : find_first(o, index);
	for (size_t i = 0; i < index; i++) {
		const struct option_command *old = &o->commands[i];
		bool same = old->program == 0;

		for (size_t k = 0; k < o->parameters.n; k++)
			same = same &&
				(!old->values[k] || !command->values[k] ||
					old->values[k] == command->values[k]);
		if (same)
			return i;
	}
	return 0;
}

/* Adds the command that the program becomes with these values. */
static int add_command(struct options *o, size_t index, const size_t choice[])
{
	const struct option_program *program = &o->programs[index];
	struct option_command command = {
		.program = index,
		.is_control = program->is_control,
		.is_shipped = program->is_shipped,
	};
	int r;

	for (size_t i = 0; i < o->parameters.n; i++) {
		const struct parameter *parameter = &o->parameters.items[i];

		if (has_parameter(o, index, parameter))
			command.values[i] = parameter->values[choice[i]];
		/* The program does not have this parameter, so all of the parameter's values give
		 * the same command: add it for the first value only. */
		else if (choice[i] > 0)
			return 0;
	}
	if (o->n_commands == OPTIONS_MAX_COMMANDS) {
		say("more than %d programs, one for each combination of parameters: that is too many",
			OPTIONS_MAX_COMMANDS);
		return -EINVAL;
	}
	command.name = make_name(o, program, choice, &command);
	assign_hooks(o, index, command.hooks);
	for (enum hook_kind kind = 0; kind < HOOK_KINDS; kind++) {
		if (command.hooks[kind])
			command.hooks[kind] = fill_in(o, choice, command.hooks[kind]);
	}
	r = make_words(o, program, choice, &command.argv);
	if (r < 0)
		return r;
	assign_streams(o, choice, &command);
	command.variables = make_variables(o, program, choice);
	if (o->host && !program->is_control)
		host_command(o, &command);
	o->commands[o->n_commands++] = command;
	o->commands[o->n_commands - 1].old = find_old(o, o->n_commands - 1);
	return 0;
}

/* Hooks are there once for all programs, or once for each. */
static int check_hooks(const struct options *o)
{
	size_t n = o->n_programs - (o->programs[o->n_programs - 1].is_control ? 1 : 0);

	for (enum hook_kind kind = 0; kind < HOOK_KINDS; kind++) {
		if (o->hooks[kind].n <= 1 || o->hooks[kind].n == n)
			continue;
		say("--%s was given %zu times, and there %s %zu program%s: give it once for all, or "
		    "once for each",
			options_hook_name(kind), o->hooks[kind].n, n == 1 ? "is" : "are", n,
			n == 1 ? "" : "s");
		return -EINVAL;
	}
	return 0;
}

/* Variables for one program name a program that there is. */
static int check_variables(const struct options *o)
{
	for (size_t i = 0; i < o->n_variables; i++) {
		const struct option_variable *variable = &o->variables[i];
		bool known = !variable->program;

		for (size_t k = 0; !known && k < o->n_programs; k++)
			known = has_variable(&o->programs[k], variable);
		if (known)
			continue;
		say("--env: no program that may have variables is called '%s'", variable->program);
		return -EINVAL;
	}
	return 0;
}

static int check_parameters(const struct options *o)
{
	const struct option_program *last = &o->programs[o->n_programs - 1];

	for (size_t i = 0; i < o->parameters.n; i++) {
		const struct parameter *parameter = &o->parameters.items[i];
		bool used = false;

		if (last->is_control && parameter_is_in(parameter, last->text)) {
			say("--control: {%s} cannot stand there, because the control is the same "
			    "program for all values",
				parameter->name);
			return -EINVAL;
		}
		for (size_t k = 0; !used && k < o->n_programs; k++)
			used = has_parameter(o, k, parameter);
		if (used)
			continue;
		say("{%s} stands in no command, no hook, no variable of --env and no file name of "
		    "--input or --stdout, where -L or -P could put a value",
			parameter->name);
		return -EINVAL;
	}
	return 0;
}

/* Refuses a number of runs that can never settle --decide. */
static int check_decision(const struct options *o)
{
	size_t least = decision_least_pairs(0);

	if (o->max_runs >= least)
		return 0;
	say("%s %u: a decision takes at least %zu pairs", o->max_runs_option, o->max_runs, least);
	return -EINVAL;
}

/* Checks that need all commands to be known. */
static int check_commands(const struct options *o)
{
	/* document_write() refuses the same names, but only after the last run. */
	for (size_t i = 0; i < o->n_commands; i++) {
		if (metadata_equal_strings(o->commands[i].name, "")) {
			say("the name of a program is blank: name it with --name or --command");
			return -EINVAL;
		}
		for (size_t j = 0; j < i; j++) {
			if (!metadata_equal_strings(o->commands[i].name, o->commands[j].name))
				continue;
			say("two programs are called '%s': name one with --name or --command",
				o->commands[i].name);
			return -EINVAL;
		}
	}
	for (size_t i = 0; i < o->n_commands; i++) {
		const char *file = o->commands[i].output_file;

		if (!file ||
			!((o->output && file_is_same(o->output, file)) ||
				(o->csv && file_is_same(o->csv, file))))
			continue;
		say("--stdout names the file of the result, which -o or --csv writes");
		return -EINVAL;
	}
	if (o->decide && o->n_commands < 2) {
		say("%s compares programs, and there is but one: give the old one with "
		    "--baseline 'OLD [ARGUMENT...]' before the new one",
			o->decide_option);
		return -EINVAL;
	}
	if (o->decide && check_decision(o) < 0)
		return -EINVAL;
	if (o->vary && o->n_commands > 1) {
		say("--vary is about one program, and there are %zu", o->n_commands);
		return -EINVAL;
	}
	if (o->seeded && o->n_commands < 2 && !o->vary) {
		say("--seed draws the order of several programs, and there is but one");
		return -EINVAL;
	}
	return 0;
}

int expand_first(
	struct options *o, size_t index, char *const **ret_words, const char *const **ret_variables)
{
	const size_t choice[PARAMETERS_MAX] = { 0 };
	const struct option_program *program = &o->programs[index];

	*ret_variables = make_variables(o, program, choice);
	return make_words(o, program, choice, ret_words);
}

int expand_programs(struct options *o)
{
	size_t choice[PARAMETERS_MAX] = { 0 };
	int r;

	r = check_hooks(o);
	if (r == 0)
		r = check_variables(o);
	if (r == 0)
		r = check_parameters(o);
	do {
		for (size_t i = 0; r == 0 && i < o->n_programs; i++) {
			if (!o->programs[i].is_control)
				r = add_command(o, i, choice);
		}
	} while (parameters_choose_next(&o->parameters, choice) && r == 0);
	/* The control comes last. */
	if (r == 0 && o->programs[o->n_programs - 1].is_control)
		r = add_command(o, o->n_programs - 1, choice);
	if (r == 0 && o->shell)
		r = make_shell_words(o, "", &o->empty_script);
	/* The shell with nothing to do has what all programs have, with the first values. */
	if (r == 0 && o->shell)
		o->empty_variables = make_variables(o, &(struct option_program){ .name = "" },
			(const size_t[PARAMETERS_MAX]){ 0 });
	return r < 0 ? r : check_commands(o);
}
