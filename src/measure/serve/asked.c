// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "base/options.h"
#include "base/parse.h"
#include "base/say.h"
#include "base/text.h"
#include "base/words.h"
#include "base/xalloc.h"
#include "measure/serve/asked.h"
#include "measure/serve/loads.h"

enum {
	SITTINGS_DEFAULT = 10,
	MAX_SITTINGS_DEFAULT = 100, /* what 2 % of a service in Python take: bench/service */
	SLICES_DEFAULT = 3,
	SLICES_MAX = 1000,
	CONNECTIONS_DEFAULT = 4,
	CONNECTIONS_MAX = 1024, /* of httpload */
	WARM_REQUESTS = 10,
	READY_SECONDS = 30,
	END_SECONDS = 2,
	LOAD_SECONDS = 60,
};

/* The two structs that options go to. */
struct both {
	struct options *options;
	struct asked *asked;
};

static int take_by(const char *value, void *into)
{
	struct both *both = into;

	both->options->metric = value;
	if (strcmp(value, "cpu") == 0) {
		both->asked->by = BY_CPU;
	} else if (strcmp(value, "throughput") == 0) {
		both->asked->by = BY_THROUGHPUT;
		both->options->metric = LOAD_RATE;
	} else if (text_starts_with(value, "latency=")) {
		both->asked->by = BY_LATENCY;
		both->options->metric = value + strlen("latency=");
	} else {
		both->asked->by = BY_FIGURE;
	}
	return *both->options->metric ? 0 : -EINVAL;
}

static int take_ready(const char *value, void *into)
{
	struct asked *a = into;

	a->probe = NULL;
	if (strcmp(value, "notify") == 0) {
		a->ready = SERVICE_READY_NOTIFY;
	} else if (strcmp(value, "port") == 0) {
		a->ready = SERVICE_READY_PORT;
	} else {
		a->ready = SERVICE_READY_PROBE;
		a->probe = value;
	}
	return *value ? 0 : -EINVAL;
}

static int take_rest(const char *value, void *into)
{
	static const char *const names[] = {
		[SERVICE_REST_AUTO] = "auto",
		[SERVICE_REST_FREEZE] = "freeze",
		[SERVICE_REST_STOP] = "stop",
		[SERVICE_REST_NONE] = "none",
	};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (strcmp(value, names[i]) != 0)
			continue;
		*(enum service_rest *)into = (enum service_rest)i;
		return 0;
	}
	return -EINVAL;
}

static int take_warm_slices(const char *value, void *into)
{
	unsigned *slices = into;

	if (strcmp(value, "auto") == 0) {
		*slices = 0;
		return 0;
	}
	return parse_uint(value, 1, SLICES_MAX, slices);
}

static int take_events(const char *value, void *into)
{
	*(const char **)into = strcmp(value, "none") == 0 ? "" : value;
	return *value ? 0 : -EINVAL;
}

static int take_slices(const char *value, void *into)
{
	return parse_uint(value, 1, SLICES_MAX, into);
}

static int take_connections(const char *value, void *into)
{
	return parse_uint(value, 1, CONNECTIONS_MAX, into);
}

static int take_rate(const char *value, void *into)
{
	return parse_double(value, 0.001, 1e9, into);
}

static int take_requests(const char *value, void *into)
{
	uint64_t requests;
	int r = parse_u64(value, 1, 1000 * 1000 * 1000, &requests);

	if (r == 0)
		*(double *)into = (double)requests;
	return r;
}

static void usage(const struct option_row *rows)
{
	print(stdout,
		"Usage: runserved [OPTIONS] --load COMMAND [--] SERVICE [ARGUMENT...]\n"
		"       runserved [OPTIONS] --load COMMAND --baseline SERVICE [--] SERVICE...\n"
		"Start services anew again and again, put each under load in turn, and tell how\n"
		"much CPU time they take for a request. {port} in SERVICE and in COMMAND is the\n"
		"port that the service is to listen on; {socket} is a UNIX socket instead.\n"
		"\n");
	option_rows_print(rows, stdout);
	print(stdout,
		"\n"
		"Exit status: 0 done, 1 failed (or a service or the load did), 2 wrong use,\n"
		"130 or 143 interrupted. With --decide also 0 not slower by PCT %%, 3 slower by\n"
		"more than PCT/2 %%, 4 not settled, or nothing follows. See runserved(1).\n");
}

