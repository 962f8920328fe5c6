// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "basic/macro.h"
#include "basic/parse.h"
#include "basic/say.h"
#include "basic/text.h"
#include "basic/words.h"
#include "config.h"
#include "runpinned/launch.h"
#include "runpinned/options.h"

enum {
	RUNS_DEFAULT = 25,
	RUNS_MAX = 100 * 1000 * 1000,
	MAX_RUNS_DEFAULT = 1000,
	FIFO_PRIORITY_DEFAULT = 50,
	COOLDOWN_DEGREES_DEFAULT = 3,
};

enum {
	OPT_APPEND = 256,
	OPT_JSON,
	OPT_CSV,
	OPT_NAME,
	OPT_TIMEOUT,
	OPT_NO_ASLR,
	OPT_ENV_PAD,
	OPT_CLEAR_ENV,
	OPT_NICE,
	OPT_FIFO,
	OPT_DROP_CACHES,
	OPT_COOLDOWN,
	OPT_SHOW_OUTPUT,
	OPT_IGNORE_FAILURE,
	OPT_UNTIL_REL_ERROR,
	OPT_MAX_RUNS,
	OPT_NO_WAIT,
	OPT_EVIDENCE,
	OPT_NO_SAVE,
	OPT_DRY_RUN,
	OPT_BASELINE,
	OPT_COMMAND,
	OPT_SEED,
	OPT_QUIESCE,
};

/* Which of several is the one that the others are compared with says its name best. */
static const char baseline_name[] = "baseline";

static void usage(FILE *stream)
{
	fputs("Usage: runpinned [OPTIONS] [--] PROGRAM [ARGUMENT...]\n"
	      "       runpinned [OPTIONS] --baseline 'PROGRAM [ARGUMENT...]' [--] PROGRAM...\n"
	      "Run PROGRAM again and again on a CPU of its own, time each run from outside, and\n"
	      "keep the evidence of what disturbed it.\n"
	      "\n"
	      "What is run:\n"
	      "  -c, --cpus LIST           on these CPUs, as in 3 or 2-3,8; auto (the default)\n"
	      "                            takes the isolated ones, else the best one\n"
	      "      --quiesce             make the machine quiet before, and put it back after\n"
	      "                            (root), see benchmark.target(7)\n"
	      "  -n, --runs N              this many runs (default 25)\n"
	      "  -w, --warmup N            this many before, recorded, not counted (default 1)\n"
	      "      --until-rel-error PCT go on until the 95 % interval of the median lies\n"
	      "                            within PCT per cent of it on either side\n"
	      "      --max-runs N          but stop after N runs (default 1000)\n"
	      "      --timeout SECONDS     kill a run, and all it started, that takes longer\n"
	      "      --ignore-failure      go on when the program fails\n"
	      "      --show-output         let the program write where runpinned writes\n"
	      "      --no-wait             fail if another runpinned has the CPU\n"
	      "\n"
	      "Several programs, in turn, in an order that is drawn anew for each round:\n"
	      "      --baseline COMMAND    this one, too, and compare PROGRAM with it\n"
	      "      --command NAME=COMMAND\n"
	      "                            this one, too; may be given again. All are compared\n"
	      "                            with the baseline, or else with the first one\n"
	      "      --seed N              draw the same orders as a run that recorded N\n"
	      "\n"
	      "What the program finds:\n"
	      "      --no-aslr             the same address layout in every run\n"
	      "      --env-pad HOW         more environment: random[:SEED], a number of\n"
	      "                            bytes, or none (the default)\n"
	      "      --clear-env           an environment of PATH alone\n"
	      "      --nice N              run with niceness N\n"
	      "      --fifo[=PRIORITY]     run with SCHED_FIFO (default 50)\n"
	      "      --drop-caches         drop the page cache before each run (root)\n"
	      "      --cooldown[=DEGREES]  before each run wait until the package is within\n"
	      "                            DEGREES (default 3) of where it began\n"
	      "\n"
	      "What is kept:\n"
	      "  -o, --output FILE         write the result, as pyperf JSON, to FILE\n"
	      "      --append              add to FILE instead of replacing it\n"
	      "      --json                write the result to standard output\n"
	      "      --csv FILE            write one line per run to FILE, and one per\n"
	      "                            value that the program measured itself\n"
	      "      --no-save             keep nothing unless -o, --json or --csv says so\n"
	      "      --name NAME           the benchmark's name (default: the program's)\n"
	      "  -e, --events EVENT,...    count these hardware or software events, too\n"
	      "      --evidence HOW        full (the default) or none\n"
	      "\n"
	      "  -q, --quiet               only warnings and errors\n"
	      "  -v, --verbose             say more; twice: a line per run\n"
	      "      --dry-run             say what would be done, and do nothing\n"
	      "  -h, --help                this text\n"
	      "  -V, --version             the version\n"
	      "\n"
	      "Exit status: 0 done, 1 failed (or the program did), 2 wrong use, 130 or 143\n"
	      "interrupted. See runpinned(1).\n",
		stream);
}

