// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * cpu-shield: reserves the chosen CPUs for benchmarks.
 *
 * Kernel contract (Documentation/admin-guide/cgroup-v2.rst, "Cpuset Interface Files";
 * kernel/cgroup/cpuset.c in 6.1, 6.12, 7.2):
 * - An isolated partition, a cgroup right below the root, takes its CPUs from all other
 *   cgroups, and the scheduler does not balance load over them. From 6.1 on.
 * - The kernel moves all other tasks away from these CPUs, also kernel threads that can be
 *   moved; in 6.12 unbound workqueues as well. When the partition ends, all of them may run
 *   there again, but kernels up to 6.1 forget affinities: see quiet/engine/threads.h.
 * - A write to cpuset.cpus.partition always succeeds; reading it tells whether the kernel refused:
 *   see cgroup.h.
 *
 * Cgroup v1 has exclusive cpusets (exclusive.h). Where there is neither, threads are moved by their
 * affinities (affinity.h).
 *
 * Where systemd runs, it manages the cgroups of v2: so systemd is asked for the slice, its CPUs and
 * the controller (slice.h). It writes cpuset.cpus.partition only from 261 on, and only if told to.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/machine/isolation.h"
#include "base/say.h"
#include "base/systemd/dropin.h"
#include "base/text.h"
#include "base/where/cpulist.h"
#include "base/where/reserved.h"
#include "quiet/cpu-shield/affinity.h"
#include "quiet/cpu-shield/cgroup.h"
#include "quiet/cpu-shield/exclusive.h"
#include "quiet/cpu-shield/kthreads.h"
#include "quiet/cpu-shield/run.h"
#include "quiet/cpu-shield/shield.h"
#include "quiet/cpu-shield/slice.h"
#include "quiet/engine/cleared.h"
#include "quiet/engine/controller.h"
#include "quiet/engine/journal.h"
#include "quiet/engine/strays.h"
#include "quiet/engine/threads.h"
#include "quiet/setter/setter.h"

/* The path of the row that says why there is no shield. */
#define NOTHING "shield"
#define EXCLUSIVE_KNOB EXCLUSIVE_SCHEME ":" SHIELD_UNIT

/* Groups are restored backwards. After the slice is gone, restore waits for what systemd then
 * changes (GROUP_SYSTEMD). Threads come last, because every change of a cpuset may change their
 * affinity. */
enum {
	GROUP_INHERITORS, /* and the group after it: see affinity_add() */
	GROUP_THREADS,
	GROUP_SYSTEMD,
	GROUP_CONTROLLER,
	GROUP_DROPIN,
	GROUP_CGROUP,
	GROUP_CPUS,
	GROUP_PARTITION,
};

static const struct knob_backend backends[] = {
	{ FOLDER_SCHEME, folder_read, folder_write, .is_ours = cgroup_is_ours },
	{ CGROUP_SCHEME, cgroup_read, cgroup_write, .moves_threads = true,
		.is_ours = cgroup_is_ours },
	{ WATCHED_SCHEME, cgroup_read, watched_write, .moves_threads = true,
		.is_ours = cgroup_is_ours },
	{ CONTROLLER_SCHEME, controller_read, awaited_controller_write, .moves_threads = true,
		.is_ours = controller_is_ours },
	{ DROPIN_SCHEME, dropin_read, slice_write_dropin, .moves_threads = true,
		.is_ours = slice_is_ours },
	{ SLICE_SCHEME, slice_read, slice_write, .late = true, .moves_threads = true,
		.is_ours = slice_is_ours },
	{ EXCLUSIVE_SCHEME, exclusive_read, exclusive_write,
		.made_by_kernel = exclusive_made_by_kernel, .moves_threads = true,
		.is_ours = slice_is_ours },
	THREAD_BACKENDS,
	{ CLEARED_SCHEME, inheritors_read, inheritors_write, .is_ours = inheritors_is_ours },
	{ 0 },
};

/*
 * cpuset.cpus.exclusive is kept for restore, because writing the partition may write it (see
 * cgroup.h). It is set only if it already has CPUs: the partition then has these, and not those of
 * cpuset.cpus.
 */
static int add_claim(struct knob_plan *plan, const char *cpus)
{
	char claimed[FILE_ATTR_SIZE];
	bool any = file_read_attr(AT_FDCWD, SHIELD_EXCLUSIVE, claimed, sizeof(claimed)) > 0;

	return knob_plan_add(plan, GROUP_CPUS, KNOB_LIST, CGROUP_SCHEME ":" SHIELD_EXCLUSIVE,
		any ? cpus : NULL, NULL, "cpuset.cpus.exclusive");
}

