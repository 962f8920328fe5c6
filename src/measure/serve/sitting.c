// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/install.h"
#include "base/macro.h"
#include "base/random.h"
#include "base/say.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "judge/harness/extract.h"
#include "judge/result/metadata.h"
#include "judge/result/weight.h"
#include "measure/figures.h"
#include "measure/hooks.h"
#include "measure/lastwords.h"
#include "measure/measure.h"
#include "measure/parameters.h"
#include "measure/program.h"
#include "measure/serve/bottleneck.h"
#include "measure/serve/counts.h"
#include "measure/serve/listener.h"
#include "measure/serve/loads.h"
#include "measure/serve/merge.h"
#include "measure/serve/report.h"
#include "measure/serve/service.h"
#include "measure/serve/sitting.h"
#include "measure/serve/watch.h"
#include "measure/session.h"

enum {
	/* What the machine did, in a slice, and in all of a sitting. The rest is about the process
	 * of the load. */
	FLAGS_OF_SLICE = SAMPLE_THROTTLED | SAMPLE_HOT,
	FLAGS_OF_SITTING = SAMPLE_IRQ | SAMPLE_STEAL | SAMPLE_QUOTA | SAMPLE_MIGRATED,
	/* Shorter slices tell more of the first requests, which take several times as long as the
	 * others, than of the service. */
	SLICE_MIN_REQUESTS = 1000,
	WARM_MOST = 10, /* slices that do not count */
};

/* A service that takes less than that part of what it took in each slice before gets warmer. */
#define WARMER 0.95

#define SLICE_MIN_SECONDS 0.1
/* Loads round what they print. */
#define TIME_TOLERANCE 1.05

/* One service in a sitting. */
struct attendant {
	struct service *service;
	struct service_plan plan;
	struct command load;
	char *const *warm; /* what is run before a slice; NULL: nothing */
	/* What is summed up over the slices that count. */
	struct evidence evidence;
	bool has_evidence;
	uint16_t flags;
	int64_t wall_ns;
	int64_t cpu_ns;
	double requests;
	void **owned;
	size_t n_owned;
};

/* A sitting that goes on. */
struct work {
	struct sittings *sittings;
	const struct round *round;
	struct launch_inputs load_in; /* with the place and the evidence of the load */
	struct attendant *attendants;
	size_t n;
};

/* What a slice is for. */
enum slice_kind {
	SLICE_WARM,   /* to make the services warm */
	SLICE_COUNTS, /* its figures count */
	SLICE_EVENTS, /* only what is counted by -e does: its time has that in it */
};

/* One slice. */
struct slice {
	enum slice_kind kind;
	struct family_use use;
	int64_t wall_ns; /* of the load's process */
	int64_t load_cpu_ns;
	double requests;
	double seconds;	     /* in which these were answered */
	struct watch *watch; /* NULL: no evidence is wanted */
};

static void *own(struct attendant *a, void *memory)
{
	a->owned = xptr(reallocarray(a->owned, a->n_owned + 1, sizeof(*a->owned)));
	a->owned[a->n_owned++] = xptr(memory);
	return memory;
}

/* The words with the port, and the rate, in them. */
static char *const *fill_in(
	struct attendant *a, const struct parameters *parameters, const char *const words[])
{
	const size_t choice[PARAMETERS_MAX] = { 0 };
	char **filled;
	size_t n = 0;

	while (words[n])
		n++;
	filled = own(a, calloc(n + 1, sizeof(*filled)));
	for (size_t i = 0; i < n; i++)
		filled[i] = own(a, parameters_fill_in(parameters, choice, words[i]));
	return filled;
}

static void make_parameters(
	const struct asked *asked, uint16_t port, char *socket, struct parameters *ret)
{
	_cleanup_free_ char *port_text = xformat("port=%u", port);
	_cleanup_free_ char *rate_text = xformat("rate=%.15g", asked->rate);

	*ret = (struct parameters){ 0 };
	xcheck(parameters_add_list(ret, port_text));
	/* Not as a list: its folder may have a comma. */
	if (socket)
		xcheck(parameters_add(ret, "--load", "socket", &socket, 1));
	if (asked->rate > 0)
		xcheck(parameters_add_list(ret, rate_text));
}

/* A port of its own for each service and each sitting: one that was used may be in TIME_WAIT. */
static int choose_port(struct work *work, uint16_t *ret)
{
	int r;

	for (;;) {
		bool is_taken = false;

		r = listener_choose_port(&work->sittings->random, ret);
		if (r < 0) {
			say_errno(r, "cannot find a free port");
			return r;
		}
		for (size_t i = 0; i < work->n; i++)
			is_taken |= work->attendants[i].plan.address.port == *ret;
		if (!is_taken)
			return 0;
	}
}

/* A file in a folder of its own, which the service makes. NULL after saying what is wrong. */
static char *choose_socket(struct work *work)
{
	const char *where = getenv("TMPDIR");
	char *path = xformat("%s/runserved-%016llx/socket", where && *where == '/' ? where : "/tmp",
		(unsigned long long)random_next(&work->sittings->random));

	if (strlen(path) < sizeof(((struct sockaddr_un *)NULL)->sun_path))
		return path;
	say("%s is too long for a socket: set TMPDIR to a shorter folder", path);
	free(path);
	return NULL;
}

static char *const *fill_in_warm(
	const struct work *work, struct attendant *a, const struct parameters *parameters)
{
	const struct sittings *s = work->sittings;
	char **words;

	if (!s->asked->warm_words)
		return NULL;
	words = (char **)fill_in(a, parameters, (const char *const *)s->asked->warm_words);
	if (s->asked->warm_is_ours)
		words[0] = s->warm_program;
	return words;
}

