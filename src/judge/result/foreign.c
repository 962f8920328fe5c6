// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Results of other tools: hyperfine's --export-json, and what google-benchmark writes with
 * --benchmark_out. They are recognized by their first names, which a result of pyperf does not
 * have: "results", or "schema_version" since hyperfine 2.0, and "context".
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/macro.h"
#include "base/parse.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "judge/result/foreign.h"
#include "judge/result/metadata.h"

/* Reads a list of numbers of both kinds, with NAN for null and anything else, because only some
 * entries may be known. */
static int read_numbers(struct reader *reader, const char *of, double **ret, size_t *ret_n)
{
	_cleanup_free_ double *numbers = NULL;
	size_t n = 0, capacity = 0;
	struct json_token token;
	int r = reader_enter_array(reader, of);

	while (r >= 0) {
		bool is_number;

		r = reader_next(reader, &token);
		if (r < 0 || token.type == JSON_TOKEN_ARRAY_END)
			break;
		is_number = token.type == JSON_TOKEN_REAL || token.type == JSON_TOKEN_INTEGER;
		if (!is_number)
			r = json_skip(reader->json, &token);
		if (r < 0)
			return reader_explain(reader, r);
		xcheck(array_grow(&numbers, sizeof(*numbers), n, &capacity));
		numbers[n++] = is_number ? token.real : NAN;
	}
	if (r < 0)
		return r;
	free(*ret);
	*ret = TAKE_PTR(numbers);
	*ret_n = n;
	return 0;
}

/* A value that has been read, under this name. Other tools have texts that pyperf refuses: a blank
 * text is dropped, and several lines become a single one. */
static int keep_token(
	struct reader *reader, const struct json_token *read, struct facts *facts, const char *name)
{
	_cleanup_text_ struct text buffer = { 0 };
	_cleanup_free_ char *plain = NULL;
	struct json_token token = *read;
	struct fact fact;
	int r;

	if (token.type == JSON_TOKEN_STRING) {
		plain = metadata_clean(token.string);
		if (!*plain)
			return 0;
		token.string = plain;
	}
	r = reader_take_fact(reader, &token, name, &buffer, &fact);
	return r < 0 ? r : reader_keep_fact(reader, facts, &fact);
}

/* The value of the member that was just named. */
static int keep_value(struct reader *reader, struct facts *facts, const char *name)
{
	struct json_token token;
	int r = reader_next(reader, &token);

	return r < 0 ? r : keep_token(reader, &token, facts, name);
}

static bool has_name(const struct reader *reader, const char *name)
{
	for (size_t i = 0; i < reader->n_pending; i++)
		if (metadata_equal_strings(
			    facts_find_string(&reader->pending[i]->metadata, "name"), name))
			return true;
	return false;
}

static int keep_text(
	struct reader *reader, struct facts *facts, const char *name, const char *value)
{
	return reader_keep_fact(reader, facts,
		&(struct fact){
			.name = (char *)name, .type = FACT_STRING, .string = (char *)value });
}

/* A program may be measured twice, but names in a result must be unique: "ls", "ls #2". The
 * original name is then kept as `kept_as`, or not at all for NULL. */
static int make_unique(struct reader *reader, struct pending *pending, const char *kept_as)
{
	const char *name = facts_find_string(&pending->metadata, "name");
	_cleanup_free_ char *unique = NULL;
	size_t n = 2;
	int r = 0;

	if (!has_name(reader, name))
		return 0;
	for (size_t i = 0; i < reader->n_pending; i++) {
		const char *other = facts_find_string(&reader->pending[i]->metadata, "name");

		n += text_starts_with(other, name) && text_starts_with(other + strlen(name), " #");
	}
	for (; !unique || has_name(reader, unique); n++) {
		free(TAKE_PTR(unique));
		unique = xformat("%s #%zu", name, n);
	}
	if (kept_as)
		r = keep_text(reader, &pending->metadata, kept_as, name);
	return r < 0 ? r : keep_text(reader, &pending->metadata, "name", unique);
}

/* --- Figures that are measured together with a value --- */

enum {
	FIGURES_MAX = 64, /* a program has a handful of counters */
};

static int refuse_figures(struct reader *reader)
{
	return reader_refuse(reader, "more than %d counters of one benchmark", FIGURES_MAX);
}

/* Whether a figure is a time, in seconds; all others are numbers. */
static bool is_time(const char *name)
{
	return strcmp(name, "cpu_time") == 0 || strcmp(name, "time_cpu") == 0;
}

