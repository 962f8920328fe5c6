/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The protocol between runpinned, its launcher and the keeper between them (keeper.h).
 *
 * The launcher is a small static program of its own, because a child inherits its parent's peak
 * memory figure and takes longer to start when its parent's address space is large. Started by the
 * launcher, a run costs the same however much memory runpinned itself has.
 *
 * The launcher has no controlling terminal but one of its own (LAUNCH_TERMINAL, in a session of its
 * own): a program that is not in the foreground of the user's terminal must not touch it, and would
 * be stopped. What the user types there reaches runpinned alone.
 *
 * runpinned writes one struct launch_plan into a memfd, and tells the launcher so by one byte over
 * a SOCK_SEQPACKET pair. Then it sends a struct launch_request there for as many runs as may follow
 * one another without a pause, and gets one struct launch_answer when they have ended. The reports
 * about these runs are in the run log (runlog.h). The first message of the launcher, before any
 * request, is a struct launch_report, which says whether the launcher is ready. Both programs come
 * from one build; apart from `magic` there is no version.
 *
 * A message that wakes a sleeping CPU takes tens of microseconds, in virtual machines hundreds,
 * which is longer than a short program. So nothing is woken between the runs of a request:
 * runpinned sleeps until the last one has ended, and the launcher reads the evidence itself, on the
 * CPU that it runs on anyway. It ends a request early, after any run, when a user would have to
 * wait too long for the next sign of progress, and when runpinned has to look at something: a run
 * that failed, or values or figures that the program handed over. So each run of a long program is
 * a request of its own.
 *
 * Signals to the launcher: LAUNCH_STOP ends the process group of the running child by SIGTERM (a
 * second one kills it). The keeper passes them on. The keeper also ends what the program leaves
 * behind: after a run the launcher sends it one byte, and gets a struct keeper_answer.
 */
#ifndef QUIESCE_MEASURE_LAUNCH_H
#define QUIESCE_MEASURE_LAUNCH_H

#include <linux/perf_event.h>
#include <signal.h>
#include <stdint.h>

#include "library/core.h"

enum {
	LAUNCH_MAGIC = 0x71756914,
	LAUNCH_MAX_COUNTERS = 32,
	LAUNCH_MAX_CPU_COUNTERS = 3,
	/* A CPU mask in the format of sched_setaffinity(2): 16384 CPUs. */
	LAUNCH_CPU_BYTES = 2048,
	LAUNCH_MAX_ENV_PAD = 65536,
	LAUNCH_MAX_RUNS = 64, /* at most in one request */
	LAUNCH_MAX_FACTORS = 16,
	LAUNCH_MAX_LEVELS = 8,
	/* Each process that the program starts inherits one event for each of these CPUs. */
	TREE_MAX_CPUS = 16,
	/* How long a program may take to end after SIGTERM, before it gets SIGKILL. */
	LAUNCH_KILL_AFTER_SECONDS = 2,
};

/*
 * runpinned's signal to the keeper, and the keeper's to the launcher: end the run. It is no signal
 * that others send to all processes of a group or a service (timeout(1), systemd, Slurm): one
 * SIGTERM of theirs would count twice, because runpinned gets it as well and passes it on.
 */
#define LAUNCH_STOP SIGRTMIN

/*
 * The number of the run, for the program and for the hooks around the run. It has more and more
 * digits, and the environment lies above the program's stack: so the other variable, a number of
 * "x", has that many less, and the stack stays where it is.
 */
#define LAUNCH_RUN_VARIABLE "QUIESCE_RUN"
#define LAUNCH_RUN_FILL_VARIABLE "QUIESCE_RUN_FILL"
/* The padding of LAUNCH_ENV_PAD. */
#define LAUNCH_PAD_VARIABLE "QUIESCE_PAD"
/* The file in which a program may say figures of its own (figurepad.h). */
#define LAUNCH_FIGURES_VARIABLE "QUIESCE_FIGURES"

enum launch_flag {
	LAUNCH_NO_ASLR = 1 << 0,
	LAUNCH_SET_NICE = 1 << 1,
	LAUNCH_SET_FIFO = 1 << 2,
	LAUNCH_ENV_PAD = 1 << 3,
	LAUNCH_CPU_EVENTS = 1 << 4,  /* stamp by events of the CPUs, if they are allowed */
	LAUNCH_SCHEDSTAT = 1 << 5,   /* read the run delay after each run */
	LAUNCH_KEEP_STDERR = 1 << 6, /* standard error is a file; it is emptied before each run */
	LAUNCH_CORE_HALF = 1 << 8,   /* look at the core around every other run only */
	LAUNCH_INPUT = 1 << 9,	 /* standard input is a file; each run reads it from its start */
	LAUNCH_OUTPUT = 1 << 10, /* standard output is a file; it is emptied before each run */
	LAUNCH_PIPE = 1 << 11,	 /* standard output is a pipe; each run finds it empty */
	/* Standard output is the controlling terminal of the launcher's session. Each run is its
	 * foreground, and finds the settings that it had before the first run. */
	LAUNCH_TERMINAL = 1 << 12,
	LAUNCH_SET_USER = 1 << 13, /* programs, but not the empty one, are another user's */
	LAUNCH_READER = 1 << 14,   /* with LAUNCH_PIPE: the launcher makes the pipe and reads it */
};

