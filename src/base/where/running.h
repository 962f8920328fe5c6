/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The CPUs that the running benchmark.target has chosen, for every tool whose user does not name
 * CPUs.
 *
 * The target resolves `auto` once per start and writes the result to /run/quiesce/target, which is
 * removed when the target stops. The file can serve as an EnvironmentFile= (systemd.exec(5)): lines
 * KEY=VALUE, without quotes or comments, each key once. It has at least
 *
 *	QUIESCE_TARGET=1	the version, in the first line
 *	BOOT_ID=1f0c8a52-...	a file of another boot is ignored
 *	CPUS=2-3		as a CPU list
 *
 * and other keys, which are only for the units of the target.
 */
#ifndef QUIESCE_BASE_WHERE_RUNNING_H
#define QUIESCE_BASE_WHERE_RUNNING_H

#include "base/machine/cpumask.h"

#define TARGET_DIRECTORY "/run/quiesce"
#define TARGET_FILE TARGET_DIRECTORY "/target"
/* The socket at which a process requests to be moved onto these CPUs, see benchmark.target(7). */
#define TARGET_JOIN_SOCKET TARGET_DIRECTORY "/join"
/* The cgroup of these CPUs, where they are a partition. */
#define TARGET_SLICE "benchmark.slice"
#define TARGET_CGROUP "/sys/fs/cgroup/" TARGET_SLICE
#define TARGET_EVENTS TARGET_CGROUP "/cgroup.events"
#define TARGET_MAGIC "QUIESCE_TARGET=1"

/*
 * How a guardian (`benchmark-target hold`) answers over its socket, once the machine is quiet:
 * lines that say what each setter has done, and then one of these bytes, which says whether this is
 * everything.
 */
#define HOLD_COMPLETE "\1"
#define HOLD_IN_PART "\2"

/*
 * Reads the CPUs that the running target has chosen; they exist, but may have gone offline since.
 *	-ENOENT		no target runs (also: a file of another boot)
 *	-EPERM		others than root can write the file, or it is not a regular file
 *	-EBADMSG	it is damaged, or of another version
 * or another error of reading the file. Only -ENOENT means "no target": after any other error a
 * measurement could run on CPUs that are not quiet.
 */
int running_read_cpus(struct cpumask **ret);

/* The value of a key of the file, malloc'd. Errors as above, and -ENODATA when the file has no such
 * key. */
int running_read_value(const char *key, char **ret);

/* Whether a program runs in TARGET_CGROUP, or in a cgroup below it: 1, 0, or the error of reading
 * that (cgroup v2 only; 0 also where there is no such cgroup). */
int running_has_programs(void);

/* The same as the two functions that read the file, for its text. */
int running_parse_cpus(const char *text, const char *boot_id, struct cpumask **ret);
int running_parse_value(const char *text, const char *boot_id, const char *key, char **ret);

#endif
