/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The temperature of the package that a CPU belongs to, from the kernel's hwmon chips
 * (Documentation/hwmon/sysfs-interface.rst). libsensors finds the chip and its limits once, when
 * the reader is opened; then it is released, and a reading is one pread(2) of the sensor's file.
 * libsensors' configuration files are not used: they only rename and rescale sensors of the
 * mainboard.
 *
 * A reading disturbs the machine: coretemp interrupts a CPU of the package to read its register, at
 * most once a second per sensor (drivers/hwmon/coretemp.c). So only the package's sensor is read,
 * not those of the cores, and never during a measurement.
 */
#ifndef QUIESCE_BASE_MACHINE_THERMAL_H
#define QUIESCE_BASE_MACHINE_THERMAL_H

#include <stdbool.h>

#include "base/cleanup.h"

struct thermal;

struct thermal_info {
	const char *chip;  /* "coretemp" */
	const char *label; /* "Package id 0", "Tctl"; the file's name where there is no label */
	const char *path;  /* "/sys/class/hwmon/hwmon1/temp1_input" */
	/* Limits in degrees Celsius, NAN where there is none: the temperature from which the sensor
	 * counts as hot, and the one at which the hardware intervenes. */
	double high;
	double critical;
};

/*
 * A reader for the package of a CPU. It takes the first existing sensor of this list:
 *	coretemp "Package id N"		Intel; N is the CPU's physical_package_id
 *	k10temp, zenpower "Tdie"	AMD: the real temperature
 *	k10temp, zenpower "Tctl"	AMD: the value that controls the fan, on some parts
 *					with an offset
 *	coretemp "Core N"		Intel before the package sensor: the first core
 *	cpu*thermal			Arm and others (drivers/thermal/thermal_hwmon.c)
 *	soc*thermal
 *	acpitz				a zone of the firmware, often not the CPU at all
 * With several packages, a sensor that is known to belong to another package is not taken. -ENOENT
 * when there is no such sensor, which is normal in a virtual machine. -EOPNOTSUPP when the build
 * has no libsensors, -EIO when libsensors fails on this kernel.
 */
int thermal_open(int cpu, struct thermal **ret);
void thermal_free(struct thermal *thermal);

DEFINE_CLEANUP(thermal, thermal_free);

/* What was found; valid as long as the reader. */
const struct thermal_info *thermal_get_info(const struct thermal *thermal);

/* Degrees Celsius. The driver's errno where it has no value at this moment. */
int thermal_read(const struct thermal *thermal, double *ret_celsius);

/* The rank of a sensor in the list above: higher is better, 0 is not a sensor of a CPU. `package`
 * is the CPU's, negative when unknown. *ret_foreign: the sensor may belong to another package. */
int thermal_rank(const char *chip, const char *label, int package, bool *ret_foreign);

#endif
