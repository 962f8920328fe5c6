// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/machine/counter.h"
#include "base/macro.h"
#include "base/random.h"
#include "base/say.h"
#include "base/units.h"
#include "base/xalloc.h"
#include "judge/result/metric.h"
#include "judge/result/weight.h"
#include "judge/stats/stats.h"
#include "judge/stats/steady.h"
#include "measure/decide.h"
#include "measure/figures.h"
#include "measure/hooks.h"
#include "measure/judge.h"
#include "measure/measure.h"
#include "measure/notice.h"
#include "measure/program.h"
#include "measure/progress.h"
#include "measure/rounds.h"
#include "measure/session.h"

enum {
	FLOOR_RUNS = 3,
	/* After so many runs comes the first inspection between them, and the next ones whenever
	 * the runs have doubled, because programs seldom change what they do. */
	INSPECT_FIRST = 25,
	COMPARE_FIRST = 2, /* the same, of runs without records among those with */
	/* The gap of our own stamps depends on what the machine does meanwhile. */
	GAP_EVERY = 10,
	INSPECTIONS_MAX = 3, /* at a time, until the rings are large enough */
	/* One page: everything that lies below the environment on the stack moves by up to this. */
	ENV_PAD_RANDOM_MAX = 4096,
	/* --cooldown: a machine that does not cool down in this time will not cool down at all. */
	COOLDOWN_WAIT_MAX_S = 300,
	/* Whether the runs are enough is asked again after 1 / N of them more: for an interval all
	 * values have to be sorted, and a decision takes the new pairs only. */
	LOOK_AT_INTERVAL = 20,
	LOOK_AT_DECISION = 1000,
	LOOK_AT_CLOCK = 1000,
};

/* The state of the whole measurement. */
struct work {
	const struct launch_inputs *in;
	const struct options *options;
	const struct place *place;
	struct commands *commands;
	struct command *command; /* the command that runs next or has just run */
	struct measurement *m;	 /* the measurement of that command */
	struct stop *stop;
	const struct counting *counting;
	struct evidence_reader *evidence;
	struct progress progress;
	/* How many runs each command is likely to make, beyond -n; 0 when nothing is known. */
	size_t expected_runs;
	bool out_of_time; /* --max-time has ended the runs before they were enough */
	bool said_lost;
	bool said_window;
	bool user_clock; /* the values are to be those of our own stamps */
	/* Who stamps the runs that count. Until the warm-ups have shown that something else is
	 * needed, those who cost nothing, or the launcher. */
	enum stamper stamper;
	bool is_stamper_chosen;
	size_t next_inspection; /* before the run of this number */
	uint64_t env_pad_seed;
	uint64_t sitting;
	uint64_t random_order; /* state of the random generator for the order of the commands */
	int64_t began_ns;
	double *events; /* counts and figures of the newest run */
	struct figure_files *figure_files;
	const struct figurepad *pad; /* NULL where there is none */
	bool pad_used;		     /* perhaps, by the runs that were made last */
};

/* The times of some runs of the empty program. */
struct floor {
	double kernel[FLOOR_RUNS], user[FLOOR_RUNS], reap[FLOOR_RUNS];
	double user_cpu[FLOOR_RUNS], system_cpu[FLOOR_RUNS], max_rss[FLOOR_RUNS];
	size_t n;
	size_t n_kernel; /* how many entries `kernel` and `reap` have */
};

/* What a run is made for. */
enum purpose {
	FOR_WARMUP,
	FOR_VALUE,
	FOR_INSPECTION,
};

/* How many runs were made, warm-ups included. */
static size_t runs_made(const struct measurement *m)
{
	return m->n_warmups + m->n_runs;
}

static void take_turn(struct work *work, size_t index)
{
	work->command = &work->commands->items[index];
	work->m = work->command->measurement;
}

/* The padding of the environment for a command's run number `index`, warm-ups included. It is the
 * same for all commands, because nothing but the program may differ between runs that are
 * compared. */
static uint32_t choose_env_pad(const struct work *work, size_t index)
{
	switch (work->options->env_pad) {
	case ENV_PAD_FIXED:
		return work->options->env_pad_bytes;
	case ENV_PAD_RANDOM:
		return (uint32_t)(random_at(work->env_pad_seed, index) % ENV_PAD_RANDOM_MAX);
	default:
		return 0;
	}
}

static const char *step_text(enum launch_step step)
{
	switch (step) {
	case LAUNCH_STEP_PERSONALITY:
		return "cannot switch address-space randomisation off (--no-aslr)";
	case LAUNCH_STEP_NICE:
		return "cannot set the niceness (--nice)";
	case LAUNCH_STEP_FIFO:
		return "cannot set SCHED_FIFO (--fifo)";
	case LAUNCH_STEP_USER:
		return "cannot become the user (--user)";
	case LAUNCH_STEP_CLONE:
		return "cannot start a process";
	case LAUNCH_STEP_WAIT:
		return "cannot wait for the program";
	case LAUNCH_STEP_KEEPER:
		return "cannot find what the program left running";
	default:
		return "the launcher failed";
	}
}

/* Why a run of the program, which is in the file, did not take place, malloc'd. */
static char *explain_not_run(
	const char *program, const char *file, int error, const struct launch_report *report)
{
	const char *why = strerror(-error);
	char *text;

	if (report->step == LAUNCH_STEP_EXEC && error == -ENOEXEC)
		why = program_explain_noexec(file);
	else if (report->step == LAUNCH_STEP_EXEC && error == -ENOENT)
		why = "it, its interpreter or its loader is not there";
	if (report->step == LAUNCH_STEP_EXEC)
		text = xformat("cannot execute %s: %s", program, why);
	else if (report->step == LAUNCH_STEP_BEGIN && error == -ETIME)
		text = xformat(
			"%s did not get its CPU: each time that of --timeout was over before",
			program);
	else if (report->step == LAUNCH_STEP_BEGIN)
		text = xformat("the process was killed before it executed %s", program);
	else if (error == -EPIPE)
		text = xptr(strdup("the launcher process died"));
	else
		text = xformat("%s: %s", step_text(report->step), why);
	return text;
}

/* Says why a run of this program did not take place, and which one if there were runs before it.
 * Returns the error. */
static int say_not_run(const char *program, const char *file, int error, const char *run,
	size_t index, const struct launch_report *report)
{
	_cleanup_free_ char *why = explain_not_run(program, file, error, report);

	if (index > 0)
		say("%s %zu: %s", run, index, why);
	else
		say("%s", why);
	return error;
}

/* Adds the times of one run of the empty program. */
static void add_floor_run(
	struct work *work, const struct launch_report *report, struct floor *floor)
{
	int64_t end_ns;

	if (report->window_error)
		work->m->window_error = report->window_error;
	floor->user_cpu[floor->n] = (double)report->user_cpu_ns / NSEC_PER_SEC;
	floor->system_cpu[floor->n] = (double)report->system_cpu_ns / NSEC_PER_SEC;
	floor->max_rss[floor->n] = (double)report->max_rss_kib * 1024;
	floor->user[floor->n++] = (double)(report->end_ns - report->start_ns) / NSEC_PER_SEC;
	if (judge_window(report, &(struct window_floor){ .reap_ns = INT32_MAX }) != WINDOW_SOUND)
		return;
	end_ns = judge_window_end(report);
	floor->kernel[floor->n_kernel] = (double)(end_ns - report->window.exec_ns) / NSEC_PER_SEC;
	floor->reap[floor->n_kernel++] = (double)(report->end_ns - end_ns);
}

