/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The samples of one benchmark, in the order in which they were taken, and the evidence for each.
 *
 * A run costs 40 bytes without evidence, and never more than 64 at the peak, with growing, with
 * series_values() and with everything that stats, level, histogram and stability hold while they
 * work. The arrays are mappings that grow by an eighth in place or by mremap(2): there is no moment
 * at which an old and a new copy exist together, as with realloc(3). Evidence is a record of fixed
 * size for each run, and one double for each counted event.
 */
#ifndef QUIESCE_JUDGE_RESULT_SERIES_H
#define QUIESCE_JUDGE_RESULT_SERIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "base/units.h"

/* What happened to a run. weight.h derives how much of the run it explains. A flagged run stays in
 * the result. */
enum sample_flag {
	SAMPLE_PREEMPTED = 1 << 0, /* waited for its CPU for 1 % of its time or more */
	SAMPLE_MIGRATED = 1 << 1,  /* moved to another CPU, or was on one that it was not given */
	SAMPLE_IRQ = 1 << 2,	   /* a device interrupted its CPU */
	SAMPLE_STEAL = 1 << 3,	   /* the hypervisor ran somebody else */
	SAMPLE_THROTTLED = 1 << 4, /* the CPU throttled itself */
	SAMPLE_FREQ = 1 << 5,	   /* more than 1 % off the median frequency of all runs */
	SAMPLE_HOT = 1 << 6,	   /* at the package's high temperature */
	SAMPLE_WINDOW = 1 << 7,	   /* the kernel's stamps of this run cannot be trusted */
	SAMPLE_FAILED = 1 << 8,	   /* the program failed (--ignore-failure) */
	SAMPLE_LEFTOVER = 1 << 9,  /* processes of the run were still there when it ended */
	SAMPLE_SHARED = 1 << 10,   /* another hardware thread was at work on its core */
	SAMPLE_CLOCK = 1 << 11,	   /* the clock of its core was more than 1 % off the median of all
				    * runs */
	SAMPLE_QUOTA = 1 << 12,	   /* the CPU quota of its cgroup stopped it for 1 % of its time */
};
#define SAMPLE_N_FLAGS 13

enum window_clock {
	WINDOW_KERNEL, /* exec record to exit record */
	WINDOW_USER,   /* stamp before execve(2) to stamp after wait4(2) */
};

/* "kernel", "user". */
const char *window_clock_name(enum window_clock clock);
/* -ENOENT when it is neither. */
int window_clock_parse(const char *name, enum window_clock *ret);

struct sample {
	int64_t kernel_ns; /* the window by the kernel's records; 0 when there are none */
	/* The window by our own stamps, or the duration that is told in a file (has_duration), by
	 * whatever clock; 0 when a file tells neither. */
	int64_t user_ns;
	int64_t start_ns; /* the start, in ns since the start of the series */
	int32_t status;	  /* as of wait4(2) */
	uint16_t flags;	  /* enum sample_flag */
	bool warmup;
	bool left_out : 1; /* it would count, but the chosen metric is not known for it */
	bool has_duration : 1;
	uint32_t max_rss_kib; /* 0 when unknown */
	uint32_t env_pad;     /* bytes of padding in the environment */
};
_Static_assert(sizeof(struct sample) == 40, "this is what a run costs");

/* Whether its value is one of those that conclusions are drawn from. */
static inline bool sample_counts(const struct sample *sample)
{
	return !sample->warmup && !sample->left_out;
}

/* The window of the kernel where there is one, else our own. */
static inline int64_t sample_window_ns(const struct sample *sample)
{
	return sample->kernel_ns > 0 ? sample->kernel_ns : sample->user_ns;
}

#define EVIDENCE_N_IRQ_LINES 8
#define EVIDENCE_N_SOFTIRQS 10
#define EVIDENCE_SHARE_PER 10000

/* When the core was looked at. */
enum evidence_moment {
	EVIDENCE_BEFORE, /* right before the window */
	EVIDENCE_DURING, /* between the values that the program measured inside */
	EVIDENCE_AFTER,	 /* right after the window */
	EVIDENCE_N_MOMENTS,
};

