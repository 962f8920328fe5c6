// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/install.h"
#include "base/machine/counter.h"
#include "base/say.h"
#include "base/text.h"
#include "base/words.h"
#include "base/xalloc.h"
#include "judge/harness/template.h"
#include "measure/command.h"
#include "measure/program.h"
#include "measure/vary.h"

enum {
	/* The gap of our own stamps may be uncertain by one part in so many of a run. */
	GAP_SPREAD_PART = 200,
	EVENT_GAP_MAX_NS = 30 * 1000,
};

/* For a command that was given as one word, such as "wc -c file", which is no program: says how to
 * type what was probably meant. Returns false, and says nothing, if the word has no blank or other
 * character of the shell in it. */
static bool say_what_to_type(char *const argv[])
{
	_cleanup_free_ char *quoted = xptr(text_quote_argv((char *const[]){ argv[0], NULL }));
	_cleanup_free_ char **words = NULL;
	_cleanup_text_ struct text several = { 0 };
	const char *why;

	if (!argv[0][strcspn(argv[0], " \t\n|&;<>()$`*?[]#~")])
		return false;
	for (int i = 0; argv[i] && strchr(argv[i], ' '); i++) {
		_cleanup_free_ char *one = xptr(text_quote_argv((char *const[]){ argv[i], NULL }));

		text_appendf(&several, " --command %d=%s", i + 1, one);
	}
	if (several.failed)
		xalloc_fail();
	if (argv[1] && strchr(argv[1], ' '))
		say("cannot run %s: no program of that name; to measure several, type runpinned%s",
			quoted, several.data);
	else if (xcheck(words_split(argv[0], &words, &why)) == 0)
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
		r = xcheck(install_find(word, &command->program));
	else
		r = program_resolve(word, &command->program);
	if (r == -ENOENT && command->is_shipped)
		say("cannot run the control: %s is not installed", word);
	else if (r == -ENOENT && say_what_to_type(command->argv))
		return r;
	else if (r == -ENOENT && !strchr(word, '/') && program_is_executable(word))
		say("cannot run %s: no program of that name in PATH (did you mean ./%s?)", word,
			word);
	else if (r == -ENOENT && !strchr(word, '/'))
		say("cannot run %s: no program of that name in PATH", word);
	else if (r == -EACCES)
		say("cannot run %s: it is not executable (or not for you)", word);
	else if (r < 0)
		say_errno(r, "cannot run %s", word);
	return r;
}

void commands_note_rival(const struct options *options, const struct commands *commands)
{
	const struct command *command = &commands->items[0];
	_cleanup_free_ char *old = NULL, *new = NULL;

	if (commands->n != 1 || options->is_marked || options->shell || options->host ||
		!command->program || !command->argv[1] ||
		!program_is_executable(command->argv[1]) || !program_is_of_user(command->program))
		return;
	old = xptr(text_quote_argv((char *const[]){ command->argv[0], NULL }));
	new = xptr(text_quote_argv(command->argv + 1));
	say("note: %s is an argument of %s; to compare the two: runpinned --baseline %s -- %s",
		command->argv[1], command->argv[0], old, new);
}

void commands_note_options(const struct options *options, const struct commands *commands)
{
	/* Hardly a program has one of these of its own, and each changes what is measured. */
	static const char *const ours[] = { "--baseline", "--decide", "--improve", "--control",
		"--until-rel-error", "--max-runs", "--quiesce" };
	const struct command *command = &commands->items[commands->n - 1];

	if (options->is_marked || options->shell || !command->program || command->is_control ||
		!program_is_of_user(command->program))
		return;
	for (char *const *word = command->argv + 1; *word; word++)
		for (size_t i = 0; i < ARRAY_SIZE(ours); i++) {
			size_t length = strlen(ours[i]);

			if (strncmp(*word, ours[i], length) != 0 ||
				((*word)[length] && (*word)[length] != '='))
				continue;
			say("note: %s is an argument of %s: options of %s stand before the program",
				ours[i], command->argv[0], program_invocation_short_name);
			return;
		}
}

