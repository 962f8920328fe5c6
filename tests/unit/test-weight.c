// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/macro.h"
#include "judge/result/weight.h"

/* A run of 10 ms, and evidence in which nothing is known. */
static const struct sample ten_ms = { .user_ns = 10 * NSEC_PER_MSEC };

static const struct sample slow_end = { .user_ns = 10 * NSEC_PER_MSEC,
	.kernel_ns = 5 * NSEC_PER_MSEC };
static const struct sample second = { .user_ns = NSEC_PER_SEC };

static double weight_of(enum sample_flag flag, const struct weight_base *base,
	const struct sample *sample, const struct evidence *evidence)
{
	struct weights weights;

	weights_find(base, sample, evidence, &weights);
	return weights.of[weight_bit(flag)];
}

static void assert_part(double value, double wanted)
{
	assert_true(fabs(value - wanted) < 1e-9);
}

static void test_each(void **state)
{
	const struct weight_base base = {
		.frequency_khz = 2000000, .mean_khz = 2500000, .core_khz = 3000000, .stolen = 0.02
	};
	const struct weight_base of_four_ms = { .off_cpu_ns = 4 * NSEC_PER_MSEC };
	struct evidence nothing, e;

	(void)state;
	evidence_clear(&nothing);
	e = nothing;
	e.run_delay_ns = 830 * 1000;
	assert_part(weight_of(SAMPLE_PREEMPTED, &base, &ten_ms, &e), 0.083);
	/* The end of the process waited, too, outside of the window. */
	assert_part(weight_of(SAMPLE_PREEMPTED, &base, &slow_end, &e), 0.166);
	/* A service that is under load waits for that as well. */
	e.load_cpu_ns = 0;
	assert_true(isnan(weight_of(SAMPLE_PREEMPTED, &base, &ten_ms, &e)));
	e.load_cpu_ns = -1;
	/* What is known is not estimated. */
	e.off_cpu_ns = 5 * NSEC_PER_MSEC;
	assert_part(weight_of(SAMPLE_PREEMPTED, &base, &ten_ms, &e), 0.083);
	/* It is not known: by how much longer it was off its CPU than the run that was off it
	 * least. */
	e.run_delay_ns = -1;
	assert_true(isnan(weight_of(SAMPLE_PREEMPTED, NULL, &ten_ms, &e)));
	assert_part(weight_of(SAMPLE_PREEMPTED, &of_four_ms, &ten_ms, &e), 0.1);
	e.off_cpu_ns = 3 * NSEC_PER_MSEC;
	assert_part(weight_of(SAMPLE_PREEMPTED, &of_four_ms, &ten_ms, &e), 0);

	/* It is counted in steps of 10 ms. One step says no more of this run than of all others. */
	e = nothing;
	e.steal_ns = 10 * NSEC_PER_MSEC;
	assert_part(weight_of(SAMPLE_STEAL, &base, &ten_ms, &e), 0.02);
	assert_true(isnan(weight_of(SAMPLE_STEAL, NULL, &ten_ms, &e)));
	e.steal_ns = 0;
	assert_part(weight_of(SAMPLE_STEAL, &base, &ten_ms, &e), 0);
	e.steal_ns = 40 * NSEC_PER_MSEC;
	assert_part(weight_of(SAMPLE_STEAL, &base, &second, &e), 0.03);
	assert_part(weight_of(SAMPLE_STEAL, NULL, &second, &e), 0.03);
	e.steal_ns = 30 * NSEC_PER_MSEC;
	assert_part(weight_of(SAMPLE_STEAL, &base, &ten_ms, &e), 1);

	e = nothing;
	e.irq_device = 20; /* of 5 us each */
	assert_part(weight_of(SAMPLE_IRQ, &base, &ten_ms, &e), 0.01);
	e.softirqs[3] = 10; /* NET_RX */
	assert_part(weight_of(SAMPLE_IRQ, &base, &ten_ms, &e), 0.015);
	e.softirqs[1] = 1000; /* TIMER, SCHED, HRTIMER and RCU come with the tick */
	e.softirqs[7] = e.softirqs[8] = e.softirqs[9] = 1000;
	e.irq_timer = 1000;
	assert_part(weight_of(SAMPLE_IRQ, &base, &ten_ms, &e), 0.015);

	e = nothing;
	e.migrations = 2; /* of 100 us each */
	assert_part(weight_of(SAMPLE_MIGRATED, &base, &ten_ms, &e), 0.02);
	e = nothing;
	e.cpu_first = 2;
	e.cpu_last = 3;
	assert_part(weight_of(SAMPLE_MIGRATED, &base, &ten_ms, &e), 0.01);
	e.cpu_last = 2;
	assert_true(isnan(weight_of(SAMPLE_MIGRATED, &base, &ten_ms, &e)));

	e = nothing;
	e.frequency_khz = 1900000;
	assert_part(weight_of(SAMPLE_FREQ, &base, &ten_ms, &e), 0.05);
	e.frequency_khz = 2100000;
	assert_part(weight_of(SAMPLE_FREQ, &base, &ten_ms, &e), 0.05);
	assert_true(isnan(weight_of(SAMPLE_FREQ, NULL, &ten_ms, &e)));
	/* The mean of a run counts where it is farther off, and the program had its CPU. */
	e.mean_khz = 2250000;
	assert_part(weight_of(SAMPLE_FREQ, &base, &ten_ms, &e), 0.05);
	e.user_cpu_ns = 8 * NSEC_PER_MSEC;
	e.system_cpu_ns = 0;
	assert_part(weight_of(SAMPLE_FREQ, &base, &ten_ms, &e), 0.05);
	e.system_cpu_ns = NSEC_PER_MSEC;
	assert_part(weight_of(SAMPLE_FREQ, &base, &ten_ms, &e), 0.1);
	e.evidence_cpus = 2;
	assert_part(weight_of(SAMPLE_FREQ, &base, &ten_ms, &e), 0.05);
	e.evidence_cpus = -1;
	e.frequency_khz = -1;
	assert_part(weight_of(SAMPLE_FREQ, &base, &ten_ms, &e), 0.1);
	e.mean_khz = 2500000;
	assert_part(weight_of(SAMPLE_FREQ, &base, &ten_ms, &e), 0);

	e = nothing;
	e.core_khz = 2850000;
	assert_part(weight_of(SAMPLE_CLOCK, &base, &ten_ms, &e), 0.05);
	assert_true(isnan(weight_of(SAMPLE_CLOCK, NULL, &ten_ms, &e)));
	/* A mean of 0.6: half of the rest is felt. */
	e.core_shares[0] = EVIDENCE_SHARE_PER / 2;
	e.core_shares[1] = EVIDENCE_SHARE_PER * 7 / 10;
	assert_part(weight_of(SAMPLE_SHARED, &base, &ten_ms, &e), 0.2);
	assert_true(isnan(weight_of(SAMPLE_SHARED, NULL, &ten_ms, &e)));
	e.core_shares[0] = e.core_shares[1] = EVIDENCE_SHARE_PER;
	assert_part(weight_of(SAMPLE_SHARED, &base, &ten_ms, &e), 0);
}

