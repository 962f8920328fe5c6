// SPDX-License-Identifier: GPL-2.0-or-later
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/machine/topology.h"
#include "base/macro.h"
#include "base/parse.h"
#include "base/text.h"

#define CPU_DIR "/sys/devices/system/cpu"
#define TREE_CPUS "/sys/firmware/devicetree/base/cpus"
#define NODE_DIR "/sys/devices/system/node"

enum {
	/* Most machines have 4 caches per CPU; no machine with more than 6 is known. */
	CACHE_INDEX_MAX = 16,
	/* A line per CPU, and a line with a number per interrupt. */
	PROC_STAT_MAX = 16 * 1024 * 1024,
	NODE_MAX = 1024, /* CONFIG_NODES_SHIFT is at most 10 */
};

static const struct topology_cpu unknown_cpu = {
	.package = -1,
	.node = -1,
	.core = -1,
	.llc = -1,
	.llc_level = -1,
	.kind = TOPOLOGY_KIND_UNIFORM,
	.rank = -1,
};

int topology_new(unsigned n_cpus, struct topology **ret)
{
	_cleanup_(topology) struct topology *topology = NULL;

	if (n_cpus == 0 || n_cpus > CPUMASK_CAPACITY)
		return -EINVAL;
	topology = calloc(1, sizeof(*topology));
	if (!topology)
		return -ENOMEM;
	topology->cpus = calloc(n_cpus, sizeof(*topology->cpus));
	if (!topology->cpus || cpumask_new(&topology->possible) < 0 ||
		cpumask_new(&topology->present) < 0 || cpumask_new(&topology->online) < 0)
		return -ENOMEM;
	topology->n_cpus = n_cpus;
	for (unsigned i = 0; i < n_cpus; i++) {
		topology->cpus[i] = unknown_cpu;
		topology->cpus[i].core = (int)i;
	}
	*ret = TAKE_PTR(topology);
	return 0;
}

void topology_free(struct topology *topology)
{
	if (!topology)
		return;
	cpumask_free(topology->possible);
	cpumask_free(topology->present);
	cpumask_free(topology->online);
	free(topology->cpus);
	free(topology);
}

const struct topology_cpu *topology_get_cpu(const struct topology *topology, int cpu)
{
	if (cpu < 0 || (unsigned)cpu >= topology->n_cpus)
		return NULL;
	return &topology->cpus[cpu];
}

void topology_get_siblings(const struct topology *topology, int cpu, struct cpumask *ret)
{
	const struct topology_cpu *self = topology_get_cpu(topology, cpu);

	cpumask_clear_all(ret);
	if (!self)
		return;
	for (unsigned i = 0; i < topology->n_cpus; i++) {
		if ((int)i == cpu || topology->cpus[i].core == self->core)
			(void)cpumask_set(ret, (int)i);
	}
}

const char *topology_kind_name(enum topology_kind kind)
{
	static const char *const names[TOPOLOGY_N_KINDS] = { "", "performance", "efficiency",
		"low-power", "kind-4", "kind-5", "kind-6", "kind-7", "kind-8" };

	return names[kind];
}

/* The largest value of a group that is not marked as done; 0 where there is none. */
static uint64_t find_fastest(const struct topology *topology, const uint64_t *values,
	const unsigned *groups, unsigned group, const unsigned *done)
{
	uint64_t best = 0;

	for (unsigned i = 0; i < topology->n_cpus; i++)
		if (groups[i] == group && done[i] == 0)
			best = MAX(best, values[i]);
	return best;
}

/*
 * Splits each group of CPUs, which are numbered from 1 on, into those that are alike by these
 * values, and numbers the new groups in the same order, the fastest of a group first. CPUs whose
 * value is not known stay together where their group is not split; where it is, they are in none,
 * which is number 0. Returns the number of groups. `scratch` has room for a number per CPU.
 */