static int bad(const char *option, const char *value, const char *wanted)
{
	say("%s: '%s' is not %s", option, value, wanted);
	return -EINVAL;
}

static int parse_count(
	const char *option, const char *value, unsigned min, unsigned max, unsigned *ret)
{
	char wanted[64];

	if (parse_uint(value, min, max, ret) == 0)
		return 0;
	snprintf(wanted, sizeof(wanted), "a whole number from %u to %u", min, max);
	return bad(option, value, wanted);
}

static int parse_env_pad(const char *value, struct options *o)
{
	static const char wanted[] = "none, random, random:SEED or a number of bytes up to 65536";

	if (strcmp(value, "none") == 0) {
		o->env_pad = ENV_PAD_NONE;
		return 0;
	}
	if (strcmp(value, "random") == 0) {
		o->env_pad = ENV_PAD_RANDOM;
		return 0;
	}
	if (text_starts_with(value, "random:")) {
		if (parse_u64(value + strlen("random:"), 0, INT64_MAX, &o->env_pad_seed) < 0)
			return bad("--env-pad", value, wanted);
		o->env_pad = ENV_PAD_RANDOM;
		o->env_pad_seeded = true;
		return 0;
	}
	if (parse_uint(value, 0, LAUNCH_MAX_ENV_PAD, &o->env_pad_bytes) < 0)
		return bad("--env-pad", value, wanted);
	o->env_pad = ENV_PAD_FIXED;
	return 0;
}

static int add_command(struct options *o, struct option_command command)
{
	if (o->n_commands == OPTIONS_MAX_COMMANDS) {
		free(command.name_memory);
		free(command.words);
		say("more than %d programs: that is too many", OPTIONS_MAX_COMMANDS);
		return -EINVAL;
	}
	o->commands[o->n_commands++] = command;
	return 0;
}

/* The words of a command that was given as one text. */
static int split_command(const char *option, const char *text, char ***ret)
{
	const char *why;
	int r;

	r = words_split(text, ret, &why);
	if (r == -EINVAL)
		say("%s: '%s': %s", option, text, why);
	else if (r < 0)
		say_errno(r, "%s", option);
	if (r < 0)
		return r;
	if (**ret && ***ret)
		return 0;
	free(*ret);
	say("%s: '%s' names no program", option, text);
	return -EINVAL;
}

/* In front, whatever came before: it is what the others are compared with. */
static int parse_baseline(const char *value, struct options *o)
{
	struct option_command command = { .name = baseline_name };
	int r;

	if (o->n_commands > 0 && o->commands[0].name == baseline_name) {
		say("--baseline was given twice: there can be but one; use --command for more");
		return -EINVAL;
	}
	r = split_command("--baseline", value, &command.words);
	if (r < 0)
		return r;
	command.argv = command.words;
	r = add_command(o, command);
	if (r < 0)
		return r;
	memmove(&o->commands[1], &o->commands[0], (o->n_commands - 1) * sizeof(command));
	o->commands[0] = command;
	return 0;
}

static int parse_command(const char *value, struct options *o)
{
	const char *equals = strchr(value, '=');
	struct option_command command = { 0 };
	int r;

	if (!equals || equals == value)
		return bad("--command", value, "NAME=COMMAND");
	r = split_command("--command", equals + 1, &command.words);
	if (r < 0)
		return r;
	command.argv = command.words;
	command.name = command.name_memory = strndup(value, (size_t)(equals - value));
	if (!command.name) {
		free(command.words);
		return -ENOMEM;
	}
	return add_command(o, command);
}

