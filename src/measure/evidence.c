// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/machine/cpufreq.h"
#include "base/machine/interrupts.h"
#include "base/machine/procstat.h"
#include "base/machine/quota.h"
#include "base/machine/statetime.h"
#include "base/machine/thermal.h"
#include "base/machine/throttle.h"
#include "base/macro.h"
#include "base/parse.h"
#include "base/xalloc.h"
#include "measure/evidence.h"

_Static_assert(EVIDENCE_N_SOFTIRQS == PROCSTAT_N_SOFTIRQS, "one place for each kind");

enum {
	/* A reading that is not older than this also serves as the reading before the next run. In
	 * that time a desktop machine disturbs a CPU less than another reading would. */
	REUSE_NS = 1000 * 1000,
	SENSOR_EVERY_NS = 1000 * 1000 * 1000,
	/* For sensors that have no limits of their own: about where the CPUs of desktops and
	 * servers begin to throttle, minus five degrees. */
	HOT_DEFAULT = 90,
	HOT_BELOW_CRITICAL = 5,
	/* So much of what the CPUs have is missing when a program was elsewhere, at least: of each
	 * some ticks, and one part in so many. */
	ELSEWHERE_NS = 50 * 1000 * 1000,
	ELSEWHERE_PART = 10,
};

/* Counters since boot. A counter that could not be read is not valid, and there is no evidence from
 * it. */
struct reading {
	/* When the launcher took it, or shortly before, on CLOCK_MONOTONIC_RAW; 0: never. */
	int64_t at_ns;
	bool interrupts_valid;
	bool only_devices; /* the interrupts of no device are known not to have changed, no others
			    */
	bool times_valid;
	bool softirqs_valid;
	bool throttle_valid;
	bool quota_valid;
	int64_t throttled_ns; /* by the quota */
	struct procstat_times times;
	struct procstat_softirqs softirqs;
	struct throttle_counts throttle;
	double load1;	  /* NAN: not known */
	int32_t runnable; /* -1: not known */
};

/* The first files of a reading. The files of throttle counts, of the times in idle states and at
 * frequencies, and of frequencies follow them. */
enum {
	FILE_STAT,
	FILE_INTERRUPTS,
	FILE_SOFTIRQS,
	FILE_LOADAVG,
	FILE_QUOTA, /* the first one of so many places (evidence.h) */
	FILE_LAST_QUOTA = FILE_QUOTA + QUOTA_STATS_MAX - 1,
	N_FIXED_FILES,
};

struct evidence_reader {
	struct interrupts *interrupts;
	struct procstat *procstat;
	bool renumbered;	   /* the numbers of CPUs in /proc/stat are not the kernel's */
	struct throttle *throttle; /* NULL when there are no such counters */
	struct statetime *states;
	struct thermal *thermal;
	char *sensor; /* chip and label of the temperature sensor */
	double hot;   /* what evidence_hot() returns */
	int first_cpu;
	unsigned n_cpus;
	/* The machine has no other package, so that the temperature is that of a program on
	 * whatever CPU. */
	bool one_package;

	struct evidence_file *files; /* the paths are allocated here */
	size_t n_files;
	size_t first_throttle; /* index in `files` */
	size_t first_state;
	size_t first_frequency;

	struct reading last;
	double first_temperature;
	double temperature;
	double temperature_before;
	int64_t temperature_at_ns;
};

static void open_thermal(struct evidence_reader *reader)
{
	const struct thermal_info *info;

	if (xcheck(thermal_open(reader->first_cpu, &reader->thermal)) < 0)
		return;
	info = thermal_get_info(reader->thermal);
	reader->sensor = xformat("%s: %s", info->chip, info->label);
	if (isfinite(info->high))
		reader->hot = info->high;
	else if (isfinite(info->critical))
		reader->hot = info->critical - HOT_BELOW_CRITICAL;
}

