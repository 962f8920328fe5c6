// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "basic/clock.h"
#include "basic/macro.h"
#include "machine/cpufreq.h"
#include "machine/interrupts.h"
#include "machine/procstat.h"
#include "machine/thermal.h"
#include "machine/throttle.h"
#include "runpinned/evidence.h"

_Static_assert(EVIDENCE_N_SOFTIRQS == PROCSTAT_N_SOFTIRQS, "one place for each kind");

enum {
	/* A reading younger than this serves as the one before the next run: what a person's
	 * machine does to a CPU in that time is less than what the reading itself would cost. */
	REUSE_NS = 1000 * 1000,
	SENSOR_EVERY_NS = 1000 * 1000 * 1000,
	/* For sensors without limits of their own: where desktop and server CPUs begin to throttle,
	 * less five degrees. */
	HOT_DEFAULT = 90,
	HOT_BELOW_CRITICAL = 5,
};

/* Counters since boot. What could not be read is not valid, and so no evidence. */
struct reading {
	int64_t at_ns;
	bool interrupts_valid;
	bool times_valid;
	bool softirqs_valid;
	bool throttle_valid;
	struct procstat_times times;
	struct procstat_softirqs softirqs;
	struct throttle_counts throttle;
};

struct evidence_reader {
	struct interrupts *interrupts;
	struct procstat *procstat;
	struct throttle *throttle;
	struct thermal *thermal;
	char *sensor;	    /* chip and label of the temperature */
	double hot;	    /* from this on a run is flagged */
	int *frequency_fds; /* by CPU number up to n_frequency_fds, -1 where there is none */
	size_t n_frequency_fds;
	int first_cpu;

	struct reading last;
	struct reading before; /* of the present run */
	double temperature;
	double temperature_before;
	int64_t temperature_at_ns;
};

static void open_thermal(struct evidence_reader *reader)
{
	const struct thermal_info *info;

	if (thermal_open(reader->first_cpu, &reader->thermal) < 0)
		return;
	info = thermal_get_info(reader->thermal);
	if (asprintf(&reader->sensor, "%s: %s", info->chip, info->label) < 0)
		reader->sensor = NULL;
	if (isfinite(info->high))
		reader->hot = info->high;
	else if (isfinite(info->critical))
		reader->hot = info->critical - HOT_BELOW_CRITICAL;
}

static int open_frequencies(struct evidence_reader *reader, const struct cpumask *cpus)
{
	size_t n = (size_t)cpumask_last(cpus) + 1;

	reader->frequency_fds = calloc(n, sizeof(*reader->frequency_fds));
	if (!reader->frequency_fds)
		return -ENOMEM;
	reader->n_frequency_fds = n;
	for (size_t i = 0; i < n; i++)
		reader->frequency_fds[i] = -1;
	cpumask_for_each (cpu, cpus) {
		reader->frequency_fds[cpu] = cpufreq_open_current(cpu);
		/* One that has none speaks for all: a virtual machine with hundreds of CPUs shall
		 * not be asked for each of them. */
		if (reader->frequency_fds[cpu] < 0)
			break;
	}
	return 0;
}

int evidence_open(const struct cpumask *cpus, struct evidence_reader **ret)
{
	_cleanup_(evidence_reader) struct evidence_reader *reader = NULL;
	int r;

	reader = calloc(1, sizeof(*reader));
	if (!reader)
		return -ENOMEM;
	reader->first_cpu = cpumask_first(cpus);
	reader->hot = HOT_DEFAULT;
	reader->temperature = NAN;
	r = interrupts_open(cpus, &reader->interrupts);
	if (r == -ENOMEM)
		return r;
	r = procstat_open(cpus, &reader->procstat);
	if (r < 0)
		return r;
	r = throttle_open(cpus, &reader->throttle);
	if (r == -ENOMEM)
		return r;
	r = open_frequencies(reader, cpus);
	if (r < 0)
		return r;
	open_thermal(reader);
	*ret = TAKE_PTR(reader);
	return 0;
}

