// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/macro.h"
#include "base/options.h"
#include "base/parse.h"
#include "base/say.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "judge/report/decision.h"
#include "judge/report/why.h"
#include "judge/result/benchmark.h"
#include "judge/result/metadata.h"
#include "library/values.h"
#include "measure/host.h"
#include "measure/launch.h"
#include "measure/options.h"

enum {
	RUNS_DEFAULT = 25,
	RUNS_TO_VARY = 300, /* 30 effects are to be told from each other, twice */
	MAX_RUNS_DEFAULT = 1000,
	FIFO_PRIORITY_DEFAULT = 50,
	COOLDOWN_DEGREES_DEFAULT = 3,
	CONTROL_LENGTH_MAX = 1000 * 1000 * 1000,
	HOOK_TIMEOUT_DEFAULT_S = 600,
	WARMUPS_MAX_DEFAULT = 100, /* of --warmup auto, which looks at 14 or more (steady.h) */
	WARMUPS_MAX_LEAST = 15,
	METADATA_NAME_MAX = 64,
};

/* The name of the --baseline program in the result. It says that the others are compared with
 * it. */
static const char baseline_name[] = "baseline";
/* The names of the control and of its program when it is ours. */
static const char control_name[] = "control";
static const char control_program[] = BENCHMARK_CONTROL_OURS;

static int take_env_pad(const char *value, void *into)
{
	struct options *o = into;

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
			return -EINVAL;
		o->env_pad = ENV_PAD_RANDOM;
		o->env_pad_seeded = true;
		return 0;
	}
	if (parse_uint(value, 0, LAUNCH_MAX_ENV_PAD, &o->env_pad_bytes) < 0)
		return -EINVAL;
	o->env_pad = ENV_PAD_FIXED;
	return 0;
}

static int add_program(struct options *o, struct option_program program)
{
	if (o->n_programs == OPTIONS_MAX_COMMANDS) {
		say("more than %d programs: that is too many", OPTIONS_MAX_COMMANDS);
		return -EINVAL;
	}
	o->programs[o->n_programs++] = program;
	return 0;
}

/* The baseline is always the first program, because the others are compared with the first. */
static int take_baseline(const char *value, void *into)
{
	struct options *o = into;
	struct option_program program = {
		.name = baseline_name,
		.option = "--baseline",
		.text = value,
	};
	int r;

	if (o->n_programs > 0 && o->programs[0].name == baseline_name) {
		say("--baseline was given twice: there can be but one; use --command for more");
		return -EINVAL;
	}
	r = add_program(o, program);
	if (r < 0)
		return r;
	memmove(&o->programs[1], &o->programs[0], (o->n_programs - 1) * sizeof(program));
	o->programs[0] = program;
	return 0;
}

static int take_command(const char *value, void *into)
{
	struct options *o = into;
	const char *equals = strchr(value, '=');
	struct option_program program = { .option = "--command" };

	if (!equals || equals == value) {
		say("--command: '%s' is not NAME=COMMAND", value);
		return -EINVAL;
	}
	program.text = equals + 1;
	program.name = options_own(o, strndup(value, (size_t)(equals - value)));
	return add_program(o, program);
}

/* The words of our own control. Its length is known later. */
static char **make_control_words(void)
{
	struct {
		char *argv[3];
		char length[OPTIONS_LENGTH_SIZE];
	} *words = xptr(calloc(1, sizeof(*words)));

	words->argv[0] = (char *)control_program;
	words->argv[1] = words->length;
	return words->argv;
}

static int take_control(const char *value, void *into)
{
	struct options *o = into;

	if (o->control.is_control) {
		say("--control was given twice: there can be but one");
		return -EINVAL;
	}
	o->control = (struct option_program){
		.name = control_name,
		.option = "--control",
		.text = value,
		.is_control = true,
		.is_shipped = !value,
	};
	if (!value)
		o->control.argv = options_own(o, make_control_words());
	return 0;
}

/* A list of exit statuses; without one, every failure. */
static int take_ignore_failure(const char *value, void *into)
{
	struct options *o = into;
	_cleanup_free_ char *list = value ? xptr(strdup(value)) : NULL;
	char *rest = list, *word;

	if (!value) {
		o->ignore_failure = true;
		return 0;
	}
	while ((word = strsep(&rest, ","))) {
		unsigned status;

		if (parse_uint(word, 1, 255, &status) < 0)
			return -EINVAL;
		o->ignored_statuses[status] = true;
	}
	return 0;
}

/* Without a name it is the shell that system(3) takes. */
static int take_shell(const char *value, void *into)
{
	return option_filled(value ? value : "/bin/sh", into);
}

static int take_parameter_list(const char *value, void *into)
{
	return parameters_add_list(into, value);
}

static int take_parameter_range(const char *value, void *into)
{
	return parameters_add_range(into, value);
}

static int take_hook(const char *value, void *into)
{
	struct option_hooks *hooks = into;

	if (!*value)
		return -EINVAL;
	if (hooks->n == OPTIONS_MAX_COMMANDS) {
		say("more than %d hooks of a kind: that is too many", OPTIONS_MAX_COMMANDS);
		return -EINVAL;
	}
	hooks->texts[hooks->n++] = value;
	return 0;
}

static const char *const output_names[] = {
	[OUTPUT_NULL] = "null",
	[OUTPUT_PIPE] = "pipe",
	[OUTPUT_PIPE_HERE] = "pipe-here",
	[OUTPUT_TERMINAL] = "terminal",
};

