// SPDX-License-Identifier: GPL-2.0-or-later
/* The frequency of the CPUs, and what controls it. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/machine/cpupower.h"
#include "base/parse.h"
#include "look/isol-check/spread.h"
#include "look/isol-check/subjects.h"

#define CPU_DIR "/sys/devices/system/cpu"
#define NO_TURBO CPU_DIR "/intel_pstate/no_turbo"
#define BOOST CPU_DIR "/cpufreq/boost"

enum {
	/* The tolerance for scaling_cur_freq, which is rounded and sampled. */
	NEAR_PERCENT = 5,
};

/* The values of all CPUs as a text, malloc'd. `show` leaves its buffer "" for a CPU whose value
 * cannot be read; that CPU is added to `unseen`. */
static char *show_all(struct host *host,
	void (*show)(struct host *host, int cpu, char *buf, size_t size), struct cpumask *unseen)
{
	_cleanup_spread_ struct spread spread = { 0 };

	cpumask_for_each (cpu, host_cpus(host)) {
		char buf[FILE_ATTR_SIZE] = "";

		show(host, cpu, buf, sizeof(buf));
		if (*buf)
			spread_add(&spread, cpu, buf);
		else
			(void)cpumask_set(unseen, cpu);
	}
	return spread_format(&spread);
}

static bool is_pinned(const struct cpufreq_policy_info *policy)
{
	return policy->min_khz > 0 && policy->min_khz == policy->max_khz;
}

static void add_policy_path(struct host *host, struct finding *f, const char *file)
{
	finding_add_path(f, CPU_DIR "/cpu%d/cpufreq/%s", cpumask_first(host_cpus(host)), file);
}

static void advise_pin(struct host *host, struct finding *f)
{
	finding_add_fix(f, "freq-pin -c %s", host_cpus_text(host));
}

/* Whether any of the CPUs has a policy that can be read. If not, says so. */
static bool has_policy(struct host *host, struct finding *f)
{
	struct cpufreq_policy_info info;

	cpumask_for_each (cpu, host_cpus(host))
		if (host_policy(host, cpu))
			return true;
	if (xcheck(cpufreq_read_policy(cpumask_first(host_cpus(host)), &info)) == -EOPNOTSUPP)
		finding_add(f, VERDICT_UNKNOWN, "built without libcpupower, which reads cpufreq");
	else if (host_hypervisor(host))
		finding_add(f, VERDICT_UNKNOWN, "no cpufreq: the hypervisor decides");
	else
		finding_add(f, VERDICT_UNKNOWN, "no cpufreq: nothing is known of the frequency");
	return false;
}

static void show_driver(struct host *host, int cpu, char *buf, size_t size)
{
	const struct cpufreq_policy_info *policy = host_policy(host, cpu);

	snprintf(buf, size, "%s", policy ? policy->driver : "");
}

static void look_at_driver(struct host *host, struct finding *f)
{
	static const char *const files[] = { CPU_DIR "/intel_pstate/status",
		CPU_DIR "/amd_pstate/status" };
	_cleanup_(cpumask) struct cpumask *unseen = host_new_mask();
	_cleanup_free_ char *driver = NULL;

	if (!has_policy(host, f))
		return;
	add_policy_path(host, f, "scaling_driver");
	driver = show_all(host, show_driver, unseen);
	if (!*driver)
		return;
	finding_add(f, VERDICT_INFO, "%s", driver);
	finding_add_unseen(f, unseen, "the driver");
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		char mode[FILE_ATTR_SIZE];

		if (host_read_word(files[i], mode) < 0)
			continue;
		finding_add(f, VERDICT_INFO, "mode %s", mode);
		finding_add_path(f, "%s", files[i]);
	}
}

/* The frequency that a policy can hold for long; 0 when unknown. */
static uint64_t sustained_khz(int cpu, const struct cpufreq_policy_info *policy)
{
	struct cpufreq_range range;

	if (policy->base_khz > 0)
		return policy->base_khz;
	if (xcheck(cpufreq_read_range(cpu, policy->driver, &range)) < 0)
		return 0;
	return range.n_boost > 0 && range.n_boost < range.n_table ? range.table_khz[range.n_boost]
								  : range.nominal_khz;
}

