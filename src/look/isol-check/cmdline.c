// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/machine/bootline.h"
#include "base/say.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "look/isol-check/cmdline.h"

#define NOHZ_FULL "/sys/devices/system/cpu/nohz_full"
#define NOHZ_FULL_REASON "no tick while one program runs there"
#define ISOLCPUS "isolcpus=managed_irq,domain,"
#define ISOLCPUS_REASON                                                                        \
	"the scheduler puts nothing there, and interrupts that only the kernel can move stay " \
	"away"

enum {
	/* A list that is longer than this is written with strides where it has some. */
	LIST_MAX = 200,
	/* COMMAND_LINE_SIZE of x86, arm64 and POWER; s390 takes more, RISC-V less. */
	LINE_MAX_LENGTH = 2048,
};

struct builder {
	struct text line;
	struct text reason;
	const struct cpumask *quiet; /* the CPUs, and their siblings, without `spared` */
	/* The core of CPU 0 where no other CPU would be left for everything else, else none: the
	 * kernel would leave CPU 0 alone out (kernel/sched/isolation.c: housekeeping_setup()). */
	const struct cpumask *spared;
	struct cpumask *scratch;
	bool wants_equal; /* this kernel wants isolcpus and nohz_full to be equal */
};

/* The last CPU of the run of CPUs that begins with this one. */
static int find_run_end(const struct cpumask *cpus, int cpu)
{
	while (cpumask_isset(cpus, cpu + 1))
		cpu++;
	return cpu;
}

/* A list as the boot line takes it, with "1-63:1/2" for what recurs, as kernels since 4.11 read it
 * (Documentation/admin-guide/kernel-parameters.rst, "cpu lists"): the numbers of half of 1024 CPUs
 * fill the whole line. */
static char *format_strided_list(const struct cpumask *cpus)
{
	struct text t = { 0 };
	int cpu = cpumask_first(cpus);

	while (cpu >= 0) {
		int end = find_run_end(cpus, cpu), length = end - cpu + 1;
		int next = cpumask_next(cpus, end), period = next - cpu, last = end, n = 1;

		while (next >= 0 && find_run_end(cpus, next) == next + length - 1 &&
			next == cpu + n * period) {
			last = next + length - 1;
			next = cpumask_next(cpus, last);
			n++;
		}
		text_appendf(&t, "%s%d", t.length > 0 ? "," : "", cpu);
		if (n > 2)
			text_appendf(&t, "-%d:%d/%d", last, length, period);
		else if (length > 1)
			text_appendf(&t, "-%d", end);
		cpu = cpumask_next(cpus, n > 2 ? last : end);
	}
	return text_steal(&t);
}

static char *format_list(const struct cpumask *cpus)
{
	char *list = xptr(cpumask_format_list(cpus));

	if (strlen(list) <= LIST_MAX)
		return list;
	free(list);
	return xptr(format_strided_list(cpus));
}

static void add(
	struct builder *m, const char *parameter, const struct cpumask *cpus, const char *reason)
{
	_cleanup_free_ char *list = format_list(cpus);

	text_appendf(&m->line, "%s%s%s", m->line.length > 0 ? " " : "", parameter, list);
	text_appendf(&m->reason, "%s%s%s: %s", m->reason.length > 0 ? "\n" : "", parameter, list,
		reason);
}

/* Adds a parameter unless its list has all of `wanted`; CPUs already in the list stay in it. */
static void add_missing(struct builder *m, const char *parameter, const struct bootline_list *list,
	const struct cpumask *wanted, const char *reason)
{
	if (cpumask_subset(wanted, list->cpus))
		return;
	cpumask_or(m->scratch, wanted, list->cpus);
	add(m, parameter, m->scratch, reason);
}

/* Makes both lists have the same CPUs, as kernels before 5.18 want it: they refuse the second of
 * two that differ (kernel/sched/isolation.c: housekeeping_setup()). False where there can be no
 * nohz_full, so that isolcpus is made by itself. */
