// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "library/clock.h"
#include "library/counters.h"
#include "quiesce/sampler.h"

static struct qs_sampler *open_sampler(size_t samples)
{
	struct qs_options options = { .samples = samples };
	struct qs_sampler *sampler;

	assert_int_equal(qs_open(&options, &sampler), 0);
	return sampler;
}

static void spin(uint64_t ns)
{
	uint64_t end = clock_read_ns(CLOCK_MONOTONIC_RAW) + ns;

	while (clock_read_ns(CLOCK_MONOTONIC_RAW) < end)
		;
}

static void test_starts_empty(void **state)
{
	struct qs_sampler *sampler = open_sampler(0);
	struct qs_facts facts;

	(void)state;
	assert_int_equal(qs_count(sampler), 0);
	assert_int_equal(qs_dropped(sampler), 0);
	qs_get_facts(sampler, &facts);
	assert_int_equal(facts.capacity, 4096);
	assert_int_equal(facts.n_counters, 0);
	assert_non_null(facts.clock_name);
	assert_true(facts.resolution_ticks > 0);
	assert_true(facts.empty_min_ticks <= facts.empty_median_ticks);
	assert_true(facts.empty_mean_ticks >= (double)facts.empty_min_ticks);
	/* With large steps of the counter, the median is 0. */
	assert_true(facts.empty_mean_ticks <= 2 * (double)facts.empty_median_ticks ||
		facts.empty_median_ticks == 0);
	assert_int_equal(facts.clock_changed, 0);
	qs_close(sampler);
	qs_close(NULL);
}

/* A region is as long as it is: never shorter than the clock says of what is in it, never longer
 * than what is around it. */
static void test_measures(void **state)
{
	struct qs_sampler *sampler = open_sampler(8);
	uint64_t outer[8];
	struct qs_facts facts;

	(void)state;
	for (int i = 0; i < 8; i++) {
		uint64_t start = clock_read_ns(CLOCK_MONOTONIC_RAW), began;

		began = qs_begin(sampler);
		spin(1000000);
		qs_end(sampler, began);
		outer[i] = clock_read_ns(CLOCK_MONOTONIC_RAW) - start;
	}
	assert_int_equal(qs_settle(sampler), 0);
	assert_int_equal(qs_count(sampler), 8);
	for (int i = 0; i < 8; i++) {
		const struct qs_sample *sample = &qs_samples(sampler)[i];
		double ns = qs_nanoseconds(sampler, sample->end - sample->begin);

		/* The two clocks agree to a part in ten thousand, as they were compared. */
		assert_true(ns > 1000000 * 0.9999);
		assert_true(ns < (double)outer[i] * 1.0001 + 1000);
		if (i > 0)
			assert_true(sample->begin >= sample[-1].end);
	}
	qs_get_facts(sampler, &facts);
	assert_true(facts.ticks_per_second > 1e6);
	assert_int_equal(facts.clock_changed, 0);
	qs_close(sampler);
}

static void test_full_ring_stops(void **state)
{
	struct qs_sampler *sampler = open_sampler(4);
	struct qs_sample kept[4];

	(void)state;
	for (int i = 0; i < 4; i++)
		qs_end(sampler, qs_begin(sampler));
	assert_int_equal(qs_count(sampler), 4);
	assert_int_equal(qs_dropped(sampler), 0);
	memcpy(kept, qs_samples(sampler), sizeof(kept));
	for (int i = 0; i < 3; i++)
		qs_end(sampler, qs_begin(sampler));
	assert_int_equal(qs_count(sampler), 4);
	assert_int_equal(qs_dropped(sampler), 3);
	assert_memory_equal(qs_samples(sampler), kept, sizeof(kept));
	qs_reset(sampler);
	assert_int_equal(qs_count(sampler), 0);
	assert_int_equal(qs_dropped(sampler), 0);
	qs_end(sampler, qs_begin(sampler));
	assert_int_equal(qs_count(sampler), 1);
	assert_true(qs_samples(sampler)[0].begin > kept[3].end);
	qs_close(sampler);
}

static void test_cpu(void **state)
{
	struct qs_sampler *sampler;
	cpu_set_t allowed, one;
	int first, last;

	(void)state;
	assert_int_equal(sched_getaffinity(0, sizeof(allowed), &allowed), 0);
	for (first = 0; !CPU_ISSET(first, &allowed); first++)
		;
	for (last = CPU_SETSIZE - 1; !CPU_ISSET(last, &allowed); last--)
		;
	CPU_ZERO(&one);
	CPU_SET(first, &one);
	assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
	sampler = open_sampler(3);
	qs_end(sampler, qs_begin(sampler));
	{
		uint64_t began = qs_begin(sampler);

		CPU_ZERO(&one);
		CPU_SET(last, &one);
		assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
		qs_end(sampler, began);
	}
	qs_end(sampler, qs_begin(sampler));
	if (qs_samples(sampler)[0].cpu_end != QS_CPU_UNKNOWN) {
		assert_int_equal(qs_samples(sampler)[0].cpu_begin, first);
		assert_int_equal(qs_samples(sampler)[0].cpu_end, first);
		assert_int_equal(qs_samples(sampler)[1].cpu_begin, first);
		assert_int_equal(qs_samples(sampler)[1].cpu_end, last);
		assert_int_equal(qs_samples(sampler)[2].cpu_begin, last);
	} else {
		print_message("# this C library does not tell the CPU\n");
	}
	qs_close(sampler);
	assert_int_equal(sched_setaffinity(0, sizeof(allowed), &allowed), 0);
}

