// SPDX-License-Identifier: GPL-2.0-or-later
/* runpinned: runs a program again and again on a CPU of its own and times it from outside. */
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <math.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "basic/facts.h"
#include "basic/macro.h"
#include "basic/say.h"
#include "basic/text.h"
#include "machine/counter.h"
#include "runpinned/counting.h"
#include "runpinned/cpulock.h"
#include "runpinned/describe.h"
#include "runpinned/evidence.h"
#include "runpinned/measure.h"
#include "runpinned/options.h"
#include "runpinned/place.h"
#include "runpinned/program.h"
#include "runpinned/report.h"
#include "runpinned/save.h"
#include "runpinned/session.h"
#include "runpinned/stop.h"

enum {
	LOCK_RETRY_NS = 200 * 1000 * 1000,
};

static int resolve_program(const struct options *options, char **ret)
{
	const char *word = options->program[0];
	int r;

	r = program_resolve(word, ret);
	if (r == -ENOENT && !strchr(word, '/'))
		say("cannot run %s: no program of that name in PATH", word);
	else if (r == -EACCES)
		say("cannot run %s: it is not executable (or not for you)", word);
	else if (r < 0)
		say_errno(r, "cannot run %s", word);
	return r;
}

/* Whom a CPU is taken by, for a person. */
static void describe_holder(const struct cpulock_holder *holder, char *buf, size_t size)
{
	const struct passwd *user = holder->pid > 0 ? getpwuid(holder->uid) : NULL;

	if (holder->pid <= 0)
		snprintf(buf, size, "a process that cannot be seen from here");
	else if (user)
		snprintf(buf, size, "%s (process %d of %s)", holder->comm, holder->pid,
			user->pw_name);
	else
		snprintf(buf, size, "%s (process %d of user %u)", holder->comm, holder->pid,
			(unsigned)holder->uid);
}

/* -EINTR when a signal ended the waiting. */
static int lock_cpus(const struct options *options, const struct place *place, struct stop *stop,
	struct cpulock **ret)
{
	struct cpulock_holder holder;
	pid_t said = -1;
	char who[256];
	int r;

	for (;;) {
		r = cpulock_try(place->cpus, ret, &holder);
		if (r == 0)
			return 0;
		if (r != -EAGAIN) {
			say_errno(r, "cannot lock CPU %s", place->cpus_text);
			return r;
		}
		describe_holder(&holder, who, sizeof(who));
		if (options->no_wait) {
			say("CPU %d is taken by %s", holder.cpu, who);
			return r;
		}
		if (said != holder.pid)
			say("CPU %d is taken by %s: waiting", holder.cpu, who);
		said = holder.pid;
		if (stop_sleep(stop, LOCK_RETRY_NS) != 0)
			return -EINTR;
	}
}

static void say_start_failure(int error, const struct launch_report *report,
	const struct counting *counting, const struct place *place)
{
	if (report->step == LAUNCH_STEP_AFFINITY)
		say_errno(error, "cannot bind to CPU %s", place->cpus_text);
	else if (report->step == LAUNCH_STEP_COUNTER &&
		(size_t)report->detail >= counting->first_event)
		say_errno(error, "cannot count %s",
			counting->event_names[(size_t)report->detail - counting->first_event]);
	else if (error == -ENOENT)
		say("cannot start the launcher: runpinned-launcher and runpinned-floor are not "
		    "installed");
	else
		say_errno(error, "cannot start the launcher (runpinned-launcher)");
}

static int start_session(const struct options *options, const struct place *place,
	const char *program, const struct counting *counting, const struct stop *stop,
	struct session **ret)
{
	_cleanup_free_ char *path = NULL;
	char *cleared[] = { NULL, NULL };
	const char *hidden = program_hides_from_perf(program);
	struct session_plan plan = {
		.cpus = place->cpus,
		.program = program,
		.argv = options->program,
		.env = environ,
		.nice = options->nice,
		.fifo_priority = options->fifo_priority,
		.clockid = CLOCK_MONOTONIC_RAW,
		.timeout_ns = options->timeout_ns,
		.counters = counting->attrs,
		.n_counters = counting->n,
		.show_output = options->show_output,
	};
	struct launch_report report;
	int r;

