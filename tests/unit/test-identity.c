// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <sys/utsname.h>
#include <time.h>

#include "base/machine/identity.h"
#include "base/macro.h"
#include "base/text.h"
#include "config.h"

#include "fake-machine.h"

#define CPU "/sys/devices/system/cpu/"

static void test_parameters(_unused_ void **state)
{
	static const struct {
		const char *cmdline, *picked;
	} cases[] = {
		{ "", "" },
		{ "\n", "" },
		{ "BOOT_IMAGE=/vmlinuz root=/dev/sda1 ro quiet", "" },
		{ "ro isolcpus=managed_irq,domain,2-3 nohz_full=2-3 quiet\n",
			"isolcpus=managed_irq,domain,2-3 nohz_full=2-3" },
		{ "  mitigations=off\tnosmt  ", "mitigations=off nosmt" },
		{ "nosmt=force idle=poll", "nosmt=force idle=poll" },
		/* The kernel takes - and _ for the same. */
		{ "transparent-hugepage=never split-lock-detect=off",
			"transparent-hugepage=never split-lock-detect=off" },
		{ "intel_idle.max_cstate=1 processor.max_cstate=1 other.max_cstate=1",
			"intel_idle.max_cstate=1 processor.max_cstate=1" },
		/* Secrets stay where they are. */
		{ "rd.luks.key=geheim tsc=reliable password=isolcpus=1", "tsc=reliable" },
		{ "nosmtx xnosmt nosm", "" },
		{ "isolcpus", "isolcpus" },
		{ "=isolcpus = isolcpus=", "isolcpus=" },
		/* Quotes. */
		{ "dyndbg=\"file a.c +p; nosmt +p\" nosmt", "nosmt" },
		{ "\"mce=a\" idle=\"x\" ro", "\"mce=a\" idle=\"x\"" },
		/* What is behind a blank in them may be a secret. */
		{ "\"mce=a root=b\" nosmt idle=\"x y\" ro", "nosmt" },
		{ "nosmt idle=\"open root=b", "nosmt" },
		/* What is for init. */
		{ "nosmt -- isolcpus=1", "nosmt" },
		{ "nosmt --x isolcpus=1", "nosmt isolcpus=1" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char *picked = identity_pick_parameters(cases[i].cmdline);

		assert_non_null(picked);
		assert_string_equal(picked, cases[i].picked);
		free(picked);
	}
}

/* Expected values by Python 3.11's platform._platform(). */
static void test_platform(_unused_ void **state)
{
	static const struct {
		const char *system, *release, *machine, *libc, *platform;
	} cases[] = {
		{ "Linux", "6.1.0-18-amd64", "x86_64", "glibc 2.36",
			"Linux-6.1.0-18-amd64-x86_64-with-glibc2.36" },
		{ "Linux", "6.1.0", "aarch64", NULL, "Linux-6.1.0-aarch64" },
		{ "Linux", "6.1 (odd):\"/;\\", "unknown", "glibc 2.36",
			"Linux-6.1_-odd-with-glibc2.36" },
		{ "Linux", "5--", "unknown", NULL, "Linux-5" },
		{ "Linux", "1", "m", "musl", "Linux-1-m-with-musl" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char *platform = identity_format_platform(
			cases[i].system, cases[i].release, cases[i].machine, cases[i].libc);

		assert_non_null(platform);
		assert_string_equal(platform, cases[i].platform);
		free(platform);
	}
}

static const char *string_of(const struct facts *facts, const char *name)
{
	const struct fact *fact = facts_find(facts, name);

	fprintf(stderr, "fact %s\n", name);
	return fact && fact->type == FACT_STRING ? fact->string : "(absent)";
}

static void read_facts(const char *cpus, struct facts *facts)
{
	struct facts settings = { 0 };
	struct cpumask *mask = NULL;

	*facts = (struct facts){ 0 };
	assert_int_equal(cpumask_new(&mask), 0);
	assert_int_equal(cpumask_parse_list(cpus, 8192, mask, NULL), 0);
	assert_int_equal(identity_read(mask, 0, facts), 0);
	assert_int_equal(identity_read_settings(mask, 0, &settings), 0);
	/* What is read again is what identity_is_setting() names. */
	for (size_t i = 0; i < facts->n; i++) {
		const char *name = facts->items[i].name;

		fprintf(stderr, "fact %s\n", name);
		assert_int_equal(identity_is_setting(name), facts_find(&settings, name) != NULL);
	}
	facts_clear(&settings);
	cpumask_free(mask);
}

static void write_cpufreq(int cpu, const char *driver, const char *governor, const char *epp)
{
	char path[128];

	snprintf(path, sizeof(path), CPU "cpu%d/cpufreq/scaling_driver", cpu);
	assert_true(fake_machine_write(path, driver));
	snprintf(path, sizeof(path), CPU "cpu%d/cpufreq/scaling_governor", cpu);
	assert_true(fake_machine_write(path, governor));
	snprintf(path, sizeof(path), CPU "cpu%d/cpufreq/scaling_min_freq", cpu);
	assert_true(fake_machine_write(path, "400000\n"));
	snprintf(path, sizeof(path), CPU "cpu%d/cpufreq/scaling_max_freq", cpu);
	assert_true(fake_machine_write(path, "4700000\n"));
	snprintf(path, sizeof(path), CPU "cpu%d/cpufreq/energy_performance_preference", cpu);
	if (epp)
		assert_true(fake_machine_write(path, epp));
}

static void write_machine(void)
{
	for (int cpu = 0; cpu < 4; cpu++)
		write_cpufreq(cpu, "intel_pstate\n", cpu == 3 ? "performance\n" : "powersave\n",
			"balance_power\n");
	assert_true(fake_machine_write(CPU "online", "0-3\n"));
	assert_true(fake_machine_write(CPU "intel_pstate/no_turbo", "1\n"));
	assert_true(fake_machine_write(CPU "cpuidle/current_driver", "intel_idle\n"));
	assert_true(fake_machine_write(CPU "isolated", "2-3\n"));
	assert_true(fake_machine_write(CPU "nohz_full", "3\n"));
	assert_true(fake_machine_write(CPU "smt/control", "on\n"));
	assert_true(fake_machine_write(CPU "smt/active", "1\n"));
	assert_true(fake_machine_write(CPU "vulnerabilities/retbleed", "Vulnerable\n"));
	assert_true(fake_machine_write(CPU "vulnerabilities/meltdown", "Not affected\n"));
	assert_true(
		fake_machine_write(CPU "vulnerabilities/mds", "Mitigation: Clear buffers; SMT\n"));
	/* A folder, which nobody can read as a file. */
	assert_true(fake_machine_write(CPU "vulnerabilities/srso/x", "\n"));
	assert_true(fake_machine_write(
		"/sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n"));
	assert_true(fake_machine_write("/sys/kernel/mm/transparent_hugepage/defrag",
		"always defer defer+madvise [never] madvise\n"));
	assert_true(fake_machine_write(
		"/sys/devices/system/clocksource/clocksource0/current_clocksource", "hpet\n"));
	assert_true(fake_machine_write("/sys/class/power_supply/BAT0/type", "Battery\n"));
	assert_true(fake_machine_write("/sys/class/power_supply/BAT0/status", "Discharging\n"));
	assert_true(fake_machine_write("/proc/sys/kernel/randomize_va_space", "1\n"));
	assert_true(fake_machine_write("/proc/cmdline", "ro isolcpus=2-3 nohz_full=3\n"));
	assert_true(fake_machine_write("/proc/stat",
		"cpu  1 2 3 4\ncpu0 1 2 3 4\nintr 0\n"
		"ctxt 0\nbtime 1700554192\nprocesses 1\n"));
	assert_true(fake_machine_write("/proc/cpuinfo",
		"processor : 0\nmodel name : P-Core\ncpu MHz : 2893.500\nflags : fpu\n\n"
		"processor : 1\nmodel name : P-Core\ncpu MHz : 2894.499\n\n"
		"processor : 2\nmodel name : P-Core\ncpu MHz : 2894.500\n\n"
		"processor : 3\nmodel name : E-Core\ncpu MHz : 800.000\n"));
	assert_true(fake_machine_write("/proc/loadavg", "1.25 0.04 0.01 3/91 5347\n"));
}

static void test_read(_unused_ void **state)
{
	struct facts facts;
	struct utsname uts;
	char text[512];

	write_machine();
	read_facts("0-3", &facts);
#if HAVE_LIBCPUPOWER
	assert_string_equal(string_of(&facts, "cpu_config"),
		"0-1=driver:intel_pstate, intel_pstate:no turbo, governor:powersave; "
		"2=driver:intel_pstate, intel_pstate:no turbo, governor:powersave, isolated; "
		"3=driver:intel_pstate, intel_pstate:no turbo, governor:performance, nohz_full, "
		"isolated; idle:intel_idle");
	assert_string_equal(string_of(&facts, "quiesce_governor"), "0-2=powersave; 3=performance");
	assert_string_equal(string_of(&facts, "quiesce_boost"), "off");
	assert_string_equal(string_of(&facts, "quiesce_epp"), "balance_power");
#else
	assert_string_equal(string_of(&facts, "cpu_config"),
		"2=isolated; 3=nohz_full, isolated; idle:intel_idle");
#endif
	assert_string_equal(string_of(&facts, "cpu_model_name"), "P-Core");
	assert_string_equal(string_of(&facts, "aslr"), "Conservative randomization");
	/* In the local time zone, which main() sets. */
	assert_string_equal(string_of(&facts, "boot_time"), "2023-11-21 08:09:52");
	assert_string_equal(string_of(&facts, "quiesce_isolated"), "2-3");
	assert_string_equal(string_of(&facts, "quiesce_nohz_full"), "3");
	assert_string_equal(string_of(&facts, "quiesce_smt"), "on, active");
	assert_string_equal(string_of(&facts, "quiesce_thp"), "madvise, defrag never");
	assert_string_equal(string_of(&facts, "quiesce_clocksource"), "hpet");
	assert_string_equal(string_of(&facts, "quiesce_power_supply"), "battery");
	assert_string_equal(string_of(&facts, "quiesce_cmdline"), "isolcpus=2-3 nohz_full=3");
	assert_string_equal(string_of(&facts, "quiesce_mitigations"),
		"mds: Clear buffers; SMT | retbleed: Vulnerable | srso: unknown");
	assert_int_equal(uname(&uts), 0);
	snprintf(text, sizeof(text), "%s %s", uts.release, uts.version);
	assert_string_equal(string_of(&facts, "quiesce_kernel"), text);
	facts_clear(&facts);

	read_facts("3", &facts);
	assert_string_equal(string_of(&facts, "cpu_model_name"), "E-Core");
	assert_string_equal(string_of(&facts, "cpu_affinity"), "3");
	assert_string_equal(string_of(&facts, "quiesce_governor"),
		HAVE_LIBCPUPOWER ? "performance" : "(absent)");
	facts_clear(&facts);
}

/* What is there and cannot be read, for which a folder stands here, is not left out. */
static void test_read_unreadable(_unused_ void **state)
{
	static const char *const unreadable[] = {
		CPU "isolated",
		CPU "nohz_full",
		CPU "smt/control",
		"/sys/kernel/mm/transparent_hugepage/enabled",
		"/sys/devices/system/clocksource/clocksource0/current_clocksource",
		"/sys/class/power_supply/BAT0/type",
		CPU "intel_pstate/no_turbo",
		CPU "cpu1/cpufreq/scaling_governor",
		CPU "cpu1/cpufreq/energy_performance_preference",
	};
	char path[128];
	struct facts facts;

	for (size_t i = 0; i < ARRAY_SIZE(unreadable); i++) {
		snprintf(path, sizeof(path), "%s/x", unreadable[i]);
		assert_true(fake_machine_write(path, "\n"));
	}
	assert_true(fake_machine_write(CPU "online", "0-1\n"));
	write_cpufreq(0, "intel_pstate\n", "powersave\n", "power\n");
	assert_true(fake_machine_write(CPU "cpu1/cpufreq/scaling_driver", "intel_pstate\n"));
	assert_true(fake_machine_write(CPU "cpu1/cpufreq/scaling_min_freq", "400000\n"));
	assert_true(fake_machine_write(CPU "cpu1/cpufreq/scaling_max_freq", "4700000\n"));
	assert_true(fake_machine_write("/sys/kernel/mm/transparent_hugepage/defrag",
		"always defer defer+madvise [never] madvise\n"));
	read_facts("0-1", &facts);
	assert_string_equal(string_of(&facts, "quiesce_isolated"), "unknown");
	assert_string_equal(string_of(&facts, "quiesce_nohz_full"), "unknown");
	assert_string_equal(string_of(&facts, "quiesce_smt"), "unknown");
	assert_string_equal(string_of(&facts, "quiesce_thp"), "unknown, defrag never");
	assert_string_equal(string_of(&facts, "quiesce_clocksource"), "unknown");
	assert_string_equal(string_of(&facts, "quiesce_power_supply"), "unknown");
#if HAVE_LIBCPUPOWER
	assert_string_equal(string_of(&facts, "quiesce_governor"), "0=powersave; 1=unknown");
	assert_string_equal(string_of(&facts, "quiesce_epp"), "0=power; 1=unknown");
	assert_string_equal(string_of(&facts, "quiesce_boost"), "unknown");
#endif
	facts_clear(&facts);
}

/* What is not there is left out, and no fact is empty. */
static void test_read_nothing(_unused_ void **state)
{
	static const char *const absent[] = {
		"aslr",
		"boot_time",
		"cpu_config",
		"cpu_model_name",
		"cpu_machine",
		"quiesce_boost",
		"quiesce_clocksource",
		"quiesce_cmdline",
		"quiesce_epp",
		"quiesce_governor",
		"quiesce_isolated",
		"quiesce_mitigations",
		"quiesce_nohz_full",
		"quiesce_smt",
		"quiesce_thp",
	};
	struct facts facts;

	read_facts("0-8000", &facts);
	for (size_t i = 0; i < ARRAY_SIZE(absent); i++)
		assert_string_equal(string_of(&facts, absent[i]), "(absent)");
	assert_string_equal(string_of(&facts, "quiesce_power_supply"), "none");
	for (size_t i = 0; i < facts.n; i++)
		assert_true(facts.items[i].type != FACT_STRING || facts.items[i].string[0]);
	facts_clear(&facts);
	/* Empty and unset files. */
	assert_true(fake_machine_write(CPU "isolated", "\n"));
	assert_true(fake_machine_write(CPU "nohz_full", " (null)\n"));
	assert_true(fake_machine_write(CPU "vulnerabilities/meltdown", "Not affected\n"));
	assert_true(fake_machine_write(CPU "smt/control", "notimplemented\n"));
	assert_true(fake_machine_write("/sys/kernel/mm/transparent_hugepage/enabled", "\n"));
	assert_true(fake_machine_write("/proc/sys/kernel/randomize_va_space", "3\n"));
	assert_true(fake_machine_write("/proc/stat", "btime x\n"));
	read_facts("", &facts);
	assert_string_equal(string_of(&facts, "quiesce_isolated"), "(absent)");
	assert_string_equal(string_of(&facts, "quiesce_nohz_full"), "(absent)");
	assert_string_equal(string_of(&facts, "quiesce_mitigations"), "not affected");
	assert_string_equal(string_of(&facts, "quiesce_smt"), "notimplemented");
	assert_string_equal(string_of(&facts, "quiesce_thp"), "(absent)");
	assert_string_equal(string_of(&facts, "aslr"), "(absent)");
	assert_string_equal(string_of(&facts, "boot_time"), "(absent)");
	facts_clear(&facts);
}

/*
 * The clock that the identity reads. time(2) reads a coarser one, which the kernel moves on at its
 * tick: for up to 10 ms of each second it still says the second before.
 */
static time_t read_second(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return now.tv_sec;
}

static void test_read_moving(_unused_ void **state)
{
	struct thermal *thermal = NULL;
	struct cpumask *mask = NULL;
	struct facts facts = { 0 };
	const struct fact *fact;
	struct tm tm = { 0 };
	time_t began, now;

	write_machine();
	assert_true(fake_machine_write("/sys/class/hwmon/hwmon0/name", "coretemp\n"));
	assert_true(fake_machine_write("/sys/class/hwmon/hwmon0/temp1_label", "Package id 0\n"));
	assert_true(fake_machine_write("/sys/class/hwmon/hwmon0/temp1_input", "50600\n"));
	assert_int_equal(thermal_open(0, &thermal), HAVE_LIBSENSORS ? 0 : -EOPNOTSUPP);
	assert_int_equal(cpumask_new(&mask), 0);
	assert_int_equal(cpumask_parse_list("0-3", 8192, mask, NULL), 0);
	began = read_second();
	assert_int_equal(identity_read_moving(mask, thermal, &facts), 0);
	/* Halves go to the even number, as Python's round() does. */
	assert_string_equal(string_of(&facts, "cpu_freq"), "0-2=2894 MHz; 3=800 MHz");
	assert_string_equal(string_of(&facts, "cpu_temp"),
		HAVE_LIBSENSORS ? "coretemp:Package id 0=51 C" : "(absent)");
	fact = facts_find(&facts, "load_avg_1min");
	assert_true(fact && fact->type == FACT_REAL && fact->real == 1.25);
	fact = facts_find(&facts, "runnable_threads");
	assert_true(fact && fact->type == FACT_INTEGER && fact->integer == 3);
	fact = facts_find(&facts, "uptime");
	now = read_second();
	assert_true(fact && fact->type == FACT_REAL);
	assert_true(fact->real >= (double)(began - 1700554192) - 1);
	assert_true(fact->real <= (double)(now - 1700554192) + 1);
	/* A date that says now. */
	assert_non_null(strptime(string_of(&facts, "date"), "%Y-%m-%d %H:%M:%S", &tm));
	tm.tm_isdst = -1;
	assert_true(mktime(&tm) <= now && mktime(&tm) >= began);
	facts_clear(&facts);
	thermal_free(thermal);

	assert_int_equal(identity_read_load(mask, &facts), 0);
	assert_int_equal(facts.n, 3);
	assert_string_equal(string_of(&facts, "cpu_freq"), "0-2=2894 MHz; 3=800 MHz");
	assert_non_null(facts_find(&facts, "load_avg_1min"));
	assert_non_null(facts_find(&facts, "runnable_threads"));
	facts_clear(&facts);

	/* Nothing to be read but the clock. */
	fake_machine_setup(NULL);
	assert_int_equal(identity_read_moving(mask, NULL, &facts), 0);
	assert_int_equal(facts.n, 1);
	facts_clear(&facts);
	cpumask_free(mask);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parameters),
		cmocka_unit_test(test_platform),
		cmocka_unit_test_setup(test_read, fake_machine_setup),
		cmocka_unit_test_setup(test_read_nothing, fake_machine_setup),
		cmocka_unit_test_setup(test_read_unreadable, fake_machine_setup),
		cmocka_unit_test_setup(test_read_moving, fake_machine_setup),
	};

	if (!fake_machine_enter())
		return 0;
	setenv("TZ", "UTC0", 1);
	tzset();
	return cmocka_run_group_tests_name("identity", tests, NULL, NULL);
}