static int prepare(struct work *work, size_t i)
{
	const struct asked *asked = work->sittings->asked;
	const struct command *command = &work->round->commands->items[i];
	static const char *const none[] = { NULL };
	struct attendant *a = &work->attendants[i];
	struct parameters parameters;
	char *socket = NULL;
	uint16_t port;
	int r = choose_port(work, &port);

	if (r == 0 && asked->has_socket) {
		socket = choose_socket(work);
		r = socket ? 0 : -ENAMETOOLONG;
	}
	if (r < 0)
		return r;
	if (socket)
		own(a, socket);
	make_parameters(asked, port, socket, &parameters);
	evidence_clear(&a->evidence);
	a->plan = (struct service_plan){
		.name = command->name,
		.program = command->program,
		.argv = fill_in(a, &parameters, (const char *const *)command->argv),
		.variables = (const char *const *)fill_in(a, &parameters, command->variables),
		.place = work->round->in->place,
		.address = { .port = port, .socket = asked->at_socket ? socket : NULL },
		.socket = socket,
		.listen_fds = asked->listen_fds,
		.ready = asked->ready,
		.probe = asked->probe_words
			? fill_in(a, &parameters, (const char *const *)asked->probe_words)
			: NULL,
		.options = work->round->in->options,
		.rest = asked->rest,
		.ready_ns = asked->ready_ns,
		.end_ns = asked->end_ns,
	};
	a->load = (struct command){
		.name = command->name,
		.argv = fill_in(a, &parameters, (const char *const *)asked->load_words),
		.program = work->sittings->load_program,
		.variables = none,
		.streams = command->streams,
	};
	a->warm = fill_in_warm(work, a, &parameters);
	parameters_clear(&parameters);
	return 0;
}

/* Ends all that the sitting has begun. */
static void end(struct work *work)
{
	for (size_t i = 0; i < work->n; i++) {
		struct attendant *a = &work->attendants[i];

		session_free(TAKE_PTR(a->load.session));
		service_free(TAKE_PTR(a->service));
		for (size_t k = 0; k < a->n_owned; k++)
			free(a->owned[k]);
		free(a->owned);
	}
	free(work->attendants);
}

/* Starts all of them, in the order that was drawn. */
static int start(struct work *work)
{
	for (size_t k = 0; k < work->n; k++) {
		size_t i = work->round->order[k];
		struct attendant *a = &work->attendants[i];
		struct seat *seat = &work->sittings->seats[i];
		int r = prepare(work, i);

		if (r == 0)
			r = service_start(&a->plan, work->round->stop, &a->service);
		if (r == 0)
			r = session_start(&a->load, &work->load_in, work->round->stop);
		if (r == 0) {
			/* A load may wait for ever for one that is not there any more. */
			session_end_with(a->load.session, service_get_end_fd(a->service));
			r = service_let_rest(a->service);
		}
		if (r < 0)
			return r;
		seat->rest = service_get_rest(a->service);
		seat->ready_ns_sum += service_get_ready_ns(a->service);
		seat->n_started++;
	}
	return 0;
}

/* The run of the load itself. 1 when it was made. */
static int run_load(struct work *work, struct attendant *a, struct runlog_run *ret)
{
	struct evidence_reader *evidence = work->load_in.evidence;
	struct launch_request request = {
		.command = LAUNCH_RUN,
		.n_runs = 1,
		.read_before = evidence != NULL,
	};
	int r;

	if (evidence)
		(void)evidence_begin(evidence);
	r = figure_files_look(work->sittings->files);
	if (r == 0)
		r = session_run(a->load.session, work->round->stop, &request);
	if (r == 0)
		r = session_next(a->load.session, ret);
	if (r < 0)
		say_errno(r, "cannot run %s", work->sittings->asked->load_words[0]);
	return r == 0 ? -ENODATA : r;
}

/* Asks what the service uses, and what its CPUs do, around the load. */
static int run_between(
	struct work *work, struct attendant *a, struct runlog_run *run, struct slice *slice)
{
	_cleanup_service_reading_ struct service_reading before = { 0 }, after = { 0 };
	struct evidence_reader *evidence = work->round->in->evidence;
	int r = service_ask(a->service, &before);

	if (r == 0 && evidence)
		slice->watch = watch_begin(evidence, service_get_pid(a->service));
	if (r == 0)
		r = run_load(work, a, run);
	if (slice->watch)
		watch_end(slice->watch);
	if (r < 0)
		return r;
	if (stop_check(work->round->stop))
		return -ECANCELED;
	/* What the load says is wrong, most often follows from that. */
	if (service_tell_end(a->service))
		return -ECHILD;
	if (run->report.interrupted)
		return -ECANCELED;
	r = service_ask(a->service, &after);
	return r < 0 ? r : service_compare(a->service, &before, &after, &slice->use);
}

/* What is said of a load that shares the CPUs, and what is locked, is wrong then. */
static void say_load_has_left(struct work *work)
{
	_cleanup_free_ char *list = NULL;

	if (work->sittings->load_has_left)
		return;
	work->sittings->load_has_left = true;
	list = xptr(cpumask_format_list(work->load_in.place->cpus));
	progress_clear(work->round->progress);
	say("warning: %s was on other CPUs than CPU %s, which it was given: name them by "
	    "--load-cpus, so that they are locked, and it is known who had which",
		work->sittings->asked->load_words[0], list);
}

