// SPDX-License-Identifier: GPL-2.0-or-later
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/machine/identity.h"
#include "base/macro.h"
#include "base/say.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "config.h"
#include "judge/result/metadata.h"
#include "judge/stats/stats.h"
#include "measure/describe.h"
#include "measure/program.h"
#include "measure/session.h"
#include "measure/slurm.h"

/* A fact would be missing. */
static void check(const struct facts *facts)
{
	if (facts->failed)
		xalloc_fail();
}

/* What --ignore-failure says. */
static void describe_ignored(const struct options *options, struct facts *facts)
{
	_cleanup_text_ struct text t = { 0 };

	for (int i = 0; i < (int)ARRAY_SIZE(options->ignored_statuses); i++) {
		if (options->ignored_statuses[i])
			text_appendf(&t, "%s%d", t.length > 0 ? "," : "", i);
	}
	if (options->ignore_failure)
		text_appendf(&t, "%sall", t.length > 0 ? "," : "");
	if (t.failed)
		xalloc_fail();
	if (t.length > 0)
		facts_set_string(facts, "quiesce_ignore_failure", t.data);
}

static void describe_how(const struct options *options, struct facts *facts)
{
	facts_set_integer(facts, "quiesce_runs_asked_for", options->runs);
	if (options->rel_error > 0) {
		facts_set_real(facts, "quiesce_until_rel_error", options->rel_error);
		facts_set_integer(facts, "quiesce_max_runs", options->max_runs);
	}
	if (options->decide > 0) {
		facts_set_real(facts, "quiesce_decide", options->decide);
		facts_set_integer(facts, "quiesce_max_runs", options->max_runs);
	}
	facts_set_string(facts, METADATA_METRIC, options->metric);
	if (options->min_time_ns > 0)
		facts_set_real(
			facts, "quiesce_min_time", (double)options->min_time_ns / NSEC_PER_SEC);
	if (options->max_time_ns > 0)
		facts_set_real(
			facts, "quiesce_max_time", (double)options->max_time_ns / NSEC_PER_SEC);
	if (options->no_aslr) {
		/* pyperf's key and words: they describe what the program finds. */
		facts_set_string(facts, "aslr", "No randomization");
		facts_set_string(facts, "quiesce_aslr", "off (--no-aslr)");
	}
	if (options->user)
		facts_set_string(facts, "quiesce_user", options->user->name);
	if (options->set_nice)
		facts_set_integer(facts, "quiesce_nice", options->nice);
	if (options->fifo_priority > 0)
		facts_set_integer(facts, "quiesce_fifo", options->fifo_priority);
	if (options->timeout_ns > 0)
		facts_set_real(
			facts, "quiesce_timeout", (double)options->timeout_ns / NSEC_PER_SEC);
	if (options->cooldown >= 0)
		facts_set_real(facts, "quiesce_cooldown", options->cooldown);
	if (options->drop_caches)
		facts_set_string(facts, "quiesce_drop_caches", "yes");
	if (options->shell)
		facts_set_string(facts, "quiesce_shell", options->shell);
	describe_ignored(options, facts);
	if (options->clear_env)
		facts_set_string(facts, "quiesce_environment", "cleared");
	facts_set_string(facts, "quiesce_evidence", options_evidence_name(options));
	switch (options->env_pad) {
	case ENV_PAD_FIXED:
		facts_set_stringf(facts, "quiesce_env_padding", "%u", options->env_pad_bytes);
		break;
	case ENV_PAD_RANDOM:
		facts_set_string(facts, "quiesce_env_padding", "random");
		break;
	default:
		facts_set_string(facts, "quiesce_env_padding", "none");
	}
}

static void describe_parameters(
	const struct options *options, const struct command *command, struct facts *facts)
{
	for (size_t i = 0; i < options->parameters.n; i++) {
		char name[64];

		snprintf(name, sizeof(name), "parameter_%s", options->parameters.items[i].name);
		if (command->values[i])
			facts_set_string(facts, name, command->values[i]);
	}
}

