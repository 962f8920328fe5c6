// SPDX-License-Identifier: GPL-2.0-or-later
#include <stddef.h>

#include "base/macro.h"
#include "measure/serve/merge.h"

enum {
	NET_TX = 2,
	NET_RX = 3, /* the kernel's numbers (include/linux/interrupt.h) */
};

#define MEMBER(name) offsetof(struct evidence, name)

/* Sums over the slices; a sum of which one part is not known is not known. */
static const size_t sums_64[] = {
	MEMBER(user_cpu_ns),
	MEMBER(system_cpu_ns),
	MEMBER(run_delay_ns),
	MEMBER(steal_ns),
	MEMBER(load_cpu_ns),
	MEMBER(load_run_delay_ns),
	MEMBER(load_steal_ns),
	MEMBER(quota_throttled_ns),
	MEMBER(deep_idle_ns),
};
static const size_t sums_32[] = {
	MEMBER(voluntary_switches),
	MEMBER(involuntary_switches),
	MEMBER(load_involuntary_switches),
	MEMBER(load_irq_device),
	MEMBER(throttles),
	MEMBER(irq_device),
	MEMBER(irq_timer),
	MEMBER(irq_ipi),
	MEMBER(irq_other),
	MEMBER(frequency_changes),
};

static int64_t *find_64(struct evidence *e, size_t offset)
{
	return (int64_t *)((char *)e + offset);
}

static int32_t *find_32(struct evidence *e, size_t offset)
{
	return (int32_t *)((char *)e + offset);
}

static int64_t add(int64_t sum, int64_t more, bool first)
{
	if (first)
		return more;
	return sum < 0 || more < 0 ? -1 : sum + more;
}

/* The core counts as shared, and the service as elsewhere, where it was so in one of the slices. */
static void add_core(struct evidence *sum, const struct evidence *slice, bool first)
{
	sum->core_khz = first || sum->core_khz < 0 ? slice->core_khz
		: slice->core_khz < 0		   ? sum->core_khz
						   : (sum->core_khz + slice->core_khz) / 2;
	for (size_t i = 0; i < EVIDENCE_N_MOMENTS; i++)
		if (first || sum->core_shares[i] < 0 ||
			(slice->core_shares[i] >= 0 && slice->core_shares[i] < sum->core_shares[i]))
			sum->core_shares[i] = slice->core_shares[i];
	if (first || slice->elsewhere > 0)
		sum->elsewhere = slice->elsewhere;
}

/* Lines for which there is no room are those that fired in later slices alone. */
static void add_lines(struct evidence *sum, const struct evidence *slice)
{
	for (size_t i = 0; i < slice->n_irq_lines; i++) {
		size_t k = 0;

		while (k < sum->n_irq_lines && sum->irq_line[k] != slice->irq_line[i])
			k++;
		if (k == EVIDENCE_N_IRQ_LINES)
			continue;
		if (k == sum->n_irq_lines) {
			sum->irq_line[k] = slice->irq_line[i];
			sum->irq_count[k] = 0;
			sum->n_irq_lines++;
		}
		sum->irq_count[k] += slice->irq_count[i];
	}
}

void merge_evidence(struct evidence *sum, const struct evidence *slice, bool first)
{
	struct evidence one = *slice;

	for (size_t i = 0; i < ARRAY_SIZE(sums_64); i++)
		*find_64(sum, sums_64[i]) =
			add(*find_64(sum, sums_64[i]), *find_64(&one, sums_64[i]), first);
	for (size_t i = 0; i < ARRAY_SIZE(sums_32); i++)
		*find_32(sum, sums_32[i]) =
			(int32_t)add(*find_32(sum, sums_32[i]), *find_32(&one, sums_32[i]), first);
	for (size_t i = 0; i < EVIDENCE_N_SOFTIRQS; i++)
		sum->softirqs[i] = (int32_t)add(sum->softirqs[i], slice->softirqs[i], first);
	/* The requests themselves come by these, and are no disturbance. */
	sum->softirqs[NET_TX] = sum->softirqs[NET_RX] = -1;
	if (first)
		sum->n_irq_lines = 0;
	add_lines(sum, slice);
	add_core(sum, slice, first);
	sum->evidence_cpus = slice->evidence_cpus;
	/* States, of which the newest is as good as any other. */
	sum->frequency_khz = slice->frequency_khz;
	sum->mean_khz = slice->mean_khz;
	sum->runnable = slice->runnable;
	sum->load1 = slice->load1;
	if (first)
		sum->temperature_before = slice->temperature_before;
	sum->temperature_after = slice->temperature_after;
}
