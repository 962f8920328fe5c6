/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What sysfs tells about the machine's CPUs (Documentation/admin-guide/cputopology.rst,
 * Documentation/ABI/stable/sysfs-devices-system-cpu). Old kernels, virtual machines and some
 * architectures tell less: a missing file is normal, and its value is then unknown.
 *
 * A topology is plain data, so that it can also be built by hand (topology_new()).
 */
#ifndef QUIESCE_BASE_MACHINE_TOPOLOGY_H
#define QUIESCE_BASE_MACHINE_TOPOLOGY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "base/machine/cpumask.h"

/* The fastest kind comes first. A machine may have more kinds than those that have names here. */
enum topology_kind {
	/* All cores are alike, or nothing distinguishes them. */
	TOPOLOGY_KIND_UNIFORM,
	TOPOLOGY_KIND_PERFORMANCE,
	TOPOLOGY_KIND_EFFICIENCY,
	TOPOLOGY_KIND_LOW_POWER,
	/* What would be one more counts as this one. */
	TOPOLOGY_KIND_LAST = 8,
};
#define TOPOLOGY_N_KINDS (TOPOLOGY_KIND_LAST + 1)

/* "performance", "efficiency", "low-power", "kind-4"; "" for UNIFORM. */
const char *topology_kind_name(enum topology_kind kind);

/* The first source that tells cores apart, the most reliable first. The others tell apart what
 * that one takes for one kind. */
enum topology_kind_source {
	TOPOLOGY_KIND_FROM_NOTHING,
	/* x86 hybrids: /sys/devices/cpu_core/cpus versus cpu_atom and cpu_lowpower
	 * (arch/x86/events/intel/core.c: intel_hybrid_pmu_type_map; cpu_lowpower from 6.12). */
	TOPOLOGY_KIND_FROM_PMU,
	/* Arm, RISC-V: cpuN/cpu_capacity (drivers/base/arch_topology.c). */
	TOPOLOGY_KIND_FROM_CAPACITY,
	/* Alone it is a guess: cpuN/cpufreq/cpuinfo_max_freq. */
	TOPOLOGY_KIND_FROM_FREQUENCY,
};

enum {
	/* A core whose speed is below this percentage of the fastest one of a kind is of another
	 * kind. Cores of one design differ by a few per cent: favoured cores on x86 (5.0 and 5.2
	 * GHz), clusters on Arm (capacities of 997 and 1024). Efficiency cores have 70 to 90 per
	 * cent. */
	TOPOLOGY_ALIKE_PERCENT = 90,
};

/* One CPU, a hardware thread. Unknown numbers are -1. */
struct topology_cpu {
	/* The kernel's number of the physical package. (The kernel's core numbers are not unique:
	 * compare `core` to know whether two CPUs share a core.) */
	int package;
	int node;
	/* The lowest CPU of the physical core, which identifies the core; the CPU itself where the
	 * machine does not tell. The kernel does not list offline siblings. */
	int core;
	bool core_told; /* the machine tells the siblings of this CPU */
	/* The lowest CPU that shares the last-level cache, and the level of this cache. */
	int llc;
	int llc_level;
	enum topology_kind kind;
	/* The firmware's ranking among CPUs of the same kind, higher is better:
	 * cpufreq/amd_pstate_prefcore_ranking (in 6.12, not in 6.1), else acpi_cppc/highest_perf.
	 * All CPUs use the same source. */
	int64_t rank;
};

struct topology {
	/* All CPUs are below n_cpus; possible includes present, which includes online. */
	struct cpumask *possible;
	struct cpumask *present;
	struct cpumask *online;
	/* Indexed by CPU number, up to the highest possible one; for CPUs that are not present all
	 * numbers but `core` are -1, and the kind is UNIFORM. */
	struct topology_cpu *cpus;
	unsigned n_cpus;
	enum topology_kind_source kind_source;
	/* Negative errno: files that tell which CPUs share a core are there and could not be read,
	 * so a CPU may have siblings that are missing here. 0 where all were read, and where the
	 * machine has none. */
	int cores_error;
	/* This process may run on CPUs that /sys does not list as online. So some container manager
	 * has put files of its own over the kernel's (lxcfs does that to `online` and /proc/stat),
	 * in which CPUs may have other numbers. Which are online is then read from the files of the
	 * CPUs themselves, where these are there. */
	bool renumbered;
};

/* A topology of n_cpus CPUs about which nothing is known, with empty masks. -EINVAL for 0 or more
 * than CPUMASK_CAPACITY, -ENOMEM. */
int topology_new(unsigned n_cpus, struct topology **ret);
/*
 * Reads this machine. CPUs that the calling thread may run on are online, whatever /sys says:
 * sched_getaffinity(2) leaves out those that are not, and nothing stands between it and the kernel.
 * `recorded`: /sys is that of a recorded machine, about which the scheduler of this one says
 * nothing. -ENODATA when /sys, /proc/stat and the scheduler list no CPU.
 */
int topology_read(bool recorded, struct topology **ret);
/* Reads only the masks, n_cpus and `renumbered`, of this machine; the rest is as topology_new()
 * leaves it. It reads three files instead of several for each CPU. Errors as above. */
int topology_read_masks(struct topology **ret);
/* The same, and of each CPU `core` and `core_told`. */
int topology_read_cores(struct topology **ret);
/*
 * How many threads each core of a POWER machine has, those that are offline included, from the
 * device tree: there the CPUs of a core have numbers that follow each other, and the first one of
 * them is a multiple of that (arch/powerpc/include/asm/cputhreads.h), so that the siblings of CPUs
 * that are offline are known. -ENOENT on other machines, -ENOMEM.
 */
int topology_read_core_size(unsigned *ret);
/* The CPUs that have a line in the text of /proc/stat. */
void topology_parse_stat(const char *text, struct cpumask *ret);
void topology_free(struct topology *topology);

DEFINE_CLEANUP(topology, topology_free);

/* NULL for a CPU that is not in the topology. */
const struct topology_cpu *topology_get_cpu(const struct topology *topology, int cpu);
/* The CPUs of a CPU's physical core, itself included; empty for a CPU that is not in the
 * topology. */
void topology_get_siblings(const struct topology *topology, int cpu, struct cpumask *ret);

/* What tells the cores apart: an array of n_cpus values for each source, the larger the faster, in
 * any one unit; 0 is unknown, and NULL a source that this machine does not have. */
struct topology_speeds {
	/* By core PMU, by capacity and by frequency. */
	const uint64_t *by[TOPOLOGY_KIND_FROM_FREQUENCY + 1];
};

/*
 * Sets the kind of every CPU. Each source in turn tells apart what the ones before it took for one
 * kind: core PMUs that differ, speeds beyond TOPOLOGY_ALIKE_PERCENT, and where there are several
 * kinds, last-level caches of different levels: the low-power cores of an x86 hybrid are beside the
 * L3 of the others. A CPU whose value is unknown where those of its kind differ is UNIFORM. Where
 * nothing differs all are, and kind_source is FROM_NOTHING.
 */
int topology_rate_kinds(struct topology *topology, const struct topology_speeds *speeds);

#endif
