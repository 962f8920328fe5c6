// SPDX-License-Identifier: GPL-2.0-or-later
/* Heat and power. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include "base/machine/power.h"
#include "base/machine/thermal.h"
#include "base/machine/throttle.h"
#include "look/isol-check/subjects.h"

#define CPU_DIR "/sys/devices/system/cpu"

enum {
	/* So near to the limit, in degrees, the hardware is likely to throttle during a run. */
	HEADROOM = 10,
};

/* What the sensor of a package tells. */
struct heat {
	double now;	 /* in degrees Celsius */
	double limit;	 /* 0 where the sensor has no limit */
	double headroom; /* up to the limit; INFINITY without one */
};

/* Reads the sensor of the CPU's package, and adds its path where there is one. */
static int read_heat(int cpu, struct finding *f, struct heat *ret)
{
	_cleanup_(thermal) struct thermal *thermal = NULL;
	const struct thermal_info *info;
	struct heat heat = { 0 };
	int r;

	r = xcheck(thermal_open(cpu, &thermal));
	if (r < 0)
		return r;
	info = thermal_get_info(thermal);
	finding_add_path(f, "%s", info->path);
	r = xcheck(thermal_read(thermal, &heat.now));
	if (r < 0)
		return r;
	/* What coretemp calls the maximum is where the fan is to run at full speed
	 * (Documentation/hwmon/coretemp.rst): the hardware does not get slower there. */
	heat.limit = isnan(info->critical) ? info->high : info->critical;
	if (isnan(heat.limit) || heat.limit < 0)
		heat.limit = 0;
	heat.headroom = heat.limit > 0 ? heat.limit - heat.now : INFINITY;
	*ret = heat;
	return 0;
}

/* Moves those CPUs from `left` to `ret` that are in the package of its first CPU. */
static void take_package(const struct topology *topology, struct cpumask *left, struct cpumask *ret)
{
	int package = topology_get_cpu(topology, cpumask_first(left))->package;

	cpumask_clear_all(ret);
	cpumask_for_each (cpu, left) {
		if (topology_get_cpu(topology, cpu)->package != package)
			continue;
		(void)cpumask_set(ret, cpu);
		cpumask_clear(left, cpu);
	}
}

/* Finds the package that is nearest to its limit. *ret_cpus: the checked CPUs of this package;
 * empty where no sensor can be read. */
static void find_hottest(struct host *host, struct finding *f, struct heat *ret,
	struct cpumask *ret_cpus, struct cpumask *unseen)
{
	_cleanup_(cpumask) struct cpumask *left = host_new_mask(), *cpus = host_new_mask();
	const struct topology *topology = host_topology(host);

	/* The package of an offline CPU is not told. */
	cpumask_and(left, host_cpus(host), topology->online);
	while (!cpumask_is_empty(left)) {
		struct heat heat;

		take_package(topology, left, cpus);
		if (read_heat(cpumask_first(cpus), f, &heat) < 0) {
			cpumask_or(unseen, unseen, cpus);
		} else if (cpumask_is_empty(ret_cpus) || heat.headroom < ret->headroom) {
			*ret = heat;
			cpumask_assign(ret_cpus, cpus);
		}
	}
}

static void look_at_temperature(struct host *host, struct finding *f)
{
	_cleanup_(cpumask) struct cpumask *cpus = host_new_mask(), *unseen = host_new_mask();
	_cleanup_free_ char *list = NULL, *where = NULL;
	struct heat heat = { 0 };
	bool all;

	find_hottest(host, f, &heat, cpus, unseen);
	if (cpumask_is_empty(cpus)) {
		if (f->path.length == 0)
			finding_add(f, host_hypervisor(host) ? VERDICT_INFO : VERDICT_UNKNOWN,
				host_hypervisor(host) ? "only the host can read it"
						      : "no sensor of the CPU");
		return;
	}
	list = xptr(cpumask_format_list(cpus));
	all = cpumask_equal(cpus, host_cpus(host));
	if (!all)
		finding_set_cpus(f, cpus);
	xcheck(text_format(&where, "%s%s", all ? "" : " at CPU ", all ? "" : list));
	if (heat.limit == 0) {
		finding_add(f, VERDICT_INFO, "%.0f C%s, and no limit is told", heat.now, where);
	} else if (heat.headroom < HEADROOM) {
		finding_add(f, VERDICT_RISK, "%.0f C%s: the limit of %.0f C is near", heat.now,
			where, heat.limit);
		finding_add_fix(f, "let it cool down; runpinned --cooldown waits for it");
	} else {
		finding_add(f, VERDICT_OK, "%.0f C%s, %.0f below the limit", heat.now, where,
			heat.headroom);
	}
	finding_add_unseen(f, unseen, "the temperature");
}

