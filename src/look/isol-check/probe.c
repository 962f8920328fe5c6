// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/machine/clocksource.h"
#include "base/machine/cpuinfo.h"
#include "base/machine/isolation.h"
#include "base/machine/virtualization.h"
#include "base/macro.h"
#include "base/say.h"
#include "base/stop.h"
#include "base/where/autochoice.h"
#include "base/where/cpulist.h"
#include "base/where/userstate.h"
#include "base/xalloc.h"
#include "judge/result/series.h"
#include "judge/stats/stats.h"
#include "look/isol-check/probe.h"

enum {
	/* Reading the clock by the vDSO takes about a tenth of this. */
	SLOW_STEP_NS = 250,
};

void probe_take_round(
	const struct topology *topology, struct cpumask *remaining, struct cpumask *ret_round)
{
	cpumask_clear_all(ret_round);
	cpumask_for_each (cpu, remaining) {
		const struct topology_cpu *facts = topology_get_cpu(topology, cpu);
		bool core_is_taken = false;

		cpumask_for_each (other, ret_round) {
			const struct topology_cpu *other_facts = topology_get_cpu(topology, other);

			core_is_taken |= facts && other_facts && facts->core == other_facts->core;
		}
		if (!core_is_taken)
			(void)cpumask_set(ret_round, cpu);
	}
	cpumask_andnot(remaining, remaining, ret_round);
}

static int check_cpus(const struct cpumask *cpus, const struct topology *topology)
{
	_cleanup_free_ char *why = NULL;
	int denied, r;

	r = xcheck(cpulist_check_online(topology, cpus, &why));
	if (r == 0)
		r = xcheck(cpulist_find_denied(cpus, &denied, &why));
	if (why)
		say("cannot measure: %s", why);
	return r > 0 ? -EINVAL : r;
}

/* Moves this thread, which wakes up at the end, off the measured CPUs and their siblings, if
 * possible. */
static void leave_round(
	const struct topology *topology, const struct cpumask *allowed, const struct cpumask *round)
{
	_cleanup_(cpumask) struct cpumask *housekeeping = NULL;

	xcheck(cpumask_new(&housekeeping));
	if (xcheck(autochoice_housekeeping(topology, allowed, round, housekeeping)) == 0)
		(void)cpumask_bind_self(housekeeping);
}

static char *read_clocksource(void)
{
	char text[FILE_ATTR_SIZE];

	if (file_read_attr(AT_FDCWD,
		    "/sys/devices/system/clocksource/clocksource0/current_clocksource", text,
		    sizeof(text)) <= 0)
		return NULL;
	return xptr(strdup(text));
}

/* --- Notes. --- */

static void note_machine(struct probe *m)
{
	const char *hypervisor = NULL;

	/* Else it is not known. */
	(void)xcheck(virtualization_read_hypervisor(&hypervisor, NULL));
	if (hypervisor)
		text_appendf(&m->notes, "virtual machine (%s): some gaps may be the hypervisor's\n",
			hypervisor);
	if (m->clocksource && clocksource_is_slow(m->clocksource))
		text_appendf(&m->notes,
			"clock source %s: the CPU's counter is not trusted, and reading the time "
			"is slow\n",
			m->clocksource);
}

static void note_changes(struct probe *m)
{
	_cleanup_free_ char *now = read_clocksource();

	if (m->clocksource && now && strcmp(m->clocksource, now) != 0)
		text_appendf(&m->notes,
			"the clock source changed from %s to %s: do not trust this\n",
			m->clocksource, now);
	for (size_t i = 0; i < m->n; i++) {
		const struct spin_result *spin = &m->cpus[i].spin;

		if (spin->gaps->step >= SLOW_STEP_NS)
			text_appendf(&m->notes,
				"CPU %d: reading the clock takes %lld ns, gaps below %lld ns are "
				"not seen\n",
				spin->cpu, (long long)spin->gaps->step,
				(long long)spin->gaps->threshold);
		if (spin->gaps->n_backwards > 0)
			text_appendf(&m->notes,
				"CPU %d: the clock ran backwards %llu times: do not trust this\n",
				spin->cpu, (unsigned long long)spin->gaps->n_backwards);
		if (spin->moved)
			text_appendf(&m->notes,
				"CPU %d went offline: part of this is of another CPU\n", spin->cpu);
	}
}