/* The knobs without systemd: we make the cgroup. */
static int add_cgroup(struct knob_plan *plan, const char *cpus)
{
	int r;

	r = knob_plan_add(plan, GROUP_CONTROLLER, KNOB_WORD, CONTROLLER_KNOB, CONTROLLER_ENABLED,
		NULL, "controller cpuset");
	if (r == 0)
		r = knob_plan_add(plan, GROUP_CGROUP, KNOB_WORD, FOLDER_SCHEME ":" SHIELD_CGROUP,
			"present", NULL, SHIELD_UNIT);
	if (r == 0)
		r = knob_plan_add(plan, GROUP_CPUS, KNOB_LIST, CGROUP_SCHEME ":" SHIELD_CPUS, cpus,
			NULL, "cpuset.cpus");
	if (r == 0)
		r = add_claim(plan, cpus);
	if (r == 0)
		r = knob_plan_add(plan, GROUP_PARTITION, KNOB_WORD,
			CGROUP_SCHEME ":" SHIELD_PARTITION, "isolated", NULL,
			"cpuset.cpus.partition");
	return r;
}

/* The knobs with systemd, which makes the cgroup, and also the partition if it can. */
static int add_slice(struct knob_plan *plan, const char *cpus, bool partition)
{
	_cleanup_free_ char *settings = NULL;
	int r;

	if (text_format(&settings, "AllowedCPUs=%s%s", cpus,
		    partition ? " CPUSetPartition=isolated" : "") < 0)
		return -ENOMEM;
	r = knob_plan_add(
		plan, GROUP_SYSTEMD, KNOB_WORD, CONTROLLER_KNOB, NULL, NULL, "controller cpuset");
	if (r == 0)
		r = knob_plan_add(plan, GROUP_DROPIN, KNOB_WORD, DROPIN_SCHEME ":" SHIELD_UNIT,
			settings, NULL, "settings of " SHIELD_UNIT);
	if (r == 0)
		r = knob_plan_add(plan, GROUP_CGROUP, KNOB_WORD, SLICE_SCHEME ":" SHIELD_UNIT,
			"active", NULL, SHIELD_UNIT);
	if (r == 0)
		r = knob_plan_add(plan, GROUP_SYSTEMD, KNOB_LIST, WATCHED_SCHEME ":" SHIELD_CPUS,
			cpus, NULL, "cpuset.cpus");
	if (r == 0)
		r = add_claim(plan, cpus);
	if (r == 0)
		r = knob_plan_add(plan, partition ? GROUP_SYSTEMD : GROUP_PARTITION, KNOB_WORD,
			partition ? WATCHED_SCHEME ":" SHIELD_PARTITION
				  : CGROUP_SCHEME ":" SHIELD_PARTITION,
			"isolated", NULL, "cpuset.cpus.partition");
	return r;
}

static int add_shield(struct knob_plan *plan, const struct shield_way *way,
	const struct cpumask *online, const struct cpumask *cpus)
{
	_cleanup_free_ char *list = cpumask_format_list(cpus);
	const char *why = NULL;
	int r = 0;

	if (!list)
		return -ENOMEM;
	switch (way->kind) {
	case SHIELD_BY_AFFINITIES:
		return affinity_add(plan, GROUP_INHERITORS, online, cpus, way->why);
	case SHIELD_BY_CPUSET:
		r = knob_plan_add(plan, GROUP_PARTITION, KNOB_WORD, EXCLUSIVE_KNOB, list, NULL,
			"exclusive cpuset");
		return r < 0 ? r
			     : threads_add_kernel(plan, GROUP_THREADS, "cpu-shield", online, cpus);
	case SHIELD_BY_CGROUP:
		r = add_cgroup(plan, list);
		break;
	case SHIELD_BY_SYSTEMD:
		r = slice_can_partition(SHIELD_UNIT, &why);
		if (r < 0 && why)
			return affinity_add(plan, GROUP_INHERITORS, online, cpus, why);
		if (r >= 0)
			r = add_slice(plan, list, r > 0);
		break;
	}
	/* Threads come last, after all changes of cpusets. */
	return r < 0 ? r : threads_add(plan, GROUP_THREADS, "cpu-shield", online, cpus);
}

/* Whether these CPUs can be taken from the rest of the machine. */
static int check_cpus(const struct topology *topology, const struct cpumask *cpus)
{
	_cleanup_free_ char *why = NULL;
	int r;

	r = cpulist_check_online(topology, cpus, &why);
	if (why)
		say("-c: %s", why);
	if (r < 0)
		return r;
	if (cpumask_subset(topology->online, cpus)) {
		say("-c names all CPUs that are online: the rest of the system needs one");
		return -EINVAL;
	}
	return 0;
}

