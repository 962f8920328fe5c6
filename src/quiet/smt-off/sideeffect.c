// SPDX-License-Identifier: GPL-2.0-or-later
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/machine/irqline.h"
#include "base/machine/mountinfo.h"
#include "base/machine/netqueue.h"
#include "base/macro.h"
#include "base/paths.h"
#include "base/text.h"
#include "quiet/engine/controller.h"
#include "quiet/engine/hotplug.h"
#include "quiet/engine/irqs.h"
#include "quiet/engine/thread.h"
#include "quiet/engine/threads.h"
#include "quiet/engine/tunables.h"
#include "quiet/smt-off/sideeffect.h"

#define MOUNTS "/proc/self/mountinfo"
#define STEERING_TOOL "irq-steer"
#define RESCTRL "/sys/fs/resctrl"
#define CPUS "/sys/devices/system/cpu/"
#define CPUFREQ CPUS "cpufreq/"

enum {
	GROUP_DEPTH_MAX = 64,
};

/* What tells where interrupts are to go; all NULL where they are only kept as they are. */
struct steered {
	struct journal *steering; /* of irq-steer */
	struct journal *own;
	const struct cpumask *online;
};

/* The online CPUs that irq-steer lets new interrupts go to. -ENOENT where that is not known. */
static int read_default(const struct steered *s, struct cpumask *ret)
{
	int r = irqs_read_default(ret);

	if (r < 0)
		return r;
	cpumask_and(ret, ret, s->online);
	return cpumask_is_empty(ret) ? -ENOENT : 0;
}

/*
 * The CPUs that an interrupt is wanted on, malloc'd. *ret is NULL where it is only kept: irq-steer
 * does not know it, somebody else has moved it since the CPUs went offline, or it may come to no
 * other CPU than before.
 */
static int find_wanted(const struct steered *s, const char *path, char **ret)
{
	const struct journal_entry *own = journal_find_ours(s->own, path);
	_cleanup_(cpumask) struct cpumask *before = NULL, *now = NULL;
	_cleanup_free_ char *text = NULL;
	int r;

	*ret = NULL;
	if (!own || !own->new || !journal_find_ours(s->steering, path))
		return 0;
	r = file_read_long_attr(AT_FDCWD, path, &text);
	if (r < 0)
		return errno_is_ours(-r) ? r : 0;
	if (!knob_equal(KNOB_LIST, text, own->new))
		return 0;
	r = cpumask_from_list(own->old, &before);
	if (r == 0)
		r = cpumask_from_list(text, &now);
	if (r < 0)
		return r == -ENOMEM ? r : 0;
	cpumask_and(before, before, s->online);
	cpumask_and(now, now, s->online);
	if (cpumask_subset(now, before))
		return 0;
	r = cpumask_is_empty(before) ? read_default(s, before) : 0;
	if (r < 0)
		return r == -ENOENT ? 0 : r;
	*ret = cpumask_format_list(before);
	return *ret ? 0 : -ENOMEM;
}

static int add_line(
	struct knob_plan *plan, unsigned group, const struct irqline *line, const struct steered *s)
{
	const char *action = line->action;
	_cleanup_free_ char *wanted = NULL;
	char path[IRQLINE_PATH_SIZE];
	struct knob *knob;
	int r;

	irqline_affinity_path(line->number, path);
	r = find_wanted(s, path, &wanted);
	if (r == 0)
		r = knob_plan_add(plan, group, KNOB_LIST, path, wanted, &knob,
			"CPUs of interrupt %u%s%s%s", line->number, action ? " (" : "",
			action ? action : "", action ? ")" : "");
	if (r == 0)
		knob->may_be_refused = true;
	return r;
}

static int add_lines(
	struct knob_plan *plan, unsigned group, struct irqlines *lines, const struct steered *s)
{
	int r;

