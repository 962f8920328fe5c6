// SPDX-License-Identifier: GPL-2.0-or-later
/* bench-report: shows, checks and compares what was measured. */
#include <errno.h>
#include <getopt.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "basic/macro.h"
#include "basic/parse.h"
#include "basic/say.h"
#include "bench-report/bench-report.h"
#include "config.h"

enum {
	BINS_MAX = 1000,
	COUNT_MAX = 1000 * 1000,
};

static const struct verb verbs[] = {
	{ "show", "bjm", "FILE...", "each in short: figures, histogram, what disturbed it", 1,
		verb_show },
	{ "stats", "bj", "FILE...", "all figures: counts, extremes, percentiles, outliers", 1,
		verb_stats },
	{ "hist", "bjB", "FILE...", "histograms; of several files on one scale", 1, verb_hist },
	{ "dump", "bj", "FILE...", "every value with its flags and its evidence", 1, verb_dump },
	{ "check", "bj", "FILE...", "is the result stable? Exit status 3 when it is not", 1,
		verb_check },
	{ "compare", "bjtMF", "OLD NEW...", "is NEW faster or slower, and how sure is that?", 1,
		verb_compare },
	{ "plot", "bjoS", "FILE...", "a picture: the samples in order, what was beside them", 1,
		verb_plot },
	{ "slowest", "bjn", "FILE...", "what took the longest to measure", 1, verb_slowest },
	{ "merge", "jo", "FILE...", "several files as one", 1, verb_merge },
};

static void usage(FILE *stream)
{
	fputs("Usage: bench-report VERB [OPTIONS] FILE...\n"
	      "Show, check and compare results: those of runpinned, and any of pyperf's, plain\n"
	      "or compressed by gzip. FILE is - for standard input.\n"
	      "\n",
		stream);
	for (size_t i = 0; i < ARRAY_SIZE(verbs); i++)
		print(stream, "  %-8s %-11s %s\n", verbs[i].name, verbs[i].arguments,
			verbs[i].help);
	fputs("\n"
	      "  -b, --benchmark NAME      of the benchmark NAME alone\n"
	      "      --json                as JSON, with all digits; of plot and merge -o: what\n"
	      "                            was written\n"
	      "      --metadata            show: what is known of the machine and the program\n"
	      "      --bins N              hist: N bins (default: by the number of values)\n"
	      "  -n, --count N             slowest: the first N\n"
	      "      --table               compare: a line per benchmark\n"
	      "      --markdown            compare: the same as a table in Markdown\n"
	      "      --fail-slower PCT     compare: exit status 3 when a benchmark is slower by\n"
	      "                            more than PCT per cent, interval and all\n"
	      "  -o, --output FILE         merge, plot: write to FILE; a picture is .svg, .png,\n"
	      "                            or an .html page\n"
	      "      --size WIDTHxHEIGHT   plot: in points (default 1000x600; a PNG has two\n"
	      "                            pixels a point)\n"
	      "  -h, --help                this text\n"
	      "  -V, --version             the version\n"
	      "\n"
	      "Exit status: 0 done, 1 failed, 2 wrong use, 3 a finding of check or\n"
	      "--fail-slower.\n"
	      "See bench-report(1).\n",
		stream);
}

static int refuse_number(const char *option, const char *value, const char *wanted)
{
	say("%s: '%s' is not %s", option, value, wanted);
	return -EINVAL;
}

static int parse_value(int letter, const char *value, struct request *request)
{
	switch (letter) {
	case 'b':
		request->benchmark = value;
		return 0;
	case 'j':
		request->json = true;
		return 0;
	case 'm':
		request->metadata = true;
		return 0;
	case 'B':
		if (parse_uint(value, 1, BINS_MAX, &request->bins) < 0)
			return refuse_number("--bins", value, "a number from 1 to 1000");
		return 0;
	case 'n':
		if (parse_uint(value, 1, COUNT_MAX, &request->count) < 0)
			return refuse_number("--count", value, "a number from 1 to 1000000");
		return 0;
	case 't':
		request->table = true;
		return 0;
	case 'M':
		request->markdown = true;
		return 0;
	case 'F':
		if (parse_double(value, 0, 1e6, &request->fail_slower) < 0)
			return refuse_number("--fail-slower", value, "a number of per cent");
		return 0;
	case 'o':
		request->output = value;
		return 0;
	case 'S':
		request->size = value;
		return 0;
	default:
		return -EINVAL;
	}
}