enum launch_file_kind {
	LAUNCH_FILE_PLAIN,
	/* One that the kernel writes piece by piece. */
	LAUNCH_FILE_TABLE,
	/* In its line "intr" the first number counts all interrupts of the machine, and the others
	 * those of each device; in "softirq" the first one counts all softirqs (/proc/stat). */
	LAUNCH_FILE_TOTAL,
	/* The same interrupts one by one (/proc/interrupts, a table that takes several times as
	 * long to read). Left out of a reading while the numbers in the file above have not
	 * changed; that file comes earlier in the list. */
	LAUNCH_FILE_INTERRUPTS,
	/* The softirqs one by one, left out likewise (/proc/softirqs). */
	LAUNCH_FILE_SOFTIRQS,
	/* A mean over a minute: left out where it was read less than a second ago. */
	LAUNCH_FILE_MEAN,
	/* A counter of the time in states. There are several for each CPU, so that they are left
	 * out of the reading after a run that is too short for them. */
	LAUNCH_FILE_STATE,
};

/* A file whose text is part of a reading. */
struct launch_file {
	uint32_t path; /* offset of the path in the plan */
	uint32_t kind; /* enum launch_file_kind */
	/* The file is read only after runs that ended on this CPU; -1: in each reading. */
	int32_t cpu;
};

/* What a factor changes for a run (vary.h). */
enum launch_factor_kind {
	LAUNCH_FACTOR_PADDING,	 /* nothing but launch_order.env_pad */
	LAUNCH_FACTOR_ADDRESSES, /* level 0: their randomisation is off, as by LAUNCH_NO_ASLR */
	LAUNCH_FACTOR_PROGRAM,	 /* the path to execute */
	LAUNCH_FACTOR_ARGV0,	 /* argv[0] */
	LAUNCH_FACTOR_VARIABLE,	 /* a variable, "NAME=VALUE", which is not in the environment */
};

struct launch_factor {
	uint32_t kind; /* enum launch_factor_kind */
	uint32_t n_levels;
	uint32_t levels; /* offset in the plan of the first of n_levels strings */
};

/* Offsets are in bytes from the start of the plan; strings are NUL-terminated. */
struct launch_plan {
	uint32_t magic;
	uint32_t size; /* of the whole plan, including the strings */
	uint32_t flags;
	int32_t nice;
	int32_t fifo_priority;
	uint32_t uid;
	uint32_t gid;
	uint32_t groups; /* offset of n_groups gid_t */
	uint32_t n_groups;
	int32_t clockid;
	int64_t timeout_ns; /* for each run; 0: no limit */
	/* How long the core is looked at before and after each run, at most; 0: not at all. */
	int64_t core_ns;
	uint64_t caller_signals; /* the signal mask that a child starts with */
	uint32_t program;	 /* offset of the path to execute */
	uint32_t floor_program;
	uint32_t argv; /* offset of the first of n_argv strings */
	uint32_t n_argv;
	uint32_t env;
	uint32_t n_env;
	uint32_t files; /* offset of n_files struct launch_file */
	uint32_t n_files;
	int32_t values_fd; /* where programs write their values (library/values.h) */
	uint32_t figures;  /* offset of the path of the file for figures; 0: there is none */
	/* A file in memory for what the runs of launch_order.keeps_output write to standard output,
	 * which is /dev/null otherwise; -1: none. */
	int32_t kept_fd;
	int32_t stamps_fd; /* the array with struct stamps; -1: no tracepoints */
	uint32_t n_counters;
	/* The first ones are evidence, and are counted only with LAUNCH_ATTACH_RECORDS. */
	uint32_t n_evidence_counters;
	/* The last ones of these are also counted in each run by the CPUs of the plan, whatever
	 * runs on them, where the kernel allows this. */
	uint32_t n_cpu_counters;
	/* A mask of the kernel: it and CPU_ISSET() read it word by word. */
	_Alignas(unsigned long) uint8_t cpus[LAUNCH_CPU_BYTES];
	struct perf_event_attr counters[LAUNCH_MAX_COUNTERS];
	uint32_t n_factors;
	struct launch_factor factors[LAUNCH_MAX_FACTORS];
};