/* The figures of several CPUs are sums: what one thread, or several side by side, lost. */
static void test_several_cpus(void **state)
{
	const struct weight_base base = { .frequency_khz = NAN, .core_khz = NAN, .stolen = NAN };
	struct evidence one, e;

	(void)state;
	evidence_clear(&one);
	one.evidence_cpus = 64;
	one.user_cpu_ns = 900 * NSEC_PER_MSEC;
	one.system_cpu_ns = 0;
	e = one;
	e.irq_device = 64 * 2000;
	assert_part(weight_of(SAMPLE_IRQ, &base, &second, &e), 0.01);
	/* One of the CPUs has a thread, and only that one had anything to steal. */
	e = one;
	e.steal_ns = 40 * NSEC_PER_MSEC;
	assert_part(weight_of(SAMPLE_STEAL, &base, &second, &e), 0.03);
	e.migrations = 100;
	assert_part(weight_of(SAMPLE_MIGRATED, &base, &second, &e), 0.01);
	/* Sixty have. */
	e.user_cpu_ns = 54 * NSEC_PER_SEC;
	e.steal_ns = 6 * NSEC_PER_SEC;
	assert_part(weight_of(SAMPLE_STEAL, &base, &second, &e), 0.09);
	e.migrations = 6000;
	assert_part(weight_of(SAMPLE_MIGRATED, &base, &second, &e), 0.01);
	/* Children may have run elsewhere: no more CPUs than there are. */
	e.user_cpu_ns = 640 * NSEC_PER_SEC;
	e.steal_ns = 64 * 110 * NSEC_PER_MSEC;
	assert_part(weight_of(SAMPLE_STEAL, &base, &second, &e), 0.1);
}

