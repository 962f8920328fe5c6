// SPDX-License-Identifier: GPL-2.0-or-later
/* bench-report: shows, checks and compares what was measured. */
#include <errno.h>
#include <getopt.h>
#include <locale.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/guess.h"
#include "base/macro.h"
#include "base/options.h"
#include "base/parse.h"
#include "base/say.h"
#include "base/survive.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "judge/bench-report/bench-report.h"
#include "judge/bench-report/files.h"
#include "judge/harness/harness.h"
#include "judge/result/metric.h"

enum {
	BINS_MAX = 1000,
	COUNT_MAX = 1000 * 1000,
};

enum {
	/* What all verbs take that show the values of benchmarks. */
	TAKES_VALUES = TAKES_BENCHMARK | TAKES_METRIC | TAKES_UNIT | TAKES_JSON,
};

static const struct verb verbs[] = {
	{ "show",
		TAKES_VALUES | TAKES_SORT | TAKES_METADATA | TAKES_MARKDOWN | TAKES_SERVICE |
			TAKES_VERBOSE | SAYS_LEVEL,
		"FILE...", "what runpinned printed: in short, or the verdict", verb_show },
	{ "stats", TAKES_VALUES | TAKES_SORT | TAKES_MARKDOWN | TAKES_SERVICE, "FILE...",
		"all figures: counts, extremes, percentiles, outliers", verb_stats },
	{ "hist", TAKES_VALUES | TAKES_BINS, "FILE...", "histograms; of several files on one scale",
		verb_hist },
	{ "dump", TAKES_BENCHMARK | TAKES_UNIT | TAKES_JSON, "FILE...",
		"every value with its flags and its evidence", verb_dump },
	{ "check", TAKES_VALUES | TAKES_JUNIT | SAYS_LEVEL, "FILE...",
		"is the result stable? Exit status 3 when it is not", verb_check },
	{ "compare",
		TAKES_VALUES | TAKES_SORT | TAKES_TABLE | TAKES_MARKDOWN | TAKES_JUNIT |
			TAKES_FAIL_SLOWER | TAKES_RESULTS | TAKES_VERBOSE | SAYS_LEVEL,
		"OLD NEW...", "is NEW faster or slower, and how sure is that?", verb_compare,
		"--fail-worse found one, or --fail-unclear one that is unclear" },
	{ "plot", TAKES_VALUES | TAKES_OUTPUT | TAKES_SIZE, "-o FILE FILE|FOLDER...",
		"a picture of a comparison, history, or runs", verb_plot },
	{ "slowest", TAKES_BENCHMARK | TAKES_JSON | TAKES_COUNT, "FILE...",
		"what took the longest to measure", verb_slowest },
	{ "trend", TAKES_VALUES | TAKES_FAIL_WORSE, "FILE|FOLDER...",
		"over time or commits: where did the level change?", verb_trend,
		"--fail-worse found a change" },
	{ "fleet", TAKES_BENCHMARK | TAKES_METRIC | TAKES_JSON | TAKES_COUNT, "FILE|FOLDER...",
		"machines: which one differs from the others?", verb_fleet, "a machine differs" },
	{ "why", TAKES_BENCHMARK | TAKES_METRIC | TAKES_JSON, "FILE...",
		"what moves it, of all that --vary has drawn?", verb_why },
	{ "merge", TAKES_JSON | TAKES_OUTPUT, "FILE|FOLDER...", "several files as one",
		verb_merge },
};

static const struct {
	const char *name;
	enum form form;
	enum verb_option option;
} formats[] = {
	{ "github-action-benchmark", FORM_GITHUB, TAKES_SERVICE },
	{ SMALLER_TOOL, FORM_SMALLER, TAKES_SERVICE },
	{ BIGGER_TOOL, FORM_BIGGER, TAKES_SERVICE },
	{ "bencher", FORM_BENCHER, TAKES_SERVICE },
	{ "benchfmt", FORM_BENCHFMT, TAKES_SERVICE },
	{ "junit", FORM_JUNIT, TAKES_JUNIT },
};