static void add_file(
	struct evidence_reader *reader, const char *path, enum launch_file_kind kind, int cpu)
{
	reader->files =
		xptr(reallocarray(reader->files, reader->n_files + 1, sizeof(*reader->files)));
	reader->files[reader->n_files++] = (struct evidence_file){
		.path = path ? xptr(strdup(path)) : NULL,
		.kind = kind,
		.cpu = cpu,
	};
}

static void add_fixed_files(struct evidence_reader *reader)
{
	const struct {
		const char *path;
		enum launch_file_kind kind;
		/* The places for those of the quota have no path. */
	} files[N_FIXED_FILES] = {
		[FILE_STAT] = { PROCSTAT_STAT, LAUNCH_FILE_TOTAL },
		[FILE_INTERRUPTS] = { INTERRUPTS_PATH,
			interrupts_have_total() ? LAUNCH_FILE_INTERRUPTS : LAUNCH_FILE_TABLE },
		[FILE_SOFTIRQS] = { PROCSTAT_SOFTIRQS, LAUNCH_FILE_SOFTIRQS },
		[FILE_LOADAVG] = { PROCSTAT_LOADAVG, LAUNCH_FILE_MEAN },
	};

	for (size_t i = 0; i < N_FIXED_FILES; i++)
		add_file(reader, files[i].path, files[i].kind, -1);
}

static void add_throttle(struct evidence_reader *reader, const struct cpumask *cpus)
{
	char path[128];

	reader->first_throttle = reader->n_files;
	if (xcheck(throttle_open(cpus, &reader->throttle)) < 0)
		return;
	for (size_t i = 0; i < throttle_count(reader->throttle); i++) {
		throttle_path(reader->throttle, i, path, sizeof(path));
		add_file(reader, path, LAUNCH_FILE_PLAIN, -1);
	}
}

static void add_states(struct evidence_reader *reader, const struct cpumask *cpus)
{
	char path[CPUFREQ_PATH_SIZE];

	reader->first_state = reader->n_files;
	xcheck(statetime_open(cpus, &reader->states));
	for (size_t i = 0; i < statetime_count(reader->states); i++)
		add_file(reader, statetime_path(reader->states, i, path), LAUNCH_FILE_STATE, -1);
}

static void add_frequencies(struct evidence_reader *reader, const struct cpumask *cpus)
{
	char path[CPUFREQ_PATH_SIZE];

	reader->first_frequency = reader->n_files;
	cpumask_for_each (cpu, cpus) {
		cpufreq_path(cpu, "scaling_cur_freq", path);
		/* If one CPU has no such file, no CPU has. A virtual machine with hundreds of CPUs
		 * should not be asked for each of them. */
		if (access(path, R_OK) < 0)
			break;
		add_file(reader, path, LAUNCH_FILE_PLAIN, cpu);
	}
}

struct evidence_reader *evidence_open(const struct cpumask *cpus, bool renumbered, bool one_package)
{
	struct evidence_reader *reader = xptr(calloc(1, sizeof(*reader)));

	reader->first_cpu = cpumask_first(cpus);
	reader->one_package = one_package;
	reader->n_cpus = cpumask_weight(cpus);
	reader->renumbered = renumbered;
	reader->hot = HOT_DEFAULT;
	reader->temperature = reader->last.load1 = NAN;
	xcheck(interrupts_new(cpus, &reader->interrupts));
	xcheck(procstat_new(cpus, &reader->procstat));
	add_fixed_files(reader);
	add_throttle(reader, cpus);
	add_states(reader, cpus);
	add_frequencies(reader, cpus);
	open_thermal(reader);
	reader->first_temperature = evidence_temperature(reader);
	return reader;
}

const struct evidence_file *evidence_files(const struct evidence_reader *reader, size_t *ret_n)
{
	*ret_n = reader->n_files;
	return reader->files;
}

