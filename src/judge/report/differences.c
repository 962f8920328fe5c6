// SPDX-License-Identifier: GPL-2.0-or-later
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "base/text.h"
#include "base/units.h"
#include "base/xalloc.h"
#include "judge/report/differences.h"
#include "judge/result/metadata.h"
#include "judge/result/metric.h"
#include "judge/result/weight.h"
#include "judge/stats/stats.h"

/* The same as for the runs of one result (judge_frequencies() of runpinned). */
#define CLOCK_TOLERANCE 0.01
/* Two results may differ by so much in the part of their runs that were on a shared core: that part
 * varies by chance. */
#define SHARED_TOLERANCE 0.3
/* If at most this part of the runs was on a shared core, the median is that of the runs on a whole
 * core. */
#define SHARED_AT_MOST 0.1

/* The keys whose values are equal when two results are from the same machine in the same state, and
 * were measured in the same way; the most important keys first. cpu_freq is not among them, because
 * it is the clock of one moment. */
static const struct {
	const char *key;
	bool set_or_not; /* a tool that knows it mentions it only when it is set */
	bool of_program; /* of what is measured, and not of the machine or of how it is measured */
} keys[] = {
	{ "hostname" },
	{ "cpu_model_name" },
	{ "cpu_machine" },
	{ "cpu_count" },
	{ "platform" },
	{ "quiesce_kernel" },
	{ "quiesce_virtualization" },
	{ "quiesce_clock" },
	{ "quiesce_clocksource" },
	{ "quiesce_governor" },
	{ "quiesce_boost" },
	{ "quiesce_epp" },
	{ "cpu_config" },
	{ "cpu_affinity" },
	{ "quiesce_cpus" },
	{ "cpu_quota", true },
	{ "quiesce_isolated", true },
	{ "quiesce_partitions", true },
	{ "quiesce_nohz_full", true },
	{ "quiesce_smt" },
	{ "quiesce_thp" },
	{ "quiesce_mitigations" },
	{ "quiesce_cmdline" },
	{ "quiesce_power_supply" },
	{ "aslr" },
	{ "quiesce_aslr", true },
	{ "quiesce_env_padding" },
	{ "quiesce_vary", true },
	{ "quiesce_user", true },
	{ "quiesce_nice", true },
	{ "quiesce_fifo", true },
	{ "quiesce_environment", true },
	{ "quiesce_env", true },
	{ "quiesce_input", true },
	{ "quiesce_output", true },
	{ "quiesce_shell", true },
	{ "quiesce_drop_caches", true },
	{ "quiesce_cooldown", true },
	{ "quiesce_setup", true },
	{ "quiesce_prepare", true },
	{ "quiesce_conclude", true },
	{ "quiesce_cleanup", true },
	{ "quiesce_ignore_failure", true },
	{ "quiesce_evidence" },
	{ "inner_loops" },
	{ "python_implementation", .of_program = true },
	{ "python_version", .of_program = true },
	{ METADATA_HYPERFINE_VERSION },
	{ "library_build_type" },
	{ "library_version" },
	{ "cpu_scaling_enabled" },
	{ "aslr_enabled" },
};

/* What the user said of a result, or set for it: those names are the user's. */
static const char *const prefixes[] = { METADATA_CONTEXT, METADATA_ENVIRONMENT };

static bool is_of_key(const char *difference, const char *key)
{
	size_t n = strlen(key);

	return strncmp(difference, key, n) == 0 && strncmp(difference + n, ": ", 2) == 0;
}

static bool is_found(const struct comparison *c, const char *key)
{
	for (size_t i = 0; i < c->n_differences; i++)
		if (is_of_key(c->differences[i], key))
			return true;
	return false;
}

static void add(struct comparison *c, const char *key, const char *from, const char *to)
{
	_cleanup_free_ char *line = xformat("%s: %s -> %s", key, from, to);

	c->differences =
		xptr(reallocarray(c->differences, c->n_differences + 1, sizeof(*c->differences)));
	c->differences[c->n_differences++] = xptr(text_escape_control(line));
}

static bool has_prefix(const char *key)
{
	for (size_t i = 0; i < ARRAY_SIZE(prefixes); i++)
		if (text_starts_with(key, prefixes[i]))
			return true;
	return false;
}