/* What is known of the load, beside what is known of the service. */
static void take_load_evidence(struct work *work, struct runlog_run *run, struct evidence *ret)
{
	const struct window_floor floor = { 0 };
	struct launch_report *report = &run->report;
	struct series *names = NULL;
	struct evidence load;

	if (judge_left(report, &floor, work->load_in.place->cpus))
		say_load_has_left(work);
	ret->load_cpu_ns = report->user_cpu_ns + report->system_cpu_ns;
	ret->load_run_delay_ns = judge_waiting(report, &floor);
	ret->load_involuntary_switches = (int32_t)report->involuntary_switches;
	if (!work->load_in.evidence)
		return;
	/* The lines of interrupts are those of the service. */
	names = series_new(true, NULL);
	(void)evidence_take(work->load_in.evidence, run, &floor, names, &load);
	ret->load_steal_ns = load.steal_ns;
	ret->load_irq_device = load.irq_device;
	series_free(names);
}

/* Takes what the machine did meanwhile. */
static void take_evidence(struct work *work, struct attendant *a, struct runlog_run *run,
	const struct slice *slice, struct series *series)
{
	struct evidence_reader *reader = work->round->in->evidence;
	bool has_same_cpus = sittings_share_cpus(work->sittings);
	struct evidence evidence;
	struct run_facts facts = { .report = &run->report, .window = WINDOW_MISSING };

	if (!slice->watch)
		return;
	facts.thermal = watch_take(
		slice->watch, &slice->use, has_same_cpus ? &run->report : NULL, series, &evidence);
	take_load_evidence(work, run, &evidence);
	facts.evidence = &evidence;
	facts.hot = evidence_hot(reader);
	a->flags |= judge_run(&facts) & FLAGS_OF_SLICE;
	merge_evidence(&a->evidence, &evidence, !a->has_evidence);
	a->has_evidence = true;
}

/* The figure of that name; NULL where there is none. */
static const struct figure *find_figure(const struct figures *figures, const char *name)
{
	for (size_t i = 0; i < figures->n; i++)
		if (strcmp(figures->items[i].name, name) == 0)
			return &figures->items[i];
	return NULL;
}

/* How many requests there were, and in what time. */
static int count_requests(struct work *work, const struct figures *figures, struct slice *slice)
{
	const struct asked *asked = work->sittings->asked;
	const struct figure *told = find_figure(figures, LOAD_REQUESTS);
	const struct figure *rate = find_figure(figures, LOAD_RATE);
	double wall;

	slice->requests = told ? told->value : asked->requests;
	if (!told && !asked->requests) {
		say("%s: it does not say how many requests it has made: give --requests N",
			asked->load_words[0]);
		return -EBADMSG;
	}
	if (!(slice->requests >= 1)) {
		say("%s: it says that it has made no request", asked->load_words[0]);
		return -EBADMSG;
	}
	if (told && asked->requests > 0 && slice->requests != asked->requests) {
		say("%s: it has made %.0f requests, and %.0f were wanted (--requests)",
			asked->load_words[0], slice->requests, asked->requests);
		return -EBADMSG;
	}
	wall = (double)slice->wall_ns / NSEC_PER_SEC;
	slice->seconds = rate && rate->value > 0 ? slice->requests / rate->value : wall;
	if (slice->seconds > wall * TIME_TOLERANCE) {
		say("%s: it says that its %.0f requests took %.3f s, and was there for %.3f s",
			asked->load_words[0], slice->requests, slice->seconds, wall);
		return -EBADMSG;
	}
	return 0;
}

/* Whether ten requests and more lie beyond the quantile that the figure is, by its name: "p99" is
 * the 99th percentile, "p999" and "p99.9" one that leaves one of a thousand. A load that counts in
 * whole milliseconds, as ab does, prints 0 for one below that. */
static bool is_quantile_known(const char *name, double value, double requests)
{
	double beyond = 1, digit = 1;

	if (name[0] != 'p' || name[1] < '0' || name[1] > '9')
		return true;
	for (const char *c = name + 1; *c; c++) {
		if (*c == '.')
			continue;
		if (*c < '0' || *c > '9')
			return true;
		digit /= 10;
		beyond -= (*c - '0') * digit;
	}
	return value > 0 && beyond * requests >= 9.999;
}

static void keep_figures(
	struct work *work, size_t i, const struct slice *slice, const struct figures *figures)
{
	struct account *account = &work->sittings->seats[i].account;
	unsigned n_cpus = cpumask_weight(work->round->in->place->cpus);
	double cpu = (double)slice->use.cpu_ns / NSEC_PER_SEC;

	account_set(account, SEAT_CPU, SEAT_CPU_UNIT, BETTER_LOWER, 0, cpu / slice->requests);
	if (slice->use.system_ns >= 0) {
		double step = (double)slice->use.step_ns / NSEC_PER_SEC / slice->requests;

		account_set(account, SEAT_USER, SEAT_CPU_UNIT, BETTER_LOWER, step,
			(double)slice->use.user_ns / NSEC_PER_SEC / slice->requests);
		account_set(account, SEAT_SYSTEM, SEAT_CPU_UNIT, BETTER_LOWER, step,
			(double)slice->use.system_ns / NSEC_PER_SEC / slice->requests);
	}
	account_set(account, LOAD_RATE, "requests/s", BETTER_HIGHER, 0,
		slice->requests / slice->seconds);
	for (size_t k = 0; k < figures->n; k++) {
		const struct figure *figure = &figures->items[k];

		if (strcmp(figure->name, LOAD_REQUESTS) == 0 ||
			strcmp(figure->name, LOAD_RATE) == 0)
			continue;
		if (strcmp(figure->name, LOAD_BYTES) == 0) {
			account_set(account, SEAT_BYTES, "B/request", BETTER_UNKNOWN,
				figure->step / slice->requests, figure->value / slice->requests);
			continue;
		}
		account_set(account, figure->name, figure->unit, figure->better, figure->step,
			is_quantile_known(figure->name, figure->value, slice->requests)
				? figure->value
				: NAN);
	}
	account_set(account, SEAT_BUSY, "", BETTER_UNKNOWN, 0, cpu / slice->seconds / n_cpus);
	if (slice->use.waited_ns >= 0)
		account_set(account, SEAT_WAITS, "", BETTER_UNKNOWN, 0,
			(double)slice->use.waited_ns / NSEC_PER_SEC / slice->seconds);
	if (slice->use.switches >= 0)
		account_set(account, SEAT_SWITCHES, "", BETTER_UNKNOWN, 0,
			(double)slice->use.switches / slice->requests);
	account_end_slice(account);
}

