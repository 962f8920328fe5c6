/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * benchmark.slice as knobs: what systemd is told of it, and whether it is active.
 */
#ifndef QUIESCE_CPU_SHIELD_SLICE_H
#define QUIESCE_CPU_SHIELD_SLICE_H

#include <stdbool.h>

/*
 * "dropin:benchmark.slice": what stands in a file of ours in /run/systemd/system, which systemd has
 * read: "AllowedCPUs=2-3", "AllowedCPUs=2-3 CPUSetPartition=isolated", or "none". "unfinished" when
 * somebody was killed between the two, which any write mends.
 *
 * A file rather than SetUnitProperties(), whose undoing, RevertUnitFiles(), takes away what an
 * administrator has put into /etc for this slice.
 */
#define DROPIN_SCHEME "dropin"
int dropin_read(const char *unit, char **ret);
int dropin_write(const char *unit, const char *text);

/* "slice:benchmark.slice": its ActiveState. Stopped only while nothing runs in it (-EBUSY): systemd
 * would end the programs in there. */
#define SLICE_SCHEME "slice"
int slice_read(const char *unit, char **ret);
int slice_write(const char *unit, const char *text);
/* Also of the drop-in. */
bool slice_is_ours(const char *unit);

/* Whether systemd can make it a partition itself (CPUSetPartition=): 1, 0, or an error with a
 * phrase of what failed in *ret_why (never freed). */
int slice_can_partition(const char *unit, const char **ret_why);

#endif