static int parse_one(int option, const char *value, struct options *o)
{
	double seconds;
	unsigned number;

	switch (option) {
	case 'c':
		o->cpus = strcmp(value, "auto") == 0 ? NULL : value;
		return 0;
	case 'n':
		return parse_count("-n", value, 1, RUNS_MAX, &o->runs);
	case 'w':
		return parse_count("-w", value, 0, RUNS_MAX, &o->warmups);
	case 'o':
		o->output = value;
		return *value ? 0 : bad("-o", value, "a file name");
	case 'e':
		o->events = value;
		return *value ? 0 : bad("-e", value, "a list of events");
	case 'q':
		o->quiet = true;
		return 0;
	case 'v':
		o->verbose++;
		return 0;
	case OPT_APPEND:
		o->append = true;
		return 0;
	case OPT_JSON:
		o->json = true;
		return 0;
	case OPT_CSV:
		o->csv = value;
		return *value ? 0 : bad("--csv", value, "a file name");
	case OPT_NAME:
		o->name = value;
		return *value ? 0 : bad("--name", value, "a name");
	case OPT_TIMEOUT:
		if (parse_seconds(value, 0.001, 1e8, &seconds) < 0)
			return bad("--timeout", value,
				"a time such as 10, 1.5 or 2min (at least 1ms)");
		o->timeout_ns = (int64_t)(seconds * NSEC_PER_SEC);
		return 0;
	case OPT_NO_ASLR:
		o->no_aslr = true;
		return 0;
	case OPT_ENV_PAD:
		return parse_env_pad(value, o);
	case OPT_CLEAR_ENV:
		o->clear_env = true;
		return 0;
	case OPT_NICE:
		if (parse_int(value, -20, 19, &o->nice) < 0)
			return bad("--nice", value, "a whole number from -20 to 19");
		o->set_nice = true;
		return 0;
	case OPT_FIFO:
		o->fifo_priority = FIFO_PRIORITY_DEFAULT;
		if (!value)
			return 0;
		if (parse_count("--fifo", value, 1, 99, &number) < 0)
			return -EINVAL;
		o->fifo_priority = (int)number;
		return 0;
	case OPT_DROP_CACHES:
		o->drop_caches = true;
		return 0;
	case OPT_COOLDOWN:
		o->cooldown = COOLDOWN_DEGREES_DEFAULT;
		if (value && parse_double(value, 0, 100, &o->cooldown) < 0)
			return bad("--cooldown", value, "a number of degrees from 0 to 100");
		return 0;
	case OPT_SHOW_OUTPUT:
		o->show_output = true;
		return 0;
	case OPT_IGNORE_FAILURE:
		o->ignore_failure = true;
		return 0;
	case OPT_UNTIL_REL_ERROR:
		if (parse_double(value, 0.001, 100, &o->rel_error) < 0)
			return bad(
				"--until-rel-error", value, "a per cent figure from 0.001 to 100");
		return 0;
	case OPT_MAX_RUNS:
		return parse_count("--max-runs", value, 1, RUNS_MAX, &o->max_runs);
	case OPT_NO_WAIT:
		o->no_wait = true;
		return 0;
	case OPT_EVIDENCE:
		if (strcmp(value, "full") != 0 && strcmp(value, "none") != 0)
			return bad("--evidence", value, "full or none");
		o->no_evidence = strcmp(value, "none") == 0;
		return 0;
	case OPT_NO_SAVE:
		o->no_save = true;
		return 0;
	case OPT_QUIESCE:
		o->quiesce = true;
		return 0;
	case OPT_DRY_RUN:
		o->dry_run = true;
		return 0;
	case OPT_BASELINE:
		return parse_baseline(value, o);
	case OPT_COMMAND:
		return parse_command(value, o);
	case OPT_SEED:
		if (parse_u64(value, 0, INT64_MAX, &o->seed) < 0)
			return bad("--seed", value, "a whole number from 0 to 2^63 - 1");
		o->seeded = true;
		return 0;
	default:
		return -EINVAL;
	}
}

/* Options that make no sense together, each with the reason. */
static int check_combinations(struct options *o)
{
	if (o->append && !o->output) {
		say("--append needs -o FILE: the file to add to");
		return -EINVAL;
	}
	if (o->json && o->show_output) {
		say("--json and --show-output both want standard output: use -o FILE");
		return -EINVAL;
	}
	if (o->output && o->csv && strcmp(o->output, o->csv) == 0) {
		say("-o and --csv name the same file");
		return -EINVAL;
	}
	if (o->no_evidence && o->cooldown >= 0) {
		say("--cooldown looks at the temperature, which --evidence none leaves out");
		return -EINVAL;
	}
	if (o->set_nice && o->fifo_priority) {
		say("--nice and --fifo exclude each other: SCHED_FIFO knows no niceness");
		return -EINVAL;
	}
	if (o->max_runs && !o->rel_error) {
		say("--max-runs bounds --until-rel-error, which was not given: use -n for a number of "
		    "runs");
		return -EINVAL;
	}
	if (o->rel_error && !o->max_runs)
		o->max_runs = MAX(MAX_RUNS_DEFAULT, o->runs);
	if (o->rel_error && o->max_runs < o->runs) {
		say("--max-runs %u is less than -n %u", o->max_runs, o->runs);
		return -EINVAL;
	}
	return 0;
}