static void keep_value(struct work *work, size_t i)
{
	struct seat *seat = &work->sittings->seats[i];
	struct benchmark *b = &seat->inside;
	size_t slice = seat->account.n_slices - 1;
	const struct tally *tally = account_find(&seat->account, work->round->in->options->metric);

	/* Values are times. */
	if (!tally || !tally_is_time(tally->unit) || !(tally->values[slice] > 0))
		tally = account_find(&seat->account, SEAT_CPU);
	xcheck(array_grow(&b->values, sizeof(*b->values), b->n_values, &seat->values_room));
	b->values[b->n_values++] = tally->values[slice];
}

static void keep_load_busy(struct work *work, const struct slice *slice)
{
	struct sittings *s = work->sittings;

	xcheck(array_grow(
		&s->load_busy, sizeof(*s->load_busy), s->n_load_busy, &s->load_busy_room));
	s->load_busy[s->n_load_busy++] = (double)slice->load_cpu_ns / NSEC_PER_SEC /
		((double)slice->wall_ns / NSEC_PER_SEC) / cpumask_weight(work->load_in.place->cpus);
}

static void say_slice(const struct work *work, size_t i, const struct slice *slice)
{
	static const char *const names[] = { [SLICE_WARM] = "warm slice",
		[SLICE_COUNTS] = "slice",
		[SLICE_EVENTS] = "slice that events are counted in" };
	char text[UNITS_TEXT_SIZE];

	if (work->round->in->options->verbose < 2)
		return;
	progress_clear(work->round->progress);
	units_format_seconds((double)slice->use.cpu_ns / NSEC_PER_SEC / slice->requests, text);
	say("%s of %s: %s of CPU time a request, %.0f requests in %.3f s", names[slice->kind],
		work->attendants[i].plan.name, text, slice->requests, slice->seconds);
}

/* Takes the figures of a slice, which has not failed otherwise. */
static int take_slice(
	struct work *work, size_t i, const struct runlog_run *run, struct slice *slice)
{
	struct attendant *a = &work->attendants[i];
	const struct launch_report *report = &run->report;
	const struct options *options = work->round->in->options;
	struct figures figures = { 0 };
	_cleanup_free_ char *why = NULL;
	char status[96];
	const char *failure = measure_find_failure(options, report, status, sizeof(status));
	int r = 0;

	slice->wall_ns = report->end_ns - report->start_ns;
	slice->load_cpu_ns = report->user_cpu_ns + report->system_cpu_ns;
	if (!failure && figures_read(&a->load, work->sittings->files, &figures, &why) < 0)
		failure = why ? why : "its output cannot be read";
	if (failure) {
		progress_clear(work->round->progress);
		say("%s: the load failed: %s", a->plan.name, failure);
		session_print_stderr(a->load.session);
		service_print_stderr(a->service);
		r = -EBADMSG;
	}
	if (r == 0)
		r = count_requests(work, &figures, slice);
	if (r == 0 && slice->use.cpu_ns <= 0) {
		say("%s: it has used no CPU time, while %s says that it made %.0f requests: they "
		    "did not reach it",
			a->plan.name, work->sittings->asked->load_words[0], slice->requests);
		r = -EBADMSG;
	}
	if (r == 0 && slice->kind == SLICE_COUNTS) {
		keep_figures(work, i, slice, &figures);
		keep_value(work, i);
		keep_load_busy(work, slice);
		a->requests += slice->requests;
		a->wall_ns += slice->wall_ns;
		a->cpu_ns += slice->use.cpu_ns;
	}
	if (r == 0)
		say_slice(work, i, slice);
	figures_clear(&figures);
	return r;
}

/* The first requests after a start and a rest take several times as long: of a slice of 1000, where
 * services had rested for 250 ms, 0.6 % of the CPU time in C, and 1.0 % in Python. These do not
 * count. They come from a process of their own, before the service is asked what it has used. */
static int warm_up(struct work *work, const struct attendant *a)
{
	struct sittings *s = work->sittings;
	static const char *const none[] = { NULL };
	const struct hook_trial trial = {
		.options = work->round->in->options,
		.words = a->warm,
		.variables = none,
		.cpus = work->load_in.place->cpus,
		.timeout_ns = work->round->in->options->timeout_ns,
		.end_fd = service_get_end_fd(a->service),
		.stderr_fd = s->warm_fd,
	};
	_cleanup_free_ char *why = NULL;
	bool may_fail = !s->asked->warm_load && !s->asked->http;
	int r;

	if (!a->warm || s->warm_has_failed)
		return 0;
	r = hook_try(&trial, work->round->stop, &why);
	if (r == 0 || r == -ECANCELED)
		return r;
	progress_clear(work->round->progress);
	if (service_tell_end(a->service))
		return -ECHILD;
	if (r < 0) {
		say_errno(r, "cannot run %s before a slice", a->warm[0]);
		return r;
	}
	say("%s%s: the requests before a slice failed: %s%s", may_fail ? "warning: " : "",
		a->plan.name, why,
		may_fail ? "; none are made any more (--warm-load gives others)" : "");
	lastwords_print(s->warm_fd);
	if (!may_fail)
		service_print_stderr(a->service);
	s->warm_has_failed = true;
	return may_fail ? 0 : -EBADMSG;
}