/* Keeps a figure until its value has been added. */
static int keep_figure(struct reader *reader, struct facts *figures, const char *name, double value)
{
	_cleanup_free_ char *plain = NULL;

	if (figures->n == FIGURES_MAX)
		return refuse_figures(reader);
	plain = xptr(text_escape_control(name));
	facts_set_real(figures, plain, value);
	if (figures->failed)
		xalloc_fail();
	return 0;
}

/* The figure of this name; a new figure is unknown for the values before. */
static int find_figure(
	struct reader *reader, struct benchmark *b, const char *name, struct benchmark_figure **ret)
{
	for (size_t i = 0; i < b->n_figures; i++) {
		*ret = &b->figures[i];
		if (strcmp(b->figures[i].name, name) == 0)
			return 0;
	}
	if (b->n_figures == FIGURES_MAX)
		return refuse_figures(reader);
	b->figures = xptr(reallocarray(b->figures, b->n_figures + 1, sizeof(*b->figures)));
	*ret = &b->figures[b->n_figures++];
	**ret = (struct benchmark_figure){
		.name = xptr(strdup(name)),
		.unit = is_time(name) ? UNIT_SECOND : &unit_integer,
	};
	return 0;
}

/* Makes room for n values, which are more than none. */
static void extend_figure(struct benchmark_figure *figure, size_t n)
{
	figure->values = xptr(reallocarray(figure->values, n, sizeof(*figure->values)));
	for (; figure->n < n; figure->n++)
		figure->values[figure->n] = NAN;
}

void reader_extend_figures(struct benchmark *b)
{
	for (size_t i = 0; i < b->n_figures; i++)
		extend_figure(&b->figures[i], b->n_values);
}

/* Sets the figure of the benchmark's values from `first` on. */
static int set_figure(struct reader *reader, struct benchmark *b, const char *name, size_t first,
	const double *numbers)
{
	struct benchmark_figure *figure;
	int r = find_figure(reader, b, name, &figure);

	if (r < 0)
		return r;
	extend_figure(figure, b->n_values);
	memcpy(figure->values + first, numbers, (b->n_values - first) * sizeof(*numbers));
	return 0;
}

/* Adds the figures of the value that was added last, by name. */
static int add_figures(struct reader *reader, struct benchmark *b, const struct facts *figures)
{
	int r = 0;

	for (size_t i = 0; r >= 0 && i < figures->n; i++)
		r = set_figure(reader, b, figures->items[i].name, b->n_values - 1,
			&figures->items[i].real);
	return r;
}

/* Reads the list of one figure; its name has been read. */
static int read_figure(struct reader *reader, struct benchmark *b, const char *name, size_t first)
{
	_cleanup_free_ char *plain = xptr(text_escape_control(name));
	_cleanup_free_ double *numbers = NULL;
	size_t n = 0;
	int r = read_numbers(reader, "a list of figures", &numbers, &n);

	if (r < 0 || n == 0 || n != b->n_values - first)
		return r;
	return set_figure(reader, b, plain, first, numbers);
}

int reader_read_figures(struct reader *reader, struct pending *pending)
{
	struct benchmark *b = pending->benchmark;
	size_t at = b->series->n_samples, first = at > 0 ? b->runs[at - 1].end : 0;
	struct json_token token;
	int r = reader_enter_object(reader, "the value of '" BENCHMARK_FIGURES "'");

	while (r >= 0 && (r = reader_next_member(reader, &token)) > 0) {
		_cleanup_free_ char *name = xptr(strdup(token.string));

		r = read_figure(reader, b, name, first);
	}
	return r;
}

/* --- hyperfine --- */

/* One command, while it is read. The meaning of a list that is not as long as the list of times is
 * unknown. */
struct command {
	struct pending *pending;
	double *exit_codes;
	size_t n_exit_codes;
	double *bytes; /* the most memory that each run had */
	size_t n_bytes;
};

/* The value of one, which is an object since 2.0: {"value": "1000"}. */
static int keep_parameter(struct reader *reader, struct pending *pending, const char *name)
{
	struct json_token token;
	int r = reader_next(reader, &token);

	if (r < 0 || token.type != JSON_TOKEN_OBJECT)
		return r < 0 ? r : keep_token(reader, &token, &pending->metadata, name);
	while (r >= 0 && (r = reader_next_member(reader, &token)) > 0)
		r = strcmp(token.string, "value") == 0
			? keep_value(reader, &pending->metadata, name)
			: reader_skip_value(reader);
	return r;
}

/* {"n": "1000"}, whose names get a prefix. */
static int read_named(
	struct reader *reader, struct pending *pending, const char *of, const char *prefix)
{
	int r = reader_enter_object(reader, of);
	struct json_token token;