/* What stands behind the options is a program, too, and the last. */
static int take_program(char *argv[], struct options *o)
{
	const char *slash, *name;

	if (!argv[0]) {
		if (o->n_commands == 0) {
			say("no program to run; see runpinned --help");
			return -EINVAL;
		}
		if (o->commands[0].name == baseline_name && o->n_commands == 1) {
			say("--baseline needs a PROGRAM to compare with it; see runpinned --help");
			return -EINVAL;
		}
		if (o->name) {
			say("--name names the PROGRAM, and there is none: --command names its own");
			return -EINVAL;
		}
		return 0;
	}
	if (!*argv[0]) {
		say("the program's name is empty");
		return -EINVAL;
	}
	/* What its file is called. */
	slash = strrchr(argv[0], '/');
	name = slash && slash[1] ? slash + 1 : argv[0];
	return add_command(
		o, (struct option_command){ .name = o->name ? o->name : name, .argv = argv });
}

/* What needs all of them to be known. */
static int check_commands(const struct options *o)
{
	for (size_t i = 0; i < o->n_commands; i++) {
		for (size_t j = 0; j < i; j++) {
			if (strcmp(o->commands[i].name, o->commands[j].name) != 0)
				continue;
			say("two programs are called '%s': name one with --name or --command",
				o->commands[i].name);
			return -EINVAL;
		}
	}
	if (o->seeded && o->n_commands < 2) {
		say("--seed draws the order of several programs, and there is but one");
		return -EINVAL;
	}
	return 0;
}

static int parse_all(int argc, char *argv[], struct options *o)
{
	static const struct option table[] = {
		{ "cpus", required_argument, NULL, 'c' },
		{ "runs", required_argument, NULL, 'n' },
		{ "warmup", required_argument, NULL, 'w' },
		{ "output", required_argument, NULL, 'o' },
		{ "events", required_argument, NULL, 'e' },
		{ "append", no_argument, NULL, OPT_APPEND },
		{ "json", no_argument, NULL, OPT_JSON },
		{ "csv", required_argument, NULL, OPT_CSV },
		{ "name", required_argument, NULL, OPT_NAME },
		{ "timeout", required_argument, NULL, OPT_TIMEOUT },
		{ "no-aslr", no_argument, NULL, OPT_NO_ASLR },
		{ "env-pad", required_argument, NULL, OPT_ENV_PAD },
		{ "clear-env", no_argument, NULL, OPT_CLEAR_ENV },
		{ "nice", required_argument, NULL, OPT_NICE },
		{ "fifo", optional_argument, NULL, OPT_FIFO },
		{ "drop-caches", no_argument, NULL, OPT_DROP_CACHES },
		{ "cooldown", optional_argument, NULL, OPT_COOLDOWN },
		{ "show-output", no_argument, NULL, OPT_SHOW_OUTPUT },
		{ "ignore-failure", no_argument, NULL, OPT_IGNORE_FAILURE },
		{ "until-rel-error", required_argument, NULL, OPT_UNTIL_REL_ERROR },
		{ "max-runs", required_argument, NULL, OPT_MAX_RUNS },
		{ "no-wait", no_argument, NULL, OPT_NO_WAIT },
		{ "evidence", required_argument, NULL, OPT_EVIDENCE },
		{ "no-save", no_argument, NULL, OPT_NO_SAVE },
		{ "dry-run", no_argument, NULL, OPT_DRY_RUN },
		{ "quiesce", no_argument, NULL, OPT_QUIESCE },
		{ "baseline", required_argument, NULL, OPT_BASELINE },
		{ "command", required_argument, NULL, OPT_COMMAND },
		{ "seed", required_argument, NULL, OPT_SEED },
		{ "quiet", no_argument, NULL, 'q' },
		{ "verbose", no_argument, NULL, 'v' },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'V' },
		{ 0 },
	};
	int option, r;

	opterr = 0;
	while ((option = getopt_long(argc, argv, "+:c:n:w:o:e:qvhV", table, NULL)) >= 0) {
		switch (option) {
		case 'h':
			usage(stdout);
			return 1;
		case 'V':
			print(stdout, "runpinned (quiesce) %s\n", QUIESCE_VERSION);
			return 1;
		case ':':
		case '?':
			say_option(option, argv, table);
			return -EINVAL;
		default:
			r = parse_one(option, optarg, o);
			if (r < 0)
				return r;
		}
	}
	r = check_combinations(o);
	if (r < 0)
		return r;
	r = take_program(argv + optind, o);
	if (r < 0)
		return r;
	return check_commands(o);
}

int options_parse(int argc, char *argv[], struct options *ret)
{
	struct options o = {
		.runs = RUNS_DEFAULT,
		.warmups = 1,
		.cooldown = -1,
	};
	int r;

	r = parse_all(argc, argv, &o);
	if (r != 0)
		options_clear(&o);
	else
		*ret = o;
	return r;
}

void options_clear(struct options *options)
{
	for (size_t i = 0; i < options->n_commands; i++) {
		free(options->commands[i].name_memory);
		free(options->commands[i].words);
	}
	options->n_commands = 0;
}