static int take_stdout(const char *value, void *into)
{
	struct options *o = into;

	o->output_file = NULL;
	for (size_t i = 0; i < ARRAY_SIZE(output_names); i++) {
		if (output_names[i] && strcmp(value, output_names[i]) == 0) {
			o->stdout_to = (enum output_kind)i;
			return 0;
		}
	}
	o->stdout_to = OUTPUT_FILE;
	return option_filled(value, &o->output_file);
}

/* Whether the name can be used as an identifier by other tools, and is not a name that is always
 * written. Names that depend on the machine are refused by describe_setup(). */
static bool is_free_name(const char *name, size_t length)
{
	static const char *const taken[] = { "calibrate_warmups", "command_max_rss", "cpu_quota",
		"cpu_temp", "date", "duration", "inner_loops", "loops", "tags", "timer", "unit",
		"values", "warmups" };

	if (length == 0 || length > METADATA_NAME_MAX || (name[0] >= '0' && name[0] <= '9') ||
		strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_") < length ||
		text_starts_with(name, "quiesce_"))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(taken); i++)
		if (strlen(taken[i]) == length && memcmp(taken[i], name, length) == 0)
			return false;
	return true;
}

/* A history is put in order by it (bench-report trend), so that it has to be one. */
static int check_commit_date(const char *value)
{
	int64_t date;

	if (!text_starts_with(value, METADATA_COMMIT_DATE "=") ||
		metadata_parse_date(strchr(value, '=') + 1, &date) == 0)
		return 0;
	say("--metadata: " METADATA_COMMIT_DATE
	    " is written \"2026-11-20 10:14:10\", perhaps with a zone, as git's %%cI is");
	return -EINVAL;
}

static int take_metadata(const char *value, void *into)
{
	struct options *o = into;
	const char *equals = strchr(value, '=');

	if (!equals || !equals[1]) {
		say("--metadata: '%s' is not NAME=VALUE", value);
		return -EINVAL;
	}
	if (!is_free_name(value, (size_t)(equals - value))) {
		say("--metadata: '%.*s' cannot be the name: small letters, digits and _, and no name that runpinned or pyperf uses",
			(int)(equals - value), value);
		return -EINVAL;
	}
	if (check_commit_date(value) < 0)
		return -EINVAL;
	for (size_t i = 0; i < o->n_metadata; i++) {
		if (strncmp(o->metadata[i], value, (size_t)(equals - value) + 1) == 0) {
			say("--metadata: there are two values for '%.*s'", (int)(equals - value),
				value);
			return -EINVAL;
		}
	}
	if (o->n_metadata == OPTIONS_MAX_METADATA) {
		say("--metadata: more than %d of them", OPTIONS_MAX_METADATA);
		return -EINVAL;
	}
	o->metadata[o->n_metadata++] = value;
	return 0;
}

/* The length of NAME in "NAME=VALUE". */
static size_t variable_length(const char *text)
{
	return strcspn(text, "=");
}

bool options_is_same_variable(const char *a, const char *b)
{
	size_t length = variable_length(a);

	return length == variable_length(b) && memcmp(a, b, length) == 0;
}

bool options_has_variable(const char *const variables[], const char *text)
{
	for (; *variables; variables++)
		if (options_is_same_variable(*variables, text))
			return true;
	return false;
}

static bool is_same_variable(const struct option_variable *a, const struct option_variable *b)
{
	return options_is_same_variable(a->text, b->text) &&
		(a->program && b->program ? strcmp(a->program, b->program) == 0
					  : a->program == b->program);
}

/* Whether runpinned sets this variable itself. */
static bool is_own_variable(const char *text)
{
	static const char *const names[] = { VALUES_FD_VARIABLE, LAUNCH_RUN_VARIABLE,
		LAUNCH_RUN_FILL_VARIABLE, LAUNCH_PAD_VARIABLE, LAUNCH_FIGURES_VARIABLE };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (options_is_same_variable(names[i], text))
			return true;
	}
	return false;
}

/* NAME=VALUE, or PROGRAM:NAME=VALUE for one program. PROGRAM may have colons in it, NAME may not.
 */
static int take_env(const char *value, void *into)
{
	struct options *o = into;
	size_t length = variable_length(value);
	const char *colon = memrchr(value, ':', length);
	struct option_variable variable = { .text = colon ? colon + 1 : value };

	if (!value[length] || variable.text[0] == '=' || colon == value) {
		say("--env: '%s' is neither NAME=VALUE nor PROGRAM:NAME=VALUE", value);
		return -EINVAL;
	}
	if (is_own_variable(variable.text)) {
		say("--env: %.*s is set by runpinned itself", (int)variable_length(variable.text),
			variable.text);
		return -EINVAL;
	}
	if (colon)
		variable.program = options_own(o, strndup(value, (size_t)(colon - value)));
	for (size_t i = 0; i < o->n_variables; i++) {
		if (is_same_variable(&o->variables[i], &variable)) {
			say("--env: there are two values for '%.*s'", (int)length, value);
			return -EINVAL;
		}
	}
	if (o->n_variables == OPTIONS_MAX_VARIABLES) {
		say("--env: more than %d of them", OPTIONS_MAX_VARIABLES);
		return -EINVAL;
	}
	o->variables[o->n_variables++] = variable;
	return 0;
}

