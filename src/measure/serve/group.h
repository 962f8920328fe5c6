/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A cgroup of its own for a service, below the one of this process, where we may make one
 * (Documentation/admin-guide/cgroup-v2.rst). Its cpu.stat tells the CPU time of all processes, also
 * of those that have ended, and needs no controller; cgroup.freeze stops all of them at once.
 *
 * The cgroups of systemd are its own but for those that it has delegated
 * (systemd.resource-control(5), Delegate=): there, root makes none either.
 */
#ifndef QUIESCE_MEASURE_SERVE_GROUP_H
#define QUIESCE_MEASURE_SERVE_GROUP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/cleanup.h"

struct group;

/*
 * Makes it. -EPERM or -EACCES where we may not, -ENOENT where there is no cgroup v2, -ENOMEM, or
 * another error of mkdir(2).
 */
int group_make(struct group **ret);
/* Its folder. */
const char *group_get_folder(const struct group *group);
/* Called by a process before it becomes the service: moves it there. */
int group_enter(const struct group *group);
/* Stops all of its processes, and waits until they have stopped; -ETIME after two seconds. Or lets
 * them go on. */
int group_freeze(const struct group *group, bool freeze);
/* The CPU time of all processes that it has or has had; -1: a part that is not known. */
struct group_cpu {
	int64_t ns;
	int64_t user_ns;
	int64_t system_ns;
};
int group_read_cpu(const struct group *group, struct group_cpu *ret);
/* The lines "usage_usec 12", "user_usec 9" and "system_usec 3" of a cpu.stat. -ENODATA without the
 * first one. */
int group_parse_stat(const char *text, struct group_cpu *ret);
/* Whether the text of a cgroup.events says that it is frozen. */
bool group_is_frozen(const char *text);
/* Kills what is left there (cgroup.kill, since Linux 5.14), removes the folder, and frees. */
void group_free(struct group *group);

DEFINE_CLEANUP(group, group_free);

#endif