	while (r >= 0 && (r = reader_next_member(reader, &token)) > 0) {
		_cleanup_free_ char *plain = xptr(text_escape_control(token.string));
		_cleanup_free_ char *name = xformat("%s%s", prefix, plain);

		r = keep_parameter(reader, pending, name);
	}
	return r;
}

static void set_exit_code(struct sample *sample, double code)
{
	if (!(code > 0 && code < 256))
		return;
	/* As wait4(2) has it. */
	sample->status = (int32_t)code << 8;
	sample->flags = SAMPLE_FAILED;
}

static void set_bytes(struct sample *sample, double bytes)
{
	if (bytes >= 1024 && bytes < (double)UINT32_MAX * 1024)
		sample->max_rss_kib = (uint32_t)(bytes / 1024);
}

static void set_ns(int64_t *ns, double seconds)
{
	if (seconds >= 0 && seconds < 9e9)
		*ns = llround(seconds * (double)NSEC_PER_SEC);
}

static int add_runs(struct reader *reader, const struct command *command)
{
	const struct benchmark *b = command->pending->benchmark;
	_cleanup_free_ struct run_data *data = xptr((struct run_data *)malloc(sizeof(*data)));
	int r = 0;

	for (size_t i = 0; r >= 0 && i < b->n_values; i++) {
		run_data_clear(data);
		if (command->n_exit_codes == b->n_values)
			set_exit_code(&data->sample, command->exit_codes[i]);
		if (command->n_bytes == b->n_values)
			set_bytes(&data->sample, command->bytes[i]);
		r = reader_add_run(reader, command->pending, data, i + 1);
	}
	return r;
}

/* A number, or since 2.0 one with its unit, {"value": 0.01, "unit": "second"}: times are in seconds
 * and sizes in bytes. NAN for anything else. */
static int read_quantity(struct reader *reader, double *ret)
{
	struct json_token token;
	int r = reader_next(reader, &token);

	*ret = NAN;
	if (r < 0)
		return r;
	if (token.type == JSON_TOKEN_REAL || token.type == JSON_TOKEN_INTEGER)
		*ret = token.real;
	if (token.type != JSON_TOKEN_OBJECT)
		return reader_explain(reader, json_skip(reader->json, &token));
	while (r >= 0 && (r = reader_next_member(reader, &token)) > 0)
		r = strcmp(token.string, "value") == 0 ? read_quantity(reader, ret)
						       : reader_skip_value(reader);
	return r;
}

static int set_quantity(struct reader *reader, const char *name, double number,
	struct run_data *data, struct facts *figures)
{
	if (strcmp(name, "exit_code") == 0)
		set_exit_code(&data->sample, number);
	else if (strcmp(name, "memory_peak_resident") == 0)
		set_bytes(&data->sample, number);
	else if (strcmp(name, "time_user") == 0)
		set_ns(&data->evidence.user_cpu_ns, number);
	else if (strcmp(name, "time_system") == 0)
		set_ns(&data->evidence.system_cpu_ns, number);
	else if (isfinite(number))
		return keep_figure(reader, figures, name, number);
	return 0;
}

/* Reads the quantities of a run of hyperfine 2.0; its '{' has been read. */
static int read_quantities(
	struct reader *reader, struct run_data *data, struct facts *figures, double *ret_seconds)
{
	struct json_token token;
	int r = 0;

	while (r >= 0 && (r = reader_next_member(reader, &token)) > 0) {
		_cleanup_free_ char *name = xptr(strdup(token.string));
		double number;

		r = read_quantity(reader, &number);
		if (r >= 0 && strcmp(name, "time_wall_clock") == 0)
			*ret_seconds = number;
		else if (r >= 0)
			r = set_quantity(reader, name, number, data, figures);
	}
	return r;
}

static int read_measurement(struct reader *reader, void *context)
{
	struct pending *pending = context;
	struct facts figures = { 0 };
	double seconds = NAN;
	struct run_data data;
	int r;

	run_data_clear(&data);
	r = read_quantities(reader, &data, &figures, &seconds);
	if (r >= 0 && !(seconds > 0))
		r = reader_spoil(reader, pending, "'time_wall_clock' is not a time above 0");
	if (r >= 0)
		r = reader_add_value(reader, pending, seconds);
	if (r >= 0)
		r = add_figures(reader, pending->benchmark, &figures);
	if (r >= 0)
		r = reader_add_run(reader, pending, &data, pending->benchmark->n_values);
	facts_clear(&figures);
	return r;
}

