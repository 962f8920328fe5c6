// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/machine/counter.h"
#include "base/macro.h"
#include "base/text.h"
#include "config.h"

#include "fake-machine.h"

#define PMU "/sys/bus/event_source/devices/"
#define PARANOID "/proc/sys/kernel/perf_event_paranoid"

/* libpfm4 looks for these files when it is used first. Without the setting it knows no kernel
 * events; without a PMU, which it tells by its interval, later versions know nothing. */
static int setup(void **state)
{
	bool written;

	fake_machine_setup(state);
	written = fake_machine_write(PARANOID, "2\n") &&
		fake_machine_write(PMU "software/type", "1\n") &&
		fake_machine_write(PMU "software/perf_event_mux_interval_ms", "4\n");
	return written ? 0 : -1;
}

static void test_split(_unused_ void **state)
{
	static const struct {
		const char *list;
		/* The names, with a blank behind each; NULL when it is refused. */
		const char *names;
	} cases[] = {
		{ "cycles", "cycles " },
		{ "a,b,pmu/x=1,y=2/", "a b pmu/x=1,y=2/ " },
		{ "pmu/x=1,y=2/u,c", "pmu/x=1,y=2/u c " },
		{ "pmu//,p/,/,q", "pmu// p/,/ q " },
		{ "INST_RETIRED:ANY:u=1,r1c2", "INST_RETIRED:ANY:u=1 r1c2 " },
		{ " a , b", " a   b " },
		{ "", NULL },
		{ ",", NULL },
		{ "a,", NULL },
		{ ",a", NULL },
		{ "a,,b", NULL },
		{ "pmu/x=1,y", NULL },
		{ "a,pmu/x/,b/", NULL },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct text got = { 0 };
		char **names = NULL;
		int r = counter_split_list(cases[i].list, &names);

		fprintf(stderr, "case '%s'\n", cases[i].list);
		assert_int_equal(r, cases[i].names ? 0 : -EINVAL);
		if (!cases[i].names) {
			assert_null(names);
			continue;
		}
		for (char **name = names; *name; name++)
			text_appendf(&got, "%s ", *name);
		assert_string_equal(got.data, cases[i].names);
		text_clear(&got);
		counter_free_list(names);
	}
	counter_free_list(NULL);
}

/* What was resolved, or why not, as a text. */
static char *resolve(const char *name, int cpu)
{
	struct perf_event_attr attr = { .type = 4711 };
	struct text got = { 0 };
	char *why = NULL;
	int r;

	fprintf(stderr, "event '%s'\n", name);
	r = counter_resolve(name, cpu, &attr, &why);
	if (r == 0) {
		assert_null(why);
		assert_int_equal(attr.size, sizeof(attr));
		text_appendf(&got, "%u/%llx", attr.type, (unsigned long long)attr.config);
		if (attr.config1)
			text_appendf(&got, "/%llx", (unsigned long long)attr.config1);
		if (attr.exclude_user || attr.exclude_kernel)
			text_appendf(&got, " -%s%s", attr.exclude_user ? "u" : "",
				attr.exclude_kernel ? "k" : "");
	} else {
		assert_int_equal(attr.type, 4711);
		assert_non_null(why);
		text_appendf(&got, "%s: %s",
			r == -ENOENT		   ? "no such"
				: r == -EOPNOTSUPP ? "not here"
						   : "failure",
			why);
		free(why);
	}
	return text_steal(&got);
}

static void check(const char *name, int cpu, const char *expected)
{
	char *got = resolve(name, cpu);

	assert_non_null(got);
	assert_string_equal(got, expected);
	free(got);
}

/* Like check(), for the beginning of the text. */
static void check_start(const char *name, int cpu, const char *expected)
{
	char *got = resolve(name, cpu);

	assert_non_null(got);
	got[MIN(strlen(got), strlen(expected))] = '\0';
	assert_string_equal(got, expected);
	free(got);
}