static void describe_streams(
	const struct options *options, const struct command *command, struct facts *facts)
{
	const char *name = options_stdout_name(options);

	facts_set_string(facts, "quiesce_input",
		command->input					? command->input
			: options->stdout_to == OUTPUT_TERMINAL ? "terminal"
								: "/dev/null");
	facts_set_string(facts, "quiesce_output",
		options->show_output	       ? "shown"
			: name		       ? name
			: command->output_file ? command->output_file
					       : "/dev/null");
}

/* The variables of --env, quoted as env(1) would have to get them. */
static void describe_variables(const struct command *command, struct facts *facts)
{
	_cleanup_text_ struct text t = { 0 };

	for (size_t i = 0; command->variables[i]; i++) {
		/* As the second word, since a first one with a "=" would be more than a word. */
		char *const words[] = { (char *)"", (char *)command->variables[i], NULL };
		_cleanup_free_ char *quoted = xptr(text_quote_argv(words));

		text_append(&t, quoted + strlen(i > 0 ? "''" : "'' "));
	}
	if (t.failed)
		xalloc_fail();
	if (t.length > 0)
		facts_set_string(facts, "quiesce_env", t.data);
}

static void describe_hooks(const struct command *command, struct facts *facts)
{
	for (enum hook_kind kind = 0; kind < HOOK_KINDS; kind++) {
		char name[32];

		snprintf(name, sizeof(name), "quiesce_%s", options_hook_name(kind));
		if (command->hooks[kind])
			facts_set_string(facts, name, command->hooks[kind]);
	}
}

/* The names of all programs, and of the one that this one is compared with. */
static void describe_interleaved(
	const struct options *options, const struct command *command, struct facts *facts)
{
	_cleanup_text_ struct text t = { 0 };

	if (options->n_commands < 2)
		return;
	for (size_t i = 0; i < options->n_commands; i++)
		text_appendf(&t, "%s%s", i > 0 ? ", " : "", options->commands[i].name);
	if (t.failed)
		xalloc_fail();
	facts_set_string(facts, "quiesce_interleaved", t.data);
	if (!command->is_control)
		facts_set_string(facts, METADATA_BASELINE, options->commands[command->old].name);
}

void describe_control(struct commands *commands)
{
	struct command *control = &commands->items[commands->n - 1];
	_cleanup_free_ char *words = NULL;
	uint64_t hash;
	int r;

	if (!control->is_control)
		return;
	words = xptr(text_quote_argv(control->argv));
	r = program_hash(control->program, &hash);
	for (size_t i = 0; i < commands->n; i++) {
		struct facts *facts = &commands->items[i].facts;

		facts_set_string(facts, BENCHMARK_CONTROL, words);
		/* A file that may be executed but not read is one that nobody can recognise. */
		if (r == 0)
			facts_set_stringf(facts, BENCHMARK_CONTROL_HASH, "%016" PRIx64, hash);
		check(facts);
	}
	facts_set_string(&control->facts, "command", words);
	facts_set_string(&control->facts, BENCHMARK_ROLE, BENCHMARK_ROLE_CONTROL);
	check(&control->facts);
}

/* Some names are pyperf's, for numbers: a result with a text there could not be written. */
static int check_given(const char *name, const char *value)
{
	_cleanup_facts_ struct facts written = { 0 };
	const struct fact *fact;
	const char *objection;

	metadata_set_string(&written, name, value);
	check(&written);
	fact = facts_find(&written, name);
	objection = fact ? metadata_judge(name, fact) : NULL;
	if (!objection)
		return 0;
	say("--metadata: '%s' is a name of pyperf's, and this value %s", name, objection);
	return -EINVAL;
}

/* What --metadata says. -EINVAL, after saying so, when runpinned itself writes one of the names. */
static int describe_given(const struct options *options, struct facts *facts)
{
	for (size_t i = 0; i < options->n_metadata; i++) {
		const char *value = strchr(options->metadata[i], '=');
		_cleanup_free_ char *name =
			xptr(strndup(options->metadata[i], (size_t)(value - options->metadata[i])));
		int r;

		if (facts_find(facts, name) || identity_is_setting(name)) {
			say("--metadata: '%s' is written by runpinned itself", name);
			return -EINVAL;
		}
		r = check_given(name, value + 1);
		if (r < 0)
			return r;
		facts_set_string(facts, name, value + 1);
	}
	return 0;
}