static int run_floor(struct work *work, struct session *session, enum launch_command command,
	uint32_t attachments, struct floor *floor)
{
	while (floor->n < FLOOR_RUNS && stop_check(work->stop) == 0) {
		struct launch_request request = {
			.command = command,
			.n_runs = (uint32_t)(FLOOR_RUNS - floor->n),
			.discarded = true,
		};
		struct runlog_run run = { .report.step = LAUNCH_STEP_SETUP };
		int r;

		for (uint32_t i = 0; i < request.n_runs; i++)
			request.runs[i].attachments = attachments;
		r = session_run(session, work->stop, &request);
		while (r == 0 && (r = session_next(session, &run)) > 0) {
			if (run.report.interrupted)
				return 0;
			add_floor_run(work, &run.report, floor);
			r = 0;
		}
		if (r < 0)
			return command == LAUNCH_FLOOR
				? say_not_run("runpinned-floor", "runpinned-floor", r, "", 0,
					  &run.report)
				: say_not_run(work->commands->empty_shell.argv[0],
					  work->commands->empty_shell.program, r, "", 0,
					  &run.report);
	}
	return 0;
}

static const struct floor_time no_floor = {
	.kernel_seconds = NAN,
	.user_seconds = NAN,
	.event_user_seconds = NAN,
	.least_event_seconds = NAN,
	.least_seconds = NAN,
	.user_cpu_seconds = NAN,
	.system_cpu_seconds = NAN,
	.max_rss_bytes = NAN,
};

/* Whether only an event on the program's main thread gives the kernel's stamps. */
static bool needs_event(const struct work *work)
{
	return sessions_get_stamper(work->commands) == STAMPER_LAUNCHER &&
		!(work->options->stamper_given && work->options->stamper == STAMPER_LAUNCHER);
}

static double sort_to_median(double *values, size_t n)
{
	stats_sort(values, n);
	return values[n / 2];
}

/* The medians of some runs of the empty program, or the empty shell, as the launcher executes it
 * for `command`. */
static int measure_floor(struct work *work, struct session *session, enum launch_command command,
	struct floor_time *ret)
{
	bool with_event = needs_event(work);
	struct floor floor = { 0 }, bare = { 0 }, *last;
	int r;

	*ret = no_floor;
	r = run_floor(work, session, command, with_event ? LAUNCH_ATTACH_WINDOW : 0, &floor);
	if (r == 0 && with_event)
		r = run_floor(work, session, command, 0, &bare);
	if (r < 0)
		return r;
	if (floor.n > 0)
		ret->user_seconds = sort_to_median(floor.user, floor.n);
	if (bare.n > 0) {
		ret->event_user_seconds = ret->user_seconds;
		ret->least_event_seconds = floor.user[0];
		ret->user_seconds = sort_to_median(bare.user, bare.n);
		ret->least_seconds = bare.user[0];
	}
	if (floor.n_kernel > 0) {
		ret->kernel_seconds = sort_to_median(floor.kernel, floor.n_kernel);
		ret->reap_ns = (int64_t)sort_to_median(floor.reap, floor.n_kernel);
	}
	last = bare.n > 0 ? &bare : &floor;
	if (last->n > 0) {
		ret->user_cpu_seconds = sort_to_median(last->user_cpu, last->n);
		ret->system_cpu_seconds = sort_to_median(last->system_cpu, last->n);
		ret->max_rss_bytes = sort_to_median(last->max_rss, last->n);
	}
	return 0;
}

/* Says it once and before the runs, because users should know how the runs are timed before a long
 * measurement. */
static void say_window_error(int error)
{
	int paranoid;

	if (error == 0)
		return;
	if ((error == EACCES || error == EPERM) && perf_paranoid_read(&paranoid) == 0)
		say("note: the kernel does not let us have its stamps (kernel.perf_event_paranoid is "
		    "%d): runs are timed from before exec to after wait",
			paranoid);
	else
		say("note: the kernel does not let us have its stamps (%s): runs are timed from before "
		    "exec to after wait",
			strerror(error));
}

/* The same, where it is because of a program. */
static void say_hidden(const struct work *work)
{
	for (size_t i = 0; needs_event(work) && i < work->commands->n; i++) {
		const struct command *command = &work->commands->items[i];

		if (command->hidden)
			say("note: %s: %s, so the kernel does not stamp it: runs are timed from before "
			    "exec to after wait",
				command->program, command->hidden);
	}
}

/* Only root may do this (Documentation/admin-guide/sysctl/vm.rst). Only clean pages are dropped, so
 * the dirty ones are written to disk first. 3: with the dentries and inodes, which a program that
 * opens files finds in memory as well. */
static int drop_caches(void)
{
	sync();
	return file_write_attr("/proc/sys/vm/drop_caches", "3");
}

/* How long the runs have taken since the first one. */
static int64_t elapsed_ns(const struct work *work)
{
	return clock_now_ns(CLOCK_MONOTONIC) - work->progress.began_ns;
}

/* Draws how many runs of all commands have been made. */
static void draw_progress(struct work *work, const char *note)
{
	const struct options *o = work->options;
	struct progress_box box = {
		.least = (double)o->min_time_ns / NSEC_PER_SEC,
		.most = o->max_time_ns > 0 ? (double)o->max_time_ns / NSEC_PER_SEC : INFINITY,
	};
	size_t done = 0, total = 0;

	for (size_t i = 0; i < work->commands->n; i++) {
		const struct measurement *m = work->commands->items[i].measurement;

		done += runs_made(m);
		total += o->warmups +
			MAX(MAX(m->n_runs, (size_t)o->runs),
				work->commands->items[i].is_settled ? 0 : work->expected_runs);
	}
	progress_draw(&work->progress, done, total, &box, note);
}

/* Waits until the package is as cool as it was at the start, within the given number of degrees. */
static void cool_down(struct work *work)
{
	double limit = evidence_first_temperature(work->evidence) + work->options->cooldown;

	for (int i = 0; i < COOLDOWN_WAIT_MAX_S; i++) {
		double now = evidence_ask_temperature(work->evidence);
		char note[64];

		if (!(now > limit))
			return;
		snprintf(
			note, sizeof(note), "cooling down: %.0f C, waiting for %.0f C", now, limit);
		draw_progress(work, note);
		if (stop_sleep(work->stop, NSEC_PER_SEC) != 0)
			return;
	}
	progress_clear(&work->progress);
	say("warning: the package did not cool down to %.0f C within %d s; going on", limit,
		COOLDOWN_WAIT_MAX_S);
}

/* "exit status 3", "signal 11 (Segmentation fault)" */
static void describe_status(
	const struct launch_report *report, int64_t timeout_ns, char *buf, size_t size)
{
	if (report->stopped)
		snprintf(buf, size, "stopped by signal %d (%s), killed%s", report->stopped,
			strsignal(report->stopped),
			report->traced ? "; it asks to be traced (ptrace)" : "");
	else if (report->timed_out && report->refused)
		snprintf(buf, size,
			"took %g s, and may not be killed after %g s (--timeout): it is another user's",
			(double)(report->end_ns - report->start_ns) / NSEC_PER_SEC,
			(double)timeout_ns / NSEC_PER_SEC);
	else if (report->timed_out)
		snprintf(buf, size, "killed after %g s (--timeout)", (double)timeout_ns / 1e9);
	else if (WIFSIGNALED(report->status))
		snprintf(buf, size, "signal %d (%s)%s", WTERMSIG(report->status),
			strsignal(WTERMSIG(report->status)),
			WCOREDUMP(report->status) ? ", core dumped" : "");
	else
		snprintf(buf, size, "exit status %d", WEXITSTATUS(report->status));
}

