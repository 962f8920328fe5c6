// SPDX-License-Identifier: GPL-2.0-or-later
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/machine/quota.h"
#include "base/macro.h"
#include "base/say.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "config.h"
#include "look/recording/record.h"
#include "look/recording/scrub.h"
#include "look/recording/tarball.h"

enum {
	/* /proc/interrupts with 512 CPUs and 4096 lines has 23 MiB. */
	TABLE_MAX = 64 * 1024 * 1024,
	CGROUP_DEPTH = 16,
	NAMES_MAX = 4096,
};

typedef char *(*scrub_function)(const struct scrub_names *names, const char *text);

enum rule_flag {
	RULE_FOLLOW = 1 << 0, /* a link to a directory is recorded as a directory */
	RULE_LINK = 1 << 1,   /* the names are links, which are recorded as links */
};

/* Files of a directory that are recorded. */
struct rule {
	/* May have wildcards, which match links only with RULE_FOLLOW. */
	const char *directory;
	const char *names; /* separated by blanks; wildcards are allowed */
	scrub_function scrub;
	unsigned flags;
};

#define CGROUPS "/sys/fs/cgroup"
#define CPU "sys/devices/system/cpu"
#define ONE_CPU CPU "/cpu[0-9]*"
#define FREQUENCIES                                                                                          \
	"affected_cpus related_cpus freqdomain_cpus cpuinfo_max_freq cpuinfo_min_freq cpuinfo_nominal_freq " \
	"cpuinfo_transition_latency scaling_available_frequencies "                                          \
	"scaling_boost_frequencies scaling_available_governors scaling_cur_freq scaling_driver "             \
	"scaling_governor scaling_max_freq scaling_min_freq scaling_setspeed base_frequency "                \
	"bios_limit boost cpb energy_performance_preference "                                                \
	"energy_performance_available_preferences amd_pstate_*"

