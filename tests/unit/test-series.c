// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/macro.h"
#include "judge/result/series.h"

#include "random.h"

static struct sample make_sample(size_t i)
{
	return (struct sample){
		.kernel_ns = 1000 + (int64_t)i,
		.user_ns = 2000 + (int64_t)i,
		.start_ns = 5000 * (int64_t)i,
		.max_rss_kib = (uint32_t)i,
		.warmup = i < 3,
	};
}

static void test_append(void **state)
{
	static const char *const events[] = { "instructions", "cycles", NULL };
	struct series *series;
	double *values;
	size_t n;

	(void)state;
	series = series_new(true, events);
	assert_int_equal(series->n_events, 2);
	assert_string_equal(series->event_names[1], "cycles");
	assert_int_equal(series_values(series, &values, &n), -ENODATA);
	for (size_t i = 0; i < 10000; i++) {
		struct sample sample = make_sample(i);
		double counters[] = { (double)i, -(double)i };
		struct evidence evidence;

		evidence_clear(&evidence);
		evidence.minor_faults = (int32_t)i;
		assert_int_equal(series_append(series, &sample, i % 2 ? &evidence : NULL,
					 i % 3 ? counters : NULL),
			0);
	}
	assert_int_equal(series->n_samples, 10000);
	assert_int_equal(series->n_samples - series->n_counted, 3);
	for (size_t i = 0; i < 10000; i++) {
		assert_int_equal(series->samples[i].kernel_ns, 1000 + i);
		assert_int_equal(
			series->evidence[i].minor_faults, i % 2 ? (int32_t)i : (int32_t)-1);
		assert_true(isnan(series->evidence[i].temperature_before));
		if (i % 3)
			assert_true(series->counters[2 * i] == (double)i &&
				series->counters[2 * i + 1] == -(double)i);
		else
			assert_true(isnan(series->counters[2 * i]));
	}
	assert_int_equal(series_values(series, &values, &n), 0);
	assert_int_equal(n, 9997);
	assert_true(values[0] == 1003e-9 && values[9996] == 10999e-9);
	free(values);
	series_free(series);
	series_free(NULL);
}

static void test_without_evidence(void **state)
{
	struct sample sample = make_sample(5);
	struct evidence evidence;
	struct series *series;

	(void)state;
	evidence_clear(&evidence);
	/* Not looked at, hence no error. */
	evidence.n_irq_lines = 3;
	series = series_new(false, NULL);
	assert_int_equal(series_append(series, &sample, &evidence, NULL), 0);
	assert_null(series->evidence);
	assert_null(series->counters);
	series_free(series);
}

static void test_warmups_only(void **state)
{
	struct sample sample = make_sample(0);
	struct series *series;
	double *values = NULL;
	size_t n = 7;

	(void)state;
	series = series_new(true, NULL);
	assert_int_equal(series_append(series, &sample, NULL, NULL), 0);
	assert_int_equal(series_values(series, &values, &n), -ENODATA);
	assert_null(values);
	assert_int_equal(n, 7);
	series_free(series);
}

static void test_clock(void **state)
{
	static const struct {
		int64_t kernel_ns[3];
		uint16_t flags[3];
		enum window_clock clock;
	} cases[] = {
		{ { 5, 6, 7 }, { 0, SAMPLE_IRQ, 0 }, WINDOW_KERNEL },
		{ { 5, 6, 0 }, { 0, 0, 0 }, WINDOW_USER },
		{ { 0, 6, 7 }, { 0, 0, 0 }, WINDOW_USER },
		{ { 5, 6, 7 }, { 0, 0, SAMPLE_WINDOW }, WINDOW_KERNEL },
		{ { 5, 6, 7 }, { 0, SAMPLE_WINDOW, SAMPLE_WINDOW }, WINDOW_USER },
		{ { 5, 6, 0 }, { SAMPLE_WINDOW, 0, 0 }, WINDOW_USER },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct series *series;

		series = series_new(false, NULL);
		for (size_t k = 0; k < 3; k++) {
			struct sample sample = {
				.kernel_ns = cases[i].kernel_ns[k],
				.user_ns = 100,
				.flags = cases[i].flags[k],
				.warmup = k == 0,
			};

			assert_int_equal(series_append(series, &sample, NULL, NULL), 0);
		}
		series_settle_clock(series);
		assert_int_equal(series->clock, cases[i].clock);
		assert_true(series_value(series, 1) ==
			(cases[i].clock == WINDOW_KERNEL ? 6e-9 : 100e-9));
		series_free(series);
	}
}