/* Whether --ignore-failure has this exit status in its list. */
static bool is_no_failure(const struct options *options, int status)
{
	return WIFEXITED(status) && options->ignored_statuses[WEXITSTATUS(status)];
}

const char *measure_find_failure(
	const struct options *options, const struct launch_report *report, char *buf, size_t size)
{
	bool outlasted = report->timed_out && report->refused;

	if ((report->status == 0 && !outlasted) || options->ignore_failure ||
		is_no_failure(options, report->status))
		return NULL;
	describe_status(report, options->timeout_ns, buf, size);
	return buf;
}

static const char *purpose_name(enum purpose purpose)
{
	static const char *const names[] = {
		[FOR_WARMUP] = "warm-up run",
		[FOR_VALUE] = "run",
		[FOR_INSPECTION] = "inspected run",
	};

	return names[purpose];
}

/* Says that the program failed in a run, with the last lines that it wrote to standard error. */
static void say_failed(struct work *work, const char *run, const char *status)
{
	progress_clear(&work->progress);
	say("%s: %s failed: %s", work->command->argv[0], run, status);
	session_print_stderr(work->command->session);
}

/* Fills the sample from the report. */
static void fill_sample(struct work *work, const struct launch_report *report,
	enum window_verdict window, uint32_t env_pad, bool warmup, struct sample *ret)
{
	*ret = (struct sample){
		.user_ns = report->end_ns - report->start_ns,
		.start_ns = report->start_ns - work->began_ns,
		.status = report->status,
		.max_rss_kib = (uint32_t)MIN(report->max_rss_kib, (int64_t)UINT32_MAX),
		.env_pad = env_pad,
		.warmup = warmup,
	};
	if (window != WINDOW_MISSING)
		ret->kernel_ns = judge_window_end(report) - report->window.exec_ns;
	else if (work->stamper == STAMPER_CORRECTED)
		ret->kernel_ns = ret->user_ns - MAX(report->launcher_delay_ns, (int64_t)0) -
			work->m->gap.median_ns;
}

/* Takes the values that the program handed over in the run that was recorded last. */
static int take_progvalues(struct work *work, bool warmup)
{
	_cleanup_free_ char *text = NULL, *why = NULL;
	struct measurement *m = work->m;
	size_t size;
	int r;

	r = session_read_values(work->command->session, &text, &size);
	if (r == 0)
		r = progvalues_take(
			m->progvalues, m->series->n_samples - 1, warmup, text, size, &why);
	if (r == 0)
		evidence_take_inside(m->series, progvalues_core_adds(m->progvalues));
	if (r != -EBADMSG)
		return r;
	/* The times of the run are valid in spite of that, so it is only a warning. */
	if (m->n_refused++ == 0) {
		progress_clear(&work->progress);
		say("warning: %s: values that it handed over are refused: %s",
			work->command->argv[0], why);
	}
	return 0;
}

/* The figure of the newest run that the programs are judged by, or its time where there is none. */
static const char *format_newest(const struct work *work, char buf[static UNITS_TEXT_SIZE])
{
	const struct series *series = work->m->series;
	const struct sample *sample = &series->samples[series->n_samples - 1];
	const char *metric =
		work->options->metric ? work->options->metric : series_first_figure(series);
	size_t event = metric ? series_find_event(series, metric) : series->n_events;
	double value = event < series->n_events
		? series->counters[(series->n_samples - 1) * series->n_events + event]
		: NAN;
	struct scale scale;

	if (!isfinite(value))
		return units_format_seconds((double)sample_window_ns(sample) / NSEC_PER_SEC, buf);
	scale = scale_choose_unit(series->event_kinds[event].unit, value);
	return scale_format(scale_refine(scale, 1), value, buf);
}

/* Shows the newest run: as a line with -vv, otherwise on the progress bar. */
static void show_newest(struct work *work, bool warmup)
{
	const struct series *series = work->m->series;
	const struct sample *sample = &series->samples[series->n_samples - 1];
	bool several = work->commands->n > 1;
	char value[UNITS_TEXT_SIZE];

	/* Most often nobody looks. */
	if (work->options->verbose < 2 && !work->progress.shown)
		return;
	format_newest(work, value);
	if (work->options->verbose >= 2) {
		_cleanup_free_ char *flags = NULL;
		struct weights weights;

		weights_find(NULL, sample,
			series->with_evidence ? &series->evidence[series->n_samples - 1] : NULL,
			&weights);
		flags = xptr(weights_text(sample, &weights));
		say("%s %zu%s%s: %s%s%s", warmup ? "warm-up" : "run",
			warmup ? work->m->n_warmups : work->m->n_runs, several ? " of " : "",
			several ? work->command->name : "", value, *flags ? "  " : "", flags);
		return;
	}
	draw_progress(work, value);
}

/* What is counted: a round of runserved is one sitting of each service. */
static const char *units_of(const struct work *work)
{
	return work->commands->rounds ? "sittings" : "runs";
}

static void end_stopped(struct work *work, struct measurement *m)
{
	const char *signal = work->stop->signal == SIGINT ? "SIGINT"
		: work->stop->signal == SIGHUP		  ? "SIGHUP"
							  : "SIGTERM";

	m->end = MEASURE_STOPPED;
	if (work->options->max_runs > 0)
		m->incomplete =
			xformat("stopped by %s after %zu %s", signal, m->n_runs, units_of(work));
	else
		m->incomplete = xformat("stopped by %s after %zu of %u %s", signal, m->n_runs,
			work->options->runs, units_of(work));
}

static void end_failed(struct work *work, const char *status, enum purpose purpose)
{
	struct measurement *m = work->m;
	char run[48];

	snprintf(run, sizeof(run), "%s %zu", purpose_name(purpose),
		(purpose == FOR_WARMUP ? m->n_warmups : m->n_runs) + 1);
	say_failed(work, run, status);
	m->end = MEASURE_FAILED;
	m->incomplete = xformat("%s failed: %s", run, status);
}

/* Says once that the kernel's records of a run did not fit. */
static void say_lost(
	struct work *work, const struct launch_report *report, enum window_verdict window)
{
	bool lost = report->window.n_lost > 0 || (report->tree_tried && report->tree.n_lost > 0);

	if (!lost || window == WINDOW_SOUND || work->said_lost)
		return;
	work->said_lost = true;
	progress_clear(&work->progress);
	say("note: %s: so many threads, processes, names or context switches that there was no room "
	    "for the kernel's stamp of the end; there is more from the next run on",
		work->command->argv[0]);
}

/* The kernel may have given its stamps to the first runs and refuse them now, for want of memory
 * that may be locked, or of descriptors. Said once, as at the beginning. */
static void note_window_error(struct work *work, const struct launch_report *report)
{
	struct measurement *m = work->m;

	if (!report->window_error)
		return;
	m->window_error = report->window_error;
	if (work->said_window)
		return;
	work->said_window = true;
	progress_clear(&work->progress);
	say_window_error(m->window_error);
}