/* A quota explains the waiting of a run, and is no weight beside it. */
static void test_quota(void **state)
{
	const struct weight_base of_four_ms = { .off_cpu_ns = 4 * NSEC_PER_MSEC, .stolen = NAN };
	struct weights weights;
	struct evidence e;

	(void)state;
	evidence_clear(&e);
	e.quota_throttled_ns = 0;
	assert_part(weight_of(SAMPLE_QUOTA, NULL, &ten_ms, &e), 0);
	e.quota_throttled_ns = 3 * NSEC_PER_MSEC;
	assert_part(weight_of(SAMPLE_QUOTA, NULL, &ten_ms, &e), 0.3);
	/* Others of the cgroup were stopped, too, or the launcher between two runs. */
	e.quota_throttled_ns = 80 * NSEC_PER_MSEC;
	assert_part(weight_of(SAMPLE_QUOTA, NULL, &ten_ms, &e), 1);
	e.run_delay_ns = 2 * NSEC_PER_MSEC;
	assert_part(weight_of(SAMPLE_QUOTA, NULL, &ten_ms, &e), 0.2);
	assert_part(weight_of(SAMPLE_PREEMPTED, NULL, &ten_ms, &e), 0);
	assert_int_equal(weight_find_waited_ns(&e), 0);
	/* A part of it. */
	e.quota_throttled_ns = 15 * NSEC_PER_MSEC / 10;
	weights_find(NULL, &ten_ms, &e, &weights);
	assert_part(weights.of[weight_bit(SAMPLE_QUOTA)], 0.15);
	assert_part(weights.of[weight_bit(SAMPLE_PREEMPTED)], 0.05);
	assert_part(weights.lost, 0.2);
	assert_int_equal(weight_flags(&e, &weights), SAMPLE_QUOTA | SAMPLE_PREEMPTED);
	assert_int_equal(weight_find_waited_ns(&e), NSEC_PER_MSEC / 2);
	/* Not known how long it waited, but how long it was off its CPU. */
	e.run_delay_ns = -1;
	e.off_cpu_ns = 7 * NSEC_PER_MSEC;
	e.quota_throttled_ns = 2 * NSEC_PER_MSEC;
	weights_find(&of_four_ms, &ten_ms, &e, &weights);
	assert_part(weights.of[weight_bit(SAMPLE_QUOTA)], 0.2);
	assert_part(weights.of[weight_bit(SAMPLE_PREEMPTED)], 0.1);
	assert_int_equal(weight_find_waited_ns(&e), -1);
	/* Less than 1 % is no flag; and not known is not 0. */
	e.quota_throttled_ns = 99 * 1000;
	weights_find(NULL, &ten_ms, &e, &weights);
	assert_int_equal(weight_flags(&e, &weights), 0);
	e.quota_throttled_ns = -1;
	assert_true(isnan(weight_of(SAMPLE_QUOTA, NULL, &ten_ms, &e)));
	/* Four threads side by side, each stopped for half of the run. */
	evidence_clear(&e);
	e.evidence_cpus = 4;
	e.user_cpu_ns = 2 * NSEC_PER_SEC;
	e.system_cpu_ns = 0;
	e.quota_throttled_ns = 2 * NSEC_PER_SEC;
	assert_part(weight_of(SAMPLE_QUOTA, NULL, &second, &e), 0.5);
}

