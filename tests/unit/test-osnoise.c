// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/macro.h"
#include "look/isol-check/osnoise.h"

static void holds(const struct osnoise *osnoise, size_t i, int cpu, const char *name,
	uint64_t count, uint64_t total_ns, uint64_t longest_ns)
{
	assert_true(i < osnoise->n);
	assert_int_equal(osnoise->items[i].cpu, cpu);
	assert_string_equal(osnoise->items[i].name, name);
	assert_int_equal(osnoise->items[i].count, count);
	assert_int_equal(osnoise->items[i].total_ns, total_ns);
	assert_int_equal(osnoise->items[i].longest_ns, longest_ns);
}

/* Documentation/trace/osnoise-tracer.rst, the example of its events, with a softirq and an NMI in
 * the formats of include/trace/events/osnoise.h. */
static void test_document(void **state)
{
	static const char text[] =
		"# tracer: osnoise\n"
		"#\n"
		"#                                _-----=> irqs-off\n"
		"  osnoise/8-961     [008] d.h.  5789.857532: irq_noise: local_timer:236 start "
		"5789.857529929 duration 1845 ns\n"
		"  osnoise/8-961     [008] dNh.  5789.858408: irq_noise: local_timer:236 start "
		"5789.858404871 duration 2848 ns\n"
		"migration/8-54      [008] d...  5789.858413: thread_noise: migration/8:54 start "
		"5789.858409300 duration 3068 ns\n"
		"  osnoise/8-961     [008] ....  5789.858413: sample_threshold: start 5789.858404555 "
		"duration 8812 ns interferences 2\n"
		"  osnoise/8-961     [008] d.s.  5789.858500: softirq_noise:    TIMER:1 start "
		"5789.858490000 duration 900 ns\n"
		"  osnoise/7-960     [007] d.Z.  5789.858600: nmi_noise: start 5789.858590000 "
		"duration 700 ns\n";
	struct osnoise osnoise = { 0 };

	(void)state;
	osnoise_parse(text, "isol-check", 1000000, &osnoise);
	assert_int_equal(osnoise.n, 4);
	holds(&osnoise, 0, 7, "nmi", 1, 700, 700);
	holds(&osnoise, 1, 8, "irq local_timer:236", 2, 4693, 2848);
	holds(&osnoise, 2, 8, "thread migration/8:54", 1, 3068, 3068);
	holds(&osnoise, 3, 8, "softirq TIMER:1", 1, 900, 900);
	/* A later round adds to it. */
	osnoise_parse(text, "isol-check", 1000000, &osnoise);
	assert_int_equal(osnoise.n, 4);
	holds(&osnoise, 1, 8, "irq local_timer:236", 4, 9386, 2848);
	osnoise_clear(&osnoise);
}

/* Neither ourselves nor idling is noise, nor what was there before it began. */
static void test_left_out(void **state)
{
	static const char text[] =
		" isol-check-77 [003] d... 1.5: thread_noise: isol-check:77 start 1.1 duration 9 ns\n"
		" <idle>-0 [003] d... 1.5: thread_noise: swapper/3:0 start 1.1 duration 9 ns\n"
		" b-5 [003] d... 1.5: thread_noise: b:5 start 0.1 duration 1000001 ns\n"
		" x-1 [003] d... 1.5: thread_noise: isol-check-x:78 start 1.1 duration 9 ns\n";
	struct osnoise osnoise = { 0 };

	(void)state;
	osnoise_parse(text, "isol-check", 1000000, &osnoise);
	assert_int_equal(osnoise.n, 1);
	holds(&osnoise, 0, 3, "thread isol-check-x:78", 1, 9, 9);
	osnoise_clear(&osnoise);
}

/* A program calls itself what it likes; a line may be of another kind, or cut short. */
static void test_odd(void **state)
{
	static const char *const nothing[] = {
		"",
		"\n\n",
		"irq_noise",
		": irq_noise: a:1 start 1.1 duration 5 ns",
		" a-1 [x] d... 1.5: irq_noise: a:1 start 1.1 duration 5 ns",
		" a-1 [99999999] d... 1.5: irq_noise: a:1 start 1.1 duration 5 ns",
		" a-1 [001] d... 1.5: irq_noise: a:1 start 1.1 duration",
		" a-1 [001] d... 1.5: irq_noise: a:1 start 1.1 duration -5 ns",
		" a-1 [001] d... 1.5: irq_noise: a:1 start 1.1 duration 99999999999999999999 ns",
		" a-1 [001] d... 1.5: other_noise: a:1 start 1.1 duration 5 ns",
		"CPU:1 [LOST 12 EVENTS]",
	};
	struct osnoise osnoise = { 0 };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(nothing); i++) {
		osnoise_parse(nothing[i], "isol-check", 1000000, &osnoise);
		assert_int_equal(osnoise.n, 0);
	}
	osnoise_parse(" [7] start 1-9 [002] d... 1.5: thread_noise: [7] start "
		      "1\033:9 start 1.1 duration 5 ns",
		"isol-check", 1000000, &osnoise);
	assert_int_equal(osnoise.n, 1);
	assert_int_equal(osnoise.items[0].cpu, 2);
	assert_non_null(strstr(osnoise.items[0].name, "thread [7] start 1"));
	assert_null(strchr(osnoise.items[0].name, '\033'));
	osnoise_clear(&osnoise);
}

/* How many events were overwritten stands in the statistics of a CPU's buffer. */
static void test_overrun(void **state)
{
	static const char stats[] = "entries: 76920\n"
				    "overrun: 1234567\n"
				    "commit overrun: 8\n"
				    "bytes: 4193352\n"
				    "oldest event ts:  5411.151337\n"
				    "now ts:  5789.857532\n"
				    "dropped events: 0\n"
				    "read events: 0\n";
	static const char *const bad[] = { "", "\n", "entries: 7\ncommit overrun: 8\n",
		"overrun: x\n", "overrun: 99999999999999999999\n" };
	uint64_t lost = 5;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_int_equal(osnoise_parse_overrun(bad[i], &lost), -EBADMSG);
	assert_int_equal(lost, 5);
	assert_int_equal(osnoise_parse_overrun(stats, &lost), 0);
	assert_int_equal(lost, 1234567);
	assert_int_equal(osnoise_parse_overrun("overrun: 0", &lost), 0);
	assert_int_equal(lost, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_document),
		cmocka_unit_test(test_left_out),
		cmocka_unit_test(test_odd),
		cmocka_unit_test(test_overrun),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