static struct window_floor get_window_floor(const struct work *work)
{
	const struct floor_time *floor = &work->m->floor;
	double user_seconds = isfinite(floor->event_user_seconds) ? floor->event_user_seconds
								  : floor->user_seconds;
	double gap = user_seconds - floor->kernel_seconds;

	return (struct window_floor){
		.run_ns = isfinite(floor->kernel_seconds)
			? llround(floor->kernel_seconds * NSEC_PER_SEC)
			: 0,
		.reap_ns = floor->reap_ns,
		.gap_ns = isfinite(gap) ? llround(gap * NSEC_PER_SEC) : 0,
		.one_cpu = cpumask_weight(work->place->cpus) == 1,
	};
}

/* Takes the figures of a run that has not failed otherwise. Returns why it has failed: its output
 * is not as it should be; NULL where it is, or where failures are ignored. */
static const char *take_figures(
	struct work *work, bool has_said, struct sample *sample, char **ret_why)
{
	struct series *series = work->m->series;
	int r = sample->flags & SAMPLE_FAILED ? -EBADMSG
					      : figures_take(work->command, work->figure_files,
							has_said, series, &work->events, ret_why);

	if (r >= 0)
		return NULL;
	if (!work->options->ignore_failure && *ret_why)
		return *ret_why;
	sample->flags |= SAMPLE_FAILED;
	figures_leave_out(series, &work->events);
	return NULL;
}

/* Pairs so far were of runs that failed, or of programs that had not said any figure: they are
 * taken anew. */
static void choose_metric(struct commands *commands, const char *metric)
{
	commands->metric = xptr(strdup(metric));
	commands->awaits_figure = false;
	for (size_t i = 0; i < commands->n; i++) {
		commands->items[i].measurement->has_metric = false;
		commands->items[i].measurement->decision = (struct decision){ 0 };
	}
}

/* Chooses by what the programs are judged, and returns why that is not known of the newest run,
 * malloc'd; NULL where it is. A run that has failed is not asked. */
static char *check_metric(struct work *work, const struct sample *sample)
{
	const struct series *series = work->m->series;
	const struct options *o = work->options;
	struct commands *commands = work->commands;
	bool is_asked = o->metric || o->decide > 0 || o->rel_error > 0 || o->vary;
	const char *first;

	if (work->m->has_metric || !is_asked || work->command->is_control ||
		sample->flags & SAMPLE_FAILED)
		return NULL;
	first = series_first_figure(series);
	if (!o->metric && !commands->metric && first)
		choose_metric(commands, first);
	work->m->has_metric = !commands->metric ||
		isfinite(series_metric_at(series, commands->metric, series->n_samples - 1));
	return work->m->has_metric
		? NULL
		: xformat("no %s is known of it, by which programs are judged%s%s",
			  commands->metric, first ? "; it has a figure called " : "",
			  first ? first : "");
}

/* The values that a hosted harness has given in the run that was appended last: none in one that
 * has failed. */
static int keep_hosted(struct work *work, bool has_failed, bool warmup)
{
	struct measurement *m = work->m;
	const double *values = NULL;
	size_t n = has_failed ? 0 : figures_get_values(work->figure_files, &values);

	return hosted_add(
		m->hosted, m->series->n_samples - 1, warmup, work->command->loops, values, n);
}

/* Records a run that took place. Returns 1 when no more runs are to be made (m->end tells why), 0
 * to go on. */
static int record_run(struct work *work, struct runlog_run *run, const struct launch_order *order,
	enum purpose purpose, bool inspected)
{
	const struct window_floor floor = get_window_floor(work);
	struct launch_report *report = &run->report;
	struct measurement *m = work->m;
	struct evidence evidence;
	struct run_facts facts;
	struct sample sample;
	_cleanup_free_ char *why = NULL, *unknown = NULL;
	const char *failure;
	char status[96];
	int r;

	work->pad_used |= report->has_figures;
	if (report->interrupted) {
		end_stopped(work, work->m);
		return 1;
	}
	m->core_error = report->core_error;
	note_window_error(work, report);
	if (judge_left(report, &floor, work->place->cpus) ||
		counting_find_left(work->counting, report, floor.one_cpu) ||
		inspections_have_left(&m->inspections))
		report->left = 1;
	report->unwaited = inspections_have_unwaited(&m->inspections);
	facts = (struct run_facts){
		.report = report,
		.window = judge_window(report, &floor),
	};
	fill_sample(work, report, facts.window, order->env_pad, purpose == FOR_WARMUP, &sample);
	say_lost(work, report, facts.window);
	if (work->evidence) {
		facts.thermal = evidence_take(work->evidence, run, &floor, m->series, &evidence);
		counting_fill_evidence(work->counting, report, &evidence);
		facts.evidence = &evidence;
		if (purpose == FOR_VALUE && evidence.run_delay_ns < 0)
			m->unknown_waiting = true;
		facts.hot = evidence_hot(work->evidence);
	}
	if (inspected)
		inspections_add(&m->inspections, report, facts.window, &floor, facts.evidence);
	sample.flags = judge_run(&facts);
	counting_read_events(work->counting, report, work->events);
	vary_get_levels(work->in->vary, order, work->events + work->counting->n_events);

	if (is_no_failure(work->options, report->status))
		sample.flags &= (uint16_t)~SAMPLE_FAILED;
	failure = measure_find_failure(work->options, report, status, sizeof(status));
	if (!failure && !work->command->is_control)
		failure = take_figures(work, report->has_figures, &sample, &why);
	if (failure) {
		end_failed(work, failure, purpose);
		return 1;
	}
	if (purpose == FOR_INSPECTION)
		return 0;
	if (!work->command->is_control)
		evidence.figure_before_level =
			figures_get_before_level(work->figure_files, &m->n_figure_values);
	r = series_append(m->series, &sample, work->evidence ? &evidence : NULL, work->events);
	if (r < 0) {
		say_errno(r, "cannot keep the sample");
		return r;
	}
	if (m->hosted) {
		r = keep_hosted(work, sample.flags & SAMPLE_FAILED, purpose == FOR_WARMUP);
		if (r < 0) {
			say_errno(r, "cannot keep the values");
			return r;
		}
	}
	unknown = check_metric(work, &sample);
	if (unknown)
		end_failed(work, unknown, purpose);
	if (purpose == FOR_WARMUP)
		m->n_warmups++;
	else
		m->n_runs++;
	show_newest(work, purpose == FOR_WARMUP);
	return unknown ? 1 : 0;
}

/* Runs a hook of the current command around the run of this number. Returns 1 when no more runs are
 * to be made, 0 to go on. */
static int run_hook(struct work *work, enum hook_kind kind, uint32_t number)
{
	struct measurement *m = work->m;
	_cleanup_free_ char *why = NULL;
	int r;

	if (!work->command->hooks[kind])
		return 0;
	progress_clear(&work->progress);
	r = hook_run(work->options, work->place, work->command, kind, number, work->stop, &why);
	if (r == -ECANCELED && !m->incomplete)
		end_stopped(work, work->m);
	if (r < 0 && !m->incomplete) {
		m->end = MEASURE_FAILED;
		m->incomplete = xformat(
			"%s after %zu runs", why ? why : "a hook could not be run", m->n_runs);
	}
	return r < 0 ? 1 : 0;
}

