/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What runpinned and its launcher say to each other.
 *
 * The launcher is a small static program of its own, because a child inherits its parent's peak
 * memory figure and pays for its parent's address space: started from here, a run costs the same
 * whatever runpinned itself holds.
 *
 * runpinned writes one struct launch_plan into a memfd, then sends one struct launch_request for
 * each run over a SOCK_SEQPACKET pair. It gets one byte back as soon as the program has ended (not
 * if it was never started), and then one struct launch_report. The first report, without a request,
 * says whether the launcher is ready. Both programs come from one build; there is no versioning
 * beyond `magic`.
 *
 * A message that wakes a sleeping CPU takes tens of microseconds, in virtual machines more than a
 * short program. So the end is told before the launcher has gathered what to report, so that
 * runpinned, awake by then, reads its evidence meanwhile; and a launcher that is told that its next
 * request follows at once starts the child for it and looks for it for a moment before it sleeps.
 * Neither is inside a window: where several launchers take turns on one CPU, none is told so.
 *
 * Signals to the launcher: SIGTERM ends the running child's process group (a second one kills it),
 * SIGKILL of runpinned arrives as SIGTERM, too.
 */
#ifndef QUIESCE_RUNPINNED_LAUNCH_H
#define QUIESCE_RUNPINNED_LAUNCH_H

#include <linux/perf_event.h>
#include <stdint.h>

enum {
	LAUNCH_MAGIC = 0x71756906,
	LAUNCH_MAX_COUNTERS = 32,
	/* A CPU mask as sched_setaffinity(2) takes it: 16384 CPUs. */
	LAUNCH_CPU_BYTES = 2048,
	LAUNCH_MAX_ENV_PAD = 65536,
};

enum launch_flag {
	LAUNCH_NO_ASLR = 1 << 0,
	LAUNCH_SET_NICE = 1 << 1,
	LAUNCH_SET_FIFO = 1 << 2,
	LAUNCH_ENV_PAD = 1 << 3,
	LAUNCH_KERNEL_WINDOW = 1 << 4, /* attach the perf event whose records stamp the window */
	LAUNCH_SCHEDSTAT = 1 << 5,     /* read the run delay after each run */
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
	uint32_t env_pad; /* bytes of padding, with LAUNCH_ENV_PAD */
	uint32_t soon;	  /* this launcher's next request follows this one's report at once */
};

enum {
	LAUNCH_END_SIZE = 1,
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
	uint32_t leftover;    /* processes of its group were still there */
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
