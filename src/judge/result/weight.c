// SPDX-License-Identifier: GPL-2.0-or-later
#include <math.h>
#include <stdlib.h>

#include "base/macro.h"
#include "base/text.h"
#include "base/units.h"
#include "base/xalloc.h"
#include "judge/result/runfact.h"
#include "judge/result/weight.h"
#include "judge/stats/stats.h"

/*
 * Estimates of what an event costs, in ns. An interrupt takes 2 to 3 us and 1 to 2 us for entering
 * and leaving the kernel; a softirq is much the same (Documentation/trace/osnoise-tracer.rst: timer
 * interrupts of 1.8 and 2.8 us, and 2.9 us of a noise of 8.8 us that lie before and after what was
 * traced). After a move a task finds none of its data in the caches of the core: to fetch 1 MiB,
 * the size of a large L2 cache, at 10 GB/s takes 100 us.
 */
#define IRQ_NS 5000
#define SOFTIRQ_NS 5000
#define MIGRATION_NS 100000
/* What a program feels of the share that its core lacks. Independent additions feel all of it: of
 * them 50 to 75 % remain beside a busy hardware thread, where programs take 15 to 40 % longer. */
#define SHARE_FELT 0.5
/* A program that has its CPU for this part of the run hardly lets it sleep. */
#define BUSY_PART 0.9

/* The MAD of a normal distribution is its standard deviation divided by this. */
#define MAD_TO_DEVIATION 1.4826

enum {
	/* The noise of fewer runs is not known. */
	NOISE_MIN_RUNS = 10,
	/* /proc/stat counts in hundredths of a second (proc(5)). */
	STEAL_STEP_NS = 10 * 1000 * 1000,
};

/* The parts of softirqs by number that the tick does not raise: HI, NET_TX, NET_RX, BLOCK, IRQ_POLL
 * and TASKLET (include/linux/interrupt.h). */
static const uint16_t device_softirqs = 1 << 0 | 1 << 2 | 1 << 3 | 1 << 4 | 1 << 5 | 1 << 6;

/* The span that the evidence is about: our own stamps lie around those of the kernel. */
static double span_ns(const struct sample *sample)
{
	return (double)(sample->user_ns > 0 ? sample->user_ns : sample->kernel_ns);
}

/* How long the quota stopped the run; negative when that is not known. The launcher may be stopped,
 * too, between the readings and the run, and so may other tasks of the cgroup. */
static int64_t find_throttled_ns(const struct evidence *evidence)
{
	int64_t known = evidence->run_delay_ns >= 0 ? evidence->run_delay_ns : evidence->off_cpu_ns;

	return known >= 0 ? MIN(evidence->quota_throttled_ns, known) : evidence->quota_throttled_ns;
}

/* Without what the quota explains; negative when it is not known. */
static int64_t without_throttled(int64_t ns, const struct evidence *evidence)
{
	return ns >= 0 ? MAX(ns - MAX(find_throttled_ns(evidence), (int64_t)0), (int64_t)0) : -1;
}

int64_t weight_find_waited_ns(const struct evidence *evidence)
{
	if (evidence->load_cpu_ns >= 0)
		return -1;
	return without_throttled(evidence->run_delay_ns, evidence);
}

double weight_find_used_cpus(const struct sample *sample, const struct evidence *evidence)
{
	double used = (double)MAX(evidence->steal_ns, (int64_t)0) +
		(double)MAX(find_throttled_ns(evidence), (int64_t)0);

	if (evidence->user_cpu_ns >= 0 && evidence->system_cpu_ns >= 0)
		used += (double)evidence->user_cpu_ns + (double)evidence->system_cpu_ns;
	return fmax(1, fmin(used / span_ns(sample), evidence->evidence_cpus));
}

/* Nanoseconds that were lost, as a part of the run; negative ones are unknown. */
static double part(double lost_ns, const struct sample *sample)
{
	double span = span_ns(sample);

	return lost_ns >= 0 && span > 0 ? MIN(lost_ns / span, 1.0) : NAN;
}

/* The program waits within the kernel's window, if there is one. */
static double weigh_waiting(const struct weight_base *base, const struct sample *sample,
	const struct evidence *evidence)
{
	const struct sample window = { .user_ns = sample_window_ns(sample) };

	if (evidence->run_delay_ns >= 0 || evidence->off_cpu_ns < 0)
		return part((double)weight_find_waited_ns(evidence), &window);
	if (!base || isnan(base->off_cpu_ns))
		return NAN;
	return part(
		fmax((double)without_throttled(evidence->off_cpu_ns, evidence) - base->off_cpu_ns,
			0),
		&window);
}