static void test_generic(_unused_ void **state)
{
	check("task-clock", -1, "1/1");
	check("cpu-clock", 0, "1/0");
	check("page-faults", -1, "1/2");
	check("faults", -1, "1/2");
	check("minor-faults", -1, "1/5");
	check("major-faults", -1, "1/6");
	check("context-switches", -1, "1/3");
	check("cs", -1, "1/3");
	check("cpu-migrations", -1, "1/4");
	check("migrations", -1, "1/4");
	check("alignment-faults", -1, "1/7");
	check("emulation-faults", -1, "1/8");
	check("cycles", -1, "0/0");
	check("cpu-cycles", -1, "0/0");
	check("instructions", -1, "0/1");
	check("cache-references", -1, "0/2");
	check("cache-misses", -1, "0/3");
	check("branches", -1, "0/4");
	check("branch-instructions", -1, "0/4");
	check("branch-misses", -1, "0/5");
	check("bus-cycles", -1, "0/6");
	check("stalled-cycles-frontend", -1, "0/7");
	check("stalled-cycles-backend", -1, "0/8");
	check("ref-cycles", -1, "0/9");
	check("cycles:u", -1, "0/0 -k");
	check("cycles:k", -1, "0/0 -u");
	check("cycles:uk", -1, "0/0");
	check("page-faults:u", -1, "1/2 -k");
	check("r01c2", -1, "4/1c2");
	check("rFFff:k", -1, "4/ffff -u");
	check_start("r10000000000000000", -1, "no such: no event 'r10000000000000000'");
}

static void test_unknown(_unused_ void **state)
{
	static const char *const names[] = {
		"",
		":",
		":u",
		"no-such-event",
		"cycles:",
		"cycles:x",
		"cycles ",
		" cycles",
		"Task-Clock2",
		"r",
		"rxyz",
		"r1:",
		"cpu:cycles",
	};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		check_start(names[i], 0, "no such: ");
}

static void write_pmu(const char *path, const char *text)
{
	char whole[256];

	snprintf(whole, sizeof(whole), PMU "%s", path);
	assert_true(fake_machine_write(whole, text));
}

static void test_pmu(_unused_ void **state)
{
	write_pmu("cpu/type", "4\n");
	write_pmu("cpu/format/event", "config:0-7\n");
	write_pmu("cpu/format/umask", "config:8-15\n");
	write_pmu("cpu/format/edge", "config:18\n");
	/* AMD's event has its upper bits elsewhere. */
	write_pmu("cpu/format/wide", "config:0-7,32-35\n");
	write_pmu("cpu/format/ldlat", "config1:0-15\n");
	write_pmu("cpu/format/whole", "config2:0-63\n");
	write_pmu("cpu/format/odd", "config9:0-7\n");
	write_pmu("cpu/format/odder", "config:0-64\n");
	write_pmu("cpu/format/oddest", "config:7-0x\n");
	write_pmu("cpu/format/twice", "config:0-7,7\n");
	write_pmu("cpu/events/cycles", "event=0x3c\n");
	write_pmu("cpu/events/mem-loads", "event=0xcd,umask=0x1,ldlat=3\n");
	write_pmu("cpu/events/loop", "loop\n");
	write_pmu("cpu/events/open", "event=?\n");
	write_pmu("cpu/events/cycles.unit", "x\n");
	write_pmu("odd/type", "many\n");

	check("cpu//", -1, "4/0");
	check("cpu/event=0x3c/", -1, "4/3c");
	check("cpu/event=60,umask=0x1/", -1, "4/13c");
	check("cpu/event=0x3c,umask=0xff,edge/", -1, "4/4ff3c");
	check("cpu/event=0x3c,edge=0/", -1, "4/3c");
	check("cpu/wide=0xabc/", -1, "4/a000000bc");
	check("cpu/cycles/", -1, "4/3c");
	check("cpu/mem-loads/", -1, "4/1cd/3");
	/* What comes later wins. */
	check("cpu/mem-loads,ldlat=0x20/", -1, "4/1cd/20");
	check("cpu/event=1,event=2/", -1, "4/2");
	check("cpu/config=0x1234,config1=5/", -1, "4/1234/5");
	check("cpu/cycles/u", -1, "4/3c -k");
	check("cpu/cycles/:k", -1, "4/3c -u");

	check("nopmu/x/", -1, "not here: this machine has no PMU nopmu");
	check("odd/x/", -1, "not here: this machine has no PMU odd");
	check_start("cpu/nothing/", -1, "not here: PMU cpu has no event 'nothing' here; it has ");
	check_start("cpu/event=0x3c,nothing=1/", -1,
		"no such: PMU cpu has no field 'nothing' here; it has ");
	check_start("cpu/loop/", -1, "not here: PMU cpu has no event 'loop'");
	check("cpu/event=/", -1, "no such: '' is no number for event of PMU cpu");
	check("cpu/event=0x/", -1, "no such: '0x' is no number for event of PMU cpu");
	check("cpu/event=x/", -1, "no such: 'x' is no number for event of PMU cpu");
	check("cpu/open/", -1, "no such: '?' is no number for event of PMU cpu");
	check("cpu/event=0x100/", -1,
		"no such: event of PMU cpu is too small for 0x100 (config:0-7)");
	check("cpu/config=0x10000000000000000/", -1,
		"no such: '0x10000000000000000' is no number for config of PMU cpu");
	check_start("cpu/odd=1/", -1, "not here: odd of PMU cpu has a format of its own");
	check_start("cpu/odder=1/", -1, "not here: odder of PMU cpu has a format of its own");
	check_start("cpu/oddest=1/", -1, "not here: oddest of PMU cpu has a format of its own");
	check_start("cpu/twice=1/", -1, "not here: twice of PMU cpu has a format of its own");
	check("cpu/cycles", -1, "no such: 'cpu/cycles' lacks its second slash");
	check("cpu/cycles/x", -1, "no such: 'x': only u, k and h may stand there");
	/* No way out of the directory. */
	check("../x/", -1, "no such: '..' is no name of a PMU");
	check("/x/", -1, "no such: '' is no name of a PMU");
	check("cpu/../", -1, "no such: '..' is no name of a field");
	check("cpu/..=1/", -1, "no such: '..' is no name of a field");
	check("cpu/,/", -1, "no such: '' is no name of a field");
}