enum launch_command {
	LAUNCH_RUN = 1,
	LAUNCH_FLOOR = 2, /* the empty program, started in the same way */
};

/* What is attached to the tasks of the program. All of it runs inside the window, at each switch,
 * fork and exit of these tasks. */
enum launch_attachment {
	LAUNCH_ATTACH_WINDOW = 1 << 0, /* to the main thread: the event of window.h */
	/* To all tasks: the events of tree.h, and the counters that are evidence. */
	LAUNCH_ATTACH_RECORDS = 1 << 1,
};

/* What differs from run to run. */
struct launch_order {
	uint32_t attachments; /* enum launch_attachment */
	uint32_t env_pad;     /* bytes of padding; used only with LAUNCH_ENV_PAD */
	/* The number of the run among those of the program that count, from 1 on; 0: it does not
	 * count. */
	uint32_t number;
	uint8_t levels[LAUNCH_MAX_FACTORS]; /* which level of each factor of the plan */
	uint32_t keeps_output; /* 1: standard output is kept_fd, emptied before, where there is one
				*/
};

struct launch_request {
	uint32_t command;
	uint32_t n_runs;
	uint32_t read_before; /* take a reading before the first run, too */
	uint32_t discarded;   /* nobody takes the readings of these runs */
	struct launch_order runs[LAUNCH_MAX_RUNS];
};

struct launch_answer {
	int32_t error; /* positive errno: the run log could not be written */
	uint32_t reserved;
	uint64_t written; /* bytes in the run log, which hold at least one run */
};

/* The step that failed, when launch_report.error is not 0. */
enum launch_step {
	LAUNCH_STEP_SETUP,
	LAUNCH_STEP_AFFINITY,
	LAUNCH_STEP_COUNTER, /* .detail is the counter's index */
	LAUNCH_STEP_CLONE,
	LAUNCH_STEP_PERSONALITY,
	LAUNCH_STEP_NICE,
	LAUNCH_STEP_FIFO,
	LAUNCH_STEP_USER,
	LAUNCH_STEP_BEGIN, /* it ended before execve(2); ETIME: by the timeout */
	LAUNCH_STEP_EXEC,
	LAUNCH_STEP_WAIT,
	LAUNCH_STEP_JOIN, /* the reason has already been said */
	LAUNCH_STEP_KEEPER,
};

struct keeper_answer {
	int32_t error; /* positive errno: the processes that were left behind cannot be found */
	/* 1 when there were such processes; they have been ended, as far as possible */
	uint32_t leftover;
};

struct launch_counter {
	uint64_t value; /* in this run only, not scaled */
	uint64_t enabled_ns;
	uint64_t running_ns;
};

/* Who stamps the beginning and the end of a run. */
enum stamper {
	STAMPER_LAUNCHER, /* the launcher, before execve(2) and after waitid(2) */
	/* The same, less what they have beyond the window in runs that do not count (inspect.h). */
	STAMPER_CORRECTED,
	STAMPER_TASK_EVENT,  /* a perf event on the main thread (window.h) */
	STAMPER_CPU_EVENTS,  /* perf events on all CPUs, for whatever task (window.h) */
	STAMPER_TRACEPOINTS, /* BPF programs (tracepoints.h) */
};

/* What the tracepoints write and read, in memory that the launcher and the BPF programs share. The
 * times are those of CLOCK_MONOTONIC, the only clock of these programs that does not stop. */
struct stamps {
	int64_t exec_ns;
	int64_t exit_ns;  /* of the thread that ended last */
	uint32_t process; /* its number in the initial PID namespace; 0: none */
	int32_t cpu_exec;
	int32_t cpu_exit;
	uint32_t n_started; /* threads and processes that the process has started */
	uint32_t n_ended;   /* threads of the process */
	/* The number of the child that is to execute the program, in the launcher's PID namespace;
	 * 0: none, or it has. The launcher writes it. */
	uint32_t expected;
};

/* What the kernel's stamps of one run tell. */
struct window {
	int64_t exec_ns;      /* the first exec; 0 when there is no stamp of it */
	int64_t last_exec_ns; /* the last one, from a perf event; 0 otherwise */
	int64_t exit_ns; /* the end of the last thread, or of the main thread; 0 when there is none
			  */
	int64_t leader_exit_ns; /* the end of the main thread; 0 when it is not known */
	uint32_t is_last; /* 1 when exit_ns is the end of the last thread, whatever happened */
	uint32_t n_exec;  /* more than one when a wrapper executed the real program */
	uint32_t n_exit;
	uint32_t n_threads; /* threads that the main thread has started */
	uint32_t n_children;
	uint32_t n_lost;  /* the ring was too small */
	int32_t cpu_exec; /* -1 when there is no such record */
	int32_t cpu_exit;
};

