// SPDX-License-Identifier: GPL-2.0-or-later
/* Results that are one JSON value: of JMH, pytest-benchmark, asv, fio and github-action-benchmark.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/macro.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "judge/import/formats.h"
#include "judge/import/jsontree.h"
#include "judge/import/shared.h"
#include "judge/result/metadata.h"

#define refuse(ret_why, ...) xrefuse(ret_why, -EINVAL, __VA_ARGS__)

/* The text of a string or a number; NULL for anything else. malloc'd. */
static char *make_text(const struct json_node *node)
{
	if (!node)
		return NULL;
	if (node->type == JSON_TOKEN_INTEGER)
		return xformat("%" PRId64, node->integer);
	if (node->type == JSON_TOKEN_REAL)
		return xformat("%.15g", node->number);
	return node->string ? xptr(strdup(node->string)) : NULL;
}

static void set_member(
	struct facts *facts, const char *name, const struct json_node *object, const char *path)
{
	_cleanup_free_ char *text = make_text(json_member(object, path));

	import_set_text(facts, name, text);
}

/* Seconds since 1970 as a date. */
static void set_seconds(struct facts *facts, const char *name, double seconds)
{
	struct timespec time;

	if (!(seconds > 0 && seconds < 9e9))
		return;
	time = (struct timespec){ .tv_sec = (time_t)seconds };
	facts_set_date(facts, name, &time);
}

/* --- JMH --- */

/* "(n=100, kind=a)", malloc'd; "" without parameters. */
static char *make_parameters(const struct json_node *params)
{
	_cleanup_text_ struct text t = { 0 };
	size_t n = 0;

	text_append(&t, "");
	json_each(param, params)
	{
		_cleanup_free_ char *value = make_text(param);

		if (value && param->name)
			text_appendf(&t, "%s%s=%s", n++ > 0 ? ", " : "(", param->name, value);
	}
	text_append(&t, n > 0 ? ")" : "");
	return xptr(text_steal(&t));
}

static void set_parameters(struct facts *facts, const struct json_node *params)
{
	json_each(param, params)
	{
		_cleanup_free_ char *value = make_text(param);

		if (value && param->name)
			import_set_parameter(facts, param->name, value);
	}
}

static bool is_text(const struct json_node *object, const char *member, const char *text)
{
	const char *value = json_string(json_member(object, member));

	return value && strcmp(value, text) == 0;
}

/* A benchmark may be measured in several modes, and with other numbers of threads: then its name
 * tells them apart. malloc'd; NULL where it has none. */
static char *name_jmh(const struct json_node *all, const struct json_node *one)
{
	const char *name = json_string(json_member(one, "benchmark"));
	const char *mode = json_string(json_member(one, "mode"));
	_cleanup_free_ char *params = make_parameters(json_member(one, "params"));
	double threads = json_number(json_member(one, "threads"));
	bool has_modes = false, has_threads = false;

	json_each(other, all)
	{
		if (!name || !is_text(other, "benchmark", name))
			continue;
		has_modes |= mode && !is_text(other, "mode", mode);
		has_threads |= json_number(json_member(other, "threads")) != threads;
	}
	if (!name || !mode)
		return NULL;
	if (has_threads && threads > 0)
		return xformat("%s%s%s%s threads:%.0f", name, params, has_modes ? " " : "",
			has_modes ? mode : "", threads);
	return xformat("%s%s%s%s", name, params, has_modes ? " " : "", has_modes ? mode : "");
}