/* Which verbs take an option; the others are for all of them. */
static bool is_taken_by(const struct verb *verb, const char *name)
{
	static const struct {
		const char *name;
		unsigned options;
	} takers[] = {
		{ "benchmark", TAKES_BENCHMARK },
		{ "metric", TAKES_METRIC },
		{ "from-level", TAKES_METRIC },
		{ "unit", TAKES_UNIT },
		{ "sort", TAKES_SORT },
		{ "json", TAKES_JSON },
		{ "metadata", TAKES_METADATA },
		{ "bins", TAKES_BINS },
		{ "count", TAKES_COUNT },
		{ "table", TAKES_TABLE },
		{ "markdown", TAKES_MARKDOWN },
		{ "csv", TAKES_MARKDOWN },
		{ "format", TAKES_SERVICE | TAKES_JUNIT },
		{ "fail-slower", TAKES_FAIL_SLOWER },
		{ "fail-unclear", TAKES_FAIL_SLOWER },
		{ "old", TAKES_RESULTS },
		{ "new", TAKES_RESULTS },
		{ "repeats", TAKES_RESULTS },
		{ "rename", TAKES_RESULTS },
		{ "fail-worse", TAKES_FAIL_WORSE | TAKES_FAIL_SLOWER },
		{ "since", TAKES_FAIL_WORSE },
		{ "earlier", TAKES_FAIL_WORSE },
		{ "output", TAKES_OUTPUT },
		{ "size", TAKES_SIZE },
		{ "by", TAKES_SIZE },
		{ "margin", TAKES_SIZE },
		{ "verbose", TAKES_VERBOSE },
	};

	for (size_t i = 0; i < ARRAY_SIZE(takers); i++)
		if (strcmp(takers[i].name, name) == 0)
			return verb->options & takers[i].options;
	return true;
}

static const struct verb *find_verb(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(verbs); i++)
		if (strcmp(verbs[i].name, name) == 0)
			return &verbs[i];
	return NULL;
}

static void say_no_verb(const char *word)
{
	struct guess guess = { .word = word };
	char meant[GUESS_TEXT_SIZE];

	for (size_t i = 0; i < ARRAY_SIZE(verbs); i++)
		guess_offer(&guess, verbs[i].name);
	if (access(word, F_OK) == 0)
		say("a verb is missing before '%s': bench-report show %s", word, word);
	else
		say("'%s' is no verb%s; see bench-report --help", word,
			guess_text(&guess, "", meant));
}

static void usage(const struct option_row *rows)
{
	static char buffer[16 * 1024];

	/* Written at once, at the end: only then is it known why that fails (request_conclude()).
	 */
	setvbuf(stdout, buffer, _IOFBF, sizeof(buffer));
	fputs("Usage: bench-report VERB [OPTIONS] FILE...\n"
	      "Show, check and compare results: those of runpinned, pyperf, hyperfine,\n"
	      "google-benchmark, go test, criterion, JMH, pytest-benchmark and others, plain\n"
	      "or compressed by gzip. FILE is - for standard input.\n"
	      "\n",
		stdout);
	for (size_t i = 0; i < ARRAY_SIZE(verbs); i++)
		xprint(stdout, "  %-8s %-15s %s\n", verbs[i].name, verbs[i].arguments,
			verbs[i].help);
	fputs("\n", stdout);
	option_rows_print(rows, stdout);
	fputs("\n"
	      "Exit status: 0 done, 1 failed, 2 wrong use, 3 a finding of check or fleet,\n"
	      "--fail-worse (--fail-slower) or --fail-unclear.\n"
	      "bench-report VERB --help is the verb's own. See bench-report(1).\n",
		stdout);
}

/* The help without the names of verbs in front ("compare, show: ") where this verb is among
 * them. */