/* What all runs have for the least is without the quota as well. */
static void test_quota_of_the_least(void **state)
{
	struct weight_base base;
	struct series *series;
	struct evidence e;

	(void)state;
	series = series_new(true, NULL);
	evidence_clear(&e);
	e.off_cpu_ns = 5 * NSEC_PER_MSEC;
	e.quota_throttled_ns = 4 * NSEC_PER_MSEC;
	assert_int_equal(series_append(series, &ten_ms, &e, NULL), 0);
	e.off_cpu_ns = 2 * NSEC_PER_MSEC;
	e.quota_throttled_ns = 0;
	assert_int_equal(series_append(series, &ten_ms, &e, NULL), 0);
	weight_base_find(series, &base);
	assert_part(base.off_cpu_ns, 1e6);
	series_free(series);
}

static void test_underivable(void **state)
{
	const struct weight_base base = { .frequency_khz = NAN };
	const struct sample unknown = { 0 };
	struct evidence e;
	struct weights weights;

	(void)state;
	evidence_clear(&e);
	for (int with_evidence = 0; with_evidence <= 1; with_evidence++) {
		weights_find(&base, &ten_ms, with_evidence ? &e : NULL, &weights);
		for (size_t bit = 0; bit < SAMPLE_N_FLAGS; bit++)
			assert_true(isnan(weights.of[bit]));
		assert_false(weights.known);
	}
	/* Of what is it a part? */
	e.run_delay_ns = 1000;
	assert_true(isnan(weight_of(SAMPLE_PREEMPTED, &base, &unknown, &e)));
}

static void test_sum(void **state)
{
	const struct weight_base base = {
		.frequency_khz = 2000000, .core_khz = 3000000, .stolen = NAN
	};
	struct weights weights;
	struct evidence e;

	(void)state;
	evidence_clear(&e);
	e.run_delay_ns = 2 * NSEC_PER_MSEC;
	e.frequency_khz = 2100000; /* which made up for a part */
	weights_find(&base, &ten_ms, &e, &weights);
	assert_true(weights.known);
	assert_part(weights.lost, 0.15);
	/* The clock that was seen is the same loss as the frequency that the kernel tells. */
	e.frequency_khz = 1800000;
	e.core_khz = 2700000;
	weights_find(&base, &ten_ms, &e, &weights);
	assert_part(weights.lost, 0.3);
	e.run_delay_ns = e.steal_ns = 20 * NSEC_PER_MSEC;
	weights_find(&base, &ten_ms, &e, &weights);
	assert_part(weights.lost, 1);
}

static void test_text(void **state)
{
	struct sample sample = ten_ms;
	struct weights weights;
	struct evidence e;
	char *text;

	(void)state;
	evidence_clear(&e);
	e.run_delay_ns = 830 * 1000;
	e.irq_device = 2;
	weights_find(NULL, &sample, &e, &weights);
	text = weights_text(&sample, &weights);
	assert_string_equal(text, "");
	free(text);
	sample.flags = SAMPLE_PREEMPTED | SAMPLE_IRQ | SAMPLE_HOT;
	text = weights_text(&sample, &weights);
	assert_string_equal(text, "preempted 8.3 %, irq 0.10 %, hot");
	free(text);
}

static struct series *new_series(bool with_evidence)
{
	struct series *series;

	series = series_new(with_evidence, NULL);
	return series;
}

/* A run of so many us that waited for a part of it. */
static void append(struct series *series, int64_t us, double waited, uint16_t flags)
{
	const struct sample sample = {
		.kernel_ns = us * 1000, .user_ns = us * 1000, .flags = flags
	};
	struct evidence e;

	evidence_clear(&e);
	e.run_delay_ns = llround((double)us * 1000 * waited);
	assert_int_equal(series_append(series, &sample, &e, NULL), 0);
}

/* From 1 % on, when the result has less noise than that. */
static void test_disturbed(void **state)
{
	static const double parts[] = { 0.001, 0.002, 0.003, 0.003, 0.004, 0.0099, 0.0101, 0.25 };
	struct series *series = new_series(true);
	struct disturbances d;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
		append(series, 10000, parts[i], SAMPLE_PREEMPTED);
	disturbances_find(series, &d);
	assert_part(d.threshold, 0.01);
	assert_part(d.typical, 0.0035);
	assert_int_equal(d.n_runs, 8);
	assert_int_equal(d.n_disturbed, 2);
	assert_int_equal(d.n_flagged[0], 8);
	assert_int_equal(d.n_by[0], 2);
	assert_part(d.worst[0], 0.25);
	assert_true(isnan(d.worst[1]));
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
		assert_int_equal(d.causes[i], i < 6 ? 0 : SAMPLE_PREEMPTED);
	disturbances_clear(&d);
	series_free(series);
}