static bool take_throttle(struct evidence_reader *reader, const struct runlog_reading *reading,
	struct throttle_counts *ret)
{
	*ret = (struct throttle_counts){ 0 };
	if (!reader->throttle)
		return false;
	for (size_t i = 0; i < throttle_count(reader->throttle); i++) {
		const struct runlog_text *text = &reading->texts[reader->first_throttle + i];

		if (text->size < 0 || throttle_add(reader->throttle, i, text->data, ret) < 0)
			return false;
	}
	return true;
}

/* False where there is no such file, and where one of them cannot be read. */
static bool take_throttled(const struct runlog_reading *reading, int64_t *ret_ns)
{
	int64_t sum = 0, ns;
	bool any = false;

	for (size_t i = FILE_QUOTA; i <= FILE_LAST_QUOTA; i++) {
		const struct runlog_text *text = &reading->texts[i];

		if (text->size == -ENOENT)
			continue;
		if (text->size < 0 || quota_parse_stat(text->data, &ns) < 0 ||
			__builtin_add_overflow(sum, ns, &sum))
			return false;
		any = true;
	}
	*ret_ns = sum;
	return any;
}

static bool take_interrupts(struct evidence_reader *reader, const struct runlog_text *text)
{
	/* The file has not changed since the previous reading of this launcher. The reading that
	 * was parsed last says the same: between these two there was at most a reading of another
	 * launcher, and no interrupt. */
	if (text->size == RUNLOG_UNCHANGED)
		return reader->last.interrupts_valid && interrupts_repeat(reader->interrupts) == 0;
	if (text->size == RUNLOG_NO_DEVICE)
		return reader->last.interrupts_valid;
	return text->size > 0 &&
		xcheck(interrupts_read_text(reader->interrupts, text->data, (size_t)text->size)) ==
		0;
}

static void take_states(struct evidence_reader *reader, const struct runlog_reading *reading)
{
	statetime_begin(reader->states);
	for (size_t i = 0; i < statetime_count(reader->states); i++) {
		const struct runlog_text *text = &reading->texts[reader->first_state + i];

		if (text->size >= 0)
			statetime_add(reader->states, i, text->data);
	}
}

static int32_t clamp(int64_t value)
{
	return (int32_t)MIN(value, (int64_t)INT32_MAX);
}

static void take_load(struct evidence_reader *reader, const struct runlog_reading *reading)
{
	const struct runlog_text *stat = &reading->texts[FILE_STAT];
	const struct runlog_text *text = &reading->texts[FILE_LOADAVG];
	struct procstat_load load = { .load1 = NAN };
	unsigned running;

	reader->last.runnable = -1;
	if (stat->size > 0 && procstat_parse_running(stat->data, &running) == 0)
		reader->last.runnable = clamp(running);
	if (text->size == RUNLOG_UNCHANGED)
		return;
	if (text->size > 0)
		(void)procstat_parse_load(text->data, &load);
	reader->last.load1 = load.load1;
}

static void take_reading(
	struct evidence_reader *reader, const struct runlog_reading *reading, int64_t at_ns)
{
	const struct runlog_text *stat = &reading->texts[FILE_STAT];
	const struct runlog_text *softirqs = &reading->texts[FILE_SOFTIRQS];
	struct reading *r = &reader->last;

	r->only_devices = reading->texts[FILE_INTERRUPTS].size == RUNLOG_NO_DEVICE;
	r->interrupts_valid = take_interrupts(reader, &reading->texts[FILE_INTERRUPTS]);
	r->times_valid = !reader->renumbered && stat->size > 0 &&
		procstat_take_times(reader->procstat, stat->data, (size_t)stat->size, &r->times) ==
			0;
	/* As with interrupts, the reading that was parsed last says the same. */
	if (softirqs->size != RUNLOG_UNCHANGED)
		r->softirqs_valid = softirqs->size > 0 &&
			procstat_take_softirqs(reader->procstat, softirqs->data,
				(size_t)softirqs->size, &r->softirqs) == 0;
	take_load(reader, reading);
	r->throttle_valid = take_throttle(reader, reading, &r->throttle);
	r->quota_valid = take_throttled(reading, &r->throttled_ns);
	take_states(reader, reading);
	r->at_ns = at_ns;
}

