// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * isol-check: shows what would disturb a benchmark on this machine, in which files that is seen,
 * and what helps. It changes no setting of the machine (--measure uses a tracing instance of its
 * own).
 */
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>

#include "base/guess.h"
#include "base/macro.h"
#include "base/options.h"
#include "base/parse.h"
#include "base/say.h"
#include "base/survive.h"
#include "base/xalloc.h"
#include "look/isol-check/cmdline.h"
#include "look/isol-check/host.h"
#include "look/isol-check/pick.h"
#include "look/isol-check/probe.h"
#include "look/isol-check/report.h"
#include "look/isol-check/subjects.h"
#include "look/recording/record.h"
#include "look/recording/sysroot.h"

enum {
	WATCH_SECONDS_MAX = 3600, /* as --watch tells */
	MEASURE_SECONDS_MAX = 24 * 3600,
};

struct arguments {
	/* Does the work; says what is wrong, and returns the exit status. */
	int (*run)(const struct arguments *a);
	const char *run_option; /* the option that chose run(); NULL for the checks */
	struct host_options host;
	const char *explain;
	const char *record;
	double measure; /* seconds */
	const char *sysroot;
	unsigned pick;
	bool json;
	bool strict;
	bool verbose;
};

/* --- The functions that options choose. --- */

/* The exit status for an error that has been reported, except for errors of standard output, which
 * this function reports. */
static int get_failure_status(int r)
{
	if (r == -EIO || ferror(stdout))
		say_errno(r, "cannot write to standard output");
	return r == -EINVAL ? EXIT_USAGE : EXIT_FAILED;
}

static int run_checks(const struct arguments *a)
{
	_cleanup_(host) struct host *host = NULL;
	unsigned counts[VERDICT_N] = { 0 };
	int r;

	r = host_new(&a->host, &host);
	if (r == 0)
		r = report_run(host, a->json, a->verbose, counts);
	if (r < 0)
		return get_failure_status(r);
	if (counts[VERDICT_NOISE] > 0 || counts[VERDICT_RISK] > 0 ||
		(a->strict && counts[VERDICT_UNKNOWN] > 0))
		return EXIT_FINDING;
	return EXIT_DONE;
}

static int run_explain(const struct arguments *a)
{
	const struct check *check = check_find(a->explain);

	if (!check) {
		struct guess guess = { .word = a->explain };
		char meant[GUESS_TEXT_SIZE];

		for (const struct subject *s = check_subjects; s->name; s++)
			for (const struct check *c = s->checks; c->id; c++)
				guess_offer(&guess, c->id);
		say("--explain: there is no check '%s'%s; isol-check shows all", a->explain,
			guess_text(&guess, "", meant));
		return EXIT_USAGE;
	}
	xprint(stdout, "%s\n", check->explain);
	return print_conclude();
}

static int run_cmdline(const struct arguments *a)
{
	_cleanup_(host) struct host *host = NULL;
	int r;

	r = host_new(&a->host, &host);
	if (r == 0)
		r = cmdline_run(host, a->verbose);
	return r < 0 ? get_failure_status(r) : EXIT_DONE;
}

static int run_pick(const struct arguments *a)
{
	int r = pick_run(a->pick, a->host.recorded, a->verbose);

	return r < 0 ? get_failure_status(r) : EXIT_DONE;
}

static int run_measure(const struct arguments *a)
{
	_cleanup_(probe) struct probe *probe = NULL;
	_cleanup_(host) struct host *host = NULL;
	int r;

	r = host_new(&a->host, &host);
	if (r == 0)
		r = probe_read(host_cpus(host), host_topology(host),
			(int64_t)(a->measure * NSEC_PER_SEC), &probe);
	if (r == 0)
		r = probe_show(probe, a->json, a->verbose);
	if (r != 0)
		return get_failure_status(r);
	return probe->signal ? 128 + probe->signal : EXIT_DONE;
}

static int run_record(const struct arguments *a)
{
	return record_run(a->record, a->verbose);
}

/* --- Options. --- */

static int choose_run(
	struct arguments *a, int (*run)(const struct arguments *a), const char *option)
{
	if (a->run_option) {
		say("%s and %s exclude each other", a->run_option, option);
		return -EINVAL;
	}
	a->run = run;
	a->run_option = option;
	return 0;
}

static int take_watch(const char *value, void *into)
{
	double seconds;
	int r = parse_seconds(value, 0, WATCH_SECONDS_MAX, &seconds);

	if (r == 0)
		*(int64_t *)into = (int64_t)(seconds * NSEC_PER_SEC);
	return r;
}

static int take_explain(const char *value, void *into)
{
	struct arguments *a = into;

	a->explain = value;
	return choose_run(a, run_explain, "--explain");
}

static int take_cmdline(const char *value _unused_, void *into)
{
	return choose_run(into, run_cmdline, "--cmdline");
}

static int take_pick(const char *value, void *into)
{
	struct arguments *a = into;

	if (value && parse_uint(value, 1, CPUMASK_CAPACITY, &a->pick) < 0) {
		say("--pick: '%s' is not a number of CPUs", value);
		return -EINVAL;
	}
	return choose_run(a, run_pick, "--pick");
}

static int take_measure(const char *value, void *into)
{
	struct arguments *a = into;

	if (value && parse_seconds(value, 0.001, MEASURE_SECONDS_MAX, &a->measure) < 0) {
		say("--measure: '%s' is not a time of 1 ms to %d seconds", value,
			MEASURE_SECONDS_MAX);
		return -EINVAL;
	}
	/* The machine is not watched for rates, which would disturb the measurement. */
	a->host.watch_ns = 0;
	return choose_run(a, run_measure, "--measure");
}

