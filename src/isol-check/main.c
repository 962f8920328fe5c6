// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * isol-check: what would disturb a benchmark on this machine, by what it is seen, and what helps.
 * It reads, and changes nothing.
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>

#include "basic/parse.h"
#include "basic/say.h"
#include "config.h"
#include "isol-check/cmdline.h"
#include "isol-check/host.h"
#include "isol-check/measure.h"
#include "isol-check/pick.h"
#include "isol-check/report.h"
#include "isol-check/subjects.h"
#include "recording/record.h"
#include "recording/sysroot.h"

enum {
	OPT_JSON = 256,
	OPT_STRICT,
	OPT_EXPLAIN,
	OPT_CMDLINE,
	OPT_PICK,
	OPT_WATCH,
	OPT_MEASURE,
	OPT_RECORD,
	OPT_SYSROOT,
};

enum {
	WATCH_SECONDS_MAX = 3600,
	MEASURE_SECONDS_MAX = 24 * 3600,
};

struct arguments {
	/* What is done; says what is wrong, and returns the exit status. */
	int (*run)(const struct arguments *a);
	const char *run_option; /* that chose it; NULL for the checks */
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

static void usage(FILE *stream)
{
	fputs("Usage: isol-check [-c LIST] [OPTIONS]\n"
	      "       isol-check --explain ID | --cmdline [-c LIST] | --pick[=N]\n"
	      "       isol-check --measure[=SECONDS] [-c LIST] [--json]\n"
	      "       isol-check --record FILE.tar.gz\n"
	      "Show what would disturb a benchmark on these CPUs, and what to do about it.\n"
	      "Changes nothing, and needs no root.\n"
	      "\n"
	      "  -c, --cpus LIST           the CPUs that are to be quiet, as in 3 or 2-3,8\n"
	      "                            (default: those of the running target, else the\n"
	      "                            isolated ones, else the one that --pick picks)\n"
	      "      --json                print the findings as JSON\n"
	      "      --strict              what could not be seen is a finding, too\n"
	      "      --watch SECONDS       how long to watch for interrupts, stolen time and\n"
	      "                            load (default 0.5; 0: not at all)\n"
	      "      --explain ID          what is behind a check, and where that is known from\n"
	      "      --cmdline             print the kernel parameters that these CPUs still\n"
	      "                            need\n"
	      "      --pick[=N]            print the N best CPUs (default: the isolated ones,\n"
	      "                            else 1)\n"
	      "      --measure[=SECONDS]   read the clock on these CPUs without a pause, find\n"
	      "                            gaps, and show how long they are and who it was\n"
	      "                            (default 5)\n"
	      "      --record FILE         write down this machine, for somebody to look at;\n"
	      "                            without serial numbers, addresses and names\n"
	      "      --sysroot PATH        look at a machine that was recorded so: a .tar.gz\n"
	      "                            or a directory\n"
	      "  -v, --verbose             all paths; with --pick and --cmdline the reasons\n"
	      "  -h, --help                this text\n"
	      "  -V, --version             the version\n"
	      "\n"
	      "Exit status: 0 all quiet, 3 something is not, 1 could not look, 2 wrong use.\n"
	      "See isol-check(8).\n",
		stream);
}

/* --- What is done. --- */

static int failed(int r)
{
	if (r == -ENOMEM)
		say_errno(r, "cannot go on");
	else if (r == -EIO)
		say_errno(r, "cannot write the output");
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
		return failed(r);
	if (counts[VERDICT_NOISE] > 0 || counts[VERDICT_RISK] > 0 ||
		(a->strict && counts[VERDICT_UNKNOWN] > 0))
		return EXIT_FINDING;
	return EXIT_DONE;
}

static int run_explain(const struct arguments *a)
{
	const struct check *check = check_find(a->explain);

	if (!check) {
		say("--explain: there is no check '%s'; isol-check shows all", a->explain);
		return EXIT_USAGE;
	}
	if (print(stdout, "%s\n", check->explain) < 0 || fflush(stdout) != 0)
		return failed(-EIO);
	return EXIT_DONE;
}

static int run_cmdline(const struct arguments *a)
{
	_cleanup_(host) struct host *host = NULL;
	int r;

	r = host_new(&a->host, &host);
	if (r == 0)
		r = cmdline_run(host, a->verbose);
	return r < 0 ? failed(r) : EXIT_DONE;
}

static int run_pick(const struct arguments *a)
{
	int r = pick_run(a->pick, a->host.recorded, a->verbose);

	return r < 0 ? failed(r) : EXIT_DONE;
}

static int run_measure(const struct arguments *a)
{
	_cleanup_(measurement) struct measurement *measurement = NULL;
	_cleanup_(host) struct host *host = NULL;
	int r;

	r = host_new(&a->host, &host);
	if (r == 0)
		r = measure_read(host_cpus(host), host_topology(host),
			(int64_t)(a->measure * NSEC_PER_SEC), &measurement);
	if (r == 0)
		r = measure_show(measurement, a->json, a->verbose);
	if (r < 0)
		return failed(r);
	return measurement->signal ? 128 + measurement->signal : EXIT_DONE;
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

static int parse_watch(const char *text, int64_t *ret)
{
	double seconds;

	if (parse_seconds(text, 0, WATCH_SECONDS_MAX, &seconds) < 0) {
		say("--watch: '%s' is not a time of 0 to %d seconds", text, WATCH_SECONDS_MAX);
		return -EINVAL;
	}
	*ret = (int64_t)(seconds * NSEC_PER_SEC);
	return 0;
}

static int parse_measure(struct arguments *a, const char *text)
{
	if (text && parse_seconds(text, 0.001, MEASURE_SECONDS_MAX, &a->measure) < 0) {
		say("--measure: '%s' is not a time of 1 ms to %d seconds", text,
			MEASURE_SECONDS_MAX);
		return -EINVAL;
	}
	/* Nothing of the machine is to be watched beside. */
	a->host.watch_ns = 0;
	return choose_run(a, run_measure, "--measure");
}

static int parse_pick(struct arguments *a, const char *text)
{
	if (text && parse_uint(text, 1, CPUMASK_CAPACITY, &a->pick) < 0) {
		say("--pick: '%s' is not a number of CPUs", text);
		return -EINVAL;
	}
	return choose_run(a, run_pick, "--pick");
}

static int parse_option(int option, struct arguments *a)
{
	switch (option) {
	case 'c':
		a->host.cpus = optarg;
		return 0;
	case OPT_JSON:
		a->json = true;
		return 0;
	case OPT_STRICT:
		a->strict = true;
		return 0;
	case OPT_WATCH:
		return parse_watch(optarg, &a->host.watch_ns);
	case OPT_EXPLAIN:
		a->explain = optarg;
		return choose_run(a, run_explain, "--explain");
	case OPT_CMDLINE:
		return choose_run(a, run_cmdline, "--cmdline");
	case OPT_PICK:
		return parse_pick(a, optarg);
	case OPT_MEASURE:
		return parse_measure(a, optarg);
	case OPT_RECORD:
		a->record = optarg;
		return choose_run(a, run_record, "--record");
	case OPT_SYSROOT:
		a->sysroot = optarg;
		a->host.recorded = true;
		return 0;
	case 'v':
		a->verbose = true;
		return 0;
	default:
		return -EINVAL;
	}
}

/* What does not go together. */
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

/* 0 to go on, 1 when all is done, -EINVAL after saying what is wrong. */
static int parse_arguments(int argc, char *argv[], struct arguments *ret)
{
	static const struct option table[] = {
		{ "cpus", required_argument, NULL, 'c' },
		{ "json", no_argument, NULL, OPT_JSON },
		{ "strict", no_argument, NULL, OPT_STRICT },
		{ "watch", required_argument, NULL, OPT_WATCH },
		{ "explain", required_argument, NULL, OPT_EXPLAIN },
		{ "cmdline", no_argument, NULL, OPT_CMDLINE },
		{ "pick", optional_argument, NULL, OPT_PICK },
		{ "measure", optional_argument, NULL, OPT_MEASURE },
		{ "record", required_argument, NULL, OPT_RECORD },
		{ "sysroot", required_argument, NULL, OPT_SYSROOT },
		{ "verbose", no_argument, NULL, 'v' },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'V' },
		{ 0 },
	};
	struct arguments a = {
		.run = run_checks,
		.host.watch_ns = NSEC_PER_SEC / 2,
		.measure = 5,
	};
	int option, r;

	opterr = 0;
	while ((option = getopt_long(argc, argv, ":c:vhV", table, NULL)) >= 0) {
		switch (option) {
		case 'h':
			usage(stdout);
			return 1;
		case 'V':
			print(stdout, "isol-check (quiesce) %s\n", QUIESCE_VERSION);
			return 1;
		case ':':
		case '?':
			say_option(option, argv, table);
			return -EINVAL;
		default:
			r = parse_option(option, &a);
			if (r < 0)
				return r;
		}
	}
	if (optind < argc) {
		say("'%s' is one word too many; see isol-check --help", argv[optind]);
		return -EINVAL;
	}
	r = check_arguments(&a);
	if (r < 0)
		return r;
	a.host.verbose = a.verbose;
	*ret = a;
	return 0;
}

/* From here on the files are the recorded machine's. Says what is wrong. */
static int enter_sysroot(const char *path)
{
	_cleanup_free_ char *missing = NULL, *why = NULL;
	int r;

	r = sysroot_enter(path, &missing, &why);
	if (r < 0) {
		if (why)
			say("cannot show %s: %s", path, why);
		else
			say_errno(r, "cannot show %s", path);
		return r;
	}
	if (missing)
		say("warning: this kernel has no place to show %s of %s", missing, path);
	return 0;
}

int main(int argc, char *argv[])
{
	struct arguments arguments;
	int r;

	r = parse_arguments(argc, argv, &arguments);
	if (r != 0)
		return r < 0 ? EXIT_USAGE : EXIT_DONE;
	if (arguments.sysroot && enter_sysroot(arguments.sysroot) < 0)
		return EXIT_FAILED;
	return arguments.run(&arguments);
}
