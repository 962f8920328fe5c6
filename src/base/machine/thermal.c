// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if HAVE_LIBSENSORS
#include <setjmp.h>

#include <sensors/error.h>
#include <sensors/sensors.h>
#endif

#include "base/file.h"
#include "base/machine/cpumask.h"
#include "base/machine/thermal.h"
#include "base/macro.h"
#include "base/parse.h"
#include "base/text.h"

struct thermal {
	int fd;
	char *chip;
	char *label;
	char *path;
	struct thermal_info info;
};

/* Sensors that never occur on the same machine may have the same rank. */
enum {
	RANK_NONE,
	RANK_FIRMWARE,
	RANK_SOC,
	RANK_CPU_ZONE,
	RANK_CORE,
	RANK_CONTROL,
	RANK_DIE,
	RANK_PACKAGE,
};

static bool is_zone(const char *chip, const char *what)
{
	size_t length = strlen(chip);

	return text_starts_with(chip, what) && length >= strlen("thermal") &&
		strcmp(chip + length - strlen("thermal"), "thermal") == 0;
}

int thermal_rank(const char *chip, const char *label, int package, bool *ret_foreign)
{
	static const char package_id[] = "Package id ";
	unsigned id;

	*ret_foreign = false;
	if (strcmp(chip, "coretemp") == 0) {
		if (text_starts_with(label, package_id)) {
			if (parse_uint(label + strlen(package_id), 0, INT_MAX, &id) < 0)
				return RANK_NONE;
			*ret_foreign = package < 0 || id != (unsigned)package;
			return RANK_PACKAGE;
		}
		return text_starts_with(label, "Core ") ? RANK_CORE : RANK_NONE;
	}
	if (strcmp(chip, "k10temp") == 0 || strcmp(chip, "zenpower") == 0) {
		if (strcmp(label, "Tdie") == 0)
			return RANK_DIE;
		/* Parts before Zen have one sensor, without a label. */
		return strcmp(label, "Tctl") == 0 || strcmp(label, "temp1") == 0 ? RANK_CONTROL
										 : RANK_NONE;
	}
	if (is_zone(chip, "cpu"))
		return RANK_CPU_ZONE;
	if (is_zone(chip, "soc"))
		return RANK_SOC;
	return strcmp(chip, "acpitz") == 0 ? RANK_FIRMWARE : RANK_NONE;
}

void thermal_free(struct thermal *thermal)
{
	if (!thermal)
		return;
	if (thermal->fd >= 0)
		close(thermal->fd);
	free(thermal->chip);
	free(thermal->label);
	free(thermal->path);
	free(thermal);
}

const struct thermal_info *thermal_get_info(const struct thermal *thermal)
{
	return &thermal->info;
}

int thermal_read(const struct thermal *thermal, double *ret_celsius)
{
	char text[32];
	int64_t millidegrees;
	int r;

	r = file_reread_attr(thermal->fd, text, sizeof(text));
	if (r < 0)
		return r;
	r = parse_attr_s64(text, &millidegrees);
	if (r < 0)
		return r;
	*ret_celsius = (double)millidegrees / 1000;
	return 0;
}

#if HAVE_LIBSENSORS

enum {
	/* A zone has a handful; the kernel's limit was 31 (6.1). */
	TRIP_POINTS_MAX = 64,
};

static int read_package(int cpu)
{
	char path[128], text[32];
	int64_t package;

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/topology/physical_package_id",
		cpu);
	if (file_read_attr(AT_FDCWD, path, text, sizeof(text)) < 0 ||
		parse_attr_s64(text, &package) < 0 || package < 0 || package > INT_MAX)
		return -1;
	return (int)package;
}

/* Whether a chip on the PCI bus, such as k10temp, is local to CPUs of another package
 * (Documentation/ABI/testing/sysfs-bus-pci: local_cpulist). False when not known. */
static bool is_far_chip(const char *chip_path, int cpu, int package)
{
	_cleanup_(cpumask) struct cpumask *near = NULL;
	char path[PATH_MAX], text[FILE_ATTR_SIZE];

	snprintf(path, sizeof(path), "%s/device/local_cpulist", chip_path);
	if (file_read_attr(AT_FDCWD, path, text, sizeof(text)) < 0 || cpumask_new(&near) < 0 ||
		cpumask_parse_list(text, CPUMASK_CAPACITY, near, NULL) < 0)
		return false;
	if (cpumask_is_empty(near) || cpumask_isset(near, cpu))
		return false;
	return package >= 0 && read_package(cpumask_first(near)) != package;
}

struct choice {
	int rank;
	bool foreign;
	unsigned n_foreign; /* foreign sensors of this rank */
	const sensors_chip_name *chip;
	const sensors_feature *feature;
};

static void consider_sensor(struct choice *choice, int rank, bool foreign,
	const sensors_chip_name *chip, const sensors_feature *feature)
{
	if (rank == RANK_NONE)
		return;
	if (rank == choice->rank) {
		choice->n_foreign += foreign;
		if (foreign || !choice->foreign)
			return;
	} else if (rank < choice->rank) {
		return;
	} else {
		choice->n_foreign = foreign;
	}
	choice->rank = rank;
	choice->foreign = foreign;
	choice->chip = chip;
	choice->feature = feature;
}

static double read_limit(const struct choice *choice, sensors_subfeature_type type)
{
	const sensors_subfeature *subfeature =
		sensors_get_subfeature(choice->chip, choice->feature, type);
	double value;

	if (!subfeature || sensors_get_value(choice->chip, subfeature->number, &value) < 0)
		return NAN;
	/* Firmware without a limit reports 0 or absolute zero. */
	return value > 0 ? value : NAN;
}