/* Whether something is to be done before or after each run, or read of it, so that no two runs may
 * follow one another in one request. */
static bool is_one_at_a_time(const struct work *work)
{
	const struct options *o = work->options;

	return o->cooldown >= 0 || o->drop_caches || figure_rules_are_there(&o->figures) ||
		work->command->hooks[HOOK_PREPARE] || work->command->hooks[HOOK_CONCLUDE];
}

/* Does what is needed between --prepare and a run. Returns 1 when no more runs are to be made, 0 to
 * go on. */
static int prepare_run(struct work *work)
{
	const struct options *o = work->options;
	int r;

	if (o->cooldown >= 0 && work->evidence)
		cool_down(work);
	if (stop_check(work->stop) != 0) {
		end_stopped(work, work->m);
		return 1;
	}
	r = figure_files_look(work->figure_files);
	if (r < 0)
		return r;
	if (work->pad && work->pad_used) {
		r = figurepad_renew(work->pad);
		if (r < 0) {
			say_errno(r, "cannot make the file of $" LAUNCH_FIGURES_VARIABLE " anew");
			return r;
		}
		work->pad_used = false;
	}
	if (!o->drop_caches)
		return 0;
	r = drop_caches();
	if (r < 0)
		say_errno(r, "cannot drop the page cache");
	return r;
}

/* The number of complete rounds that count, or of complete rounds of warm-ups: all commands of
 * which more runs are needed have made so many. */
static size_t rounds_done(const struct work *work, enum purpose purpose)
{
	size_t done = 0;

	for (size_t i = 0; i < work->commands->n; i++) {
		const struct measurement *m = work->commands->items[i].measurement;

		done = MAX(done, purpose == FOR_WARMUP ? m->n_warmups : m->n_runs);
	}
	return done;
}

/* Whether there are inspections between the runs that count. */
static bool wants_inspections(const struct work *work)
{
	return work->stamper == STAMPER_CORRECTED || work->evidence;
}

/* Before which run the next inspection is due after one that is made now. */
static size_t find_next_inspection(const struct work *work, size_t done)
{
	static const size_t first[] = { 2, 5, GAP_EVERY };

	if (work->stamper != STAMPER_CORRECTED)
		return 2 * done;
	for (size_t i = 0; i < ARRAY_SIZE(first); i++) {
		if (done < first[i])
			return first[i];
	}
	return done + GAP_EVERY;
}

/* What is attached to the program in a run that counts. */
static uint32_t attachments(const struct work *work)
{
	uint32_t ret = work->stamper == STAMPER_TASK_EVENT ? LAUNCH_ATTACH_WINDOW : 0;

	return work->options->records ? ret | LAUNCH_ATTACH_RECORDS : ret;
}

/* What is attached in an inspection. Without records the gap of our own stamps is that of the other
 * runs, as nearly as it can be measured. Where the runs that count have records, inspections
 * between them have none, and tell what the records take. */
static uint32_t inspection_attachments(const struct work *work)
{
	const struct inspections *inspections = &work->m->inspections;
	uint32_t ret = needs_event(work) ? LAUNCH_ATTACH_WINDOW : 0;

	if (work->is_stamper_chosen && work->options->records)
		return ret;
	if (work->stamper == STAMPER_CORRECTED && inspections->n > 0 &&
		inspections->items[inspections->n - 1].leader_is_last)
		return ret;
	return ret | LAUNCH_ATTACH_RECORDS;
}

/* Whether an inspection comes before the run that counts after `before` others from now on. `next`
 * is as work->next_inspection. Several commands are inspected in a round (make_rounds()). */
static bool is_inspection_due(
	const struct work *work, enum purpose purpose, size_t before, size_t next)
{
	return purpose == FOR_VALUE && work->commands->n == 1 && wants_inspections(work) &&
		rounds_done(work, FOR_VALUE) + before >= next;
}

/* What the next run of the current command finds as its number, after `before` others of its
 * purpose from now on. */
static uint32_t find_number(const struct work *work, enum purpose purpose, size_t before)
{
	return purpose == FOR_VALUE ? (uint32_t)(work->m->n_runs + before + 1) : 0;
}

/* Fills in the runs of a request, of which at most `at_most` have this purpose, and tells what each
 * is made for. Inspections that are due come between the runs of a single command. */
static void order_runs(const struct work *work, enum purpose purpose, bool inspect, size_t at_most,
	struct launch_request *request, enum purpose purposes[])
{
	size_t limit = is_one_at_a_time(work) ? 1 : LAUNCH_MAX_RUNS;
	size_t done = rounds_done(work, FOR_VALUE), next = work->next_inspection, n = 0;

	while (request->n_runs < limit && n < at_most) {
		struct launch_order *order = &request->runs[request->n_runs];
		bool due = is_inspection_due(work, purpose, n, next);

		purposes[request->n_runs++] = due ? FOR_INSPECTION : purpose;
		*order = (struct launch_order){
			.attachments =
				due || inspect ? inspection_attachments(work) : attachments(work),
			.env_pad = choose_env_pad(work, runs_made(work->m) + n),
			.number = find_number(work, due ? FOR_INSPECTION : purpose, n),
			.keeps_output = purpose == FOR_WARMUP,
		};
		if (work->in->vary)
			vary_draw(work->in->vary, runs_made(work->m) + n, order->env_pad, order);
		if (due)
			next = find_next_inspection(work, done + n);
		else
			n++;
	}
}

/* Makes and records some runs of the current command, which is prepared: as many as the launcher
 * makes in one request, and at most `at_most` beside inspections that are due. Returns 1 when no
 * more runs are to be made (m->end tells why), 0 to go on. */
static int make_runs(struct work *work, enum purpose purpose, bool inspect, size_t at_most)
{
	struct session *session = work->command->session;
	struct runlog_run run = { .report.step = LAUNCH_STEP_SETUP };
	struct launch_request request = { .command = LAUNCH_RUN };
	enum purpose purposes[LAUNCH_MAX_RUNS], last = purpose;
	size_t n = 0;
	int r;

	order_runs(work, purpose, inspect, at_most, &request, purposes);
	/* Disturbances by a hook since the last reading do not belong to the run. */
	request.read_before =
		work->evidence && (evidence_begin(work->evidence) || is_one_at_a_time(work));

	r = session_run(session, work->stop, &request);
	while (r == 0 && (r = session_next(session, &run)) > 0) {
		last = purposes[n];
		r = record_run(
			work, &run, &request.runs[n++], last, inspect || last == FOR_INSPECTION);
		if (r != 0)
			return r;
		if (last == FOR_INSPECTION && purpose == FOR_VALUE)
			work->next_inspection =
				find_next_inspection(work, rounds_done(work, FOR_VALUE));
	}
	if (r < 0) {
		size_t index = purpose == FOR_WARMUP ? work->m->n_warmups : work->m->n_runs;

		progress_clear(&work->progress);
		return say_not_run(work->command->argv[0], work->command->program, r,
			purpose_name(purposes[n]), runs_made(work->m) > 0 ? index + 1 : 0,
			&run.report);
	}
	/* Only the last run can have handed over values: the launcher ends the request after such a
	 * run. */
	r = last == FOR_INSPECTION ? 0 : take_progvalues(work, last == FOR_WARMUP);
	if (r < 0)
		say_errno(r, "cannot keep the values that the program handed over");
	return r;
}

