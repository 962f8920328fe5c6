/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * benchmark.slice as knobs: its settings in systemd, and whether it is active.
 */
#ifndef QUIESCE_QUIET_CPU_SHIELD_SLICE_H
#define QUIESCE_QUIET_CPU_SHIELD_SLICE_H

#include <stdbool.h>

/*
 * "dropin:benchmark.slice": the settings in our drop-in file (base/systemd/dropin.h):
 * "AllowedCPUs=2-3", "AllowedCPUs=2-3 CPUSetPartition=isolated", or what else dropin_read() says.
 */
int slice_write_dropin(const char *unit, const char *text);

/* "slice:benchmark.slice": the ActiveState of the slice. -EBUSY when it is to be stopped and a
 * program runs in it, which systemd would end; an error if that cannot be found out. */
#define SLICE_SCHEME "slice"
int slice_read(const char *unit, char **ret);
int slice_write(const char *unit, const char *text);
/* For both schemes. */
bool slice_is_ours(const char *unit);

/* Whether systemd can make the slice a partition (CPUSetPartition=): 1, 0, or an error. Where
 * systemd cannot be reached, *ret_why is a phrase that says so, a static string. */
int slice_can_partition(const char *unit, const char **ret_why);

#endif