static int read_options(int argc, char *argv[], struct options *o, struct asked *a)
{
	const struct option_takers *take = &option_takers;
	struct both both = { o, a };
	static const char time_wanted[] = "a time such as 10, 1.5 or 2min (at least 1ms)";
	static const char runs_wanted[] = "a whole number from 1 to 100000000";
	const struct option_row rows[] = {
		{ .help = "The load:" },
		{ 0, "load", "COMMAND", "put the services under this load in each slice",
			option_filled, &a->load, "a command", .once = true },
		{ 0, "http", "PATH",
			"a load of our own, in place of --load: GET PATH by\n"
			"HTTP/1.1",
			option_filled, &a->http, "a path", .once = true },
		{ 'C', "connections", "N", "of --http: so many at a time (default 4)",
			take_connections, &a->connections, "a whole number from 1 to 1024" },
		{ 0, "rate", "R",
			"the load is an open loop of R requests/s, which is\n"
			"{rate} in COMMAND",
			take_rate, &a->rate, "a number of requests/s" },
		{ 0, "requests", "N",
			"so many requests a slice, where the load does not\n"
			"tell; of --http, make so many (default: 0.2 s)",
			take_requests, &a->requests, "a whole number from 1 to 1000000000" },
		{ 0, "warm-load", "COMMAND",
			"run this before each slice, outside of what counts\n"
			"(default: ten requests, where the load is known to\n"
			"be HTTP); or none",
			option_filled, &a->warm_load, "a command, or none", .once = true },
		{ 0, "harness", "NAME",
			"its figures, by this harness (default: the one that\n"
			"is called as the load)",
			take->harness, &o->figures, .once = true },
		{ 0, "figure", "NAME[,WORD]...=PATTERN",
			"as of runpinned; the figure called requests is the\n"
			"number of them",
			take->figure, &o->figures },
		{ 0, "figure-json", "NAME[,WORD]...=PATH", "the same in JSON", take->figure_json,
			&o->figures },
		{ 0, "timeout", "SECONDS", "of a slice; one that takes longer fails (default 60)",
			take->seconds, &o->timeout_ns, time_wanted },
		{ 0, "load-cpus", "LIST",
			"the load runs there (default: --by cpu, with the\n"
			"services; else on other CPUs)",
			option_filled, &a->load_cpus, "a list of CPUs" },

		{ .help = "\nThe services:" },
		{ 0, "baseline", "SERVICE", "this one, too, and compare the other with it",
			take->baseline, o },
		{ 0, "command", "NAME=SERVICE", "this one, too; may be given again", take->command,
			o, .rank = 2 },
		{ 'L', "parameter-list", "NAME=VALUE,...",
			"one service for each VALUE, which takes the place of\n"
			"{NAME} in SERVICE",
			take->parameter_list, &o->parameters },
		{ 'P', "parameter-scan", "NAME=FROM..TO[:STEP]", "the same with numbers",
			take->parameter_range, &o->parameters },
		{ 'c', "cpus", "LIST",
			"on these CPUs, as in 3 or 2-3,8; auto (the default)\n"
			"as runpinned",
			take->cpus, &o->cpus },
		{ 0, "env", "NAME=VALUE",
			"this variable; NAME:NAME=VALUE for one of them; may\n"
			"be given again",
			take->env, o, .rank = 1 },
		{ 0, "ready", "HOW",
			"when one is ready: port (the default), when it\n"
			"listens on its port; notify, when it says so to\n"
			"$NOTIFY_SOCKET as well; or a command, when that\n"
			"succeeds",
			take_ready, a, "port, notify or a command" },
		{ 0, "listen-fds", NULL,
			"hand them the socket that they are to listen with,\n"
			"as systemd does (LISTEN_FDS)",
			option_set, &a->listen_fds, .rank = 1 },
		{ 0, "ready-timeout", "SECONDS", "within this time (default 30)", take->seconds,
			&a->ready_ns, time_wanted },
		{ 0, "end-timeout", "SECONDS",
			"how long it may take to end after SIGTERM, before it\n"
			"is killed (default 2)",
			take->seconds, &a->end_ns, time_wanted, .rank = 1 },
		{ 0, "rest", "HOW",
			"those that are not under load: auto (the default),\n"
			"frozen where they can have a cgroup, else stopped;\n"
			"freeze; stop; or none, they go on",
			take_rest, &a->rest, "auto, freeze, stop or none" },
		{ 0, "quiesce", NULL,
			"make the machine quiet before, and put it back after\n"
			"(root), see benchmark.target(7)",
			option_set, &o->quiesce },
		{ 0, "strict", NULL, "--quiesce: an error unless all of it can be done", option_set,
			&o->strict },
		{ 0, "no-wait", NULL, "fail if another runpinned has the CPU", option_set,
			&o->no_wait, .rank = 2 },

		{ .help = "\nHow often, and what decides:" },
		{ 'n', "sittings", "N", "start all anew so often (default 10)", take->runs,
			&o->runs, runs_wanted },
		{ 0, "slices", "N", "so many slices of each in a sitting (default 3)", take_slices,
			&a->slices, "a whole number from 1 to 1000" },
		{ 0, "warm-slices", "N",
			"so many before these, which do not count (default\n"
			"auto: until the service is warm)",
			take_warm_slices, &a->warm_slices,
			"auto, or a whole number from 1 to 1000" },
		{ 'e', "event", "EVENT,...",
			"count these events, as of runpinned, for a request,\n"
			"in one more slice of each sitting (default:\n"
			"instructions, where the CPU counts them); or none",
			take_events, &a->events, "a list of events, or none", .once = true },
		{ 0, "by", "WHAT",
			"go by cpu (the default), the CPU time of the service\n"
			"for a request; throughput; latency=p99; or a figure\n"
			"that the load prints, or an event of -e",
			take_by, &both, "cpu, throughput, latency=p99 or a figure", .once = true,
			.rank = 2 },
		{ 0, "decide", "PCT",
			"go on until it is settled whether a service is\n"
			"slower than the baseline by PCT per cent",
			take->decide, &o->decide, "a per cent figure from 0.01 to 50", .rank = 1 },
		{ 0, "until-rel-error", "PCT",
			"go on until half the width of the 95 % interval of\n"
			"the median is at most PCT per cent of it",
			take->rel_error, &o->rel_error, "a per cent figure from 0.001 to 100" },
		{ 0, "max-sittings", "N",
			"but stop after N, with --decide or --until-rel-error\n"
			"(default 100)",
			take->runs, &o->max_runs, runs_wanted },
		{ 0, "max-time", "SECONDS", "but begin none after this time", take->seconds,
			&o->max_time_ns, time_wanted, .rank = 1 },
		{ 0, "seed", "N", "draw the same orders as one that recorded N", take->seed, o,
			"a whole number from 0 to 2^63 - 1" },

		{ .help = "\nWhat is kept:" },
		{ 'o', "output", "FILE", "write the result, as pyperf JSON, to FILE", option_filled,
			&o->output, "a file name", .once = true },
		{ 0, "append", NULL, "add to FILE instead of replacing it", option_set,
			&o->append },
		{ 0, "json", NULL, "write the result to standard output", option_set, &o->json },
		{ 0, "csv", "FILE", "write one line per slice to FILE", option_filled, &o->csv,
			"a file name", .once = true },
		{ 0, "no-save", NULL, "keep no result unless -o, --json or --csv says so",
			option_set, &o->no_save, .rank = 2 },
		{ 0, "name", "NAME", "the service's name (default: its program's)", option_filled,
			&o->name, "a name", .once = true },
		{ 0, "metadata", "NAME=VALUE",
			"keep this with the result, such as\n"
			"commit_id=1a2b3c; may be given again",
			take->metadata, o },

		{ .help = "" },
		{ 'q', "quiet", NULL, "only warnings and errors", option_set, &o->quiet },
		{ 'v', "verbose", NULL, "say more; twice: a line per slice", take->verbose,
			&o->verbose },
		{ 0, "dry-run", NULL, "say what would be done, and do nothing", option_set,
			&o->dry_run },
		{ 'h', "help", .help = "this text" },
		{ 'V', "version", .help = "the version" },
		{ 0 },
	};
	/* Rows beyond are read by nobody. */
	_Static_assert(ARRAY_SIZE(rows) <= OPTION_ROWS_MAX, "room for all options");
	int r = option_rows_read("+", rows, argc, argv);

	if (r == 'h')
		usage(rows);
	else if (r == 'V')
		print_version("runserved");
	return r;
}