static int take_cpus(const char *value, void *into)
{
	return option_text(strcmp(value, "auto") == 0 ? NULL : value, into);
}

static int take_runs(const char *value, void *into)
{
	return parse_uint(value, 1, OPTIONS_MAX_RUNS, into);
}

static int take_control_length(const char *value, void *into)
{
	return parse_uint(value, 1, CONTROL_LENGTH_MAX, into);
}

/* A number, auto, or auto:N. */
static int take_warmups(const char *value, void *into)
{
	struct options *o = into;
	unsigned max_warmups = WARMUPS_MAX_DEFAULT;

	o->warmup_auto = text_starts_with(value, "auto") && (!value[4] || value[4] == ':');
	if (!o->warmup_auto)
		return parse_uint(value, 0, OPTIONS_MAX_RUNS, &o->warmups);
	if (value[4] &&
		parse_uint(value + 5, WARMUPS_MAX_LEAST, OPTIONS_MAX_RUNS, &max_warmups) < 0)
		return -EINVAL;
	o->warmups = 1;
	o->max_warmups = max_warmups;
	return 0;
}

static int take_rel_error(const char *value, void *into)
{
	return parse_double(value, 0.001, 100, into);
}

static int take_decide(const char *value, void *into)
{
	return parse_double(value, DECISION_PERCENT_MIN, DECISION_PERCENT_MAX, into);
}

/* A list of factors; without one, all that there are. */
static int take_vary(const char *value, void *into)
{
	struct options *o = into;
	char *rest, *name;

	o->vary = true;
	o->n_factors = 0;
	rest = value ? options_own(o, strdup(value)) : NULL;
	while ((name = strsep(&rest, ","))) {
		if (!why_is_factor(name) || is_own_variable(name))
			return -EINVAL;
		for (size_t i = 0; i < o->n_factors; i++)
			if (strcmp(o->factors[i], name) == 0)
				return -EINVAL;
		if (o->n_factors == LAUNCH_MAX_FACTORS)
			return -EINVAL;
		o->factors[o->n_factors++] = name;
	}
	return 0;
}

static int take_timeout(const char *value, void *into)
{
	double seconds;
	int r = parse_seconds(value, 0.001, 1e8, &seconds);

	if (r == 0)
		*(int64_t *)into = (int64_t)(seconds * NSEC_PER_SEC);
	return r;
}

static int take_seed(const char *value, void *into)
{
	struct options *o = into;

	o->seeded = true;
	return parse_u64(value, 0, INT64_MAX, &o->seed);
}

static int take_user(const char *value, void *into)
{
	struct options *o = into;

	o->as_user = true;
	o->user_name = NULL;
	return value ? option_filled(value, &o->user_name) : 0;
}

static int take_nice(const char *value, void *into)
{
	struct options *o = into;

	o->set_nice = true;
	return parse_int(value, -20, 19, &o->nice);
}

static int take_fifo(const char *value, void *into)
{
	if (value)
		return parse_int(value, 1, 99, into);
	*(int *)into = FIFO_PRIORITY_DEFAULT;
	return 0;
}

static int take_cooldown(const char *value, void *into)
{
	if (value)
		return parse_double(value, 0, 100, into);
	*(double *)into = COOLDOWN_DEGREES_DEFAULT;
	return 0;
}

/* full, none, no-core, half-core, core=TIME */
static int take_evidence(const char *value, void *into)
{
	struct options *o = into;
	double seconds;

	if (text_starts_with(value, "core=")) {
		int r = parse_seconds(value + strlen("core="), 10e-6, 0.1, &seconds);

		if (r < 0)
			return r;
		o->core_ns = llround(seconds * NSEC_PER_SEC);
	} else if (strcmp(value, "full") == 0 || strcmp(value, "half-core") == 0 ||
		strcmp(value, "records") == 0) {
		o->core_ns = OPTIONS_CORE_NS;
	} else if (strcmp(value, "no-core") == 0 || strcmp(value, "none") == 0) {
		o->core_ns = 0;
	} else {
		return -EINVAL;
	}
	o->records = strcmp(value, "records") == 0;
	o->core_half = strcmp(value, "half-core") == 0;
	o->no_evidence = strcmp(value, "none") == 0;
	return 0;
}

static const char *const stamper_names[] = {
	[STAMPER_LAUNCHER] = "launcher",
	[STAMPER_CORRECTED] = "corrected",
	[STAMPER_TASK_EVENT] = "task-event",
	[STAMPER_CPU_EVENTS] = "cpu-events",
	[STAMPER_TRACEPOINTS] = "tracepoints",
};

static int find_stamper(const char *name, enum stamper *ret)
{
	for (size_t i = 0; i < ARRAY_SIZE(stamper_names); i++)
		if (strcmp(name, stamper_names[i]) == 0) {
			*ret = (enum stamper)i;
			return 0;
		}
	return -EINVAL;
}

static int take_stamps(const char *value, void *into)
{
	struct options *o = into;

	o->stamper_given = find_stamper(value, &o->stamper) == 0;
	return o->stamper_given || strcmp(value, "auto") == 0 ? 0 : -EINVAL;
}

static int take_figure(const char *value, void *into)
{
	return figure_rules_add(into, value, false);
}

static int take_figure_json(const char *value, void *into)
{
	return figure_rules_add(into, value, true);
}

static int take_harness(const char *value, void *into)
{
	return figure_rules_add_harness(into, value);
}

