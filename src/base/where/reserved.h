/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The CPUs that cpu-shield keeps in an exclusive cpuset of cgroup v1, where systemd and Debian
 * mount that hierarchy. All programs that were in the root cpuset are in another one then, which
 * lacks these CPUs.
 *
 * The last step in making the shield, and the first in ending it, is to let everybody write
 * cgroup.procs of the exclusive cpuset, or not: so this tells whether the shield is whole. Whoever
 * may write it can move his own processes there, and no others (cgroup1_procs_write() in
 * kernel/cgroup/cgroup-v1.c).
 */
#ifndef QUIESCE_BASE_WHERE_RESERVED_H
#define QUIESCE_BASE_WHERE_RESERVED_H

#include "base/machine/cpumask.h"
#include "base/where/running.h"

#define RESERVED_ROOT "/sys/fs/cgroup/cpuset"
#define RESERVED_CPUSET RESERVED_ROOT "/" TARGET_SLICE
#define RESERVED_OTHERS RESERVED_ROOT "/quiesce-others"
/* A process that writes "0" to it is moved onto the CPUs. */
#define RESERVED_DOOR RESERVED_CPUSET "/cgroup.procs"

/* -ENOENT when there is no such shield, or only a part of it; other errors of reading. */
int reserved_read_cpus(struct cpumask **ret);

#endif
