/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which CPUs are kept apart from the rest of the system, and which ones this process may use.
 */
#ifndef QUIESCE_MACHINE_ISOLATION_H
#define QUIESCE_MACHINE_ISOLATION_H

#include "basic/cleanup.h"
#include "machine/cpumask.h"

struct isolation {
	/* isolcpus=domain of the boot line: /sys/devices/system/cpu/isolated. Live partitions
	 * never show there. */
	struct cpumask *boot;
	int boot_error; /* 0, or why `boot` is empty without proof: what reading that file gave */
	/* /sys/devices/system/cpu/nohz_full. Such a CPU has no tick under a single task; that
	 * alone does not keep other tasks away. */
	struct cpumask *nohz_full;
	int nohz_full_error; /* the same; -ENOENT is a kernel without CONFIG_NO_HZ_FULL */
	/* Isolated cgroup v2 partitions: cpuset.cpus.isolated of the root cgroup (in 6.12, not in
	 * 6.1; holds the boot set as well), else the cgroups at most two levels down whose
	 * cpuset.cpus.partition is `isolated` and valid (Documentation/admin-guide/cgroup-v2.rst).
	 */
	struct cpumask *partitions;
	/* The scheduler places nothing there by itself: boot and partitions. */
	struct cpumask *isolated;
};

/* -ENOMEM is the only failure: where nothing can be read, nothing is isolated, and the errors say
 * that nobody knows. */
int isolation_read(struct isolation **ret);
void isolation_free(struct isolation *isolation);

DEFINE_CLEANUP(isolation, isolation_free);

/* A cpuset that keeps CPUs to itself, or is meant to. */
struct isolation_partition {
	char *path; /* of its cgroup: "/benchmark.slice" */
	/*
	 * v2: cpuset.cpus.partition, unless it is "member": "isolated", "root" (its CPUs are for
	 * its tasks alone, but balanced among them), "isolated invalid (reason)". v1: "exclusive"
	 * where nothing balances tasks over its CPUs, else "exclusive, balanced": then
	 * cpuset.cpu_exclusive keeps other cpusets away, but not the tasks of the root. "exclusive,
	 * perhaps balanced" where the root does not tell.
	 */
	char *state;
	struct cpumask *cpus; /* the effective ones */
};

struct isolation_partitions {
	struct isolation_partition *items;
	size_t n;
	/* Files of cgroups that are there and cannot be read, or make no sense: what they would
	 * have said is unknown. */
	size_t n_unread;
};

/* Those at most two levels down. -ENOMEM is the only failure. */
int isolation_read_partitions(struct isolation_partitions *ret);
void isolation_partitions_clear(struct isolation_partitions *partitions);

/* The cpuset of a process. */
struct isolation_cpuset {
	bool v1;
	/* v1: the controllers of its hierarchy as they are written in /proc/PID/cgroup, which
	 * name the mount point: "cpuset". v2: NULL. */
	char *controllers;
	char *path; /* "/user.slice" */
};

/*
 * Finds it in the text of /proc/PID/cgroup (cgroups(7)): the v1 line that has the controller
 * cpuset, which then has the say on hybrids too, else the v2 line. -ENODATA when there is neither,
 * or when the path leads out of the cgroup namespace ("/..").
 */
int isolation_parse_cgroup(const char *text, struct isolation_cpuset *ret);
void isolation_cpuset_clear(struct isolation_cpuset *cpuset);

/*
 * The effective CPUs of the cpuset of a thread, 0 for the calling process, read from its cgroup or
 * the first ancestor that has the file (cpuset.cpus.effective; v1: cpuset.effective_cpus or
 * cpuset.cpus). *ret_path, which may be NULL, is the cgroup that says so, malloc'd.
 * -ENODATA where that cannot be seen; the errno of /proc/PID/cgroup.
 */
int isolation_read_cpuset(pid_t pid, struct cpumask *ret, char **ret_path);

/*
 * The CPUs that sched_setaffinity(2) can give to this process, whatever its affinity is now: those
 * of isolation_read_cpuset().
 * Where that cannot be seen, or lacks CPUs that the thread has, the calling thread asks the kernel
 * for all CPUs, looks what it got and takes its former affinity back; it has an affinity of its own
 * from then on (from 6.2: user_cpus_ptr in kernel/sched/core.c), which a cpuset that grows later
 * does not widen.
 */
int isolation_read_allowed(struct cpumask *ret);

/* 1 when some CPU of the mask is not among those, with the lowest such in *ret_cpu; 0 when all of
 * them may be used. */
int isolation_find_denied(const struct cpumask *mask, int *ret_cpu);

/*
 * What keeps this process from that CPU, malloc'd (ask the topology first whether it is online:
 * cpusets deny those that are not as well):
 *	"cpuset /user.slice has 0-1"
 *	"a cpuset that cannot be seen from here has 0-1"
 *	"its affinity mask has 0-1 (taskset?)"	where the cpuset would allow the CPU
 * -ENODATA when nothing does: the CPU is allowed, and in the affinity of the calling thread.
 */
int isolation_explain_denied(int cpu, char **ret);

#endif