	if (options->no_aslr)
		plan.flags |= LAUNCH_NO_ASLR;
	if (options->set_nice)
		plan.flags |= LAUNCH_SET_NICE;
	if (options->fifo_priority > 0)
		plan.flags |= LAUNCH_SET_FIFO;
	if (options->env_pad != ENV_PAD_NONE)
		plan.flags |= LAUNCH_ENV_PAD;
	if (!options->no_evidence)
		plan.flags |= LAUNCH_SCHEDSTAT;
	if (hidden)
		say("note: %s: %s, so the kernel does not stamp it: runs are timed from before exec to "
		    "after wait",
			program, hidden);
	else
		plan.flags |= LAUNCH_KERNEL_WINDOW;
	if (options->clear_env) {
		const char *value = getenv("PATH");

		if (value && asprintf(&path, "PATH=%s", value) < 0) {
			path = NULL;
			return -ENOMEM;
		}
		cleared[0] = path;
		plan.env = cleared;
	}
	r = session_start(&plan, stop, ret, &report);
	if (r < 0)
		say_start_failure(r, &report, counting, place);
	return r;
}

/* The plan of --dry-run. */
static int print_plan(const struct options *options, const struct place *place, const char *program,
	const struct counting *counting)
{
	_cleanup_free_ char *quoted = text_quote_argv(options->program);
	_cleanup_free_ char *command = quoted ? text_escape_control(quoted) : NULL;
	_cleanup_free_ char *path = text_escape_control(program);
	_cleanup_free_ char *housekeeping = cpumask_format_list(place->housekeeping);
	const char *hidden = program_hides_from_perf(program);
	int paranoid;

	if (!command || !path || !housekeeping)
		return -ENOMEM;
	printf("command: %s\n", command);
	printf("program: %s\n", path);
	printf("cpus: %s (%s)\n", place->cpus_text, place->reason ? place->reason : "as asked for");
	printf("housekeeping: %s\n", *housekeeping ? housekeeping : "none left");
	printf("runs: %u after %u warm-up\n", options->runs, options->warmups);
	if (hidden)
		printf("window: stamps of the launcher (%s)\n", hidden);
	else
		printf("window: records of the kernel, where it allows them\n");
	if (perf_paranoid_read(&paranoid) == 0)
		printf("perf_event_paranoid: %d\n", paranoid);
	for (size_t i = 0; i < counting->n_events; i++)
		printf("event: %s\n", counting->event_names[i]);
	printf("evidence: %s\n", options->no_evidence ? "none" : "full");
	if (options->output)
		printf("output: %s%s\n", options->output, options->append ? " (appended)" : "");
	return 0;
}

/* By the clock of the values, and from both sides of the runs. */
static double floor_seconds(const struct measurement *m)
{
	bool kernel = m->series->clock == WINDOW_KERNEL;
	double before = kernel ? m->floor_before.kernel_seconds : m->floor_before.user_seconds;
	double after = kernel ? m->floor_after.kernel_seconds : m->floor_after.user_seconds;

	return isfinite(after) ? (before + after) / 2 : before;
}

/* Report and files. Returns a negative errno when something could not be written. */
static int conclude(const struct options *options, const struct place *place, struct measurement *m,
	const struct evidence_reader *evidence, struct save *save, struct facts *facts)
{
	_cleanup_free_ char *saved = NULL, *changes = NULL;
	/* With --json, standard output is for a program. */
	FILE *stream = options->json ? stderr : stdout;
	const struct fact *name;
	int r;

	series_settle_clock(m->series);
	if (save_wants_user_clock(save))
		m->series->clock = WINDOW_USER;
	r = series_flag_frequency(m->series);
	if (r < 0)
		return r;
	r = describe_outcome(m, evidence, place, facts);
	if (r < 0)
		return r;
	r = describe_changes(place, facts, &changes);
	if (r < 0)
		return r;
	if (*changes)
		say("warning: the machine was changed meanwhile: %s", changes);

	name = facts_find(facts, "name");
	if (m->n_runs > 0) {
		r = report_print(options->quiet ? NULL : stream,
			&(struct report_input){
				.name = name ? name->string : "",
				.cpus = place->cpus_text,
				.cpus_reason = place->reason,
				.series = m->series,
				.floor_seconds = floor_seconds(m),
				.verbose = options->verbose > 0,
			});
		if (r < 0)
			say_errno(r, "cannot report");
	}
	if (options->rel_error > 0 && m->end == MEASURE_COMPLETE && !m->reached_rel_error)
		say("warning: the median is not known to %g %% after %zu runs (--max-runs)",
			options->rel_error, m->n_runs);
	if (m->n_warmups + m->n_runs == 0)
		return 0;
	if (m->end != MEASURE_COMPLETE && m->n_runs == 0)
		return 0;
	r = save_commit(save, m->series, facts, &saved);
	if (saved && !options->quiet)
		fprintf(stream, "saved in %s\n", saved);
	if (fflush(stream) != 0 && r == 0) {
		r = -errno;
		say_errno(r, "cannot write to standard output");
	}
	return r;
}