	r = irqlines_read_named(lines);
	if (r < 0)
		return r == -ENOENT ? 0 : r;
	for (size_t i = 0; r == 0 && i < lines->n; i++) {
		if (irqline_is_movable(lines, lines->items[i].number))
			r = add_line(plan, group, &lines->items[i], s);
	}
	if (r < 0)
		return r;
	if (access(IRQLINE_DEFAULT_AFFINITY, F_OK) < 0)
		return errno == ENOENT ? 0 : -errno;
	return knob_plan_add(plan, group, KNOB_MASK, IRQLINE_DEFAULT_AFFINITY, NULL, NULL,
		"mask of new interrupts");
}

int sideeffect_add_interrupts(struct knob_plan *plan, unsigned group, struct irqlines *lines)
{
	return add_lines(plan, group, lines, &(struct steered){ 0 });
}

int sideeffect_add_steered(struct knob_plan *plan, unsigned group, struct irqlines *lines,
	struct journal *own, const struct cpumask *online)
{
	_cleanup_(journal) struct journal *steering = NULL;
	_cleanup_free_ char *why = NULL;
	int r = journal_load(STEERING_TOOL, &steering, &why);

	/* irq-steer itself reports a damaged journal. */
	if (r < 0 && journal_error_counts(r))
		return r;
	r = steering ? irqs_follow(steering, lines) : 0;
	return r < 0
		? r
		: add_lines(plan, group, lines,
			  &(struct steered){ .steering = steering, .own = own, .online = online });
}

bool sideeffect_are_steered(void)
{
	return journal_exists(STEERING_TOOL);
}

int sideeffect_is_balanced(const struct journal_entry *entry, const char *now _unused_)
{
	/* This is found out only once, because a machine may have thousands of interrupts. */
	static int is_balanced = -1;
	unsigned number;

	if (irqline_parse_path(entry->path, &number) < 0 ||
		knob_equal(entry->kind, entry->old, entry->new))
		return 0;
	if (is_balanced < 0) {
		int r = irqs_are_balanced();

		if (r < 0)
			return r;
		is_balanced = r;
	}
	return is_balanced;
}

/* Whether a file has this text: 1, 0 also where there is no such file, or an error of this
 * process. */
static int has_text(const char *path, const char *text)
{
	char now[16];
	int r = file_read_attr(AT_FDCWD, path, now, sizeof(now));

	if (r < 0)
		return errno_is_ours(-r) ? r : 0;
	return strcmp(now, text) == 0;
}

/* Boost of a policy that is switched off while the others have it. */
static int add_boost(struct knob_plan *plan, unsigned group, int policy)
{
	struct knob *knob;
	char path[96];
	int r;

	snprintf(path, sizeof(path), CPUFREQ "policy%d/boost", policy);
	r = has_text(KNOB_GLOBAL_BOOST, "1");
	if (r > 0)
		r = has_text(path, "0");
	if (r <= 0)
		return r;
	r = knob_plan_add(plan, group, KNOB_NUMBER, path, NULL, &knob, "boost");
	if (r == 0)
		knob->cpu = policy;
	return r;
}

static int add_policy(struct knob_plan *plan, unsigned group, int policy)
{
	struct knob *knob;
	char path[96];
	int r;

	r = add_boost(plan, group, policy);
	if (r == 0)
		r = tunables_add(plan, group, policy);
	if (r < 0 || !tunables_has_speed(policy))
		return r;
	snprintf(path, sizeof(path), CPUFREQ "policy%d/scaling_setspeed", policy);
	r = knob_plan_add(plan, group, KNOB_FREQUENCY, path, NULL, &knob, "speed");
	if (r == 0)
		knob->cpu = policy;
	return r;
}

int sideeffect_add_policies(struct knob_plan *plan, unsigned group, const struct cpumask *going)
{
	/* A policy has the number of one of its CPUs. */
	_cleanup_(cpumask) struct cpumask *policies = NULL;
	int r;

	if (cpumask_new(&policies) < 0)
		return -ENOMEM;
	cpumask_for_each (cpu, going) {
		int policy;

		r = knob_read_policy(cpu, &policy);
		if (r == 0)
			(void)cpumask_set(policies, policy);
		else if (r != -ENOENT)
			return r;
	}
	cpumask_for_each (policy, policies) {
		r = add_policy(plan, group, policy);
		if (r < 0)
			return r;
	}
	return 0;
}