static bool has_count(int cpu)
{
	char path[96];

	snprintf(path, sizeof(path), CPU_DIR "/cpu%d/thermal_throttle/core_throttle_count", cpu);
	return access(path, F_OK) == 0;
}

static void look_at_throttling(struct host *host, struct finding *f)
{
	_cleanup_(cpumask) struct cpumask *unseen = host_new_mask();
	_cleanup_(throttle) struct throttle *throttle = NULL;
	struct throttle_counts counts;
	int r;

	r = xcheck(throttle_open(host_cpus(host), &throttle));
	if (r == -ENOENT) {
		if (host_is_whole(host))
			finding_add(f, VERDICT_INFO, "this machine does not count that");
		return;
	}
	if (r == 0)
		r = xcheck(throttle_read_largest(throttle, &counts));
	finding_add_path(f, CPU_DIR "/cpu%d/thermal_throttle", cpumask_first(host_cpus(host)));
	if (r < 0)
		return;
	/* The counter of the core is checked, because old processors have no counter of the
	 * package. */
	cpumask_for_each (cpu, host_cpus(host))
		if (!has_count(cpu))
			(void)cpumask_set(unseen, cpu);
	finding_add_unseen(f, unseen, "the count");
	if (counts.core == 0 && counts.package == 0) {
		if (cpumask_is_empty(unseen))
			finding_add(f, VERDICT_OK, "never since boot");
		return;
	}
	finding_add(f, VERDICT_RISK,
		"since boot: up to %" PRIu64 " times a core, %" PRIu64 " times a package",
		counts.core, counts.package);
	finding_add_fix(f, "freq-pin -c %s", host_cpus_text(host));
	finding_add_fix(f, "better cooling");
}

static void look_at_supply(struct host *host, struct finding *f)
{
	finding_add_path(f, "/sys/class/power_supply");
	switch (power_read_source()) {
	case POWER_NONE:
		if (host_is_whole(host) && access("/sys/class", F_OK) == 0)
			finding_add(f, VERDICT_OK, "no battery");
		break;
	case POWER_AC:
		finding_add(f, VERDICT_OK, "on mains");
		break;
	case POWER_BATTERY:
		finding_add(f, VERDICT_NOISE, "on battery: the firmware limits the frequency");
		finding_add_fix(f, "plug it in");
		break;
	case POWER_UNKNOWN:
		finding_add(f, VERDICT_UNKNOWN, "a supply does not say whether it supplies");
	}
}

const struct check heat_checks[] = {
	{ "temperature", look_at_temperature,
		"The package's temperature against the limit at which the hardware slows down by\n"
		"itself. Near it, the tenth run is slower than the first. Of several packages,\n"
		"the one that is nearest to its limit.\n"
		"Source: Documentation/hwmon/sysfs-interface.rst; coretemp.rst, k10temp.rst." },
	{ "throttled", look_at_throttling,
		"How often these CPUs slowed down because they were hot, since boot (Intel\n"
		"counts it). A machine that did before will again. Of use is whether the count\n"
		"moves during a run, which runpinned looks at.\n"
		"Source: drivers/thermal/intel/therm_throt.c." },
	{ "power-supply", look_at_supply,
		"On battery the firmware limits power, and with it the frequency, whatever\n"
		"cpufreq says.\n"
		"Source: Documentation/ABI/testing/sysfs-class-power." },
	{ 0 },
};
