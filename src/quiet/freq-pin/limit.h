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

#include <stdbool.h>
#include <stdint.h>

/* The switch of boost for all policies. */
#define GLOBAL_BOOST "/sys/devices/system/cpu/cpufreq/boost"

/* The number in another file of the policy of a file; 0 where there is none. */
uint64_t limit_read_beside(const char *path, const char *name);

/* Whether this is a maximum that does not limit, because it is what the hardware or the firmware
 * allows, or what a cooling device does, which hides what was asked for: at_limit() of struct
 * engine. */
bool limit_is_none(const char *path, const char *value);
/* Whether it is a limit that a cooling device moves at present. */
bool limit_is_throttled(const char *path);
/* Whether a value that was set can show only as `now`: a limit above what the hardware allows at
 * present, or boost of a policy while that of all is off. So it is where a policy whose CPUs were
 * offline comes back after boost was switched off. */
bool limit_is_clamped(const char *path, const char *set, const char *now);

#endif