/* -ECANCELED if another partition has one of the CPUs; says so. Depending on its release, Linux
 * would make that partition invalid, or give us only the other CPUs. */
static int check_partitions(const struct cpumask *cpus)
{
	struct isolation_partitions partitions;
	int r;

	r = isolation_read_partitions(&partitions);
	if (r < 0)
		return r;
	for (size_t i = 0; r == 0 && i < partitions.n; i++) {
		const struct isolation_partition *other = &partitions.items[i];
		_cleanup_free_ char *list = NULL;

		if (text_starts_with(other->path, "/" SHIELD_UNIT) ||
			strstr(other->state, " invalid") || !cpumask_intersects(other->cpus, cpus))
			continue;
		list = cpumask_format_list(other->cpus);
		say("the cgroup %s has CPUs %s to itself (cpuset.cpus.partition is %s): end that "
		    "partition, or choose other CPUs",
			other->path, list ? list : "?", other->state);
		r = -ECANCELED;
	}
	isolation_partitions_clear(&partitions);
	return r;
}

/* How the shield is to be made: by affinities also where it is up by affinities already, or where
 * the kernel has refused to make a partition. */
static int find_way(bool no_partitions, struct shield_way *ret)
{
	_cleanup_(cpumask) struct cpumask *cleared = NULL;
	struct shield_way way;
	int r;

	if (journal_is_own()) {
		*ret = (struct shield_way){
			.kind = SHIELD_BY_AFFINITIES,
			.why = "only root can take CPUs from others: your own processes are moved"
		};
		return 0;
	}
	r = shield_find_way(&way);
	if (r < 0)
		return r;
	if (way.kind != SHIELD_BY_AFFINITIES) {
		r = cleared_read(&cleared);
		/* The engine reports a journal that is damaged. */
		if (journal_error_counts(r))
			return r;
		if (r == 0 || no_partitions)
			way = (struct shield_way){
				.kind = SHIELD_BY_AFFINITIES,
				.why = !no_partitions
					? "nothing better was to be had when it was made"
					: way.kind == SHIELD_BY_CPUSET
					? "an exclusive cpuset cannot be made here"
					: "this kernel has no isolated partitions",
			};
	}
	*ret = way;
	return 0;
}

/* Whether an exclusive cpuset of these CPUs can be made; else there are affinities, and *ret_why
 * says why. */
static int check_cpuset(
	struct journal *journal, const struct cpumask *cpus, struct shield_way *way, char **ret_why)
{
	int r;

	if (journal && journal_find(journal, EXCLUSIVE_KNOB))
		return 0;
	r = exclusive_find_obstacle(cpus, ret_why);
	if (r == 0 && *ret_why)
		*way = (struct shield_way){ .kind = SHIELD_BY_AFFINITIES, .why = *ret_why };
	return r;
}

static int plan_shield(const struct setter_target *target, struct knob_plan *plan, void *state)
{
	_cleanup_free_ char *obstacle = NULL;
	_cleanup_(cpumask) struct cpumask *shielded = NULL;
	const struct cpumask *cpus = target->cpus;
	const bool *no_partitions = state;
	struct shield_way way = { 0 };
	int r;

	/* A CPU of a shield that is up may have gone offline since. */
	if (cpus && target->verb == SETTER_APPLY) {
		r = check_cpus(target->topology, cpus);
		if (r < 0)
			return r;
	}
	r = find_way(*no_partitions, &way);
	if (r == 0 && !cpus) {
		/* `status` without CPUs shows the shield that exists. */
		r = shield_read_cpus(&shielded);
		if (r == -ENOENT)
			return knob_plan_add_word(plan, GROUP_PARTITION, KNOB_NONE, NOTHING,
				"no CPU is shielded", "shield");
		cpus = shielded;
	}
	if (r == 0 && way.kind == SHIELD_BY_CPUSET)
		r = check_cpuset(target->journal, cpus, &way, &obstacle);
	else if (r == 0 && way.kind != SHIELD_BY_AFFINITIES)
		r = check_partitions(cpus);
	if (r == 0)
		r = add_shield(plan, &way, target->topology->online, cpus);
	if (r < 0 && r != -ECANCELED && r != -ENOMEM)
		say_errno(r, "cannot find out how to shield these CPUs");
	return r;
}

/* -EINVAL unless exactly these CPUs are shielded; says so. A kernel or a systemd that does not know
 * partitions may have accepted the other settings. */