static const char *strip_verbs(const char *help, const struct verb *verb)
{
	size_t length = strcspn(help, ":");
	_cleanup_free_ char *front = strndup(help, length);

	if (help[length] != ':' || !front || strspn(front, "abcdefghijklmnopqrstuvwxyz, ") < length)
		return help;
	return text_has_word(front, verb->name, ", ") ? help + length + 2 : help;
}

/* The help of an option that differs between verbs, for this verb; else NULL. */
static const char *find_own_help(const char *option, const struct verb *verb)
{
	if (strcmp(option, "format") == 0)
		return verb->options & TAKES_JUNIT
			? "junit, for continuous integration"
			: "github-action-benchmark or bencher, for services\n"
			  "that keep a history; customSmallerIsBetter or\n"
			  "customBiggerIsBetter, of all figures those that the\n"
			  "first one takes so; benchfmt, for benchstat";
	if (strcmp(option, "sort") == 0)
		return verb->options & TAKES_FAIL_SLOWER ? "by name, value or change"
							 : "by name or value";
	if (strcmp(option, "fail-worse") == 0)
		return verb->options & TAKES_FAIL_SLOWER
			? "exit status 3 when a benchmark is slower, or a\n"
			  "figure worse, by more than PCT per cent, interval\n"
			  "and all"
			: "exit status 3 when a level is worse than the one\n"
			  "before by more than PCT per cent";
	if (strcmp(option, "json") == 0)
		return verb->options & TAKES_OUTPUT ? "with -o: say as JSON what was written"
						    : "as JSON, with all digits";
	if (strcmp(option, "output") == 0)
		return verb->options & TAKES_SIZE
			? "write to FILE: .svg, .png, .pdf, or .html for a page"
			: "write to FILE";
	return NULL;
}

/* What `bench-report VERB --help` shows. */
static void usage_of_verb(const struct option_row *rows, const struct verb *verb)
{
	struct option_row own[OPTION_ROWS_MAX] = { 0 };
	size_t n = 0;

	for (; rows->name; rows++) {
		const char *help = find_own_help(rows->name, verb);

		if (!is_taken_by(verb, rows->name))
			continue;
		own[n] = *rows;
		own[n++].help = help ? help : strip_verbs(rows->help, verb);
	}
	xprint(stdout, "Usage: bench-report %s [OPTIONS] %s\n%s\n\n", verb->name, verb->arguments,
		verb->help);
	option_rows_print(own, stdout);
	fputs("\n", stdout);
	if (verb->finding)
		xprint(stdout, "Exit status 3: %s.\n", verb->finding);
	fputs("See bench-report(1).\n", stdout);
}

/* The first word that is a verb, wherever it stands. */
static const struct verb *find_named_verb(int argc, char *argv[])
{
	const struct verb *verb = NULL;

	for (int i = 1; i < argc && !verb; i++)
		verb = find_verb(argv[i]);
	return verb;
}

static int take_bins(const char *value, void *into)
{
	return parse_uint(value, 1, BINS_MAX, into);
}

/* The messages of bench-report use the long names of options, even where there is a letter. */
static int take_count(const char *value, void *into)
{
	if (parse_uint(value, 1, COUNT_MAX, into) == 0)
		return 0;
	say("--count: '%s' is not a number from 1 to 1000000", value);
	return -EINVAL;
}

static int take_unit(const char *value, void *into)
{
	return unit_parse_shown(value, into);
}

static int take_sort(const char *value, void *into)
{
	static const char *const names[] = {
		[SORT_NAME] = "name",
		[SORT_VALUE] = "value",
		[SORT_CHANGE] = "change",
	};

	for (size_t i = SORT_NAME; i < ARRAY_SIZE(names); i++) {
		if (strcmp(value, names[i]) == 0) {
			*(enum sort *)into = (enum sort)i;
			return 0;
		}
	}
	return -EINVAL;
}

