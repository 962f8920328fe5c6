// SPDX-License-Identifier: GPL-2.0-or-later
/* What guides for quiet machines turn, and the setters do not: what it means here. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/parse.h"
#include "base/paths.h"
#include "look/isol-check/subjects.h"

#define CMDLINE "/proc/cmdline"
#define MACHINECHECK "/sys/devices/system/machinecheck"
#define INTERVAL MACHINECHECK "/machinecheck0/check_interval"
#define IGNORE_CE MACHINECHECK "/machinecheck0/ignore_ce"
#define UNCORE "/sys/devices/system/cpu/intel_uncore_frequency"
#define SCHED_EXT "/sys/kernel/sched_ext"
#define RESCTRL "/sys/fs/resctrl"

/* Whether the boot line has a parameter: 1 with its value (malloc'd), 0; negative where the boot
 * line is not known. */
static int find_parameter(struct host *host, struct finding *f, const char *name, char **ret)
{
	const struct bootline *bootline = host_bootline(host);
	int r;

	finding_add_path(f, CMDLINE);
	if (!bootline)
		return -ENODATA;
	r = xcheck(bootline_find(bootline->text, name, ret));
	return r == -ENOENT ? 0 : r < 0 ? r : 1;
}

static void look_at_skew(struct host *host, struct finding *f)
{
	_cleanup_free_ char *value = NULL;
	int r = find_parameter(host, f, "skew_tick", &value);

	if (r < 0)
		return;
	if (r > 0 && strcmp(value, "0") != 0)
		finding_add(
			f, VERDICT_INFO, "skew_tick=%s: the ticks of the CPUs are apart", value);
	else
		finding_add(f, VERDICT_INFO, "all CPUs tick at the same moment");
}

static void look_at_nocb_poll(struct host *host, struct finding *f)
{
	const struct bootline *bootline = host_bootline(host);
	const struct isolation *isolation = host_isolation(host);
	_cleanup_free_ char *value = NULL;
	int r = find_parameter(host, f, "rcu_nocb_poll", &value);

	if (r < 0)
		return;
	if (!cpumask_intersects(host_cpus(host), bootline->rcu_nocbs.cpus) &&
		!cpumask_intersects(host_cpus(host), isolation->nohz_full))
		finding_add(f, VERDICT_INFO, "these CPUs hand no callbacks of RCU over");
	else if (r > 0)
		finding_add(f, VERDICT_INFO, "threads on other CPUs look for callbacks themselves");
	else
		finding_add(f, VERDICT_INFO,
			"these CPUs wake the threads that work off their callbacks");
}

static void look_at_machine_checks(struct host *host, struct finding *f)
{
	char text[FILE_ATTR_SIZE];
	uint64_t seconds, ignored;
	int r;

	finding_add_path(f, INTERVAL);
	r = host_read(INTERVAL, text);
	if (r == -ENOENT && host_is_whole(host)) {
		finding_add(f, VERDICT_INFO, "this machine is not asked for errors by a timer");
		return;
	}
	if (r < 0 || parse_attr_u64(text, &seconds) < 0)
		return;
	if (host_read(IGNORE_CE, text) >= 0 && parse_attr_u64(text, &ignored) == 0 && ignored != 0)
		seconds = 0;
	if (seconds == 0) {
		finding_add(f, VERDICT_INFO, "no CPU looks for corrected errors by a timer");
		return;
	}
	finding_add(f, VERDICT_INFO, "each CPU looks for corrected errors every %" PRIu64 " s",
		seconds);
	finding_add_fix(f, "echo 0 >" INTERVAL);
}

/* --- Frequency of what is beside the cores. --- */

/* The frequencies of a folder, in MHz. */
static bool read_range(const char *folder, uint64_t *ret_min, uint64_t *ret_max)
{
	char min[FILE_ATTR_SIZE], max[FILE_ATTR_SIZE];

	if (host_readf(min, "%s/min_freq_khz", folder) < 0 ||
		host_readf(max, "%s/max_freq_khz", folder) < 0 ||
		parse_attr_u64(min, ret_min) < 0 || parse_attr_u64(max, ret_max) < 0)
		return false;
	*ret_min /= 1000;
	*ret_max /= 1000;
	return true;
}

static void look_at_uncore(struct host *host, struct finding *f)
{
	uint64_t min, max, lowest = UINT64_MAX, highest = 0;
	bool moves = false;
	_cleanup_paths_ struct paths found = { 0 };
	int r = xcheck(paths_list(UNCORE, "*_*", NULL, &found));

	if (found.n == 0) {
		finding_add_path(f, UNCORE);
		if (r < 0 && r != -ENOENT)
			finding_add(f, VERDICT_UNKNOWN, "it cannot be read");
		else if (host_is_whole(host))
			finding_add(f, VERDICT_INFO, "this machine does not show it");
		return;
	}
	for (size_t i = 0; i < found.n; i++) {
		finding_add_path(f, "%s/min_freq_khz", found.items[i]);
		if (!read_range(found.items[i], &min, &max)) {
			finding_add(f, VERDICT_UNKNOWN, "a range cannot be read");
			continue;
		}
		moves = moves || min < max;
		lowest = MIN(lowest, min);
		highest = MAX(highest, max);
	}
	if (highest == 0)
		return;
	if (!moves) {
		finding_add(f, VERDICT_OK, "%" PRIu64 " MHz, and nothing else", highest);
		return;
	}
	finding_add(f, VERDICT_RISK,
		"%" PRIu64 " to %" PRIu64 " MHz, as the whole package needs it", lowest, highest);
	finding_add_fix(
		f, "write the frequency in max_freq_khz to min_freq_khz, or a lower one to both");
}

/* --- Who runs where, and who has how much of the caches. --- */

