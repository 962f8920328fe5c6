// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "judge/result/metadata.h"
#include "judge/result/runfact.h"

#define KEY(key_) .key = key_
#define NAMED(key_, name_) .key = (key_), .name = name_
#define MEANS(text) .means = text
#define OWN(name_) NAMED("quiesce_" name_, name_)
#define AT(part_, type, member) .part = (part_), .offset = offsetof(struct type, member)
#define IS(value, type) __builtin_types_compatible_p(__typeof__(value), type)
#define KIND(value)                                         \
	(sizeof(value) == 8		      ? KIND_INT64  \
			: IS(value, float)    ? KIND_FLOAT  \
			: IS(value, uint32_t) ? KIND_UINT32 \
					      : KIND_INT32)
#define NUMBER(part_, type, member) \
	AT(part_, type, member), .kind = KIND(((struct type *)0)->member)
#define SAMPLE(member) NUMBER(PART_SAMPLE, sample, member)
#define EVIDENCE(member) NUMBER(PART_EVIDENCE, evidence, member)
#define VALUES(member) NUMBER(PART_VALUES, benchmark_run, member)
#define DERIVED(function) .part = PART_EVIDENCE, .kind = KIND_DERIVED, .derive = function
#define ORIGIN(which) \
	AT(PART_PROVENANCE, provenance, texts[which]), .kind = KIND_ORIGIN, .only_read = true

static double derive_temperature(const struct evidence *evidence)
{
	return (double)(isnan(evidence->temperature_before) ? evidence->temperature_after
							    : evidence->temperature_before);
}

/* A picture shows how hot a run became. */
static double derive_drawn_temperature(const struct evidence *evidence)
{
	return (double)(isfinite(evidence->temperature_after) ? evidence->temperature_after
							      : evidence->temperature_before);
}

/* In hertz. The measured clock is preferred to the kernel's frequency, because a virtual machine
 * always reports the same frequency. */
static double derive_drawn_frequency(const struct evidence *evidence)
{
	int64_t khz = evidence->core_khz > 0 ? evidence->core_khz : evidence->frequency_khz;

	return khz > 0 ? (double)khz * 1e3 : NAN;
}

static double derive_moves(const struct evidence *evidence)
{
	return evidence_count_moves(evidence);
}

static double derive_shared(const struct evidence *evidence)
{
	if (isnan(evidence_core_share(evidence)))
		return NAN;
	return evidence_is_shared(evidence) ? 100 : 0;
}

