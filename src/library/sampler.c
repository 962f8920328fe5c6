// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "library/ring.h"

enum {
	DEFAULT_SAMPLES = 4096,
	EMPTY_REGIONS = 1000,
	/* Two pairs this far apart determine the length of a tick to some parts in a million;
	 * longer measurements are more exact. */
	SETTLE_NS = 20 * 1000 * 1000,
};

_Static_assert(sizeof(struct qs_sample) == 64, "a sample is a cache line");
_Static_assert(offsetof(struct ring, sampler) == 0, "one is found by the other");

/* Since 2.35 glibc registers an rseq area for each thread; these symbols give its address (weak,
 * because other C libraries lack them). The kernel stores the number of the CPU in the area, so
 * that a load reads it. */
extern const ptrdiff_t __rseq_offset __attribute__((weak));
extern const unsigned int __rseq_size __attribute__((weak));

static const volatile uint32_t *find_cpu_word(void)
{
	const char *thread = NULL;

	if (!&__rseq_size || !&__rseq_offset || __rseq_size == 0)
		return NULL;
#if defined(__x86_64__)
	__asm__("mov %%fs:0, %0" : "=r"(thread));
#elif defined(__aarch64__)
	__asm__("mrs %0, tpidr_el0" : "=r"(thread));
#endif
	if (!thread)
		return NULL;
	/* struct rseq of <linux/rseq.h>: cpu_id_start, cpu_id. */
	return (const volatile uint32_t *)(thread + __rseq_offset + sizeof(uint32_t));
}

void qs_before_begin(struct qs_sampler *sampler)
{
	struct ring *ring = ring_of(sampler);

	/* The clock is read last here and first in qs_after_end(), so that the sample excludes
	 * reading the counters. */
	if (sampler->outside & OUTSIDE_COUNTERS)
		counters_read(&ring->counters, ring->counts_began);
	if (sampler->outside & OUTSIDE_CLOCK)
		ring->clock_began = clock_read_ns(sampler->clockid);
}

static void add_to_sum(struct ring_sum *sum, const struct qs_sample *sample)
{
	if (sum->regions++ == 0)
		sum->cpu_begin = sample->cpu_begin;
	sum->cpu_end = sample->cpu_end;
	sum->ticks += sample->end - sample->begin;
	for (size_t i = 0; i < QS_MAX_COUNTERS; i++)
		sum->counts[i] += sample->counts[i];
}

void qs_after_end(struct qs_sampler *sampler, struct qs_sample *sample)
{
	struct ring *ring = ring_of(sampler);
	uint64_t counts[QS_MAX_COUNTERS];

	if (sampler->outside & OUTSIDE_CLOCK) {
		sample->end = clock_read_ns(sampler->clockid);
		sample->begin = ring->clock_began;
	}
	if (sampler->outside & OUTSIDE_COUNTERS) {
		counters_read(&ring->counters, counts);
		for (size_t i = 0; i < QS_MAX_COUNTERS; i++)
			sample->counts[i] = counts[i] - ring->counts_began[i];
	}
	if (sampler->outside & OUTSIDE_SUM)
		add_to_sum(&ring->sum, sample);
}

/* Allocates a separate mapping and writes to every page, so that sampling causes no page fault.
 * Pages of the normal size: khugepaged may assemble huge pages later, which would cause page
 * faults. */
static int map_ring(size_t samples, struct ring **ret)
{
	size_t head = (sizeof(struct ring) + sizeof(struct qs_sample) - 1) /
		sizeof(struct qs_sample) * sizeof(struct qs_sample);
	size_t page = (size_t)sysconf(_SC_PAGESIZE), size;
	struct ring *ring;
	char *memory;

	if (samples >= (SIZE_MAX - head - page) / sizeof(struct qs_sample))
		return -ENOMEM;
	/* One more sample, for samples that do not fit. */
	size = head + (samples + 1) * sizeof(struct qs_sample);
	memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		return -ENOMEM;
	(void)madvise(memory, size, MADV_NOHUGEPAGE);
	/* After a fork(2) writes to these pages would fault again (copy on write). */
	(void)madvise(memory, size, MADV_DONTFORK);
	for (size_t i = 0; i < size; i += page)
		*(volatile char *)(memory + i) = 0;
	ring = (struct ring *)memory;
	*ring = (struct ring){
		.mapped = size,
		.first = (struct qs_sample *)(memory + head),
		.capacity = samples,
	};
	if (mlock(memory, size) < 0)
		ring->lock_error = errno;
	*ret = ring;
	return 0;
}