static void take_reading(struct evidence_reader *reader)
{
	struct reading *r = &reader->last;

	r->interrupts_valid = reader->interrupts && interrupts_read(reader->interrupts) == 0;
	r->times_valid = procstat_read_times(reader->procstat, &r->times) == 0;
	r->softirqs_valid = procstat_read_softirqs(reader->procstat, &r->softirqs) == 0;
	r->throttle_valid = reader->throttle && throttle_read(reader->throttle, &r->throttle) == 0;
	r->at_ns = clock_now_ns(CLOCK_MONOTONIC);
}

void evidence_before(struct evidence_reader *reader)
{
	if (reader->last.at_ns == 0 ||
		clock_now_ns(CLOCK_MONOTONIC) - reader->last.at_ns > REUSE_NS)
		take_reading(reader);
	reader->before = reader->last;
	reader->temperature_before = evidence_temperature(reader);
}

static int32_t clamp(int64_t value)
{
	return (int32_t)MIN(value, (int64_t)INT32_MAX);
}

/* Keeps the line among the busiest ones. */
static void keep_line(struct evidence *evidence, uint16_t line, int32_t count)
{
	size_t n = evidence->n_irq_lines, at;

	if (n == EVIDENCE_N_IRQ_LINES) {
		if (count <= evidence->irq_count[n - 1])
			return;
		n--;
	}
	for (at = n; at > 0 && evidence->irq_count[at - 1] < count; at--) {
		evidence->irq_line[at] = evidence->irq_line[at - 1];
		evidence->irq_count[at] = evidence->irq_count[at - 1];
	}
	evidence->irq_line[at] = line;
	evidence->irq_count[at] = count;
	evidence->n_irq_lines = (uint32_t)n + 1;
}

static uint16_t fill_interrupts(
	struct evidence_reader *reader, struct series *series, struct evidence *evidence)
{
	struct interrupt_delta delta;
	size_t cursor = 0;
	uint16_t flags = 0;

	if (!reader->before.interrupts_valid || !reader->last.interrupts_valid ||
		!interrupts_comparable(reader->interrupts))
		return 0;
	evidence->irq_device = evidence->irq_timer = evidence->irq_ipi = evidence->irq_other = 0;
	while (interrupts_diff(reader->interrupts, &cursor, &delta)) {
		int32_t count = clamp((int64_t)delta.delta);
		uint16_t line;

		switch (delta.class) {
		case INTERRUPT_DEVICE:
			evidence->irq_device = clamp((int64_t)evidence->irq_device + count);
			flags |= SAMPLE_IRQ;
			break;
		case INTERRUPT_TIMER:
			evidence->irq_timer = clamp((int64_t)evidence->irq_timer + count);
			break;
		case INTERRUPT_IPI:
			evidence->irq_ipi = clamp((int64_t)evidence->irq_ipi + count);
			break;
		case INTERRUPT_THERMAL:
			flags |= SAMPLE_THROTTLED;
			evidence->irq_other = clamp((int64_t)evidence->irq_other + count);
			break;
		default:
			evidence->irq_other = clamp((int64_t)evidence->irq_other + count);
		}
		/* Without a name for it the line is left out; its class has counted it. */
		if (series_intern_irq(series, delta.name, &line) == 0)
			keep_line(evidence, line, count);
	}
	return flags;
}

static uint16_t fill_counters(struct evidence_reader *reader, struct evidence *evidence)
{
	const struct reading *before = &reader->before, *after = &reader->last;
	uint16_t flags = 0;

	if (before->times_valid && after->times_valid &&
		before->times.n_cpus == after->times.n_cpus) {
		evidence->steal_ns = after->times.steal_ns - before->times.steal_ns;
		if (evidence->steal_ns > 0)
			flags |= SAMPLE_STEAL;
	}
	if (before->softirqs_valid && after->softirqs_valid) {
		for (size_t i = 0; i < EVIDENCE_N_SOFTIRQS; i++)
			evidence->softirqs[i] =
				clamp(after->softirqs.counts[i] - before->softirqs.counts[i]);
	}
	if (before->throttle_valid && after->throttle_valid) {
		evidence->throttles = clamp((int64_t)(after->throttle.core - before->throttle.core +
			after->throttle.package - before->throttle.package));
		if (evidence->throttles > 0)
			flags |= SAMPLE_THROTTLED;
	}
	return flags;
}