static void look_at_sched_ext(struct host *host, struct finding *f)
{
	char state[FILE_ATTR_SIZE], ops[FILE_ATTR_SIZE];
	int r;

	finding_add_path(f, SCHED_EXT "/state");
	r = host_read_word(SCHED_EXT "/state", state);
	if (r == -ENOENT && host_is_whole(host)) {
		finding_add(f, VERDICT_OK, "this kernel has none");
		return;
	}
	if (r < 0)
		return;
	if (strcmp(state, "disabled") == 0) {
		finding_add(f, VERDICT_OK, "the kernel's own scheduler");
		return;
	}
	if (host_read_word(SCHED_EXT "/root/ops", ops) < 0)
		snprintf(ops, sizeof(ops), "a program");
	finding_add(f, VERDICT_RISK, "%s decides which task runs where and how long", ops);
	finding_add_fix(f, "stop it (systemctl stop scx)");
}

/* Adds the group whose list of CPUs this is, if it has any of the checked ones, or may have them. A
 * group that is gone has none. */
static bool look_at_group(struct host *host, struct finding *f, const char *path)
{
	_cleanup_(cpumask) struct cpumask *cpus = host_new_mask();
	const char *name = path + strlen(RESCTRL "/");
	int r;

	r = xcheck(cpumask_read_list(AT_FDCWD, path, cpus));
	if (r < 0 && r != -ENOENT && r != -ENODEV) {
		finding_add_path(f, "%s", path);
		finding_add(f, VERDICT_UNKNOWN, "the CPUs of a group cannot be read");
		return true;
	}
	if (r < 0 || !cpumask_intersects(cpus, host_cpus(host)))
		return false;
	finding_add_path(f, "%s", path);
	finding_add(f, VERDICT_INFO, "the group %.*s decides for these CPUs",
		(int)strcspn(name, "/"), name);
	return true;
}

static void look_at_resctrl(struct host *host, struct finding *f)
{
	_cleanup_(cpumask) struct cpumask *cpus = host_new_mask();
	bool any = false;
	_cleanup_paths_ struct paths found = { 0 };
	int r;

	finding_add_path(f, RESCTRL);
	if (access(RESCTRL, F_OK) < 0 && errno == ENOENT) {
		if (!host_options(host)->recorded)
			finding_add(f, VERDICT_INFO, "this machine cannot divide its caches");
		return;
	}
	r = xcheck(cpumask_read_list(AT_FDCWD, RESCTRL "/cpus_list", cpus));
	if (r == -ENOENT)
		finding_add(f, VERDICT_INFO,
			"not in use: every program may take all of the last cache");
	else if (r < 0)
		finding_add(f, VERDICT_UNKNOWN, "its groups cannot be read");
	if (r < 0)
		return;
	r = xcheck(paths_list(RESCTRL, "*", "cpus_list", &found));
	for (size_t i = 0; i < found.n; i++)
		any = look_at_group(host, f, found.items[i]) || any;
	if (r < 0)
		finding_add(f, VERDICT_UNKNOWN, "its groups cannot be read");
	else if (!any)
		finding_add(f, VERDICT_INFO, "these CPUs have what all share");
}

const struct check guides_checks[] = {
	{ "skew-tick", look_at_skew,
		"Without skew_tick=1 the ticks of all CPUs come at the same moment, and wait for\n"
		"each other at the same locks: microseconds that grow with the number of CPUs.\n"
		"With it they are apart, which takes power on idle machines. It says nothing of\n"
		"CPUs without a tick (nohz_full).\n"
		"Source: Documentation/admin-guide/kernel-parameters.txt (skew_tick);\n"
		"kernel/time/tick-sched.c." },
	{ "rcu-nocb-poll", look_at_nocb_poll,
		"CPUs of rcu_nocbs leave callbacks to threads on other CPUs, and have to wake\n"
		"these: a microsecond, where the program calls the kernel much. With the boot\n"
		"parameter rcu_nocb_poll the threads look by themselves, all the time, which\n"
		"takes power and time of the other CPUs.\n"
		"Source: Documentation/admin-guide/kernel-parameters.txt (rcu_nocb_poll)." },
	{ "machine-checks", look_at_machine_checks,
		"By a timer each x86 CPU reads the registers in which the hardware counts\n"
		"corrected errors: some ten microseconds every five minutes; more often while\n"
		"there are errors. Who sets the interval to 0 hears of them later, or never.\n"
		"Source: Documentation/arch/x86/x86_64/machinecheck.rst;\n"
		"arch/x86/kernel/cpu/mce/core.c." },
	{ "uncore-freq", look_at_uncore,
		"The last cache and the memory controller of Intel packages have a frequency of\n"
		"their own, which follows the load of the whole package: what other CPUs do\n"
		"changes how fast memory is, by up to some ten per cent. freq-pin leaves it.\n"
		"Source: Documentation/admin-guide/pm/intel_uncore_frequency_scaling.rst." },
	{ "sched-ext", look_at_sched_ext,
		"From 6.12 on a BPF program may take the place of the scheduler for all ordinary\n"
		"tasks (scx_lavd, scx_bpfland...; some distributions start one). It keeps to\n"
		"affinities, but time slices and placement are its own, so that results compare\n"
		"with those of this scheduler alone.\n"
		"Source: Documentation/scheduler/sched-ext.rst." },
	{ "resctrl", look_at_resctrl,
		"CPUs with this can be given a part of the last cache and of the bandwidth to\n"
		"memory for themselves. Without it programs on other CPUs replace what the\n"
		"benchmark has in the last cache, however isolated its CPU is. The setters\n"
		"leave that alone.\n"
		"Source: Documentation/filesystems/resctrl.rst." },
	{ 0 },
};
