// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "quiet/engine/hotplug.h"
#include "quiet/engine/journal.h"
#include "quiet/engine/knob.h"
#include "quiet/engine/layers.h"

#define CPU_DIR "/sys/devices/system/cpu"

void hotplug_free(struct hotplug *hotplug)
{
	if (!hotplug)
		return;
	cpumask_free(hotplug->present);
	cpumask_free(hotplug->online);
	cpumask_free(hotplug->missing);
	cpumask_free(hotplug->taken);
	cpumask_free(hotplug->offline_before);
	free(hotplug);
}

int hotplug_find_taken_cpu(const struct journal_entry *entry)
{
	int cpu = knob_find_switched_cpu(entry->path);

	if (cpu < 0 || knob_equal(entry->kind, entry->old, "0") ||
		(entry->new &&knob_equal(entry->kind, entry->old, entry->new)))
		return -1;
	return cpu;
}

/* Adds the CPUs that a setter has taken offline according to its journal. */
static int add_taken(const struct journal *journal, struct cpumask *ret)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < journal->n; i++) {
		int cpu = hotplug_find_taken_cpu(&journal->entries[i]);

		if (cpu >= 0)
			r = cpumask_set(ret, cpu);
	}
	return r;
}

/* Finds the CPUs that a setter has taken offline, which are neither missing nor offline_before: the
 * setter will bring them back, and will give their CPUs back to threads. */
static int find_taken(const struct journal *own, struct hotplug *hotplug)
{
	_cleanup_(cpumask) struct cpumask *all = NULL;
	_cleanup_(layers) struct layers *others = NULL;
	int r;

	r = cpumask_new(&all);
	if (r == 0)
		r = layers_read(own->tool, NULL, &others);
	if (r == 0)
		r = add_taken(own, all);
	for (size_t i = 0; r == 0 && i < others->n; i++)
		r = add_taken(others->items[i].journal, all);
	if (r < 0)
		return r;
	cpumask_and(hotplug->taken, hotplug->missing, all);
	cpumask_andnot(hotplug->missing, hotplug->missing, all);
	cpumask_andnot(hotplug->offline_before, hotplug->offline_before, all);
	return 0;
}

/* Reads a list of CPUs; it is empty when the machine has no such file. */
static int read_cpus(const char *path, struct cpumask *ret)
{
	int r = cpumask_read_list(AT_FDCWD, path, ret);

	return r == -ENOENT ? 0 : r;
}

int hotplug_read(const struct journal *journal, struct hotplug **ret)
{
	_cleanup_(hotplug) struct hotplug *hotplug = calloc(1, sizeof(*hotplug));
	int r;

	if (!hotplug)
		return -ENOMEM;
	if (cpumask_new(&hotplug->present) < 0 || cpumask_new(&hotplug->online) < 0 ||
		cpumask_new(&hotplug->missing) < 0 || cpumask_new(&hotplug->taken) < 0 ||
		cpumask_new(&hotplug->offline_before) < 0)
		return -ENOMEM;
	r = read_cpus(CPU_DIR "/present", hotplug->present);
	if (r == 0)
		r = read_cpus(CPU_DIR "/online", hotplug->online);
	if (r < 0)
		return r;
	if (!cpumask_is_empty(hotplug->present) && !cpumask_is_empty(hotplug->online) && journal &&
		journal->online &&
		cpumask_parse_list(journal->online, 0, hotplug->missing, NULL) == 0) {
		cpumask_andnot(hotplug->offline_before, hotplug->present, hotplug->online);
		cpumask_and(hotplug->missing, hotplug->missing, hotplug->offline_before);
		cpumask_andnot(hotplug->offline_before, hotplug->offline_before, hotplug->missing);
		if (!cpumask_is_empty(hotplug->missing) ||
			!cpumask_is_empty(hotplug->offline_before))
			r = find_taken(journal, hotplug);
	}
	if (r < 0)
		return r;
	*ret = TAKE_PTR(hotplug);
	return 0;
}

int hotplug_note_online(struct journal *journal)
{
	_cleanup_(cpumask) struct cpumask *online = NULL, *before = NULL;
	_cleanup_free_ char *list = NULL;
	int r;

	if (cpumask_new(&online) < 0 || cpumask_new(&before) < 0)
		return -ENOMEM;
	r = read_cpus(CPU_DIR "/online", online);
	if (r < 0 || cpumask_is_empty(online))
		return r;
	if (journal->online && cpumask_parse_list(journal->online, 0, before, NULL) == 0)
		cpumask_or(online, online, before);
	list = cpumask_format_list(online);
	return list ? text_replace(&journal->online, list) : -ENOMEM;
}

/* Whether each of these CPUs can go offline: CPU 0 of most machines cannot. */
static bool can_all_go_offline(const struct cpumask *cpus)
{
	cpumask_for_each (cpu, cpus) {
		char path[sizeof(CPU_DIR) + 32];

		snprintf(path, sizeof(path), CPU_DIR "/cpu%d/online", cpu);
		if (access(path, F_OK) < 0)
			return false;
	}
	return true;
}