/* What the machine did on the run's CPUs between a reading before and a reading after the window.
 * Absent values: negative for signed integers, NAN for floats. */
struct evidence {
	int64_t user_cpu_ns; /* rusage of the run and of the descendants that it waited for */
	int64_t system_cpu_ns;
	int64_t task_clock_ns; /* perf task-clock, all threads and descendants */
	/* The program could run but did not have its CPU, within sample_window_ns(): as a whole, or
	 * its main thread alone where no more is known (measure/tree.h). */
	int64_t run_delay_ns;
	/* None of its tasks ran: it waited or slept. Only known on a single CPU. */
	int64_t off_cpu_ns;
	/* CPU time of a reader of its output that shares its CPUs (runpinned --stdout=pipe-here).
	 */
	int64_t reader_cpu_ns;
	int64_t reap_ns; /* exit record to our stamp after wait4(2) */
	int64_t steal_ns;
	/* Of the load, where what was run is a service that is under load (runserved): its CPU
	 * time, and how long it waited; and on its CPUs, where these are others. */
	int64_t load_cpu_ns;
	int64_t load_run_delay_ns;
	int64_t load_steal_ns;
	/* How long the CPU quota of the run's cgroup stopped tasks of it, whosever they are, as a
	 * sum over all CPUs (base/machine/quota.h). */
	int64_t quota_throttled_ns;
	int64_t frequency_khz;
	/* The clock of the core, measured right before and right after the window
	 * (library/core.h). */
	int64_t core_khz;
	/* What the kernel counts of idle states and of frequencies (base/machine/statetime.h). */
	int64_t deep_idle_ns;
	int64_t mean_khz;
	/* How much of the core the CPU had to itself, in 1/EVIDENCE_SHARE_PER: a whole core is
	 * EVIDENCE_SHARE_PER. */
	int32_t core_shares[EVIDENCE_N_MOMENTS];
	int32_t frequency_changes; /* beside mean_khz */
	int32_t minor_faults;
	int32_t major_faults;
	int32_t voluntary_switches;
	int32_t involuntary_switches;
	int32_t migrations;
	int32_t cpu_first; /* CPU at exec and at exit, by the records */
	int32_t cpu_last;
	/* 1: a task of the program is known to have been on CPUs that it was not given. What
	 * follows is then not known, like all else that is about the CPUs. */
	int32_t elsewhere;
	int32_t load_involuntary_switches;
	int32_t load_irq_device;
	int32_t throttles;
	int32_t irq_device; /* interrupts of devices, */
	int32_t irq_timer;  /* of the local timer (ticks), */
	int32_t irq_ipi;    /* from other CPUs (reschedule, function call, TLB) */
	int32_t irq_other;  /* NMI, thermal, machine check and the rest */
	/* Interrupts, softirqs, steal, throttles and idle time are sums over so many CPUs; absent
	 * for one. */
	int32_t evidence_cpus;
	int32_t softirqs[EVIDENCE_N_SOFTIRQS];
	/* The lines that fired, busiest first: an index into series.irq_names. */
	uint16_t irq_line[EVIDENCE_N_IRQ_LINES];
	int32_t irq_count[EVIDENCE_N_IRQ_LINES];
	uint32_t n_irq_lines;
	/* Of a figure that is the mean of many values: as benchmark_run.before_level. */
	int32_t figure_before_level;
	int32_t runnable; /* runnable threads of the whole machine */
	float load1;
	float temperature_before; /* package, degrees Celsius */
	float temperature_after;
};

/* The texts that distinguish sittings, with their names in metadata: SITTING_ID is quiesce_sitting.
 * The name of the machine is the first known one of the names of the node. */
enum sitting_text {
	SITTING_ID,
	SITTING_GIVEN_NODE,   /* node: what the user calls it (--metadata) */
	SITTING_NODE,	      /* quiesce_node: what a cluster calls it */
	SITTING_OWN_HOSTNAME, /* quiesce_hostname: where runs of several machines are merged */
	SITTING_HOSTNAME,
	SITTING_OWN_MODEL, /* quiesce_cpu_model_name */
	SITTING_MODEL,
	SITTING_LAYOUT, /* layout: of the programs (quiesce-gate --layouts) */
	SITTING_N_TEXTS,
};