const struct run_fact run_facts[] = {
	/* --- Of each run, in the order in which a result has them --- */
	{ KEY("date"), AT(PART_SAMPLE, sample, start_ns), .kind = KIND_DATE,
		MEANS("When it began, in local time, as pyperf writes it.") },
	{ KEY("calibrate_warmups"), AT(PART_SAMPLE, sample, warmup), .kind = KIND_WARMUPS,
		.only_written = true,
		MEANS("In a warm-up alone: how many there are. pyperf takes it for a calibration "
		      "then, which its commands show or count as such, and do not mix with the "
		      "values.") },
	{ KEY("duration"), AT(PART_SAMPLE, sample, user_ns), .kind = KIND_DURATION, .unit = RUN_NS,
		.zero = ZERO_UNKNOWN,
		MEANS("What it took by runpinned's own stamps, as *window_user*, for pyperf. A "
		      "reader goes by it where a run has both.") },
	{ NAMED("command_max_rss", "max_rss"), .csv = "max_rss_bytes", .csv_column = 6,
		SAMPLE(max_rss_kib), .unit = RUN_KIB, .zero = ZERO_UNKNOWN, .is_cost = true,
		.is_of_program = true, MEANS("The most memory that it had in use.") },
	{ KEY("mem_max_rss"), SAMPLE(max_rss_kib), .unit = RUN_KIB, .zero = ZERO_UNKNOWN,
		.only_read = true, MEANS("The same in results of pyperf's own.") },
	{ OWN("start"), .csv_column = 3, SAMPLE(start_ns), .unit = RUN_NS, .only_written = true,
		MEANS("When it began, from the start of the first run on.") },
	{ OWN("window_kernel"), .csv_column = 1, SAMPLE(kernel_ns), .unit = RUN_NS,
		.zero = ZERO_UNKNOWN },
	{ OWN("window_user"), .csv_column = 2, SAMPLE(user_ns), .unit = RUN_NS, .zero = ZERO_USUAL,
		MEANS("What it took, by the stamps of the kernel and by runpinned's own, see "
		      "*STAMPS* in *quiesce-evidence*(7).") },
	{ OWN("flags"), .csv_column = 5, AT(PART_SAMPLE, sample, flags), .kind = KIND_FLAGS,
		MEANS("What happened to it: \"preempted,irq\". See *FLAGS* in "
		      "*quiesce-evidence*(7); the weights that are told there follow from the other "
		      "facts, and are not written.") },
	{ OWN("status"), .csv_column = 4, SAMPLE(status), .zero = ZERO_USUAL,
		MEANS("How it ended, as *waitpid*(2) has it; absent in a result for 0.") },
	{ OWN("env_pad"), .csv_column = 7, SAMPLE(env_pad), .unit = RUN_BYTES,
		.zero = ZERO_USUAL_OF_ALL,
		.cause = { 9, .words = "padding of the environment", .after = " bytes", .per = 1,
			.least = 1 },
		MEANS("The padding of its environment (*--env-pad*); absent in a result where no "
		      "run of the series has any.") },
	/* --- Evidence --- */
	{ OWN("user_cpu"), EVIDENCE(user_cpu_ns), .unit = RUN_NS, .is_cost = true },
	{ OWN("system_cpu"), EVIDENCE(system_cpu_ns), .unit = RUN_NS, .is_cost = true,
		MEANS("CPU time of the program, and of its descendants that it has waited for, in "
		      "user mode and in the kernel.") },
	{ OWN("task_clock"), EVIDENCE(task_clock_ns), .unit = RUN_NS, .is_cost = true,
		MEANS("CPU time of all threads and descendants, counted by the kernel's perf "
		      "events: only with *--evidence records*, as *migrations*.") },
	{ OWN("run_delay"), EVIDENCE(run_delay_ns), .unit = RUN_NS, .is_cost = true,
		.dump_column = 5, .title = "WAITED",
		.strip = { 4, .part_of_run = true, .name = "waiting", .unit = "run",
			.label = "% waiting", .factor = 100, .least = 0.1 },
		MEANS("How long the program waited for its CPUs, see *WAITING* in "
		      "*quiesce-evidence*(7).") },
	{ OWN("off_cpu"), EVIDENCE(off_cpu_ns), .unit = RUN_NS, .is_cost = true,
		MEANS("How long none of the program's tasks ran, because they waited or slept. "
		      "Only on a single CPU.") },
	{ OWN("reader_cpu"), EVIDENCE(reader_cpu_ns), .unit = RUN_NS, .is_cost = true,
		MEANS("CPU time of the reader of *--stdout=pipe-here* while the program ran: a "
		      "part of _off_cpu_, and not of the program's CPU time.") },
	{ OWN("reap"), EVIDENCE(reap_ns), .unit = RUN_NS, .is_cost = true,
		MEANS("The time between the program's end and runpinned's own stamp after it. It "
		      "is a part of *window_user*, not of *window_kernel*.") },
	{ OWN("steal"), EVIDENCE(steal_ns), .unit = RUN_NS, .is_cost = true, .dump_column = 6,
		.title = "STEAL", .flag = SAMPLE_STEAL,
		.cause = { .rank = 7,
			.by = RUN_BY_TICKS,
			.words = "steal",
			.after = " a run on average",
			.part_of_run = 0.005 },
		MEANS("Time that the hypervisor gave to others.") },
	{ OWN("load_cpu"), EVIDENCE(load_cpu_ns), .unit = RUN_NS },
	{ OWN("load_run_delay"), EVIDENCE(load_run_delay_ns), .unit = RUN_NS },
	{ OWN("load_involuntary_switches"), EVIDENCE(load_involuntary_switches),
		MEANS("Of *runserved*(1), where all others are about the service: the CPU time of "
		      "the load, how long it waited for its CPUs, and how often they were taken "
		      "from it.") },
	{ OWN("load_steal"), EVIDENCE(load_steal_ns), .unit = RUN_NS },
	{ OWN("load_irq_device"), EVIDENCE(load_irq_device),
		MEANS("What the hypervisor took from the load's CPUs, and the interrupts of "
		      "devices there; absent where it has those of the service.") },
	{ OWN("quota_throttled"), EVIDENCE(quota_throttled_ns), .unit = RUN_NS, .is_cost = true,
		.dump_column = 7, .title = "QUOTA",
		.cause = { 8, .words = "stopped by the CPU quota for", .after = " a run",
			.part_of_run = 0.005 },
		MEANS("How long the CPU quota of the program's cgroup stopped that cgroup between "
		      "the readings before and after the run, see *CPU QUOTAS* in "
		      "*quiesce-evidence*(7): the sum over all CPUs, and the launcher and others in "
		      "the cgroup included.") },
	{ OWN("frequency_khz"), EVIDENCE(frequency_khz), .unit = RUN_KHZ, .dump_column = 2,
		.title = "MHZ",
		.cause = { 2, .words = "frequency", .after = " MHz", .per = 1e3,
			.least_part = 0.01 },
		MEANS("The frequency of the CPU while it was at work, by whatever task (of the "
		      "program alone with *--evidence records*); where the CPU's counters may not "
		      "be read, as an ordinary user's usually may not, what cpufreq tells of the "
		      "CPU at the end of the run.") },
	{ OWN("core_khz"), EVIDENCE(core_khz), .unit = RUN_KHZ,
		.cause = { 3, .words = "core clock", .after = " GHz", .per = 1e6, .decimals = 2,
			.least_part = 0.01 },
		MEANS("The clock of the core, see *THE CORE* in *quiesce-evidence*(7).") },
	{ OWN("core_share_before"), EVIDENCE(core_shares[EVIDENCE_BEFORE]), .unit = RUN_SHARE },
	{ OWN("core_share_after"), EVIDENCE(core_shares[EVIDENCE_AFTER]), .unit = RUN_SHARE },
	{ OWN("core_share_during"), EVIDENCE(core_shares[EVIDENCE_DURING]), .unit = RUN_SHARE,
		MEANS("The part that the CPU had of its core, right before the run, right after "
		      "it, and between the values of a program that measures itself. See *THE "
		      "CORE* in *quiesce-evidence*(7).") },
	{ OWN("deep_idle"), EVIDENCE(deep_idle_ns), .unit = RUN_NS, .is_cost = true,
		MEANS("How long the CPUs were in idle states that take more than 5 µs to wake up "
		      "from: a program that waits there starts again late, and with empty caches. "
		      "It is counted when the CPU wakes up, from shortly before the run to "
		      "shortly after it. This and the next two are known of runs of 5 ms and "
		      "more, for the same reason as _irq_timer_, and on up to eight CPUs.") },
	{ OWN("mean_khz"), EVIDENCE(mean_khz), .unit = RUN_KHZ,
		MEANS("The mean of the frequencies that cpufreq has set, by the time at each. The "
		      "kernel counts steps of 10 ms: so it is known where the frequency did not "
		      "change in at least that time, and else of runs that are so long (seconds) "
		      "that a step makes no more than half a per cent.") },
	{ OWN("frequency_changes"), EVIDENCE(frequency_changes),
		MEANS("How often the frequency of the CPUs was changed. This and *mean_khz* are "
		      "those of all CPUs that have their frequency in common with those of the "
		      "run, and absent with drivers that leave it to the hardware (intel_pstate "
		      "and amd-pstate in active mode).") },
	{ OWN("minor_faults"), EVIDENCE(minor_faults), .is_cost = true, .is_of_program = true },
	{ OWN("major_faults"), EVIDENCE(major_faults), .is_cost = true,
		MEANS("Page faults without and with a wait for a disk, from the start of the "
		      "process on.") },
	{ OWN("voluntary_switches"), EVIDENCE(voluntary_switches), .is_cost = true },
	{ OWN("involuntary_switches"), EVIDENCE(involuntary_switches), .is_cost = true,
		.dump_column = 8, .title = "SWITCH",
		MEANS("How often the program left its CPU to wait for something, and how often "
		      "the CPU was taken from it.") },
	{ OWN("migrations"), EVIDENCE(migrations), .is_cost = true, .dump_column = 9,
		.title = "MOVES", MEANS("How often it moved to another CPU.") },
	{ OWN("cpu_first"), EVIDENCE(cpu_first) },
	{ OWN("cpu_last"), EVIDENCE(cpu_last),
		MEANS("The CPU on which it began and the one on which it ended.") },
	{ OWN("elsewhere"), EVIDENCE(elsewhere),
		MEANS("1 where a task of the program was on CPUs that it was not given, see "
		      "*PROGRAMS THAT LEAVE THEIR CPUS* in *quiesce-evidence*(7).") },
	{ OWN("throttles"), EVIDENCE(throttles), .is_cost = true, .flag = SAMPLE_THROTTLED,
		MEANS("How often the CPU, or its package, was slowed down by heat.") },
	{ OWN("irq_device"), EVIDENCE(irq_device), .is_cost = true, .dump_column = 10,
		.title = "IRQS", .flag = SAMPLE_IRQ,
		.cause = { 6, .words = "device interrupts", .after = " a run", .per = 1, .least = 1,
			.least_part = 0.5 } },
	{ OWN("irq_timer"), EVIDENCE(irq_timer), .is_cost = true },
	{ OWN("irq_ipi"), EVIDENCE(irq_ipi), .is_cost = true },
	{ OWN("irq_other"), EVIDENCE(irq_other), .is_cost = true,
		MEANS("Interrupts of devices, of the local timer, of other CPUs, and all others. "
		      "Runs of less than 5 ms often have the first of these alone: the others "
		      "take longer to read than such a run should be kept waiting for.") },
	{ OWN("evidence_cpus"), EVIDENCE(evidence_cpus), .is_cost = true,
		MEANS("Over how many CPUs the figures of the CPUs are summed up; absent for one.") },
	{ OWN("irq_lines"), AT(PART_EVIDENCE, evidence, irq_line), .kind = KIND_IRQ_LINES },
	{ OWN("softirqs"), AT(PART_EVIDENCE, evidence, softirqs), .kind = KIND_SOFTIRQS,
		MEANS("The interrupts with the names of their lines, the most frequent ones "
		      "first, and the softirqs: \"RES: Rescheduling interrupts x3\", \"TIMER x3, "
		      "SCHED x1\".") },
	{ KEY("quiesce_figure_before_level"), EVIDENCE(figure_before_level),
		MEANS("The same as *quiesce_before_level* of the values whose mean is a figure of "
		      "the run (*each*, *$QUIESCE_FIGURES*), of the first figure that has 14 or "
		      "more. With *--warmup auto* they are not in the mean.") },
	{ NAMED("runnable_threads", "runnable"), EVIDENCE(runnable) },
	{ NAMED("load_avg_1min", "load"), .csv = "load1", EVIDENCE(load1), .dump_column = 3,
		.title = "LOAD",
		.cause = { 5, .words = "load", .after = "", .per = 1, .decimals = 2, .least = 0.5 },
		MEANS("Threads of the whole machine that could run, and its load of the last "
		      "minute.") },
	{ OWN("temperature_before"), EVIDENCE(temperature_before), .unit = RUN_CELSIUS },
	{ OWN("temperature_after"), EVIDENCE(temperature_after), .unit = RUN_CELSIUS,
		MEANS("Of the package, before and after the run.") },
	{ KEY("cpu_temp"), AT(PART_EVIDENCE, evidence, temperature_after), .kind = KIND_TEMPERATURE,
		.of_given_cpus = true,
		MEANS("As pyperf writes it: *temperature_after*. Of pyperf's own results it is "
		      "read where it names a package, or one temperature.") },
	{ KEY("cpu_freq"), AT(PART_EVIDENCE, evidence, frequency_khz), .kind = KIND_FREQUENCY,
		.of_given_cpus = true, .only_read = true,
		MEANS("Only in results of pyperf's own: read as *frequency_khz* where it names "
		      "one frequency.") },
	{ KEY("quiesce_event_"), .part = PART_COUNTERS, .kind = KIND_EVENT,
		MEANS("How often an event of *-e* was counted, scaled where the kernel counted it "
		      "for a part of the run. *quiesce_event_level_NAME* is what *--vary* has drawn "
		      "for the run: 1 where addresses were random and 0 where not, how many bytes "
		      "the environment was larger by, the length of argv[0] or of $PWD, the number "
		      "of the copy of the file, or the number in the variable _NAME_.") },
	/* --- Derived from the evidence --- */
	{ DERIVED(derive_temperature), .unit = RUN_CELSIUS, .dump_column = 1, .title = "TEMP",
		.cause = { 1, .words = "temperature", .after = " C", .per = 1, .least = 2 } },
	{ DERIVED(evidence_core_share), .unit = RUN_SHARE, .dump_column = 4, .title = "CORE",
		.strip = { 3, .name = "core_share", .unit = "whole core", .label = "% core",
			.factor = 100, .least = 0.2, .after = " % of the core" } },
	{ DERIVED(derive_drawn_temperature),
		.strip = { 1, .name = "temperature", .unit = "degree Celsius", .label = "\u00b0C",
			.factor = 1, .least = 1, .after = " \u00b0C" } },
	{ DERIVED(derive_drawn_frequency),
		.strip = { 2, .name = "frequency", .unit = "hertz", .label = "GHz", .factor = 1e-9,
			.least = 2, .least_part = 0.01, .after = " GHz", .decimals = 2 } },
	{ DERIVED(derive_moves), .flag = SAMPLE_MIGRATED },
	{ DERIVED(derive_shared), .flag = SAMPLE_SHARED,
		.cause = { 4, .by = RUN_BY_PART, .words = "core shared in",
			.after = " % of the runs", .per = 1, .least = 25 } },
	/* --- Of its values --- */
	{ KEY("loops"), VALUES(loops), .zero = ZERO_UNKNOWN,
		MEANS("Of a program that measures itself: over how many iterations each of its "
		      "values is the mean.") },
	{ KEY("inner_loops"), VALUES(inner_loops), .zero = ZERO_UNKNOWN, .only_read = true,
		MEANS("How many repetitions each of these iterations has; a value is the mean of "
		      "these. In the metadata of the benchmark.") },
	{ KEY("quiesce_before_level"), VALUES(before_level), .only_written = true,
		MEANS("How many of the values of a run that has 14 or more, the first ones, come "
		      "before the level on which they end; all of them where they end on none. "
		      "With *--warmup auto* they are the last of its warm-ups, and not among its "
		      "values; of a run without a level all are values. Metadata of a benchmark, "
		      "*quiesce_warmup*, say that this was so.") },
	{ KEY("quiesce_turn"), AT(PART_VALUES, benchmark_run, turn), .kind = KIND_TURN,
		MEANS("The number of the run, from 0, where some before it have handed over no "
		      "values.") },
	/* --- Of its sitting --- */
	{ KEY(METADATA_SITTING), ORIGIN(SITTING_ID),
		MEANS("The same in all runs of one start of runpinned, or of one merged file.") },
	{ KEY(METADATA_GIVEN_NODE), ORIGIN(SITTING_GIVEN_NODE) },
	{ KEY(METADATA_NODE), ORIGIN(SITTING_NODE),
		MEANS("The machine, as its user (*--metadata*) and as a cluster calls it.") },
	{ KEY("quiesce_hostname"), ORIGIN(SITTING_OWN_HOSTNAME) },
	{ KEY("hostname"), ORIGIN(SITTING_HOSTNAME),
		MEANS("The machine; in each run where runs of several are merged, because pyperf "
		      "wants *hostname* to be the same in all.") },
	{ KEY("quiesce_cpu_model_name"), ORIGIN(SITTING_OWN_MODEL) },
	{ KEY("cpu_model_name"), ORIGIN(SITTING_MODEL),
		MEANS("The model of its CPU, in the same way.") },
	{ KEY(METADATA_LAYOUT), ORIGIN(SITTING_LAYOUT),
		MEANS("Which layout of the programs these are runs of, as *quiesce-gate*(1) counts "
		      "them (*--metadata*): the same for the two that are compared.") },
	{ KEY("quiesce_order_seed"), AT(PART_PROVENANCE, provenance, order_seed), .kind = KIND_SEED,
		.only_read = true,
		MEANS("The seed of the order in which these runs were made in turn with those of "
		      "other programs.") },
};
const size_t run_n_facts = ARRAY_SIZE(run_facts);
_Static_assert(ARRAY_SIZE(run_facts) <= RUN_FACTS_MAX, "RUN_FACTS_MAX");