static int compare_u64(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static uint64_t median(uint64_t *values, size_t n)
{
	qsort(values, n, sizeof(values[0]), compare_u64);
	return values[n / 2];
}

/* The mean of those sorted values that are at most twice the median. Where the counter advances in
 * large steps, most regions lie between two steps and the median is 0: then the smallest value
 * above 0 is used in its place. */
static double mean_of_undisturbed(const uint64_t *values, size_t n)
{
	size_t middle = n / 2, i;
	double sum = 0;

	while (middle + 1 < n && values[middle] == 0)
		middle++;
	for (i = 0; i < n && values[i] <= 2 * values[middle]; i++)
		sum += (double)values[i];
	return sum / (double)i;
}

static uint64_t greatest_common_divisor(uint64_t a, uint64_t b)
{
	while (b != 0) {
		uint64_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

static void sample_empty(struct qs_sampler *sampler)
{
	qs_end(sampler, qs_begin(sampler));
}

/* Samples many empty regions, which also warms up the code and data of qs_begin() and qs_end(). */
static void measure_empty_region(struct ring *ring, void (*sample_empty_by)(struct qs_sampler *))
{
	struct qs_sampler *sampler = &ring->sampler;
	uint64_t lengths[EMPTY_REGIONS], counts[EMPTY_REGIONS], first = 0, step = 0;

	for (size_t c = 0; c == 0 || c < ring->counters.n; c++) {
		for (size_t i = 0; i < EMPTY_REGIONS; i++) {
			const struct qs_sample *sample = ring->first;

			qs_reset(sampler);
			sample_empty_by(sampler);
			if (i == 0)
				first = sample->begin;
			lengths[i] = sample->end - sample->begin;
			counts[i] = sample->counts[c];
			step = greatest_common_divisor(step, sample->begin - first);
			step = greatest_common_divisor(step, lengths[i]);
		}
		ring->empty_counts[c] = median(counts, EMPTY_REGIONS);
	}
	ring->empty_median = median(lengths, EMPTY_REGIONS);
	ring->empty_mean = mean_of_undisturbed(lengths, EMPTY_REGIONS);
	ring->empty_min = lengths[0];
	ring->resolution = step;
	qs_reset(sampler);
}

static void use_clock(struct ring *ring, int stamps)
{
	struct qs_sampler *sampler = &ring->sampler;

	sampler->clockid = ring->clock.clockid;
	if (stamps && ring->clock.why_no_counter)
		sampler->outside |= OUTSIDE_CLOCK;
	if (ring->clock.ticks_per_second > 0)
		ring->ns_per_tick = 1e9 / ring->clock.ticks_per_second;
}

/* Chooses where qs_end() reads the CPU's number: TSC_AUX on x86-64, else the kernel's rseq area, or
 * nowhere. */
static void use_cpu_word(struct ring *ring, int stamps)
{
	struct qs_sampler *sampler = &ring->sampler;

	sampler->cpu = find_cpu_word();
	if (!sampler->cpu || *sampler->cpu >= QS_CPU_UNKNOWN)
		sampler->cpu = &ring->cpu_unknown;
	ring->cpu_unknown = QS_CPU_UNKNOWN;
	ring->cpu_known = sampler->cpu != &ring->cpu_unknown;
#if defined(__x86_64__)
	if (stamps)
		ring->cpu_known = 1;
#else
	(void)stamps;
#endif
}

int qs_open_as(
	int stamps, const struct qs_options *options, size_t options_size, struct qs_sampler **ret)
{
	struct qs_options o = { 0 };
	struct ring *ring;
	struct clock clock;
	int r;

	/* A program that was compiled with an older header has fewer options: the others are 0. */
	if (options)
		memcpy(&o, options, options_size < sizeof(o) ? options_size : sizeof(o));
	r = clock_choose(stamps, &clock);
	if (r < 0)
		return r;
	r = map_ring(o.samples ? o.samples : DEFAULT_SAMPLES, &ring);
	if (r < 0)
		return r;
	r = counters_open(o.counters, &ring->counters);
	if (r < 0) {
		munmap(ring, ring->mapped);
		return r;
	}
	ring->stamps = stamps;
	ring->clock = clock;
	ring->sampler.spare = ring->first + ring->capacity;
	use_clock(ring, stamps);
	use_cpu_word(ring, stamps);
	for (size_t i = 0; i < ring->counters.n; i++)
		if (ring->counters.list[i].fd >= 0)
			ring->sampler.outside |= OUTSIDE_COUNTERS;
	measure_empty_region(ring, stamps ? sample_empty : ring_sample_empty_by_clock);
	if (ring->clock.ticks_per_second == 0)
		clock_read_pair(&ring->opened);
	*ret = &ring->sampler;
	return 0;
}

void qs_close(struct qs_sampler *sampler)
{
	struct ring *ring = ring_of(sampler);

	if (!sampler)
		return;
	counters_close(&ring->counters);
	munmap(ring, ring->mapped);
}

void qs_reset(struct qs_sampler *sampler)
{
	struct ring *ring = ring_of(sampler);
	int cpu = ring->cpu_known ? sched_getcpu() : -1;

	sampler->next = ring->first;
	sampler->dropped = 0;
	/* 12 bits, as in TSC_AUX. */
	sampler->last_cpu = cpu >= 0 ? (uint32_t)cpu & 0xfff : QS_CPU_UNKNOWN;
}

void ring_begin_sum(struct qs_sampler *sampler)
{
	qs_reset(sampler);
	ring_of(sampler)->sum = (struct ring_sum){ 0 };
	/* A full ring: each sample goes to the spare one, where qs_after_end() finds it. */
	sampler->next = sampler->spare;
	sampler->outside |= OUTSIDE_SUM;
}

void ring_end_sum(struct qs_sampler *sampler, struct ring_sum *ret)
{
	sampler->outside &= ~(uint32_t)OUTSIDE_SUM;
	*ret = ring_of(sampler)->sum;
	qs_reset(sampler);
}

size_t qs_count(const struct qs_sampler *sampler)
{
	return (size_t)(sampler->next - ring_of_const(sampler)->first);
}

const struct qs_sample *qs_samples(const struct qs_sampler *sampler)
{
	return ring_of_const(sampler)->first;
}

uint64_t qs_dropped(const struct qs_sampler *sampler)
{
	return sampler->dropped;
}

int qs_settle(struct qs_sampler *sampler)
{
	struct ring *ring = ring_of(sampler);
	struct clock_pair now;

	if (!clock_is_sound(&ring->clock))
		ring->clock_changed = 1;
	counters_settle(&ring->counters);
	if (ring->clock.ticks_per_second > 0)
		return 0;
	for (;;) {
		struct timespec rest = { 0 };

		clock_read_pair(&now);
		if (now.raw_ns - ring->opened.raw_ns >= SETTLE_NS)
			break;
		rest.tv_nsec = SETTLE_NS - (long)(now.raw_ns - ring->opened.raw_ns);
		nanosleep(&rest, NULL);
	}
	if (now.ticks <= ring->opened.ticks)
		return -EIO;
	ring->ns_per_tick = (double)(now.raw_ns - ring->opened.raw_ns) /
		(double)(now.ticks - ring->opened.ticks);
	return 0;
}

double qs_nanoseconds(const struct qs_sampler *sampler, uint64_t ticks)
{
	return (double)ticks * ring_of_const(sampler)->ns_per_tick;
}

void qs_get_facts(const struct qs_sampler *sampler, struct qs_facts *ret)
{
	const struct ring *ring = ring_of_const(sampler);

	*ret = (struct qs_facts){
		.clock = ring->clock.kind,
		.clock_name = clock_name(ring->clock.kind),
		.why_no_counter = ring->clock.why_no_counter,
		.clock_changed = ring->clock_changed,
		.ticks_per_second = ring->ns_per_tick > 0 ? 1e9 / ring->ns_per_tick : 0,
		.resolution_ticks = ring->resolution,
		.empty_min_ticks = ring->empty_min,
		.empty_median_ticks = ring->empty_median,
		.empty_mean_ticks = ring->empty_mean,
		.capacity = ring->capacity,
		.lock_error = ring->lock_error,
		.n_counters = ring->counters.n,
	};
	for (size_t i = 0; i < ring->counters.n; i++) {
		const struct counter *counter = &ring->counters.list[i];

		ret->counters[i].name = counter->name;
		ret->counters[i].error = counter->error;
		ret->counters[i].rdpmc = counter->page != NULL;
		ret->counters[i].shared = counter->shared;
		ret->counters[i].empty = ring->empty_counts[i];
	}
}
