// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "basic/clock.h"
#include "basic/macro.h"
#include "basic/say.h"
#include "basic/text.h"
#include "machine/counter.h"
#include "result/stats.h"
#include "result/units.h"
#include "runpinned/judge.h"
#include "runpinned/measure.h"
#include "runpinned/progress.h"

enum {
	FLOOR_RUNS = 11,
	ENV_PAD_RANDOM_MAX = 4096, /* a page: no address below it stays the same */
	/* --cooldown: a machine that does not cool down in that time will not. */
	COOLDOWN_WAIT_MAX_S = 300,
};

/* What lasts for all runs. */
struct work {
	const struct options *options;
	struct session *session;
	struct stop *stop;
	const struct counting *counting;
	struct evidence_reader *evidence;
	struct measurement *m;
	struct progress progress;
	uint64_t random; /* state of the generator */
	int64_t began_ns;
	double began_temperature;
	double *events; /* of the newest run */
};

/* SplitMix64 (Steele, Lea, Flood 2014): small, and the same for a seed everywhere. */
static uint64_t random_next(uint64_t *state)
{
	uint64_t z;

	*state += 0x9e3779b97f4a7c15;
	z = *state;
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return z ^ (z >> 31);
}

static uint32_t choose_env_pad(struct work *work)
{
	switch (work->options->env_pad) {
	case ENV_PAD_FIXED:
		return work->options->env_pad_bytes;
	case ENV_PAD_RANDOM:
		return (uint32_t)(random_next(&work->random) % ENV_PAD_RANDOM_MAX);
	default:
		return 0;
	}
}

static const char *step_text(enum launch_step step)
{
	switch (step) {
	case LAUNCH_STEP_PERSONALITY:
		return "cannot switch address-space randomisation off";
	case LAUNCH_STEP_NICE:
		return "cannot set the niceness";
	case LAUNCH_STEP_FIFO:
		return "cannot set SCHED_FIFO";
	case LAUNCH_STEP_CLONE:
		return "cannot start a process";
	case LAUNCH_STEP_WAIT:
		return "cannot wait for the program";
	default:
		return "the launcher failed";
	}
}

/* A run that did not take place: says why. Returns the error. */
static int say_not_run(const struct work *work, int error, const struct launch_report *report)
{
	const char *program = work->options->program[0];

	if (report->step == LAUNCH_STEP_EXEC && error == -ENOEXEC)
		say("cannot execute %s: no program of this machine, and no #! line", program);
	else if (report->step == LAUNCH_STEP_EXEC && error == -ENOENT)
		say("cannot execute %s: it, its interpreter or its loader is not there", program);
	else if (report->step == LAUNCH_STEP_EXEC)
		say_errno(error, "cannot execute %s", program);
	else if (error == -EPIPE)
		say("the launcher process died");
	else
		say_errno(error, "%s", step_text(report->step));
	return error;
}

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Medians of some runs of the empty program. */
static int measure_floor(struct work *work, struct floor_time *ret)
{
	double kernel[FLOOR_RUNS], user[FLOOR_RUNS], reap[FLOOR_RUNS];
	size_t n = 0, n_kernel = 0;

	*ret = (struct floor_time){ .kernel_seconds = NAN, .user_seconds = NAN };
	for (size_t i = 0; i < FLOOR_RUNS && stop_check(work->stop) == 0; i++) {
		struct launch_report report;
		int r;

		r = session_run(work->session, work->stop, LAUNCH_FLOOR, 0, &report);
		if (r < 0)
			return say_not_run(work, r, &report);
		if (report.interrupted)
			break;
		if (report.window_error)
			work->m->window_error = report.window_error;
		user[n++] = (double)(report.end_ns - report.start_ns) / NSEC_PER_SEC;
		if (judge_window(&report, INT32_MAX) != WINDOW_SOUND)
			continue;
		kernel[n_kernel] =
			(double)(report.window.exit_ns - report.window.exec_ns) / NSEC_PER_SEC;
		reap[n_kernel++] = (double)(report.end_ns - report.window.exit_ns);
	}
	if (n > 0) {
		qsort(user, n, sizeof(user[0]), compare_doubles);
		ret->user_seconds = user[n / 2];
	}
	if (n_kernel > 0) {
		qsort(kernel, n_kernel, sizeof(kernel[0]), compare_doubles);
		qsort(reap, n_kernel, sizeof(reap[0]), compare_doubles);
		ret->kernel_seconds = kernel[n_kernel / 2];
		ret->reap_ns = (int64_t)reap[n_kernel / 2];
	}
	return 0;
}