static double weigh_quota(const struct weight_base *base, const struct sample *sample,
	const struct evidence *evidence)
{
	(void)base;
	return part((double)find_throttled_ns(evidence) / weight_find_used_cpus(sample, evidence),
		sample);
}

static double weigh_steal(const struct weight_base *base, const struct sample *sample,
	const struct evidence *evidence)
{
	/* Each CPU has a step of its own. */
	double lost = (double)evidence->steal_ns / weight_find_used_cpus(sample, evidence);
	double surplus = part(fmax(lost - STEAL_STEP_NS, 0), sample);

	if (evidence->steal_ns <= 0)
		return part((double)evidence->steal_ns, sample);
	if (base && !isnan(base->stolen))
		return fmax(surplus, MIN(base->stolen, 1.0));
	return surplus > 0 ? surplus : NAN;
}

static double weigh_migrations(const struct weight_base *base, const struct sample *sample,
	const struct evidence *evidence)
{
	(void)base;
	return part((double)evidence_count_moves(evidence) * MIGRATION_NS /
			weight_find_used_cpus(sample, evidence),
		sample);
}

static double weigh_interrupts(const struct weight_base *base, const struct sample *sample,
	const struct evidence *evidence)
{
	double lost = (double)evidence->irq_device * IRQ_NS;

	(void)base;
	for (size_t i = 0; lost >= 0 && i < EVIDENCE_N_SOFTIRQS; i++)
		if (device_softirqs >> i & 1 && evidence->softirqs[i] > 0)
			lost += (double)evidence->softirqs[i] * SOFTIRQ_NS;
	/* One thread is interrupted on its own CPU only, and many of them side by side. */
	return part(lost / MAX(evidence->evidence_cpus, 1), sample);
}

/* Negative for a frequency above the median. */
static double weigh_khz(int64_t khz, double median)
{
	return khz > 0 ? 1 - (double)khz / median : NAN;
}

/* The mean of the frequencies that were set, where it is that of the program: where it had its only
 * CPU for nearly all of the run, since a CPU that sleeps has a frequency as well. Else -1. */
static int64_t get_mean(const struct sample *sample, const struct evidence *evidence)
{
	if (evidence->evidence_cpus > 1 || evidence->user_cpu_ns < 0 ||
		evidence->system_cpu_ns < 0 ||
		(double)(evidence->user_cpu_ns + evidence->system_cpu_ns) <
			BUSY_PART * span_ns(sample))
		return -1;
	return evidence->mean_khz;
}

/* By what is farther off: the frequency at one moment, or the mean of the run. */
static double weigh_frequency(const struct weight_base *base, const struct sample *sample,
	const struct evidence *evidence)
{
	double shown, mean;

	if (!base)
		return NAN;
	shown = weigh_khz(evidence->frequency_khz, base->frequency_khz);
	mean = weigh_khz(get_mean(sample, evidence), base->mean_khz);
	return isnan(mean) || fabs(shown) > fabs(mean) ? shown : mean;
}

static double weigh_clock(const struct weight_base *base, const struct sample *sample,
	const struct evidence *evidence)
{
	(void)sample;
	return base ? weigh_khz(evidence->core_khz, base->core_khz) : NAN;
}

/* runpinned knows what a whole core does when all runs have been made. */
static double weigh_share(const struct weight_base *base, const struct sample *sample,
	const struct evidence *evidence)
{
	double share = evidence_core_share(evidence);

	(void)sample;
	return base && !isnan(share) ? SHARE_FELT * (1 - MIN(share, 1.0)) : NAN;
}

/* What derives the weight of each flag that has one. The weight of a further kind of evidence is
 * one more line, and what it has to know of all runs is one more member of struct weight_base. */
static const struct {
	enum sample_flag flag;
	bool is_set; /* by a weight that is worth saying; else by a fact (run_fact.flag) alone */
	double (*weigh)(const struct weight_base *base, const struct sample *sample,
		const struct evidence *evidence);
} rules[] = {
	{ SAMPLE_PREEMPTED, true, weigh_waiting },
	{ SAMPLE_MIGRATED, false, weigh_migrations },
	{ SAMPLE_IRQ, true, weigh_interrupts },
	{ SAMPLE_STEAL, false, weigh_steal },
	{ SAMPLE_FREQ, true, weigh_frequency },
	{ SAMPLE_SHARED, false, weigh_share },
	{ SAMPLE_CLOCK, true, weigh_clock },
	{ SAMPLE_QUOTA, true, weigh_quota },
};