/* clang-format off */
static const struct rule rules[] = {
	/* CPUs. Without topology/ppin, which is the processor's serial number. */
	{ CPU, "online possible present offline isolated nohz_full housekeeping kernel_max" },
	{ CPU "/smt", "active control" },
	{ CPU "/vulnerabilities", "*" },
	{ ONE_CPU, "online cpu_capacity" },
	{ ONE_CPU, "cpufreq node[0-9]*", NULL, RULE_LINK },
	{ ONE_CPU "/topology", "core_id physical_package_id die_id cluster_id book_id drawer_id "
		"*_list core_cpus core_siblings die_cpus cluster_cpus package_cpus thread_siblings" },
	{ ONE_CPU "/cache/index[0-9]*", "level type size id shared_cpu_list shared_cpu_map" },
	{ ONE_CPU "/acpi_cppc", "highest_perf nominal_perf lowest_perf lowest_nonlinear_perf "
		"nominal_freq lowest_freq" },
	{ ONE_CPU "/power", "energy_perf_bias pm_qos_resume_latency_us" },
	{ ONE_CPU "/thermal_throttle", "*_throttle_count" },
	{ "sys/devices", "cpu_core/cpus cpu_atom/cpus cpu_lowpower/cpus" },
	{ "sys/devices/system/node", "online possible has_cpu" },
	{ "sys/devices/system/node/node[0-9]*", "cpulist cpumap distance" },
	{ "sys/devices/system/node/node[0-9]*", "cpu[0-9]*", NULL, RULE_LINK },

	/* Frequency and idle states. */
	{ CPU "/cpufreq", "boost" },
	{ CPU "/cpufreq/policy[0-9]*", FREQUENCIES },
	{ ONE_CPU "/cpufreq", FREQUENCIES }, /* before Linux 4.3 it is no link */
	{ CPU "/intel_pstate", "status no_turbo turbo_pct num_pstates max_perf_pct min_perf_pct "
		"hwp_dynamic_boost" },
	{ CPU "/amd_pstate", "status prefcore dynamic_epp" },
	{ CPU "/intel_uncore_frequency/*", "min_freq_khz max_freq_khz initial_min_freq_khz "
		"initial_max_freq_khz" },
	{ CPU "/cpuidle", "current_driver current_governor current_governor_ro "
		"available_governors" },
	{ ONE_CPU "/cpuidle/state[0-9]*", "name desc latency residency disable default_status "
		"usage" },

	/* Clocks, interrupts, and the kernel's own work. */
	{ "sys/devices/system/clocksource/clocksource0", "current_clocksource "
		"available_clocksource" },
	{ "sys/devices/system/machinecheck/machinecheck0", "check_interval ignore_ce" },
	{ "sys/devices/virtual/workqueue", "cpumask cpumask_requested cpumask_isolated" },
	{ "sys/devices/virtual/workqueue/writeback", "cpumask nice numa affinity_scope "
		"affinity_strict" },
	{ "sys/kernel/irq/[0-9]*", "actions", scrub_actions },
	{ "sys/kernel/irq/[0-9]*", "chip_name hwirq", NULL },
	{ "proc/irq", "default_smp_affinity" },
	{ "proc/irq/[0-9]*", "smp_affinity smp_affinity_list effective_affinity "
		"effective_affinity_list affinity_hint node" },
	{ "sys/kernel/mm/transparent_hugepage", "enabled defrag shmem_enabled" },
	{ "sys/kernel/mm/transparent_hugepage/hugepages-*", "enabled" },
	{ "sys/kernel/mm/transparent_hugepage/khugepaged", "defrag pages_to_scan "
		"scan_sleep_millisecs" },
	{ "sys/kernel/mm/ksm", "run merge_across_nodes pages_to_scan sleep_millisecs" },
	{ "sys/kernel", "realtime" },
	{ "sys/kernel/sched_ext", "state root/ops" },
	{ "sys/module/*/parameters", "max_cstate power_efficient kthread_prio", NULL },
	{ "proc/sys/kernel", "nmi_watchdog soft_watchdog watchdog watchdog_thresh watchdog_cpumask "
		"numa_balancing perf_cpu_time_max_percent perf_event_max_sample_rate "
		"perf_event_paranoid randomize_va_space sched_rt_period_us sched_rt_runtime_us "
		"sched_autogroup_enabled timer_migration kptr_restrict" },
	{ "proc/sys/kernel", "osrelease version", scrub_own_names },
	{ "proc/sys/vm", "stat_interval swappiness compaction_proactiveness dirty_ratio "
		"dirty_background_ratio dirty_writeback_centisecs zone_reclaim_mode" },

	/* The machine as a whole. */
	{ "proc", "stat loadavg softirqs uptime" },
	{ "proc", "interrupts", scrub_actions },
	{ "proc", "cmdline", scrub_cmdline },
	{ "proc", "version", scrub_version },
	{ "proc", "cpuinfo", scrub_cpuinfo },
	{ "proc", "sysinfo", scrub_sysinfo },
	{ "proc", "swaps", scrub_swaps },
	{ "proc/device-tree", "compatible hypervisor/compatible", NULL, RULE_FOLLOW },
	{ "sys/firmware/devicetree/base/cpus/*", "ibm,ppc-interrupt-server#s", NULL, RULE_FOLLOW },
	{ "proc/device-tree", "ibm,partition-name", scrub_everything, RULE_FOLLOW },
	{ "sys/hypervisor", "type" },
	/* The vendor and the model, without the serial numbers, asset tags and UUIDs beside them. */
	{ "sys/class/dmi/id", "sys_vendor product_name board_vendor bios_vendor", scrub_text,
		RULE_FOLLOW },
	{ "sys/bus/event_source/devices/cpu*", "type cpus cpumask format/* events/*", NULL,
		RULE_FOLLOW },
	{ "sys/bus/event_source/devices/armv*", "type cpus cpumask format/* events/*", NULL,
		RULE_FOLLOW },
	{ "sys/bus/event_source/devices/msr", "type format/* events/*", NULL, RULE_FOLLOW },

	/* Cgroups: only the root. For those below, which have names, see record_cgroups(). */
	{ "sys/fs/cgroup", "cgroup.controllers cgroup.subtree_control cpuset.cpus.effective "
		"cpuset.cpus.isolated cpuset.mems.effective cgroup.type" },
	{ "sys/fs/cgroup", "cgroup.procs", scrub_everything }, /* that there are cgroups */
	{ "sys/fs/cgroup/unified", "cgroup.controllers cgroup.subtree_control cgroup.type" },
	{ "sys/fs/cgroup/cpuset", "cpuset.cpus cpuset.effective_cpus cpuset.cpu_exclusive "
		"cpuset.sched_load_balance" },
};
/* clang-format on */