static void fill_frequency(struct evidence_reader *reader, const struct launch_report *report,
	struct evidence *evidence)
{
	int cpu = report->window.cpu_exit >= 0 ? report->window.cpu_exit : reader->first_cpu;
	uint64_t khz;

	if ((size_t)cpu >= reader->n_frequency_fds || reader->frequency_fds[cpu] < 0)
		return;
	if (cpufreq_read_current(reader->frequency_fds[cpu], &khz) == 0)
		evidence->frequency_khz = (int64_t)khz;
}

void evidence_after(struct evidence_reader *reader)
{
	take_reading(reader);
}

uint16_t evidence_fill(struct evidence_reader *reader, struct series *series,
	const struct launch_report *report, struct evidence *ret)
{
	struct procstat_load load;
	uint16_t flags = 0;

	evidence_clear(ret);
	fill_frequency(reader, report, ret);
	ret->temperature_before = (float)reader->temperature_before;
	ret->temperature_after = (float)evidence_temperature(reader);
	if (procstat_read_load(reader->procstat, &load) == 0) {
		ret->load1 = (float)load.load1;
		ret->runnable = (int32_t)load.runnable;
	}
	flags |= fill_interrupts(reader, series, ret);
	flags |= fill_counters(reader, ret);
	if (ret->temperature_after >= (float)reader->hot)
		flags |= SAMPLE_HOT;

	ret->user_cpu_ns = report->user_cpu_ns;
	ret->system_cpu_ns = report->system_cpu_ns;
	ret->run_delay_ns = report->run_delay_ns;
	ret->minor_faults = clamp(report->minor_faults);
	ret->major_faults = clamp(report->major_faults);
	ret->voluntary_switches = clamp(report->voluntary_switches);
	ret->involuntary_switches = clamp(report->involuntary_switches);
	ret->cpu_first = report->window.cpu_exec;
	ret->cpu_last = report->window.cpu_exit;
	if (report->window.exit_ns > 0)
		ret->reap_ns = report->end_ns - report->window.exit_ns;
	if (ret->cpu_first >= 0 && ret->cpu_last >= 0 && ret->cpu_first != ret->cpu_last)
		flags |= SAMPLE_MIGRATED;
	for (size_t i = 0; i < EVIDENCE_N_SOFTIRQS; i++)
		series->softirq_names[i] = procstat_softirq_name(i);
	return flags;
}

double evidence_ask_temperature(struct evidence_reader *reader)
{
	if (!reader->thermal)
		return NAN;
	if (thermal_read(reader->thermal, &reader->temperature) < 0)
		reader->temperature = NAN;
	reader->temperature_at_ns = clock_now_ns(CLOCK_MONOTONIC);
	return reader->temperature;
}

double evidence_temperature(struct evidence_reader *reader)
{
	if (reader->temperature_at_ns != 0 &&
		clock_now_ns(CLOCK_MONOTONIC) - reader->temperature_at_ns < SENSOR_EVERY_NS)
		return reader->temperature;
	return evidence_ask_temperature(reader);
}

const char *evidence_sensor(const struct evidence_reader *reader)
{
	return reader->sensor;
}

void evidence_free(struct evidence_reader *reader)
{
	if (!reader)
		return;
	interrupts_free(reader->interrupts);
	procstat_free(reader->procstat);
	throttle_free(reader->throttle);
	thermal_free(reader->thermal);
	free(reader->sensor);
	for (size_t i = 0; i < reader->n_frequency_fds; i++) {
		if (reader->frequency_fds[i] >= 0)
			close(reader->frequency_fds[i]);
	}
	free(reader->frequency_fds);
	free(reader);
}