/* Whether the limits of a policy allow boost; also true where this is unknown. */
static bool allows_boost(int cpu, const struct cpufreq_policy_info *policy)
{
	struct cpufreq_range range;
	uint64_t sustained;

	/* The highest frequency of an ACPI table includes boost, which the limits do not show: on
	 * AMD it is the nominal frequency, on Intel a marker 1 MHz above that
	 * (drivers/cpufreq/acpi-cpufreq.c). */
	if (strcmp(policy->driver, "acpi-cpufreq") == 0)
		return xcheck(cpufreq_read_range(cpu, policy->driver, &range)) < 0 ||
			range.n_table == 0 || policy->max_khz >= range.table_khz[0];
	sustained = sustained_khz(cpu, policy);
	return sustained == 0 || policy->max_khz > sustained;
}

static void look_at_boost(struct host *host, struct finding *f)
{
	_cleanup_(cpumask) struct cpumask *unseen = host_new_mask();
	bool on = false, off = false, free_to_boost = false, high = false, limit_unknown = false;
	const char *path;
	char buf[CPUFREQ_PATH_SIZE];

	if (!has_policy(host, f))
		return;
	path = cpufreq_find_boost_switch(cpumask_first(host_cpus(host)), buf);
	cpumask_for_each (cpu, host_cpus(host)) {
		const struct cpufreq_policy_info *policy = host_policy(host, cpu);

		if (!policy || policy->boost == CPUFREQ_BOOST_UNKNOWN) {
			(void)cpumask_set(unseen, cpu);
			continue;
		}
		off = off || policy->boost == CPUFREQ_BOOST_OFF;
		if (policy->boost != CPUFREQ_BOOST_ON)
			continue;
		on = true;
		limit_unknown = limit_unknown || policy->max_khz == 0;
		free_to_boost = free_to_boost || !is_pinned(policy);
		high = high || allows_boost(cpu, policy);
	}
	if (path)
		finding_add_path(f, "%s", path);
	if (!on && !off) {
		if (!path && host_is_whole(host))
			finding_add(f, VERDICT_INFO, "no switch for it");
		return;
	}
	finding_add_unseen(f, unseen, "the switch");
	if (!on) {
		finding_add(f, VERDICT_OK, "off");
		return;
	}
	if (limit_unknown)
		finding_add(f, VERDICT_UNKNOWN, "on; whether the limits allow it cannot be seen");
	else if (free_to_boost && high)
		finding_add(f, VERDICT_NOISE, "on: the frequency follows heat and the other cores");
	else if (high)
		finding_add(f, VERDICT_RISK, "on, and used: what is pinned may not be held");
	else
		finding_add(f, VERDICT_OK, "on, but the limits are below it");
	if (off)
		finding_add(f, VERDICT_RISK, "but not on all of these CPUs");
	if (f->verdict > VERDICT_UNKNOWN)
		advise_pin(host, f);
}

static void show_governor(struct host *host, int cpu, char *buf, size_t size)
{
	const struct cpufreq_policy_info *policy = host_policy(host, cpu);

	snprintf(buf, size, "%s", policy ? policy->governor : "");
}

/* Whether the governor `powersave` is the lowest frequency. With a driver in active mode, the
 * governor of this name chooses the frequency by the load. */
static bool is_lowest(const struct cpufreq_policy_info *policy)
{
	return strcmp(policy->governor, "powersave") == 0 && policy->driver[0] &&
		!cpufreq_is_active_driver(policy->driver);
}

static void look_at_governor(struct host *host, struct finding *f)
{
	_cleanup_(cpumask) struct cpumask *unseen = host_new_mask();
	_cleanup_free_ char *governors = NULL;
	bool pinned = true, steady = true, lowest = false;

	if (!has_policy(host, f))
		return;
	add_policy_path(host, f, "scaling_governor");
	governors = show_all(host, show_governor, unseen);
	if (!*governors)
		return;
	cpumask_for_each (cpu, host_cpus(host)) {
		const struct cpufreq_policy_info *policy = host_policy(host, cpu);

		if (cpumask_isset(unseen, cpu))
			continue;
		pinned = pinned && is_pinned(policy);
		lowest = lowest || is_lowest(policy);
		steady = steady &&
			(strcmp(policy->governor, "performance") == 0 ||
				strcmp(policy->governor, "userspace") == 0 || is_lowest(policy));
	}
	if (steady) {
		finding_add(f, VERDICT_OK, "%s%s", governors,
			lowest ? ", which is the lowest frequency" : "");
	} else if (pinned) {
		finding_add(f, VERDICT_OK, "%s, with nothing to choose from", governors);
	} else {
		finding_add(f, VERDICT_NOISE, "%s: the frequency follows the load", governors);
		advise_pin(host, f);
	}
	finding_add_unseen(f, unseen, "the governor");
}