int sideeffect_add_idle_states(struct knob_plan *plan, unsigned group, const struct cpumask *going)
{
	int haltpoll = has_text(CPUS "cpuidle/current_driver", "haltpoll");

	if (haltpoll <= 0)
		return haltpoll;
	cpumask_for_each (cpu, going) {
		_cleanup_paths_ struct paths files = { 0 };
		char folder[64];
		int r;

		snprintf(folder, sizeof(folder), CPUS "cpu%d/cpuidle", cpu);
		r = paths_list(folder, "state*", "disable", &files);
		for (size_t i = 0; r == 0 && i < files.n; i++) {
			struct knob *knob;

			r = knob_plan_add(plan, group, KNOB_NUMBER, files.items[i], NULL, &knob,
				"idle state %zu", i);
			if (r == 0)
				knob->cpu = cpu;
		}
		if (r < 0 && r != -ENOENT)
			return r;
	}
	return 0;
}

int sideeffect_add_queues(struct knob_plan *plan, unsigned group)
{
	struct netqueues queues = { 0 };
	int r;

	r = netqueues_read("tx-*", "xps_cpus", &queues);
	for (size_t i = 0; r == 0 && i < queues.n; i++)
		r = knob_plan_add(plan, group, KNOB_MASK, queues.items[i].path, NULL, NULL,
			"CPUs of %s", queues.items[i].name);
	netqueues_clear(&queues);
	return r;
}

/* 1, 0 or an error of this process. */
static int wants_cpusets(struct journal *journal)
{
	_cleanup_(hotplug) struct hotplug *hotplug = NULL;
	_cleanup_free_ char *now = NULL;
	char isolated[8];
	int r;

	if (thread_is_forgotten() != 0)
		return 0;
	r = controller_read(CONTROLLER_NAME, &now);
	if (r < 0 || strcmp(now, CONTROLLER_DISABLED) != 0)
		return r;
	/* -EFBIG is a long list. */
	r = file_read_attr(AT_FDCWD, CPUS "isolated", isolated, sizeof(isolated));
	if (r > 0 || r == -EFBIG)
		return 0;
	if (r < 0 && errno_is_ours(-r))
		return r;
	r = hotplug_read(journal, &hotplug);
	if (r < 0)
		return r;
	if (cpumask_is_empty(hotplug->taken) || !cpumask_is_empty(hotplug->missing) ||
		!cpumask_is_empty(hotplug->offline_before))
		return 0;
	return threads_lack(journal, hotplug->taken);
}

int sideeffect_hand_down_cpusets(struct journal *journal, unsigned group)
{
	const struct journal_entry *entry = journal_find(journal, CONTROLLER_KNOB);
	int r;

	if (!entry) {
		r = wants_cpusets(journal);
		if (r > 0)
			r = journal_add(journal, group, KNOB_WORD, CONTROLLER_KNOB,
				"controller cpuset", CONTROLLER_DISABLED, CONTROLLER_ENABLED);
		else
			return r < 0 && errno_is_ours(-r) ? r : 0;
		if (r == 0)
			r = journal_save(journal);
		if (r < 0)
			return r;
	}
	/* Without it the restore is as good as it can be. */
	(void)controller_write(CONTROLLER_NAME, CONTROLLER_ENABLED);
	return 0;
}

/* Whether the kernel refuses every affinity for the interrupt, even the present one. */
static bool is_immovable(const char *path)
{
	char now[FILE_ATTR_SIZE];
	int r;

	if (file_read_attr(AT_FDCWD, path, now, sizeof(now)) < 0)
		return false;
	r = file_write_attr(path, now);
	return r == -EIO || r == -EPERM;
}