/* Once, and before the runs: how they are timed is worth knowing before they take an hour. */
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

/* Root only (Documentation/admin-guide/sysctl/vm.rst): clean pages go, so the dirty ones are
 * written first. */
static int drop_caches(void)
{
	_cleanup_close_ int fd = -EBADF;

	sync();
	fd = open("/proc/sys/vm/drop_caches", O_WRONLY | O_CLOEXEC);
	if (fd < 0 || write(fd, "3", 1) != 1)
		return -errno;
	return 0;
}

/* Waits until the package is as cool as it was at the start, give or take. */
static void cool_down(struct work *work)
{
	double limit = work->began_temperature + work->options->cooldown;

	for (int i = 0; i < COOLDOWN_WAIT_MAX_S; i++) {
		double now = evidence_ask_temperature(work->evidence);
		char note[64];

		if (!(now > limit))
			return;
		snprintf(
			note, sizeof(note), "cooling down: %.0f C, waiting for %.0f C", now, limit);
		progress_draw(&work->progress, work->m->n_warmups + work->m->n_runs,
			work->options->warmups + work->options->runs, note);
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
	if (report->timed_out)
		snprintf(buf, size, "killed after %.3g s (--timeout)", (double)timeout_ns / 1e9);
	else if (WIFSIGNALED(report->status))
		snprintf(buf, size, "signal %d (%s)%s", WTERMSIG(report->status),
			strsignal(WTERMSIG(report->status)),
			WCOREDUMP(report->status) ? ", core dumped" : "");
	else
		snprintf(buf, size, "exit status %d", WEXITSTATUS(report->status));
}

/* The program failed in a run: says so, with the last it wrote to standard error. */
static void say_failed(struct work *work, const char *run, const char *status)
{
	_cleanup_free_ char *tail = NULL, *clean = NULL;
	char *line, *save = NULL;

	progress_clear(&work->progress);
	say("%s: %s failed: %s", work->options->program[0], run, status);
	if (session_read_stderr(work->session, &tail) < 0 || !*tail)
		return;
	for (line = strtok_r(tail, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		clean = text_escape_control(line);
		if (clean)
			fprintf(stderr, "  | %s\n", clean);
		free(TAKE_PTR(clean));
	}
}

/* Threads and processes of the program take the CPU from each other, which is nobody's fault, and
 * the count of involuntary switches does not tell by whom a switch was. Without the kernel's
 * records there is only the count to go by. */
static bool is_several_tasks(const struct launch_report *report)
{
	return report->window.n_threads > 0 || report->window.n_children > 0;
}

/* What the report says, as a sample. */
static void fill_sample(struct work *work, const struct launch_report *report, bool warmup,
	uint32_t env_pad, struct sample *ret)
{
	enum window_verdict verdict = judge_window(report, work->m->floor_before.reap_ns);

	*ret = (struct sample){
		.user_ns = report->end_ns - report->start_ns,
		.start_ns = report->start_ns - work->began_ns,
		.status = report->status,
		.max_rss_kib = (uint32_t)MIN(report->max_rss_kib, (int64_t)UINT32_MAX),
		.env_pad = env_pad,
		.warmup = warmup,
	};
	if (verdict != WINDOW_MISSING)
		ret->kernel_ns = report->window.exit_ns - report->window.exec_ns;
	/* Where the kernel gives no stamps at all, that speaks against no run. */
	if (verdict != WINDOW_SOUND && report->window_tried && report->window_error == 0)
		ret->flags |= SAMPLE_WINDOW;
	if (report->involuntary_switches > 0 && !is_several_tasks(report))
		ret->flags |= SAMPLE_PREEMPTED;
	if (report->leftover)
		ret->flags |= SAMPLE_LEFTOVER;
	if (report->status != 0)
		ret->flags |= SAMPLE_FAILED;
}

/* One run, recorded. Returns 1 when the runs are to end here (m->end tells why), 0 to go on. */
static int run_one(struct work *work, bool warmup)
{
	const struct options *o = work->options;
	struct measurement *m = work->m;
	struct launch_report report;
	struct evidence evidence;
	struct sample sample;
	char run[48], status[96];
	uint32_t env_pad;
	int r;

	if (o->cooldown >= 0 && work->evidence)
		cool_down(work);
	if (stop_check(work->stop) != 0)
		goto stopped;
	if (o->drop_caches) {
		r = drop_caches();
		if (r < 0) {
			say_errno(r, "cannot drop the page cache");
			return r;
		}
	}
	env_pad = choose_env_pad(work);

	if (work->evidence)
		evidence_before(work->evidence);
	r = session_run(work->session, work->stop, LAUNCH_RUN, env_pad, &report);
	if (r < 0) {
		progress_clear(&work->progress);
		return say_not_run(work, r, &report);
	}
	if (report.interrupted)
		goto stopped;
	fill_sample(work, &report, warmup, env_pad, &sample);
	if (work->evidence) {
		sample.flags |= evidence_after(work->evidence, m->series, &report, &evidence);
		counting_fill_evidence(work->counting, &report, &evidence);
		if (evidence.migrations > 0)
			sample.flags |= SAMPLE_MIGRATED;
	}
	counting_read_events(work->counting, &report, work->events);

	if (report.status != 0) {
		snprintf(run, sizeof(run), "%s %zu", warmup ? "warm-up run" : "run",
			(warmup ? m->n_warmups : m->n_runs) + 1);
		describe_status(&report, o->timeout_ns, status, sizeof(status));
		if (!o->ignore_failure) {
			say_failed(work, run, status);
			m->end = MEASURE_FAILED;
			if (asprintf(&m->incomplete, "%s failed: %s", run, status) < 0)
				m->incomplete = NULL;
			return 1;
		}
	}
	r = series_append(m->series, &sample, work->evidence ? &evidence : NULL, work->events);
	if (r < 0) {
		say_errno(r, "cannot keep the sample");
		return r;
	}
	if (warmup)
		m->n_warmups++;
	else
		m->n_runs++;
	return 0;
stopped:
	m->end = MEASURE_STOPPED;
	if (asprintf(&m->incomplete, "stopped by %s after %zu of %u runs",
		    work->stop->signal == SIGINT	   ? "SIGINT"
			    : work->stop->signal == SIGHUP ? "SIGHUP"
							   : "SIGTERM",
		    m->n_runs, o->runs) < 0)
		m->incomplete = NULL;
	return 1;
}

/* The newest run as a line of -vv, or on the progress bar. */
static void show_newest(struct work *work, bool warmup)
{
	const struct series *series = work->m->series;
	const struct sample *sample = &series->samples[series->n_samples - 1];
	int64_t ns = sample->kernel_ns > 0 ? sample->kernel_ns : sample->user_ns;
	size_t done = work->m->n_warmups + work->m->n_runs;
	bool beyond = work->m->n_runs > work->options->runs; /* --until-rel-error */
	char value[UNITS_TEXT_SIZE];

	units_format_seconds((double)ns / NSEC_PER_SEC, value);
	if (work->options->verbose >= 2) {
		_cleanup_free_ char *flags = sample_flags_text(sample->flags);

		say("%s %zu: %s%s%s", warmup ? "warm-up" : "run",
			warmup ? work->m->n_warmups : work->m->n_runs, value,
			flags && *flags ? "  " : "", flags ? flags : "");
		return;
	}
	progress_draw(&work->progress, done,
		work->options->warmups +
			MAX(work->options->runs, beyond ? work->options->max_runs : 0),
		value);
}

/* Whether the median is known as well as --until-rel-error wants it. */
static int is_precise_enough(const struct work *work, bool *ret)
{
	_cleanup_free_ double *values = NULL;
	struct stats stats;
	size_t n;
	int r;

	r = series_values(work->m->series, &values, &n);
	if (r < 0)
		return r;
	r = stats_compute(values, n, &stats);
	if (r < 0)
		return r;
	*ret = stats.has_interval && stats_median_error(&stats) * 100 <= work->options->rel_error;
	return 0;
}

/* The runs beyond -n that --until-rel-error asks for. */
static int run_until_precise(struct work *work)
{
	const struct options *o = work->options;
	struct measurement *m = work->m;
	size_t next = m->n_runs;

	for (;;) {
		int r;

		if (m->n_runs >= next) {
			series_settle_clock(m->series);
			r = is_precise_enough(work, &m->reached_rel_error);
			if (r < 0) {
				say_errno(r, "cannot compute the interval");
				return r;
			}
			if (m->reached_rel_error)
				return 0;
			/* Looked at ever more rarely, so that looking stays cheap. */
			next = m->n_runs + MAX((size_t)1, m->n_runs / 20);
		}
		if (m->n_runs >= o->max_runs)
			return 0;
		r = run_one(work, false);
		if (r != 0)
			return r;
		show_newest(work, false);
	}
}

static int run_all(struct work *work)
{
	const struct options *o = work->options;
	int r;

	for (unsigned i = 0; i < o->warmups + o->runs; i++) {
		bool warmup = i < o->warmups;

		r = run_one(work, warmup);
		if (r != 0)
			return r;
		show_newest(work, warmup);
	}
	if (o->rel_error > 0)
		return run_until_precise(work);
	return 0;
}

int measure(const struct options *options, struct session *session, struct stop *stop,
	const struct counting *counting, struct evidence_reader *evidence, struct measurement **ret)
{
	_cleanup_(measurement) struct measurement *m = NULL;
	_cleanup_free_ double *events = NULL;
	struct timespec realtime;
	struct work work;
	int r;

	m = calloc(1, sizeof(*m));
	events = calloc(counting->n_events + 1, sizeof(*events));
	if (!m || !events)
		return -ENOMEM;
	r = series_new(evidence != NULL, (const char *const *)counting->event_names, &m->series);
	if (r < 0)
		return r;
	m->env_pad_seeded = options->env_pad == ENV_PAD_RANDOM;
	m->env_pad_seed = options->env_pad_seed;
	if (m->env_pad_seeded && !options->env_pad_seeded) {
		if (getrandom(&m->env_pad_seed, sizeof(m->env_pad_seed), 0) < 0)
			return -errno;
		/* As --env-pad takes it back, and as every JSON reader keeps it exactly. */
		m->env_pad_seed >>= 11;
	}
	clock_gettime(CLOCK_REALTIME, &realtime);
	m->series->start_realtime_ns = realtime.tv_sec * NSEC_PER_SEC + realtime.tv_nsec;

	work = (struct work){
		.options = options,
		.session = session,
		.stop = stop,
		.counting = counting,
		.evidence = evidence,
		.m = m,
		.random = m->env_pad_seed,
		.began_ns = clock_now_ns(CLOCK_MONOTONIC_RAW),
		.began_temperature = evidence ? evidence_temperature(evidence) : NAN,
		.events = events,
	};
	progress_begin(
		&work.progress, !options->quiet && !options->show_output && options->verbose < 2);

	r = measure_floor(&work, &m->floor_before);
	say_window_error(m->window_error);
	if (r == 0)
		r = run_all(&work);
	progress_clear(&work.progress);
	if (r < 0) {
		m->end = MEASURE_BROKEN;
		if (asprintf(&m->incomplete, "run %zu could not be made: %s", m->n_runs + 1,
			    strerror(-r)) < 0)
			m->incomplete = NULL;
	}
	m->floor_after = (struct floor_time){ .kernel_seconds = NAN, .user_seconds = NAN };
	if (m->end == MEASURE_COMPLETE)
		(void)measure_floor(&work, &m->floor_after);
	*ret = TAKE_PTR(m);
	return 0;
}

void measurement_free(struct measurement *measurement)
{
	if (!measurement)
		return;
	series_free(measurement->series);
	free(measurement->incomplete);
	free(measurement);
}