/* Chips with temperatures of the CPU (base/machine/thermal.h), rather than of a disk. */
static const char *const sensor_chips[] = { "coretemp", "k10temp", "zenpower", "cpu*thermal",
	"soc*thermal", "acpitz" };

/* --- The recording. --- */

struct recording {
	struct tarball_entry *entries; /* with malloc'd paths and data */
	size_t n;
	size_t bytes;
	size_t capacity;
	bool is_too_large; /* an entry was left out, or a name was too long */
};

static void recording_free(struct recording *recording)
{
	if (!recording)
		return;
	for (size_t i = 0; i < recording->n; i++) {
		free(recording->entries[i].path);
		free(recording->entries[i].data);
	}
	free(recording->entries);
	free(recording);
}

DEFINE_CLEANUP(recording, recording_free);

/* Owns data from now on. The entry is NULL where the recording is too large for it. */
static struct tarball_entry *add_entry(struct recording *recording, enum tarball_type type,
	const char *path, char *data, size_t size)
{
	struct tarball_entry *entry;

	if (recording->n >= TARBALL_ENTRIES_MAX || size > TARBALL_BYTES_MAX - recording->bytes) {
		free(data);
		recording->is_too_large = true;
		return NULL;
	}
	xcheck(array_grow(&recording->entries, sizeof(*entry), recording->n, &recording->capacity));
	entry = &recording->entries[recording->n++];
	*entry = (struct tarball_entry){
		.type = type,
		.path = xptr(strdup(path)),
		.data = data,
		.size = size,
	};
	recording->bytes += size;
	return entry;
}

/* The text of a file, malloc'd; NULL where it does not exist, then it is not recorded. A file that
 * exists and cannot be read is recorded as empty: without it, the kernel would seem not to have
 * it. */
static char *read_text(const char *path, size_t *ret_size)
{
	_cleanup_free_ char *attr = NULL;
	char *text = NULL;
	int r;

	/* Files below /proc may have any length, and those of the device tree NUL bytes. */
	if (text_starts_with(path, "/proc/") || text_starts_with(path, "/sys/firmware/")) {
		r = xcheck(file_read_all(path, TABLE_MAX, &text, ret_size));
		if (r == 0)
			return text;
	} else {
		r = xcheck(file_read_long_attr(AT_FDCWD, path, &attr));
		if (r >= 0)
			xcheck(text_format(&text, "%s\n", attr));
	}
	if (r == -ENOENT || r == -ENODEV)
		return NULL;
	text = text ? text : xptr(strdup(""));
	*ret_size = strlen(text);
	return text;
}

struct recorder {
	struct recording *recording;
	const struct scrub_names *names;
};

/* Records the file `path` of this machine, with a slash at the beginning, as `name` without one. */
static void record_file_as(
	const struct recorder *recorder, const char *path, const char *name, scrub_function scrub)
{
	struct tarball_entry *entry;
	struct stat st;
	size_t size;
	char *text;

	if (stat(path, &st) < 0 || !S_ISREG(st.st_mode))
		return;
	text = read_text(path, &size);
	if (!text)
		return;
	if (scrub && size > 0) {
		char *clean = scrub(recorder->names, text);

		free(text);
		text = clean;
		size = strlen(text);
	}
	entry = add_entry(recorder->recording, TARBALL_FILE, name, text, size);
	/* From Linux 6.12 on, the mode tells which interrupts can be moved. */
	if (entry)
		entry->read_only = !(st.st_mode & S_IWUSR);
}

