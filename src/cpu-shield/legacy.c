// SPDX-License-Identifier: GPL-2.0-or-later
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "basic/file.h"
#include "basic/parse.h"
#include "basic/say.h"
#include "cpu-shield/cgroup.h"
#include "cpu-shield/legacy.h"
#include "cpu-shield/place.h"
#include "machine/tasks.h"
#include "state/journal.h"

#define TASKS_KNOB TASKS_SCHEME ":" LEGACY_ROOT

enum {
	TASKS_MAX = 64 * 1024 * 1024,
	/* Each pass moves all tasks that it finds; the next one moves those that were created
	 * meanwhile. */
	PASSES_MAX = 16,
	/* Groups are restored backwards. */
	GROUP_CHILDREN = 0, /* the first of the groups for depths: the deepest cpusets first */
	GROUP_BALANCE = LEGACY_DEPTH_MAX,
	GROUP_FOLDERS,
	GROUP_FILES,
	GROUP_TASKS,
};

/* --- Tasks. --- */

enum kind_of_task {
	TASK_GONE,
	TASK_BOUND,  /* a kernel thread that nobody can move */
	TASK_KERNEL, /* any other kernel thread */
	TASK_USER,
};

static enum kind_of_task read_kind(const char *tid)
{
	char path[64], text[FILE_ATTR_SIZE];
	struct task task = { 0 };

	snprintf(path, sizeof(path), "/proc/%.32s/stat", tid);
	if (file_read_attr(AT_FDCWD, path, text, sizeof(text)) < 0 ||
		tasks_parse_stat(text, &task) < 0)
		return TASK_GONE;
	if (!task.kernel)
		return TASK_USER;
	return task.bound ? TASK_BOUND : TASK_KERNEL;
}

/* The tasks of a cpuset, one in each line, malloc'd; NULL if the cpuset does not exist. */
static int read_tasks(const char *cpuset, char **ret)
{
	_cleanup_free_ char *path = NULL;
	int r;

	if (asprintf(&path, "%s/tasks", cpuset) < 0) {
		path = NULL;
		return -ENOMEM;
	}
	r = file_read_all(AT_FDCWD, path, TASKS_MAX, ret, NULL);
	if (r == -ENOENT) {
		*ret = NULL;
		return 0;
	}
	return r;
}

/* Whether a program is in the cpuset: 1, 0, or an error. */
static int has_programs(const char *cpuset)
{
	_cleanup_free_ char *text = NULL;
	char *save = NULL;
	int r;

	r = read_tasks(cpuset, &text);
	if (r < 0 || !text)
		return r;
	for (char *tid = strtok_r(text, "\n", &save); tid; tid = strtok_r(NULL, "\n", &save)) {
		if (read_kind(tid) == TASK_USER)
			return 1;
	}
	return 0;
}

bool legacy_is_ours(const char *root)
{
	return strcmp(root, LEGACY_ROOT) == 0;
}

int legacy_read_tasks(const char *root, char **ret)
{
	int in_root, in_system;
	char *value;

	in_root = has_programs(root);
	if (in_root < 0)
		return in_root;
	in_system = has_programs(LEGACY_SYSTEM);
	if (in_system < 0)
		return in_system;
	value = strdup(!in_system ? "root" : in_root ? "both" : "system");
	if (!value)
		return -ENOMEM;
	*ret = value;
	return 0;
}

/* One pass over the tasks of `from`. The number of tasks that were moved, or an error. */
static int move_once(const char *from, const char *to)
{
	_cleanup_free_ char *text = NULL, *path = NULL;
	char *save = NULL;
	int r, moved = 0;

	r = read_tasks(from, &text);
	if (r < 0 || !text)
		return r;
	if (asprintf(&path, "%s/tasks", to) < 0) {
		path = NULL;
		return -ENOMEM;
	}
	for (char *tid = strtok_r(text, "\n", &save); tid; tid = strtok_r(NULL, "\n", &save)) {
		enum kind_of_task kind = read_kind(tid);

		if (kind == TASK_GONE || kind == TASK_BOUND)
			continue;
		r = knob_write(NULL, path, tid);
		/* The task has ended; or it is kthreadd, which nobody can move
		 * (no_cgroup_migration in kernel/cgroup/cgroup.c). */
		if (r == -ESRCH || (r == -EINVAL && kind == TASK_KERNEL))
			continue;
		if (r < 0)
			return r;
		moved++;
	}
	return moved;
}

