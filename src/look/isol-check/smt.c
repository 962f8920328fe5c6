// SPDX-License-Identifier: GPL-2.0-or-later
/* Threads that share a core. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "look/isol-check/subjects.h"

#define CPU_DIR "/sys/devices/system/cpu"
#define SMT_DIR CPU_DIR "/smt"

/* Whether it is known which siblings a CPU has. An offline CPU has no file with its siblings, but
 * is not a sibling of any CPU; the only CPU of a machine has no siblings either. */
static bool knows_siblings(struct host *host, int cpu)
{
	const struct topology *topology = host_topology(host);

	return topology->cpus[cpu].core_told || !cpumask_isset(topology->online, cpu) ||
		cpumask_weight(topology->possible) == 1;
}

/* The first checked CPU that shares a core with another checked CPU; -1 for none. `scratch` is then
 * all of these. */
static int find_shared(struct host *host, struct cpumask *scratch)
{
	cpumask_for_each (cpu, host_cpus(host)) {
		topology_get_siblings(host_topology(host), cpu, scratch);
		cpumask_and(scratch, scratch, host_cpus(host));
		cpumask_and(scratch, scratch, host_topology(host)->online);
		if (cpumask_weight(scratch) > 1)
			return cpu;
	}
	return -1;
}

/* Whether a host may run several CPUs of this virtual machine on one core without showing it. A
 * logical partition sees the threads of the machine (see smt-off(8) for both). */
static bool may_hide_threads(struct host *host)
{
	const char *hypervisor = host_hypervisor(host);

	return hypervisor && strcmp(hypervisor, "lpar") != 0 && !host_has_smt();
}

static void look_at_siblings(struct host *host, struct finding *f)
{
	_cleanup_(cpumask) struct cpumask *beside = host_new_mask();
	_cleanup_(cpumask) struct cpumask *unseen = host_new_mask();
	_cleanup_(cpumask) struct cpumask *scratch = host_new_mask();
	const struct isolation *isolation = host_isolation(host);
	_cleanup_free_ char *list = NULL, *shared = NULL;
	int cpu;

	cpu = find_shared(host, scratch);
	if (cpu >= 0) {
		shared = xptr(cpumask_format_list(scratch));
		finding_add(f, VERDICT_RISK,
			"%s share a core, and slow each other down: use one of them", shared);
	}
	cpumask_for_each (quiet, host_cpus(host)) {
		topology_get_siblings(host_topology(host), quiet, scratch);
		cpumask_or(beside, beside, scratch);
		if (!knows_siblings(host, quiet))
			(void)cpumask_set(unseen, quiet);
	}
	cpumask_andnot(beside, beside, host_cpus(host));
	cpumask_and(beside, beside, host_topology(host)->online);
	finding_add_path(f, "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list",
		cpumask_first(host_cpus(host)));
	finding_add_unseen(f, unseen, "the siblings");
	if (cpumask_is_empty(beside)) {
		if (cpu < 0 && cpumask_is_empty(unseen) && may_hide_threads(host))
			finding_add(f, VERDICT_UNKNOWN,
				"no thread is shown here; what the host does with its cores is not known; isol-check --measure looks");
		else if (cpu < 0 && cpumask_is_empty(unseen))
			finding_add(f, VERDICT_OK, "no thread beside these CPUs");
		else if (cpu >= 0)
			finding_add_fix(f, "-c with one CPU of each core");
		return;
	}
	list = xptr(cpumask_format_list(beside));
	if (cpumask_subset(beside, isolation->isolated)) {
		finding_add(f, VERDICT_OK, "%s beside these CPUs is isolated as well", list);
		return;
	}
	cpumask_andnot(beside, beside, isolation->isolated);
	finding_set_cpus(f, beside);
	if (isolation->partitions_error < 0) {
		finding_add(f, VERDICT_UNKNOWN,
			"CPU %s shares a core with these; whether it is isolated cannot be seen",
			list);
		return;
	}
	finding_add(f, VERDICT_NOISE, "CPU %s shares a core with these and takes any task", list);
	finding_add_fix(f, "smt-off -c %s", host_cpus_text(host));
}