static int take_format(const char *value, void *into)
{
	for (size_t i = 0; i < ARRAY_SIZE(formats); i++) {
		if (strcmp(value, formats[i].name) == 0) {
			*(enum form *)into = formats[i].form;
			return 0;
		}
	}
	return -EINVAL;
}

static int take_fail_slower(const char *value, void *into)
{
	return parse_double(value, 0, 1e6, into);
}

static int take_harness(const char *value, void *into)
{
	struct harness **harness = into;
	_cleanup_free_ char *why = NULL;
	int r = harness_read(value, harness, &why);

	if (r == -ENOENT)
		say("--harness: there is no '%s'; those that there are: quiesce-harness(5)", value);
	else if (r < 0)
		say("--harness: %s", why);
	/* A file has what the program prints when it is run as it is. */
	if (r >= 0 && harness_choose(*harness, WHEN_AS_IS) < 0) {
		say("--harness: '%s' has no figure of what its program prints; files that it "
		    "writes need no --harness",
			value);
		r = -ENODATA;
	}
	/* It is in the files that are named, wherever the program wrote it. */
	for (size_t i = 0; r >= 0 && i < (*harness)->n_rules; i++) {
		(*harness)->rules[i].source = FIGURE_FILE;
		r = xcheck(text_replace(&(*harness)->rules[i].file, "the file"));
	}
	return r < 0 ? -EINVAL : 0;
}

/* The files behind --old, --new or --repeats, or the rules of --rename. */
struct file_list {
	char **items; /* room for as many as there are arguments */
	size_t n;
};

enum {
	LIST_OLD,
	LIST_NEW,
	LIST_REPEATS,
	LIST_RENAMES,
	N_LISTS,
};

static int take_file(const char *value, void *into)
{
	struct file_list *list = into;

	if (value[0] == '-' && value[1])
		return -EINVAL;
	list->items[list->n++] = (char *)value;
	return 0;
}

/* See `renames` of struct request. */
static int take_rename(const char *value, void *into)
{
	struct file_list *list = into;
	const char *middle = *value ? strchr(value + 1, *value) : NULL;
	const char *end = middle ? strchr(middle + 1, *value) : NULL;

	if (!end || end[1])
		return -EINVAL;
	list->items[list->n++] = (char *)value;
	return 0;
}

/* The option of a list that the word is, without a value; NULL for another word. */
static char *find_list_option(const char *word)
{
	static char names[][sizeof("--repeats")] = { "--old", "--new", "--repeats" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (text_starts_with(word, names[i]))
			return names[i];
	}
	return NULL;
}

/* "--old A B --new C D" as "--old A --old B --new C --new D", which getopt_long(3) understands.
 * malloc'd. */
static char **spread_lists(int argc, char *argv[], int *ret_argc)
{
	char **words = xptr(calloc(2 * (size_t)argc + 1, sizeof(*words)));
	bool has_value = false, ended = false;
	char *option = NULL;
	int n = 0;

	for (int i = 0; i < argc; i++) {
		ended = ended || strcmp(argv[i], "--") == 0;
		if (ended) {
			option = NULL;
		} else if (argv[i][0] == '-' && argv[i][1]) {
			/* "--old=A B" has its first file already. */
			has_value = strchr(argv[i], '=');
			option = find_list_option(argv[i]);
		} else if (option && has_value) {
			words[n++] = option;
		} else {
			has_value = true;
		}
		words[n++] = argv[i];
	}
	*ret_argc = n;
	return words;
}

