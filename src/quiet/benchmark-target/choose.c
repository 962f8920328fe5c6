// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/machine/isolation.h"
#include "base/machine/topology.h"
#include "base/say.h"
#include "base/text.h"
#include "base/where/autochoice.h"
#include "base/where/cpulist.h"
#include "base/where/running.h"
#include "quiet/benchmark-target/choose.h"

/* Whether `cpu` is the first thread of its core, which stays online with smt/control=off
 * (topology_is_primary_thread() in kernel/cpu.c). */
static bool stays_without_smt(const struct topology *topology, int cpu)
{
	return topology->cpus[cpu].core == cpu;
}

/* Sorts the CPUs of isolated partitions: ours is that of an earlier cpu-shield, or, of cgroup v1,
 * its exclusive cpuset, which others are not known to isolate. Where CPUs are only known to be in
 * some partition, it is somebody else's. */
static int sort_partitions(
	const struct isolation *isolation, struct cpumask *ret_ours, struct cpumask *ret_others)
{
	struct isolation_partitions partitions = { 0 };
	int r;

	r = isolation_read_partitions(&partitions);
	if (r < 0)
		return r;
	cpumask_andnot(ret_others, isolation->partitions, isolation->boot);
	for (size_t i = 0; i < partitions.n; i++) {
		const struct isolation_partition *p = &partitions.items[i];
		bool is_isolated = strcmp(p->state, "isolated") == 0;

		if (strcmp(p->path, "/" TARGET_SLICE) == 0 &&
			(is_isolated || text_starts_with(p->state, "exclusive")))
			cpumask_or(ret_ours, ret_ours, p->cpus);
		else if (is_isolated)
			cpumask_or(ret_others, ret_others, p->cpus);
	}
	cpumask_andnot(ret_others, ret_others, ret_ours);
	isolation_partitions_clear(&partitions);
	return 0;
}

/* The CPUs that may be chosen: online CPUs that this service may run on, and those of a partition
 * of an earlier cpu-shield, which services may not run on; not those of other partitions. */
static int read_candidates(const struct settings *settings, const struct topology *topology,
	const struct isolation *isolation, struct cpumask *ret)
{
	_cleanup_(cpumask) struct cpumask *ours = NULL, *others = NULL;
	int r;

	if (cpumask_new(&ours) < 0 || cpumask_new(&others) < 0)
		return -ENOMEM;
	r = isolation_read_allowed(ret);
	if (r == 0)
		r = sort_partitions(isolation, ours, others);
	if (r < 0)
		return r;
	cpumask_or(ret, ret, ours);
	cpumask_andnot(ret, ret, others);
	cpumask_and(ret, ret, topology->online);
	if (settings->smt != SETTINGS_SMT_ALL)
		return 0;
	cpumask_for_each (cpu, ret) {
		if (!stays_without_smt(topology, cpu))
			cpumask_clear(ret, cpu);
	}
	return 0;
}

/* Keeps only the first thread of each core, since its siblings are going offline. */
static void keep_one_per_core(const struct topology *topology, struct cpumask *cpus)
{
	cpumask_for_each (cpu, cpus) {
		for (int other = cpumask_next(cpus, cpu); other >= 0;
			other = cpumask_next(cpus, other)) {
			if (topology->cpus[other].core == topology->cpus[cpu].core)
				cpumask_clear(cpus, other);
		}
	}
}

static int find_others(const struct topology *topology, struct choice *choice)
{
	_cleanup_(cpumask) struct cpumask *others = NULL, *siblings = NULL;

	if (cpumask_new(&others) < 0 || cpumask_new(&siblings) < 0)
		return -ENOMEM;
	cpumask_andnot(others, topology->online, choice->cpus);
	choice->no_others = cpumask_is_empty(others);
	cpumask_for_each (cpu, choice->cpus) {
		topology_get_siblings(topology, cpu, siblings);
		cpumask_andnot(others, others, siblings);
	}
	choice->only_siblings = !choice->no_others && cpumask_is_empty(others);
	return 0;
}

/* The word of benchmark.conf, where siblings do go offline. */
static const char *name_smt(const struct settings *settings)
{
	return settings->smt == SETTINGS_SMT_ALL ? "all" : "siblings";
}

/* Adds to the reason which of its CPUs are left after their siblings go offline. */
static int explain_siblings(const struct settings *settings, struct choice *choice)
{
	_cleanup_free_ char *left = cpumask_format_list(choice->cpus);
	char *reason;

	if (!left)
		return -ENOMEM;
	if (text_format(&reason, "%s; SMT=%s leaves %s", choice->reason, name_smt(settings), left) <
		0)
		return -ENOMEM;
	free(choice->reason);
	choice->reason = reason;
	return 0;
}

static int choose_quietest(const struct settings *settings, const struct topology *topology,
	const struct cpumask *candidates, struct choice *choice)
{
	_cleanup_free_ char *reason = NULL, *why = NULL;
	unsigned named, found;
	int r;

	/* `true` avoids the core of CPU 0 even if other CPUs are busier: the shield moves the
	 * programs that keep them busy. */
	r = autochoice_now(
		topology, candidates, true, settings->n_cpus, choice->cpus, &reason, &why);
	if (r == -ERANGE)
		say("CPUS=auto:%u: there are only %u CPUs to choose from", settings->n_cpus,
			cpumask_weight(candidates));
	else if (why)
		say("%s", why);
	else if (r < 0)
		say_errno(r, "cannot choose CPUs");
	if (r < 0)
		return r == -ERANGE ? -EINVAL : r;
	free(choice->reason);
	choice->reason = TAKE_PTR(reason);
	if (settings->smt == SETTINGS_SMT_LEAVE)
		return 0;
	named = cpumask_weight(choice->cpus);
	keep_one_per_core(topology, choice->cpus);
	found = cpumask_weight(choice->cpus);
	if (found < settings->n_cpus) {
		say("CPUS=auto:%u: there are only %u cores for them, and SMT=%s leaves one CPU of each",
			settings->n_cpus, found, name_smt(settings));
		return -EINVAL;
	}
	return found < named ? explain_siblings(settings, choice) : 0;
}