/* What is less than the noise of the result does not count; and noise is what remains when the
 * known losses are subtracted: waiting that makes half of the runs longer is no noise. */
static void test_noise(void **state)
{
	struct series *series = new_series(true);
	struct disturbances d;

	(void)state;
	for (int i = 0; i < 20; i++)
		append(series, 10000 + 100 * (i % 10), 0.03, SAMPLE_PREEMPTED);
	disturbances_find(series, &d);
	/* The MAD is 250 us of 10450 us. */
	assert_true(d.threshold > 0.03 && d.threshold < 0.04);
	assert_int_equal(d.n_disturbed, 0);
	assert_int_equal(d.n_flagged[0], 20);
	disturbances_clear(&d);
	series_free(series);

	series = new_series(true);
	for (int i = 0; i < 20; i++)
		append(series, i % 2 ? 10000 : 12500, i % 2 ? 0 : 0.2,
			i % 2 ? 0 : SAMPLE_PREEMPTED);
	disturbances_find(series, &d);
	assert_part(d.threshold, 0.01);
	assert_int_equal(d.n_disturbed, 10);
	disturbances_clear(&d);
	series_free(series);
}

/* Flags that nothing weighs disturb, as do several light ones together; the heaviest is named. */
static void test_causes(void **state)
{
	struct series *series = new_series(true);
	struct sample sample = ten_ms;
	struct disturbances d;
	struct evidence e;

	(void)state;
	evidence_clear(&e);
	e.run_delay_ns = 60 * 1000;
	e.irq_device = 14;
	sample.flags = SAMPLE_PREEMPTED | SAMPLE_IRQ;
	assert_int_equal(series_append(series, &sample, &e, NULL), 0);
	/* What has no flag is no cause, and does not make one of the others. */
	sample.flags = SAMPLE_PREEMPTED;
	assert_int_equal(series_append(series, &sample, &e, NULL), 0);
	sample.flags = SAMPLE_PREEMPTED | SAMPLE_LEFTOVER;
	assert_int_equal(series_append(series, &sample, &e, NULL), 0);
	sample.flags = SAMPLE_PREEMPTED;
	assert_int_equal(series_append(series, &sample, NULL, NULL), 0);
	sample.flags = 0;
	assert_int_equal(series_append(series, &sample, NULL, NULL), 0);
	disturbances_find(series, &d);
	assert_int_equal(d.causes[0], SAMPLE_IRQ);
	assert_int_equal(d.causes[1], 0);
	assert_int_equal(d.causes[2], SAMPLE_LEFTOVER);
	assert_int_equal(d.causes[3], SAMPLE_PREEMPTED);
	assert_int_equal(d.causes[4], 0);
	assert_int_equal(d.n_disturbed, 3);
	disturbances_clear(&d);
	series_free(series);

	/* Without evidence each flag counts. */
	series = new_series(false);
	sample.flags = SAMPLE_IRQ;
	assert_int_equal(series_append(series, &sample, NULL, NULL), 0);
	sample.warmup = true;
	assert_int_equal(series_append(series, &sample, NULL, NULL), 0);
	disturbances_find(series, &d);
	assert_int_equal(d.n_runs, 1);
	assert_int_equal(d.n_disturbed, 1);
	assert_true(isnan(d.typical));
	disturbances_clear(&d);
	series_free(series);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each),
		cmocka_unit_test(test_several_cpus),
		cmocka_unit_test(test_quota),
		cmocka_unit_test(test_quota_of_the_least),
		cmocka_unit_test(test_underivable),
		cmocka_unit_test(test_sum),
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_disturbed),
		cmocka_unit_test(test_noise),
		cmocka_unit_test(test_causes),
	};

	return cmocka_run_group_tests_name("weight", tests, NULL, NULL);
}
