/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the checks read of the machine. Everything is read once, when the first check asks for it.
 *
 * Data that cannot be read are NULL or empty, which is normal.
 */
#ifndef QUIESCE_LOOK_ISOL_CHECK_HOST_H
#define QUIESCE_LOOK_ISOL_CHECK_HOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/machine/bootline.h"
#include "base/machine/cpufreq.h"
#include "base/machine/cpuidle.h"
#include "base/machine/cpumask.h"
#include "base/machine/interrupts.h"
#include "base/machine/isolation.h"
#include "base/machine/procstat.h"
#include "base/machine/tasks.h"
#include "base/machine/topology.h"
#include "base/macro.h"
#include "base/xalloc.h"

struct host;
struct touching;

/* What host_new() needs to know. */
struct host_options {
	const char *cpus; /* of -c; NULL: the default */
	/* How long the machine is watched to find rates; 0: not at all, as with `recorded`. */
	int64_t watch_ns;
	/* The files are those of a recorded machine (--sysroot). Processes, sockets and /run are
	 * those of this machine, and must not be used. */
	bool recorded;
	bool verbose;
};

/*
 * Says what is wrong. -EINVAL for a wrong list of CPUs, or a CPU that does not exist; another
 * negative errno where the machine could not be read.
 */
int host_new(const struct host_options *options, struct host **ret);
void host_free(struct host *host);

DEFINE_CLEANUP(host, host_free);

/* To be called once, before the checks run: moves this process off the CPUs that are checked, takes
 * the first reading for rates, and starts a thread that reads the tasks, as this takes the longest.
 */
void host_watch(struct host *host);

const struct host_options *host_options(const struct host *host);
/* Whether a missing file means that the machine does not have it. False for a recording that was
 * not made by --record, which may lack any file, and has none of the kernel's settings. */
bool host_is_whole(const struct host *host);

/* The CPUs that are checked, never empty; as a list; and why these: "as asked". */
const struct cpumask *host_cpus(const struct host *host);
const char *host_cpus_text(const struct host *host);
const char *host_cpus_reason(const struct host *host);

const struct topology *host_topology(const struct host *host);
const struct isolation *host_isolation(struct host *host);
/* Whether it is known which CPUs have no tick; also where the kernel was built without nohz_full.
 */
bool host_knows_nohz_full(struct host *host);
/* Whether the kernel's release is this one or a later one: 1, 0, or -ENODATA where the machine does
 * not tell. */
int host_is_since(struct host *host, uint64_t major, uint64_t minor);
const struct isolation_partitions *host_partitions(struct host *host);
/* NULL where it cannot be read. */
const struct bootline *host_bootline(struct host *host);
/* NULL where no tasks can be seen, as on a recorded machine. Waits until they have been read. */
const struct tasks *host_tasks(struct host *host);
/* Whether host_tasks() has kernel threads, and so probably all tasks. A container sees only its own
 * tasks, and /proc may hide the tasks of other users (hidepid in proc(5)). */
bool host_sees_all_tasks(struct host *host);
/* A process with this /proc/PID/comm; NULL for none. */
const struct task *host_find_process(struct host *host, const char *comm);
/* Whether the kernel knows of cores with several threads, by smt/control. */
bool host_has_smt(void);
/* NULL for a CPU that is offline, or has no policy. */
const struct cpufreq_policy_info *host_policy(struct host *host, int cpu);
/* As cpuidle_read(). */
int host_cpuidle(struct host *host, int cpu, const struct cpuidle **ret);
/* The interrupts that go to the CPUs (touching.h). */
const struct touching *host_touching(struct host *host);
/* As virtualization_read_hypervisor(). */
const char *host_hypervisor(struct host *host);
bool host_hypervisor_is_told(struct host *host);

/*
 * What happened on the CPUs while they were watched: from host_watch() until one of these functions
 * is called first, and for at least options.watch_ns: the function sleeps until that time is over.
 */
/* The interrupts of the CPU that took most of them, timers left out; NULL where they cannot be read
 * or compared. */
const struct interrupts *host_watched_interrupts(struct host *host, int *ret_cpu);
/* The busy and stolen time of one CPU while it was watched. False where the times were not read
 * twice. */
bool host_watched_times(struct host *host, int cpu, struct procstat_times *ret);
/* The first reading, which counts since boot; it is taken even if nothing is watched. False where
 * it cannot be read, and for a CPU that is offline. */
bool host_first_times(const struct host *host, int cpu, struct procstat_times *ret);
/* How long the machine was watched; 0 if it was not. */
int64_t host_watched_ns(struct host *host);

/* An empty mask, which the caller frees. */
struct cpumask *host_new_mask(void);

/* Reads an attribute into buf of FILE_ATTR_SIZE. Returns its length, or a negative errno
 * (file_read_line()). */
int host_read(const char *path, char *buf);
/* The same for one word, "intel_idle"; -EINVAL for anything else. */
int host_read_word(const char *path, char *buf);
int host_readf(char *buf, const char *format, ...) _printf_(2, 3);

#endif
