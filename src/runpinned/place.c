// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "basic/say.h"
#include "choice/autochoice.h"
#include "choice/cpulist.h"
#include "machine/isolation.h"
#include "machine/topology.h"
#include "runpinned/place.h"
#include "state/running.h"

/* One of the CPUs is not allowed here. This is no error if all of them belong to benchmark.target,
 * because then the launcher can join it. Otherwise says why. */
static int check_denied(
	const struct cpumask *cpus, int denied, const char *why, const struct cpumask *target)
{
	if (target && cpumask_subset(cpus, target))
		return 0;
	if (target && cpumask_isset(target, denied)) {
		say("-c: CPU %d is kept apart by benchmark.target, and not all of the others are",
			denied);
		return -EINVAL;
	}
	say("-c: %s", why);
	return -EINVAL;
}

/* Checks that the chosen CPUs exist, are online and may be used. `whose` names in messages who
 * chose them. */
static int check_cpus(const char *whose, const struct topology *topology,
	const struct cpumask *cpus, const struct cpumask *target, bool *ret_join)
{
	_cleanup_free_ char *why = NULL;
	int denied, r;

	r = cpulist_check_online(topology, cpus, &why);
	if (r == -EINVAL)
		say("%s: %s", whose, why);
	if (r < 0)
		return r;
	r = cpulist_find_denied(cpus, &denied, &why);
	if (r < 0) {
		say_errno(r, "cannot find out which CPUs are allowed here");
		return r;
	}
	*ret_join = r > 0;
	return r > 0 ? check_denied(cpus, denied, why, target) : 0;
}

static int choose_auto(
	const struct topology *topology, const struct cpumask *allowed, struct place *place)
{
	_cleanup_free_ char *why = NULL;
	int r;

	r = autochoice_now(topology, allowed, false, 0, place->cpus, &place->reason, &why);
	if (why)
		say("%s", why);
	else if (r < 0)
		say_errno(r, "cannot choose a CPU");
	return r;
}

/* *ret is NULL when no target is up. */
static int read_target(struct cpumask **ret)
{
	int r;

	r = running_read_cpus(ret);
	if (r == 0 || r == -ENOENT)
		return 0;
	say_errno(r, "cannot read which CPUs benchmark.target chose (%s)", TARGET_FILE);
	return r;
}

static int choose(const char *list, const struct topology *topology, struct place *place)
{
	_cleanup_(cpumask) struct cpumask *allowed = NULL, *target = NULL;
	_cleanup_free_ char *why = NULL;
	int r;

	r = cpumask_new(&allowed);
	if (r < 0)
		return r;
	r = isolation_read_allowed(allowed);
	if (r < 0) {
		say_errno(r, "cannot find out which CPUs are allowed here");
		return r;
	}
	r = read_target(&target);
	if (r < 0)
		return r;
	if (!list && !target) {
		r = choose_auto(topology, allowed, place);
	} else if (list) {
		r = cpulist_parse(list, topology, place->cpus, &why);
		if (r == -EINVAL)
			say("-c: %s", why);
	} else {
		cpumask_assign(place->cpus, target);
		place->reason = strdup("by benchmark.target");
		r = place->reason ? 0 : -ENOMEM;
	}
	if (r == 0 && (list || target))
		r = check_cpus(list ? "-c" : "benchmark.target", topology, place->cpus, target,
			&place->join);
	if (r < 0)
		return r;
	place->cpus_text = cpumask_format_list(place->cpus);
	if (!place->cpus_text)
		return -ENOMEM;
	r = autochoice_housekeeping(topology, allowed, place->cpus, place->housekeeping);
	return r == -ENODATA ? 0 : r;
}

int place_choose(const char *list, struct place **ret)
{
	_cleanup_(place) struct place *place = NULL;
	_cleanup_(topology) struct topology *topology = NULL;
	int r;

	place = calloc(1, sizeof(*place));
	if (!place)
		return -ENOMEM;
	r = cpumask_new(&place->cpus);
	if (r < 0)
		return r;
	r = cpumask_new(&place->housekeeping);
	if (r < 0)
		return r;
	r = topology_read(&topology);
	if (r < 0) {
		say_errno(r, "cannot read which CPUs this machine has");
		return r;
	}
	r = choose(list, topology, place);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(place);
	return 0;
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