static int move_all(const char *from, const char *to)
{
	int moved = 1;

	for (int pass = 0; moved > 0 && pass < PASSES_MAX; pass++)
		moved = move_once(from, to);
	return moved < 0 ? moved : 0;
}

int legacy_write_tasks(const char *root, const char *text)
{
	int r;

	if (strcmp(text, "system") == 0)
		return move_all(root, LEGACY_SYSTEM);
	r = move_all(LEGACY_SYSTEM, root);
	return r < 0 ? r : move_all(LEGACY_SHIELD, root);
}

/* --- The plan. --- */

struct legacy {
	struct knob_plan *plan;
	unsigned first; /* group */
	const struct cpumask *quiet;
	char *quiet_list;
	char *housekeeping_list;
	char *mems;
};

/* Takes the quiet CPUs out of a cpuset that somebody else made. */
static int shrink_cpuset(const struct legacy *l, const char *path, unsigned depth)
{
	_cleanup_(cpumask) struct cpumask *cpus = NULL;
	_cleanup_free_ char *file = NULL, *wanted = NULL;
	char text[FILE_ATTR_SIZE];
	int r;

	r = cpumask_new(&cpus);
	if (r < 0)
		return r;
	if (asprintf(&file, "%s/cpuset.cpus", path) < 0) {
		file = NULL;
		return -ENOMEM;
	}
	/* The cpuset may have been removed in the meantime. */
	if (file_read_attr(AT_FDCWD, file, text, sizeof(text)) < 0 ||
		cpumask_parse_list(text, 0, cpus, NULL) < 0 || cpumask_is_empty(cpus))
		return 0;
	if (cpumask_subset(cpus, l->quiet)) {
		say("the cpuset %s has no other CPUs than %s: remove it, or choose other CPUs",
			path, text);
		return -ECANCELED;
	}
	cpumask_andnot(cpus, cpus, l->quiet);
	wanted = cpumask_format_list(cpus);
	if (!wanted)
		return -ENOMEM;
	return knob_plan_add(l->plan, l->first + GROUP_CHILDREN + LEGACY_DEPTH_MAX - 1 - depth,
		KNOB_LIST, file, wanted, NULL, "CPUs of cpuset %s", path + strlen(LEGACY_ROOT));
}

/* All cpusets below `path` but our own; children before their parent, which must have all CPUs of
 * its children. */
static int shrink_below(const struct legacy *l, const char *path, unsigned depth)
{
	_cleanup_closedir_ DIR *dir = opendir(path);
	const struct dirent *entry;
	int r = 0;

	if (!dir || depth == LEGACY_DEPTH_MAX)
		return 0;
	while (r == 0 && (entry = readdir(dir))) {
		_cleanup_free_ char *child = NULL;

		if (entry->d_type != DT_DIR || entry->d_name[0] == '.')
			continue;
		if (asprintf(&child, "%s/%s", path, entry->d_name) < 0) {
			child = NULL;
			return -ENOMEM;
		}
		if (strcmp(child, LEGACY_SYSTEM) == 0 || strcmp(child, LEGACY_SHIELD) == 0)
			continue;
		r = shrink_below(l, child, depth + 1);
		if (r == 0)
			r = shrink_cpuset(l, child, depth);
	}
	return r;
}

static int add_file(const struct legacy *l, const char *cpuset, enum knob_kind kind,
	const char *file, const char *wanted)
{
	_cleanup_free_ char *path = NULL;

	if (asprintf(&path, CGROUP_SCHEME ":%s/cpuset.%s", cpuset, file) < 0) {
		path = NULL;
		return -ENOMEM;
	}
	return knob_plan_add(l->plan, l->first + GROUP_FILES, kind, path, wanted, NULL,
		"%s of cpuset %s", file, cpuset + strlen(LEGACY_ROOT));
}