static void format_khz(uint64_t khz, char *buf, size_t size)
{
	snprintf(buf, size, "%" PRIu64 ".%02" PRIu64 " GHz", khz / 1000000, khz % 1000000 / 10000);
}

static void show_range(struct host *host, int cpu, char *buf, size_t size)
{
	const struct cpufreq_policy_info *policy = host_policy(host, cpu);
	char min[32], max[32];

	if (!policy || policy->max_khz == 0 || policy->min_khz == 0)
		return;
	format_khz(policy->min_khz, min, sizeof(min));
	format_khz(policy->max_khz, max, sizeof(max));
	if (policy->min_khz == policy->max_khz)
		snprintf(buf, size, "%s", max);
	else
		snprintf(buf, size, "%s to %s", min, max);
}

static void look_at_range(struct host *host, struct finding *f)
{
	_cleanup_(cpumask) struct cpumask *unseen = host_new_mask();
	_cleanup_free_ char *ranges = NULL;
	bool pinned = true, limited = false;

	if (!has_policy(host, f))
		return;
	add_policy_path(host, f, "scaling_min_freq");
	add_policy_path(host, f, "scaling_max_freq");
	ranges = show_all(host, show_range, unseen);
	if (!*ranges)
		return;
	cpumask_for_each (cpu, host_cpus(host)) {
		const struct cpufreq_policy_info *policy = host_policy(host, cpu);
		struct cpufreq_range range;

		if (cpumask_isset(unseen, cpu))
			continue;
		pinned = pinned && is_pinned(policy);
		limited = limited ||
			(xcheck(cpufreq_read_range(cpu, policy->driver, &range)) == 0 &&
				range.bios_limit_khz > 0 && range.bios_limit_khz < policy->max_khz);
	}
	if (pinned) {
		finding_add(f, VERDICT_OK, "pinned at %s", ranges);
	} else {
		finding_add(f, VERDICT_RISK, "%s: it may vary in between", ranges);
		advise_pin(host, f);
	}
	finding_add_unseen(f, unseen, "the limits");
	if (limited) {
		finding_add(f, VERDICT_RISK, "the firmware allows less at present");
		add_policy_path(host, f, "bios_limit");
		finding_add_fix(f, "the firmware's power settings");
	}
}

static void show_preference(struct host *host, int cpu, char *buf, size_t size)
{
	const struct cpufreq_policy_info *policy = host_policy(host, cpu);
	char bias[FILE_ATTR_SIZE];

	if (!policy)
		return;
	if (policy->epp[0])
		snprintf(buf, size, "EPP %s", policy->epp);
	else if (host_readf(bias, CPU_DIR "/cpu%d/power/energy_perf_bias", cpu) > 0)
		snprintf(buf, size, "EPB %.64s", bias);
}

/* EPP is a word or 0 to 255, EPB is 0 to 15: 0 prefers speed. */
static bool prefers_speed(const char *text)
{
	return strcmp(text, "EPP performance") == 0 || strcmp(text, "EPP 0") == 0 ||
		strcmp(text, "EPB 0") == 0;
}

/* Whether a CPU without a readable preference really has none. */
static bool has_no_preference(struct host *host, int cpu)
{
	static const char *const files[] = { "cpufreq/energy_performance_preference",
		"power/energy_perf_bias" };

	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		char path[96];

		snprintf(path, sizeof(path), CPU_DIR "/cpu%d/%s", cpu, files[i]);
		if (access(path, F_OK) == 0)
			return false;
	}
	return host_is_whole(host);
}