static unsigned split_groups(const struct topology *topology, const uint64_t *values,
	unsigned percent, unsigned *groups, unsigned n_groups, unsigned *scratch)
{
	unsigned n = 0;

	memset(scratch, 0, topology->n_cpus * sizeof(*scratch));
	for (unsigned group = 1; group <= n_groups; group++) {
		unsigned first = n + 1;
		uint64_t best;

		do {
			best = find_fastest(topology, values, groups, group, scratch);
			n++;
			for (unsigned i = 0; best > 0 && i < topology->n_cpus; i++) {
				/* As double: a product of any unit with 100 cannot overflow. */
				if (groups[i] == group && scratch[i] == 0 && values[i] > 0 &&
					(double)values[i] * 100 >= (double)best * percent)
					scratch[i] = n;
			}
		} while (best > 0);
		/* The last one, of those that are not known, has a number only if it is alone. */
		n -= n > first;
		for (unsigned i = 0; n == first && i < topology->n_cpus; i++)
			if (groups[i] == group)
				scratch[i] = first;
	}
	memcpy(groups, scratch, topology->n_cpus * sizeof(*groups));
	return n;
}

int topology_rate_kinds(struct topology *topology, const struct topology_speeds *speeds)
{
	_cleanup_free_ unsigned *groups = calloc(topology->n_cpus, sizeof(*groups));
	_cleanup_free_ unsigned *scratch = calloc(topology->n_cpus, sizeof(*scratch));
	_cleanup_free_ uint64_t *levels = calloc(topology->n_cpus, sizeof(*levels));
	unsigned n = 1;

	if (!groups || !scratch || !levels)
		return -ENOMEM;
	topology->kind_source = TOPOLOGY_KIND_FROM_NOTHING;
	for (unsigned i = 0; i < topology->n_cpus; i++) {
		groups[i] = 1;
		levels[i] = (uint64_t)MAX(topology->cpus[i].llc_level, 0);
	}
	for (size_t source = 0; source < ARRAY_SIZE(speeds->by); source++) {
		if (!speeds->by[source])
			continue;
		n = split_groups(topology, speeds->by[source],
			source == TOPOLOGY_KIND_FROM_PMU ? 100 : TOPOLOGY_ALIKE_PERCENT, groups, n,
			scratch);
		if (n > 1 && topology->kind_source == TOPOLOGY_KIND_FROM_NOTHING)
			topology->kind_source = (enum topology_kind_source)source;
	}
	if (n > 1)
		n = split_groups(topology, levels, 100, groups, n, scratch);
	for (unsigned i = 0; i < topology->n_cpus; i++)
		topology->cpus[i].kind = n > 1
			? (enum topology_kind)MIN(groups[i], (unsigned)TOPOLOGY_KIND_LAST)
			: TOPOLOGY_KIND_UNIFORM;
	return 0;
}

/* Reads a set of CPUs from the file `list`, or, where this fails, from the file `hex`; either may
 * be NULL. 0, or a negative errno with *ret untouched: -ENOENT if there is neither. */
static int read_mask(int dirfd, const char *list, const char *hex, struct cpumask *ret)
{
	char buf[FILE_ATTR_SIZE];
	int r = -ENOENT;

	if (list)
		r = cpumask_read_list(dirfd, list, ret);
	if (r < 0 && hex) {
		int second = file_read_attr(dirfd, hex, buf, sizeof(buf));

		if (second >= 0)
			return cpumask_parse_hex(buf, ret);
		if (r == -ENOENT)
			r = second;
	}
	return r;
}

/* -1 for a missing file, an offline CPU, the kernel's own -1 and any other text. */
static int64_t read_number(int dirfd, const char *path)
{
	char buf[FILE_ATTR_SIZE];
	int64_t value;

	if (file_read_attr(dirfd, path, buf, sizeof(buf)) < 0 || parse_attr_s64(buf, &value) < 0 ||
		value < 0)
		return -1;
	return value;
}

static int read_id(int dirfd, const char *path)
{
	int64_t value = read_number(dirfd, path);

	return value > INT_MAX ? -1 : (int)value;
}

/* The number in a directory entry such as "cpu12": -EINVAL for "cpufreq" and the like. */
static int parse_entry(const char *name, const char *prefix, unsigned max, unsigned *ret)
{
	if (!text_starts_with(name, prefix))
		return -EINVAL;
	return parse_uint(name + strlen(prefix), 0, max, ret);
}

