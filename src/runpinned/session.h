/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Starts a launcher process (launch.h) and exchanges messages with it.
 */
#ifndef QUIESCE_RUNPINNED_SESSION_H
#define QUIESCE_RUNPINNED_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "basic/cleanup.h"
#include "basic/stop.h"
#include "machine/cpumask.h"
#include "runpinned/launch.h"
#include "runpinned/runlog.h"
#include "runpinned/streams.h"
#include "runpinned/tracepoints.h"
#include "runpinned/user.h"

/* A file whose text is part of the evidence. */
struct session_file {
	/* NULL: a place for one of the files that tell how long the launcher's cgroup was throttled
	 * (quota.h). Which files these are is known when the launcher has joined the CPUs; a place
	 * that is left has a text of the size -ENOENT. */
	const char *path;
	enum launch_file_kind kind;
	int cpu; /* the file is read only after runs that ended on this CPU; -1: in each reading */
};

/* What is the same for all runs. session_start() copies everything. */
struct session_plan {
	const struct cpumask *cpus;
	/* CPUs for processes that must not disturb the benchmark; may be empty */
	const struct cpumask *housekeeping;
	/* Path of the file; argv[0] is what the program sees as its name. */
	const char *program;
	char *const *argv;
	char *const *env;
	uint32_t flags; /* enum launch_flag */
	int nice;
	int fifo_priority;
	int clockid;
	int64_t timeout_ns; /* 0: no limit */
	int64_t core_ns; /* how long to look at the core before and after each run; 0: not at all */
	const struct perf_event_attr *counters;
	size_t n_counters;	    /* at most LAUNCH_MAX_COUNTERS */
	size_t n_evidence_counters; /* the first ones, which not all runs count */
	size_t n_cpu_counters;	    /* the last ones of these, which the CPUs count, too */
	const struct tracepoints *tracepoints; /* NULL: none */
	const struct session_file *files;
	size_t n_files;
	bool join; /* the launcher must first join the CPUs of benchmark.target */
	/* If not, standard output goes to /dev/null, and the last lines of standard error are kept.
	 */
	bool show_output;
	const struct user *user; /* as whom the program is run; NULL: as ourselves */
	int input;  /* standard input, which each run reads from its start; 0: /dev/null */
	int output; /* standard output, which is emptied before each run; 0: none */
	enum output_kind stdout_to;
};

struct session;

/*
 * Starts the launcher. When the launcher starts but cannot do what the plan asks for, returns its
 * negative errno, and *ret_report says which step failed. When it cannot be started at all, the
 * step is LAUNCH_STEP_SETUP. -ECANCELED when a signal asked to stop meanwhile.
 */
int session_start(const struct session_plan *plan, struct stop *stop, struct session **ret,
	struct launch_report *ret_report);
/* The launcher, in whose cgroup the programs are run. */
pid_t session_get_launcher(const struct session *session);
/* Who stamps runs with nothing attached to them. */
enum stamper session_get_stamper(const struct session *session);
/*
 * Makes runs and returns when the last one has ended. The launcher makes at least one run and at
 * most as many as the request asks for. When a signal asks to stop, the process group of the
 * running child is ended: by SIGTERM first, and by SIGKILL at the second signal or after two
 * seconds; the last report then says `interrupted`. Returns 0, or the negative errno of what
 * prevented the runs. -EPIPE when the launcher has died.
 */
int session_run(struct session *session, struct stop *stop, const struct launch_request *request);
/*
 * The next one of these runs, in their order: 1, or 0 when there are no more. A run that did not
 * take place is the last one; for it the negative errno is returned, and *ret holds the step that
 * failed. -EBADMSG when the launcher has written something invalid. What *ret points to is valid
 * until the next call.
 */
int session_next(struct session *session, struct runlog_run *ret);
/* The text that the program handed over in the last of these runs (sampler/values.h), malloc'd and
 * not checked; "" if it handed over nothing. No earlier run of these handed over anything, because
 * the launcher ends a request after a run that did. */
int session_read_values(struct session *session, char **ret, size_t *ret_size);
/* Prints the last lines that the program wrote to standard error in the last of these runs. */
void session_print_stderr(const struct session *session);
/* Makes no more runs: the launcher begins to end, which session_free() waits for. Its number
 * (session_get_launcher()) is not valid any more. */
void session_end(struct session *session);
/* Ends the launcher and waits until it has ended. */
void session_free(struct session *session);

DEFINE_CLEANUP(session, session_free);

#endif