void commands_take(const struct options *options, struct commands *ret)
{
	*ret = (struct commands){ .n = options->n_commands };
	/* The empty shell has neither the programs' input nor their output file, which it would
	 * empty. */
	ret->empty_shell = (struct command){
		.name = "the shell",
		.argv = options->empty_script,
		.variables = options->empty_variables,
	};
	for (size_t i = 0; i < ret->n; i++) {
		const struct option_command *option = &options->commands[i];

		ret->items[i] = (struct command){
			.name = option->name,
			.argv = option->argv,
			.typed = option->typed,
			.benchmark = option->benchmark,
			.number_of_program = option->program,
			.values = option->values,
			.hooks = option->hooks,
			.is_control = option->is_control,
			.is_shipped = option->is_shipped,
			.input = option->input,
			.output_file = option->output_file,
			.variables = option->variables,
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

/* The events of runs, which are opened later, find the kernel's preparations made. */
static void *wake_events(void *arg)
{
	struct commands *commands = arg;

	commands->event = counter_open_dummy();
	return NULL;
}

void commands_attach(struct commands *commands, const struct options *options)
{
	bool with_stamps = !options->stamper_given || options->stamper == STAMPER_TRACEPOINTS;
	int r = with_stamps ? tracepoints_begin(&commands->tracepoints) : -ENODATA;

	if (r < 0 || !options->no_evidence || options->events)
		commands->is_waking =
			pthread_create(&commands->waking, NULL, wake_events, commands) == 0;
}

/* How much longer the event of the inspections makes the gap of the empty program: some
 * microseconds, and not more, whatever the machine did meanwhile. */
static int64_t find_event_gap_ns(const struct measurement *m)
{
	double seconds = m->floor.least_event_seconds - m->floor.least_seconds;

	return isfinite(seconds) ? CLAMP(llround(seconds * NSEC_PER_SEC), 0, EVENT_GAP_MAX_NS) : 0;
}

/* Makes the kernel's window of our own stamps, from which record_run() has subtracted what is known
 * of each run, and correct() the gap that was known before. A run is flagged where the gap is not
 * known well enough for it. */
static void correct(struct measurement *m, const struct inspection_gap *gap)
{
	struct series *series = m->series;

	for (size_t i = 0; i < series->n_samples; i++) {
		struct sample *sample = &series->samples[i];

		if (sample->kernel_ns == 0)
			sample->kernel_ns = sample->user_ns - gap->median_ns;
		else if (!sample->warmup)
			sample->kernel_ns += m->gap.median_ns - gap->median_ns;
		sample->kernel_ns = MAX(sample->kernel_ns, (int64_t)1);
		if (sample->warmup)
			continue;
		sample->flags &= (uint16_t)~SAMPLE_WINDOW;
		if (gap->spread_ns > sample->kernel_ns / GAP_SPREAD_PART)
			sample->flags |= SAMPLE_WINDOW;
	}
	m->gap = *gap;
}

static bool settle_corrected(struct measurement *m)
{
	struct inspection_gap gap;

	if (m->stamper != STAMPER_CORRECTED || !inspections_find_gap(&m->inspections, &gap))
		return false;
	gap.median_ns -= find_event_gap_ns(m);
	correct(m, &gap);
	m->series->clock = WINDOW_KERNEL;
	return true;
}

void commands_settle_clocks(struct commands *commands, bool user)
{
	for (size_t i = 0; i < commands->n; i++) {
		struct measurement *m = commands->items[i].measurement;
		struct series *series = m->series;

		if (!settle_corrected(m))
			series_settle_clock(series);
		user = user || (series->n_samples > 0 && series->clock == WINDOW_USER);
	}
	for (size_t i = 0; user && i < commands->n; i++)
		commands->items[i].measurement->series->clock = WINDOW_USER;
}

static void command_clear(struct command *command)
{
	measurement_free(command->measurement);
	facts_clear(&command->facts);
	free(command->program);
	template_free_words(command->made);
	streams_close(&command->streams);
}

void commands_clear(struct commands *commands)
{
	for (size_t i = 0; i < commands->n; i++)
		command_clear(&commands->items[i]);
	command_clear(&commands->empty_shell);
	free(commands->metric);
	figurepad_free(commands->figurepad);
	vary_free(commands->vary);
	tracepoints_free(commands->tracepoints);
	if (commands->is_waking) {
		pthread_join(commands->waking, NULL);
		cleanup_close(&commands->event);
	}
	*commands = (struct commands){ 0 };
}
