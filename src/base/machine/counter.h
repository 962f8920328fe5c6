/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names of events for perf_event_open(2), and whether this machine counts them for this user.
 *
 * A name is one of these, tried in this order:
 *
 *	task-clock, cpu-clock, page-faults (faults), minor-faults, major-faults, context-switches
 *	(cs), cpu-migrations (migrations), alignment-faults, emulation-faults
 *		software events, named as in perf; counted by any kernel
 *	cycles (cpu-cycles), instructions, branches (branch-instructions), branch-misses,
 *	cache-references, cache-misses, ref-cycles, bus-cycles, stalled-cycles-frontend,
 *	stalled-cycles-backend
 *		hardware events, which the kernel maps to this CPU's counters
 *	cpu/event=0x3c,umask=0x00/, msr/aperf/
 *		an event of a PMU of /sys/bus/event_source/devices, with names from the PMU's
 *		`events` and `format` (Documentation/ABI/testing/
 *		sysfs-bus-event_source-devices-format, -events), or config=, config1=, config2=
 *	r01c2
 *		a raw code of the CPU's PMU, in hexadecimal
 *	INST_RETIRED:ANY, zen4::RETIRED_INSTRUCTIONS, L1-DCACHE-LOAD-MISSES
 *		a name of libpfm4, where the build has it
 *
 * A modifier may follow: ":u" counts in user space, ":k" in the kernel, ":h" in the hypervisor;
 * letters may be combined. After the slash of a PMU the colon is omitted. libpfm4's names have
 * libpfm4's own modifiers instead.
 */
#ifndef QUIESCE_BASE_MACHINE_COUNTER_H
#define QUIESCE_BASE_MACHINE_COUNTER_H

#include <stdbool.h>
#include <stdint.h>

#include <linux/perf_event.h>

/*
 * Splits "a,b,pmu/x=1,y=2/" at commas, but not between slashes. Returns a NULL-terminated vector,
 * to be freed by counter_free_list(). -EINVAL for an empty name (",", "a,,b", "") or an open slash,
 * -ENOMEM.
 */
int counter_split_list(const char *list, char ***ret);
void counter_free_list(char **names);

/*
 * Resolves a name to an event: sets type, size, config to config2, and those of exclude_user,
 * exclude_kernel and exclude_hv that the name asks for; everything else is 0. Opens no event.
 *
 * `cpu` is the CPU that is to count, -1 for any: on a machine with several kinds of cores each kind
 * has its own PMU, and a plain `cycles` of the wrong PMU would count nothing.
 *
 * On failure *ret_why is one line for a person, malloc'd (NULL when out of memory):
 *	-ENOENT		the name is wrong: there is no such event, or no such part of it
 *	-EOPNOTSUPP	the name may be right, but not on this machine: an absent PMU, an event
 *			that the PMU does not list here, an event of another CPU
 *	-ENOMEM
 * *ret on failure, and *ret_why on success, are untouched.
 */
int counter_resolve(const char *name, int cpu, struct perf_event_attr *ret, char **ret_why);

/*
 * Stores a value in the bits that a PMU's format names, the lowest bits first: "config:0-7,32-35".
 * Returns 0 when the whole value fits; -EBADMSG for an unknown format or one that names a bit
 * twice, -ERANGE for a value with too many bits: config to config2 are then invalid.
 */
int counter_apply_format(const char *format, uint64_t value, struct perf_event_attr *attr);

/*
 * Opens the event once, on the calling thread, and closes it.
 *
 * Where the kernel lets this user count in user space only (perf_event_paranoid 2), sets
 * attr->exclude_kernel, unless the name asked for the kernel or the event would then count nothing:
 * see counter_is_user_only(). On failure attr is untouched, and *ret_why as above:
 *	-EOPNOTSUPP	this machine cannot count the event, or not for one process
 *	-EACCES		this user may not; the text names /proc/sys/kernel/perf_event_paranoid
 *	another negative errno
 */
int counter_probe(struct perf_event_attr *attr, char **ret_why);
/*
 * Opens an event on the calling thread that counts nothing. The first event of the machine that is
 * opened on a task waits for a grace period of the kernel, some 10 ms (kernel/events/core.c:
 * account_event()); as long as this one is open, others need not wait. A descriptor or a negative
 * errno.
 */
int counter_open_dummy(void);

/* Whether the count lacks the kernel's share. False for the clock events, which always run in both
 * modes (kernel/events/core.c: task_clock_event_update()). */
bool counter_is_user_only(const struct perf_event_attr *attr);

/* /proc/sys/kernel/perf_event_paranoid: -1 to 2, also 3 and 4 in Debian's and Ubuntu's kernels. */
int perf_paranoid_read(int *ret);

#endif