size_t run_facts_list(size_t offset, const struct run_fact **ret)
{
	size_t n = 0;

	for (size_t i = 0; i < run_n_facts; i++) {
		unsigned rank = *(const unsigned *)((const char *)&run_facts[i] + offset);

		if (rank > 0) {
			ret[rank - 1] = &run_facts[i];
			n++;
		}
	}
	return n;
}

struct run_place run_place_of(
	const struct series *series, size_t index, const struct benchmark_run *values)
{
	return (struct run_place){
		.series = series,
		.index = index,
		.parts = {
			[PART_SAMPLE] = &series->samples[index],
			[PART_EVIDENCE] = series->with_evidence ? &series->evidence[index] : NULL,
			[PART_COUNTERS] = series->n_events > 0
				? &series->counters[index * series->n_events]
				: NULL,
			[PART_VALUES] = (void *)values,
		},
	};
}

int64_t run_fact_per(const struct run_fact *fact)
{
	if (fact->unit == RUN_NS)
		return NSEC_PER_SEC;
	return fact->unit == RUN_SHARE ? EVIDENCE_SHARE_PER : 1;
}

static const void *find_at(const struct run_fact *fact, const struct run_place *place)
{
	const char *part = place->parts[fact->part];

	return part ? part + fact->offset : NULL;
}