static void look_at_preference(struct host *host, struct finding *f)
{
	_cleanup_(cpumask) struct cpumask *unseen = host_new_mask();
	_cleanup_free_ char *text = NULL;
	bool pinned = true, speed = true, none = true;

	if (!has_policy(host, f))
		return;
	text = show_all(host, show_preference, unseen);
	if (!*text) {
		cpumask_for_each (cpu, host_cpus(host))
			none = none && has_no_preference(host, cpu);
		if (none)
			finding_add(f, VERDICT_INFO, "no such preference here");
		else
			add_policy_path(host, f, "energy_performance_preference");
		return;
	}
	cpumask_for_each (cpu, host_cpus(host)) {
		const struct cpufreq_policy_info *policy = host_policy(host, cpu);
		char one[FILE_ATTR_SIZE] = "";

		if (cpumask_isset(unseen, cpu))
			continue;
		show_preference(host, cpu, one, sizeof(one));
		speed = speed && prefers_speed(one);
		pinned = pinned && policy && is_pinned(policy);
	}
	if (strncmp(text, "EPB", 3) == 0)
		finding_add_path(
			f, CPU_DIR "/cpu%d/power/energy_perf_bias", cpumask_first(host_cpus(host)));
	else
		add_policy_path(host, f, "energy_performance_preference");
	finding_add_unseen(f, unseen, "the preference");
	if (speed || pinned) {
		finding_add(f, VERDICT_OK, "%s", text);
		return;
	}
	finding_add(f, VERDICT_RISK, "%s: the hardware may save energy", text);
	advise_pin(host, f);
}

/* Adds the online CPUs that share a policy with these CPUs, and are none of them. */
static void look_at_shared(struct host *host, struct finding *f, bool pinned)
{
	_cleanup_(cpumask) struct cpumask *shared = host_new_mask();
	_cleanup_free_ char *list = NULL;

	cpumask_for_each (cpu, host_cpus(host)) {
		_cleanup_(cpumask) struct cpumask *related = NULL;

		if (xcheck(cpupower_read_related(cpu, &related)) == 0)
			cpumask_or(shared, shared, related);
	}
	cpumask_and(shared, shared, host_topology(host)->online);
	cpumask_andnot(shared, shared, host_cpus(host));
	if (cpumask_is_empty(shared))
		return;
	list = xptr(cpumask_format_list(shared));
	add_policy_path(host, f, "related_cpus");
	if (pinned) {
		finding_add(f, VERDICT_INFO, "shared with CPU %s", list);
	} else {
		finding_add(f, VERDICT_RISK, "shared with CPU %s, whose load moves it, too", list);
		advise_pin(host, f);
	}
}

static void look_at_policies(struct host *host, struct finding *f)
{
	_cleanup_(cpumask) struct cpumask *unseen = host_new_mask();
	const struct cpufreq_policy_info *first = NULL;
	bool differ = false, preferring = false, pinned = true;

	if (!has_policy(host, f))
		return;
	add_policy_path(host, f, "*");
	/* If some CPUs have an EPP, those without one could not be read. */
	cpumask_for_each (cpu, host_cpus(host)) {
		const struct cpufreq_policy_info *policy = host_policy(host, cpu);

		preferring = preferring || (policy && policy->epp[0]);
	}
	cpumask_for_each (cpu, host_cpus(host)) {
		const struct cpufreq_policy_info *policy = host_policy(host, cpu);

		if (!policy || !policy->governor[0] || policy->max_khz == 0 ||
			(preferring && !policy->epp[0])) {
			(void)cpumask_set(unseen, cpu);
			continue;
		}
		pinned = pinned && is_pinned(policy);
		if (first)
			differ = differ || policy->min_khz != first->min_khz ||
				policy->max_khz != first->max_khz ||
				strcmp(policy->governor, first->governor) != 0 ||
				strcmp(policy->epp, first->epp) != 0;
		else
			first = policy;
	}
	if (differ) {
		finding_add(f, VERDICT_RISK,
			"limits, governors or preferences differ among these CPUs");
		advise_pin(host, f);
	} else if (cpumask_is_empty(unseen)) {
		finding_add(f, VERDICT_OK, "set alike on all of these CPUs");
	}
	finding_add_unseen(f, unseen, "a setting");
	if (cpumask_is_empty(unseen))
		look_at_shared(host, f, pinned);
}

/* Whether the CPU has a maximum frequency or a capacity, which would show cores of different kinds.
 */
