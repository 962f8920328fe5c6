/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a file of cpufreq shows, and what that says of what somebody has asked for. A limit shows
 * the least that all who limit the frequency leave: the hardware, whose maximum depends on boost;
 * the firmware; and cooling devices, which the kernel uses to make a CPU slower while it is too hot
 * (drivers/thermal/cpufreq_cooling.c, drivers/acpi/processor_thermal.c;
 * Documentation/driver-api/thermal/sysfs-api.rst).
 */
#ifndef QUIESCE_QUIET_FREQ_PIN_LIMIT_H
#define QUIESCE_QUIET_FREQ_PIN_LIMIT_H

#include <stdint.h>

/*
 * These return 1, 0, or an error of this process (errno_is_ours()): what is not found out for
 * lack of memory is not "no". A file or a cooling device that the kernel does not let be read
 * counts as one that is not there.
 */

/* The number in another file of the policy of a file, 0 where there is none; 0 or an error. */
int limit_read_beside(const char *path, const char *name, uint64_t *ret);

/* Whether this is a maximum that does not limit, because it is what the hardware or the firmware
 * allows, or what a cooling device does, which hides what was asked for: at_limit() of struct
 * engine. */
int limit_is_none(const char *path, const char *value);
/* Whether it is a limit that a cooling device moves at present. */
int limit_is_throttled(const char *path);
/* Whether a value that was set can show only as `now`: a limit above what the hardware allows at
 * present, or boost of a policy while that of all is off. So it is where a policy whose CPUs were
 * offline comes back after boost was switched off. */
int limit_is_clamped(const char *path, const char *set, const char *now);

#endif