static int read_member(struct reader *reader, const char *name, struct command *command)
{
	struct facts *metadata = &command->pending->metadata;

	if (strcmp(name, "command") == 0)
		return keep_value(reader, metadata, METADATA_COMMAND);
	if (strcmp(name, "name") == 0)
		return keep_value(reader, metadata, "name");
	if (strcmp(name, "times") == 0)
		return reader_read_values(reader, command->pending, "the value of 'times'",
			"a value is not a number above 0; of what takes no longer than its "
			"shell, hyperfine -N knows the time");
	if (strcmp(name, "exit_codes") == 0)
		return read_numbers(reader, "the value of 'exit_codes'", &command->exit_codes,
			&command->n_exit_codes);
	if (strcmp(name, "memory_usage_byte") == 0)
		return read_numbers(reader, "the value of 'memory_usage_byte'", &command->bytes,
			&command->n_bytes);
	if (strcmp(name, "measurements") == 0)
		return reader_read_list(reader, "the value of 'measurements'", "a measurement",
			read_measurement, command->pending);
	if (strcmp(name, "parameters") == 0)
		return read_named(
			reader, command->pending, "the value of 'parameters'", METADATA_PARAMETER);
	if (strcmp(name, "environment") == 0)
		return read_named(reader, command->pending, "the value of 'environment'",
			METADATA_ENVIRONMENT);
	/* hyperfine 1.8 to 1.10 have one, and not its name. */
	if (strcmp(name, "parameter") == 0)
		return keep_value(reader, metadata, METADATA_PARAMETER "arg");
	return reader_skip_value(reader);
}

/* The name that the user gave, or the command, which then need not be kept. */
static int name_command(struct reader *reader, struct pending *pending)
{
	const char *command = facts_find_string(&pending->metadata, METADATA_COMMAND);
	int r = 0;

	if (!command)
		return reader_refuse(reader, "no hyperfine result: one without a command");
	if (facts_find_string(&pending->metadata, "name"))
		return make_unique(reader, pending, NULL);
	r = keep_text(reader, &pending->metadata, "name", command);
	facts_remove(&pending->metadata, METADATA_COMMAND);
	return r < 0 ? r : make_unique(reader, pending, METADATA_COMMAND);
}

/* Reads a command of hyperfine; its '{' has been read. */
static int read_command(struct reader *reader, void *context _unused_)
{
	_cleanup_(pending) struct pending *pending = reader_pending_new(reader);
	struct command command = { .pending = pending };
	struct json_token token;
	int r = 0;

	while (r >= 0 && (r = reader_next_member(reader, &token)) > 0) {
		_cleanup_free_ char *name = xptr(strdup(token.string));

		r = read_member(reader, name, &command);
	}
	if (r >= 0)
		r = name_command(reader, pending);
	if (r >= 0 && pending->benchmark->n_values == 0) {
		r = reader_spoil(reader, pending, "a command without times");
		if (r >= 0)
			r = reader_add_value(reader, pending, NAN);
	}
	/* Those of 2.0 have been added one by one. */
	if (r >= 0 && pending->benchmark->series->n_samples == 0)
		r = add_runs(reader, &command);
	if (r >= 0)
		r = keep_text(reader, &pending->metadata, METADATA_TOOL, METADATA_HYPERFINE);
	if (r >= 0)
		r = reader_add_pending(reader, &pending);
	free(command.exit_codes);
	free(command.bytes);
	return r;
}

int reader_read_hyperfine_schema(struct reader *reader)
{
	struct json_token token;
	int r = reader_next(reader, &token);

	if (r < 0)
		return r;
	if (token.type != JSON_TOKEN_INTEGER || token.integer != 2)
		return reader_refuse(reader,
			"hyperfine's 'schema_version' is not 2, which is the one that is known here");
	return 0;
}

/* {"os": "Linux", "architecture": "x86_64"} */
static int read_platform(struct reader *reader)
{
	int r = reader_enter_object(reader, "the value of 'platform'");
	struct json_token token;

	while (r >= 0 && (r = reader_next_member(reader, &token)) > 0)
		r = strcmp(token.string, "architecture") == 0
			? keep_value(reader, &reader->suite_metadata, "cpu_machine")
			: reader_skip_value(reader);
	return r;
}

int reader_read_hyperfine_metadata(struct reader *reader)
{
	int r = reader_enter_object(reader, "the value of 'metadata'");
	struct json_token token;

	while (r >= 0 && (r = reader_next_member(reader, &token)) > 0) {
		if (strcmp(token.string, "hyperfine_version") == 0)
			r = keep_value(reader, &reader->suite_metadata, METADATA_HYPERFINE_VERSION);
		else if (strcmp(token.string, "start_time") == 0)
			r = keep_value(reader, &reader->suite_metadata, "date");
		else if (strcmp(token.string, "platform") == 0)
			r = read_platform(reader);
		else
			r = reader_skip_value(reader);
	}
	return r;
}