static void record_link(const struct recorder *recorder, const char *path)
{
	char target[PATH_MAX];
	ssize_t n = readlink(path, target, sizeof(target) - 1);

	if (n < 0)
		return;
	target[n] = '\0';
	if (tarball_link_stays_inside(path + 1, target))
		add_entry(recorder->recording, TARBALL_LINK, path + 1, xptr(strdup(target)), 0);
}

/* --- Rules. --- */

struct walk {
	const struct recorder *recorder;
	const struct rule *rule;
	char path[PATH_MAX]; /* "/sys/devices" */
};

static void record_leaf(const struct walk *walk)
{
	if (walk->rule->flags & RULE_LINK)
		record_link(walk->recorder, walk->path);
	else
		record_file_as(walk->recorder, walk->path, walk->path + 1, walk->rule->scrub);
}

static void walk_pattern(struct walk *walk, const char *pattern);

/* Appends `part` to the path, then walks on by `rest`, or records the file if there is none. A path
 * that is too long is skipped: no rule is meant for it. */
static void walk_part(struct walk *walk, const char *part, size_t part_length, const char *rest)
{
	size_t length = strlen(walk->path);
	struct stat st;

	if (length + 1 + part_length >= sizeof(walk->path))
		return;
	walk->path[length] = '/';
	memcpy(walk->path + length + 1, part, part_length);
	walk->path[length + 1 + part_length] = '\0';
	if (*rest == '\0')
		record_leaf(walk);
	else if ((walk->rule->flags & RULE_FOLLOW) ||
		(lstat(walk->path, &st) == 0 && S_ISDIR(st.st_mode)))
		walk_pattern(walk, rest + 1);
	walk->path[length] = '\0';
}

/* Walks by a pattern that is relative to the path: "cpu[0-9]*" "/topology/core_id". */
static void walk_pattern(struct walk *walk, const char *pattern)
{
	_cleanup_closedir_ DIR *dir = NULL;
	size_t length = strcspn(pattern, "/");
	const struct dirent *entry;
	char part[NAME_MAX + 1];

	if (memchr(pattern, '*', length) == NULL) {
		walk_part(walk, pattern, length, pattern + length);
		return;
	}
	snprintf(part, sizeof(part), "%.*s", (int)length, pattern);
	dir = opendir(walk->path);
	while (dir && (entry = readdir(dir)))
		if (fnmatch(part, entry->d_name, FNM_PERIOD) == 0)
			walk_part(walk, entry->d_name, strlen(entry->d_name), pattern + length);
}

static void record_rule(const struct recorder *recorder, const struct rule *rule)
{
	struct walk walk = { .recorder = recorder, .rule = rule };
	const char *name = rule->names;
	char pattern[PATH_MAX];

	while (*name) {
		size_t length = strcspn(name, " ");

		snprintf(pattern, sizeof(pattern), "%s/%.*s", rule->directory, (int)length, name);
		walk_pattern(&walk, pattern);
		name += length;
		name += strspn(name, " ");
	}
}

/* --- Directories with private names. --- */