/* Two kinds of cores: the event goes to the PMU of the CPU's kind. */
static void test_kinds_of_cores(_unused_ void **state)
{
	write_pmu("cpu_core/type", "4\n");
	write_pmu("cpu_core/cpus", "0-3\n");
	/* One kind alone needs no telling. */
	check("cycles", 0, "0/0");
	check("r1c2", 0, "4/1c2");
	write_pmu("cpu_atom/type", "10\n");
	write_pmu("cpu_atom/cpus", "4-7\n");
	write_pmu("uncore_imc/type", "20\n");
	write_pmu("uncore_imc/cpumask", "0\n");
	check("cycles", 0, "0/400000000");
	check("instructions:u", 5, "0/a00000001 -k");
	check("r1c2", 5, "10/1c2");
	check("task-clock", 5, "1/1");
	check("cycles", -1, "0/0");
	check("cycles", 8, "0/0");
}

#if HAVE_LIBPFM4
static void test_pfm(_unused_ void **state)
{
	/* The kernel's generic cache events are in any of its builds. */
	check_start("L1-DCACHE-LOAD-MISSES", -1, "3/10000");
	check_start("perf::PERF_COUNT_HW_INSTRUCTIONS:u", -1, "0/1 -k");
	check_start(
		"L1-DCACHE-LOAD-MISSES:nonsense", -1, "no such: 'L1-DCACHE-LOAD-MISSES:nonsense'");
	check_start("nosuchpmu::INST_RETIRED", -1, "no such: no event");
#ifdef __x86_64__
	/* A real event, of CPUs that cannot run this: 32-bit ones. */
	check_start("amd64_k7::CPU_CLK_UNHALTED", -1, "not here: ");
	check_start("amd64_k7::NO_SUCH_EVENT", -1, "no such: no event");
#endif
}

/* As in a container without /sys: libpfm4 of Debian 13 must not be asked then. */
static void test_pfm_without_pmus(_unused_ void **state)
{
	static const char why[] =
		"no such: no event 'L1-DCACHE-LOAD-MISSES' (libpfm4, for more names, needs "
		"/sys/bus/event_source/devices: No such file or directory)";

	fake_machine_setup(NULL);
	check("L1-DCACHE-LOAD-MISSES", -1, why);
	/* What needs no libpfm4 is as it was. */
	check("cycles", -1, "0/0");
	check("r1c2", -1, "4/1c2");
	check("cpu/cycles/", -1, "not here: this machine has no PMU cpu");
	/* Nor is the verdict kept. */
	assert_int_equal(setup(NULL), 0);
	check_start("L1-DCACHE-LOAD-MISSES", -1, "3/10000");
}
#else
static void test_pfm(_unused_ void **state)
{
	check("L1-DCACHE-LOAD-MISSES", -1,
		"no such: no event 'L1-DCACHE-LOAD-MISSES' (this build has no libpfm4 for more names)");
}
#endif