/* Reads the options of all verbs, as option_rows_read() does: the verb may stand behind them. */
static int read_options(
	int argc, char *argv[], struct request *request, struct file_list lists[N_LISTS])
{
	const struct option_row rows[] = {
		{ 'b', "benchmark", "NAME", "of the benchmark NAME alone", option_text,
			&request->benchmark, .once = true },
		{ 0, "metric", "NAME",
			"judge NAME of each run: user_cpu, system_cpu,\n"
			"max_rss, minor_faults, a counted event, ...",
			option_text, &request->metric, .once = true },
		{ 0, "from-level", NULL,
			"leave out the values of each run, of 14 or more,\n"
			"that come before the level on which they end",
			option_set, &request->from_level },
		{ 0, "unit", "UNIT", "show all times in s, ms, us or ns", take_unit, &request->unit,
			"s, ms, us or ns" },
		{ 0, "sort", "HOW",
			"show, stats, compare: by name, value, or change\n"
			"(of compare)",
			take_sort, &request->sort, "name, value or change" },
		{ 0, "json", NULL,
			"as JSON, with all digits; of plot and merge -o: what\n"
			"was written",
			option_set, &request->json },
		{ 0, "metadata", NULL, "show: what is known of the machine and the program",
			option_set, &request->metadata },
		{ 0, "bins", "N", "hist: N bins (default: by the number of values)", take_bins,
			&request->bins, "a number from 1 to 1000" },
		{ 'n', "count", "N", "slowest, fleet: the first N", take_count, &request->count },
		{ 0, "table", NULL, "compare: a line per benchmark", option_set, &request->table },
		{ 0, "markdown", NULL, "compare, show, stats: a table in Markdown", option_set,
			&request->markdown },
		{ 0, "csv", NULL, "compare, show, stats: a table of all figures as CSV", option_set,
			&request->csv },
		{ 0, "format", "FORMAT",
			"show, stats: github-action-benchmark (its tools\n"
			"customSmallerIsBetter, customBiggerIsBetter) or\n"
			"bencher, for services that keep a history; benchfmt\n"
			"(benchstat); check, compare: junit",
			take_format, &request->format,
			"github-action-benchmark, " SMALLER_TOOL ", " BIGGER_TOOL
			", bencher, benchfmt or junit" },
		{ 0, "fail-worse", "PCT",
			"compare, trend: exit status 3 when a benchmark, or\n"
			"a level, is worse by more than PCT per cent",
			take_fail_slower, &request->fail_worse, "a number of per cent" },
		{ 0, "fail-slower", "PCT", "compare: the same", take_fail_slower,
			&request->fail_slower, "a number of per cent" },
		{ 0, "fail-unclear", NULL, "compare: the same when that is unclear", option_set,
			&request->fail_unclear },
		{ 0, "old", "FILE...", "compare: several results of the old program, and",
			take_file, &lists[LIST_OLD], "a file" },
		{ 0, "new", "FILE...",
			"of the new one, measured by turns: each result\n"
			"counts as one number",
			take_file, &lists[LIST_NEW], "a file" },
		{ 0, "repeats", "FILE...",
			"compare: results of one program on this machine, of\n"
			"other days: how much it varies is learnt from them",
			take_file, &lists[LIST_REPEATS], "a file" },
		{ 0, "rename", "/OLD/NEW/",
			"compare: a benchmark of OLD whose name has the text\n"
			"OLD with the one of NEW that has NEW in its place",
			take_rename, &lists[LIST_RENAMES],
			"two texts between three equal characters, /old/new/" },
		{ 0, "since", "DATE",
			"trend: --fail-worse counts a level that begins at\n"
			"DATE (2026-11-20) or later",
			option_text, &request->since, .once = true },
		{ 0, "earlier", "FILE",
			"trend: what --json printed at an earlier look: say\n"
			"which of its results are gone, and what came between",
			option_filled, &request->earlier, "a file name", .once = true },
		{ 'o', "output", "FILE",
			"merge, plot: write to FILE; a picture is .svg, .png,\n"
			".pdf, or an .html page",
			option_filled, &request->output, "a file name", .once = true },
		{ 0, "size", "WIDTHxHEIGHT",
			"plot: in points (default 1000x600; a PNG has two\n"
			"pixels a point)",
			option_text, &request->size, .once = true },
		{ 0, "by", "NAME",
			"plot: a curve over the parameter NAME of a scan, and\n"
			"how it grows (default where all have such a number);\n"
			"change: what compare says (default of what it can\n"
			"compare); date: what trend says (default of a\n"
			"folder); latency: quantiles; run: samples in order",
			option_text, &request->by, .once = true },
		{ 0, "margin", "PCT",
			"plot: of a comparison, the line of compare's\n"
			"--fail-worse PCT, and what that says",
			take_fail_slower, &request->margin, "a number of per cent" },
		{ 0, "harness", "NAME",
			"what the program of this harness wrote: nanobench,\n"
			"wrk, ..., or FILE.conf",
			take_harness, &request->harness, .once = true },
		{ 'v', "verbose", NULL, "show, compare: all figures, tests and warnings",
			option_set, &request->verbose },
		{ 'h', "help", .help = "this text" },
		{ 'V', "version", .help = "the version" },
		{ 0 },
	};
	const struct verb *verb = find_named_verb(argc, argv);
	int r = option_rows_read("", rows, argc, argv);

	/* It stands first but for options, whose values may look like one. */
	if (r == 'h' && argc > 1 && argv[1][0] != '-' && !find_verb(argv[1])) {
		say_no_verb(argv[1]);
		return -EINVAL;
	}
	if (r == 'h' && verb)
		usage_of_verb(rows, verb);
	else if (r == 'h')
		usage(rows);
	else if (r == 'V')
		xcheck(print_version("bench-report"));
	return r;
}

