/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Removes from texts of the kernel what identifies a machine: serial numbers, addresses, names. For
 * each kind of text there is a list of what may stay. Functions return malloc'd text.
 */
#ifndef QUIESCE_LOOK_RECORDING_SCRUB_H
#define QUIESCE_LOOK_RECORDING_SCRUB_H

#include <stddef.h>

#include "base/cleanup.h"

/* The names of this machine, with a substitute for each: its host name, its network interfaces. */
struct scrub_names;

struct scrub_names *scrub_names_read(void);
/* An empty list, for tests. scrub_names_add(): `name` is replaced by `substitute`. */
struct scrub_names *scrub_names_new(void);
void scrub_names_add(struct scrub_names *names, const char *name, const char *substitute);
void scrub_names_free(struct scrub_names *names);
DEFINE_CLEANUP(scrub_names, scrub_names_free);

/* For free text of drivers and people (labels): replaces the names of this machine, Ethernet and
 * IPv4 addresses, UUIDs, and runs of 12 or more hexadecimal digits. */
char *scrub_text(const struct scrub_names *names, const char *text);
/* For actions of interrupts: as above, and replaces the text before the number of a queue, as in
 * "office-TxRx-0", by "net", unless it is a common name. Such a text is an interface of another
 * network namespace: /sys/class/net has only ours, the interrupts are those of the machine. An
 * interface without queues cannot be distinguished from a device. */
char *scrub_actions(const struct scrub_names *names, const char *text);
/* Replaces only the names: for a kernel release, where four numbers are no IPv4 address. */
char *scrub_own_names(const struct scrub_names *names, const char *text);

/* /proc/cmdline: keeps only parameters that affect timing (identity_pick_parameters()); removes,
 * for example, the root file system and parameters of init. */
char *scrub_cmdline(const struct scrub_names *names, const char *text);
/* /proc/version: removes who built the kernel, where, and with which compiler. */
char *scrub_version(const struct scrub_names *names, const char *text);
/* /proc/cpuinfo: keeps lines with a known key. Arm boards and s390 have serial numbers in it. */
char *scrub_cpuinfo(const struct scrub_names *names, const char *text);
/* /proc/sysinfo of s390: keeps which hypervisor there is, and removes the names of guests. */
char *scrub_sysinfo(const struct scrub_names *names, const char *text);
/* /proc/swaps: keeps the sizes, and removes the paths. */
char *scrub_swaps(const struct scrub_names *names, const char *text);
/* Removes the whole text: only the existence of the file is recorded. */
char *scrub_everything(const struct scrub_names *names, const char *text);

#endif