bool run_fact_number(const struct run_fact *fact, const struct run_place *place, int64_t *ret)
{
	const void *at = find_at(fact, place);
	int64_t number = -1;

	if (!at)
		return false;
	if (fact->kind <= KIND_INT64)
		number = *(const int64_t *)at;
	else if (fact->kind == KIND_INT32)
		number = *(const int32_t *)at;
	else if (fact->kind == KIND_UINT32)
		number = *(const uint32_t *)at;
	else if (fact->kind == KIND_WARMUPS && *(const bool *)at)
		number = (int64_t)(place->series->n_samples - place->series->n_counted);
	else if (fact->kind == KIND_TURN &&
		((const struct benchmark_run *)place->parts[PART_VALUES])->has_turn)
		number = *(const uint32_t *)at;
	if (number < 0 || (number == 0 && fact->zero == ZERO_UNKNOWN))
		return false;
	*ret = fact->unit == RUN_KIB ? number * 1024 : number;
	return true;
}

double run_fact_real(const struct run_fact *fact, const struct run_place *place)
{
	const float *at = find_at(fact, place);
	int64_t number;

	if (fact->kind == KIND_DERIVED)
		return at ? fact->derive(place->parts[PART_EVIDENCE]) : NAN;
	if (fact->kind == KIND_FLOAT)
		return at && isfinite(*at) && (*at >= 0 || fact->unit == RUN_CELSIUS) ? (double)*at
										      : NAN;
	if (!run_fact_number(fact, place, &number))
		return NAN;
	return (double)number / (double)run_fact_per(fact);
}

