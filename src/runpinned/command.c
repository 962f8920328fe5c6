// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "basic/install.h"
#include "basic/say.h"
#include "basic/text.h"
#include "basic/words.h"
#include "runpinned/command.h"
#include "runpinned/program.h"

/* For a command that was given as one word, such as "wc -c file", which is no program: says how to
 * type what was probably meant. Returns false, and says nothing, if the word has no blank or other
 * character of the shell in it. */
static bool say_what_to_type(char *const argv[])
{
	_cleanup_free_ char *quoted = text_quote_argv((char *const[]){ argv[0], NULL });
	_cleanup_free_ char **words = NULL;
	_cleanup_text_ struct text several = { 0 };
	const char *why;

	if (!quoted || !argv[0][strcspn(argv[0], " \t\n|&;<>()$`*?[]#~")])
		return false;
	for (int i = 0; argv[i] && strchr(argv[i], ' '); i++) {
		_cleanup_free_ char *one = text_quote_argv((char *const[]){ argv[i], NULL });

		text_appendf(&several, " --command %d=%s", i + 1, one ? one : "");
	}
	if (argv[1] && strchr(argv[1], ' ') && !several.failed)
		say("cannot run %s: no program of that name; to measure several, type runpinned%s",
			quoted, several.data);
	else if (words_split(argv[0], &words, &why) == 0)
		say("cannot run %s: no program of that name; for a program with arguments, type "
		    "runpinned %s",
			quoted, argv[0]);
	else
		say("cannot run %s: no program of that name; to have a shell run it, type "
		    "runpinned --shell %s",
			quoted, quoted);
	return true;
}

static int resolve_one(struct command *command)
{
	const char *word = command->argv[0];
	int r;

	if (command->is_shipped)
		r = install_find(word, &command->program);
	else
		r = program_resolve(word, &command->program);
	if (r == -ENOENT && command->is_shipped)
		say("cannot run the control: %s is not installed", word);
	else if (r == -ENOENT && say_what_to_type(command->argv))
		return r;
	else if (r == -ENOENT && !strchr(word, '/'))
		say("cannot run %s: no program of that name in PATH", word);
	else if (r == -EACCES)
		say("cannot run %s: it is not executable (or not for you)", word);
	else if (r < 0)
		say_errno(r, "cannot run %s", word);
	return r;
}

void commands_take(const struct options *options, struct commands *ret)
{
	*ret = (struct commands){ .n = options->n_commands };
	/* The empty shell has neither the programs' input nor their output file, which it would
	 * empty. */
	ret->empty_shell = (struct command){
		.name = "the shell",
		.argv = options->empty_script,
	};
	for (size_t i = 0; i < ret->n; i++) {
		const struct option_command *option = &options->commands[i];

		ret->items[i] = (struct command){
			.name = option->name,
			.argv = option->argv,
			.values = option->values,
			.hooks = option->hooks,
			.is_control = option->is_control,
			.is_shipped = option->is_shipped,
			.input = option->input,
			.output_file = option->output_file,
			.old = option->old,
		};
	}
}

int commands_resolve(struct commands *commands)
{
	struct command *shell = &commands->empty_shell;

	if (shell->argv) {
		int r = resolve_one(shell);

		if (r < 0)
			return r;
		shell->hidden = program_hides_from_perf(shell->program);
	}
	for (size_t i = 0; i < commands->n; i++) {
		struct command *command = &commands->items[i];
		int r = resolve_one(command);

		if (r < 0)
			return r;
		command->hidden = program_hides_from_perf(command->program);
	}
	return 0;
}

static void say_start_failure(int error, const struct launch_report *report,
	const struct counting *counting, const struct place *place)
{
	if (report->step == LAUNCH_STEP_JOIN)
		return;
	if (report->step == LAUNCH_STEP_AFFINITY)
		say_errno(error, "cannot bind to CPU %s", place->cpus_text);
	else if (report->step == LAUNCH_STEP_COUNTER &&
		(size_t)report->detail >= counting->first_event)
		say_errno(error, "cannot count %s",
			counting->event_names[(size_t)report->detail - counting->first_event]);
	else if (error == -ENOENT)
		say("cannot start the launcher: runpinned-launcher and runpinned-floor are not "
		    "installed");
	else if (error == -EPIPE)
		say("cannot start the launcher (runpinned-launcher): it died");
	else if (error == -EPROTO)
		say("cannot start the launcher (runpinned-launcher): it is of another version than "
		    "runpinned");
	else
		say_errno(error, "cannot start the launcher (runpinned-launcher)");
}