/* Where and when runs were made: runs of one start of runpinned, or of one merged file, are of one
 * sitting. */
struct provenance {
	const char *texts[SITTING_N_TEXTS]; /* borrowed from the series; NULL when not known */
	/* The seed of the order (quiesce_order_seed) in which these runs were made in turn with
	 * those of other programs. */
	bool has_order_seed;
	int64_t order_seed;
};

/* Consecutive runs with the same provenance. */
struct sitting {
	size_t end; /* the index behind the last one */
	struct provenance provenance;
};

/* How the events of the levels that runpinned --vary draws begin: they are what a run was given,
 * and not what was counted. */
#define SERIES_LEVEL "level_"

/* Which way a figure is better. */
enum better {
	BETTER_UNKNOWN, /* of a counted event; it is judged as if less were better */
	BETTER_LOWER,
	BETTER_HIGHER,
};

/* What is known of a counted event: more than its name where it is a figure, a number that the
 * program itself gives for each run (runpinned --figure). */
struct event_kind {
	enum better better;
	struct unit *own;	 /* with its name; NULL of a counted event */
	const struct unit *unit; /* `own`, or one that units.h has */
	double step;		 /* in which the figure's source counts; 0 where it is not known */
	/* It is the same in all runs of a program, so that a single difference tells: bytes that
	 * are written, instructions that a simulator counts. */
	bool is_exact;
	/* Each run's value is the mean of up to so many of one process, which are no independent
	 * samples; 0 where it is one. Their standard deviation within a process, as a part of the
	 * mean, is the root of spread / n_spread. */
	size_t n_within;
	double spread;
	double n_spread;
};

struct series {
	struct sample *samples;
	size_t n_samples;
	size_t capacity;	   /* of all three arrays, in runs */
	size_t n_counted;	   /* of them: see sample_counts() */
	int64_t start_realtime_ns; /* CLOCK_REALTIME at the start of the series; 0 when unknown */

	bool with_evidence;
	struct evidence *evidence; /* n_samples records, or NULL without evidence */

	/* Counted events, scaled when the kernel multiplexed: counters[sample * n_events + event],
	 * NAN where it was not counted. */
	char **event_names;
	struct event_kind *event_kinds;
	size_t n_events;
	double *counters;

	/* Names of interrupt lines, as "38: virtio2-input.0". */
	char **irq_names;
	size_t n_irq_names;

	/* The sittings of the runs of a file, in their order: none for a series that was just
	 * measured. `texts` holds their texts. */
	struct sitting *sittings;
	size_t n_sittings;
	char **texts;
	size_t n_texts;

	unsigned n_others;	 /* by how many more benchmarks it is shared (series_share()) */
	enum window_clock clock; /* which window is the value: one clock for a whole series */
};

/* An empty series. event_names is a NULL-terminated vector that is copied, or NULL. */
struct series *series_new(bool with_evidence, const char *const *event_names);
void series_free(struct series *series);
DEFINE_CLEANUP(series, series_free);
/* The series for one more owner, who frees it as well: it goes with the last one. */
struct series *series_share(struct series *series);

/* Makes every value absent. */
void evidence_clear(struct evidence *evidence);

/* How often the run is known to have moved to another CPU, or to have been on one that it was not
 * given; negative where it is not known. */
int32_t evidence_count_moves(const struct evidence *evidence);

/* The mean of the run's known shares of the core, 0 to 1; NAN when none is known. */
double evidence_core_share(const struct evidence *evidence);
/* Whether this share is so small that another hardware thread must have been at work on the core:
 * on cores of Intel and AMD it was 0.5 to 0.75 beside a busy thread, and 0.97 or more on a whole
 * core. */
#define EVIDENCE_SHARED_BELOW 0.9
bool evidence_is_shared(const struct evidence *evidence);

/* "38: virtio2-input.0 x3, 40: nvme0q1 x1" and "TIMER x3, SCHED x1" of a run, malloc'd, "" when
 * nothing fired or nothing is known. */
char *series_irq_text(const struct series *series, size_t index);
char *series_softirq_text(const struct series *series, size_t index);
/* "HI", "TIMER", ...: how a kind below EVIDENCE_N_SOFTIRQS is called in there. These are the
 * kernel's names, in its order (include/linux/interrupt.h). */