/* "ops/ms" as "ops/s" and "hr/op" as "s/op", so that other units of time are the same figure. */
static const char *take_unit(const char *unit, double *factor)
{
	static const struct {
		const char *unit, *base;
		double factor;
	} units[] = {
		{ "ops/ns", "ops/s", 1e9 },
		{ "ops/us", "ops/s", 1e6 },
		{ "ops/ms", "ops/s", 1e3 },
		{ "ops/s", "ops/s", 1 },
		{ "ops/min", "ops/s", 1.0 / 60 },
		{ "ops/hr", "ops/s", 1.0 / 3600 },
		{ "ops/day", "ops/s", 1.0 / 86400 },
		{ "hr/op", "s/op", 3600 },
		{ "day/op", "s/op", 86400 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(units); i++) {
		if (strcmp(unit, units[i].unit) != 0)
			continue;
		*factor = units[i].factor;
		return units[i].base;
	}
	return unit;
}

/* A number of the metric in one iteration: rawData[fork][iteration], or in the mode SampleTime the
 * mean of rawDataHistogram[fork][iteration][[value, count]...]. */
static double read_iteration(const struct json_node *iteration, double *ret_samples)
{
	double sum = 0, n = 0;

	*ret_samples = 0;
	if (!iteration || iteration->type != JSON_TOKEN_ARRAY)
		return json_number(iteration);
	json_each(pair, iteration)
	{
		double count = json_number(json_element(pair, 1));

		sum += json_number(json_element(pair, 0)) * count;
		n += count;
	}
	*ret_samples = n;
	return n > 0 ? sum / n : NAN;
}

static const struct json_node *find_raw(const struct json_node *metric)
{
	const struct json_node *raw = json_member(metric, "rawData");

	return raw ? raw : json_member(metric, "rawDataHistogram");
}

/* What is measured beside: "gc.alloc.rate.norm" in "B/op". Of most of it nobody says what is
 * better. */
static int put_secondary(struct imported *imported, const struct json_node *entry, size_t fork,
	size_t iteration, char **ret_why)
{
	int r = 0;

	json_each(metric, json_member(entry, "secondaryMetrics"))
	{
		const char *unit = json_string(json_member(metric, "scoreUnit"));
		const struct json_node *raw = json_element(find_raw(metric), fork);
		double samples;

		if (r >= 0 && unit && metric->name)
			r = imported_put(imported,
				&(struct imported_number){
					.name = metric->name,
					.unit = unit,
					.value = read_iteration(
						json_element(raw, iteration), &samples),
					.better = strcmp(unit, "B/op") == 0 ? BETTER_LOWER
									    : BETTER_UNKNOWN,
					.is_unknown = true,
				},
				ret_why);
	}
	return r;
}

static void describe_jmh(struct facts *facts, const struct json_node *entry)
{
	double batch = json_number(json_member(entry, "measurementBatchSize"));
	const char *time = json_string(json_member(entry, "measurementTime"));

	set_parameters(facts, json_member(entry, "params"));
	set_member(facts, "jmh_mode", entry, "mode");
	set_member(facts, "jmh_threads", entry, "threads");
	if (is_text(entry, "mode", "ss") && batch > 1)
		facts_set_stringf(facts, METADATA_AGGREGATE,
			"each of a batch of %.0f calls, from the first on", batch);
	else if (is_text(entry, "mode", "ss"))
		facts_set_string(facts, METADATA_AGGREGATE, "each of a single call");
	else if (time)
		facts_set_stringf(
			facts, METADATA_AGGREGATE, "each the mean of an iteration of %s", time);
}

static int take_jmh(struct imported *imported, const struct json_node *all,
	const struct json_node *entry, char **ret_why)
{
	const struct json_node *metric = json_member(entry, "primaryMetric");
	const char *unit = json_string(json_member(metric, "scoreUnit"));
	_cleanup_free_ char *name = name_jmh(all, entry);
	size_t fork = 0;
	double factor = 1, samples;
	int r = 0;

	if (!name || !unit)
		return refuse(ret_why, "no result of JMH: an entry without %s",
			name ? "a unit" : "a name");
	unit = take_unit(unit, &factor);
	json_each(values, find_raw(metric))
	{
		size_t at = 0;

		json_each(value, values)
		{
			struct imported_number number = { .unit = unit,
				.value = read_iteration(value, &samples) * factor };

			r = import_put_first(imported, name, fork, samples, &number, ret_why);
			if (r >= 0 && imported_is_new(imported))
				describe_jmh(imported_benchmark_facts(imported), entry);
			if (r >= 0)
				r = put_secondary(imported, entry, fork, at++, ret_why);
			if (r < 0)
				return r;
		}
		fork++;
	}
	if (fork == 0)
		imported_leave_out(imported, name, "has no iterations");
	return 0;
}

int import_jmh(const struct import_source *source, struct imported *imported, char **ret_why)
{
	_cleanup_(json_node) struct json_node *all = NULL;
	struct facts *facts = imported_facts(imported);
	int r = json_tree_read(source->text, source->size, &all, ret_why);

	if (r < 0)
		return r;
	set_member(facts, "jmh_version", all->first, "jmhVersion");
	set_member(facts, "jdk_version", all->first, "jdkVersion");
	set_member(facts, "vm_name", all->first, "vmName");
	set_member(facts, "vm_version", all->first, "vmVersion");
	json_each(entry, all)
	{
		r = take_jmh(imported, all, entry, ret_why);
		if (r < 0)
			return r;
	}
	return 0;
}

/* --- pytest-benchmark --- */

static int take_pytest(struct imported *imported, const struct json_node *entry, char **ret_why)
{
	const struct json_node *stats = json_member(entry, "stats");
	const struct json_node *data = json_member(stats, "data");
	const char *name = json_string(json_member(entry, "fullname"));
	double iterations = json_number(json_member(stats, "iterations"));
	double rounds = json_number(json_member(stats, "rounds"));
	int r = 0;

	if (!name)
		return refuse(
			ret_why, "no result of pytest-benchmark: a benchmark without 'fullname'");
	json_each(value, data)
	{
		struct imported_number number = { .unit = "s", .value = json_number(value) };

		r = import_put_first(
			imported, name, 0, iterations > 0 ? iterations : 0, &number, ret_why);
		if (r >= 0 && imported_is_new(imported))
			set_parameters(
				imported_benchmark_facts(imported), json_member(entry, "params"));
		if (r < 0)
			return r;
	}
	if (data && data->first)
		return 0;
	/* --benchmark-save leaves out the data unless --benchmark-save-data is given. */
	r = import_put_first(imported, name, 0, 0,
		&(struct imported_number){
			.unit = "s",
			.value = json_number(json_member(stats, "median")),
		},
		ret_why);
	if (r >= 0 && rounds > 0)
		facts_set_stringf(imported_benchmark_facts(imported), METADATA_AGGREGATE,
			"median of %.0f rounds", rounds);
	return r;
}

int import_pytest(const struct import_source *source, struct imported *imported, char **ret_why)
{
	_cleanup_(json_node) struct json_node *all = NULL;
	struct facts *facts = imported_facts(imported);
	int r = json_tree_read(source->text, source->size, &all, ret_why);

	if (r < 0)
		return r;
	set_member(facts, "hostname", all, "machine_info.node");
	set_member(facts, "cpu_machine", all, "machine_info.machine");
	set_member(facts, "cpu_model_name", all, "machine_info.cpu.brand_raw");
	set_member(facts, "python_implementation", all, "machine_info.python_implementation");
	set_member(facts, "python_version", all, "machine_info.python_version");
	set_member(facts, "pytest_benchmark_version", all, "version");
	set_member(facts, "date", all, "datetime");
	if (!is_text(json_member(all, "commit_info"), "id", "unversioned"))
		set_member(facts, METADATA_COMMIT, all, "commit_info.id");
	set_member(facts, METADATA_COMMIT_DATE, all, "commit_info.time");
	json_each(entry, json_member(all, "benchmarks"))
	{
		r = take_pytest(imported, entry, ret_why);
		if (r < 0)
			return r;
	}
	return 0;
}

/* --- asv --- */

/* Positions in the list of a benchmark, by result_columns. */
struct columns {
	size_t result, params, samples, number, repeat, started;
};

static size_t find_column(const struct json_node *columns, const char *name)
{
	size_t at = 0;

	json_each(column, columns)
	{
		if (column->string && strcmp(column->string, name) == 0)
			return at;
		at++;
	}
	return SIZE_MAX;
}

/* The unit by the kind of a benchmark, which its name begins with behind the last point
 * (asv_runner/benchmarks). */
static const char *find_unit(const char *name)
{
	const char *point = strrchr(name, '.');
	const char *last = point ? point + 1 : name;

	return text_starts_with(last, "time")					     ? "s"
		: text_starts_with(last, "mem") || text_starts_with(last, "peakmem") ? "B"
										     : "";
}

/* The parameters of element `at` of a benchmark, "(10, 'a')": params are lists of texts, of which
 * the last one changes first. "" where there are none. malloc'd. */
static char *name_element(const struct json_node *params, size_t at, char **ret_only)
{
	_cleanup_free_ char *text = xptr(strdup(""));
	size_t n = 0, n_params = 0;

	json_each(param, params) n_params++;
	for (size_t k = n_params; k-- > 0; at /= n) {
		const struct json_node *values = json_element(params, k);
		_cleanup_free_ char *value = NULL, *before = TAKE_PTR(text);

		n = 0;
		json_each(one, values) n++;
		if (n == 0)
			return TAKE_PTR(before);
		value = make_text(json_element(values, at % n));
		text = xformat("%s%s%s", value ? value : "?", *before ? ", " : "", before);
		if (n_params == 1)
			*ret_only = TAKE_PTR(value);
	}
	return n_params > 0 ? xformat("(%s)", text) : TAKE_PTR(text);
}

static int take_element(struct imported *imported, const struct json_node *result,
	const struct columns *columns, size_t at, char **ret_why)
{
	const struct json_node *value = json_element(json_element(result, columns->result), at);
	const struct json_node *samples = json_element(json_element(result, columns->samples), at);
	double number = json_number(json_element(json_element(result, columns->number), at));
	double repeat = json_number(json_element(json_element(result, columns->repeat), at));
	_cleanup_free_ char *only = NULL;
	_cleanup_free_ char *element =
		name_element(json_element(result, columns->params), at, &only);
	_cleanup_free_ char *name = xformat("%s%s", result->name, element);
	struct imported_number one = { .unit = find_unit(result->name), .is_unknown = true };
	bool has_samples = samples && samples->first;
	struct facts *facts;
	int r = 0;

	if (*one.unit)
		one.better = BETTER_LOWER;
	if (!*one.unit)
		one.name = "number";
	if (!has_samples && isnan(json_number(value))) {
		imported_leave_out(imported, name, "failed");
		return 0;
	}
	for (const struct json_node *p = has_samples ? samples->first : value; r >= 0 && p;
		p = has_samples ? p->next : NULL) {
		one.value = json_number(p);
		r = import_put_first(imported, name, 0, number > 0 ? number : 0, &one, ret_why);
	}
	if (r < 0)
		return r;
	facts = imported_benchmark_facts(imported);
	if (only)
		import_set_parameter(facts, "arg", only);
	set_seconds(facts, "date", json_number(json_element(result, columns->started)) / 1000);
	if (!has_samples && repeat > 0 && number > 0)
		facts_set_stringf(facts, METADATA_AGGREGATE,
			"median of %.0f samples, each the mean of %.0f calls", repeat, number);
	return 0;
}

static int take_asv(struct imported *imported, const struct json_node *result,
	const struct columns *columns, char **ret_why)
{
	const struct json_node *values = json_element(result, columns->result);
	size_t at = 0;
	int r = 0;

	/* All failed: null in place of the list. */
	if (!values || values->type != JSON_TOKEN_ARRAY) {
		imported_leave_out(imported, result->name, "failed");
		return 0;
	}
	json_each(value, values)
	{
		(void)value;
		if (r >= 0)
			r = take_element(imported, result, columns, at++, ret_why);
	}
	return r;
}

int import_asv(const struct import_source *source, struct imported *imported, char **ret_why)
{
	_cleanup_(json_node) struct json_node *all = NULL;
	struct facts *facts = imported_facts(imported);
	const struct json_node *names;
	struct columns columns;
	int r = json_tree_read(source->text, source->size, &all, ret_why);

	if (r < 0)
		return r;
	names = json_member(all, "result_columns");
	columns = (struct columns){
		.result = find_column(names, "result"),
		.params = find_column(names, "params"),
		.samples = find_column(names, "samples"),
		.number = find_column(names, "stats_number"),
		.repeat = find_column(names, "stats_repeat"),
		.started = find_column(names, "started_at"),
	};
	if (columns.result == SIZE_MAX)
		return refuse(ret_why,
			"no result of asv: 'result_columns' name no result ('asv update' makes such "
			"files of those of older versions)");
	set_member(facts, METADATA_COMMIT, all, "commit_hash");
	set_seconds(facts, METADATA_COMMIT_DATE, json_number(json_member(all, "date")) / 1000);
	set_member(facts, "hostname", all, "params.machine");
	set_member(facts, "cpu_machine", all, "params.arch");
	set_member(facts, "cpu_model_name", all, "params.cpu");
	set_member(facts, METADATA_ASV_ENVIRONMENT, all, "env_name");
	json_each(result, json_member(all, "results"))
	{
		r = result->name ? take_asv(imported, result, &columns, ret_why) : 0;
		if (r < 0)
			return r;
	}
	return 0;
}

/* --- fio --- */

/* The figures of one direction of a job. The names of percentiles have points in them. */
static const struct fio_figure {
	const char *path, *percentile, *name, *unit;
	enum better better;
} fio_figures[] = {
	{ "iops", NULL, "iops", "1/s", BETTER_HIGHER },
	{ "bw_bytes", NULL, "bandwidth", "B/s", BETTER_HIGHER },
	{ "clat_ns.mean", NULL, "latency", "ns", BETTER_LOWER },
	{ "clat_ns.percentile", "50.000000", "p50", "ns", BETTER_LOWER },
	{ "clat_ns.percentile", "99.000000", "p99", "ns", BETTER_LOWER },
};

static double find_figure(const struct json_node *part, const struct fio_figure *figure)
{
	const struct json_node *node = json_member(part, figure->path);

	if (!figure->percentile)
		return json_number(node);
	json_each(percentile, node)
	{
		if (percentile->name && strcmp(percentile->name, figure->percentile) == 0)
			return json_number(percentile);
	}
	return NAN;
}

static int take_direction(struct imported *imported, const struct json_node *job,
	const char *direction, char **ret_why)
{
	const struct json_node *part = json_member(job, direction);
	const char *job_name = json_string(json_member(job, "jobname"));
	int r = 0;

	if (!(json_number(json_member(part, "total_ios")) > 0))
		return 0;
	for (size_t i = 0; r >= 0 && i < ARRAY_SIZE(fio_figures); i++) {
		const struct fio_figure *figure = &fio_figures[i];
		_cleanup_free_ char *name =
			xformat("%s: %s-%s", job_name ? job_name : "fio", direction, figure->name);
		struct imported_number number = {
			.value = find_figure(part, figure),
			.unit = figure->unit,
			.better = figure->better,
		};

		if (isfinite(number.value))
			r = import_put_first(imported, name, 0, 0, &number, ret_why);
	}
	return r;
}

bool import_is_fio_note(const char *line, size_t size)
{
	static const char *const notes[] = { "fio: ", "note: " };

	for (size_t i = 0; i < ARRAY_SIZE(notes); i++)
		if (size > strlen(notes[i]) && memcmp(line, notes[i], strlen(notes[i])) == 0)
			return true;
	return false;
}

int import_fio(const struct import_source *source, struct imported *imported, char **ret_why)
{
	static const char *const directions[] = { "read", "write", "trim" };
	_cleanup_(json_node) struct json_node *all = NULL;
	struct facts *facts = imported_facts(imported);
	size_t skip = strcspn(source->text, "{");
	int r = json_tree_read(source->text + skip, source->size - skip, &all, ret_why);

	if (r < 0)
		return r;
	set_member(facts, "fio_version", all, "fio version");
	set_seconds(facts, "date", json_number(json_member(all, "timestamp")));
	json_each(job, json_member(all, "jobs"))
	{
		const char *name = json_string(json_member(job, "jobname"));

		if (json_number(json_member(job, "error")) != 0) {
			imported_leave_out(imported, name ? name : "fio", "failed");
			continue;
		}
		for (size_t i = 0; r >= 0 && i < ARRAY_SIZE(directions); i++)
			r = take_direction(imported, job, directions[i], ret_why);
		if (r < 0)
			return r;
	}
	return 0;
}

/* --- github-action-benchmark --- */

/* [{"name": "parse", "unit": "ns", "value": 120}]: which way is better stands in the workflow. */
static int take_custom(struct imported *imported, const struct json_node *entry, char **ret_why)
{
	const char *name = json_string(json_member(entry, "name"));
	const char *unit = json_string(json_member(entry, "unit"));
	struct imported_number number = {
		.unit = unit ? unit : "",
		.value = json_number(json_member(entry, "value")),
	};
	int r;

	if (!name || isnan(number.value))
		return refuse(ret_why,
			"no list of github-action-benchmark: an entry without a name or a value");
	r = import_put_first(imported, name, 0, 0, &number, ret_why);
	if (r >= 0 && imported_better(imported) == BETTER_UNKNOWN)
		return refuse(ret_why,
			"which way '%s' is better does not stand in the file: --harness custom-bigger "
			"or --harness custom-smaller says it",
			name);
	return r;
}

int import_custom(const struct import_source *source, struct imported *imported, char **ret_why)
{
	_cleanup_(json_node) struct json_node *all = NULL;
	int r = json_tree_read(source->text, source->size, &all, ret_why);

	json_each(entry, r >= 0 ? all : NULL)
	{
		r = take_custom(imported, entry, ret_why);
		if (r < 0)
			return r;
	}
	return r;
}