static bool has_speed(struct host *host, int cpu)
{
	const struct cpufreq_policy_info *policy = host_policy(host, cpu);
	char text[FILE_ATTR_SIZE];
	uint64_t capacity;

	return (policy && policy->hardware_max_khz > 0) ||
		(host_readf(text, CPU_DIR "/cpu%d/cpu_capacity", cpu) > 0 &&
			parse_attr_u64(text, &capacity) == 0);
}

static void show_kind(struct host *host, int cpu, char *buf, size_t size)
{
	const struct topology_cpu *facts = topology_get_cpu(host_topology(host), cpu);

	if (facts && facts->kind != TOPOLOGY_KIND_UNIFORM)
		snprintf(buf, size, "%s cores", topology_kind_name(facts->kind));
	/* If other CPUs have a kind, the kind of this CPU is not known. */
	else if (host_topology(host)->kind_source == TOPOLOGY_KIND_FROM_NOTHING &&
		has_speed(host, cpu))
		snprintf(buf, size, "all alike");
}

static void look_at_kind(struct host *host, struct finding *f)
{
	_cleanup_(cpumask) struct cpumask *unseen = host_new_mask();
	_cleanup_free_ char *kinds = show_all(host, show_kind, unseen);
	enum topology_kind fastest = TOPOLOGY_KIND_LAST, slowest = TOPOLOGY_KIND_UNIFORM;

	if (!*kinds) {
		finding_add(f, VERDICT_UNKNOWN, "nothing tells the cores apart, if they differ");
		return;
	}
	cpumask_for_each (cpu, host_cpus(host)) {
		const struct topology_cpu *facts = topology_get_cpu(host_topology(host), cpu);

		if (!facts || facts->kind == TOPOLOGY_KIND_UNIFORM)
			continue;
		fastest = MIN(fastest, facts->kind);
		slowest = MAX(slowest, facts->kind);
	}
	finding_add(f,
		fastest < slowest			      ? VERDICT_RISK
			: slowest > TOPOLOGY_KIND_PERFORMANCE ? VERDICT_INFO
							      : VERDICT_OK,
		"%s%s", kinds,
		host_topology(host)->kind_source == TOPOLOGY_KIND_FROM_FREQUENCY &&
				slowest != TOPOLOGY_KIND_UNIFORM
			? ", by their maximum frequency"
			: "");
	finding_add_unseen(f, unseen, "the kind");
	if (fastest < slowest)
		finding_add_fix(f, "-c with cores of one kind");
	else if (slowest > TOPOLOGY_KIND_PERFORMANCE)
		finding_add_fix(f, "isol-check --pick=%u", cpumask_weight(host_cpus(host)));
}

static uint64_t read_current_khz(int cpu)
{
	_cleanup_close_ int fd = cpufreq_open_current(cpu);
	uint64_t khz;

	return fd >= 0 && cpufreq_read_current(fd, &khz) == 0 ? khz : 0;
}

static void show_current(struct host *host _unused_, int cpu, char *buf, size_t size)
{
	uint64_t khz = read_current_khz(cpu);

	if (khz > 0)
		format_khz(khz, buf, size);
}

static void look_at_current(struct host *host, struct finding *f)
{
	_cleanup_(cpumask) struct cpumask *unseen = host_new_mask();
	_cleanup_free_ char *text = NULL;
	bool pinned = true, off = false;

	if (!has_policy(host, f))
		return;
	add_policy_path(host, f, "scaling_cur_freq");
	text = show_all(host, show_current, unseen);
	if (!*text)
		return;
	cpumask_for_each (cpu, host_cpus(host)) {
		const struct cpufreq_policy_info *policy = host_policy(host, cpu);
		uint64_t khz = read_current_khz(cpu), wanted = policy ? policy->max_khz : 0;

		pinned = pinned && policy && is_pinned(policy);
		off = off ||
			(khz > 0 && wanted > 0 &&
				(khz > wanted + wanted / 100 * NEAR_PERCENT ||
					khz < wanted - wanted / 100 * NEAR_PERCENT));
	}
	if (!pinned)
		finding_add(f, VERDICT_INFO, "%s at this moment, while nothing pins it", text);
	else if (!off)
		finding_add(f, VERDICT_OK, "%s, as pinned", text);
	else
		finding_add(f, VERDICT_RISK, "%s, which is not what it is pinned at", text);
	finding_add_unseen(f, unseen, "the frequency");
	/* The CPU cannot hold the frequency: freq-pin chooses one that it can. */
	if (pinned && off)
		advise_pin(host, f);
}