bool evidence_begin(struct evidence_reader *reader)
{
	reader->temperature_before = evidence_temperature(reader);
	return reader->last.at_ns == 0 ||
		clock_now_ns(CLOCK_MONOTONIC_RAW) - reader->last.at_ns > REUSE_NS;
}

/* Inserts the line if it is one of the busiest. */
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

/* Returns whether the CPU raised a thermal interrupt. */
static bool fill_interrupts(struct evidence_reader *reader, const struct reading *before,
	struct series *series, struct evidence *evidence)
{
	struct interrupt_delta delta;
	size_t cursor = 0;
	bool thermal = false;

	if (!before->interrupts_valid || !reader->last.interrupts_valid)
		return false;
	if (reader->last.only_devices) {
		evidence->irq_device = 0;
		return false;
	}
	if (!interrupts_comparable(reader->interrupts))
		return false;
	evidence->irq_device = 0;
	if (!before->only_devices)
		evidence->irq_timer = evidence->irq_ipi = evidence->irq_other = 0;
	while (interrupts_diff(reader->interrupts, &cursor, &delta)) {
		int32_t count = clamp((int64_t)delta.delta);
		uint16_t line;

		/* The others have come in several runs, and it is not known how many in this one.
		 */
		if (before->only_devices && delta.class != INTERRUPT_DEVICE)
			continue;
		switch (delta.class) {
		case INTERRUPT_DEVICE:
			evidence->irq_device = clamp((int64_t)evidence->irq_device + count);
			break;
		case INTERRUPT_TIMER:
			evidence->irq_timer = clamp((int64_t)evidence->irq_timer + count);
			break;
		case INTERRUPT_IPI:
			evidence->irq_ipi = clamp((int64_t)evidence->irq_ipi + count);
			break;
		case INTERRUPT_THERMAL:
			thermal = true;
			evidence->irq_other = clamp((int64_t)evidence->irq_other + count);
			break;
		default:
			evidence->irq_other = clamp((int64_t)evidence->irq_other + count);
		}
		/* If there is no room for its name, the line is left out; it is counted in its
		 * class. */
		if (xcheck(series_intern_irq(series, delta.name, &line)) == 0)
			keep_line(evidence, line, count);
	}
	return thermal;
}

static void fill_counters(
	const struct reading *before, const struct reading *after, struct evidence *evidence)
{
	if (before->times_valid && after->times_valid &&
		before->times.n_cpus == after->times.n_cpus)
		/* The counter can go back by a tick: fs/proc/stat.c prevents that only for idle
		 * time. */
		evidence->steal_ns =
			MAX(after->times.steal_ns - before->times.steal_ns, (int64_t)0);
	if (before->softirqs_valid && after->softirqs_valid) {
		for (size_t i = 0; i < EVIDENCE_N_SOFTIRQS; i++)
			evidence->softirqs[i] =
				clamp(after->softirqs.counts[i] - before->softirqs.counts[i]);
	}
	if (before->throttle_valid && after->throttle_valid)
		evidence->throttles = clamp((int64_t)(after->throttle.core - before->throttle.core +
			after->throttle.package - before->throttle.package));
	/* A count that goes back is not of the same cgroup. */
	if (before->quota_valid && after->quota_valid &&
		after->throttled_ns >= before->throttled_ns)
		evidence->quota_throttled_ns = after->throttled_ns - before->throttled_ns;
}

static void fill_states(const struct evidence_reader *reader, struct evidence *evidence)
{
	struct statetime_change change;

	statetime_compare(reader->states, &change);
	evidence->deep_idle_ns = change.deep_idle_ns;
	evidence->mean_khz = change.mean_khz;
	evidence->frequency_changes = clamp(change.frequency_changes);
}

