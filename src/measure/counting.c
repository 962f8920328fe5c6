// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/machine/counter.h"
#include "base/macro.h"
#include "base/say.h"
#include "base/xalloc.h"
#include "measure/counting.h"
#include "measure/judge.h"

enum {
	/* Two clocks of the same time differ by less than one part in so many, or by less than so
	 * much for each task and for each time that a task was switched to. Seen on an idle
	 * machine: 11 us with one task, 76 us with nine; on a virtual machine with many programs
	 * that all wanted its CPUs: 4 us for each switch, and 60 us for each task in one of 8,000
	 * runs. */
	MISSING_PART = 100,
	MISSING_TASK_NS = 250 * 1000,
	MISSING_SWITCH_NS = 5 * 1000,
};

/* Adds an event that is evidence, if this machine can count it. Returns its index in attrs,
 * otherwise -1. */
static int add_own(struct counting *counting, int cpu, const char *name)
{
	_cleanup_free_ char *why = NULL, *why_not = NULL;
	struct perf_event_attr attr;

	if (xcheck(counter_resolve(name, cpu, &attr, &why)) < 0)
		return -1;
	if (counter_probe(&attr, &why_not) < 0)
		return -1;
	counting->attrs[counting->n] = attr;
	return (int)counting->n++;
}

static void add_evidence(struct counting *counting, int cpu)
{
	int mperf, tsc;

	counting->task_clock = add_own(counting, cpu, "task-clock");
	counting->migrations = add_own(counting, cpu, "cpu-migrations");
	/* The frequency is computed from all three of them, so one without the others is of no
	 * use. */
	if (add_own(counting, cpu, "msr/aperf/") < 0)
		return;
	mperf = add_own(counting, cpu, "msr/mperf/");
	tsc = add_own(counting, cpu, "msr/tsc/");
	if (mperf >= 0 && tsc >= 0)
		counting->n_cpu_counters = LAUNCH_MAX_CPU_COUNTERS;
}

/* Adds one event of -e, or a note that it cannot be counted here. */
static int add_event(struct counting *counting, int cpu, const char *name)
{
	_cleanup_free_ char *why = NULL;
	struct perf_event_attr attr;
	int r;

	r = xcheck(counter_resolve(name, cpu, &attr, &why));
	if (r == -ENOENT) {
		say("-e: %s: %s", name, why ? why : "no such event");
		return -EINVAL;
	}
	if (r == 0)
		r = xcheck(counter_probe(&attr, &why));
	if (r < 0) {
		counting->notes[counting->n_notes++] =
			xformat("note: %s is not counted: %s", name, why ? why : strerror(-r));
		return 0;
	}
	if (counting->n == LAUNCH_MAX_COUNTERS) {
		say("-e: more events than can be counted at once (%d)",
			LAUNCH_MAX_COUNTERS - (int)counting->first_event);
		return -EINVAL;
	}
	/* Mark events that are counted in user space only, as perf does, unless the name already
	 * says so. */
	counting->event_names[counting->n_events++] = xformat(
		"%s%s", name, counter_is_user_only(&attr) && !strchr(name, ':') ? ":u" : "");
	counting->attrs[counting->n++] = attr;
	return 0;
}

int counting_open(const char *events, int cpu, bool with_evidence, struct counting **ret)
{
	_cleanup_(counting) struct counting *counting = NULL;
	size_t n = 0;
	char **list;
	int r = 0;

	counting = xptr(calloc(1, sizeof(*counting)));
	counting->task_clock = counting->migrations = -1;
	counting->event_names =
		xptr(calloc(LAUNCH_MAX_COUNTERS + 1, sizeof(*counting->event_names)));
	if (with_evidence)
		add_evidence(counting, cpu);
	counting->first_event = counting->n;
	if (events) {
		r = xcheck(counter_split_list(events, &list));
		if (r < 0) {
			say("-e: '%s' is no list of events", events);
			return r;
		}
		while (list[n])
			n++;
		counting->notes = xptr(calloc(n + 1, sizeof(*counting->notes)));
		for (size_t i = 0; i < n && r == 0; i++)
			r = add_event(counting, cpu, list[i]);
		counter_free_list(list);
		if (r < 0)
			return r;
	}
	*ret = TAKE_PTR(counting);
	return 0;
}

void counting_say_notes(const struct counting *counting)
{
	for (size_t i = 0; i < counting->n_notes; i++)
		say("%s", counting->notes[i]);
}