static bool make_equal(struct builder *m, const struct bootline *b)
{
	cpumask_or(m->scratch, m->quiet, b->isolcpus.cpus);
	cpumask_or(m->scratch, m->scratch, b->nohz_full.cpus);
	/* CPU 0 cannot be without its tick. */
	if (cpumask_isset(m->scratch, 0) || access(NOHZ_FULL, F_OK) < 0)
		return false;
	if (!b->domain || !b->managed_irq || !cpumask_equal(m->scratch, b->isolcpus.cpus))
		add(m, ISOLCPUS, m->scratch, ISOLCPUS_REASON);
	if (!cpumask_equal(m->scratch, b->nohz_full.cpus))
		add(m, "nohz_full=", m->scratch, NOHZ_FULL_REASON);
	return true;
}

static void make_isolcpus(struct builder *m, const struct bootline *b)
{
	if (b->domain && b->managed_irq && cpumask_subset(m->quiet, b->isolcpus.cpus))
		return;
	cpumask_or(m->scratch, m->quiet, b->isolcpus.cpus);
	cpumask_andnot(m->scratch, m->scratch, m->spared);
	add(m, b->nohz ? "isolcpus=nohz,managed_irq,domain," : ISOLCPUS, m->scratch,
		ISOLCPUS_REASON);
}

/* nohz_full and rcu_nocbs: no tick, and no RCU callbacks. */
static void make_tickless(struct builder *m, const struct bootline *b, struct cpumask *tickless)
{
	/* The kernel takes CPU 0 out of the list, as it does the timekeeping for the others. */
	cpumask_assign(tickless, m->quiet);
	cpumask_clear(tickless, 0);
	if (cpumask_is_empty(tickless))
		return;
	/* The file does not exist if the kernel was built without nohz_full. */
	if (!m->wants_equal && access(NOHZ_FULL, F_OK) == 0 &&
		!(b->nohz && cpumask_subset(tickless, b->isolcpus.cpus)))
		add_missing(m, "nohz_full=", &b->nohz_full, tickless, NOHZ_FULL_REASON);
	add_missing(m, "rcu_nocbs=", &b->rcu_nocbs, tickless,
		"what the kernel frees later, it frees on other CPUs");
}

/* irqaffinity, for interrupts that are set up before irq-steer can run. */
static void make_irqaffinity(
	struct builder *m, const struct bootline *b, const struct topology *topology)
{
	if (!cpumask_is_empty(b->irqaffinity.cpus)) {
		if (!cpumask_intersects(b->irqaffinity.cpus, m->quiet))
			return;
		cpumask_andnot(m->scratch, b->irqaffinity.cpus, m->quiet);
	}
	/* Interrupts also avoid CPUs that are isolated for another purpose, if others are left. */
	if (cpumask_is_empty(m->scratch)) {
		cpumask_andnot(m->scratch, topology->possible, m->quiet);
		cpumask_andnot(m->scratch, m->scratch, b->isolcpus.cpus);
	}
	if (cpumask_is_empty(m->scratch))
		cpumask_andnot(m->scratch, topology->possible, m->quiet);
	if (!cpumask_is_empty(m->scratch))
		add(m, "irqaffinity=", m->scratch, "interrupts are set up on the other CPUs");
}

/* Adds the siblings of the CPUs that are offline, for the kernel does not list them as siblings,
 * and they are online after a boot. `ret_unknown`: those that may be siblings. */
static void add_offline_siblings(
	const struct topology *topology, struct cpumask *cpus, struct cpumask *ret_unknown)
{
	unsigned size;
	int r = xcheck(topology_read_core_size(&size));

	/* Cores that have one thread each have none that is offline. */
	if (r < 0 && !host_has_smt())
		return;
	cpumask_for_each (cpu, topology->present) {
		int first;

		if (cpumask_isset(topology->online, cpu) || topology->cpus[cpu].core_told)
			continue;
		if (r < 0) {
			(void)cpumask_set(ret_unknown, cpu);
			continue;
		}
		first = cpu - cpu % (int)size;
		for (int other = first; other < first + (int)size; other++)
			if (cpumask_isset(cpus, other)) {
				(void)cpumask_set(cpus, cpu);
				break;
			}
	}
}

