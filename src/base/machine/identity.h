/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The machine on which something was measured, and its state: names and values for a result file's
 * metadata. Names without prefix, their values and their wording are pyperf's (pyperf 2.10,
 * _collect_metadata.py), so that pyperf's tools read and compare them; our names begin with
 * "quiesce_". Facts that the machine does not have are left out. A setting of ours that is there
 * and cannot be read is "unknown": left out it would look as if it had stayed the same.
 *
 * The facts are of three kinds. Some never change while the machine is up. Settings are what
 * somebody can change (the clock source, a governor): they are read again after the runs. Others
 * move by themselves, and are read before and after the runs.
 */
#ifndef QUIESCE_BASE_MACHINE_IDENTITY_H
#define QUIESCE_BASE_MACHINE_IDENTITY_H

#include <stdbool.h>
#include <sys/types.h>
#include <time.h>

#include "base/facts.h"
#include "base/machine/cpumask.h"
#include "base/machine/thermal.h"

/*
 * What stays while the machine is up:
 *
 *	platform		"Linux-6.1.0-18-amd64-x86_64-with-glibc2.36"
 *	hostname
 *	boot_time		"2026-11-20 10:08:15", local time
 *	cpu_model_name		of the mask's first CPU (pyperf has it on x86 only)
 *	cpu_machine		power, s390
 *	quiesce_kernel		release and version: "6.1.0-18-amd64 #1 SMP PREEMPT_DYNAMIC ..."
 *	quiesce_cmdline		the boot parameters that bear on timing, see below
 *	quiesce_virtualization	"none", "kvm", "kvm, container docker", "container lxc"
 *	quiesce_mitigations	what of cpu/vulnerabilities is not "Not affected":
 *				"retbleed: Vulnerable | spectre_v1: usercopy/swapgs barriers ..."
 *				("Mitigation: " left out), or "not affected"; parts of it follow
 *				from the setting of SMT
 *
 * and, by identity_read_settings(), the settings, for the CPUs of mask:
 *
 *	aslr			"Full randomization", "Conservative ...", "No randomization"
 *	cpu_count		integer: CPUs online
 *	cpu_affinity		"2-3": the mask, unless it is all CPUs
 *	cpu_quota		"0.2 CPUs": the smallest quota of the cgroups of process `pid`
 *				(0: the calling one) that can be seen (quota.h)
 *	cpu_config		"2-3=driver:intel_pstate, intel_pstate:turbo, governor:powersave,
 *				isolated; idle:intel_idle"
 *	quiesce_clocksource	"tsc"
 *	quiesce_smt		cpu/smt/control and active: "on, active", "notsupported, inactive"
 *	quiesce_thp		transparent_hugepage/enabled and defrag: "madvise, defrag madvise"
 *	quiesce_governor	"performance"; where the mask's CPUs differ, as cpu_config:
 *				"0-3=performance; 4=powersave"
 *	quiesce_boost		"on", "off"
 *	quiesce_epp		energy_performance_preference
 *	quiesce_isolated	boot's isolcpus=, as a list
 *	quiesce_partitions	isolated cgroup v2 partitions, as a list
 *	quiesce_nohz_full	as a list
 *	quiesce_power_supply	"ac", "battery", "none"
 *
 * Both return 0 or -ENOMEM (`facts` then holds what was found until then).
 */
int identity_read(const struct cpumask *mask, pid_t pid, struct facts *facts);
int identity_read_settings(const struct cpumask *mask, pid_t pid, struct facts *facts);

/* Whether identity_read_settings() may find a fact of this name. */
bool identity_is_setting(const char *name);

/*
 * What moves:
 *
 *	date			"2026-11-20 10:14:10.123456", local time
 *	uptime			seconds, real
 *	load_avg_1min		real
 *	runnable_threads	integer
 *	cpu_freq		"2-3=2300 MHz", as /proc/cpuinfo has it
 *	cpu_temp		"coretemp:Package id 0=51 C"; thermal may be NULL
 *
 * Costs milliseconds on a big machine: /proc/cpuinfo and /proc/stat are read whole.
 */
int identity_read_moving(
	const struct cpumask *mask, const struct thermal *thermal, struct facts *facts);
/* Of these, the load and the frequencies alone: without the text of /proc/stat. 0 or -ENOMEM. */
int identity_read_load(const struct cpumask *mask, struct facts *facts);

/*
 * The boot parameters that bear on timing, in their order, malloc'd; "" when there is none, NULL
 * when memory is short. Only parameters known by name are taken: others may hold secrets.
 */
char *identity_pick_parameters(const char *cmdline);

/* The platform's name by Python's rules (platform._platform), malloc'd, NULL when memory is short.
 * libc is "glibc 2.36", or NULL where it has no name. */
char *identity_format_platform(
	const char *system, const char *release, const char *machine, const char *libc);

/* Sets cpu_quota, which is another one when the process has moved; it is removed where there is no
 * quota any more. 0 or -ENOMEM. */
int identity_set_quota(pid_t pid, struct facts *facts);

/* The boot time in seconds since 1970 in the text of /proc/stat; false when it is not in the
 * text. */
bool identity_parse_boot_time(const char *text, time_t *ret);

#endif