static int read_directories(struct cpumask *ret)
{
	_cleanup_closedir_ DIR *dir = opendir(CPU_DIR);
	const struct dirent *entry;
	unsigned cpu;

	if (!dir)
		return -errno;
	cpumask_clear_all(ret);
	while ((entry = readdir(dir))) {
		if (parse_entry(entry->d_name, "cpu", CPUMASK_CAPACITY - 1, &cpu) == 0)
			(void)cpumask_set(ret, (int)cpu);
	}
	return 0;
}

/* The CPUs that have a line in /proc/stat: the online ones (fs/proc/stat.c). */
static int read_proc_stat(struct cpumask *ret)
{
	_cleanup_free_ char *text = NULL;
	int r;

	r = file_read_all("/proc/stat", PROC_STAT_MAX, &text, NULL);
	if (r < 0)
		return r;
	topology_parse_stat(text, ret);
	return 0;
}

void topology_parse_stat(const char *text, struct cpumask *ret)
{
	cpumask_clear_all(ret);
	for (const char *line = text; line; line = strchr(line, '\n')) {
		uint64_t cpu;

		if (*line == '\n')
			line++;
		/* The line "cpu ..." has the sums. */
		if (!text_starts_with(line, "cpu") || line[3] == ' ')
			continue;
		line += strlen("cpu");
		if (parse_next_u64(&line, &cpu) == 0 && cpu < CPUMASK_CAPACITY)
			(void)cpumask_set(ret, (int)cpu);
	}
}

/* For kernels without the file `online`, and where the file is not the kernel's: reads each CPU's
 * own file `online`; a CPU without this file (often the boot CPU) is online if it has a line in
 * /proc/stat. */
static void guess_online(const struct cpumask *present, struct cpumask *ret)
{
	_cleanup_(cpumask) struct cpumask *counted = NULL;
	bool counting;

	counting = cpumask_new(&counted) == 0 && read_proc_stat(counted) == 0 &&
		!cpumask_is_empty(counted);
	cpumask_clear_all(ret);
	cpumask_for_each (cpu, present) {
		char path[sizeof(CPU_DIR) + 32];
		int64_t online;

		snprintf(path, sizeof(path), CPU_DIR "/cpu%d/online", cpu);
		online = read_number(AT_FDCWD, path);
		if (online < 0)
			online = !counting || cpumask_isset(counted, cpu);
		if (online)
			(void)cpumask_set(ret, cpu);
	}
}

/* Adds the CPUs of this thread's affinity to the online ones; *ret_added: there were some to add to
 * others.
 * lxcfs lets the list of possible CPUs and the CPUs' own files through: what these do not know is
 * no CPU of the machine that is shown. `possible` is empty where there is no such list. */
static int add_own(const struct cpumask *possible, struct cpumask *online, bool *ret_added)
{
	_cleanup_(cpumask) struct cpumask *own = NULL;
	char path[sizeof(CPU_DIR) + 32];

	if (cpumask_new(&own) < 0)
		return -ENOMEM;
	if (cpumask_get_self(own) < 0)
		return 0;
	cpumask_andnot(own, own, online);
	if (!cpumask_is_empty(possible))
		cpumask_and(own, own, possible);
	cpumask_for_each (cpu, own) {
		snprintf(path, sizeof(path), CPU_DIR "/cpu%d/online", cpu);
		if (read_number(AT_FDCWD, path) == 0)
			cpumask_clear(own, cpu);
	}
	*ret_added = !cpumask_is_empty(own) && !cpumask_is_empty(online);
	cpumask_or(online, online, own);
	return 0;
}

/* Whether another file system stands over the list of online CPUs, as that of lxcfs does. */
static bool is_list_covered(void)
{
	struct stat list, folder;

	return stat(CPU_DIR "/online", &list) == 0 && stat(CPU_DIR, &folder) == 0 &&
		list.st_dev != folder.st_dev;
}

/* Makes possible include present, and present include online, even where files are missing or
 * contradict each other. */
static int read_masks(bool recorded, struct cpumask *possible, struct cpumask *present,
	struct cpumask *online, bool *ret_renumbered)
{
	bool ignored = false;
	int error, r;

