/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the running benchmark.target has chosen, for every tool that is not told its CPUs.
 *
 * The target resolves `auto` once per start and writes it down in /run/quiesce/target, which goes
 * when it stops. The file can serve as an EnvironmentFile= (systemd.exec(5)): lines KEY=VALUE,
 * without quotes or comments, each key once. There are at least
 *
 *	QUIESCE_TARGET=1	the version, in the first line
 *	BOOT_ID=1f0c8a52-...	a file of another boot is none
 *	CPUS=2-3		as a CPU list
 *
 * and others, which are for the units of the target only.
 */
#ifndef QUIESCE_STATE_RUNNING_H
#define QUIESCE_STATE_RUNNING_H

#include "machine/cpumask.h"

#define TARGET_DIRECTORY "/run/quiesce"
#define TARGET_FILE TARGET_DIRECTORY "/target"
/* Where a process asks to be moved onto those CPUs, see benchmark.target(7). */
#define TARGET_JOIN_SOCKET TARGET_DIRECTORY "/join"
/* The cgroup of those CPUs, and the cpuset where cpusets are those of cgroup v1 (where systemd and
 * Debian mount them). */
#define TARGET_SLICE "benchmark.slice"
#define TARGET_CGROUP "/sys/fs/cgroup/" TARGET_SLICE
#define TARGET_CPUSET "/sys/fs/cgroup/cpuset/benchmark"
#define TARGET_MAGIC "QUIESCE_TARGET=1"

/*
 * The CPUs that the running target chose; they exist, but may have gone offline since.
 *	-ENOENT		no target runs (also: a file of another boot)
 *	-EPERM		the file is not root's alone to write, or no regular file
 *	-EBADMSG	it is damaged, or of another version
 * or another error of reading it. Nothing but -ENOENT may be taken for "no target": it would
 * measure where nothing is quiet.
 */
int running_read_cpus(struct cpumask **ret);

/* The value of a key of the file, malloc'd. Errors as above, and -ENODATA when it has no such key.
 */
int running_read_value(const char *key, char **ret);

/* As above, for the text of such a file. */
int running_parse_cpus(const char *text, const char *boot_id, struct cpumask **ret);
int running_parse_value(const char *text, const char *boot_id, const char *key, char **ret);

#endif