/* The ring cannot be locked: said, and everything else is as ever. */
static void test_no_memlock(void **state)
{
	pid_t pid;
	int status;

	(void)state;
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		struct rlimit none = { 0, 0 };
		struct qs_options options = { .samples = 16 };
		struct qs_sampler *sampler;
		struct qs_facts facts;

		/* CAP_IPC_LOCK locks all the same; other users' limit holds. */
		if (setrlimit(RLIMIT_MEMLOCK, &none) < 0 || (geteuid() == 0 && setuid(65534) < 0))
			_exit(2);
		/* The sanitizers make mlock(2) do nothing, and say that it worked. */
		if (mlock(&none, sizeof(none)) == 0)
			_exit(77);
		if (qs_open(&options, &sampler) < 0)
			_exit(3);
		qs_get_facts(sampler, &facts);
		qs_end(sampler, qs_begin(sampler));
		_exit(facts.lock_error == EPERM || facts.lock_error == ENOMEM
				? (qs_count(sampler) == 1 ? 0 : 4)
				: 5);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == 77)
		skip();
	assert_int_equal(WEXITSTATUS(status), 0);
}

static void test_impossible_size(void **state)
{
	struct qs_options options = { .samples = SIZE_MAX / 64 };
	struct qs_sampler *sampler = (struct qs_sampler *)1;

	(void)state;
	assert_int_equal(qs_open(&options, &sampler), -ENOMEM);
	options.samples = SIZE_MAX;
	assert_int_equal(qs_open(&options, &sampler), -ENOMEM);
	assert_true(sampler == (struct qs_sampler *)1);
}

/* Compiled without a counter: the library takes the clock as well. */
static void test_clock_only(void **state)
{
	struct qs_options options = { .samples = 4 };
	struct qs_sampler *sampler;
	struct qs_facts facts;

	(void)state;
	assert_int_equal(qs_open_as(0, &options, sizeof(options), &sampler), 0);
	qs_get_facts(sampler, &facts);
	assert_true(facts.clock == QS_CLOCK_MONOTONIC_RAW || facts.clock == QS_CLOCK_MONOTONIC);
	assert_non_null(facts.why_no_counter);
	assert_true(facts.ticks_per_second == 1e9);
	assert_int_equal(sampler->outside, 0);
	assert_int_equal(qs_settle(sampler), 0);
	assert_true(qs_nanoseconds(sampler, 1500) == 1500.0);
	qs_close(sampler);
}

/* The counter is not sound: the clock's readings around the counter's are the sample. */
static void test_clock_outside(void **state)
{
	struct qs_sampler *sampler = open_sampler(4);
	uint64_t before, after, began;

	(void)state;
	sampler->outside = 1;
	before = clock_read_ns(sampler->clockid);
	began = qs_begin(sampler);
	qs_end(sampler, began);
	after = clock_read_ns(sampler->clockid);
	assert_true(qs_samples(sampler)[0].begin >= before);
	assert_true(qs_samples(sampler)[0].end >= qs_samples(sampler)[0].begin);
	assert_true(qs_samples(sampler)[0].end <= after);
	qs_close(sampler);
}

