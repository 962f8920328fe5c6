// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "base/parse.h"
#include "base/say.h"
#include "base/xalloc.h"
#include "judge/harness/extract.h"
#include "judge/harness/template.h"
#include "measure/calibrate.h"
#include "measure/host.h"
#include "measure/hostloops.h"
#include "measure/program.h"

/* What a template makes of a command. */
static char **make_words(
	const struct host *host, const char *template, const struct command *command)
{
	const struct host_words words = {
		.typed = command->typed,
		.benchmark = command->benchmark,
		.program = command->number_of_program,
		.loops = command->loops,
	};

	return host_make_words(host, template, &words, NULL);
}

/* Makes one run of the command with other words. Returns 1 when it was made, -ECHILD when the
 * program failed, which is said where it is to be. */
static int make_trial(const struct command *command, char **words, const struct launch_inputs *in,
	struct stop *stop, bool is_said)
{
	struct command trial = *command;
	int r;

	trial.argv = words;
	trial.session = NULL;
	trial.program = NULL;
	r = program_resolve(words[0], &trial.program);
	if (r < 0) {
		say_errno(r, "cannot run %s", words[0]);
		return r;
	}
	r = calibrate_try(&trial, in, stop, is_said ? "a run before all others failed" : NULL);
	free(trial.program);
	return r == 0 ? -ECHILD : r;
}

/* The number that a run by Calibrate has written. */
static int read_loops(const struct command *command, const struct host *host, uint64_t *ret)
{
	const struct rule *rule = &host->harness->hosting.loops;
	_cleanup_free_ char *text = NULL, *why = NULL;
	char **found = NULL;
	size_t size;
	int r = host_read_answer(host, rule, command->streams.output, &text, &size);

	if (r < 0)
		why = xptr(strdup(strerror(-r)));
	else
		r = extract_texts(rule, &(struct output){ text, size }, &found, &why);
	if (r >= 0 && (!found || !found[0] || parse_u64(found[0], 1, INT64_MAX, ret) < 0)) {
		why = xformat("nothing that it wrote matches '%s'", rule->pattern);
		r = -ENODATA;
	}
	if (r < 0)
		say("%s: cannot find how many loops it makes, as if there were no benchmark '%s': %s",
			command->name, command->benchmark ? command->benchmark : "", why);
	template_free_words(found);
	return r;
}

/* Finds the number of loops of a command, by a run. */
static int calibrate(struct command *command, const struct launch_inputs *in, struct stop *stop)
{
	const struct host *host = in->options->host;
	char **words = make_words(host, host->harness->hosting.calibrate, command);
	int r = make_trial(command, words, in, stop, true);

	template_free_words(words);
	return r < 0 ? r : read_loops(command, host, &command->loops);
}

/* Chooses the Run that the program knows. The last one is taken without a trial. */
static int choose_run(struct command *command, const struct launch_inputs *in, struct stop *stop)
{
	struct host *host = in->options->host;
	const struct hosting *hosting = &host->harness->hosting;

	for (host->run = 0; host->run + 1 < hosting->n_runs; host->run++) {
		char **words = make_words(host, hosting->runs[host->run], command);
		int r = make_trial(command, words, in, stop, false);

		template_free_words(words);
		if (r != -ECHILD)
			return r < 0 ? r : 0;
	}
	return 0;
}

/* The command whose number of loops this one has: of the same benchmark and the same values of the
 * parameters, of the program that it is compared with; or itself. */
static struct command *find_calibrated(struct commands *commands, struct command *command)
{
	struct command *old = &commands->items[command->old];

	return old->number_of_program != command->number_of_program ? old : command;
}

static void set_words(const struct host *host, struct command *command)
{
	template_free_words(command->made);
	command->made = make_words(host, host->harness->hosting.runs[host->run], command);
	command->argv = command->made;
}

int hostloops_find(struct commands *commands, const struct launch_inputs *in, struct stop *stop)
{
	const struct host *host = in->options->host;
	int r = 0;

	for (size_t i = 0; r == 0 && i < commands->n; i++) {
		struct command *command = &commands->items[i];

		if (command->typed && host->harness->hosting.calibrate &&
			find_calibrated(commands, command) == command)
			r = calibrate(command, in, stop);
		if (r == 0 && i == 0)
			r = choose_run(command, in, stop);
	}
	for (size_t i = 0; r == 0 && i < commands->n; i++) {
		struct command *command = &commands->items[i];

		if (!command->typed)
			continue;
		command->loops = find_calibrated(commands, command)->loops;
		/* Only what is told to the program is its number of loops. */
		if (!template_has(host->harness->hosting.runs[host->run], "{loops}"))
			command->loops = 0;
		set_words(host, command);
	}
	return r;
}