/* Only the file of the CPU on which the run ended was read. */
static void fill_frequency(const struct evidence_reader *reader,
	const struct runlog_reading *reading, struct evidence *evidence)
{
	for (size_t i = reader->first_frequency; i < reader->n_files; i++) {
		uint64_t khz;

		if (reading->texts[i].size >= 0 &&
			parse_attr_u64(reading->texts[i].data, &khz) == 0)
			evidence->frequency_khz = (int64_t)khz;
	}
}

/* A share is the number of additions per cycle until judge_core_shares() knows what a whole core
 * does. */
static void set_adds(struct evidence *evidence, enum evidence_moment moment, double adds)
{
	if (adds > 0)
		evidence->core_shares[moment] = (int32_t)lround(adds * EVIDENCE_SHARE_PER);
}

static void fill_core(const struct launch_report *report, struct evidence *ret)
{
	const struct core_reading *before = &report->core_before, *after = &report->core_after;
	int n = (before->hertz > 0) + (after->hertz > 0);

	if (n > 0)
		ret->core_khz = llround((before->hertz + after->hertz) / n / 1000);
	set_adds(ret, EVIDENCE_BEFORE, before->adds);
	set_adds(ret, EVIDENCE_AFTER, after->adds);
}

static void fill_report(
	const struct launch_report *report, const struct window_floor *floor, struct evidence *ret)
{
	ret->user_cpu_ns = report->user_cpu_ns;
	ret->system_cpu_ns = report->system_cpu_ns;
	ret->run_delay_ns = judge_waiting(report, floor);
	ret->off_cpu_ns = judge_off_cpu(report, floor);
	ret->reader_cpu_ns = report->reader_cpu_ns;
	ret->minor_faults = clamp(report->minor_faults);
	ret->major_faults = clamp(report->major_faults);
	ret->voluntary_switches = clamp(report->voluntary_switches);
	ret->involuntary_switches = clamp(report->involuntary_switches);
	ret->cpu_first = report->window.cpu_exec;
	ret->cpu_last = report->window.cpu_exit >= 0 ? report->window.cpu_exit : report->only_cpu;
	if (report->window.n_exec > 0 && judge_window_end(report) > 0)
		ret->reap_ns = report->end_ns - judge_window_end(report);
	fill_core(report, ret);
}

/* Whether these CPUs were idle for so long that the program must have run on others. The kernel
 * counts in ticks, and the readings are a little further apart than the run is long. A count that
 * tells of more time than there was is none to rely on. */
static bool was_elsewhere(const struct evidence_reader *reader, const struct reading *before,
	const struct launch_report *report)
{
	const struct procstat_times *first = &before->times, *last = &reader->last.times;
	int64_t n_cpus = reader->n_cpus;
	int64_t has_ns = n_cpus * (report->end_ns - report->start_ns + report->around_ns);
	int64_t margin_ns = MAX(has_ns / ELSEWHERE_PART, n_cpus * ELSEWHERE_NS);
	int64_t idle_ns = last->idle_ns - first->idle_ns;

	if (!before->times_valid || !reader->last.times_valid || first->n_cpus != reader->n_cpus ||
		last->n_cpus != reader->n_cpus || idle_ns > has_ns + margin_ns)
		return false;
	return idle_ns + report->user_cpu_ns + report->system_cpu_ns > has_ns + margin_ns;
}