static int take_record(const char *value, void *into)
{
	struct arguments *a = into;

	if (!*value) {
		say("--record: '' is not a file name");
		return -EINVAL;
	}
	a->record = value;
	return choose_run(a, run_record, "--record");
}

static void usage(const struct option_row *rows)
{
	fputs("Usage: isol-check [-c LIST] [OPTIONS]\n"
	      "       isol-check --explain ID | --cmdline [-c LIST] | --pick[=N]\n"
	      "       isol-check --measure[=SECONDS] [-c LIST] [--json]\n"
	      "       isol-check --record FILE.tar.gz\n"
	      "Show what would disturb a benchmark on these CPUs, and what to do about it.\n"
	      "Changes nothing, and needs no root.\n"
	      "\n",
		stdout);
	option_rows_print(rows, stdout);
	fputs("\n"
	      "Exit status: 0 all quiet, 3 not all quiet, 1 failed, 2 wrong use.\n"
	      "See isol-check(8).\n",
		stdout);
}

/* As option_rows_read(). */
static int read_options(int argc, char *argv[], struct arguments *a)
{
	const struct option_row rows[] = {
		{ 'c', "cpus", "LIST",
			"the CPUs that are to be quiet, as in 3 or 2-3,8\n"
			"(default: those of the running target, else the\n"
			"isolated ones, else the one that --pick picks)",
			option_text, &a->host.cpus },
		{ 0, "json", NULL, "print the findings as JSON", option_set, &a->json },
		{ 0, "strict", NULL, "count what could not be seen as a finding", option_set,
			&a->strict },
		{ 0, "watch", "SECONDS",
			"how long to watch for interrupts, stolen time and\n"
			"load (default 0.5; 0: not at all)",
			take_watch, &a->host.watch_ns, "a time of 0 to 3600 seconds" },
		{ 0, "explain", "ID", "explain a check, with its sources", take_explain, a,
			.once = true },
		{ 0, "cmdline", NULL,
			"print the kernel parameters that these CPUs still\n"
			"need",
			take_cmdline, a },
		{ 0, "pick", "[=N]",
			"print the N best CPUs (default: the isolated ones,\n"
			"else 1)",
			take_pick, a },
		{ 0, "measure", "[=SECONDS]",
			"read the clock on these CPUs without a pause, find\n"
			"gaps, and show their lengths and likely causes\n"
			"(default 5)",
			take_measure, a },
		{ 0, "record", "FILE",
			"record this machine for somebody else to examine;\n"
			"without serial numbers, addresses and names",
			take_record, a, .once = true },
		{ 0, "sysroot", "PATH",
			"examine a recorded machine: a .tar.gz or a\n"
			"directory",
			option_filled, &a->sysroot, "a file name", .once = true },
		{ 'v', "verbose", NULL, "all paths; with --pick and --cmdline the reasons",
			option_set, &a->verbose },
		{ 'h', "help", .help = "this text" },
		{ 'V', "version", .help = "the version" },
		{ 0 },
	};
	int r = option_rows_read("", rows, argc, argv);

	if (r == 'h')
		usage(rows);
	else if (r == 'V')
		xcheck(print_version("isol-check"));
	return r;
}

/* -EINVAL for options that cannot be combined; says so. */
static int check_arguments(const struct arguments *a)
{
	if ((a->run == run_pick || a->run == run_explain) && a->host.cpus) {
		say("%s takes no -c", a->run_option);
		return -EINVAL;
	}
	if (a->run == run_record && (a->sysroot || a->host.cpus)) {
		say("--record is about this machine, and takes no %s",
			a->sysroot ? "--sysroot" : "-c");
		return -EINVAL;
	}
	if (a->run == run_measure && a->sysroot) {
		say("--measure is about this machine, and takes no --sysroot");
		return -EINVAL;
	}
	if (a->run_option && ((a->json && a->run != run_measure) || a->strict)) {
		say("%s is for the checks, not for %s", a->strict ? "--strict" : "--json",
			a->run_option);
		return -EINVAL;
	}
	return 0;
}

/* 0 to go on, positive after --help or --version, -EINVAL after saying what is wrong. */
static int parse_arguments(int argc, char *argv[], struct arguments *ret)
{
	struct arguments a = {
		.run = run_checks,
		.host.watch_ns = NSEC_PER_SEC / 2,
		.measure = 5,
	};
	int r;

	r = read_options(argc, argv, &a);
	if (r != 0)
		return r;
	if (optind < argc) {
		say("'%s' is one word too many; see isol-check --help", argv[optind]);
		return -EINVAL;
	}
	r = check_arguments(&a);
	if (r < 0)
		return r;
	a.host.verbose = a.verbose;
	a.host.recorded = a.sysroot;
	*ret = a;
	return 0;
}

/* Shows the files of the recorded machine to this process from now on. Says what is wrong. */
static int enter_sysroot(const char *path)
{
	_cleanup_free_ char *missing = NULL, *removed = NULL, *why = NULL;
	int r;

	r = xcheck(sysroot_enter(path, &missing, &removed, &why));
	if (r < 0) {
		if (why)
			say("cannot show %s: %s", path, why);
		else
			say_errno(r, "cannot show %s", path);
		return r;
	}
	if (missing)
		say("warning: this kernel has no place to show %s of %s", missing, path);
	if (removed)
		say("warning: links of %s that lead out of it are left out: %s", path, removed);
	return 0;
}

int main(int argc, char *argv[])
{
	struct arguments arguments;
	int r;

	survive_signal(SIGXFSZ);
	r = parse_arguments(argc, argv, &arguments);
	if (r < 0)
		return EXIT_USAGE;
	if (r > 0)
		return print_conclude();
	if (arguments.sysroot && enter_sysroot(arguments.sysroot) < 0)
		return EXIT_FAILED;
	return arguments.run(&arguments);
}