const struct check frequency_checks[] = {
	{ "freq-driver", look_at_driver,
		"What sets the frequency: intel_pstate and amd-pstate-epp choose it, or let the\n"
		"hardware choose; with intel_cpufreq, amd-pstate, acpi-cpufreq, cppc_cpufreq and\n"
		"cpufreq-dt a governor of the kernel chooses. It is normal to have no driver in\n"
		"a virtual machine, and where the firmware controls the frequency.\n"
		"Source: Documentation/admin-guide/pm/cpufreq.rst, intel_pstate.rst,\n"
		"amd-pstate.rst." },
	{ "boost", look_at_boost,
		"Turbo, core performance boost: a core runs faster than it can for long, by as\n"
		"much as heat, power and the number of busy cores allow. It is the largest\n"
		"source of scatter on most machines: 10 to 50 per cent between the first run and\n"
		"the tenth, or between a morning and an afternoon. Without boost, the same code\n"
		"takes the same time each run, but a longer time. With acpi-cpufreq the highest\n"
		"frequency that can be set is the one that boost may exceed.\n"
		"Source: Documentation/admin-guide/pm/cpufreq.rst (frequency boost support)." },
	{ "governor", look_at_governor,
		"A governor that follows the load starts each run slow and takes milliseconds to\n"
		"speed up: short runs are up to several times slower than long ones.\n"
		"`performance` does not wait. `powersave` of intel_pstate and amd-pstate-epp\n"
		"follows the load, too; with other drivers it is simply the lowest frequency.\n"
		"Source: Documentation/admin-guide/pm/cpufreq.rst, intel_pstate.rst." },
	{ "freq-range", look_at_range,
		"The limits between which the frequency may move. As long as they differ, the\n"
		"governor, the hardware (HWP, CPPC) or the firmware may choose another frequency\n"
		"for the next run, even with the governor `performance`. freq-pin sets both\n"
		"limits to a frequency that the machine can hold. The firmware may allow less\n"
		"(bios_limit), and overrides them.\n"
		"Source: Documentation/admin-guide/pm/cpufreq.rst." },
	{ "epp", look_at_preference,
		"The hint to hardware that chooses the frequency itself (EPP; on older Intel\n"
		"processors EPB): from performance (0) to power (255, 15). With any other value\n"
		"than performance, the hardware may wait before it raises the frequency, and may\n"
		"lower it while the CPU waits for memory.\n"
		"Source: Documentation/admin-guide/pm/intel_pstate.rst, intel_epb.rst,\n"
		"amd-pstate.rst." },
	{ "freq-policies", look_at_policies,
		"Whether all these CPUs have the same settings. If not, a program that runs on\n"
		"several of them, or on one after the other, is measured at several speeds.\n"
		"Where other CPUs have their frequency in common with these, a governor follows\n"
		"the load of all of them, unless minimum and maximum are the same.\n"
		"Source: Documentation/admin-guide/pm/cpufreq.rst (related_cpus)." },
	{ "core-kind", look_at_kind,
		"Hybrid processors have performance cores, efficiency cores and some of them\n"
		"low-power cores, whose speeds differ by a factor of 1.5 to 3, and whose\n"
		"caches differ, too. A result from one kind does not hold for another, and a\n"
		"result from several kinds holds for none.\n"
		"Source: /sys/devices/cpu_core/cpus against cpu_atom/cpus and\n"
		"cpu_lowpower/cpus; cpuN/cpu_capacity; cpuinfo_max_freq; of hybrids, the level\n"
		"of the last cache." },
	{ "freq-now", look_at_current,
		"The frequency that the kernel shows now, compared with the pinned one. On x86\n"
		"it comes from counters that the tick samples; on an idle CPU, and with\n"
		"nohz_full, it is the frequency that was last asked for. So a difference is a\n"
		"finding, but no difference proves little. A count of cycles over a known time\n"
		"is a proof (runpinned -e cycles).\n"
		"Source: arch/x86/kernel/cpu/aperfmperf.c." },
	{ 0 },
};
