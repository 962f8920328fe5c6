/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names of events for perf_event_open(2), and whether this machine counts them for this user.
 *
 * A name is one of, tried in this order:
 *
 *	task-clock, cpu-clock, page-faults (faults), minor-faults, major-faults, context-switches
 *	(cs), cpu-migrations (migrations), alignment-faults, emulation-faults
 *		software events, as perf calls them; counted by any kernel
 *	cycles (cpu-cycles), instructions, branches (branch-instructions), branch-misses,
 *	cache-references, cache-misses, ref-cycles, bus-cycles, stalled-cycles-frontend,
 *	stalled-cycles-backend
 *		what the kernel maps to this CPU's counters
 *	cpu/event=0x3c,umask=0x00/, msr/aperf/
 *		a PMU of /sys/bus/event_source/devices, with the names that its `events` and
 *`format` bring (Documentation/ABI/testing/sysfs-bus-event_source-devices-format, -events), or
 *		config=, config1=, config2=
 *	r01c2
 *		a raw code of the CPU's PMU, in hexadecimal
 *	INST_RETIRED:ANY, zen4::RETIRED_INSTRUCTIONS, L1-DCACHE-LOAD-MISSES
 *		names of libpfm4, where the build has it
 *
 * Behind any but libpfm4's (which knows such attributes itself) may stand where to count: ":u" user
 * space, ":k" kernel, ":h" hypervisor, or several of them; behind a PMU's slash without the colon.
 */
#ifndef QUIESCE_MACHINE_COUNTER_H
#define QUIESCE_MACHINE_COUNTER_H

#include <stdbool.h>
#include <stdint.h>

#include <linux/perf_event.h>

/*
 * Cuts "a,b,pmu/x=1,y=2/" at its commas, those between slashes excepted: a NULL-terminated vector,
 * to be freed by counter_free_list(). -EINVAL for an empty name (",", "a,,b", "") or an open
 * slash, -ENOMEM.
 */
int counter_split_list(const char *list, char ***ret);
void counter_free_list(char **names);

/*
 * The event of that name, with type, size, config to config2 and what of exclude_user,
 * exclude_kernel and exclude_hv the name asks for; everything else is 0. Nothing is opened.
 *
 * `cpu` is where it shall count, -1 for anywhere: on a machine with several kinds of cores each
 * kind has a PMU of its own, and a plain `cycles` of the wrong one would count nothing.
 *
 * On failure *ret_why is one line for a person, malloc'd (NULL when memory is short):
 *	-ENOENT		there is no such event, or part of it: a mistake in the name
 *	-EOPNOTSUPP	there may be, but not on this machine: an absent PMU, an event that a PMU
 *			does not list here, another CPU's event
 *	-ENOMEM
 * *ret and, on success, *ret_why are untouched.
 */
int counter_resolve(const char *name, int cpu, struct perf_event_attr *ret, char **ret_why);

/*
 * Puts a value where a PMU's format says, the lowest bits first: "config:0-7,32-35". 0 when all of
 * it fits; -EBADMSG for a format of another kind, or with a bit in it twice, -ERANGE for a value
 * that has more bits: config to config2 are then of no use.
 */
int counter_apply_format(const char *format, uint64_t value, struct perf_event_attr *attr);

/*
 * Opens the event once, on the calling thread, and closes it.
 *
 * Where the kernel lets this user count in user space only (perf_event_paranoid 2), sets
 * attr->exclude_kernel, if the name did not ask for the kernel and the event still says something
 * then: see counter_is_user_only(). On failure attr is untouched, and *ret_why as above:
 *	-EOPNOTSUPP	this machine cannot count it, or not for one process
 *	-EACCES		this user may not; the text names /proc/sys/kernel/perf_event_paranoid
 *	another negative errno
 */
int counter_probe(struct perf_event_attr *attr, char **ret_why);

/* Whether what is counted lacks the kernel's share. The clocks run in both, whatever is excluded
 * (kernel/events/core.c: task_clock_event_update()). */
bool counter_is_user_only(const struct perf_event_attr *attr);

/* /proc/sys/kernel/perf_event_paranoid: -1 to 2, and 3 and 4 of Debian's and Ubuntu's kernels. */
int perf_paranoid_read(int *ret);

#endif