static int take_benchmark(const char *value, void *into)
{
	struct options *o = into;

	for (size_t i = 0; i < o->n_benchmarks; i++) {
		if (strcmp(o->benchmarks[i], value) == 0) {
			say("--benchmark: '%s' is given twice", value);
			return -EINVAL;
		}
	}
	if (o->n_benchmarks == PARAMETER_VALUES_MAX) {
		say("--benchmark: more than %d of them", PARAMETER_VALUES_MAX);
		return -EINVAL;
	}
	return option_filled(value, &o->benchmarks[o->n_benchmarks++]);
}

static int take_unit(const char *value, void *into)
{
	return unit_parse_shown(value, into);
}

static int take_sort(const char *value, void *into)
{
	bool by_command = strcmp(value, "command") == 0;

	if (!by_command && strcmp(value, "speed") != 0)
		return -EINVAL;
	*(bool *)into = by_command;
	return 0;
}

static int take_verbose(const char *value _unused_, void *into)
{
	++*(unsigned *)into;
	return 0;
}

/* Refuses "-", by which other tools mean standard output, and some of ours standard input. */
static int check_files(const struct options *o)
{
	if (o->output && strcmp(o->output, "-") == 0) {
		say("-o: '-' is no file: --json writes to standard output; for a file of that name type ./-");
		return -EINVAL;
	}
	if (o->csv && strcmp(o->csv, "-") == 0) {
		say("--csv: '-' is no file: for standard output type /dev/stdout, or have JSON there by --json; for a file of that name type ./-");
		return -EINVAL;
	}
	return 0;
}

static int check_figures(const struct options *o)
{
	if (!figure_rules_are_there(&o->figures))
		return 0;
	if (o->show_output) {
		say("--show-output lets the program write elsewhere, and its figures are read in "
		    "what it writes: give one of them");
		return -EINVAL;
	}
	if (figure_rules_read(&o->figures, FIGURE_STDOUT) && o->stdout_to != OUTPUT_NULL &&
		o->stdout_to != OUTPUT_FILE) {
		say("--stdout %s: figures are read in a file, so that nobody reads while the "
		    "program runs: give --stdout FILE, or leave it out",
			options_stdout_name(o));
		return -EINVAL;
	}
	return 0;
}

/* Whether the harness runs its benchmarks one by one, and what cannot be asked for then. */
static int check_hosting(struct options *o)
{
	struct harness *harness = o->figures.harness;
	bool can_be = harness && harness->hosting.n_runs > 0;

	if (o->n_benchmarks > 0 && (!can_be || o->as_is)) {
		say(o->as_is ? "--benchmark chooses what --as-is runs all of: give one of them"
			     : "--benchmark needs a --harness that runs its benchmarks one by one: "
			       "quiesce-harness(5)");
		return -EINVAL;
	}
	if (o->as_is && !can_be) {
		say("--as-is needs a --harness that would change the command: quiesce-harness(5)");
		return -EINVAL;
	}
	if (harness &&
		harness_choose(harness, can_be && !o->as_is ? WHEN_HOSTED : WHEN_AS_IS) < 0) {
		say("--harness %s finds figures only where it changes the command: leave --as-is "
		    "out",
			harness->name);
		return -EINVAL;
	}
	if (!can_be || o->as_is)
		return 0;
	if (o->shell) {
		say("--harness %s adds words to the command, and --shell has a text in place of "
		    "words: leave --shell out, or give --as-is as well",
			harness->name);
		return -EINVAL;
	}
	o->host = xptr(calloc(1, sizeof(*o->host)));
	o->host->harness = o->figures.harness;
	return 0;
}