static int compare_words(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

struct names {
	char **items;
	size_t n;
};

static void cleanup_names(struct names *names)
{
	for (size_t i = 0; i < names->n; i++)
		free(names->items[i]);
	free(names->items);
}
#define _cleanup_names_ __attribute__((cleanup(cleanup_names)))

/* The names in a directory, sorted, so that numbers in place of names are the same every time. */
static struct names list_names(const char *path)
{
	_cleanup_closedir_ DIR *dir = opendir(path);
	const struct dirent *entry;
	struct names names = { 0 };
	size_t capacity = 0;

	while (dir && names.n < NAMES_MAX && (entry = readdir(dir))) {
		if (entry->d_name[0] == '.')
			continue;
		xcheck(array_grow(&names.items, sizeof(*names.items), names.n, &capacity));
		names.items[names.n++] = xptr(strdup(entry->d_name));
	}
	if (names.n > 0)
		qsort(names.items, names.n, sizeof(*names.items), compare_words);
	return names;
}

/* Records files of the directory `from` as files of the directory `to`. */
static void record_files(const struct recorder *recorder, const char *from, const char *to,
	const char *const *files, size_t n, scrub_function scrub)
{
	char path[PATH_MAX], name[PATH_MAX];

	for (size_t i = 0; i < n; i++) {
		if ((size_t)snprintf(path, sizeof(path), "%s/%s", from, files[i]) >= sizeof(path) ||
			(size_t)snprintf(name, sizeof(name), "%s/%s", to, files[i]) >= sizeof(name))
			continue;
		record_file_as(recorder, path, name, scrub);
	}
}

/* Records that a directory exists, even if no file in it is recorded. */
static void record_directory(const struct recorder *recorder, const char *path)
{
	struct stat st;

	if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
		add_entry(recorder->recording, TARBALL_DIRECTORY, path + 1, NULL, 0);
}

/* AC, ADP1, BAT0 and the like are names of the firmware; others may have a mouse's address. */
static bool is_common_supply(const char *name)
{
	size_t letters = 0;

	while (isupper((unsigned char)name[letters]))
		letters++;
	return letters >= 2 && letters <= 4 &&
		strspn(name + letters, "0123456789") == strlen(name + letters) &&
		strlen(name) <= letters + 2;
}

static void record_supplies(const struct recorder *recorder)
{
	static const char *const files[] = { "type", "online", "status", "scope", "present" };
	static const char top[] = "/sys/class/power_supply";
	_cleanup_names_ struct names names = list_names(top);
	char from[PATH_MAX], to[PATH_MAX];

	record_directory(recorder, top);
	for (size_t i = 0; i < names.n; i++) {
		snprintf(from, sizeof(from), "%s/%s", top, names.items[i]);
		if (is_common_supply(names.items[i]))
			snprintf(to, sizeof(to), "%s/%s", top + 1, names.items[i]);
		else
			snprintf(to, sizeof(to), "%s/supply%zu", top + 1, i);
		record_files(recorder, from, to, files, ARRAY_SIZE(files), NULL);
	}
}

static bool is_cpu_sensor(const char *directory)
{
	char path[PATH_MAX], chip[FILE_ATTR_SIZE];

	if ((size_t)snprintf(path, sizeof(path), "%s/name", directory) >= sizeof(path) ||
		file_read_attr(AT_FDCWD, path, chip, sizeof(chip)) < 0)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(sensor_chips); i++)
		if (fnmatch(sensor_chips[i], chip, 0) == 0)
			return true;
	return false;
}

/* Records what libsensors reads of the CPU's sensors, and the CPUs that are near them. */
static void record_sensors(const struct recorder *recorder)
{
	static const char *const files[] = { "name", "device/local_cpulist" };
	static const char top[] = "/sys/class/hwmon";
	_cleanup_names_ struct names names = list_names(top);
	char from[PATH_MAX];

	record_directory(recorder, top);
	for (size_t i = 0; i < names.n; i++) {
		struct rule rule = { from + 1,
			"temp*_input temp*_label temp*_max temp*_crit temp*_crit_alarm "
			"device/trip_point_*_type device/trip_point_*_temp",
			scrub_text, RULE_FOLLOW };

		snprintf(from, sizeof(from), "%s/%s", top, names.items[i]);
		if (!is_cpu_sensor(from))
			continue;
		record_files(recorder, from, from + 1, files, ARRAY_SIZE(files), scrub_text);
		record_rule(recorder, &rule);
	}
}

/* Whether a cgroup is a partition (v2), or has a list of CPUs. The parents of a remote partition
 * have only an exclusive one (Documentation/admin-guide/cgroup-v2.rst). */