int reader_read_hyperfine(struct reader *reader)
{
	int r = reader_read_list(reader, "the value of 'results'", "a result", read_command, NULL);

	if (r >= 0 && reader->n_pending == 0)
		return reader_refuse(reader, "no hyperfine result: it has no commands");
	return r;
}

/* --- google-benchmark --- */

/* What the library writes into the context (src/json_reporter.cc), and the names under which that
 * is kept; NULL: it is not. */
static const struct context_member {
	const char *member, *name;
} context_members[] = {
	{ "aslr_enabled", "aslr_enabled" },
	{ "caches", NULL },
	{ "cpu_scaling_enabled", "cpu_scaling_enabled" },
	{ "date", "date" },
	{ "executable", "executable" },
	{ "host_name", "hostname" },
	{ "json_schema_version", NULL },
	{ "library_build_type", "library_build_type" },
	{ "library_version", "library_version" },
	{ "load_avg", NULL },
	{ "mhz_per_cpu", "mhz_per_cpu" },
	{ "num_cpus", "cpu_count" },
	/* Of --benchmark_context, whose names are the user's: as other tools call these. */
	{ METADATA_COMMIT, METADATA_COMMIT },
	{ METADATA_COMMIT_DATE, METADATA_COMMIT_DATE },
	{ METADATA_GIVEN_NODE, METADATA_GIVEN_NODE },
};

static int read_context_member(struct reader *reader, const char *member)
{
	_cleanup_free_ char *plain = NULL, *name = NULL;
	struct json_token token;
	int r;

	for (size_t i = 0; i < ARRAY_SIZE(context_members); i++) {
		if (strcmp(member, context_members[i].member) != 0)
			continue;
		return context_members[i].name
			? keep_value(reader, &reader->suite_metadata, context_members[i].name)
			: reader_skip_value(reader);
	}
	plain = xptr(text_escape_control(member));
	name = xformat(METADATA_CONTEXT "%s", plain);
	r = reader_next(reader, &token);
	if (r < 0)
		return r;
	/* A newer library may write something else than the texts of the user. */
	if (token.type != JSON_TOKEN_STRING)
		return reader_explain(reader, json_skip(reader->json, &token));
	return keep_token(reader, &token, &reader->suite_metadata, name);
}

int reader_read_google_context(struct reader *reader)
{
	struct json_token token;
	int r = reader_enter_object(reader, "the value of 'context'");

	/* A counter may be NaN, and so is the variation of counters that are 0
	 * (src/json_reporter.cc, FormatKV). Such unknown values are left out of the figures. */
	json_allow_nan(reader->json);
	while (r >= 0 && (r = reader_next_member(reader, &token)) > 0) {
		_cleanup_free_ char *name = xptr(strdup(token.string));

		r = read_context_member(reader, name);
	}
	return r;
}

/* One entry of the list: the time of an iteration in one repetition, or a figure of all of them. */
struct entry {
	struct facts texts;   /* texts that are needed, by name */
	struct facts figures; /* cpu_time and the counters */
	double time;	      /* in seconds, once its unit is known */
	int64_t iterations, repetitions;
	/* Which of the program's benchmarks it is, whatever its name; -1 where an old library does
	 * not say. */
	int64_t family, instance;
	bool failed;
	bool skipped;
	char *message; /* the reason; NULL where it is not given */
};

static void entry_clear(struct entry *entry)
{
	facts_clear(&entry->texts);
	facts_clear(&entry->figures);
	free(TAKE_PTR(entry->message));
}

static bool is_text_of_entry(const char *name)
{
	static const char *const names[] = { "name", "run_name", "run_type", "aggregate_name",
		"time_unit" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (strcmp(name, names[i]) == 0)
			return true;
	return false;
}

/* Takes a number that says how it was run. All others are counters of the program or of the
 * library. */
static bool take_number(struct entry *entry, const char *name, const struct json_token *token)
{
	int64_t unused;
	const struct {
		const char *name;
		int64_t *number;
	} numbers[] = {
		{ "family_index", &entry->family },
		{ "per_family_instance_index", &entry->instance },
		{ "repetitions", &entry->repetitions },
		{ "repetition_index", &unused },
		{ "threads", &unused },
		{ "iterations", &entry->iterations },
	};

	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++) {
		if (strcmp(name, numbers[i].name) != 0)
			continue;
		if (token->type == JSON_TOKEN_INTEGER)
			*numbers[i].number = token->integer;
		return true;
	}
	return false;
}

/* It may have several lines. */
static void read_message(const char *text, struct entry *entry)
{
	free(entry->message);
	entry->message = xptr(text_escape_control(text));
}