/* As make_runs(), with what is to be done before and after. */
static int run_some(struct work *work, enum purpose purpose, bool inspect, size_t at_most)
{
	bool due = is_inspection_due(work, purpose, 0, work->next_inspection);
	uint32_t number = find_number(work, due ? FOR_INSPECTION : purpose, 0);
	struct command *command = work->command;
	int r, concluded;

	if (stop_check(work->stop) != 0) {
		end_stopped(work, work->m);
		return 1;
	}
	r = run_hook(work, HOOK_PREPARE, number);
	if (r != 0)
		return r;
	command->prepared = true;
	command->number = number;
	r = prepare_run(work);
	if (r == 0)
		r = make_runs(work, purpose, inspect, is_one_at_a_time(work) ? 1 : at_most);
	command->prepared = false;
	/* Also after a run that failed, or was not made once it was prepared: something may be left
	 * that is to be removed. */
	concluded = run_hook(work, HOOK_CONCLUDE, number);
	return r != 0 ? r : concluded;
}

/* Draws a new order of the commands for a round, and returns how many they are. Where a decision
 * wants runs after one of the same command, the round begins with the last one of the round before.
 */
static size_t shuffle(struct work *work, size_t order[])
{
	size_t n = 0;

	/* A round of a kind of its own is one of all commands. */
	for (size_t i = 0; i < work->commands->n; i++)
		if (!work->commands->items[i].is_settled || work->commands->rounds)
			order[n++] = i;
	random_shuffle(&work->random_order, order, n);
	/* There are no decisions before the first round. */
	if (work->options->decide > 0 && work->command)
		decide_order(
			work->commands, (size_t)(work->command - work->commands->items), order, n);
	return n;
}

/* Makes a round of a kind of its own (rounds.h). Returns 1 when no more are to be made, 0 to go on.
 */
static int make_round(struct work *work, const size_t order[])
{
	struct rounds *rounds = work->commands->rounds;
	size_t last = order[0];
	int r;

	take_turn(work, last);
	if (stop_check(work->stop) != 0) {
		end_stopped(work, work->m);
		return 1;
	}
	r = rounds->make(rounds,
		&(struct round){
			.in = work->in,
			.commands = work->commands,
			.order = order,
			.random = &work->random_order,
			.stop = work->stop,
			.progress = &work->progress,
		},
		&last);
	take_turn(work, last);
	if (r > 0 && work->stop->signal)
		end_stopped(work, work->m);
	if (r == 0)
		draw_progress(work, "");
	return r;
}

/* Runs each command once of which more runs are needed. If there is only one command, it may run
 * several times in one request, at most `at_most` times. Returns 1 when no more runs are to be
 * made, 0 to go on. */
static int run_rounds(struct work *work, enum purpose purpose, bool inspect, size_t at_most)
{
	size_t order[OPTIONS_MAX_COMMANDS], n = shuffle(work, order);

	if (work->commands->rounds)
		return make_round(work, order);
	for (size_t i = 0; i < n; i++) {
		int r;

		take_turn(work, order[i]);
		r = run_some(work, purpose, inspect, work->commands->n == 1 ? at_most : 1);
		if (r != 0)
			return r;
	}
	return 0;
}

static bool is_time_over(const struct work *work)
{
	return work->options->max_time_ns > 0 && elapsed_ns(work) >= work->options->max_time_ns;
}

/* Makes runs that count: one round of several commands, or of a single command at most `at_most`
 * runs. An inspection may be due before. */
static int make_rounds(struct work *work, size_t at_most)
{
	size_t done = rounds_done(work, FOR_VALUE);
	int r;

	if (work->commands->n > 1 && !work->commands->rounds && wants_inspections(work) &&
		done >= work->next_inspection) {
		r = run_rounds(work, FOR_INSPECTION, true, 1);
		if (r != 0)
			return r;
		work->next_inspection = find_next_inspection(work, done);
	}
	return run_rounds(work, FOR_VALUE, false, at_most);
}

/* Makes rounds until each command has made `rounds` runs that count; or until --max-time is over,
 * but at least one. */
static int run_until(struct work *work, size_t rounds)
{
	while (rounds_done(work, FOR_VALUE) < rounds) {
		int r;

		if (is_time_over(work) && rounds_done(work, FOR_VALUE) > 0)
			return 0;
		r = make_rounds(work, rounds - rounds_done(work, FOR_VALUE));
		if (r != 0)
			return r;
	}
	return 0;
}

/* Whether the interval of the median is as narrow as --until-rel-error asks for, which it cannot be
 * where half a step of the values is more. */
static int is_precise_enough(struct work *work, struct measurement *m, bool *ret)
{
	struct benchmark view;
	struct stats stats;
	double step;
	size_t n;
	int r;

	r = work->commands->awaits_figure
		? -ENODATA
		: benchmark_view_metric("", m->series, work->commands->metric, &view);
	/* All runs so far may have failed (--ignore-failure). */
	if (r == -ENODATA) {
		*ret = false;
		return 0;
	}
	if (r < 0)
		return r;
	n = view.n_values;
	r = stats_compute(view.values, n, &stats);
	step = view.step;
	if (r >= 0 && step <= 0 && unit_is_time(view.unit))
		step = stats_find_step(view.values, n, view.values, 0);
	benchmark_clear_view(&view);
	if (r < 0)
		return r;
	m->step = stats.median > 0 ? step / stats.median : 0;
	if (m->step * 50 <= work->options->rel_error)
		m->step = 0;
	*ret = stats.has_interval && !(m->step > 0) &&
		stats_median_error(&stats) * 100 <= work->options->rel_error;
	if (stats.has_interval && !*ret) {
		/* The width of an interval falls with the root of the number of runs. */
		double factor = stats_median_error(&stats) * 100 / work->options->rel_error;

		work->expected_runs = MAX(work->expected_runs,
			(size_t)MIN((double)n * factor * factor, (double)work->options->max_runs));
	}
	return 0;
}

static int are_precise_enough(struct work *work, bool *ret)
{
	work->expected_runs = 0;
	*ret = true;
	/* The interval is computed by the clock that the result will have. */
	commands_settle_clocks(work->commands, work->user_clock);
	for (size_t i = 0; i < work->commands->n; i++) {
		struct measurement *m = work->commands->items[i].measurement;
		int r;

		if (work->commands->items[i].is_control)
			continue;
		r = is_precise_enough(work, m, &m->reached_rel_error);
		if (r < 0) {
			say_errno(r, "cannot compute the interval");
			return r;
		}
		*ret = *ret && (m->reached_rel_error || m->step > 0);
	}
	return 0;
}

static int are_settled(struct work *work, bool *ret)
{
	work->expected_runs = work->options->max_runs;
	/* No number of pairs would settle it. */
	*ret = decide_look(work->options, work->commands) ||
		notice_is_there(work->options, work->commands);
	return 0;
}

static int is_long_enough(struct work *work, bool *ret)
{
	double part = (double)elapsed_ns(work) / (double)work->options->min_time_ns;

	work->expected_runs = (size_t)((double)rounds_done(work, FOR_VALUE) / MIN(part, 1));
	*ret = part >= 1;
	return 0;
}

/* Checks both at the same time: runs that are made because the time is not over may widen the
 * interval again if the program's times change. */