/* Ten plain requests, which take several times as long as the others after a start and a rest. */
static void make_warm_words(struct options *o, struct asked *a, const char *host, char *path)
{
	unsigned n = MAX(a->connections, (unsigned)WARM_REQUESTS);
	char **words = options_own(o, calloc(11, sizeof(*words)));
	size_t i = 0;

	words[i++] = (char *)"httpload";
	words[i++] = (char *)"-C";
	words[i++] = options_own(o, xformat("%u", a->connections));
	words[i++] = (char *)"--requests";
	words[i++] = options_own(o, xformat("%u", n));
	if (host) {
		words[i++] = (char *)"--host";
		words[i++] = (char *)host;
	}
	words[i++] = (char *)"--port";
	words[i++] = (char *)"{port}";
	words[i] = path;
	a->warm_words = words;
	a->warm_is_ours = true;
}

/* The first word of the load that is an URL of HTTP at the port, of this machine, is asked by the
 * same requests. What the load sends beside that, such as headers, is not known. */
static void take_url(struct options *o, struct asked *a)
{
	static const struct {
		const char *begin;
		const char *host;
	} urls[] = {
		{ "http://127.0.0.1:{port}", NULL },
		{ "http://localhost:{port}", NULL },
		{ "http://[::1]:{port}", "::1" },
	};

	for (size_t k = 0; a->load_words[k]; k++) {
		for (size_t i = 0; i < ARRAY_SIZE(urls); i++) {
			const char *path = a->load_words[k] + strlen(urls[i].begin);
			size_t n;

			if (!text_starts_with(a->load_words[k], urls[i].begin) ||
				(*path != '\0' && *path != '/'))
				continue;
			n = strcspn(path, "#");
			make_warm_words(o, a, urls[i].host,
				options_own(o,
					n > 0 ? xformat("%.*s", (int)n, path) : xptr(strdup("/"))));
			return;
		}
	}
}