void counting_free(struct counting *counting)
{
	if (!counting)
		return;
	counter_free_list(counting->notes);
	counter_free_list(counting->event_names);
	free(counting);
}

double counting_scale(const struct launch_counter *counter)
{
	if (counter->running_ns == 0)
		return NAN;
	if (counter->running_ns >= counter->enabled_ns)
		return (double)counter->value;
	return (double)counter->value * ((double)counter->enabled_ns / (double)counter->running_ns);
}

static double own_count(const struct launch_report *report, int index)
{
	if (index < 0 || (uint32_t)index >= report->n_counters)
		return NAN;
	return counting_scale(&report->counters[index]);
}

/*
 * There are records of the benchmark's CPUs only. If the tasks have run for longer than the records
 * say, a task was on another CPU for the missing time.
 */
static bool has_run_elsewhere(const struct launch_report *report, double task_clock_ns)
{
	const struct tree *tree = &report->tree;
	int64_t window_ns = judge_window_end(report) - report->window.exec_ns;
	int64_t missing_ns;

	/* The time of processes that outlive the program is in only one of the two sums. */
	if (!report->tree_tried || isnan(task_clock_ns) || tree->ran_ns < 0 || tree->n_lost > 0)
		return false;
	missing_ns = (int64_t)task_clock_ns - tree->ran_ns;
	return missing_ns >= window_ns / MISSING_PART &&
		missing_ns >= MISSING_TASK_NS * (int64_t)tree->n_tasks +
			MISSING_SWITCH_NS * (int64_t)tree->n_switches;
}

/* The migrations that the records of all tasks show. An ordinary user may not count migrations
 * (kernel.perf_event_paranoid above 1), but may have the records. A task that was on another CPU
 * went there and came back, which are two. */
static int32_t count_moves(const struct launch_report *report, double task_clock_ns)
{
	int32_t n = (int32_t)MIN(report->tree.n_migrations, (uint32_t)INT32_MAX);

	return has_run_elsewhere(report, task_clock_ns) ? MAX(n, 2) : n;
}

/*
 * APERF counts at the CPU's actual frequency and MPERF at that of the TSC, both only while the CPU
 * is not idle (Intel SDM 14.2). The frequency of the TSC is its count divided by the time. The
 * counters are APERF, MPERF and TSC. NAN when they did not count.
 */
static double find_khz(const struct launch_counter counters[LAUNCH_MAX_CPU_COUNTERS])
{
	double aperf = counting_scale(&counters[0]), mperf = counting_scale(&counters[1]);
	double tsc = counting_scale(&counters[2]);

	if (isnan(aperf) || isnan(tsc) || !(mperf > 0))
		return NAN;
	return aperf / mperf * tsc / (double)counters[2].enabled_ns * 1e6;
}

bool counting_find_left(
	const struct counting *counting, const struct launch_report *report, bool one_cpu)
{
	return (one_cpu && own_count(report, counting->migrations) > 0) ||
		has_run_elsewhere(report, own_count(report, counting->task_clock));
}

void counting_fill_evidence(const struct counting *counting, const struct launch_report *report,
	struct evidence *evidence)
{
	double task_clock = own_count(report, counting->task_clock);
	double migrations = own_count(report, counting->migrations);
	double khz = NAN;

	if (isfinite(task_clock))
		evidence->task_clock_ns = (int64_t)task_clock;
	if (isfinite(migrations))
		evidence->migrations = (int32_t)MIN(migrations, (double)INT32_MAX);
	if (report->tree_tried)
		evidence->migrations = MAX(evidence->migrations, count_moves(report, task_clock));
	/* What the program's tasks counted is of them alone. */
	if (counting->n_cpu_counters > 0 && counting->first_event <= report->n_counters)
		khz = find_khz(&report->counters[counting->first_event - counting->n_cpu_counters]);
	if (isnan(khz) && counting->n_cpu_counters > 0 && !report->left &&
		report->n_cpu_counters == counting->n_cpu_counters)
		khz = find_khz(report->cpu_counters);
	if (!isnan(khz))
		evidence->frequency_khz = (int64_t)khz;
}

void counting_read_events(
	const struct counting *counting, const struct launch_report *report, double *ret)
{
	for (size_t i = 0; i < counting->n_events; i++) {
		size_t at = counting->first_event + i;

		ret[i] = at < report->n_counters ? counting_scale(&report->counters[at]) : NAN;
	}
}