/* Where nothing can be counted, that is said once, if it was asked for. */
static int count_nothing(struct work *work, const char *why)
{
	struct sittings *s = work->sittings;

	counting_free(TAKE_PTR(s->counting));
	if (s->asked->events) {
		progress_clear(work->round->progress);
		say("note: -e: nothing is counted: %s", why);
	}
	return 0;
}

/* Has the events of the service counted from now on. */
static int begin_counts(struct work *work, const struct attendant *a, struct counts **ret)
{
	const char *folder = service_get_folder(a->service);
	char why[96];
	int r;

	if (!folder)
		return count_nothing(
			work, "the services have no cgroup of their own (--rest freeze tells why)");
	r = counts_begin(work->sittings->counting, folder, a->plan.place->cpus, ret);
	if (r == 0)
		return 0;
	snprintf(why, sizeof(why), "%s",
		r == -EACCES || r == -EPERM
			? "that takes root, or CAP_PERFMON, or a kernel.perf_event_paranoid of 0"
			: strerror(-r));
	return count_nothing(work, why);
}

static void keep_counts(struct work *work, size_t i, const double *counts, double requests)
{
	const struct counting *counting = work->sittings->counting;

	for (size_t event = 0; event < counting->n_events; event++) {
		const char *name = counting->event_names[event];
		char unit[QUANTITY_UNIT_SIZE] = "1/request";

		if (strlen(name) + sizeof("/request") <= sizeof(unit))
			snprintf(unit, sizeof(unit), "%s/request", name);
		account_set_of_sitting(
			&work->sittings->seats[i].account, name, unit, counts[event] / requests);
	}
}

/* After the first slice of each service: what speaks against the load. */
static void doubt_load(struct work *work, const struct attendant *a, const struct slice *slice)
{
	bool is_known = work->round->in->options->figures.harness != NULL;
	struct stat st;

	if (slice->requests < SLICE_MIN_REQUESTS && slice->seconds < SLICE_MIN_SECONDS) {
		progress_clear(work->round->progress);
		say("warning: %s: a slice has %.0f requests in %.0f ms: have the load make 1000 and more, "
		    "because the first ones take several times as long as the others",
			a->plan.name, slice->requests, 1e3 * slice->seconds);
	}
	/* Of a load that is known, its harness knows which lines are errors. */
	if (is_known || work->sittings->n_warm_made > 1 ||
		fstat(session_get_stderr(a->load.session), &st) < 0 || st.st_size == 0)
		return;
	progress_clear(work->round->progress);
	say("warning: %s: the load has ended with status 0, and has written to standard error; "
	    "nobody knows whether these are errors:",
		a->plan.name);
	session_print_stderr(a->load.session);
}

static int run_slice(struct work *work, size_t i, enum slice_kind kind, double *ret_cpu)
{
	struct attendant *a = &work->attendants[i];
	struct series *series = work->round->commands->items[i].measurement->series;
	struct runlog_run run = { 0 };
	struct slice slice = { .kind = kind };
	_cleanup_(counts) struct counts *counts = NULL;
	double counted[LAUNCH_MAX_COUNTERS];
	int r, rested;

	r = service_let_go_on(a->service);
	if (r == 0)
		r = warm_up(work, a);
	if (r == 0 && kind == SLICE_EVENTS)
		r = begin_counts(work, a, &counts);
	if (r == 0)
		r = run_between(work, a, &run, &slice);
	if (r == 0 && counts)
		counts_end(counts, counted);
	if (r < 0) {
		watch_free(slice.watch);
		return r;
	}
	rested = service_let_rest(a->service);
	if (kind == SLICE_COUNTS)
		take_evidence(work, a, &run, &slice, series);
	watch_free(slice.watch);
	r = take_slice(work, i, &run, &slice);
	if (r == 0 && counts)
		keep_counts(work, i, counted, slice.requests);
	*ret_cpu = r == 0 ? (double)slice.use.cpu_ns / slice.requests : 0;
	if (r == 0)
		r = rested;
	if (r == 0)
		r = service_check(a->service);
	else
		/* What the load says is wrong may follow from what is said here. */
		(void)service_check(a->service);
	if (r == 0 && kind == SLICE_WARM && work->sittings->n_warm_made < work->n) {
		work->sittings->n_warm_made++;
		doubt_load(work, a, &slice);
	}
	return r;
}

/* One slice of each, in that order, and their CPU time a request. */
static int run_round(struct work *work, const size_t order[], enum slice_kind kind, double cpu[])
{
	int r = 0;

	for (size_t k = 0; r == 0 && k < work->n; k++)
		r = run_slice(work, order[k], kind, &cpu[order[k]]);
	return r;
}

/* Slices that do not count, until no service gets warmer: one that compiles itself while it runs,
 * as node does, took 65, 52 and 44 us for a request in its first slices of 2000, and gets there
 * sooner after one start than after another. The first sitting finds how many these are: up to that
 * slice which was not dearer than the next. All others have as many, so that they are alike, and
 * draw no other orders (--seed). */
static int run_warm_slices(struct work *work, const size_t order[])
{
	struct sittings *s = work->sittings;
	unsigned known = s->asked->warm_slices > 0 ? s->asked->warm_slices : s->warm_slices;
	unsigned n = 0, most = known > 0 ? known : WARM_MOST;
	double least[OPTIONS_MAX_COMMANDS], cpu[OPTIONS_MAX_COMMANDS];
	bool gets_warmer = true;

	for (size_t i = 0; i < work->n; i++)
		least[i] = INFINITY;
	for (; n < most && (known > 0 || gets_warmer); n++) {
		int r = run_round(work, order, SLICE_WARM, cpu);

		if (r != 0)
			return r;
		gets_warmer = false;
		for (size_t i = 0; i < work->n; i++) {
			gets_warmer |= cpu[i] < WARMER * least[i];
			least[i] = MIN(least[i], cpu[i]);
		}
	}
	if (known == 0)
		s->is_cold = gets_warmer;
	s->warm_slices = known == 0 && !gets_warmer ? n - 1 : n;
	return 0;
}