/* Refuses options that make no sense together, with the reason. */
static int check_combinations(struct options *o)
{
	bool goes_on;

	if (o->append && !o->output) {
		say("--append needs -o FILE: the file to add to");
		return -EINVAL;
	}
	if (o->strict && !o->quiesce) {
		say("--strict is about --quiesce, which was not given");
		return -EINVAL;
	}
	if (o->json && o->show_output) {
		say("--json and --show-output both want standard output: use -o FILE");
		return -EINVAL;
	}
	if (o->output && o->csv && file_is_same(o->output, o->csv)) {
		say("-o and --csv name the same file");
		return -EINVAL;
	}
	if (o->show_output && o->stdout_to != OUTPUT_NULL) {
		say("--show-output and --stdout both say where the output goes: give one of them");
		return -EINVAL;
	}
	if (check_hosting(o) < 0 || check_figures(o) < 0)
		return -EINVAL;
	if (o->no_evidence && o->cooldown >= 0) {
		say("--cooldown looks at the temperature, which --evidence none leaves out");
		return -EINVAL;
	}
	if (o->set_nice && o->fifo_priority) {
		say("--nice and --fifo exclude each other: SCHED_FIFO knows no niceness");
		return -EINVAL;
	}
	if (o->decide && o->improve) {
		say("--decide and --improve ask two questions: give one of them");
		return -EINVAL;
	}
	o->decide_option = o->improve ? "--improve" : "--decide";
	if (o->improve)
		o->decide = o->improve;
	if (o->rel_error && o->decide) {
		say("%s and --until-rel-error both say when the runs are enough: give one of them",
			o->decide_option);
		return -EINVAL;
	}
	if (o->vary && o->append) {
		say("--vary draws levels of its own for each measurement: --append would mix them with "
		    "other runs");
		return -EINVAL;
	}
	if (o->vary && (o->shell || o->control.is_control)) {
		say(o->shell ? "--vary is about a program, and --shell would start one between"
			     : "--vary is about one program, and --control is another one");
		return -EINVAL;
	}
	if (o->decide && o->append) {
		say("%s judges the pairs that it makes itself: --append would mix them with other "
		    "runs",
			o->decide_option);
		return -EINVAL;
	}
	if (o->decide && o->control.is_control) {
		say("%s compares programs in turn, which needs no --control", o->decide_option);
		return -EINVAL;
	}
	if (o->session && !o->decide) {
		say("--session is for --improve and --decide, and neither was given");
		return -EINVAL;
	}
	if (o->control_length && !o->control.is_shipped) {
		say(o->control.is_control
				? "--control-length is for the control that runpinned has itself, not for a COMMAND"
				: "--control-length needs --control");
		return -EINVAL;
	}
	/* A decision ends as soon as it is settled. */
	if (!o->runs)
		o->runs = o->decide ? 1 : o->vary ? RUNS_TO_VARY : RUNS_DEFAULT;
	if (o->decide && o->min_time_ns) {
		say("%s ends as soon as it is settled, whatever --min-time says: give one of them",
			o->decide_option);
		return -EINVAL;
	}
	if (o->max_time_ns && o->min_time_ns > o->max_time_ns) {
		say("--min-time is longer than --max-time");
		return -EINVAL;
	}
	goes_on = o->rel_error || o->decide || o->min_time_ns;
	if (o->max_runs && !goes_on) {
		say("--max-runs bounds --until-rel-error, --decide or --min-time, and none was "
		    "given: use -n for a number of runs");
		return -EINVAL;
	}
	if (goes_on && !o->max_runs)
		o->max_runs = o->rel_error || o->decide ? MAX(MAX_RUNS_DEFAULT, o->runs)
							: OPTIONS_MAX_RUNS;
	if (goes_on && o->max_runs < o->runs) {
		say("%s %u is less than -n %u", o->max_runs_option, o->max_runs, o->runs);
		return -EINVAL;
	}
	return 0;
}