/* Forgets what was read of the run's CPUs, because a task of the program was on others. */
static void forget_cpus(struct evidence_reader *reader, struct evidence *evidence)
{
	struct evidence unknown;

	evidence_clear(&unknown);
	evidence->elsewhere = 1;
	evidence->steal_ns = unknown.steal_ns;
	evidence->frequency_khz = unknown.frequency_khz;
	evidence->core_khz = unknown.core_khz;
	evidence->core_shares[EVIDENCE_BEFORE] = unknown.core_shares[EVIDENCE_BEFORE];
	evidence->core_shares[EVIDENCE_AFTER] = unknown.core_shares[EVIDENCE_AFTER];
	evidence->throttles = unknown.throttles;
	evidence->deep_idle_ns = unknown.deep_idle_ns;
	evidence->mean_khz = unknown.mean_khz;
	evidence->frequency_changes = unknown.frequency_changes;
	evidence->irq_device = unknown.irq_device;
	evidence->irq_timer = unknown.irq_timer;
	evidence->irq_ipi = unknown.irq_ipi;
	evidence->irq_other = unknown.irq_other;
	evidence->n_irq_lines = unknown.n_irq_lines;
	memcpy(evidence->softirqs, unknown.softirqs, sizeof(evidence->softirqs));
	/* Of a program of one task both are known, wherever it was. */
	if (evidence->run_delay_ns < 0)
		evidence->off_cpu_ns = unknown.off_cpu_ns;
	if (reader->one_package)
		return;
	evidence->temperature_before = unknown.temperature_before;
	evidence->temperature_after = unknown.temperature_after;
}

bool evidence_take(struct evidence_reader *reader, struct runlog_run *run,
	const struct window_floor *floor, struct series *series, struct evidence *ret)
{
	struct launch_report *report = &run->report;
	struct reading before;
	bool thermal = false;

	if (run->before)
		take_reading(reader, run->before, report->start_ns);
	before = reader->last;
	if (run->after)
		take_reading(reader, run->after, report->end_ns);
	if (run->after && was_elsewhere(reader, &before, report))
		report->left = 1;

	evidence_clear(ret);
	fill_report(report, floor, ret);
	if (reader->n_cpus > 1)
		ret->evidence_cpus = clamp(reader->n_cpus);
	ret->temperature_before = (float)reader->temperature_before;
	/* The runs of a request take 50 ms together, or it is a single one, and the sensor is read
	 * once a second: what was read before it is as new for all of them but the last. */
	ret->temperature_after =
		(float)(run->is_last ? evidence_temperature(reader) : reader->temperature_before);

	if (run->after) {
		fill_frequency(reader, run->after, ret);
		ret->load1 = (float)reader->last.load1;
		ret->runnable = reader->last.runnable;
		thermal = fill_interrupts(reader, &before, series, ret);
		fill_counters(&before, &reader->last, ret);
		fill_states(reader, ret);
	}
	if (!report->left)
		return thermal;
	forget_cpus(reader, ret);
	return false;
}

void evidence_forget_cpus(struct evidence_reader *reader, struct series *series)
{
	const uint16_t flags = SAMPLE_PREEMPTED | SAMPLE_MIGRATED | SAMPLE_WINDOW | SAMPLE_FAILED |
		SAMPLE_LEFTOVER | SAMPLE_QUOTA;

	for (size_t i = 0; series->with_evidence && i < series->n_samples; i++) {
		struct sample *sample = &series->samples[i];

		forget_cpus(reader, &series->evidence[i]);
		sample->flags = (sample->flags & flags) | SAMPLE_MIGRATED |
			(isnan(series->evidence[i].temperature_after) ? 0
								      : sample->flags & SAMPLE_HOT);
	}
}

void evidence_take_inside(struct series *series, double core_adds)
{
	if (series->with_evidence)
		set_adds(&series->evidence[series->n_samples - 1], EVIDENCE_DURING, core_adds);
}

double evidence_hot(const struct evidence_reader *reader)
{
	return reader->hot;
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

double evidence_first_temperature(const struct evidence_reader *reader)
{
	return reader->first_temperature;
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
	statetime_free(reader->states);
	thermal_free(reader->thermal);
	free(reader->sensor);
	for (size_t i = 0; i < reader->n_files; i++)
		free((char *)reader->files[i].path);
	free(reader->files);
	free(reader);
}