static bool has_own_cpus(const char *directory)
{
	static const char *const lists[] = { "cpuset.cpus", "cpuset.cpus.exclusive" };
	_cleanup_close_ int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	char text[FILE_ATTR_SIZE];

	if (file_read_attr(fd, "cpuset.cpus.partition", text, sizeof(text)) > 0 &&
		strcmp(text, "member") != 0)
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(lists); i++) {
		int r = file_read_attr(fd, lists[i], text, sizeof(text));
		/* A list may be longer than a page. */
		if (r > 0 || r == -EFBIG)
			return true;
	}
	return false;
}

/* Names of systemd and of ours; another name may be that of a user, a guest or a job. */
static bool is_common_cgroup(const char *name)
{
	static const char *const common[] = { "system.slice", "user.slice", "machine.slice",
		"init.scope", "benchmark.slice" };

	for (size_t i = 0; i < ARRAY_SIZE(common); i++)
		if (strcmp(name, common[i]) == 0)
			return true;
	return false;
}

/* Records the cgroups below `from` that have CPUs of their own, and the common ones. `to` is the
 * name of `from` in the recording. */
static void record_cgroups(
	const struct recorder *recorder, const char *from, const char *to, int depth)
{
	static const char *const files[] = { "cpuset.cpus", "cpuset.cpus.effective",
		"cpuset.cpus.exclusive", "cpuset.cpus.exclusive.effective", "cpuset.cpus.partition",
		"cpuset.effective_cpus", "cpuset.cpu_exclusive", "cpuset.sched_load_balance" };
	_cleanup_names_ struct names names = list_names(from);
	char below[PATH_MAX], name[PATH_MAX];
	struct stat st;

	for (size_t i = 0; i < names.n; i++) {
		bool is_common = is_common_cgroup(names.items[i]);
		int length;

		if ((size_t)snprintf(below, sizeof(below), "%s/%s", from, names.items[i]) >=
				PATH_MAX - 64 ||
			lstat(below, &st) < 0 || !S_ISDIR(st.st_mode))
			continue;
		if (is_common)
			length = snprintf(name, sizeof(name), "%s/%s", to, names.items[i]);
		else
			length = snprintf(name, sizeof(name), "%s/group%zu", to, i);
		if (length >= PATH_MAX - 64) {
			recorder->recording->is_too_large = true;
			return;
		}
		/* Other cgroups can be skipped with everything below them: the parents of a
		 * partition are partitions, or have its CPUs in their own list. */
		if (!is_common && !has_own_cpus(below))
			continue;
		record_files(recorder, below, name, files, ARRAY_SIZE(files), NULL);
		if (depth > 1)
			record_cgroups(recorder, below, name, depth - 1);
	}
}

/* Appends the name of a cgroup; `level` stands for a private name. */
static void append_level(struct text *to, const char *name, size_t length, size_t level)
{
	_cleanup_free_ char *copy = xptr(strndup(name, length));

	if (is_common_cgroup(copy))
		text_appendf(to, "/%s", copy);
	else
		text_appendf(to, "/level%zu", level);
}

/* Records the quota of the cgroup and of all above it, and appends to `home` how the cgroup is
 * called in the recording. */
static void record_levels(
	const struct recorder *recorder, const struct quota_cgroup *cgroup, struct text *home)
{
	static const char *const files[] = { "cpu.max", "cpu.cfs_quota_us", "cpu.cfs_period_us",
		"cgroup.sane_behavior" };
	bool is_unified = access(CGROUPS "/cgroup.controllers", F_OK) == 0;
	_cleanup_text_ struct text from = { 0 }, to = { 0 };
	const char *name = cgroup->path;

	text_append(&from, cgroup->mount);
	text_append(&to, &CGROUPS[1]);
	if (cgroup->controllers)
		text_appendf(&to, "/%s", cgroup->controllers);
	else if (!is_unified)
		text_append(&to, "/unified");
	for (size_t level = 0;; level++) {
		size_t length;

		if (from.failed || to.failed)
			xalloc_fail();
		/* It may have none of the files. */
		if (level > 0)
			add_entry(recorder->recording, TARBALL_DIRECTORY, to.data, NULL, 0);
		record_files(recorder, from.data, to.data, files, ARRAY_SIZE(files), NULL);
		if (!*name)
			return;
		length = strcspn(++name, "/");
		text_appendf(&from, "/%.*s", (int)length, name);
		append_level(&to, name, length, level);
		append_level(home, name, length, level);
		name += length;
	}
}