/* NAN when unknown. Warm-ups may have begun what shows in the runs that count. */
static double find_stolen(const struct series *series)
{
	double stolen = 0, total = 0;

	for (size_t i = 0; i < series->n_samples; i++) {
		if (series->evidence[i].steal_ns < 0)
			continue;
		stolen += (double)series->evidence[i].steal_ns;
		total += span_ns(&series->samples[i]) *
			weight_find_used_cpus(&series->samples[i], &series->evidence[i]);
	}
	return total > 0 ? stolen / total : NAN;
}

static double find_least_off_cpu(const struct series *series)
{
	double least = NAN;

	for (size_t i = 0; i < series->n_samples; i++)
		if (sample_counts(&series->samples[i]) && series->evidence[i].off_cpu_ns >= 0)
			least = fmin(least,
				(double)without_throttled(
					series->evidence[i].off_cpu_ns, &series->evidence[i]));
	return least;
}

static int64_t get_frequency(const struct sample *sample, const struct evidence *evidence)
{
	(void)sample;
	return evidence->frequency_khz;
}

static int64_t get_clock(const struct sample *sample, const struct evidence *evidence)
{
	(void)sample;
	return evidence->core_khz;
}

/* The median of the runs that count and know it, and their number; NAN when none does. */
static double find_median(const struct series *series,
	int64_t (*get)(const struct sample *sample, const struct evidence *evidence),
	double *values, size_t *ret_n)
{
	size_t n = 0;

	for (size_t i = 0; i < series->n_samples; i++) {
		int64_t value = get(&series->samples[i], &series->evidence[i]);

		if (sample_counts(&series->samples[i]) && value > 0)
			values[n++] = (double)value;
	}
	*ret_n = n;
	if (n == 0)
		return NAN;
	stats_sort(values, n);
	return stats_median(values, n);
}

void weight_base_find(const struct series *series, struct weight_base *ret)
{
	_cleanup_free_ double *values = NULL;
	size_t n;

	*ret = (struct weight_base){
		.frequency_khz = NAN,
		.mean_khz = NAN,
		.core_khz = NAN,
		.stolen = NAN,
		.off_cpu_ns = NAN,
	};
	if (!series->with_evidence || series->n_samples == 0)
		return;
	values = xptr(reallocarray(NULL, series->n_samples, sizeof(*values)));
	ret->stolen = find_stolen(series);
	ret->off_cpu_ns = find_least_off_cpu(series);
	ret->frequency_khz = find_median(series, get_frequency, values, &n);
	ret->mean_khz = find_median(series, get_mean, values, &n);
	ret->core_khz = find_median(series, get_clock, values, &ret->n_core_khz);
}

void weights_find(const struct weight_base *base, const struct sample *sample,
	const struct evidence *evidence, struct weights *ret)
{
	*ret = (struct weights){ .lost = 0 };
	for (size_t i = 0; i < SAMPLE_N_FLAGS; i++)
		ret->of[i] = NAN;
	for (size_t i = 0; evidence && i < ARRAY_SIZE(rules); i++) {
		double weight = rules[i].weigh(base, sample, evidence);

		if (isnan(weight))
			continue;
		ret->of[weight_bit(rules[i].flag)] = fabs(weight);
		ret->known = true;
		/* What the kernel says of the frequency, and what was seen of it, is one loss. */
		if (rules[i].flag != SAMPLE_FREQ || evidence->core_khz <= 0)
			ret->lost += weight;
	}
	ret->lost = MIN(ret->lost, 1.0);
}

uint16_t weight_flags(const struct evidence *evidence, const struct weights *weights)
{
	const struct run_place place = { .parts[PART_EVIDENCE] = (void *)evidence };
	uint16_t flags = 0;

	/* A weight that is not known is not above anything. */
	for (size_t i = 0; i < ARRAY_SIZE(rules); i++)
		if (rules[i].is_set &&
			weights->of[weight_bit(rules[i].flag)] >= WEIGHT_WORTH_SAYING)
			flags |= (uint16_t)rules[i].flag;
	for (size_t i = 0; i < run_n_facts; i++)
		if (run_facts[i].flag != 0 && run_fact_real(&run_facts[i], &place) > 0)
			flags |= run_facts[i].flag;
	return flags;
}