static const struct option options[] = {
	{ "benchmark", required_argument, NULL, 'b' },
	{ "json", no_argument, NULL, 'j' },
	{ "metadata", no_argument, NULL, 'm' },
	{ "bins", required_argument, NULL, 'B' },
	{ "count", required_argument, NULL, 'n' },
	{ "table", no_argument, NULL, 't' },
	{ "markdown", no_argument, NULL, 'M' },
	{ "fail-slower", required_argument, NULL, 'F' },
	{ "output", required_argument, NULL, 'o' },
	{ "size", required_argument, NULL, 'S' },
	{ "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, 'V' },
	{ 0 },
};

static const char *option_name(int letter)
{
	for (size_t i = 0; options[i].name; i++)
		if (options[i].val == letter)
			return options[i].name;
	return "?";
}

static const struct verb *find_verb(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(verbs); i++)
		if (strcmp(verbs[i].name, name) == 0)
			return &verbs[i];
	return NULL;
}

/* 1 to go on, 0 when all is done, negative for wrong use, which is said. The verb may stand
 * anywhere before the first file, so that "bench-report --json stats FILE" is no riddle. */
static int parse_command_line(int argc, char **argv, struct request *request)
{
	char given[ARRAY_SIZE(options) + 1] = "";
	size_t n_given = 0;
	int letter;

	opterr = 0;
	while ((letter = getopt_long(argc, argv, ":b:n:o:hV", options, NULL)) >= 0) {
		if (letter == ':' || letter == '?') {
			say_option(letter, argv, options);
			return -EINVAL;
		}
		if (letter == 'h') {
			usage(stdout);
			return 0;
		}
		if (letter == 'V') {
			print(stdout, "bench-report %s\n", QUIESCE_VERSION);
			return 0;
		}
		if (parse_value(letter, optarg, request) < 0)
			return -EINVAL;
		if (!strchr(given, letter))
			given[n_given++] = (char)letter;
	}
	if (optind == argc) {
		say("a verb is missing: show, stats, hist, dump, check, compare, plot, slowest or merge");
		return -EINVAL;
	}
	request->verb = find_verb(argv[optind]);
	if (!request->verb) {
		say("'%s' is no verb: see bench-report --help", argv[optind]);
		return -EINVAL;
	}
	for (size_t i = 0; i < n_given; i++) {
		if (!strchr(request->verb->options, given[i])) {
			say("%s does not take --%s", request->verb->name, option_name(given[i]));
			return -EINVAL;
		}
	}
	request->files = argv + optind + 1;
	request->n_files = (size_t)(argc - optind - 1);
	for (size_t i = 0, n_stdin = 0; i < request->n_files; i++) {
		n_stdin += strcmp(request->files[i], "-") == 0;
		if (n_stdin > 1) {
			say("standard input can be read only once");
			return -EINVAL;
		}
	}
	if (request->json + request->table + request->markdown > 1) {
		say("--json, --table and --markdown are three forms of one thing: give one of them");
		return -EINVAL;
	}
	if (request->n_files < request->verb->min_files) {
		say("no file is named: bench-report %s [OPTIONS] %s", request->verb->name,
			request->verb->arguments);
		return -EINVAL;
	}
	return 1;
}

int main(int argc, char **argv)
{
	struct request request = { .fail_slower = NAN };
	int r;

	setlocale(LC_CTYPE, "");
	r = parse_command_line(argc, argv, &request);
	if (r < 0)
		return EXIT_USAGE;
	if (r == 0)
		return request_conclude(&request, 0);
	return request.verb->run(&request);
}
