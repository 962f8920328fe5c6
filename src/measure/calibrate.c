// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/macro.h"
#include "base/parse.h"
#include "base/say.h"
#include "measure/calibrate.h"
#include "measure/hooks.h"
#include "measure/host.h"
#include "measure/measure.h"
#include "measure/session.h"

enum {
	TRIAL_ROUNDS = 64, /* some 10 ms */
	LENGTH_STEP = 4,
	LENGTH_MAX = 1 << 28,
	TRIALS_MAX = 5,
};

/* No more trials after this time. The first one may have to read the program's file. */
#define TRIALS_SECONDS 0.2

unsigned calibrate_choose_length(
	double program_seconds, unsigned trial_rounds, double trial_seconds)
{
	double rounds = program_seconds / trial_seconds * trial_rounds;
	double exponent = round(log(rounds) / log(LENGTH_STEP));

	if (!(exponent > 0))
		return 1;
	return (unsigned)MIN(pow(LENGTH_STEP, exponent), LENGTH_MAX);
}

static void set_length(struct command *command, unsigned length)
{
	snprintf(command->argv[1], OPTIONS_LENGTH_SIZE, "%u", length);
}

/* The duration of a run, or its CPU time if that is less: on a busy machine, CPU time varies much
 * less. */
static double find_seconds(const struct launch_report *report)
{
	int64_t wall = report->end_ns - report->start_ns;
	int64_t cpu = report->user_cpu_ns + report->system_cpu_ns;

	return (double)MIN(wall, cpu) / NSEC_PER_SEC;
}

/* Makes one run. Returns 1 when it was made, 0 when the program cannot be run. */
static int run_once(struct command *command, const struct options *options, struct stop *stop,
	const char *text, struct launch_report *ret)
{
	struct launch_request request = { .command = LAUNCH_RUN, .n_runs = 1, .discarded = true };
	struct runlog_run run = { 0 };
	const char *failure;
	char status[96];
	int r;

	r = session_run(command->session, stop, &request);
	if (r < 0 || session_next(command->session, &run) <= 0)
		return 0;
	if (run.report.interrupted)
		return -ECANCELED;
	failure = measure_find_failure(options, &run.report, status, sizeof(status));
	if (failure && text) {
		say("%s: %s: %s", command->argv[0], text, failure);
		session_print_stderr(command->session);
	}
	if (failure)
		return -ECHILD;
	*ret = run.report;
	return 1;
}

/* Makes one run with its hooks. */
static int make_trial(struct command *command, const struct options *options,
	const struct place *place, struct stop *stop, const char *text, struct launch_report *ret)
{
	int r, concluded;

	if (stop_check(stop) != 0)
		return -ECANCELED;
	r = hook_run(options, place, command, HOOK_PREPARE, 0, stop, NULL);
	if (r < 0)
		return r;
	r = options->host ? host_empty_folder(options->host) : 0;
	if (r == 0)
		r = stop_check(stop) == 0 ? run_once(command, options, stop, text, ret)
					  : -ECANCELED;
	/* --conclude runs however the run ended, and even if there was none. */
	concluded = hook_run(options, place, command, HOOK_CONCLUDE, 0, stop, NULL);
	return r < 0 || concluded >= 0 ? r : concluded;
}

/* A trial is started as a run is, but nothing is read beside it, and no tracepoints stamp it. */
static struct launch_inputs strip_inputs(const struct launch_inputs *given)
{
	struct launch_inputs in = *given;

	in.evidence = NULL;
	in.tracepoints = NULL;
	return in;
}

int calibrate_try(struct command *command, const struct launch_inputs *given, struct stop *stop,
	const char *text)
{
	const struct launch_inputs in = strip_inputs(given);
	struct launch_report report = { 0 };
	int r = session_start(command, &in, stop);

	if (r == 0)
		r = make_trial(command, in.options, in.place, stop, text, &report);
	session_free(TAKE_PTR(command->session));
	return r;
}

/* The shortest of some runs in seconds; NAN when there was none. */
static int time_command(
	struct command *command, const struct launch_inputs *in, struct stop *stop, double *ret)
{
	struct launch_report report = { 0 };
	double shortest = NAN, sum = 0;
	int r;

	r = session_start(command, in, stop);
	if (r < 0)
		return r;
	for (int i = 0; i < TRIALS_MAX && sum < TRIALS_SECONDS; i++) {
		r = make_trial(command, in->options, in->place, stop,
			"a run to find the length of the control failed", &report);
		if (r < 0)
			return r;
		if (r == 0)
			break;
		shortest = fmin(shortest, find_seconds(&report));
		sum += (double)(report.end_ns - report.start_ns) / NSEC_PER_SEC;
	}
	*ret = shortest;
	return 0;
}

/* The same in a new launcher, which is ended afterwards. */
static int time_once(
	struct command *command, const struct launch_inputs *in, struct stop *stop, double *ret)
{
	int r = time_command(command, in, stop, ret);

	session_free(TAKE_PTR(command->session));
	return r;
}

/* The length in "runpinned-control 256"; 0 in any other text. */
static unsigned find_length(const struct command *control, const char *known)
{
	size_t n = strlen(control->argv[0]);
	unsigned length;

	if (!known || strncmp(known, control->argv[0], n) != 0 || known[n] != ' ' ||
		parse_uint(known + n + 1, 1, LENGTH_MAX, &length) < 0)
		return 0;
	return length;
}

int calibrate_control(struct commands *commands, const struct launch_inputs *given,
	const char *known, struct stop *stop)
{
	const struct options *options = given->options;
	const struct launch_inputs in = strip_inputs(given);
	struct command *control = &commands->items[commands->n - 1];
	double program, trial;
	unsigned length;
	int r;

	if (!control->is_shipped)
		return 0;
	length =
		options->control_length > 0 ? options->control_length : find_length(control, known);
	if (length > 0) {
		set_length(control, length);
		return 0;
	}
	set_length(control, TRIAL_ROUNDS);
	r = time_once(&commands->items[0], &in, stop, &program);
	if (r == 0)
		r = time_once(control, &in, stop, &trial);
	if (r == 0)
		set_length(control, calibrate_choose_length(program, TRIAL_ROUNDS, trial));
	return r;
}
