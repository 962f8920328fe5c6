// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/machine/cpufreq.h"
#include "base/machine/cpupower.h"
#include "base/macro.h"
#include "base/parse.h"

#define INTEL "/sys/devices/system/cpu/intel_pstate/"
#define BOOST "/sys/devices/system/cpu/cpufreq/boost"

/* cpuN/cpufreq is a link to the policy's directory. */
const char *cpufreq_path(int cpu, const char *file, char buf[static CPUFREQ_PATH_SIZE])
{
	snprintf(buf, CPUFREQ_PATH_SIZE, "/sys/devices/system/cpu/cpu%d/cpufreq/%s", cpu, file);
	return buf;
}

static int read_policy_attr(int cpu, const char *name, char *buf, size_t size)
{
	char path[CPUFREQ_PATH_SIZE];

	return file_read_attr(AT_FDCWD, cpufreq_path(cpu, name, path), buf, size);
}

static void read_policy_word(int cpu, const char *name, char ret[CPUPOWER_NAME_SIZE])
{
	char word[CPUPOWER_NAME_SIZE];

	if (read_policy_attr(cpu, name, word, sizeof(word)) <= 0 || !cpupower_is_word(word))
		word[0] = '\0';
	memcpy(ret, word, sizeof(word));
}

static uint64_t read_policy_khz(int cpu, const char *name)
{
	char text[32];
	uint64_t khz;

	if (read_policy_attr(cpu, name, text, sizeof(text)) < 0 || parse_attr_u64(text, &khz) < 0)
		return 0;
	return khz;
}

uint64_t cpufreq_compute_base(
	uint64_t min_khz, uint64_t max_khz, uint64_t num_pstates, uint64_t turbo_pct)
{
	enum {
		STEP = 100000, /* kHz: core_get_scaling() */
		STATES_MAX = 1000,
	};
	uint64_t n, range = max_khz - min_khz;

	if (num_pstates < 2 || num_pstates > STATES_MAX || turbo_pct > 100 || max_khz <= min_khz)
		return 0;
	/* turbo_pct is 100 less the rounded share of those without turbo. */
	n = ((100 - turbo_pct) * num_pstates + 99) / 100;
	if (n < 1 || n > num_pstates)
		return 0;
	if (range == (n - 1) * STEP && n < num_pstates)
		return max_khz;
	return range % (num_pstates - 1) == 0 ? min_khz + range / (num_pstates - 1) * (n - 1) : 0;
}

/* 0 where the driver is another one, or does not tell. */
static uint64_t read_intel_base(const struct cpufreq_policy_info *info)
{
	uint64_t states, turbo;

	if ((strcmp(info->driver, "intel_pstate") != 0 &&
		    strcmp(info->driver, "intel_cpufreq") != 0) ||
		file_read_attr_u64(AT_FDCWD, INTEL "num_pstates", &states) < 0 ||
		file_read_attr_u64(AT_FDCWD, INTEL "turbo_pct", &turbo) < 0)
		return 0;
	return cpufreq_compute_base(info->hardware_min_khz, info->hardware_max_khz, states, turbo);
}

int cpufreq_read_policy(int cpu, struct cpufreq_policy_info *ret)
{
	struct cpufreq_policy_info info = { 0 };
	struct cpupower_limits limits;
	int r;

	r = cpupower_read_driver(cpu, info.driver);
	if (r == 0)
		r = cpupower_read_limits(cpu, &limits);
	if (r < 0)
		return r;
	memcpy(info.governor, limits.governor, sizeof(info.governor));
	info.min_khz = limits.min_khz;
	info.max_khz = limits.max_khz;
	info.hardware_min_khz = limits.hardware_min_khz;
	info.hardware_max_khz = limits.hardware_max_khz;
	read_policy_word(cpu, "energy_performance_preference", info.epp);
	info.base_khz = read_policy_khz(cpu, "base_frequency");
	if (info.base_khz == 0)
		info.base_khz = read_policy_khz(cpu, "cpuinfo_nominal_freq");
	if (info.base_khz == 0)
		info.base_khz = read_intel_base(&info);
	info.boost = cpufreq_read_boost(cpu, info.driver);
	*ret = info;
	return 0;
}

static int compare_descending(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x < y) - (x > y);
}

bool cpufreq_is_active_driver(const char *driver)
{
	return strcmp(driver, "intel_pstate") == 0 || strcmp(driver, "amd-pstate-epp") == 0;
}

