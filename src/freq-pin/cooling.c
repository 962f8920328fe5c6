// SPDX-License-Identifier: GPL-2.0-or-later
#include <fcntl.h>
#include <glob.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "basic/file.h"
#include "basic/parse.h"
#include "basic/text.h"
#include "freq-pin/cooling.h"
#include "knob/knob.h"

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

bool cooling_limits_policy(int policy)
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
