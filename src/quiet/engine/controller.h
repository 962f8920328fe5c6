/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A controller of cgroup v2, and whether the cgroups below the root have it: cgroup.subtree_control
 * of the root. As a knob it is "controller:NAME" with the values below.
 */
#ifndef QUIESCE_QUIET_ENGINE_CONTROLLER_H
#define QUIESCE_QUIET_ENGINE_CONTROLLER_H

#include <stdbool.h>

#define CONTROLLER_SCHEME "controller"
#define CONTROLLER_NAME "cpuset" /* the one that setters turn */
#define CONTROLLER_KNOB CONTROLLER_SCHEME ":" CONTROLLER_NAME
#define CONTROLLER_ENABLED "enabled"
#define CONTROLLER_DISABLED "disabled"

/* -ENOENT where there is no cgroup v2. */
int controller_read(const char *name, char **ret);
/* Writes that file, also where systemd writes it as its units need it. -EBUSY when the controller
 * is to be disabled, and a cgroup hands it down further. */
int controller_write(const char *name, const char *text);
/* Whether it is CONTROLLER_NAME. */
bool controller_is_ours(const char *name);

#endif