/* Records the CPU quota of the cgroup from which this is called (quota.h). */
static void record_quota(const struct recorder *recorder)
{
	struct quota_cgroup cgroup = { 0 };
	struct text home = { 0 };
	size_t size;
	int r;

	r = xcheck(quota_find_cgroup(0, &cgroup));
	if (r == -ENODATA)
		return;
	/* Neither can it be seen in the recording where it could not be seen here. */
	if (r < 0)
		text_append(&home, "1:cpu:/hidden\n0::");
	else if (cgroup.controllers)
		text_appendf(&home, "0::/\n1:%s:", cgroup.controllers);
	else
		text_append(&home, "0::");
	size = home.length;
	if (r == 0)
		record_levels(recorder, &cgroup, &home);
	quota_cgroup_clear(&cgroup);
	text_append(&home, home.length == size ? "/\n" : "\n");
	size = home.length;
	add_entry(recorder->recording, TARBALL_FILE, "proc/self/cgroup", xptr(text_steal(&home)),
		size);
}

static struct recording *read_machine(const struct scrub_names *names)
{
	struct recording *recording = xptr(calloc(1, sizeof(*recording)));
	struct recorder recorder = { .recording = recording, .names = names };

	/* These directories show that the kernel lacks the files that are not recorded below
	 * them. */
	record_directory(&recorder, "/sys/kernel/mm");
	record_directory(&recorder, "/sys/class");
	for (size_t i = 0; i < ARRAY_SIZE(rules); i++)
		record_rule(&recorder, &rules[i]);
	record_supplies(&recorder);
	record_sensors(&recorder);
	/* Cgroup v2, else v1, where /sys/fs/cgroup is a directory of hierarchies. */
	if (access("/sys/fs/cgroup/cgroup.controllers", F_OK) == 0)
		record_cgroups(&recorder, "/sys/fs/cgroup", "sys/fs/cgroup", CGROUP_DEPTH);
	else
		record_cgroups(
			&recorder, "/sys/fs/cgroup/cpuset", "sys/fs/cgroup/cpuset", CGROUP_DEPTH);
	record_quota(&recorder);
	return recording;
}

int record_run(const char *path, bool verbose)
{
	_cleanup_(file_replace) struct file_replace *file = NULL;
	_cleanup_(scrub_names) struct scrub_names *names = NULL;
	_cleanup_(recording) struct recording *recording = NULL;
	int r;

	r = xcheck(file_replace_begin(path, &file));
	if (r < 0) {
		say("cannot write %s: %s", path, file_replace_explain(r));
		return EXIT_FAILED;
	}
	names = scrub_names_read();
	recording = read_machine(names);
	if (recording->is_too_large) {
		say_errno(E2BIG, "cannot record this machine");
		return EXIT_FAILED;
	}
	r = xcheck(tarball_write(file_replace_stream(file), recording->entries, recording->n));
	if (r == -EOPNOTSUPP) {
		say("cannot write %s: this build cannot write archives (it has no libarchive)",
			path);
		return EXIT_FAILED;
	}
	if (r == 0)
		r = xcheck(file_replace_commit(TAKE_PTR(file)));
	if (r < 0) {
		say_errno(r, "cannot write %s", path);
		return EXIT_FAILED;
	}
	for (size_t i = 0; verbose && i < recording->n; i++)
		say("recorded /%s", recording->entries[i].path);
	say("%zu files of this machine are in %s; look at it before you send it", recording->n,
		path);
	return EXIT_DONE;
}