static void test_counter_names(void **state)
{
	static const struct {
		const char *name;
		int result;
		uint32_t type;
		uint64_t config;
	} names[] = {
		{ "cycles", 0, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES },
		{ "page-faults", 0, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS },
		{ "r1a2", 0, PERF_TYPE_RAW, 0x1a2 },
		{ "rffffffffffffffff", 0, PERF_TYPE_RAW, UINT64_MAX },
		{ "4:c0", 0, 4, 0xc0 },
		{ "4294967295:0", 0, UINT32_MAX, 0 },
		{ "", -EINVAL, 0, 0 },
		{ "r", -EINVAL, 0, 0 },
		{ "cycle", -EINVAL, 0, 0 },
		{ "cycles:u", -EINVAL, 0, 0 },
		{ "rABC", -EINVAL, 0, 0 },
		{ "r10000000000000000", -EINVAL, 0, 0 },
		{ "4294967296:0", -EINVAL, 0, 0 },
		{ "4:", -EINVAL, 0, 0 },
		{ ":4", -EINVAL, 0, 0 },
		{ "4:1 ", -EINVAL, 0, 0 },
		{ "-4:1", -EINVAL, 0, 0 },
		{ "4", -EINVAL, 0, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		uint32_t type = 77;
		uint64_t config = 77;

		print_message("# \"%s\"\n", names[i].name);
		assert_int_equal(counter_parse(names[i].name, &type, &config), names[i].result);
		assert_true(type == (names[i].result ? 77 : names[i].type));
		assert_true(config == (names[i].result ? 77 : names[i].config));
	}
}

static void test_counters(void **state)
{
	static const char *const names[] = { "page-faults", "task-clock", "4294967294:0", NULL };
	static const char *const wrong[] = { "page-faults", "flux", NULL };
	static const char *const many[] = { "r1", "r2", "r3", "r4", "r5", "r6", NULL };
	struct qs_options options = { .samples = 4, .counters = wrong };
	struct qs_sampler *sampler;
	struct qs_facts facts;
	uint64_t began;

	(void)state;
	assert_int_equal(qs_open(&options, &sampler), -EINVAL);
	options.counters = many;
	assert_int_equal(qs_open(&options, &sampler), -EINVAL);
	options.counters = names;
	assert_int_equal(qs_open(&options, &sampler), 0);
	qs_get_facts(sampler, &facts);
	assert_int_equal(facts.n_counters, 3);
	assert_string_equal(facts.counters[0].name, "page-faults");
	/* No PMU has that number. */
	assert_true(facts.counters[2].error != 0);
	began = qs_begin(sampler);
	spin(2000000);
	qs_end(sampler, began);
	assert_int_equal(qs_settle(sampler), 0);
	qs_get_facts(sampler, &facts);
	if (facts.counters[1].error == 0) {
		const struct qs_sample *sample = &qs_samples(sampler)[0];

		assert_true(sample->counts[1] > 0);
		assert_int_equal(sample->counts[2], 0);
		assert_int_equal(facts.counters[1].shared, 0);
	} else {
		print_message(
			"# no counters for this user: %s\n", strerror(facts.counters[1].error));
	}
	qs_close(sampler);
}

static void test_page_faults_are_counted(void **state)
{
	static const char *const names[] = { "page-faults", NULL };
	struct qs_options options = { .samples = 4, .counters = names };
	struct qs_sampler *sampler;
	struct qs_facts facts;
	volatile char *page;
	uint64_t began;

	(void)state;
	assert_int_equal(qs_open(&options, &sampler), 0);
	qs_get_facts(sampler, &facts);
	if (facts.counters[0].error != 0) {
		qs_close(sampler);
		skip();
	}
	page = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_true(page != MAP_FAILED);
	began = qs_begin(sampler);
	for (int i = 0; i < 1 << 20; i += 4096)
		page[i] = 1;
	qs_end(sampler, began);
	assert_true(qs_samples(sampler)[0].counts[0] >= 1);
	began = qs_begin(sampler);
	qs_end(sampler, began);
	assert_int_equal(qs_samples(sampler)[1].counts[0], 0);
	munmap((void *)page, 1 << 20);
	qs_close(sampler);
}

static void test_error_text(void **state)
{
	char text[128], tiny[4];

	(void)state;
	errno = 7;
	assert_string_equal(qs_error_text(-ENOMEM, text, sizeof(text)), strerror(ENOMEM));
	assert_true(strlen(qs_error_text(-EOPNOTSUPP, text, sizeof(text))) > 0);
	assert_int_equal(strlen(qs_error_text(-EINVAL, tiny, sizeof(tiny))), 3);
	assert_int_equal(errno, 7);
}

static void test_keep_and_hide(void **state)
{
	int number = 5;
	char text[4] = "abc", *pointer = text;
	unsigned long long wide = 1ULL << 40;

	(void)state;
	qs_keep(number);
	qs_keep(wide);
	qs_keep(text[0]);
	qs_keep(1.5);
	qs_keep(1.5f);
	qs_keep(pointer);
	qs_keep((const char *)text);
	qs_hide(number);
	qs_hide(wide);
	qs_hide(pointer);
	qs_keep_memory(text);
	qs_barrier();
	assert_int_equal(number, 5);
	assert_true(wide == 1ULL << 40);
	assert_true(pointer == text);
	assert_string_equal(text, "abc");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_starts_empty),
		cmocka_unit_test(test_measures),
		cmocka_unit_test(test_full_ring_stops),
		cmocka_unit_test(test_cpu),
		cmocka_unit_test(test_no_memlock),
		cmocka_unit_test(test_impossible_size),
		cmocka_unit_test(test_clock_only),
		cmocka_unit_test(test_clock_outside),
		cmocka_unit_test(test_counter_names),
		cmocka_unit_test(test_counters),
		cmocka_unit_test(test_page_faults_are_counted),
		cmocka_unit_test(test_error_text),
		cmocka_unit_test(test_keep_and_hide),
	};

	return cmocka_run_group_tests_name("sampler", tests, NULL, NULL);
}