/*
 * A hwmon chip of a thermal zone has the zone as its device. hwmon shows the zone's critical trip
 * point as the limit, but not for every zone: for acpitz 6.1 shows it, 6.12 does not
 * (drivers/thermal/thermal_hwmon.c calls get_crit_temp(), which acpi/thermal.c no longer has). So
 * the trip point is read from the zone.
 */
static double read_trip_point(const struct choice *choice)
{
	for (unsigned i = 0; i < TRIP_POINTS_MAX; i++) {
		char path[PATH_MAX], text[FILE_ATTR_SIZE];
		int64_t millidegrees;

		snprintf(path, sizeof(path), "%s/device/trip_point_%u_type", choice->chip->path, i);
		if (file_read_attr(AT_FDCWD, path, text, sizeof(text)) < 0)
			break;
		if (strcmp(text, "critical") != 0)
			continue;
		snprintf(path, sizeof(path), "%s/device/trip_point_%u_temp", choice->chip->path, i);
		if (file_read_attr(AT_FDCWD, path, text, sizeof(text)) < 0 ||
			parse_attr_s64(text, &millidegrees) < 0 || millidegrees <= 0)
			break;
		return (double)millidegrees / 1000;
	}
	return NAN;
}

static int take_choice(const struct choice *choice, struct thermal *thermal)
{
	const sensors_subfeature *input = sensors_get_subfeature(
		choice->chip, choice->feature, SENSORS_SUBFEATURE_TEMP_INPUT);
	int r;

	if (!input)
		return -ENOENT;
	r = text_format(&thermal->path, "%s/%s", choice->chip->path, input->name);
	if (r < 0)
		return r;
	thermal->fd = open(thermal->path, O_RDONLY | O_CLOEXEC);
	if (thermal->fd < 0)
		return -errno;
	thermal->chip = strdup(choice->chip->prefix);
	thermal->label = sensors_get_label(choice->chip, choice->feature);
	if (!thermal->chip || !thermal->label)
		return -ENOMEM;
	thermal->info = (struct thermal_info){ .chip = thermal->chip,
		.label = thermal->label,
		.path = thermal->path,
		.high = read_limit(choice, SENSORS_SUBFEATURE_TEMP_MAX),
		.critical = read_limit(choice, SENSORS_SUBFEATURE_TEMP_CRIT) };
	if (isnan(thermal->info.critical))
		thermal->info.critical = read_trip_point(choice);
	return 0;
}

static int find_sensor(int cpu, struct thermal *thermal)
{
	const sensors_chip_name *chip;
	struct choice choice = { 0 };
	int package = read_package(cpu), chip_number = 0;

	while ((chip = sensors_get_detected_chips(NULL, &chip_number))) {
		const sensors_feature *feature;
		int feature_number = 0;

		while ((feature = sensors_get_features(chip, &feature_number))) {
			_cleanup_free_ char *label = NULL;
			bool foreign;
			int rank;

			if (feature->type != SENSORS_FEATURE_TEMP)
				continue;
			label = sensors_get_label(chip, feature);
			if (!label)
				continue;
			rank = thermal_rank(chip->prefix, label, package, &foreign);
			if (rank != RANK_NONE && !foreign)
				foreign = is_far_chip(chip->path, cpu, package);
			consider_sensor(&choice, rank, foreign, chip, feature);
		}
	}
	/* With a single package its number does not matter. With several foreign packages, no
	 * sensor is better than a wrong one. */
	if (choice.rank == RANK_NONE || (choice.foreign && choice.n_foreign > 1))
		return -ENOENT;
	return take_choice(&choice, thermal);
}

static int search(int cpu, struct thermal *thermal)
{
	FILE *no_configuration;
	int r;

	no_configuration = fopen("/dev/null", "re");
	if (!no_configuration)
		return -errno;
	r = sensors_init(no_configuration);
	fclose(no_configuration);
	if (r != 0)
		return -EIO;
	r = find_sensor(cpu, thermal);
	sensors_cleanup();
	return r;
}

/*
 * libsensors calls its fatal error handler when out of memory, and the handler must not return; the
 * default handler ends the process. longjmp() leaks libsensors' memory but keeps the process alive.
 * libsensors passes no user pointer, so the jump target is in a variable.
 */
static _Thread_local jmp_buf *on_fatal;

static void fatal(_unused_ const char *function, _unused_ const char *message)
{
	longjmp(*on_fatal, 1);
}

static void ignore_parse_error(
	_unused_ const char *message, _unused_ const char *file, _unused_ int line)
{
}

static void ignore_parse_warning(_unused_ const char *message, _unused_ int line)
{
}

static int search_guarded(int cpu, struct thermal *thermal)
{
	jmp_buf jump;
	int r;

	on_fatal = &jump;
	sensors_fatal_error = fatal;
	sensors_parse_error_wfn = ignore_parse_error;
	sensors_parse_error = ignore_parse_warning;
	if (setjmp(jump) == 0)
		r = search(cpu, thermal);
	else
		r = -ENOMEM;
	on_fatal = NULL;
	return r;
}

int thermal_open(int cpu, struct thermal **ret)
{
	_cleanup_(thermal) struct thermal *thermal = NULL;
	int r;

	thermal = calloc(1, sizeof(*thermal));
	if (!thermal)
		return -ENOMEM;
	thermal->fd = -EBADF;
	r = search_guarded(cpu, thermal);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(thermal);
	return 0;
}

#else

int thermal_open(_unused_ int cpu, _unused_ struct thermal **ret)
{
	return -EOPNOTSUPP;
}

#endif