static int add_cpuset(const struct legacy *l, const char *cpuset, const char *cpus)
{
	_cleanup_free_ char *folder = NULL;
	int r;

	if (asprintf(&folder, FOLDER_SCHEME ":%s", cpuset) < 0) {
		folder = NULL;
		return -ENOMEM;
	}
	r = knob_plan_add(l->plan, l->first + GROUP_FOLDERS, KNOB_WORD, folder, "present", NULL,
		"cpuset %s", cpuset + strlen(LEGACY_ROOT));
	if (r == 0)
		r = add_file(l, cpuset, KNOB_LIST, "mems", l->mems);
	if (r == 0)
		r = add_file(l, cpuset, KNOB_LIST, "cpus", cpus);
	return r;
}

static int add_all(const struct legacy *l)
{
	int r;

	r = shrink_below(l, LEGACY_ROOT, 0);
	if (r == 0)
		r = add_cpuset(l, LEGACY_SYSTEM, l->housekeeping_list);
	if (r == 0)
		r = add_cpuset(l, LEGACY_SHIELD, l->quiet_list);
	if (r == 0)
		r = add_file(l, LEGACY_SHIELD, KNOB_NUMBER, "cpu_exclusive", "1");
	if (r == 0)
		r = add_file(l, LEGACY_SHIELD, KNOB_NUMBER, "sched_load_balance", "0");
	if (r == 0)
		r = knob_plan_add(l->plan, l->first + GROUP_TASKS, KNOB_WORD, TASKS_KNOB, "system",
			NULL, "tasks of the root cpuset");
	/* While the root balances load, it does so over the CPUs of all cpusets. */
	if (r == 0)
		r = knob_plan_add(l->plan, l->first + GROUP_BALANCE, KNOB_NUMBER,
			LEGACY_ROOT "/cpuset.sched_load_balance", "0", NULL,
			"sched_load_balance of the root");
	return r;
}

/* Whether cpusets of our names with programs in them are ours: the journal has them. */
static int check_names(void)
{
	_cleanup_(journal) struct journal *journal = NULL;
	_cleanup_free_ char *why = NULL;
	int r;

	r = has_programs(LEGACY_SYSTEM);
	if (r == 0)
		r = has_programs(LEGACY_SHIELD);
	if (r <= 0)
		return r;
	if (journal_load("cpu-shield", &journal, &why) == 0 && journal_find(journal, TASKS_KNOB))
		return 0;
	say("somebody else has a cpuset " LEGACY_SYSTEM " or " LEGACY_SHIELD
	    " with programs in it: remove it first");
	return -ECANCELED;
}

int legacy_add(struct knob_plan *plan, unsigned first, const struct cpumask *online,
	const struct cpumask *quiet)
{
	_cleanup_free_ char *quiet_list = cpumask_format_list(quiet), *housekeeping_list = NULL;
	_cleanup_(cpumask) struct cpumask *housekeeping = NULL;
	char mems[FILE_ATTR_SIZE];
	struct legacy legacy;
	int r;

	r = check_names();
	if (r == 0)
		r = cpumask_new(&housekeeping);
	if (r < 0)
		return r;
	cpumask_andnot(housekeeping, online, quiet);
	housekeeping_list = cpumask_format_list(housekeeping);
	if (!quiet_list || !housekeeping_list)
		return -ENOMEM;
	r = file_read_attr(AT_FDCWD, LEGACY_ROOT "/cpuset.mems", mems, sizeof(mems));
	if (r < 0)
		return r;
	legacy = (struct legacy){
		.plan = plan,
		.first = first,
		.quiet = quiet,
		.quiet_list = quiet_list,
		.housekeeping_list = housekeeping_list,
		.mems = mems,
	};
	return add_all(&legacy);
}
