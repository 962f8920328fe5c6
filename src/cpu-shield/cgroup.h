/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Cgroups as knobs: folders that come and go, the files in them, and the controller that gives
 * these files. See the table in knob.h: schemes of a backend.
 */
#ifndef QUIESCE_CPU_SHIELD_CGROUP_H
#define QUIESCE_CPU_SHIELD_CGROUP_H

#include <stdbool.h>

/* "folder:/sys/fs/cgroup/benchmark.slice": "present" or "absent". Written, it is made or removed,
 * which only works while nothing runs in it (-EBUSY). */
#define FOLDER_SCHEME "folder"
int folder_read(const char *path, char **ret);
int folder_write(const char *path, const char *text);

/*
 * "cgroup:/sys/fs/cgroup/benchmark.slice/cpuset.cpus": a file of a cgroup that need not be there
 * yet, or any more. Such a file has the value that it has in a new cgroup, so that what it was
 * before the cgroup was made can be written down like everything else. Writing that value to a file
 * that is not there does nothing.
 *
 * cpuset.cpus.partition (Documentation/admin-guide/cgroup-v2.rst): a write succeeds even when the
 * kernel refuses, and then reads "isolated invalid (reason)". Written while it is right, it would
 * be checked anew, and the CPUs be everybody's meanwhile: it is not written then. Where it was
 * refused because another cgroup may use these CPUs, cpuset.cpus.exclusive is written as well, if
 * that helps.
 */
#define CGROUP_SCHEME "cgroup"
int cgroup_read(const char *path, char **ret);
int cgroup_write(const char *path, const char *text);
/* Also of folders, and of what is watched. */
bool cgroup_is_ours(const char *path);

/*
 * "watched:/sys/fs/cgroup/benchmark.slice/cpuset.cpus.partition": as above, but written by systemd
 * (CPUSetPartition=, from 261 on): to write it is to wait until systemd has, which is asked once
 * more where it does not, or where the kernel had given a partition up. Only the end of a partition
 * is written here: systemd does not write that when it is no longer told anything. -EBUSY when CPUs
 * are to go and do not, for a program still runs there.
 */
#define WATCHED_SCHEME "watched"
int watched_write(const char *path, const char *text);

/*
 * "controller:cpuset": whether the root hands that controller down, "enabled" or "disabled".
 * systemd does that as its units need it: it is waited for, and -EBUSY when it does not come.
 */
#define CONTROLLER_SCHEME "controller"
int controller_read(const char *name, char **ret);
int controller_write(const char *name, const char *text);
bool controller_is_ours(const char *name);

#endif