/* Malloc'd, empty where it is not known. */
static char *get_text(const struct run_fact *fact, const struct run_place *place)
{
	const struct sample *sample = place->parts[PART_SAMPLE];
	const struct evidence *evidence = place->parts[PART_EVIDENCE];
	int64_t begin_ns = place->series->start_realtime_ns, date_ns = begin_ns + sample->start_ns;
	struct timespec date = { date_ns / NSEC_PER_SEC, date_ns % NSEC_PER_SEC };
	char text[FACTS_DATE_SIZE] = "";

	switch (fact->kind) {
	case KIND_FLAGS:
		return sample_flags_text(sample->flags);
	case KIND_IRQ_LINES:
		return series_irq_text(place->series, place->index);
	case KIND_SOFTIRQS:
		return series_softirq_text(place->series, place->index);
	case KIND_DATE:
		if (begin_ns > 0 && sample->start_ns >= 0 && !facts_format_date(&date, text))
			text[0] = '\0';
		break;
	default: /* KIND_TEMPERATURE */
		if (isfinite(evidence->temperature_after))
			snprintf(text, sizeof(text), "package=%.0f C",
				(double)evidence->temperature_after);
		break;
	}
	return xptr(strdup(text));
}

static bool get_text_fact(
	const struct run_fact *fact, const struct run_place *place, struct fact *ret)
{
	char *text = get_text(fact, place);

	if (!*text) {
		free(text);
		return false;
	}
	*ret = (struct fact){ .type = FACT_STRING, .string = text };
	return true;
}

bool run_fact_get(const struct run_fact *fact, const struct run_place *place, struct fact *ret)
{
	int64_t number, per = run_fact_per(fact);
	double real;

	if (!place->parts[fact->part])
		return false;
	if (run_fact_is_text(fact))
		return get_text_fact(fact, place, ret);
	if (fact->kind == KIND_FLOAT) {
		real = run_fact_real(fact, place);
		if (isnan(real))
			return false;
		/* The kernel shows two decimals, which a float holds; more would be noise of it. */
		*ret = (struct fact){ .type = FACT_REAL, .real = round(real * 100) / 100 };
		return true;
	}
	if (!run_fact_number(fact, place, &number) || (number == 0 && fact->zero >= ZERO_USUAL))
		return false;
	if (per > 1)
		*ret = (struct fact){ .type = FACT_REAL, .real = (double)number / (double)per };
	else
		*ret = (struct fact){ .type = FACT_INTEGER, .integer = number };
	return true;
}

void run_fact_clear(struct fact *value)
{
	if (value->type == FACT_STRING)
		free(value->string);
}