/* The words of our own generator. */
static char **make_http_words(struct options *o, const struct asked *a)
{
	char **words = options_own(o, calloc(14, sizeof(*words)));
	size_t n = 0;

	words[n++] = (char *)"httpload";
	words[n++] = (char *)"-C";
	words[n++] = options_own(o, xformat("%u", a->connections));
	if (a->rate > 0) {
		words[n++] = (char *)"--rate";
		words[n++] = (char *)"{rate}";
	}
	/* The first ones after a pause take several times as long. They would count in the CPU
	 * time, but not as requests, and are few of 1000. */
	if (a->by == BY_LATENCY) {
		words[n++] = (char *)"--warm";
		words[n++] = (char *)"10";
	}
	words[n++] = (char *)(a->requests > 0 ? "--requests" : "--seconds");
	words[n++] = options_own(
		o, a->requests > 0 ? xformat("%.0f", a->requests) : xptr(strdup("0.2")));
	words[n++] = (char *)"--port";
	words[n++] = (char *)"{port}";
	words[n] = (char *)a->http;
	return words;
}

static bool is_in_words(const char *const words[], const char *text)
{
	for (; *words; words++)
		if (strstr(*words, text))
			return true;
	return false;
}

/* The words of a command, without a shell. */
static int split(struct options *o, const char *option, const char *text, char ***ret)
{
	const char *why;
	char **words;
	int r = xcheck(words_split(text, &words, &why));

	if (r < 0) {
		say("%s: '%s': %s", option, text, why);
		return r;
	}
	options_own(o, words);
	if (!*words || !**words) {
		say("%s: '%s' names no program", option, text);
		return -EINVAL;
	}
	*ret = words;
	return 0;
}

static int take_load(struct options *o, struct asked *a)
{
	const char *const *words;
	int r;

	if (!a->load == !a->http) {
		say(a->load ? "--load and --http both say what the load is: give one of them"
			    : "no load: give --load COMMAND, or --http PATH; see runserved --help");
		return -EINVAL;
	}
	if (a->http && (a->http[0] != '/' || strpbrk(a->http, " \t\r\n"))) {
		say("--http: '%s' is no path, which begins with / and has no blanks", a->http);
		return -EINVAL;
	}
	if (a->http) {
		a->load_words = make_http_words(o, a);
		make_warm_words(o, a, NULL, (char *)a->http);
		return loads_add_figures("httpload", &o->figures);
	}
	r = split(o, "--load", a->load, &a->load_words);
	if (r < 0)
		return r;
	words = (const char *const *)a->load_words;
	a->at_socket = is_in_words(words, "{socket}");
	if (a->at_socket == is_in_words(words, "{port}")) {
		say(a->at_socket
				? "--load: '%s' has both {port} and {socket}: where is the service "
				  "to listen?"
				: "--load: '%s' has neither {port} nor {socket}, so it would not "
				  "reach the service",
			a->load);
		return -EINVAL;
	}
	if (!a->rate != !is_in_words(words, "{rate}")) {
		say(a->rate ? "--rate: there is no {rate} in the load, so it would not be told"
			    : "--load: {rate} needs --rate");
		return -EINVAL;
	}
	a->connections = 1;
	take_url(o, a);
	return loads_add_figures(a->load_words[0], &o->figures);
}

