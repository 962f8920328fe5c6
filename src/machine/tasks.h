/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which tasks (threads, of programs and of the kernel) there are, from /proc/PID/stat and
 * /proc/PID/task/TID/stat (proc(5)) and sched_getaffinity(2): who may run on a set of CPUs, and who
 * was there last. Needs no root, unless /proc is mounted with hidepid.
 *
 * For a look at a machine, not for evidence: tasks come and go while it lasts.
 */
#ifndef QUIESCE_MACHINE_TASKS_H
#define QUIESCE_MACHINE_TASKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "basic/cleanup.h"
#include "machine/cpumask.h"

struct task {
	pid_t pid; /* of its process */
	pid_t tid;
	char comm[64]; /* as the kernel has it: 15 bytes of a program's name, more of a kworker's */
	char state;    /* 'R' runs or wants to */
	uint64_t start; /* when it began, in clock ticks since boot: with tid it names one thread */
	int cpu;	/* where it was last, or is now */
	bool kernel;	/* a thread of the kernel */
	bool is_single; /* the only thread of its process */
	/* It has ended, and is listed until its parent asks for its status. Cpusets leave it alone.
	 */
	bool dead;
	/* Nobody can move it: PF_NO_SETAFFINITY (include/linux/sched.h). */
	bool bound;
	bool worker; /* of a workqueue, whose mask decides where it may go: PF_WQ_WORKER */
	bool may;    /* it may run on a CPU of the set */
	bool only;   /* and nowhere else */
};

struct tasks {
	struct task *items;
	size_t n;
	/* Processes that were there and showed nothing: hidepid, or gone meanwhile. */
	size_t n_hidden;
};

/* All processes (their first threads), and all other threads that may run on a CPU of mask; without
 * a mask (NULL) all threads, and `may` and `only` are false.
 * Errors are those of this process, such as -EMFILE, and never of a process that is looked at. */
int tasks_read(const struct cpumask *mask, struct tasks **ret);
void tasks_free(struct tasks *tasks);

DEFINE_CLEANUP(tasks, tasks_free);

/* The line of /proc/PID/stat; `pid`, `may` and `only` are left alone. -EBADMSG. */
int tasks_parse_stat(const char *text, struct task *ret);

#endif
