/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The tasks of the machine (threads of programs and of the kernel), from /proc/PID/stat and
 * /proc/PID/task/TID/stat (proc(5)) and sched_getaffinity(2): which tasks may run on a set of CPUs,
 * and where each ran last. Needs no root, unless /proc is mounted with hidepid.
 *
 * The list is not an atomic snapshot: tasks come and go while it is read.
 */
#ifndef QUIESCE_BASE_MACHINE_TASKS_H
#define QUIESCE_BASE_MACHINE_TASKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/cleanup.h"
#include "base/machine/cpumask.h"

struct task {
	pid_t pid; /* of its process */
	pid_t tid;
	pid_t parent;  /* the parent of its process; 0 for none */
	char comm[64]; /* the kernel's name: 15 bytes for a program, more for a kworker */
	char state;    /* 'R': running or runnable */
	uint64_t
		start; /* start time in clock ticks since boot: with tid it identifies one thread */
	/* CPU time of the process, or for a thread that is not the first, of the thread; and CPU
	 * time of the children that it has waited for, in clock ticks. */
	uint64_t ran_ticks;
	uint64_t system_ticks; /* the part of ran_ticks in the kernel */
	uint64_t children_ticks;
	int cpu;	/* the CPU that it runs on or ran on last */
	bool kernel;	/* a thread of the kernel */
	bool is_single; /* the only thread of its process */
	/* A zombie: it has ended, and is listed until its parent waits for it. Cpusets do not move
	 * it. */
	bool dead;
	/* Its affinity cannot be changed: PF_NO_SETAFFINITY (include/linux/sched.h). */
	bool bound;
	bool worker; /* a workqueue's worker, bound by the workqueue's cpumask: PF_WQ_WORKER */
	bool may;    /* its affinity has a CPU of the set */
	bool only;   /* its affinity has only CPUs of the set */
};

struct tasks {
	struct task *items;
	size_t n;
	/* Processes that are there and could not be read: /proc is mounted with hidepid=1. Those
	 * that have ended since the directory was read are not counted. */
	size_t n_hidden;
};

/* Reads all processes (their first threads), and all other threads that may run on a CPU of mask:
 * with an empty one, processes alone, and it does not look at their threads. Without a mask (NULL)
 * it reads all threads, and `may` and `only` are false. Errors are only those of the calling
 * process, such as -EMFILE. */
int tasks_read(const struct cpumask *mask, struct tasks **ret);
void tasks_free(struct tasks *tasks);

DEFINE_CLEANUP(tasks, tasks_free);

/* Whether the real, effective and saved user in the text of /proc/PID/status are all uid. */
bool tasks_status_is_of(const char *status, uid_t uid);
/* The same of a process: 1, 0, or the error of reading that file. Anybody may give a process any
 * name, and the owner of /proc/PID is root for each process that may not be traced. */
int tasks_is_of(pid_t pid, uid_t uid);

/* Parses the line of /proc/PID/stat; `pid`, `may` and `only` are unchanged. -EBADMSG. */
int tasks_parse_stat(const char *text, struct task *ret);

#endif