void describe_moving(const struct place *place, struct facts *facts)
{
	xcheck(identity_read_moving(place->cpus, NULL, facts));
}

void describe_machine(const struct place *place, const struct facts *moving, struct facts *facts)
{
	xcheck(identity_read(place->cpus, 0, facts));
	facts_copy(facts, moving);
	check(facts);
}

void describe_machine_again(const struct place *place, struct facts *facts)
{
	xcheck(identity_read_settings(place->cpus, 0, facts));
	xcheck(identity_read_load(place->cpus, facts));
}

int describe_setup(const struct options *options, const struct command *command,
	const struct place *place, const struct facts *machine, struct facts *facts)
{
	_cleanup_free_ char *words =
		xptr(text_quote_argv(command->typed ? command->typed : command->argv));
	_cleanup_free_ char *housekeeping = xptr(cpumask_format_list(place->housekeeping));
	int r;

	facts_set_string(facts, "name", command->name);
	facts_set_string(facts, "command", words);
	describe_interleaved(options, command, facts);
	facts_set_integer(facts, "loops", 1);
	facts_set_string(facts, "quiesce_version", QUIESCE_VERSION);
	facts_set_string(facts, "quiesce_cpus", place->cpus_text);
	if (place->reason)
		facts_set_string(facts, "quiesce_cpus_reason", place->reason);
	if (*housekeeping)
		facts_set_string(facts, "quiesce_housekeeping", housekeeping);
	slurm_describe(facts);
	facts_copy(facts, machine);
	describe_how(options, facts);
	describe_hooks(command, facts);
	describe_parameters(options, command, facts);
	describe_streams(options, command, facts);
	if (options->figures.harness)
		facts_set_string(facts, "quiesce_harness", options->figures.harness->name);
	describe_variables(command, facts);
	r = describe_given(options, facts);
	check(facts);
	return r;
}

/* Frequencies and load: the difference from the values at the start shows what the benchmark itself
 * has changed. */
static void describe_moved(const struct facts *now, struct facts *facts)
{
	static const char *const names[] = { "load_avg_1min", "runnable_threads", "cpu_freq" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		const struct fact *fact = facts_find(now, names[i]);
		char name[64];

		if (!fact)
			continue;
		snprintf(name, sizeof(name), "quiesce_after_%s", names[i]);
		facts_set_copy(facts, name, fact);
	}
}

static void describe_inspections(const struct measurement *measurement, struct facts *facts)
{
	_cleanup_free_ double *values = NULL;
	double typical = NAN;
	size_t n;

	if (series_values(measurement->series, &values, &n) == 0) {
		stats_sort(values, n);
		typical = stats_median(values, n);
	}
	inspections_describe(
		&measurement->inspections, measurement->all_have_records, typical, facts);
}

/* The median of how many values of a figure come before their level; NAN where none is known. */
static double find_before_level(const struct series *series)
{
	_cleanup_free_ double *before =
		xptr(reallocarray(NULL, series->n_samples + 1, sizeof(*before)));
	size_t n = 0;

	for (size_t i = 0; series->with_evidence && i < series->n_samples; i++)
		if (sample_counts(&series->samples[i]) &&
			series->evidence[i].figure_before_level >= 0)
			before[n++] = series->evidence[i].figure_before_level;
	stats_sort(before, n);
	return n > 0 ? stats_median(before, n) : NAN;
}

/* How many of the values of a figure come before their level, or how many warm-ups --warmup auto
 * has made. */
static void describe_warmup(const struct measurement *m, struct facts *facts)
{
	double before = m->hosted ? NAN : find_before_level(m->series);
	char text[96];

	if (m->n_looked_for_level == 0 && !(before > 0))
		return;
	if (before >= (double)m->n_figure_values)
		snprintf(text, sizeof(text), "the %zu values of a run end on no level",
			m->n_figure_values);
	else if (before > 0)
		snprintf(text, sizeof(text), "%.0f of %zu values of a run come before the level%s",
			before, m->n_figure_values, m->leaves_out ? ": left out" : "");
	else if (m->n_before_level < m->n_looked_for_level)
		snprintf(text, sizeof(text), "%zu runs, %zu before the level", m->n_warmups,
			m->n_before_level);
	else
		snprintf(text, sizeof(text), "%zu runs, no level", m->n_warmups);
	facts_set_string(facts, METADATA_WARMUP, text);
}

