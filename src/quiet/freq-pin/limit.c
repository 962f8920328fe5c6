// SPDX-License-Identifier: GPL-2.0-or-later
#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/parse.h"
#include "base/text.h"
#include "quiet/engine/knob.h"
#include "quiet/freq-pin/limit.h"
#include "quiet/freq-pin/policies.h"

#define DEVICES "/sys/class/thermal/cooling_device*"

/* Whether a cooling device of this type may limit the policy. */
static bool is_of_policy(const char *type, int policy)
{
	static const char named[] = "cpufreq-cpu";
	int cpu, of;

	if (text_starts_with(type, named) &&
		parse_int(type + strlen(named), 0, CPUMASK_CAPACITY - 1, &cpu) == 0 &&
		knob_read_policy(cpu, &of) == 0)
		return of == policy;
	return strcmp(type, "Processor") == 0 || text_starts_with(type, "thermal-cpufreq-");
}

static bool limits_policy(const char *device, int policy)
{
	char path[128], type[FILE_ATTR_SIZE];
	uint64_t state;

	snprintf(path, sizeof(path), "%s/cur_state", device);
	if (file_read_attr_u64(AT_FDCWD, path, &state) < 0 || state == 0)
		return false;
	snprintf(path, sizeof(path), "%s/type", device);
	return file_read_attr(AT_FDCWD, path, type, sizeof(type)) >= 0 &&
		is_of_policy(type, policy);
}

/* Whether a cooling device is at work that limits the policy. Some do not tell which CPU is theirs
 * ("Processor" of ACPI, "thermal-cpufreq-0" of kernels before 5.12): these count for all. */
static bool is_cooled(int policy)
{
	glob_t found = { 0 };
	bool limits = false;

	if (glob(DEVICES, GLOB_NOSORT, NULL, &found) == 0) {
		for (size_t i = 0; i < found.gl_pathc && !limits; i++)
			limits = limits_policy(found.gl_pathv[i], policy);
	}
	globfree(&found);
	return limits;
}

uint64_t limit_read_beside(const char *path, const char *name)
{
	char beside[POLICY_PATH_SIZE];
	uint64_t value;

	snprintf(beside, sizeof(beside), "%.*s/%s", (int)(strrchr(path, '/') - path), path, name);
	return file_read_attr_u64(AT_FDCWD, beside, &value) == 0 ? value : 0;
}

bool limit_is_none(const char *path, const char *value)
{
	int policy = knob_find_policy(path);
	uint64_t khz, hardware, firmware = 0;

	if (policy < 0 || !text_ends_with(path, "/scaling_max_freq") ||
		parse_attr_u64(value, &khz) < 0)
		return false;
	hardware = limit_read_beside(path, "cpuinfo_max_freq");
	if (khz < hardware)
		firmware = limit_read_beside(path, "bios_limit");
	return hardware > 0 &&
		(khz >= hardware || (firmware > 0 && khz >= firmware) || is_cooled(policy));
}

static bool is_limit(const char *path)
{
	return text_ends_with(path, "/scaling_max_freq") ||
		text_ends_with(path, "/scaling_min_freq");
}

bool limit_is_throttled(const char *path)
{
	int policy = knob_find_policy(path);

	return policy >= 0 && is_limit(path) && is_cooled(policy);
}

bool limit_is_clamped(const char *path, const char *set, const char *now)
{
	uint64_t was, is, on;

	if (knob_find_policy(path) < 0 || parse_attr_u64(set, &was) < 0 ||
		parse_attr_u64(now, &is) < 0 || is >= was)
		return false;
	if (text_ends_with(path, "/boost") || text_ends_with(path, "/cpb"))
		return file_read_attr_u64(AT_FDCWD, GLOBAL_BOOST, &on) == 0 && on == 0;
	return is_limit(path) && is == limit_read_beside(path, "cpuinfo_max_freq");
}