static int check_shield(const struct cpumask *cpus)
{
	_cleanup_(cpumask) struct cpumask *shielded = NULL;
	int r;

	r = shield_read_cpus(&shielded);
	if (r == 0 && !cpumask_equal(shielded, cpus))
		r = -ENOENT;
	if (r == -ENOENT) {
		say("the CPUs were not taken from the rest of the system: " SHIELD_UNIT
		    " does not have them to itself (isolated partitions are in the kernel from 6.1 on)");
		return -EINVAL;
	}
	if (r < 0 && r != -ENOMEM)
		say_errno(r, "cannot read which CPUs are shielded");
	return r;
}

static struct knob *find_partition(const struct knob_plan *plan)
{
	static const char *const paths[] = { CGROUP_SCHEME ":" SHIELD_PARTITION,
		WATCHED_SCHEME ":" SHIELD_PARTITION, EXCLUSIVE_KNOB };
	struct knob *knob = NULL;

	for (size_t i = 0; !knob && i < ARRAY_SIZE(paths); i++)
		knob = knob_plan_find(plan, paths[i]);
	return knob;
}

/* Only a kernel that does not know the word refuses to make a partition: kernels before 6.1, unless
 * the distribution has added it. Any other kernel accepts the write, and the file then has the
 * reason for a refusal. An exclusive cpuset is refused where another cpuset has got some of the
 * CPUs since, or a program with a deadline cannot be moved; but where an earlier one has been put
 * back, that one stays. */
static bool has_substitute(const struct knob_plan *plan, void *state)
{
	const struct knob *partition = find_partition(plan);
	bool *no_partitions = state;

	*no_partitions =
		partition && partition->error == EINVAL && access(RESERVED_CPUSET, F_OK) < 0;
	return *no_partitions;
}

/* Checks the CPUs of the shield, and notes which kernel threads did not leave them. */
static int verify(const struct setter_target *target, struct knob_plan *plan, void *state _unused_)
{
	struct knob *partition = find_partition(plan);
	_cleanup_free_ char *remaining = NULL;
	int r;

	if (knob_plan_find(plan, NOTHING))
		return 0;
	if (affinity_is_plan(plan))
		return affinity_verify(plan, target->cpus);
	r = check_shield(target->cpus);
	if (r < 0)
		return r;
	r = strays_call_back(NULL);
	if (r < 0 && r != -ENOMEM)
		say_errno(r, "cannot find out which kernel threads are outside of their cpusets");
	if (r < 0)
		return r;
	r = kthreads_name_remaining(target->cpus, &remaining);
	if (r < 0 && r != -ENOMEM)
		say_errno(r, "cannot find out which kernel threads did not move");
	if (r < 0 || !remaining || !partition || partition->note)
		return r;
	return knob_set_note(partition, "these kernel threads did not move: %s", remaining);
}

/* The controller may stay enabled, because other units may need it by now. */
static bool may_stay(const char *path, int error)
{
	return error == EBUSY && strcmp(path, CONTROLLER_KNOB) == 0 &&
		access(SHIELD_CGROUP, F_OK) < 0;
}

static const char *explain(const char *path, int error)
{
	if (error == EBUSY && strcmp(path, EXCLUSIVE_KNOB) == 0)
		return "there are cgroups of others in " RESERVED_CPUSET " or " RESERVED_OTHERS;
	if (error == EBUSY && shield_check_empty() == -EBUSY)
		return "a program still runs in " SHIELD_UNIT "; restore again when it has ended";
	return may_stay(path, error) ? "others may need it by now" : NULL;
}

/* Which degree of the shield is up. */
static const char *get_headline(const struct knob_plan *plan)
{
	const struct knob *partition = find_partition(plan);

	if (affinity_is_up(plan))
		return "affinities (no partition)";
	if (!partition || !knob_went_well(partition))
		return NULL;
	return strcmp(partition->path, EXCLUSIVE_KNOB) == 0 ? "an exclusive cpuset of cgroup v1"
							    : "an isolated partition of cgroup v2";
}

int main(int argc, char *argv[])
{
	static const struct setter_verb_own verbs[] = {
		{ "run", "run [-c LIST] -- PROGRAM [ARGUMENT...]", run_program },
		{ 0 },
	};
	bool no_partitions = false;
	const struct setter setter = {
		.engine = {
			.tool = "cpu-shield",
			.backends = backends,
			.threads_group = GROUP_THREADS,
			.may_stay = may_stay,
			.find_narrowed = threads_find_narrowed,
		},
		.summary =
			"Take CPUs from the rest of the system for benchmarks, and run these there.",
		.verbs = verbs,
		.needs_cpus = true,
		.serves_users = true,
		.repeats = affinity_is_plan,
		.has_substitute = has_substitute,
		.headline = get_headline,
		.explain = explain,
		.plan = plan_shield,
		.verify = verify,
		.state = &no_partitions,
	};

	return setter_main(&setter, argc, argv);
}
