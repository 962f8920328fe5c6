/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What sysfs tells about the machine's CPUs (Documentation/admin-guide/cputopology.rst,
 * Documentation/ABI/stable/sysfs-devices-system-cpu). Old kernels, virtual machines and some
 * architectures tell less: a file that is absent is normal, and what it would have said is unknown.
 *
 * A topology is plain data, so that it can also be built by hand (topology_new()).
 */
#ifndef QUIESCE_MACHINE_TOPOLOGY_H
#define QUIESCE_MACHINE_TOPOLOGY_H

#include <stdbool.h>
#include <stdint.h>

#include "basic/cleanup.h"
#include "machine/cpumask.h"

enum topology_kind {
	/* All cores alike, or nothing tells them apart. */
	TOPOLOGY_KIND_UNIFORM,
	TOPOLOGY_KIND_PERFORMANCE,
	TOPOLOGY_KIND_EFFICIENCY,
};

/* What the kinds were taken from, in the order in which it is believed. */
enum topology_kind_source {
	TOPOLOGY_KIND_FROM_NOTHING,
	/* x86 hybrids: /sys/devices/cpu_core/cpus against cpu_atom and cpu_lowpower
	 * (arch/x86/events/intel/core.c: intel_hybrid_pmu_type_map; cpu_lowpower from 6.12). */
	TOPOLOGY_KIND_FROM_PMU,
	/* Arm, RISC-V: cpuN/cpu_capacity (drivers/base/arch_topology.c). */
	TOPOLOGY_KIND_FROM_CAPACITY,
	/* The last resort, a guess: cpuN/cpufreq/cpuinfo_max_freq. */
	TOPOLOGY_KIND_FROM_FREQUENCY,
};

enum {
	/* A core below so many per cent of the machine's best counts as an efficiency core. Cores
	 * of one design differ by a few per cent: favoured cores on x86 (5.0 and 5.2 GHz), clusters
	 * on Arm (capacities of 997 and 1024). The smaller design is at 70 to 90. */
	TOPOLOGY_EFFICIENCY_PERCENT = 90,
};

/* One CPU, a hardware thread. A number that the machine does not tell is -1. */
struct topology_cpu {
	/* Physical package, as the kernel numbers it. (Its numbers of cores are not unique: compare
	 * `core` to know whether two CPUs share one.) */
	int package;
	/* NUMA node. */
	int node;
	/* The lowest CPU of its physical core, which names the core; the CPU itself where the
	 * machine says nothing. The kernel shows no siblings that are offline. */
	int core;
	bool core_told; /* it says with whom it shares one */
	/* The lowest CPU that shares its last-level cache, and that cache's level. */
	int llc;
	int llc_level;
	enum topology_kind kind;
	/* How good the firmware says that it is among its like, more is better:
	 * cpufreq/amd_pstate_prefcore_ranking (in 6.12, not in 6.1), else acpi_cppc/highest_perf,
	 * the same one for all CPUs. */
	int64_t rank;
};

struct topology {
	/* All below n_cpus; possible includes present, which includes online. */
	struct cpumask *possible;
	struct cpumask *present;
	struct cpumask *online;
	/* By CPU number, up to the highest possible one; gaps and CPUs that are not present have
	 * all -1 and are UNIFORM. */
	struct topology_cpu *cpus;
	unsigned n_cpus;
	enum topology_kind_source kind_source;
};

/* n_cpus CPUs of which nothing is known, and empty masks. -EINVAL for none or more than
 * CPUMASK_CAPACITY, -ENOMEM. */
int topology_new(unsigned n_cpus, struct topology **ret);
/* This machine. -ENODATA when neither /sys nor /proc/stat names a CPU. */
int topology_read(struct topology **ret);
/* Only which CPUs there are: the masks and n_cpus; the rest is as topology_new() leaves it. Three
 * files instead of several for each CPU. Errors as above. */
int topology_read_masks(struct topology **ret);
/* The CPUs that have a line in the text of /proc/stat. */
void topology_parse_stat(const char *text, struct cpumask *ret);
void topology_free(struct topology *topology);

DEFINE_CLEANUP(topology, topology_free);

/* NULL for a CPU that the topology has not. */
const struct topology_cpu *topology_get_cpu(const struct topology *topology, int cpu);
/* The CPUs of its physical core, itself included; empty for a CPU that the topology has not. */
void topology_get_siblings(const struct topology *topology, int cpu, struct cpumask *ret);
/* The CPUs that share its last-level cache, itself included; only itself where that is unknown. */
void topology_get_llc(const struct topology *topology, int cpu, struct cpumask *ret);

/*
 * Sets the kind of every CPU from how fast it is; 0 is unknown and leaves that CPU UNIFORM.
 * speeds has n_cpus entries in any one unit. Where all are within TOPOLOGY_EFFICIENCY_PERCENT of
 * the fastest, all are UNIFORM and kind_source is FROM_NOTHING.
 */
void topology_rate_kinds(
	struct topology *topology, const uint64_t *speeds, enum topology_kind_source source);

#endif