/* What the perf records of all tasks of one run tell: the program's threads, its processes, and
 * theirs (tree.h). All of it is about the time until records were lost. */
struct tree {
	int64_t waited_ns;	  /* the program could have run, but did not have its CPUs */
	int64_t leader_waited_ns; /* the main thread, for whatever task */
	/* No task ran or is known to have waited, until the main thread went on. */
	int64_t leader_gap_ns;
	/* On the benchmark's CPUs, the sum over all tasks; -1 when one had not ended. */
	int64_t ran_ns;
	int64_t exit_ns;  /* the newest exit record of a thread of the process; 0 when there is none
			   */
	uint32_t n_tasks; /* started; the main thread is one of them */
	uint32_t n_ended;
	int32_t n_threads;   /* of the process, that have not ended */
	uint32_t n_switches; /* of a CPU to one of the tasks */
	uint32_t n_leader_switches;
	uint32_t n_migrations;
	uint32_t n_lost;
	int32_t cpu_exit; /* of the record of exit_ns; -1 when there is none */
};

struct launch_report {
	int32_t error; /* positive errno; 0 when the run took place */
	int32_t step;  /* enum launch_step, for `error` */
	int32_t detail;
	int32_t pid;	  /* of the launcher, in its first report */
	uint32_t stamper; /* enum stamper: who should have stamped this run */
	/* Positive errno: why the event of LAUNCH_ATTACH_WINDOW could not be attached. */
	int32_t window_error;
	int32_t status; /* as of wait4(2) */
	uint32_t timed_out;
	uint32_t refused;     /* 1 when the program may not be killed: it is another user's */
	int32_t stopped;      /* the signal that stopped the program, which was then killed; or 0 */
	uint32_t traced;      /* 1 when that was because the program had itself traced */
	uint32_t interrupted; /* 1 when LAUNCH_STOP ended the run */
	uint32_t leftover;    /* 1 when processes that the program had started were still there */
	/* 1 when the main thread was allowed on CPUs that are none of the plan's when it ended.
	 * runpinned sets it as well where it learns otherwise that a task of the program has left
	 * the plan's CPUs (judge_left()). */
	uint32_t left;
	/* 1 when an inspection has shown CPU time that no process has waited for; set by runpinned.
	 */
	uint32_t unwaited;
	int32_t only_cpu;     /* the single CPU that it was allowed then; -1: there were several */
	uint32_t has_figures; /* 1 when the file for figures is not as it was made */
	int64_t start_ns;     /* just before execve(2) */
	int64_t end_ns;	      /* just after waitid(2) */
	/* CPU time of the launcher's reader while the program ran; -1 where there is none. */
	int64_t reader_cpu_ns;
	/* How long the launcher may have slept between the readings, outside of the run. */
	int64_t around_ns;
	int64_t user_cpu_ns;
	int64_t system_cpu_ns;
	/* Of the main thread, from before execve(2) on; -1 when unknown: how long it waited for a
	 * CPU, and how long it ran. With the tracepoints these are unknown of a program of several
	 * tasks, without records of them, and the second one of a program that did not wait. */
	int64_t run_delay_ns;
	int64_t leader_ran_ns;
	/* How long the launcher waited for its CPU between start_ns and end_ns: after the program's
	 * end, since it slept until then. -1 when unknown, and with the tracepoints, which do not
	 * need it. */
	int64_t launcher_delay_ns;
	int64_t max_rss_kib;
	int64_t minor_faults;
	int64_t major_faults;
	int64_t voluntary_switches;
	int64_t involuntary_switches;
	/* Of the CPU that the run began on, before it, and of the CPU that it ended on, after it.
	 * Zeros where the core was not looked at, or on another CPU. */
	struct core_reading core_before;
	struct core_reading core_after;
	/* Positive errno: why the core cannot be looked at although the plan asks for it. */
	int32_t core_error;
	struct window window;
	uint32_t tree_tried; /* 1 when `tree` is filled in */
	struct tree tree;
	uint32_t n_counters;
	struct launch_counter counters[LAUNCH_MAX_COUNTERS];
	/* What all CPUs of the plan counted together, from shortly before the run to shortly after
	 * it, without a pause; 0 counters where they do not count. */
	uint32_t n_cpu_counters;
	struct launch_counter cpu_counters[LAUNCH_MAX_CPU_COUNTERS];
};

#endif