int cpufreq_read_range(int cpu, const char *driver, struct cpufreq_range *ret)
{
	struct cpufreq_range range = { 0 };
	uint64_t highest = 0, mhz;
	char path[128];
	int r;

	r = cpupower_read_table(cpu, false, range.table_khz, CPUFREQ_TABLE_MAX, &range.n_table);
	for (unsigned i = 0; i < range.n_table; i++)
		highest = MAX(highest, range.table_khz[i]);
	if (r == 0)
		r = cpupower_read_table(
			cpu, true, range.table_khz, CPUFREQ_TABLE_MAX, &range.n_table);
	if (r < 0)
		return r;
	qsort(range.table_khz, range.n_table, sizeof(range.table_khz[0]), compare_descending);
	while (range.n_boost < range.n_table && range.table_khz[range.n_boost] > highest)
		range.n_boost++;
	if (strcmp(driver, "acpi-cpufreq") == 0 && range.n_boost == 0 && range.n_table >= 2 &&
		range.table_khz[0] - range.table_khz[1] == 1000)
		range.n_boost = 1;

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/acpi_cppc/nominal_freq", cpu);
	if (file_read_attr_u64(AT_FDCWD, path, &mhz) == 0 && mhz < UINT32_MAX)
		range.nominal_khz = mhz * 1000;
	range.boost_max_khz = read_policy_khz(cpu, "amd_pstate_max_freq");
	range.bios_limit_khz = read_policy_khz(cpu, "bios_limit");
	*ret = range;
	return 0;
}

/* A negative errno, or whether the number in a switch file is not 0. */
static int read_switch(const char *path)
{
	uint64_t value;
	int r;

	r = file_read_attr_u64(AT_FDCWD, path, &value);
	return r < 0 ? r : value != 0;
}

static const char *const policy_switches[] = { "boost", "cpb" };

const char *cpufreq_find_boost_switch(int cpu, char buf[static CPUFREQ_PATH_SIZE])
{
	static const char *const common[] = { INTEL "no_turbo", BOOST };

	for (size_t i = 0; i < ARRAY_SIZE(common); i++)
		if (access(common[i], F_OK) == 0)
			return common[i];
	for (size_t i = 0; i < ARRAY_SIZE(policy_switches); i++)
		if (access(cpufreq_path(cpu, policy_switches[i], buf), F_OK) == 0)
			return buf;
	return NULL;
}

enum cpufreq_boost cpufreq_read_boost(int cpu, const char *driver)
{
	enum cpufreq_boost boost = CPUFREQ_BOOST_UNKNOWN;
	bool is_unread;
	int on;

	if (strcmp(driver, "intel_pstate") == 0 || strcmp(driver, "intel_cpufreq") == 0) {
		/* EAGAIN while intel_pstate/status is off. */
		on = read_switch(INTEL "no_turbo");
		if (on < 0)
			return CPUFREQ_BOOST_UNKNOWN;
		return on ? CPUFREQ_BOOST_OFF : CPUFREQ_BOOST_ON;
	}

	on = read_switch(BOOST);
	if (on == 0)
		return CPUFREQ_BOOST_OFF;
	if (on > 0)
		boost = CPUFREQ_BOOST_ON;
	is_unread = on < 0 && on != -ENOENT;
	for (size_t i = 0; i < ARRAY_SIZE(policy_switches); i++) {
		char path[CPUFREQ_PATH_SIZE];

		on = read_switch(cpufreq_path(cpu, policy_switches[i], path));
		if (on == 0)
			return CPUFREQ_BOOST_OFF;
		if (on > 0)
			boost = CPUFREQ_BOOST_ON;
		is_unread = is_unread || (on < 0 && on != -ENOENT);
	}
	/* The one that cannot be read may be off. */
	return is_unread ? CPUFREQ_BOOST_UNKNOWN : boost;
}

int cpufreq_open_current(int cpu)
{
	char path[CPUFREQ_PATH_SIZE];
	int fd = open(cpufreq_path(cpu, "scaling_cur_freq", path), O_RDONLY | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

int cpufreq_read_current(int fd, uint64_t *ret_khz)
{
	char text[32];
	int r;

	r = file_reread_attr(fd, text, sizeof(text));
	if (r < 0)
		return r;
	return parse_attr_u64(text, ret_khz);
}