static int read_entry(struct reader *reader, struct entry *entry)
{
	struct json_token token;
	int r = 0;

	while (r >= 0 && (r = reader_next_member(reader, &token)) > 0) {
		_cleanup_free_ char *name = xptr(strdup(token.string));

		if (is_text_of_entry(name)) {
			_cleanup_text_ struct text buffer = { 0 };
			struct fact fact;

			r = reader_read_fact(reader, name, &buffer, &fact);
			if (r >= 0)
				facts_set_copy(&entry->texts, name, &fact);
			if (entry->texts.failed)
				xalloc_fail();
			continue;
		}
		r = reader_next(reader, &token);
		if (r < 0)
			return r;
		if (strcmp(name, "real_time") == 0 &&
			(token.type == JSON_TOKEN_REAL || token.type == JSON_TOKEN_INTEGER))
			entry->time = token.real;
		else if (strcmp(name, "error_occurred") == 0)
			entry->failed = token.type == JSON_TOKEN_TRUE;
		else if (strcmp(name, "skipped") == 0)
			entry->skipped = token.type == JSON_TOKEN_TRUE;
		else if ((strcmp(name, "error_message") == 0 ||
				 strcmp(name, "skip_message") == 0) &&
			token.type == JSON_TOKEN_STRING)
			read_message(token.string, entry);
		else if (!take_number(entry, name, &token) &&
			(token.type == JSON_TOKEN_REAL || token.type == JSON_TOKEN_INTEGER))
			r = keep_figure(reader, &entry->figures, name, token.real);
		if (r < 0)
			return r;
		r = json_skip(reader->json, &token);
		if (r < 0)
			return reader_explain(reader, r);
	}
	return r;
}

/* The number of units in a second; NAN for an unknown unit. Version 1.0 tells none. */
static double parse_unit(const char *unit)
{
	static const struct {
		const char *unit;
		double per_second;
	} units[] = { { "ns", 1e9 }, { "us", 1e6 }, { "ms", 1e3 }, { "s", 1 } };

	for (size_t i = 0; i < ARRAY_SIZE(units); i++)
		if (!unit || strcmp(unit, units[i].unit) == 0)
			return units[i].per_second;
	return NAN;
}

static int keep_number(
	struct reader *reader, struct pending *pending, const char *parameter, double number)
{
	_cleanup_free_ char *key = xformat(METADATA_PARAMETER "%s", parameter);

	return reader_keep_fact(reader, &pending->metadata,
		&(struct fact){ .name = key, .type = FACT_REAL, .real = number });
}

/* "BM_sort/1024" and "BM_sort/n:1024/real_time" have a parameter, the only number in the name, and
 * so have those that run in "threads:2". The rest of the name says how the benchmark was run. */
static int keep_arguments(struct reader *reader, struct pending *pending, const char *name)
{
	static const char *const others[] = { "repeats", "iterations", "min_time",
		"min_warmup_time" };
	_cleanup_free_ char *copy = xptr(strdup(name));
	double value, argument = NAN, threads = NAN;
	char *rest = copy, *word, *parameter = NULL;
	size_t n = 0;
	int r = 0;

	(void)strsep(&rest, "/");
	while ((word = strsep(&rest, "/"))) {
		char *number = strchr(word, ':');
		bool is_other = false;

		if (number)
			*number++ = '\0';
		for (size_t i = 0; number && i < ARRAY_SIZE(others); i++)
			is_other = is_other || strcmp(word, others[i]) == 0;
		if (is_other || parse_double(number ? number : word, -1e300, 1e300, &value) < 0)
			continue;
		if (number && strcmp(word, "threads") == 0) {
			threads = value;
			continue;
		}
		n++;
		argument = value;
		parameter = number ? word : NULL;
	}
	if (n == 1)
		r = keep_number(reader, pending, parameter ? parameter : "arg", argument);
	if (r >= 0 && !isnan(threads))
		r = keep_number(reader, pending, "threads", threads);
	return r;
}

/* The benchmark whose repetitions are being read; they follow one another in the file. All
 * repetitions are of one process, so they are one run with several values. */
struct google {
	struct pending *pending;
	char *run_name; /* the name in the file, before make_unique() */
	int64_t family, instance;
	struct run_data data;
	/* The median of the repetitions, or else their mean: it stands for them where they are not
	 * in the file. */
	struct entry aggregate;
	const char *aggregate_name; /* NULL: there is none */
	/* An entry of an old library that is the mean of "BM_a", if the median or the deviation
	 * follows, and else a benchmark that is called "BM_a_mean". */
	struct entry held;
	char *held_base; /* NULL: there is none */
};