/* Says, and returns -EINVAL, when an option was given that the verb does not take. */
static int check_options(const struct request *request)
{
	const struct {
		const char *name;
		bool given;
	} uses[] = {
		{ "benchmark", request->benchmark },
		{ "metric", request->metric },
		{ "from-level", request->from_level },
		{ "unit", request->unit != UNIT_SECOND },
		{ "sort", request->sort != SORT_NONE },
		{ "json", request->json },
		{ "metadata", request->metadata },
		{ "bins", request->bins > 0 },
		{ "count", request->count > 0 },
		{ "table", request->table },
		{ "markdown", request->markdown },
		{ "csv", request->csv },
		{ "fail-slower", !isnan(request->fail_slower) },
		{ "fail-unclear", request->fail_unclear },
		{ "old", request->n_old > 0 },
		{ "rename", request->n_renames > 0 },
		{ "repeats", request->n_repeats > 0 },
		{ "fail-worse", !isnan(request->fail_worse) },
		{ "since", request->since },
		{ "earlier", request->earlier },
		{ "output", request->output },
		{ "size", request->size },
		{ "by", request->by },
		{ "margin", !isnan(request->margin) },
		{ "verbose", request->verbose },
	};

	for (size_t i = 0; i < ARRAY_SIZE(uses); i++) {
		if (!uses[i].given || is_taken_by(request->verb, uses[i].name))
			continue;
		say("%s does not take --%s", request->verb->name, uses[i].name);
		return -EINVAL;
	}
	for (size_t i = 0; i < ARRAY_SIZE(formats); i++) {
		if (request->format != formats[i].form ||
			(request->verb->options & formats[i].option))
			continue;
		say("%s does not take --format %s", request->verb->name, formats[i].name);
		return -EINVAL;
	}
	return 0;
}

/* Says, and returns -EINVAL, when several forms are asked for. */
static int choose_form(struct request *request)
{
	if (request->json + request->table + request->markdown + request->csv +
			(request->format != FORM_TEXT) >
		1) {
		say("--json, --table, --markdown, --csv and --format exclude each other");
		return -EINVAL;
	}
	request->form = request->json ? FORM_JSON
		: request->table      ? FORM_TABLE
		: request->markdown   ? FORM_MARKDOWN
		: request->csv	      ? FORM_CSV
				      : request->format;
	if (request->verbose && request->form != FORM_TEXT) {
		say("--verbose is for text: the other forms have all figures");
		return -EINVAL;
	}
	if (request->metadata && request->form > FORM_JSON) {
		say("--metadata needs text or --json");
		return -EINVAL;
	}
	return 0;
}