	error = read_mask(AT_FDCWD, CPU_DIR "/present", NULL, present);
	if (error < 0 && read_directories(present) < 0)
		(void)read_proc_stat(present);
	if (read_mask(AT_FDCWD, CPU_DIR "/online", NULL, online) < 0)
		guess_online(present, online);
	(void)read_mask(AT_FDCWD, CPU_DIR "/possible", NULL, possible);
	/* Lists that are there and could not be read: this thread's CPUs need not be all. */
	if (error < 0 && error != -ENOENT && error != -ENOTDIR && cpumask_is_empty(present) &&
		cpumask_is_empty(online))
		return error;
	r = recorded ? 0 : add_own(possible, online, ret_renumbered);
	/* The list has the CPUs of the container, and the machine has others as well. */
	if (r == 0 && (*ret_renumbered || is_list_covered())) {
		guess_online(present, online);
		r = recorded ? 0 : add_own(possible, online, &ignored);
	}
	if (r < 0)
		return r;
	cpumask_or(present, present, online);
	cpumask_or(possible, possible, present);
	return cpumask_is_empty(possible) ? -ENODATA : 0;
}

/* Keeps the first error that hides which CPUs share a core. Offline CPUs have no such files, and a
 * file with nonsense will not be better next time. */
static void note_cores_error(struct topology *topology, int error)
{
	if (topology->cores_error == 0 && error < 0 && error != -ENOENT && error != -ENOTDIR &&
		error != -EINVAL && error != -ERANGE)
		topology->cores_error = error;
}

static void read_core(struct topology *topology, int number, struct cpumask *scratch)
{
	struct topology_cpu *cpu = &topology->cpus[number];
	char list[sizeof(CPU_DIR) + 64], hex[sizeof(CPU_DIR) + 64];
	int r;

	snprintf(list, sizeof(list), CPU_DIR "/cpu%d/topology/thread_siblings_list", number);
	snprintf(hex, sizeof(hex), CPU_DIR "/cpu%d/topology/thread_siblings", number);
	r = read_mask(AT_FDCWD, list, hex, scratch);
	if (r == 0 && cpumask_isset(scratch, number)) {
		cpu->core = cpumask_first(scratch);
		cpu->core_told = true;
	}
	note_cores_error(topology, r);
}

int topology_read_core_size(unsigned *ret)
{
	_cleanup_closedir_ DIR *dir = opendir(TREE_CPUS);
	const struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		_cleanup_free_ char *data = NULL;
		char path[PATH_MAX];
		size_t size;
		int r;

		snprintf(path, sizeof(path), TREE_CPUS "/%s/ibm,ppc-interrupt-server#s",
			entry->d_name);
		r = file_read_all(path, FILE_ATTR_SIZE, &data, &size);
		if (r == -ENOMEM)
			return r;
		/* A cell of four bytes for each thread; a power of 2. */
		size /= 4;
		if (r < 0 || size == 0 || (size & (size - 1)) != 0)
			continue;
		*ret = (unsigned)size;
		return 0;
	}
	return -ENOENT;
}

