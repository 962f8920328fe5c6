/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kernel's clock source, by its name in
 * /sys/devices/system/clocksource/clocksource0/current_clocksource. */
#ifndef QUIESCE_BASE_MACHINE_CLOCKSOURCE_H
#define QUIESCE_BASE_MACHINE_CLOCKSOURCE_H

#include <stdbool.h>

/* Whether a reading takes a system call and, when the clock source is a separate chip, about a
 * microsecond. A counter of the CPU (tsc, arch_sys_counter) takes 20 to 40 ns.
 * Documentation/timers/timekeeping.rst; drivers/clocksource/acpi_pm.c; kernel/time/jiffies.c. */
bool clocksource_is_slow(const char *name);

#endif