static void test_interrupt_names(void **state)
{
	struct sample sample = make_sample(5);
	struct evidence evidence;
	struct series *series;
	uint16_t a, b;
	char *text;

	(void)state;
	series = series_new(true, NULL);
	assert_int_equal(series_intern_irq(series, "38: virtio2-input.0", &a), 0);
	assert_int_equal(series_intern_irq(series, "40: nvme0q1", &b), 0);
	assert_int_equal(b, 1);
	assert_int_equal(series_intern_irq(series, "38: virtio2-input.0", &a), 0);
	assert_int_equal(a, 0);
	assert_int_equal(series->n_irq_names, 2);

	evidence_clear(&evidence);
	evidence.n_irq_lines = 2;
	evidence.irq_line[0] = b;
	evidence.irq_line[1] = a;
	evidence.irq_count[0] = 3;
	evidence.irq_count[1] = 1;
	evidence.softirqs[1] = 4;
	evidence.softirqs[2] = 0;
	evidence.softirqs[9] = 9;
	assert_int_equal(series_append(series, &sample, &evidence, NULL), 0);
	text = series_irq_text(series, 0);
	assert_string_equal(text, "40: nvme0q1 x3, 38: virtio2-input.0 x1");
	free(text);
	text = series_softirq_text(series, 0);
	assert_string_equal(text, "TIMER x4, RCU x9");
	free(text);

	assert_int_equal(series_append(series, &sample, NULL, NULL), 0);
	text = series_irq_text(series, 1);
	assert_string_equal(text, "");
	free(text);
	text = series_softirq_text(series, 1);
	assert_string_equal(text, "");
	free(text);

	evidence.irq_line[1] = 2;
	assert_int_equal(series_append(series, &sample, &evidence, NULL), -EINVAL);
	evidence.n_irq_lines = EVIDENCE_N_IRQ_LINES + 1;
	assert_int_equal(series_append(series, &sample, &evidence, NULL), -EINVAL);
	assert_int_equal(series->n_samples, 2);
	series_free(series);
}

static void test_too_many_interrupt_names(void **state)
{
	struct series *series;
	char **names;
	uint16_t at = 0;

	(void)state;
	series = series_new(true, NULL);
	/* Interning 65535 names takes quadratic time: the table is filled by hand. */
	names = calloc(UINT16_MAX, sizeof(*names));
	assert_non_null(names);
	for (size_t i = 0; i < UINT16_MAX; i++) {
		char name[16];

		snprintf(name, sizeof(name), "%zu", i);
		names[i] = strdup(name);
		assert_non_null(names[i]);
	}
	series->irq_names = names;
	series->n_irq_names = UINT16_MAX;
	assert_int_equal(series_intern_irq(series, "65534", &at), 0);
	assert_int_equal(at, 65534);
	assert_int_equal(series_intern_irq(series, "65535", &at), -ENOSPC);
	series_free(series);
}

static void test_flags(void **state)
{
	char *text;

	(void)state;
	for (int i = 0; i < SAMPLE_N_FLAGS; i++) {
		text = sample_flags_text(1u << i);
		assert_string_equal(text, sample_flag_name((enum sample_flag)(1 << i)));
		free(text);
	}
	assert_string_equal(sample_flag_name(SAMPLE_LEFTOVER), "leftover");
	assert_null(sample_flag_name((enum sample_flag)(1 << SAMPLE_N_FLAGS)));
	assert_null(sample_flag_name((enum sample_flag)(SAMPLE_IRQ | SAMPLE_HOT)));
	text = sample_flags_text(SAMPLE_IRQ | SAMPLE_PREEMPTED);
	assert_string_equal(text, "preempted,irq");
	free(text);
	text = sample_flags_text(0);
	assert_string_equal(text, "");
	free(text);
}

