/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A launcher process (launch.h) and the conversation with it.
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

/* A file whose text is evidence. */
struct session_file {
	const char *path;
	enum launch_file_kind kind;
	int cpu; /* read after a run that ended on this CPU; -1: in each reading */
};

/* What is the same for all runs. Everything is copied. */
struct session_plan {
	const struct cpumask *cpus;
	const struct cpumask *housekeeping; /* for what may not disturb; may be empty */
	const char *program;		    /* path; argv[0] is what the program sees */
	char *const *argv;
	char *const *env;
	uint32_t flags; /* enum launch_flag */
	int nice;
	int fifo_priority;
	int clockid;
	int64_t timeout_ns; /* 0 for none */
	const struct perf_event_attr *counters;
	size_t n_counters; /* at most LAUNCH_MAX_COUNTERS */
	const struct session_file *files;
	size_t n_files;
	bool join;	  /* move the launcher onto the CPUs of benchmark.target first */
	bool show_output; /* else standard output goes to /dev/null, standard error is kept */
};

struct session;

/*
 * Starts the launcher. When it starts but refuses, the result is the negative errno and *ret_report
 * tells the step; when it cannot even be started, the step is LAUNCH_STEP_SETUP. -ECANCELED
 * when somebody wishes to stop meanwhile.
 */
int session_start(const struct session_plan *plan, struct stop *stop, struct session **ret,
	struct launch_report *ret_report);
/*
 * Some runs, until the last one's end: as many as the launcher makes before it answers, which are
 * at least one and at most those that are asked for. A wish to stop ends the child's process group:
 * SIGTERM first, SIGKILL at the second signal or after two seconds; the last report then says
 * `interrupted`. 0, or the negative errno of what kept them from being made. -EPIPE: the launcher
 * is gone.
 */
int session_run(struct session *session, struct stop *stop, const struct launch_request *request);
/*
 * The next one of those runs, in their order: 1, or 0 when there is none. For one that did not take
 * place, which is the last, the negative errno, with its step in *ret. -EBADMSG: the launcher does
 * not tell what it should. What *ret points to lives until the next call.
 */
int session_next(struct session *session, struct runlog_run *ret);
/* What the program of the last of those runs handed over (sampler/values.h), as it stands there,
 * malloc'd: nothing in it is checked. No run before it handed anything over. "" if it handed over
 * nothing. */
int session_read_values(struct session *session, char **ret, size_t *ret_size);
/* The last lines of the standard error of the last of those runs, malloc'd, "" if there is none. */
int session_read_stderr(struct session *session, char **ret);
/* Ends the launcher and waits for it. */
void session_free(struct session *session);

DEFINE_CLEANUP(session, session_free);

#endif