static int run_slices(struct work *work)
{
	size_t order[OPTIONS_MAX_COMMANDS];
	double cpu[OPTIONS_MAX_COMMANDS];
	int r;

	memcpy(order, work->round->order, work->n * sizeof(*order));
	r = run_warm_slices(work, order);
	for (unsigned slice = 0; r == 0 && slice < work->sittings->asked->slices; slice++) {
		random_shuffle(work->round->random, order, work->n);
		r = run_round(work, order, SLICE_COUNTS, cpu);
	}
	/* Last, so that all that counts is as it would be without. */
	if (r == 0 && work->sittings->counting)
		r = run_round(work, order, SLICE_EVENTS, cpu);
	return r;
}

/* The figure that decides is an event of the run from the first one on; the others follow when it
 * is known which of them may be compared. */
static int add_events(struct seat *seat, struct series *series, const char *metric, double **ret)
{
	const struct tally *tally = account_find(&seat->account, metric);
	size_t sitting = account_count_sittings(&seat->account) - 1;
	size_t event = series_find_event(series, metric);

	if (!tally)
		return -ENOENT;
	if (event == series->n_events)
		series_add_event(series, metric);
	xcheck(series_declare_figure(series, event, tally->unit, tally->better, tally->step));
	*ret = xptr(calloc(series->n_events, sizeof(**ret)));
	for (size_t i = 0; i < series->n_events; i++)
		(*ret)[i] = NAN;
	(*ret)[event] = account_of_sitting(&seat->account, tally, sitting);
	return 0;
}

/* The moment of the sitting, in ns since the start of the series. It is the same of all services:
 * none of them came first, so that nothing can be told from their order. */
static int64_t find_start(const struct series *series, int64_t realtime_ns)
{
	return realtime_ns - series->start_realtime_ns;
}

/* Adds the sitting to the measurement. */
static int keep_sitting(struct work *work, size_t i, int64_t realtime_ns)
{
	const char *metric = work->round->in->options->metric;
	struct measurement *m = work->round->commands->items[i].measurement;
	struct seat *seat = &work->sittings->seats[i];
	struct attendant *a = &work->attendants[i];
	_cleanup_free_ double *events = NULL;
	struct sample sample = {
		.user_ns = a->wall_ns,
		.start_ns = find_start(m->series, realtime_ns),
		.flags = a->flags,
	};
	struct weights weights;
	int r = add_events(seat, m->series, metric, &events);

	if (r < 0) {
		say("--by: the load prints no figure called %s, and -e counts no such event",
			metric);
		return r;
	}
	a->evidence.task_clock_ns = a->cpu_ns;
	weights_find(NULL, &sample, &a->evidence, &weights);
	sample.flags |= weight_flags(&a->evidence, &weights) & FLAGS_OF_SITTING;
	r = series_append(
		m->series, &sample, work->round->in->evidence ? &a->evidence : NULL, events);
	if (r < 0) {
		say_errno(r, "cannot keep the sitting");
		return r;
	}
	seat->requests += a->requests;
	xcheck(array_grow(
		&seat->inside.runs, sizeof(*seat->inside.runs), m->n_runs, &seat->runs_room));
	seat->inside.runs[m->n_runs++] = (struct benchmark_run){
		.end = seat->inside.n_values,
		.loops = 1,
		.inner_loops = 1,
		.before_level = -1,
	};
	return 0;
}

static int keep(struct work *work, int64_t realtime_ns)
{
	struct commands *commands = work->round->commands;
	int r = 0;

	if (!commands->metric)
		commands->metric = xptr(strdup(work->round->in->options->metric));
	for (size_t i = 0; r == 0 && i < work->n; i++)
		r = keep_sitting(work, i, realtime_ns);
	return r;
}

/* A sitting that has failed leaves nothing. */
static void forget(struct work *work)
{
	work->sittings->n_load_busy = 0;
	for (size_t i = 0; i < work->n; i++) {
		struct seat *seat = &work->sittings->seats[i];

		account_drop_rest(&seat->account);
		seat->inside.n_values = seat->account.n_slices;
		work->sittings->n_load_busy += seat->account.n_slices;
	}
}

static int fail(struct work *work, int error, size_t *ret_last)
{
	struct measurement *m = work->round->commands->items[0].measurement;

	*ret_last = 0;
	forget(work);
	if (error == -ECANCELED)
		return 1;
	m->end = MEASURE_FAILED;
	m->incomplete = xformat("sitting %zu failed", m->n_runs + 1);
	return 1;
}

/* The sitting is the work of all services. */
static int sit(struct work *work, int64_t *ret_realtime_ns)
{
	int r = start(work);

	*ret_realtime_ns = clock_now_ns(CLOCK_REALTIME);
	if (r == 0)
		r = run_slices(work);
	return r;
}

static int make(struct rounds *rounds, const struct round *round, size_t *ret_last)
{
	struct sittings *s = (struct sittings *)rounds;
	struct work work = {
		.sittings = s,
		.round = round,
		.load_in = *round->in,
		.n = round->commands->n,
		.attendants = xptr(calloc(round->commands->n, sizeof(*work.attendants))),
	};
	int64_t realtime_ns = 0;
	int r;

	work.load_in.evidence = s->load_evidence;
	if (s->load_place)
		work.load_in.place = s->load_place;
	if (s->load_place && round->in->evidence && !s->load_evidence)
		s->load_evidence = work.load_in.evidence = evidence_open(
			s->load_place->cpus, s->load_place->renumbered, s->load_place->one_package);
	if (!s->files)
		s->files = figure_files_new(round->in->options, NULL);
	r = sit(&work, &realtime_ns);
	if (r == 0)
		r = keep(&work, realtime_ns);
	if (r < 0)
		r = fail(&work, r, ret_last);
	end(&work);
	/* More of it would change nothing. */
	if (r == 0 && bottleneck_is_hopeless(s, round->commands, round->in->options))
		return 1;
	return r;
}