/* The program behind the options is the last command. */
static int take_program(char *argv[], struct options *o)
{
	const char *slash, *name;

	if (!argv[0]) {
		if (o->n_programs == 0) {
			say("no program to run; see %s --help", program_invocation_short_name);
			return -EINVAL;
		}
		if (o->programs[0].name == baseline_name && o->n_programs == 1) {
			say("--baseline needs a PROGRAM to compare with it; see %s --help",
				program_invocation_short_name);
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
	if (o->shell && argv[1]) {
		say("--shell runs one text, and there is '%s' behind it: put all between quotes",
			argv[1]);
		return -EINVAL;
	}
	/* The name of the program's file, without its folders. */
	slash = o->shell ? NULL : strrchr(argv[0], '/');
	name = slash && slash[1] ? slash + 1 : argv[0];
	return add_program(o,
		(struct option_program){
			.name = o->name ? o->name : name,
			.option = "--shell",
			.text = o->shell ? argv[0] : NULL,
			.argv = argv,
		});
}

static void usage(const struct option_row *rows)
{
	fputs("Usage: runpinned [OPTIONS] [--] PROGRAM [ARGUMENT...]\n"
	      "       runpinned [OPTIONS] --baseline 'PROGRAM [ARGUMENT...]' [--] PROGRAM...\n"
	      "Run PROGRAM again and again on a CPU of its own, time each run from outside, and\n"
	      "keep the evidence of what disturbed it.\n"
	      "\n",
		stdout);
	option_rows_print(rows, stdout);
	fputs("\n"
	      "Exit status: 0 done, 1 failed (or the program did), 2 wrong use, 130 or 143\n"
	      "interrupted. With --decide also 0 not slower by PCT %, 3 slower by more than\n"
	      "PCT/2 %, 4 not settled by --max-runs or --max-time; with --improve 0 faster, 3\n"
	      "not faster. See runpinned(1).\n",
		stdout);
}

/* Returns what option_rows_read() returns. The ranks give the order in which the options are named
 * when --c, --co, --e, --n or --no is ambiguous. */
static int read_options(int argc, char *argv[], struct options *o)
{
	const struct option_row rows[] = {
		{ .help = "What is run:" },
		{ 'c', "cpus", "LIST",
			"on these CPUs, as in 3 or 2-3,8; auto (the default)\n"
			"takes those of a running benchmark.target, else\n"
			"the isolated ones, else the best one",
			take_cpus, &o->cpus },
		{ 0, "quiesce", NULL,
			"make the machine quiet before, and put it back after\n"
			"(root), see benchmark.target(7)",
			option_set, &o->quiesce },
		{ 0, "strict", NULL, "--quiesce: an error unless all of it can be done", option_set,
			&o->strict },
		{ 'n', "runs", "N", "this many runs (default 25)", take_runs, &o->runs,
			"a whole number from 1 to 100000000" },
		{ 'w', "warmup", "N",
			"this many before, recorded, not counted (default 1);\n"
			"auto: until the times are on one level, up to 100\n"
			"(auto:N: up to N), and without what a run has before\n"
			"the level of values of its own",
			take_warmups, o,
			"a whole number from 0 to 100000000, auto, or auto:N with N from 15 on" },
		{ 0, "until-rel-error", "PCT",
			"go on until half the width of the 95 % interval of\n"
			"the median is at most PCT per cent of it",
			take_rel_error, &o->rel_error, "a per cent figure from 0.001 to 100" },
		{ 0, "max-runs", "N",
			"but stop after N runs, with --until-rel-error or\n"
			"--decide (default 1000) or --min-time (no default)",
			take_runs, &o->max_runs, "a whole number from 1 to 100000000" },
		{ 0, "min-time", "SECONDS", "go on until all runs together have taken this long",
			take_timeout, &o->min_time_ns,
			"a time such as 10, 1.5 or 2min (at least 1ms)", .rank = 1 },
		{ 0, "max-time", "SECONDS",
			"but begin no round of runs after this time, even if\n"
			"there were fewer than -n",
			take_timeout, &o->max_time_ns,
			"a time such as 10, 1.5 or 2min (at least 1ms)", .rank = 1 },
		{ 0, "timeout", "SECONDS", "kill a run, and all it started, that takes longer",
			take_timeout, &o->timeout_ns,
			"a time such as 10, 1.5 or 2min (at least 1ms)" },
		{ 0, "ignore-failure", "[=STATUS,...]",
			"go on when the program fails, or ends with one of\n"
			"these exit statuses",
			take_ignore_failure, o,
			"a list of exit statuses from 1 to 255, such as 1,3" },
		{ 0, "shell", "[=SHELL]",
			"PROGRAM and each COMMAND are texts for a shell\n"
			"(/bin/sh), whose own start is shown beside",
			take_shell, &o->shell, "a shell", .once = true },
		{ 0, "show-output", NULL, "let the program write where runpinned writes",
			option_set, &o->show_output },
		{ 0, "input", "FILE",
			"its standard input, read from the start by each run\n"
			"(default: /dev/null)",
			option_filled, &o->input, "a file name", .once = true },
		{ 0, "stdout", "FILE",
			"where its standard output goes: FILE, emptied before\n"
			"each run; null (the default); pipe; pipe-here, read\n"
			"on the program's own CPU; or terminal, one of its\n"
			"own, which is its standard input as well",
			take_stdout, o, "a file name, null, pipe, pipe-here or terminal",
			.once = true },
		{ 0, "no-wait", NULL, "fail if another runpinned has the CPU", option_set,
			&o->no_wait, .rank = 2 },

		{ .help = "\nShell commands around the runs, outside of what is timed (given again: "
			  "the\nn-th belongs to the n-th program):" },
		{ 0, "setup", "COMMAND", "before all runs", take_hook, &o->hooks[HOOK_SETUP],
			"a shell command" },
		{ 0, "prepare", "COMMAND", "before each run", take_hook, &o->hooks[HOOK_PREPARE],
			"a shell command" },
		{ 0, "conclude", "COMMAND", "after each run", take_hook, &o->hooks[HOOK_CONCLUDE],
			"a shell command" },
		{ 0, "cleanup", "COMMAND", "after all runs", take_hook, &o->hooks[HOOK_CLEANUP],
			"a shell command" },
		{ 0, "hook-timeout", "SECONDS",
			"kill one that takes longer, and fail (default 600)", take_timeout,
			&o->hook_timeout_ns, "a time such as 10, 1.5 or 2min (at least 1ms)" },

		{ .help = "\nSeveral programs, in turn, in an order that is drawn anew for each "
			  "round:" },
		{ 0, "baseline", "COMMAND", "this one, too, and compare PROGRAM with it",
			take_baseline, o },
		{ 0, "command", "NAME=COMMAND",
			"this one, too; may be given again. All are compared\n"
			"with the baseline, or else with the first one",
			take_command, o, .rank = 2 },
		{ 0, "control", "[=COMMAND]",
			"a program that stays the same, too: compare takes it\n"
			"for a measure of the machine (default: one of ours)",
			take_control, o, .rank = 2 },
		{ 0, "control-length", "N",
			"of our own control, in rounds (default: it takes\n"
			"about as long as the first program)",
			take_control_length, &o->control_length,
			"a whole number from 1 to 1000000000", .rank = 2 },
		{ 'L', "parameter-list", "NAME=VALUE,...",
			"one program for each VALUE, which takes the place of\n"
			"{NAME} in commands and hooks; may be given again",
			take_parameter_list, &o->parameters },
		{ 'P', "parameter-scan", "NAME=FROM..TO[:STEP]",
			"the same with numbers, such as 1..8 or 0..1:0.25", take_parameter_range,
			&o->parameters },
		{ 0, "decide", "PCT",
			"run in pairs until it is settled whether a program\n"
			"is slower than the baseline by PCT per cent",
			take_decide, &o->decide, "a per cent figure from 0.01 to 50", .rank = 1 },
		{ 0, "improve", "PCT",
			"the same for whether it is faster than the baseline\n"
			"by PCT per cent",
			take_decide, &o->improve, "a per cent figure from 0.01 to 50", .rank = 1 },
		{ 0, "session", "FILE",
			"that is one of a series of tries, which FILE counts:\n"
			"each wants more evidence than those before it",
			option_filled, &o->session, "a file name", .once = true, .rank = 2 },
		{ 0, "metric", "NAME",
			"by this figure, user_cpu, ... or time, which is how\n"
			"long it ran (default: its first figure)",
			option_filled, &o->metric, "a name", .once = true, .rank = 2 },
		{ 0, "seed", "N",
			"draw the same orders, or levels of --vary, as a run\n"
			"that recorded N",
			take_seed, o, "a whole number from 0 to 2^63 - 1" },

		{ .help = "\nWhat the program finds:" },
		{ 0, "no-aslr", NULL, "the same address layout in every run", option_set,
			&o->no_aslr, .rank = 1 },
		{ 0, "env", "NAME=VALUE",
			"this variable; PROGRAM:NAME=VALUE for one program\n"
			"alone; may be given again",
			take_env, o, .rank = 1 },
		{ 0, "env-pad", "HOW",
			"more environment: random[:SEED], a number of\n"
			"bytes, or none (the default)",
			take_env_pad, o,
			"none, random, random:SEED or a number of bytes up to 65536", .rank = 1 },
		{ 0, "clear-env", NULL, "an environment of PATH, --env and our own variables",
			option_set, &o->clear_env, .rank = 1 },
		{ 0, "vary", "[=FACTOR,...]",
			"draw addresses, environment, argv0, directory, file\n"
			"and hash seeds (PYTHONHASHSEED, ...) anew for each\n"
			"run, and tell which of them move the result",
			take_vary, o,
			"a list of addresses, environment, argv0, directory, file and names of variables, each once",
			.rank = 1 },
		{ 0, "user", "[=NAME]",
			"root: run it, and the commands around the runs, as\n"
			"who has called sudo, or as NAME, who gets the files",
			take_user, o, "a user", .once = true },
		{ 0, "nice", "N", "run with niceness N", take_nice, o,
			"a whole number from -20 to 19", .rank = 1 },
		{ 0, "fifo", "[=PRIORITY]", "run with SCHED_FIFO (default 50)", take_fifo,
			&o->fifo_priority, "a whole number from 1 to 99" },
		{ 0, "drop-caches", NULL, "drop the caches of files before each run (root)",
			option_set, &o->drop_caches },
		{ 0, "cooldown", "[=DEGREES]",
			"before each run wait until the package is within\n"
			"DEGREES (default 3) of where it began",
			take_cooldown, &o->cooldown, "a number of degrees from 0 to 100",
			.rank = 1 },

		{ .help = "\nFigures that the program gives itself, in place of its time:" },
		{ 0, "harness", "NAME", "those of this harness: wrk, fio, ..., or FILE.conf",
			take_harness, &o->figures, .once = true },
		{ 0, "benchmark", "NAME",
			"this benchmark of the harness, in processes of its\n"
			"own; may be given again (default: all)",
			take_benchmark, o },
		{ 0, "as-is", NULL,
			"run the program as it is given, all benchmarks in\n"
			"one process",
			option_set, &o->as_is },
		{ 0, "figure", "NAME[,WORD]...=PATTERN",
			"the number that the group of PATTERN matches in its\n"
			"standard output; words: a unit; lower or higher;\n"
			"exact; each, last or sum; stderr or @FILE",
			take_figure, &o->figures },
		{ 0, "figure-json", "NAME[,WORD]...=PATH",
			"the number at PATH in its JSON, as .jobs[0].read.bw", take_figure_json,
			&o->figures },

		{ .help = "\nWhat is kept:" },
		{ 'o', "output", "FILE", "write the result, as pyperf JSON, to FILE", option_filled,
			&o->output, "a file name", .once = true },
		{ 0, "append", NULL, "add to FILE instead of replacing it", option_set,
			&o->append },
		{ 0, "json", NULL, "write the result to standard output", option_set, &o->json },
		{ 0, "csv", "FILE",
			"write one line per run to FILE, and one per\n"
			"value that the program measured itself",
			option_filled, &o->csv, "a file name", .once = true },
		{ 0, "no-save", NULL, "keep no result unless -o, --json or --csv says so",
			option_set, &o->no_save, .rank = 2 },
		{ 0, "name", "NAME", "the benchmark's name (default: the program's)", option_filled,
			&o->name, "a name", .once = true },
		{ 0, "metadata", "NAME=VALUE",
			"keep this with the result, such as\n"
			"commit_id=1a2b3c; may be given again",
			take_metadata, o },
		{ 'e', "events", "EVENT,...", "count these hardware or software events, too",
			option_filled, &o->events, "a list of events", .once = true },
		{ 0, "evidence", "HOW",
			"full (the default), no-core (without a look at\n"
			"the core before and after each run), core=TIME\n"
			"(how long it takes: 150us), half-core (around\n"
			"every other run only), records (full, and the\n"
			"records of all tasks, which take time inside\n"
			"the runs), or none",
			take_evidence, o,
			"full, no-core, half-core, core=TIME with a time from 10us to 100ms, records, or none",
			.rank = 1 },
		{ 0, "stamps", "WHOSE",
			"who stamps the runs: auto (the default),\n"
			"tracepoints, cpu-events, task-event, corrected\n"
			"or launcher",
			take_stamps, o,
			"auto, tracepoints, cpu-events, task-event, corrected or launcher",
			.rank = 1 },

		{ .help = "" },
		{ 'q', "quiet", NULL, "only warnings and errors", option_set, &o->quiet },
		{ 'v', "verbose", NULL, "say more; twice: a line per run", take_verbose,
			&o->verbose },
		{ 0, "unit", "UNIT", "show all times in s, ms, us or ns", take_unit, &o->unit,
			"s, ms, us or ns", .rank = 1 },
		{ 0, "sort", "HOW",
			"the order of several programs at the end: by speed\n"
			"(the default), or command: as they were given",
			take_sort, &o->sort_by_command, "speed or command", .rank = 2 },
		{ 0, "dry-run", NULL, "say what would be done, and do nothing", option_set,
			&o->dry_run },
		{ 'h', "help", .help = "this text" },
		{ 'V', "version", .help = "the version" },

		/* hyperfine's */
		{ 'r', .instead = "how many runs is -n (--runs)" },
		{ 'N', .instead = "there is no shell unless --shell asks for one" },
		{ 'S', .instead = "write --shell, or --shell=SHELL" },
		{ 'm', "min-runs", .instead = "write -n (--runs), which are made at least" },
		{ 'M', .instead = "write --max-runs" },
		{ 'i', .instead = "write --ignore-failure" },
		{ 'p', .instead = "write --prepare" },
		{ 's', .instead = "write --setup" },
		{ 'u', "time-unit", .instead = "write --unit" },
		{ 'D', "parameter-step-size", .instead = "write -P NAME=FIRST..LAST:STEP" },
		{ 0, "command-name", .instead = "write --name" },
		{ 0, "reference", .instead = "write --baseline" },
		{ 0, "min-benchmarking-time", .instead = "write --min-time" },
		{ 0, "export-json", .instead = "write -o FILE (--output)" },
		{ 0, "export-csv", .instead = "write --csv FILE" },
		{ 0, "export-markdown",
			.instead = "write -o FILE, and then bench-report show --markdown FILE" },
		{ 0 },
	};
	/* Rows beyond are read by nobody. */
	_Static_assert(ARRAY_SIZE(rows) <= OPTION_ROWS_MAX, "room for all options");
	int r = option_rows_read("+", rows, argc, argv);

	if (r == 'h')
		usage(rows);
	else if (r == 'V')
		print_version("runpinned");
	return r;
}

static int parse_all(int argc, char *argv[], struct options *o)
{
	int r;

	r = read_options(argc, argv, o);
	if (r != 0)
		return r;
	r = check_files(o);
	if (r == 0)
		r = check_combinations(o);
	if (r < 0)
		return r;
	o->is_marked = optind > 1 && strcmp(argv[optind - 1], "--") == 0;
	r = take_program(argv + optind, o);
	if (r == 0 && o->control.is_control) {
		r = add_program(o, o->control);
		o->control = (struct option_program){ 0 };
	}
	return r;
}

int options_parse(int argc, char *argv[], struct options *ret)
{
	struct options o = {
		.max_runs_option = "--max-runs",
		.warmups = 1,
		.cooldown = -1,
		.hook_timeout_ns = HOOK_TIMEOUT_DEFAULT_S * NSEC_PER_SEC,
		.core_ns = OPTIONS_CORE_NS,
	};
	int r;

	r = parse_all(argc, argv, &o);
	if (r != 0)
		options_clear(&o);
	else
		*ret = o;
	return r;
}

static int check_all(struct options *o)
{
	int r = check_files(o);

	return r == 0 ? check_combinations(o) : r;
}

const struct option_takers option_takers = {
	.cpus = take_cpus,
	.runs = take_runs,
	.rel_error = take_rel_error,
	.seconds = take_timeout,
	.baseline = take_baseline,
	.command = take_command,
	.parameter_list = take_parameter_list,
	.parameter_range = take_parameter_range,
	.decide = take_decide,
	.seed = take_seed,
	.env = take_env,
	.figure = take_figure,
	.figure_json = take_figure_json,
	.harness = take_harness,
	.metadata = take_metadata,
	.verbose = take_verbose,
	.check = check_all,
	.program = take_program,
};

const char *options_stamper_name(enum stamper stamper)
{
	return stamper_names[stamper];
}

void options_follow_stamper(struct options *options, const char *name)
{
	enum stamper stamper;

	if (options->stamper_given || !name || find_stamper(name, &stamper) < 0)
		return;
	/* Those who can have tracepoints have them anyway. */
	if (stamper == STAMPER_TRACEPOINTS || (stamper == STAMPER_CPU_EVENTS && geteuid() != 0))
		return;
	options->stamper = stamper;
	options->stamper_given = true;
}

const char *options_hook_name(enum hook_kind kind)
{
	static const char *const names[HOOK_KINDS] = { "setup", "prepare", "conclude", "cleanup" };

	return names[kind];
}

const char *options_stdout_name(const struct options *options)
{
	return options->stdout_to == OUTPUT_NULL ? NULL : output_names[options->stdout_to];
}

const char *options_evidence_name(const struct options *options)
{
	return options->no_evidence		      ? "none"
		: options->records		      ? "records"
		: options->core_ns == 0		      ? "no-core"
		: options->core_half		      ? "half-core"
		: options->core_ns != OPTIONS_CORE_NS ? "core"
						      : "full";
}

size_t options_count_programs(const struct options *options)
{
	size_t n = options->n_commands;

	return n > 0 && options->commands[n - 1].is_control ? n - 1 : n;
}

void *options_own(struct options *options, void *memory)
{
	options->owned =
		xptr(reallocarray(options->owned, options->n_owned + 1, sizeof(*options->owned)));
	options->owned[options->n_owned++] = xptr(memory);
	return memory;
}

void options_clear(struct options *options)
{
	for (size_t i = 0; i < options->n_owned; i++)
		free(options->owned[i]);
	free(options->owned);
	parameters_clear(&options->parameters);
	host_free(options->host);
	figure_rules_clear(&options->figures);
	user_free(options->user);
	*options = (struct options){ 0 };
}
