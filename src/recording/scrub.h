/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Takes out of texts of the kernel what tells whose machine it is: serial numbers, addresses,
 * names. Each kind of text is known by what may stay in it; the rest goes. Functions return
 * malloc'd text, or NULL when memory is short.
 */
#ifndef QUIESCE_RECORDING_SCRUB_H
#define QUIESCE_RECORDING_SCRUB_H

#include <stddef.h>

#include "basic/cleanup.h"

/* The names that this machine has: its host name, its network interfaces. */
struct scrub_names;

int scrub_names_read(struct scrub_names **ret);
/* A list by hand: `name` becomes `substitute`. */
int scrub_names_new(struct scrub_names **ret);
int scrub_names_add(struct scrub_names *names, const char *name, const char *substitute);
void scrub_names_free(struct scrub_names *names);
DEFINE_CLEANUP(scrub_names, scrub_names_free);

/* Text that drivers and people make up (actions of interrupts, labels): the names of this machine,
 * Ethernet and IPv4 addresses, UUIDs, and runs of 12 or more hexadecimal digits are replaced. */
char *scrub_text(const struct scrub_names *names, const char *text);
/* The names alone: for a kernel release, in which four numbers are no address. */
char *scrub_own_names(const struct scrub_names *names, const char *text);

/* /proc/cmdline: only parameters that bear on timing stay (identity_pick_parameters()). Not what
 * the root file system is, not what is meant for init. */
char *scrub_cmdline(const struct scrub_names *names, const char *text);
/* /proc/version without who built it, where, and with what. */
char *scrub_version(const struct scrub_names *names, const char *text);
/* /proc/cpuinfo: lines whose key is known. Arm boards and s390 print their serial numbers here. */
char *scrub_cpuinfo(const struct scrub_names *names, const char *text);
/* /proc/sysinfo of s390: that there is a hypervisor, and which, but not what its guests are called.
 */
char *scrub_sysinfo(const struct scrub_names *names, const char *text);
/* /proc/swaps: how much, not where. */
char *scrub_swaps(const struct scrub_names *names, const char *text);
/* Nothing but that it is there. */
char *scrub_everything(const struct scrub_names *names, const char *text);

#endif
