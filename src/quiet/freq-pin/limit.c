// SPDX-License-Identifier: GPL-2.0-or-later
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/macro.h"
#include "base/parse.h"
#include "base/paths.h"
#include "base/text.h"
#include "quiet/engine/knob.h"
#include "quiet/freq-pin/limit.h"
#include "quiet/freq-pin/policies.h"

#define DEVICES "/sys/class/thermal"

/* Of reading a file that need not be there. */
static int only_ours(int r)
{
	return r < 0 && errno_is_ours(-r) ? r : 0;
}

/* Whether a cooling device of this type may limit the policy. */
static int is_of_policy(const char *type, int policy)
{
	static const char named[] = "cpufreq-cpu";
	int cpu, of, r;

	if (text_starts_with(type, named) &&
		parse_int(type + strlen(named), 0, CPUMASK_CAPACITY - 1, &cpu) == 0) {
		r = knob_read_policy(cpu, &of);
		if (r == 0)
			return of == policy;
		if (only_ours(r) < 0)
			return r;
	}
	return strcmp(type, "Processor") == 0 || text_starts_with(type, "thermal-cpufreq-");
}

static int limits_policy(const char *device, int policy)
{
	char path[128], type[FILE_ATTR_SIZE];
	uint64_t state;
	int r;

	snprintf(path, sizeof(path), "%s/cur_state", device);
	r = file_read_attr_u64(AT_FDCWD, path, &state);
	if (r < 0 || state == 0)
		return only_ours(r);
	snprintf(path, sizeof(path), "%s/type", device);
	r = file_read_attr(AT_FDCWD, path, type, sizeof(type));
	return r < 0 ? only_ours(r) : is_of_policy(type, policy);
}

/* Whether a cooling device is at work that limits the policy. Some do not tell which CPU is theirs
 * ("Processor" of ACPI, "thermal-cpufreq-0" of kernels before 5.12): these count for all. */
static int is_cooled(int policy)
{
	_cleanup_paths_ struct paths found = { 0 };
	int r = only_ours(paths_list(DEVICES, "cooling_device*", NULL, &found));

	for (size_t i = 0; r == 0 && i < found.n; i++)
		r = limits_policy(found.items[i], policy);
	return r;
}

int limit_read_beside(const char *path, const char *name, uint64_t *ret)
{
	char beside[POLICY_PATH_SIZE];
	uint64_t value = 0;
	int r;

	snprintf(beside, sizeof(beside), "%.*s/%s", (int)(strrchr(path, '/') - path), path, name);
	r = only_ours(file_read_attr_u64(AT_FDCWD, beside, &value));
	if (r == 0)
		*ret = value;
	return r;
}

int limit_is_none(const char *path, const char *value)
{
	int policy = knob_find_policy(path), r;
	uint64_t khz, hardware, firmware = 0;

	if (policy < 0 || !text_ends_with(path, "/scaling_max_freq") ||
		parse_attr_u64(value, &khz) < 0)
		return 0;
	r = limit_read_beside(path, "cpuinfo_max_freq", &hardware);
	if (r == 0 && khz < hardware)
		r = limit_read_beside(path, "bios_limit", &firmware);
	if (r < 0)
		return r;
	if (hardware == 0 || khz >= hardware || (firmware > 0 && khz >= firmware))
		return hardware > 0;
	return is_cooled(policy);
}

static bool is_limit(const char *path)
{
	return text_ends_with(path, "/scaling_max_freq") ||
		text_ends_with(path, "/scaling_min_freq");
}

int limit_is_throttled(const char *path)
{
	int policy = knob_find_policy(path);

	return policy >= 0 && is_limit(path) ? is_cooled(policy) : 0;
}

int limit_is_clamped(const char *path, const char *set, const char *now)
{
	uint64_t was, is, on = 1, hardware;
	int r;

	if (knob_find_policy(path) < 0 || parse_attr_u64(set, &was) < 0 ||
		parse_attr_u64(now, &is) < 0 || is >= was)
		return 0;
	if (text_ends_with(path, "/boost") || text_ends_with(path, "/cpb")) {
		r = only_ours(file_read_attr_u64(AT_FDCWD, KNOB_GLOBAL_BOOST, &on));
		return r < 0 ? r : on == 0;
	}
	if (!is_limit(path))
		return 0;
	r = limit_read_beside(path, "cpuinfo_max_freq", &hardware);
	return r < 0 ? r : is == hardware;
}
