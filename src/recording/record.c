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

#include "basic/array.h"
#include "basic/cleanup.h"
#include "basic/file.h"
#include "basic/macro.h"
#include "basic/say.h"
#include "basic/text.h"
#include "config.h"
#include "machine/quota.h"
#include "recording/record.h"
#include "recording/scrub.h"
#include "recording/tarball.h"

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

/* Chips with temperatures of the CPU (machine/thermal.h), rather than of a disk. */
static const char *const sensor_chips[] = { "coretemp", "k10temp", "zenpower", "cpu*thermal",
	"soc*thermal", "acpitz" };

/* --- The recording. --- */

struct recording {
	struct tarball_entry *entries; /* with malloc'd paths and data */
	size_t n;
	size_t bytes;
	size_t capacity;
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

/* Owns data from now on, also when it fails. */
static int add_entry(struct recording *recording, enum tarball_type type, const char *path,
	char *data, size_t size)
{
	struct tarball_entry *entry;

	if (array_grow(&recording->entries, sizeof(*entry), recording->n, &recording->capacity) <
		0) {
		free(data);
		return -ENOMEM;
	}
	if (recording->n >= TARBALL_ENTRIES_MAX || size > TARBALL_BYTES_MAX - recording->bytes) {
		free(data);
		return -E2BIG;
	}
	entry = &recording->entries[recording->n];
	*entry = (struct tarball_entry){
		.type = type,
		.path = strdup(path),
		.data = data,
		.size = size,
	};
	if (!entry->path) {
		free(data);
		return -ENOMEM;
	}
	recording->bytes += size;
	recording->n++;
	return 0;
}

/* *ret: the text of a file; NULL if it cannot be read, then the file is not recorded. A file that
 * exists and cannot be read is recorded as empty: without it, the kernel would seem not to have
 * it. */
static int read_text(const char *path, char **ret, size_t *ret_size)
{
	_cleanup_free_ char *text = NULL;
	int r;

	/* Files below /proc may have any length, and those of the device tree NUL bytes. */
	if (strncmp(path, "/proc/", strlen("/proc/")) == 0) {
		r = file_read_all(path, TABLE_MAX, ret, ret_size);
	} else {
		r = file_read_long_attr(AT_FDCWD, path, &text);
		if (r >= 0) {
			r = asprintf(ret, "%s\n", text);
			*ret_size = r < 0 ? 0 : (size_t)r;
			r = r < 0 ? -ENOMEM : 0;
		}
	}
	if (r >= 0 || r == -ENOMEM)
		return MIN(r, 0);
	if (r == -ENOENT || r == -ENODEV) {
		*ret = NULL;
		return 0;
	}
	*ret = strdup("");
	*ret_size = 0;
	return *ret ? 0 : -ENOMEM;
}

struct recorder {
	struct recording *recording;
	const struct scrub_names *names;
};

/* Records the file `path` of this machine, with a slash at the beginning, as `name` without one. */
static int record_file_as(
	const struct recorder *recorder, const char *path, const char *name, scrub_function scrub)
{
	_cleanup_free_ char *text = NULL;
	struct stat st;
	size_t size;
	int r;

	if (stat(path, &st) < 0 || !S_ISREG(st.st_mode))
		return 0;
	r = read_text(path, &text, &size);
	if (r < 0 || !text)
		return r;
	if (scrub && size > 0) {
		char *clean = scrub(recorder->names, text);

		if (!clean)
			return -ENOMEM;
		free(text);
		text = clean;
		size = strlen(text);
	}
	r = add_entry(recorder->recording, TARBALL_FILE, name, TAKE_PTR(text), size);
	if (r == 0)
		/* From Linux 6.12 on, the mode tells which interrupts can be moved. */
		recorder->recording->entries[recorder->recording->n - 1].read_only =
			!(st.st_mode & S_IWUSR);
	return r;
}

static int record_link(const struct recorder *recorder, const char *path)
{
	char target[PATH_MAX];
	char *copy;
	ssize_t n = readlink(path, target, sizeof(target) - 1);

	if (n < 0)
		return 0;
	target[n] = '\0';
	if (!tarball_link_stays_inside(path + 1, target))
		return 0;
	copy = strdup(target);
	return copy ? add_entry(recorder->recording, TARBALL_LINK, path + 1, copy, 0) : -ENOMEM;
}

/* --- Rules. --- */

struct walk {
	const struct recorder *recorder;
	const struct rule *rule;
	char path[PATH_MAX]; /* "/sys/devices" */
};

static int record_leaf(const struct walk *walk)
{
	if (walk->rule->flags & RULE_LINK)
		return record_link(walk->recorder, walk->path);
	return record_file_as(walk->recorder, walk->path, walk->path + 1, walk->rule->scrub);
}

static int walk_pattern(struct walk *walk, const char *pattern);

/* Appends `part` to the path, then walks on by `rest`, or records the file if there is none. A path
 * that is too long is skipped: no rule is meant for it. */
static int walk_part(struct walk *walk, const char *part, size_t part_length, const char *rest)
{
	size_t length = strlen(walk->path);
	struct stat st;
	int r = 0;

	if (length + 1 + part_length >= sizeof(walk->path))
		return 0;
	walk->path[length] = '/';
	memcpy(walk->path + length + 1, part, part_length);
	walk->path[length + 1 + part_length] = '\0';
	if (*rest == '\0')
		r = record_leaf(walk);
	else if ((walk->rule->flags & RULE_FOLLOW) ||
		(lstat(walk->path, &st) == 0 && S_ISDIR(st.st_mode)))
		r = walk_pattern(walk, rest + 1);
	walk->path[length] = '\0';
	return r;
}

/* Walks by a pattern that is relative to the path: "cpu[0-9]*" "/topology/core_id". */
static int walk_pattern(struct walk *walk, const char *pattern)
{
	_cleanup_closedir_ DIR *dir = NULL;
	size_t length = strcspn(pattern, "/");
	const struct dirent *entry;
	char part[NAME_MAX + 1];
	int r = 0;

	if (memchr(pattern, '*', length) == NULL)
		return walk_part(walk, pattern, length, pattern + length);
	snprintf(part, sizeof(part), "%.*s", (int)length, pattern);
	dir = opendir(walk->path);
	while (dir && r == 0 && (entry = readdir(dir)))
		if (fnmatch(part, entry->d_name, FNM_PERIOD) == 0)
			r = walk_part(walk, entry->d_name, strlen(entry->d_name), pattern + length);
	return r;
}

static int record_rule(const struct recorder *recorder, const struct rule *rule)
{
	struct walk walk = { .recorder = recorder, .rule = rule };
	const char *name = rule->names;
	char pattern[PATH_MAX];

	while (*name) {
		size_t length = strcspn(name, " ");
		int r;

		snprintf(pattern, sizeof(pattern), "%s/%.*s", rule->directory, (int)length, name);
		r = walk_pattern(&walk, pattern);
		if (r < 0)
			return r;
		name += length;
		name += strspn(name, " ");
	}
	return 0;
}

/* --- Directories with private names. --- */

static int compare_words(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void free_words(char **words, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(words[i]);
	free(words);
}

/* The names in a directory, sorted, so that numbers in place of names are the same every time. */
static int list_names(const char *path, char ***ret, size_t *ret_n)
{
	_cleanup_closedir_ DIR *dir = opendir(path);
	const struct dirent *entry;
	char **names = NULL;
	size_t n = 0;

	while (dir && n < NAMES_MAX && (entry = readdir(dir))) {
		char **more;

		if (entry->d_name[0] == '.')
			continue;
		more = reallocarray(names, n + 1, sizeof(*names));
		if (more)
			names = more;
		if (!more || !(names[n] = strdup(entry->d_name))) {
			free_words(names, n);
			return -ENOMEM;
		}
		n++;
	}
	if (n > 0)
		qsort(names, n, sizeof(*names), compare_words);
	*ret = names;
	*ret_n = n;
	return 0;
}

/* Records files of the directory `from` as files of the directory `to`. */
static int record_files(const struct recorder *recorder, const char *from, const char *to,
	const char *const *files, size_t n, scrub_function scrub)
{
	char path[PATH_MAX], name[PATH_MAX];

	for (size_t i = 0; i < n; i++) {
		int r;

		if ((size_t)snprintf(path, sizeof(path), "%s/%s", from, files[i]) >= sizeof(path) ||
			(size_t)snprintf(name, sizeof(name), "%s/%s", to, files[i]) >= sizeof(name))
			continue;
		r = record_file_as(recorder, path, name, scrub);
		if (r < 0)
			return r;
	}
	return 0;
}

/* Records that a directory exists, even if no file in it is recorded. */
static int record_directory(const struct recorder *recorder, const char *path)
{
	struct stat st;

	if (stat(path, &st) < 0 || !S_ISDIR(st.st_mode))
		return 0;
	return add_entry(recorder->recording, TARBALL_DIRECTORY, path + 1, NULL, 0);
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

static int record_supplies(const struct recorder *recorder)
{
	static const char *const files[] = { "type", "online", "status", "scope", "present" };
	static const char top[] = "/sys/class/power_supply";
	char from[PATH_MAX], to[PATH_MAX];
	char **names = NULL;
	size_t n = 0;
	int r;

	r = record_directory(recorder, top);
	if (r == 0)
		r = list_names(top, &names, &n);
	if (r < 0)
		return r;
	for (size_t i = 0; r == 0 && i < n; i++) {
		snprintf(from, sizeof(from), "%s/%s", top, names[i]);
		if (is_common_supply(names[i]))
			snprintf(to, sizeof(to), "%s/%s", top + 1, names[i]);
		else
			snprintf(to, sizeof(to), "%s/supply%zu", top + 1, i);
		r = record_files(recorder, from, to, files, ARRAY_SIZE(files), NULL);
	}
	free_words(names, n);
	return r;
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
static int record_sensors(const struct recorder *recorder)
{
	static const char *const files[] = { "name", "device/local_cpulist" };
	static const char top[] = "/sys/class/hwmon";
	char from[PATH_MAX];
	char **names = NULL;
	size_t n = 0;
	int r;

	r = record_directory(recorder, top);
	if (r == 0)
		r = list_names(top, &names, &n);
	if (r < 0)
		return r;
	for (size_t i = 0; r == 0 && i < n; i++) {
		struct rule rule = { from + 1,
			"temp*_input temp*_label temp*_max temp*_crit temp*_crit_alarm "
			"device/trip_point_*_type device/trip_point_*_temp",
			scrub_text, RULE_FOLLOW };

		snprintf(from, sizeof(from), "%s/%s", top, names[i]);
		if (!is_cpu_sensor(from))
			continue;
		r = record_files(recorder, from, from + 1, files, ARRAY_SIZE(files), scrub_text);
		if (r == 0)
			r = record_rule(recorder, &rule);
	}
	free_words(names, n);
	return r;
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
static int record_cgroups(
	const struct recorder *recorder, const char *from, const char *to, int depth)
{
	static const char *const files[] = { "cpuset.cpus", "cpuset.cpus.effective",
		"cpuset.cpus.exclusive", "cpuset.cpus.exclusive.effective", "cpuset.cpus.partition",
		"cpuset.effective_cpus", "cpuset.cpu_exclusive", "cpuset.sched_load_balance" };
	char below[PATH_MAX], name[PATH_MAX];
	struct stat st;
	char **names = NULL;
	size_t n = 0;
	int r;

	r = list_names(from, &names, &n);
	for (size_t i = 0; r == 0 && i < n; i++) {
		if ((size_t)snprintf(below, sizeof(below), "%s/%s", from, names[i]) >=
				PATH_MAX - 64 ||
			lstat(below, &st) < 0 || !S_ISDIR(st.st_mode))
			continue;
		if (is_common_cgroup(names[i]))
			r = snprintf(name, sizeof(name), "%s/%s", to, names[i]);
		else
			r = snprintf(name, sizeof(name), "%s/group%zu", to, i);
		r = r >= PATH_MAX - 64 ? -E2BIG : 0;
		/* Other cgroups can be skipped with everything below them: the parents of a
		 * partition are partitions, or have its CPUs in their own list. */
		if (r < 0 || (!has_own_cpus(below) && !is_common_cgroup(names[i])))
			continue;
		r = record_files(recorder, below, name, files, ARRAY_SIZE(files), NULL);
		if (r == 0 && depth > 1)
			r = record_cgroups(recorder, below, name, depth - 1);
	}
	free_words(names, n);
	return r;
}

/* Appends the name of a cgroup; `level` stands for a private name. */
static void append_level(struct text *to, const char *name, size_t length, size_t level)
{
	_cleanup_free_ char *copy = strndup(name, length);

	if (!copy)
		to->failed = true;
	else if (is_common_cgroup(copy))
		text_appendf(to, "/%s", copy);
	else
		text_appendf(to, "/level%zu", level);
}

/* Records the quota of the cgroup and of all above it, and appends to `home` how the cgroup is
 * called in the recording. */
static int record_levels(
	const struct recorder *recorder, const struct quota_cgroup *cgroup, struct text *home)
{
	static const char *const files[] = { "cpu.max", "cpu.cfs_quota_us", "cpu.cfs_period_us",
		"cgroup.sane_behavior" };
	bool is_unified = access(CGROUPS "/cgroup.controllers", F_OK) == 0;
	_cleanup_text_ struct text from = { 0 }, to = { 0 };
	const char *name = cgroup->path;
	int r = 0;

	text_append(&from, cgroup->mount);
	text_append(&to, &CGROUPS[1]);
	if (cgroup->controllers)
		text_appendf(&to, "/%s", cgroup->controllers);
	else if (!is_unified)
		text_append(&to, "/unified");
	for (size_t level = 0; r == 0; level++) {
		size_t length;

		if (from.failed || to.failed)
			return -ENOMEM;
		/* It may have none of the files. */
		if (level > 0)
			r = add_entry(recorder->recording, TARBALL_DIRECTORY, to.data, NULL, 0);
		if (r == 0)
			r = record_files(
				recorder, from.data, to.data, files, ARRAY_SIZE(files), NULL);
		if (!*name)
			break;
		length = strcspn(++name, "/");
		text_appendf(&from, "/%.*s", (int)length, name);
		append_level(&to, name, length, level);
		append_level(home, name, length, level);
		name += length;
	}
	return r;
}

/* Records the CPU quota of the cgroup from which this is called (quota.h). */
static int record_quota(const struct recorder *recorder)
{
	_cleanup_text_ struct text home = { 0 };
	struct quota_cgroup cgroup = { 0 };
	size_t size;
	char *text;
	int r;

	r = quota_find_cgroup(0, &cgroup);
	if (r == -ENOMEM || r == -ENODATA)
		return r == -ENOMEM ? r : 0;
	/* Neither can it be seen in the recording where it could not be seen here. */
	if (r < 0)
		text_append(&home, "1:cpu:/hidden\n0::");
	else if (cgroup.controllers)
		text_appendf(&home, "0::/\n1:%s:", cgroup.controllers);
	else
		text_append(&home, "0::");
	size = home.length;
	r = r == 0 ? record_levels(recorder, &cgroup, &home) : 0;
	quota_cgroup_clear(&cgroup);
	text_append(&home, home.length == size ? "/\n" : "\n");
	size = home.length;
	text = r == 0 ? text_steal(&home) : NULL;
	if (r == 0)
		r = text ? add_entry(recorder->recording, TARBALL_FILE, "proc/self/cgroup", text,
				   size)
			 : -ENOMEM;
	return r;
}

/* -ENOMEM, -E2BIG beyond TARBALL_ENTRIES_MAX or TARBALL_BYTES_MAX. */
static int read_machine(const struct scrub_names *names, struct recording **ret)
{
	_cleanup_(recording) struct recording *recording = calloc(1, sizeof(*recording));
	struct recorder recorder = { .recording = recording, .names = names };
	int r;

	if (!recording)
		return -ENOMEM;
	/* These directories show that the kernel lacks the files that are not recorded below
	 * them. */
	r = record_directory(&recorder, "/sys/kernel/mm");
	if (r == 0)
		r = record_directory(&recorder, "/sys/class");
	for (size_t i = 0; i < ARRAY_SIZE(rules) && r == 0; i++)
		r = record_rule(&recorder, &rules[i]);
	if (r == 0)
		r = record_supplies(&recorder);
	if (r == 0)
		r = record_sensors(&recorder);
	/* Cgroup v2, else v1, where /sys/fs/cgroup is a directory of hierarchies. */
	if (r == 0 && access("/sys/fs/cgroup/cgroup.controllers", F_OK) == 0)
		r = record_cgroups(&recorder, "/sys/fs/cgroup", "sys/fs/cgroup", CGROUP_DEPTH);
	else if (r == 0)
		r = record_cgroups(
			&recorder, "/sys/fs/cgroup/cpuset", "sys/fs/cgroup/cpuset", CGROUP_DEPTH);
	if (r == 0)
		r = record_quota(&recorder);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(recording);
	return 0;
}

int record_run(const char *path, bool verbose)
{
	_cleanup_(file_replace) struct file_replace *file = NULL;
	_cleanup_(scrub_names) struct scrub_names *names = NULL;
	_cleanup_(recording) struct recording *recording = NULL;
	int r;

	r = file_replace_begin(path, &file);
	if (r < 0) {
		say("cannot write %s: %s", path, file_replace_explain(r));
		return EXIT_FAILED;
	}
	r = scrub_names_read(&names);
	if (r == 0)
		r = read_machine(names, &recording);
	if (r < 0) {
		say_errno(r, "cannot record this machine");
		return EXIT_FAILED;
	}
	r = tarball_write(file_replace_stream(file), recording->entries, recording->n);
	if (r == -EOPNOTSUPP) {
		say("cannot write %s: this build cannot write archives (it has no libarchive)",
			path);
		return EXIT_FAILED;
	}
	if (r == 0)
		r = file_replace_commit(TAKE_PTR(file));
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
