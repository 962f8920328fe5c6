// SPDX-License-Identifier: GPL-2.0-or-later
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/macro.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "measure/meanwhile.h"

/* For all CPUs together: the sums, and the largest suspect of each kind by name. */
struct totals {
	uint64_t tasks_ns;
	uint64_t interrupts;
	struct suspect task;
	struct suspect interrupt;
};

struct meanwhile *meanwhile_begin(const struct cpumask *cpus)
{
	struct meanwhile *meanwhile = xptr(calloc(1, sizeof(*meanwhile)));

	meanwhile->cpus = cpus;
	xcheck(suspects_read_before(cpus, &meanwhile->before));
	meanwhile->since = clock_now_ns(CLOCK_MONOTONIC);
	return meanwhile;
}

void meanwhile_free(struct meanwhile *meanwhile)
{
	if (!meanwhile)
		return;
	suspects_reading_clear(&meanwhile->before);
	free(meanwhile);
}

/* Adds suspects to a sum; the first of them is the largest. */
static void add_suspects(
	const struct suspect *items, size_t n, uint64_t *sum, struct suspect *largest)
{
	for (size_t i = 0; i < n; i++)
		*sum += items[i].count;
	if (n > 0 && items[0].count > largest->count) {
		largest->count = items[0].count;
		xcheck(text_replace(&largest->name, items[0].name));
	}
}

static void add_cpu(const struct meanwhile *meanwhile, const struct suspects_reading *after,
	int cpu, struct totals *totals)
{
	struct suspects suspects;

	xcheck(suspects_compare(cpu, &meanwhile->before, after, &suspects));
	add_suspects(suspects.tasks, suspects.n_tasks, &totals->tasks_ns, &totals->task);
	add_suspects(suspects.interrupts, suspects.n_interrupts, &totals->interrupts,
		&totals->interrupt);
	suspects_clear(&suspects);
}

/* Two digits are enough, without an exponent. */
static void append_figure(struct text *line, double figure)
{
	text_appendf(line, figure < 10 ? "%.2g" : "%.0f", figure);
}

static void append_largest(struct text *line, const struct suspect *largest, double figure)
{
	if (!largest->name)
		return;
	text_appendf(line, " (most: %s ", largest->name);
	append_figure(line, figure);
	text_append(line, ")");
}

/*
 * The CPUs' time that neither the program nor visible tasks explain, as a part of all of it; 0 as
 * long as it may be an error, negative where not known. Where the kernel counts by its tick
 * (CONFIG_TICK_CPU_ACCOUNTING), each tick finds a CPU busy or not: of n ticks the standard
 * deviation of their sum is at most half the root of n. Three standard deviations are allowed, for
 * ticks of 10 ms, the longest that exist; and two ticks for each process that is subtracted,
 * because its time is rounded down.
 */
static double find_other(const struct meanwhile *meanwhile, const struct suspects_reading *after,
	uint64_t tasks_ns, double cpu_seconds)
{
	const struct suspects_reading *before = &meanwhile->before;
	double tick = 1.0 / (double)sysconf(_SC_CLK_TCK), busy, error;
	int64_t tick_ns = (int64_t)(tick * NSEC_PER_SEC);
	struct procstat_times first, last;

	if (!before->stat || !after->stat || after->n_family != before->n_family ||
		procstat_parse_times(
			meanwhile->cpus, before->stat, before->stat_length, tick_ns, &first) < 0 ||
		procstat_parse_times(
			meanwhile->cpus, after->stat, after->stat_length, tick_ns, &last) < 0 ||
		first.n_cpus != last.n_cpus)
		return -1;
	busy = (double)(last.busy_ns - first.busy_ns - (after->family_ns - before->family_ns) -
		       (int64_t)tasks_ns) /
		NSEC_PER_SEC;
	error = 1.5 * sqrt(cpu_seconds * tick) + 2 * tick * (double)(after->n_family + 1);
	return busy > error ? busy / cpu_seconds : 0;
}

static void describe(const struct meanwhile *meanwhile, const struct suspects_reading *after,
	const struct totals *totals, double seconds, struct facts *facts)
{
	_cleanup_text_ struct text line = { 0 };
	double cpu_seconds = seconds * (double)cpumask_weight(meanwhile->cpus);
	double other = find_other(meanwhile, after, totals->tasks_ns, cpu_seconds);

	if (after->n_tasks > 0) {
		double percent = 100.0 * (double)totals->tasks_ns / NSEC_PER_SEC / cpu_seconds;

		facts_set_real(facts, "quiesce_meanwhile_tasks", percent);
		text_append(
			&line, totals->tasks_ns > 0 ? "visible tasks at most " : "visible tasks ");
		append_figure(&line, percent);
		text_append(&line, " % of the time");
		append_largest(&line, &totals->task,
			100.0 * (double)totals->task.count / NSEC_PER_SEC / cpu_seconds);
	}
	if (other >= 0)
		facts_set_real(facts, "quiesce_meanwhile_other", 100 * other);
	if (other > 0) {
		text_appendf(&line, "%swhat cannot be seen ", line.length > 0 ? ", " : "");
		append_figure(&line, 100 * other);
		text_append(&line, " %");
	}
	if (meanwhile->before.interrupts && after->interrupts) {
		double rate = (double)totals->interrupts / seconds;

		facts_set_real(facts, "quiesce_meanwhile_interrupts", rate);
		text_append(&line, line.length > 0 ? ", " : "");
		append_figure(&line, rate);
		text_append(&line, " interrupts a second");
		append_largest(
			&line, &totals->interrupt, (double)totals->interrupt.count / seconds);
	}
	if (line.failed)
		xalloc_fail();
	if (line.length > 0)
		facts_set_string(facts, "quiesce_meanwhile", line.data);
}

void meanwhile_describe(const struct meanwhile *meanwhile, struct facts *facts)
{
	double seconds = (double)(clock_now_ns(CLOCK_MONOTONIC) - meanwhile->since) / NSEC_PER_SEC;
	struct suspects_reading after;
	struct totals totals = { 0 };

	xcheck(suspects_read_after(meanwhile->cpus, &after));
	cpumask_for_each (cpu, meanwhile->cpus)
		add_cpu(meanwhile, &after, cpu, &totals);
	describe(meanwhile, &after, &totals, seconds, facts);
	free(totals.task.name);
	free(totals.interrupt.name);
	suspects_reading_clear(&after);
}
