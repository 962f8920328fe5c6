// SPDX-License-Identifier: GPL-2.0-or-later
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#if HAVE_LIBCPUPOWER
#include <cpufreq.h>
#include <cpuidle.h>
#endif

#include "base/file.h"
#include "base/machine/cpupower.h"
#include "base/macro.h"

enum {
	PATH_SIZE = 128,
};

static const char *make_path(int cpu, const char *file, char buf[static PATH_SIZE])
{
	snprintf(buf, PATH_SIZE, "/sys/devices/system/cpu/cpu%d/%s", cpu, file);
	return buf;
}

bool cpupower_is_word(const char *text)
{
	for (const char *c = text; *c; c++)
		if (*c <= ' ' || *c > '~')
			return false;
	return text[0] != '<';
}

#if HAVE_LIBCPUPOWER
static void copy_word(char ret[static CPUPOWER_NAME_SIZE], const char *word)
{
	if (cpupower_is_word(word))
		snprintf(ret, CPUPOWER_NAME_SIZE, "%s", word);
}

int cpupower_read_driver(int cpu, char ret[static CPUPOWER_NAME_SIZE])
{
	char *driver;

	/* Every policy has this file; reading it fails when the policy cannot be read at all. */
	errno = 0;
	driver = cpufreq_get_driver((unsigned)cpu);
	if (!driver && (errno == ENOENT || errno == EBUSY || errno == ENOMEM))
		return -errno;
	ret[0] = '\0';
	if (!driver)
		return 0;
	copy_word(ret, driver);
	cpufreq_put_driver(driver);
	return 0;
}

/* The kernel has an unsigned int; the library reads "-1" as well. */
static uint64_t take_khz(uint64_t khz)
{
	return khz <= UINT32_MAX ? khz : 0;
}

int cpupower_read_limits(int cpu, struct cpupower_limits *ret)
{
	struct cpupower_limits limits = { 0 };
	struct cpufreq_policy *policy;
	unsigned long min, max;

	errno = 0;
	policy = cpufreq_get_policy((unsigned)cpu);
	if (!policy && errno == ENOMEM)
		return -ENOMEM;
	if (policy) {
		limits.min_khz = take_khz(policy->min);
		limits.max_khz = take_khz(policy->max);
		copy_word(limits.governor, policy->governor);
		cpufreq_put_policy(policy);
	}

	errno = 0;
	if (cpufreq_get_hardware_limits((unsigned)cpu, &min, &max) == 0) {
		limits.hardware_min_khz = take_khz(min);
		limits.hardware_max_khz = take_khz(max);
	}
	*ret = limits;
	return 0;
}

int cpupower_read_table(int cpu, bool boost, uint64_t *khz, unsigned size, unsigned *n)
{
	struct cpufreq_available_frequencies *first;

	errno = 0;
	first = boost ? cpufreq_get_boost_frequencies((unsigned)cpu)
		      : cpufreq_get_available_frequencies((unsigned)cpu);
	if (!first)
		return errno == ENOMEM ? -ENOMEM : 0;
	for (const struct cpufreq_available_frequencies *f = first; f && *n < size; f = f->next)
		if (take_khz(f->frequency) > 0)
			khz[(*n)++] = f->frequency;
	if (boost)
		cpufreq_put_boost_frequencies(first);
	else
		cpufreq_put_available_frequencies(first);
	return 0;
}

int cpupower_read_related(int cpu, struct cpumask **ret)
{
	_cleanup_(cpumask) struct cpumask *cpus = NULL;
	struct cpufreq_affected_cpus *first;
	int r;

	r = cpumask_new(&cpus);
	if (r < 0)
		return r;
	errno = 0;
	first = cpufreq_get_related_cpus((unsigned)cpu);
	if (!first)
		return errno == ENOMEM ? -ENOMEM : -ENOENT;
	for (const struct cpufreq_affected_cpus *c = first; r == 0 && c; c = c->next)
		r = cpumask_set(cpus, (int)c->cpu);
	cpufreq_put_related_cpus(first);
	if (r < 0)
		return r == -ENOMEM ? r : -ENOENT;
	*ret = TAKE_PTR(cpus);
	return 0;
}

/* A 0 of the library is a zero, a failure, or a text that is no number, and "-1" is a huge number
 * to it: the file tells which. */
static int confirm(
	int cpu, unsigned state, const char *file, unsigned long long value, uint64_t *ret)
{
	char path[PATH_SIZE], name[64];

	if (value == 0 || value > INT64_MAX) {
		snprintf(name, sizeof(name), "cpuidle/state%u/%s", state, file);
		return file_read_attr_u64(AT_FDCWD, make_path(cpu, name, path), ret);
	}
	*ret = value;
	return 0;
}

int cpupower_read_idle_state(int cpu, unsigned index, struct cpupower_idle_state *ret)
{
	struct cpupower_idle_state state = { 0 };
	uint64_t disabled = 0;
	char *name;
	int r, is;

	errno = 0;
	r = confirm(cpu, index, "latency", cpuidle_state_latency((unsigned)cpu, index),
		&state.latency_us);
	if (r < 0)
		return r;

	errno = 0;
	name = cpuidle_state_name((unsigned)cpu, index);
	if (!name && errno != 0 && errno != ENOENT)
		return -errno;
	if (name)
		r = snprintf(state.name, sizeof(state.name), "%s", name);
	free(name);
	if (r >= (int)sizeof(state.name))
		return -EFBIG;

	errno = 0;
	is = cpuidle_is_state_disabled((unsigned)cpu, index);
	r = confirm(cpu, index, "disable", is > 0 ? (unsigned long long)is : 0, &disabled);
	state.disabled_unread = r < 0 && r != -ENOENT;
	state.disabled = disabled != 0;
	*ret = state;
	return 0;
}

int cpupower_read_idle_usage(int cpu, unsigned index, uint64_t *ret)
{
	uint64_t usage;
	int r;

	errno = 0;
	r = confirm(cpu, index, "usage", cpuidle_state_usage((unsigned)cpu, index), &usage);
	if (r < 0 || usage > INT64_MAX)
		return r < 0 ? r : -ERANGE;
	*ret = usage;
	return 0;
}
#else /* !HAVE_LIBCPUPOWER */
/* A machine that has nothing to read is no worse off without the library. */
static int find_why(int cpu, const char *file)
{
	char path[PATH_SIZE];

	return access(make_path(cpu, file, path), F_OK) < 0 && errno == ENOENT ? -ENOENT
									       : -EOPNOTSUPP;
}

int cpupower_read_driver(int cpu, char ret[static CPUPOWER_NAME_SIZE] _unused_)
{
	return find_why(cpu, "cpufreq/scaling_driver");
}

int cpupower_read_limits(int cpu _unused_, struct cpupower_limits *ret _unused_)
{
	return -EOPNOTSUPP;
}

int cpupower_read_table(int cpu _unused_, bool boost _unused_, uint64_t *khz _unused_,
	unsigned size _unused_, unsigned *n _unused_)
{
	return -EOPNOTSUPP;
}

int cpupower_read_related(int cpu, struct cpumask **ret _unused_)
{
	return find_why(cpu, "cpufreq/related_cpus");
}

int cpupower_read_idle_state(
	int cpu _unused_, unsigned index _unused_, struct cpupower_idle_state *ret _unused_)
{
	return -EOPNOTSUPP;
}

int cpupower_read_idle_usage(int cpu _unused_, unsigned index _unused_, uint64_t *ret _unused_)
{
	return -EOPNOTSUPP;
}
#endif