/*
 * 0 to go on, positive when all is done (--help), or a negative errno for wrong use, after saying
 * what is wrong. The verb may stand anywhere before the first file: "bench-report --json stats
 * FILE" is understood, too.
 */
static int parse_command_line(
	int argc, char *argv[], struct request *request, struct file_list lists[N_LISTS])
{
	struct file_list *old = &lists[LIST_OLD], *new = &lists[LIST_NEW];
	int r = read_options(argc, argv, request, lists);

	if (r != 0)
		return r;
	if ((old->n == 0) != (new->n == 0)) {
		say("--old and --new belong together");
		return -EINVAL;
	}
	request->n_old = old->n;
	request->repeats = lists[LIST_REPEATS].items;
	request->n_repeats = lists[LIST_REPEATS].n;
	request->renames = lists[LIST_RENAMES].items;
	request->n_renames = lists[LIST_RENAMES].n;
	if (optind == argc) {
		say("a verb is missing: show, stats, hist, dump, check, compare, plot, slowest, trend, fleet, why or merge");
		return -EINVAL;
	}
	request->verb = find_verb(argv[optind]);
	if (!request->verb) {
		say_no_verb(argv[optind]);
		return -EINVAL;
	}
	r = check_options(request);
	if (r < 0)
		return r;
	if (!isnan(request->fail_slower) && !isnan(request->fail_worse)) {
		say("--fail-slower and --fail-worse are one: give one of them");
		return -EINVAL;
	}
	if (request->verb->options & TAKES_FAIL_SLOWER && isnan(request->fail_slower))
		request->fail_slower = request->fail_worse;
	if (!isnan(request->margin))
		request->fail_slower = request->margin;
	if (request->sort == SORT_CHANGE && strcmp(request->verb->name, "compare") != 0) {
		say("--sort change needs compare");
		return -EINVAL;
	}
	request->files = argv + optind + 1;
	request->n_files = (size_t)(argc - optind - 1);
	if (request->n_old > 0 && request->n_files > 0) {
		say("'%s' is neither of --old nor of --new", request->files[0]);
		return -EINVAL;
	}
	if (request->n_old > 0) {
		/* There is room for all arguments. */
		memcpy(old->items + old->n, new->items, new->n * sizeof(*new->items));
		request->files = old->items;
		request->n_files = old->n + new->n;
	}
	for (size_t i = 0, n_stdin = 0; i < request->n_files + request->n_repeats; i++) {
		n_stdin += strcmp(i < request->n_files ? request->files[i]
						       : request->repeats[i - request->n_files],
				   "-") == 0;
		if (n_stdin > 1) {
			say("standard input can be read only once");
			return -EINVAL;
		}
	}
	if (request->n_files == 0) {
		say("no file is named%s: bench-report %s [OPTIONS] %s",
			request->n_repeats > 0 ? " before --repeats, which takes all behind it"
					       : "",
			request->verb->name, request->verb->arguments);
		return -EINVAL;
	}
	return choose_form(request);
}

int main(int argc, char *argv[])
{
	struct request request = { .fail_slower = NAN, .fail_worse = NAN, .margin = NAN };
	_cleanup_free_ char **words = spread_lists(argc, argv, &argc), **items = NULL;
	struct file_list lists[N_LISTS] = { 0 };
	enum exit_status status = EXIT_USAGE;
	int r;

	survive_signal(SIGXFSZ);
	setlocale(LC_CTYPE, "");
	items = xptr(calloc(N_LISTS * (size_t)argc, sizeof(*items)));
	for (size_t i = 0; i < N_LISTS; i++)
		lists[i].items = items + i * (size_t)argc;
	r = parse_command_line(argc, words, &request, lists);
	if (r == 0)
		status = request.verb->run(&request);
	else if (r > 0)
		status = request_conclude(&request, 0);
	harness_free(request.harness);
	return status;
}