static void look_at_half_cores(struct host *host, struct finding *f)
{
	_cleanup_(cpumask) struct cpumask *half = host_new_mask();
	_cleanup_(cpumask) struct cpumask *unseen = host_new_mask();
	_cleanup_(cpumask) struct cpumask *scratch = host_new_mask();
	const struct isolation *isolation = host_isolation(host);
	_cleanup_free_ char *list = NULL;

	finding_add_path(f, CPU_DIR "/isolated");
	cpumask_for_each (cpu, isolation->isolated) {
		if (!topology_get_cpu(host_topology(host), cpu))
			continue;
		if (!knows_siblings(host, cpu))
			(void)cpumask_set(unseen, cpu);
		topology_get_siblings(host_topology(host), cpu, scratch);
		cpumask_and(scratch, scratch, host_topology(host)->online);
		if (!cpumask_subset(scratch, isolation->isolated))
			(void)cpumask_set(half, cpu);
	}
	if (cpumask_is_empty(isolation->isolated)) {
		/* Unknown if the machine does not tell which CPUs are isolated. */
		if (isolation->isolated_error == 0)
			finding_add(f, VERDICT_OK, "no core is isolated");
		return;
	}
	finding_add_unseen(f, unseen, "the siblings");
	if (cpumask_is_empty(half) && !cpumask_is_empty(unseen))
		return;
	if (!cpumask_is_empty(half) && isolation->partitions_error < 0) {
		finding_add(f, VERDICT_UNKNOWN, "which other CPUs are isolated cannot be seen");
		return;
	}
	if (cpumask_is_empty(half)) {
		finding_add(f, VERDICT_OK, "isolated cores are isolated with all their threads");
		return;
	}
	list = xptr(cpumask_format_list(half));
	finding_set_cpus(f, half);
	finding_add(
		f, VERDICT_RISK, "of the cores of %s one thread is isolated, another is not", list);
	finding_add_fix(f, "smt-off -c %s", list);
}

static void look_at_smt(struct host *host, struct finding *f)
{
	char control[FILE_ATTR_SIZE], active[FILE_ATTR_SIZE];
	int r;

	r = host_read_word(SMT_DIR "/control", control);
	if (r == -ENOENT && host_is_whole(host)) {
		finding_add(f, VERDICT_INFO, "this kernel has no switch for it");
		return;
	}
	finding_add_path(f, SMT_DIR "/control");
	if (r < 0)
		return;
	if (host_read(SMT_DIR "/active", active) < 0)
		active[0] = '\0';
	finding_add(f, VERDICT_INFO, "control %s%s", control,
		strcmp(active, "1") == 0	   ? ", cores run several threads"
			: strcmp(active, "0") == 0 ? ", no core runs several threads"
						   : "");
}

const struct check smt_checks[] = {
	{ "siblings", look_at_siblings,
		"Two threads of a core share its execution units, caches and branch predictor. A\n"
		"benchmark beside a busy sibling is slower by 20 to 50 per cent, and by another\n"
		"amount in each run. Even an idle sibling takes an interrupt now and then. The\n"
		"remedy is to take the siblings offline, or to isolate whole cores. A virtual\n"
		"machine to which the host shows no threads may share its cores all the same.\n"
		"Source: Documentation/admin-guide/hw-vuln/core-scheduling.rst on what is\n"
		"shared; Documentation/ABI/stable/sysfs-devices-system-cpu\n"
		"(thread_siblings_list)." },
	{ "half-cores", look_at_half_cores,
		"Cores, of the whole machine, with one thread that is isolated and another that\n"
		"may run any task. A program on the isolated thread is then disturbed all the\n"
		"same, see `siblings`." },
	{ "smt", look_at_smt,
		"The machine's switch for SMT: on, off, forceoff (until the next boot),\n"
		"notsupported, notimplemented, or a number of threads. Some siblings may be\n"
		"offline while it is on.\n"
		"Source: Documentation/ABI/testing/sysfs-devices-system-cpu (smt/control)." },
	{ 0 },
};