static void make_all(struct builder *m, struct host *host, const struct bootline *b,
	struct cpumask *spared, struct cpumask *unknown)
{
	_cleanup_(cpumask) struct cpumask *quiet = host_new_mask(), *scratch = host_new_mask(),
					  *tickless = host_new_mask();
	const struct topology *topology = host_topology(host);

	cpumask_assign(quiet, host_cpus(host));
	cpumask_for_each (cpu, host_cpus(host)) {
		topology_get_siblings(topology, cpu, scratch);
		cpumask_or(quiet, quiet, scratch);
	}
	add_offline_siblings(topology, quiet, unknown);
	cpumask_or(scratch, quiet, b->isolcpus.cpus);
	if (cpumask_subset(topology->present, scratch))
		topology_get_siblings(topology, 0, spared);
	cpumask_andnot(quiet, quiet, spared);
	if (cpumask_is_empty(quiet))
		return;
	m->quiet = quiet;
	m->spared = spared;
	m->scratch = scratch;
	m->wants_equal = host_is_since(host, 5, 18) == 0 && !b->nohz;
	if (!m->wants_equal || !make_equal(m, b))
		make_isolcpus(m, b);
	make_tickless(m, b, tickless);
	cpumask_clear_all(scratch);
	make_irqaffinity(m, b, topology);
}

/* What is to be booted with, as texts. */
struct advice {
	char *line;    /* the parameters to add or to change, separated by blanks; "" for none */
	char *reason;  /* the reason for each, one in each line */
	char *spared;  /* CPUs that are left out so that some are left, a list; "" for none */
	char *unknown; /* offline CPUs that may be siblings of the CPUs, a list; "" for none */
};

static void cleanup_advice(struct advice *advice)
{
	free(advice->line);
	free(advice->reason);
	free(advice->spared);
	free(advice->unknown);
}

/* False where the boot line cannot be read. */
static bool make_advice(struct host *host, struct advice *ret)
{
	_cleanup_(cpumask) struct cpumask *spared = host_new_mask(), *unknown = host_new_mask();
	const struct bootline *b = host_bootline(host);
	struct builder m = { 0 };

	if (!b)
		return false;
	make_all(&m, host, b, spared, unknown);
	ret->line = xptr(text_steal(&m.line));
	ret->reason = xptr(text_steal(&m.reason));
	ret->spared = xptr(cpumask_format_list(spared));
	ret->unknown = xptr(cpumask_format_list(unknown));
	return true;
}

void cmdline_advise(struct host *host, struct finding *finding)
{
	__attribute__((cleanup(cleanup_advice))) struct advice advice = { 0 };

	if (make_advice(host, &advice) && *advice.line)
		finding_add_fix(finding, "boot with %s", advice.line);
}

int cmdline_run(struct host *host, bool verbose)
{
	__attribute__((cleanup(cleanup_advice))) struct advice advice = { 0 };
	char *save = NULL;

	if (!make_advice(host, &advice)) {
		say("/proc/cmdline cannot be read: what the machine was started with is unknown");
		return -ENODATA;
	}
	if (*advice.unknown)
		say("CPU %s is offline, and the kernel does not tell of which core: name it, too, if it "
		    "shares one with these",
			advice.unknown);
	if (*advice.spared)
		say("without CPU %s, the core of CPU 0: some CPU has to do everything else",
			advice.spared);
	for (const char *why = strtok_r(advice.reason, "\n", &save); verbose && why;
		why = strtok_r(NULL, "\n", &save))
		say("%s", why);
	if (strlen(advice.line) >= LINE_MAX_LENGTH)
		say("this line has %zu characters, and most kernels cut off what is behind %d: "
		    "choose CPUs that are beside each other",
			strlen(advice.line), LINE_MAX_LENGTH - 1);
	xprint(stdout, "%s\n", advice.line);
	return print_finish(stdout);
}
