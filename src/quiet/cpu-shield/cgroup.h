/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Cgroups as knobs: their folders, the files in them, and the controller that provides these files.
 * These are backends as in knob.h.
 */
#ifndef QUIESCE_QUIET_CPU_SHIELD_CGROUP_H
#define QUIESCE_QUIET_CPU_SHIELD_CGROUP_H

#include <stdbool.h>

/* "folder:/sys/fs/cgroup/benchmark.slice": "present" or "absent". A write makes or removes the
 * folder; -EBUSY when it is to be removed and a program runs in it. */
#define FOLDER_SCHEME "folder"
int folder_read(const char *path, char **ret);
int folder_write(const char *path, const char *text);

/*
 * "cgroup:/sys/fs/cgroup/benchmark.slice/cpuset.cpus": a file of a cgroup. If the cgroup does not
 * exist, the file reads as it would in a new cgroup, so that the journal has an original value; and
 * writing that value does nothing.
 *
 * cpuset.cpus.partition (Documentation/admin-guide/cgroup-v2.rst): a write succeeds even when the
 * kernel refuses the partition; the file then reads "isolated invalid (reason)". A valid partition
 * is not written again, because the kernel would check it anew, and every program could use the
 * CPUs meanwhile. If the kernel refused because another cgroup may use the CPUs,
 * cpuset.cpus.exclusive is written as well, where that helps.
 */
#define CGROUP_SCHEME "cgroup"
int cgroup_read(const char *path, char **ret);
int cgroup_write(const char *path, const char *text);
/* For all three schemes whose rest is a path. */
bool cgroup_is_ours(const char *path);

/*
 * "watched:/sys/fs/cgroup/benchmark.slice/cpuset.cpus.partition": as above, but systemd writes the
 * file (CPUSetPartition=, from 261 on). A write waits until systemd has written the value, and asks
 * systemd again if it does not, or if the kernel had made the partition invalid. Only the end of a
 * partition is written here, because systemd leaves the file alone when the setting is removed.
 * -EBUSY when the CPUs are to be given back and a program still runs in the cgroup.
 */
#define WATCHED_SCHEME "watched"
int watched_write(const char *path, const char *text);

/* As controller_write() of quiet/engine/controller.h where there is no systemd. systemd writes that
 * file as its units need it: then a write only waits for it, and gives -EBUSY when it does not
 * change. */
int awaited_controller_write(const char *name, const char *text);

#endif
