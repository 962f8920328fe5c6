// SPDX-License-Identifier: LGPL-2.1-or-later
/* qs_main(): a program made of a list of benchmarks. */
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <getopt.h>
#include <inttypes.h>
#include <math.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "library/counters.h"
#include "library/digits.h"
#include "library/loops.h"
#include "library/outcome.h"
#include "library/runner.h"
#include "library/values.h"

enum {
	EXIT_OK = 0,
	EXIT_FAILED = 1,
	EXIT_USAGE = 2,

	/* qs_measure() keeps no samples. */
	RING_SAMPLES = 1,
	MAX_WORDS = 24,
	WORD_SIZE = 256,
	MAX_COUNTERS_TEXT = QS_MAX_COUNTERS * 40,
};

/* In seconds. The clock of a CPU that idled rises within this time, and qs_settle() need not sleep.
 */
static const double WARMUP_TIME = 0.02;
/* For the values of a benchmark in a process, where nobody says how many: 10 seconds in 25. */
static const double PROCESS_TIME = 0.4;
/* Times are written to a process, and counted there, in nanoseconds. */
static const double SHORTEST = 1e-9;

struct options {
	uint64_t processes;
	uint64_t values;
	int values_given;
	uint64_t warmups;
	int warmups_given;
	uint64_t loops;
	double min_time;
	const char *min_time_text;
	double max_time; /* for each benchmark in all processes; of a worker: in this one; 0: none
			  */
	int cpu;	 /* -1: any CPU */
	const char *counters_text;
	char counters_copy[MAX_COUNTERS_TEXT];
	const char *counters[QS_MAX_COUNTERS + 1];
	const char *no_event; /* the unknown event of --counters */
	int collect;
	int no_core;
	int list;
	int quiet;
	const char *output;
	const char *worker; /* the only benchmark that this process runs */
	int worker_fd;	    /* where it hands its values over */
	char **patterns;
	int n_patterns;
};

struct program {
	const char *name;
	int stamps;
	int values_fd; /* of the process that measures */
	const struct qs_benchmark *benchmarks;
	struct options options;
};

static void usage(FILE *stream, const char *name)
{
	fprintf(stream,
		"usage: %s [options] [NAME...]\n"
		"\n"
		"Measures the benchmarks of these names (wildcards: 'copy/*'), or all of them.\n"
		"\n"
		"      --list            names, and nothing else\n"
		"      --processes=N     processes for each benchmark (25)\n"
		"      --values=N        values in each process (50)\n"
		"      --warmups=N       values before these, recorded but not counted\n"
		"                        (default: one, and more until 20 ms have passed)\n"
		"      --min-time=S      least duration of a value in seconds (0.00005)\n"
		"      --max-time=S      begin no process and no value of a benchmark after so many\n"
		"                        seconds (default: 0.4 for each process, none with --values)\n"
		"      --loops=N         loops per value (default: calibrated by --min-time)\n"
		"      --cpu=N           on this CPU\n"
		"      --counters=LIST   also count these: instructions,cache-misses,r1a2\n"
		"      --collect         read interrupts, frequency and temperature between values\n"
		"      --no-core         do not look at the core between values\n"
		"  -o, --output=FILE     save the result, as pyperf's JSON\n"
		"  -q, --quiet           no progress\n"
		"  -h, --help            this text\n",
		name);
}

/* --- The command line. --- */

static int parse_number(const char *text, uint64_t min, uint64_t max, uint64_t *ret)
{
	uint64_t number;

	if (digits_read(&text, 10, max, &number) < 0 || *text != '\0' || number < min)
		return -EINVAL;
	*ret = number;
	return 0;
}

