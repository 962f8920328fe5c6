/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The processes of a service: all that descend from its keeper (measure/keeper.h), which is also
 * the parent of those whose own parent has ended. They are stopped, continued and asked for their
 * CPU time. No other process is ever touched: a signal goes through a pidfd, of a process that is
 * known by its number and the moment of its start.
 */
#ifndef QUIESCE_MEASURE_SERVE_FAMILY_H
#define QUIESCE_MEASURE_SERVE_FAMILY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Of all processes together. */
struct family_use {
	int64_t cpu_ns; /* of those that live, with the threads of them that have ended */
	/* Its parts in user mode and in the kernel; -1: not known. `step_ns`: in which they are
	 * counted. */
	int64_t user_ns;
	int64_t system_ns;
	int64_t step_ns;
	/* Of the threads that live: their CPU time, waits for a CPU, and switches away from one;
	 * -1: not known. */
	int64_t ran_ns;
	int64_t waited_ns;
	int64_t switches;
	int64_t involuntary;
};

struct family_member {
	pid_t pid;
	uint64_t start;	       /* clock ticks since boot (proc(5)) */
	char state;	       /* 'T', or 't' by a debugger: stopped */
	uint64_t system_ticks; /* CPU time in the kernel, as of reading it */
	int64_t cpu_ns;	       /* by family_ask() */
};

struct family {
	struct family_member *items;
	size_t n;
	/* CPU time of processes that have ended, and that these or the keeper have waited for. */
	uint64_t ended_ticks;
	/* By family_ask(): one of them ignores SIGCHLD, and has it not from us. Nobody waits for
	 * its children (wait(2)), so that those that have ended are known to nobody. */
	bool ignores_children;
	struct family_use use; /* by family_ask() */
};

/* The living descendants of the process. -ENOMEM, or the errno of reading /proc. */
int family_read(pid_t keeper, struct family *ret);
void family_clear(struct family *family);
/* Reads them, also those that have ended and that nobody has waited for, and what they have used
 * until now. */
int family_ask(pid_t keeper, struct family *ret);
/* What they have used between two such questions. -ENODATA where a process has ended in between:
 * its time is lost. */
int family_compare(const struct family *before, const struct family *after, struct family_use *ret);
/* Whether that is all. -ENODATA where a process has ended that was not there before the first
 * question, such as one for each connection: its parent has waited for it. -ENOTSUP where nobody
 * waits. */
int family_is_complete(const struct family *before, const struct family *after);
/* Forgets what only the threads tell that live, where others, which have ended, had more than a
 * little of the CPU time: a service may have a thread for each connection. */
void family_forget_living(struct family_use *use);
/* The difference of two counts; -1 where it is not known: threads that have ended in between have
 * taken theirs with them. */
int64_t family_subtract(int64_t after, int64_t before);
/* Stops all of them that run, also those that are born meanwhile, and adds them to the list. -ETIME
 * after two seconds. */
int family_stop(pid_t keeper, struct family *stopped);
/* Lets those of the list go on, and empties it: one that was stopped before stays so. */
int family_continue(struct family *stopped);

static inline void cleanup_family(struct family *family)
{
	family_clear(family);
}
#define _cleanup_family_ __attribute__((cleanup(cleanup_family)))

#endif