static int add_time(struct reader *reader, struct pending *pending, const struct entry *entry)
{
	int r = 0;

	if (!(entry->time > 0) || !isfinite(entry->time))
		r = reader_spoil(reader, pending, "'real_time' is not a time above 0");
	if (r >= 0)
		r = reader_add_value(reader, pending, entry->time);
	return r < 0 ? r : add_figures(reader, pending->benchmark, &entry->figures);
}

/* Adds the value that stands for the repetitions. */
static int add_stand_in(struct reader *reader, struct google *google)
{
	int64_t repetitions = google->aggregate.repetitions;
	_cleanup_free_ char *text = NULL;
	int r;

	if (repetitions > 0)
		text = xformat(
			"%s of %" PRId64 " repetitions", google->aggregate_name, repetitions);
	else
		text = xformat("%s of the repetitions", google->aggregate_name);
	r = keep_text(reader, &google->pending->metadata, METADATA_AGGREGATE, text);
	return r < 0 ? r : add_time(reader, google->pending, &google->aggregate);
}

static int finish_pending(struct reader *reader, struct google *google)
{
	int r = 0;

	if (!google->pending)
		return 0;
	if (google->pending->benchmark->n_values == 0 && google->aggregate_name)
		r = add_stand_in(reader, google);
	entry_clear(&google->aggregate);
	google->aggregate_name = NULL;
	if (r < 0)
		return r;
	/* Of a deviation alone there is no value. */
	if (google->pending->benchmark->n_values == 0) {
		pending_free(TAKE_PTR(google->pending));
		return 0;
	}
	r = reader_add_run(
		reader, google->pending, &google->data, google->pending->benchmark->n_values);
	return r < 0 ? r : reader_add_pending(reader, &google->pending);
}

static int begin_pending(
	struct reader *reader, struct google *google, const char *name, const struct entry *entry)
{
	int r;

	google->pending = reader_pending_new(reader);
	free(google->run_name);
	google->run_name = xptr(strdup(name));
	google->family = entry->family;
	google->instance = entry->instance;
	run_data_clear(&google->data);
	r = keep_text(reader, &google->pending->metadata, "name", name);
	if (r >= 0)
		r = keep_text(reader, &google->pending->metadata, METADATA_TOOL, METADATA_GOOGLE);
	if (r >= 0)
		r = keep_arguments(reader, google->pending, name);
	return r < 0 ? r : make_unique(reader, google->pending, NULL);
}

static bool is_begun(const struct google *google, const char *name, const struct entry *entry)
{
	return google->pending && strcmp(google->run_name, name) == 0 &&
		google->family == entry->family && google->instance == entry->instance;
}

/* If several repetitions are left out, the last one is reported. */
static int leave_out(struct reader *reader, const struct entry *entry, const char *name)
{
	const char *kind = entry->failed ? "failed" : "was skipped";
	_cleanup_free_ char *plain = xptr(text_escape_control(name));
	_cleanup_free_ char *text = xformat(
		"%s%s%s", kind, entry->message ? ": " : "", entry->message ? entry->message : "");

	return reader_leave_out(reader, plain, text);
}

/* The benchmark of that name becomes the one whose entries are being read. */
static int go_to(
	struct reader *reader, struct google *google, const char *name, const struct entry *entry)
{
	int r;

	if (is_begun(google, name, entry))
		return 0;
	r = finish_pending(reader, google);
	return r < 0 ? r : begin_pending(reader, google, name, entry);
}

static int add_repetition(
	struct reader *reader, struct google *google, const char *name, const struct entry *entry)
{
	int r = go_to(reader, google, name, entry);

	if (r < 0)
		return r;
	if (google->pending->benchmark->n_values == 0)
		google->data.values.loops = (uint64_t)MAX(entry->iterations, (int64_t)1);
	return add_time(reader, google->pending, entry);
}

static const char median[] = "median", mean[] = "mean";

/* Takes the contents of the entry if it is needed. */
static int add_aggregate(struct reader *reader, struct google *google, const char *base,
	const char *aggregate, struct entry *entry)
{
	bool is_median = strcmp(aggregate, median) == 0;
	int r = go_to(reader, google, base, entry);

	if (r < 0 || (!is_median && (google->aggregate_name || strcmp(aggregate, mean) != 0)))
		return r;
	entry_clear(&google->aggregate);
	google->aggregate = *entry;
	google->aggregate_name = is_median ? median : mean;
	*entry = (struct entry){ 0 };
	return 0;
}

/* Before 1.5 the name alone told what an entry is: "BM_a/8_mean" is the mean of "BM_a/8". The part
 * of it that is the name of the benchmark, malloc'd, and the rest in *ret_aggregate; NULL for a
 * name that ends in nothing of the kind. */
