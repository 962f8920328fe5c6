/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which CPUs are isolated from the rest of the system, and which CPUs this process may use.
 */
#ifndef QUIESCE_BASE_MACHINE_ISOLATION_H
#define QUIESCE_BASE_MACHINE_ISOLATION_H

#include "base/cleanup.h"
#include "base/machine/cpumask.h"

struct isolation {
	/* isolcpus=domain of the kernel command line: /sys/devices/system/cpu/isolated. cgroup
	 * partitions are never listed there. */
	struct cpumask *boot;
	int boot_error; /* 0, or the errno of reading the file: `boot` is empty then */
	/* /sys/devices/system/cpu/nohz_full. Such a CPU has no tick while it runs a single task;
	 * this alone does not keep other tasks away. */
	struct cpumask *nohz_full;
	int nohz_full_error; /* the same; -ENOENT is a kernel without CONFIG_NO_HZ_FULL */
	/* Isolated cgroup v2 partitions: cpuset.cpus.isolated of the root cgroup (in 6.12, not in
	 * 6.1; it includes the boot set), else the cgroups whose
	 * cpuset.cpus.partition is `isolated` and valid
	 * (Documentation/admin-guide/cgroup-v2.rst). */
	struct cpumask *partitions;
	int partitions_error; /* 0, or -EACCES: there are cgroups that cannot be read */
	/* CPUs without load balancing: `boot` and `partitions` together. */
	struct cpumask *isolated;
	int isolated_error; /* 0, or the error of one of the two sets: there may be more CPUs */
};

/* -ENOMEM is the only failure. Where a file cannot be read, its set lacks the CPUs in the file, and
 * its error says that the set is incomplete. */
int isolation_read(struct isolation **ret);
void isolation_free(struct isolation *isolation);

DEFINE_CLEANUP(isolation, isolation_free);

/* A cpuset that has CPUs exclusively, or is configured to. */
struct isolation_partition {
	char *path; /* the cgroup: "/benchmark.slice" */
	/*
	 * v2: cpuset.cpus.partition, unless it is "member": "isolated", "root" (its CPUs are only
	 * for its tasks, but the scheduler balances load among them), "isolated invalid (reason)".
	 * v1: "exclusive" where the scheduler balances no load over the CPUs, else "exclusive,
	 * balanced": then cpuset.cpu_exclusive keeps other cpusets away, but not the tasks of the
	 * root cpuset. "exclusive, perhaps balanced" where the root cpuset does not tell.
	 */
	char *state;
	struct cpumask *cpus; /* the effective CPUs */
};

struct isolation_partitions {
	struct isolation_partition *items;
	size_t n;
	/* Files of cgroups that exist but cannot be read or parsed: the result may be
	 * incomplete. */
	size_t n_unread;
};

/* Reads the partitions, at most 16 levels down. -ENOMEM is the only failure. */
int isolation_read_partitions(struct isolation_partitions *ret);
void isolation_partitions_clear(struct isolation_partitions *partitions);

/* Where cgroup v2 is usually mounted, also on hybrid systems: "/sys/fs/cgroup"; NULL where it is
 * not. */
const char *isolation_find_v2_mount(void);

/* The cpuset of a process. */
struct isolation_cpuset {
	bool v1;
	/* v1: the controllers of the cpuset's hierarchy as written in /proc/PID/cgroup, which are
	 * also the name of the mount point: "cpuset". v2: NULL. */
	char *controllers;
	char *path; /* "/user.slice" */
};

/*
 * Finds the cpuset in the text of /proc/PID/cgroup (cgroups(7)): the v1 line with the controller
 * cpuset, which is in charge on hybrid systems too, else the v2 line. -ENODATA when there is
 * neither, or when the path leads out of the cgroup namespace ("/..").
 */
int isolation_parse_cgroup(const char *text, struct isolation_cpuset *ret);
/* The same for another controller of v1; NULL: the v2 line alone, also on hybrid systems. */
int isolation_parse_cgroup_of(
	const char *text, const char *controller, struct isolation_cpuset *ret);
void isolation_cpuset_clear(struct isolation_cpuset *cpuset);

/*
 * The effective CPUs of a thread's cpuset (0: the calling process), read from the thread's cgroup
 * or the nearest ancestor that has the file (cpuset.cpus.effective; v1: cpuset.effective_cpus or
 * cpuset.cpus). *ret_path (may be NULL) is the cgroup that had the file, malloc'd. -ENODATA where
 * no cgroup with the file is visible; the errno of /proc/PID/cgroup.
 * A cgroup that its owner has closed to this process counts as one without the file: the ancestor's
 * CPUs are all that the thread can have, if perhaps more than it has. No user can keep the tools
 * from working by closing a directory.
 */
int isolation_read_cpuset(pid_t pid, struct cpumask *ret, char **ret_path);
/* The two halves of it: the text of /proc/PID/cgroup, malloc'd, and the rest. */
int isolation_read_cgroup(pid_t pid, char **ret);
int isolation_read_cpuset_of(const char *cgroup, struct cpumask *ret, char **ret_path);

/*
 * The CPUs that sched_setaffinity(2) can give to this process, whatever its present affinity: those
 * of isolation_read_cpuset(). Where this cpuset is not visible, or lacks CPUs that the thread has,
 * the calling thread requests all CPUs, reads the result back and restores its former affinity; if
 * it may not do this (a sandbox), the result is its present affinity. From then on the thread has
 * an affinity of its own (from 6.2: user_cpus_ptr in kernel/sched/core.c), which does not grow when
 * the cpuset grows later.
 */
int isolation_read_allowed(struct cpumask *ret);

/* 1 when this process may not use some CPU of the mask, with the lowest such CPU in *ret_cpu; 0
 * when it may use all of them. */
int isolation_find_denied(const struct cpumask *mask, int *ret_cpu);

/*
 * Why this process may not run on a CPU, malloc'd (check first that the CPU is online: cpusets
 * exclude offline CPUs as well):
 *	"cpuset /user.slice has 0-1"
 *	"a cpuset that cannot be seen from here has 0-1"
 *	"its affinity mask has 0-1 (taskset?)"	where the cpuset would allow the CPU
 * -ENODATA when nothing prevents it: the CPU is allowed, and in the affinity of the calling thread.
 */
int isolation_explain_denied(int cpu, char **ret);

#endif
