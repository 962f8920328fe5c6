/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The temperature of the package that a CPU belongs to, from the kernel's hwmon chips
 * (Documentation/hwmon/sysfs-interface.rst). libsensors finds the chip and its limits once, when
 * the reader is opened; from then on nothing of it is left in the process, and a reading is one
 * pread(2) on the sensor's own file. Its configuration files are not used: what they can do is to
 * rename and to rescale sensors of the mainboard.
 *
 * A reading is not free for the machine: coretemp interrupts a CPU of the package to read its
 * register, at most once a second and sensor (drivers/hwmon/coretemp.c). So the package is read and
 * not its cores, and never inside of what is measured.
 */
#ifndef QUIESCE_MACHINE_THERMAL_H
#define QUIESCE_MACHINE_THERMAL_H

#include <stdbool.h>

#include "basic/cleanup.h"

struct thermal;

struct thermal_info {
	const char *chip;  /* "coretemp" */
	const char *label; /* "Package id 0", "Tctl"; the file's name where it has no label */
	/* Limits in degrees Celsius, NAN where there is none: the one from which the sensor counts
	 * as hot, and the one where the hardware steps in. */
	double high;
	double critical;
};

/*
 * A reader for the package of a CPU. Taken is the first that there is of:
 *	coretemp "Package id N"		Intel; N is the CPU's physical_package_id
 *	k10temp, zenpower "Tdie"	AMD: the temperature itself
 *	k10temp, zenpower "Tctl"	AMD: what the fan is controlled by, on some parts with
 *					an offset
 *	coretemp "Core N"		Intel before there was a package sensor: the first
 *					core's
 *	cpu*thermal			Arm and others (drivers/thermal/thermal_hwmon.c)
 *	soc*thermal
 *	acpitz				some zone of the firmware's, often not the CPU at all
 * Of several packages none is taken that is known to be another one.
 * -ENOENT when there is no such sensor, which is normal in a virtual machine. -EOPNOTSUPP when the
 * build has no libsensors, -EIO when it does not get along with this kernel.
 */
int thermal_open(int cpu, struct thermal **ret);
void thermal_free(struct thermal *thermal);

DEFINE_CLEANUP(thermal, thermal_free);

/* What was found; lives as long as the reader. */
const struct thermal_info *thermal_get_info(const struct thermal *thermal);

/* Degrees Celsius. The driver's errno where it has no value at this moment. */
int thermal_read(const struct thermal *thermal, double *ret_celsius);

/* How good a sensor is by the list above: higher is better, 0 is no sensor of a CPU. `package` is
 * the CPU's, negative when unknown. *ret_foreign: it may be that of another package. */
int thermal_rank(const char *chip, const char *label, int package, bool *ret_foreign);

#endif