/* A key that is missing in one result is no difference, unless that says that it was not set. */
static void compare_key(struct comparison *c, const char *key, const struct benchmark *old,
	const struct benchmark *new, bool may_be_unset)
{
	const struct fact *a = facts_find(&old->metadata, key);
	const struct fact *b = facts_find(&new->metadata, key);
	_cleanup_free_ char *from = NULL, *to = NULL;

	if ((a && b ? metadata_equal_facts(a, b) : (a == b || !may_be_unset)) || is_found(c, key))
		return;
	from = benchmark_metadata_text(old, key);
	to = benchmark_metadata_text(new, key);
	add(c, key, from ? from : "none", to ? to : "none");
}

/* Whether both results mention the same things: a newer version may know more. That of runpinned is
 * not asked for, since all know what is listed here. */
static bool know_the_same(const struct benchmark *old, const struct benchmark *new)
{
	const char *a = benchmark_tool(old), *b = benchmark_tool(new);

	if (!a || !b || strcmp(a, b) != 0)
		return false;
	a = facts_find_string(&old->metadata, METADATA_PYPERF_VERSION);
	b = facts_find_string(&new->metadata, METADATA_PYPERF_VERSION);
	return !a == !b && (!a || strcmp(a, b) == 0);
}

/* What programs measure themselves is not stamped. */
static void add_stampers(
	struct comparison *c, const struct benchmark *old, const struct benchmark *new)
{
	const char *from = metadata_get_stamper(&old->metadata);
	const char *to = metadata_get_stamper(&new->metadata);

	if (!from || !to || strcmp(from, to) == 0 || is_found(c, METADATA_STAMPS) ||
		benchmark_is_by_program(old))
		return;
	add(c, METADATA_STAMPS, from, to);
}

/* A key that is missing in one result is no difference, except for what is left out because it is
 * not set. */
void differences_find(
	struct comparison *c, const struct benchmark *old, const struct benchmark *new)
{
	const char *from = benchmark_tool(old), *to = benchmark_tool(new);
	bool know = know_the_same(old, new);

	/* Each tool starts a program in its own way, and takes something else for its time. */
	if (from && to && strcmp(from, to) != 0 && !is_found(c, "tool"))
		add(c, "tool", from, to);
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		compare_key(c, keys[i].key, old, new, know && keys[i].set_or_not);
	for (size_t i = 0; i < old->metadata.n; i++)
		if (has_prefix(old->metadata.items[i].name))
			compare_key(c, old->metadata.items[i].name, old, new, know);
	for (size_t i = 0; i < new->metadata.n; i++)
		if (has_prefix(new->metadata.items[i].name))
			compare_key(c, new->metadata.items[i].name, old, new, know);
	add_stampers(c, old, new);
}

static bool is_of_program(const char *difference)
{
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		if (keys[i].of_program && is_of_key(difference, keys[i].key))
			return true;
	return false;
}

/* Nobody but this machine's own programs has its cores, and each core does one thing at one speed.
 */
static bool is_own_machine(const struct facts *facts)
{
	const char *hypervisor = facts_find_string(facts, "quiesce_virtualization");
	const char *threads = facts_find_string(facts, "quiesce_smt");
	const char *boost = facts_find_string(facts, "quiesce_boost");

	return hypervisor && strcmp(hypervisor, "none") == 0 && threads &&
		strstr(threads, "inactive") && boost && strcmp(boost, "off") == 0;
}

struct resolution differences_find_resolution(
	const struct comparison *c, const struct benchmark *old, const struct benchmark *new)
{
	if (c->n_differences > 0)
		return (struct resolution){ RESOLUTION_SHARED,
			"machines or measurements that differ" };
	if (c->is_disturbed)
		return (struct resolution){ RESOLUTION_SHARED, "runs that were mostly disturbed" };
	if (c->had_core)
		return (struct resolution){ RESOLUTION_OWN, "a machine whose core was whole" };
	if (is_own_machine(&old->metadata) && is_own_machine(&new->metadata))
		return (struct resolution){ RESOLUTION_OWN,
			"a machine without neighbours, SMT and boost" };
	return (struct resolution){ RESOLUTION_SHARED, "a machine that may be shared" };
}