/* --- Measuring. --- */

static int compare_cpus(const void *a, const void *b)
{
	const struct measured_cpu *x = a, *y = b;

	return (x->spin.cpu > y->spin.cpu) - (x->spin.cpu < y->spin.cpu);
}

/* Adds the results of a round. */
static void take_results(struct probe *m, struct spin *spin, const struct suspects_reading *before,
	const struct suspects_reading *after)
{
	for (unsigned i = 0; i < spin_count(spin); i++) {
		struct measured_cpu *cpu = &m->cpus[m->n++];

		spin_take(spin, i, &cpu->spin);
		xcheck(suspects_compare(cpu->spin.cpu, before, after, &cpu->suspects));
	}
}

/* A machine without the tracer is normal, and noted only once. */
static struct osnoise_tracer *start_tracer(struct probe *m, const struct cpumask *round)
{
	struct osnoise_tracer *tracer = NULL;
	_cleanup_free_ char *why = NULL;

	if (osnoise_start(round, &tracer, &why) < 0 && m->n == 0)
		text_appendf(&m->notes, "the osnoise tracer was not used: %s\n", why);
	return tracer;
}

static void stop_tracer(struct probe *m, const struct cpumask *round, struct osnoise_tracer *tracer)
{
	_cleanup_free_ char *list = NULL;
	uint64_t lost = 0;
	int r;

	r = osnoise_stop(tracer, round, &m->osnoise, &lost);
	list = xptr(cpumask_format_list(round));
	if (lost > 0)
		text_appendf(&m->notes,
			"CPU %s: the osnoise tracer lost the first %" PRIu64
			" events: its rows are only of the last part of the time\n",
			list, lost);
	if (r < 0)
		text_appendf(&m->notes, "the osnoise tracer failed: %s\n", strerror(-r));
}

static int probe_round(struct probe *m, const struct cpumask *round, int64_t ns, struct stop *stop)
{
	_cleanup_(osnoise_tracer) struct osnoise_tracer *tracer = NULL;
	_cleanup_(spin) struct spin *spin = NULL;
	struct suspects_reading before = { 0 }, after = { 0 };
	int cpu, r;

	r = xcheck(spin_new(round, ns, &spin, &cpu));
	if (r < 0) {
		say_errno(r, "cannot measure CPU %d", cpu);
		return r;
	}
	/* While the tracer is set up, nothing but an error ends this function. */
	tracer = start_tracer(m, round);
	r = suspects_read_before(round, &before);
	if (r < 0)
		return r;
	spin_go(spin);
	m->signal = stop_sleep(stop, ns);
	if (m->signal)
		spin_stop(spin);
	spin_join(spin);
	r = suspects_read_after(round, &after);
	if (tracer)
		stop_tracer(m, round, tracer);
	if (r == 0)
		take_results(m, spin, &before, &after);
	suspects_reading_clear(&before);
	suspects_reading_clear(&after);
	return r;
}

static int probe_rounds(struct probe *m, const struct cpumask *cpus,
	const struct topology *topology, int64_t ns, struct stop *stop)
{
	_cleanup_(cpumask) struct cpumask *rest = NULL, *round = NULL, *allowed = NULL;
	int r;

	xcheck(cpumask_copy(cpus, &rest));
	xcheck(cpumask_new(&round));
	xcheck(cpumask_new(&allowed));
	r = xcheck(isolation_read_allowed(allowed));
	while (r == 0 && !m->signal && !cpumask_is_empty(rest)) {
		probe_take_round(topology, rest, round);
		leave_round(topology, allowed, round);
		r = probe_round(m, round, ns, stop);
	}
	return r;
}

/* --- The core. --- */