/* "0.1", "2": above 0, at most a day. */
static int parse_seconds(const char *text, double *ret)
{
	uint64_t whole = 0, fraction = 0;
	double scale = 1, seconds;

	if (digits_read(&text, 10, 86400, &whole) < 0)
		return -EINVAL;
	if (*text == '.') {
		const char *digits = ++text;

		if (digits_read(&text, 10, 999999999, &fraction) < 0)
			return -EINVAL;
		for (; digits < text; digits++)
			scale *= 10;
	}
	seconds = (double)whole + (double)fraction / scale;
	if (*text != '\0' || seconds < SHORTEST)
		return -EINVAL;
	*ret = seconds;
	return 0;
}

static int parse_counters(const char *text, struct options *options)
{
	size_t n = 0;
	char *save, *word;

	if (strlen(text) >= sizeof(options->counters_copy))
		return -EINVAL;
	memcpy(options->counters_copy, text, strlen(text) + 1);
	for (word = strtok_r(options->counters_copy, ",", &save); word;
		word = strtok_r(NULL, ",", &save)) {
		uint32_t type;
		uint64_t config;

		if (n == QS_MAX_COUNTERS)
			return -EINVAL;
		if (counter_parse(word, &type, &config) < 0) {
			options->no_event = word;
			return -EINVAL;
		}
		options->counters[n++] = word;
	}
	options->counters_text = text;
	return n > 0 ? 0 : -EINVAL;
}

enum {
	OPTION_LIST = 256,
	OPTION_PROCESSES,
	OPTION_VALUES,
	OPTION_WARMUPS,
	OPTION_MIN_TIME,
	OPTION_MAX_TIME,
	OPTION_LOOPS,
	OPTION_CPU,
	OPTION_COUNTERS,
	OPTION_COLLECT,
	OPTION_NO_CORE,
	OPTION_WORKER,
	OPTION_WORKER_FD,
};

static int parse_option(int option, const char *argument, struct options *o)
{
	uint64_t number;
	int r;

	switch (option) {
	case OPTION_PROCESSES:
		return parse_number(argument, 1, 100000, &o->processes);
	case OPTION_VALUES:
		o->values_given = 1;
		return parse_number(argument, o->worker ? 0 : 1, 100000, &o->values);
	case OPTION_WARMUPS:
		o->warmups_given = 1;
		return parse_number(argument, 0, 100000, &o->warmups);
	case OPTION_LOOPS:
		return parse_number(argument, 1, VALUES_MAX_LOOPS, &o->loops);
	case OPTION_MIN_TIME:
		o->min_time_text = argument;
		return parse_seconds(argument, &o->min_time);
	case OPTION_MAX_TIME:
		return parse_seconds(argument, &o->max_time);
	case OPTION_CPU:
		r = parse_number(argument, 0, CPU_SETSIZE - 1, &number);
		if (r == 0)
			o->cpu = (int)number;
		return r;
	case OPTION_COUNTERS:
		return parse_counters(argument, o);
	case OPTION_LIST:
		o->list = 1;
		return 0;
	case OPTION_COLLECT:
		o->collect = 1;
		return 0;
	case OPTION_NO_CORE:
		o->no_core = 1;
		return 0;
	case OPTION_WORKER:
		o->worker = argument;
		return 0;
	case OPTION_WORKER_FD:
		r = parse_number(argument, 0, INT32_MAX, &number);
		if (r == 0)
			o->worker_fd = (int)number;
		return r;
	case 'o':
		o->output = argument;
		return *argument ? 0 : -EINVAL;
	case 'q':
		o->quiet = 1;
		return 0;
	default:
		return -ENOENT;
	}
}

