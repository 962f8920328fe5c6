/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The CPU quota of a process: how much CPU time its cgroup may have in a period. When the quota is
 * used up, the cgroup is throttled: none of its tasks runs until the next period
 * (Documentation/scheduler/sched-bwc.rst). One quota is for all tasks of a cgroup and of those
 * below it, on all CPUs together; tasks of SCHED_FIFO and SCHED_RR have none.
 *
 * cgroup v2 (Documentation/admin-guide/cgroup-v2.rst): cpu.max, "max 100000" or "20000 100000", a
 * quota and a period in microseconds; the root has none. v1: cpu.cfs_quota_us (-1: no quota) and
 * cpu.cfs_period_us. Where v1 has the controller cpu, v2 has not (hybrid systems). What a cgroup is
 * limited to by those above it does not show in its own files.
 *
 * How long it was throttled is the sum over its CPUs. Since Linux 6.7 (kernel/sched/core.c,
 * cpu_local_stat_show()) the cpu.stat.local of a cgroup tells it, whichever cgroup has the limit,
 * and as far as the cgroup had tasks to run. Before, the cpu.stat of each cgroup with a limit does.
 */
#ifndef QUIESCE_BASE_MACHINE_QUOTA_H
#define QUIESCE_BASE_MACHINE_QUOTA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* The cgroup of a process in the hierarchy that has the controller cpu. */
struct quota_cgroup {
	char *controllers; /* v1: those of the hierarchy, "cpu,cpuacct"; v2: NULL */
	char *mount;	   /* where the hierarchy is mounted: "/sys/fs/cgroup" */
	char *path;	   /* the cgroup below the mount: "/user.slice"; "" for what is mounted */
	bool is_whole;	   /* the root of the hierarchy is mounted: no cgroup above it is hidden */
};

/*
 * Finds it; pid 0: of the calling process. -ENODATA where the kernel has no such hierarchy, -ENOENT
 * where the cgroup is not visible from here (a cgroup namespace, a container with other mounts), or
 * the errno of /proc/PID/cgroup.
 */
int quota_find_cgroup(pid_t pid, struct quota_cgroup *ret);
void quota_cgroup_clear(struct quota_cgroup *cgroup);

enum {
	/* Cgroups that are limited one below the other; of more it is not known how long they were
	 * throttled, where the kernel is older than 6.7. */
	QUOTA_STATS_MAX = 8,
};

struct quota {
	/* The smallest of the process's cgroup and those above it, in CPUs: 0.2; INFINITY where
	 * none of those that can be seen has a limit. */
	double cpus;
	char *limit;	/* the file that has this limit; NULL: none */
	bool is_hidden; /* there may be limits that cannot be seen, or that make no sense */
	/* The files that tell together how long the process's cgroup was throttled: none where it
	 * has no limit, or where the kernel does not tell. Before Linux 6.7 they leave out hidden
	 * limits. */
	char *stats[QUOTA_STATS_MAX];
	size_t n_stats;
};

/* Reads the quota of a process (0: the calling one). -ENOMEM is the only failure. */
int quota_read(pid_t pid, struct quota *ret);
void quota_clear(struct quota *quota);

/* "0.2 CPUs", the text of the metadata cpu_quota, as pyperf writes it (2.11,
 * _collect_metadata.py). */
enum {
	QUOTA_TEXT_SIZE = 32,
};
const char *quota_format(double cpus, char buf[QUOTA_TEXT_SIZE]);

/* 1 with the limit in CPUs from the text of cpu.max, 0 when it is none, -EINVAL for another text.
 */
int quota_parse_max(const char *text, double *ret);
/* The same from the texts of cpu.cfs_quota_us and cpu.cfs_period_us. */
int quota_parse_cfs(const char *quota, const char *period, double *ret);
/* The throttled time in the text of a cpu.stat or cpu.stat.local, in nanoseconds. -ENODATA where it
 * tells none. */
int quota_parse_stat(const char *text, int64_t *ret);

#endif