void describe_outcome(const struct measurement *measurement, const struct evidence_reader *evidence,
	const struct facts *now, struct facts *facts)
{
	facts_set_string(facts, "timer",
		measurement->series->clock == WINDOW_KERNEL
			? "exec to exit, CLOCK_MONOTONIC_RAW"
			: "stamps before execve and after wait, CLOCK_MONOTONIC_RAW");
	facts_set_string(facts, METADATA_STAMPS,
		options_stamper_name(measurement->series->clock == WINDOW_KERNEL
				? measurement->stamper
				: STAMPER_LAUNCHER));
	if (measurement->gap.median_ns > 0) {
		facts_set_real(facts, "quiesce_gap",
			(double)measurement->gap.median_ns / (double)NSEC_PER_SEC);
		facts_set_real(facts, "quiesce_gap_spread",
			(double)measurement->gap.spread_ns / (double)NSEC_PER_SEC);
	}
	describe_inspections(measurement, facts);
	describe_warmup(measurement, facts);
	/* facts_set_real() ignores a NAN, which stands for a figure that was not measured. */
	facts_set_real(facts, "quiesce_floor_kernel_before", measurement->floor.kernel_seconds);
	facts_set_real(facts, "quiesce_floor_user_before", measurement->floor.user_seconds);
	facts_set_real(facts, "quiesce_floor_user_cpu", measurement->floor.user_cpu_seconds);
	facts_set_real(facts, "quiesce_floor_system_cpu", measurement->floor.system_cpu_seconds);
	facts_set_real(facts, "quiesce_floor_max_rss", measurement->floor.max_rss_bytes);
	facts_set_real(
		facts, "quiesce_floor_shell_kernel_before", measurement->shell.kernel_seconds);
	facts_set_real(facts, "quiesce_floor_shell_user_before", measurement->shell.user_seconds);
	if (measurement->env_pad_seeded)
		facts_set_integer(
			facts, "quiesce_env_pad_seed", (int64_t)measurement->env_pad_seed);
	if (facts_find(facts, "quiesce_interleaved"))
		facts_set_integer(facts, "quiesce_order_seed", (int64_t)measurement->order_seed);
	facts_set_stringf(facts, METADATA_SITTING, "%014" PRIx64, measurement->sitting);
	if (measurement->decision.n_pairs > 0)
		decision_write(&measurement->decision, facts);
	if (measurement->window_error)
		facts_set_string(
			facts, "quiesce_window_error", strerror(measurement->window_error));
	if (measurement->core_error)
		facts_set_string(facts, "quiesce_core_error", strerror(measurement->core_error));
	if (evidence)
		facts_set_string(facts, "quiesce_run_delay_of",
			measurement->unknown_waiting ? "inspections" : "all tasks");
	if (evidence && evidence_sensor(evidence))
		facts_set_string(facts, "quiesce_sensor", evidence_sensor(evidence));
	if (measurement->out_of_time)
		facts_set_string(facts, "quiesce_ended_by", "--max-time");
	if (measurement->end != MEASURE_COMPLETE)
		facts_set_string(facts, "quiesce_incomplete", measurement->incomplete);
	if (measurement->n_refused > 0)
		facts_set_integer(facts, "quiesce_values_refused", (int64_t)measurement->n_refused);
	describe_moved(now, facts);
	check(facts);
}

void describe_quota(const struct place *place, struct commands *commands)
{
	for (size_t i = 0; i < commands->n; i++)
		xcheck(identity_set_quota(session_find_limited(&commands->items[i], place),
			&commands->items[i].facts));
}

/* Whether the fact is compared with what it was before the runs. `aslr` is what the program finds,
 * which --no-aslr decides. */
