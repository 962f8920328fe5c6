// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/machine/isolation.h"
#include "base/machine/topology.h"
#include "base/say.h"
#include "base/where/autochoice.h"
#include "base/where/cpulist.h"
#include "base/where/reserved.h"
#include "base/where/running.h"
#include "base/xalloc.h"
#include "measure/place.h"
#include "measure/slurm.h"

/* Whether all CPUs are those of an exclusive cpuset of cgroup v1, where everybody may go. */
static bool are_reserved(const struct cpumask *cpus)
{
	_cleanup_(cpumask) struct cpumask *reserved = NULL;

	return reserved_read_cpus(&reserved) == 0 && cpumask_subset(cpus, reserved);
}

/* One of the CPUs is not allowed here. This is no error if all of them belong to benchmark.target,
 * or are reserved, because then the launcher can go there. Otherwise says why. */
static int check_denied(const char *option, const struct cpumask *cpus, int denied, const char *why,
	const struct cpumask *target)
{
	if ((target && cpumask_subset(cpus, target)) || are_reserved(cpus))
		return 0;
	if (target && cpumask_isset(target, denied)) {
		say("%s: CPU %d belongs to benchmark.target, and not all of the others do", option,
			denied);
		return -EINVAL;
	}
	say("%s: %s", option, why);
	return -EINVAL;
}

/* Checks that the chosen CPUs exist, are online and may be used. `whose` names in messages who
 * chose them; `option`: by which one they could be. */
static int check_cpus(const char *option, const char *whose, const struct topology *topology,
	const struct cpumask *cpus, const struct cpumask *target, bool *ret_join)
{
	_cleanup_free_ char *why = NULL;
	int denied, r;

	r = xcheck(cpulist_check_online(topology, cpus, &why));
	if (r < 0) {
		say("%s: %s", whose, why);
		return r;
	}
	r = xcheck(cpulist_find_denied(cpus, &denied, &why));
	if (r < 0) {
		say_errno(r, "cannot find out which CPUs are allowed here");
		return r;
	}
	*ret_join = r > 0;
	return r > 0 ? check_denied(option, cpus, denied, why, target) : 0;
}

static int choose_auto(
	const struct topology *topology, const struct cpumask *allowed, struct place *place)
{
	_cleanup_free_ char *why = NULL;
	int r;

	r = xcheck(autochoice_now(topology, allowed, false, 0, place->cpus, &place->reason, &why));
	if (why)
		say("%s", why);
	else if (r < 0)
		say_errno(r, "cannot choose a CPU");
	return r;
}

/* *ret is NULL when no target is up. */
static int read_target(struct cpumask **ret)
{
	int r = xcheck(running_read_cpus(ret));

	if (r == 0 || r == -ENOENT)
		return 0;
	say_errno(r, "cannot read which CPUs benchmark.target chose (%s)", TARGET_FILE);
	return r;
}

/*
 * The CPUs to choose from. In a job of Slurm they are the CPUs that the job step is bound to:
 * without ConstrainCores (cgroup.conf(5)) the cpuset is that of the whole node, where other jobs
 * may run. Elsewhere they are the CPUs of the cpuset, because an affinity is often inherited
 * unintentionally.
 */
static int read_allowed(struct cpumask *ret)
{
	int r;

	r = xcheck(slurm_get_job() ? cpumask_get_self(ret) : isolation_read_allowed(ret));
	if (r < 0)
		say_errno(r, "cannot find out which CPUs are allowed here");
	return r;
}

/* In a job of Slurm's, `all` is all CPUs of the job step. */
static int parse_list(const char *option, const char *list, const struct topology *topology,
	const struct cpumask *allowed, struct cpumask *ret)
{
	_cleanup_free_ char *why = NULL;
	int r;

	if (slurm_get_job() && strcmp(list, "all") == 0) {
		cpumask_and(ret, topology->online, allowed);
		return 0;
	}
	r = xcheck(cpulist_parse(list, topology, ret, &why));
	if (r < 0)
		say("%s: %s", option, why);
	return r;
}

/* -EINVAL, after saying so, where a list names a CPU that Slurm has not given to this job step. */
static int check_job(const char *option, const struct cpumask *cpus, const struct cpumask *allowed)
{
	_cleanup_free_ char *have = NULL;

	if (!slurm_get_job() || cpumask_subset(cpus, allowed))
		return 0;
	have = xptr(cpumask_format_list(allowed));
	say("%s: this step of Slurm's job %s has CPUs %s only; `%s all` takes these", option,
		slurm_get_job(), have, option);
	return -EINVAL;
}