static bool is_of_interrupt(const char *path)
{
	static const char directory[] = "/proc/irq/";
	const char *number = path + strlen(directory);

	/* The kernel never changes default_smp_affinity by itself. */
	return text_starts_with(path, directory) && *number >= '0' && *number <= '9';
}

/* Whether the mask `now` of an interrupt, which was set to `set`, may have come about by hotplug.
 * `has_waited`: a CPU of it was offline when it was set. */
static bool made_mask(const struct hotplug *hotplug, bool has_waited, const struct cpumask *set,
	const struct cpumask *now, struct cpumask *scratch)
{
	if ((has_waited || !cpumask_is_empty(hotplug->missing)) &&
		cpumask_equal(now, hotplug->online))
		return true;
	/* The driver has requested the interrupt again, which removes offline CPUs from its
	 * mask. */
	cpumask_and(scratch, set, hotplug->present);
	if (!cpumask_subset(scratch, hotplug->online)) {
		cpumask_and(scratch, scratch, hotplug->online);
		if (cpumask_equal(now, scratch))
			return true;
	}
	/* All CPUs of the interrupt were offline for a while, and are online again. The interrupt
	 * stays on the CPUs that it was moved to. */
	if (cpumask_is_empty(set) || cpumask_intersects(now, set) || !can_all_go_offline(set))
		return false;
	cpumask_andnot(scratch, hotplug->online, set);
	return !cpumask_is_empty(scratch) && cpumask_subset(scratch, now);
}

/* Whether it is the list of a group that loses CPUs which go offline. */
static bool is_of_group(const char *path)
{
	return journal_path_is_cpuset(path) || text_starts_with(path, "/sys/fs/resctrl/");
}

/* Whether the list `now`, which was set to `set`, lacks only CPUs that went offline. */
static bool made_list(const struct hotplug *hotplug, const struct cpumask *set,
	const struct cpumask *now, struct cpumask *scratch)
{
	cpumask_andnot(scratch, set, now);
	return cpumask_subset(now, set) && cpumask_subset(scratch, hotplug->missing);
}

int hotplug_made_value(
	const struct hotplug *hotplug, const struct journal_entry *entry, const char *now)
{
	_cleanup_(cpumask) struct cpumask *set = NULL, *n = NULL, *scratch = NULL;
	bool is_set = entry->kind == KNOB_MASK || entry->kind == KNOB_LIST;
	bool is_group = is_of_group(entry->path);

	if (!is_set || !entry->new || (!is_group && !is_of_interrupt(entry->path)) ||
		cpumask_is_empty(hotplug->online))
		return 0;
	if (cpumask_new(&set) < 0 || cpumask_new(&n) < 0 || cpumask_new(&scratch) < 0)
		return -ENOMEM;
	if (knob_parse_cpus(entry->kind, entry->new, set) < 0 ||
		knob_parse_cpus(entry->kind, now, n) < 0)
		return 0;
	return is_group ? made_list(hotplug, set, n, scratch)
			: made_mask(hotplug, entry->waits_for_cpu, set, n, scratch);
}

/* Adds the CPUs of a frequency policy. The first one alone does not tell whether its files are
 * there: they are while any CPU of the policy is online. */
static int add_cpus_of_policy(const struct hotplug *hotplug, int policy, struct cpumask *ret)
{
	cpumask_for_each (cpu, hotplug->present) {
		int of, r = knob_read_policy(cpu, &of);

		if (r == 0 && of == policy)
			r = cpumask_set(ret, cpu);
		if (r < 0 && r != -ENOENT)
			return r;
	}
	return 0;
}

/* The first of these CPUs that is missing or taken; -1 for none. */
static int find_absent(const struct hotplug *hotplug, const struct cpumask *cpus)
{
	cpumask_for_each (cpu, cpus) {
		if (cpumask_isset(hotplug->missing, cpu) || cpumask_isset(hotplug->taken, cpu))
			return cpu;
	}
	return -1;
}

int hotplug_find_cpu_of_file(const struct hotplug *hotplug, const char *path, struct cpumask **ret)
{
	_cleanup_(cpumask) struct cpumask *all = NULL, *cpus = NULL;
	int policy = knob_find_policy(path), cpu, r;

	/* The file `online` remains while its CPU is offline: it serves to bring the CPU back. */
	if (knob_find_switched_cpu(path) >= 0)
		return 0;
	r = knob_find_cpus(path, &cpu, &all);
	if (r == 0)
		r = cpumask_new(&cpus);
	if (r < 0 || cpu < 0)
		return r;
	r = cpumask_set(cpus, cpu);
	if (r == 0 && policy >= 0)
		r = add_cpus_of_policy(hotplug, policy, cpus);
	if (r < 0 || cpumask_intersects(cpus, hotplug->online))
		return r;
	cpu = find_absent(hotplug, cpus);
	if (cpu < 0)
		return 0;
	cpumask_clear_all(cpus);
	(void)cpumask_set(cpus, cpu);
	*ret = TAKE_PTR(cpus);
	return 1;
}