static bool is_compared(const struct fact *fact)
{
	return fact->type == FACT_STRING && identity_is_setting(fact->name) &&
		strcmp(fact->name, "aslr") != 0;
}

static void append_change(struct text *t, const char *name, const char *was, const char *is)
{
	text_appendf(t, "%s%s was '%s', is '%s'", t->length > 0 ? "; " : "", name, was, is);
}

char *describe_changes(const struct place *place, struct facts *now, struct command *command)
{
	struct facts *facts = &command->facts;
	const char *parts = facts_find_string(facts, "quiesce_changed");
	_cleanup_text_ struct text t = { 0 };
	char *text;

	text_append(&t, parts ? parts : "");
	/* Each launcher may be in a cgroup of its own. */
	if (place->join)
		xcheck(identity_set_quota(session_find_limited(command, place), now));
	for (size_t i = 0; i < now->n; i++) {
		const struct fact *fact = &now->items[i];
		const char *was = facts_find_string(facts, fact->name);

		if (is_compared(fact) && !(was && strcmp(was, fact->string) == 0))
			append_change(&t, fact->name, was ? was : "", fact->string);
	}
	for (size_t i = 0; i < facts->n; i++) {
		const struct fact *fact = &facts->items[i];

		if (is_compared(fact) && !facts_find(now, fact->name))
			append_change(&t, fact->name, fact->string, "");
	}
	text = xptr(text_steal(&t));
	if (*text)
		facts_set_string(facts, "quiesce_changed", text);
	check(facts);
	return text;
}

/* The parts "shield" and "SMT" are called quiesce_part_shield and quiesce_part_smt. */
static void describe_parts(const struct quiesce *quiesce, struct facts *facts)
{
	const struct quiesce_part *parts;
	bool complete;
	size_t n = quiesce_get_parts(quiesce, &parts, &complete);

	for (size_t i = 0; i < n; i++) {
		char name[64];

		snprintf(name, sizeof(name), "quiesce_part_%s", parts[i].name);
		for (char *c = name; *c; c++)
			*c = (char)tolower((unsigned char)*c);
		facts_set_string(facts, name, parts[i].done);
	}
	facts_set_string(facts, "quiesce_parts", complete ? "complete" : "in part");
}

void describe_quiesce(
	struct commands *commands, const struct quiesce *quiesce, const struct meanwhile *meanwhile)
{
	_cleanup_facts_ struct facts facts = { 0 };

	if (quiesce)
		describe_parts(quiesce, &facts);
	if (meanwhile)
		meanwhile_describe(meanwhile, &facts);
	check(&facts);
	for (size_t i = 0; i < commands->n; i++) {
		facts_copy(&commands->items[i].facts, &facts);
		check(&commands->items[i].facts);
	}
}

/* A line that differs while all is complete counts interrupts that have come or gone. */
static void append_lost_parts(
	const struct quiesce *quiesce, const struct quiesce *after, struct text *t)
{
	const struct quiesce_part *parts, *now;
	bool complete;
	size_t n = quiesce_get_parts(quiesce, &parts, &complete);
	size_t n_now = quiesce_get_parts(after, &now, &complete);

	for (size_t i = 0; !complete && i < n; i++) {
		size_t k = 0;

		while (k < n_now && strcmp(now[k].name, parts[i].name) != 0)
			k++;
		if (k == n_now || strcmp(now[k].done, parts[i].done) != 0)
			append_change(
				t, parts[i].name, parts[i].done, k < n_now ? now[k].done : "");
	}
}

void describe_lost_parts(
	struct commands *commands, const struct quiesce *quiesce, const struct quiesce *after)
{
	_cleanup_text_ struct text t = { 0 };
	_cleanup_free_ char *text = NULL;

	if (after)
		append_lost_parts(quiesce, after, &t);
	else
		text_append(&t, "what the setters had done is not known after the runs");
	text = xptr(text_steal(&t));
	for (size_t i = 0; *text && i < commands->n; i++) {
		struct facts *facts = &commands->items[i].facts;

		facts_set_string(facts, "quiesce_changed", text);
		check(facts);
	}
}