static int take_warm_load(struct options *o, struct asked *a)
{
	const char *const *words;
	int r;

	if (!a->warm_load)
		return 0;
	a->warm_words = NULL;
	a->warm_is_ours = false;
	if (strcmp(a->warm_load, "none") == 0)
		return 0;
	r = split(o, "--warm-load", a->warm_load, &a->warm_words);
	if (r < 0)
		return r;
	words = (const char *const *)a->warm_words;
	if (is_in_words(words, "{port}") || is_in_words(words, "{socket}"))
		return 0;
	say("--warm-load: '%s' has neither {port} nor {socket}, so it would not reach the service",
		a->warm_load);
	return -EINVAL;
}

/* What the number of requests is known from. */
static int check_count(const struct options *o, const struct asked *a)
{
	if (a->requests > 0 || figure_rules_have(&o->figures, LOAD_REQUESTS))
		return 0;
	say("nobody says how many requests %s makes: give --requests N, or --figure "
	    "'requests,higher=PATTERN'",
		a->load_words[0]);
	return -EINVAL;
}

static int check(struct options *o, struct asked *a)
{
	bool goes_on = o->decide > 0 || o->rel_error > 0;
	int r;

	if (o->max_runs && !goes_on) {
		say("--max-sittings bounds --decide and --until-rel-error, and none was given: use "
		    "-n for a number of sittings");
		return -EINVAL;
	}
	if (!o->runs)
		o->runs = goes_on ? 2 : SITTINGS_DEFAULT;
	if (goes_on && !o->max_runs)
		o->max_runs = MAX(o->runs, (unsigned)MAX_SITTINGS_DEFAULT);
	r = a->probe ? split(o, "--ready", a->probe, &a->probe_words) : 0;
	if (r == 0)
		r = take_load(o, a);
	if (r == 0)
		r = take_warm_load(o, a);
	if (r == 0)
		r = check_count(o, a);
	return r == 0 ? option_takers.check(o) : r;
}

/* Has our own generator ask at the socket, in place of the port. */
static void go_to_socket(char *words[])
{
	for (; *words; words++) {
		if (strcmp(*words, "--port") == 0)
			*words = (char *)"--unix";
		else if (strcmp(*words, "{port}") == 0)
			*words = (char *)"{socket}";
	}
}

void asked_find_address(struct asked *a, const struct options *o)
{
	bool has_port = false;

	a->has_socket = a->at_socket ||
		(a->warm_words && is_in_words((const char *const *)a->warm_words, "{socket}"));
	for (size_t i = 0; i < o->n_commands; i++) {
		const char *const *words = (const char *const *)o->commands[i].argv;
		const char *const *variables = o->commands[i].variables;
		bool at_port = is_in_words(words, "{port}") || is_in_words(variables, "{port}");
		bool at_socket =
			is_in_words(words, "{socket}") || is_in_words(variables, "{socket}");

		has_port |= at_port;
		a->has_socket |= at_socket;
		if (!at_port && !at_socket && !a->listen_fds && !o->quiet)
			a->untold[a->n_untold++] = o->commands[i].name;
	}
	/* Those that have both, such as for a port of their statistics, are asked at the port. */
	if (!a->http || !a->has_socket || has_port)
		return;
	a->at_socket = true;
	go_to_socket(a->load_words);
	if (a->warm_is_ours)
		go_to_socket(a->warm_words);
}

int asked_parse(int argc, char *argv[], struct options *ret, struct asked *ret_asked)
{
	struct options o = {
		.max_runs_option = "--max-sittings",
		.cooldown = -1,
		.timeout_ns = LOAD_SECONDS * NSEC_PER_SEC,
		.hook_timeout_ns = NSEC_PER_SEC,
		.metric = "cpu",
		.core_ns = OPTIONS_CORE_NS,
		/* Nothing is stamped but the slice as a whole. */
		.stamper = STAMPER_LAUNCHER,
		.stamper_given = true,
	};
	struct asked a = {
		.connections = CONNECTIONS_DEFAULT,
		.slices = SLICES_DEFAULT,
		.ready_ns = READY_SECONDS * NSEC_PER_SEC,
		.end_ns = END_SECONDS * NSEC_PER_SEC,
	};
	int r = read_options(argc, argv, &o, &a);

	if (r == 0)
		r = check(&o, &a);
	if (r == 0)
		r = option_takers.program(argv + optind, &o);
	if (r != 0) {
		options_clear(&o);
		return r;
	}
	*ret = o;
	*ret_asked = a;
	return 0;
}
