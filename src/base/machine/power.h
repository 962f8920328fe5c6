/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether the machine runs on a battery (Documentation/ABI/testing/sysfs-class-power). On battery
 * the firmware limits frequencies whatever cpufreq says.
 */
#ifndef QUIESCE_BASE_MACHINE_POWER_H
#define QUIESCE_BASE_MACHINE_POWER_H

enum power_source {
	POWER_NONE, /* the kernel knows of no supply: a desktop, a server, a virtual machine */
	POWER_AC,
	POWER_BATTERY,
	POWER_UNKNOWN, /* there is a supply that does not tell enough */
};

/*
 * AC when any supply of type Mains, USB or Wireless is online (1, or 2: programmable), or when no
 * battery is being discharged: ports that could supply power, but do not, are common. Batteries of
 * mice and other devices (scope Device) do not count. UNKNOWN where a decisive file of a supply
 * exists and cannot be read, or a battery does not tell its status.
 */
enum power_source power_read_source(void);

#endif