static int choose(
	const char *option, const char *list, const struct topology *topology, struct place *place)
{
	_cleanup_(cpumask) struct cpumask *allowed = NULL, *target = NULL;
	int r;

	xcheck(cpumask_new(&allowed));
	r = read_allowed(allowed);
	if (r == 0)
		r = read_target(&target);
	if (r < 0)
		return r;
	if (!list && !target) {
		r = choose_auto(topology, allowed, place);
	} else if (list) {
		r = parse_list(option, list, topology, allowed, place->cpus);
		if (r == 0 && !(target && cpumask_subset(place->cpus, target)))
			r = check_job(option, place->cpus, allowed);
	} else {
		cpumask_assign(place->cpus, target);
		place->reason = xptr(strdup("by benchmark.target"));
	}
	if (r == 0 && (list || target))
		r = check_cpus(option, list ? option : "benchmark.target", topology, place->cpus,
			target, &place->join);
	if (r < 0)
		return r;
	place->cpus_text = xptr(cpumask_format_list(place->cpus));
	r = xcheck(autochoice_housekeeping(topology, allowed, place->cpus, place->housekeeping));
	return r == -ENODATA ? 0 : r;
}

/* What the machine's files do not tell in a sandbox. */
static void say_unknown(const struct topology *topology)
{
	if (access("/sys/devices/system/cpu", F_OK) < 0)
		say("note: there is no /sys here: which CPUs share a core or are isolated, how "
		    "fast they are, and what throttles them is not known");
	if (topology->renumbered)
		say("note: /sys and /proc/stat show other CPUs than this process may use: how busy "
		    "these are, and what a hypervisor takes from them, is not known");
}

static int read_topology(struct topology **ret)
{
	int r = xcheck(topology_read(false, ret));

	if (r < 0)
		say_errno(r, "cannot read which CPUs this machine has");
	return r;
}

static bool is_one_package(const struct topology *topology, const struct cpumask *cpus)
{
	const struct topology_cpu *own = topology_get_cpu(topology, cpumask_first(cpus));

	if (!own || own->package < 0)
		return false;
	cpumask_for_each (cpu, topology->online) {
		if (topology_get_cpu(topology, cpu)->package != own->package)
			return false;
	}
	return true;
}

/* If the machine does not tell the kinds of its CPUs, they count as CPUs of one kind. */
static void find_kinds(const struct topology *topology, struct place *place)
{
	bool is_first = true;

	place->kind = TOPOLOGY_KIND_UNIFORM;
	cpumask_for_each (cpu, place->cpus) {
		const struct topology_cpu *one = topology_get_cpu(topology, cpu);

		if (!one)
			continue;
		if (is_first)
			place->kind = one->kind;
		place->mixed_kinds = place->mixed_kinds || one->kind != place->kind;
		is_first = false;
	}
}

int place_choose(const char *option, const char *list, struct place **ret)
{
	_cleanup_(place) struct place *place = NULL;
	_cleanup_(topology) struct topology *topology = NULL;
	int r;

	place = xptr(calloc(1, sizeof(*place)));
	xcheck(cpumask_new(&place->cpus));
	xcheck(cpumask_new(&place->housekeeping));
	r = read_topology(&topology);
	if (r == 0)
		r = choose(option, list, topology, place);
	if (r == 0) {
		say_unknown(topology);
		place->renumbered = topology->renumbered;
		place->one_package = is_one_package(topology, place->cpus);
		find_kinds(topology, place);
	}
	if (r < 0)
		return r;
	*ret = TAKE_PTR(place);
	return 0;
}

static int foresee_list(const char *option, const char *list, struct cpumask **ret)
{
	_cleanup_(topology) struct topology *topology = NULL;
	_cleanup_(cpumask) struct cpumask *allowed = NULL, *cpus = NULL;
	int r;

	xcheck(cpumask_new(&allowed));
	xcheck(cpumask_new(&cpus));
	r = read_topology(&topology);
	if (r == 0)
		r = read_allowed(allowed);
	if (r == 0)
		r = parse_list(option, list, topology, allowed, cpus);
	if (r == 0)
		*ret = TAKE_PTR(cpus);
	return r;
}

int place_foresee(const char *option, const char *list, struct cpumask **ret)
{
	return list ? foresee_list(option, list, ret) : read_target(ret);
}

void place_free(struct place *place)
{
	if (!place)
		return;
	cpumask_free(place->cpus);
	cpumask_free(place->housekeeping);
	free(place->cpus_text);
	free(place->reason);
	free(place);
}