/* A chosen CPU that shares its core with CPU 0, which would have to go offline and never does
 * (smt-off(8)). -1 for none. */
static int find_sibling_of_zero(const struct settings *settings, const struct topology *topology,
	const struct choice *choice)
{
	if (settings->smt == SETTINGS_SMT_LEAVE || choice->only_siblings ||
		cpumask_isset(choice->cpus, 0) || !cpumask_isset(topology->online, 0))
		return -1;
	cpumask_for_each (cpu, choice->cpus) {
		if (topology->cpus[cpu].core == topology->cpus[0].core)
			return cpu;
	}
	return -1;
}

static int choose_auto(const struct settings *settings, const struct topology *topology,
	struct cpumask *candidates, struct choice *choice)
{
	int r, sibling;

	r = choose_quietest(settings, topology, candidates, choice);
	if (r == 0)
		r = find_others(topology, choice);
	if (r < 0)
		return r;
	sibling = find_sibling_of_zero(settings, topology, choice);
	if (sibling < 0)
		return 0;
	/* Such a CPU is chosen only if it is isolated, or there are few candidates. */
	say("CPU %d is not chosen: CPU 0 is a thread of the same core, and never goes offline "
	    "(SMT=leave would allow it)",
		sibling);
	cpumask_for_each (cpu, candidates) {
		if (cpu != 0 && topology->cpus[cpu].core == topology->cpus[0].core)
			cpumask_clear(candidates, cpu);
	}
	r = choose_quietest(settings, topology, candidates, choice);
	return r < 0 ? r : find_others(topology, choice);
}

/* -EINVAL if SMT= would take one of the CPUs offline; says so. */
static int check_threads(const struct settings *settings, const struct topology *topology,
	const struct cpumask *cpus)
{
	cpumask_for_each (cpu, cpus) {
		int core = topology->cpus[cpu].core;

		if (settings->smt == SETTINGS_SMT_ALL && !stays_without_smt(topology, cpu)) {
			say("CPUS=%s: SMT=all takes CPU %d offline; CPU %d of its core stays",
				settings->cpus, cpu, core);
			return -EINVAL;
		}
		for (int other = cpumask_next(cpus, cpu); other >= 0;
			other = cpumask_next(cpus, other)) {
			if (settings->smt == SETTINGS_SMT_LEAVE ||
				topology->cpus[other].core != core)
				continue;
			say("CPUS=%s: CPUs %d and %d are threads of one core: name one of them, or say SMT=leave",
				settings->cpus, cpu, other);
			return -EINVAL;
		}
	}
	return 0;
}

static int choose_list(
	const struct settings *settings, const struct topology *topology, struct choice *choice)
{
	_cleanup_free_ char *why = NULL;
	int r, sibling;

	r = cpulist_parse(settings->cpus, topology, choice->cpus, &why);
	if (r == 0)
		r = cpulist_check_online(topology, choice->cpus, &why);
	if (r == -EINVAL)
		say("CPUS=%s: %s", settings->cpus, why);
	if (r == 0)
		r = check_threads(settings, topology, choice->cpus);
	if (r == 0)
		r = find_others(topology, choice);
	if (r < 0)
		return r;
	sibling = find_sibling_of_zero(settings, topology, choice);
	if (sibling < 0)
		return 0;
	say("CPUS=%s: CPU 0 is a thread of CPU %d's core, and never goes offline: name a CPU of "
	    "another core, or say SMT=leave",
		settings->cpus, sibling);
	return -EINVAL;
}

static int choose(
	const struct settings *settings, const struct topology *topology, struct choice *choice)
{
	_cleanup_(isolation) struct isolation *isolation = NULL;
	_cleanup_(cpumask) struct cpumask *candidates = NULL;
	int r;

	r = isolation_read(&isolation);
	if (r == 0)
		r = cpumask_new(&candidates);
	if (r == 0)
		r = read_candidates(settings, topology, isolation, candidates);
	if (r < 0) {
		say_errno(r, "cannot find out which CPUs there are to choose from");
		return r;
	}
	if (settings->cpus)
		r = choose_list(settings, topology, choice);
	else
		r = choose_auto(settings, topology, candidates, choice);
	if (r < 0)
		return r;
	choice->cpus_text = cpumask_format_list(choice->cpus);
	return choice->cpus_text ? 0 : -ENOMEM;
}

int choose_cpus(const struct settings *settings, struct choice **ret)
{
	_cleanup_(choice) struct choice *choice = calloc(1, sizeof(*choice));
	_cleanup_(topology) struct topology *topology = NULL;
	int r;

	if (!choice)
		return -ENOMEM;
	if (cpumask_new(&choice->cpus) < 0)
		return -ENOMEM;
	r = topology_read(false, &topology);
	if (r < 0) {
		say_errno(r, "cannot read which CPUs this machine has");
		return r;
	}
	if (topology->cores_error < 0) {
		say_errno(topology->cores_error, "cannot read which CPUs share a core");
		return topology->cores_error;
	}
	r = choose(settings, topology, choice);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(choice);
	return 0;
}

void choice_free(struct choice *choice)
{
	if (!choice)
		return;
	cpumask_free(choice->cpus);
	free(choice->cpus_text);
	free(choice->reason);
	free(choice);
}
