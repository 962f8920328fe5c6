// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * benchmark-target: all that the units of benchmark.target do beside running the setters. It is run
 * by these units and by runpinned --quiesce, not by people.
 */
#include <getopt.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/macro.h"
#include "base/say.h"
#include "base/survive.h"
#include "base/tell.h"
#include "quiet/benchmark-target/verbs.h"

static void usage(void)
{
	fputs("Usage: benchmark-target [OPTIONS] VERB\n"
	      "\n"
	      "  prepare                   read benchmark.conf, choose CPUs, write them down\n"
	      "  release                   forget them\n"
	      "  wants KEY                 whether KEY (SMT, FREQ, ...) is to be turned\n"
	      "  note-tuners               write down which other tuners are running\n"
	      "  return-tuners             start those again\n"
	      "  begun                     whether the start is done\n"
	      "  restore KEY               what its setter has left, unless KEY=leave\n"
	      "  evict                     end what still runs on the quiet CPUs\n"
	      "  start, stop UNIT          a unit of the target's; start-alone and stop-alone\n"
	      "                            leave out what it needs\n"
	      "  check, recheck            the verdict, at the start and later\n"
	      "  parts                     what each setter has done, a line each\n"
	      "  tell                      add the verdict to the journal of the target\n"
	      "  hold                      be quiet until standard input, a socket, is closed\n"
	      "  make-quiet                be quiet until put-back\n"
	      "  put-back                  stop the target and restore all setters: to remove\n"
	      "                            or upgrade quiesce\n"
	      "  -c, --cpus LIST           hold, make-quiet: these CPUs, not those of the\n"
	      "                            configuration\n"
	      "  -h, --help                this text\n"
	      "  -V, --version             the version\n"
	      "\n"
	      "For the units of benchmark.target(7) and for runpinned --quiesce. People use\n"
	      "`systemctl start benchmark.target`.\n",
		stdout);
}

struct job_verb {
	const char *name;
	enum systemd_job job;
	bool alone;
};

static const struct job_verb *find_job_verb(const char *name)
{
	static const struct job_verb verbs[] = {
		{ "start", SYSTEMD_START, false },
		{ "start-alone", SYSTEMD_START, true },
		{ "stop", SYSTEMD_STOP, false },
		{ "stop-alone", SYSTEMD_STOP, true },
	};

	for (size_t i = 0; i < ARRAY_SIZE(verbs); i++)
		if (strcmp(name, verbs[i].name) == 0)
			return &verbs[i];
	return NULL;
}

/* Says what is wrong with the words behind the options. */
static int refuse_use(int argc, const char *verb, bool takes_word, const char *cpus)
{
	const char *see = "see benchmark-target --help";

	if (argc == 0)
		say("a verb is missing; %s", see);
	else if (takes_word && argc == 1)
		say("%s needs a word; %s", verb, see);
	else if (argc > 1)
		say("too many words; %s", see);
	else if (cpus)
		say("-c is for hold and make-quiet, not for '%s'; %s", verb, see);
	else
		say("'%s' is no verb; %s", verb, see);
	return EXIT_USAGE;
}

static int run(int argc, char *argv[], const char *cpus)
{
	const char *verb = argc > 0 ? argv[0] : "";
	bool holds = strcmp(verb, "hold") == 0, wants = strcmp(verb, "wants") == 0;
	bool restores = strcmp(verb, "restore") == 0;
	bool makes_quiet = strcmp(verb, "make-quiet") == 0;
	const struct job_verb *job = find_job_verb(verb);
	bool takes_word = wants || restores || job;

	if (argc != (takes_word ? 2 : 1) || (cpus && !holds && !makes_quiet))
		return refuse_use(argc, verb, takes_word, cpus);
	if (wants)
		return verb_wants(argv[1]);
	if (strcmp(verb, "parts") == 0)
		return verb_parts();
	if (geteuid() != 0) {
		say("this needs root");
		return EXIT_FAILED;
	}
	if (restores)
		return verb_restore(argv[1]);
	if (job)
		return verb_do_job(job->job, argv[1], job->alone);
	if (holds)
		return verb_hold(cpus);
	if (makes_quiet)
		return verb_make_quiet(cpus);
	if (strcmp(verb, "put-back") == 0)
		return verb_put_back();
	if (strcmp(verb, "prepare") == 0)
		return verb_prepare(NULL);
	if (strcmp(verb, "release") == 0)
		return verb_release();
	if (strcmp(verb, "note-tuners") == 0)
		return verb_note_tuners();
	if (strcmp(verb, "return-tuners") == 0)
		return verb_return_tuners();
	if (strcmp(verb, "begun") == 0)
		return verb_begun();
	if (strcmp(verb, "evict") == 0)
		return verb_evict();
	if (strcmp(verb, "check") == 0)
		return verb_check();
	if (strcmp(verb, "recheck") == 0)
		return verb_recheck();
	if (strcmp(verb, "tell") == 0)
		return verb_tell();
	return refuse_use(argc, verb, false, NULL);
}

int main(int argc, char *argv[])
{
	static const struct option options[] = {
		{ "cpus", required_argument, NULL, 'c' },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'V' },
		{ 0 },
	};
	const char *cpus = NULL;
	int option, status;

	survive_closed_streams();
	survive_signal(SIGXFSZ);
	opterr = 0;
	while ((option = getopt_long(argc, argv, ":c:hV", options, NULL)) >= 0) {
		switch (option) {
		case 'c':
			cpus = optarg;
			break;
		case 'h':
			usage();
			return print_conclude();
		case 'V':
			print_version("benchmark-target");
			return print_conclude();
		default:
			say_option(option, argv, options);
			return EXIT_USAGE;
		}
	}
	status = run(argc - optind, argv + optind, cpus);
	tell_status(say_last());
	return status;
}