static const struct benchmark *get_inside(const struct rounds *rounds, size_t i)
{
	const struct sittings *s = (const struct sittings *)rounds;

	return s->seats[i].inside.n_values > 0 ? &s->seats[i].inside : NULL;
}

static const char *name_value(const struct sittings *s)
{
	return s->asked->by == BY_LATENCY ? "latency of requests, as the load tells it"
					  : "CPU time of the service for a request";
}

static void describe(const struct rounds *rounds, size_t i, struct facts *facts)
{
	const struct sittings *s = (const struct sittings *)rounds;
	const struct asked *asked = s->asked;
	const struct seat *seat = &s->seats[i];
	_cleanup_free_ char *load = xptr(text_quote_argv(asked->load_words));
	_cleanup_free_ char *warm =
		asked->warm_words ? xptr(text_quote_argv(asked->warm_words)) : NULL;
	_cleanup_free_ char *nothing = bottleneck_tell_nothing(s);

	facts_set_string(facts, "quiesce_tool", NULL);
	facts_set_string(facts, METADATA_SERVED "warm_load", s->warm_has_failed ? NULL : warm);
	facts_set_string(facts, METADATA_SERVED_LOAD, load);
	facts_set_integer(facts, METADATA_SERVED "slices", asked->slices);
	if (s->warm_slices > 0)
		facts_set_integer(facts, METADATA_SERVED "warm_slices", s->warm_slices);
	facts_set_string(facts, METADATA_SERVED "rest", seat->rest);
	if (asked->rate > 0)
		facts_set_real(facts, METADATA_SERVED "rate", asked->rate);
	facts_set_string(facts, METADATA_SERVED "load_cpus",
		s->load_place ? s->load_place->cpus_text : NULL);
	facts_set_string(facts, "timer", name_value(s));
	if (seat->n_started > 0)
		facts_set_real(facts, METADATA_SERVED "ready",
			(double)seat->ready_ns_sum / (double)seat->n_started / NSEC_PER_SEC);
	if (seat->requests > 0)
		facts_set_integer(facts, METADATA_SERVED "requests", llround(seat->requests));
	/* Those that are not compared: their medians. */
	for (size_t k = 0; seat->inside.series && k < seat->account.n_tallies; k++) {
		const struct tally *tally = &seat->account.tallies[k];
		_cleanup_free_ char *name = xformat(METADATA_SERVED "%s", tally->name);

		if (series_find_event(seat->inside.series, tally->name) ==
			seat->inside.series->n_events)
			facts_set_real(facts, name, account_median(&seat->account, tally->name));
	}
	facts_set_string(facts, METADATA_SERVED "nothing", nothing);
	facts_set_string(facts, METADATA_SERVED "limit", s->limit);
	if (facts->failed)
		xalloc_fail();
}

/* Those figures that may be compared become events of the runs. */
static void add_event(struct seat *seat, struct series *series, const struct tally *tally)
{
	size_t event = series_find_event(series, tally->name);

	if (event < series->n_events)
		return;
	series_add_event(series, tally->name);
	xcheck(series_declare_figure(series, event, tally->unit, tally->better, tally->step));
	for (size_t i = 0; i < series->n_samples; i++)
		series->counters[i * series->n_events + event] =
			account_of_sitting(&seat->account, tally, i);
}

static void conclude_sittings(struct rounds *rounds, struct commands *commands)
{
	struct sittings *s = (struct sittings *)rounds;

	if (commands->items[0].measurement->n_runs > 0) {
		bottleneck_judge(s, commands);
		free(s->limit);
		s->limit = bottleneck_tell_limit(s, commands);
	}
	for (size_t i = 0; i < commands->n; i++) {
		struct series *series = commands->items[i].measurement->series;
		struct seat *seat = &s->seats[i];

		seat->inside.name = (char *)commands->items[i].name;
		seat->inside.series = series;
		for (size_t k = 0; series->n_samples > 0 && k < seat->account.n_tallies; k++) {
			const struct tally *tally = &seat->account.tallies[k];
			struct bottleneck found;

			if (bottleneck_find(s, commands, tally->name, tally->unit, &found))
				add_event(seat, series, tally);
			bottleneck_clear(&found);
		}
	}
}

static int foresee_load(const struct rounds *rounds, struct cpumask *cpus)
{
	const struct sittings *s = (const struct sittings *)rounds;
	_cleanup_(cpumask) struct cpumask *own = NULL;
	int r = s->asked->load_cpus ? place_foresee("--load-cpus", s->asked->load_cpus, &own) : 0;

	if (r == 0 && own)
		cpumask_or(cpus, cpus, own);
	return r;
}

/* Where the load runs: --by cpu is least noisy where it has the CPUs of the services; else it must
 * not take their time. */
