/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What runpinned, its launcher and the keeper between them (keeper.h) say to each other.
 *
 * The launcher is a small static program of its own, because a child inherits its parent's peak
 * memory figure and pays for its parent's address space: started from here, a run costs the same
 * whatever runpinned itself holds.
 *
 * runpinned writes one struct launch_plan into a memfd, then sends a struct launch_request over a
 * SOCK_SEQPACKET pair for as many runs as may follow one another at once, and gets one struct
 * launch_answer when they are over. What they were like is in the run log (runlog.h). The first
 * message, without a request, is a struct launch_report, which says whether the launcher is ready.
 * Both programs come from one build; there is no versioning beyond `magic`.
 *
 * A message that wakes a sleeping CPU takes tens of microseconds, in virtual machines hundreds,
 * more than a short program. So nobody is woken between the runs of a request: runpinned sleeps
 * until the last one, and the launcher reads the evidence itself, on the CPU that it has anyway.
 * It ends a request early, after any run, when a person would wait too long for the next sign of
 * life, and when runpinned has something to look at: a run that failed, values that the program
 * handed over. So the runs of a long program are requests of their own.
 *
 * Signals to the launcher: SIGTERM ends the running child's process group (a second one kills it).
 * They come by way of the keeper, which also ends what the program leaves behind: after a run the
 * launcher sends it one byte, and gets a struct keeper_answer.
 */
#ifndef QUIESCE_RUNPINNED_LAUNCH_H
#define QUIESCE_RUNPINNED_LAUNCH_H

#include <linux/perf_event.h>
#include <stdint.h>

enum {
	LAUNCH_MAGIC = 0x71756907,
	LAUNCH_MAX_COUNTERS = 32,
	/* A CPU mask as sched_setaffinity(2) takes it: 16384 CPUs. */
	LAUNCH_CPU_BYTES = 2048,
	LAUNCH_MAX_ENV_PAD = 65536,
	LAUNCH_MAX_RUNS = 64, /* in one request */
};

enum launch_flag {
	LAUNCH_NO_ASLR = 1 << 0,
	LAUNCH_SET_NICE = 1 << 1,
	LAUNCH_SET_FIFO = 1 << 2,
	LAUNCH_ENV_PAD = 1 << 3,
	LAUNCH_KERNEL_WINDOW = 1 << 4, /* attach the perf event whose records stamp the window */
	LAUNCH_SCHEDSTAT = 1 << 5,     /* read the run delay after each run */
	LAUNCH_KEEP_STDERR = 1 << 6,   /* standard error is a file, and of one run at a time */
};

enum launch_file_kind {
	LAUNCH_FILE_PLAIN,
	/* The first number of its row "intr" counts all interrupts of the machine (/proc/stat). */
	LAUNCH_FILE_TOTAL,
	/* The same one by one (/proc/interrupts, which takes several times as long to read). Left
	 * out of a reading while the total of the file above, which comes before it, stands still.
	 */
	LAUNCH_FILE_INTERRUPTS,
};

/* A file whose text is part of a reading. */
struct launch_file {
	uint32_t path; /* offset */
	uint32_t kind; /* enum launch_file_kind */
	int32_t cpu;   /* read after a run that ended on this CPU; -1: in each reading */
};

/* Offsets are in bytes from the start of the plan; strings are NUL-terminated. */
struct launch_plan {
	uint32_t magic;
	uint32_t size; /* of the whole plan, strings included */
	uint32_t flags;
	int32_t nice;
	int32_t fifo_priority;
	int32_t clockid;
	int64_t timeout_ns;	 /* per run, 0 for none */
	uint64_t caller_signals; /* the mask of blocked signals that a child starts with */
	uint32_t program;	 /* offset of the path to execute */
	uint32_t floor_program;
	uint32_t argv; /* offset of the first of n_argv strings */
	uint32_t n_argv;
	uint32_t env;
	uint32_t n_env;
	uint32_t files; /* offset of n_files struct launch_file */
	uint32_t n_files;
	int32_t values_fd; /* what programs hand over to (sampler/values.h) */
	uint32_t n_counters;
	uint8_t cpus[LAUNCH_CPU_BYTES];
	struct perf_event_attr counters[LAUNCH_MAX_COUNTERS];
};

enum launch_command {
	LAUNCH_RUN = 1,
	LAUNCH_FLOOR = 2, /* the empty program, by the same path */
};

struct launch_request {
	uint32_t command;
	uint32_t n_runs;
	uint32_t read_before; /* the evidence before the first run, too */
	uint32_t reserved;
	uint32_t env_pads[LAUNCH_MAX_RUNS]; /* bytes of padding of each, with LAUNCH_ENV_PAD */
};

struct launch_answer {
	int32_t error; /* positive errno: the run log could not be written */
	uint32_t reserved;
	uint64_t written; /* bytes in the run log, of at least one run */
};

/* Where it failed when launch_report.error is not 0. */
enum launch_step {
	LAUNCH_STEP_SETUP,
	LAUNCH_STEP_AFFINITY,
	LAUNCH_STEP_COUNTER, /* .detail is the counter's index */
	LAUNCH_STEP_CLONE,
	LAUNCH_STEP_PERSONALITY,
	LAUNCH_STEP_NICE,
	LAUNCH_STEP_FIFO,
	LAUNCH_STEP_EXEC,
	LAUNCH_STEP_WAIT,
	LAUNCH_STEP_JOIN, /* said already */
	LAUNCH_STEP_KEEPER,
};

struct keeper_answer {
	int32_t error;	   /* positive errno: what was left behind cannot be found */
	uint32_t leftover; /* there was something; it has ended, if it could be */
};

struct launch_counter {
	uint64_t value; /* of this run alone, not scaled */
	uint64_t enabled_ns;
	uint64_t running_ns;
};

/* What the perf records of one run say (window.h). */
struct window {
	int64_t exec_ns; /* first exec record; 0 when there is none */
	int64_t exit_ns; /* the main thread's exit record; 0 when there is none */
	uint32_t n_exec; /* more than one: a wrapper that executed the real program */
	uint32_t n_exit;
	uint32_t n_threads; /* threads that the main thread started */
	uint32_t n_children;
	uint32_t n_lost;
	int32_t cpu_exec; /* -1 when there is no such record */
	int32_t cpu_exit;
};

struct launch_report {
	int32_t error; /* positive errno, 0 when the run took place */
	int32_t step;  /* enum launch_step, of the error */
	int32_t detail;
	uint32_t window_tried; /* LAUNCH_KERNEL_WINDOW was asked for */
	int32_t window_error;  /* positive errno: why there is no kernel window then */
	int32_t status;	       /* as of wait4(2) */
	uint32_t timed_out;
	uint32_t interrupted; /* SIGTERM ended it */
	uint32_t leftover;    /* processes that it had started were still there */
	int64_t start_ns;     /* just before execve(2) */
	int64_t end_ns;	      /* just after the wait */
	int64_t user_cpu_ns;
	int64_t system_cpu_ns;
	int64_t run_delay_ns; /* -1 when unknown */
	int64_t max_rss_kib;
	int64_t minor_faults;
	int64_t major_faults;
	int64_t voluntary_switches;
	int64_t involuntary_switches;
	struct window window;
	uint32_t n_counters;
	struct launch_counter counters[LAUNCH_MAX_COUNTERS];
};

#endif