/* 0 to go on, 1 for --help, -EINVAL after an error message. */
static int parse_options(struct program *program, int argc, char *argv[])
{
	static const struct option table[] = {
		{ "list", no_argument, NULL, OPTION_LIST },
		{ "processes", required_argument, NULL, OPTION_PROCESSES },
		{ "values", required_argument, NULL, OPTION_VALUES },
		{ "warmups", required_argument, NULL, OPTION_WARMUPS },
		{ "min-time", required_argument, NULL, OPTION_MIN_TIME },
		{ "max-time", required_argument, NULL, OPTION_MAX_TIME },
		{ "loops", required_argument, NULL, OPTION_LOOPS },
		{ "cpu", required_argument, NULL, OPTION_CPU },
		{ "counters", required_argument, NULL, OPTION_COUNTERS },
		{ "collect", no_argument, NULL, OPTION_COLLECT },
		{ "no-core", no_argument, NULL, OPTION_NO_CORE },
		{ "worker", required_argument, NULL, OPTION_WORKER },
		{ "worker-fd", required_argument, NULL, OPTION_WORKER_FD },
		{ "output", required_argument, NULL, 'o' },
		{ "quiet", no_argument, NULL, 'q' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	struct options *o = &program->options;
	int option, index = 0, r;

	*o = (struct options){
		.processes = 25, .values = 50, .warmups = 1, .cpu = -1, .worker_fd = -1
	};
	/* main() may have used getopt(3) itself, or called qs_main() before. 0 also resets getopt's
	 * position within an argument. */
	optind = 0;
	while ((option = getopt_long(argc, argv, "o:qh", table, &index)) != -1) {
		if (option == 'h')
			return 1;
		r = parse_option(option, optarg, o);
		if (r == -ENOENT) {
			fprintf(stderr, "Try '%s --help'.\n", program->name);
			return -EINVAL;
		}
		if (r < 0 && o->no_event) {
			fprintf(stderr, "%s: --counters: there is no event '%s'\n", program->name,
				o->no_event);
			return r;
		}
		if (r < 0) {
			fprintf(stderr, "%s: '%s' is no value for %s%s\n", program->name, optarg,
				option == 'o' ? "-o" : "--",
				option == 'o' ? "" : table[index].name);
			return r;
		}
	}
	o->patterns = argv + optind;
	o->n_patterns = argc - optind;
	return 0;
}

/* --- The list. --- */

/* A name that has wildcards in it also stands for itself. */
static int is_match(const char *pattern, const char *name)
{
	return strcmp(pattern, name) == 0 || fnmatch(pattern, name, 0) == 0;
}

static int is_chosen(const struct program *program, const char *name)
{
	const struct options *o = &program->options;

	if (o->worker)
		return strcmp(o->worker, name) == 0;
	for (int i = 0; i < o->n_patterns; i++)
		if (is_match(o->patterns[i], name))
			return 1;
	return o->n_patterns == 0;
}

/* -EINVAL where the list is invalid, or a pattern matches no name. */
static int check_names(const struct program *program)
{
	const struct options *o = &program->options;
	const struct qs_benchmark *b;

	for (b = program->benchmarks; b->name; b++) {
		if (!values_is_name(b->name) || !b->run) {
			fprintf(stderr, "%s: benchmark %td has no valid name or no function\n",
				program->name, b - program->benchmarks + 1);
			return -EINVAL;
		}
		if (b->family &&
			(!values_is_name(b->family) || !(b->size > 0 && isfinite(b->size)))) {
			fprintf(stderr, "%s: %s has no valid family, or no size above 0\n",
				program->name, b->name);
			return -EINVAL;
		}
		for (const struct qs_benchmark *other = program->benchmarks; other < b; other++) {
			if (strcmp(other->name, b->name) == 0) {
				fprintf(stderr, "%s: two benchmarks have the name %s\n",
					program->name, b->name);
				return -EINVAL;
			}
		}
	}
	for (int i = 0; i < o->n_patterns; i++) {
		for (b = program->benchmarks; b->name; b++)
			if (is_match(o->patterns[i], b->name))
				break;
		if (!b->name) {
			fprintf(stderr, "%s: no benchmark is named %s (--list)\n", program->name,
				o->patterns[i]);
			return -EINVAL;
		}
	}
	return 0;
}

static void say_error(const struct program *program, const char *what, int error)
{
	fprintf(stderr, "%s: %s: %s\n", program->name, what, strerror(-error));
}

/* For the error of a function of sampler.h or benchmark.h. The same values mean something else when
 * they come from the kernel or from the benchmark. */
static void say_own_error(const struct program *program, const char *what, int error)
{
	char text[128];

	fprintf(stderr, "%s: %s: %s\n", program->name, what,
		qs_error_text(error, text, sizeof(text)));
}

/* The status after printing: a flush alone does not report what an earlier flush has lost, and the
 * cause of that loss is no longer known. */
static int finish_output(const struct program *program)
{
	errno = 0;
	if (fflush(stdout) == 0 && !ferror(stdout))
		return EXIT_OK;
	fprintf(stderr, "%s: cannot write to standard output: %s\n", program->name,
		errno ? strerror(errno) : "some of it was lost");
	return EXIT_FAILED;
}

/* --- Measuring in this process, which qs_main() or runpinned has started. --- */

/* 0, or a negative errno after an error message. */
static int bind_to_cpu(const struct program *program)
{
	int cpu = program->options.cpu, r;
	cpu_set_t set;

	if (cpu < 0)
		return 0;
	CPU_ZERO(&set);
	CPU_SET((size_t)cpu, &set);
	r = sched_setaffinity(0, sizeof(set), &set) < 0 ? -errno : 0;
	if (r < 0)
		fprintf(stderr, "%s: cannot run on CPU %d: %s\n", program->name, cpu,
			r == -EINVAL ? "it does not exist, or may not be used here" : strerror(-r));
	return r;
}

/* The time that a benchmark has in one process; 0: any. */
static double find_process_time(const struct options *o)
{
	double part = o->max_time / (double)o->processes;

	if (o->max_time > 0)
		return o->worker ? o->max_time : part > SHORTEST ? part : SHORTEST;
	return o->values_given ? 0 : PROCESS_TIME;
}

static int measure_chosen(
	const struct program *program, struct qs_sampler *sampler, const struct qs_plan *plan)
{
	int result = EXIT_OK;

	for (const struct qs_benchmark *b = program->benchmarks; b->name; b++) {
		struct qs_values *values;
		int by_setup, r;

		if (!is_chosen(program, b->name))
			continue;
		r = loops_measure(
			sampler, b, plan, find_process_time(&program->options), &values, &by_setup);
		if (r < 0) {
			if (by_setup)
				say_error(program, b->name, r);
			else
				say_own_error(program, b->name, r);
			result = EXIT_FAILED;
			continue;
		}
		r = values_hand_over(program->values_fd, values);
		if (r == -ENOSPC)
			fprintf(stderr,
				"%s: %s: no room for its %zu values: take fewer of them (--values), or fewer "
				"threads\n",
				program->name, b->name, values->n_values);
		else if (r < 0)
			say_error(program, "cannot hand values over", r);
		if (r < 0)
			result = EXIT_FAILED;
		qs_values_free(values);
	}
	return result;
}

static int measure_here(const struct program *program)
{
	const struct options *o = &program->options;
	const struct qs_options sampler_options = {
		.samples = RING_SAMPLES,
		.counters = o->counters_text ? o->counters : NULL,
	};
	struct qs_plan plan = {
		.min_time = o->min_time,
		.loops = o->loops,
		.warmups = (uint32_t)o->warmups,
		.values = (uint32_t)o->values,
		.look_at_core = !o->no_core,
		.warmup_time = o->warmups_given || o->values == 0 ? 0 : WARMUP_TIME,
	};
	struct qs_sampler *sampler;
	int r;

	r = bind_to_cpu(program);
	if (r < 0)
		return EXIT_FAILED;
	r = qs_open_as(program->stamps, &sampler_options, sizeof(sampler_options), &sampler);
	if (r < 0) {
		say_own_error(program, "cannot open a sampler", r);
		return EXIT_FAILED;
	}
	if (o->collect) {
		r = qs_collector_open(o->cpu >= 0 ? o->cpu : sched_getcpu(), &plan.collector);
		if (r < 0) {
			say_own_error(program, "cannot collect", r);
			qs_close(sampler);
			return EXIT_FAILED;
		}
	}
	r = measure_chosen(program, sampler, &plan);
	qs_collector_close(plan.collector);
	qs_close(sampler);
	return r;
}

/* --- Measuring in processes. --- */

struct command_line {
	char text[MAX_WORDS][WORD_SIZE];
	char *argv[MAX_WORDS + 1];
	size_t n;
};

__attribute__((format(printf, 2, 3))) static void add_word(
	struct command_line *words, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(words->text[words->n], WORD_SIZE, format, arguments);
	va_end(arguments);
	words->argv[words->n] = words->text[words->n];
	words->argv[++words->n] = NULL;
}

/* The command line of a process that measures one benchmark; with loops 0 it calibrates. */
static void make_command_line(const struct program *program, const struct runner *runner,
	const struct outcome *outcome, struct command_line *ret)
{
	const struct options *o = &program->options;
	double process_time = find_process_time(o);

	/* The program's own name may be longer than a word. */
	ret->argv[0] = (char *)program->name;
	ret->n = 1;
	/* First, because it changes which values the other options accept. */
	add_word(ret, "--worker=%s", outcome->benchmark->name);
	add_word(ret, "--worker-fd=%d", runner->fd);
	if (outcome->loops > 0) {
		add_word(ret, "--loops=%" PRIu64, outcome->loops);
		if (o->warmups_given)
			add_word(ret, "--warmups=%" PRIu64, o->warmups);
		add_word(ret, "--values=%" PRIu64, o->values);
		if (o->counters_text)
			add_word(ret, "--counters=%s", o->counters_text);
		if (o->collect)
			add_word(ret, "--collect");
		if (o->no_core)
			add_word(ret, "--no-core");
	} else {
		add_word(ret, "--warmups=0");
		add_word(ret, "--values=0");
		if (o->min_time_text)
			add_word(ret, "--min-time=%s", o->min_time_text);
	}
	/* Not as a floating-point number: main() may have chosen a locale with another point. */
	if (process_time > 0)
		add_word(ret, "--max-time=%" PRIu64 ".%09" PRIu64, (uint64_t)process_time,
			(uint64_t)((process_time - (double)(uint64_t)process_time) * 1e9));
	if (o->cpu >= 0)
		add_word(ret, "--cpu=%d", o->cpu);
}

static void show_progress(
	const struct program *program, const char *name, uint64_t done, uint64_t total)
{
	const char *term = getenv("TERM");

	/* A dumb terminal cannot go back to the beginning of the line. */
	if (program->options.quiet || !isatty(STDERR_FILENO) || (term && strcmp(term, "dumb") == 0))
		return;
	if (!name)
		fputs("\r\033[K", stderr);
	else
		fprintf(stderr, "\r\033[K%3" PRIu64 " %%  %s", done * 100 / total, name);
	fflush(stderr);
}

/* Runs one process. Returns an error only if it ends the whole measurement. */
static int run_process(
	const struct program *program, struct runner *runner, struct outcome *outcome)
{
	struct command_line words;
	int status = 0, r;

	make_command_line(program, runner, outcome, &words);
	r = runner_run(runner, outcome->benchmark->name, words.argv,
		&outcome->runs[outcome->n_runs], &status);
	if (r == 0) {
		outcome->n_runs++;
		return 0;
	}
	if (runner->signal > 0)
		return r;
	show_progress(program, NULL, 0, 0);
	outcome->failed = 1;
	if (r == -ECHILD && WIFSIGNALED(status))
		fprintf(stderr, "%s: %s: killed by signal %d (%s)\n", program->name,
			outcome->benchmark->name, WTERMSIG(status), strsignal(WTERMSIG(status)));
	else if (r == -ECHILD)
		fprintf(stderr, "%s: %s: its process ended with status %d\n", program->name,
			outcome->benchmark->name, WEXITSTATUS(status));
	else if (r == -EBADMSG)
		fprintf(stderr, "%s: %s: its process handed over no values\n", program->name,
			outcome->benchmark->name);
	else
		say_error(program, outcome->benchmark->name, r);
	return 0;
}

/* Whether the benchmark has had its time, and a process with values. */
static int is_time_over(const struct options *o, const struct outcome *outcome)
{
	double max_time = find_process_time(o) * (double)o->processes, seconds = 0;

	for (size_t i = 0; i < outcome->n_runs; i++)
		seconds += outcome->runs[i].seconds;
	return max_time > 0 && outcome_first_counted(outcome) && seconds >= max_time;
}

/* Whether a process had no time for all its values. */
static int is_cut_short(const struct options *o, const struct qs_benchmark *benchmark,
	const struct qs_values *values)
{
	uint64_t n = 0, threads = benchmark->threads > 1 ? benchmark->threads : 1;

	for (size_t i = 0; i < values->n_values; i++)
		n += values->values[i].kind == QS_VALUE_COUNTED;
	return n > 0 && n < threads * o->values;
}

/* Runs the benchmarks in turns, so that a change of the machine over time affects all of them. */
static int run_processes(
	const struct program *program, struct runner *runner, struct outcome *outcomes, size_t n)
{
	const struct options *o = &program->options;
	uint64_t rounds = o->processes + (o->loops == 0), done = 0;

	for (uint64_t round = 0; round < rounds; round++) {
		for (size_t i = 0; i < n; i++, done++) {
			struct outcome *outcome = &outcomes[i];
			int r;

			if (outcome->failed)
				continue;
			if (is_time_over(o, outcome)) {
				outcome->out_of_time = 1;
				continue;
			}
			show_progress(program, outcome->benchmark->name, done, rounds * n);
			r = run_process(program, runner, outcome);
			if (r < 0)
				return r;
			if (outcome->n_runs == 0)
				continue;
			if (outcome->loops == 0)
				outcome->loops = outcome->runs[0].values->loops;
			outcome->out_of_time |= is_cut_short(
				o, outcome->benchmark, outcome->runs[outcome->n_runs - 1].values);
		}
	}
	return 0;
}

static void say_unsaved(const struct program *program, int error)
{
	fprintf(stderr, "%s: cannot save %s: %s\n", program->name, program->options.output,
		error == -ENODATA	    ? "there is no value"
			: error == -ENOTSUP ? "it is no regular file"
					    : strerror(-error));
}

static int finish(const struct program *program, const struct runner *runner,
	const struct outcome *outcomes, size_t n)
{
	const char *output = program->options.output;
	int result = EXIT_OK, r;

	show_progress(program, NULL, 0, 0);
	for (size_t i = 0; i < n; i++)
		if (outcomes[i].failed)
			result = EXIT_FAILED;
	/* First, because the reader of the report may have gone: SIGPIPE ends this process then. */
	if (output) {
		r = outcome_save(output, outcomes, n);
		if (r < 0) {
			say_unsaved(program, r);
			result = EXIT_FAILED;
		}
	}
	r = outcome_report(stdout, outcomes, n);
	if (r < 0) {
		say_error(program, "cannot report", r);
		result = EXIT_FAILED;
	}
	if (finish_output(program) != EXIT_OK)
		result = EXIT_FAILED;
	if (runner->signal) {
		fprintf(stderr, "%s: ended early by %s\n", program->name,
			strsignal(runner->signal));
		return 128 + runner->signal;
	}
	return result;
}

/* Tries bind_to_cpu() in advance, so that an error is printed once and not by each process. */
static int try_cpu(const struct program *program)
{
	cpu_set_t before;
	int r;

	/* cpu_set_t may be too small for the CPUs of the machine: then the processes print the
	 * error. */
	if (program->options.cpu < 0 || sched_getaffinity(0, sizeof(before), &before) < 0)
		return 0;
	r = bind_to_cpu(program);
	(void)sched_setaffinity(0, sizeof(before), &before);
	return r;
}

static int measure_in_processes(const struct program *program)
{
	const struct options *o = &program->options;
	struct outcome *outcomes;
	struct runner runner;
	size_t n = 0, i = 0;
	int r, result = EXIT_FAILED;

	if (try_cpu(program) < 0)
		return EXIT_FAILED;
	r = o->output ? outcome_try_save(o->output) : 0;
	if (r < 0) {
		say_unsaved(program, r);
		return EXIT_FAILED;
	}
	for (const struct qs_benchmark *b = program->benchmarks; b->name; b++)
		n += is_chosen(program, b->name) != 0;
	outcomes = calloc(n + 1, sizeof(*outcomes));
	if (!outcomes) {
		say_error(program, "cannot begin", -ENOMEM);
		return EXIT_FAILED;
	}
	for (const struct qs_benchmark *b = program->benchmarks; b->name; b++)
		if (is_chosen(program, b->name))
			outcomes[i++] = (struct outcome){ .benchmark = b, .loops = o->loops };
	r = runner_open(&runner);
	for (i = 0; r == 0 && i < n; i++) {
		outcomes[i].runs = calloc(o->processes + 1, sizeof(*outcomes[i].runs));
		if (!outcomes[i].runs)
			r = -ENOMEM;
	}
	if (r < 0) {
		say_error(program, "cannot begin", r);
	} else {
		r = run_processes(program, &runner, outcomes, n);
		if (r < 0 && r != -EINTR)
			say_error(program, "cannot go on", r);
		result = finish(program, &runner, outcomes, n);
		runner_close(&runner);
	}
	for (i = 0; i < n; i++) {
		for (size_t j = 0; j < outcomes[i].n_runs; j++)
			qs_values_free(outcomes[i].runs[j].values);
		free(outcomes[i].runs);
	}
	free(outcomes);
	return result;
}

/* In a process that qs_main() has started. */
static int measure_as_worker(struct program *program)
{
	program->values_fd = program->options.worker_fd;
	if (!values_fd_is_sealed(program->values_fd)) {
		fprintf(stderr, "%s: --worker is for processes that this program starts itself\n",
			program->name);
		return EXIT_FAILED;
	}
	/* Neither the benchmark nor programs that it runs get the descriptor. */
	if (fcntl(program->values_fd, F_SETFD, FD_CLOEXEC) < 0 ||
		unsetenv(VALUES_FD_VARIABLE) < 0) {
		say_error(program, "cannot keep the descriptor for values", -errno);
		return EXIT_FAILED;
	}
	return measure_here(program);
}

/* Opens /dev/null for each standard stream that the caller has closed, because a file that is
 * opened later would become that stream. Only for reading, so that what is written to it is known
 * to be lost. */
static void fill_standard_streams(void)
{
	int fd;

	do
		fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd >= 0)
		close(fd);
}

int qs_main_as(int stamps, int argc, char *argv[], const struct qs_benchmark *benchmarks)
{
	struct program program = {
		.name = argc > 0 ? argv[0] : "benchmark",
		.stamps = stamps,
		.benchmarks = benchmarks,
	};
	int r;

	fill_standard_streams();
	r = parse_options(&program, argc, argv);
	if (r < 0)
		return EXIT_USAGE;
	if (r > 0) {
		usage(stdout, program.name);
		return finish_output(&program);
	}
	if (check_names(&program) < 0)
		return EXIT_USAGE;
	if (program.options.list) {
		for (const struct qs_benchmark *b = benchmarks; b->name; b++)
			if (is_chosen(&program, b->name))
				puts(b->name);
		return finish_output(&program);
	}
	if (program.options.worker)
		return measure_as_worker(&program);
	program.values_fd = values_fd_find();
	if (program.values_fd == -ENOENT)
		return measure_in_processes(&program);
	if (program.values_fd < 0) {
		fprintf(stderr, "%s: %s is no descriptor for values\n", program.name,
			VALUES_FD_VARIABLE);
		return EXIT_FAILED;
	}
	if (program.options.output) {
		fprintf(stderr, "%s: under runpinned, the values are in its result: no -o here\n",
			program.name);
		return EXIT_USAGE;
	}
	return measure_here(&program);
}