static int exit_status(const struct measurement *m, const struct stop *stop, int error)
{
	switch (m->end) {
	case MEASURE_STOPPED:
		return 128 + stop->signal;
	case MEASURE_COMPLETE:
		return error < 0 ? EXIT_FAILED : EXIT_DONE;
	default:
		return EXIT_FAILED;
	}
}

/* Everything from the chosen CPUs on; the CPUs are locked and runs are made in here. */
static int measure_program(const struct options *options, const struct place *place,
	const char *program, const struct counting *counting, struct stop *stop)
{
	_cleanup_(save) struct save *save = NULL;
	_cleanup_(cpulock) struct cpulock *lock = NULL;
	_cleanup_(session) struct session *session = NULL;
	_cleanup_(evidence_reader) struct evidence_reader *evidence = NULL;
	_cleanup_(measurement) struct measurement *m = NULL;
	struct facts facts = { 0 };
	int r, status = EXIT_FAILED;

	r = describe_setup(options, place, &facts);
	if (r < 0) {
		say_errno(r, "cannot describe this machine");
		goto out;
	}
	r = save_open(options, &facts, &save);
	if (r < 0)
		goto out;
	r = lock_cpus(options, place, stop, &lock);
	if (r == -EINTR)
		status = 128 + stop->signal;
	if (r < 0)
		goto out;
	r = start_session(options, place, program, counting, stop, &session);
	if (r < 0)
		goto out;
	/* Out of the way, if there is somewhere to go. */
	if (!cpumask_is_empty(place->housekeeping))
		(void)cpumask_bind_self(place->housekeeping);
	if (!options->no_evidence) {
		r = evidence_open(place->cpus, &evidence);
		if (r < 0) {
			say_errno(r, "cannot read the machine's counters");
			goto out;
		}
		if (options->cooldown >= 0 && !isfinite(evidence_temperature(evidence)))
			say("note: no CPU temperature can be read here: --cooldown has no effect");
	}
	r = measure(options, session, stop, counting, evidence, &m);
	if (r < 0) {
		say_errno(r, "cannot measure");
		goto out;
	}
	/* A reader of our output that goes away is an error to be told, not a reason to die before
	 * the result is saved. */
	signal(SIGPIPE, SIG_IGN);
	if (m->end == MEASURE_STOPPED)
		say("%s", m->incomplete ? m->incomplete : "stopped");
	r = conclude(options, place, m, evidence, save, &facts);
	status = exit_status(m, stop, r);
out:
	facts_clear(&facts);
	return status;
}

static int run(const struct options *options)
{
	_cleanup_(place) struct place *place = NULL;
	_cleanup_(counting) struct counting *counting = NULL;
	_cleanup_free_ char *program = NULL;
	struct stop stop;
	int r, status;

	r = resolve_program(options, &program);
	if (r < 0)
		return EXIT_FAILED;
	r = place_choose(options->cpus, &place);
	if (r < 0)
		return r == -EINVAL ? EXIT_USAGE : EXIT_FAILED;
	r = counting_open(
		options->events, cpumask_first(place->cpus), !options->no_evidence, &counting);
	if (r < 0)
		return r == -EINVAL ? EXIT_USAGE : EXIT_FAILED;
	if (options->drop_caches && access("/proc/sys/vm/drop_caches", W_OK) < 0) {
		say_errno(errno, "cannot drop the page cache (--drop-caches)");
		return EXIT_FAILED;
	}
	if (options->dry_run) {
		r = print_plan(options, place, program, counting);
		return r < 0 || fflush(stdout) != 0 ? EXIT_FAILED : EXIT_DONE;
	}
	r = stop_open(&stop);
	if (r < 0) {
		say_errno(r, "cannot take signals");
		return EXIT_FAILED;
	}
	status = measure_program(options, place, program, counting, &stop);
	stop_close(&stop);
	return status;
}

/* A file that we open must not become our standard output because the caller had closed that. */
static bool have_standard_streams(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDWR) != fd)
			return false;
	}
	return true;
}

int main(int argc, char *argv[])
{
	struct options options;
	int r;

	if (!have_standard_streams())
		return EXIT_FAILED;
	/* For the width of what a person typed, not for numbers: those have a '.' everywhere. */
	setlocale(LC_CTYPE, "");
	r = options_parse(argc, argv, &options);
	if (r < 0)
		return EXIT_USAGE;
	if (r > 0)
		return fflush(stdout) == 0 ? EXIT_DONE : EXIT_FAILED;
	return run(&options);
}