/* The best figure of all CPUs of a kind; 0 where there is none. */
static double find_best(
	const struct probe *m, const struct topology *topology, enum topology_kind kind)
{
	_cleanup_free_ double *adds = NULL;
	size_t n = 0, room = 0;

	for (size_t i = 0; i < m->n; i++)
		room += m->cpus[i].spin.n_looks;
	adds = xptr(reallocarray(NULL, MAX(room, (size_t)1), sizeof(*adds)));
	for (size_t i = 0; i < m->n; i++) {
		const struct spin_result *spin = &m->cpus[i].spin;

		for (size_t j = 0; j < spin->n_looks; j++)
			if (topology_get_cpu(topology, spin->cpu)->kind == kind)
				adds[n++] = spin->looks[j].adds;
	}
	return n > 0 ? stats_best(adds, n) : 0;
}

static void fill_core(const struct spin_result *spin, double whole, struct measured_core *ret)
{
	_cleanup_free_ double *hertz = NULL;
	size_t n = spin->n_looks, n_shared = 0;
	double sum = 0;

	if (n == 0)
		return;
	hertz = xptr(reallocarray(NULL, n, sizeof(*hertz)));
	for (size_t i = 0; i < n; i++) {
		double share = MIN(spin->looks[i].adds / whole, 1.0);

		sum += share;
		n_shared += share < EVIDENCE_SHARED_BELOW;
		hertz[i] = spin->looks[i].hertz;
	}
	stats_sort(hertz, n);
	ret->n_looks = n;
	ret->share = sum / (double)n;
	ret->shared = (double)n_shared / (double)n;
	ret->hertz_low = hertz[0];
	ret->hertz_median = stats_median(hertz, n);
	ret->hertz_high = hertz[n - 1];
}

/* Compares with what a whole core of the same kind does. */
static void conclude_cores(struct probe *m, const struct topology *topology)
{
	_cleanup_free_ char *text = NULL;
	struct cpuinfo info = { 0 };

	if (m->n > 0 && xcheck(cpuinfo_read(&text)) == 0)
		xcheck(cpuinfo_parse(text, m->cpus[0].spin.cpu, &info));
	for (int kind = 0; kind < TOPOLOGY_N_KINDS; kind++) {
		double best = find_best(m, topology, (enum topology_kind)kind), whole;
		bool is_known;

		if (best == 0)
			continue;
		whole = userstate_settle_whole_core(
			info.model, (enum topology_kind)kind, best, &is_known);
		for (size_t i = 0; i < m->n; i++) {
			struct measured_cpu *cpu = &m->cpus[i];

			if ((int)topology_get_cpu(topology, cpu->spin.cpu)->kind != kind)
				continue;
			cpu->core.is_whole_known = is_known;
			fill_core(&cpu->spin, whole, &cpu->core);
		}
	}
	cpuinfo_clear(&info);
}

int probe_read(
	const struct cpumask *cpus, const struct topology *topology, int64_t ns, struct probe **ret)
{
	_cleanup_(probe) struct probe *m = xptr(calloc(1, sizeof(*m)));
	struct stop stop;
	int r;

	r = check_cpus(cpus, topology);
	if (r < 0)
		return r;
	m->cpus = xptr(calloc(cpumask_weight(cpus), sizeof(*m->cpus)));
	m->clocksource = read_clocksource();
	note_machine(m);
	r = stop_open(&stop);
	if (r < 0) {
		say_errno(r, "cannot wait for signals");
		return r;
	}
	r = xcheck(probe_rounds(m, cpus, topology, ns, &stop));
	stop_close(&stop);
	if (r < 0)
		return r;
	if (m->n > 0)
		qsort(m->cpus, m->n, sizeof(*m->cpus), compare_cpus);
	note_changes(m);
	conclude_cores(m, topology);
	if (m->notes.failed)
		xalloc_fail();
	*ret = TAKE_PTR(m);
	return 0;
}

void probe_free(struct probe *probe)
{
	if (!probe)
		return;
	for (size_t i = 0; i < probe->n; i++) {
		gaps_free(probe->cpus[i].spin.gaps);
		free(probe->cpus[i].spin.looks);
		suspects_clear(&probe->cpus[i].suspects);
	}
	free(probe->cpus);
	free(probe->clocksource);
	text_clear(&probe->notes);
	osnoise_clear(&probe->osnoise);
	free(probe);
}
