/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the checks read of the machine: each thing once, when the first check asks for it.
 *
 * What cannot be read is NULL or empty, which is normal. Only want of memory is a failure, and
 * sticks (host_has_failed()), so that a check need not look for it.
 */
#ifndef QUIESCE_ISOL_CHECK_HOST_H
#define QUIESCE_ISOL_CHECK_HOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "basic/cleanup.h"
#include "basic/file.h"
#include "basic/macro.h"
#include "machine/bootline.h"
#include "machine/cpufreq.h"
#include "machine/cpumask.h"
#include "machine/interrupts.h"
#include "machine/isolation.h"
#include "machine/procstat.h"
#include "machine/tasks.h"
#include "machine/topology.h"

struct host;

/* What host_new() needs to know. */
struct host_options {
	const char *cpus; /* of -c; NULL: the default */
	/* How long it is watched for what happens a second; 0: not at all, as with `recorded`. */
	int64_t watch_ns;
	/* The files are those of another machine (--sysroot): processes, sockets and /run are still
	 * this one's, and must not be taken for it. */
	bool recorded;
	bool verbose;
};

/*
 * Says what is wrong: -EINVAL for a list that is none, or names a CPU that there is not; another
 * negative errno where it could not look.
 */
int host_new(const struct host_options *options, struct host **ret);
void host_free(struct host *host);

DEFINE_CLEANUP(host, host_free);

/* To be called once, before a look at what the machine does: goes off the CPUs that are looked at,
 * takes the first of the two readings for what happens a second, and begins to read which tasks
 * there are. They take the longest of all, and are read by a thread beside the rest. */
void host_watch(struct host *host);

/* What was asked for. */
const struct host_options *host_options(const struct host *host);
/* What is not there, the machine has not. Not so in a recording that is not ours (--record): others
 * choose other files, and none of the kernel's settings. */
bool host_is_whole(const struct host *host);
bool host_has_failed(const struct host *host);
/* As if memory had been short: for what a check cannot allocate. */
void host_fail(struct host *host);

/* The CPUs that are to be quiet, never empty; as a list; and where that comes from: "as asked". */
const struct cpumask *host_cpus(const struct host *host);
const char *host_cpus_text(const struct host *host);
const char *host_cpus_reason(const struct host *host);

const struct topology *host_topology(const struct host *host);
/* NULL only where memory is short. */
const struct isolation *host_isolation(struct host *host);
/* Whether the kernel has told which CPUs have no tick; a kernel that cannot do that has none. */
bool host_knows_nohz_full(struct host *host);
const struct isolation_partitions *host_partitions(struct host *host);
/* NULL where it cannot be read. */
const struct bootline *host_bootline(struct host *host);
/* NULL where there are none to be seen, as on a recorded machine. Waits for them. */
const struct tasks *host_tasks(struct host *host);
/* Whether the tasks are all that there are: threads of the kernel among them. A container has only
 * its own, and /proc may be mounted to hide what is others' (hidepid in proc(5)). */
bool host_sees_all_tasks(struct host *host);
/* A process of that name, by /proc/PID/comm; NULL for none. */
const struct task *host_find_process(struct host *host, const char *comm);
/* NULL for a CPU without a policy, and for one that is offline. */
const struct cpufreq_policy_info *host_policy(struct host *host, int cpu);
/* The interrupts that go to the CPUs: NULL at first, and then what interrupts.c keeps there. */
struct irq_touching;
struct irq_touching **host_irq_touching(struct host *host);
void irq_touching_free(struct irq_touching *touching);
/* As virtualization_read_hypervisor(). */
const char *host_hypervisor(struct host *host);
bool host_hypervisor_is_told(struct host *host);

/*
 * What happened on the CPUs while they were watched: from host_watch() until the first of these is
 * called, and for options.watch_ns at least. Sleeps for what is missing.
 */
/* The reader after its second reading, NULL where there is none to be had. */
const struct interrupts *host_watched_interrupts(struct host *host);
/* False where they cannot be compared. */
bool host_watched_times(
	struct host *host, struct procstat_times *ret_before, struct procstat_times *ret_after);
/* What was counted since boot when the watching began, or would have; false where it cannot be
 * read. */
bool host_first_times(const struct host *host, struct procstat_times *ret);
/* How long that was; 0 when nothing was watched. */
int64_t host_watched_ns(struct host *host);

/* An empty mask of the caller's own, and a mask as a list, malloc'd. NULL, and failed, without
 * memory. */
struct cpumask *host_new_mask(struct host *host);
char *host_format(struct host *host, const struct cpumask *mask);

/* One attribute into buf of FILE_ATTR_SIZE; its length, or a negative errno (file_read_line()). */
int host_read(const char *path, char *buf);
/* One that is a word, "intel_idle": -EINVAL for anything else. */
int host_read_word(const char *path, char *buf);
int host_readf(char *buf, const char *format, ...) _printf_(2, 3);

#endif