bool sideeffect_may_stay(const char *path, int error)
{
	if (strcmp(path, CONTROLLER_KNOB) == 0)
		return error == EBUSY;
	return (error == EIO || error == EPERM) && text_starts_with(path, "/proc/irq/") &&
		is_immovable(path);
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void free_names(char **names, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(names[i]);
	free(names);
}

/* The paths of the folders in a folder, sorted, malloc'd. None if the folder does not exist. */
static int read_folders(const char *path, char ***ret, size_t *ret_n)
{
	_cleanup_closedir_ DIR *dir = opendir(path);
	const struct dirent *entry;
	char **names = NULL;
	size_t n = 0;

	/* The cgroup may have been removed in the meantime. */
	if (!dir) {
		if (errno != ENOENT)
			return -errno;
		*ret = NULL;
		*ret_n = 0;
		return 0;
	}
	while (errno = 0, (entry = readdir(dir))) {
		char **more;

		/* cgroupfs sets d_type for every entry. */
		if (entry->d_type != DT_DIR || strcmp(entry->d_name, ".") == 0 ||
			strcmp(entry->d_name, "..") == 0)
			continue;
		more = reallocarray(names, n + 1, sizeof(*names));
		if (more)
			names = more;
		if (!more || asprintf(&names[n], "%s/%s", path, entry->d_name) < 0) {
			free_names(names, n);
			return -ENOMEM;
		}
		n++;
	}
	if (errno > 0 && errno != ENOENT) {
		int r = -errno;

		free_names(names, n);
		return r;
	}
	if (n > 0)
		qsort(names, n, sizeof(*names), compare_names);
	*ret = names;
	*ret_n = n;
	return 0;
}

/* Adds the list of CPUs of a cpuset, or of another group (`what`). */
static int add_list(struct knob_plan *plan, unsigned group, const char *folder, const char *file,
	const char *what)
{
	_cleanup_free_ char *path = NULL;

	if (text_format(&path, "%s/%s", folder, file) < 0)
		return -ENOMEM;
	if (access(path, F_OK) < 0)
		return errno == ENOENT ? 0 : -errno;
	return knob_plan_add(
		plan, group, KNOB_LIST, path, NULL, NULL, "list of %s %s", what, folder);
}

static int add_lists_below(struct knob_plan *plan, unsigned group, const char *folder,
	const char *file, const char *what, unsigned depth)
{
	char **names = NULL;
	size_t n = 0;
	int r;

	if (depth == GROUP_DEPTH_MAX)
		return 0;
	r = read_folders(folder, &names, &n);
	if (r < 0)
		return r;
	for (size_t i = 0; r == 0 && i < n; i++) {
		r = add_list(plan, group, names[i], file, what);
		if (r == 0)
			r = add_lists_below(plan, group, names[i], file, what, depth + 1);
	}
	free_names(names, n);
	return r;
}

/* The file is named "cpus" in a hierarchy that was mounted with noprefix. */
static int find_cpuset_file(const char *folder, const char **ret)
{
	_cleanup_free_ char *path = NULL;
	bool prefixed;

	if (text_format(&path, "%s/cpuset.cpus", folder) < 0)
		return -ENOMEM;
	prefixed = access(path, F_OK) == 0;
	if (!prefixed && errno != ENOENT)
		return -errno;
	*ret = prefixed ? "cpuset.cpus" : "cpus";
	return 0;
}

int sideeffect_add_cpusets(struct knob_plan *plan, unsigned group)
{
	_cleanup_free_ char *text = NULL;
	char *cursor, *line;
	int r;

	r = file_read_all(MOUNTS, MOUNTINFO_MAX, &text, NULL);
	if (r < 0)
		return r == -ENOENT ? 0 : r;
	cursor = text;
	while ((line = strsep(&cursor, "\n"))) {
		struct mountinfo_cgroup mount;
		const char *file = NULL;

		if (!mountinfo_parse_cgroup(line, "cpuset", &mount))
			continue;
		r = find_cpuset_file(mount.point, &file);
		/* Nobody can write the files of the root. */
		if (r == 0 && strcmp(mount.root, "/") != 0)
			r = add_list(plan, group, mount.point, file, "cpuset");
		/* There is only one hierarchy of cpusets: all its mounts show the same cgroups. */
		return r < 0 ? r : add_lists_below(plan, group, mount.point, file, "cpuset", 0);
	}
	return 0;
}

int sideeffect_add_resctrl(struct knob_plan *plan, unsigned group)
{
	/* The group at the root has the CPUs that no other one has, and cannot be told which. */
	return add_lists_below(plan, group, RESCTRL, "cpus_list", "resctrl group", 0);
}
