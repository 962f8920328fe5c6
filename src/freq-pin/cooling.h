/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Cooling devices: what the kernel uses to make a CPU slower while it is too hot. They ask for a
 * maximum of their own, so that scaling_max_freq shows less than what a person has asked for
 * (drivers/thermal/cpufreq_cooling.c, drivers/acpi/processor_thermal.c;
 * Documentation/driver-api/thermal/sysfs-api.rst).
 */
#ifndef QUIESCE_FREQ_PIN_COOLING_H
#define QUIESCE_FREQ_PIN_COOLING_H

#include <stdbool.h>

/* Whether a cooling device is at work that limits the policy. Some do not tell which CPU is theirs
 * ("Processor" of ACPI, "thermal-cpufreq-0" of kernels before 5.12): these count for all. */
bool cooling_limits_policy(int policy);

#endif