static int choose_load_place(struct rounds *rounds, const struct place *place, struct cpumask *cpus)
{
	struct sittings *s = (struct sittings *)rounds;
	const struct asked *asked = s->asked;
	_cleanup_free_ char *list = NULL;
	int r;

	place_free(TAKE_PTR(s->load_place));
	if (!asked->load_cpus && asked->by == BY_CPU)
		return 0;
	if (!asked->load_cpus && cpumask_is_empty(place->housekeeping)) {
		say("--by: there is no other CPU for the load, which would take the time of the "
		    "services: give --load-cpus");
		return -EINVAL;
	}
	/* Not the first one, to which most interrupts go. */
	if (!asked->load_cpus)
		list = xformat("%d", cpumask_last(place->housekeeping));
	r = place_choose("--load-cpus", list ? list : asked->load_cpus, &s->load_place);
	if (r == 0 && cpumask_equal(s->load_place->cpus, place->cpus))
		place_free(TAKE_PTR(s->load_place));
	if (s->load_place)
		cpumask_or(cpus, cpus, s->load_place->cpus);
	evidence_free(TAKE_PTR(s->load_evidence));
	return r;
}

/* What is to be counted, by those CPUs. Says what is wrong. */
static int choose_events(struct sittings *s, const struct place *place)
{
	const char *events = s->asked->events ? s->asked->events : "instructions";

	counting_free(TAKE_PTR(s->counting));
	if (!*events)
		return 0;
	return counting_open(events, cpumask_first(place->cpus), false, &s->counting);
}

static int choose(struct rounds *rounds, const struct place *place, struct cpumask *cpus)
{
	int r = choose_load_place(rounds, place, cpus);

	return r < 0 ? r : choose_events((struct sittings *)rounds, place);
}

static int find_load_program(struct sittings *s)
{
	const char *word = s->asked->load_words[0];
	int r;

	if (s->load_program)
		return 0;
	r = s->asked->http ? xcheck(install_find(word, &s->load_program))
			   : program_resolve(word, &s->load_program);
	if (r < 0)
		say_errno(r, "cannot run %s, which is to be the load", word);
	return r;
}

static int find_warm_program(struct sittings *s)
{
	int r = 0;

	if (s->asked->warm_is_ours && !s->warm_program)
		r = xcheck(install_find("httpload", &s->warm_program));
	if (r == 0 && s->asked->warm_words && s->warm_fd == 0) {
		r = lastwords_open("stderr");
		s->warm_fd = MAX(r, 0);
	}
	if (r < 0)
		say_errno(r, "cannot make the requests before a slice");
	return MIN(r, 0);
}

static int check(struct rounds *rounds)
{
	struct sittings *s = (struct sittings *)rounds;
	int r = find_load_program(s);

	for (size_t i = 0; i < s->asked->n_untold; i++)
		say("note: %s is told where to listen by $PORT alone: if it does not read that, "
		    "{port} or {socket} has to be among its arguments, or in --env",
			s->asked->untold[i]);
	if (r == 0 && s->counting && s->asked->events)
		counting_say_notes(s->counting);
	if (s->counting && s->counting->n_events == 0)
		counting_free(TAKE_PTR(s->counting));
	if (r == 0)
		r = find_warm_program(s);
	/* Not of --seed: two measurements at a time would try the same ports, and which of them are
	 * taken differs, so that orders must not be drawn from the same numbers. */
	if (r == 0 && getrandom(&s->random, sizeof(s->random), 0) < 0) {
		r = -errno;
		say_errno(r, "cannot draw random numbers");
	}
	return r;
}

static void print_plan(const struct rounds *rounds)
{
	const struct sittings *s = (const struct sittings *)rounds;
	_cleanup_free_ char *quoted = xptr(text_quote_argv(s->asked->load_words));
	_cleanup_free_ char *load = xptr(text_escape_control(quoted));

	print(stdout, "load: %s\n", load);
	print(stdout, "load's cpus: %s\n",
		s->load_place ? s->load_place->cpus_text : "those of the services");
	if (s->asked->warm_words) {
		_cleanup_free_ char *warm_quoted = xptr(text_quote_argv(s->asked->warm_words));
		_cleanup_free_ char *warm = xptr(text_escape_control(warm_quoted));

		print(stdout, "before each slice: %s\n", warm);
	}
	print(stdout, "slices: %u of each, after ", s->asked->slices);
	if (s->asked->warm_slices > 0)
		print(stdout, "%u that do%s not count\n", s->asked->warm_slices,
			s->asked->warm_slices > 1 ? "" : "es");
	else
		print(stdout, "those that make it warm\n");
	for (size_t i = 0; s->counting && i < s->counting->n_events; i++)
		print(stdout, "%s%s%s", i == 0 ? "counted in a slice more: " : ", ",
			s->counting->event_names[i], i + 1 == s->counting->n_events ? "\n" : "");
	print(stdout, "at rest: %s\n",
		s->asked->rest == SERVICE_REST_NONE ? "they go on" : "they are stopped");
}

void sittings_begin(struct sittings *sittings, const struct asked *asked, size_t n)
{
	*sittings = (struct sittings){
		.rounds = {
			.foresee = foresee_load,
			.choose = choose,
			.check = check,
			.make = make,
			.describe = describe,
			.conclude = conclude_sittings,
			.inside = get_inside,
			.report = report_sittings,
			.print_plan = print_plan,
		},
		.asked = asked,
		.n = n,
	};
	for (size_t i = 0; i < n; i++)
		sittings->seats[i].account.slices_a_sitting = asked->slices;
}

void sittings_clear(struct sittings *sittings)
{
	for (size_t i = 0; i < sittings->n; i++) {
		account_clear(&sittings->seats[i].account);
		free(sittings->seats[i].inside.values);
		free(sittings->seats[i].inside.runs);
	}
	place_free(sittings->load_place);
	evidence_free(sittings->load_evidence);
	figure_files_free(sittings->files);
	counting_free(sittings->counting);
	free(sittings->load_program);
	free(sittings->warm_program);
	if (sittings->warm_fd > 0)
		close(sittings->warm_fd);
	free(sittings->load_busy);
	free(sittings->nothing);
	free(sittings->limit);
	*sittings = (struct sittings){ 0 };
}