static uint32_t launch_flags(const struct options *options)
{
	uint32_t flags = 0;

	if (options->no_aslr)
		flags |= LAUNCH_NO_ASLR;
	if (options->set_nice)
		flags |= LAUNCH_SET_NICE;
	if (options->fifo_priority > 0)
		flags |= LAUNCH_SET_FIFO;
	if (options->env_pad != ENV_PAD_NONE)
		flags |= LAUNCH_ENV_PAD;
	if (options->core_half)
		flags |= LAUNCH_CORE_HALF;
	if (!options->no_evidence)
		flags |= LAUNCH_SCHEDSTAT | LAUNCH_SWITCHES;
	return flags;
}

int command_start(struct command *command, const struct options *options, const struct place *place,
	const struct counting *counting, const struct evidence_reader *evidence, struct stop *stop)
{
	_cleanup_free_ char *path = NULL;
	char *cleared[] = { NULL, NULL };
	struct session_plan plan = {
		.cpus = place->cpus,
		.housekeeping = place->housekeeping,
		.program = command->program,
		.argv = command->argv,
		.env = environ,
		.flags = launch_flags(options),
		.nice = options->nice,
		.fifo_priority = options->fifo_priority,
		.clockid = CLOCK_MONOTONIC_RAW,
		.timeout_ns = options->timeout_ns,
		.core_ns = options->core_ns,
		.counters = counting->attrs,
		.n_counters = counting->n,
		.join = place->join,
		.show_output = options->show_output,
		.input = command->streams.input,
		.output = command->streams.output,
		.pipe = options->output_pipe,
	};
	struct launch_report report;
	int r;

	if (!command->hidden)
		plan.flags |= LAUNCH_KERNEL_WINDOW;
	if (evidence)
		plan.files = evidence_files(evidence, &plan.n_files);
	if (options->clear_env) {
		const char *value = getenv("PATH");

		if (value && asprintf(&path, "PATH=%s", value) < 0) {
			path = NULL;
			return -ENOMEM;
		}
		cleared[0] = path;
		plan.env = cleared;
	}
	r = session_start(&plan, stop, &command->session, &report);
	if (r < 0 && r != -ECANCELED)
		say_start_failure(r, &report, counting, place);
	return r;
}

int commands_start(struct commands *commands, const struct options *options,
	const struct place *place, const struct counting *counting,
	const struct evidence_reader *evidence, struct stop *stop)
{
	for (size_t i = 0; i < commands->n; i++) {
		struct command *command = &commands->items[i];
		int r;

		if (command->hidden)
			say("note: %s: %s, so the kernel does not stamp it: runs are timed from before "
			    "exec to after wait",
				command->program, command->hidden);
		r = command_start(command, options, place, counting, evidence, stop);
		if (r < 0)
			return r;
	}
	if (!commands->empty_shell.argv)
		return 0;
	return command_start(&commands->empty_shell, options, place, counting, NULL, stop);
}

void commands_settle_clocks(struct commands *commands, bool user)
{
	for (size_t i = 0; i < commands->n; i++) {
		struct series *series = commands->items[i].measurement->series;

		series_settle_clock(series);
		user = user || (series->n_samples > 0 && series->clock == WINDOW_USER);
	}
	for (size_t i = 0; user && i < commands->n; i++)
		commands->items[i].measurement->series->clock = WINDOW_USER;
}

static void command_clear(struct command *command)
{
	session_free(command->session);
	measurement_free(command->measurement);
	facts_clear(&command->facts);
	free(command->program);
	streams_close(&command->streams);
}

void commands_clear(struct commands *commands)
{
	for (size_t i = 0; i < commands->n; i++)
		command_clear(&commands->items[i]);
	command_clear(&commands->empty_shell);
	*commands = (struct commands){ 0 };
}