const char *differences_find_other(const struct comparison *c)
{
	for (size_t i = 0; i < c->n_differences; i++)
		if (!is_of_program(c->differences[i]))
			return c->differences[i];
	return NULL;
}

char *differences_describe_program(const struct benchmark *benchmark)
{
	const char *commit = facts_find_string(&benchmark->metadata, METADATA_COMMIT);
	struct text t = { 0 };

	text_appendf(&t, "%s\n", commit ? commit : "");
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		_cleanup_free_ char *value = NULL;

		if (!keys[i].of_program)
			continue;
		value = benchmark_metadata_text(benchmark, keys[i].key);
		text_appendf(&t, "%s\n", value ? value : "");
	}
	return xptr(text_steal(&t));
}

const char *differences_find_lost(const struct benchmark *of, const struct benchmark *benchmark)
{
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		if (!keys[i].of_program && facts_find(&of->metadata, keys[i].key) &&
			!facts_find(&benchmark->metadata, keys[i].key))
			return keys[i].key;
	return NULL;
}

/* The median clock of the core during the runs that count; NAN where it is known for less than half
 * of them. */
static double find_core_clock(const struct series *series)
{
	struct weight_base base;

	weight_base_find(series, &base);
	return 2 * base.n_core_khz < series->n_counted ? NAN : base.core_khz;
}

/* The part of the runs that had less than a whole core; NAN where that is known for less than half
 * of the runs. */
static double find_shared_part(const struct series *series)
{
	size_t n = 0, n_shared = 0;

	for (size_t i = 0; series->with_evidence && i < series->n_samples; i++) {
		if (!sample_counts(&series->samples[i]) ||
			isnan(evidence_core_share(&series->evidence[i])))
			continue;
		n++;
		n_shared += evidence_is_shared(&series->evidence[i]);
	}
	if (n == 0 || 2 * n < series->n_counted)
		return NAN;
	return (double)n_shared / (double)n;
}

/* Whether both results have the same figure for what a whole core does; shares of different figures
 * are not comparable. Both may have had the same neighbour all the time, and no whole core: then
 * the core was the same too. */
static bool is_same_core(const struct benchmark *old, const struct benchmark *new)
{
	double a = facts_find_real(&old->metadata, METADATA_WHOLE_CORE);
	double b = facts_find_real(&new->metadata, METADATA_WHOLE_CORE);

	return fabs(b - a) <= CLOCK_TOLERANCE * a;
}

static void add_numbers(
	struct comparison *c, const char *key, double from, double to, const char *unit)
{
	char texts[2][UNITS_TEXT_SIZE];

	if (is_found(c, key))
		return;
	snprintf(texts[0], sizeof(texts[0]), "%.0f %s", from, unit);
	snprintf(texts[1], sizeof(texts[1]), "%.0f %s", to, unit);
	add(c, key, texts[0], texts[1]);
}

/* Differences that the settings do not show: the real clock of the core, and how often somebody
 * else used the core. */
bool differences_find_of_cores(
	struct comparison *c, const struct benchmark *old, const struct benchmark *new)
{
	double old_part = find_shared_part(old->series), new_part = find_shared_part(new->series);
	double from = find_core_clock(old->series), to = find_core_clock(new->series);

	if (fabs(to - from) > CLOCK_TOLERANCE * from)
		add_numbers(c, "clock of the core", from / 1000, to / 1000, "MHz");
	if (fabs(new_part - old_part) > SHARED_TOLERANCE)
		add_numbers(c, "runs on a shared core", 100 * old_part, 100 * new_part, "%");
	return is_same_core(old, new) && old_part <= SHARED_AT_MOST && new_part <= SHARED_AT_MOST &&
		fabs(to - from) <= CLOCK_TOLERANCE * from;
}

double differences_find_faults(const struct benchmark *benchmark)
{
	const struct series *series = benchmark->series;
	_cleanup_free_ double *faults =
		xptr(reallocarray(NULL, MAX(series->n_samples, (size_t)1), sizeof(*faults)));
	size_t n = series_metric(series, "minor_faults", faults);

	for (size_t i = 0; i < n; i++)
		if (isnan(faults[i]))
			return NAN;
	stats_sort(faults, n);
	return n > 0 ? stats_median(faults, n) : NAN;
}
