/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether the machine runs on a battery (Documentation/ABI/testing/sysfs-class-power). On battery
 * the firmware limits frequencies whatever cpufreq says.
 */
#ifndef QUIESCE_MACHINE_POWER_H
#define QUIESCE_MACHINE_POWER_H

enum power_source {
	POWER_NONE, /* the kernel knows of no supply: a desktop, a server, a virtual machine */
	POWER_AC,
	POWER_BATTERY,
	POWER_UNKNOWN, /* there is a supply that does not tell what matters */
};

/*
 * AC when any supply of type Mains, USB or Wireless is online (1, or 2: programmable), or when no
 * battery is being discharged: ports that could supply and do not are common. Batteries of mice
 * and the like (scope Device) do not count. UNKNOWN where a file of a supply that would decide it
 * is there and cannot be read, or a battery has no word on what it does.
 */
enum power_source power_read_source(void);

#endif