char *weights_text(const struct sample *sample, const struct weights *weights)
{
	struct text t = { 0 };

	for (size_t i = 0; i < SAMPLE_N_FLAGS; i++) {
		char percent[UNITS_TEXT_SIZE];

		if (!(sample->flags >> i & 1))
			continue;
		text_appendf(&t, "%s%s", t.length > 0 ? ", " : "",
			sample_flag_name((enum sample_flag)(1 << i)));
		if (!isnan(weights->of[i]))
			text_appendf(&t, " %s", units_format_percent(weights->of[i], percent));
	}
	return xptr(text_steal(&t));
}

void disturbances_weigh(const struct disturbances *disturbances, const struct series *series,
	size_t index, struct weights *ret)
{
	weights_find(&disturbances->base, &series->samples[index],
		series->with_evidence ? &series->evidence[index] : NULL, ret);
}

/* The spread of what the runs took without what they lost, as a part of its median. */
static double find_noise(
	const struct disturbances *disturbances, const struct series *series, double *values)
{
	size_t n = 0;
	double median;

	for (size_t i = 0; i < series->n_samples; i++) {
		struct weights weights;

		if (!sample_counts(&series->samples[i]))
			continue;
		disturbances_weigh(disturbances, series, i, &weights);
		values[n++] = series_value(series, i) * (1 - weights.lost);
	}
	if (n < NOISE_MIN_RUNS)
		return 0;
	stats_sort(values, n);
	median = stats_median(values, n);
	return median > 0 ? MAD_TO_DEVIATION * stats_deviation(values, n, median) / median : 0;
}

static double find_typical(
	const struct disturbances *disturbances, const struct series *series, double *values)
{
	size_t n = 0;

	for (size_t i = 0; i < series->n_samples; i++) {
		struct weights weights;

		if (!sample_counts(&series->samples[i]))
			continue;
		disturbances_weigh(disturbances, series, i, &weights);
		if (weights.known)
			values[n++] = MAX(weights.lost, 0.0);
	}
	if (n == 0)
		return NAN;
	stats_sort(values, n);
	return stats_median(values, n);
}

/* Which flags disturbed the run: those that cannot be weighed, those that are heavy enough, and the
 * heaviest one if only all of them together are. */
static uint16_t find_causes(double threshold, const struct sample *sample, const struct weights *w)
{
	uint16_t causes = 0, heaviest = 0;
	double most = 0, together = 0;

	for (size_t bit = 0; bit < SAMPLE_N_FLAGS; bit++) {
		uint16_t flag = (uint16_t)(1u << bit);

		if (!(sample->flags & flag))
			continue;
		if (isnan(w->of[bit]) || w->of[bit] >= threshold) {
			causes |= flag;
			continue;
		}
		together += w->of[bit];
		if (w->of[bit] >= most) {
			most = w->of[bit];
			heaviest = flag;
		}
	}
	return causes == 0 && together >= threshold ? heaviest : causes;
}

static void count(struct disturbances *d, const struct sample *sample, uint16_t causes,
	const struct weights *weights)
{
	d->n_runs++;
	d->n_disturbed += causes != 0;
	for (size_t bit = 0; bit < SAMPLE_N_FLAGS; bit++) {
		d->n_flagged[bit] += sample->flags >> bit & 1;
		if (!(causes >> bit & 1))
			continue;
		d->n_by[bit]++;
		/* fmax() takes the number where the other one is none. */
		d->worst[bit] = fmax(d->worst[bit], weights->of[bit]);
	}
}

void disturbances_find(const struct series *series, struct disturbances *ret)
{
	size_t n = MAX(series->n_samples, (size_t)1);
	struct disturbances d = { .threshold = WEIGHT_WORTH_SAYING, .typical = NAN };

	weight_base_find(series, &d.base);
	if (series->with_evidence) {
		_cleanup_free_ double *values = xptr(reallocarray(NULL, n, sizeof(*values)));

		d.threshold = fmax(d.threshold, find_noise(&d, series, values));
		d.typical = find_typical(&d, series, values);
	}
	d.causes = xptr(calloc(n, sizeof(*d.causes)));
	for (size_t bit = 0; bit < SAMPLE_N_FLAGS; bit++)
		d.worst[bit] = NAN;
	for (size_t i = 0; i < series->n_samples; i++) {
		const struct sample *sample = &series->samples[i];
		struct weights weights;

		disturbances_weigh(&d, series, i, &weights);
		d.causes[i] = find_causes(d.threshold, sample, &weights);
		if (sample_counts(sample))
			count(&d, sample, d.causes[i], &weights);
	}
	*ret = d;
}

void disturbances_clear(struct disturbances *disturbances)
{
	free(disturbances->causes);
	disturbances->causes = NULL;
}