const char *series_softirq_name(size_t kind);

/* Appends copies of a sample, its evidence and its n_events counters. NULL as evidence or counters
 * means that all their values are absent in this run. A series without evidence ignores them.
 * -EINVAL when an interrupt line of the evidence is not in irq_names. -ENOMEM, with the series as
 * it was: whoever measures has runs in it that are worth saving. */
int series_append(struct series *series, const struct sample *sample,
	const struct evidence *evidence, const double *counters);
/* A run that counts does so no longer: the chosen metric is not known for it. */
void series_leave_out(struct series *series, size_t index);
/* Adds an event. Its count is absent in all runs that the series has already. */
void series_add_event(struct series *series, const char *name);
/* Forgets an event, and what it was in each run; those behind it move up. */
void series_remove_event(struct series *series, size_t event);
/* The index of the event of that name; n_events where there is none. */
size_t series_find_event(const struct series *series, const char *name);
/*
 * Says that an event is a figure. unit: "s" and "B", also per something, which are times and bytes,
 * or any other; "" for a number without one. The largest step that was said counts.
 * -EINVAL where the event is known as a figure of another unit, or better in another way.
 */
int series_declare_figure(
	struct series *series, size_t event, const char *unit, enum better better, double step);
/* Says that a run's value of a figure is the mean of n, whose squared distances from it have this
 * sum. */
void series_add_within(struct series *series, size_t event, double mean, size_t n, double squares);
/* The deviation within a process; NAN where it is not known. */
double event_deviation_within(const struct event_kind *kind);
/* A figure of that unit. The caller owns `own`. */
struct event_kind figure_kind(const char *unit, enum better better, double step, bool is_exact);
/* What a result says of a figure, malloc'd: "higher, 1/s, step 0.01", "lower, exact, B", without
 * what is not there, and "unknown" in front for BETTER_UNKNOWN. NULL where it is none. */
char *figure_text(const struct event_kind *kind);
/* What such a text says; -EINVAL where it is none. The caller owns `own`. */
int figure_parse(const char *text, struct event_kind *ret);
/* Of two such texts the one with the larger step; NULL where they differ in more than that. */
const char *figure_text_join(const char *a, const char *b);
/* Takes such a text. -EINVAL where it is none, or is of BETTER_UNKNOWN; else as
 * series_declare_figure(). */
int series_parse_figure(struct series *series, size_t event, const char *text);
/* "higher", ...; NULL for BETTER_UNKNOWN. */
const char *better_name(enum better better);
/* BETTER_UNKNOWN for another word. */
enum better better_parse(const char *word);
/* The index of that name in irq_names, added if it is new; -ENOSPC beyond 65535 names,
 * -ENOMEM. */
int series_intern_irq(struct series *series, const char *name, uint16_t *ret);

/* A copy of the text that lives as long as the series; equal texts of runs that follow each other
 * are one copy. */
const char *series_keep_text(struct series *series, enum sitting_text kind, const char *text);
/* Sets where the last run was made. */
void series_set_provenance(struct series *series, const struct provenance *provenance);

/* A sample's value in seconds, by the series' clock. */
double series_value(const struct series *series, size_t index);
/* The values of all runs that count in their order, malloc'd. -ENODATA when no run
 * counts. */
int series_values(const struct series *series, double **ret, size_t *ret_n);
/*
 * Sets series->clock, one clock for all samples, because values of two clocks would differ although
 * the program does not. It is the kernel's clock, unless a sample (warm-ups too) has no kernel
 * window at all, or at least half of the samples are flagged SAMPLE_WINDOW: a program that makes
 * kernel windows wrong does so every time, while a single doubtful window comes from a run that was
 * delayed at its end.
 */
void series_settle_clock(struct series *series);

/* "preempted", ... for one flag; "preempted,irq" for several, malloc'd, "" for none. */
const char *sample_flag_name(enum sample_flag flag);
char *sample_flags_text(uint32_t flags);
/* The flags in such a text. Unknown words are ignored. */
uint32_t sample_flags_parse(const char *text);

#endif
