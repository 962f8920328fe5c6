// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "basic/cleanup.h"
#include "basic/install.h"
#include "basic/say.h"
#include "basic/text.h"
#include "basic/words.h"
#include "machine/counter.h"
#include "runpinned/command.h"
#include "runpinned/program.h"

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
		.variables = options->empty_variables,
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
	else if (error == -EFBIG)
		say("cannot start the launcher (runpinned-launcher): files may not be as large "
		    "here as those in memory that it needs, of 1 MiB or more (ulimit -f)");
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
		flags |= LAUNCH_SCHEDSTAT;
	return flags;
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

/* Whether one of the variables has the name of this one. */
static bool is_set_anew(const char *const variables[], const char *text)
{
	for (; *variables; variables++) {
		if (options_is_same_variable(*variables, text))
			return true;
	}
	return false;
}

/* The environment of the command, but for what differs between sessions: PATH or all that we have,
 * and the variables of --env. An array, malloc'd, of strings that are not; NULL without memory. */
static char **make_environment(const struct command *command, const struct options *options)
{
	size_t n = 0, n_variables = 0;
	char **env;

	while (environ[n])
		n++;
	while (command->variables[n_variables])
		n_variables++;
	env = calloc(n + n_variables + 1, sizeof(*env));
	if (!env)
		return NULL;
	n = 0;
	for (char **one = environ; *one; one++) {
		if ((!options->clear_env || text_starts_with(*one, "PATH=")) &&
			!is_set_anew(command->variables, *one))
			env[n++] = *one;
	}
	for (size_t i = 0; i < n_variables; i++)
		env[n++] = (char *)command->variables[i];
	return env;
}

int command_start(struct command *command, const struct options *options, const struct place *place,
	const struct counting *counting, const struct evidence_reader *evidence,
	const struct tracepoints *tracepoints, struct stop *stop)
{
	_cleanup_free_ char **env = make_environment(command, options);
	struct session_plan plan = {
		.cpus = place->cpus,
		.housekeeping = place->housekeeping,
		.program = command->program,
		.argv = command->argv,
		.env = env,
		.flags = launch_flags(options),
		.nice = options->nice,
		.fifo_priority = options->fifo_priority,
		.clockid = CLOCK_MONOTONIC_RAW,
		.timeout_ns = options->timeout_ns,
		.core_ns = options->core_ns,
		.counters = counting->attrs,
		.n_counters = counting->n,
		.n_evidence_counters = counting->first_event,
		.n_cpu_counters = counting->n_cpu_counters,
		.tracepoints = tracepoints,
		.join = place->join,
		.show_output = options->show_output,
		.user = options->user,
		.input = command->streams.input,
		.output = command->streams.output,
		.stdout_to = options->stdout_to,
	};
	struct launch_report report = { .step = LAUNCH_STEP_SETUP };
	int r;

	if (!tracepoints && (!options->stamper_given || options->stamper == STAMPER_CPU_EVENTS))
		plan.flags |= LAUNCH_CPU_EVENTS;
	if (evidence)
		plan.files = evidence_files(evidence, &plan.n_files);
	r = env ? session_start(&plan, stop, &command->session, &report) : -ENOMEM;
	if (r < 0 && r != -ECANCELED)
		say_start_failure(r, &report, counting, place);
	return r;
}

int commands_start(struct commands *commands, const struct options *options,
	const struct place *place, const struct counting *counting,
	const struct evidence_reader *evidence, struct stop *stop)
{
	struct command *shell = &commands->empty_shell;
	int r;

	r = commands->tracepoints ? tracepoints_await(commands->tracepoints) : -EPERM;
	if (r < 0)
		tracepoints_free(TAKE_PTR(commands->tracepoints));
	if (r < 0 && options->stamper_given && options->stamper == STAMPER_TRACEPOINTS) {
		say_errno(r, "cannot attach to the tracepoints (--stamps), which needs BPF");
		return r;
	}
	for (size_t i = 0; i < commands->n; i++) {
		r = command_start(&commands->items[i], options, place, counting, evidence,
			commands->tracepoints, stop);
		if (r < 0)
			return r;
	}
	if (options->stamper_given && options->stamper == STAMPER_CPU_EVENTS &&
		commands_get_stamper(commands) != STAMPER_CPU_EVENTS) {
		say("cannot use events of the CPUs (--stamps): this needs root, or "
		    "kernel.perf_event_paranoid at 0 or less");
		return -EPERM;
	}
	if (shell->argv)
		r = command_start(
			shell, options, place, counting, NULL, commands->tracepoints, stop);
	return r;
}

pid_t command_find_limited(const struct command *command, const struct place *place)
{
	return place->join ? session_get_launcher(command->session) : 0;
}

enum stamper commands_get_stamper(const struct commands *commands)
{
	return session_get_stamper(commands->items[0].session);
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

	if (m->stamper != STAMPER_CORRECTED || inspections_find_gap(&m->inspections, &gap) < 0)
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

void commands_end(struct commands *commands)
{
	for (size_t i = 0; i < commands->n; i++) {
		if (commands->items[i].session)
			session_end(commands->items[i].session);
	}
	if (commands->empty_shell.session)
		session_end(commands->empty_shell.session);
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
	tracepoints_free(commands->tracepoints);
	if (commands->is_waking) {
		pthread_join(commands->waking, NULL);
		cleanup_close(&commands->event);
	}
	*commands = (struct commands){ 0 };
}