static int are_precise_and_long_enough(struct work *work, bool *ret)
{
	bool long_enough;
	size_t expected;
	int r;

	r = are_precise_enough(work, ret);
	expected = work->expected_runs;
	if (r == 0)
		r = is_long_enough(work, &long_enough);
	if (r < 0)
		return r;
	work->expected_runs = MAX(work->expected_runs, expected);
	*ret = *ret && long_enough;
	return 0;
}

/* Makes runs beyond -n until `are_enough` says so, or up to --max-runs or --max-time. It is called
 * more and more rarely, each time after a part of the runs so far, so that all looks together take
 * little time. Short programs are run as often in one request as before: a request for each run,
 * which wakes the launcher, would make these runs take another time than the first ones. */
static int run_until_enough(
	struct work *work, int (*are_enough)(struct work *, bool *), size_t part)
{
	const struct options *o = work->options;
	size_t next = 0;

	for (;;) {
		size_t runs = rounds_done(work, FOR_VALUE);
		bool enough = false;
		int r;

		r = runs >= next ? are_enough(work, &enough) : 0;
		if (r < 0)
			return r;
		if (runs >= next)
			next = runs + MAX((size_t)1, runs / part);
		if (enough || runs >= o->max_runs)
			return 0;
		if (is_time_over(work)) {
			work->out_of_time = true;
			return 0;
		}
		r = make_rounds(work, o->max_runs - runs);
		if (r != 0)
			return r;
	}
}

/* By whom the runs of all commands can be stamped, as the inspections have shown. */
static enum stamper find_common_stamper(const struct work *work)
{
	enum stamper ret = STAMPER_TASK_EVENT;

	for (size_t i = 0; i < work->commands->n; i++) {
		const struct command *command = &work->commands->items[i];
		const struct measurement *m = command->measurement;
		/* The last warm-up was an inspection. */
		int64_t bare_ns =
			m->n_warmups >= 2 ? m->series->samples[m->n_warmups - 2].user_ns : 0;

		if (command->hidden || m->window_error)
			return STAMPER_LAUNCHER;
		ret = MIN(ret, inspections_choose(&m->inspections, bare_ns));
	}
	return ret;
}

static void choose_stamper(struct work *work)
{
	const struct options *o = work->options;

	if (!needs_event(work))
		work->stamper = sessions_get_stamper(work->commands);
	else if (o->stamper_given && work->m->window_error == 0)
		work->stamper = o->stamper;
	else
		work->stamper = find_common_stamper(work);
	work->is_stamper_chosen = true;
	work->next_inspection = work->stamper == STAMPER_CORRECTED ? 0
		: o->records					   ? COMPARE_FIRST
								   : INSPECT_FIRST;
	for (size_t i = 0; i < work->commands->n; i++) {
		struct measurement *m = work->commands->items[i].measurement;

		m->stamper = work->stamper;
		m->all_have_records = o->records;
	}
}

/* Whether the programs have to be looked at once more before the runs: an inspection has lost
 * records, for which there is more room now, or it depends on what the programs do who stamps them,
 * and that is not known yet. */
static bool want_more_inspections(const struct work *work)
{
	bool decides = needs_event(work) && !work->options->stamper_given;
	bool any = false;

	if (!work->evidence && !decides)
		return false;
	for (size_t i = 0; i < work->commands->n; i++) {
		const struct command *command = &work->commands->items[i];
		const struct inspections *inspections = &command->measurement->inspections;

		if (needs_event(work) && (command->hidden || work->m->window_error))
			return false;
		any = any || (inspections->n == 0 ? decides : inspections_want_more(inspections));
	}
	return any;
}

/* Whether a program measures so many values in a run that each run has a level of its own. */
static bool has_own_levels(const struct measurement *m)
{
	return m->hosted || m->n_figure_values > 0 ||
		progvalues_count_values(m->progvalues) >= STEADY_MIN_VALUES * m->n_warmups;
}

/* Finds where the warm-ups of a command settle, by the figure that it is judged by, or else by our
 * own stamps, which all runs have. */
static int find_level(const struct work *work, struct measurement *m)
{
	const struct series *series = m->series;
	bool by_time = work->options->metric && strcmp(work->options->metric, METRIC_TIME) == 0;
	const char *metric = work->commands->metric ? work->commands->metric
		: by_time			    ? NULL
						    : series_first_figure(series);
	_cleanup_free_ double *values =
		xptr(reallocarray(NULL, series->n_samples, sizeof(*values)));
	struct steady steady;
	int r;

	for (size_t i = 0; i < series->n_samples; i++)
		values[i] = metric ? series_metric_at(series, metric, i)
				   : (double)series->samples[i].user_ns;
	r = steady_find(values, series->n_samples, &steady);
	/* A run that has failed (--ignore-failure) has no figure. */
	m->n_looked_for_level = series->n_samples;
	m->n_before_level = r < 0 ? series->n_samples : steady.first;
	return r == -EDOM ? 0 : r;
}

/* Whether no more warm-ups are needed: the times of all programs, but for the control, are on their
 * level, or they have many values in each run. */
static bool are_on_level(const struct work *work)
{
	bool ret = true;

	for (size_t i = 0; i < work->commands->n; i++) {
		struct measurement *m = work->commands->items[i].measurement;

		if (work->commands->items[i].is_control || has_own_levels(m))
			continue;
		ret = find_level(work, m) == 0 && m->n_before_level < m->n_looked_for_level && ret;
	}
	return ret;
}

static void say_no_level(struct work *work)
{
	for (size_t i = 0; i < work->commands->n; i++) {
		const struct measurement *m = work->commands->items[i].measurement;

		if (m->n_looked_for_level == 0 || m->n_before_level < m->n_looked_for_level)
			continue;
		progress_clear(&work->progress);
		say("warning: %s: its times are on no level after %zu warm-ups (--warmup)",
			work->commands->items[i].name, m->n_warmups);
	}
}

/* --warmup auto. The last round is an inspection. One look after each tenth of the rounds. */
static int warm_up_to_level(struct work *work, bool inspect)
{
	const struct options *o = work->options;
	size_t next = 1;
	bool enough = false;

	while (!enough && !is_time_over(work)) {
		size_t done = rounds_done(work, FOR_WARMUP);
		bool is_last = done + 1 >= o->max_warmups;
		int r;

		enough = ((done >= next || is_last) && are_on_level(work)) || is_last;
		if (done >= next)
			next = MAX((size_t)STEADY_MIN_VALUES, done + MAX(done / 10, (size_t)1));
		r = run_rounds(work, FOR_WARMUP, inspect && enough,
			enough ? 1 : MIN(next, (size_t)o->max_warmups - 1) - done);
		if (r != 0)
			return r;
	}
	say_no_level(work);
	return 0;
}

/*
 * Makes the warm-ups, of which the last one is an inspection, and finds out who stamps the runs.
 * Where that depends on what the programs do, there is an inspection also without warm-ups, and
 * another one when records were lost.
 */