static char *split_name(const char *name, const char **ret_aggregate)
{
	static const char *const aggregates[] = { mean, median, "stddev", "cv" };
	const char *last = strrchr(name, '_');

	for (size_t i = 0; last && i < ARRAY_SIZE(aggregates); i++) {
		if (strcmp(last + 1, aggregates[i]) != 0)
			continue;
		*ret_aggregate = aggregates[i];
		return xptr(strndup(name, (size_t)(last - name)));
	}
	return NULL;
}

/* Decides what the entry was that was held, by what follows it. */
static int release_held(
	struct reader *reader, struct google *google, const char *base, const char *aggregate)
{
	_cleanup_free_ char *held_base = TAKE_PTR(google->held_base), *name = NULL;
	int r;

	if (!held_base)
		return 0;
	if (base && strcmp(base, held_base) == 0 && strcmp(aggregate, mean) != 0) {
		r = add_aggregate(reader, google, base, mean, &google->held);
	} else {
		name = xformat("%s_%s", held_base, mean);
		r = add_repetition(reader, google, name, &google->held);
	}
	entry_clear(&google->held);
	return r;
}

static int add_old_entry(
	struct reader *reader, struct google *google, const char *name, struct entry *entry)
{
	const char *aggregate = NULL;
	_cleanup_free_ char *base = split_name(name, &aggregate);
	int r = release_held(reader, google, base, aggregate);

	if (r < 0)
		return r;
	/* How the time grows with the argument, and how well that fits. */
	if (isnan(entry->time) &&
		(facts_find(&entry->figures, "cpu_coefficient") ||
			facts_find(&entry->figures, "rms")))
		return 0;
	/* Aggregates are of two repetitions or more. */
	if (base && is_begun(google, base, entry) &&
		(google->aggregate_name || google->pending->benchmark->n_values > 1))
		return add_aggregate(reader, google, base, aggregate, entry);
	if (base && strcmp(aggregate, mean) == 0) {
		google->held_base = TAKE_PTR(base);
		google->held = *entry;
		*entry = (struct entry){ 0 };
		return 0;
	}
	return add_repetition(reader, google, name, entry);
}

static int add_entry(struct reader *reader, struct google *google, struct entry *entry)
{
	const char *type = facts_find_string(&entry->texts, "run_type");
	const char *aggregate = facts_find_string(&entry->texts, "aggregate_name");
	const char *name = facts_find_string(&entry->texts, "run_name");
	double per_second = parse_unit(facts_find_string(&entry->texts, "time_unit"));

	entry->time /= per_second;
	for (size_t i = 0; i < entry->figures.n; i++)
		if (is_time(entry->figures.items[i].name))
			entry->figures.items[i].real /= per_second;
	if (!name)
		name = facts_find_string(&entry->texts, "name");
	if (!name)
		return reader_refuse(reader, "no result of google-benchmark: one without a name");
	if (entry->failed || entry->skipped)
		return leave_out(reader, entry, name);
	if (!type)
		return add_old_entry(reader, google, name, entry);
	if (strcmp(type, "iteration") == 0)
		return add_repetition(reader, google, name, entry);
	return aggregate ? add_aggregate(reader, google, name, aggregate, entry) : 0;
}

/* Reads a benchmark of google-benchmark; its '{' has been read. */
static int read_google_one(struct reader *reader, void *context)
{
	struct entry entry = { .time = NAN, .family = -1, .instance = -1 };
	int r = read_entry(reader, &entry);

	if (r >= 0)
		r = add_entry(reader, context, &entry);
	entry_clear(&entry);
	return r;
}

int reader_read_google(struct reader *reader)
{
	struct google google = { 0 };
	int r = reader_read_list(
		reader, "the value of 'benchmarks'", "a benchmark", read_google_one, &google);

	if (r >= 0)
		r = release_held(reader, &google, NULL, NULL);
	if (r >= 0)
		r = finish_pending(reader, &google);
	entry_clear(&google.aggregate);
	entry_clear(&google.held);
	free(google.held_base);
	pending_free(google.pending);
	free(google.run_name);
	if (r < 0 || reader->n_pending > 0)
		return r;
	if (reader->left_out.n > 0) {
		(void)reader_refuse(reader,
			"no result of google-benchmark: all in it failed or was skipped (%s %s)",
			reader->left_out.items[0].name, reader->left_out.items[0].string);
		return -ENODATA;
	}
	return reader_refuse(reader,
		"no result of google-benchmark: it has neither times of iterations nor their "
		"median or mean");
}