/* Opens a directory below dirfd; NULL when there is none. */
static DIR *open_directory(int dirfd, const char *path)
{
	int fd = openat(dirfd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir;

	if (fd < 0)
		return NULL;
	dir = fdopendir(fd);
	if (!dir)
		close(fd);
	return dir;
}

/* Which of cache/index0, cache/index1, ... exist: one bit for each. */
static unsigned read_cache_indexes(int dirfd)
{
	_cleanup_closedir_ DIR *dir = open_directory(dirfd, "cache");
	const struct dirent *entry;
	unsigned index, found = 0;

	while (dir && (entry = readdir(dir))) {
		if (parse_entry(entry->d_name, "index", CACHE_INDEX_MAX - 1, &index) == 0)
			found |= 1U << index;
	}
	return found;
}

/* The level of the last-level cache, and the CPUs that share it; -1 where the machine does not
 * tell. */
static int read_last_cache(
	int dirfd, int number, struct cpumask *ret_sharing, struct cpumask *scratch)
{
	unsigned found = read_cache_indexes(dirfd);
	int highest = -1;

	/* Downwards: the kernel lists the largest cache last, so the other caches are skipped
	 * early. */
	for (int i = CACHE_INDEX_MAX - 1; i >= 0; i--) {
		char level_path[64], list[64], hex[64];
		int level;

		if (!(found & 1U << i))
			continue;
		snprintf(level_path, sizeof(level_path), "cache/index%d/level", i);
		snprintf(list, sizeof(list), "cache/index%d/shared_cpu_list", i);
		snprintf(hex, sizeof(hex), "cache/index%d/shared_cpu_map", i);
		level = read_id(dirfd, level_path);
		if (level <= highest)
			continue;
		if (read_mask(dirfd, list, hex, scratch) < 0 || !cpumask_isset(scratch, number))
			continue;
		highest = level;
		cpumask_assign(ret_sharing, scratch);
	}
	return highest;
}

/* A cache that one CPU lists is set for all CPUs that share it, and their files are not read: on a
 * big machine they are most of the files. */
static void read_llc(struct topology *topology, int dirfd, int number, struct cpumask *sharing,
	struct cpumask *scratch)
{
	int level;

	if (topology->cpus[number].llc >= 0)
		return;
	level = read_last_cache(dirfd, number, sharing, scratch);
	if (level < 0)
		return;
	cpumask_for_each (other, sharing) {
		if ((unsigned)other >= topology->n_cpus || topology->cpus[other].llc >= 0)
			continue;
		topology->cpus[other].llc = cpumask_first(sharing);
		topology->cpus[other].llc_level = level;
	}
}

static int read_node(int dirfd)
{
	_cleanup_closedir_ DIR *dir = open_directory(dirfd, ".");
	const struct dirent *entry;
	unsigned node;

	while (dir && (entry = readdir(dir))) {
		if (parse_entry(entry->d_name, "node", NODE_MAX - 1, &node) == 0)
			return (int)node;
	}
	return -1;
}

/* Reads the nodes' lists: most machines have one or two nodes, while the CPUs' own entries are one
 * per CPU. */
static void read_nodes(struct topology *topology, struct cpumask *scratch)
{
	_cleanup_closedir_ DIR *dir = opendir(NODE_DIR);
	const struct dirent *entry;
	unsigned node;

	if (!dir)
		return;
	while ((entry = readdir(dir))) {
		char list[64], hex[64];

		if (parse_entry(entry->d_name, "node", NODE_MAX - 1, &node) < 0)
			continue;
		snprintf(list, sizeof(list), "node%u/cpulist", node);
		snprintf(hex, sizeof(hex), "node%u/cpumap", node);
		if (read_mask(dirfd(dir), list, hex, scratch) < 0)
			continue;
		cpumask_for_each (cpu, scratch) {
			if ((unsigned)cpu < topology->n_cpus && topology->cpus[cpu].node < 0)
				topology->cpus[cpu].node = (int)node;
		}
	}
}

/* Which of the core PMUs a CPU has, as a speed; all 0 where there is only one kind of them. */
static int read_pmus(const struct topology *topology, uint64_t *ret)
{
	static const char *const pmus[] = { "/sys/devices/cpu_lowpower/cpus",
		"/sys/devices/cpu_atom/cpus", "/sys/devices/cpu_core/cpus" };
	_cleanup_(cpumask) struct cpumask *cpus = NULL;

	if (cpumask_new(&cpus) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < ARRAY_SIZE(pmus); i++) {
		if (read_mask(AT_FDCWD, pmus[i], NULL, cpus) < 0)
			continue;
		cpumask_for_each (cpu, cpus) {
			if ((unsigned)cpu < topology->n_cpus)
				ret[cpu] = i + 1;
		}
	}
	return 0;
}

/* Whether the first online CPU has this file, for files that the kernel has for every online CPU or
 * for none: attributes of a driver, or data of the firmware or the device tree. */
static bool has_number(const struct topology *topology, const char *name)
{
	char path[sizeof(CPU_DIR) + 64];

	snprintf(path, sizeof(path), CPU_DIR "/cpu%d/%s", cpumask_first(topology->online), name);
	return read_number(AT_FDCWD, path) >= 0;
}

static int read_topology_masks(bool recorded, struct topology **ret)
{
	_cleanup_(topology) struct topology *topology = NULL;
	_cleanup_(cpumask) struct cpumask *possible = NULL, *present = NULL, *online = NULL;
	bool renumbered = false;
	int r;

	if (cpumask_new(&possible) < 0 || cpumask_new(&present) < 0 || cpumask_new(&online) < 0)
		return -ENOMEM;
	r = read_masks(recorded, possible, present, online, &renumbered);
	if (r < 0)
		return r;
	r = topology_new((unsigned)cpumask_last(possible) + 1, &topology);
	if (r < 0)
		return r;
	cpumask_assign(topology->possible, possible);
	cpumask_assign(topology->present, present);
	cpumask_assign(topology->online, online);
	topology->renumbered = renumbered;
	*ret = TAKE_PTR(topology);
	return 0;
}

int topology_read_masks(struct topology **ret)
{
	return read_topology_masks(false, ret);
}

int topology_read_cores(struct topology **ret)
{
	_cleanup_(topology) struct topology *topology = NULL;
	_cleanup_(cpumask) struct cpumask *scratch = NULL;
	int r;

	if (cpumask_new(&scratch) < 0)
		return -ENOMEM;
	r = topology_read_masks(&topology);
	if (r < 0)
		return r;
	cpumask_for_each (number, topology->present)
		read_core(topology, number, scratch);
	*ret = TAKE_PTR(topology);
	return 0;
}

/* The files that are read for each CPU besides core and cache; NULL where the machine has none. */
struct sources {
	const char *rank;
	const char *speeds[TOPOLOGY_KIND_FROM_FREQUENCY + 1];
};

static struct sources choose_sources(const struct topology *topology)
{
	static const char *const speeds[] = {
		[TOPOLOGY_KIND_FROM_CAPACITY] = "cpu_capacity",
		[TOPOLOGY_KIND_FROM_FREQUENCY] = "cpufreq/cpuinfo_max_freq",
	};
	struct sources sources = { 0 };

	if (has_number(topology, "cpufreq/amd_pstate_prefcore_ranking"))
		sources.rank = "cpufreq/amd_pstate_prefcore_ranking";
	else if (has_number(topology, "acpi_cppc/highest_perf"))
		sources.rank = "acpi_cppc/highest_perf";
	for (size_t i = 0; i < ARRAY_SIZE(speeds); i++)
		if (speeds[i] && has_number(topology, speeds[i]))
			sources.speeds[i] = speeds[i];
	return sources;
}

int topology_read(bool recorded, struct topology **ret)
{
	_cleanup_(topology) struct topology *topology = NULL;
	_cleanup_(cpumask) struct cpumask *sharing = NULL, *scratch = NULL;
	_cleanup_free_ uint64_t *values = NULL;
	struct topology_speeds speeds = { 0 };
	struct sources sources;
	int r;

	r = read_topology_masks(recorded, &topology);
	if (r < 0)
		return r;
	values = calloc(topology->n_cpus, ARRAY_SIZE(speeds.by) * sizeof(*values));
	if (!values || cpumask_new(&sharing) < 0 || cpumask_new(&scratch) < 0)
		return -ENOMEM;
	sources = choose_sources(topology);
	r = read_pmus(topology, values + TOPOLOGY_KIND_FROM_PMU * topology->n_cpus);
	if (r < 0)
		return r;
	for (size_t i = TOPOLOGY_KIND_FROM_PMU; i < ARRAY_SIZE(speeds.by); i++)
		speeds.by[i] = values + i * topology->n_cpus;
	read_nodes(topology, scratch);
	cpumask_for_each (number, topology->present) {
		struct topology_cpu *cpu = &topology->cpus[number];
		_cleanup_close_ int fd = -EBADF;
		char path[sizeof(CPU_DIR) + 32];

		snprintf(path, sizeof(path), CPU_DIR "/cpu%d", number);
		fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (fd < 0) {
			note_cores_error(topology, -errno);
			continue;
		}
		cpu->package = read_id(fd, "topology/physical_package_id");
		read_core(topology, number, scratch);
		read_llc(topology, fd, number, sharing, scratch);
		/* The nodes' lists lack offline CPUs. */
		if (cpu->node < 0)
			cpu->node = read_node(fd);
		if (sources.rank)
			cpu->rank = read_number(fd, sources.rank);
		for (size_t i = 0; i < ARRAY_SIZE(sources.speeds); i++) {
			int64_t speed = -1;

			if (sources.speeds[i] && cpumask_isset(topology->online, number))
				speed = read_number(fd, sources.speeds[i]);
			if (speed > 0)
				values[i * topology->n_cpus + (size_t)number] = (uint64_t)speed;
		}
	}
	r = topology_rate_kinds(topology, &speeds);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(topology);
	return 0;
}