static int warm_up(struct work *work)
{
	const struct options *o = work->options;
	bool inspect = work->evidence || needs_event(work);
	int r;

	r = o->warmup_auto ? warm_up_to_level(work, inspect) : 0;
	if (r != 0)
		return r;
	while (rounds_done(work, FOR_WARMUP) < o->warmups && !is_time_over(work)) {
		bool is_last = rounds_done(work, FOR_WARMUP) + 1 == o->warmups;

		r = run_rounds(work, FOR_WARMUP, inspect && is_last,
			o->warmups - rounds_done(work, FOR_WARMUP) - (inspect && !is_last));
		if (r != 0)
			return r;
	}
	if (o->warmups > 0)
		notice_look(o, work->commands);
	for (int i = 0; i < INSPECTIONS_MAX && want_more_inspections(work); i++) {
		r = run_rounds(work, FOR_INSPECTION, true, 1);
		if (r != 0)
			return r;
	}
	choose_stamper(work);
	return 0;
}

static int run_all(struct work *work)
{
	const struct options *o = work->options;
	int r;

	r = work->commands->rounds ? 0 : warm_up(work);
	if (r == 0)
		r = run_until(work, o->runs);
	if (r != 0)
		return r;
	work->out_of_time = rounds_done(work, FOR_WARMUP) < o->warmups ||
		rounds_done(work, FOR_VALUE) < o->runs;
	if (o->rel_error > 0)
		r = run_until_enough(work,
			o->min_time_ns > 0 ? are_precise_and_long_enough : are_precise_enough,
			LOOK_AT_INTERVAL);
	else if (o->decide > 0)
		r = run_until_enough(work, are_settled, LOOK_AT_DECISION);
	else if (o->min_time_ns > 0)
		r = run_until_enough(work, is_long_enough, LOOK_AT_CLOCK);
	return r;
}

static int draw_seed(uint64_t *ret)
{
	uint64_t seed;

	if (getrandom(&seed, sizeof(seed), 0) < 0)
		return -errno;
	/* At most 2^53: the options accept it, and every JSON reader keeps it exactly. */
	*ret = seed >> 11;
	return 0;
}

static int choose_seeds(const struct options *options, uint64_t *ret_pad, uint64_t *ret_order)
{
	int r = 0;

	*ret_pad = options->env_pad_seed;
	*ret_order = options->seed;
	if (options->env_pad == ENV_PAD_RANDOM && !options->env_pad_seeded)
		r = draw_seed(ret_pad);
	if (r == 0 && options->n_commands > 1 && !options->seeded)
		r = draw_seed(ret_order);
	return r;
}

static struct measurement *prepare(const struct work *work, const struct command *command)
{
	struct measurement *m = xptr(calloc(1, sizeof(*m)));
	struct timespec realtime;

	m->series = series_new(
		work->evidence != NULL, (const char *const *)work->counting->event_names);
	vary_add_events(work->in->vary, m->series);
	m->progvalues = progvalues_new();
	m->hosted = command->typed ? hosted_new() : NULL;
	m->env_pad_seeded = work->options->env_pad == ENV_PAD_RANDOM;
	m->env_pad_seed = work->env_pad_seed;
	m->order_seed = work->random_order;
	m->sitting = work->sitting;
	m->leaves_out = work->options->warmup_auto;
	clock_gettime(CLOCK_REALTIME, &realtime);
	m->series->start_realtime_ns = realtime.tv_sec * NSEC_PER_SEC + realtime.tv_nsec;
	return m;
}

/* When the runs of one command end early, those of all commands end. */
static void share_end(struct work *work, int error)
{
	const struct measurement *last = work->m;

	for (size_t i = 0; i < work->commands->n; i++) {
		struct measurement *m = work->commands->items[i].measurement;

		m->end = error < 0 ? MEASURE_BROKEN : last->end;
		m->out_of_time = work->out_of_time;
		if (m->end == MEASURE_COMPLETE || m->incomplete)
			continue;
		if (m->end == MEASURE_STOPPED)
			end_stopped(work, m);
		else if (error < 0 && m == last)
			m->incomplete = xformat(
				"run %zu could not be made: %s", m->n_runs + 1, strerror(-error));
		else
			m->incomplete = xformat("ended with %s after %zu %s", work->command->name,
				m->n_runs, units_of(work));
	}
}

/* Measures the empty program with the first launcher only; the result is valid for all of them. The
 * same holds for the shell with nothing to do, if there is one. */
static int share_floor(struct work *work)
{
	struct session *shell = work->commands->empty_shell.session;
	struct floor_time floor, of_shell = no_floor;
	int r;

	take_turn(work, 0);
	r = measure_floor(work, work->command->session, LAUNCH_FLOOR, &floor);
	if (r == 0 && shell)
		r = measure_floor(work, shell, LAUNCH_RUN, &of_shell);
	for (size_t i = 0; i < work->commands->n; i++) {
		struct measurement *m = work->commands->items[i].measurement;

		m->floor = floor;
		m->shell = of_shell;
		m->window_error = work->m->window_error;
	}
	return r;
}

/* What makes rounds of its own has nothing in common with the empty program. */
static void leave_out_floor(struct work *work)
{
	take_turn(work, 0);
	for (size_t i = 0; i < work->commands->n; i++) {
		struct measurement *m = work->commands->items[i].measurement;

		m->floor = no_floor;
		m->shell = no_floor;
	}
}

static int begin_runs(struct work *work)
{
	int r;

	say_hidden(work);
	r = share_floor(work);
	say_window_error(work->m->window_error);
	work->said_window = work->m->window_error;
	return r;
}

int measure(const struct launch_inputs *in, struct commands *commands, struct stop *stop,
	bool user_clock)
{
	const struct options *options = in->options;
	_cleanup_(figure_files) struct figure_files *files = NULL;
	struct work work = {
		.in = in,
		.options = options,
		.place = in->place,
		.commands = commands,
		.stop = stop,
		.counting = in->counting,
		.evidence = in->evidence,
		.user_clock = user_clock,
		.pad = in->figurepad,
		/* By the runs that calibrate. */
		.pad_used = true,
		.began_ns = clock_now_ns(CLOCK_MONOTONIC_RAW),
	};
	int r;

	r = choose_seeds(options, &work.env_pad_seed, &work.random_order);
	if (r == 0)
		r = draw_seed(&work.sitting);
	if (r < 0)
		return r;
	work.events = xptr(
		calloc(in->counting->n_events + vary_count(in->vary) + 1, sizeof(*work.events)));
	files = work.figure_files = figure_files_new(options, in->figurepad);
	commands->awaits_figure = figure_rules_are_there(&options->figures) && !options->metric;
	if (options->metric && strcmp(options->metric, METRIC_TIME) != 0)
		commands->metric = xptr(strdup(options->metric));
	for (size_t i = 0; i < commands->n; i++)
		commands->items[i].measurement = prepare(&work, &commands->items[i]);
	progress_begin(
		&work.progress, !options->quiet && !options->show_output && options->verbose < 2);

	if (commands->rounds)
		leave_out_floor(&work);
	else
		r = begin_runs(&work);
	if (r == 0)
		r = run_all(&work);
	progress_clear(&work.progress);
	if (work.out_of_time && rounds_done(&work, FOR_WARMUP) < options->warmups)
		say("note: --max-time is over after %zu of %u warm-ups",
			rounds_done(&work, FOR_WARMUP), options->warmups);
	if (work.out_of_time && rounds_done(&work, FOR_VALUE) < options->runs)
		say("note: --max-time is over after %zu of %u runs", rounds_done(&work, FOR_VALUE),
			options->runs);
	share_end(&work, r);
	free(work.events);
	return 0;
}