/* The address sanitizer's shadow is neither limited nor measured by what follows. */
#ifndef __has_feature
#define __has_feature(x) 0
#endif
#if !defined(__SANITIZE_ADDRESS__) && !__has_feature(address_sanitizer)
#define TESTS_OF_MEMORY

/* Memory runs out in the middle: nothing is lost, and the next attempt goes on. */
static void test_out_of_memory(void **state)
{
	static const char *const events[] = { "instructions", NULL };
	struct rlimit old, tight;
	struct series *series;
	size_t appended = 0;
	int r = 0;

	(void)state;
	/* The memory is the emulator's. */
	if (getenv("QUIESCE_EMULATED"))
		skip();
	series = series_new(true, events);
	assert_int_equal(getrlimit(RLIMIT_AS, &old), 0);
	tight = old;
	tight.rlim_cur = 64 << 20;
	assert_int_equal(setrlimit(RLIMIT_AS, &tight), 0);
	for (; appended < 10000000; appended++) {
		struct sample sample = make_sample(appended);

		r = series_append(series, &sample, NULL, NULL);
		if (r < 0)
			break;
	}
	assert_int_equal(setrlimit(RLIMIT_AS, &old), 0);
	assert_int_equal(r, -ENOMEM);
	assert_true(appended > 1000);
	assert_int_equal(series->n_samples, appended);
	for (size_t end = appended + 100000; appended < end; appended++) {
		struct sample sample = make_sample(appended);

		assert_int_equal(series_append(series, &sample, NULL, NULL), 0);
	}
	for (size_t i = 0; i < appended; i++)
		assert_int_equal(series->samples[i].user_ns, 2000 + i);
	series_free(series);
}

/* In bytes, pages that are in memory. */
static size_t measure_resident(void)
{
	size_t pages = 0, ignored;
	FILE *stream = fopen("/proc/self/statm", "re");
	char line[128], *end;

	assert_non_null(stream);
	assert_non_null(fgets(line, sizeof(line), stream));
	fclose(stream);
	ignored = strcspn(line, " ");
	end = line + ignored + 1;
	while (*end >= '0' && *end <= '9')
		pages = pages * 10 + (size_t)(*end++ - '0');
	return pages * (size_t)sysconf(_SC_PAGESIZE);
}

/* The promise of the header. bench/scale measures more; this one is always run. */
static void test_bytes_a_run(void **state)
{
	size_t n = 1000000, before, after;
	struct series *series;

	(void)state;
	if (getenv("QUIESCE_EMULATED"))
		skip();
	series = series_new(false, NULL);
	before = measure_resident();
	for (size_t i = 0; i < n; i++) {
		struct sample sample = make_sample(i);

		assert_int_equal(series_append(series, &sample, NULL, NULL), 0);
	}
	after = measure_resident();
	assert_true(after - before >= n * sizeof(struct sample));
	assert_true(after - before <= n * 48);
	assert_true(series->capacity * sizeof(struct sample) <= n * 48);
	series_free(series);
	assert_true(measure_resident() - before < n);
}
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_append),
		cmocka_unit_test(test_without_evidence),
		cmocka_unit_test(test_warmups_only),
		cmocka_unit_test(test_clock),
		cmocka_unit_test(test_interrupt_names),
		cmocka_unit_test(test_too_many_interrupt_names),
		cmocka_unit_test(test_flags),
#ifdef TESTS_OF_MEMORY
		cmocka_unit_test(test_out_of_memory),
		cmocka_unit_test(test_bytes_a_run),
#endif
	};

	return cmocka_run_group_tests_name("series", tests, NULL, NULL);
}