static void test_paranoid(_unused_ void **state)
{
	static const struct {
		const char *text;
		int r, level;
	} cases[] = {
		{ "2\n", 0, 2 },
		{ "-1\n", 0, -1 },
		{ "4\n", 0, 4 },
		{ "x\n", -EINVAL, 0 },
		{ "\n", -EINVAL, 0 },
		{ "4294967296\n", -ERANGE, 0 },
	};
	int level = 77;

	fake_machine_setup(NULL);
	assert_int_equal(perf_paranoid_read(&level), -ENOENT);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		level = 77;
		assert_true(fake_machine_write(PARANOID, cases[i].text));
		assert_int_equal(perf_paranoid_read(&level), cases[i].r);
		assert_int_equal(level, cases[i].r == 0 ? cases[i].level : 77);
	}
}

/* perf_event_open(2) is this machine's own, whatever the files say: only its verdicts are checked
 * against each other. */
static void test_probe(_unused_ void **state)
{
	struct perf_event_attr clock = { .size = sizeof(clock) }, attr, before;
	char *why = NULL;
	int allowed, r;

	assert_true(fake_machine_write(PARANOID, "3\n"));
	assert_int_equal(counter_resolve("task-clock", -1, &clock, &why), 0);
	allowed = counter_probe(&clock, &why);
	if (allowed == 0) {
		assert_null(why);
		/* Restricted or not, a clock runs in the kernel as well. */
		assert_false(counter_is_user_only(&clock));
	} else {
		assert_true(allowed == -EACCES || allowed == -EOPNOTSUPP);
		assert_non_null(why);
		assert_true(allowed != -EACCES || strstr(why, PARANOID " is 3") != NULL);
		free(why);
	}

	/* An event that can only be counted with the kernel's share. */
	why = NULL;
	assert_int_equal(counter_resolve("context-switches", -1, &attr, &why), 0);
	r = counter_probe(&attr, &why);
	assert_int_equal(attr.exclude_kernel, 0);
	if (allowed == 0 && !clock.exclude_kernel)
		assert_int_equal(r, 0);
	else
		assert_true(r < 0);
	free(why);

	/* A PMU that cannot be. */
	why = NULL;
	attr = (struct perf_event_attr){ .size = sizeof(attr), .type = 0x7ffffff0 };
	before = attr;
	r = counter_probe(&attr, &why);
	if (allowed == 0)
		assert_int_equal(r, -EOPNOTSUPP);
	else
		assert_true(r < 0);
	assert_non_null(why);
	assert_memory_equal(&attr, &before, sizeof(attr));
	free(why);
}

static void test_user_only(_unused_ void **state)
{
	static const struct {
		uint32_t type;
		uint64_t config;
		bool exclude_kernel, user_only;
	} cases[] = {
		{ PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, false, false },
		{ PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, true, true },
		{ PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, true, true },
		{ PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, true, true },
		{ PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK, true, false },
		{ PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, true, false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct perf_event_attr attr = { .type = cases[i].type, .config = cases[i].config };

		attr.exclude_kernel = cases[i].exclude_kernel;
		assert_int_equal(counter_is_user_only(&attr), cases[i].user_only);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_split),
#if HAVE_LIBPFM4
		/* Before libpfm4 has been asked for anything. */
		cmocka_unit_test_setup(test_pfm_without_pmus, setup),
#endif
		cmocka_unit_test_setup(test_generic, setup),
		cmocka_unit_test_setup(test_unknown, setup),
		cmocka_unit_test_setup(test_pmu, setup),
		cmocka_unit_test_setup(test_kinds_of_cores, setup),
		cmocka_unit_test_setup(test_pfm, setup),
		cmocka_unit_test_setup(test_paranoid, setup),
		cmocka_unit_test_setup(test_probe, setup),
		cmocka_unit_test(test_user_only),
	};

	if (!fake_machine_enter())
		return 0;
	return cmocka_run_group_tests_name("counter", tests, NULL, NULL);
}
